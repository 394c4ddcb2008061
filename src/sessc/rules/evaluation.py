"""How well rules do on data, and what a change did to that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from ..rows.base import Samples
from .base import Cells, RuleBase
from .evidence import Evidence
from .forms import Judged
from .line import called, crossed, learned, spoken
from .measures import MOST_RANKED, SHARES, Answered, at_cuts, curve_of, measures_of, roc_of
from .observe import codes, labelled, observe
from .pipelines import rules_of
from .resampling import Resamples, ends, widened

__all__ = [
    "Comparison",
    "Curve",
    "Cuts",
    "Evaluation",
    "compare",
    "counted",
    "evaluate",
    "flat",
    "verdict",
]

Limits = dict[str, Any]
LINE = "line"
"""What stands beside rules unless one asks for something else."""
FAR_FROM_CLASSES, FAR_FROM_VALUES = 0.3, 0.5
"""How far rules may be from what happens under them, so that what they say alone may be taken for it."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What was said and what happened, on average in tenths of the rows, by what was said.

    Parameters
    ----------
    said, found : arrays of shape (k,)
        Probabilities and shares, or answers and means. In a model that is calibrated they are alike.
    low, high : arrays of shape (k,)
        Between which ``found`` lies; empty if that was not asked for.
    weight : array of shape (k,)
        What the rows weigh.
    """

    said: np.ndarray
    found: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class Cuts:
    """What is found of a class where its probability reaches a threshold, for every hundredth.

    Parameters
    ----------
    hits, alarms : arrays of shape (101,)
        What rows weigh that are called so: those that are, and those that are not.
    low, high : dict of arrays of shape (101,)
        Between which sensitivity, specificity and predictive values lie; NaN where these are not defined.
    roc : array of shape (2, k)
        Points of the curve from (0, 0) to (1, 1): the share of the others called so, and of the class found.
    """

    hits: np.ndarray
    alarms: np.ndarray
    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]
    roc: np.ndarray


@dataclass(frozen=True, eq=False)
class Evaluation(Judged):
    """Measures on some rows, with intervals, and those of other models beside them.

    ``print`` shows it, ``plot`` draws it, ``save`` keeps it.
    """

    n_rows: int
    measures: dict[str, float]
    """By name; those that are not defined on these rows are not there."""
    confusion: np.ndarray | None = None
    """True classes by predicted classes, for classifiers."""
    faithfulness: float | None = None
    """How far rules are from what happens under them; None for models that are no rules."""
    evidence: Evidence | None = None
    """What happened under each rule on these rows; it is not kept in files."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Between which each measure lies with 95 % confidence; nothing if that was not asked for."""
    resamples: int = 0
    """How often rows were drawn again for these."""
    classes: tuple | None = None
    prior: np.ndarray | None = None
    """How common classes are where the probabilities hold; None if that is not known."""
    positive: Any = None
    """The class that one looks for, whose sensitivity and predictive values these are; None if there is none."""
    threshold: float | None = None
    """From which probability on a row is called so; None if the likeliest class is the answer."""
    calibration: Curve | None = None
    """What was said and what happened: of the class looked for, of the answer, or for values of these."""
    cuts: Cuts | None = None
    """What is found at other thresholds, if there is a class that one looks for."""
    beside: Mapping[str, Evaluation] = field(default_factory=dict)
    """Other models on the same rows, by name."""

    @property
    def faithful(self) -> str:
        """How faithful rules are, in a sentence; nothing if that is not known."""
        if self.faithfulness is None:
            return ""
        unit, most = (
            (" standard deviations", FAR_FROM_VALUES) if self.confusion is None else ("", FAR_FROM_CLASSES)
        )
        far = f"What rules say and what happens under them differ by {self.faithfulness:.2g}{unit} on average"
        return f"{far}." if self.faithfulness <= most else f"{far}: do not read THEN as what happens, but SEEN."

    @property
    def shares(self) -> np.ndarray | None:
        """How common classes are among these rows, as they weigh."""
        return None if self.confusion is None else self.confusion.sum(axis=1) / self.confusion.sum()


def flat(evaluations: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """Evaluations by the name of the model, with those beside them after them."""
    found: dict[str, Evaluation] = {}
    for name, one in evaluations.items():
        found |= {name: replace(one, beside={})} | dict(one.beside)
    return found


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
        both = [name for name in self.after.measures if name in self.before.measures]
        width = max(map(len, both))
        for name in both:
            before, after = self.before.measures[name], self.after.measures[name]
            lines.append(f"  {name:<{width}}  {before:8.4f} -> {after:8.4f}  ({after - before:+.4f})")
        if self.after.faithful:
            lines.append(self.after.faithful)
        return "\n".join([*(f"Changed: {edit}." for edit in self.edits), *lines])


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked of every model on the same rows."""

    classes: np.ndarray | None
    weight: np.ndarray | None
    resamples: Resamples
    positive: Any = None
    threshold: float | None = None

    @property
    def place(self) -> int | None:
        """Where the class that one looks for is among the classes."""
        return (
            None if self.positive is None or self.classes is None else self.classes.tolist().index(self.positive)
        )


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    positive: Any = None,
    threshold: float | None = None,
    prior: Any = None,
    beside: Any = LINE,
    groups: Any = None,
    resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """How well a model does on data, with intervals and beside a linear model; ``print`` what this returns.

    Parameters
    ----------
    model : RuleBase, Model, fitted rule model or pipeline, or any classifier or regressor
    X, y, sample_weight
        Rows that the model did not learn from, what is true of them and, optionally, how much each counts. A
        :class:`sessc.Model` takes a raw table, and finds what is true of it in its own column.
    positive : class, optional
        The one that is looked for, of which sensitivity, specificity and predictive values are; of two classes by
        default the one that was rarer in learning.
    threshold : float, optional
        The probability from which on a row is called so; by default the likeliest class is the answer.
    prior : "data" or dict of a share for each class, optional
        Judge probabilities that hold where classes are as common as this, as ``with_prior`` gives them; by default
        those that the model gives.
    beside : "line", pair of rows, dict of fitted models, or None
        What to measure beside it. By default a logistic or ridge regression whose answer for each row is learned
        from other folds of these very rows. Give ``(X, y)`` that the model learned from, and it learns from them.
    groups : array of shape (n_rows,), optional
        Rows that belong together, such as visits of a patient: intervals are those of groups.
    resamples : int, default=1000
        How often rows are drawn again for intervals; 0 is no intervals.
    random_state : int, default=0
        Of what is drawn.

    Returns
    -------
    Evaluation
        Of classes the area under the curve, average precision, accuracy, balanced accuracy, sensitivity,
        specificity, predictive values, log-loss and Brier score; of more than two, ranks are each class against
        the others, on average. Of values R², root mean square and mean absolute error, and residuals: what is true
        less what is answered. And what was said beside what happened.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sessc import TSKClassifier, evaluate
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = TSKClassifier(3, refine=50, random_state=0).fit(X[::2], y[::2])
    >>> found = evaluate(model, X[1::2], y[1::2], beside=(X[::2], y[::2]))
    >>> list(found.beside), found.measures["AUC"] > 0.9
    (['logistic regression'], True)
    """
    asked: dict[str, Any] = {"positive": positive, "threshold": threshold, "groups": groups}
    asked |= {"resamples": resamples, "random_state": random_state}
    if not isinstance(model, RuleBase) and hasattr(model, "evaluate"):
        return model.evaluate(X, y, sample_weight, prior=prior, beside=beside, **asked)
    rules = _rules(model)
    if rules is None:
        if prior is not None:
            raise ValueError(f"{type(model).__name__} has no rules, so probabilities keep the prior they have.")
        return _of_others(model, X, y, sample_weight, beside, asked)
    rules = rules if prior is None else rules.with_prior(prior)
    rows = labelled(rules, X, y, sample_weight)
    question = _question(rules.classes, _rarest(rules), sample_weight, n_rows=len(np.asarray(rows.y)), **asked)
    table = Cells(np.asarray(rows.X))
    found, seen = _judge(_of_rules(rules, rows), question), observe(rules, table, y, sample_weight)
    others = _beside(rules, table, np.asarray(rows.y), question, beside, X, groups)
    return replace(found, faithfulness=seen.faithfulness, evidence=seen, prior=_prior(rules), beside=others)


def _rules(model: Any) -> RuleBase | None:
    """The rules of a model about the table that it is given; None if it has none that could be said so."""
    if isinstance(model, RuleBase):
        return model
    try:
        return rules_of(model)
    except ValueError:
        return None


def _prior(rules: RuleBase) -> np.ndarray | None:
    return None if rules.classes is None or rules.summary is None else rules.summary.prior


def _rarest(rules: RuleBase) -> Any:
    """Of two classes the one that was rarer in learning; if neither was, the last by name or number."""
    if rules.classes is None or len(rules.classes) != 2:
        return None
    labels, shares = rules.classes.tolist(), None if rules.summary is None else rules.summary.shares
    if shares is None or shares[0] == shares[1]:
        return max(labels, key=lambda label: (isinstance(label, str), label))
    return labels[int(np.argmin(shares))]


def _question(
    classes: np.ndarray | None,
    usual: Any,
    weight: Any,
    *,
    n_rows: int,
    positive: Any,
    threshold: float | None,
    groups: Any,
    resamples: int,
    random_state: int,
) -> _Question:
    """What is asked, if it makes sense."""
    known = [] if classes is None else classes.tolist()
    if positive is not None and positive not in known:
        there = f"the classes are {', '.join(map(str, known))}" if known else "values have no classes"
        raise ValueError(f"positive must be a class, got {positive!r}; {there}.")
    positive = usual if positive is None else positive
    if threshold is not None and (positive is None or not 0 <= threshold <= 1):
        what = "is about one class; say which with positive" if positive is None else "must be from 0 to 1"
        raise ValueError(f"threshold {what}, got {threshold!r}.")
    if resamples < 0:
        raise ValueError(f"resamples must be zero or more, got {resamples}.")
    check_consistent_length(np.empty(n_rows), groups)
    given = None if weight is None else np.asarray(weight, float)
    return _Question(classes, given, Resamples.of(n_rows, groups, resamples, random_state), positive, threshold)


def _of_rules(rules: RuleBase, rows: Any) -> Answered:
    """What rules say of rows, block by block: of many classes not all probabilities are kept."""
    n_classes = 0 if rules.classes is None else len(rules.classes)
    return _answered(np.asarray(rows.y), rows.map(partial(_block, rules)), n_classes)


def _block(rules: RuleBase, samples: Samples) -> np.ndarray:
    outputs = rules.outputs(Cells(samples.X))
    if rules.classes is None:
        return np.asarray(rules.link(outputs), float)
    assert samples.Y is not None
    return _spoken(np.argmax(outputs, axis=1), rules.link(outputs), np.argmax(samples.Y, axis=1))


def _spoken(answers: np.ndarray, P: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of each row its answer, what its class and its answer were given, squares, and of few classes all."""
    P = np.asarray(P, float)
    given, sure = P[np.arange(len(P)), truth], P[np.arange(len(P)), answers]
    squares = np.sum(P * P, axis=1) + 1 - 2 * given if P.shape[1] > 2 else (1 - given) ** 2
    parts = [answers, given, squares, sure, *(P.T if P.shape[1] <= MOST_RANKED else ())]
    return np.stack(parts, axis=1)


def _answered(truth: np.ndarray, said: np.ndarray, n_classes: int) -> Answered:
    if not n_classes:
        return Answered(truth, said[:, 0])
    answers, given, squares, sure = said[:, :4].T
    P = said[:, 4:] if said.shape[1] > 4 else None
    return Answered(truth, answers.astype(int), n_classes, given, squares, P, sure)


def _judge(said: Answered, question: _Question) -> Evaluation:
    """All measures of answers, with their intervals."""
    weight = np.ones(len(said.truth)) if question.weight is None else question.weight
    counts = weight > 0
    weight, draw = weight[counts], question.resamples.taken(counts)
    said = said.taken(counts).looking_for(question.place, question.threshold)
    kinds = [measures_of(said), curve_of(said), *([at_cuts(said)] if said.called is not None else [])]
    found = [{name: part[0] for name, part in kind(weight[None, :]).items()} for kind in kinds]
    drawn = draw.of_all(kinds, weight) if draw.number else [{} for _ in kinds]
    limits = [{name: ends(one) for name, one in each.items()} for each in drawn]
    return Evaluation(
        len(said.truth),
        {name: float(value) for name, value in found[0].items() if not np.isnan(value)},
        _confusion(said, weight),
        intervals=_intervals(said, draw, found[0], limits[0]),
        resamples=draw.number,
        classes=None if question.classes is None else tuple(question.classes.tolist()),
        positive=None if said.called is None else question.positive,
        threshold=question.threshold,
        calibration=_curve(said, draw, found[1], limits[1]),
        cuts=None if said.called is None else _cuts(said, draw, found[2], limits[2], roc_of(said, weight)),
    )


def _confusion(said: Answered, weight: np.ndarray) -> np.ndarray | None:
    if not (n := said.n_classes):
        return None
    found = np.bincount(said.truth * n + said.answers, weight, minlength=n * n).reshape(n, n)
    return counted(found)


def counted(found: np.ndarray) -> np.ndarray:
    """Sums of weights, as whole numbers if they all are."""
    return found.astype(int) if np.all((found == np.round(found)) & (found < 2**53)) else found


def _intervals(said: Answered, draw: Resamples, found: Limits, limits: Limits) -> dict[str, tuple[float, float]]:
    """The ends by measure, of shares of rows Wilson's where the bootstrap has nothing to say."""
    ends_of = {
        name: (float(low), float(high)) for name, (low, high) in limits.items() if not np.isnan(found[name])
    }
    for name, part in _parts(said).items():
        if name in ends_of:
            low, high = widened(found[name], *ends_of[name], draw.taken(part).n_units)
            ends_of[name] = float(low), float(high)
    return ends_of


def _parts(said: Answered) -> dict[str, np.ndarray]:
    """The rows of which a measure is a share."""
    if not said.n_classes:
        return {}
    parts = {"accuracy": np.ones(len(said.truth), bool)}
    if said.called is not None:
        is_so = said.truth == said.positive
        parts |= {"sensitivity": is_so, "specificity": ~is_so}
        parts |= {"positive predictive value": said.called, "negative predictive value": ~said.called}
    return {name: part for name, part in parts.items() if part.any()}


def _curve(said: Answered, draw: Resamples, found: Limits, limits: Limits) -> Curve:
    low, high = limits["found"] if limits else (np.zeros(0), np.zeros(0))
    if said.n_classes and limits:
        n_rows = curve_of(said)(np.ones((1, len(said.truth))))["weight"][0]
        low, high = widened(found["found"], low, high, n_rows * draw.per_row)
    return Curve(found["said"], found["found"], low, high, found["weight"])


def _cuts(said: Answered, draw: Resamples, found: Limits, limits: Limits, roc: np.ndarray) -> Cuts:
    counts = at_cuts(said)(np.ones((1, len(said.truth))))
    hits, alarms = counts["hits"][0], counts["alarms"][0]
    called, there = hits + alarms, hits[0] + alarms[0]
    of = dict(zip(SHARES, (hits[0], alarms[0], called, there - called), strict=True))
    both = {
        name: widened(found[name], limits[name][0], limits[name][1], of[name] * draw.per_row)
        for name in SHARES
        if limits
    }
    low, high = ({name: one[k] for name, one in both.items()} for k in (0, 1))
    return Cuts(found["hits"], found["alarms"], low, high, roc)


def _beside(
    rules: RuleBase, table: Cells, truth: np.ndarray, question: _Question, beside: Any, X: Any, groups: Any
) -> dict[str, Evaluation]:
    """Other models on the same rows; of one row alone no other can be learned."""
    if beside is None or (isinstance(beside, str) and question.resamples.n_units == 1):
        return {}
    if isinstance(beside, Mapping):
        return {
            name: _judge(_of_model(model, X, truth, rules.classes), question) for name, model in beside.items()
        }
    n_classes = 0 if rules.classes is None else len(rules.classes)
    if isinstance(beside, str) and beside == LINE:
        name = f"{called(rules)}, cross-validated"
        seed = question.resamples.random_state
        said = crossed(rules, table.values, truth, question.weight, groups, seed)
    else:
        name, said = called(rules), _taught(rules, table, *beside)
    found = _judge(_plain(said, truth, n_classes), question)
    return {name: replace(found, prior=_prior(rules))}


def _taught(rules: RuleBase, table: Cells, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
    """What a line says that learned from other rows."""
    rows = labelled(rules, X, y, sample_weight)
    line = learned(rules, np.asarray(rows.X), np.asarray(rows.y), rows.sample_weight)
    return spoken(line, table.values, 1 if rules.classes is None else len(rules.classes))


def _plain(said: np.ndarray, truth: np.ndarray, n_classes: int) -> Answered:
    """What is said by values, or by the probability of each class, (n, n_outputs)."""
    return _answered(truth, _spoken(np.argmax(said, axis=1), said, truth) if n_classes else said, n_classes)


def _of_model(model: Any, X: Any, truth: np.ndarray, classes: np.ndarray | None) -> Answered:
    """What any classifier or regressor says."""
    if classes is None:
        return _plain(np.asarray(model.predict(X), float).reshape(-1, 1), truth, 0)
    if not hasattr(model, "predict_proba") or list(model.classes_) != list(classes):
        what = f"{type(model).__name__} gives no probabilities of the classes {', '.join(map(str, classes))}"
        raise ValueError(f"{what}, so it cannot be measured here.")
    return _plain(np.asarray(model.predict_proba(X), float), truth, len(classes))


def _of_others(model: Any, X: Any, y: Any, sample_weight: Any, beside: Any, asked: dict[str, Any]) -> Evaluation:
    """Of a model that is no rules; a line beside it would need to know what its columns are."""
    classes = np.asarray(model.classes_) if hasattr(model, "classes_") else None
    truth = np.asarray(y, float) if classes is None else codes(classes, y)
    usual = classes.tolist()[1] if classes is not None and len(classes) == 2 else None
    question = _question(classes, usual, sample_weight, n_rows=len(truth), **asked)
    others = beside if isinstance(beside, Mapping) else {}
    found, *rest = (_judge(_of_model(one, X, truth, classes), question) for one in (model, *others.values()))
    return replace(found, beside=dict(zip(others, rest, strict=True)))


def _decisive(own: Evaluation) -> tuple[str, float]:
    """What says whether a model is of use, and what guessing reaches; a rare class may never be the answer."""
    if own.confusion is None:
        return "R²", 0.0
    if own.prior is not None and np.ptp(own.prior) > 0.01 and "AUC" in own.measures:
        return "AUC", 0.5
    return "balanced accuracy", 1 / len(own.confusion)


MUCH = 0.05
"""By how much a linear model has to be better than rules, and than their interval, for rules to be of no use."""


def verdict(evaluations: Mapping[str, Evaluation]) -> str:
    """A sentence if a model is of no use, or may be of none, nothing otherwise.

    Parameters
    ----------
    evaluations : dict of Evaluation
        By the name of the model: that of the rules first, and perhaps one to compare it with.
    """
    if not evaluations:
        return ""
    (_, own), *others = evaluations.items()
    measure, chance = _decisive(own)
    reached = own.measures.get(measure)
    if reached is None or own.threshold is not None:  # a threshold is a choice, and not the rules' fault
        return ""
    if reached <= chance:
        found = f"{measure} {reached:.2f}"
        return f"These rules are of no use: on rows held out they are no better than guessing ({found})."
    at_worst, at_best = own.intervals.get(measure, (reached, reached))
    for name, other in others:
        if other.measures.get(measure, reached) > max(reached + MUCH, at_best):
            than = f"{measure} {other.measures[measure]:.2f} against {reached:.2f}"
            return f"Do not use these rules: a {name} is much better on rows held out ({than})."
    if at_worst <= chance:
        found = f"{measure} {reached:.2f}, {at_worst:.2f} to {at_best:.2f}"
        return f"These rules may be of no use: rows held out do not tell them from guessing ({found})."
    return ""


def compare(before: RuleBase, after: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> Comparison:
    """What the way from one rule base to another did to its answers."""
    new = after.edits[len(before.edits) :] if after.edits[: len(before.edits)] == before.edits else after.edits
    measured = partial(evaluate, X=X, y=y, sample_weight=sample_weight, beside=None, resamples=0)
    return Comparison(measured(before), measured(after), int(np.count_nonzero(before(X) != after(X))), new)
