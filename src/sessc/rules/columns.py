"""How columns of a raw table, of numbers and of categories, with cells missing, become features of rules.

It is learned once, from training data, and is part of a saved model: the same raw table then always means the same
features.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .choices import Choice

__all__ = ["ABSENT", "Category", "Column", "Columns", "Number", "code", "listed", "number_in"]

ABSENT = "(missing)"
"""The category of a missing cell, where training data had some."""
WHOLE = re.compile(r"([+-]?\d+)\.0+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Number:
    """A column of numbers, which is one feature.

    Parameters
    ----------
    name : str
    fill : float
        What a missing cell counts as: the median.
    """

    name: str
    fill: float

    @property
    def features(self) -> list[str]:
        return [self.name]

    def knows(self, cell: str) -> bool:
        """Whether a cell is a number."""
        return number_in(cell) is not None

    def encode(self, cells: Sequence[str | None], first: int = 1) -> np.ndarray:
        """Cells as numbers (n, 1); ``first`` is the number of their first row, for complaints."""
        values = np.empty((len(cells), 1))
        for k, cell in enumerate(cells):
            value = self.fill if cell is None else number_in(cell)
            if value is None:
                where = f"row {first + k} has {cell!r} in column {self.name!r}"
                raise ValueError(f"{where}, which holds numbers; correct the cell, or empty it if it is unknown.")
            values[k] = value
        return values


@dataclass(frozen=True)
class Category:
    """A column of categories, which is a feature for each; of two one is enough.

    Parameters
    ----------
    name : str
    values : tuple of str
        The categories.
    fill : str
        The one that a missing cell counts as.
    """

    name: str
    values: tuple[str, ...]
    fill: str

    @property
    def features(self) -> list[str]:
        return [f"{self.name}={value}" for value in self.shown]

    @property
    def shown(self) -> tuple[str, ...]:
        """The categories that are features."""
        return self.values[1:] if len(self.values) == 2 else self.values

    def knows(self, cell: str) -> bool:
        """Whether a cell is one of the categories."""
        return cell in self.values or code(cell) in self.values

    def encode(self, cells: Sequence[str | None], first: int = 1) -> np.ndarray:
        """Cells as ones and zeros (n, n_features); ``first`` is the number of their first row, for complaints."""
        codes = {value: np.asarray([value == shown for shown in self.shown], float) for value in self.values}
        rows = []
        for k, cell in enumerate(cells):
            value = self.fill if cell is None else cell if cell in codes else code(cell)
            if value not in codes:
                values = [value for value in self.values if value != ABSENT]
                known = listed(values[:10]) + (", ..." if len(values) > 10 else "")
                where = f"row {first + k} has {value!r} in column {self.name!r}"
                raise ValueError(
                    f"{where}, which the model has never seen; write one of {known}, or leave it empty."
                )
            rows.append(codes[value])
        return np.asarray(rows)


Column = Number | Category


@dataclass(frozen=True)
class Columns:
    """How the columns of a raw table become the features of a model.

    Parameters
    ----------
    each : tuple of Number and Category
        In the order of the features.
    """

    each: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.each]

    @property
    def features(self) -> list[str]:
        return [feature for column in self.each for feature in column.features]

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Which features are the values of one column."""
        found, first = [], 0
        for column in self.each:
            places = tuple(range(first, first + len(column.features)))
            if isinstance(column, Category):
                other = None if len(column.shown) == len(column.values) else column.values[0]
                found.append(Choice(column.name, places, column.shown, other))
            first += len(places)
        return tuple(found)

    def notes(self, table: Mapping[str, Sequence[str | None]]) -> list[str]:
        """What missing cells of a table count as, for people."""
        absent = [(column, sum(cell is None for cell in table.get(column.name, ()))) for column in self.each]
        return [
            f"{c.name}: {n} missing {'cells count' if n > 1 else 'cell counts'} as {_filling(c)}"
            for c, n in absent
            if n
        ]

    def encode(self, table: Mapping[str, Sequence[str | None]], first: int = 1) -> np.ndarray:
        """The table as numbers (n, n_features); columns that are not asked for are ignored.

        ``first`` is the number of its first row, for complaints.
        """
        if missing := [name for name in self.names if name not in table]:
            raise ValueError(f"the table has no column {missing[0]!r}; it has {', '.join(table)}.")
        return np.concatenate([column.encode(table[column.name], first) for column in self.each], axis=1)


def _filling(column: Column) -> str:
    if isinstance(column, Number):
        return f"{column.fill:g}, the median"
    return "one more category" if column.fill == ABSENT else column.fill


def listed(values: Sequence[str]) -> str:
    """Categories with commas between them, and in quotes if they have their own."""
    return ", ".join(repr(value) if "," in value else value for value in values)


def code(cell: str) -> str:
    """A cell as a category: whole numbers alike, whether a program wrote 1 or 1.0."""
    whole = WHOLE.fullmatch(cell)
    return whole[1] if whole else cell


def number_in(cell: str) -> float | None:
    """What a cell says, if that is a finite number and written as one: Python reads 1_0 as ten too."""
    value = float(cell) if NUMBER.fullmatch(cell) else math.inf
    return value if math.isfinite(value) else None
