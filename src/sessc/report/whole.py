"""Pictures of the whole model: which columns matter, what they do, and how rules share the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._drawing import pyplot
from ..rules.base import RuleBase, place_of
from ..rules.effects import Effect, Effects
from ..rules.links import Softmax
from ..rules.overview import Coefficient, coefficients
from ..rules.pipelines import rules_of
from ..rules.wording import cell, number, one_line, output_names
from .plots import COLORS, dated, short

__all__ = [
    "CoefficientsDisplay",
    "EffectsDisplay",
    "ImportancesDisplay",
    "OverlapDisplay",
    "adds_to",
    "heading",
    "kind_of",
    "shown_outputs",
    "weighed",
]

PALE = ("#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffed9f", "#8dd3c7", "#e0c7a6")
"""Of areas, beside the colours of lines."""
OTHERS = "#d9d9d9"
MANY = 6
"""Classes that have a line each."""


class ImportancesDisplay:
    """How much the answer changes with each column, as shares of one.

    Parameters
    ----------
    importances : array of shape (n_features,)
    names : sequence of str
    """

    def __init__(self, importances: np.ndarray, names: Sequence[str]):
        self.importances, self.names = np.asarray(importances), list(names)

    @classmethod
    def from_rules(cls, rules: Any, X: Any = None, *, most: int = 20, ax: Any = None) -> Self:
        """Draw those that rules, or a fitted model, had in learning, or have on the rows of a table."""
        rules = _rules(rules)
        found = rules.effects(X).importances
        if found is None:
            raise ValueError("importances of rules changed or written by hand are found on rows; give X.")
        return cls(found, [one_line(name) for name in rules.feature_names]).plot(ax, most=most)

    def plot(self, ax: Any = None, *, most: int = 20) -> Self:
        plt = pyplot()

        drawn = self.frame().head(most)
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 1 + 0.28 * len(drawn)), layout="constrained")
        ax.barh([short(name) for name in drawn["feature"]], 100 * drawn["importance"], color=COLORS[0])
        ax.invert_yaxis()
        ax.set(xlabel="importance, %")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def frame(self) -> Any:
        """The importances, the largest first, as a data frame."""
        import pandas as pd

        order = np.argsort(-self.importances, kind="stable")
        names = [self.names[j] for j in order]
        return pd.DataFrame({"feature": names, "importance": self.importances[order]})


class EffectsDisplay:
    """The mean answer over each column, with the shares of rules below it.

    Where a column goes together with another one, the mean is that of the rows about each value, and a dashed line
    says what the column does by itself: accumulated local effects. The title says which. Categories are bars,
    and missing cells have a place of their own, *unknown*.

    Parameters
    ----------
    rules : RuleBase
    effects : Effects
    features : sequence of int, optional
        Which of the curves, by the place of their column; by default the six that matter most.
    """

    def __init__(self, rules: RuleBase, effects: Effects, features: Sequence[int] | None = None):
        by_column = {one.column: one for one in effects.curves}
        self.rules, self.effects = rules, effects
        self.curves = list(effects.curves[:6]) if features is None else [by_column[j] for j in features]

    @classmethod
    def from_rules(cls, rules: Any, X: Any = None, *, features: Sequence[str] | None = None) -> Self:
        """Draw what rules, or a fitted model, answered in learning, or answer on the rows of a table."""
        rules = _rules(rules)
        effects = rules.effects(X)
        places = None if features is None else [place_of(rules, name) for name in features]
        known = {one.column for one in effects.curves}
        if lacking := [rules.feature_names[j] for j in places or () if j not in known]:
            raise ValueError(f"the answer changes with {lacking[0]!r} little or not at all; name another feature.")
        if not effects.curves:
            raise ValueError("there is nothing to draw: the answer is always the same.")
        return cls(rules, effects, places).plot()

    def plot(self) -> Self:
        plt = pyplot()

        n_columns = min(3, len(self.curves))
        n_rows = -(-len(self.curves) // n_columns)
        self.figure_, axes = plt.subplots(
            2 * n_rows,
            n_columns,
            figsize=(3.9 * n_columns, 3.4 * n_rows),
            height_ratios=[3, 1.2] * n_rows,
            squeeze=False,
            layout="constrained",
        )
        self.axes_ = axes
        for k, one in enumerate(self.curves):
            above, below = axes[2 * (k // n_columns) : 2 * (k // n_columns) + 2, k % n_columns]
            self._answers(above, one)
            self._shares(below, one)
        for k in range(len(self.curves), n_rows * n_columns):
            for ax in axes[2 * (k // n_columns) : 2 * (k // n_columns) + 2, k % n_columns]:
                ax.set_visible(False)
        self._legend()
        return self

    def frame(self) -> Any:
        """What is drawn, as a data frame with a line for each column, cell and output."""
        import pandas as pd

        names = output_names(self.rules)
        found = [
            (self.rules.feature_names[one.column], value, name, said[c], alone[c])
            for one in self.curves
            for value, said, alone in zip(one.cells, one.answers, _alone(one), strict=True)
            for c, name in enumerate(names)
        ]
        return pd.DataFrame(found, columns=["feature", "cell", "output", "answer", "accumulated"])

    def _answers(self, ax: Any, one: Effect) -> None:
        place, lines = _places(self.rules, one), shown_outputs(self.rules, self.effects)
        for k, c in enumerate(lines):
            color = COLORS[k % len(COLORS)]
            _line(ax, self.rules, one, place, one.answers[:, c], {"color": color, "lw": 1.6}, k, len(lines))
            if one.accumulated is not None:
                style = {"color": color, "ls": "--", "lw": 1.1}
                _line(ax, self.rules, one, place, one.accumulated[:, c], style, k, len(lines))
        name, kind = one_line(self.rules.feature_names[one.column]), kind_of(self.rules, self.effects, one)
        kind = kind.replace("): ", "):\n")
        ax.set_title(f"{short(name, 28)}{chr(10) * (1 + kind.count(chr(10)))}", fontsize="medium", loc="left")
        ax.text(0, 1.02, kind, transform=ax.transAxes, fontsize=7, color="#555555").set_in_layout(False)
        ax.set_xticks([])
        self._ends(ax, one, place)
        if self.rules.classes is not None:
            ax.set_ylim(-0.03, 1.03)

    def _ends(self, ax: Any, one: Effect, place: np.ndarray) -> None:
        """The same ends for the picture of shares as for that of answers."""
        beyond = _width(place) / 2 + 0.1 if self.rules.layout.levels[one.column] else 0.0
        gap = 0.0 if beyond or not np.isnan(one.cells).any() else _width(place)
        ax.set_xlim(place[0] - beyond, place[-1] + beyond + gap)

    def _shares(self, ax: Any, one: Effect) -> None:
        place = _places(self.rules, one)
        shares = np.vstack([one.shares.T, np.maximum(1 - one.shares.sum(axis=1), 0.0)])
        colors = [*(self._colors()[int(r)] for r in one.rules), OTHERS]
        known = ~np.isnan(one.cells)
        if self.rules.layout.levels[one.column]:
            known = np.zeros(len(known), bool)
        if known.any():
            ax.stackplot(place[known], shares[:, known], colors=colors, lw=0)
        below = np.zeros(len(place))
        for height, color in zip(shares, colors, strict=True):
            ax.bar(place[~known], height[~known], bottom=below[~known], color=color, width=_width(place))
            below = below + height
        ax.set(ylim=(0, 1), yticks=[0, 1], yticklabels=["0", "100 %"])
        self._ticks(ax, one, place)
        self._ends(ax, one, place)

    def _ticks(self, ax: Any, one: Effect, place: np.ndarray) -> None:
        column, gap = self.rules.columns[one.column], np.isnan(one.cells)
        if self.rules.layout.levels[one.column]:
            ax.set_xticks(place, [short(cell(self.rules, one.column, value), 10) for value in one.cells])
            ax.tick_params("x", rotation=30 if len(place) > 3 else 0)
            return
        if getattr(column, "is_date", False):
            dated(ax.xaxis, 2)
        if gap.any():
            ticks = [tick for tick in ax.get_xticks() if place[0] <= tick <= place[~gap][-1]]
            chosen = ticks[:: max(1, -(-len(ticks) // 4))]
            said = [cell(self.rules, one.column, tick, float(self.rules.scale[one.column])) for tick in chosen]
            ax.set_xticks([*chosen, place[-1]], [*said, "unknown"])

    def _colors(self) -> dict[int, Any]:
        """A colour for each rule that is drawn; of many rules, more colours."""
        from matplotlib import colormaps

        drawn = sorted({int(r) for one in self.curves for r in one.rules})
        if self.rules.n_rules <= len(PALE):
            return {r: PALE[r] for r in drawn}
        return {r: colormaps["tab20"](k % 20) for k, r in enumerate(drawn)}

    def _legend(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        names, lines = output_names(self.rules), shown_outputs(self.rules, self.effects)
        handles: list[Any] = [
            Line2D([], [], color=COLORS[k % len(COLORS)], lw=1.6, label=names[c]) for k, c in enumerate(lines)
        ]
        if any(one.accumulated is not None for one in self.curves):
            handles.append(Line2D([], [], color="#444444", ls="--", lw=1.1, label="by itself (accumulated)"))
        handles += [Patch(color=color, label=f"rule {r + 1}") for r, color in self._colors().items()]
        if any(np.any(one.shares.sum(axis=1) < 0.999) for one in self.curves):
            handles.append(Patch(color=OTHERS, label="others"))
        self.figure_.legend(handles=handles, loc="outside right upper", frameon=False, fontsize="small")


class CoefficientsDisplay:
    """What a single linear rule makes of each column: of one standard deviation more, or of a level.

    Parameters
    ----------
    rules : RuleBase
    coefficients : sequence of Coefficient
    """

    def __init__(self, rules: RuleBase, coefficients: Sequence[Coefficient]):
        self.rules, self.coefficients = rules, list(coefficients)

    @classmethod
    def from_rules(cls, rules: Any, *, most: int = 20, ax: Any = None) -> Self:
        """Draw the coefficients of a model that is one linear rule."""
        rules = _rules(rules)
        found = coefficients(rules)
        if not found:
            raise ValueError(f"only a single linear rule has coefficients; got {rules!r}.")
        return cls(rules, found).plot(ax, most=most)

    def plot(self, ax: Any = None, *, most: int = 20) -> Self:
        plt = pyplot()

        drawn, outputs = self.coefficients[:most], adds_to(self.rules)
        if ax is None:
            height = 1.2 + 0.24 * len(drawn) * max(1, 0.6 * len(outputs))
            _, ax = plt.subplots(figsize=(7, height), layout="constrained")
        places, width = np.arange(len(drawn)), 0.8 / len(outputs)
        for k, (name, weights) in enumerate(outputs.items()):
            along = places + width * (k - (len(outputs) - 1) / 2)
            ax.barh(along, [one.adds @ weights for one in drawn], width, color=COLORS[k % len(COLORS)], label=name)
        ax.axvline(0, color="#444444", lw=0.8)
        ax.set_yticks(places, [heading(self.rules, one) for one in drawn])
        ax.invert_yaxis()
        ax.set(xlabel=f"adds to {next(iter(outputs))}" if len(outputs) == 1 else "adds to the score of each class")
        if len(outputs) > 1:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def frame(self) -> Any:
        """What each column adds, as a data frame with a column for each output."""
        import pandas as pd

        found = {
            name: [float(one.adds @ weights) for one in self.coefficients]
            for name, weights in adds_to(self.rules).items()
        }
        return pd.DataFrame({"change": [heading(self.rules, one) for one in self.coefficients]} | found)


class OverlapDisplay:
    """A map of rules: how many rows each governs, and which rules count for the same rows.

    Parameters
    ----------
    overlaps : array of shape (n_rules, n_rules)
        How much each rule (across) counts where another one (down) does; rows sum to one.
    governed : array of shape (n_rules,)
        The share of the rows on which each rule counts most.
    """

    def __init__(self, overlaps: np.ndarray, governed: np.ndarray):
        self.overlaps, self.governed = np.asarray(overlaps), np.asarray(governed)

    @classmethod
    def from_rules(cls, rules: Any, X: Any = None) -> Self:
        """Draw how rules, or those of a fitted model, shared the rows of learning, or share those of a table."""
        rules = _rules(rules)
        if X is not None:
            fired = rules.firing(X)
            together = fired.T @ fired
            led = np.bincount(np.argmax(fired, axis=1), minlength=rules.n_rules)
            return cls(together / together.sum(axis=1, keepdims=True), led / len(fired)).plot()
        seen = None if rules.summary is None else rules.summary.evidence
        if seen is None or seen.overlaps is None:
            raise ValueError("of rules that were changed or written by hand overlaps are found on rows; give X.")
        return cls(seen.overlaps, seen.governed / seen.weight).plot()

    def plot(self) -> Self:
        plt = pyplot()

        n_rules = len(self.governed)
        self.figure_, axes = plt.subplots(
            1, 2, figsize=(4.5 + 0.2 * n_rules, 2 + 0.2 * n_rules), width_ratios=[1, 2.2], layout="constrained"
        )
        self.axes_ = axes
        names = [f"rule {r + 1}" for r in range(n_rules)]
        axes[0].barh(np.arange(n_rules), 100 * self.governed, color=COLORS[0])
        axes[0].set_yticks(np.arange(n_rules), names)
        axes[0].set(xlabel="counts most for, % of rows", ylim=(n_rules - 0.5, -0.5))
        picture = axes[1].imshow(100 * self.overlaps, cmap="Blues", vmin=0, vmax=100)
        axes[1].set_yticks(np.arange(n_rules), names)
        axes[1].set_xticks(np.arange(n_rules), [str(r + 1) for r in range(n_rules)])
        axes[1].set(xlabel="how much this rule counts", ylabel="where this one does")
        self.figure_.colorbar(picture, ax=axes[1], label="%")
        return self

    def frame(self) -> Any:
        """Who overlaps with whom, as a data frame, with the rows each rule governs."""
        import pandas as pd

        names = [f"rule {r + 1}" for r in range(len(self.governed))]
        found = pd.DataFrame(self.overlaps, index=names, columns=names)
        found.insert(0, "counts most for", self.governed)
        return found


def shown_outputs(rules: RuleBase, effects: Effects) -> list[int]:
    """Which outputs have a line: of two classes the second, of many those that vary most."""
    n_outputs = len(effects.mean)
    if n_outputs == 2:
        return [1]
    moves = sum((np.ptp(one.answers, axis=0) for one in effects.curves), np.zeros(n_outputs))
    return sorted(int(c) for c in np.argsort(-moves, kind="stable")[:MANY])


def kind_of(rules: RuleBase, effects: Effects, one: Effect) -> str:
    """What a curve is, in words."""
    if not effects.n_rows:
        return "the answer for a typical row with each value"
    if one.partner is None:
        return "mean answer if all rows had each value"
    other = short(one_line(rules.feature_names[one.partner]), 22)
    return f"goes with {other} ({one.correlation:.2f}): mean of rows about there"


def adds_to(rules: RuleBase) -> dict[str, np.ndarray]:
    """What coefficients add to, by name, and how outputs count in it: of two classes their difference."""
    names = output_names(rules)
    if rules.classes is None:
        return {names[0]: np.ones(1)}
    if len(names) == 2:
        scores = weighed(rules)
        return {f"{scores} of {names[1]}": np.asarray([-1.0, 1.0])}
    return dict(zip(names, np.eye(len(names)), strict=True))


def weighed(rules: RuleBase) -> str:
    """What the difference of two scores is."""
    return "log-odds" if isinstance(rules.link, Softmax) else "score"


def heading(rules: RuleBase, one: Coefficient) -> str:
    """What changes: a column by one standard deviation, in its units, or to a level."""
    name = short(one_line(rules.feature_names[one.column]), 24)
    if one.level is not None:
        return f"{name} is {short(cell(rules, one.column, one.level), 20)}"
    scale = float(rules.scale[one.column])
    days = getattr(rules.columns[one.column], "is_date", False)
    return f"{name} + {number(scale, scale / 10)}{' days' if days else ''}"


def _rules(given: Any) -> RuleBase:
    return given if isinstance(given, RuleBase) else rules_of(given)


def _alone(one: Effect) -> np.ndarray:
    return np.full_like(one.answers, np.nan) if one.accumulated is None else one.accumulated


def _places(rules: RuleBase, one: Effect) -> np.ndarray:
    """Where cells are along a picture: levels one after the other, and a missing cell beyond all numbers."""
    if rules.layout.levels[one.column]:
        return np.arange(len(one.cells), dtype=float)
    known = one.cells[~np.isnan(one.cells)]
    return np.where(np.isnan(one.cells), known[-1] + 0.12 * np.ptp(known), one.cells)


def _width(place: np.ndarray) -> float:
    return 0.8 if np.all(np.diff(place) == 1) else 0.08 * float(np.ptp(place))


def _line(
    ax: Any,
    rules: RuleBase,
    one: Effect,
    place: np.ndarray,
    said: np.ndarray,
    style: dict[str, Any],
    k: int,
    n: int,
) -> None:
    """A line over numbers, with a dot for missing cells; a bar for each level."""
    if rules.layout.levels[one.column]:
        ax.bar(place + 0.8 * ((k + 0.5) / n - 0.5), said, 0.8 / n, color=style["color"], ec="white", lw=0.3)
        return
    known = ~np.isnan(one.cells)
    ax.plot(place[known], said[known], **style)
    if not known.all():
        ax.plot(place[~known], said[~known], "o" if style.get("ls") is None else "D", color=style["color"], ms=4)
