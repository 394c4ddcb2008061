"""The linear model to compare rules with: a logistic regression, or for values a ridge regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .base import RuleBase

__all__ = ["called", "crossed", "learned", "spoken"]

N_FOLDS = 5


def called(rules: RuleBase) -> str:
    """What the line beside rules is called."""
    return "ridge regression" if rules.classes is None else "logistic regression"


def learned(rules: RuleBase, cells: np.ndarray, truth: np.ndarray, weight: np.ndarray | None = None) -> Pipeline:
    """The line that learns from cells as rules see them, with codes of classes or values for labels.

    Classes weigh what they weighed for the rules, so that probabilities of both are about the same classes.
    """
    line = Ridge() if rules.classes is None else LogisticRegression(max_iter=10_000)
    if rules.classes is not None and len(np.unique(truth)) == 1:
        line = DummyClassifier()  # what there is to learn from rows of one class
    counts = _weighed(rules, truth, np.ones(len(truth)) if weight is None else weight)
    return Pipeline([*_prepared(rules), ("line", line)]).fit(cells, truth, line__sample_weight=counts)


def crossed(
    rules: RuleBase, cells: np.ndarray, truth: np.ndarray, weight: np.ndarray | None, groups: Any, seed: Any
) -> np.ndarray:
    """What lines say of rows that they did not learn from, (n, n_outputs): one for each fold."""
    n_outputs = 1 if rules.classes is None else len(rules.classes)
    said = np.zeros((len(truth), n_outputs))
    for part, rest in _folds(rules, truth, groups, seed):
        line = learned(rules, cells[part], truth[part], None if weight is None else weight[part])
        said[rest] = spoken(line, cells[rest], n_outputs)
    return said


def spoken(line: Any, X: Any, n_outputs: int) -> np.ndarray:
    """Values, or the probability of each class, zero for those a line has never met, (n, n_outputs)."""
    if not hasattr(line, "predict_proba"):
        return np.asarray(line.predict(X), float).reshape(-1, 1)
    found = np.zeros((len(X), n_outputs))
    found[:, np.asarray(line.classes_, int)] = line.predict_proba(X)
    return found


def _weighed(rules: RuleBase, truth: np.ndarray, weight: np.ndarray) -> np.ndarray:
    prior = None if rules.summary is None else rules.summary.prior
    if rules.classes is None or prior is None:
        return weight
    mass = np.bincount(truth, weight, minlength=len(prior))
    return weight * np.divide(prior * mass.sum(), mass, out=np.zeros(len(prior)), where=mass > 0)[truth]


def _folds(rules: RuleBase, truth: np.ndarray, groups: Any, seed: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    kinds = ((KFold, GroupKFold), (StratifiedKFold, StratifiedGroupKFold))[rules.classes is not None]
    n_units = len(truth) if groups is None else len(np.unique(groups))
    splitter = kinds[groups is not None](min(N_FOLDS, n_units), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # folds can do without it
        return list(splitter.split(np.zeros(len(truth)), truth, groups))


def _prepared(rules: RuleBase) -> list[tuple[str, Any]]:
    """What a line needs of cells: medians in the gaps of numbers, and a column for each level."""
    is_number = np.asarray(rules.layout.levels) == 0
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    columns = make_column_transformer((filled, is_number), (levels, ~is_number))
    return [("columns", columns), ("scaled", StandardScaler())]
