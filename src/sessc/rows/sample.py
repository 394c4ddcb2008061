"""A small sample of the rows, the same however they are kept.

It is picked by a seeded hash of each row's own values, and equal rows are one row with their weights added. So it
does not depend on the order of the rows, on how they are cut into blocks, or on whether a row appears twice or
counts double, and samples of two sets of rows merge into the sample of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from .._array import Array, array_namespace, bits, like, scalar, to_numpy
from .arrays import ArrayRows
from .base import Rows, Samples
from .target import Target

__all__ = [
    "Sample",
    "by_size",
    "hashed",
    "in_own_order",
    "labelled_rows",
    "labelled_sample",
    "sample",
    "seen_alike",
    "some_rows",
]

FEW_ROWS = 2**13
"""Of rows that are not in one array, so many distinct ones are enough to describe all."""


@dataclass(frozen=True)
class Sample:
    """At most ``size`` distinct rows, those with the smallest hashes, and what each weighs in all the data."""

    keys: np.ndarray
    X: np.ndarray
    weight: np.ndarray
    size: int

    def __add__(self, other: Sample) -> Sample:
        if len(self.keys) == self.size:  # most of what comes then is beyond the last, and need not be sorted
            other = other._up_to(self.keys[-1])
        keys = np.concatenate([self.keys, other.keys])
        X = np.concatenate([self.X, other.X])
        weight = np.concatenate([self.weight, other.weight])
        keys, first, group = np.unique(keys, return_index=True, return_inverse=True)
        weight = np.bincount(group, weight, minlength=len(keys))
        kept = slice(self.size)
        return Sample(keys[kept], X[first[kept]], weight[kept], self.size)

    def cut(self, size: int) -> Sample:
        """The smaller sample that would have been drawn."""
        kept = slice(size)
        return Sample(self.keys[kept], self.X[kept], self.weight[kept], size)

    def _up_to(self, key: np.int64) -> Sample:
        few = self.keys <= key
        return Sample(self.keys[few], self.X[few], self.weight[few], self.size)


def some_rows(rows: Rows, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Some rows as users gave them, at most so many, what each stands for, and how many rows there are."""
    thinned = rows.thinned(most)
    if thinned is not None and rows.n_rows is not None:
        return *thinned, rows.n_rows
    picked = sample(by_size(rows), min(most, FEW_ROWS), seed=0)
    return picked.X, picked.weight, rows.sum(_count)


def _count(samples: Samples) -> int:
    return int(samples.X.shape[0])


def sample(rows: Rows, size: int, seed: int) -> Sample:
    """At most so many distinct rows, as users gave them, but for cells held at limits or beyond bounds."""
    return _as_compared(rows).sum(partial(_sample_block, size, seed, _ruler(rows)))


def seen_alike(picked: Sample, rows: Rows) -> ArrayRows:
    """A sample of these rows as rows where these are, in their units and spelled out as they are."""
    X, weight = (rows.at_home(part.astype(rows.precision)) for part in (picked.X, picked.weight))
    how = {name: getattr(rows, name) for name in ("center", "scale", "limits", "columns", "layout", "n_jobs")}
    return ArrayRows(X, sample_weight=weight, **how)


def labelled_sample(rows: Rows, size: int, seed: int) -> Sample:
    """The same with labels, codes of classes or numbers, as one more column before the others."""
    return _as_compared(rows).sum(partial(_labelled_block, size, seed, _ruler(rows)))


def _as_compared(rows: Rows) -> Rows:
    return rows.as_given().clipped(rows.limits).bounded(rows.bounds)


class _Ruler(NamedTuple):
    """How cells are measured before they are hashed.

    Nothing is rounded: a mean subtracted, or a spread divided by, would differ in last bits with the rows' order.
    """

    origin: Array | None
    """Zero, or the single value that a column is held at, which then changes no hash. Limits of others move with
    any cell far out, and must not move the hashes of all rows."""
    unit: Array | None
    """Powers of two, so that rows whose formulas have a unit of their own are the same in any other."""

    def __call__(self, X: Array) -> Array:
        xp = array_namespace(X)
        if self.origin is not None:
            X = X - self.origin
        X = xp.astype(X, xp.float64)
        return X if self.unit is None else X / self.unit

    def beside_labels(self) -> _Ruler:
        """The same for cells with a label before them, which stays as it is."""
        origin, unit = self
        return _Ruler(_with_first(0.0, origin), _with_first(1.0, unit))


def _with_first(value: float, part: Array | None) -> Array | None:
    if part is None:
        return None
    xp = array_namespace(part)
    return xp.concat([xp.full_like(part[:1], value), part])


def _ruler(rows: Rows) -> _Ruler:
    origin = None if rows.limits is None else _held_at(*rows.limits)
    return _Ruler(origin, None if rows.scale is None else like(_power_of_two(to_numpy(rows.scale)), rows.scale))


def _held_at(low: Array, high: Array) -> Array:
    """The single value that each column is held at, zero if there are more."""
    return array_namespace(low).where(low == high, low, scalar(0.0, low))


def _power_of_two(size: np.ndarray) -> np.ndarray:
    """The one that is about this large, for each of some numbers; one for zero."""
    # Variances that are whole numbers, and their halves, lie far enough from where the answer changes.
    exponent = np.floor(np.log2(np.where(size > 0, size, 1.0).astype(float)) + 0.45)
    return np.ldexp(1.0, exponent.astype(int))


def by_size(rows: Rows) -> Rows:
    """Rows that have no unit yet, in units of their largest numbers; codes of levels as they are."""
    largest = _as_compared(rows).sum(_largest).values
    numbers = True if rows.levels is None else np.asarray(rows.levels) == 0
    return rows.standardized(rows.center, rows.at_home(np.where(numbers, largest, 1.0)))


@dataclass(frozen=True)
class _Largest:
    """The largest of numbers, whatever their sign, in each column; that of two sets of rows is the larger."""

    values: np.ndarray

    def __add__(self, other: _Largest) -> _Largest:
        return _Largest(np.maximum(self.values, other.values))


def _largest(samples: Samples) -> _Largest:
    xp, X = array_namespace(samples.X), samples.X
    known = xp.where(xp.isnan(X), scalar(0.0, X), xp.abs(X))
    return _Largest(to_numpy(xp.max(known, axis=0)).astype(float))


def labelled_rows(given: Rows, coded: Rows, target: Target, size: int) -> ArrayRows:
    """The rows of such a sample, in memory, with labels as users gave them and what each weighs.

    Parameters
    ----------
    given, coded : Rows
        All rows, with labels as they were given, and as the target writes them in units of their own.
    target : Target
    size : int
    """
    # Numbers as they are: measured from their mean, they would differ in last bits with the order of the rows.
    few = labelled_sample(_with_numbers(given, coded, target), size, seed=0)
    X, y = few.X[:, 1:].astype(given.precision), few.X[:, 0]
    labels = y if target.labels is None else target.labels[y.astype(int)]
    return ArrayRows(X, labels, few.weight.astype(X.dtype), columns=given.columns)


def in_own_order(given: Rows, coded: Rows, target: Target, seed: int) -> Rows:
    """All rows in an order that their values decide, in memory: the same in whatever order they come."""
    rows, weight = _with_numbers(given, coded, target), given.stored().weight
    keys = to_numpy(_as_compared(rows).map(partial(_labelled_keys, seed, _ruler(rows))))
    order = np.lexsort((keys,) if weight is None else (to_numpy(weight), keys))
    return given.taken(order)


def _with_numbers(given: Rows, coded: Rows, target: Target) -> Rows:
    """Rows with labels that are numbers, the same to the last bit in any order of rows."""
    if target.labels is not None:
        return coded
    return given.clipped(coded.limits).bounded(coded.bounds).standardized(coded.center, coded.scale)


def _labelled_block(size: int, seed: int, ruler: _Ruler, samples: Samples) -> Sample:
    wide = Samples(_with_labels(samples), weight=samples.weight)
    return _sample_block(size, seed, ruler.beside_labels(), wide)


def _labelled_keys(seed: int, ruler: _Ruler, samples: Samples) -> Array:
    return hashed(ruler.beside_labels()(_with_labels(samples)), seed)


def _with_labels(samples: Samples) -> Array:
    """Labels, codes of classes or numbers, and cells side by side."""
    xp, labels = array_namespace(samples.X), samples.Y
    assert labels is not None
    y = labels if labels.shape[1] == 1 else array_namespace(labels).argmax(labels, axis=1)[:, None]
    X = xp.astype(samples.X, xp.float64)
    return xp.concat([like(y, X), X], axis=1)


def _sample_block(size: int, seed: int, ruler: _Ruler, samples: Samples) -> Sample:
    X, weight = samples.X, samples.weight
    xp = array_namespace(X)
    keys = hashed(ruler(X), seed)
    if X.shape[0] > size:  # only what may be chosen leaves the device
        few = keys <= xp.unique_values(keys)[:size][-1]
        keys, X, weight = keys[few], X[few], None if weight is None else weight[few]
    keys, X = to_numpy(keys), to_numpy(X)
    weight = np.ones(len(X)) if weight is None else to_numpy(weight).astype(float)
    empty = Sample(keys[:0], X[:0], weight[:0], size)
    return empty + Sample(keys, X, weight, size)


def hashed(X: Array, seed: int) -> Array:
    """A 64-bit hash of each row's values."""
    xp = array_namespace(X)
    odd = np.random.default_rng(seed).integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    X = xp.astype(X, xp.float64) + 0.0  # which turns -0.0, which equals 0.0, into it
    word = bits(xp.where(xp.isnan(X), scalar(xp.nan, X), X))  # of which there are many
    word = word ^ _shifted(
        word, 32
    )  # round numbers end in zeros, and a product never carries information downwards
    key = xp.sum(word * like(odd.view(np.int64), word), axis=1)
    key = key ^ _shifted(key, 29)
    key = key * like(np.asarray(0xBF58476D1CE4E5B9 - 2**64), key)
    key = key ^ _shifted(key, 32)
    return key ^ like(np.asarray(-(2**63)), key)  # in the order of unsigned numbers


def _shifted(word: Array, by: int) -> Array:
    """The bits of signed numbers moved to the right, zeros from the left."""
    return (word >> by) & (2 ** (64 - by) - 1)
