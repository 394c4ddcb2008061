"""From what users hand in to rows: arrays and frames, files of blocks, Dask collections, tensors on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from .._array import Array, array_namespace, is_foreign, like, to_numpy
from .arrays import ArrayRows
from .base import Rows, Samples
from .blocks import BlockRows, Blocks
from .clean import (
    existing_rows,
    is_real_valued,
    read_classes,
    read_numbers,
    read_table,
    read_targets,
    read_weights,
    refuse_extremes,
    remember,
)

__all__ = [
    "class_masses",
    "class_rows",
    "coded_rows",
    "has_labels",
    "holds_measurements",
    "in_memory",
    "measured_rows",
    "read_rows",
    "real_rows",
]


def read_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool = False,
    supervised: bool = False,
) -> Rows:
    """Rows with their labels as given, after the checks users deserve; rows of weight zero are left out.

    Parameters
    ----------
    estimator : estimator
        What remembers number and names of the features, or compares them with those it remembers.
    X : array or data frame of shape (n_samples, n_features), Blocks, or Dask array or data frame
    y, sample_weight : array of shape (n_samples,), optional
    reset : bool
        Whether the estimator is fitted to these rows.
    supervised : bool
        Whether there have to be labels.
    """
    return _place(X).read(estimator, X, y, sample_weight, reset, supervised)


def _read_blocks(
    estimator: Any, blocks: Blocks, y: Any, sample_weight: Any, reset: bool, supervised: bool
) -> BlockRows:
    if y is not None or sample_weight is not None:
        raise ValueError("Labels and weights come with the rows of Blocks, as (X, y, sample_weight); leave out y.")
    if supervised and blocks.first.y is None:
        read_targets(estimator, None, blocks.first.X)
    remember(estimator, blocks.first.X.shape[1], blocks.feature_names, reset)
    return BlockRows(blocks, blocks.first, n_jobs=estimator.n_jobs)


def _read_collection(estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool, supervised: bool) -> Rows:
    from . import dask

    table, names = dask.read_table(X)
    remember(estimator, int(table.shape[1]), names, reset)
    if supervised and y is None:
        read_targets(estimator, None, table)
    return dask.DaskRows(table, dask.Held(table, y if supervised else None, sample_weight))


def _read_foreign(
    estimator: Any, X: Array, y: Any, sample_weight: Any, reset: bool, supervised: bool
) -> ArrayRows:
    """Rows in arrays of another library, which stay where they are."""
    xp = array_namespace(X)
    if X.ndim != 2:
        raise ValueError(f"X has the shape {tuple(X.shape)}; it must be a table of rows and features.")
    if 0 in X.shape:
        raise ValueError(
            f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s); a minimum of 1 is required."
        )
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float64)
    refuse_extremes(X, "X")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if supervised and not is_foreign(y):
        y = read_targets(estimator, y, X)
    if supervised and y.shape != (X.shape[0],):
        raise ValueError(f"y has the shape {tuple(y.shape)} and X has {X.shape[0]} rows.")
    rows = existing_rows(X, y if supervised else None, read_weights(sample_weight, X))
    return ArrayRows(*rows, n_jobs=estimator.n_jobs)


def _read_array(estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool, supervised: bool) -> ArrayRows:
    """Rows in an array of NumPy's, or in anything it makes one of."""
    table = read_table(estimator, X, reset=reset)
    y = read_targets(estimator, y, table) if supervised else None
    return ArrayRows(*existing_rows(table, y, read_weights(sample_weight, table)), n_jobs=estimator.n_jobs)


class Place(NamedTuple):
    """A place where rows may be: what is recognised as being there, and how it is read.

    ``read(estimator, X, y, sample_weight, reset, supervised)`` returns rows after the checks users deserve.
    """

    recognises: Callable[[Any], bool]
    read: Callable[[Any, Any, Any, Any, bool, bool], Rows]
    has_labels: Callable[[Any, Any], bool] = lambda X, y: y is not None


PLACES = [
    Place(lambda X: isinstance(X, Blocks), _read_blocks, lambda X, y: X.first.y is not None),
    Place(lambda X: hasattr(X, "__dask_graph__"), _read_collection),
    Place(is_foreign, _read_foreign),
]
"""The first that recognises what users hand in reads it; if none does, it is a table in memory."""

IN_MEMORY = Place(lambda X: True, _read_array)


def _place(X: Any) -> Place:
    return next((place for place in PLACES if place.recognises(X)), IN_MEMORY)


def has_labels(X: Any, y: Any) -> bool:
    """Whether there are labels: beside the rows, or among the blocks they come in."""
    return _place(X).has_labels(X, y)


def in_memory(X: Any) -> bool:
    """Whether rows are in the memory of this process, as an array of NumPy's or anything it makes one of."""
    return _place(X) is IN_MEMORY


@dataclass(frozen=True)
class _Distinct:
    """Different labels; those of two sets of rows merge."""

    values: np.ndarray

    def __add__(self, other: _Distinct) -> _Distinct:
        return _Distinct(np.union1d(self.values, other.values))


def _distinct(samples: Samples) -> _Distinct:
    assert samples.Y is not None
    return _Distinct(np.unique(samples.Y))


def class_rows(rows: Rows) -> tuple[np.ndarray, Rows]:
    """The classes, sorted, and the rows with codes for labels."""
    if not isinstance(rows, ArrayRows):
        classes = rows.sum(_distinct).values
        read_classes(classes)
        return classes, replace(rows, encode=partial(np.searchsorted, classes), n_classes=len(classes))
    if is_foreign(rows.y):
        xp = array_namespace(rows.y)
        values = xp.unique_values(rows.y)
        classes = to_numpy(values)
        read_classes(classes)
        codes = xp.searchsorted(values, rows.y)
    else:
        classes, codes = read_classes(np.asarray(rows.y))
        if is_foreign(rows.X):
            xp = array_namespace(rows.X)
            codes = xp.asarray(codes.astype(np.int64), device=rows.X.device)
    return classes, replace(rows, y=codes, n_classes=len(classes))


def coded_rows(rows: Rows, classes: np.ndarray) -> Rows:
    """The rows with codes for labels that are among known classes."""
    return _encoded(rows, partial(_codes, classes), len(classes))


def _codes(classes: np.ndarray, y: Array) -> np.ndarray:
    labels = to_numpy(y)
    codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    if not np.all(known := classes[codes] == labels):
        raise ValueError(
            f"y holds the class {labels[~known].tolist()[0]!r}, which is none of {classes.tolist()}; "
            "name all classes in the first call of partial_fit."
        )
    return codes


def measured_rows(rows: Rows, mean: float, unit: float) -> Rows:
    """The rows with targets from a known mean, in a known unit."""
    return _encoded(rows, partial(_measured, mean, unit, rows.dtype), None)


def _encoded(rows: Rows, encode: Any, n_classes: int | None) -> Rows:
    if not isinstance(rows, ArrayRows):
        return replace(rows, encode=encode, n_classes=n_classes)
    y = encode(rows.y)
    if is_foreign(rows.X) and not is_foreign(y):
        y = array_namespace(rows.X).asarray(y, device=rows.X.device)
    return replace(rows, y=y, n_classes=n_classes)


def holds_measurements(rows: Rows) -> bool:
    """Whether labels are real targets and not classes: numbers that are not all whole."""
    if isinstance(rows, ArrayRows) and not is_foreign(rows.y):
        return is_real_valued(rows.y)
    return bool(rows.sum(_count_fractions))


def _count_fractions(samples: Samples) -> int:
    assert samples.Y is not None
    Y = to_numpy(samples.Y)
    return int(np.sum(np.floor(Y) != Y)) if Y.dtype.kind == "f" else 0


def real_rows(rows: Rows, *, standardize: bool) -> tuple[Rows, float, float]:
    """Rows with targets measured from their mean, in standard deviations if asked for; and that mean and unit."""
    if isinstance(rows, ArrayRows) and not is_foreign(rows.y):
        y = read_numbers(np.asarray(rows.y))
        rows = replace(rows, y=like(y, rows.X) if is_foreign(rows.X) else y)
    weight, total, _ = rows.sum(partial(_moments, 0.0))
    mean = float(total / weight)
    squares = rows.sum(partial(_moments, mean))[2]
    unit = float(np.sqrt(squares / weight)) if standardize and squares > 0 else 1.0
    return measured_rows(rows, mean, unit), mean, unit


def _moments(origin: float, samples: Samples) -> np.ndarray:
    assert samples.Y is not None
    Y = to_numpy(samples.Y)[:, 0]
    y = read_numbers(Y) - origin
    weight = np.ones(len(y)) if samples.weight is None else to_numpy(samples.weight).astype(float)
    return np.asarray([weight.sum(), weight @ y, weight @ (y * y)])


def _measured(mean: float, unit: float, dtype: Any, y: Array) -> Array:
    xp = array_namespace(y)
    return xp.astype((xp.astype(y, xp.float64) - mean) / unit, dtype)


def class_masses(rows: Rows) -> np.ndarray:
    """What the rows of each class weigh together, shape (n_classes,)."""
    return to_numpy(rows.as_given().sum(_mass))


def _mass(samples: Samples) -> Array:
    assert samples.Y is not None
    xp = array_namespace(samples.Y)
    Y = xp.astype(samples.Y, xp.float64)
    return xp.sum(Y, axis=0) if samples.weight is None else xp.astype(samples.weight, xp.float64) @ Y
