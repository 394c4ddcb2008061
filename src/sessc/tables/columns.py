"""How to read the columns of a table, learned from the table itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from ..rules.columns import ABSENT, Category, Column, Columns, Number, code, listed, number_in
from .errors import TableError
from .reading import DECIMAL_COMMA, Table

__all__ = ["codes", "digits", "kept_apart", "learn", "quoted", "refuse_slips", "remedy", "slips"]

FEW_CATEGORIES, MOST_CATEGORIES = 10, 50
"""Categories that are never, and always, too many for half the number of rows."""
ODD_CELLS = 3
"""Cells that are quoted in a complaint."""
ZEROS_IN_FRONT = re.compile(r"[+-]?(0*(?=\d))?", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3}([,.' ]\d{3})+([,.]\d+)?")


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
    rows = rows or range(1, 1 + len(next(iter(table.values()), ())))
    refuse_slips(table, rows, skip | categorical)
    spelled = codes(table, skip | categorical)
    asked = {name: cells for name, cells in table.items() if name not in skip}
    judged = [_judged(name, cells, rows, name in categorical | spelled.keys()) for name, cells in asked.items()]
    found = Columns(tuple(column for column, _ in judged if column is not None))
    notes = [*spelled.values(), *(note for _, note in judged if note)]
    if twice := [feature for feature, n in Counter(found.features).items() if n > 1]:
        raise ValueError(f"two columns give a feature called {twice[0]!r}; rename one of them.")
    if not found.each:
        why = "; ".join(notes) or ("all are skipped" if table else "there is no other")
        raise ValueError(f"no column is left to learn from: {why}.")
    return found, notes


def _judged(
    name: str, cells: Sequence[str | None], rows: Sequence[int], as_names: bool
) -> tuple[Column | None, str | None]:
    """What a column is, if it says anything, and a note if that is worth one."""
    known = [(row, code(cell)) for row, cell in zip(rows, cells, strict=True) if cell is not None]
    texts, absent = [cell for _, cell in known], len(cells) - len(known)
    different, numbers = sorted(set(texts)), [number_in(cell) for cell in texts]
    if len(different) < 2:
        return None, f"{name}: left out, it {_always(different, absent)}"
    if _counts_rows(numbers, [row for row, _ in known]):
        return None, f"{name}: left out, it only counts the rows"
    if None not in numbers and not as_names:
        return Number(name, float(np.median(np.asarray(numbers, float)))), None
    if len(different) > min(MOST_CATEGORIES, max(FEW_CATEGORIES, 0.5 * len(texts))):
        return None, f"{name}: left out, it has {len(different)} different texts in {len(texts)} rows"
    note = f"{name}: {len(different)} categories ({shorten(listed(different), 50)})"
    return _category(name, texts, absent), note


def _always(different: Sequence[str], absent: int) -> str:
    if not different:
        return "is empty"
    return f"is {different[0]!r} or missing" if absent else f"is always {different[0]!r}"


def _counts_rows(numbers: list[float | None], rows: Sequence[int]) -> bool:
    return len(numbers) > 2 and any(numbers == [float(row - 1 + first) for row in rows] for first in (0, 1))


def _category(name: str, known: list[str], absent: int) -> Category:
    counts = Counter(known)
    values = tuple(sorted(counts)) + ((ABSENT,) if absent else ())
    return Category(name, values, ABSENT if absent else counts.most_common(1)[0][0])


def refuse_slips(table: Table, rows: Sequence[int], sure: Iterable[str] = ()) -> None:
    """Complain about columns that hold mostly numbers, with the cells that are none; of some it is sure."""
    sure = set(sure)
    if unknown := sorted(sure - set(table)):
        raise ValueError(f"there is no column {unknown[0]!r}; there are {', '.join(table)}.")
    found = {name: odd for name, cells in table.items() if name not in sure and (odd := slips(cells, rows))}
    if not found:
        return
    name, odd = next(iter(found.items()))
    also = f"; {' and '.join(map(repr, list(found)[1:4]))} likewise" if len(found) > 1 else ""
    what = f"column {name!r} holds numbers, but {quoted(odd)}; {remedy(odd)}"
    raise TableError(what, ("categorical", [name]), ("skip", [name]), rest=also)


def slips(cells: Sequence[str | None], rows: Sequence[int]) -> list[tuple[int, str]]:
    """Numbers and texts of the rows in which a column that holds mostly numbers holds none."""
    numbered = zip(rows, cells, strict=True)
    known = [(row, cell) for row, cell in numbered if cell is not None]
    meant = sum(_meant_as_number(cell) for _, cell in known)
    return [(row, cell) for row, cell in known if number_in(cell) is None] if 2 * meant > len(known) else []


def quoted(odd: list[tuple[int, str]]) -> str:
    """Cells with their rows, the first few of them."""
    some = ", ".join(f"{shorten(cell, 30)!r} in row {row}" for row, cell in odd[:ODD_CELLS])
    return some + (f" and {len(odd) - ODD_CELLS} more" if len(odd) > ODD_CELLS else "")


def remedy(odd: list[tuple[int, str]]) -> str:
    """What to do about them."""
    if any(_written_with_comma(cell) for _, cell in odd):
        return "write decimals with a point and thousands with nothing"
    return "correct the cell or leave it empty" if len(odd) == 1 else "correct these cells or leave them empty"


def codes(table: Table, aside: set[str]) -> dict[str, str]:
    """Columns of what only looks like numbers, but for some that are not asked about, with a note on each."""
    notes = {name: kept_apart(name, cells, digits) for name, cells in table.items() if name not in aside}
    return {name: note for name, note in notes.items() if note}


def kept_apart(name: str, cells: Iterable[str | None], spelling: Callable[[str], Any]) -> str | None:
    """A note on the first two texts of a column of numbers that differ in spelling and would be one."""
    first: dict[float, str] = {}
    apart = None
    for cell in dict.fromkeys(cell for cell in cells if cell is not None):
        value = number_in(cell)
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


def _meant_as_number(cell: str) -> bool:
    """Whether a cell is a number, infinite, or written as people write numbers elsewhere."""
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return _written_with_comma(cell)


def _written_with_comma(cell: str) -> bool:
    return bool(DECIMAL_COMMA.fullmatch(cell) or THOUSANDS.fullmatch(cell))
