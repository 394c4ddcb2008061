"""An explanation as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..explain import Change, Explanation, categories
from ..rules import RuleBase, Softmax
from .text import _condition, _count, _number, _one_line, _output_names

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
        title = (
            "One standard deviation more or less:" if rules.classes is None else "What would change the answer:"
        )
        parts.append("\n".join([title, *changes]))
    elif rules.classes is not None:
        parts.append("No feature moved alone within the data would change the answer.")
    return "\n\n".join(parts)


def _answer(explanation: Explanation) -> str:
    rules = explanation.rules
    names = _output_names(rules)
    if rules.classes is None:
        return f"{names[0]} = {_shown(rules, explanation.answer)}."
    odds = explanation.probabilities
    order = np.argsort(-odds, kind="stable")
    return f"The answer is {names[order[0]]}: " + ", ".join(f"{names[c]} {odds[c]:.2f}" for c in order) + "."


def _title(explanation: Explanation, r: int) -> str:
    rules, names = explanation.rules, _output_names(explanation.rules)
    added = explanation.contributions[r].sum(axis=0)
    if rules.classes is None:
        says = f"adds {_shown(rules, added[0])}"
    else:
        if isinstance(rules.link, Softmax):
            added = added - added.mean()  # what is added to all classes changes nothing
        says = "adds " + ", ".join(f"{names[c]} {added[c]:+.2f}" for c in np.argsort(-added, kind="stable"))
    return f"Rule {r + 1} counts {_percent(explanation.firing[r])} and {says}"


def _reasons(explanation: Explanation, r: int) -> list[str]:
    rules, grades = explanation.rules, explanation.grades[r]
    worst = [d for d in np.argsort(grades, kind="stable") if np.isfinite(rules.widths[r, d])]
    lines = [
        f"  {_condition(rules, r, d, words=False)}: {_number(explanation.x[d], rules.widths_in_units[r, d])}, "
        f"fits {_percent(grades[d])}"
        for d in worst[:MANY]
    ]
    if rest := worst[MANY:]:
        lines.append(f"  {_count(len(rest), 'more condition')}, which fit {_percent(grades[rest[0]])} or better")
    terms = explanation.contributions[r, 1:]
    size = np.abs(terms - terms.mean(axis=1, keepdims=True) if terms.shape[1] > 1 else terms).max(axis=1)
    for d in np.argsort(-size, kind="stable")[:FEW]:
        names = _output_names(rules)
        added = ", ".join(f"{name} {term:+.3g}" for name, term in zip(names, terms[d], strict=True))
        lines.append(
            f"  {_one_line(rules.feature_names[d])} = {_number(explanation.x[d], rules.scale[d])} adds {added}"
        )
    return lines


def _change(explanation: Explanation, change: Change) -> str:
    rules, now = explanation.rules, explanation.x[change.feature]
    if change.column is not None:
        return f"  {_switched(explanation, change)}: {_said(rules, change.answer)}"
    name = _one_line(rules.feature_names[change.feature])
    digits = min(rules.scale[change.feature], abs(change.value - now) or 1.0) / 2
    value, was = _number(change.value, digits), _number(now, digits)
    if rules.classes is None:
        return f"  {name} = {value} instead of {was}: {_said(rules, change.answer)}"
    if rules.summary is not None and rules.summary.has_two_values(change.feature):
        return f"  {name} is {value} instead of {was}: {_said(rules, change.answer)}"
    side = "at least" if change.value > now else "at most"
    return f"  {name} {side} {value} instead of {was}: {_said(rules, change.answer)}"


def _switched(explanation: Explanation, change: Change) -> str:
    """A column's other category, and the one it has."""
    rules, column = explanation.rules, str(change.column)
    category = [name.partition("=")[2] for name in rules.feature_names]
    has = [category[d] for d in categories(rules)[column] if explanation.x[d] == 1.0]
    was = f" instead of {_one_line(has[0])}" if has else ""
    return f"{_one_line(column)} is {_one_line(category[change.feature])}{was}"


def _said(rules: RuleBase, answer: Any) -> str:
    if rules.classes is None:
        return _shown(rules, answer)
    return _output_names(rules)[rules.classes.tolist().index(answer)]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _shown(rules: RuleBase, value: float) -> str:
    """A real target to a hundredth of how far the rules' own outputs differ."""
    return _number(value, (float(np.ptp(rules.consequents[:, 0, 0])) or abs(value) or 1.0) / 100)
