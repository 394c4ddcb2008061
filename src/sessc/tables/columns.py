"""Tables as people have them: named columns of numbers and of categories, with cells missing.

How each column was read is learned once, from training data, and is part of a saved model: the same raw table then
always means the same features.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from ..rules.choices import Choice

__all__ = ["Category", "Column", "Columns", "Number", "Table", "as_text", "learn", "read"]

MISSING = frozenset({"", "na", "n/a", "nan", "nat", "<na>", "null", "none", "?", "(missing)"})
"""What stands for a missing cell, in any case."""
ABSENT = "(missing)"
"""The category of a missing cell, where training data had some."""
FEW_CATEGORIES, MOST_CATEGORIES = 10, 50
"""Categories that are never, and always, too many for half the number of rows."""
ODD_CELLS = 3
"""Cells that are quoted in a complaint."""
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
WHOLE = re.compile(r"([+-]?\d+)\.0+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
ZEROS_IN_FRONT = re.compile(r"[+-]?(0*(?=\d))?", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3}([,.' ]\d{3})+([,.]\d+)?")

Table = dict[str, list[str | None]]
"""Cells as text, by column; None is missing."""


def _ignore(note: str) -> None:
    pass


def read(path: Any, say: Callable[[str], Any] = _ignore) -> Table:
    """A CSV, TSV or Parquet file as text cells; a ValueError in one sentence if it cannot be one.

    ``say`` hears what was not taken as it stands. Where semicolons separate cells, commas are decimal points.
    """
    path = Path(path)
    if not path.exists():
        raise ValueError(f"there is no file {path}.")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path, say)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a table in it.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8; save it as CSV in UTF-8.") from None
    try:
        separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else _separator(text)
        rows = _rows(text, separator)
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as a table: {error}; is a quote left open?") from None
    if len(rows) < 2:
        raise ValueError(f"{path} has no rows below its header.")
    header = [name.strip() or f"column {k + 1}" for k, name in enumerate(rows[0])]
    table = _table(path, header, rows[1:])
    return _with_points(table, say) if separator == ";" else table


def _rows(text: str, separator: str) -> list[list[str]]:
    """Rows of cells. A blank line is none, unless there is but one column: then it is a missing cell."""
    rows = list(csv.reader(io.StringIO(text.strip("\r\n"), newline=""), delimiter=separator))
    while rows and not "".join(rows[0]).strip():
        del rows[0]
    if rows and len(rows[0]) == 1:
        return [row or [""] for row in rows]
    return [row for row in rows if "".join(row).strip() or len(row) == len(rows[0])]


def _separator(text: str) -> str:
    """The one that cuts most of the first rows into as many cells as the header, and that into several."""
    start = "\n".join(line for line in text.splitlines() if line.strip()).split("\n", 20)[:20]

    def fit(separator: str) -> tuple[float, int, float]:
        rows = _rows("\n".join(start), separator)
        n_columns = len(rows[0]) if rows else 0
        alike = sum(len(row) == n_columns for row in rows[1:]) / max(len(rows) - 1, 1)
        return alike * (n_columns > 1), n_columns, alike

    return max(",;\t", key=fit)


def _table(path: Path, header: list[str], rows: list[list[str]]) -> Table:
    _refuse_twice(path, header)
    for k, row in enumerate(rows):
        if len(row) != len(header):
            cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
            raise ValueError(f"row {k + 1} of {path} has {cells} and the header {len(header)}.")
    return {
        name: [_cell(cell) for cell in column]
        for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }


def _refuse_twice(path: Path, names: Iterable[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"{path} has two columns called {twice[0]!r}; rename one.")


def _with_points(table: Table, say: Callable[[str], Any]) -> Table:
    """Decimal commas as points, and a word about it."""
    with_comma = [cell for cells in table.values() for cell in cells if cell and DECIMAL_COMMA.fullmatch(cell)]
    if not with_comma:
        return table
    say(f"commas are read as decimal points: {with_comma[0]} is {with_comma[0].replace(',', '.')}")
    point = {cell: cell.replace(",", ".") for cell in set(with_comma)}
    return {name: [cell and point.get(cell, cell) for cell in cells] for name, cells in table.items()}


def _read_parquet(path: Path, say: Callable[[str], Any]) -> Table:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"reading {path} needs pyarrow; pip install 'sessc[cli]', or save it as CSV.") from None
    if not path.is_dir():
        _refuse_twice(path, _undamaged(parquet.read_schema, path).names)
    found = _undamaged(parquet.read_table, path)
    _undamaged(lambda _: found.validate(full=True), path)
    if found.num_rows == 0:
        raise ValueError(f"{path} has no rows.")
    index = _undamaged(lambda _: _index(found), path)
    if index:
        say(f"the index of the data frame, {', '.join(index)}, is no column and is left out")
    return {name: _cells(path, found, name) for name in found.column_names if name not in index}


def _index(found: Any) -> list[str]:
    """Columns of a Parquet file that were the index of a data frame."""
    described = found.schema.pandas_metadata or {}
    return [name for name in described.get("index_columns", ()) if name in found.column_names]


def _cells(path: Path, found: Any, name: str) -> list[str | None]:
    try:
        return [_cell(value) for value in found.column(name).to_pylist()]
    except Exception as error:  # such as a date in a year that Python has not
        what = f"column {name!r} of {path} cannot be read: {_first_line(error)}"
        raise ValueError(f"{what}; correct it, or save the table as CSV.") from None


def _undamaged(read: Callable[[Path], Any], path: Path) -> Any:
    try:
        return read(path)
    except Exception as error:  # pyarrow has many kinds of complaint about a damaged file
        raise ValueError(f"{path} is not a Parquet file, or a damaged one: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def as_text(table: Any) -> Table:
    """A data frame or a dict of columns as text cells, as its file would be read."""
    return {str(name): [_cell(value) for value in table[name]] for name in getattr(table, "columns", table)}


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

    def encode(self, cells: Sequence[str | None], first: int = 1) -> np.ndarray:
        values = np.empty((len(cells), 1))
        for k, cell in enumerate(cells):
            value = self.fill if cell is None else number(cell)
            if value is None:
                where = f"row {first + k} has {cell!r} in column {self.name!r}"
                raise ValueError(f"{where}, which holds numbers; correct the cell, or empty it if it is unknown.")
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

    def encode(self, cells: Sequence[str | None], first: int = 1) -> np.ndarray:
        codes = {value: np.asarray([value == shown for shown in self.shown], float) for value in self.values}
        rows = []
        for k, cell in enumerate(cells):
            value = self.fill if cell is None else cell if cell in codes else code(cell)
            if value not in codes:
                values = [value for value in self.values if value != ABSENT]
                known = _listed(values[:10]) + (", ..." if len(values) > 10 else "")
                where = f"row {first + k} has {value!r} in column {self.name!r}"
                raise ValueError(
                    f"{where}, which the model has never seen; write one of {known}, or leave it empty."
                )
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


def _listed(values: Sequence[str]) -> str:
    """Categories with commas between them, and in quotes if they have their own."""
    return ", ".join(repr(value) if "," in value else value for value in values)


def _filling(column: Column) -> str:
    if isinstance(column, Number):
        return f"{column.fill:g}, the median"
    return "one more category" if column.fill == ABSENT else column.fill


def learn(
    table: Table,
    *,
    skip: Iterable[str] = (),
    categorical: Iterable[str] = (),
    rows: Sequence[int] | None = None,
) -> tuple[Columns, list[str]]:
    """How to read the columns of a table, and notes for people on categories and on what was left out.

    A column whose every cell is a number is one of numbers, unless it is called categorical or holds codes, such
    as both 007 and 7. One that holds mostly numbers is refused: a single slip would otherwise make categories of
    all its numbers. Columns that say nothing, because they are empty, always the same, or different text in nearly
    every row, are left out.

    ``rows`` are the numbers of the rows in their file, if they do not count from 1.
    """
    skip, categorical = set(skip), set(categorical)
    if unknown := sorted((skip | categorical) - set(table)):
        raise ValueError(f"there is no column {unknown[0]!r}; there are {', '.join(table)}.")
    _refuse_slips({name: cells for name, cells in table.items() if name not in skip | categorical}, rows)
    codes = _codes({name: cells for name, cells in table.items() if name not in skip | categorical})
    columns: list[Column] = []
    notes = [*codes.values()]
    for name, cells in table.items():
        if name in skip:
            continue
        known = [code(cell) for cell in cells if cell is not None]
        absent = len(cells) - len(known)
        numbers = [number(cell) for cell in known]
        if len(set(known)) < 2:
            always = (
                f"is {'always ' if not absent else ''}{known[0]!r}{' or missing' if absent else ''}"
                if known
                else "is empty"
            )
            notes.append(f"{name}: left out, it {always}")
        elif _counts_rows(numbers):
            notes.append(f"{name}: left out, it only counts the rows")
        elif None not in numbers and name not in categorical | codes.keys():
            columns.append(Number(name, float(np.median(np.asarray(numbers, float)))))
        elif len(set(known)) > min(MOST_CATEGORIES, max(FEW_CATEGORIES, 0.5 * len(known))):
            notes.append(f"{name}: left out, it has {len(set(known))} different texts in {len(known)} rows")
        else:
            columns.append(_category(name, known, absent))
            notes.append(f"{name}: {len(set(known))} categories ({shorten(_listed(sorted(set(known))), 50)})")
    found = Columns(tuple(columns))
    if twice := [feature for feature, n in Counter(found.features).items() if n > 1]:
        raise ValueError(f"two columns give a feature called {twice[0]!r}; rename one of them.")
    if not columns:
        why = "; ".join(notes) or ("all are skipped" if table else "there is no other")
        raise ValueError(f"no column is left to learn from: {why}.")
    return found, notes


def _refuse_slips(table: Table, rows: Sequence[int] | None) -> None:
    """Complain about columns that hold mostly numbers, with the cells that are none."""
    found = {name: odd for name, cells in table.items() if (odd := slips(cells, rows))}
    if not found:
        return
    name, odd = next(iter(found.items()))
    also = f"; {' and '.join(map(repr, list(found)[1:4]))} likewise" if len(found) > 1 else ""
    raise ValueError(
        f"column {name!r} holds numbers, but {quoted(odd)}; {remedy(odd)}, "
        f"or add --categorical {name!r} or --skip {name!r}{also}."
    )


def slips(cells: Sequence[str | None], rows: Sequence[int] | None = None) -> list[tuple[int, str]]:
    """Numbers and texts of the rows in which a column that holds mostly numbers holds none; rows count from 1."""
    numbered = zip(rows or range(1, len(cells) + 1), cells, strict=True)
    known = [(row, cell) for row, cell in numbered if cell is not None]
    meant = sum(_meant_as_number(cell) for _, cell in known)
    return [(row, cell) for row, cell in known if number(cell) is None] if 2 * meant > len(known) else []


def quoted(odd: list[tuple[int, str]]) -> str:
    """Cells with their rows, the first few of them."""
    some = ", ".join(f"{shorten(cell, 30)!r} in row {row}" for row, cell in odd[:ODD_CELLS])
    return some + (f" and {len(odd) - ODD_CELLS} more" if len(odd) > ODD_CELLS else "")


def remedy(odd: list[tuple[int, str]]) -> str:
    """What to do about them."""
    if any(_written_with_comma(cell) for _, cell in odd):
        return "write decimals with a point and thousands with nothing"
    return "correct the cell or leave it empty" if len(odd) == 1 else "correct these cells or leave them empty"


def _counts_rows(numbers: list[float | None]) -> bool:
    return len(numbers) > 2 and any(numbers == [float(k + first) for k in range(len(numbers))] for first in (0, 1))


def _category(name: str, known: list[str], absent: int) -> Category:
    counts = Counter(known)
    values = tuple(sorted(counts)) + ((ABSENT,) if absent else ())
    return Category(name, values, ABSENT if absent else counts.most_common(1)[0][0])


def code(cell: str) -> str:
    """A cell as a category: whole numbers alike, whether a program wrote 1 or 1.0."""
    whole = WHOLE.fullmatch(cell)
    return whole[1] if whole else cell


def _codes(table: Table) -> dict[str, str]:
    """Columns of what only looks like numbers, with a note on each."""
    notes = {name: kept_apart(name, cells, digits) for name, cells in table.items()}
    return {name: note for name, note in notes.items() if note}


def kept_apart(name: str, cells: Iterable[str | None], spelling: Callable[[str], Any]) -> str | None:
    """A note on the first two texts of a column of numbers that differ in spelling and would be one."""
    first: dict[float, str] = {}
    apart = None
    for cell in dict.fromkeys(cell for cell in cells if cell is not None):
        value = number(cell)
        if value is None:
            return None
        other = first.setdefault(value, cell)
        if apart is None and spelling(other) != spelling(cell):
            apart = f"{name}: a column of texts, for {other!r} and {cell!r} would be the same number"
    return apart


def digits(cell: str) -> tuple[str, str]:
    """What makes codes of whole numbers: zeros in front, and more digits than a number keeps."""
    zeros = ZEROS_IN_FRONT.match(cell)[1] or ""  # type: ignore[index]
    unsigned = cell.lstrip("+-")
    return zeros, (unsigned if unsigned.isdecimal() else str(abs(int(float(cell))))).lstrip("0")


def number(cell: str) -> float | None:
    """What a cell says, if that is a finite number and written as one: Python reads 1_0 as ten too."""
    value = float(cell) if NUMBER.fullmatch(cell) else math.inf
    return value if math.isfinite(value) else None


def _meant_as_number(cell: str) -> bool:
    """Whether a cell is a number, infinite, or written as people write numbers elsewhere."""
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return _written_with_comma(cell)


def _written_with_comma(cell: str) -> bool:
    return bool(DECIMAL_COMMA.fullmatch(cell) or THOUSANDS.fullmatch(cell))
