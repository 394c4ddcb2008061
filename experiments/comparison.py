"""Refined rules beside the models people would otherwise use, on the splits of the paper's protocol.

    python -m experiments.comparison                      # all models, resuming where the last run stopped
    python -m experiments.comparison --models "10 rules"
    python -m experiments.comparison --package highfis    # in an environment that has it, on ten splits

All tuning happens inside the training part, where every class weighs the same. A unit of work is one (data set,
split, model) and a line of ``results/comparison.csv``.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from sessc import RuleBase, TSKClassifierCV
from sessc.datasets import NAMES

from .others import OTHERS, Fit, Size
from .protocol import N_SPLITS, Method, Unit, Work, bca, judged, prepared, run
from .results import RESULTS, Result, Results

PATH = RESULTS / "comparison.csv"
N_SPLITS_OF_OTHERS = 10


@dataclass(frozen=True)
class Compared(Result):
    """A result with what else people ask of a model; NaN where it has no answer."""

    log_loss: float
    calibration: float
    rules: float
    conditions: float
    numbers: float
    predict_seconds: float

    @property
    def length(self) -> float:
        """Conditions per rule, on average."""
        return self.conditions / self.rules

    @property
    def milliseconds(self) -> float:
        return 1000 * self.predict_seconds


def rules(*n_rules: Any, **settings: Any) -> Fit:
    """Refined rules tuned by cross-validation."""

    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Size]:
        model = TSKClassifierCV(*n_rules, class_weight="balanced", scoring=bca, random_state=seed, **settings)
        return model, size(model.fit(X, y).rules_)

    return fit


def size(rules: RuleBase) -> Size:
    said = rules.consequents[:, :, 1:].size  # one class has the rest
    conditions = int(rules.n_conditions.sum())
    return Size(rules.n_rules, conditions, 2 * conditions + said)


def plain(make: Callable[[int], Any]) -> Fit:
    """A model without tuning, from its seed."""
    return lambda X, y, seed: (make(seed).fit(X, y), Size())


def logistic_regression(seed: int) -> Any:
    return LogisticRegression(class_weight="balanced", max_iter=10_000)


def random_forest(seed: int) -> Any:
    return RandomForestClassifier(300, class_weight="balanced", random_state=seed)


def few_trees(seed: int) -> Any:
    """A forest to choose parameters with."""
    return random_forest(seed).set_params(n_estimators=100)


def gradient_boosting(seed: int) -> Any:
    return HistGradientBoostingClassifier(class_weight="balanced", random_state=seed)


def tuned(make: Callable[[int], Any], final: dict[str, Any] | None = None, **grid: list) -> Fit:
    """A model with the parameters of the best cross-validated BCA, and some others once these are found."""

    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Size]:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        search = GridSearchCV(make(seed), grid, scoring=bca, cv=folds, refit=final is None).fit(X, y)
        if final is not None:
            search.best_estimator_ = make(seed).set_params(**search.best_params_ | final).fit(X, y)
            search.refit = True
        return search, Size()

    return fit


def support_vectors(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Any, Size]:
    widths = [0.03 / X.shape[1], 0.1 / X.shape[1], 0.3 / X.shape[1], 1 / X.shape[1]]
    return tuned(lambda seed: SVC(class_weight="balanced"), C=[1.0, 10.0, 100.0], gamma=widths)(X, y, seed)


ANY_LENGTH = {"conditions": None, "terms": None}

MODELS: dict[str, Fit] = {
    "5 rules": rules(5, order=0, **ANY_LENGTH),
    "10 rules": rules(10, order=0, **ANY_LENGTH),
    "30 rules": rules(30, order=0, **ANY_LENGTH),
    "linear rules": rules(order=1, **ANY_LENGTH),
    "10 rules of five": rules(10, order=0, conditions=5),
    "default": rules(),
    "logistic regression": plain(logistic_regression),
    "random forest": plain(random_forest),
    "gradient boosting": plain(gradient_boosting),
    "tuned logistic regression": tuned(logistic_regression, C=[0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]),
    "tuned random forest": tuned(
        few_trees, {"n_estimators": 300}, max_features=["sqrt", 0.5], min_samples_leaf=[1, 3, 10]
    ),
    "tuned gradient boosting": tuned(gradient_boosting, learning_rate=[0.03, 0.1, 0.3], max_leaf_nodes=[8, 31]),
    "support vectors": support_vectors,
}
OURS = ("5 rules", "10 rules", "30 rules", "linear rules", "10 rules of five", "default")
SPLITS = {"tuned random forest": 20, "tuned gradient boosting": 20} | dict.fromkeys(OURS, N_SPLITS_OF_OTHERS)
"""Fewer splits than all, for what takes long, and for ours, which are computed again when they have changed."""
EVERY = MODELS | {name: fit for models in OTHERS.values() for name, fit in models.items()}


def compute(unit: Unit, grids: Any, chosen: dict[str, Any]) -> Compared:
    X, X_test, y, y_test = prepared(unit.dataset, unit.split)
    started = time.perf_counter()
    model, read = EVERY[unit.method](X, y, unit.split)
    fitted = time.perf_counter()
    answers = model.predict(X_test)
    predicted = time.perf_counter()
    odds = model.predict_proba(X_test) if hasattr(model, "predict_proba") else None
    return Compared(
        **judged(unit, y_test, answers, getattr(model, "best_params_", {}), round(fitted - started, 3)),
        log_loss=math.nan if odds is None else round(log_loss(y_test, odds), 4),
        calibration=math.nan if odds is None else round(100 * calibration_error(y_test, odds), 3),
        **read._asdict(),
        predict_seconds=round(predicted - fitted, 5),
    )


def calibration_error(y: np.ndarray, odds: np.ndarray, n_bins: int = 10) -> float:
    """How far the probability of the chosen class is from how often it is right, on average over rows."""
    confidence, right = odds.max(axis=1), odds.argmax(axis=1) == y
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    return float(np.abs(np.bincount(bins, confidence - right, n_bins)).sum() / len(y))


def units(models: list[str], splits: int) -> Iterator[Unit]:
    """Splits outermost. The order of rules is part of what is chosen here, so the column of that name is 0."""
    for split in range(splits):
        for dataset in NAMES:
            for model in models:
                if split < SPLITS.get(model, N_SPLITS):
                    yield Unit(dataset, split, 0, model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS), metavar="NAME")
    parser.add_argument("--package", choices=list(OTHERS), help="the models of another package instead")
    parser.add_argument("--splits", type=int, help="number of splits (default: 30, or 10 for another package)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long, to be resumed")
    options = parser.parse_args()
    models = list(OTHERS[options.package]) if options.package else options.models
    splits = options.splits or (N_SPLITS_OF_OTHERS if options.package else N_SPLITS)
    work = Work({name: Method(lambda task: (None, {})) for name in EVERY}, compute)
    run(work, list(units(models, splits)), Results(PATH, Compared), None, options.jobs, options.minutes)


if __name__ == "__main__":
    main()
