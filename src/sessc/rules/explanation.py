"""Why the rules answer as they do for one row, and what would change the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .base import RuleBase
from .forms import Spoken

__all__ = ["Change", "Explanation", "explain"]

STEPS = 200
"""Values of a feature that are tried on the way to another answer."""
HALVINGS = 40


class Change(NamedTuple):
    """One feature moved alone, and what the rules answer then."""

    feature: int
    value: float
    """The nearest value, in the user's units, with another answer; for real targets one standard deviation on, or
    the other of two values, or for rules written by hand the mean width of their conditions on."""
    answer: Any
    column: str | None = None
    """The choice that takes another value as a whole, if the feature is part of one; ``value`` is then 1, or 0 for
    the value that has no feature."""


@dataclass(frozen=True, eq=False)
class Explanation(Spoken):
    """An answer taken apart. ``print`` shows it.

    Parameters
    ----------
    rules : RuleBase
    x : array of shape (n_features,)
        The row, in the user's units.
    firing : array of shape (n_rules,)
        How much each rule counts; sums to one.
    grades : array of shape (n_rules, n_features)
        How well the row meets each condition, from 0 to 1; 1 where there is none.
    contributions : array of shape (n_rules, 1 or 1 + n_features, n_outputs)
        What each rule adds to each output: its constant, and for linear rules what each feature adds to it,
        measured from the mean of the data. Their sum is the output.
    changes : tuple of Change
        What would change the answer, the smallest change first; for real targets the largest effect first.
    """

    rules: RuleBase
    x: np.ndarray
    firing: np.ndarray
    grades: np.ndarray
    contributions: np.ndarray
    changes: tuple[Change, ...]

    @property
    def outputs(self) -> np.ndarray:
        """The outputs before the link, shape (n_outputs,): the sum of all contributions."""
        return self.contributions.sum(axis=(0, 1))

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each class."""
        return self.rules.link(self.outputs[None, :])[0]

    @property
    def answer(self) -> Any:
        """The predicted class or value."""
        if self.rules.classes is None:
            return float(self.outputs[0])
        return self.rules.classes[np.argmax(self.outputs)]


def explain(rules: RuleBase, x: Any) -> Explanation:
    """Why rules answer as they do for one row: an array, a mapping of names to values, or a table of one row."""
    row = one_row(rules, x)
    z = rules.standardize(row)[0]
    firing = rules.firing(row)[0]
    grades = np.exp(-0.5 * ((z - rules.centers) / rules.widths) ** 2)
    inputs = np.concatenate([[1.0], z])[: rules.consequents.shape[1]]
    contributions = firing[:, None, None] * inputs[:, None] * rules.consequents
    changes = _effects(rules, row[0]) if rules.classes is None else _ways_out(rules, row[0])
    return Explanation(rules, row[0], firing, grades, contributions, changes)


def one_row(rules: RuleBase, x: Any) -> np.ndarray:
    """A row as an array of shape (1, n_features)."""
    if isinstance(x, Mapping) or (hasattr(x, "keys") and not hasattr(x, "columns")):
        unknown, missing = set(x.keys()) - set(rules.feature_names), set(rules.feature_names) - set(x.keys())
        if unknown or missing:
            what = (
                f"no value for {min(missing)!r}" if missing else f"{min(map(str, unknown))!r}, which is no feature"
            )
            raise ValueError(f"the row has {what}; the rules are about {', '.join(rules.feature_names)}.")
        x = [x[name] for name in rules.feature_names]
    if getattr(x, "columns", None) is not None:
        rules.standardize(x)  # complains about columns that are not the rules'
    try:
        row = np.atleast_2d(np.asarray(x, dtype=float))
    except (TypeError, ValueError):
        raise ValueError(f"the row has {_no_number(rules, x)}; explain takes numbers.") from None
    if row.shape != (1, rules.n_features):
        raise ValueError(f"explain takes one row of {rules.n_features} values, got shape {np.shape(x)}.")
    return row


def _no_number(rules: RuleBase, x: Any) -> str:
    """The first value of a row that is no number, and where it stands."""
    for name, value in zip(rules.feature_names, np.ravel(np.asarray(x, dtype=object)), strict=False):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} for {name!r}"
    return "values of different lengths"


def _other_values(rules: RuleBase, x: np.ndarray) -> list[Change]:
    """Every other value of every choice, and the answer there."""
    found = []
    for choice in rules.choices:
        each = list(choice.features)
        for _, code in choice.options:
            row = np.array(x)
            row[each] = code
            if moved := [d for d in each if row[d] != x[d]]:
                d = next((d for d in moved if row[d] == 1.0), moved[0])
                found.append(Change(d, float(row[d]), rules(row[None, :])[0], choice.name))
    return found


def _alone(rules: RuleBase) -> list[int]:
    """Features that can move without others."""
    return [d for d in range(rules.n_features) if rules.choice_of(d) is None]


def _two_values(rules: RuleBase, d: int) -> np.ndarray | None:
    """All that a feature ever is, if that is one thing or another."""
    if rules.summary is None or not rules.summary.has_two_values(d):
        return None
    return np.unique(rules.summary.quantiles[:, d])


def _ways_out(rules: RuleBase, x: np.ndarray) -> tuple[Change, ...]:
    """For each feature the nearest value within the data at which the answer is another class."""
    answer = rules(x[None, :])[0]
    found = [change for change in _other_values(rules, x) if change.answer != answer]
    lows, highs = _range(rules)
    for d in _alone(rules):
        two = _two_values(rules, d) is not None
        for end in (lows[d], highs[d]):
            values = np.asarray([x[d], end]) if two else np.linspace(x[d], end, STEPS)
            other = rules(_moved(x, d, values)) != answer
            if end != x[d] and np.any(other):
                first = int(np.argmax(other))
                value = end if two else _boundary(rules, x, d, values[first - 1], values[first], answer)
                found.append(Change(d, float(value), rules(_moved(x, d, np.asarray([value])))[0]))
    return tuple(
        sorted(found, key=lambda change: abs(change.value - x[change.feature]) / rules.scale[change.feature])
    )


def _boundary(rules: RuleBase, x: np.ndarray, d: int, near: float, far: float, answer: Any) -> float:
    """The value next to the boundary that has another answer."""
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        if rules(_moved(x, d, np.asarray([middle])))[0] == answer:
            near = middle
        else:
            far = middle
    return float(far)


def _effects(rules: RuleBase, x: np.ndarray) -> tuple[Change, ...]:
    """The value predicted one standard deviation up and down each feature, or at the other of its two values."""
    now = rules(x[None, :])[0]
    found = [change for change in _other_values(rules, x) if change.answer != now]
    for d in _alone(rules):
        two = _two_values(rules, d)
        values = x[d] + rules.scale[d] * np.asarray([-1.0, 1.0]) if two is None else two[two != x[d]]
        answers = rules(_moved(x, d, values))
        found += [Change(d, float(v), float(a)) for v, a in zip(values, answers, strict=True) if a != now]
    return tuple(sorted(found, key=lambda change: -abs(change.answer - now)))


def _moved(x: np.ndarray, d: int, values: np.ndarray) -> np.ndarray:
    rows = np.repeat(x[None, :], len(values), axis=0)
    rows[:, d] = values
    return rows


def _range(rules: RuleBase) -> tuple[np.ndarray, np.ndarray]:
    """Where the data are, as far as that is known."""
    if rules.summary is None:
        return rules.mean - 3 * rules.scale, rules.mean + 3 * rules.scale
    return rules.summary.quantiles[0], rules.summary.quantiles[-1]
