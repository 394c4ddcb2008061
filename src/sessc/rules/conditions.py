"""What a rule asks of a column, told apart by its own numbers: a bell, an edge, a set of levels, or nothing.

A condition adds something to the logarithm of how strongly its rule fires. Its *grade* is the exponential of that,
measured from the largest value it has where the data are: between low and high quantiles, so that no single row
changes how a rule reads, or over the levels. People read where the grade is a half or more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .base import Cells, RuleBase

__all__ = [
    "COMMON",
    "HALF",
    "REACH",
    "Reading",
    "additions",
    "asks",
    "beyond",
    "grades",
    "impacts",
    "is_whole",
    "origin",
    "places",
    "reach_of",
    "read_condition",
    "seen_range",
    "shown_range",
    "top",
]

HALF = np.log(2.0)
OWN, OWN_LEVELS = 0.9, 0.5
"""The share of the rows a rule speaks for that fit each of its conditions as it is read, at least: about numbers,
and about levels, of which the next is another thing and not a little more of the same."""
LOWERED = HALF * (1 - 1e-9)
"""How far below the top a grade of a half is, rounding included."""
COMMON = 0.01
"""Levels that a smaller share of the data has do not decide what a condition is measured from, unless most rows
have one of these."""
REACH = 3.0
"""Standard units to each side of the mean that count as where data are, if nobody has seen any."""
POINTS = 201
MOST = 700.0
"""The largest exponent that a float takes."""


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
    """The grade of a missing cell; above one if it meets the condition better than any cell that is there."""


def asks(rules: RuleBase, r: int, column: int) -> bool:
    """Whether a rule has a condition on a column."""
    features, n_numbers = rules.layout.features_of(column), rules.layout.n_numbers
    found = bool(rules.unknown[r, column] != 0 or rules.linear[r, features].any())
    return found or bool(features[0] < n_numbers and rules.precisions[r, features[0]] != 0)


def additions(rules: RuleBase, r: int, column: int, cells: np.ndarray) -> np.ndarray:
    """What a condition adds for some cells of its column: numbers in the user's units, codes, or NaN."""
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
    quantiles = np.zeros((4, 1 + column)) if summary is None else summary.quantiles
    for k in (1, 0):  # of a column that hardly varies, what few rows have
        low, high = quantiles[k, column], quantiles[-1 - k, column]
        if high > low:
            return float(low), float(high)
    mean, scale = float(rules.mean[column]), float(rules.scale[column])
    return mean - REACH * scale, mean + REACH * scale


def seen_range(rules: RuleBase, column: int) -> tuple[float, float]:
    """The smallest and the largest number seen, none of which counts as another."""
    low, high = shown_range(rules, column)
    if rules.summary is not None:
        low, high = min(low, rules.summary.quantiles[0, column]), max(high, rules.summary.quantiles[-1, column])
    if rules.limits is not None:
        low, high = max(low, rules.limits[0, column]), min(high, rules.limits[1, column])
    return float(low), float(high)


def beyond(rules: RuleBase, cells: np.ndarray) -> np.ndarray:
    """Which cells (n, J) are numbers below or above all that rules were learned from, as far as that is known."""
    if rules.summary is None:
        return np.zeros(cells.shape, bool)
    low, high = rules.summary.quantiles[[0, -1]]
    is_number = np.asarray(rules.layout.levels) == 0
    return is_number & ((cells < low) | (cells > high))


def places(rules: RuleBase, column: int) -> np.ndarray:
    """Cells at which a condition is looked at: levels that decide, both of two numbers, or many of all."""
    n_levels = rules.layout.levels[column]
    if n_levels:
        shares = np.ones(n_levels) if rules.summary is None else np.asarray(rules.summary.levels[column])
        common = np.flatnonzero(shares >= COMMON)
        decide = common if 2 * shares[common].sum() > shares.sum() else np.arange(n_levels)
        return np.asarray(decide, dtype=float)
    if (two := _two_values(rules, column)) is not None:
        return two
    return np.linspace(*shown_range(rules, column), POINTS)


def _two_values(rules: RuleBase, column: int) -> np.ndarray | None:
    """All that a number ever is, if that is one thing or another."""
    if rules.summary is None:
        return None
    found = np.unique(rules.summary.quantiles[:, column])
    return found if len(found) == 2 else None


def is_whole(rules: RuleBase, column: int) -> bool:
    """Whether a column has nothing but whole numbers, as far as is known."""
    if rules.summary is None or rules.layout.levels[column]:
        return False
    known = rules.summary.quantiles[:, column]
    return bool(np.all(known == np.round(known)))


def top(rules: RuleBase, r: int, column: int) -> float:
    """The addition of a condition that has the grade one, and so has what is above it.

    It is the largest where the data are. But many steep conditions together can leave the rows that a rule speaks
    for far from the largest of any of them: then it is what makes nine tenths of these rows fit by a half or more,
    or half of them where a condition names levels.
    """
    best = _largest(rules, r, column)
    reach = None if rules.summary is None else rules.summary.reach
    return best if reach is None else min(best, float(reach[r, column]) + LOWERED)


def _largest(rules: RuleBase, r: int, column: int) -> float:
    """The largest addition of a condition where the data are."""
    looked_at = places(rules, column)
    [d, *_] = rules.layout.features_of(column)
    if d < rules.layout.n_numbers and rules.precisions[r, d] > 0 and len(looked_at) == POINTS:
        center = _center(rules, r, column, d)  # the top of a bell may lie between two places
        looked_at = np.append(looked_at, np.clip(center, looked_at[0], looked_at[-1]))
    return float(np.max(additions(rules, r, column, looked_at)))


def _center(rules: RuleBase, r: int, column: int, d: int) -> float:
    """Where a number's bell has its top, in the user's units."""
    with np.errstate(over="ignore"):
        return float(
            rules.mean[column] + rules.scale[column] * np.divide(rules.linear[r, d], rules.precisions[r, d])
        )


def reach_of(rules: RuleBase, cells: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What most of the rows on which each rule counts most have its conditions add, at least, (R, J).

    Most are nine tenths, and half of them about levels. Of a rule that nowhere counts most, of all rows by how
    much it counts.
    """
    firing = rules.firing(Cells(cells)) * weight[:, None]
    first = firing * (firing == firing.max(axis=1, keepdims=True))
    own = np.where(first.sum(axis=0) > 0, first, firing)
    found = np.full((rules.n_rules, rules.n_features), np.inf)
    for r, column in zip(*np.nonzero(rules.asks), strict=True):
        adds = additions(rules, r, column, cells[:, column])
        order = np.argsort(adds, kind="stable")
        share = np.cumsum(own[order, r])
        most = OWN_LEVELS if rules.layout.levels[column] else OWN
        found[r, column] = adds[order[np.searchsorted(share, (1 - most) * share[-1])]]
    return found


def origin(rules: RuleBase, r: int) -> np.ndarray:
    """The features (D,) from which a rule's linear conclusion is measured.

    A number is measured from the centre of the rule's own bell if that is inside the data, and else from its mean;
    a category from the average of its levels.
    """
    found = np.array(rules.fill)
    for d, column in enumerate(rules.layout.numbers):
        low, high = shown_range(rules, column)
        if rules.precisions[r, d] > 0 and low <= _center(rules, r, column, d) <= high:
            found[d] = rules.linear[r, d] / rules.precisions[r, d]
    return found


def grades(rules: RuleBase, r: int, column: int, cells: np.ndarray) -> np.ndarray:
    """How well some cells meet a condition, from 0 to 1."""
    return np.exp(np.minimum(additions(rules, r, column, cells) - top(rules, r, column), 0.0))


def read_condition(rules: RuleBase, r: int, column: int) -> Reading:
    """A condition as people read it."""
    if not asks(rules, r, column):
        return Reading("any")
    looked_at = places(rules, column)
    worst = float(grades(rules, r, column, looked_at).min())
    unknown = _of_unknown(rules, r, column)
    if rules.layout.levels[column]:
        found = grades(rules, r, column, np.arange(rules.layout.levels[column]))
        order = np.argsort(-found, kind="stable")
        return Reading("set", levels=tuple(int(k) for k in order if found[k] >= 0.5), worst=worst, unknown=unknown)
    ends = _half_heights(rules, r, column)
    low, high = None if ends[0] <= looked_at[0] else ends[0], None if ends[1] >= looked_at[-1] else ends[1]
    kind = {(True, True): "any", (False, True): "at least", (True, False): "at most"}.get(
        (low is None, high is None), "bell"
    )
    return Reading(kind, low, high, worst=worst, unknown=unknown)


def _of_unknown(rules: RuleBase, r: int, column: int) -> float:
    """The grade of a missing cell; above one only if no cell that is there adds as much."""
    adds = float(additions(rules, r, column, np.asarray([np.nan]))[0])
    best = _largest(rules, r, column)
    return float(np.exp(min(adds - best, MOST) if adds > best else min(adds - top(rules, r, column), 0.0)))


def _half_heights(rules: RuleBase, r: int, column: int) -> tuple[float, float]:
    """Where the grade of a number is a half, from below and from above; infinite where it never is."""
    [d] = rules.layout.features_of(column)
    linear, p = float(rules.linear[r, d]), float(rules.precisions[r, d])
    least = top(rules, r, column) - HALF
    root = np.sqrt(max(linear * linear - 2 * p * least, 0.0))
    # Of the two ways to write a root of l z - p z^2 / 2 = least, each end takes the one that does not cancel.
    along = linear + root if linear >= 0 else linear - root
    if along == 0:
        return -np.inf, np.inf
    with np.errstate(divide="ignore", over="ignore"):
        ends = np.asarray([np.divide(along, p), 2 * least / along])
    low, high = rules.mean[column] + rules.scale[column] * (ends if linear < 0 else ends[::-1])
    return float(low), float(high)


def impacts(rules: RuleBase, r: int | None = None) -> np.ndarray:
    """How much conditions change over the data: the standard deviation of what each adds, (R, J), or (1, J).

    Of rules that nobody has seen data for, over three standard units to each side.
    """
    chosen = range(rules.n_rules) if r is None else (r,)
    found = np.zeros((len(chosen), rules.n_features))
    for column, n_levels in enumerate(rules.layout.levels):
        cells, shares = _marginal(rules, column, n_levels)
        for k, one in enumerate(chosen):
            adds = additions(rules, one, column, cells)
            mean = shares @ adds
            found[k, column] = np.sqrt(max(shares @ (adds - mean) ** 2, 0.0))
    return found


def _marginal(rules: RuleBase, column: int, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a column and the share of the data that each stands for, the last one missing."""
    summary = rules.summary
    missing = 0.0 if summary is None else summary.share_missing(column)
    if n_levels:
        known = np.full(n_levels, 1 / n_levels) if summary is None else np.asarray(summary.levels[column], float)
        cells = np.arange(n_levels, dtype=float)
    else:
        cells = places(rules, column) if summary is None else _middles(summary.quantiles[:, column])
        known = np.ones(len(cells))
    total = known.sum()
    shares = known * ((1 - missing) / total) if total > 0 else known
    return np.append(cells, np.nan), np.append(shares, missing)


def _middles(quantiles: np.ndarray) -> np.ndarray:
    """A number for each of the equal parts that quantiles cut data into; most of a tail lies at its inner end."""
    found = (quantiles[1:] + quantiles[:-1]) / 2
    found[0], found[-1] = (3 * quantiles[[1, -2]] + quantiles[[0, -1]]) / 4
    return found
