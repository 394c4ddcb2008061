"""Conditions and conclusions in words, for whatever form rules are shown in."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ..rows.columns import Category
from ..rules.base import RuleBase
from ..rules.conditions import impacts, origin
from ..rules.evidence import Evidence
from ..rules.links import Proportions, Softmax
from ..rules.wording import (
    MANY,
    amount,
    condition,
    count,
    day,
    number,
    odds,
    one_line,
    output_names,
    percent,
    quoted,
)

__all__ = [
    "UNITS",
    "Sentence",
    "conclusion",
    "has_scores",
    "held",
    "held_for",
    "holds_always",
    "priors",
    "seen",
    "sentences",
    "worded_conditions",
]

RARE = 0.05
"""Classes that a smaller share of the rows has are not named."""
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
    seen: str = ""
    """What became of the rows on which it counts most, and what the model answers there, if that is known."""
    is_rest: bool = False
    """Whether it asks for nothing, and so is about what other rules leave."""


def sentences(
    rules: RuleBase, max_conditions: int | None = None, max_terms: int | None = None, words: bool = True
) -> list[Sentence]:
    """Every rule in words, for whatever form they are shown in."""
    for name, most in {"max_conditions": max_conditions, "max_terms": max_terms}.items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 0):
            raise ValueError(f"{name} must be a whole number of zero or more, or None for all, got {most!r}.")
    always, levels = holds_always(rules), None if max_conditions is None else MANY
    return [
        Sentence(
            [] if always else _shown(rules, r, words, max_conditions, levels),
            conclusion(rules, r, max_terms),
            "" if always else _share(rules, r),
            "" if always else seen(rules, r),
            not always and not rules.asks[r].any(),
        )
        for r in range(rules.n_rules)
    ]


def _share(rules: RuleBase, r: int) -> str:
    """How much of the data a rule speaks for, in words."""
    summary = rules.summary
    if summary is None or summary.support is None:
        return ""
    if summary.evidence is None:
        return f"{100 * summary.support[r]:.0f} % of the data"
    governed, weight = summary.evidence.governed[r], summary.evidence.weight
    if weight != round(weight):  # rows were weighed, and what they weigh is no number of rows
        return f"counts most for {percent(governed / weight)} of the rows, by weight"
    return f"counts most for {governed:.6g} of {weight:.6g} rows"


def seen(rules: RuleBase, r: int) -> str:
    """What became of the rows a rule governs, and what the model answers there; nothing if that is not known."""
    found = None if rules.summary is None else rules.summary.evidence
    if found is None:
        return ""
    if not found.governed[r]:
        return "no row: others always count more"
    if rules.classes is None:
        mean, low, high, answer = (part[r, 0] for part in (found.outcomes, found.low, found.high, found.answers))
        assert found.spread is not None
        between = f"{amount(rules, low)} to {amount(rules, high)}"
        spread = number(found.spread[r], found.unit / 10)
        return f"{amount(rules, mean)} on average ({between}), spread {spread}; answered {amount(rules, answer)}"
    names, order = output_names(rules), np.argsort(-found.outcomes[r], kind="stable")
    shown = [_class_share(found, r, int(c), names[c], k == 0) for k, c in enumerate(order[:3])]
    best = int(np.argmax(found.answers[r]))
    return f"{', '.join(filter(None, shown))}; answered {names[best]} {number(found.answers[r, best], 0.1)}"


def _class_share(found: Evidence, r: int, c: int, name: str, first: bool) -> str:
    """How common a class is among the rows of a rule; nothing if it is rare and not the commonest."""
    share = found.outcomes[r, c]
    if not first:
        return f"{name} {100 * share:.0f} %" if share >= RARE else ""
    weighed, low, high = found.weighed[r, c], found.low[r, c], found.high[r, c]
    alike = f"; weighed {_rounded(weighed)} %" if abs(weighed - share) >= RARE else ""
    return f"{name} {_rounded(share)} % ({_rounded(low)} to {_rounded(high)}{alike})"


def _rounded(share: float) -> str:
    """A share of a hundred without a fraction, unless nearly all would read as all."""
    if not 0.995 <= share < 1:
        return f"{100 * share:.0f}"
    return f"{100 * share:.1f}" if share < 0.9995 else percent(share).removesuffix(" %")


def priors(rules: RuleBase) -> str:
    """How common classes are where probabilities hold, if that is not how common they are in the data."""
    summary = rules.summary
    if rules.classes is None or summary is None or summary.prior is None or summary.shares is None:
        return ""
    if np.abs(summary.prior - summary.shares).max() < 0.01:
        return ""
    common = ", ".join(
        f"{name} {percent(share)}" for name, share in zip(output_names(rules), summary.shares, strict=True)
    )
    if np.ptp(summary.prior) < 0.01:
        return f"Classes weigh the same: probabilities are as if all were equally common. In the data: {common}."
    as_if = ", ".join(
        f"{name} {percent(share)}" for name, share in zip(output_names(rules), summary.prior, strict=True)
    )
    return f"Classes were weighed: probabilities are as if there were {as_if}. In the data: {common}."


def held(rules: RuleBase) -> str:
    """For which classes the probabilities of rules hold, in a sentence; nothing if that is not known."""
    if rules.classes is None or rules.summary is None or rules.summary.prior is None:
        return ""
    return f"Probabilities {held_for(output_names(rules), rules.summary.prior)}."


def held_for(labels: Sequence[str], prior: np.ndarray) -> str:
    """For which classes probabilities hold, in a few words: the commonest of many are named."""
    if np.ptp(prior) < 0.01:
        return "are as if all classes were equally common"
    named = np.argsort(-prior, kind="stable")[:MANY] if len(labels) > MANY + 1 else np.arange(len(labels))
    common = [f"{labels[c]} {percent(prior[c])}" for c in named]
    rest = len(labels) - len(named)
    return f"hold where there are {', '.join(common)}" + (f", and {rest} more classes" if rest else "")


def holds_always(rules: RuleBase) -> bool:
    """Whether there is nothing but one rule, so that its conditions, if it has any, change nothing."""
    return rules.n_rules == 1 and not np.any(rules.n_conditions)


def has_scores(rules: RuleBase) -> bool:
    """Whether linear conclusions are about logarithms of odds, and those of more than two classes."""
    return rules.order == 1 and isinstance(rules.link, Softmax) and rules.consequents.shape[2] > 2


def _shown(rules: RuleBase, r: int, words: bool, most: int | None, most_levels: int | None) -> list[str]:
    asked = by_impact(rules, r)
    shown = [condition(rules, r, column, words, most_levels) for column in asked[:most]]
    left = len(asked) - len(shown)
    more = [count(left, "weaker condition")] if left else []
    return [*shown, *more] or ["anything"]


def by_impact(rules: RuleBase, r: int) -> list[int]:
    """The columns a rule asks about, the strongest condition first."""
    asked = rules.asks[r]
    return [int(column) for column in np.argsort(-impacts(rules, r)[0], kind="stable") if asked[column]]


def worded_conditions(rules: RuleBase, r: int, words: bool) -> list[tuple[int, str]]:
    """The columns a rule asks about, the strongest first, and how."""
    return [(column, condition(rules, r, column, words)) for column in by_impact(rules, r)]


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


class Term(NamedTuple):
    """A part of a linear conclusion."""

    text: str
    size: float
    """How much it moves the conclusion on average, about."""


def _line(rules: RuleBase, r: int, coefficients: np.ndarray, name: str, most: int | None) -> str:
    """One linear output of one rule, the terms that move it most first.

    What it says of a row is the constant and the terms together, numbers beyond the data counting as those at its
    end. A missing number counts as the mean, and a missing category has no term.
    """
    start = origin(rules, r)
    constant = coefficients[0] + coefficients[1:] @ start
    found = [term for column in range(rules.n_features) for term in _terms(rules, column, coefficients[1:], start)]
    found.sort(key=lambda term: -term.size)
    terms = [term.text for term in found[:most]]
    rest = len(found) - len(terms)
    more = f" + {count(rest, 'smaller term')}" if rest else ""
    says = " =" if rules.classes is None else ":"
    return f"{name}{says} {number(constant, np.abs(coefficients[1:]).max() / 10)}{''.join(terms)}{more}"


def _terms(rules: RuleBase, column: int, slopes: np.ndarray, start: np.ndarray) -> list[Term]:
    """What a column adds to a conclusion: a slope, or something for each level that differs from the average."""
    features, what = rules.layout.features_of(column), rules.columns[column]
    if isinstance(what, Category):
        apart = slopes[features] - slopes[features] @ start[features]
        shares = np.sqrt(start[features])
        name = one_line(what.name)
        return [
            Term(f" {_signed(value)} if {name} is {quoted(label)}", abs(value) * share)
            for value, label, share in zip(apart, what.labels, shares, strict=True)
            if value != 0
        ]
    [d] = features
    if slopes[d] == 0:
        return []
    slope, center = slopes[d] / rules.scale[column], rules.mean[column] + rules.scale[column] * start[d]
    name, scale = one_line(what.name), rules.scale[column]
    if what.is_date:
        return [Term(f" {_signed(slope)} (days of {name} since {day(center)})", abs(slopes[d]))]
    step = f"({name} {'-' if center >= 0 else '+'} {number(abs(center), scale)})"
    return [Term(f" {_signed(slope)} {step}", abs(slopes[d]))]


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else '-'} {abs(value):.3g}"
