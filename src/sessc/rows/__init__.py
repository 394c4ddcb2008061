"""Where samples are, and how they come in: the only folder that knows."""
