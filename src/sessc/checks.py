"""What may be handed to an estimator, and one sentence for everything that may not."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from .blocks import is_missing, refuse_extremes
from .losses import Loss
from .simplex import Sharing, Uniform

__all__ = [
    "POSITIVE",
    "RANGES",
    "TERM_RANGES",
    "check_each",
    "check_parameters",
    "existing_rows",
    "is_real_valued",
    "read_classes",
    "read_numbers",
    "read_table",
    "read_targets",
    "read_weights",
    "refuse_classes",
    "refuse_one_class",
]


class _Range(NamedTuple):
    kind: Any
    accepts: Callable[[Any], bool]
    says: str
    words: tuple[Any, ...] = ()

    def includes(self, value: Any) -> bool:
        if isinstance(value, str) and value in self.words:
            return True
        return not isinstance(value, bool) and isinstance(value, self.kind) and self.accepts(value)

    def __str__(self) -> str:
        return self.says + "".join(f' or "{word}"' for word in self.words)


def _count(*words: Any) -> _Range:
    return _Range(Integral, lambda v: v >= 1, "a positive integer", words)


POSITIVE = _Range(Real, lambda v: 0 < v < np.inf, "a positive number")
_NOT_NEGATIVE = _Range(Real, lambda v: 0 <= v < np.inf, "a number that is not negative")

RANGES = {
    "n_clusters": _count(),
    "n_rules": _count(),
    "n_init": _count(),
    "max_iter": _count(),
    "tol": _NOT_NEGATIVE,
    "m": _Range(Real, lambda v: 1 < v < np.inf, "a number above 1", ("auto",)),
    "t": _Range(Real, lambda v: 1 <= v < np.inf, "a number of 1 or more"),
    "gamma": POSITIVE._replace(words=("auto",)),
    "delta": POSITIVE,
    "width": POSITIVE._replace(words=("auto",)),
    "lam": POSITIVE._replace(words=("auto",)),
    "eta": _Range(Real, lambda v: 0 <= v < 1, "a number in [0, 1)"),
    "beta": _NOT_NEGATIVE,
    "alpha": _NOT_NEGATIVE,
    "width_scale": POSITIVE._replace(words=("auto",)),
    "refine": _Range(Integral, lambda v: v >= 0, "a whole number of zero or more"),
    "pull": _NOT_NEGATIVE,
    "parsimony": _NOT_NEGATIVE,
    "conditions": _Range((Real, type(None)), lambda v: v is None or 0 < v < np.inf, "a positive number or None"),
    "order": _Range(Integral, lambda v: v in (0, 1), "0 or 1"),
    "loss": _Range(str, lambda v: v in ("log", "squared"), '"log" or "squared"'),
    "search": _Range(str, lambda v: v in ("auto", "staged", "joint"), '"auto", "staged" or "joint"'),
    "penalty": _Range(str, lambda v: v in ("power", "l2", "adaptive"), '"power", "l2" or "adaptive"'),
}
"""Every parameter of the subject means the same wherever it appears, so its range is stated once."""


TERM_RANGES = {
    "membership": _Range(
        (Sharing, type(None)), lambda v: not isinstance(v, Uniform), "a sharing rule other than Uniform, or None"
    ),
    "weighting": _Range((Sharing, type(None)), lambda v: True, "a sharing rule or None"),
    "loss": _Range((Loss, type(None)), lambda v: True, "a label loss or None"),
}
"""The same for an estimator that takes terms themselves."""


def check_parameters(estimator: Any) -> None:
    """Refuse parameters out of range, by name and value."""
    for name, value in estimator.get_params(deep=False).items():
        allowed = estimator._ranges.get(name)
        if allowed is not None and not allowed.includes(value):
            raise ValueError(f"{name} must be {allowed}, got {value!r}.")


def check_each(name: str, values: Any, allowed: _Range | None = None) -> list:
    """Candidates as a list; refuse it if it is empty or holds one out of range."""
    if isinstance(values, str) or not np.iterable(values) or not (values := list(values)):
        raise ValueError(f"{name} must be a list of at least one value, got {values!r}.")
    for value in values:
        if allowed is not None and not allowed.includes(value):
            raise ValueError(f"{name} must hold {allowed} each, got {value!r}.")
    return values


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
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if (
        y.dtype == object
        and (row := next((k for k, label in enumerate(y) if is_missing(label)), None)) is not None
    ):
        raise ValueError(f"y contains NaN or another missing value in row {row}; drop such rows first.")
    return y


def read_numbers(y: np.ndarray) -> np.ndarray:
    """Targets that are measurements."""
    y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    return y.astype(float)


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


def is_real_valued(y: Any) -> bool:
    """Whether targets are measurements and not classes."""
    return type_of_target(y).startswith("continuous")
