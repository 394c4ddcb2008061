"""What may be handed to an estimator, and one sentence for everything that may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._array import Array, array_namespace, is_foreign, like, scalar, to_numpy
from .columns import (
    Column,
    Number,
    cell_type,
    cells_of,
    default_names,
    grown,
    is_frame,
    is_plain_frame,
    named,
    raw_columns,
    settle_columns,
    tally,
)
from .missing import is_missing

__all__ = [
    "as_array",
    "asked_categories",
    "cast",
    "check_labels",
    "existing_rows",
    "is_float32_frame",
    "keep_columns",
    "known_columns",
    "largest_square_root",
    "plain_table",
    "read_numbers",
    "read_table",
    "read_targets",
    "read_weights",
    "refuse_classes",
    "refuse_extremes",
    "refuse_one_class",
    "refuse_tiny",
    "remember",
    "several_kinds",
    "unmasked",
]


class SparseError(ValueError, TypeError):
    """A ValueError like that for any other input; scikit-learn itself raises a TypeError, and 1.6 expects it."""


def read_table(
    estimator: Any, X: Any, sample_weight: Any = None, *, reset: bool = False, growing: bool = False
) -> np.ndarray:
    """A table as an array of cells, after the checks users deserve; with ``reset`` its columns are learned."""
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X is a Polars LazyFrame, which holds no data yet; pass X.collect() instead.")
    if issparse(X):
        raise SparseError("X is a sparse matrix, and rules need dense data; pass X.toarray() instead.")
    X = plain_table(X)
    if _is_mixed(estimator, X, reset):
        return _read_mixed(estimator, X, sample_weight, reset, growing)
    _refuse_twins(named(X) if is_frame(X) else ())
    single = is_float32_frame(X)
    try:
        X = validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)
    except (ValueError, OverflowError) as error:
        raise _in_a_sentence(error) from None
    except TypeError as error:
        raise TypeError(f"X holds cells that are neither numbers nor text: {error}.") from None
    X = X.astype(np.float32) if single else X
    names = getattr(estimator, "feature_names_in_", None)
    refuse_extremes(X, "X", names, may_lack=True)
    if reset:
        keep_columns(
            estimator, tuple(map(Number, default_names(X.shape[1]) if names is None else map(str, names)))
        )
    return X


def as_array(X: Any, dtype: Any) -> np.ndarray:
    """A table as an array, some of whose cells may be missing."""
    try:
        return check_array(X, dtype=dtype, ensure_all_finite=False)
    except (ValueError, OverflowError) as error:
        raise _in_a_sentence(error) from None


def _in_a_sentence(error: ValueError | OverflowError) -> ValueError:
    """What scikit-learn says of an array, without the array."""
    if isinstance(error, OverflowError):
        return ValueError("X holds whole numbers too large for float64; rescale them.")
    first, *rest = str(error).strip().split("\n")
    if "could not convert string to float" in first:
        word = first.split(": ", 1)[-1]
        return ValueError(
            f"X holds text such as {word}; encode it as numbers first, or name its columns in "
            "categorical_features."
        )
    if first.startswith("Complex data not supported"):
        return ValueError("Complex data not supported: take the real and imaginary parts of X as columns.")
    if first.startswith("Expected 2D array") and rest:
        return ValueError(f"{first.rstrip(':')}. {rest[-1]}")
    return error


def plain_table(X: Any) -> Any:
    """A table in which masked cells are missing, and no array of lengths of time is taken for numbers."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "m":
        raise ValueError(f"X holds {X.dtype} cells; divide them by a unit, such as np.timedelta64(1, 'D'), first.")
    if isinstance(X, (list, tuple)):
        _refuse_ragged(X)
    if not np.ma.is_masked(X):
        return np.asarray(X) if np.ma.isMaskedArray(X) else X
    kind = X.dtype.kind
    cells = np.array(np.ma.getdata(X), dtype=X.dtype if kind in "fM" else float if kind in "iub" else object)
    cells[np.ma.getmaskarray(X)] = np.datetime64("NaT") if kind == "M" else np.nan
    return cells


def _refuse_ragged(rows: Sequence) -> None:
    try:
        np.shape(rows)
    except ValueError:
        raise ValueError(
            "X has rows of unlike length, or lists for cells; give every row as many cells."
        ) from None


def _refuse_twins(names: Sequence[str]) -> None:
    """Refuse columns of one name: no reader of a rule could tell them apart."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"X has {times} columns called {name!r}; rename or drop all but one.")


def keep_columns(estimator: Any, columns: tuple[Column, ...]) -> None:
    """What the columns are, remembered by whoever is fitted to them."""
    estimator._columns = columns


def known_columns(estimator: Any) -> tuple[Column, ...]:
    """What the columns were that an estimator was fitted to."""
    return estimator._columns


def is_float32_frame(X: Any) -> bool:
    """Whether a frame holds float32 alone; scikit-learn sees that in pandas frames and not in others."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return False
    return {str(dtype).lower() for dtype in X.dtypes} == {"float32"}


def _is_mixed(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether a table has to be taken apart into columns: some are not numbers, or were not."""
    if is_frame(X) and not is_plain_frame(X):
        return True
    if isinstance(X, np.ndarray) and X.dtype.kind == "M":
        return True
    if not reset:
        return any(column.n_levels for column in known_columns(estimator))
    return asked_categories(estimator, X) is not None


def asked_categories(estimator: Any, X: Any, known: tuple[str, ...] | None = None) -> list[bool] | None:
    """Which columns, perhaps of known names, are categories in any case; None if their types say which are."""
    given = getattr(estimator, "categorical_features", "from_dtype")
    if isinstance(given, str) and given == "from_dtype":
        return None
    n_columns = len(named(X)) if is_frame(X) else np.shape(X)[1] if np.ndim(X) == 2 else 0
    if given is None:
        return [False] * n_columns if known or (is_frame(X) and not is_plain_frame(X)) else None
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype.kind == "b":
        if chosen.shape != (n_columns,):
            raise ValueError(f"categorical_features has the shape {chosen.shape} and X has {n_columns} columns.")
        return chosen.tolist()
    if chosen.dtype.kind in "iu":
        if np.any((chosen < 0) | (chosen >= n_columns)):
            raise ValueError(f"categorical_features names the columns {chosen.tolist()} of {n_columns}.")
        return np.isin(np.arange(n_columns), chosen).tolist()
    names = known or (named(X) if is_frame(X) else ())
    if unknown := [name for name in map(str, chosen.tolist()) if name not in names]:
        raise ValueError(f"categorical_features names {unknown[0]!r}, which is no column of X.")
    return [name in chosen.tolist() for name in names]


def _read_mixed(estimator: Any, X: Any, sample_weight: Any, reset: bool, growing: bool) -> np.ndarray:
    """A table of columns of all kinds as cells."""
    X = X if is_frame(X) else as_array(X, cell_type(X))
    n_rows, n_columns = _height(X) if isinstance(X, Mapping) else len(X), len(_names(X))
    if n_rows == 0 or n_columns == 0:
        raise ValueError(
            f"Found array with {n_rows} sample(s) and {n_columns} feature(s); a minimum of 1 is required."
        )
    remember(estimator, n_columns, named(X) if is_frame(X) else None, reset)
    if reset:
        asked = asked_categories(estimator, X)
        weight = read_weights(sample_weight, np.empty((n_rows, 0)))
        keep_columns(estimator, settle_columns(_names(X), tally(raw_columns(X), weight, asked), asked, growing))
    elif growing:
        keep_columns(estimator, grown(known_columns(estimator), X))
    cells = cells_of(X, known_columns(estimator))
    refuse_extremes(cells, "X", _names(X), may_lack=True)
    return cells


def _height(columns: Mapping) -> int:
    """How many rows a dict of columns has."""
    shapes = {name: np.shape(column) for name, column in columns.items()}
    for name, shape in shapes.items():
        if len(shape) != 1:
            raise ValueError(f"Column {name!r} of X has the shape {shape}; a column is a list of cells.")
    if len(set(shapes.values())) > 1:
        raise ValueError(
            f"The columns of X have different lengths: {', '.join(f'{n} {s[0]}' for n, s in shapes.items())}."
        )
    return next(iter(shapes.values()), (0,))[0]


def _names(X: Any) -> tuple[str, ...]:
    return named(X) if is_frame(X) else default_names(X.shape[1])


def refuse_extremes(
    X: Array, which: str, names: Sequence[str] | None = None, what: str = "values", may_lack: bool = False
) -> None:
    """Refuse what is not finite, or too large to be squared, by place; some may lack cells."""
    if 0 in X.shape:
        return
    xp = array_namespace(X)
    largest = max(abs(float(xp.min(X))), abs(float(xp.max(X))))  # NaN if any value is
    if may_lack and largest != largest:
        X = xp.where(xp.isnan(X), scalar(0.0, X), X)
        largest = max(abs(float(xp.min(X))), abs(float(xp.max(X))))
    if largest < largest_square_root(xp.finfo(X.dtype)):
        return
    X = to_numpy(X)
    for row, column in np.argwhere(~np.isfinite(X))[:1]:
        name = f"column {column}" if names is None else f"column {names[column]!r}"
        odd = "NaN" if np.isnan(X[row, column]) else "an infinite value (inf)"
        raise ValueError(f"{which} contains {odd} in row {row}, {name}; fill in or drop such rows first.")
    raise ValueError(_too_large(which, largest, X.dtype, what))


def largest_square_root(limits: Any) -> float:
    """Numbers below it can be squared, and many such squares added; by the limits of their type."""
    return float(limits.max) ** 0.5 / 1e4


def _too_large(which: str, largest: float, dtype: Any, what: str = "values") -> str:
    return f"{which} holds {what} as large as {largest:.0e}, whose squares overflow {dtype}; rescale them."


def unmasked(column: Any, which: str) -> np.ndarray:
    """A column as a plain array, which would forget what is masked."""
    if np.ma.is_masked(column):
        row = np.flatnonzero(np.ma.getmaskarray(column))[0]
        raise ValueError(f"{which} that are masked, as in row {row}; drop such rows first.")
    return np.asarray(column)


def remember(estimator: Any, n_features: int, names: tuple[str, ...] | None, reset: bool) -> None:
    """Number and names of the features: remembered, or compared with those that are. At first all are numbers."""
    _refuse_twins(names or ())
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and names != tuple(known):
        raise ValueError(
            f"X has the columns {names}, and {type(estimator).__name__} was fitted to {tuple(known)}."
        )
    if known is None or names is None:
        validate_data(estimator, np.empty((0, n_features)), reset=reset, skip_check_array=True)
    if reset and names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    if reset:
        keep_columns(estimator, tuple(map(Number, names or default_names(n_features))))


def read_weights(sample_weight: Any, X: Array) -> Array | None:
    """Sample weights as an array like X, or None where every row counts once."""
    if sample_weight is None:
        return None
    if is_foreign(X):
        there = to_numpy(sample_weight) if is_foreign(sample_weight) else sample_weight
        return like(read_weights(there, np.empty((X.shape[0], 0))), X)
    given = (
        unmasked(sample_weight, "sample_weight holds values")
        if np.ma.isMaskedArray(sample_weight)
        else sample_weight
    )
    weight = _check_sample_weight(given, X, dtype=np.float64, ensure_non_negative=True)
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    refuse_tiny(weight, "sample_weight holds weights", X.dtype)
    weight = cast(weight, X.dtype)
    refuse_extremes(weight[:, None], "sample_weight")
    return weight


def cast(weight: np.ndarray, dtype: Any) -> np.ndarray:
    """Weights in the precision of a fit; those beyond it are infinite, and to be refused."""
    with np.errstate(over="ignore"):
        return weight.astype(dtype, copy=False)


def refuse_tiny(weight: np.ndarray, which: str, dtype: Any) -> None:
    """Refuse weights that are not zero and so small that what is computed with them in this type would be."""
    weight = np.asarray(weight, np.float64)  # whole numbers have no infinity to begin with
    least = float(np.min(weight, where=weight > 0, initial=np.inf))
    largest = float(np.max(weight, initial=0.0))
    if least < float(np.finfo(dtype).smallest_normal) ** 0.5 * max(1.0, largest):
        beside = f" beside others of {largest:.0e}" if largest > 1 else ""
        raise ValueError(
            f"{which} as small as {least:.0e}{beside}, with which {dtype} cannot compute; "
            "make them larger, or zero."
        )


def existing_rows(X: Array, y: Any, weight: Array | None) -> tuple[Array, Any, Array | None]:
    """The rows that count: one of weight zero does not exist, nor does a class that only such rows have."""
    if weight is None or bool(array_namespace(weight).all(weight > 0)):
        return X, y, weight
    counts = weight > 0
    if y is not None:
        y = y[counts if is_foreign(y) else to_numpy(counts)]
    return X[counts], y, weight[counts]


def read_targets(estimator: Any, y: Any, X: np.ndarray) -> np.ndarray:
    """Targets as one column, one for each row of X."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if (kind := np.asarray(y).dtype).kind == "c":
        raise ValueError(_no_targets(kind))
    y = column_or_1d(unmasked(y, "y holds values") if np.ma.isMaskedArray(y) else y, warn=True)
    check_consistent_length(X, y)
    if (
        y.dtype == object
        and (row := next((k for k, label in enumerate(y) if is_missing(label)), None)) is not None
    ):
        raise ValueError(f"y contains NaN or another missing value in row {row}; drop such rows first.")
    return y


def read_numbers(y: Array, dtype: Any) -> Array:
    """Targets that are measurements, in double precision, wherever they are; rules will compute in ``dtype``."""
    xp = array_namespace(y)
    with np.errstate(over="ignore"):  # of long doubles, which are then infinite
        y = xp.astype(_real(y) if is_foreign(y) else _numeric(y), xp.float64)
    if bool(xp.all(xp.abs(y) < largest_square_root(np.finfo(dtype)))):
        return y
    if not bool(xp.all(xp.isfinite(y))):
        what = "NaN" if bool(xp.any(xp.isnan(y))) else "an infinite value (inf)"
        raise ValueError(f"y contains {what}; drop such rows first.")
    raise ValueError(_too_large("y", float(xp.max(xp.abs(y))), dtype))


def _no_targets(dtype: Any) -> str:
    return f"y holds {dtype} values, which are neither classes nor real targets; encode them as numbers first."


def _real(y: Array) -> Array:
    if not array_namespace(y).isdtype(y.dtype, ("bool", "integral", "real floating")):
        raise ValueError(_no_targets(y.dtype))
    return y


def _numeric(y: np.ndarray) -> np.ndarray:
    """Targets as an array of a numeric type."""
    if y.dtype.kind in "fiub":
        return y
    if y.dtype.kind not in "OUST":
        raise ValueError(_no_targets(y.dtype))
    return np.asarray([_number(value) for value in y.ravel()]).reshape(y.shape)


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise ValueError(
            f"y holds text such as {str(value)!r}; real targets are numbers, encode it as such first."
        )
    try:
        return float(value)
    except OverflowError:
        raise ValueError("y holds whole numbers too large for float64; rescale them.") from None
    except (TypeError, ValueError):
        raise ValueError(f"y holds {value!r}, which is no number; encode it as one first.") from None


def check_labels(y: np.ndarray) -> None:
    """Refuse labels that are no classes."""
    assert_all_finite(y, input_name="y")
    try:
        with np.errstate(invalid="ignore"):  # of numbers beyond all integers, which are no classes
            check_classification_targets(y)
    except TypeError:
        raise several_kinds(y) from None


def several_kinds(labels: np.ndarray) -> ValueError:
    """What is wrong with labels that have no order."""
    kinds = " and ".join(sorted({type(label).__name__ for label in labels.ravel()}))
    return ValueError(f"y holds labels of several kinds, {kinds}; make all of them text or numbers.")


def refuse_classes(classes: Any) -> None:
    if classes is not None:
        raise ValueError("classes is for classifiers; the targets of a regressor are numbers.")


def refuse_one_class(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()[0]!r}; a classifier needs at least two to tell apart."
        )
