"""The scoreboard's pictures: critical differences of ranks, and scores against what models ask of people."""

from __future__ import annotations

import math
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from . import figures  # noqa: F401  (how our figures look)
from .contenders import CONTENDERS, OURS
from .leads import KINDS, MEASURES, SCORES, Standings, critical_difference, groups, typical

__all__ = ["pictures"]

LOOKS = {
    "default": ("#D55E00", "o"),
    "accurate": ("#D55E00", "D"),
    "ten rules of five": ("#D55E00", "^"),
    "ten rules of three": ("#D55E00", "v"),
    "linear model": ("#000000", "P"),
    "support vectors": ("#666666", "X"),
    "random forest": ("#009E73", "s"),
    "boosted trees": ("#009E73", "p"),
    "EBM": ("#0072B2", "*"),
    "HTSK": ("#CC79A7", "h"),
    "FIGS": ("#E69F00", "<"),
    "RuleFit": ("#E69F00", ">"),
    "ex-fuzzy": ("#CC79A7", "d"),
}
"""Colour and marker of each: ours in one colour."""
BROKEN = {"support vectors": "-.", "random forest": "--", "boosted trees": ":"}
"""The lines of models that say nothing to be read."""
AXES = {"classes": "mean BCA, %", "values": "mean R²"}


def drawn_kinds(standings: Standings) -> list[str]:
    """Kinds of sets of which there is something to draw."""
    return [kind for kind in KINDS if standings.common(kind)]


def draw_ranks(standings: Standings) -> Figure:
    """Mean ranks on a line, and bars over those that Nemenyi's test does not tell apart."""
    kinds = drawn_kinds(standings)
    most = max(len(standings.ranked(kind)) for kind in kinds)
    size = (8, (1.6 + 0.16 * most) * len(kinds))
    figure, axes = plt.subplots(len(kinds), 1, figsize=size, squeeze=False)
    for ax, kind in zip(axes[:, 0], kinds, strict=True):
        ranks, n_sets = standings.ranks(kind), len(standings.common(kind))
        width = critical_difference(len(ranks), n_sets)
        title = f"{MEASURES[SCORES[kind]].title}, {n_sets} sets, {len(ranks)} models"
        draw_rank_line(ax, ranks, width)
        ax.set_title(f"{title}: mean ranks; bars join what {width:.2f} ranks do not tell apart", pad=14)
    return figure


def draw_rank_line(ax: Axes, ranks: dict[str, float], width: float) -> None:
    """The better half is named on the left, the others on the right."""
    ordered = sorted(ranks, key=lambda model: ranks[model])
    bars, half, end = groups(ranks, width), (len(ordered) + 1) // 2, len(ordered)
    low = 0.35 * len(bars) + 0.3
    for k, model in enumerate(ordered):
        left = k < half
        height, edge = -low - 0.5 * (k if left else end - 1 - k), 0.7 if left else end + 0.3
        color = LOOKS[model][0] if model in OURS else "black"
        ax.plot([ranks[model], ranks[model], edge], [0, height, height], color=color, lw=0.9)
        ax.text(
            edge + (-0.08 if left else 0.08),
            height,
            f"{model}  {ranks[model]:.1f}" if left else f"{ranks[model]:.1f}  {model}",
            ha="right" if left else "left",
            va="center",
            color=color,
            fontsize=8,
        )
    for k, row in enumerate(bars):
        ends = [ranks[row[0]] - 0.05, ranks[row[-1]] + 0.05]
        ax.plot(ends, [-0.3 - 0.35 * k] * 2, color="black", lw=3.5, solid_capstyle="butt")
    ax.plot([1, end], [0, 0], color="black", lw=1)
    for rank in range(1, end + 1):
        ax.plot([rank, rank], [0, 0.12], color="black", lw=1)
        ax.text(rank, 0.2, str(rank), ha="center", va="bottom", fontsize=8)
    ax.set(xlim=(0.7 - 0.2 * end, end + 0.3 + 0.2 * end), ylim=(-low - 0.5 * half, 0.7))
    ax.axis("off")


def draw_against(standings: Standings, measure: str, label: str) -> Figure:
    """Scores against a number of each model; who has none is a line."""
    kinds = drawn_kinds(standings)
    figure, axes = plt.subplots(1, len(kinds), figsize=(4.6 * len(kinds), 4.6), squeeze=False)
    for ax, kind in zip(axes[0], kinds, strict=True):
        for model in standings.ranked(kind):
            color, marker = LOOKS[model]
            score = float(standings.means(model, SCORES[kind], kind).mean())
            x = spread(standings.means(model, measure, kind), measure)
            if math.isnan(x):
                ax.axhline(score, color=color, ls=BROKEN.get(model, "--"), lw=1, label=model, zorder=1)
            else:
                size = 11 if marker == "*" else 7
                ax.plot(
                    x, score, marker, color=color, ms=size, mec="white", mew=0.6, label=model, ls="none", zorder=3
                )
        ax.set(xscale="log", xlabel=label, ylabel=AXES[kind], title=f"{len(standings.common(kind))} sets")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:,g}")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.margins(x=0.12, y=0.08)
    handles = {
        text: handle for ax in axes[0] for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    ordered = [name for name in CONTENDERS if name in handles]
    figure.legend([handles[name] for name in ordered], ordered, loc="outside lower center", ncols=5, fontsize=8)
    return figure


def spread(values: np.ndarray, measure: str) -> float:
    """A typical number over sets: seconds differ by factors, and what is read has a few huge sets."""
    return typical(values) if measure == "seconds" else float(np.median(values))


def pictures(standings: Standings) -> Iterator[tuple[str, Figure]]:
    yield "ranks", draw_ranks(standings)
    yield "reading", draw_against(standings, "read", "conclusions, conditions and coefficients, the middle set")
    yield "time", draw_against(standings, "seconds", "seconds of a fit, tuning included, geometric mean")
