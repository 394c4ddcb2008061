"""Tables spelled out: numbers as they are, categories as one indicator for each level, gaps as indicators of their
own.

At the door every table becomes one array of cells: numbers, codes of levels, and NaN where a cell is missing. A
cost and a rule are linear in what is made of it here, so that a category is a handful of columns and a gap is one
more, and nothing else has to know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._array import Array, array_namespace, like, to_numpy, zero_where
from .._runtime import cached_property

__all__ = ["Layout", "Space", "gaps_in", "taken"]


def gaps_in(cells: Array) -> tuple[int, ...]:
    """The columns of a block of cells in which some are missing."""
    xp = array_namespace(cells)
    if not bool(xp.isnan(xp.sum(cells))):
        return ()
    return tuple(np.flatnonzero(to_numpy(xp.any(xp.isnan(cells), axis=0))).tolist())


@dataclass(frozen=True)
class Layout:
    """Which columns of a table are categories, and which have gaps.

    Parameters
    ----------
    levels : tuple of int
        How many levels each column has; zero for one of numbers.
    gaps : tuple of int, optional
        The columns with missing cells; each block is looked at if None.
    """

    levels: tuple[int, ...]
    gaps: tuple[int, ...] | None = None

    @cached_property
    def numbers(self) -> np.ndarray:
        """The columns of numbers."""
        return np.flatnonzero(np.asarray(self.levels) == 0)

    @cached_property
    def group(self) -> np.ndarray:
        """The column that each feature belongs to, (D,): numbers first, then the levels of each category."""
        return np.concatenate([self.numbers, np.repeat(np.arange(len(self.levels)), self.levels)]).astype(int)

    @property
    def n_numbers(self) -> int:
        return len(self.numbers)

    @property
    def n_features(self) -> int:
        return len(self.group)

    @cached_property
    def is_category(self) -> np.ndarray:
        """Which columns are categories, (J,)."""
        return np.asarray(self.levels) > 0

    @cached_property
    def onto_columns(self) -> np.ndarray:
        """What adds up features by column, (D, J)."""
        return np.eye(len(self.levels))[self.group]

    @cached_property
    def halves(self) -> np.ndarray:
        """What squared distances of features count: numbers whole, levels half, (D,)."""
        return np.where(np.arange(self.n_features) < self.n_numbers, 1.0, 0.5)

    def places(self, columns: tuple[int, ...]) -> np.ndarray:
        """What spreads some columns over all, (G, J)."""
        return np.eye(len(self.levels))[list(columns)]

    def features_of(self, column: int) -> np.ndarray:
        """The features that a column is spelled out as."""
        return np.flatnonzero(self.group == column)

    def spell(self, cells: Array) -> tuple[Array, Array | None, tuple[int, ...]]:
        """Features (n, D), zero where cells are missing; which are (n, G); and the columns these are in."""
        xp = array_namespace(cells)
        gaps = gaps_in(cells) if self.gaps is None else self.gaps
        gone = xp.isnan(cells) if gaps else None
        missing = None if gone is None else xp.astype(taken(gone, gaps), cells.dtype)
        numbers = taken(cells, self.numbers)
        if gone is not None and self.n_numbers:
            numbers = zero_where(taken(gone, self.numbers), numbers)
        parts = [numbers] if self.n_numbers else []
        for column in np.flatnonzero(np.asarray(self.levels)):
            codes = like(np.arange(self.levels[column]), cells)
            parts.append(xp.astype(cells[:, int(column), None] == codes, cells.dtype))
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=1), missing, gaps


def taken(cells: Array, columns: Any) -> Array:
    """Some columns; to take all of them one by one would cost more than all that is done with them."""
    if len(columns) == cells.shape[1]:
        return cells
    xp = array_namespace(cells)
    return xp.take(cells, xp.asarray(np.asarray(columns), device=getattr(cells, "device", None)), axis=1)


@dataclass(frozen=True)
class Space:
    """What features are worth in a cost.

    Parameters
    ----------
    layout : Layout
    origin : array of shape (D,)
        The mean of the data: zero for numbers, which are measured from it, and the shares of the levels.
    total : array of shape (J,)
        How far cells of each column lie from their mean, squared and on average: of z-scores one, of a category
        half of one less the sum of squared shares.
    extra : array of shape (J,)
        What a cell costs besides, so that columns cost the same in all: of categories what is missing to one.
    varies : bool array of shape (J,)
        Columns that have something to say.
    known : bool array of shape (J,)
        Columns that have any cell at all; others do not exist.
    """

    layout: Layout
    origin: np.ndarray
    total: np.ndarray
    extra: np.ndarray
    varies: np.ndarray
    known: np.ndarray

    def with_gaps(self, gaps: tuple[int, ...]) -> Space:
        """The same for rows that lack cells of these columns."""
        return self if self.layout.gaps == gaps else replace(self, layout=replace(self.layout, gaps=gaps))
