"""Tables as people have them: files, data frames, or columns in a dict, all as text cells by column."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..rows.missing import is_missing
from .cells import DECIMAL_COMMA, code

__all__ = [
    "MISSING",
    "Table",
    "cell_of",
    "count_of",
    "emptied",
    "gaps_of",
    "is_parquet",
    "only",
    "read",
    "refuse_no_file",
    "refuse_twice",
    "table_of",
    "texts_in",
    "undamaged",
    "unheard",
    "without_index",
]

MISSING = ("NA", "N/A", "NaN", "NaT", "<NA>", "null", "?", "(missing)")
"""Texts that stand for a missing cell, in any case, unless others are chosen; an empty one always does."""

MOST_CELLS = 200_000_000
"""Cells of a Parquet file that are read as text: more would take tens of gigabytes."""

Table = dict[str, list[str | None]]
"""Cells as text, by column; None is missing."""


def unheard(what: Any) -> None:
    """What listens where nobody does."""


def table_of(
    given: Any,
    say: Callable[[str], Any] = unheard,
    missing: Iterable[str] = MISSING,
    wanted: Iterable[str] | None = None,
) -> Table:
    """A data frame, a dict of columns, or a file of a table, as text cells: all alike for one table."""
    if isinstance(given, str | os.PathLike):
        return read(given, say, missing, wanted)
    names = _column_names(given)
    refuse_twice("the table", map(str, names))
    cells = {str(name): [cell_of(value) for value in _column(given, name)] for name in names}
    if len({len(column) for column in cells.values()}) > 1:
        lengths = ", ".join(f"{name!r} {len(column)}" for name, column in cells.items())
        raise ValueError(f"the columns of a table must be equally long; rows in each: {lengths}.")
    return emptied(cells, say, missing)


def _column_names(given: Any) -> list[Any]:
    """The names of the columns of a data frame or a dict, as they are there."""
    names = given if isinstance(given, Mapping) else getattr(given, "columns", None)
    if not np.iterable(names) or not all(isinstance(name, Hashable) for name in names):
        kinds = "a data frame, a dict of columns or the path of a file"
        raise TypeError(f"a table must be {kinds}, where columns have names; got {type(given).__name__}.")
    return list(names)


def _column(given: Any, name: Any) -> Iterable[Any]:
    if isinstance(given[name], str) or not np.iterable(given[name]):
        raise TypeError(f"column {name!r} of a table must be a list or an array of cells, got {given[name]!r}.")
    return given[name]


def read(
    path: Any,
    say: Callable[[str], Any] = unheard,
    missing: Iterable[str] = MISSING,
    wanted: Iterable[str] | None = None,
) -> Table:
    """A CSV, TSV or Parquet file as text cells; a ValueError in one sentence if it cannot be one.

    ``say`` hears what was not taken as it stands. Where semicolons separate cells, commas are decimal points. Of a
    Parquet file only columns that are ``wanted`` are read, if all of these are there.
    """
    path = Path(path)
    refuse_no_file(path)
    table = _read_parquet(path, say, wanted) if is_parquet(path) else _read_text(path, say)
    return emptied(table, say, missing)


def emptied(table: Table, say: Callable[[str], Any], missing: Iterable[str]) -> Table:
    """A table without texts that stand for missing cells, and a word on how many there were of each."""
    gaps, found = gaps_of(missing), Counter[str]()
    emptied: Table = {}
    for name, cells in table.items():
        odd = {cell for cell in set(cells) if cell is not None and code(cell.lower()) in gaps}
        found.update(cell for cell in cells if cell in odd)
        emptied[name] = [None if cell in odd else cell for cell in cells]
    if found:
        say(f"{count_of(found)} count{'s' * (found.total() == 1)} as missing")
    return emptied


def gaps_of(missing: Iterable[str]) -> frozenset[str]:
    """Texts that stand for a missing cell, as they are compared: in any case, and whole numbers alike."""
    return frozenset(code(text.strip().lower()) for text in missing)


def count_of(texts: Counter[str]) -> str:
    """How many cells there are of each text."""
    *most, last = [f"{n:,} cell{'s' * (n > 1)} {text!r}" for text, n in texts.most_common()]
    return " and ".join(filter(None, [", ".join(most), last]))


def _read_text(path: Path, say: Callable[[str], Any]) -> Table:
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


def refuse_no_file(path: Path) -> None:
    """Complain about a path that no table can be read from, whatever is in it."""
    if not path.exists():
        raise ValueError(f"there is no file {path}.")
    if path.is_dir() and not is_parquet(path):
        raise ValueError(f"{path} is a folder; give a table in it.")


def is_parquet(path: Path) -> bool:
    """Whether a path is that of a Parquet file, or of a folder of them."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return True
    return path.is_dir() and any(path.glob("*.parquet"))


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
    refuse_twice(path, header)
    for k, row in enumerate(rows):
        if len(row) != len(header):
            cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
            raise ValueError(f"row {k + 1} of {path} has {cells} and the header {len(header)}.")
    return {
        name: [cell_of(cell) for cell in column]
        for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }


def refuse_twice(path: Path | str, names: Iterable[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"{path} has two columns called {twice[0]!r}; rename one.")


def _with_points(table: Table, say: Callable[[str], Any]) -> Table:
    """Decimal commas as points, and a word about it; not in a column where that would make two texts one."""
    pointed: Table = {}
    example = None
    for name, cells in table.items():
        commas = {cell: cell.replace(",", ".") for cell in cells if cell and DECIMAL_COMMA.fullmatch(cell)}
        if set(commas.values()) & set(cells):
            commas = {}
        example = example or next(iter(commas), None)
        pointed[name] = [cell and commas.get(cell, cell) for cell in cells]
    if example:
        say(f"commas are read as decimal points: {example} is {example.replace(',', '.')}")
    return pointed


def _read_parquet(path: Path, say: Callable[[str], Any], wanted: Iterable[str] | None) -> Table:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"reading {path} needs pyarrow; pip install pyarrow, or save it as CSV.") from None
    names, n_rows = undamaged(_extent, path)
    refuse_twice(path, names)
    columns = sorted(set(wanted)) if wanted is not None and set(wanted) <= set(names) else None
    _refuse_many(path, n_rows, len(names if columns is None else columns))
    found = undamaged(partial(parquet.read_table, columns=columns or None), path)
    undamaged(lambda _: found.validate(full=True), path)
    if found.num_rows == 0:
        raise ValueError(f"{path} has no rows.")
    return {name: texts_in(path, found, name) for name in without_index(path, found.schema, say)}


def _extent(path: Path) -> tuple[list[str], int]:
    """The columns of a Parquet file, or of a folder of them, and how many rows there are."""
    from pyarrow import dataset, parquet

    if path.is_dir():
        whole = dataset.dataset(path, format="parquet", partitioning="hive")
        return whole.schema.names, whole.count_rows()
    about = parquet.read_metadata(path)
    return about.schema.to_arrow_schema().names, about.num_rows


def _refuse_many(path: Path, n_rows: int, n_columns: int) -> None:
    """A small file may unpack to more than there is memory for."""
    if n_rows * n_columns > MOST_CELLS:
        cells = f"{n_rows:,} rows of {n_columns:,} columns"
        much = f"{path} has {cells}, which is more than the {MOST_CELLS:,} cells that are read as text"
        raise ValueError(f"{much}; take some of the rows at a time.")


def _index_of(schema: Any) -> list[str]:
    """Columns of a Parquet file that were the index of a data frame."""
    described = schema.pandas_metadata or {}
    return [name for name in described.get("index_columns", ()) if name in schema.names]


def without_index(path: Path, schema: Any, say: Callable[[str], Any]) -> list[str]:
    """The columns of a Parquet file, and a word about those that were an index."""
    index = undamaged(lambda _: _index_of(schema), path)
    if index:
        say(f"the index of the data frame, {', '.join(index)}, is no column and is left out")
    return [name for name in schema.names if name not in index]


def texts_in(path: Path, found: Any, name: str) -> list[str | None]:
    try:
        return [cell_of(value) for value in found.column(name).to_pylist()]
    except Exception as error:  # such as a date in a year that Python has not
        what = f"column {name!r} of {path} cannot be read: {_first_line(error)}"
        raise ValueError(f"{what}; correct it, or save the table as CSV.") from None


def undamaged(read: Callable[[Path], Any], path: Path) -> Any:
    try:
        return read(path)
    except Exception as error:  # pyarrow has many kinds of complaint about a damaged file
        raise ValueError(f"{path} is not a Parquet file, or a damaged one: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def cell_of(value: Any) -> str | None:
    """What stands in a cell; None if nothing does."""
    return None if is_missing(value) else str(value).strip() or None


def only(table: Mapping[str, Sequence[str | None]], row: int) -> Table:
    """The table of one row of a table, counted from 1."""
    n_rows = len(next(iter(table.values()), ()))
    if not 1 <= row <= n_rows:
        raise ValueError(f"there is no row {row}; rows go from 1 to {n_rows}.")
    return {name: list(cells[row - 1 : row]) for name, cells in table.items()}
