"""Rows that come block by block: data larger than memory, from files or from anything one can go through again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .._array import Array
from .._runtime import cached_property, keep_freed_memory
from .base import KEPT_ELEMENTS, Block, Rows
from .clean import cast, existing_rows, plain_table, refuse_extremes, refuse_tiny, unmasked
from .columns import Column, Tally, cells_of, is_frame, is_plain_frame, named, raw_columns, tally
from .missing import is_missing

__all__ = ["BlockRows", "Blocks", "CodedBlocks", "blocks_tally", "checked", "parquet_batches"]

BATCH_ROWS = 2**16
"""Rows read from a file at a time."""


class Blocks:
    """Rows that come block by block, for data larger than memory.

    Estimators take them in ``fit``, ``predict`` and ``transform`` where they take an array, and go through them
    once for each sum over all rows. Labels and weights come with the rows: leave out ``y`` and ``sample_weight``.
    An array mapped from a file needs none of this: it goes into ``fit`` as it is.

    Parameters
    ----------
    source : iterable or callable
        Blocks ``X``, ``(X, y)`` or ``(X, y, sample_weight)`` of any number of rows each. A generator is used up
        after one pass, so hand over the function that makes it.
    feature_names : sequence of str, optional

    Examples
    --------
    >>> import numpy as np
    >>> from sessc import FCM, Blocks
    >>> def days():
    ...     for day in range(7):
    ...         yield np.random.default_rng(day).normal(size=(1000, 3))
    >>> FCM(n_clusters=2, random_state=0).fit(Blocks(days)).cluster_centers_.shape
    (2, 3)
    """

    def __init__(self, source: Iterable | Callable[[], Iterable], feature_names: Sequence[str] | None = None):
        if not callable(source) and (not isinstance(source, Iterable) or iter(source) is source):
            raise ValueError(
                f"Blocks need to be gone through more than once, and a {type(source).__name__} cannot be; "
                "pass a list, or a function that makes the blocks anew."
            )
        self.source = source
        self._names = None if feature_names is None else tuple(map(str, feature_names))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, as given or as frames have them."""
        return self._frame_names if self._names is None else self._names

    @property
    def are_frames(self) -> bool:
        """Whether columns have types of their own, and so what they are is known after the last block."""
        return self._frame_names is not None

    @cached_property
    def _frame_names(self) -> tuple[str, ...] | None:
        """What the first block calls its columns, if it is a frame."""
        first = next(iter(self._raw()), None)
        return named(first) if is_frame(first) else None

    def _raw(self) -> Iterator[Any]:
        """Rows of every block as they come, without labels and weights."""
        blocks = self.source() if callable(self.source) else self.source
        return (block[0] if isinstance(block, tuple) else block for block in blocks)

    @classmethod
    def from_parquet(
        cls, path: Any, target: str | None = None, weight: str | None = None, features: Sequence[str] | None = None
    ) -> Blocks:
        """The rows of a Parquet file, or of a folder of them.

        Parameters
        ----------
        path : path or list of paths
        target, weight : str, optional
            The columns that hold labels and sample weights.
        features : sequence of str, optional
            The columns to learn from; all others if left out.
        """
        from pyarrow import dataset

        table = dataset.dataset(path, format="parquet")
        aside = [name for name in (target, weight) if name is not None]
        names = [name for name in table.schema.names if name not in aside] if features is None else list(features)
        for name in [*names, *aside]:
            if name not in table.schema.names:
                raise ValueError(f"{path} has no column {name!r}; it has {', '.join(table.schema.names)}.")

        plain = all(_is_number(table.schema.field(name).type) for name in names)

        def batches() -> Iterator[tuple]:
            for batch in parquet_batches(table, [*names, *aside]):
                columns = [None if name is None else _cells(batch.column(name)) for name in (target, weight)]
                cells = np.column_stack([_cells(batch.column(name)) for name in names]) if plain else None
                yield batch.select(names) if cells is None else cells, *columns

        return cls(batches, names)

    def __iter__(self) -> Iterator[Block]:
        """The blocks, after the checks users deserve; rows of weight zero do not exist."""
        blocks = self.source() if callable(self.source) else self.source
        n_features = None
        for number, block in enumerate(blocks, 1):
            self._check_names(block, number)
            raw = checked(block, f"Block {number}", self._names)
            if n_features not in (None, _width(raw.X)):
                raise ValueError(f"Block {number} has {_width(raw.X)} features and those before it {n_features}.")
            n_features = _width(raw.X)
            yield raw

    def _check_names(self, block: Any, number: int) -> None:
        """Refuse a frame whose columns are others than those of the first, or in another order."""
        X = block[0] if isinstance(block, tuple) and block else block
        if is_frame(X) and self._frame_names not in (None, named(X)):
            raise ValueError(f"Block {number} has the columns {named(X)} and those before it {self._frame_names}.")

    @cached_property
    def first(self) -> Block:
        """The first block: what it looks like is what the others have to look like."""
        first = next(iter(self), None)
        if first is None:
            raise ValueError("There are no blocks, and so no rows to learn from.")
        return first

    @property
    def n_features(self) -> int:
        """How many columns blocks have."""
        return _width(self.first.X)


class CodedBlocks:
    """Blocks of tables as blocks of cells."""

    def __init__(self, blocks: Blocks, columns: tuple[Column, ...]):
        self.blocks, self.columns = blocks, columns
        self.are_numbers = not any(column.n_levels for column in columns)

    def __iter__(self) -> Iterator[Block]:
        return map(self._coded, self.blocks)

    @property
    def first(self) -> Block:
        return self._coded(self.blocks.first)

    def _coded(self, block: Block) -> Block:
        if isinstance(block.X, np.ndarray) and block.X.dtype.kind == "f" and self.are_numbers:
            return block
        cells = cells_of(block.X, self.columns)
        refuse_extremes(cells, "A block", [column.name for column in self.columns], may_lack=True)
        weight = block.weight
        return Block(*existing_rows(cells, block.y, None if weight is None else weight.astype(cells.dtype)))


def parquet_batches(table: Any, names: Sequence[str]) -> Iterator[Any]:
    """Some columns of a dataset of Parquet files, in the order of its rows, 65,536 of them at a time."""
    from pyarrow import dataset

    # Few at a time: a row group read ahead is memory, and so is a file.
    yield from table.to_batches(
        columns=list(names),
        batch_size=BATCH_ROWS,
        batch_readahead=2,
        fragment_readahead=1,
        fragment_scan_options=dataset.ParquetFragmentScanOptions(pre_buffer=False),
    )


def blocks_tally(blocks: Blocks, asked: list[bool] | None) -> Tally:
    """What all blocks say of their columns."""
    return reduce(operator.add, (tally(raw_columns(block.X), block.weight, asked) for block in blocks))


def _width(X: Any) -> int:
    return len(named(X)) if is_frame(X) else int(X.shape[1])


def _is_number(kind: Any) -> bool:
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat"))


def _cells(column: Any) -> np.ndarray:
    """A column of an Arrow table; text as text of fixed width, which compares fast."""
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    cells = column.to_numpy(zero_copy_only=False)
    return cells if cells.dtype != object or column.null_count else cells.astype(str)


@dataclass(frozen=True)
class BlockRows(Rows):
    """Samples that come block by block, again on every pass.

    Parameters
    ----------
    blocks : iterable of Block
    first : Block
        The first of them.
    """

    blocks: Iterable[Block]
    first: Block

    @property
    def n_features(self) -> int:
        return int(self.first.X.shape[1])

    @property
    def dtype(self) -> Any:
        return self.first.X.dtype

    def sum(self, fn: Callable[[Any], Any]) -> Any:
        each = self._each(fn)
        first = next(each, None)
        if first is None:
            raise ValueError("X holds no rows to learn from.")
        return reduce(operator.add, each, first)

    def map(self, fn: Callable[[Any], Array]) -> Array:
        return np.concatenate(list(self._each(fn)))

    def _each(self, fn: Callable[[Any], Any]) -> Iterator[Any]:
        return self._worked(lambda raw: fn(self._seen(raw)), self._parts(), effective_n_jobs(self.n_jobs))

    def _parts(self) -> Iterator[Block]:
        seen = 0
        for raw in self.blocks:
            seen += raw.X.size
            if seen > KEPT_ELEMENTS:
                keep_freed_memory()
            for start in range(0, len(raw.X), self._step):
                part = slice(start, start + self._step)
                yield Block(*(None if column is None else column[part] for column in raw))


def checked(block: Any, which: str, names: tuple[str, ...] | None = None) -> Block:
    """A block as rows, or a sentence about what is wrong with it; rows of weight zero do not exist."""
    X, y, weight = (*block, None, None)[:3] if isinstance(block, tuple) else (block, None, None)
    is_table = is_frame(X) and not is_plain_frame(X)
    X = X if is_table else np.asarray(plain_table(X))
    n_rows = _height(X)
    if not is_table and X.ndim != 2:
        raise ValueError(f"{which} has the shape {X.shape}; it must be a table of rows and features.")
    if not is_table and X.dtype.kind not in "fiub":
        raise ValueError(f"{which} holds {X.dtype} cells; encode them as numbers first, or use frames.")
    X = X if is_table or X.dtype == np.float32 else X.astype(np.float64, copy=False)
    y, weight = (
        None if column is None else unmasked(column, f"{which} has {what}")
        for column, what in ((y, "labels"), (weight, "weights"))
    )
    for column, what in ((y, "labels"), (weight, "weights")):
        if column is not None and column.shape != (n_rows,):
            raise ValueError(f"{which} has {n_rows} rows and {what} of shape {column.shape}.")
    if not is_table:
        refuse_extremes(X, which, names, may_lack=True)
    if y is not None and y.dtype == object:
        for row, label in enumerate(y):
            if is_missing(label):
                raise ValueError(f"{which} has no label in row {row}; drop such rows first.")
    if weight is None:
        return Block(X, y)
    if not np.all(weight >= 0) or not np.all(np.isfinite(weight)):
        raise ValueError(f"{which} has weights that are negative or not finite.")
    dtype = np.dtype(np.float64) if is_table else X.dtype
    refuse_tiny(weight, f"{which} has weights", dtype)
    weight = cast(weight, dtype)
    refuse_extremes(weight[:, None], which, what="weights")
    return Block(X, y, weight) if is_table else Block(*existing_rows(X, y, weight))


def _height(X: Any) -> int:
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) else len(X)
