"""How well rules do on data, and what a change did to that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from .base import RuleBase

__all__ = ["Comparison", "Evaluation", "compare", "evaluate", "measured"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures on some rows; ``print`` shows them."""

    n_rows: int
    measures: dict[str, float]
    confusion: np.ndarray | None = None
    """True classes by predicted classes, for classifiers."""

    def __str__(self) -> str:
        values = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        return f"On {self.n_rows} rows: {values}."


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two rule bases on the same rows; ``print`` shows what changed."""

    before: Evaluation
    after: Evaluation
    n_changed: int
    """Rows with another answer: another class, or another number."""
    edits: tuple[str, ...]
    """What was changed by hand in between."""

    def __str__(self) -> str:
        lines = [f"{self.n_changed} of {self.after.n_rows} answers change."]
        width = max(map(len, self.after.measures))
        for name, after in self.after.measures.items():
            before = self.before.measures[name]
            lines.append(f"  {name:<{width}}  {before:8.4f} -> {after:8.4f}  ({after - before:+.4f})")
        return "\n".join([*(f"Changed: {edit}." for edit in self.edits), *lines])


def evaluate(rules: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Accuracy, balanced accuracy and log-loss of classes; R², root mean square and absolute error of numbers."""
    odds = None if rules.classes is None else rules.probabilities(X)
    return measured(y, rules(X), odds, rules.classes, sample_weight)


def measured(
    y: Any, answers: np.ndarray, odds: np.ndarray | None, classes: np.ndarray | None, sample_weight: Any = None
) -> Evaluation:
    """The same of any model, by its answers and the probabilities of the classes."""
    weight = {"sample_weight": sample_weight}
    if classes is None:
        return Evaluation(
            len(answers),
            {
                "R²": float(r2_score(y, answers, **weight)),
                "root mean square error": float(root_mean_squared_error(y, answers, **weight)),
                "mean absolute error": float(mean_absolute_error(y, answers, **weight)),
            },
        )
    if len(unknown := np.setdiff1d(np.asarray(y), classes)):
        raise ValueError(f"y has the class {unknown.tolist()[0]!r}, which the rules do not know.")
    return Evaluation(
        len(answers),
        {
            "accuracy": float(accuracy_score(y, answers, **weight)),
            "balanced accuracy": float(balanced_accuracy_score(y, answers, **weight)),
            "log-loss": _log_loss(y, odds, classes, sample_weight),
        },
        confusion_matrix(y, answers, labels=classes, **weight),
    )


def _log_loss(y: Any, odds: Any, classes: np.ndarray, weight: Any) -> float:
    """scikit-learn's, for classes in any order."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    given = np.asarray(odds)[np.arange(len(odds)), [place[label] for label in np.asarray(y).tolist()]]
    return float(np.average(-np.log(np.maximum(given, np.finfo(float).eps)), weights=weight))


def compare(before: RuleBase, after: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> Comparison:
    """What the way from one rule base to another did to its answers."""
    new = after.edits[len(before.edits) :] if after.edits[: len(before.edits)] == before.edits else after.edits
    return Comparison(
        evaluate(before, X, y, sample_weight),
        evaluate(after, X, y, sample_weight),
        int(np.count_nonzero(before(X) != after(X))),
        new,
    )
