"""Pictures, as scikit-learn's displays: numbers first, then ``plot()``, which needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from .._drawing import pyplot
from ..rows.columns import Category
from ..rules.base import Cells, RuleBase, place_of
from ..rules.conditions import grades, impacts, shown_range
from ..rules.pipelines import rules_of
from ..rules.wording import day, one_line, output_names

__all__ = [
    "COLORS",
    "BoundaryDisplay",
    "ConditionsDisplay",
    "ConvergenceDisplay",
    "FiringDisplay",
    "MembershipDisplay",
    "dated",
    "short",
]

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
"""Okabe and Ito's, told apart by every reader."""
DASHES = ("-", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))
"""What tells rules of one colour apart."""
HATCHES = ("", "//", "..", "xx")
"""The same of bars."""
LONGEST = 16
"""Characters of a level that are shown below its bars."""


class MembershipDisplay:
    """How well values of some features meet the conditions of every rule: curves over the data, or bars by level.

    Parameters
    ----------
    rules : RuleBase
    features : sequence of int
        Which features, in the order of the panels.
    before : RuleBase, optional
        Rules to compare with, such as those before refinement, drawn dashed.
    """

    def __init__(self, rules: RuleBase, features: Sequence[int], before: RuleBase | None = None):
        self.rules, self.features, self.before = rules, list(features), before

    @classmethod
    def from_rules(
        cls, rules: RuleBase, features: Sequence[str] | None = None, *, before: RuleBase | None = None
    ) -> Self:
        """Draw the named features, by default the six on which rules have their strongest conditions."""
        rules, before = _rules(rules), None if before is None else _rules(before)
        if features is not None:
            chosen = [place_of(rules, name) for name in features]
        else:
            strength = _strength(rules)
            chosen = [int(d) for d in np.argsort(-strength, kind="stable")[:6] if strength[d] > 0]
        if not chosen:
            what = "no rule has a condition" if features is None else "there is nothing to draw"
            raise ValueError(f"{what}; name at least one feature.")
        return cls(rules, chosen, before).plot()

    def plot(self) -> Self:
        plt = pyplot()
        from matplotlib.lines import Line2D

        n_columns = min(3, len(self.features))
        n_rows = -(-len(self.features) // n_columns)
        self.figure_, axes = plt.subplots(
            n_rows, n_columns, figsize=(3.2 * n_columns, 2.2 * n_rows), squeeze=False, layout="constrained"
        )
        self.axes_ = axes.ravel()
        for ax in self.axes_[len(self.features) :]:
            ax.set_visible(False)
        for d, ax in zip(self.features, self.axes_, strict=False):
            self._panel(ax, d)
        handles, _ = self.axes_[0].get_legend_handles_labels()
        if self.before is not None:
            handles.append(Line2D([], [], ls="--", lw=0.8, color="#444444", label="before"))
        self.figure_.legend(handles=handles, loc="outside right upper", frameon=False)
        return self

    def _panel(self, ax: Any, d: int) -> None:
        what = self.rules.columns[d]
        if isinstance(what, Category):
            self._bars(ax, d, what)
        else:
            self._histogram(ax, d)
            self._curves(ax, d)
            if what.is_date:
                dated(ax.xaxis, 2)
        ax.set(title=one_line(self.rules.feature_names[d]), ylim=(0, 1.05), yticks=[0, 1])

    def _curves(self, ax: Any, d: int) -> None:
        values = np.linspace(*shown_range(self.rules, d), 300)
        for r in range(self.rules.n_rules):
            style = {"ls": DASHES[r // len(COLORS) % len(DASHES)], "lw": 1.4, "label": f"rule {r + 1}"}
            ax.plot(values, grades(self.rules, r, d, values), color=COLORS[r % len(COLORS)], **style)
        for r in range(0 if self.before is None else self.before.n_rules):
            assert self.before is not None
            ax.plot(values, grades(self.before, r, d, values), color=COLORS[r % len(COLORS)], ls="--", lw=0.8)

    def _histogram(self, ax: Any, d: int) -> None:
        summary = self.rules.summary
        if summary is not None and summary.counts[d].any():
            edges = np.linspace(*shown_range(self.rules, d), summary.counts.shape[1] + 1)
            ax.stairs(summary.counts[d] / summary.counts[d].max(), edges, fill=True, color="#dddddd")

    def _bars(self, ax: Any, d: int, what: Category) -> None:
        """A bar for each rule and level, over how common levels are; before, as lines across the bars."""
        codes, n_rules = np.arange(what.n_levels), self.rules.n_rules
        if self.rules.summary is not None and self.rules.summary.levels[d].any():
            shares = self.rules.summary.levels[d]
            ax.bar(codes, shares / shares.max(), width=0.95, color="#dddddd")
        for r in range(n_rules):
            places = codes + 0.8 * ((r + 0.5) / n_rules - 0.5)
            style = {"color": COLORS[r % len(COLORS)], "hatch": HATCHES[r // len(COLORS) % len(HATCHES)]}
            heights = grades(self.rules, r, d, codes)
            ax.bar(places, heights, width=0.8 / n_rules, label=f"rule {r + 1}", ec="white", lw=0.3, **style)
            if self.before is not None and r < self.before.n_rules:
                across = 0.4 / n_rules
                was = grades(self.before, r, d, codes)
                ax.hlines(was, places - across, places + across, color="#444444", ls="--", lw=0.8)
        labels = [short(label) for label in what.labels]
        turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if max(map(len, labels)) > 6 else {}
        ax.set_xticks(codes, labels, **turned)


class ConditionsDisplay:
    """How strong conditions are: rules by features, white for "any value".

    The strength of a condition is its impact: the standard deviation over the data of what it adds to the
    logarithm of how strongly its rule fires.
    """

    def __init__(self, rules: RuleBase):
        self.rules = rules

    @classmethod
    def from_rules(cls, rules: RuleBase, *, ax: Any = None) -> Self:
        """Draw the strengths of the conditions, features with the strongest first."""
        return cls(_rules(rules)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        plt = pyplot()

        strength = np.where(self.rules.asks, impacts(self.rules), 0.0)
        order = np.argsort(-_strength(self.rules), kind="stable")
        self.order_ = order[strength[:, order].any(axis=0)]
        self.strength_ = strength[:, self.order_]
        if ax is None:
            size = (min(3 + 0.35 * len(self.order_), 14), 2.8 + 0.32 * self.rules.n_rules)
            _, ax = plt.subplots(figsize=size, layout="constrained")
        if self.order_.size:
            self._grid(ax)
        else:
            ax.text(0.5, 0.5, "no rule has a condition", ha="center", va="center", transform=ax.transAxes)
            ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _grid(self, ax: Any) -> None:
        shown = np.ma.masked_equal(self.strength_, 0)
        picture = ax.imshow(shown, cmap="Oranges", vmin=0, aspect="auto")
        names = [one_line(self.rules.feature_names[d]) for d in self.order_]
        ax.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(self.rules.n_rules), [f"rule {r + 1}" for r in range(self.rules.n_rules)])
        ax.figure.colorbar(picture, ax=ax, label="impact")


class FiringDisplay:
    """How much each rule counts on average, by class where classes are known.

    Parameters
    ----------
    firing : array of shape (n_groups, n_rules)
        Mean firing levels times the share of each group; all together sum to one.
    groups : sequence of str
    """

    def __init__(self, firing: np.ndarray, groups: Sequence[str]):
        self.firing, self.groups = np.asarray(firing), list(groups)

    @classmethod
    def from_rules(cls, rules: RuleBase, X: Any, y: Any = None, *, ax: Any = None) -> Self:
        """Draw how much of the data each rule speaks for, and which classes these are."""
        rules = _rules(rules)
        fired = rules.firing(X)
        if y is None or rules.classes is None:
            return cls(fired.mean(axis=0)[None, :], ["all rows"]).plot(ax)
        y = column_or_1d(y)
        check_consistent_length(fired, y)
        parts = [fired[y == label].sum(axis=0) / len(fired) for label in rules.classes]
        return cls(np.stack(parts), output_names(rules)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        plt = pyplot()

        if ax is None:
            _, ax = plt.subplots(figsize=(6, 1 + 0.3 * self.firing.shape[1]), layout="constrained")
        names = [f"rule {r + 1}" for r in range(self.firing.shape[1])]
        left = np.zeros(self.firing.shape[1])
        for k, (group, shares) in enumerate(zip(self.groups, self.firing, strict=True)):
            ax.barh(names, 100 * shares, left=100 * left, color=COLORS[k % len(COLORS)], label=group)
            left = left + shares
        ax.invert_yaxis()
        ax.set(xlabel="share of the data, %")
        if len(self.groups) > 1:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ConvergenceDisplay:
    """The objective of a fitted model, iteration by iteration."""

    def __init__(self, history: np.ndarray, name: str):
        self.history, self.name = np.asarray(history), name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the history of a clusterer, or of a rule model's refinement."""
        if hasattr(estimator, "objective_history_"):
            return cls(estimator.objective_history_, "objective").plot(ax)
        history = np.asarray(getattr(estimator, "refine_history_", ()))
        if not history.size:
            raise ValueError("there is no history to draw; fit a clusterer, or a rule model with refinement.")
        return cls(history, "mean loss with penalties").plot(ax)

    def plot(self, ax: Any = None) -> Self:
        plt = pyplot()

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        ax.plot(self.history, color=COLORS[0])
        ax.set(xlabel="iteration", ylabel=self.name)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class BoundaryDisplay:
    """What rules answer on the plane of two features, the others being as in ``rules.typical``.

    Parameters
    ----------
    rules : RuleBase
    features : pair of int
    """

    def __init__(self, rules: RuleBase, features: tuple[int, int]):
        self.rules, self.features = rules, features

    @classmethod
    def from_rules(
        cls, rules: RuleBase, features: tuple[str, str], X: Any = None, y: Any = None, *, ax: Any = None
    ) -> Self:
        """Draw the answers on the plane of two named features, and rows on top."""
        rules = _rules(rules)
        if isinstance(features, str) or len(features) != 2:
            raise ValueError(f"a plane is that of two features, such as ('age', 'weight'); got {features!r}.")
        a, b = (place_of(rules, name) for name in features)
        for d in (a, b):
            if rules.layout.levels[d]:
                name = rules.feature_names[d]
                raise ValueError(f"{name!r} is a category and has no axis; name two features that are numbers.")
        return cls(rules, (a, b)).plot(X, y, ax)

    def plot(self, X: Any = None, y: Any = None, ax: Any = None) -> Self:
        plt = pyplot()
        from matplotlib.colors import ListedColormap

        rules, (a, b) = self.rules, self.features
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        across, up = (np.linspace(*shown_range(rules, d), 200) for d in (a, b))
        rows = np.repeat(rules.typical[None, :], across.size * up.size, axis=0)
        rows[:, a], rows[:, b] = (part.ravel() for part in np.meshgrid(across, up))
        if rules.classes is None:
            self.answers_ = rules(Cells(rows)).reshape(up.size, across.size)
            picture = ax.pcolormesh(across, up, self.answers_, cmap="viridis", shading="auto", rasterized=True)
            ax.figure.colorbar(picture, ax=ax, label=one_line(rules.target_name))
        else:
            self.answers_ = np.argmax(rules.outputs(Cells(rows)), axis=1).reshape(up.size, across.size)
            colors = [COLORS[c % len(COLORS)] for c in range(len(rules.classes))]
            style = {"cmap": ListedColormap(colors), "vmin": -0.5, "vmax": len(colors) - 0.5, "alpha": 0.25}
            ax.pcolormesh(across, up, self.answers_, shading="auto", rasterized=True, **style)
        if X is not None:
            self._rows(ax, np.asarray(rules.cells(X)), y)
        ax.set(xlabel=one_line(rules.feature_names[a]), ylabel=one_line(rules.feature_names[b]))
        ax.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]))
        for axis, d in zip((ax.xaxis, ax.yaxis), (a, b), strict=True):
            if getattr(rules.columns[d], "is_date", False):
                dated(axis, 4)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _rows(self, ax: Any, X: np.ndarray, y: Any) -> None:
        a, b = self.features
        if y is None:
            ax.scatter(X[:, a], X[:, b], s=8, color="#444444")
            return
        if self.rules.classes is None:
            low, high = self.answers_.min(), self.answers_.max()
            ax.scatter(X[:, a], X[:, b], s=10, c=np.asarray(y), vmin=low, vmax=high, ec="white", lw=0.3)
            return
        for c, (label, name) in enumerate(zip(self.rules.classes, output_names(self.rules), strict=True)):
            own = np.asarray(y) == label
            ax.scatter(X[own, a], X[own, b], s=8, color=COLORS[c % len(COLORS)], label=name)
        ax.legend(frameon=False)


def _rules(given: Any) -> RuleBase:
    """Rules, or those of a fitted model or pipeline."""
    return given if isinstance(given, RuleBase) else rules_of(given)


def _strength(rules: RuleBase) -> np.ndarray:
    """How strong the conditions of all rules on each feature are together, (n_features,)."""
    return np.sqrt(np.sum(np.where(rules.asks, impacts(rules), 0.0) ** 2, axis=0))


def dated(axis: Any, most: int) -> None:
    """An axis of days since 1970 whose few ticks are dates."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most))
    axis.set_major_formatter(lambda value, _: day(value))


def short(label: str, longest: int = LONGEST) -> str:
    """A label that leaves room for others."""
    text = one_line(label)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
