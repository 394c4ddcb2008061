"""Why the rules answer as they do for one row, and what would change the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..rows.base import Samples
from ..rows.columns import Category, Column, is_frame
from ..rows.missing import is_missing
from .base import Cells, RuleBase, filled
from .conditions import grades, is_whole, places, seen_range
from .forms import Spoken

__all__ = ["Change", "Explanation", "explain", "one_row", "step"]

STEPS = 200
"""Values of a column that are tried on the way to another answer."""
HALVINGS = 40


class Change(NamedTuple):
    """One column moved alone to something that is possible, and what the rules answer then."""

    feature: int
    """Which column, counted from 0."""
    value: Any
    """The level itself, or the nearest number, in the user's units, with another answer; for real targets a number
    one standard deviation on, or the other of two, or for rules written by hand the mean width of their conditions
    on. No number lies beyond those seen, and where all of these are whole it is."""
    answer: Any


@dataclass(frozen=True, eq=False)
class Explanation(Spoken):
    """An answer taken apart. ``print`` shows it.

    Parameters
    ----------
    rules : RuleBase
    x : array of shape (n_features,)
        The row: numbers in the user's units, codes of levels, and NaN for what is missing or was never seen.
    firing : array of shape (n_rules,)
        How much each rule counts; sums to one.
    grades : array of shape (n_rules, n_features)
        How well the row meets each condition as it is read, from 0 to 1; 1 where there is none.
    contributions : array of shape (n_rules, 1 or 1 + n_features, n_outputs)
        What each rule adds to each output: what it says of average values, and for linear rules what each column
        adds to that, nothing if its cell is missing. Their sum is the output.
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
        """The predicted class or value, as the rules answer it: contributions add up to it but for last bits."""
        answer = self.rules(Cells(self.x[None, :]))[0]
        return float(answer) if self.rules.classes is None else answer


def explain(rules: RuleBase, x: Any) -> Explanation:
    """Why rules answer as they do for one row: an array, a mapping of names to cells, or a table of one row."""
    row = one_row(rules, x)
    firing = rules.firing(Cells(row))[0]
    met = [
        [float(grades(rules, r, j, row[:, j])[0]) for j in range(rules.n_features)] for r in range(rules.n_rules)
    ]
    contributions = firing[:, None, None] * _terms(rules, rules.seen(Cells(row)))
    changes = _effects(rules, row[0]) if rules.classes is None else _ways_out(rules, row[0])
    return Explanation(rules, row[0], firing, np.asarray(met), contributions, changes)


def _terms(rules: RuleBase, seen: Samples) -> np.ndarray:
    """What rules say of average values, and what each column of a row adds, (R, 1 or 1 + J, n_outputs)."""
    if rules.order == 0:
        return rules.consequents
    slopes, layout = rules.consequents[:, 1:], rules.layout
    apart = filled(seen, rules.fill)[0] - rules.fill
    average = rules.consequents[:, 0] + np.einsum("rdc,d->rc", slopes, rules.fill)
    by_column = np.einsum("rdc,d,dj->rjc", slopes, apart, np.eye(rules.n_features)[layout.group])
    return np.concatenate([average[:, None], by_column], axis=1)


def one_row(rules: RuleBase, x: Any) -> np.ndarray:
    """A row as cells (1, n_features)."""
    if is_frame(x) and not isinstance(x, Mapping):
        cells = rules.cells(x)
    else:
        row = _by_name(rules, x).values()
        pairs = zip(rules.columns, map(_python, row), strict=True)
        cells = rules.cells({column.name: [_cell(column, value)] for column, value in pairs})
    if cells.shape[0] != 1:
        raise ValueError(f"explain takes one row of {rules.n_features} values, got {cells.shape[0]} rows.")
    return np.asarray(cells, dtype=float)


def _by_name(rules: RuleBase, x: Any) -> dict[str, Any]:
    """The cells of a row by the names of their columns, in the order of these."""
    names = rules.feature_names
    if not hasattr(x, "keys"):
        row = np.asarray(x.tolist() if hasattr(x, "tolist") else x, dtype=object)
        row = row[0] if row.ndim == 2 and len(row) == 1 else row
        if row.shape != (len(names),):
            raise ValueError(f"explain takes one row of {len(names)} values, got shape {row.shape}.")
        return dict(zip(names, row, strict=True))
    given = {str(name): x[name] for name in x.keys()}  # noqa: SIM118 (a Series goes through its values)
    if lacking := [name for name in names if name not in given]:
        raise ValueError(f"the row has no value for {lacking[0]!r}; the rules are about {', '.join(names)}.")
    return {name: given[name] for name in names}


def _cell(column: Column, value: Any) -> Any:
    """A cell as its column has it: what is no text and no number is a level by what it is called."""
    if is_missing(value) or isinstance(value, (str, Real, Decimal)):
        return value
    return str(value) if isinstance(column, Category) else value


def _python(cell: Any) -> Any:
    """A cell as Python has it."""
    if isinstance(cell, (list, tuple, np.ndarray)) and np.size(cell) == 1:
        cell = np.asarray(cell, dtype=getattr(cell, "dtype", object)).ravel()[0]
    if isinstance(cell, np.datetime64):
        return cell.astype("datetime64[us]").item()
    return cell.item() if isinstance(cell, np.generic) else cell


def _other_levels(rules: RuleBase, x: np.ndarray, column: int) -> list[Change]:
    """Every other level of a category, and the answer there; what is pooled is no level that one could have."""
    what = rules.columns[column]
    assert isinstance(what, Category)
    answers = rules(Cells(_moved(x, column, np.arange(len(what.levels), dtype=float))))
    each = enumerate(zip(what.levels, answers.tolist(), strict=True))
    return [Change(column, level, answer) for code, (level, answer) in each if code != x[column]]


def _ways_out(rules: RuleBase, x: np.ndarray) -> tuple[Change, ...]:
    """For each column the nearest cell within the data at which the answer is another class."""
    answer = rules(Cells(x[None, :]))[0]
    found = []
    for column in np.flatnonzero(rules.used).tolist():
        if rules.layout.levels[column]:
            found += [change for change in _other_levels(rules, x, column) if change.answer != answer]
        else:
            found += _crossings(rules, x, column, answer)
    return tuple(sorted(found, key=lambda change: _distance(rules, x, change)))


def _distance(rules: RuleBase, x: np.ndarray, change: Change) -> float:
    """How large a change is, in standard deviations; another level counts as one."""
    d = change.feature
    return 1.0 if rules.layout.levels[d] else abs(change.value - _start(rules, x, d)) / rules.scale[d]


def _start(rules: RuleBase, x: np.ndarray, column: int) -> float:
    """Where a number starts to move: where it is, or in the midst of the data if nobody knows."""
    return float(rules.typical[column] if np.isnan(x[column]) else x[column])


def _crossings(rules: RuleBase, x: np.ndarray, column: int, answer: Any) -> list[Change]:
    """The nearest numbers below and above at which the answer is another one."""
    start, found = _start(rules, x, column), []
    for end, is_ahead in zip(seen_range(rules, column), (np.less, np.greater), strict=True):
        if not is_ahead(end, start):
            continue
        values = _between(rules, column, start, end)
        other = np.asarray(rules(Cells(_moved(x, column, values))) != answer)
        if np.any(other):
            first = int(np.argmax(other))
            near = values[first - 1] if first else values[0]
            value = _boundary(rules, x, column, near, values[first], answer)
            found.append(Change(column, value, rules(Cells(_moved(x, column, np.asarray([value]))))[0]))
    return found[:1] if len({change.value for change in found}) == 1 else found


def _between(rules: RuleBase, column: int, start: float, end: float) -> np.ndarray:
    """Numbers that are possible from one to another."""
    if len(two := places(rules, column)) == 2:
        return np.asarray([start, *two[two != start][:1]]) if start in two else np.asarray([start, end])
    values = np.linspace(start, end, STEPS)
    if not is_whole(rules, column) or start != round(start):
        return values
    whole = np.round(values)
    return whole[np.append(True, np.diff(whole) != 0)]


def _boundary(rules: RuleBase, x: np.ndarray, column: int, near: float, far: float, answer: Any) -> float:
    """The number next to the boundary that has another answer."""
    if len(places(rules, column)) == 2:
        return float(far)
    is_stepwise = is_whole(rules, column) and near == round(near)
    for _ in range(HALVINGS):
        middle = np.round((near + far) / 2) if is_stepwise else (near + far) / 2
        if middle in (near, far):
            break
        if rules(Cells(_moved(x, column, np.asarray([middle]))))[0] == answer:
            near = middle
        else:
            far = middle
    return float(far)


def _effects(rules: RuleBase, x: np.ndarray) -> tuple[Change, ...]:
    """The value predicted one step up and down each number, or at its other value, and at other levels."""
    now = rules(Cells(x[None, :]))[0]
    found = []
    for column in np.flatnonzero(rules.used).tolist():
        if rules.layout.levels[column]:
            found += _other_levels(rules, x, column)
            continue
        values = _steps(rules, x, column)
        answers = rules(Cells(_moved(x, column, values))) if len(values) else values
        found += [Change(column, float(v), float(a)) for v, a in zip(values, answers, strict=True)]
    found = [change for change in found if change.answer != now]
    return tuple(sorted(found, key=lambda change: -abs(change.answer - now)))


def _steps(rules: RuleBase, x: np.ndarray, column: int) -> np.ndarray:
    """Numbers one step down and up that are possible."""
    start = _start(rules, x, column)
    if len(two := places(rules, column)) == 2:
        return two[two != x[column]]
    low, high = seen_range(rules, column)
    down, up = start - step(rules, column), start + step(rules, column)
    values = {max(down, low) if low < start else start, min(up, high) if high > start else start}
    return np.asarray(sorted(values if np.isnan(x[column]) else values - {start}))


def step(rules: RuleBase, column: int) -> float:
    """How far a number moves to show what it does: a standard deviation, or the mean width of conditions."""
    scale = float(rules.scale[column])
    if rules.summary is None:
        widths = rules.widths_in_units[:, column]
        return float(np.mean(widths[np.isfinite(widths)])) if np.isfinite(widths).any() else scale
    return max(round(scale), 1.0) if is_whole(rules, column) else scale


def _moved(x: np.ndarray, column: int, values: np.ndarray) -> np.ndarray:
    rows = np.repeat(x[None, :], len(values), axis=0)
    rows[:, column] = values
    return rows
