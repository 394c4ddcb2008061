"""Where samples are stored: the only module that knows, with ``dask_rows.py`` for those on a Dask cluster.

Everything else asks rows for one of two things: ``sum`` of something additive, or ``map`` to something with
one entry per row. Samples are handed out block by block, measured from a chosen origin in chosen units, so a
pass needs memory for a few blocks whatever the number of rows.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from .._array import Array, array_namespace, is_elsewhere, like, one_hot, to_numpy
from .blocks import Block

__all__ = ["ArrayRows", "BlockRows", "Rows", "Samples", "one_blas_thread"]

BLOCK_ELEMENTS = 3 * 2**17
"""Numbers in the columns of one block: about 3 MiB of float64, large for BLAS and small for caches."""

DEVICE_BLOCK_ELEMENTS = 2**28
"""The same on a GPU, whose memory is fast and which needs thousands of rows for each of its cores."""

KEPT_ELEMENTS = 2**20
"""Tables of at most this many numbers (8 MiB of float64) are prepared once and kept; others on every pass."""


class Samples(NamedTuple):
    """Some rows, ready for formulas."""

    X: Array
    """Samples (n, D) from the chosen origin, in the chosen units."""
    Y: Array | None = None
    """Labels (n, C): one-hot classes, or targets as they are."""
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
    pages again: half the time of a pass when measured, and two thirds in a Dask worker, which is told to give back
    even more. Arrays of less than 32 MiB are kept from now on, up to 64 MiB of them.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if set_option is not None:
        trim_threshold, mmap_threshold = -1, -3  # as malloc.h has them
        set_option(trim_threshold, 2**26)
        set_option(mmap_threshold, 2**25)


def _in_order(fn: Callable, items: Iterable, n_jobs: int) -> Iterator:
    """``map(fn, items)`` on this thread and others, in order, with only a few results waiting at any time."""
    others = n_jobs - 1
    with ThreadPoolExecutor(others) as pool:
        waiting: deque[Future] = deque()
        for item in items:
            if sum(not future.done() for future in waiting) < 2 * others:
                waiting.append(pool.submit(fn, item))
            else:  # they are busy, and this thread would only wait
                waiting.append(Future())
                waiting[-1].set_result(fn(item))
            while waiting and (waiting[0].done() or len(waiting) > 4 * n_jobs):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def as_it_is(samples: Samples) -> Samples:
    return samples


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Samples with their labels and weights, wherever they are, and how formulas see them.

    Parameters
    ----------
    n_classes : int, optional
        Labels are class codes ``0 .. n_classes - 1``; if None they are handed out as they are.
    encode : callable, optional
        What makes codes, or numbers, of labels as they are stored.
    class_weight : array of shape (n_classes,), optional
        What a row of each class counts, times its own weight.
    center, scale : arrays of shape (D,), optional
        Blocks hold ``(X - center) / scale``.
    prepare : callable, optional
        Blocks arrive as ``prepare(block)``.
    n_jobs : int, optional
        Threads over blocks. The result does not depend on it.
    block_rows : int, optional
        Rows in a block; by default as many as fit in a core's cache.
    """

    n_classes: int | None = None
    encode: Callable[[Array], Array] | None = None
    class_weight: Array | None = None
    center: Array = None
    scale: Array = None
    prepare: Callable[[Samples], Any] = as_it_is
    n_jobs: int | None = None
    block_rows: int | None = None

    @property
    def n_features(self) -> int:
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        """Of the samples, and so of every formula."""
        raise NotImplementedError

    def sum(self, fn: Callable[[Any], Any]) -> Any:
        """``fn(block)`` added up over blocks, always in the order of the rows."""
        raise NotImplementedError

    def map(self, fn: Callable[[Any], Array]) -> Array:
        """``fn(block)``, an array with one entry per row, for all rows."""
        raise NotImplementedError

    def standardized(self, center: Array | None, scale: Array | None = None) -> Self:
        """The same rows measured from ``center`` in units of ``scale``."""
        return replace(self, center=center, scale=scale)

    def prepared(self, prepare: Callable[[Samples], Any]) -> Self:
        """The same rows, each block arriving as ``prepare(block)``: done once if the table is small."""
        return replace(self, prepare=prepare)

    def as_given(self) -> Self:
        """The same rows in the users' own units."""
        return replace(self, center=None, scale=None, prepare=as_it_is)

    def at_home(self, part: Array) -> Array:
        """A small array as an array of the kind these rows are."""
        return to_numpy(part)

    @cached_property
    def weight(self) -> float:
        """What all rows weigh together."""
        return float(self.as_given().sum(_weigh))

    @cached_property
    def _step(self) -> int:
        return self.block_rows or max(64, BLOCK_ELEMENTS // (2 * self.n_features + 32))

    @cached_property
    def _tiled_center(self) -> Array:
        # Row by row, NumPy spends longer on starting a short subtraction than on the subtraction.
        return np.zeros((self._step, 1), self.center.dtype) + self.center

    def _seen(self, raw: Block) -> Any:
        """Rows as formulas see them."""
        X, weight = raw.X, raw.weight
        if self.center is not None:
            tiled = type(X) is np.ndarray and len(X) <= self._step
            X = X - (self._tiled_center[: len(X)] if tiled else self.center)
        if self.scale is not None:
            X = X / self.scale
        y = raw.y if raw.y is None or self.encode is None else self.encode(raw.y)
        if self.class_weight is not None:
            by_class = array_namespace(X).take(self.class_weight, y, axis=0)
            weight = by_class if weight is None else weight * by_class
        return self.prepare(Samples(X, self._labels(y, X.dtype), weight))

    def _labels(self, y: Array | None, dtype: Any) -> Array | None:
        if y is None:
            return None
        return y[:, None] if self.n_classes is None else one_hot(y, self.n_classes, dtype)

    def _worked(self, work: Callable[[Any], Any], items: Iterable, n_threads: int) -> Iterator[Any]:
        keep_freed_memory()
        with one_blas_thread:
            yield from map(work, items) if n_threads == 1 else _in_order(work, items, n_threads)


def _weigh(samples: Samples) -> Array | float:
    return (
        float(samples.X.shape[0])
        if samples.weight is None
        else array_namespace(samples.weight).sum(samples.weight)
    )


@dataclass(frozen=True)
class ArrayRows(Rows):
    """Samples in one array, in memory, mapped from a file, or on a GPU.

    Parameters
    ----------
    X : array of shape (n, D)
    y : array of shape (n,), optional
    sample_weight : array of shape (n,), optional
    """

    X: Array
    y: Array | None = None
    sample_weight: Array | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def dtype(self) -> Any:
        return self.X.dtype

    def sum(self, fn: Callable[[Any], Any]) -> Any:
        return reduce(operator.add, self._each(fn))

    def map(self, fn: Callable[[Any], Array]) -> Array:
        if not self._is_numpy:
            parts = list(self._each(fn))
            return array_namespace(parts[0]).concat(parts, axis=0)
        found = None
        for part, entries in zip(self._slices, self._each(fn), strict=True):
            if found is None:
                found = np.empty((self.n_rows, *entries.shape[1:]), entries.dtype)
            found[part] = entries
        return found

    def at_home(self, part: Array) -> Array:
        return to_numpy(part) if self._is_numpy else like(part, self.X)

    @cached_property
    def weight(self) -> float:
        if self.class_weight is None:
            weight = self.sample_weight
            return float(self.n_rows if weight is None else array_namespace(weight).sum(weight))
        return super().weight

    def _each(self, fn: Callable[[Any], Any]) -> Iterator[Any]:
        n_threads = min(effective_n_jobs(self.n_jobs), len(self._slices)) if self._is_numpy else 1
        if self.n_rows * self.n_features <= KEPT_ELEMENTS:
            return self._worked(fn, self._kept_blocks, n_threads)
        return self._worked(lambda part: fn(self._block(part)), self._slices, n_threads)

    @property
    def _is_numpy(self) -> bool:
        return isinstance(self.X, np.ndarray)

    @cached_property
    def _step(self) -> int:
        if is_elsewhere(self.X) and self.block_rows is None:
            return max(64, DEVICE_BLOCK_ELEMENTS // (2 * self.n_features + 32))
        return super()._step

    @cached_property
    def _slices(self) -> list[slice]:
        starts = range(0, max(self.n_rows, 1), self._step)
        return [slice(start, min(start + self._step, self.n_rows)) for start in starts]

    @cached_property
    def _kept_blocks(self) -> list[Any]:
        return [self._block(part) for part in self._slices]

    def _block(self, part: slice) -> Any:
        y, weight = (None if column is None else column[part] for column in (self.y, self.sample_weight))
        return self._seen(Block(self.X[part, :], y, weight))


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
        for raw in self.blocks:
            for start in range(0, len(raw.X), self._step):
                part = slice(start, start + self._step)
                yield Block(*(None if column is None else column[part] for column in raw))
