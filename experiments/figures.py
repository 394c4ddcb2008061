"""The paper's figures, drawn from the recorded studies alone.

python -m experiments.figures          # all of them, into docs/paper
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sessc import Power
from sessc.datasets import make_quadrants
from sessc.rows.base import Samples
from sessc.rules.base import Conditions, firing

from .studies import PAPERS, PROBLEMS, RESULTS, SYNTHETIC, R, synthetic

OUT = Path(__file__).parents[1] / "docs" / "paper"
# Okabe and Ito's colours, told apart by every reader; the paper's own method in the strongest.
COLORS = {
    "FCM-LSE": "#999999", "EWFCM-LSE": "#E69F00", "ESSC-LSE": "#56B4E9",
    "SFP": "#CC79A7", "SESSC": "#009E73", "SESSC-LSE": "#D55E00",
}  # fmt: skip
MARKERS = dict(zip(COLORS, "sv^DoP", strict=True))
CLASSES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7"]
DATASETS = {"vehicle": "Vehicle", "biodeg": "Biodeg", "drd": "DRD"}

mpl.rcParams.update(
    {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.grid": True,
        "grid.color": "#e6e6e6",
        "legend.frameon": False,
        "figure.dpi": 150,
        "figure.constrained_layout.use": True,
    }
)


def read(study: str) -> list[dict[str, Any]]:
    """The rows of a study, numbers as numbers."""
    with (RESULTS / f"{study}.csv").open(newline="", encoding="utf-8") as file:
        return [{name: _number(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def _number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def gathered(rows: Iterable[dict[str, Any]], by: str, value: str) -> dict[Any, np.ndarray]:
    """Values grouped by a column, in order of appearance."""
    groups: dict[Any, list] = {}
    for row in rows:
        groups.setdefault(row[by], []).append(row[value])
    return {key: np.asarray(values) for key, values in groups.items()}


def quadrants() -> Figure:
    X, y = make_quadrants(random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), sharex=True, sharey=True)
    rows = read("quadrants")
    for axis, method in zip(axes, ("ESSC", "SESSC"), strict=True):
        for k, color in enumerate(CLASSES):
            axis.scatter(*X[y == k].T, s=8, color=color, alpha=0.55, linewidths=0)
        centers = np.asarray([(row["x"], row["y"]) for row in rows if row["method"] == method])
        axis.axhline(0, color="#bbbbbb", lw=0.8, zorder=0)
        axis.axvline(0, color="#bbbbbb", lw=0.8, zorder=0)
        axis.scatter(*centers.T, marker="X", s=110, color="black", edgecolors="white", linewidths=1.2, zorder=3)
        axis.set(title=method, aspect="equal", xlabel="$x_1$")
        axis.grid(visible=False)
    axes[0].set_ylabel("$x_2$")
    return figure


def boundaries() -> Figure:
    rows = read("boundaries")
    numbers = sorted({int(row["n_rules"]) for row in rows})
    cases = [(problem, method) for problem in PROBLEMS for method in ("SESSC", "SESSC-LSE")]
    figure, axes = plt.subplots(4, 4, figsize=(8.6, 8.8))
    for line, (problem, method) in zip(axes, cases, strict=True):
        X, y = synthetic(problem)
        for axis, n_rules in zip(line, numbers, strict=True):
            case = (problem, method, n_rules)
            own = [row for row in rows if (row["problem"], row["method"], row["n_rules"]) == case]
            _boundary(axis, method, own, X, y)
            axis.set_title(f"{n_rules} rules: {own[0]['accuracy']:.1f} %", fontsize=9)
        line[0].set_ylabel(f"{method}, {problem}", fontsize=10)
    return figure


def _boundary(axis: Axes, method: str, rules: list[dict[str, Any]], X: np.ndarray, y: np.ndarray) -> None:
    """The line where a recorded rule base changes its mind, among the samples."""
    limit = 1.08 * np.abs(X).max()
    side = np.linspace(-limit, limit, 301)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    lead = lead_of_second(method, rules, points, X.mean(axis=0)).reshape(len(side), -1)
    axis.contourf(side, side, lead, levels=[-np.inf, 0, np.inf], colors=CLASSES[:2], alpha=0.12)
    axis.contour(side, side, lead, levels=[0], colors="black", linewidths=1)
    for k in (0, 1):
        axis.scatter(*X[y == k].T, s=4, color=CLASSES[k], linewidths=0)
    axis.set(aspect="equal", xticks=[], yticks=[])
    axis.grid(visible=False)


def lead_of_second(method: str, rules: list[dict[str, Any]], points: np.ndarray, center: np.ndarray) -> np.ndarray:
    """By how much recorded rules favour the second class at some points; in two dimensions "auto" makes m = 2."""
    V, S, Z = (np.asarray([[rule[f"{letter}0"], rule[f"{letter}1"]] for rule in rules]) for letter in "vsz")
    if method == "SESSC":
        near = (S[:, None, :] * (points - V[:, None, :]) ** 2).sum(axis=2)
        cost = near - SYNTHETIC["eta"] * (S * (V - center) ** 2).sum(axis=1)[:, None]
        levels = Power(2.0).share(cost, axis=0)
    else:
        levels = firing(Samples(points), Conditions.bells(V, S))
    return (Z[:, 1] - Z[:, 0]) @ levels


SETTINGS = {
    "printed": "as printed: h = 100, $\\lambda$ = 0.01",
    "own widths": "each with its own usual h and $\\lambda$",
    "own": "each with all that its own searches took",
}


def rules() -> Figure:
    rows = read("rules")
    figure, axes = plt.subplots(3, 2, figsize=(8, 8.8), sharex=True, sharey=True)
    for line, (setting, title) in zip(axes, SETTINGS.items(), strict=True):
        for axis, measure in zip(line, ("rca", "bca"), strict=True):
            for method, color in COLORS.items():
                own = [row for row in rows if (row["setting"], row["method"]) == (setting, method)]
                means = {r: v.mean() for r, v in gathered(own, "n_rules", measure).items()}
                axis.plot(
                    *zip(*means.items(), strict=True), color=color, marker=MARKERS[method], ms=4, label=method
                )
            axis.set(title=title, ylabel=f"{measure.upper()} (%)")
    for axis in axes[-1]:
        axis.set(xlabel="number of rules R", xticks=range(10, 101, 10))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure


def convergence() -> Figure:
    rows = read("convergence")
    figure, axis = plt.subplots(figsize=(5, 3.4))
    numbers = sorted({int(row["n_rules"]) for row in rows})
    shades = plt.get_cmap("viridis")(np.linspace(0.05, 0.85, len(numbers)))
    for n_rules, shade in zip(numbers, shades, strict=True):
        own = [row for row in rows if row["n_rules"] == n_rules]
        medians = {k: np.median(costs) for k, costs in gathered(own, "iteration", "cost").items()}
        axis.plot(*zip(*medians.items(), strict=True), color=shade, marker=".", label=f"R = {n_rules}")
    axis.set(xlabel="iteration", ylabel="cost J (median of ten runs)")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right center")
    return figure


def sensitivity() -> Figure:
    rows = read("sensitivity")
    names = {"n_rules": "R", "gamma": "$\\gamma$", "eta": "$\\eta$", "beta": "$\\beta$"}
    defaults = {"n_rules": R, **PAPERS}
    figure, axes = plt.subplots(2, 4, figsize=(10, 5.4), sharey=True, sharex="col")
    for line, method in zip(axes, ("SESSC", "SESSC-LSE"), strict=True):
        for axis, parameter in zip(line, names, strict=True):
            for (dataset, label), color in zip(DATASETS.items(), CLASSES, strict=False):
                case = (dataset, method, parameter)
                own = [row for row in rows if (row["dataset"], row["method"], row["parameter"]) == case]
                _band(axis, gathered(own, "value", "bca"), color, label)
            axis.axvline(defaults[parameter], color="#999999", ls=":", lw=1)
        line[0].set_ylabel(f"{method}: BCA (%)")
    for axis, (parameter, symbol) in zip(axes[1], names.items(), strict=True):
        axis.set(xlabel=symbol)
        if parameter in ("gamma", "beta"):
            axis.set_xscale("log")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _band(axis: Axes, groups: dict[Any, np.ndarray], color: str, label: str) -> None:
    """Means by value, with a band of their standard errors."""
    values, scores = list(groups), np.stack(list(groups.values()), axis=1)
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    axis.plot(values, mean, color=color, marker="o", ms=4, label=label)
    axis.fill_between(values, mean - error, mean + error, color=color, alpha=0.18, lw=0)


FIGURES: dict[str, Callable[[], Figure]] = {
    draw.__name__: draw for draw in (quadrants, boundaries, rules, convergence, sensitivity)
}


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        figure = draw()
        figure.savefig(OUT / f"{name}.png", metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
