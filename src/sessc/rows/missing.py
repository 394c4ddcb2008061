"""Which cells and labels count as missing, wherever they come from."""

from __future__ import annotations

from typing import Any

__all__ = ["is_missing"]


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, or what pandas has for either."""
    return (
        cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)
    )
