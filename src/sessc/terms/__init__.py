"""The cost: how one unit is shared, what labels cost, and the objective they make."""
