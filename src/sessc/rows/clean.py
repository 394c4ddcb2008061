"""What may be handed to an estimator, and one sentence for everything that may not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._array import Array, array_namespace, is_foreign
from .blocks import is_missing, largest_square_root, refuse_extremes, too_large, unmasked

__all__ = [
    "existing_rows",
    "read_classes",
    "read_numbers",
    "read_table",
    "read_targets",
    "read_weights",
    "refuse_classes",
    "refuse_one_class",
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


def read_weights(sample_weight: Any, X: np.ndarray) -> np.ndarray | None:
    """Sample weights in the dtype of X, or None where every row counts once."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weight


def existing_rows(X: np.ndarray, y: Any, weight: np.ndarray | None) -> tuple[np.ndarray, Any, np.ndarray | None]:
    """The rows that count: one of weight zero does not exist, nor does a class that only such rows have."""
    if weight is None or np.all(weight > 0):
        return X, y, weight
    counts = weight > 0
    return X[counts], None if y is None else y[counts], weight[counts]


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
    if bool(xp.all(xp.abs(y) < largest_square_root(dtype))):
        return y
    if not bool(xp.all(xp.isfinite(y))):
        what = "NaN" if bool(xp.any(xp.isnan(y))) else "an infinite value (inf)"
        raise ValueError(f"y contains {what}; drop such rows first.")
    raise ValueError(too_large("y", float(xp.max(xp.abs(y))), dtype))


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
