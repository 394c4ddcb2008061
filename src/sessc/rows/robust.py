"""Where the bulk of the data sits: a centre, a scale and limits that no single cell can move.

Quantiles do not add, so they come from the hashed sample, which is the same wherever rows are. A number beyond
what nearly all rows have is held at a limit; what hardly any row has then is nothing to rest a condition on. One
absurdly far beyond is no value: rules are learned as if its cell were missing, and hold it at the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from .._array import Array, array_namespace, like, to_numpy
from .base import Rows, Samples, is_beyond
from .columns import few
from .extent import Extent, measure, seen_from
from .layout import Layout
from .sample import by_size, sample

__all__ = ["LONGEST", "centered", "quantiles_of", "robust", "slips_beyond", "without_slips"]

SIZE = 2**13
"""Distinct rows whose quantiles stand for those of all."""
ROOM = 0.5
"""How far beyond the outer quantiles numbers may lie, as a share of the distance between these."""
FAR = 50.0
"""How many times as far beyond limits as these are from each other numbers are slips, as of whoever typed them."""
CLOSE = 2.0**10
"""How many times as far from the mean as from each other most rows may be: squares leave them half of the bits."""
LONGEST = 6.0
"""Standard units between the outer quantiles, at most: a value that few rows have is not ten units away."""


Ends = tuple[np.ndarray, np.ndarray]
"""A lower and an upper one for each column."""


def centered(rows: Rows) -> tuple[Rows, Extent]:
    """These rows measured from their mean, or their bulk if that is far away, and the extent they have then."""
    extent = measure(rows)
    origin = _origin(rows, extent) if extent.lopsided else extent.center
    if origin is not extent.center and extent.layout is None:
        extent = replace(extent, layout=Layout((0,) * rows.n_features, ()))
    rows = rows.standardized(origin).spelled(extent.layout)
    return rows, replace(extent, center=extent.center - origin)


def _origin(rows: Rows, extent: Extent) -> Array:
    """The mean, unless distances between most rows would be lost in rounding when seen from there."""
    low, middle, high = quantiles_of(rows, (0.25, 0.5, 0.75))
    numbers = np.ones(rows.n_features, bool) if rows.levels is None else np.asarray(rows.levels) == 0
    away = np.where(numbers, to_numpy(extent.center) - middle, 0.0)
    span = np.sum(np.where(numbers, high - low, 0.0) ** 2)
    is_near = not span > 0 or np.sum(away * away) <= CLOSE**2 * span
    return extent.center if is_near else extent.center - like(away, extent.center)


def robust(rows: Rows, standardize: bool) -> tuple[Rows, Extent]:
    """These rows held at limits and measured from their centre, and the extent they have then."""
    rows, bulk = without_slips(rows)
    extent = measure(_held(rows, bulk))  # beyond it no cell counts for more
    xp = array_namespace(extent.center)
    scale = xp.ones_like(extent.center)
    if standardize:
        low, high = bulk
        span = like(np.where(np.isinf(high), 0.0, (high - low) / LONGEST), extent.center)
        scale = xp.where(extent.spread > 0, xp.maximum(extent.spread, span), scale)
        if extent.layout is None and bool(xp.any((extent.spread > 0) & (extent.spread < scale))):
            extent = replace(extent, layout=Layout((0,) * rows.n_features, ()))
        extent = replace(extent, evened=True)
    rows = _held(rows, _limits(bulk)).standardized(extent.center, scale).spelled(extent.layout)
    return rows, seen_from(extent, scale)


def without_slips(rows: Rows) -> tuple[Rows, Ends]:
    """These rows, slips being missing cells, and the ends of their bulk, which is that of the other cells."""
    bulk = _bulk(rows)
    bounds = _at_home(rows, slips_beyond(_limits(bulk)))
    if not rows.sum(partial(_any_beyond, bounds)):
        return rows, bulk
    rows = rows.bounded(bounds)
    return rows, _bulk(rows)


def _bulk(rows: Rows) -> Ends:
    """The ends between which nearly all rows are; categories have none."""
    share = few(rows.weight)
    low, high = quantiles_of(rows, (share, 1 - share))
    categories = np.zeros(rows.n_features, bool) if rows.levels is None else np.asarray(rows.levels) > 0
    return np.where(categories, -np.inf, low), np.where(categories, np.inf, high)


def _limits(bulk: Ends) -> Ends:
    low, high = bulk
    room = ROOM * (high - low)
    return low - room, high + room


def slips_beyond(limits: Ends) -> Ends:
    """The numbers beyond which those of columns with such limits are slips; none are where all are held at one."""
    low, high = limits
    room = np.where(high > low, FAR * (high - low), np.inf)
    return low - room, high + room


def _any_beyond(bounds: tuple[Array, Array], samples: Samples) -> bool:
    return bool(array_namespace(samples.X).any(is_beyond(samples.X, *bounds)))


def _held(rows: Rows, limits: Ends) -> Rows:
    return rows.clipped(_at_home(rows, limits))


def _at_home(rows: Rows, ends: Ends) -> tuple[Array, Array]:
    low, high = (rows.at_home(end.astype(rows.precision)) for end in ends)
    return low, high


def quantiles_of(rows: Rows, shares: Sequence[float]) -> list[np.ndarray]:
    """The values of each column that such shares of the rows lie below."""
    picked = sample(by_size(rows), SIZE, seed=0)
    order = np.argsort(picked.X, axis=0, kind="stable")
    values = np.take_along_axis(picked.X, order, axis=0)
    counts = np.where(np.isnan(values), 0.0, picked.weight[order])
    total = np.cumsum(counts, axis=0)
    found = []
    for at in shares:
        rank = [np.searchsorted(column, at * column[-1] * (1 - 1e-12)) for column in total.T]
        places = np.minimum(rank, len(values) - 1)
        found.append(np.nan_to_num(values[places, np.arange(values.shape[1])], nan=0.0))
    return found
