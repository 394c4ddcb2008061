"""What the data looked like that rules speak about: enough for words, supports and small histograms."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

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
        The values of each feature that 0, 2.5, 5, ... 100 percent of the rows do not exceed.
    counts : array of shape (n_features, 30)
        Rows in equal bins between the second and the second but last quantile, those beyond in the outermost.
    support : array of shape (n_rules,) or None
        The share of the rows each rule speaks for; shares sum to one. None once rules were changed by hand.
    """

    n_rows: int
    quantiles: np.ndarray
    counts: np.ndarray
    support: np.ndarray | None

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(value := getattr(self, field.name), np.ndarray):
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
    X: np.ndarray, support: np.ndarray, weight: np.ndarray | None = None, *, n_rows: int | None = None
) -> Summary:
    """A summary of samples (n, D) in the user's units, of which rules speak for these shares (R,).

    Samples may stand for many more, ``n_rows`` in all.
    """
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    quantiles = weighted_quantiles(np.asarray(X, dtype=float), weight)
    low, high = quantiles[1], quantiles[-2]
    width = np.where(high > low, high - low, 1.0)
    places = np.clip((X - low) / width * BINS, 0, BINS - 1).astype(int) + BINS * np.arange(X.shape[1])
    counts = np.bincount(places.ravel(), np.repeat(weight, X.shape[1]), BINS * X.shape[1])
    n_rows = int(np.count_nonzero(weight)) if n_rows is None else n_rows
    return Summary(n_rows, quantiles, counts.reshape(-1, BINS), np.asarray(support, float))


def weighted_quantiles(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The smallest values (len(SHARES), D) up to which the shares of the weight lie; weights are repetitions."""
    order = np.argsort(X, axis=0, kind="stable")
    total = np.cumsum(weight[order], axis=0)
    # Rows without weight are not there, and rounding in the sums must not skip a row.
    rows = [np.searchsorted(column, np.maximum(SHARES * column[-1] * (1 - 1e-12), TINY)) for column in total.T]
    return np.take_along_axis(np.take_along_axis(X, order, axis=0), np.stack(rows, axis=1), axis=0)
