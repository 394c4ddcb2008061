"""An explanation as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..explain import Change, Explanation
from ..rules import RuleBase, Softmax
from .text import _amount, _chosen, _condition, _count, _number, _one_line, _output_names, _value

__all__ = ["to_text"]

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
    if silent := rules.n_rules - len(heard):
        parts.append(f"{_count(silent, 'more rule')} with less than {_percent(FAINT)}.")
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
    return ("Another value, or one" if other else "One") + " standard deviation more or less:"


def _answer(explanation: Explanation) -> str:
    rules = explanation.rules
    names = _output_names(rules)
    if rules.classes is None:
        return f"{names[0]} = {_amount(rules, explanation.answer)}."
    odds = explanation.probabilities
    order = np.argsort(-odds, kind="stable")
    return f"The answer is {names[order[0]]}: " + ", ".join(f"{names[c]} {odds[c]:.2f}" for c in order) + "."


def _title(explanation: Explanation, r: int) -> str:
    rules, names = explanation.rules, _output_names(explanation.rules)
    added = explanation.contributions[r].sum(axis=0)
    if rules.classes is None:
        says = f"adds {_amount(rules, added[0])}"
    else:
        if isinstance(rules.link, Softmax):
            added = added - added.mean()  # what is added to all classes changes nothing
        says = "adds " + ", ".join(f"{names[c]} {added[c]:+.2f}" for c in np.argsort(-added, kind="stable"))
    return f"Rule {r + 1} counts {_percent(explanation.firing[r])} and {says}"


def _reasons(explanation: Explanation, r: int) -> list[str]:
    rules, grades = explanation.rules, explanation.grades[r]
    worst = [int(d) for d in np.argsort(grades, kind="stable") if np.isfinite(rules.widths[r, d])]
    lines = [f"  {_asked(explanation, r, d)}, fits {_percent(grades[d])}" for d in worst[:MANY]]
    if rest := worst[MANY:]:
        lines.append(f"  {_count(len(rest), 'more condition')}, which fit {_percent(grades[rest[0]])} or better")
    terms = explanation.contributions[r, 1:]
    size = np.abs(terms - terms.mean(axis=1, keepdims=True) if terms.shape[1] > 1 else terms).max(axis=1)
    for d in np.argsort(-size, kind="stable")[:FEW]:
        names = _output_names(rules)
        added = ", ".join(f"{name} {term:+.3g}" for name, term in zip(names, terms[d], strict=True))
        lines.append(f"  {_given(explanation, int(d))} adds {added}")
    return lines


def _asked(explanation: Explanation, r: int, d: int) -> str:
    """A condition, and what the row has."""
    rules, x = explanation.rules, explanation.x
    choice = rules.choice_of(d)
    has = choice and choice.value(x)
    asked = _value(rules, r, d) or _condition(rules, r, d, words=False)
    return f"{asked}: {_one_line(has) if has else _number(x[d], rules.widths_in_units[r, d])}"


def _given(explanation: Explanation, d: int) -> str:
    """What the row has."""
    rules, x = explanation.rules, explanation.x
    choice = rules.choice_of(d)
    if choice is not None and x[d] in (0.0, 1.0):
        return _chosen(choice, d, x[d] == 1.0)
    return f"{_one_line(rules.feature_names[d])} = {_number(x[d], rules.scale[d])}"


def _change(explanation: Explanation, change: Change) -> str:
    rules, now = explanation.rules, explanation.x[change.feature]
    if change.column is not None:
        return f"  {_switched(explanation, change)}: {_said(rules, change.answer)}"
    name = _one_line(rules.feature_names[change.feature])
    digits = min(rules.scale[change.feature], abs(change.value - now) or 1.0) / 2
    value, was = _number(change.value, digits), _number(now, digits)
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
    return f"{_one_line(choice.name)} is {_one_line(new)}" + (f" instead of {_one_line(was)}" if was else "")


def _has_two_values(rules: RuleBase, d: int) -> bool:
    return rules.summary is not None and rules.summary.has_two_values(d)


def _said(rules: RuleBase, answer: Any) -> str:
    if rules.classes is None:
        return _amount(rules, answer)
    return _output_names(rules)[rules.classes.tolist().index(answer)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
