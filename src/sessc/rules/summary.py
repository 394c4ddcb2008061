"""What the data looked like that rules speak about: enough for words, supports and small histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from .effects import Effects
from .evidence import Evidence

__all__ = ["BINS", "SHARES", "Summary", "summarize", "weighted_quantiles", "word_for"]

SHARES = np.linspace(0.0, 1.0, 41)
"""Shares of the data at whose quantiles a feature is known."""
BINS = 30
TINY = np.finfo(float).tiny
WORDS = ((0.1, "very low"), (1 / 3, "low"), (2 / 3, "medium"), (0.9, "high"), (1.0, "very high"))
"""What a value is called that lies above less than this share of the data."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Data as a rule base remembers them.

    Parameters
    ----------
    n_rows : int
    quantiles : array of shape (41, n_features)
        The values of each number that 0, 2.5, 5, ... 100 percent of the rows do not exceed; zeros for categories.
    counts : array of shape (n_features, 30)
        Rows in equal bins between the second and the second but last quantile, those beyond in the outermost.
    support : array of shape (n_rules,) or None
        The share of the rows each rule speaks for; shares sum to one. None once rules were changed by hand.
    levels : tuple of n_features arrays
        The share of the rows that have each level of a category; empty arrays for numbers.
    missing : array of shape (n_features,)
        The share of the rows that lack a cell in each column.
    reach : array of shape (n_rules, n_features) or None
        What nine tenths of the rows on which a rule counts most have each of its conditions add, at least;
        infinite where that is not known. A condition is read so that it fits these.
    prior : array of shape (n_classes,) or None
        How common classes were in learning, as they were weighed: probabilities hold where they are so common.
    shares : array of shape (n_classes,) or None
        How common they are in the data.
    evidence : Evidence or None
        What happened under each rule. None once rules were changed by hand.
    effects : Effects or None
        What the model answers over each column. None once rules were changed by hand.
    """

    n_rows: int
    quantiles: np.ndarray
    counts: np.ndarray
    support: np.ndarray | None
    levels: tuple[np.ndarray, ...] = ()
    missing: np.ndarray | None = None
    reach: np.ndarray | None = None
    prior: np.ndarray | None = None
    shares: np.ndarray | None = None
    evidence: Evidence | None = None
    effects: Effects | None = None

    def __post_init__(self) -> None:
        n_features = self.quantiles.shape[1]
        if not self.levels:
            object.__setattr__(self, "levels", (np.zeros(0),) * n_features)
        if self.missing is None:
            object.__setattr__(self, "missing", np.zeros(n_features))
        for value in (*(getattr(self, field.name) for field in fields(self)), *self.levels):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def low(self) -> np.ndarray:
        """Where histograms begin, shape (n_features,): past the outermost values."""
        return self.quantiles[1]

    @property
    def high(self) -> np.ndarray:
        return self.quantiles[-2]

    @property
    def medians(self) -> np.ndarray:
        return self.quantiles[len(SHARES) // 2]

    def share_missing(self, feature: int) -> float:
        """How much of the data lacks a cell in a column."""
        return 0.0 if self.missing is None else float(self.missing[feature])

    def share_below(self, feature: int, value: float) -> float:
        """How much of the data has less than this value of a feature, halfway through ties."""
        known = self.quantiles[:, feature]
        left, right = (float(np.interp(value, *_steps(known, side))) for side in ("left", "right"))
        return (left + right) / 2

    def has_two_values(self, feature: int) -> bool:
        """Whether a feature only ever says one thing or another, so that nothing is low or high in it."""
        return len(np.unique(self.quantiles[:, feature])) <= 2


def _steps(known: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Distinct quantiles and the lowest or the highest share that has them."""
    values, first, counts = np.unique(known, return_index=True, return_counts=True)
    return values, SHARES[first if side == "left" else first + counts - 1]


def word_for(summary: Summary, feature: int, value: float) -> str | None:
    """A value as a word, by where it stands among the data; None where words make no sense."""
    if summary.has_two_values(feature):
        return None
    share = summary.share_below(feature, value)
    return next(word for limit, word in WORDS if share <= limit)


def summarize(
    X: np.ndarray,
    support: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    n_rows: int | None = None,
    levels: Sequence[int] | None = None,
) -> Summary:
    """A summary of cells (n, J) in the user's units, of which rules speak for these shares (R,).

    Rows may stand for many more, ``n_rows`` in all. ``levels`` says how many each column has, zero for numbers.
    """
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    levels = [0] * X.shape[1] if levels is None else levels
    numbers = np.where(np.asarray(levels) > 0, 0.0, np.asarray(X, dtype=float))
    quantiles = weighted_quantiles(numbers, weight)
    low, high = quantiles[1], quantiles[-2]
    width = np.where(high > low, high - low, 1.0)
    missing = np.isnan(numbers)
    there = np.where(missing, low, numbers)
    places = np.clip((there - low) / width * BINS, 0, BINS - 1).astype(int) + BINS * np.arange(X.shape[1])
    counted = np.where(missing, 0.0, weight[:, None])
    counts = np.bincount(places.ravel(), counted.ravel(), BINS * X.shape[1])
    n_rows = int(np.count_nonzero(weight)) if n_rows is None else n_rows
    return Summary(
        n_rows,
        quantiles,
        counts.reshape(-1, BINS),
        np.asarray(support, float),
        tuple(_level_shares(column, weight, n) for column, n in zip(np.asarray(X).T, levels, strict=True)),
        weight @ np.isnan(np.asarray(X, float)) / weight.sum(),
    )


def _level_shares(codes: np.ndarray, weight: np.ndarray, n_levels: int) -> np.ndarray:
    there = ~np.isnan(codes) if n_levels else np.zeros(len(codes), bool)
    return np.bincount(codes[there].astype(int), weight[there], minlength=n_levels)[:n_levels] / weight.sum()


def weighted_quantiles(X: np.ndarray, weight: np.ndarray, shares: np.ndarray = SHARES) -> np.ndarray:
    """The smallest values (len(shares), D) up to which the shares of the weight lie; weights are repetitions.

    Missing cells are left out; a column of nothing else has zeros.
    """
    order = np.argsort(X, axis=0, kind="stable")  # which puts what is missing last
    values = np.take_along_axis(X, order, axis=0)
    total = np.cumsum(np.where(np.isnan(values), 0.0, weight[order]), axis=0)
    # Rows without weight are not there, and rounding in the sums must not skip a row.
    rows = [np.searchsorted(column, np.maximum(shares * column[-1] * (1 - 1e-12), TINY)) for column in total.T]
    places = np.minimum(np.stack(rows, axis=1), len(X) - 1)
    return np.nan_to_num(np.take_along_axis(values, places, axis=0), nan=0.0)
