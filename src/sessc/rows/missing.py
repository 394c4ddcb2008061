"""Which cells and labels count as missing, wherever they come from."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_missing"]


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN of any kind, or what pandas has for either."""
    if isinstance(cell, (float, np.floating, np.datetime64)):
        return bool(cell != cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
