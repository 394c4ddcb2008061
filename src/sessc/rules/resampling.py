"""How far measures could have come out otherwise: the bootstrap.

Rows are drawn again and again from the rows that there are, as many and with replacement, and each measure is
computed anew; the middle 95 % of what it then is are its interval. Rows of one group, such as visits of one
patient, are drawn together. A share that is none or all of its rows comes out so in every resample, which says
nothing of how sure that is: it has Wilson's interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .observe import wilson

__all__ = ["Resamples", "ends", "widened"]

BLOCK = 2**18
"""Numbers in an array of weights: as many resamples are computed at once as fit."""
LEVELS = (0.025, 0.975)


class Resamples(NamedTuple):
    """What is drawn: how often, how it starts, and which rows are drawn together."""

    number: int
    random_state: int
    units: np.ndarray
    """The unit that each row belongs to, counted from 0, shape (n,)."""

    @classmethod
    def of(cls, n_rows: int, groups: Any, number: int, random_state: int) -> Resamples:
        """Of rows, or of groups of them."""
        units = np.arange(n_rows) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        return cls(number, random_state, units)

    @property
    def n_units(self) -> int:
        return int(self.units.max()) + 1

    @property
    def per_row(self) -> float:
        """Units that a row stands for on average: one, or less where rows belong together."""
        return self.n_units / len(self.units)

    def taken(self, rows: np.ndarray) -> Resamples:
        """The same of some of the rows."""
        return self._replace(units=np.unique(self.units[rows], return_inverse=True)[1])

    def weights(self, weight: np.ndarray) -> Iterator[np.ndarray]:
        """How much each row counts in some resamples, (b, n), block by block."""
        generator, at_once = np.random.default_rng(self.random_state), max(1, BLOCK // len(weight))
        for first in range(0, self.number, at_once):
            b = min(at_once, self.number - first)
            drawn = (generator.integers(0, self.n_units, self.n_units) for _ in range(b))
            yield np.stack([np.bincount(one, minlength=self.n_units)[self.units] * weight for one in drawn])

    def of_all(self, kinds: list[Callable], weight: np.ndarray) -> list[dict[str, np.ndarray]]:
        """What functions of weights find in all resamples, each by name an array of the number of resamples."""
        blocks = [[kind(W) for kind in kinds] for W in self.weights(weight)]
        return [
            {name: np.concatenate([block[k][name] for block in blocks]) for name in blocks[0][k]}
            for k in range(len(kinds))
        ]


def ends(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between which the middle 95 % of resamples are, of those where something is defined; NaN if none is."""
    known = ~np.isnan(draws)
    ordered, n_known = np.sort(np.where(known, draws, np.inf), axis=0), known.sum(axis=0)
    low, high = (_quantile(ordered, n_known, level) for level in LEVELS)
    return low, high


def _quantile(ordered: np.ndarray, n_known: np.ndarray, level: float) -> np.ndarray:
    """NumPy's quantile of the first values of each column, (b, ...)."""
    place = level * np.maximum(n_known - 1, 0)
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, np.maximum(n_known - 1, 0))
    below, above = (np.take_along_axis(ordered, one[None, ...], axis=0)[0] for one in (low, high))
    with np.errstate(invalid="ignore"):
        return np.where(n_known > 0, below + (above - below) * (place - low), np.nan)


def widened(share: Any, low: Any, high: Any, n_units: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ends, or Wilson's where a share is none or all of so many."""
    share, low, high = (np.asarray(one, float) for one in (share, low, high))
    sure = (low == high) & ((share == 0) | (share == 1))
    below, above = wilson(np.nan_to_num(share), np.asarray(n_units, float))
    return np.where(sure, below, low), np.where(sure, above, high)
