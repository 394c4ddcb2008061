"""What may be handed to an estimator, and one sentence for everything that may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._array import Array, array_namespace, is_foreign, like, to_numpy

__all__ = [
    "existing_rows",
    "is_missing",
    "largest_square_root",
    "read_classes",
    "read_numbers",
    "read_table",
    "read_targets",
    "read_weights",
    "refuse_classes",
    "refuse_extremes",
    "refuse_one_class",
    "remember",
    "unmasked",
]


class SparseError(ValueError, TypeError):
    """A ValueError like that for any other input; scikit-learn itself raises a TypeError, and 1.6 expects it."""


def read_table(estimator: Any, X: Any, *, reset: bool = False) -> np.ndarray:
    """A table of samples as a float array, after the checks users deserve."""
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X is a Polars LazyFrame, which holds no data yet; pass X.collect() instead.")
    if issparse(X):
        raise SparseError("X is a sparse matrix, and rules need dense data; pass X.toarray() instead.")
    _refuse_text_and_dates(X)
    single = _is_float32_frame(X)
    try:
        X = validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)
    except ValueError as error:
        if "could not convert string to float" in str(error):
            word = str(error).split(": ", 1)[-1]
            raise ValueError(f"X holds text such as {word}; encode it as numbers first.") from None
        raise
    X = X.astype(np.float32) if single else X
    refuse_extremes(X, "X", getattr(estimator, "feature_names_in_", None))
    return X


def _is_float32_frame(X: Any) -> bool:
    """Whether a frame holds float32 alone; scikit-learn sees that in pandas frames and not in others."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return False
    return {str(dtype).lower() for dtype in X.dtypes} == {"float32"}


def _refuse_text_and_dates(X: Any) -> None:
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return
    for name, dtype in zip(X.columns, list(dtypes), strict=True):
        if str(dtype).lower().startswith(("date", "time", "duration", "period")):
            raise ValueError(
                f"Column {name!r} of X holds dates or times; say what matters about them in numbers first, "
                "such as the year, or days since some event."
            )
        if str(dtype).lower().startswith(("object", "str", "utf8", "categor", "enum", "large_string")):
            texts = (str(value) for value in np.asarray(X[name]) if isinstance(value, str))
            if (text := next(texts, None)) is not None:
                raise ValueError(
                    f"Column {name!r} of X holds text such as {text!r}; encode it as numbers first, "
                    "for example with sklearn.preprocessing.OneHotEncoder."
                )


def refuse_extremes(X: Array, which: str, names: Sequence[str] | None = None) -> None:
    """Refuse what is not finite, or too large to be squared, by place."""
    if 0 in X.shape:
        return
    xp = array_namespace(X)
    largest = max(abs(float(xp.min(X))), abs(float(xp.max(X))))  # NaN if any value is
    if largest < largest_square_root(xp.finfo(X.dtype)):
        return
    X = to_numpy(X)
    for row, column in np.argwhere(~np.isfinite(X))[:1]:
        name = f"column {column}" if names is None else f"column {names[column]!r}"
        what = "NaN" if np.isnan(X[row, column]) else "an infinite value (inf)"
        raise ValueError(f"{which} contains {what} in row {row}, {name}; fill in or drop such rows first.")
    raise ValueError(_too_large(which, largest, X.dtype))


def largest_square_root(limits: Any) -> float:
    """Numbers below it can be squared, and many such squares added; by the limits of their type."""
    return float(limits.max) ** 0.5 / 1e4


def _too_large(which: str, largest: float, dtype: Any) -> str:
    return f"{which} holds values as large as {largest:.0e}, whose squares overflow {dtype}; rescale them."


def unmasked(column: Any, which: str) -> np.ndarray:
    """A column as a plain array, which would forget what is masked."""
    if np.ma.is_masked(column):
        row = np.flatnonzero(np.ma.getmaskarray(column))[0]
        raise ValueError(f"{which} that are masked, as in row {row}; drop such rows first.")
    return np.asarray(column)


def remember(estimator: Any, n_features: int, names: tuple[str, ...] | None, reset: bool) -> None:
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


def read_weights(sample_weight: Any, X: Array) -> Array | None:
    """Sample weights as an array like X, or None where every row counts once."""
    if sample_weight is None:
        return None
    if is_foreign(X):
        there = to_numpy(sample_weight) if is_foreign(sample_weight) else sample_weight
        return like(read_weights(there, np.empty((X.shape[0], 0))), X)
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weight


def existing_rows(X: Array, y: Any, weight: Array | None) -> tuple[Array, Any, Array | None]:
    """The rows that count: one of weight zero does not exist, nor does a class that only such rows have."""
    if weight is None or bool(array_namespace(weight).all(weight > 0)):
        return X, y, weight
    counts = weight > 0
    if y is not None:
        y = y[counts if is_foreign(y) else to_numpy(counts)]
    return X[counts], y, weight[counts]


def is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or (isinstance(label, float) and label != label)


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


def read_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and for each row the place of its class among them."""
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    classes = np.unique(y)
    # Part by part, in as few bytes as will do: y may be as long as a file.
    codes = np.empty(len(y), np.min_scalar_type(len(classes)))
    for start in range(0, len(y), 2**20):
        codes[start : start + 2**20] = np.searchsorted(classes, y[start : start + 2**20])
    return classes, codes


def refuse_classes(classes: Any) -> None:
    if classes is not None:
        raise ValueError("classes is for classifiers; the targets of a regressor are numbers.")


def refuse_one_class(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()[0]!r}; a classifier needs at least two to tell apart."
        )
