"""How well rules do on data, and what a change did to that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
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

from ..rows.base import Samples
from .base import Cells, RuleBase
from .evidence import Evidence
from .observe import labelled, observe

__all__ = ["Comparison", "Evaluation", "compare", "evaluate", "measured", "verdict"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures on some rows; ``print`` shows them."""

    n_rows: int
    measures: dict[str, float]
    confusion: np.ndarray | None = None
    """True classes by predicted classes, for classifiers."""
    faithfulness: float | None = None
    """How far rules are from what happens under them; None for models that are no rules."""
    evidence: Evidence | None = None
    """What happened under each rule on these rows; it is not kept in files."""

    def __str__(self) -> str:
        values = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        return " ".join(filter(None, [f"On {self.n_rows} rows: {values}.", self.faithful]))

    @property
    def faithful(self) -> str:
        """How faithful rules are, in a sentence; nothing if that is not known."""
        if self.faithfulness is None:
            return ""
        unit = " standard deviations" if self.confusion is None else ""
        return f"What rules say and what happens under them differ by {self.faithfulness:.2g}{unit} on average."


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
        if self.after.faithful:
            lines.append(self.after.faithful)
        return "\n".join([*(f"Changed: {edit}." for edit in self.edits), *lines])


def evaluate(rules: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Accuracy, balanced accuracy and log-loss of classes; R², root mean square and absolute error of numbers."""
    rows = labelled(rules, X, y, sample_weight)
    given = None if rules.classes is None else rows.map(partial(_given, rules))
    found = measured(y, rows.map(partial(_answers, rules)), given, rules.classes, sample_weight)
    seen = observe(rules, X, y, sample_weight)
    return replace(found, faithfulness=seen.faithfulness, evidence=seen)


def _answers(rules: RuleBase, samples: Samples) -> np.ndarray:
    return rules(Cells(samples.X))


def _given(rules: RuleBase, samples: Samples) -> np.ndarray:
    return np.sum(rules.probabilities(Cells(samples.X)) * samples.Y, axis=1)


MUCH = 0.05
"""By how much a linear model has to be better than rules for rules to be of no use."""


def verdict(evaluations: Mapping[str, Evaluation]) -> str:
    """A sentence if a model is of no use, nothing otherwise.

    Parameters
    ----------
    evaluations : dict of Evaluation
        By the name of the model: that of the rules first, and perhaps one to compare it with.
    """
    if not evaluations:
        return ""
    (_, own), *others = evaluations.items()
    measure, chance = ("R²", 0.0) if own.confusion is None else ("balanced accuracy", 1 / len(own.confusion))
    reached = own.measures.get(measure)
    if reached is None:
        return ""
    if reached <= chance:
        found = f"{measure} {reached:.2f}"
        return f"These rules are of no use: on rows held out they are no better than guessing ({found})."
    for name, other in others:
        if other.measures.get(measure, reached) > reached + MUCH:
            than = f"{measure} {other.measures[measure]:.2f} against {reached:.2f}"
            return f"Do not use these rules: a {name} is much better on rows held out ({than})."
    return ""


def measured(
    y: Any, answers: np.ndarray, given: np.ndarray | None, classes: np.ndarray | None, sample_weight: Any = None
) -> Evaluation:
    """The same of any model, by its answers and the probability that it gave to the class of each row."""
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
            "log-loss": _log_loss(given, sample_weight),
        },
        confusion_matrix(y, answers, labels=classes, **weight),
    )


def _log_loss(given: Any, weight: Any) -> float:
    """scikit-learn's, by what was given to the class of each row."""
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
