"""The one loop that minimises every cost, where it starts, and what it remembers of streams."""
