"""Speed and memory, as ratios: ``make bench``. Not installed."""
