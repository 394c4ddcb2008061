"""From what users hand in to rows: arrays and frames, files of blocks, Dask collections, tensors on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._array import Array, array_namespace, is_foreign, like, numpy_dtype, to_numpy
from .arrays import ArrayRows
from .base import Rows
from .blocks import BlockRows, Blocks, largest_square_root, refuse_extremes
from .clean import (
    existing_rows,
    read_table,
    read_targets,
    read_weights,
)

__all__ = ["has_labels", "in_memory", "read_rows"]


def has_labels(X: Any, y: Any) -> bool:
    """Whether there are labels: beside the rows, or among the blocks they come in."""
    return X.first.y is not None if isinstance(X, Blocks) else y is not None


def in_memory(X: Any) -> bool:
    """Whether rows are in the memory of this process, as an array of NumPy's or anything it makes one of."""
    return not (isinstance(X, Blocks) or is_dask(X) or is_foreign(X))


def is_dask(X: Any) -> bool:
    return hasattr(X, "__dask_graph__")


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
    if isinstance(X, Blocks):
        return _read_blocks(estimator, X, y, sample_weight, reset, supervised)
    if is_dask(X):
        return _read_collection(estimator, X, y, sample_weight, reset, supervised)
    if is_foreign(X):
        return _read_foreign(estimator, X, y, sample_weight, reset, supervised)
    table = read_table(estimator, X, reset=reset)
    y = read_targets(estimator, y, table) if supervised else None
    table, y, weight = existing_rows(table, y, read_weights(sample_weight, table))
    return ArrayRows(table, y, weight, n_jobs=estimator.n_jobs)


def _read_blocks(
    estimator: Any, blocks: Blocks, y: Any, sample_weight: Any, reset: bool, supervised: bool
) -> BlockRows:
    if y is not None or sample_weight is not None:
        raise ValueError("Labels and weights come with the rows of Blocks, as (X, y, sample_weight); leave out y.")
    if supervised and blocks.first.y is None:
        read_targets(estimator, None, blocks.first.X)
    _remember(estimator, blocks.first.X.shape[1], blocks.feature_names, reset)
    return BlockRows(blocks, blocks.first, n_jobs=estimator.n_jobs)


def _read_collection(estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool, supervised: bool) -> Rows:
    from . import dask

    table, names = dask.read_table(X)
    _remember(estimator, int(table.shape[1]), names, reset)
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
    if not bool(xp.all(xp.abs(X) < largest_square_root(numpy_dtype(X)))):
        refuse_extremes(to_numpy(X), "X")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    weight = None
    if sample_weight is not None:
        weight = like(read_weights(to_numpy(sample_weight), np.empty((X.shape[0], 0))), X)
        if not bool(xp.all(weight > 0)):
            counts = weight > 0
            X, weight = X[counts], weight[counts]
            y = y[to_numpy(counts)] if isinstance(y, np.ndarray) else y if y is None else y[counts]
    if supervised and not is_foreign(y):
        y = read_targets(estimator, y, X)
    if not supervised:
        y = None
    elif y.shape != (X.shape[0],):
        raise ValueError(f"y has the shape {tuple(y.shape)} and X has {X.shape[0]} rows.")
    return ArrayRows(X, y, weight, n_jobs=estimator.n_jobs)


def _remember(estimator: Any, n_features: int, names: tuple[str, ...] | None, reset: bool) -> None:
    """Number and names of the features: remembered, or compared with those that are."""
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and names != tuple(known):
        raise ValueError(
            f"X has the columns {names}, and {type(estimator).__name__} was fitted to {tuple(known)}."
        )
    if known is None or names is None:
        validate_data(estimator, np.empty((0, n_features)), reset=reset, skip_check_array=True)
    if reset and names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
