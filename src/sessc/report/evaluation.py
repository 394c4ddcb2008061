"""An evaluation as text and as a picture."""

from __future__ import annotations

from textwrap import fill
from typing import Any, Self

import numpy as np

from .._drawing import pyplot
from ..rules.evaluation import Curve, Evaluation
from ..rules.wording import count, percent
from .phrases import held_for

__all__ = ["EvaluationDisplay", "meaning", "measure_table", "to_text"]

LINE = 110
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
RANGES = ("R²", "log-loss", "Brier score")
"""Measures on a scale of their own, which a picture leaves out."""
PLAIN = 1e15
"""Numbers from here on are written with an exponent."""
FAR = 0.05
"""How far the prior of probabilities may be from the rows that they are judged on without a word about it."""


def to_text(found: Evaluation, name: str = "model", where: str = "") -> str:
    """Measures with their intervals, a column for each model, and what they mean; ``where`` says which rows."""
    ends = f", with 95 % intervals from {found.resamples} resamples" if found.resamples else ""
    lines = [f"On {count(found.n_rows, 'row')}{where}{_common(found)}{ends}:"]
    lines += measure_table({name: found} | dict(found.beside))
    said = [*meaning(found), *filter(None, [found.faithful])]
    return "\n".join([*lines, *(fill(one, LINE) for one in said)])


def meaning(found: Evaluation) -> list[str]:
    """What measures are about, in sentences: the class looked for, and the prior of probabilities."""
    return [*filter(None, [_looked_for(found), _prior_of(found)])]


def measure_table(evaluations: dict[str, Evaluation]) -> list[str]:
    """Lines of text, one for each measure, with a column for each model."""
    names = list(dict.fromkeys(name for one in evaluations.values() for name in one.measures))
    columns = [[title, *(_cell(one, name) for name in names)] for title, one in evaluations.items()]
    first = ["", *names]
    wide = [max(map(len, column)) for column in (first, *columns)]
    rows = zip(first, *columns, strict=True)
    return ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, wide, strict=True)).rstrip() for row in rows]


def _cell(one: Evaluation, name: str) -> str:
    if name not in one.measures:
        return "-"
    value = _brief(one.measures[name], 4)
    if name not in one.intervals:
        return value
    low, high = (_brief(end, 3) for end in one.intervals[name])
    return f"{value} ({low} to {high})"


def _brief(value: float, digits: int) -> str:
    """A number to so many digits, as people write thousands."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < PLAIN else text


def _common(found: Evaluation) -> str:
    """How common classes are among the rows, if they are few."""
    if found.classes is None or found.shares is None or len(found.classes) > 4:
        return ""
    shares = zip(found.classes, found.shares, strict=True)
    return f" ({', '.join(f'{_named(label)} {percent(share)}' for label, share in shares)})"


def _named(label: Any) -> str:
    """A class in a sentence, where a number would be taken for an amount."""
    return label if isinstance(label, str) else f"class {label}"


def _looked_for(found: Evaluation) -> str:
    """Which rows are called what one looks for."""
    if found.positive is None:
        return ""
    from_on = (
        "it is the likeliest" if found.threshold is None else f"its probability is at least {found.threshold:g}"
    )
    return (
        f"Sensitivity and predictive values are of {_named(found.positive)}: a row is called so where {from_on}."
    )


def _prior_of(found: Evaluation) -> str:
    """For which classes the probabilities that were judged hold, and whether rows are so."""
    if found.classes is None or found.prior is None or found.shares is None:
        return ""
    held = f"Probabilities {held_for([*map(_named, found.classes)], found.prior)}"
    if np.abs(found.prior - found.shares).max() < FAR:
        return f"{held}."
    return f"{held}, which these rows are not: log-loss, Brier score and calibration suffer, ranks do not."


class EvaluationDisplay:
    """Measures with their intervals beside those of other models, what is found, what was said and what happened.

    Parameters
    ----------
    evaluation : Evaluation
    """

    def __init__(self, evaluation: Evaluation):
        self.evaluation = evaluation

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any = None, **asked: Any) -> Self:
        """Evaluate a model, as :func:`sessc.evaluate` does, and draw what was found."""
        from ..rules.evaluation import evaluate

        return cls(evaluate(model, X, y, **asked)).plot()

    def plot(self, **settings: Any) -> Self:
        plt = pyplot()

        found = self.evaluation
        models = {"model": found} | dict(found.beside)
        panels = [self._measures, *([self._roc] if found.cuts is not None else []), self._calibration]
        size = {"figsize": (4.6 * len(panels), 4.4), "layout": "constrained"}
        self.figure_, axes = plt.subplots(1, len(panels), squeeze=False, **(size | settings))
        self.axes_ = axes.ravel()
        for draw, ax in zip(panels, self.axes_, strict=True):
            draw(ax, models)
        handles, names = self.axes_[-1].get_legend_handles_labels()
        self.figure_.legend(handles, names, loc="outside lower center", ncols=len(models), frameon=False)
        return self

    def frame(self) -> Any:
        """The measures that are drawn, as a data frame with a line for each model and measure."""
        import pandas as pd

        found = [
            (name, measure, value, *one.intervals.get(measure, (np.nan, np.nan)))
            for name, one in ({"model": self.evaluation} | dict(self.evaluation.beside)).items()
            for measure, value in one.measures.items()
        ]
        return pd.DataFrame(found, columns=["model", "measure", "value", "low", "high"])

    def _measures(self, ax: Any, models: dict[str, Evaluation]) -> None:
        """Those that are shares of one; of values, in their own units, all but R²."""
        shown = [name for name in self.evaluation.measures if name not in RANGES]
        across = 0.5 / max(len(models), 1)
        for k, one in enumerate(models.values()):
            places = np.arange(len(shown)) + across * (k - (len(models) - 1) / 2)
            values = [one.measures.get(name, np.nan) for name in shown]
            ends = np.array(
                [one.intervals.get(name, (value, value)) for name, value in zip(shown, values, strict=True)]
            )
            ax.hlines(places, ends[:, 0], ends[:, 1], color=COLORS[k % len(COLORS)], lw=2, alpha=0.6)
            ax.plot(values, places, "o", color=COLORS[k % len(COLORS)], ms=5)
        ax.set_yticks(range(len(shown)), shown)
        ax.invert_yaxis()
        ax.grid(axis="x", color="#dddddd", lw=0.6)
        ax.set(
            title=f"On {self.evaluation.n_rows} rows" + (", 95 % intervals" if self.evaluation.resamples else "")
        )

    def _roc(self, ax: Any, models: dict[str, Evaluation]) -> None:
        ax.plot([0, 1], [0, 1], color="#999999", lw=0.8, ls="--")
        for k, one in enumerate(models.values()):
            if one.cuts is not None:
                ax.plot(*one.cuts.roc, color=COLORS[k % len(COLORS)], lw=1.6)
                reached = 1 - one.measures["specificity"], one.measures["sensitivity"]
                ax.plot(*reached, "o", color=COLORS[k % len(COLORS)], ms=6)
        what = str(self.evaluation.positive)
        ax.set(xlabel=f"others called {what}", ylabel=f"{what} found", title="What is found", aspect="equal")

    def _calibration(self, ax: Any, models: dict[str, Evaluation]) -> None:
        curves = [one.calibration for one in models.values() if one.calibration is not None]
        ends = [min(one.said.min() for one in curves), max(one.said.max() for one in curves)]
        limits = ends if self.evaluation.classes is None else [0, 1]
        ax.plot(limits, limits, color="#999999", lw=0.8, ls="--")
        for k, (name, one) in enumerate(models.items()):
            if one.calibration is not None:
                _draw(ax, one.calibration, COLORS[k % len(COLORS)], name)
        if self.evaluation.classes is None:
            said, found = "answered", "true, on average"
        else:
            what = "the answer" if self.evaluation.positive is None else str(self.evaluation.positive)
            said, found = f"probability of {what}", "how often it was so"
        ax.set(xlabel=said, ylabel=found, title="What was said and what happened")


def _draw(ax: Any, curve: Curve, color: str, name: str) -> None:
    if len(curve.low):
        ax.vlines(curve.said, curve.low, curve.high, color=color, lw=1.2, alpha=0.5)
    ax.plot(curve.said, curve.found, "o-", color=color, ms=4, lw=1.2, label=name)
