"""Which rows of a large table are learned from and which are held out: one byte for each.

A row is held out by a hash of its number, a group by a hash of its name. By a hash of values equal rows would
all be on one side, and of a table of few distinct rows none that is tested would be like one that is learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from ..rows.sample import hashed
from .columns import DATES, NUMBERS
from .holding import Holding, column_of, late_in, weights_in
from .large import Batch, LargeTable, cells_in, is_number, known_in, spelled

__all__ = ["HELD", "LEARNED", "MOST_LABELS", "Sides", "Splitter"]

LEFT_OUT, LEARNED, HELD = 0, 1, 2
"""The sides of rows: those without a target, or seen early of groups that are seen late, are on none."""
MOST_LABELS, MOST_GROUPS = 10_000, 1_000_000
"""Of more different targets these are no longer counted, nor are groups."""
KEYS = 2.0**64
CHUNK = 2**20


@dataclass(eq=False)
class Sides:
    """On which side rows are, and what is known of all of them when that is settled."""

    side: np.ndarray
    labels: dict[str, np.ndarray] | None
    """Of each text of the target its first row and how many rows of it are on each side; None of too many."""
    weights: tuple[float, float] | None = None
    """The smallest and the largest."""
    groups: tuple[str, int] | None = None
    """How many there are, in words, and how many are held out."""

    n_rows: int = 0
    """How many rows have a target."""

    def count(self, side: int) -> int:
        """How many rows are on a side."""
        return int(np.count_nonzero(self.side == side))

    def drawn(self, side: int, most: int, seed: int) -> np.ndarray:
        """The numbers of at most so many rows on a side, those of the smallest hashes, in ascending order."""
        numbers = np.zeros(0, int)
        for start in range(0, len(self.side), CHUNK):
            here = np.flatnonzero(self.side[start : start + CHUNK] == side)
            numbers = np.concatenate([numbers, here + start + 1])
            if len(numbers) > most:
                numbers = numbers[np.argpartition(_keys(numbers, seed), most)[:most]]
        return np.sort(numbers)


@dataclass(frozen=True, eq=False)
class Splitter:
    """What settles on which side each row is."""

    table: LargeTable
    names: list[str]
    target: str
    missing: frozenset[str]
    """Texts that stand for missing cells."""
    blank: frozenset[str]
    """Those that stand for a missing target."""
    holding: Holding
    seed: int

    def __call__(self) -> Sides:
        """The sides of all rows, in one pass, or two of groups."""
        for name in self.holding.columns:
            column_of({known: [] for known in self.names if known != self.target}, name)
        apart, sides = _Apart(self), Sides(np.zeros(self.table.n_rows, np.uint8), {})
        for batch in self.batches():
            side = apart.sides(batch)
            sides.side[batch.numbers - 1] = side
            sides.n_rows += len(side)
            self._count(sides, batch, side)
            self._weigh(sides, batch)
        sides.groups = apart.counted
        self._refuse_empty(sides)
        return sides

    def _refuse_empty(self, sides: Sides) -> None:
        """Complain about a side without rows, and about rows that do not count."""
        n_learned, n_held = sides.count(LEARNED), sides.count(HELD)
        if self.holding.by is not None and sides.n_rows:
            if self.holding.group is not None and not n_learned and n_held < sides.n_rows:
                self.holding.refuse_none_left()
            self.holding.refuse_one_side(n_learned, n_held)
        if self.holding.weight is not None and sides.weights is not None and not sides.weights[1]:
            weights_in(["0"], self.holding.weight, [1])

    def batches(self) -> Iterator[Batch]:
        """The rows that have a target, of the columns that settle it."""
        names = list(dict.fromkeys([self.target, *self.holding.columns]))
        for batch in self.table.batches(names):
            yield batch.taken(known_in(batch.column(self.target), self.blank))

    def _count(self, sides: Sides, batch: Batch, side: np.ndarray) -> None:
        """Count the texts of the target, unless there are too many."""
        if sides.labels is None:
            return
        text = spelled(batch.column(self.target), self.blank)
        n = len(text.texts) + 1
        counts = np.bincount(text.codes + n * side, minlength=3 * n).reshape(3, n)[:, :-1].T
        places, first = np.unique(text.codes, return_index=True)
        firsts = dict(zip(places.tolist(), batch.numbers[first].tolist(), strict=True))
        for place, row in sorted(firsts.items(), key=lambda one: one[1]):
            label = str(text.texts[place])
            before = sides.labels.get(label, np.asarray([row, 0, 0, 0]))
            sides.labels[label] = before + np.append(0, counts[place])
        if len(sides.labels) > MOST_LABELS:
            sides.labels = None

    def _weigh(self, sides: Sides, batch: Batch) -> None:
        """Look at the smallest and largest weight of rows that have a target."""
        if (name := self.holding.weight) is None or not len(batch.numbers):
            return
        weight = cells_in(batch.column(name), NUMBERS, self.missing).values
        for row in np.flatnonzero(~(weight >= 0) | np.isinf(weight))[:1].tolist():
            weights_in(_text(batch, name, row, self.missing), name, batch.numbers[row : row + 1].tolist())
        low, high = sides.weights or (np.inf, -np.inf)
        sides.weights = min(low, float(weight.min())), max(high, float(weight.max()))


class _Apart:
    """What is held out: groups, rows where there are none, or what comes late."""

    def __init__(self, splitter: Splitter):
        self.splitter, self.holding = splitter, splitter.holding
        self.counted: tuple[str, int] | None = None
        self.late: np.ndarray | None = None
        self.limit = np.int64((self.holding.share - 0.5) * KEYS)
        if self.holding.group is not None and not self.holding.is_elsewhere:
            self._settle()

    def _settle(self) -> None:
        """Look through all groups; so that a share of them is held out, exactly if they are not too many."""
        groups, late = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for batch in self.splitter.batches():
            keys = self.keys(batch)
            groups = np.union1d(groups, keys) if len(groups) <= MOST_GROUPS else groups
            if self.holding.by is not None:
                late = np.union1d(late, keys[self._is_late(batch)])
        if self.holding.by is not None:
            self.late = late
            self.counted = _counted(len(groups), len(late))
            return
        self.holding.refuse_few_groups(len(groups))
        n_held = int(np.clip(round(self.holding.share * len(groups)), 1, len(groups) - 1))
        if len(groups) <= MOST_GROUPS:
            self.limit = groups[n_held - 1]
        self.counted = _counted(len(groups), n_held)

    def sides(self, batch: Batch) -> np.ndarray:
        """The side of each row."""
        if self.holding.is_elsewhere:
            return np.full(len(batch.numbers), LEARNED)
        if self.holding.by is None:
            return np.where(self.keys(batch) <= self.limit, HELD, LEARNED)
        late = self._is_late(batch)
        if self.late is None:
            return np.where(late, HELD, LEARNED)
        return np.where(late, HELD, np.where(np.isin(self.keys(batch), self.late), LEFT_OUT, LEARNED))

    def keys(self, batch: Batch) -> np.ndarray:
        """A hash of each row's group, or of its number if it has none."""
        rows = _keys(batch.numbers, self.splitter.seed)
        if self.holding.group is None:
            return rows
        column = batch.column(self.holding.group)
        if is_number(column.type):
            cells = cells_in(column, NUMBERS, self.splitter.missing)
            return np.where(cells.known, _keys_of_numbers(column, self.splitter.seed), rows)
        text = spelled(column, self.splitter.missing)
        known = known_in(column, self.splitter.missing)
        keys = [0 if one is None else _key_of(one, self.splitter.seed) for one in text.texts]
        return np.where(known, text.looked_up(keys, 0, np.int64), rows)

    def _is_late(self, batch: Batch) -> np.ndarray:
        name, limit = str(self.holding.by), self.holding.moment
        kind = DATES if isinstance(limit, np.datetime64) else NUMBERS
        cells = cells_in(batch.column(name), kind, self.splitter.missing)
        for row in np.flatnonzero(~cells.known)[:1].tolist():
            text, numbers = _text(batch, name, row, self.splitter.missing), batch.numbers[row : row + 1].tolist()
            late_in(text, name, str(self.holding.after), numbers)
        return cells.values >= limit


def _counted(n_groups: int, n_held: int) -> tuple[str, int]:
    return (f"{n_groups:,}" if n_groups <= MOST_GROUPS else f"more than {MOST_GROUPS:,}"), n_held


def _text(batch: Batch, name: str, row: int, gaps: frozenset[str]) -> list[str | None]:
    """The one cell of a row, as text."""
    text = spelled(batch.column(name).slice(row, 1), gaps)
    return [(*text.texts, None)[text.codes[0]]]


def _keys(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A hash of each whole number."""
    return hashed(np.column_stack([numbers >> 32, numbers & (2**32 - 1)]).astype(float), seed)


def _keys_of_numbers(column: Any, seed: int) -> np.ndarray:
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    if values.dtype.kind in "iu":
        return _keys(values.astype(np.int64), seed)
    return hashed(np.column_stack([values, np.zeros(len(values))]).astype(float), seed)


def _key_of(text: str, seed: int) -> int:
    key = blake2b(text.encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(key, "little", signed=True)
