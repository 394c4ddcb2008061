"""Rows in Dask collections: blocks stay on the cluster, and only what they add up to travels.

Neighbouring partitions are held together as one group for each thread of the cluster, so that a pass is one task
a group. Groups are tasks of their own with all they were made from, so a cluster that loses a worker makes its
groups again, and as they are added in order the result is the same.
"""

from __future__ import annotations

import operator
import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass, fields
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from .._array import Array
from .._runtime import cached_property
from .base import Block, Rows
from .blocks import BlockRows, checked
from .clean import unmasked
from .columns import (
    Column,
    Number,
    Tally,
    cells_of,
    columns_of_parts,
    default_names,
    grown,
    raw_columns,
    tally,
)

__all__ = ["DaskRows", "Held", "grown_columns", "learn_columns", "read_table", "shape_of"]

PATIENCE = 30.0
"""Seconds to wait for a worker when all are gone."""
GLANCE = 2.0
"""Seconds between two looks at whether any worker is left."""


@dataclass(frozen=True)
class DaskRows(Rows):
    """Samples in Dask collections.

    Parameters
    ----------
    table : dask array of shape (n, D)
        In one partition across.
    held : Held
        All rows with their labels and weights, where they can be summed.
    """

    table: Any
    held: Held

    @property
    def n_features(self) -> int:
        return int(self.table.shape[1])

    @property
    def dtype(self) -> Any:
        return self.table.dtype

    def sum(self, fn: Callable[[Any], Any]) -> Any:
        from dask import delayed

        task = delayed(_sum, pure=False, traverse=False)
        found = _computed([task(group, self._view, fn) for group in self.held.groups])
        sums = [one for one in found if one is not None]
        if not sums:
            raise ValueError("X holds no rows to learn from.")
        return reduce(operator.add, sums)

    def map(self, fn: Callable[[Any], Array]) -> Any:
        """A Dask array, computed when asked for."""
        work = partial(_map, fn=fn, view=self._view, width=self.n_features)
        like = work(np.zeros((1, self.n_features), self.dtype))[:0]
        shape = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (self.table.chunks[0], like.shape[1:])}
        return self.table.map_blocks(work, dtype=like.dtype, meta=like, **shape)

    @property
    def _view(self) -> dict[str, Any]:
        """How formulas see rows, for those that are about to be seen elsewhere."""
        return {field.name: getattr(self, field.name) for field in fields(Rows)} | {"n_jobs": 1}


def _parts(collection: Any) -> np.ndarray:
    """The partitions of a collection, delayed: those that it says it has.

    Dask would join partitions of Parquet files where few columns are read, and X and y would not go together.
    """
    if hasattr(collection, "simplify"):  # a data frame or a column of one, which then reads no other columns
        collection = collection.simplify()
    return np.asarray(collection.to_delayed(optimize_graph=False), dtype=object).ravel()


def shape_of(X: Any) -> tuple[tuple[str, ...] | None, int]:
    """The names of the columns of a Dask array or data frame, and how many there are."""
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); it must be a table of rows and features.")
    return names, int(X.shape[1])


def _is_mixed(X: Any) -> bool:
    """Whether some columns are not numbers of NumPy's types."""
    if hasattr(X, "columns"):
        return any(not isinstance(kind, np.dtype) or kind.kind not in "fiu" for kind in set(X.dtypes))
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X holds {X.dtype} cells; encode them as numbers of NumPy's types first, or use a frame."
        )
    return False


def learn_columns(
    X: Any, names: tuple[str, ...] | None, weight: Any, asked: list[bool] | None, growing: bool
) -> tuple[Column, ...]:
    """What the columns are; one pass where some are not numbers."""
    known = names or default_names(int(X.shape[1]))
    if asked is None and not _is_mixed(X):
        return tuple(map(Number, known))
    from dask import delayed

    parts = _parts(X)
    weights = _aligned_parts(weight, X, parts)
    task = delayed(_tally, pure=False)

    def seen_if(asked: list[bool] | None) -> Tally:
        found = _computed([task(part, one, asked) for part, one in zip(parts, weights, strict=True)])
        return reduce(operator.add, found)

    return columns_of_parts(known, seen_if, asked, growing)


def _aligned_parts(weight: Any, X: Any, parts: np.ndarray) -> list:
    if weight is None:
        return [None] * len(parts)
    table = X
    if hasattr(X, "columns"):  # lengths take a pass, and only weights that are here have to be cut by them
        there = hasattr(weight, "__dask_graph__")
        table = _table(X, np.asarray, np.float64) if there else X.to_dask_array(lengths=True)
    found = _aligned(weight, table, "sample_weight")
    return [None] * len(parts) if found is None else found.tolist()


def _tally(part: Any, weight: Any, asked: list[bool] | None) -> Tally:
    """On a worker: what a partition says of its columns."""
    return tally(raw_columns(part), None if weight is None else np.asarray(weight, dtype=float), asked)


def grown_columns(X: Any, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns with levels in their pools that come up in these rows."""
    if not _is_mixed(X) and not any(column.n_levels for column in columns):
        return columns
    from dask import delayed

    parts = _parts(X)
    for found in _computed([delayed(grown, pure=False)(columns, part) for part in parts]):
        pairs = zip(columns, found, strict=True)
        columns = tuple(a if a == b else a.with_pooled(b.pool or ()) for a, b in pairs)  # type: ignore[union-attr]
    return columns


def read_table(X: Any, columns: tuple[Column, ...]) -> Any:
    """A Dask array or data frame as an array of cells in one partition across."""
    frame = hasattr(X, "columns")
    if not _is_mixed(X) and not any(column.n_levels for column in columns):
        kinds = set(X.dtypes) if frame else {X.dtype}
        dtype = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
        return _table(X, partial(np.asarray, dtype=dtype), dtype) if frame else X.rechunk({1: -1}).astype(dtype)
    if frame:
        return _table(X, partial(cells_of, columns=columns), np.float64)
    return X.rechunk({1: -1}).map_blocks(cells_of, columns, dtype=np.float64)


def _table(X: Any, cells: Callable[[Any], np.ndarray], dtype: Any) -> Any:
    """A Dask data frame as an array of the cells of its partitions."""
    from dask import delayed
    from dask.array import concatenate, from_delayed

    task, shape = delayed(cells, pure=False), (np.nan, X.shape[1])
    found = [from_delayed(task(part), shape, dtype) for part in _parts(X)]
    return concatenate(found, axis=0, allow_unknown_chunksizes=True)


class Held:
    """A table with its labels and weights in the memory of the cluster, from the first sum on."""

    def __init__(self, table: Any, y: Any = None, weight: Any = None):
        self.parts, self.width = table.to_delayed().ravel(), int(table.shape[1])
        self.columns = [_aligned(column, table, what) for column, what in ((y, "y"), (weight, "sample_weight"))]

    @cached_property
    def groups(self) -> tuple:
        """Neighbouring partitions as delayed lists of Block, computed and kept."""
        import dask

        n = len(self.parts)
        bounds = np.linspace(0, n, min(n, _n_threads()) + 1).astype(int)
        gather, columns = dask.delayed(_gather, pure=False), (self.parts, *self.columns)
        return dask.persist(
            *(
                gather(
                    int(low), self.width, *(None if part is None else part[low:high].tolist() for part in columns)
                )
                for low, high in pairwise(bounds)
            )
        )


def _aligned(column: Any, table: Any, what: str) -> np.ndarray | None:
    """The partitions of a column that goes with the table, one for each of the table's."""
    if column is None:
        return None
    if not hasattr(column, "__dask_graph__"):
        from dask.array import from_array

        column = unmasked(column, f"{what} holds values")
        if np.isnan(table.shape[0]) or column.shape != (table.shape[0],):
            raise ValueError(f"{what} must be a Dask collection with the partitions of X, or as long as X.")
        column = from_array(column, chunks=(table.chunks[0],))
    if column.ndim != 1:
        raise ValueError(f"{what} has {column.ndim} dimensions; pass one column.")
    chunks = getattr(column, "chunks", None)
    if chunks is not None and not np.isnan(table.shape[0]) and not np.isnan(column.shape[0]):
        if column.shape != (table.shape[0],):
            raise ValueError(f"{what} has the shape {column.shape} and X has {table.shape[0]} rows.")
        column = column.rechunk((table.chunks[0],))
    parts = _parts(column)
    if len(parts) != table.numblocks[0]:
        raise ValueError(f"{what} has {len(parts)} partitions and X {table.numblocks[0]}; they must go together.")
    return parts


def _gather(number: int, width: int, parts: list, y: list | None, weight: list | None) -> list[Block]:
    """On a worker: partitions as rows, after the checks users deserve."""
    n = len(parts)
    blocks = zip(parts, y or [None] * n, weight or [None] * n, strict=True)
    return [_as_wide(width, checked(block, which), which) for block, which in _numbered(blocks, number)]


def _numbered(blocks: Iterable, number: int) -> Iterable[tuple[Any, str]]:
    return ((block, f"Partition {number + k} of X") for k, block in enumerate(blocks))


def _as_wide(width: int, block: Block, which: str) -> Block:
    """A partition, if it is as wide as its collection says: Dask believes whatever it was told."""
    if block.X.shape[1] != width:
        raise ValueError(f"{which} has {block.X.shape[1]} columns, and X says it has {width}; make them alike.")
    return block


def _sum(group: list[Block], view: dict[str, Any], fn: Callable[[Any], Any]) -> Any:
    """On a worker: what a group of rows adds up to; None if it has none."""
    group = [raw for raw in group if len(raw.X)]
    return BlockRows(group, group[0], **view).sum(fn) if group else None


def _map(X: np.ndarray, fn: Callable[[Any], Array], view: dict[str, Any], width: int) -> np.ndarray:
    """On a worker: one entry for each row of a partition."""
    if len(X) == 0:
        return _map(np.zeros((1, width), X.dtype), fn, view, width)[:0]
    raw = _as_wide(width, checked(X, "A partition of X"), "A partition of X")
    return BlockRows([raw], raw, **view).map(fn)


def _client() -> Any:
    """The client of a cluster, if there is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _n_threads() -> int:
    client = _client()
    return (sum(client.nthreads().values()) if client else os.cpu_count()) or 1


def _computed(tasks: list) -> list:
    """The results, or an error once a cluster has had no worker for a while: it would wait for ever."""
    import dask

    client = _client()
    if client is None:
        return list(dask.compute(*tasks))
    futures = client.compute(tasks)
    last_seen = time.monotonic()
    while True:
        try:
            return client.sync(partial(client.gather, futures, asynchronous=True), callback_timeout=GLANCE)
        except CancelledError:  # of one future, or of several, which are classes of their own
            raise RuntimeError("The Dask cluster has lost its scheduler; start one and fit again.") from None
        except TimeoutError:
            if _has_workers(client):
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > PATIENCE:
                raise RuntimeError(
                    f"The Dask cluster has had no worker for {PATIENCE:.0f} seconds; start some and fit again."
                ) from None


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=GLANCE))
    except (OSError, TimeoutError):
        return False
