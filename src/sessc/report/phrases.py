"""Conditions and conclusions in words, for whatever form rules are shown in."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np

from ..rules.base import RuleBase
from ..rules.choices import Choice
from ..rules.links import Proportions, Softmax
from ..rules.summary import word_for
from ..rules.wording import amount, bell, count, number, odds, one_line, output_names

__all__ = [
    "UNITS",
    "Sentence",
    "asked_value",
    "conclusion",
    "condition",
    "conditions_of",
    "has_scores",
    "holds_always",
    "sentences",
]

UNITS = {
    Softmax: "Rules add to the score of each class; the difference between two scores is their log-odds.",
    Proportions: "Rules add to the score of each class; scores, those below zero cut, are shown as shares.",
}
"""What it is that rules add up to."""


class Sentence(NamedTuple):
    """One rule in words."""

    conditions: list[str]
    """The strongest first; none if the rule is the only one and always holds."""
    conclusion: list[str]
    share: str
    """How much of the data it speaks for, or nothing if that is not known."""


def sentences(
    rules: RuleBase, max_conditions: int | None = None, max_terms: int | None = None, words: bool = True
) -> list[Sentence]:
    """Every rule in words, for whatever form they are shown in."""
    for name, most in {"max_conditions": max_conditions, "max_terms": max_terms}.items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 0):
            raise ValueError(f"{name} must be a whole number of zero or more, or None for all, got {most!r}.")
    always = holds_always(rules)
    support = None if rules.summary is None or always else rules.summary.support
    return [
        Sentence(
            [] if always else _shown([text for _, text in conditions_of(rules, r, words)], max_conditions),
            conclusion(rules, r, max_terms),
            "" if support is None else f"{100 * support[r]:.0f} %",
        )
        for r in range(rules.n_rules)
    ]


def holds_always(rules: RuleBase) -> bool:
    """Whether there is nothing but one rule, so that its conditions, if it has any, change nothing."""
    return rules.n_rules == 1 and not np.any(rules.n_conditions)


def has_scores(rules: RuleBase) -> bool:
    """Whether linear conclusions are about logarithms of odds, and those of more than two classes."""
    return rules.order == 1 and isinstance(rules.link, Softmax) and rules.consequents.shape[2] > 2


def _shown(conditions: list[str], most: int | None) -> list[str]:
    left = len(conditions) - len(conditions[:most])
    more = [count(left, "weaker condition")] if left else []
    return [*conditions[:most], *more] or ["anything"]


def conditions_of(rules: RuleBase, r: int, words: bool) -> list[tuple[int, str]]:
    """The features a rule asks about, the strongest first, and how."""
    strongest = np.argsort(rules.widths[r], kind="stable")
    return [(int(d), condition(rules, r, d, words)) for d in strongest if np.isfinite(rules.widths[r, d])]


def condition(rules: RuleBase, r: int, d: int, words: bool) -> str:
    """What a rule asks of a feature."""
    about = bell(rules, r, d)
    if words and (value := asked_value(rules, r, d)):
        return f"{value}, {about}"
    word = _word(rules, d, rules.centers_in_units[r, d]) if words else ""
    return f"{one_line(rules.feature_names[d])} is {word}{about}"


def asked_value(rules: RuleBase, r: int, d: int) -> str | None:
    """The value a condition on a choice asks for; None for other features, or if it asks for something between."""
    choice, center = rules.choice_of(d), rules.centers_in_units[r, d]
    return None if choice is None or abs(center - 0.5) < 0.25 else _chosen(choice, d, center > 0.5)


def _chosen(choice: Choice, d: int, one: bool) -> str:
    return f"{one_line(choice.name)} is {one_line(choice.says(d, one))}"


def _word(rules: RuleBase, d: int, center: float) -> str:
    word = None if rules.summary is None else word_for(rules.summary, d, center)
    return f"{word}, " if word else ""


def conclusion(rules: RuleBase, r: int, max_terms: int | None = None) -> list[str]:
    """What a rule says, a line for each output."""
    names = output_names(rules)
    if rules.order == 1:
        if len(names) == 2 and isinstance(rules.link, Softmax):  # the other class's odds are the inverse
            return [_line(rules, r, rules.consequents[r] @ [-1.0, 1.0], f"log-odds of {names[1]}", max_terms)]
        of = "score of " if has_scores(rules) else ""
        lines = zip(rules.consequents[r].T, names, strict=True)
        return [_line(rules, r, coefficients, f"{of}{name}", max_terms) for coefficients, name in lines]
    outputs = rules.link.of_one_rule(rules.consequents[r, 0])
    if rules.classes is None:
        return [f"{names[0]} = {amount(rules, outputs[0])}"]
    return [odds(rules, outputs)]


def _line(rules: RuleBase, r: int, coefficients: np.ndarray, name: str, most: int | None) -> str:
    """One linear output of one rule, the features that move it most first."""
    slopes = coefficients[1:]
    constant = coefficients[0] + slopes @ rules.centers[r]
    terms = []
    for d in np.argsort(-np.abs(slopes), kind="stable")[:most]:
        slope, center = slopes[d] / rules.scale[d], rules.centers_in_units[r, d]
        width = rules.widths_in_units[r, d]
        offset = number(abs(center), width if np.isfinite(width) else rules.scale[d])
        step = f"({one_line(rules.feature_names[d])} {'-' if center >= 0 else '+'} {offset})"
        terms.append(f" {'+' if slope >= 0 else '-'} {abs(slope):.3g} {step}")
    rest = len(slopes) - len(terms)
    more = f" + {count(rest, 'smaller term')}" if rest else ""
    says = " =" if rules.classes is None else ":"
    return f"{name}{says} {number(constant, np.abs(slopes).max() / 10)}{''.join(terms)}{more}"
