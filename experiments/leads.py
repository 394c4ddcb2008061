"""The recorded lines of the scoreboard, and what they say of models: means, leads and ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import stats

from sessc.datasets import NAMES

from .contenders import CONTENDERS, OURS
from .results import Results
from .scoreboard import LATER, OF_CLASSES, OF_VALUES, PATH, Line
from .statistics import paired

__all__ = ["KINDS", "MEASURES", "SCORES", "Lead", "Standings", "critical_difference", "groups", "recorded"]

BASE = "linear model"
"""Whose absolute error is the unit of all others', since values have units of their own."""
ENOUGH = 0.5
"""The share of sets a model must have to be ranked beside the others."""
FAR = 2.0
"""How many standard errors are more than chance."""
FEW = 5
"""With fewer sets than these an error over sets says nothing."""
KINDS = {"classes": OF_CLASSES, "values": OF_VALUES}


class Measure(NamedTuple):
    """What a column shows of lines, and how."""

    title: str
    digits: int
    better: int = 1
    """1 if more is better, -1 if less is."""
    kind: str = "classes"


MEASURES = {
    "bca": Measure("BCA", 2),
    "accuracy": Measure("accuracy", 2),
    "auc": Measure("AUC", 3),
    "log_loss": Measure("log-loss", 3, -1),
    "calibration": Measure("calibration error", 1, -1),
    "r2": Measure("R²", 3, 1, "values"),
    "relative_error": Measure("absolute error", 3, -1, "values"),
}
SCORES = {"classes": "bca", "values": "r2"}
"""By what models of each kind are ranked."""

Cells = dict[str, dict[int, float]]
"""dataset -> split -> value."""


class Lead(NamedTuple):
    """One model less another: the mean over sets of means over the splits that both have."""

    mean: float
    error: float
    """Over sets; NaN if there is only one."""
    wins: int
    losses: int
    sets: int
    splits: tuple[int, int]
    """The fewest and the most of a set."""

    @property
    def is_far(self) -> bool:
        return self.sets >= FEW and abs(self.mean) > FAR * self.error


class Standings:
    """The recorded lines, and the questions the page asks of them."""

    def __init__(self, lines: Iterable[Line]):
        self.lines = {line.key: line for line in lines}
        if not self.lines:
            raise SystemExit("No line is recorded; run python -m experiments.scoreboard first.")

    @property
    def models(self) -> list[str]:
        known = {line.model for line in self.lines.values()}
        return [name for name in CONTENDERS if name in known]

    @property
    def splits(self) -> list[int]:
        """Those that any model has, by the number they have on the development sets."""
        return sorted({number(line) for line in self.lines.values()})

    def value(self, line: Line, measure: str) -> float:
        if measure == "relative_error":
            base = self.lines.get((line.dataset, line.split, BASE))
            return line.mean_absolute_error / base.mean_absolute_error if base else math.nan
        if measure == "read":
            return read(line)
        return float(getattr(line, measure))

    @cache  # noqa: B019  (there is one, for a page)
    def cells(self, model: str, measure: str) -> Cells:
        """All that is a number, sets in the order of the page."""
        own = sorted((line for line in self.lines.values() if line.model == model), key=lambda line: line.split)
        found: Cells = {name: {} for name in (*OF_CLASSES, *OF_VALUES)}
        for line in own:
            if not math.isnan(value := self.value(line, measure)):
                found[line.dataset][line.split] = value
        return {dataset: by_split for dataset, by_split in found.items() if by_split}

    def difference(self, ours: str, theirs: str, measure: str) -> dict[str, np.ndarray]:
        """One model less another on each set, split by split, on those that both have."""
        a, b = self.cells(ours, measure), self.cells(theirs, measure)
        both = {d: sorted(a[d].keys() & b[d].keys()) for d in a if d in b}
        return {d: np.asarray([a[d][s] - b[d][s] for s in splits]) for d, splits in both.items() if splits}

    def lead(self, ours: str, theirs: str, measure: str) -> Lead | None:
        """None if no set has a split that both have."""
        found = self.difference(ours, theirs, measure)
        if not found:
            return None
        means = np.asarray([values.mean() for values in found.values()])
        counts = [len(values) for values in found.values()]
        signed = MEASURES[measure].better * means
        wins, losses = int(np.sum(signed > 0)), int(np.sum(signed < 0))
        return Lead(float(means.mean()), over(means), wins, losses, len(means), (min(counts), max(counts)))

    def ranked(self, kind: str) -> list[str]:
        """Models that have enough of the sets of a kind, those that others have."""
        sets = {model: len(self.cells(model, SCORES[kind])) for model in self.models}
        return [model for model, n in sets.items() if n and n >= ENOUGH * max(sets.values())]

    @cache  # noqa: B019
    def common(self, kind: str) -> dict[str, list[int]]:
        """Sets and their splits that all who are ranked have."""
        cells = [self.cells(model, SCORES[kind]) for model in self.ranked(kind)]
        shared = {d: sorted(set.intersection(*(set(one.get(d, ())) for one in cells))) for d in KINDS[kind]}
        return {dataset: splits for dataset, splits in shared.items() if splits}

    def means(self, model: str, measure: str, kind: str) -> np.ndarray:
        """One number for each set, over the splits that all have; NaN where the measure has none."""
        cells = self.cells(model, measure)
        return np.asarray(
            [
                np.mean([cells.get(d, {}).get(s, math.nan) for s in splits])
                for d, splits in self.common(kind).items()
            ]
        )

    def ranks(self, kind: str) -> dict[str, float]:
        """Mean ranks over sets, 1 for the best; who is level shares a rank."""
        table = self.table(kind)
        return dict(zip(self.ranked(kind), stats.rankdata(-table, axis=1).mean(axis=0).tolist(), strict=True))

    def table(self, kind: str) -> np.ndarray:
        """Sets in rows, those who are ranked in columns."""
        return np.stack([self.means(model, SCORES[kind], kind) for model in self.ranked(kind)], axis=1)

    def lost(self, ours: str, dataset: str) -> list[tuple[str, float, float, int]]:
        """Who is ahead on a set by more than two standard errors over splits, by how much, farthest first."""
        measure = SCORES["values" if dataset in OF_VALUES else "classes"]
        found = []
        for other in (model for model in self.models if model not in OURS):
            values = self.difference(other, ours, measure).get(dataset, np.empty(0))
            if len(values) < 2:
                continue
            mean, error, _ = paired(values, np.zeros_like(values))
            if mean > FAR * error:
                found.append((other, mean, error, len(values)))
        return sorted(found, key=lambda one: -one[1])


def number(line: Line) -> int:
    """A split's number; the paper's sets count theirs from ten on."""
    return line.split - (LATER if line.dataset in NAMES else 0)


def read(line: Line) -> float:
    """All that stands in a model: conclusions, conditions and coefficients; NaN if it says nothing."""
    parts = [part for part in (line.rules, line.conditions, line.terms) if not math.isnan(part)]
    return float(sum(parts)) if parts else math.nan


def over(means: np.ndarray) -> float:
    """The standard error of a mean over sets; NaN of one."""
    return float(np.std(means, ddof=1) / math.sqrt(len(means))) if len(means) > 1 else math.nan


def critical_difference(n_models: int, n_sets: int, level: float = 0.05) -> float:
    """How far mean ranks must lie apart by Nemenyi's test, as Demšar (2006) has it."""
    q = stats.studentized_range.ppf(1 - level, n_models, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_models * (n_models + 1) / (6 * n_sets)))


def groups(ranks: dict[str, float], width: float) -> list[list[str]]:
    """Models that the test does not tell apart, as long as such a row can be, best first."""
    ordered = sorted(ranks, key=lambda model: ranks[model])
    rows = [[m for m in ordered[k:] if ranks[m] - ranks[first] <= width] for k, first in enumerate(ordered)]
    longest = [row for k, row in enumerate(rows) if k == 0 or row[-1] != rows[k - 1][-1]]
    return [row for row in longest if len(row) > 1]


def typical(seconds: np.ndarray) -> float:
    """The geometric mean, as sets differ by factors."""
    return float(np.exp(np.mean(np.log(np.maximum(seconds, 1e-6)))))


def recorded() -> Standings:
    """What all lines of the record say."""
    return Standings(Results(PATH, Line))  # type: ignore[arg-type]
