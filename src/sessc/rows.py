"""Where samples are stored: the only module that knows.

Everything else asks rows for one of two things: ``sum`` of something additive, or ``map`` to something with
one entry per row. Samples are handed out block by block, measured from a chosen origin in chosen units, so a
pass needs memory for a few blocks whatever the number of rows.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from ._array import Array, array_namespace, one_hot

__all__ = ["Block", "Rows", "one_blas_thread"]

BLOCK_ELEMENTS = 3 * 2**17
"""Numbers in the columns of one block: about 3 MiB of float64, large for BLAS and small for caches."""

KEPT_ELEMENTS = 2**20
"""Tables of at most this many numbers (8 MiB of float64) are prepared once and kept; others on every pass."""


class Block(NamedTuple):
    """Some rows, ready for formulas."""

    X: Array
    """Samples (n, D) from the chosen origin, in the chosen units."""
    Y: Array | None = None
    """Labels (n, C): one-hot classes, or real targets as they are."""
    weight: Array | None = None
    """Sample weights (n,), or None where every row counts once."""


class _OneBlasThread:
    """Holds BLAS to one thread while anyone is inside.

    The setting belongs to the whole process: with fits in several threads, the first in sets it and the last
    out restores it.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0

    @cached_property
    def _controller(self) -> ThreadpoolController:
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


one_blas_thread = _OneBlasThread()
"""Hold BLAS to one thread: blocks are spread over threads instead, and results stay bitwise the same."""


@cache
def keep_freed_memory() -> None:
    """Let the allocator reuse a block's arrays for the next block.

    By default glibc gives arrays of this size back to the system when freed, and every block pays for its
    pages again (half the time of a pass, when measured). Freeing one array of just under 32 MiB, whose pages
    are never touched, raises the thresholds for the rest of the process.
    """
    np.empty(2**25 - 2**16, dtype=np.uint8)


def _in_order(fn: Callable, items: list, n_jobs: int) -> Iterator:
    """``map(fn, items)`` on threads, in order, with only a few results waiting at any time."""
    with ThreadPoolExecutor(n_jobs) as pool:
        waiting: deque = deque()
        for item in items:
            waiting.append(pool.submit(fn, item))
            if len(waiting) > 2 * n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(frozen=True)
class Rows:
    """Samples in memory, with their labels and weights.

    Parameters
    ----------
    X : array of shape (n, D)
    y : array of shape (n,), optional
        Class codes ``0 .. n_classes - 1``, or real targets if ``n_classes`` is None.
    sample_weight : array of shape (n,), optional
    n_classes : int, optional
    center, scale : arrays of shape (D,), optional
        Blocks hold ``(X - center) / scale``.
    n_jobs : int, optional
        Threads over blocks. The result does not depend on it.
    block_rows : int, optional
        Rows in a block; by default as many as fit in a core's cache.
    """

    X: Array
    y: Array | None = None
    sample_weight: Array | None = None
    n_classes: int | None = None
    center: Array = None
    scale: Array = None
    n_jobs: int | None = None
    block_rows: int | None = None
    prepare: Callable[[Block], Any] = lambda block: block

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def standardized(self, center: Array | None, scale: Array | None = None) -> Rows:
        """The same rows measured from ``center`` in units of ``scale``."""
        return replace(self, center=center, scale=scale)

    def measured(self, X: Array) -> Array:
        """Samples given as users give them, from the origin and in the units of these rows."""
        if self.center is not None:
            X = X - self.center
        return X if self.scale is None else X / self.scale

    def prepared(self, prepare: Callable[[Block], Any]) -> Rows:
        """The same rows, each block arriving as ``prepare(block)``: done once if the table is small."""
        return replace(self, prepare=prepare)

    def sum(self, fn: Callable[[Any], Any]) -> Any:
        """``fn(block)`` added up over blocks, always in the order of the rows."""
        return reduce(operator.add, self._each(fn))

    def map(self, fn: Callable[[Any], Array]) -> Array:
        """``fn(block)``, an array with one entry per row, for all rows."""
        return array_namespace(self.X).concat(list(self._each(fn)), axis=0)

    def _each(self, fn: Callable[[Any], Any]) -> Iterator[Any]:
        keep_freed_memory()
        with one_blas_thread:
            if self.X.shape[0] * self.n_features <= KEPT_ELEMENTS:
                items, work = self._kept_blocks, fn
            else:
                items, work = self._slices, lambda part: fn(self._block(part))
            yield from map(work, items) if self._n_threads == 1 else _in_order(work, items, self._n_threads)

    @cached_property
    def _n_threads(self) -> int:
        return min(effective_n_jobs(self.n_jobs), len(self._slices))

    @cached_property
    def _slices(self) -> list[slice]:
        n = int(self.X.shape[0])
        step = self.block_rows or max(64, BLOCK_ELEMENTS // (2 * self.n_features + 32))
        return [slice(start, min(start + step, n)) for start in range(0, max(n, 1), step)]

    @cached_property
    def _kept_blocks(self) -> list[Any]:
        return [self._block(part) for part in self._slices]

    @cached_property
    def _tiled_center(self) -> Array:
        # Row by row, NumPy spends longer on starting a short subtraction than on the subtraction.
        return array_namespace(self.X).zeros_like(self.X[self._slices[0], :]) + self.center

    def _block(self, part: slice) -> Any:
        X = self.X[part, :]
        if self.center is not None:
            X = X - self._tiled_center[: X.shape[0], :]
        if self.scale is not None:
            X = X / self.scale
        weight = None if self.sample_weight is None else self.sample_weight[part]
        return self.prepare(Block(X, self._labels(part, X.dtype), weight))

    def _labels(self, part: slice, dtype: Any) -> Array | None:
        if self.y is None:
            return None
        if self.n_classes is None:
            return self.y[part][:, None]
        return one_hot(self.y[part], self.n_classes, dtype)
