"""Numerical guards and array plumbing, each in one place.

Everything here works on any array of the array API standard and returns arrays of the same kind.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np

__all__ = [
    "Array",
    "array_namespace",
    "bits",
    "clip",
    "divide",
    "epsilon",
    "exp",
    "floor",
    "is_elsewhere",
    "is_foreign",
    "like",
    "numpy_dtype",
    "one_hot",
    "plain",
    "scalar",
    "smallest_normal",
    "softmax",
    "squared_distances",
    "to_numpy",
    "xlogx",
    "zero_where",
]

Array = Any
"""An array of any library that follows the array API standard."""


def array_namespace(*arrays: Array) -> Any:
    """The functions of the array API standard for these arrays."""
    # Asked thirty times an iteration: NumPy, the usual answer, should cost nothing.
    if all(type(array) is np.ndarray for array in arrays):
        return array_api_compat.numpy
    return array_api_compat.array_namespace(*arrays)


def is_foreign(x: Any) -> bool:
    """Whether ``x`` is an array of another library than NumPy."""
    return not isinstance(x, np.ndarray) and array_api_compat.is_array_api_obj(x)


def is_elsewhere(x: Array) -> bool:
    """Whether an array lives on a device other than the processor."""
    return is_foreign(x) and str(getattr(x, "device", "cpu")).lower().startswith(("cuda", "xpu", "mps"))


def like(part: Array, x: Array) -> Array:
    """A small array as formulas with ``x`` need it: of its library and dtype, and on its device."""
    if isinstance(x, np.ndarray):
        return np.asarray(to_numpy(part) if is_foreign(part) else part, dtype=x.dtype)
    if type(part) is not type(x):
        part = np.array(to_numpy(part))  # torch shares memory, and ours is read-only
    return array_namespace(x).asarray(part, dtype=x.dtype, device=x.device)


@cache
def epsilon(dtype: Any, xp: Any) -> float:
    """The relative precision of numbers of this kind."""
    return float(xp.finfo(dtype).eps)


@cache
def smallest_normal(dtype: Any, xp: Any) -> float:
    """The smallest positive number of this kind that has all its digits."""
    return float(xp.finfo(dtype).smallest_normal)


@cache
def _least_logarithm(dtype: Any, xp: Any) -> float:
    """Logarithm of the smallest number that a product with machine epsilon leaves normal."""
    limits = xp.finfo(dtype)
    return math.log(float(limits.smallest_normal) / float(limits.eps))


def plain(value: Any, name: str) -> None:
    """Make a field of a frozen value a plain float: NumPy's scalars would promote float32 arrays."""
    object.__setattr__(value, name, float(getattr(value, name)))


def scalar(value: float, like: Array) -> Array:
    """A number as an array of the kind, dtype and device of ``like``."""
    if type(like) is np.ndarray:
        return like.dtype.type(value)
    xp = array_namespace(like)
    return xp.asarray(value, dtype=like.dtype, device=getattr(like, "device", None))


def _is_at_least(least: float, x: Array) -> bool:
    """Whether a guard has nothing to do, as is usual: looking is a quarter of the price of a new array.

    A GPU would wait for the answer.
    """
    return not is_elsewhere(x) and (0 in x.shape or float(array_namespace(x).min(x)) >= least)


def floor(x: Array) -> Array:
    """``max(x, smallest normal number)``: safe to take a logarithm of, and no larger lie than needed."""
    xp = array_namespace(x)
    least = smallest_normal(x.dtype, xp)
    return x if _is_at_least(least, x) else xp.maximum(x, scalar(least, x))


def exp(x: Array) -> Array:
    """``exp(x)`` for ``x`` of zero or less, but exactly zero where it would come near underflow.

    Both underflow and the denormal numbers around it are many times slower than ordinary arithmetic, and
    memberships are full of them.
    """
    xp = array_namespace(x)
    if is_elsewhere(x):  # there they are as fast as any
        return xp.exp(x)
    least = _least_logarithm(x.dtype, xp)
    if _is_at_least(least, x):
        return xp.exp(x)
    least = scalar(least, x)
    result = xp.exp(xp.maximum(x, least))
    result -= xp.exp(least)
    return result


def softmax(logits: Array, axis: int = -1) -> Array:
    """``exp(logits)`` normalised to sum to one along ``axis``, without overflow or denormals."""
    xp = array_namespace(logits)
    shares = exp(logits - xp.max(logits, axis=axis, keepdims=True))
    shares /= xp.sum(shares, axis=axis, keepdims=True)
    return shares


def xlogx(x: Array) -> Array:
    """``x * ln(x)`` with its limit 0 at 0."""
    xp = array_namespace(x)
    return x * xp.log(floor(x))


def clip(x: Array, low: Array, high: Array) -> Array:
    """``x`` held between two limits; NaN stays NaN."""
    xp = array_namespace(x)
    return xp.minimum(xp.maximum(x, like(low, x)), like(high, x))


def zero_where(gone: Array, x: Array) -> Array:
    """``x`` with zeros where ``gone`` says so; cells that are NaN among them."""
    if type(x) is np.ndarray and x.itemsize <= 8:  # twice as fast as to choose cell by cell, gaps being no pattern
        whole = np.dtype(f"i{x.itemsize}")
        kept = np.negative((~gone).view(np.int8)).astype(whole)  # all bits of a number, or none
        kept &= x.view(whole)
        return kept.view(x.dtype)
    return array_namespace(x).where(gone, scalar(0.0, x), x)


def divide(x: Array, y: Array, otherwise: Array) -> Array:
    """``x / y`` where ``y`` is positive, else ``otherwise``."""
    xp = array_namespace(x, y)
    positive = y > 0
    return xp.where(positive, x / xp.where(positive, y, scalar(1.0, y)), otherwise)


def squared_distances(X: Array, V: Array) -> Array:
    """Squared Euclidean distances (n, r) between rows, as a matrix product; both should lie near the origin."""
    xp = array_namespace(X)
    squares = xp.sum(X * X, axis=1)[:, None] - 2 * X @ V.T + xp.sum(V * V, axis=1)[None, :]
    return xp.maximum(squares, scalar(0.0, squares))


def one_hot(codes: Array, n_classes: int, dtype: Any) -> Array:
    """Rows of the identity matrix picked by integer ``codes``."""
    xp, device = array_namespace(codes), getattr(codes, "device", None)
    if n_classes > codes.shape[0]:  # of which the identity would be larger than what is picked
        classes = xp.arange(n_classes, dtype=codes.dtype, device=device)
        return xp.astype(codes[:, None] == classes, dtype)
    return xp.take(xp.eye(n_classes, dtype=dtype, device=device), codes, axis=0)


def bits(x: Array) -> Array:
    """The bits of float64 numbers as int64, by the same library where it has a way."""
    if hasattr(x, "view"):  # NumPy and torch; the standard has none
        return x.view(array_namespace(x).int64)
    return array_namespace(x).asarray(np.asarray(to_numpy(x)).view(np.int64), device=x.device)


def numpy_dtype(x: Array) -> np.dtype:
    """The type of numbers in an array, as NumPy calls it."""
    return to_numpy(x[:0, ...]).dtype


def to_numpy(x: Array) -> np.ndarray:
    """``x`` as a NumPy array, fetched from its device if need be."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "cpu"):  # torch refuses an implicit copy from a GPU
        x = x.cpu()
    return np.from_dlpack(x) if not hasattr(x, "__array__") else np.asarray(x)
