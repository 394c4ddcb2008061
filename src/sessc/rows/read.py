"""From what users hand in to rows: arrays and frames, files of blocks, Dask collections, tensors on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.utils.validation import validate_data

from .._array import Array, array_namespace, is_foreign
from .arrays import ArrayRows
from .base import Rows
from .blocks import BlockRows, Blocks
from .clean import (
    existing_rows,
    read_table,
    read_targets,
    read_weights,
    refuse_extremes,
    remember,
)

__all__ = ["has_labels", "in_memory", "read_rows"]


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
