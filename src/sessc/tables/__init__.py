"""Raw tables, models as they are shipped, and their files."""
