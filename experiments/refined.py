"""The page "Rules beside other models": docs/refined.md and its picture, from the recorded comparison alone.

python -m experiments.refined
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from . import figures  # noqa: F401  (how our figures look)
from .comparison import EVERY, MODELS, N_SPLITS_OF_OTHERS, PATH, Compared
from .page import ROOT, Evidence, Page, PaperPage
from .results import Results
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

    def scores(self, measure: str, splits: int | None = None) -> Scores:
        scores = collect(self.results, 0, measure)
        keep = range(splits or 10**9)
        return {
            dataset: {model: {s: v for s, v in by_split.items() if s in keep} for model, by_split in cells.items()}
            for dataset, cells in scores.items()
        }

    def mean(self, model: str, measure: str, splits: int | None = None) -> float:
        cells = means(self.scores(measure, splits), [model])
        return float(np.mean([by_model[model] for by_model in cells.values()]))

    def n_splits(self, model: str) -> int:
        return min(len(cells[model]) for cells in self.scores("bca").values())


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
        return form.format(self.comparison.mean(model, name, splits))

    def paper_mean(self, method: str) -> str:
        """The mean BCA of a zero-order method of the paper, as we reproduced it."""
        return PaperPage(Evidence()).mean(0, "BCA", method)

    def overview(self) -> str:
        """Everything recorded of each model, on all its splits."""
        rows = []
        for model in self.comparison.models:
            values = {name: self.comparison.mean(model, measure) for name, (measure, _) in COLUMNS.items()}
            cells = [
                "" if np.isnan(values[name]) else form.format(values[name]) for name, (_, form) in COLUMNS.items()
            ]
            rows.append([model, str(self.comparison.n_splits(model)), *cells])
        return markdown(["model", "splits", *COLUMNS], rows)

    def first_splits(self) -> str:
        """BCA of every model on the splits that all have, best first."""
        table = means(self.comparison.scores("bca", N_SPLITS_OF_OTHERS), self.comparison.models)
        average = {model: np.mean([cells[model] for cells in table.values()]) for model in self.comparison.models}
        ordered = sorted(average, key=lambda model: -average[model])
        rows = [
            [model, f"**{average[model]:.2f}**", *(f"{table[d][model]:.1f}" for d in table)] for model in ordered
        ]
        return markdown(["model", "average", *table], rows)

    def by_data_set(self) -> str:
        """BCA of the models that have all splits."""
        models = [model for model in self.comparison.models if model in MODELS]
        table = means(self.comparison.scores("bca"), models)
        rows = [[model, *(f"{table[dataset][model]:.2f}" for dataset in table)] for model in models]
        return markdown(["model", *table], rows)

    def against(self, model: str, *others: str) -> str:
        return paired_table(self.comparison.scores("bca"), model, others)


def draw(comparison: Comparison) -> Figure:
    """Mean BCA against the number of conditions in all rules together."""
    figure, ax = plt.subplots(figsize=(7.5, 4.2))
    places = {
        model: (comparison.mean(model, "conditions"), comparison.mean(model, "bca")) for model in comparison.models
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
            model, (1.01, last), xycoords=("axes fraction", "data"), va="center", fontsize=8, color="#666666"
        )
    return figure


def main() -> None:
    comparison = Comparison(Results(PATH, Compared))
    PICTURE.parent.mkdir(exist_ok=True)
    draw(comparison).savefig(PICTURE, metadata={"Software": None})
    RefinedPage(comparison).written("refined.md", ROOT / "docs" / "refined.md")


if __name__ == "__main__":
    main()
