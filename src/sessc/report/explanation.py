"""An explanation as text, and as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules.base import RuleBase
from ..rules.explanation import Change, Explanation
from ..rules.links import Softmax
from ..rules.wording import amount, count, number, one_line, output_names
from .phrases import UNITS, asked_value, condition

__all__ = ["to_data", "to_text"]

FEW, MANY = 3, 5
"""Terms of a linear rule and changes, and conditions, that are shown."""
FAINT = 0.01
"""Rules that count less than this are only counted."""


def to_text(explanation: Explanation) -> str:
    """Which rules fired and why, what each adds, and what would change the answer."""
    rules = explanation.rules
    parts = [_answer(explanation)]
    heard = [int(r) for r in np.argsort(-explanation.firing, kind="stable") if explanation.firing[r] >= FAINT]
    parts += ["\n".join([_title(explanation, r), *_reasons(explanation, r)]) for r in heard]
    if silent := [r for r in range(rules.n_rules) if r not in heard]:
        more = f"{count(len(silent), 'more rule')} with less than {_percent(FAINT)}"
        parts.append(
            f"{more} {_adds(explanation, explanation.contributions[silent].sum(axis=(0, 1)), len(silent))}"
        )
    if rules.n_rules > 1:
        parts.append(f"Together {_added(explanation, explanation.outputs)}")
    if changes := [_change(explanation, change) for change in explanation.changes[:FEW]]:
        parts.append("\n".join([_changes_title(explanation), *changes]))
    elif rules.classes is not None:
        parts.append("No feature moved alone within the data would change the answer.")
    return "\n\n".join(parts)


def _changes_title(explanation: Explanation) -> str:
    rules, shown = explanation.rules, explanation.changes[:FEW]
    if rules.classes is not None:
        return "What would change the answer:"
    other = any(change.column is not None or _has_two_values(rules, change.feature) for change in shown)
    if rules.summary is None:  # written by hand, so nobody knows how far the data spread
        return "About the width of its conditions more or less:"
    return ("Another value, or one" if other else "One") + " standard deviation more or less:"


def _answer(explanation: Explanation) -> str:
    rules = explanation.rules
    names = output_names(rules)
    if rules.classes is None:
        return f"{names[0]} = {amount(rules, explanation.answer)}."
    odds = explanation.probabilities
    order = np.argsort(-odds, kind="stable")
    answer = f"The answer is {names[order[0]]}: " + ", ".join(f"{names[c]} {odds[c]:.2f}" for c in order) + "."
    return f"{answer}\n{UNITS[type(rules.link)]}"


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
    worst = [int(d) for d in np.argsort(grades, kind="stable") if np.isfinite(rules.widths[r, d])]
    lines = [f"  {_asked(explanation, r, d)}, fits {_percent(grades[d])}" for d in worst[:MANY]]
    if rest := worst[MANY:]:
        lines.append(f"  {count(len(rest), 'more condition')}, which fit {_percent(grades[rest[0]])} or better")
    return lines + (_terms(explanation, r) if rules.order == 1 else [])


def _terms(explanation: Explanation, r: int) -> list[str]:
    """What a linear rule adds, taken apart: the values of a choice belong together."""
    rules, (constant, *terms) = explanation.rules, explanation.contributions[r]
    parts = [(_given(explanation, d), terms[d]) for d in range(rules.n_features) if rules.choice_of(d) is None]
    for choice in rules.choices:
        has = choice.value(explanation.x)
        what = f"{one_line(choice.name)} is {one_line(has)}" if has else one_line(choice.name)
        parts.append((what, np.sum([terms[d] for d in choice.features], axis=0)))
    parts.sort(key=lambda part: -float(np.ptp(part[1]) if len(constant) > 1 else abs(part[1][0])))
    lines = [f"  average values {_adds(explanation, constant, 2)}"]
    lines += [f"  {what} {_adds(explanation, term)}" for what, term in parts[:FEW]]
    if rest := parts[FEW:]:
        added = np.sum([term for _, term in rest], axis=0)
        lines.append(f"  {count(len(rest), 'more term')} {_adds(explanation, added, len(rest))}")
    return lines


def _asked(explanation: Explanation, r: int, d: int) -> str:
    """A condition, and what the row has."""
    rules, x = explanation.rules, explanation.x
    choice = rules.choice_of(d)
    has = choice and choice.value(x)
    asked = asked_value(rules, r, d) or condition(rules, r, d, words=False)
    return f"{asked}: {one_line(has) if has else number(x[d], rules.widths_in_units[r, d])}"


def _given(explanation: Explanation, d: int) -> str:
    """What the row has."""
    rules = explanation.rules
    return f"{one_line(rules.feature_names[d])} = {number(explanation.x[d], rules.scale[d])}"


def _change(explanation: Explanation, change: Change) -> str:
    rules, now = explanation.rules, explanation.x[change.feature]
    if change.column is not None:
        return f"  {_switched(explanation, change)}: {_said(rules, change.answer)}"
    name = one_line(rules.feature_names[change.feature])
    digits = min(rules.scale[change.feature], abs(change.value - now) or 1.0) / 2
    value, was = number(change.value, digits), number(now, digits)
    if _has_two_values(rules, change.feature):
        return f"  {name} is {change.value:g} instead of {now:g}: {_said(rules, change.answer)}"
    if rules.classes is None:
        return f"  {name} = {value} instead of {was}: {_said(rules, change.answer)}"
    side = "at least" if change.value > now else "at most"
    return f"  {name} {side} {value} instead of {was}: {_said(rules, change.answer)}"


def _switched(explanation: Explanation, change: Change) -> str:
    """A choice's other value, and the one it has."""
    choice = explanation.rules.choice_of(change.feature)
    assert choice is not None
    new = (
        choice.other if change.value == 0.0 and choice.other else choice.says(change.feature, change.value == 1.0)
    )
    was = choice.value(explanation.x)
    return f"{one_line(choice.name)} is {one_line(new)}" + (f" instead of {one_line(was)}" if was else "")


def _has_two_values(rules: RuleBase, d: int) -> bool:
    return rules.summary is not None and rules.summary.has_two_values(d)


def _said(rules: RuleBase, answer: Any) -> str:
    if rules.classes is None:
        return amount(rules, answer)
    return output_names(rules)[rules.classes.tolist().index(answer)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def to_data(found: Explanation) -> dict[str, Any]:
    """An explanation for machines: lists over rules, in them over classes or by the name of a feature."""
    rules, names = found.rules, found.rules.feature_names
    return {
        "target": rules.target_name,
        "answer": _plain(found.answer),
        "classes": None if rules.classes is None else rules.classes.tolist(),
        "probabilities": None if rules.classes is None else found.probabilities.tolist(),
        "values": dict(zip(names, found.x.tolist(), strict=True)),
        "firing": found.firing.tolist(),
        "grades": _grades(found),
        "contributions": found.contributions.sum(axis=1).tolist(),
        "outputs": found.outputs.tolist(),
        "changes": [
            {"feature": names[c.feature], "column": c.column, "value": c.value, "answer": _plain(c.answer)}
            for c in found.changes
        ],
    }


def _grades(found: Explanation) -> list[dict[str, float]]:
    """How well the row meets the conditions that each rule has."""
    rules, names = found.rules, found.rules.feature_names
    return [
        {name: grade for name, grade, width in zip(names, grades, widths, strict=True) if width < np.inf}
        for grades, widths in zip(found.grades.tolist(), rules.widths.tolist(), strict=True)
    ]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
