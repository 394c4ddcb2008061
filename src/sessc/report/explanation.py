"""An explanation as text, and as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rows.columns import Category
from ..rules.base import RuleBase
from ..rules.conditions import beyond, places
from ..rules.explanation import Change, Explanation, step
from ..rules.links import Softmax
from ..rules.wording import amount, cell, condition, count, day, limit, listed, one_line, output_names, unheard_of
from .phrases import UNITS, held

__all__ = ["explanation_to_data", "to_text"]

FEW, MANY = 3, 5
"""Terms of a linear rule and changes, and conditions, that are shown."""
SURE = 0.995
"""What is shown as 100 %."""
FAINT = 0.01
"""Rules that count less than this are only counted."""


def to_text(explanation: Explanation) -> str:
    """Which rules fired and why, what each adds, and what would change the answer."""
    rules = explanation.rules
    parts = ["\n".join([_answer(explanation), *_strange(explanation)])]
    heard = [int(r) for r in np.argsort(-explanation.firing, kind="stable") if explanation.firing[r] >= FAINT]
    parts += ["\n".join([_title(explanation, r), *_reasons(explanation, r)]) for r in heard]
    if silent := [r for r in range(rules.n_rules) if r not in heard]:
        more = f"{count(len(silent), 'more rule')} with less than {_percent(FAINT)}"
        parts.append(
            f"{more} {_adds(explanation, explanation.contributions[silent].sum(axis=(0, 1)), len(silent))}"
        )
    if rules.n_rules > 1:
        parts.append(f"Together {_added(explanation, explanation.outputs)}")
    if shown := _grouped(explanation)[:FEW]:
        lines = [_change(explanation, changes) for changes in shown]
        parts.append("\n".join([_changes_title(explanation, [changes[0] for changes in shown]), *lines]))
    elif rules.classes is not None:
        parts.append("No feature moved alone within the data would change the answer.")
    return "\n\n".join(parts)


def _strange(explanation: Explanation) -> list[str]:
    """Sentences on what the row has that was never seen."""
    rules, x = explanation.rules, explanation.x
    far = np.flatnonzero(beyond(rules, x[None, :])[0] & rules.used)
    return [unheard_of(rules, int(j), x[j : j + 1]) + "." for j in far]


def _grouped(explanation: Explanation) -> list[list[Change]]:
    """Changes that are said in one breath: to levels with the same answer, or with the largest effect."""
    rules = explanation.rules
    found: dict[Any, list[Change]] = {}
    for k, change in enumerate(explanation.changes):
        of_level = (change.feature, None if rules.classes is None else change.answer)
        found.setdefault(of_level if rules.layout.levels[change.feature] else k, []).append(change)
    return [changes[:1] if rules.classes is None else changes for changes in found.values()]


def _changes_title(explanation: Explanation, shown: list[Change]) -> str:
    rules = explanation.rules
    if rules.classes is not None:
        return "What would change the answer:"
    others = [change for change in shown if _is_another(rules, change.feature)]
    if len(others) == len(shown):
        return "Another value:"
    if rules.summary is None:  # written by hand, so nobody knows how far the data spread
        return "About the width of its conditions more or less:"
    held = any(_is_held(explanation, change) for change in shown if change not in others)
    where = ", no further than the data go" if held else ""
    return ("Another value, or one" if others else "One") + f" standard deviation more or less{where}:"


def _is_held(explanation: Explanation, change: Change) -> bool:
    """Whether a number would have moved further, were there data."""
    now, size = explanation.x[change.feature], step(explanation.rules, change.feature)
    return abs(change.value - now) < size * (1 - 1e-9)


def _is_another(rules: RuleBase, column: int) -> bool:
    """Whether a column takes another value as a whole, instead of a little more or less."""
    return len(places(rules, column)) == 2 or rules.layout.levels[column] > 0


def _answer(explanation: Explanation) -> str:
    rules = explanation.rules
    names = output_names(rules)
    if rules.classes is None:
        return f"{names[0]} = {amount(rules, explanation.answer)}."
    odds = explanation.probabilities
    order = np.argsort(-odds, kind="stable")
    answer = f"The answer is {names[order[0]]}: " + ", ".join(f"{names[c]} {odds[c]:.2f}" for c in order) + "."
    return "\n".join(filter(None, [answer, held(rules), UNITS[type(rules.link)]]))


def _title(explanation: Explanation, r: int) -> str:
    added = explanation.contributions[r].sum(axis=0)
    return f"Rule {r + 1} counts {_percent(explanation.firing[r])} and {_adds(explanation, added)}"


def _adds(explanation: Explanation, added: np.ndarray, n: int = 1) -> str:
    return f"add{'s' * (n == 1)} {_added(explanation, added)}"


def _added(explanation: Explanation, added: np.ndarray) -> str:
    """A part of the outputs (n_outputs,), the likeliest classes first."""
    rules, names = explanation.rules, output_names(explanation.rules)
    if rules.classes is None:
        return amount(rules, added[0])
    if isinstance(rules.link, Softmax):
        added = added - added.mean()  # what is added to all classes changes nothing
    likeliest = np.argsort(-explanation.probabilities, kind="stable")
    shown = ", ".join(f"{names[c]} {round(added[c], 2) + 0.0:+.2f}" for c in likeliest[:MANY])
    return shown + (", ..." if len(names) > MANY else "")


def _reasons(explanation: Explanation, r: int) -> list[str]:
    rules, grades = explanation.rules, explanation.grades[r]
    asked = rules.asks[r]
    worst = [int(j) for j in np.argsort(grades, kind="stable") if asked[j]]
    lines = [f"  {_asked(explanation, r, j)}, fits {_percent(grades[j])}" for j in worst[:MANY]]
    if rest := worst[MANY:]:
        others = f"{count(len(rest), 'more condition')}, which fit{'s' * (len(rest) == 1)}"
        better = " or better" if len(rest) > 1 and grades[rest[0]] < SURE else ""
        lines.append(f"  {others} {_percent(grades[rest[0]])}{better}")
    return lines + (_terms(explanation, r) if rules.order == 1 else [])


def _terms(explanation: Explanation, r: int) -> list[str]:
    """What a linear rule adds, taken apart."""
    rules, (constant, *terms) = explanation.rules, explanation.contributions[r]
    moves = [rules.consequents[r, 1 + rules.layout.features_of(j)].any() for j in range(rules.n_features)]
    parts = [(_given(explanation, j), term) for j, term in enumerate(terms) if moves[j]]
    parts.sort(key=lambda part: -float(np.ptp(part[1]) if len(constant) > 1 else abs(part[1][0])))
    lines = [f"  average values {_adds(explanation, constant, 2)}"]
    lines += [f"  {what} {_adds(explanation, term)}" for what, term in parts[:FEW]]
    if rest := parts[FEW:]:
        added = np.sum([term for _, term in rest], axis=0)
        lines.append(f"  {count(len(rest), 'more term')} {_adds(explanation, added, len(rest))}")
    return lines


def _asked(explanation: Explanation, r: int, j: int) -> str:
    """A condition, and what the row has."""
    rules = explanation.rules
    return f"{condition(rules, r, j, words=False, most=FEW)}: {cell(rules, j, explanation.x[j])}"


def _given(explanation: Explanation, j: int) -> str:
    """What the row has."""
    rules, value = explanation.rules, explanation.x[j]
    verb = "is" if np.isnan(value) or rules.layout.levels[j] else "="
    return f"{one_line(rules.feature_names[j])} {verb} {cell(rules, j, value)}"


def _change(explanation: Explanation, changes: list[Change]) -> str:
    rules, j = explanation.rules, changes[0].feature
    if rules.layout.levels[j]:
        levels = listed([str(change.value) for change in changes], FEW)
        moved = f"is {levels} instead of {cell(rules, j, explanation.x[j])}"
    else:
        moved = _moved(explanation, changes[0])
    return f"  {one_line(rules.feature_names[j])} {moved}: {_said(rules, changes[0].answer)}"


def _moved(explanation: Explanation, change: Change) -> str:
    """What a number would be, and what it is."""
    rules, j, now = explanation.rules, change.feature, explanation.x[change.feature]
    if _is_another(rules, j):
        return f"is {change.value:g} instead of {'unknown' if np.isnan(now) else f'{now:g}'}"
    apart = 1.0 if np.isnan(now) else abs(change.value - now) or 1.0
    digits = min(rules.scale[j], apart) / 2
    value, was = cell(rules, j, change.value, digits), cell(rules, j, now, digits)
    if rules.classes is None:
        return f"= {value} instead of {was}"
    is_more = change.value > (rules.typical[j] if np.isnan(now) else now)
    return f"{limit(rules.columns[j], value if is_more else None, None if is_more else value)} instead of {was}"


def _said(rules: RuleBase, answer: Any) -> str:
    if rules.classes is None:
        return amount(rules, answer)
    return output_names(rules)[rules.classes.tolist().index(answer)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def explanation_to_data(found: Explanation) -> dict[str, Any]:
    """An explanation for machines; :meth:`sessc.Explanation.to_data` says what is in it."""
    rules, names = found.rules, found.rules.feature_names
    return {
        "target": rules.target_name,
        "answer": _plain(found.answer),
        "classes": None if rules.classes is None else rules.classes.tolist(),
        "probabilities": None if rules.classes is None else found.probabilities.tolist(),
        "prior": None if rules.summary is None or rules.summary.prior is None else rules.summary.prior.tolist(),
        "values": {name: _value(rules, j, found.x[j]) for j, name in enumerate(names)},
        "firing": found.firing.tolist(),
        "grades": _grades(found),
        "contributions": found.contributions.sum(axis=1).tolist(),
        "outputs": found.outputs.tolist(),
        "changes": [
            {"feature": names[c.feature], "value": _changed(rules, c), "answer": _plain(c.answer)}
            for c in found.changes
        ],
    }


def _value(rules: RuleBase, j: int, value: float) -> Any:
    """A cell for machines: a number, a date as text, a level, or None if it is missing."""
    what = rules.columns[j]
    if np.isnan(value):
        return None
    if isinstance(what, Category):
        return [*what.levels, *what.labels[len(what.levels) :]][int(value)]
    return day(value, rules.scale[j]) if what.is_date else float(value)


def _changed(rules: RuleBase, change: Change) -> Any:
    is_level = rules.layout.levels[change.feature] > 0
    return change.value if is_level else _value(rules, change.feature, change.value)


def _grades(found: Explanation) -> list[dict[str, float]]:
    """How well the row meets the conditions that each rule has."""
    names, asks = found.rules.feature_names, found.rules.asks.tolist()
    return [
        {name: grade for name, grade, asked in zip(names, grades, has, strict=True) if asked}
        for grades, has in zip(found.grades.tolist(), asks, strict=True)
    ]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
