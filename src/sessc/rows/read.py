"""From what users hand in to rows: arrays and frames, files of blocks, Dask collections, tensors on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from .._array import Array, array_namespace, is_foreign, to_numpy
from .arrays import ArrayRows
from .base import Rows
from .blocks import BlockRows, Blocks, CodedBlocks, blocks_tally
from .clean import (
    asked_categories,
    existing_rows,
    keep_columns,
    known_columns,
    read_table,
    read_targets,
    read_weights,
    refuse_extremes,
    remember,
)
from .columns import (
    Column,
    Number,
    cells_of,
    columns_of_parts,
    default_names,
    grown,
    raw_columns,
    settle_columns,
    tally,
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
    growing: bool = False,
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
    growing : bool
        Whether more rows may come, with levels that were not there before.
    """
    asked = Asked(reset, supervised, growing)
    rows = _place(X).read(estimator, X, y, sample_weight, asked)
    columns = known_columns(estimator)
    return replace(rows, columns=columns if any(column.n_levels for column in columns) else None)


class Asked(NamedTuple):
    """What is asked of whoever reads rows: the parameters of :func:`read_rows`."""

    reset: bool
    supervised: bool
    growing: bool


def _read_blocks(estimator: Any, blocks: Blocks, y: Any, sample_weight: Any, asked: Asked) -> BlockRows:
    if y is not None or sample_weight is not None:
        raise ValueError("Labels and weights come with the rows of Blocks, as (X, y, sample_weight); leave out y.")
    first = blocks.first
    if asked.supervised and first.y is None:
        read_targets(estimator, None, first.X)
    remember(estimator, blocks.n_features, blocks.feature_names, asked.reset)
    names = blocks.feature_names or default_names(blocks.n_features)
    if asked.reset:
        categories = asked_categories(estimator, first.X, blocks.feature_names)
        if blocks.are_frames or categories is not None:
            seen_if = partial(blocks_tally, blocks)
            keep_columns(estimator, columns_of_parts(names, seen_if, categories, asked.growing))
    elif asked.growing:
        for block in blocks:
            keep_columns(estimator, grown(known_columns(estimator), block.X))
    coded = CodedBlocks(blocks, known_columns(estimator))
    return BlockRows(coded, coded.first, n_jobs=estimator.n_jobs)


def _read_collection(estimator: Any, X: Any, y: Any, sample_weight: Any, asked: Asked) -> Rows:
    from . import dask

    names, n_features = dask.shape_of(X)
    remember(estimator, n_features, names, asked.reset)
    if asked.supervised and y is None:
        read_targets(estimator, None, np.empty((0, n_features)))
    if asked.reset:
        categories = asked_categories(estimator, X)
        keep_columns(estimator, dask.learn_columns(X, names, sample_weight, categories, asked.growing))
    elif asked.growing:
        keep_columns(estimator, dask.grown_columns(X, known_columns(estimator)))
    table = dask.read_table(X, known_columns(estimator))
    return dask.DaskRows(table, dask.Held(table, y if asked.supervised else None, sample_weight))


def _read_foreign(estimator: Any, X: Array, y: Any, sample_weight: Any, asked: Asked) -> ArrayRows:
    """Rows in arrays of another library, which stay where they are; categories are numbers."""
    xp = array_namespace(X)
    if X.ndim != 2:
        raise ValueError(f"X has the shape {tuple(X.shape)}; it must be a table of rows and features.")
    if 0 in X.shape:
        raise ValueError(
            f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s); a minimum of 1 is required."
        )
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float64)
    refuse_extremes(X, "X", may_lack=True)
    validate_data(estimator, X, reset=asked.reset, skip_check_array=True)
    weight = read_weights(sample_weight, X)
    if asked.reset:
        keep_columns(estimator, _columns_of_array(estimator, X, weight, asked.growing))
    elif asked.growing:
        keep_columns(estimator, grown(known_columns(estimator), to_numpy(X)))
    X = cells_of(X, known_columns(estimator))
    if asked.supervised and not is_foreign(y):
        y = read_targets(estimator, y, X)
    if asked.supervised and y.shape != (X.shape[0],):
        raise ValueError(f"y has the shape {tuple(y.shape)} and X has {X.shape[0]} rows.")
    rows = existing_rows(X, y if asked.supervised else None, weight)
    return ArrayRows(*rows, n_jobs=estimator.n_jobs)


def _columns_of_array(estimator: Any, X: Array, weight: Array | None, growing: bool) -> tuple[Column, ...]:
    names, asked = default_names(X.shape[1]), asked_categories(estimator, X)
    if asked is None:
        return tuple(map(Number, names))
    seen = tally(raw_columns(to_numpy(X)), None if weight is None else to_numpy(weight), asked)
    return settle_columns(names, seen, asked, growing)


def _read_array(estimator: Any, X: Any, y: Any, sample_weight: Any, asked: Asked) -> ArrayRows:
    """Rows in an array of NumPy's, or in anything it makes one of."""
    table = read_table(estimator, X, sample_weight, reset=asked.reset, growing=asked.growing)
    y = read_targets(estimator, y, table) if asked.supervised else None
    return ArrayRows(*existing_rows(table, y, read_weights(sample_weight, table)), n_jobs=estimator.n_jobs)


class Place(NamedTuple):
    """A place where rows may be: what is recognised as being there, and how it is read.

    ``read(estimator, X, y, sample_weight, asked)`` returns rows after the checks users deserve.
    """

    recognises: Callable[[Any], bool]
    read: Callable[[Any, Any, Any, Any, Asked], Rows]
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
