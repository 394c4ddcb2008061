"""Rules and rows beside each other: what happens under each rule, summed over rows wherever they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length

from .._array import Array, array_namespace, like, one_hot, scalar, to_numpy
from ..rows.arrays import ArrayRows
from ..rows.base import Rows, Samples
from ..rows.clean import largest_square_root
from .base import Cells, RuleBase, filled, firing
from .evidence import Evidence

__all__ = ["Outcome", "codes", "labelled", "observe", "observe_rows", "wilson"]

QUANTILE = 1.959963984540054
"""Of the normal distribution, for intervals that hold 95 % of the time."""
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Outcome:
    """How labels of rows are read.

    Parameters
    ----------
    by_class : array of shape (C,), optional
        What a row of each class counts beside its weight; None for values, or if all count alike.
    origin, unit : float
        Values are measured from there, in these units.
    """

    by_class: np.ndarray | None = None
    origin: float = 0.0
    unit: float = 1.0


class _Sums(NamedTuple):
    """Sums over rows; weights of classes are in those by class."""

    weight: Any
    governed: Any
    outcomes: Any
    squares: Any
    counted: Any
    weighed: Any
    answers: Any
    support: Any
    mass: Any
    stated: Any
    observed: Any
    strongest: Any
    total: Any
    right: Any
    together: Any

    def __add__(self, other: Any) -> _Sums:
        return _Sums(*(a + b for a, b in zip(self, other, strict=True)))


def _sums(rules: RuleBase, outcome: Outcome, samples: Samples) -> _Sums:
    """Sums over a block of rows as users gave them, with labels as one-hot classes or as measured values."""
    X, xp = samples.X, array_namespace(samples.X)
    assert samples.Y is not None
    Y = xp.astype(samples.Y, X.dtype)
    weight = xp.ones_like(X[:, 0]) if samples.weight is None else samples.weight
    counts = weight if outcome.by_class is None else weight * (Y @ like(outcome.by_class, X))
    seen = rules.seen(Cells(X))
    F = firing(seen, rules.conditions)
    best = xp.max(F, axis=0)
    leads = one_hot(xp.argmax(F, axis=0), rules.n_rules, X.dtype).T
    answers = (rules.probabilities(Cells(X)) - outcome.origin) / outcome.unit
    mass = F * counts
    stated = (_said(rules, seen, mass) - outcome.origin * xp.sum(mass, axis=1)[:, None]) / outcome.unit
    found = (
        xp.sum(weight),
        leads @ weight,
        (leads * weight) @ Y,
        (leads * weight) @ (Y * Y),
        leads @ counts,
        (leads * counts) @ Y,
        (leads * counts) @ answers,
        F @ weight,
        xp.sum(mass, axis=1),
        stated,
        mass @ Y,
        xp.sum(best * weight),
        xp.stack([weight @ Y, weight @ (Y * Y)]),
        weight @ _right(rules, answers, Y),
        (F * weight) @ F.T,
    )
    return _Sums(*(to_numpy(part).astype(float) for part in found))


def _right(rules: RuleBase, answers: Array, Y: Array) -> Array:
    """Of each class the rows that are answered right, (n, C); of values how far answers are off, squared."""
    xp = array_namespace(Y)
    if rules.classes is None:
        # In units of what is true here, which may be nothing beside what was learned from.
        off = xp.minimum(xp.abs(answers - Y), scalar(float(largest_square_root(xp.finfo(Y.dtype))), Y))
        return off * off
    return Y * one_hot(xp.argmax(answers, axis=1), Y.shape[1], Y.dtype)


def _said(rules: RuleBase, seen: Samples, mass: Array) -> Array:
    """What rules say by themselves, summed over rows by how strongly they fire, (R, C)."""
    xp, X = array_namespace(mass), seen.X
    if not rules.order:
        return xp.sum(mass, axis=1)[:, None] * rules.link(like(rules.consequents[:, 0, :], X))
    Z, parts = filled(seen, rules.fill), []
    for r in range(rules.n_rules):
        says = like(rules.consequents[r, 0], Z) + Z @ like(rules.consequents[r, 1:], Z)
        parts.append(mass[r, :] @ rules.link(says))
    return xp.stack(parts)


def _explained(left: float, total: float) -> float:
    """The share of a sum of squares that is not left; where there is none, whether all is right."""
    return 1 - left / total if total > TINY + left * np.finfo(float).eps else float(left <= TINY)


def _evidence(sums: _Sums, outcome: Outcome, is_class: bool) -> Evidence:
    governed, counted = sums.governed[:, None], np.maximum(sums.counted, TINY)[:, None]
    there, mass = np.maximum(governed, TINY), np.maximum(sums.mass, TINY)[:, None]
    outcomes, weight = sums.outcomes / there, max(float(sums.weight), TINY)
    variance = np.maximum(sums.squares / there - outcomes**2, 0.0)
    score = _balanced_accuracy(sums) if is_class else _explained(float(sums.right[0]), weight * _variance(sums))
    low, high = wilson(outcomes, governed) if is_class else _of_mean(outcomes, variance, governed)
    means = (outcomes, low, high, sums.weighed / counted, sums.answers / counted)
    own = (sums.stated / mass, sums.observed / mass)
    outcomes, low, high, weighed, answers, stated, observed = (
        outcome.unit * one + outcome.origin for one in (*means, *own)
    )
    return Evidence(
        weight=weight,
        governed=sums.governed,
        outcomes=outcomes,
        low=low,
        high=high,
        spread=None if is_class else outcome.unit * np.sqrt(variance[:, 0]),
        weighed=weighed,
        answers=answers,
        stated=stated,
        observed=observed,
        support=sums.support / weight,
        strongest=float(sums.strongest) / weight,
        score=score,
        unit=1.0 if is_class else outcome.unit * (np.sqrt(_variance(sums)) or 1.0),
        together=sums.together / weight,
    )


def _balanced_accuracy(sums: _Sums) -> float:
    masses = sums.total[0]
    return float(np.mean(sums.right[masses > 0] / masses[masses > 0]))


def _variance(sums: _Sums) -> float:
    mean, square = sums.total[:, 0] / max(float(sums.weight), TINY)
    return float(max(square - mean * mean, 0.0))


def wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval for shares of n rows; of hardly any, everything is possible."""
    n, z2 = np.maximum(n, 1e-9), QUANTILE**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = QUANTILE * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)


def _of_mean(mean: np.ndarray, variance: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The usual interval for the mean of n values."""
    reach = QUANTILE * np.sqrt(variance / np.maximum(n - 1, 1.0))
    return mean - reach, mean + reach


def observe_rows(rules: RuleBase, rows: Rows, outcome: Outcome) -> Evidence:
    """What happened under rules on rows as users gave them, whose labels are read like this."""
    return _evidence(rows.sum(partial(_sums, rules, outcome)), outcome, rules.classes is not None)


def observe(rules: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> Evidence:
    """The same for a table; see :meth:`RuleBase.observe`."""
    rows = labelled(rules, X, y, sample_weight)
    return observe_rows(rules, *((rows, _classed(rules, rows)) if rules.classes is not None else _measured(rows)))


def labelled(rules: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> ArrayRows:
    """A table as rows, with codes of the rules' classes, or values, for labels."""
    cells = np.asarray(rules.cells(X))
    check_consistent_length(cells, y, sample_weight)
    weight = None if sample_weight is None else np.asarray(sample_weight, cells.dtype)
    if rules.classes is None:
        return ArrayRows(cells, np.asarray(y, float), weight)
    return ArrayRows(cells, codes(rules.classes, y), weight, n_classes=len(rules.classes))


def codes(classes: np.ndarray, y: Any) -> np.ndarray:
    """Labels as the places of their classes."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    given = np.asarray(y).tolist()
    if odd := [label for label in given if label not in place]:
        raise ValueError(f"y has the class {odd[0]!r}, which the rules do not know.")
    return np.asarray([place[label] for label in given], dtype=int)


def _measured(rows: ArrayRows) -> tuple[ArrayRows, Outcome]:
    """Rows whose values are measured from their mean, in units of their spread."""
    values = np.asarray(rows.y)
    outcome = Outcome(None, float(np.average(values, weights=rows.sample_weight)), float(np.std(values)) or 1.0)
    return replace(rows, y=(values - outcome.origin) / outcome.unit), outcome


def _classed(rules: RuleBase, rows: ArrayRows) -> Outcome:
    """Rows of each class count so that classes weigh what they weighed in learning, if that is known."""
    if rules.summary is None or rules.summary.prior is None:
        return Outcome()
    mass = np.bincount(np.asarray(rows.y), rows.sample_weight, minlength=rows.n_classes or 0)
    shares = mass / mass.sum()
    return Outcome(np.divide(rules.summary.prior, shares, out=np.zeros(len(shares)), where=shares > 0))
