"""The page "Rules beside other models": docs/refined.md and its picture, from the recorded comparison alone.

python -m experiments.refined
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import count

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from . import figures  # noqa: F401  (how our figures look)
from .comparison import EVERY, MODELS, PATH, Compared
from .page import ROOT, Evidence, Page, PaperPage
from .results import Results
from .statistics import paired, signed_rank
from .tables import Scores, collect, markdown, means, paired_table

PICTURE = ROOT / "docs" / "refined" / "size.png"
COLUMNS = {
    "BCA": ("bca", "{:.2f}"),
    "RCA": ("rca", "{:.2f}"),
    "log-loss": ("log_loss", "{:.3f}"),
    "calibration error": ("calibration", "{:.1f}"),
    "rules": ("rules", "{:.1f}"),
    "conditions a rule": ("length", "{:.1f}"),
    "numbers": ("numbers", "{:,.0f}"),
    "fit, s": ("seconds", "{:.1f}"),
    "predict, ms": ("milliseconds", "{:.1f}"),
}
"""Columns of the overview: what of a result each shows, and how."""


class Comparison:
    """The recorded lines, and means over splits and then over data sets."""

    def __init__(self, results: Results):
        self.results = list(results)

    @property
    def models(self) -> list[str]:
        """Those with a result for every data set, in the order they are listed."""
        known = {(result.method, result.dataset) for result in self.results}
        datasets = {dataset for _, dataset in known}
        return [name for name in EVERY if all((name, dataset) in known for dataset in datasets)]

    def scores(self, measure: str, splits: Iterable[int] | None = None) -> Scores:
        """Of these splits, or of all that a model has on every data set."""
        return {
            dataset: {
                model: {s: cells[model][s] for s in splits or range(self.n_splits(model)) if s in cells[model]}
                for model in self.models
            }
            for dataset, cells in collect(self.results, 0, measure).items()
        }

    def mean(self, model: str, measure: str, splits: Iterable[int] | None = None) -> float:
        cells = means(self.scores(measure, splits), [model])
        return float(np.mean([by_model[model] for by_model in cells.values()]))

    @cache  # noqa: B019  (there is one, for a page)
    def n_splits(self, model: str) -> int:
        """How many splits a model has on every data set, from the first on."""
        known = {(result.dataset, result.split) for result in self.results if result.method == model}
        datasets = {dataset for dataset, _ in known}
        return next(s for s in count() if any((dataset, s) not in known for dataset in datasets))

    @property
    def common(self) -> range:
        """The splits that every model has."""
        return range(min(map(self.n_splits, self.models)))

    def difference(self, ours: str, theirs: str) -> dict[str, np.ndarray]:
        """One model's BCA less another's on each data set, split by split, on those that both have."""
        splits = range(min(self.n_splits(ours), self.n_splits(theirs)))
        scores = self.scores("bca", splits)
        return {d: np.asarray([cells[ours][s] - cells[theirs][s] for s in splits]) for d, cells in scores.items()}


class RefinedPage(Page):
    """What ``refined.md`` asks."""

    def __init__(self, comparison: Comparison):
        self.comparison = comparison

    def mean(self, measure: str, model: str) -> str:
        name, form = COLUMNS[measure]
        return form.format(self.comparison.mean(model, name))

    def first(self, splits: int, measure: str, model: str) -> str:
        """A mean over the first splits alone."""
        name, form = COLUMNS[measure]
        return form.format(self.comparison.mean(model, name, range(splits)))

    def lead(self, ours: str, theirs: str) -> str:
        """One model's mean BCA less another's on the splits both have."""
        return f"{np.mean([v.mean() for v in self.comparison.difference(ours, theirs).values()]):+.2f}"

    def stars(self, ours: str, theirs: str) -> str:
        """The data sets on which Nadeau and Bengio's test tells two models apart, and who wins them."""
        found = {d: paired(v, 0 * v) for d, v in self.comparison.difference(ours, theirs).items()}
        won = [d for d, (mean, _, p) in found.items() if p < 0.05 and mean > 0]
        lost = [d for d, (mean, _, p) in found.items() if p < 0.05 and mean < 0]
        return f"better on {_list(won)} and worse on {_list(lost)}"

    def sign(self, ours: str, theirs: str) -> str:
        """Wilcoxon's p-value over the means of data sets."""
        found = self.comparison.difference(ours, theirs)
        return f"{signed_rank(np.asarray([v.mean() for v in found.values()])):.3f}"

    def splits(self, model: str) -> str:
        return str(self.comparison.n_splits(model))

    def paper_mean(self, method: str) -> str:
        """The mean BCA of a zero-order method of the paper, as we reproduced it."""
        return PaperPage(Evidence()).mean(0, "BCA", method)

    def overview(self) -> str:
        """Everything recorded of each model on the splits that all have, and BCA on all its own."""
        rows, common = [], self.comparison.common
        for model in self.comparison.models:
            values = {name: self.comparison.mean(model, measure, common) for name, (measure, _) in COLUMNS.items()}
            cells = [
                "" if np.isnan(values[name]) else form.format(values[name]) for name, (_, form) in COLUMNS.items()
            ]
            every = f"{self.comparison.mean(model, 'bca'):.2f} on {self.comparison.n_splits(model)}"
            rows.append([model, *cells, every])
        return markdown(["model", *COLUMNS, "BCA on all its splits"], rows)

    def first_splits(self) -> str:
        """BCA of every model on the splits that all have, best first."""
        table = means(self.comparison.scores("bca", self.comparison.common), self.comparison.models)
        average = {model: np.mean([cells[model] for cells in table.values()]) for model in self.comparison.models}
        ordered = sorted(average, key=lambda model: -average[model])
        rows = [
            [model, f"**{average[model]:.2f}**", *(f"{table[d][model]:.1f}" for d in table)] for model in ordered
        ]
        return markdown(["model", "average", *table], rows)

    def against(self, model: str, *others: str) -> str:
        """Differences on the splits both have, which the heading counts."""
        table = paired_table(self.comparison.scores("bca"), model, others)
        for other in others:
            n = min(map(self.comparison.n_splits, (model, other)))
            table = table.replace(f"| against {other} |", f"| against {other}, {n} splits |", 1)
        return table


TITLES = {"wpbc": "WPBC", "wdbc": "WDBC", "drd": "DRD", "waveform21": "Waveform"}


def _list(names: list[str]) -> str:
    titles = [TITLES.get(name, name.title()) for name in names]
    return ", ".join(filter(None, [", ".join(titles[:-2]), " and ".join(titles[-2:])])) or "none"


def draw(comparison: Comparison) -> Figure:
    """Mean BCA against the number of conditions in all rules together."""
    figure, ax = plt.subplots(figsize=(7.5, 4.2))
    places = {
        model: tuple(comparison.mean(model, measure, comparison.common) for measure in ("conditions", "bca"))
        for model in comparison.models
    }
    without = {model: score for model, (conditions, score) in places.items() if np.isnan(conditions)}
    places = {model: place for model, place in places.items() if model not in without}
    for model, (conditions, score) in places.items():
        ours = model in MODELS
        ax.plot(conditions, score, "o" if ours else "s", color="#D55E00" if ours else "#0072B2")
        crowded = any(1 < more / conditions < 1.5 and abs(other - score) < 0.2 for more, other in places.values())
        aside, side = (-6, "right") if crowded else (6, "left")
        ax.annotate(model, (conditions, score), xytext=(aside, 4), textcoords="offset points", fontsize=8, ha=side)
    ax.margins(x=0.25)
    ax.set(xscale="log", xlabel="conditions in all rules together", ylabel="mean BCA of nine data sets, %")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.xaxis.set_minor_locator(NullLocator())
    gap, last = 0.035 * np.diff(ax.get_ylim())[0], -np.inf
    for model, score in sorted(without.items(), key=lambda item: item[1]):
        ax.axhline(score, color="#bbbbbb", lw=0.8, zorder=0)
        last = max(score, last + gap)
        ax.annotate(
            f"{model} {score:.1f}",
            (1.01, last),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color="#666666",
        )
    return figure


def main() -> None:
    comparison = Comparison(Results(PATH, Compared))
    PICTURE.parent.mkdir(exist_ok=True)
    draw(comparison).savefig(PICTURE, metadata={"Software": None})
    RefinedPage(comparison).written("refined.md", ROOT / "docs" / "refined.md")


if __name__ == "__main__":
    main()
