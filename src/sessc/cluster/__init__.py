"""The clusterers: fitting, the same for all, and the named algorithms as rows of a table."""
