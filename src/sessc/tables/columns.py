"""What the columns of a raw table are, judged by its cells, and tables of text as columns of their kinds.

Rules take such columns as they are: what rare levels, gaps and levels never seen count as is theirs to say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..rows.columns import Category, Column, raw_columns, settle_columns, tally
from ..rules.wording import count
from .cells import (
    NEVER,
    brief,
    code,
    either,
    listed,
    looks_dated,
    looks_numeric,
    moment_in,
    number_in,
    written_with_comma,
)
from .errors import TableError
from .reading import Table, count_of, unheard

__all__ = [
    "CATEGORIES",
    "DATES",
    "NO_NUMBER",
    "NUMBERS",
    "Columns",
    "Kind",
    "Kinds",
    "asked",
    "codes",
    "digits",
    "kept_apart",
    "learn",
    "may_name_rows",
    "quoted",
    "refuse_found",
    "refuse_slips",
    "remarks",
    "remedy",
    "settled",
    "slips",
    "typed",
    "unseen",
]

FEW_CATEGORIES, MOST_RARE = 10, 0.5
"""Categories that are never too many, and the share of the rows that more of them, or all rare ones, may have."""
NO_NUMBER = frozenset({".", "-", "--", "none"})
"""What stands for a missing cell where all others are numbers or dates, and is a text like any other elsewhere."""
SURELY_DIFFERENT = 20
"""As many numbers as are different by chance alone in few columns."""
ON_A_LINE = 60
"""Letters of categories that are named in a note."""
FEW_CELLS = 3
"""Cells that are quoted in a complaint."""
NAMELESS = re.compile(r"column \d+|Unnamed: \d+")
"""What columns without a name are called, here and by pandas."""
ZEROS_IN_FRONT = re.compile(r"[+-]?(0*(?=\d))?", re.ASCII)


class Kind(NamedTuple):
    """What all cells of a column are."""

    name: str
    """In a sentence: a column holds these."""
    says: Callable[[str], Any]
    """What a cell says; None if it is of another kind."""
    looks: Callable[[str], bool]
    """Whether a cell is probably meant so."""
    missing: Any
    dtype: Any


NUMBERS = Kind("numbers", number_in, looks_numeric, np.nan, float)
DATES = Kind("dates", moment_in, lambda cell: moment_in(cell) is not None, NEVER, "datetime64[us]")
CATEGORIES = Kind("categories", code, bool, None, object)

Kinds = dict[str, Kind]
"""Of the columns that say something."""
Columns = dict[str, np.ndarray]
"""Floats, moments, or texts, by column; with NaN, NaT and None for what is missing."""


def learn(
    table: Table,
    *,
    skip: Iterable[str] = (),
    categorical: Iterable[str] = (),
    spelled: Mapping[str, str] | None = None,
    rows: Sequence[int] | None = None,
) -> tuple[Kinds, dict[str, list[str]]]:
    """What the columns of a table are, and notes for people on each: categories, dates and what was left out.

    A column whose every cell is a number is one of numbers, unless it is called categorical or holds codes, such
    as both 007 and 7; and one whose every cell is a date is one of dates. One that holds mostly numbers or dates
    is refused: a single slip would otherwise make categories of all of them. Columns that say nothing, because
    they are empty, always the same, or different text in nearly every row, are left out.

    ``spelled`` are notes on columns of codes, by their names, if more is known of them than these rows show, and
    ``rows`` the numbers of the rows in their file, if they do not count from 1.
    """
    skip, categorical = set(skip), set(categorical)
    rows = rows or range(1, 1 + len(next(iter(table.values()), ())))
    refuse_slips(table, rows, skip | categorical)
    spelled = codes(table, skip | categorical) if spelled is None else spelled
    judged = {
        name: _judged(name, cells, rows, name in categorical, name in spelled)
        for name, cells in table.items()
        if name not in skip
    }
    both = {name: (spelled.get(name), note) for name, (_, note) in judged.items()}
    notes = {name: [note for note in each if note] for name, each in both.items()}
    kinds = {name: kind for name, (kind, _) in judged.items() if kind is not None}
    if not kinds:
        said = "; ".join(note for each in notes.values() for note in each)
        why = said or ("all are skipped" if table else "there is no other")
        raise ValueError(f"no column is left to learn from: {why}.")
    return kinds, notes


def _judged(
    name: str, cells: Sequence[str | None], rows: Sequence[int], is_asked: bool, is_code: bool
) -> tuple[Kind | None, str | None]:
    """What a column is, if it says anything, and a note if that is worth one."""
    known = [(row, code(cell)) for row, cell in zip(rows, cells, strict=True) if cell is not None]
    texts = [cell for _, cell in known]
    different, numbers = sorted(set(texts)), [number_in(cell) for cell in texts]
    if len(different) < 2:
        return None, f"{name}: left out, it {_always(different, len(cells) - len(known))}"
    if _counts_rows(numbers, [row for row, _ in known]):
        return None, f"{name}: left out, it only counts the rows"
    if not (is_asked or is_code) and None not in numbers:
        return _judged_numbers(name, np.asarray(numbers, dtype=float))
    if not is_asked and None not in map(moment_in, different):
        first, *_, last = (str(moment)[:10] for moment in sorted(map(moment_in, different)))  # type: ignore[type-var]
        return DATES, f"{name}: dates from {first} to {last}"
    if is_asked:
        return _judged_category(name, cells, different, 1.0)
    kind, note = _judged_texts(name, cells, different, len(texts))
    is_dated = 2 * sum(map(looks_dated, texts)) > len(texts)
    return kind, note + "; write dates as 2020-01-31 to have them read as such" * is_dated


def _judged_texts(
    name: str, cells: Sequence[str | None], different: Sequence[str], n_known: int
) -> tuple[Kind | None, str]:
    """Categories, if texts are not too many for them."""
    if len(different) > max(FEW_CATEGORIES, MOST_RARE * n_known):
        return None, f"{name}: left out, it has {len(different)} different texts in {n_known} rows"
    return _judged_category(name, cells, different, MOST_RARE)


def _judged_numbers(name: str, values: np.ndarray) -> tuple[Kind | None, str | None]:
    """Numbers, with a question if they may be names of rows; unless they surely are."""
    if not may_name_rows(values):
        return NUMBERS, None
    if NAMELESS.fullmatch(name):  # as programs write the index of a data frame
        return None, f"{name}: left out, it has no name and a different whole number in every row"
    return NUMBERS, f"{name}: a different whole number in every row; does it only name them? Then skip it"


def may_name_rows(values: np.ndarray) -> bool:
    """Whether numbers may be names of rows, such as those of patients: whole ones, and no two alike."""
    known = values[~np.isnan(values)]
    is_whole = np.all((known >= 0) & (known == np.round(known)))
    return bool(is_whole and len(np.unique(known)) == len(known) >= SURELY_DIFFERENT)


def _always(different: Sequence[str], absent: int) -> str:
    if not different:
        return "is empty"
    # Whatever else the rows held out may have.
    found = f"is {different[0]!r} or missing" if absent else f"is always {different[0]!r}"
    return f"{found} where rules are learned"


def _counts_rows(numbers: list[float | None], rows: Sequence[int]) -> bool:
    return len(numbers) > 2 and any(numbers == [float(row - 1 + first) for row in rows] for first in (0, 1))


def _judged_category(
    name: str, cells: Sequence[str | None], different: Sequence[str], most_rare: float
) -> tuple[Kind | None, str]:
    """Categories, if enough rows have some of them, with a note on which count by themselves."""
    [column] = settle_columns([name], tally(raw_columns(typed({name: cells}, {name: CATEGORIES})), None))
    assert isinstance(column, Category)
    if column.n_levels < 2:
        rest = f"all but a few rows have {column.levels[0]!r}" if column.levels else None
        return None, f"{name}: left out, {rest or f'few rows have any of its {len(different)} texts'}"
    if len(different) > FEW_CATEGORIES and _share_of(column.pool or (), cells) > most_rare:
        return None, f"{name}: left out, most rows have one of {len(column.pool or ())} texts that are rare"
    note = f"{name}: {len(different)} categories"
    rare = len(different) - len(column.levels)
    if not rare:
        return CATEGORIES, f"{note} ({listed(different, ON_A_LINE)})"
    fate = "missing" if column.pool is None else f"one, {column.labels[-1]!r}"
    return CATEGORIES, f"{note}, of which {rare} that few rows have {'counts' if rare == 1 else 'count'} as {fate}"


def _share_of(texts: Iterable[str], cells: Sequence[str | None]) -> float:
    """The share of the cells that are filled which hold one of these."""
    of, known = set(texts), [code(cell) for cell in cells if cell is not None]
    return sum(cell in of for cell in known) / len(known)


def settled(table: Table, say: Callable[[str], Any] = unheard, sure: Iterable[str] = ()) -> Table:
    """A table in which no column of numbers or dates holds a text for what is missing; of some it is sure."""
    return {name: cells if name in set(sure) else _settled(name, cells, say) for name, cells in table.items()}


def _settled(name: str, cells: list[str | None], say: Callable[[str], Any]) -> list[str | None]:
    gaps = Counter(cell for cell in cells if cell is not None and cell.lower() in NO_NUMBER)
    rest = {cell for cell in cells if cell is not None} - gaps.keys()
    is_one_kind = any(all(kind.says(cell) is not None for cell in rest) for kind in (NUMBERS, DATES))
    if not (gaps and rest and is_one_kind):
        return cells
    say(f"{count_of(gaps)} of {name} count{'s' * (gaps.total() == 1)} as missing")
    return _without(cells, NO_NUMBER)


def _without(cells: Sequence[str | None], texts: frozenset[str]) -> list[str | None]:
    return [None if cell is None or cell.lower() in texts else cell for cell in cells]


def typed(table: Mapping[str, Sequence[str | None]], kinds: Kinds) -> Columns:
    """The columns of these kinds; a cell of another kind counts as missing."""
    return {name: _of_kind(table[name], kind) for name, kind in kinds.items()}


def _of_kind(cells: Sequence[str | None], kind: Kind) -> np.ndarray:
    values = (None if cell is None else kind.says(cell) for cell in cells)
    return np.asarray([kind.missing if value is None else value for value in values], dtype=kind.dtype)


def asked(table: Table, columns: Sequence[Column], used: Iterable[bool], first: int = 1) -> Columns:
    """A raw table as the columns that rules are about; those they do not use may be absent, and others there.

    ``first`` is the number of its first row, for complaints.
    """
    needed = [column.name for column, one in zip(columns, used, strict=True) if one]
    if lacking := [name for name in needed if name not in table]:
        there = f"it has {', '.join(table)}" if table else "it has none"
        raise ValueError(f"the table has no column {either(list(map(repr, lacking)))}; {there}.")
    n_rows = len(next(iter(table.values()), ()))
    found = {}
    for column in columns:
        cells = _meant(column, table.get(column.name, [None] * n_rows))
        if column.name in needed:
            _refuse_others(column, cells, first)
        found[column.name] = _known(column, cells)
    return found


def _meant(column: Column, cells: Sequence[str | None]) -> Sequence[str | None]:
    """Cells without what stands for a missing one in such a column."""
    return cells if isinstance(column, Category) else _without(cells, NO_NUMBER)


def _kind_of(column: Column) -> Kind:
    return CATEGORIES if isinstance(column, Category) else DATES if column.is_date else NUMBERS


def _refuse_others(column: Column, cells: Sequence[str | None], first: int) -> None:
    """Complain about a cell that is of another kind than its column."""
    kind = _kind_of(column)
    for row, cell in enumerate(cells, first):
        if cell is not None and kind.says(cell) is None:
            where = f"row {row} has {brief(cell)!r} in column {column.name!r}"
            raise ValueError(f"{where}, which holds {kind.name}; correct the cell, or empty it if it is unknown.")


def _known(column: Column, cells: Sequence[str | None]) -> np.ndarray:
    """Cells as rules about this column take them."""
    if not isinstance(column, Category):
        return _of_kind(cells, _kind_of(column))
    level = _levels(column)
    return np.asarray([None if cell is None else level(cell) for cell in cells], dtype=object)


def _levels(column: Category) -> Callable[[str], Any]:
    """What gives the level that a text stands for, or the text itself if there is none."""
    levels = (*column.levels, *(column.pool or ()))
    texts = {level: level for level in levels if isinstance(level, str)}
    flags = {str(level).lower(): level for level in levels if str(level).lower() in ("false", "true")}
    numbers = {float(level): level for level in levels if not isinstance(level, str)}

    def level(cell: str) -> Any:
        tried: tuple[tuple[Any, dict[Any, Any]], ...] = (
            (cell, texts),
            (code(cell), texts),
            (cell.lower(), flags),
            (number_in(cell), numbers),
        )
        return next((known[key] for key, known in tried if key in known), cell)

    return level


def unseen(column: Column, cells: Sequence[str | None]) -> Counter[str]:
    """Cells that rules about this column do not know, and how often each is there."""
    texts = Counter(cell for cell in cells if cell is not None)
    if not isinstance(column, Category):
        kind = _kind_of(column)
        return Counter({cell: n for cell, n in texts.items() if kind.says(cell) is None})
    known = ~np.isnan(column.codes(_known(column, list(texts)).tolist()))
    return Counter({cell: n for (cell, n), one in zip(texts.items(), known, strict=True) if not one})


def remarks(table: Table, columns: Sequence[Column], used: Iterable[bool]) -> list[str]:
    """What of a table counts as unknown, for people."""
    found = []
    for column in (column for column, one in zip(columns, used, strict=True) if one):
        cells = _meant(column, table.get(column.name, []))
        if absent := sum(cell is None for cell in cells):
            verb = "counts" if absent == 1 else "count"
            found.append(f"{column.name}: {count(absent, 'missing cell')} {verb} as unknown")
        if odd := unseen(column, cells):
            found.append(_strange(column.name, odd))
    return found


def _strange(name: str, odd: Counter[str]) -> str:
    total = sum(odd.values())
    texts = [repr(brief(cell)) for cell, _ in odd.most_common(FEW_CELLS)]
    texts += [f"{len(odd) - FEW_CELLS} other texts"] if len(odd) > FEW_CELLS else []
    verb, they = ("holds", "it counts") if total == 1 else ("hold", "they count")
    cells = f"{count(total, 'cell')} of {name} {verb} {either(texts)}"
    return f"{cells}, which the model has never seen; {they} as unknown"


def refuse_slips(table: Table, rows: Sequence[int], sure: Iterable[str] = ()) -> None:
    """Complain about columns of mostly numbers, or dates, with the cells that are none; of some it is sure."""
    sure = set(sure)
    if unknown := sorted(sure - set(table)):
        raise ValueError(f"there is no column {unknown[0]!r}; there are {', '.join(table)}.")
    found = {
        name: (kind, odd)
        for name, cells in table.items()
        for kind in (NUMBERS, DATES)
        if name not in sure and (odd := slips(cells, rows, kind))
    }
    refuse_found(found)


def refuse_found(found: Mapping[str, tuple[Kind, list[tuple[int, str]]]]) -> None:
    """Complain about columns of such kinds with rows, and texts in them, that are none, if there are any."""
    if not found:
        return
    name, (kind, odd) = next(iter(found.items()))
    also = f"; {' and '.join(map(repr, list(found)[1:4]))} likewise" if len(found) > 1 else ""
    what = f"column {name!r} holds {kind.name}, but {quoted(odd)}; {remedy(odd)}"
    raise TableError(what, ("categorical", [name]), ("skip", [name]), rest=also)


def slips(cells: Sequence[str | None], rows: Sequence[int], kind: Kind = NUMBERS) -> list[tuple[int, str]]:
    """Numbers and texts of the rows in which a column that holds mostly one kind of cell holds another."""
    numbered = zip(rows, cells, strict=True)
    known = [(row, cell) for row, cell in numbered if cell is not None]
    meant = sum(kind.looks(cell) for _, cell in known)
    return [(row, cell) for row, cell in known if kind.says(cell) is None] if 2 * meant > len(known) else []


def quoted(odd: list[tuple[int, str]]) -> str:
    """Cells with their rows, the first few of them."""
    some = ", ".join(f"{brief(cell)!r} in row {row}" for row, cell in odd[:FEW_CELLS])
    return some + (f" and {len(odd) - FEW_CELLS} more" if len(odd) > FEW_CELLS else "")


def remedy(odd: list[tuple[int, str]]) -> str:
    """What to do about them."""
    if any(written_with_comma(cell) for _, cell in odd):
        return "write decimals with a point and thousands with nothing"
    if any(looks_dated(cell) for _, cell in odd):
        return "write dates as 2020-01-31 or leave the cells empty"
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
