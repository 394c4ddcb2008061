"""Who takes part in the scoreboard: how each is fitted, and what of it a person can read.

Those of other libraries are for environments of their own, and none is a dependency: ``make scoreboard``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from .others import OTHERS
from .real_tables import MODELS, balanced, indicators

__all__ = ["CONTENDERS", "OURS", "Contender", "Read"]


class Read(NamedTuple):
    """How much of a model there is to read; NaN for what is not read."""

    rules: float = math.nan
    """Or leaves; a linear model is one rule."""
    conditions: float = math.nan
    """Of all rules together; of trees the splits."""
    terms: float = math.nan
    """Coefficients of features in what rules conclude; of an EBM its curves and surfaces."""
    is_rules: bool = True


Fitted = tuple[Any, Read]
Fit = Callable[[pd.DataFrame, np.ndarray, int], Fitted]
"""Training part and seed to a fitted model. Classes are counted from 0, values are floats."""


class Contender(NamedTuple):
    """A model, and what it comes from if that is neither this library nor scikit-learn."""

    fit: Fit
    package: str = ""


def of_values(y: np.ndarray) -> bool:
    return y.dtype == float


def n_classes(y: np.ndarray) -> int:
    """How many classes there are, 0 for values."""
    return 0 if of_values(y) else len(np.unique(y))


def lines(y: np.ndarray) -> int:
    """How many lines say an answer: one class has the rest."""
    return max(n_classes(y) - 1, 1)


def ours(name: str) -> Fit:
    """Refined rules, as they take tables."""

    def fit(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
        model = MODELS[name](n_classes(y), seed).fit(X, y)
        rules = model[-1].rules_
        said = rules.consequents[:, 1:, 0 if of_values(y) else 1 :] if rules.order else 0  # one class has the rest
        return model, Read(rules.n_rules, int(rules.n_conditions.sum()), int(np.count_nonzero(said)))

    return fit


def boosting(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
    """InterpretML's EBM."""
    model = MODELS["EBM"](n_classes(y), seed)
    model.fit(X, y, **{} if of_values(y) else balanced(model, y))
    return model, Read(terms=len(model[-1].term_names_), is_rules=False)


def behind(columns: Any, fit: Callable[[np.ndarray, np.ndarray, int], Fitted]) -> Fit:
    """A model that takes numbers alone, behind what makes numbers of columns."""

    def through(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
        made = columns()
        model, read = fit(np.asarray(made.fit_transform(X), float), y, seed)
        return make_pipeline(made, model), read

    return through


def numbers() -> Any:
    """Categories as indicators."""
    return indicators("passthrough")


def z_scores() -> Any:
    """Categories as indicators, numbers with mean zero and variance one."""
    return indicators("passthrough", StandardScaler())


def tuned(model: Any, X: Any, y: np.ndarray, seed: int, grid: Any, **final: Any) -> Any:
    """The model with the parameters of the best of five folds by BCA or R², and others for the last fit."""
    kind, scoring = (KFold, "r2") if of_values(y) else (StratifiedKFold, "balanced_accuracy")
    search = GridSearchCV(model, grid, scoring=scoring, cv=kind(5, shuffle=True, random_state=seed), refit=False)
    search.fit(X, y)
    best = model.set_params(**search.best_params_ | final).fit(X, y)
    best.best_params_ = search.best_params_
    return best


def line(X: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
    """A logistic or a ridge regression."""
    penalties = [10.0**k for k in range(-3, 4)]
    if of_values(y):
        model = tuned(Ridge(), X, y, seed, {"alpha": penalties})
    else:
        plain = LogisticRegression(class_weight="balanced", max_iter=10_000)
        model = tuned(plain, X, y, seed, {"C": penalties})
    return model, Read(1, 0, X.shape[1] * lines(y))


class SupportVectors(ClassifierMixin, BaseEstimator):
    """Support vectors that answer by themselves, with odds that Platt's way makes of their decisions."""

    def __init__(self, seed: int = 0):
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> SupportVectors:
        grid = {"C": [1.0, 10.0, 100.0], "gamma": widths(X)}
        self.answering_ = tuned(SVC(class_weight="balanced"), X, y, self.seed, grid)
        self.best_params_ = self.answering_.best_params_
        self.classes_ = self.answering_.classes_
        folds = StratifiedKFold(5, shuffle=True, random_state=self.seed)
        self.odds_ = CalibratedClassifierCV(SVC(**self.best_params_), ensemble=False, cv=folds)
        weight = balanced(make_pipeline(SVC()), y)["svc__sample_weight"]
        self.odds_.fit(X, y, sample_weight=weight)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.answering_.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.odds_.predict_proba(X)


def widths(X: np.ndarray) -> list[float]:
    """Kernels to choose from, by the number of columns."""
    return [share / X.shape[1] for share in (0.03, 0.1, 0.3, 1.0)]


def of_scaled(model: Any) -> TransformedTargetRegressor:
    """A regressor that learns from values with mean zero and variance one."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def support_vectors(X: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
    if not of_values(y):
        return SupportVectors(seed).fit(X, y), Read(is_rules=False)
    grid = {"C": [1.0, 10.0, 100.0], "gamma": widths(X), "epsilon": [0.01, 0.1]}
    grid = {f"regressor__{name}": values for name, values in grid.items()}
    return tuned(of_scaled(SVR()), X, y, seed, grid), Read(is_rules=False)


def forest(X: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
    grid = {"max_features": [1 / 3, 1.0] if of_values(y) else ["sqrt", 0.5], "min_samples_leaf": [1, 3, 10]}
    if of_values(y):
        model = RandomForestRegressor(100, random_state=seed)
    else:
        model = RandomForestClassifier(100, class_weight="balanced", random_state=seed)
    return tuned(model, X, y, seed, grid, n_estimators=300), Read(is_rules=False)


def boosted_trees(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
    grid = {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [8, 31], "min_samples_leaf": [5, 20]}
    if of_values(y):
        model = HistGradientBoostingRegressor(random_state=seed)
    else:
        model = HistGradientBoostingClassifier(class_weight="balanced", random_state=seed)
    return tuned(model, X, y, seed, grid), Read(is_rules=False)


def htsk(X: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
    """highFIS's HTSK."""
    if of_values(y):
        model = of_scaled(RulesOfValues(seed)).fit(X, y)
        size = model.regressor_.size_
    else:
        model, size = OTHERS["highfis"]["HTSK"](X, y, seed)
    return model, Read(size.rules, size.conditions, size.conditions * lines(y))


class RulesOfValues(RegressorMixin, BaseEstimator):
    """highFIS's HTSK for values, which have to be near zero as for other networks."""

    def __init__(self, seed: int = 0):
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> RulesOfValues:
        self.model_, self.size_ = OTHERS["highfis"]["HTSK"](X, y, self.seed)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict(X)


def figs(X: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
    """imodels's FIGS: the sum of a few small trees."""
    from imodels import FIGSClassifier, FIGSRegressor

    values = of_values(y)
    plain = (
        FIGSRegressor(random_state=seed) if values else FIGSClassifier(class_weight="balanced", random_state=seed)
    )
    model = tuned(plain, X, y, seed, {"max_rules": [6, 12, 24, 50]})
    n_splits = int(model.complexity_)
    return model, Read(n_splits + len(model.trees_), n_splits, 0)


def rulefit(X: np.ndarray, y: np.ndarray, seed: int) -> Fitted:
    """imodels's RuleFit: crisp rules and a line."""
    model, size = OTHERS["imodels"]["RuleFit"](X, y, seed)
    every = getattr(model, "estimators_", [model])
    said = sum(int(np.count_nonzero(one.coef[: X.shape[1]])) for one in every)
    return model, Read(size.rules, size.conditions, said)


def genetic(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
    """ex-fuzzy's rules, which a genetic search finds; it weighs classes alike by its own measure, macro F1."""
    from ex_fuzzy import BaseFuzzyRulesClassifier, BaseFuzzyRulesRegressor

    if of_values(y):
        made = numbers()
        inner = BaseFuzzyRulesRegressor(nRules=20, nAnts=3)
        inner.fit(np.asarray(made.fit_transform(X), float), y, random_state=seed)
        conditions = sum(int(np.sum(np.asarray(rule.antecedents) >= 0)) for rule in inner.rule_base.rules)
        return make_pipeline(made, inner), Read(len(inner.rule_base.rules), conditions, 0)
    model = BaseFuzzyRulesClassifier(nRules=max(15, 2 * n_classes(y)), nAnts=4, random_state=seed).fit(X, y)
    rules = model.rule_base.get_rules()
    conditions = sum(int(np.sum(np.asarray(rule.antecedents) >= 0)) for rule in rules)
    return model, Read(len(rules), conditions, 0)


OURS: dict[str, Contender] = {
    name: Contender(ours(name)) for name in ("default", "accurate", "ten rules of five", "ten rules of three")
}
CONTENDERS: dict[str, Contender] = OURS | {
    "linear model": Contender(behind(z_scores, line)),
    "support vectors": Contender(behind(z_scores, support_vectors)),
    "random forest": Contender(behind(numbers, forest)),
    "boosted trees": Contender(boosted_trees),
    "EBM": Contender(boosting, "interpret-core"),
    "HTSK": Contender(behind(z_scores, htsk), "highfis"),
    "FIGS": Contender(behind(numbers, figs), "imodels"),
    "RuleFit": Contender(behind(numbers, rulefit), "imodels"),
    "ex-fuzzy": Contender(genetic, "ex-fuzzy"),
}
"""Everyone, by the name on the page, which says what their settings are."""
