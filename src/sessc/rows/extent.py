"""Where the data sit: their centre, their spread, and how much they weigh.

Formulas work on samples measured from the centre, because distances written as matrix products cancel badly
far from the origin. A column that never varies is centred on its exact value, so it is exactly zero there and
anyone can recognise it. Missing cells are left out of all this. Codes of levels have no place on a line: they stay
as they are, and what is known of them is how often each occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._array import Array, array_namespace, divide, scalar, to_numpy
from .base import Rows, Samples
from .layout import Layout, Space, gaps_in

__all__ = ["LARGE", "Extent", "gap_columns", "measure", "seen_from", "standardized"]

LARGE = 20_000
"""Data that weigh more are clustered from starts in a sample of them, and by leaps.

It is weight and not rows that count, as for all else; everything in the paper weighs less.
"""


FAR = 8
"""Standard deviations beyond which a row may have drawn the mean away from all others, as one of more than the
square of this number can."""


@dataclass(frozen=True)
class Extent:
    """The place and size of weighted data."""

    center: Array
    """Weighted mean of each column, shape (J,), from where the rows are measured; zero for categories."""
    spread: Array
    """Weighted standard deviation of each column, shape (J,); exactly zero for a constant column. Of categories
    one, which is what each costs on average."""
    weight: float
    """Sum of the sample weights; the number of rows if there are none."""
    layout: Layout | None = None
    """How the rows are spelled out; None for numbers without gaps."""
    known: np.ndarray | None = None
    """The share of the weight that has a cell in each column, (J,); None if all have."""
    shares: np.ndarray | None = None
    """How often each level occurs among cells that are there, (all levels,); None without categories."""
    lopsided: bool = False
    """Whether a few rows may be so far away that the mean of a column is far from all others."""
    evened: bool = False
    """Whether columns that spread less than a unit cost as much as others, and constants do not count."""

    @property
    def is_large(self) -> bool:
        """Whether a pass over all rows is worth saving."""
        return self.weight > LARGE

    @property
    def scale(self) -> Array:
        """The spread as a unit of measurement: one where it is zero."""
        xp = array_namespace(self.spread)
        return xp.where(self.spread > 0, self.spread, scalar(1.0, self.spread))

    @property
    def feature_scale(self) -> Array:
        """The same for what columns are spelled out as, shape (D,)."""
        if self.layout is None:
            return self.scale
        xp = array_namespace(self.spread)
        return xp.take(
            self.scale, xp.asarray(self.layout.group, device=getattr(self.spread, "device", None)), axis=0
        )

    @property
    def n_columns(self) -> int:
        """How many columns count: not those of gaps alone nor, among evened ones, constants."""
        if self.evened:
            return int(np.count_nonzero(to_numpy(self.spread)))
        return int(self.spread.shape[0]) if self.known is None else int(np.count_nonzero(self.known))

    @property
    def space(self) -> Space | None:
        """What features are worth in a cost; None for numbers without gaps, which need none of it."""
        return None if self.layout is None else self.whole_space

    @property
    def whole_space(self) -> Space:
        """The same where rows to come may have gaps that these have not."""
        spread = to_numpy(self.spread).astype(float)
        layout = self.layout or Layout((0,) * len(spread), ())
        shares = np.zeros(0) if self.shares is None else self.shares
        total, category = spread**2, layout.is_category
        squares = np.bincount(layout.group[layout.n_numbers :], shares**2, minlength=len(spread))
        total[category] = 0.5 * (1 - squares[category])
        known = np.ones(len(spread), bool) if self.known is None else self.known > 0
        extra = np.where((category | self.evened) & known, 1 - total, 0.0)
        origin = np.concatenate([to_numpy(self.center).astype(float)[layout.numbers], shares])
        return Space(layout, origin, total, extra, spread > 0, known)


@dataclass(frozen=True)
class _Moments:
    weight: Array
    known: Array
    """The weight of all rows, and of those that have a cell in each column: one number if all have."""
    x: Array
    low: Array
    high: Array
    gaps: Array
    """Whether a cell is missing, which sums of weights cannot tell where its row weighs next to nothing."""

    def __add__(self, other: _Moments) -> _Moments:
        xp = array_namespace(self.x)
        return _Moments(
            self.weight + other.weight,
            self.known + other.known,
            self.x + other.x,
            xp.minimum(self.low, other.low),
            xp.maximum(self.high, other.high),
            self.gaps | other.gaps,
        )

    @property
    def mean(self) -> Array:
        xp = array_namespace(self.x)
        return xp.where(self.low == self.high, self.low, divide(self.x, self.known + 0 * self.x, 0 * self.x))


def _moments(samples: Samples) -> _Moments:
    # A mean is worth float64: with many rows a float32 sum loses more than the data's own rounding.
    xp = array_namespace(samples.X)
    X = xp.astype(samples.X, xp.float64)
    weight = None if samples.weight is None else xp.astype(samples.weight, xp.float64)
    if gaps_in(X):
        return _known_moments(X, xp.ones_like(X[:, 0]) if weight is None else weight)
    low, high = xp.min(X, axis=0), xp.max(X, axis=0)
    if weight is None:
        n = scalar(X.shape[0], X)
        return _Moments(n, n, xp.sum(X, axis=0), low, high, low != low)
    total = xp.sum(weight)
    return _Moments(total, total, weight @ X, low, high, low != low)


def _known_moments(X: Array, weight: Array) -> _Moments:
    xp = array_namespace(X)
    missing = xp.isnan(X)
    low, high = (
        end(xp.where(missing, scalar(far, X), X), axis=0) for end, far in ((xp.min, xp.inf), (xp.max, -xp.inf))
    )
    known = weight @ xp.astype(~missing, X.dtype)
    x = weight @ xp.where(missing, scalar(0.0, X), X)
    return _Moments(xp.sum(weight), known, x, low, high, xp.any(missing, axis=0))


def _squares(samples: Samples) -> Array:
    xp = array_namespace(samples.X)
    squares = samples.X * samples.X
    if gaps_in(squares):
        squares = xp.where(xp.isnan(squares), scalar(0.0, squares), squares)
    return xp.astype(xp.sum(squares, axis=0) if samples.weight is None else samples.weight @ squares, xp.float64)


def _unheard(formula: Callable[[Samples], Any], samples: Samples) -> Any:
    """Sums that may be more than there are numbers, about which no warning is needed."""
    with np.errstate(over="ignore", invalid="ignore"):
        return formula(samples)


def least_spread(dtype: np.dtype) -> float:
    """Columns that vary less than this do not vary: squares of it lose digits, or are zero."""
    return float(np.finfo(dtype).tiny) ** 0.5 * 8


def measure(rows: Rows) -> Extent:
    """The extent of these rows, in two passes: squares are summed about the mean, where they are safe."""
    rows = rows.spelled(None)
    moments = rows.sum(partial(_unheard, _moments))
    xp = array_namespace(moments.x)
    center = xp.where(moments.low <= moments.high, moments.mean, 0 * moments.x)
    center, weight = xp.astype(center, rows.dtype), float(moments.weight)
    squares = rows.standardized(center).sum(partial(_unheard, _squares))
    if not bool(xp.all(xp.isfinite(squares))):
        raise ValueError(
            f"X and sample_weight are so large that products of them overflow {rows.precision}; rescale them."
        )
    known = moments.known + 0 * moments.x
    spread = xp.astype(xp.sqrt(divide(squares, known, otherwise=0 * known)), rows.dtype)
    spread = xp.where(spread > least_spread(rows.precision), spread, scalar(0.0, spread))
    share = to_numpy(known) / weight
    share = np.where(to_numpy(moments.gaps), np.minimum(share, np.nextafter(1.0, 0.0)), share)
    reach = xp.maximum(moments.high - moments.mean, moments.mean - moments.low)
    lopsided = weight <= FAR**2 or bool(xp.any(reach > FAR * xp.astype(spread, reach.dtype)))
    extent = Extent(center, spread, weight, known=None if np.all(share == 1) else share, lopsided=lopsided)
    return extent if rows.levels is None and extent.known is None else _with_levels(rows, extent)


def _with_levels(rows: Rows, extent: Extent) -> Extent:
    """The extent of a table with categories or gaps."""
    levels = rows.levels or (0,) * rows.n_features
    gaps = () if extent.known is None else tuple(np.flatnonzero(extent.known < 1).tolist())
    layout = Layout(levels, gaps)
    if rows.levels is None:
        return replace(extent, layout=layout)
    counts = rows.standardized(None).spelled(layout).sum(partial(_level_counts, layout.n_numbers))
    group = layout.group[layout.n_numbers :]
    totals = np.bincount(group, counts, minlength=len(levels))[group]
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    category = np.asarray(levels) > 0
    varies = np.bincount(group, shares > 0, minlength=len(levels)) > 1
    xp = array_namespace(extent.center)
    at = partial(xp.asarray, device=getattr(extent.center, "device", None))
    center = xp.where(at(category), 0 * extent.center, extent.center)
    spread = xp.where(at(category), xp.astype(at(varies), rows.dtype), extent.spread)
    return replace(extent, center=center, spread=spread, layout=layout, shares=shares)


def _level_counts(n_numbers: int, samples: Samples) -> np.ndarray:
    xp = array_namespace(samples.X)
    levels = xp.astype(samples.X[:, n_numbers:], xp.float64)
    found = xp.sum(levels, axis=0) if samples.weight is None else xp.astype(samples.weight, xp.float64) @ levels
    return to_numpy(found)


def gap_columns(rows: Rows) -> tuple[int, ...]:
    """The columns of these rows in which cells are missing."""
    missing = rows.spelled(None).sum(_gap_counts)
    return tuple(np.flatnonzero(missing).tolist())


def _gap_counts(samples: Samples) -> np.ndarray:
    counts = np.zeros(samples.X.shape[1], int)
    counts[list(gaps_in(samples.X))] = 1
    return counts


def standardized(rows: Rows) -> tuple[Rows, Extent]:
    """These rows as z-scores, and the extent they have then."""
    extent = measure(rows)
    rows = rows.standardized(extent.center, extent.scale).spelled(extent.layout)
    return rows, seen_from(extent, extent.scale)


def seen_from(extent: Extent, scale: Array) -> Extent:
    """The same extent measured from its own centre, in units of ``scale``."""
    xp = array_namespace(extent.center)
    return replace(extent, center=xp.zeros_like(extent.center), spread=extent.spread / scale)
