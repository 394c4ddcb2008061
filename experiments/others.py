"""Models of other libraries, each for an environment of its own and none a dependency: ``make compare-others``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.class_weight import compute_sample_weight

from .protocol import mean_recall

__all__ = ["OTHERS", "Fit", "Size"]


class Size(NamedTuple):
    """How much there is to read; NaN for what is not made of rules."""

    rules: float = math.nan
    conditions: float = math.nan
    """Of all rules together."""
    numbers: float = math.nan
    """That rules consist of: two for a condition, or one if it is crisp, and what they conclude."""


Fit = Callable[[np.ndarray, np.ndarray, int], tuple[Any, Size]]
"""Training part and seed to a fitted model."""


def htsk(least_squares: bool) -> Fit:
    """highFIS's HTSK: linear rules by gradient descent, their number chosen on a fifth of the training part."""

    def make(n_rules: int, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        from highfis import HTSKClassifier, HTSKRegressor

        kind = HTSKRegressor if y.dtype == float else HTSKClassifier
        ridge = "auto" if least_squares else 0.0
        return kind(n_mfs=n_rules, random_state=seed, use_lse=least_squares, lse_ridge=ridge).fit(X, y)

    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Size]:
        from torch import set_num_threads

        set_num_threads(1)
        values = y.dtype == float
        even, judge, lines = (_as_they_are, r2_score, 1) if values else (balanced, mean_recall, y.max())
        X_part, X_rest, y_part, y_rest = train_test_split(
            X, y, test_size=0.2, stratify=None if values else y, random_state=seed
        )
        part = even(X_part, y_part)
        n_rules = max((10, 30), key=lambda n: judge(y_rest, make(n, *part, seed).predict(X_rest)))
        conditions, said = n_rules * X.shape[1], n_rules * (1 + X.shape[1]) * lines
        return make(n_rules, *even(X, y), seed), Size(n_rules, conditions, 2 * conditions + said)

    return fit


def explainable_boosting(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Size]:
    """InterpretML's EBM: a sum of curves, one for each feature, and of surfaces for some pairs.

    The mean of four models instead of fourteen, as one of four takes minutes already.
    """
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(outer_bags=4, random_state=seed, n_jobs=1)
    return model.fit(X, y, sample_weight=compute_sample_weight("balanced", y)), Size()


def rulefit(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Size]:
    """imodels's RuleFit, for values or each class against the others: crisp rules and a line by the lasso."""
    from imodels import RuleFitClassifier, RuleFitRegressor

    if y.dtype == float:
        model = RuleFitRegressor(random_state=seed).fit(X, y)
    else:
        model = OneVsRestClassifier(RuleFitClassifier(random_state=seed)).fit(*balanced(X, y))
    every = getattr(model, "estimators_", [model])
    rules = [rule for one in every for rule in one.rules_]
    conditions = sum(len(rule.agg_dict) for rule in rules)
    lines = len(every) * (1 + X.shape[1])
    return model, Size(len(rules), conditions, conditions + len(rules) + lines)


def _as_they_are(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, y


def balanced(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of smaller classes repeated until all classes are alike, for what takes no weights."""
    counts = np.bincount(y)
    rows = np.concatenate([np.resize(np.flatnonzero(y == label), counts.max()) for label in range(len(counts))])
    return X[np.sort(rows)], y[np.sort(rows)]


OTHERS: dict[str, dict[str, Fit]] = {
    "highfis": {"HTSK": htsk(False), "HTSK-LSE": htsk(True)},
    "interpret": {"EBM": explainable_boosting},
    "imodels": {"RuleFit": rulefit},
}
