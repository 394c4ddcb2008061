"""Rows, wherever they are; ``arrays.py``, ``blocks.py`` and ``dask.py`` each know one place.

Everything outside asks rows for one of two things: ``sum`` of something additive, or ``map`` to something with
one entry per row. Samples are handed out block by block, measured from a chosen origin in chosen units, so a
pass needs memory for a few blocks whatever the number of rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from .._array import Array, array_namespace, clip, one_hot, scalar, to_numpy
from .._runtime import at_work, cached_property
from .clean import several_kinds
from .columns import Column
from .layout import Layout

__all__ = ["BLOCK_ELEMENTS", "KEPT_ELEMENTS", "Block", "Rows", "Samples", "Stored", "is_beyond", "within"]

BLOCK_ELEMENTS = 3 * 2**17
"""Numbers in the columns of one block: about 3 MiB of float64, large for BLAS and small for caches."""

KEPT_ELEMENTS = 2**20
"""Tables of at most this many numbers (8 MiB of float64) are prepared once and kept; others on every pass.

Classes that are spelled out count, too: a label is one number where it is stored, and in a block one for each.
Only these others gain from memory that is kept from block to block: 2.5 times as fast when measured.
"""


class Block(NamedTuple):
    """Some rows as users gave them."""

    X: Array
    y: Array | None = None
    weight: Array | None = None


class Samples(NamedTuple):
    """Some rows, ready for formulas."""

    X: Array
    """Samples (n, D) from the chosen origin, in the chosen units; cells as they are, or spelled out."""
    Y: Array | None = None
    """Labels (n, C): one-hot classes, or targets as they are."""
    weight: Array | None = None
    """Sample weights (n,), or None where every row counts once."""
    gaps: Array | None = None
    """Where cells are missing (n, G), if any are."""
    gap_columns: tuple[int, ...] = ()
    """The columns of the table that these are in."""
    layout: Layout | None = None
    """How cells were spelled out; None if they were not."""


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


class Stored(NamedTuple):
    """All rows at once, as they are stored, but for cells beyond bounds, and how formulas see them."""

    X: Array
    y: Array | None
    weight: Array | None
    center: Array
    scale: Array
    n_classes: int | None


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
    center, scale : arrays of shape (J,), optional
        Blocks hold ``(X - center) / scale``.
    limits : pair of arrays of shape (J,), optional
        Cells beyond them count as these.
    bounds : pair of arrays of shape (J,), optional
        Cells beyond them count as missing.
    columns : tuple of Number and Category, optional
        What the columns are; None if all are numbers.
    layout : Layout, optional
        How blocks are spelled out; cells are handed out as they are if None.
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
    limits: tuple[Array, Array] | None = None
    bounds: tuple[Array, Array] | None = None
    columns: tuple[Column, ...] | None = None
    layout: Layout | None = None
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

    @property
    def n_rows(self) -> int | None:
        """How many rows there are; None where it takes a pass to know."""
        return None

    @property
    def fit_in_memory(self) -> bool:
        """Whether they do, and with them anything that has one entry per row."""
        return False

    @property
    def may_have_gaps(self) -> bool:
        """Whether cells may be missing, as far as that is known without a pass."""
        return True

    def stored(self) -> Stored:
        """All rows at once, where they are in memory."""
        raise NotImplementedError

    def whole(self) -> Any:
        """All rows as one prepared block, where they are few and in memory; else None."""
        return None

    def on_device(self) -> Stored | None:
        """All rows as arrays on one accelerator, for a kernel that goes through them itself; else None."""
        return None

    @property
    def levels(self) -> tuple[int, ...] | None:
        """How many levels each column has, zero for one of numbers; None if all are numbers."""
        return None if self.columns is None else tuple(column.n_levels for column in self.columns)

    @property
    def precision(self) -> np.dtype:
        """What formulas compute in, as NumPy calls it."""
        return np.dtype(self.dtype)

    def distinct_labels(self) -> np.ndarray:
        """All different labels, sorted."""
        return self.sum(_distinct).values

    def relabelled(self, encode: Callable[[Array], Array], n_classes: int | None) -> Self:
        """The same rows with labels as ``encode`` makes them: numbers, or codes of so many classes."""
        return replace(self, encode=encode, n_classes=n_classes)

    def taken(self, places: np.ndarray) -> Self:
        """Some of the rows, by number, where they are in memory."""
        raise NotImplementedError

    def thinned(self, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """At most so many rows, every second, third, ... of them, and what each stands for.

        None where rows come in no order that could be trusted, and a hashed sample has to do.
        """
        return None

    def standardized(self, center: Array | None, scale: Array | None = None) -> Self:
        """The same rows measured from ``center`` in units of ``scale``."""
        return replace(self, center=center, scale=scale)

    def clipped(self, limits: tuple[Array, Array] | None) -> Self:
        """The same rows with cells beyond the limits held there."""
        return replace(self, limits=limits)

    def bounded(self, bounds: tuple[Array, Array] | None) -> Self:
        """The same rows with cells beyond the bounds missing."""
        return replace(self, bounds=bounds)

    def spelled(self, layout: Layout | None) -> Self:
        """The same rows spelled out."""
        return replace(self, layout=layout)

    def prepared(self, prepare: Callable[[Samples], Any]) -> Self:
        """The same rows, each block arriving as ``prepare(block)``: done once if the table is small."""
        return replace(self, prepare=prepare)

    def as_given(self) -> Self:
        """The same rows in the users' own units."""
        return replace(self, center=None, scale=None, limits=None, bounds=None, layout=None, prepare=as_it_is)

    def at_home(self, part: Array) -> Array:
        """A small array as an array of the kind these rows are."""
        return to_numpy(part)

    @cached_property
    def weight(self) -> float:
        """What all rows weigh together."""
        return float(self.as_given().sum(_weigh))

    @cached_property
    def _step(self) -> int:
        return self.block_rows or max(64, BLOCK_ELEMENTS // self._n_columns)

    @property
    def _n_columns(self) -> int:
        """About how many columns formulas make of a row."""
        layout, others = self.layout, max(32, self.n_classes or 0)
        if layout is None:
            return 2 * self.n_features + others
        return layout.n_features + layout.n_numbers + len(layout.gaps or ()) + others

    @cached_property
    def _tiled_center(self) -> Array:
        # Row by row, NumPy spends longer on starting a short subtraction than on the subtraction.
        return np.zeros((self._step, 1), self.center.dtype) + self.center

    def _seen(self, raw: Block) -> Any:
        """Rows as formulas see them."""
        X, weight = raw.X, raw.weight
        if self.bounds is not None:
            X = within(X, *self.bounds)
        if self.limits is not None:
            X = clip(X, *self.limits)
        if self.center is not None:
            tiled = type(X) is np.ndarray and len(X) <= self._step
            X = X - (self._tiled_center[: len(X)] if tiled else self.center)
        if self.scale is not None:
            X = X / self.scale
        y = raw.y if raw.y is None or self.encode is None else self.encode(raw.y)
        if self.class_weight is not None:
            by_class = array_namespace(X).take(self.class_weight, y, axis=0)
            weight = by_class if weight is None else weight * by_class
        Y = self._labels(y, X.dtype)
        if self.layout is None:
            return self.prepare(Samples(X, Y, weight))
        features, gaps, gap_columns = self.layout.spell(X)
        return self.prepare(Samples(features, Y, weight, gaps, gap_columns, self.layout))

    def _labels(self, y: Array | None, dtype: Any) -> Array | None:
        if y is None:
            return None
        return y[:, None] if self.n_classes is None else one_hot(y, self.n_classes, dtype)

    def _worked(self, work: Callable[[Any], Any], items: Iterable, n_threads: int) -> Iterator[Any]:
        with at_work:
            yield from map(work, items) if n_threads == 1 else _in_order(work, items, n_threads)


def is_beyond(X: Array, low: Array, high: Array) -> Array:
    """Which cells lie beyond bounds; missing ones do not."""
    return (low > X) | (high < X)


def within(X: Array, low: Array, high: Array) -> Array:
    """Cells within bounds, the others missing."""
    return array_namespace(X).where(is_beyond(X, low, high), scalar(np.nan, X), X)


@dataclass(frozen=True)
class _Distinct:
    """Different labels; those of two sets of rows merge."""

    values: np.ndarray

    def __add__(self, other: _Distinct) -> _Distinct:
        parts, kinds = (
            (self.values, other.values),
            {self.values.dtype.kind in "US", other.values.dtype.kind in "US"},
        )
        # NumPy would make text of numbers beside text.
        return _Distinct(_different(np.concatenate(parts, dtype=object if len(kinds) > 1 else None)))


def _distinct(samples: Samples) -> _Distinct:
    return _Distinct(_different(to_numpy(samples.Y)))


def _different(labels: np.ndarray) -> np.ndarray:
    """Labels once each, sorted; of several kinds they have no order."""
    try:
        return np.unique(labels)
    except TypeError:
        raise several_kinds(labels) from None


def _weigh(samples: Samples) -> Array | float:
    return (
        float(samples.X.shape[0])
        if samples.weight is None
        else array_namespace(samples.weight).sum(samples.weight)
    )
