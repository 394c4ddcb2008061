"""Tables as people have them: named columns of numbers and of categories, with cells missing.

How each column was read is learned once, from training data, and is part of a saved model: the same raw table then
always means the same features.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Category", "Column", "Columns", "Number", "Table", "learn", "read"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "(missing)"})
"""What stands for a missing cell, in any case."""
ABSENT = "(missing)"
"""The category of a missing cell, where training data had some."""
FEW_CATEGORIES, MOST_CATEGORIES = 10, 50
"""Categories that are never, and always, too many for half the number of rows."""

Table = dict[str, list[str | None]]
"""Cells as text, by column; None is missing."""


def read(path: Any) -> Table:
    """A CSV, TSV or Parquet file as text cells; a ValueError in one sentence if it cannot be one."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"there is no file {path}.")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8; save it as CSV in UTF-8.") from None
    try:
        rows = _rows(text, "\t" if path.suffix.lower() in (".tsv", ".tab") else _separator(text))
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as a table: {error}; is a quote left open?") from None
    if len(rows) < 2:
        raise ValueError(f"{path} has no rows below its header.")
    header = [name.strip() or f"column {k + 1}" for k, name in enumerate(rows[0])]
    return _table(path, header, rows[1:])


def _rows(text: str, separator: str) -> list[list[str]]:
    """Rows of cells. A blank line is none, unless there is but one column: then it is a missing cell."""
    rows = list(csv.reader(io.StringIO(text.strip("\r\n"), newline=""), delimiter=separator))
    while rows and not "".join(rows[0]).strip():
        del rows[0]
    if rows and len(rows[0]) == 1:
        return [row or [""] for row in rows]
    return [row for row in rows if "".join(row).strip() or len(row) == len(rows[0])]


def _separator(text: str) -> str:
    """The one that gives the most columns in the header, where the first row has as many."""
    start = "\n".join(line for line in text.splitlines() if line.strip()).split("\n", 20)[:20]

    def columns(separator: str) -> tuple[bool, int]:
        rows = _rows("\n".join(start), separator)
        return len({len(row) for row in rows[:2]}) == 1, len(rows[0]) if rows else 0

    return max(",;\t", key=columns)


def _table(path: Path, header: list[str], rows: list[list[str]]) -> Table:
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has two columns called {twice[0]!r}; rename one.")
    for k, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {k + 1} of {path} has {len(row)} cells and the header {len(header)}.")
    return {
        name: [_cell(cell) for cell in column]
        for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }


def _read_parquet(path: Path) -> Table:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"reading {path} needs pyarrow; pip install 'sessc[cli]', or save it as CSV.") from None
    try:
        found = parquet.read_table(path)
    except Exception as error:  # pyarrow has many kinds of complaint about a damaged file
        raise ValueError(f"{path} is not a Parquet file, or a damaged one: {str(error).splitlines()[0]}") from None
    if found.num_rows == 0:
        raise ValueError(f"{path} has no rows.")
    return {name: [_cell(value) for value in found.column(name).to_pylist()] for name in found.column_names}


def _cell(value: Any) -> str | None:
    text = "" if value is None else str(value).strip()
    return None if text.lower() in MISSING else text


@dataclass(frozen=True)
class Number:
    """A column of numbers; a missing cell counts as ``fill``, the median."""

    name: str
    fill: float

    @property
    def features(self) -> list[str]:
        return [self.name]

    def encode(self, cells: Sequence[str | None]) -> np.ndarray:
        values = np.empty((len(cells), 1))
        for k, cell in enumerate(cells):
            value = self.fill if cell is None else _number(cell)
            if value is None:
                raise ValueError(f"row {k + 1} has {cell!r} in column {self.name!r}, which holds numbers.")
            values[k] = value
        return values


@dataclass(frozen=True)
class Category:
    """A column of categories, a feature for each; of two one is enough. A missing cell counts as ``fill``."""

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

    def encode(self, cells: Sequence[str | None]) -> np.ndarray:
        codes = {value: np.asarray([value == shown for shown in self.shown], float) for value in self.values}
        rows = []
        for k, cell in enumerate(cells):
            value = self.fill if cell is None else cell
            if value not in codes:
                known = ", ".join(self.values[:10]) + (", ..." if len(self.values) > 10 else "")
                where = f"row {k + 1} has {value!r} in column {self.name!r}"
                raise ValueError(f"{where}, which the model has never seen; it knows {known}.")
            rows.append(codes[value])
        return np.asarray(rows)


Column = Number | Category


@dataclass(frozen=True)
class Columns:
    """The columns of a table as features of a model."""

    each: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.each]

    @property
    def features(self) -> list[str]:
        return [feature for column in self.each for feature in column.features]

    def notes(self, table: Mapping[str, Sequence[str | None]]) -> list[str]:
        """What missing cells of a table count as, for people."""
        absent = [(column, sum(cell is None for cell in table.get(column.name, ()))) for column in self.each]
        return [
            f"{c.name}: {n} missing {'cells count' if n > 1 else 'cell counts'} as {c.fill}"
            for c, n in absent
            if n
        ]

    def encode(self, table: Mapping[str, Sequence[str | None]]) -> np.ndarray:
        """The table as numbers (n, n_features); columns that are not asked for are ignored."""
        if missing := [name for name in self.names if name not in table]:
            raise ValueError(f"the table has no column {missing[0]!r}; it has {', '.join(table)}.")
        return np.concatenate([column.encode(table[column.name]) for column in self.each], axis=1)


def learn(table: Table, *, skip: Iterable[str] = (), categorical: Iterable[str] = ()) -> tuple[Columns, list[str]]:
    """How to read the columns of a table, and notes for people on what was left out.

    A column whose every cell is a number is one of numbers, unless it is called categorical. Columns that say
    nothing, because they are empty, always the same, or different text in nearly every row, are left out.
    """
    skip, categorical = set(skip), set(categorical)
    if unknown := sorted((skip | categorical) - set(table)):
        raise ValueError(f"there is no column {unknown[0]!r}; there are {', '.join(table)}.")
    columns: list[Column] = []
    notes = []
    for name, cells in table.items():
        if name in skip:
            continue
        known = [cell for cell in cells if cell is not None]
        absent = len(cells) - len(known)
        numbers = [_number(cell) for cell in known]
        if len(set(known)) < 2:
            always = (
                f"is {'always ' if not absent else ''}{known[0]!r}{' or missing' if absent else ''}"
                if known
                else "is empty"
            )
            notes.append(f"{name}: left out, it {always}")
        elif _counts_rows(numbers):
            notes.append(f"{name}: left out, it only counts the rows")
        elif None not in numbers and name not in categorical:
            columns.append(Number(name, float(np.median(np.asarray(numbers, float)))))
        elif len(set(known)) > min(MOST_CATEGORIES, max(FEW_CATEGORIES, 0.5 * len(known))):
            notes.append(f"{name}: left out, it has {len(set(known))} different texts in {len(known)} rows")
        else:
            columns.append(_category(name, known, absent))
    found = Columns(tuple(columns))
    if twice := [feature for feature, n in Counter(found.features).items() if n > 1]:
        raise ValueError(f"two columns give a feature called {twice[0]!r}; rename one of them.")
    if not columns:
        raise ValueError("no column is left to learn from; " + "; ".join(notes) + ".")
    return found, notes


def _counts_rows(numbers: list[float | None]) -> bool:
    return len(numbers) > 2 and any(numbers == [float(k + first) for k in range(len(numbers))] for first in (0, 1))


def _category(name: str, known: list[str], absent: int) -> Category:
    counts = Counter(known)
    values = tuple(sorted(counts)) + ((ABSENT,) if absent else ())
    return Category(name, values, ABSENT if absent else counts.most_common(1)[0][0])


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
