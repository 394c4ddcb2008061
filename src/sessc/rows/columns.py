"""What the columns of a table are: numbers, dates, or categories with their levels; and tables as arrays of cells.

It is learned once, from the rows a model is fitted to. A cell then is a number, the code of a level, or NaN where
it is missing or was never seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .._array import Array, array_namespace, is_foreign, to_numpy
from .missing import is_missing

__all__ = [
    "Category",
    "Column",
    "Number",
    "Tally",
    "cell_type",
    "cells_of",
    "chosen",
    "columns_of_parts",
    "default_names",
    "few",
    "grown",
    "is_frame",
    "is_plain_frame",
    "level_counts",
    "named",
    "raw_columns",
    "settle_columns",
    "tally",
]

FEW, LEAST_SHARE, MOST_SHARE = 4.0, 0.005, 0.05
"""Levels that fewer rows have by weight, but no less than the first share of all and no more than the second, are
pooled, or count as missing if all of them together are as few: what so few say makes no condition."""
DAY = np.timedelta64(1, "D")
TEXT = re.compile(r"str(?!uct)|utf8|large_string")
NUMBER = re.compile(
    r"(torch\.)?u?int\d|(torch\.)?float|(long)?double|halffloat|decimal|null|sparse\[(u?int|float)"
)
"""How the types of columns begin that hold text and numbers, in NumPy, pandas, Polars and Arrow."""
NUMBERS, DATES, LEVELS = "numbers", "dates", "levels"
"""What cells may be."""


@dataclass(frozen=True)
class Number:
    """A column of numbers.

    Parameters
    ----------
    name : str
    is_date : bool
        Whether they are days since 1970, to be read as dates.
    """

    name: str
    is_date: bool = False

    n_levels = 0


@dataclass(frozen=True)
class Category:
    """A column of categories.

    Parameters
    ----------
    name : str
    levels : tuple
        What cells may be, in the order of their codes.
    pool : tuple, optional
        Levels that few rows have and that share one more code; None if there is no such code.
    """

    name: str
    levels: tuple[Any, ...]
    pool: tuple[Any, ...] | None = None

    @property
    def n_levels(self) -> int:
        return len(self.levels) + (self.pool is not None)

    @property
    def labels(self) -> list[str]:
        """The levels as people read them, the pool last."""
        other = "another" if "other" in map(str, self.levels) else "other"
        return [*map(str, self.levels), *([] if self.pool is None else [other])]

    def codes(self, levels: Sequence[Any]) -> np.ndarray:
        """The codes of some levels; NaN for those that were never seen."""
        known = {_key(level): float(code) for code, level in enumerate(self.levels)}
        known |= {_key(level): float(len(self.levels)) for level in self.pool or ()}
        return np.asarray([known.get(_key(level), np.nan) for level in levels], dtype=float)

    def with_pooled(self, levels: Iterable[Any]) -> Category:
        """The column with more levels in its pool."""
        known = {*map(_key, self.levels), *map(_key, self.pool or ())}
        new = tuple(level for level in levels if _key(level) not in known)
        return replace(self, pool=(*(self.pool or ()), *new)) if new else self


Column = Number | Category


def _key(level: Any) -> Any:
    """What makes two levels one: 1 and 1.0 are the same, but a text is never a number."""
    return level if isinstance(level, (str, Real)) else str(level)


def default_names(n_features: int) -> tuple[str, ...]:
    """Names for columns that have none."""
    return tuple(f"x{d}" for d in range(n_features))


def few(weight: float) -> float:
    """The share of all rows, which weigh so much together, that is too few to rest anything on."""
    return min(max(FEW / weight, LEAST_SHARE), MOST_SHARE) if weight > 0 else MOST_SHARE


class Raw(NamedTuple):
    """A column as it came: numbers, or codes of levels."""

    values: np.ndarray
    """Floats, NaN where missing; or whole numbers, -1 where missing."""
    levels: list[Any] | None = None
    """What the codes stand for; None for numbers."""
    is_date: bool = False
    is_declared: bool = False
    """Whether the type of the column says which levels there are."""


def is_frame(X: Any) -> bool:
    """Whether a table has columns of their own types: of pandas, Polars or Arrow, or a dict of columns."""
    return isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "column_names")


def named(X: Any) -> tuple[str, ...]:
    """The names of a frame's columns."""
    names = X.keys() if isinstance(X, Mapping) else getattr(X, "column_names", None) or X.columns
    return tuple(map(str, names))


def chosen(X: Any, names: Sequence[str]) -> Any:
    """The columns of a frame that have these names, in this order; the frame as it is, unless it has each once."""
    there = named(X)
    if there == tuple(names) or any(there.count(name) != 1 for name in names):
        return X
    columns = dict(zip(there, _each_column(X), strict=True))
    return {name: columns[name] for name in names}


def is_plain_frame(X: Any) -> bool:
    """Whether every column of a frame is one of numbers by its type, and NumPy makes one array of them."""
    if isinstance(X, Mapping) or hasattr(X, "column_names"):
        return False
    return all(_is_plain(dtype) for dtype in getattr(X, "dtypes", ()))


def _is_plain(dtype: Any) -> bool:
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiu"
    is_polars = not hasattr(dtype, "na_value")  # which pandas' own types have, and NumPy makes objects of them
    return is_polars and str(dtype).startswith(("Int", "UInt", "Float"))


def cell_type(X: Any) -> type | None:
    """What NumPy is to make of cells: of those in lists objects, for it turns numbers beside text into text."""
    return object if isinstance(X, (list, tuple)) else None


def raw_columns(X: Any) -> Iterator[Raw]:
    """The columns of a frame, or of an array whose cells may be anything."""
    names = named(X) if is_frame(X) else default_names(np.shape(X)[1])
    for name, column in zip(names, _each_column(X), strict=True):
        try:
            yield _raw(column)
        except OverflowError:
            raise ValueError(
                f"Column {name!r} of X holds whole numbers too large for float64; rescale them."
            ) from None
        except (ValueError, TypeError) as error:
            raise type(error)(f"Column {name!r} of X {error}") from None


def _each_column(X: Any) -> Iterator[Any]:
    if isinstance(X, Mapping):
        return map(_as_in_a_frame, X.values())
    if hasattr(X, "iloc"):
        return (X.iloc[:, j] for j in range(X.shape[1]))
    if hasattr(X, "column_names"):
        return (X.column(j) for j in range(X.num_columns))
    if hasattr(X, "to_series"):
        return (X.to_series(j) for j in range(X.shape[1]))
    return iter(np.asarray(X).T)


def _as_in_a_frame(column: Any) -> Any:
    """What pandas keeps in its columns, as a column: by itself it can do less."""
    if not hasattr(column, "dtype") or isinstance(column, np.ndarray) or hasattr(column, "iloc"):
        return column
    if type(column).__module__.partition(".")[0] != "pandas":
        return column
    import pandas

    return pandas.Series(column)


def _raw(column: Any) -> Raw:
    dtype = getattr(column, "dtype", "")
    kind = (dtype.name if isinstance(dtype, np.dtype) else str(dtype)).lower()
    if kind.endswith("[pyarrow]"):
        column = column.array.__arrow_array__()
    if hasattr(column, "dictionary_encode"):
        return _of_arrow(column)
    if kind.startswith("date"):
        return _dates(np.asarray(column.dt.tz_convert(None) if getattr(column.dtype, "tz", None) else column))
    if kind.startswith("categor") and hasattr(column, "cat") and hasattr(column.cat, "codes"):
        levels = [_plain(level) for level in column.cat.categories]
        return Raw(np.asarray(column.cat.codes, dtype=int), levels, is_declared=True)
    if kind.startswith(("categor", "enum")):
        return _declared(column)
    if kind.startswith("bool") or TEXT.match(kind):
        return _factorized(column.tolist() if hasattr(column, "tolist") else column.to_list())
    if kind.startswith("object") or not hasattr(column, "dtype"):
        return _of_objects(column.tolist() if hasattr(column, "tolist") else list(column))
    if not NUMBER.match(kind):
        raise _no_cells(kind)
    if hasattr(column, "to_numpy") and hasattr(column, "isna"):  # of pandas, whose own types may lack cells
        return Raw(column.to_numpy(dtype=float, na_value=np.nan))
    return Raw(np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=float))


def _no_cells(kind: str) -> ValueError:
    return ValueError(f"holds {kind} cells; say what matters about them in numbers or text first.")


def _of_arrow(column: Any) -> Raw:
    import pyarrow

    kind = str(column.type).lower()
    is_coded = kind.startswith("dictionary")
    values = str(column.type.value_type).lower() if is_coded else kind
    is_date, is_level = values.startswith(("timestamp", "date")), values.startswith("bool") or TEXT.match(values)
    if not (is_date or is_level or NUMBER.match(values)):
        raise _no_cells(kind)
    if is_coded or is_level:
        coded = column if is_coded else column.dictionary_encode()
        coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
        coded = coded.chunk(0) if hasattr(coded, "chunk") else coded
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(int)
        levels = coded.dictionary.to_pylist()
        codes = np.append([-1 if level is None else k for k, level in enumerate(levels)], -1)[codes]
        return Raw(codes.astype(int), [_plain(level) for level in levels])
    if is_date:
        moments = column.cast(pyarrow.timestamp("us"), safe=False)
        return _dates(moments.to_numpy(zero_copy_only=False) if hasattr(moments, "dictionary_encode") else moments)
    return Raw(column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False))


def _dates(moments: np.ndarray) -> Raw:
    moments = moments.astype("datetime64[us]")
    days = (moments - np.datetime64(0, "D")) / DAY
    return Raw(np.where(np.isnat(moments), np.nan, days), is_date=True)


def _declared(column: Any) -> Raw:
    """Polars' categories: an Enum says which there are, a Categorical those that it has met."""
    given = getattr(column.dtype, "categories", None)
    levels = column.drop_nulls().unique().to_list() if given is None or callable(given) else list(given)
    levels = [str(level) for level in levels]
    place = {level: code for code, level in enumerate(levels)}
    codes = [-1 if cell is None else place[str(cell)] for cell in column.to_list()]
    return Raw(np.asarray(codes, dtype=int), levels, is_declared=str(column.dtype).lower().startswith("enum"))


def _of_objects(cells: list[Any]) -> Raw:
    """Cells of any kind: numbers if all are, dates if all are, and categories otherwise."""
    cells = [float(cell) if isinstance(cell, Decimal) else cell for cell in cells]
    there = [cell for cell in cells if not is_missing(cell)]
    if all(isinstance(cell, Real) and not isinstance(cell, (bool, np.bool_)) for cell in there):
        return Raw(np.asarray([np.nan if is_missing(cell) else float(cell) for cell in cells]))
    if all(isinstance(cell, (date, datetime)) for cell in there):
        moments = [np.datetime64("NaT") if is_missing(cell) else _moment(cell) for cell in cells]
        return _dates(np.asarray(moments, "datetime64[us]"))
    return _factorized(cells)


def _moment(cell: date) -> np.datetime64:
    """A date or time; of one with a zone that of Greenwich."""
    zoned = isinstance(cell, datetime) and cell.tzinfo is not None
    return np.datetime64(cell.astimezone(UTC).replace(tzinfo=None) if zoned else cell, "us")  # type: ignore[attr-defined]


def _factorized(cells: list[Any]) -> Raw:
    place: dict[Any, int] = {}
    for cell in cells:
        if not is_missing(cell) and not isinstance(cell, (str, Real)):
            raise TypeError(f"holds {cell!r}; a cell must be a string or a number, or missing.")
    codes = [-1 if is_missing(cell) else place.setdefault(_plain(cell), len(place)) for cell in cells]
    return Raw(np.asarray(codes, dtype=int), list(place))


def _plain(level: Any) -> Any:
    """A level as Python has it: text, a number, or a truth value."""
    level = level.item() if isinstance(level, np.generic) else level
    return level if isinstance(level, (str, bool, int, float)) else str(level)


class Seen(NamedTuple):
    """What some rows say of a column."""

    kinds: frozenset[str]
    """What cells are: numbers, dates or levels. A column of gaps is none of them, for programs call it numbers
    whatever it will hold, unless its type says text or dates."""
    levels: dict[Any, float]
    """What rows weigh that have each level."""
    is_declared: bool

    @property
    def mixes(self) -> bool:
        """Whether numbers of some rows would have to be levels beside those of others."""
        return self.kinds == {NUMBERS, LEVELS}


@dataclass(frozen=True)
class Tally:
    """What some rows say of every column; tallies of two sets of rows add up to that of both."""

    weight: float
    columns: tuple[Seen, ...]

    def __add__(self, other: Tally) -> Tally:
        pairs = zip(self.columns, other.columns, strict=True)
        return Tally(self.weight + other.weight, tuple(_merged(a, b) for a, b in pairs))


def _merged(a: Seen, b: Seen) -> Seen:
    if not a.kinds or not b.kinds:
        return a if a.kinds else b
    levels = dict(a.levels)
    for level, weight in b.levels.items():
        levels[level] = levels.get(level, 0.0) + weight
    return Seen(a.kinds | b.kinds, levels, a.is_declared and b.is_declared)


def tally(raw: Iterable[Raw], weight: np.ndarray | None, asked: Any = None) -> Tally:
    """What rows of these weights say of their columns; those ``asked`` for are categories in any case."""
    found, total = [], 0.0
    for j, column in enumerate(raw):
        own = np.ones(len(column.values)) if weight is None else weight
        total = float(np.sum(own))
        column = _as_levels(column) if asked is not None and asked[j] else column
        found.append(Seen(_kinds(column), level_counts(column, own) or {}, column.is_declared))
    return Tally(total, tuple(found))


def _kinds(column: Raw) -> frozenset[str]:
    if column.is_date or column.levels is not None:
        return frozenset([DATES if column.is_date else LEVELS])
    return frozenset() if np.all(np.isnan(column.values)) else frozenset([NUMBERS])


def _as_levels(column: Raw) -> Raw:
    """Numbers as levels."""
    if column.levels is not None:
        return column
    values, codes = np.unique(column.values, return_inverse=True)
    known = int(np.sum(~np.isnan(values)))
    levels = [int(value) if float(value).is_integer() else float(value) for value in values[:known]]
    return Raw(np.where(codes < known, codes, -1), levels, is_declared=column.is_declared)


def level_counts(column: Raw, weight: np.ndarray) -> dict[Any, float] | None:
    """What rows weigh that have each level."""
    if column.levels is None:
        return None
    there = column.values >= 0
    counts = np.bincount(column.values[there], weight[there], minlength=len(column.levels))
    found: dict[Any, float] = {}
    for level, count in zip(column.levels, counts, strict=True):  # a dictionary may name one twice
        found[_plain(level)] = found.get(_plain(level), 0.0) + float(count)
    return found


def columns_of_parts(
    names: Sequence[str], seen_if: Callable[[Any], Tally], asked: Any = None, growing: bool = False
) -> tuple[Column, ...]:
    """What columns are of rows that come in parts; ``seen_if(asked)`` is what all parts say of them together.

    Where some parts have text and others numbers these are levels too, as in one table, and have to be counted.
    """
    seen = seen_if(asked)
    if any(column.mixes for column in seen.columns):
        seen = seen_if([column.mixes or bool(asked and asked[j]) for j, column in enumerate(seen.columns)])
    return settle_columns(names, seen, asked, growing)


def settle_columns(
    names: Sequence[str], seen: Tally, asked: Any = None, growing: bool = False
) -> tuple[Column, ...]:
    """What columns are, by what rows say of them; ``growing`` leaves room for levels of rows to come."""
    asked = [None] * len(names) if asked is None else asked
    return tuple(
        _settled(name, column, one, seen.weight, growing)
        for name, column, one in zip(names, seen.columns, asked, strict=True)
    )


def _settled(name: str, seen: Seen, asked: bool | None, weight: float, growing: bool) -> Column:
    if DATES in seen.kinds and len(seen.kinds) > 1:
        other = "text" if LEVELS in seen.kinds else NUMBERS
        raise ValueError(
            f"Column {name!r} of X holds dates in some blocks and {other} in others; make all of them dates."
        )
    if LEVELS not in seen.kinds or (asked is False and not seen.levels):
        return Number(name, DATES in seen.kinds)
    if asked is False:
        text = next(iter(seen.levels))
        raise ValueError(
            f"Column {name!r} of X holds text such as {text!r}; encode it as numbers first, or name it in "
            "categorical_features."
        )
    there = {level: count for level, count in seen.levels.items() if count > 0}
    order = sorted(there, key=lambda level: (isinstance(level, str), level))
    kept, pool = _pooled(there, order, few(weight) * weight)
    open_ended = growing and not seen.is_declared
    return Category(name, tuple(kept), tuple(pool) if pool or open_ended or not kept else None)


def _pooled(counts: dict[Any, float], order: list[Any], least: float) -> tuple[list[Any], list[Any]]:
    """The levels that enough rows have, and the others if these are enough together; else they count as
    missing."""
    kept = [level for level in order if counts[level] >= least]
    pool = [level for level in order if counts[level] < least]
    return kept, pool if sum(counts[level] for level in pool) >= least or not kept else []


def grown(columns: Sequence[Column], X: Any) -> tuple[Column, ...]:
    """The columns with levels in their pools that come up later."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
        raw = [Raw(column) for column in X.T]
    else:
        raw = list(raw_columns(X))
    return tuple(_grown(column, one) for column, one in zip(columns, raw, strict=True))


def _grown(column: Column, raw: Raw) -> Column:
    if isinstance(column, Category):
        return column if column.pool is None else column.with_pooled(_as_levels(raw).levels or ())
    if texts := _texts(raw):
        raise ValueError(
            f"Column {column.name!r} of X holds text such as {texts[0]!r}, and no row before did; give it a "
            "category type from the first rows on, or name it in categorical_features."
        )
    return column


def _texts(raw: Raw) -> list[str]:
    return [level for level in raw.levels or () if isinstance(level, str)]


def cells_of(X: Any, columns: Sequence[Column]) -> np.ndarray:
    """A table as cells (n, J)."""
    if is_foreign(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        return _of_array(X, columns)
    return np.stack([_cells(one, column) for one, column in zip(raw_columns(X), columns, strict=True)], axis=1)


def _cells(raw: Raw, column: Column) -> np.ndarray:
    if isinstance(column, Number):
        if raw.levels is None:
            return raw.values.astype(float)
        if texts := _texts(raw):
            raise ValueError(
                f"Column {column.name!r} of X holds text such as {texts[0]!r}, and the model knows numbers there."
            )
        return np.append(np.asarray(raw.levels, dtype=float), np.nan)[raw.values]
    raw = _as_levels(raw)
    return np.append(column.codes(raw.levels or []), np.nan)[raw.values]


def _of_array(X: Array, columns: Sequence[Column]) -> Array:
    """An array of numbers, in which some columns hold levels that are numbers."""
    xp = array_namespace(X)
    if X.dtype not in (xp.float32, xp.float64):  # nobody computes in half or in extended precision
        with np.errstate(over="ignore"):
            X = xp.astype(X, xp.float64)
    if not any(column.n_levels for column in columns):
        return X
    parts = []
    for j, column in enumerate(columns):
        part = X[:, j]
        if isinstance(column, Category):
            values, codes = np.unique(to_numpy(part), return_inverse=True)
            found = column.codes(values.tolist())[codes].astype(values.dtype)
            part = xp.asarray(found, device=X.device) if is_foreign(X) else found
        parts.append(part)
    return xp.stack(parts, axis=1)
