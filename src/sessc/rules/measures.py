"""Measures of answers: formulas over weights, so that one pass of them serves the rows and all their resamples.

Rows have weights ``W`` of shape (b, n), one line for each resample, and every measure is an array of b numbers:
NaN where it is not defined, such as the area under the curve of rows of a single class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

__all__ = ["CUTS", "MOST_RANKED", "SHARES", "Answered", "at_cuts", "curve_of", "measures_of", "roc_of"]

CUTS = np.arange(101) / 100
"""Thresholds at which a page can say how many rows are found: every hundredth."""
TENTHS = 10
"""Parts, of equally many rows, in which answers are compared with what happened."""
MOST_RANKED = 20
"""Classes up to which all probabilities of all rows are kept, and rows ranked by each."""
ROC_POINTS = 100
SHARES = ("sensitivity", "specificity", "positive predictive value", "negative predictive value")

Masses = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Answered:
    """What is true of n rows, and what a model said of them.

    Parameters
    ----------
    truth, answers : arrays of shape (n,)
        Codes of classes, or values.
    n_classes : int
        Zero for values.
    given : array of shape (n,) or None
        The probability given to the class of each row.
    squares : array of shape (n,) or None
        How far probabilities are from the class of each row, squared, over all classes.
    probabilities : array of shape (n, n_classes) or None
        None if there are many classes.
    sure : array of shape (n,) or None
        The probability of the answer.
    positive : int or None
        The class that one looks for.
    called : array of bool of shape (n,) or None
        Which rows are called so.
    """

    truth: np.ndarray
    answers: np.ndarray
    n_classes: int = 0
    given: np.ndarray | None = None
    squares: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    sure: np.ndarray | None = None
    positive: int | None = None
    called: np.ndarray | None = None

    def looking_for(self, positive: int | None, threshold: float | None) -> Answered:
        """The same of one class: of two, the answer is that one where its probability reaches the threshold."""
        if positive is None or self.probabilities is None:
            return self
        called = self.answers == positive if threshold is None else self.probabilities[:, positive] >= threshold
        answers = np.where(called, positive, 1 - positive) if self.n_classes == 2 else self.answers
        return replace(self, positive=positive, called=called, answers=answers)

    def taken(self, rows: np.ndarray) -> Answered:
        """Some of the rows."""
        parts = {name: part[rows] for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return replace(self, **parts)


def measures_of(said: Answered) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """A function from weights (b, n) to the measures of these answers, (b,) each."""
    return _of_classes(said) if said.n_classes else _of_values(said)


def _of_classes(said: Answered) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    right = said.answers == said.truth
    by_class = np.argsort(said.truth, kind="stable")
    starts = np.flatnonzero(np.diff(said.truth[by_class], prepend=-1))
    ranks = [_Ranks(*one) for one in _ranked(said)]
    assert said.given is not None
    assert said.squares is not None
    losses = -np.log(np.maximum(said.given, np.finfo(float).eps))

    def measures(W: np.ndarray) -> dict[str, np.ndarray]:
        V, total = W[:, by_class], W.sum(axis=1)
        masses = [np.add.reduceat(part, starts, axis=1) for part in (V, V * right[by_class])]
        return {
            **_ranking([one.masses(W) for one in ranks]),
            "accuracy": _ratio(W @ right, total),
            "balanced accuracy": _mean_of_known(_ratio(masses[1], masses[0])),
            **_found(said, W),
            "log-loss": _ratio(W @ losses, total),
            "Brier score": _ratio(W @ said.squares, total),
        }

    return measures


def _ranked(said: Answered) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores by which rows are ranked, and the rows that should come first: of one class, or of each in turn."""
    if said.probabilities is None:
        return []
    classes = range(said.n_classes) if said.positive is None else [said.positive]
    return [(said.probabilities[:, c], said.truth == c) for c in classes]


def _ranking(masses: list[Masses]) -> dict[str, np.ndarray]:
    """How well probabilities rank rows; of several classes the mean, each against all others."""
    if not masses:
        return {}
    kinds = {"AUC": _auc, "average precision": _average_precision}
    return {name: _mean_of_known(np.stack([kind(*one) for one in masses], axis=1)) for name, kind in kinds.items()}


def _auc(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """How often a row of the class comes before another row; a tie is half of that."""
    before = np.cumsum(down, axis=1) - down / 2
    return _ratio(np.sum(up * before, axis=1), up.sum(axis=1) * down.sum(axis=1))


def _average_precision(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Precision at each threshold, by how much more of the class is found there."""
    found, called = _from_above(up), _from_above(up + down)
    precision = np.divide(found, called, out=np.zeros_like(found), where=called > 0)
    return _ratio(np.sum(up * precision, axis=1), up.sum(axis=1))


def _from_above(masses: np.ndarray) -> np.ndarray:
    return np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]


def _found(said: Answered, W: np.ndarray) -> dict[str, np.ndarray]:
    """What is found of the class that one looks for, and what is called so rightly."""
    if said.called is None:
        return {}
    is_so = said.truth == said.positive
    return _shares_found(W @ (is_so & said.called), W @ (~is_so & said.called), W @ is_so, W @ ~is_so)


def _shares_found(
    hits: np.ndarray, alarms: np.ndarray, positives: np.ndarray, negatives: np.ndarray
) -> dict[str, np.ndarray]:
    """Sensitivity, specificity and predictive values, by what is called so of rows that are and that are not."""
    passed, missed = negatives - alarms, positives - hits
    found = (hits, positives), (passed, negatives), (hits, hits + alarms), (passed, passed + missed)
    return {name: _ratio(*one) for name, one in zip(SHARES, found, strict=True)}


def _of_values(said: Answered) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    apart = said.truth - said.answers
    about = said.truth - said.truth.mean()  # from there squares do not cancel
    order = np.argsort(apart, kind="stable")

    def measures(W: np.ndarray) -> dict[str, np.ndarray]:
        total = W.sum(axis=1)
        error = _ratio(W @ apart**2, total)
        spread = _ratio(W @ about**2, total) - _ratio(W @ about, total) ** 2
        below = np.cumsum(W[:, order], axis=1)
        return {
            "R²": 1 - _ratio(error, spread),
            "root mean square error": np.sqrt(error),
            "mean absolute error": _ratio(W @ np.abs(apart), total),
            "mean residual": _ratio(W @ apart, total),
            **{name: _quantile(apart[order], below, share) for name, share in RESIDUALS.items()},
        }

    return measures


RESIDUALS = {"5 % of residuals below": 0.05, "median residual": 0.5, "95 % of residuals below": 0.95}
"""What is said of how residuals, what is true less what was answered, are spread."""


def _quantile(values: np.ndarray, below: np.ndarray, share: float) -> np.ndarray:
    """The smallest value up to which this share of the weight lies; rounding in sums must not skip one."""
    places = np.sum(below < share * below[:, -1:] * (1 - 1e-12), axis=1)
    return values[places]


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """NaN where nothing can be said: of nothing, or of so little that there is no number for it."""
    with np.errstate(over="ignore"):
        found = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=np.asarray(below) > 0)
    return np.where(np.isinf(found), np.nan, found)


def _mean_of_known(parts: np.ndarray) -> np.ndarray:
    """The mean over classes, (b, C), of those that there are."""
    known = ~np.isnan(parts)
    return _ratio(np.where(known, parts, 0.0).sum(axis=1), known.sum(axis=1))


class _Ranks:
    """Rows by their scores, ties together, and which of them should come first."""

    def __init__(self, scores: np.ndarray, hits: np.ndarray):
        self.order = np.argsort(scores, kind="stable")
        ordered = scores[self.order]
        self.starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
        self.values, self.hits = ordered[self.starts], hits[self.order]

    def masses(self, W: np.ndarray) -> Masses:
        """What rows of each score weigh, (b, n_scores): those that should come first, and the others."""
        V = W[:, self.order]
        up = np.add.reduceat(V * self.hits, self.starts, axis=1)
        return up, np.add.reduceat(V * ~self.hits, self.starts, axis=1)


def at_cuts(said: Answered) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """What is called so, rightly and wrongly, where the probability reaches each of ``CUTS``, (b, n_cuts)."""
    [(scores, hits)] = _ranked(said)
    ranks = _Ranks(scores, hits)
    places = np.searchsorted(ranks.values, CUTS)

    def called(W: np.ndarray) -> dict[str, np.ndarray]:
        counts = [np.pad(_from_above(one), ((0, 0), (0, 1))) for one in ranks.masses(W)]
        hits, alarms = (one[:, places] for one in counts)
        totals = [np.broadcast_to(one[:, :1], hits.shape) for one in counts]
        return {"hits": hits, "alarms": alarms, **_shares_found(hits, alarms, *totals)}

    return called


def roc_of(said: Answered, weight: np.ndarray) -> np.ndarray:
    """The curve from (0, 0) to (1, 1), (2, k): the share of the others called so, and of the class found."""
    [(scores, hits)] = _ranked(said)
    found, false = (np.append(_from_above(one)[0], 0.0) for one in _Ranks(scores, hits).masses(weight[None, :]))
    some = np.unique(np.linspace(0, len(found) - 1, ROC_POINTS + 1).round().astype(int))[::-1]
    return np.stack([_ratio(one, np.full(len(one), one[0]))[some] for one in (false, found)])


def _judged_by(said: Answered) -> np.ndarray:
    """What is compared with what happened, by row: the probability of the class looked for, or of the answer."""
    if not said.n_classes:
        return said.answers
    assert said.sure is not None
    if said.positive is None or said.probabilities is None:
        return said.sure
    return said.probabilities[:, said.positive]


def curve_of(said: Answered) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """What was said and what happened on average, and what rows weigh, in tenths of the rows by what was said."""
    scores = _judged_by(said)
    edges = np.percentile(scores, np.linspace(0, 100, TENTHS + 1))
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(np.searchsorted(edges[1:-1], scores[order]), prepend=-1))
    happened = _happened(said)[order]

    def curve(W: np.ndarray) -> dict[str, np.ndarray]:
        V = W[:, order]
        weight, stated, found = (
            np.add.reduceat(part, starts, axis=1) for part in (V, V * scores[order], V * happened)
        )
        return {"weight": weight, "said": _ratio(stated, weight), "found": _ratio(found, weight)}

    return curve


def _happened(said: Answered) -> np.ndarray:
    if not said.n_classes:
        return said.truth
    if said.positive is None or said.probabilities is None:
        return (said.answers == said.truth).astype(float)
    return (said.truth == said.positive).astype(float)
