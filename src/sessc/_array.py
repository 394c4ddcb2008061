"""Numerical guards and array plumbing, each in one place.

Everything here works on any array of the array API standard and returns arrays of the same kind.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from array_api_compat import array_namespace

__all__ = [
    "Array",
    "array_namespace",
    "divide",
    "floor",
    "flush",
    "one_hot",
    "scalar",
    "softmax",
    "squared_distances",
    "to_numpy",
    "xlogx",
]

Array = Any
"""An array of any library that follows the array API standard."""


@cache
def _smallest_normal(dtype: Any, xp: Any) -> float:
    return float(xp.finfo(dtype).smallest_normal)


def scalar(value: float, like: Array) -> Array:
    """A number as an array of the kind, dtype and device of ``like``."""
    xp = array_namespace(like)
    return xp.asarray(value, dtype=like.dtype, device=getattr(like, "device", None))


def floor(x: Array) -> Array:
    """``max(x, smallest normal number)``: safe to take a logarithm of, and no larger lie than needed."""
    xp = array_namespace(x)
    tiny = _smallest_normal(x.dtype, xp)
    return x if _all_reach(x, tiny) else xp.maximum(x, scalar(tiny, x))


def flush(x: Array) -> Array:
    """Non-negative ``x`` with denormal numbers set to zero: arithmetic on them is many times slower."""
    xp = array_namespace(x)
    tiny = _smallest_normal(x.dtype, xp)
    return x if _all_reach(x, tiny) else xp.where(x < tiny, scalar(0.0, x), x)


def _all_reach(x: Array, low: float) -> bool:
    # Looking first is a quarter of the price of a new array, and mostly there is nothing to do.
    return 0 not in x.shape and float(array_namespace(x).min(x)) >= low


def softmax(logits: Array, axis: int = -1) -> Array:
    """``exp(logits)`` normalised to sum to one along ``axis``, without overflow or denormals."""
    xp = array_namespace(logits)
    shares = xp.exp(logits - xp.max(logits, axis=axis, keepdims=True))
    shares /= xp.sum(shares, axis=axis, keepdims=True)
    return flush(shares)


def xlogx(x: Array) -> Array:
    """``x * ln(x)`` with its limit 0 at 0."""
    xp = array_namespace(x)
    return x * xp.log(floor(x))


def divide(x: Array, y: Array, otherwise: Array) -> Array:
    """``x / y`` where ``y`` is positive, else ``otherwise``."""
    xp = array_namespace(x, y)
    return xp.where(y > 0, x / xp.where(y > 0, y, scalar(1.0, y)), otherwise)


def squared_distances(X: Array, V: Array) -> Array:
    """Squared Euclidean distances (n, r) between rows, as a matrix product; both should lie near the origin."""
    xp = array_namespace(X)
    squares = xp.sum(X * X, axis=1)[:, None] - 2 * X @ V.T + xp.sum(V * V, axis=1)[None, :]
    return xp.maximum(squares, scalar(0.0, squares))


def one_hot(codes: Array, n_classes: int, dtype: Any) -> Array:
    """Rows of the identity matrix picked by integer ``codes``."""
    xp = array_namespace(codes)
    classes = xp.arange(n_classes, dtype=codes.dtype, device=getattr(codes, "device", None))
    return xp.astype(codes[:, None] == classes[None, :], dtype)


def to_numpy(x: Array) -> np.ndarray:
    """``x`` as a NumPy array, fetched from its device if need be."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "cpu"):  # torch refuses an implicit copy from a GPU
        x = x.cpu()
    return np.from_dlpack(x) if not hasattr(x, "__array__") else np.asarray(x)
