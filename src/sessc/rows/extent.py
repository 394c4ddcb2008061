"""Where the data sit: their centre, their spread, and how much they weigh.

Formulas work on samples measured from the centre, because distances written as matrix products cancel badly
far from the origin. A column that never varies is centred on its exact value, so it is exactly zero there and
anyone can recognise it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._array import Array, array_namespace, scalar
from .base import Rows, Samples

__all__ = ["Extent", "centered", "measure", "standardized"]


@dataclass(frozen=True)
class Extent:
    """The place and size of weighted data."""

    center: Array
    """Weighted mean of each column, shape (D,)."""
    spread: Array
    """Weighted standard deviation of each column, shape (D,); exactly zero for a constant column."""
    weight: float
    """Sum of the sample weights; the number of rows if there are none."""
    low: Array
    high: Array
    """The smallest and the largest value of each column, shape (D,)."""

    @property
    def scale(self) -> Array:
        """The spread as a unit of measurement: one where it is zero."""
        xp = array_namespace(self.spread)
        return xp.where(self.spread > 0, self.spread, scalar(1.0, self.spread))


@dataclass(frozen=True)
class _Moments:
    weight: Array
    x: Array
    low: Array
    high: Array

    def __add__(self, other: _Moments) -> _Moments:
        xp = array_namespace(self.x)
        return _Moments(
            self.weight + other.weight,
            self.x + other.x,
            xp.minimum(self.low, other.low),
            xp.maximum(self.high, other.high),
        )

    @property
    def mean(self) -> Array:
        xp = array_namespace(self.x)
        return xp.where(self.low == self.high, self.low, self.x / self.weight)


def _moments(samples: Samples) -> _Moments:
    # A mean is worth float64: with many rows a float32 sum loses more than the data's own rounding.
    xp = array_namespace(samples.X)
    X = xp.astype(samples.X, xp.float64)
    weight = None if samples.weight is None else xp.astype(samples.weight, xp.float64)
    low, high = xp.min(X, axis=0), xp.max(X, axis=0)
    if weight is None:
        return _Moments(scalar(X.shape[0], X), xp.sum(X, axis=0), low, high)
    return _Moments(xp.sum(weight), weight @ X, low, high)


def _squares(samples: Samples) -> Array:
    xp = array_namespace(samples.X)
    squares = samples.X * samples.X
    return xp.astype(xp.sum(squares, axis=0) if samples.weight is None else samples.weight @ squares, xp.float64)


def measure(rows: Rows) -> Extent:
    """The frame of these rows, in two passes: squares are summed about the mean, where they are safe."""
    moments = rows.sum(_moments)
    xp = array_namespace(moments.x)
    center, weight = xp.astype(moments.mean, rows.dtype), float(moments.weight)
    squares = rows.standardized(center).sum(_squares)
    low, high = (xp.astype(bound, rows.dtype) for bound in (moments.low, moments.high))
    return Extent(center, xp.astype(xp.sqrt(squares / weight), rows.dtype), weight, low, high)


def centered(rows: Rows) -> tuple[Rows, Extent]:
    """These rows measured from their mean, and the extent they have then."""
    extent = measure(rows)
    return rows.standardized(extent.center), _seen(extent, array_namespace(extent.center).ones_like(extent.center))


def standardized(rows: Rows) -> tuple[Rows, Extent]:
    """These rows as z-scores, and the extent they have then."""
    extent = measure(rows)
    return rows.standardized(extent.center, extent.scale), _seen(extent, extent.scale)


def _seen(extent: Extent, scale: Array) -> Extent:
    """The same extent measured from its own centre, in units of ``scale``."""
    xp = array_namespace(extent.center)
    low, high = ((bound - extent.center) / scale for bound in (extent.low, extent.high))
    return Extent(xp.zeros_like(extent.center), extent.spread / scale, extent.weight, low, high)
