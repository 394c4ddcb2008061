"""Which rows of a table are held out, and columns that are about rows alone: weights, groups, time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, StratifiedGroupKFold, train_test_split

from ..rules.wording import count
from .cells import moment_in, number_in
from .errors import ParameterError
from .reading import Table

__all__ = ["Holding", "RowsApart", "column_of", "groups_in", "late_in", "weights_in"]

N_FOLDS = 5


@dataclass(frozen=True)
class Holding:
    """What is asked for: a share of the rows, those from some time on, or none if they are in another table."""

    share: float = 0.25
    weight: str | None = None
    group: str | None = None
    by: str | None = None
    after: Any = None
    is_elsewhere: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ParameterError("held_out", f"must be a share of the rows between 0 and 1, got {self.share}")
        if (self.by is None) != (self.after is None):
            if self.after is None:
                raise ParameterError("by", "needs a date or number beside it, from which on rows are held out")
            raise ParameterError("after", "needs a column beside it, by which rows are held out")
        if self.by is not None and self.is_elsewhere:
            raise ParameterError("test", "holds the rows to test on, so none are held out by time; leave out one")

    @property
    def columns(self) -> tuple[str, ...]:
        """What rules may not ask about."""
        return tuple(name for name in (self.weight, self.group, self.by) if name is not None)

    @property
    def moment(self) -> Any:
        """From which number or date on rows are held out."""
        return _limit(str(self.after))[1]

    def refuse_one_side(self, n_early: int, n_late: int) -> None:
        """Complain about a time that comes before or after all rows."""
        if not (n_early and n_late):
            what = f"{'no row is' if n_early else 'all rows are'} from {self.after} on"
            raise ParameterError("after", f"must leave rows on both sides, but {what}")

    def refuse_few_groups(self, n_groups: int) -> None:
        """Complain about groups that are too few to hold some out."""
        if n_groups < N_FOLDS:
            raise ParameterError("group", f"must have at least {N_FOLDS} groups, got {n_groups}")

    def refuse_none_left(self) -> None:
        """Complain that whoever is seen early is seen late."""
        raise ParameterError("group", "leaves no rows to learn from: every group has rows held out by time")

    def notes(self, weights: tuple[float, float] | None, groups: tuple[str, int] | None) -> list[str]:
        """What was made of these columns: between what weights lie, and how many groups there and held out."""
        found = []
        if weights is not None:
            found.append(f"{self.weight}: how much each row counts, from {weights[0]:g} to {weights[1]:g}")
        if groups is not None:
            number, held = groups
            found.append(f"{self.group}: {count(held, 'group')} of {number} held out, with all of their rows")
        if self.by is not None:
            found.append(f"{self.by}: rows from {self.after} on are held out, so rules do not ask about it")
        return found

    def read(self, table: Table, numbers: list[int]) -> RowsApart:
        """What the columns say, which are taken out of the table."""
        weight = None if self.weight is None else weights_in(column_of(table, self.weight), self.weight, numbers)
        groups = None if self.group is None else groups_in(column_of(table, self.group))
        late = None if self.by is None else late_in(column_of(table, self.by), self.by, str(self.after), numbers)
        for name in {*self.columns}:
            del table[name]
        return RowsApart(self, weight, groups, late)


@dataclass(frozen=True, eq=False)
class RowsApart:
    """What rows weigh, which belong together, and which come late, of a table of n rows."""

    asked: Holding
    weight: np.ndarray | None
    groups: np.ndarray | None
    late: np.ndarray | None

    def split(self, y: np.ndarray, is_number: bool, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rows to learn from and rows to test on."""
        rows = np.arange(len(y))
        if self.asked.is_elsewhere:
            return rows, rows[:0]
        if self.late is not None:
            return self._by_time(rows)
        if self.groups is not None:
            return self._by_group(y, is_number, random_state)
        stratify = None if is_number else y
        part, rest = train_test_split(
            rows, test_size=self.asked.share, stratify=stratify, random_state=random_state
        )
        return part, rest

    def _by_time(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self.late is not None
        late = self.late
        self.asked.refuse_one_side(np.sum(~late), np.sum(late))
        if self.groups is not None:  # whoever is seen late has been seen by nobody
            early = ~np.isin(self.groups, self.groups[late])
            if not early.any():
                self.asked.refuse_none_left()
            return rows[early], rows[late]
        return rows[~late], rows[late]

    def _by_group(self, y: np.ndarray, is_number: bool, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
        assert self.groups is not None
        self.asked.refuse_few_groups(len(np.unique(self.groups)))
        if is_number:
            splitter: Any = GroupShuffleSplit(1, test_size=self.asked.share, random_state=random_state)
        else:
            n_parts = max(2, round(1 / self.asked.share))
            splitter = StratifiedGroupKFold(n_parts, shuffle=True, random_state=random_state)
        part, rest = next(splitter.split(y, y, self.groups))
        return part, rest

    def folds(self, rows: np.ndarray, y: np.ndarray, is_number: bool, random_state: Any) -> list | None:
        """Folds in which a search keeps groups together, among rows to learn from; None if any will do."""
        if self.groups is None:
            return None
        kind = GroupKFold if is_number else StratifiedGroupKFold
        splitter = kind(N_FOLDS, shuffle=True, random_state=random_state)
        return list(splitter.split(rows, y[rows], self.groups[rows]))

    def notes(self, part: np.ndarray, rest: np.ndarray) -> list[str]:
        """What was made of these columns."""
        weights = None if self.weight is None else (self.weight.min(), self.weight.max())
        groups = None
        if self.groups is not None and len(rest):
            known, held = (len(np.unique(self.groups[rows])) for rows in (part, rest))
            groups = str(known + held), held
        return self.asked.notes(weights, groups)


def column_of(table: Table, name: str) -> list[str | None]:
    """A column that somebody named."""
    if name not in table:
        raise ValueError(f"there is no column {name!r}; there are {', '.join(table)}.")
    return table[name]


def weights_in(cells: list[str | None], name: str, numbers: list[int]) -> np.ndarray:
    """How much rows count: numbers of zero or more, and not all zero."""
    values = [None if cell is None else number_in(cell) for cell in cells]
    for row, cell, value in zip(numbers, cells, values, strict=True):
        if value is None or value < 0:
            said = "nothing" if cell is None else repr(cell)
            raise ValueError(
                f"row {row} has {said} in column {name!r}; a weight must be a number of zero or more."
            )
    weight = np.asarray(values, float)
    if not weight.any():
        raise ValueError(f"every weight in column {name!r} is zero; some rows must count.")
    return weight


def groups_in(cells: list[str | None]) -> np.ndarray:
    """A number for each group; a row without one is a group by itself."""
    alone = (f"row {k}" for k in range(len(cells)))
    named = [(cell is None, one if cell is None else cell) for cell, one in zip(cells, alone, strict=True)]
    place = {name: k for k, name in enumerate(dict.fromkeys(named))}
    return np.asarray([place[name] for name in named])


def late_in(cells: list[str | None], name: str, after: str, numbers: list[int]) -> np.ndarray:
    """Which rows are from this moment, or number, on."""
    says, limit = _limit(after)
    values = [None if cell is None else says(cell) for cell in cells]
    for row, cell, value in zip(numbers, cells, values, strict=True):
        if value is None:
            said, kind = "nothing" if cell is None else repr(cell), "number" if says is number_in else "date"
            raise ValueError(
                f"row {row} has {said} in column {name!r}, by which rows are held out; it needs a {kind}."
            )
    return np.asarray([value >= limit for value in values])


def _limit(after: str) -> tuple[Callable[[str], Any], Any]:
    """What says how late a cell is, and from where on it is late."""
    says: Any = number_in if number_in(after) is not None else moment_in
    if says(after) is None:
        raise ParameterError("after", f"must be a date such as 2020-01-31 or a number, got {after!r}")
    return says, says(after)
