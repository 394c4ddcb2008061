"""Matplotlib, where a picture is asked for."""

from __future__ import annotations

from typing import Any

__all__ = ["pyplot"]


def pyplot() -> Any:
    """``matplotlib.pyplot``, or one sentence where that is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need the matplotlib package; pip install matplotlib.") from None
    return plt
