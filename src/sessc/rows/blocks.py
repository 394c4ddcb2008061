"""Rows that come block by block: data larger than memory, from files or from anything one can go through again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .._array import Array
from .._runtime import keep_freed_memory
from .base import KEPT_ELEMENTS, Block, Rows
from .clean import existing_rows, is_missing, refuse_extremes, unmasked

__all__ = ["BlockRows", "Blocks", "checked"]

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
        self.feature_names = None if feature_names is None else tuple(map(str, feature_names))

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

        def batches() -> Iterator[tuple]:
            # Few at a time: a row group read ahead is memory.
            for batch in table.to_batches(
                columns=[*names, *aside], batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
            ):
                columns = [None if name is None else _cells(batch.column(name)) for name in (target, weight)]
                yield np.column_stack([_cells(batch.column(name)) for name in names]), *columns

        return cls(batches, names)

    def __iter__(self) -> Iterator[Block]:
        """The blocks, after the checks users deserve; rows of weight zero do not exist."""
        blocks = self.source() if callable(self.source) else self.source
        n_features = None
        for number, block in enumerate(blocks, 1):
            raw = checked(block, f"Block {number}", self.feature_names)
            if n_features not in (None, raw.X.shape[1]):
                raise ValueError(f"Block {number} has {raw.X.shape[1]} features and those before it {n_features}.")
            n_features = raw.X.shape[1]
            yield raw

    @cached_property
    def first(self) -> Block:
        """The first block: what it looks like is what the others have to look like."""
        first = next(iter(self), None)
        if first is None:
            raise ValueError("There are no blocks, and so no rows to learn from.")
        return first


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
        return reduce(operator.add, self._each(fn))

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
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{which} has the shape {X.shape}; it must be a table of rows and features.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{which} holds {X.dtype} cells; encode them as numbers first.")
    X = X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
    y, weight = (
        None if column is None else unmasked(column, f"{which} has {what}")
        for column, what in ((y, "labels"), (weight, "weights"))
    )
    for column, what in ((y, "labels"), (weight, "weights")):
        if column is not None and column.shape != X.shape[:1]:
            raise ValueError(f"{which} has {len(X)} rows and {what} of shape {column.shape}.")
    refuse_extremes(X, which, names)
    if y is not None and y.dtype == object:
        for row, label in enumerate(y):
            if is_missing(label):
                raise ValueError(f"{which} has no label in row {row}; drop such rows first.")
    if weight is None:
        return Block(X, y)
    weight = weight.astype(X.dtype, copy=False)
    if not np.all(weight >= 0) or not np.all(np.isfinite(weight)):
        raise ValueError(f"{which} has weights that are negative or not finite.")
    return Block(*existing_rows(X, y, weight))
