"""Parquet files too large to be read whole: batches of their rows, and what cells in these say.

Everything here goes by columns of Arrow, and looks at a text once for each batch: what it says of a cell is what
:mod:`sessc.tables.reading` and :mod:`sessc.tables.columns` say of the cell's text.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..rows.blocks import parquet_batches
from .cells import code, number_in
from .columns import CATEGORIES, DATES, NO_NUMBER, NUMBERS, Kind
from .reading import Table, cell_of, is_parquet, refuse_no_file, refuse_twice, texts_in, undamaged

__all__ = [
    "Batch",
    "Cells",
    "LargeTable",
    "Spelled",
    "cells_in",
    "is_gap",
    "is_large",
    "is_number",
    "known_in",
    "large_table",
    "spelled",
]

STREAMED_CELLS = 10_000_000
"""Of Parquet files with more cells rules are learned block by block: as text, so many take a gigabyte."""


class Batch(NamedTuple):
    """Some rows that follow each other."""

    numbers: np.ndarray
    """Which they are, counted from 1."""
    columns: Any
    """A record batch of Arrow's."""

    def column(self, name: str) -> Any:
        return self.columns.column(name)

    def taken(self, rows: np.ndarray) -> Batch:
        """Some of the rows, which are counted from 0 here, or marked."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return self if len(rows) == len(self.numbers) else Batch(self.numbers[rows], self.columns.take(rows))


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A Parquet file, or a folder of them, of which some rows at a time are in memory."""

    path: Path
    opened: Any
    """As a dataset of Arrow's."""
    n_rows: int

    @property
    def schema(self) -> Any:
        return self.opened.schema

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """All rows, of some columns."""
        batches, start = parquet_batches(self.opened, names), 0
        while (batch := undamaged(lambda _: next(batches, None), self.path)) is not None:
            if batch.num_rows:
                yield Batch(np.arange(start + 1, start + batch.num_rows + 1), batch)
            start += batch.num_rows

    def rows(self, numbers: np.ndarray, names: Sequence[str]) -> Table:
        """Rows of these numbers, in ascending order, as text cells."""
        import pyarrow

        found = []
        for batch in self.batches(names):
            undamaged(partial(_validated, batch.columns), self.path)
            place = np.searchsorted(numbers, [batch.numbers[0], batch.numbers[-1] + 1])
            found.append(batch.taken(numbers[slice(*place)] - batch.numbers[0]).columns)
        whole = pyarrow.Table.from_batches(found)
        return {name: texts_in(self.path, whole, name) for name in names}


def _validated(batch: Any, _: Path) -> None:
    batch.validate(full=True)


def is_large(given: Any) -> bool:
    """Whether a table is a Parquet file, or a folder of them, that is too large to be read whole."""
    return large_table(given) is not None


def large_table(given: Any) -> LargeTable | None:
    """A Parquet file, or a folder of them, if it is too large to be read whole."""
    if not isinstance(given, str | os.PathLike):
        return None
    path = Path(given)
    refuse_no_file(path)
    if not is_parquet(path):
        return None
    try:
        from pyarrow import dataset
    except ImportError:  # whoever reads it whole says so
        return None
    inside = "hive" if path.is_dir() else None
    opened = undamaged(partial(dataset.dataset, format="parquet", partitioning=inside), path)
    n_rows = undamaged(lambda _: opened.count_rows(), path)
    if n_rows * len(opened.schema.names) <= STREAMED_CELLS:
        return None
    refuse_twice(path, opened.schema.names)
    return LargeTable(path, opened, n_rows)


class Spelled(NamedTuple):
    """A column by the texts in it."""

    codes: np.ndarray
    """Of each row the place of its text; that after the last if there is none."""
    texts: list[str | None]

    def looked_up(self, values: Sequence[Any], missing: Any, dtype: Any) -> np.ndarray:
        """What each row's text stands for."""
        return np.asarray([*values, missing], dtype=dtype)[self.codes]

    @property
    def counts(self) -> np.ndarray:
        """How many rows have each text."""
        return np.bincount(self.codes, minlength=len(self.texts) + 1)[:-1]


def spelled(column: Any, gaps: frozenset[str] = frozenset()) -> Spelled:
    """A column of Arrow's by its texts; those among the gaps are None."""
    import pyarrow

    if pyarrow.types.is_nested(column.type):
        column = pyarrow.array([cell_of(value) for value in column.to_pylist()], pyarrow.string())
    coded = column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [cell_of(value) for value in coded.dictionary.to_pylist()]
    codes = coded.indices.cast(pyarrow.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return Spelled(codes, [None if is_gap(text, gaps) else text for text in texts])


def is_gap(text: str | None, gaps: frozenset[str]) -> bool:
    """Whether a text stands for a missing cell."""
    return text is None or code(text.lower()) in gaps


class Cells(NamedTuple):
    """Cells of a kind, and what of them is odd."""

    values: Any
    """As estimators take them: numbers, moments, or categories."""
    known: np.ndarray
    gaps: Counter[str]
    """Texts that stand for missing cells, in any column and in one of this kind, and how many cells have them."""
    own_gaps: Counter[str]
    odd: list[tuple[int, str]]
    """Rows, and texts in them that are of another kind."""


def cells_in(column: Any, kind: Kind, gaps: frozenset[str]) -> Cells:
    """What the cells of a column of Arrow's say, if they are of this kind."""
    if kind is NUMBERS and is_number(column.type):
        return _numbers(column, gaps)
    if kind is DATES and _is_moment(column.type):
        return _moments(column)
    return _spelled_cells(spelled(column), kind, gaps)


def known_in(column: Any, gaps: frozenset[str]) -> np.ndarray:
    """Which cells of a column of Arrow's are not missing."""
    if is_number(column.type):
        return _numbers(column, gaps).known
    text = spelled(column, gaps)
    return text.looked_up([one is not None for one in text.texts], False, bool)


def is_number(type: Any) -> bool:
    """Whether cells of a type of Arrow's are numbers."""
    from pyarrow import types

    return types.is_integer(type) or types.is_floating(type)


def _is_moment(type: Any) -> bool:
    from pyarrow import types

    return types.is_date(type) or (types.is_timestamp(type) and type.tz is None)


def _numbers(column: Any, gaps: frozenset[str]) -> Cells:
    """Numbers are what they say, but for those whose text stands for a missing cell."""
    values = column.to_numpy(zero_copy_only=False).astype(float)
    found = Counter[str]()
    for number in {value for text in gaps if (value := number_in(text)) is not None}:
        text = cell_of(number if _is_floating(column) else int(number))
        here = values == number
        if is_gap(text, gaps) and here.any():
            found[str(text)] += int(here.sum())
            values = np.where(here, np.nan, values)
    odd = [(k, str(values[k])) for k in np.flatnonzero(np.isinf(values)).tolist()]
    return Cells(values, ~np.isnan(values), found, Counter(), odd)


def _is_floating(column: Any) -> bool:
    from pyarrow import types

    return types.is_floating(column.type)


def _moments(column: Any) -> Cells:
    import pyarrow

    values = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy(zero_copy_only=False)
    return Cells(values, ~np.isnat(values), Counter(), Counter(), [])


def _spelled_cells(column: Spelled, kind: Kind, gaps: frozenset[str]) -> Cells:
    own = frozenset() if kind is CATEGORIES else NO_NUMBER
    found, own_found, odd, said = Counter[str](), Counter[str](), [], []
    for place, (text, n) in enumerate(zip(column.texts, column.counts.tolist(), strict=True)):
        value = None
        if text is None or not n:
            pass
        elif is_gap(text, gaps):
            found[text] += n
        elif text.lower() in own:
            own_found[text] += n
        elif (value := kind.says(text)) is None:
            odd += [(k, text) for k in np.flatnonzero(column.codes == place).tolist()]
        said.append(value)
    known = column.looked_up([value is not None for value in said], False, bool)
    if kind is CATEGORIES:
        return Cells(_categories(column, said, known), known, found, own_found, odd)
    filled = [kind.missing if value is None else value for value in said]
    return Cells(column.looked_up(filled, kind.missing, kind.dtype), known, found, own_found, odd)


def _categories(column: Spelled, said: list[str | None], known: np.ndarray) -> Any:
    """Categories as Arrow has them, which are compared by code."""
    import pyarrow

    places = pyarrow.array(column.codes, pyarrow.int32(), mask=~known)
    texts = pyarrow.array([text or "" for text in said], pyarrow.string())
    return pyarrow.DictionaryArray.from_arrays(places, texts)
