"""Rows in one array: in memory, mapped from a file, or on a GPU."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from .._array import Array, array_namespace, is_elsewhere, is_foreign, like, numpy_dtype, to_numpy
from .._runtime import cached_property, keep_freed_memory
from .base import KEPT_ELEMENTS, Block, Rows, Stored, within
from .clean import check_labels
from .layout import gaps_in

__all__ = ["ArrayRows"]

DEVICE_BLOCK_ELEMENTS = 2**28
"""Numbers in one block on a GPU, whose memory is fast and which needs thousands of rows for each of its cores."""


@dataclass(frozen=True)
class ArrayRows(Rows):
    """Samples in one array, in memory, mapped from a file, or on a GPU.

    Parameters
    ----------
    X : array of shape (n, D)
    y : array of shape (n,), optional
    sample_weight : array of shape (n,), optional
        Positive: rows of weight zero do not exist, and whoever reads rows leaves them out.
    """

    X: Array
    y: Array | None = None
    sample_weight: Array | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def fit_in_memory(self) -> bool:
        return True

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

    @cached_property
    def may_have_gaps(self) -> bool:
        return self.bounds is not None or bool(gaps_in(self.X))

    def at_home(self, part: Array) -> Array:
        return to_numpy(part) if self._is_numpy else like(part, self.X)

    @cached_property
    def weight(self) -> float:
        if self.class_weight is None:
            weight = self.sample_weight
            return float(self.n_rows if weight is None else array_namespace(weight).sum(weight))
        return super().weight

    def whole(self) -> Any:
        if not self._is_numpy or not self._are_few:
            return None
        return self._block(slice(None))

    def on_device(self) -> Stored | None:
        # What rows count by their class is in none of the arrays, nor what is made of their cells.
        plain = self.class_weight is None and self.layout is None and self.limits is None
        return self.stored() if is_elsewhere(self.X) and plain else None

    def stored(self) -> Stored:
        X = self.X if self.bounds is None else within(self.X, *self.bounds)
        return Stored(X, self.y, self.sample_weight, self.center, self.scale, self.n_classes)

    @property
    def precision(self) -> np.dtype:
        return numpy_dtype(self.X)

    def distinct_labels(self) -> np.ndarray:
        if is_foreign(self.y):
            return to_numpy(array_namespace(self.y).unique_values(self.y))
        check_labels(np.asarray(self.y))  # before they are compared
        return np.unique(np.asarray(self.y))

    def relabelled(self, encode: Callable[[Array], Array], n_classes: int | None) -> Self:
        y = encode(self.y)
        if is_foreign(self.X) and not is_foreign(y):
            y = y if n_classes is None else y.astype(np.int64)
            y = array_namespace(self.X).asarray(y, device=self.X.device)
        return replace(self, y=y, n_classes=n_classes)

    def taken(self, places: np.ndarray) -> Self:
        y, weight = (None if column is None else column[places] for column in (self.y, self.sample_weight))
        return replace(self, X=self.X[places, :], y=y, sample_weight=weight)

    def thinned(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        step = -(-self.n_rows // most)
        X = to_numpy(self.X[::step, :])
        counts = np.ones(len(X)) if self.sample_weight is None else to_numpy(self.sample_weight[::step])
        return X, step * counts

    def _each(self, fn: Callable[[Any], Any]) -> Iterator[Any]:
        n_blocks = len(self._slices)
        n_threads = min(effective_n_jobs(self.n_jobs), n_blocks) if n_blocks > 1 and self._is_numpy else 1
        if self._are_few:
            return self._worked(fn, self._kept_blocks, n_threads)
        return self._worked(lambda part: fn(self._block(part)), self._parts(), n_threads)

    @property
    def _are_few(self) -> bool:
        return self.n_rows * max(self.n_features, self.n_classes or 0) <= KEPT_ELEMENTS

    def _parts(self) -> Iterator[slice]:
        if not is_elsewhere(self.X):
            keep_freed_memory()
        yield from self._slices

    @property
    def _is_numpy(self) -> bool:
        return isinstance(self.X, np.ndarray)

    @cached_property
    def _step(self) -> int:
        if is_elsewhere(self.X) and self.block_rows is None:
            return max(64, DEVICE_BLOCK_ELEMENTS // self._n_columns)
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
