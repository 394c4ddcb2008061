"""What a rule asks of a column, told apart by its own numbers: a bell, an edge, a set of levels, or nothing.

A condition adds something to the logarithm of how strongly its rule fires. Its *grade* is the exponential of that,
measured from the largest value it has where the data are: between low and high quantiles, so that no single row
changes how a rule reads, or over the levels. People read where the grade is a half or more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .base import RuleBase

__all__ = ["Reading", "additions", "grades", "impacts", "read_condition", "shown_range", "top"]

HALF = np.log(2.0)
REACH = 3.0
"""Standard units to each side of the mean that count as where data are, if nobody has seen any."""
POINTS = 201


class Reading(NamedTuple):
    """A condition as people read it, in the user's units."""

    kind: str
    """"bell", "at least", "at most", "set" or "any"."""
    low: float | None = None
    high: float | None = None
    """Where a number's grade is a half; beyond the data it counts as no limit."""
    levels: tuple[int, ...] = ()
    """The codes of the levels whose grade is a half or more, the largest first."""
    worst: float = 1.0
    """The smallest grade where the data are: above a half the condition only inclines."""
    unknown: float = 1.0
    """The grade of a missing cell."""


def additions(rules: RuleBase, r: int, column: int, cells: np.ndarray) -> np.ndarray:
    """What a condition adds for some cells of its column, in the user's units or as codes, NaN for missing ones."""
    cells = np.asarray(cells, dtype=float)
    features, missing = rules.layout.features_of(column), np.isnan(cells)
    if rules.layout.levels[column]:
        adds = np.append(rules.linear[r, features], 0.0)[np.where(missing, -1, cells).astype(int)]
    else:
        if rules.limits is not None:
            cells = np.clip(cells, rules.limits[0, column], rules.limits[1, column])
        z = (cells - rules.mean[column]) / rules.scale[column]
        [d] = features
        adds = rules.linear[r, d] * z - 0.5 * rules.precisions[r, d] * z * z
    return np.where(missing, rules.unknown[r, column], adds)


def shown_range(rules: RuleBase, column: int) -> tuple[float, float]:
    """Between which numbers the data are, but for a few at each end."""
    summary = rules.summary
    if summary is not None and summary.high[column] > summary.low[column]:
        return float(summary.low[column]), float(summary.high[column])
    mean, scale = float(rules.mean[column]), float(rules.scale[column])
    return mean - REACH * scale, mean + REACH * scale


def _places(rules: RuleBase, column: int) -> np.ndarray:
    """Cells at which a condition is looked at: common levels, or numbers from end to end of the data."""
    n_levels = rules.layout.levels[column]
    if not n_levels:
        return np.linspace(*shown_range(rules, column), POINTS)
    return np.arange(n_levels, dtype=float)


def top(rules: RuleBase, r: int, column: int) -> float:
    """The largest addition of a condition where the data are, which has the grade one."""
    places = _places(rules, column)
    best = float(np.max(additions(rules, r, column, places)))
    n_numbers = rules.layout.n_numbers
    [d, *_] = rules.layout.features_of(column)
    if d < n_numbers and rules.precisions[r, d] > 0:  # the top of a bell may lie between two places
        center = rules.mean[column] + rules.scale[column] * rules.linear[r, d] / rules.precisions[r, d]
        if places[0] < center < places[-1]:
            best = max(best, float(additions(rules, r, column, np.asarray([center]))[0]))
    return best


def grades(rules: RuleBase, r: int, column: int, cells: np.ndarray) -> np.ndarray:
    """How well some cells meet a condition, from 0 to 1."""
    return np.exp(np.minimum(additions(rules, r, column, cells) - top(rules, r, column), 0.0))


def read_condition(rules: RuleBase, r: int, column: int) -> Reading:
    """A condition as people read it."""
    if not rules.asks[r, column]:
        return Reading("any")
    places = _places(rules, column)
    found = grades(rules, r, column, places)
    unknown = float(grades(rules, r, column, np.asarray([np.nan]))[0])
    worst = float(found.min())
    if rules.layout.levels[column]:
        order = np.argsort(-found, kind="stable")
        return Reading("set", levels=tuple(int(k) for k in order if found[k] >= 0.5), worst=worst, unknown=unknown)
    low, high = _half_heights(rules, r, column)
    low, high = (None if low <= places[0] else low), (None if high >= places[-1] else high)
    kind = {(True, True): "any", (False, True): "at least", (True, False): "at most"}.get(
        (low is None, high is None), "bell"
    )
    return Reading(kind, low, high, worst=worst, unknown=unknown)


def _half_heights(rules: RuleBase, r: int, column: int) -> tuple[float, float]:
    """Where the grade of a number is a half, from below and from above; infinite where it never is."""
    [d] = rules.layout.features_of(column)
    linear, p = float(rules.linear[r, d]), float(rules.precisions[r, d])
    least = top(rules, r, column) - HALF
    if p > 0:
        root = np.sqrt(max(linear * linear - 2 * p * least, 0.0))
        ends = [(linear - root) / p, (linear + root) / p]
    else:
        ends = [least / linear, np.inf] if linear > 0 else [-np.inf, least / linear if linear else np.inf]
    mean, scale = float(rules.mean[column]), float(rules.scale[column])
    low, high = (mean + scale * end for end in ends)
    return low, high


def impacts(rules: RuleBase) -> np.ndarray:
    """How much conditions change: the standard deviation of what each adds over the data, (R, J).

    Of rules that nobody has seen data for, over three standard units to each side.
    """
    found = np.zeros((rules.n_rules, rules.n_features))
    for column, n_levels in enumerate(rules.layout.levels):
        cells, shares = _marginal(rules, column, n_levels)
        for r in range(rules.n_rules):
            adds = additions(rules, r, column, cells)
            mean = shares @ adds
            found[r, column] = np.sqrt(max(shares @ (adds - mean) ** 2, 0.0))
    return found


def _marginal(rules: RuleBase, column: int, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a column and the share of the data that each stands for, the last one missing."""
    summary = rules.summary
    missing = 0.0 if summary is None else float(summary.missing[column])
    if n_levels:
        known = np.full(n_levels, 1 / n_levels) if summary is None else np.asarray(summary.levels[column], float)
        cells = np.arange(n_levels, dtype=float)
    else:
        cells = _places(rules, column) if summary is None else np.asarray(summary.quantiles[:, column], float)
        known = np.ones(len(cells))
    total = known.sum()
    shares = known * ((1 - missing) / total) if total > 0 else known
    return np.append(cells, np.nan), np.append(shares, missing)
