"""Rules as IF-THEN sentences in the user's own names and units."""

from __future__ import annotations

from numbers import Integral
from textwrap import fill
from typing import NamedTuple

import numpy as np

from ..rules.base import RuleBase, Softmax
from ..rules.choices import Choice
from ..rules.summary import word_for

__all__ = ["Sentence", "sentences", "to_text"]

MOST_DIGITS = 5
"""Of numbers so large or small that they are written with an exponent."""


class Sentence(NamedTuple):
    """One rule in words."""

    conditions: list[str]
    """The strongest first; none if the rule is the only one and always holds."""
    conclusion: list[str]
    share: str
    """How much of the data it speaks for, or nothing if that is not known."""


def to_text(
    rules: RuleBase,
    *,
    max_conditions: int | None = None,
    max_terms: int | None = None,
    words: bool = True,
    width: int | None = None,
) -> str:
    """The rules as readable text.

    Conditions of a rule stand in the order of their strength: how narrow they are compared with the spread
    of the feature. ``about 17.5 (± 2.1)`` means a bell curve centred at 17.5 with standard deviation 2.1.
    A linear conclusion is written from the rule's own centre, so that its constant is what the rule says there.

    Parameters
    ----------
    rules : RuleBase
    max_conditions : int, optional
        Show only this many of the strongest conditions of each rule, and say how many were left out.
    max_terms : int, optional
        Show only this many of the largest terms of each linear conclusion, and say how many were left out.
    words : bool, default=True
        Say, where the data are known, whether a centre is low, medium or high among them.
    width : int, optional
        Break lines that are longer.

    Returns
    -------
    str
    """
    found = sentences(rules, max_conditions, max_terms, words)
    parts = ["\n".join(_broken(_head(rules, max_conditions, max_terms).split("\n"), width, ""))]
    for r, sentence in enumerate(found):
        title = f"Rule {r + 1}" + (f" ({sentence.share} of the data)" if sentence.share else "")
        lines = [f"  {'AND ' if k else 'IF  '} {line}" for k, line in enumerate(sentence.conditions)]
        then = "THEN" if lines else "ALWAYS"
        lines += [f"  {' ' * len(then) if k else then} {line}" for k, line in enumerate(sentence.conclusion)]
        parts.append("\n".join([title, *_broken(lines, width, " " * 9)]))
    return "\n\n".join(parts)


def _broken(lines: list[str], width: int | None, indent: str) -> list[str]:
    """Long lines broken, but never between a number and its ±."""
    if width is None:
        return lines
    whole = (line.replace("(± ", "(±\u00a0") for line in lines)
    return [fill(line, max(width, 30), subsequent_indent=indent).replace("\u00a0", " ") for line in whole]


def _head(rules: RuleBase, max_conditions: int | None, max_terms: int | None) -> str:
    kind = "classification" if rules.classes is not None else "regression"
    conclusions = "constant" if rules.order == 0 else "linear"
    always = ", which always holds," if _holds_always(rules) else ""
    head = (
        f"{_count(rules.n_rules, 'rule')}{always} for {kind} by {_count(rules.n_features, 'feature')}, "
        f"with {conclusions} outputs."
    )
    if 0 < rules.n_conditions.mean() < rules.n_features:
        head += f"\nA rule has {_number(rules.n_conditions.mean(), 1.0)} conditions on average."
    if _has_scores(rules):
        head += "\nScores are log-odds: how much higher one is than another says how much likelier its class is."
    if rules.edits:
        head += f"\nChanged by hand: {'; '.join(map(_one_line, rules.edits))}."
    if max_conditions is not None and np.any(rules.n_conditions > max_conditions):
        head += f"\nThe {max_conditions} strongest conditions of each rule are shown; to_text() shows all."
    if max_terms is not None and rules.order == 1 and rules.n_features > max_terms:
        head += f"\nThe {max_terms} largest terms of each conclusion are shown; to_text() shows all."
    return head


def sentences(
    rules: RuleBase, max_conditions: int | None = None, max_terms: int | None = None, words: bool = True
) -> list[Sentence]:
    """Every rule in words, for whatever form they are shown in."""
    for name, most in {"max_conditions": max_conditions, "max_terms": max_terms}.items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 0):
            raise ValueError(f"{name} must be a whole number of zero or more, or None for all, got {most!r}.")
    always = _holds_always(rules)
    support = None if rules.summary is None or always else rules.summary.support
    return [
        Sentence(
            [] if always else _shown([text for _, text in _conditions_of(rules, r, words)], max_conditions),
            _conclusion(rules, r, max_terms),
            "" if support is None else f"{100 * support[r]:.0f} %",
        )
        for r in range(rules.n_rules)
    ]


def _holds_always(rules: RuleBase) -> bool:
    """Whether there is nothing but one rule, so that its conditions, if it has any, change nothing."""
    return rules.n_rules == 1 and not np.any(rules.n_conditions)


def _has_scores(rules: RuleBase) -> bool:
    """Whether linear conclusions are about logarithms of odds, and those of more than two classes."""
    return rules.order == 1 and isinstance(rules.link, Softmax) and rules.consequents.shape[2] > 2


def _shown(conditions: list[str], most: int | None) -> list[str]:
    left = len(conditions) - len(conditions[:most])
    more = [_count(left, "weaker condition")] if left else []
    return [*conditions[:most], *more] or ["anything"]


def _conditions_of(rules: RuleBase, r: int, words: bool) -> list[tuple[int, str]]:
    """The features a rule asks about, the strongest first, and how."""
    strongest = np.argsort(rules.widths[r], kind="stable")
    return [(int(d), _condition(rules, r, d, words)) for d in strongest if np.isfinite(rules.widths[r, d])]


def _condition(rules: RuleBase, r: int, d: int, words: bool) -> str:
    center, width = rules.centers_in_units[r, d], rules.widths_in_units[r, d]
    about = f"about {_number(center, width)} (± {_number(width, width)})"
    if words and (value := _value(rules, r, d)):
        return f"{value}, {about}"
    return f"{_one_line(rules.feature_names[d])} is {_word(rules, d, center) if words else ''}{about}"


def _value(rules: RuleBase, r: int, d: int) -> str | None:
    """The value a condition on a choice asks for; None for other features, or if it asks for something between."""
    choice, center = rules.choice_of(d), rules.centers_in_units[r, d]
    return None if choice is None or abs(center - 0.5) < 0.25 else _chosen(choice, d, center > 0.5)


def _chosen(choice: Choice, d: int, one: bool) -> str:
    return f"{_one_line(choice.name)} is {_one_line(choice.says(d, one))}"


def _word(rules: RuleBase, d: int, center: float) -> str:
    word = None if rules.summary is None else word_for(rules.summary, d, center)
    return f"{word}, " if word else ""


def _conclusion(rules: RuleBase, r: int, max_terms: int | None = None) -> list[str]:
    names = _output_names(rules)
    if rules.order == 1:
        if len(names) == 2 and isinstance(rules.link, Softmax):  # the other class's odds are the inverse
            return [_line(rules, r, rules.consequents[r] @ [-1.0, 1.0], f"log-odds of {names[1]}", max_terms)]
        of = "score of " if _has_scores(rules) else ""
        lines = zip(rules.consequents[r].T, names, strict=True)
        return [_line(rules, r, coefficients, f"{of}{name}", max_terms) for coefficients, name in lines]
    outputs = rules.link.of_one_rule(rules.consequents[r, 0])
    if rules.classes is None:
        return [f"{names[0]} = {_amount(rules, outputs[0])}"]
    return [_odds(rules, outputs)]


def _odds(rules: RuleBase, outputs: np.ndarray) -> str:
    names = _output_names(rules)
    return ", ".join(f"{names[c]} {_number(outputs[c], 0.1)}" for c in np.argsort(-outputs, kind="stable"))


def _amount(rules: RuleBase, value: float) -> str:
    """A real target to a hundredth of how far the rules' own outputs differ, or else of the steepest slope."""
    differ = float(np.ptp(rules.consequents[:, 0, 0])) or float(np.abs(rules.consequents[:, 1:, 0]).max(initial=0))
    return _number(value, (differ or abs(value) or 1.0) / 100)


def _line(rules: RuleBase, r: int, coefficients: np.ndarray, name: str, most: int | None) -> str:
    """One linear output of one rule, the features that move it most first."""
    slopes = coefficients[1:]
    constant = coefficients[0] + slopes @ rules.centers[r]
    terms = []
    for d in np.argsort(-np.abs(slopes), kind="stable")[:most]:
        slope, center = slopes[d] / rules.scale[d], rules.centers_in_units[r, d]
        width = rules.widths_in_units[r, d]
        offset = _number(abs(center), width if np.isfinite(width) else rules.scale[d])
        step = f"({_one_line(rules.feature_names[d])} {'-' if center >= 0 else '+'} {offset})"
        terms.append(f" {'+' if slope >= 0 else '-'} {abs(slope):.3g} {step}")
    rest = len(slopes) - len(terms)
    more = f" + {_count(rest, 'smaller term')}" if rest else ""
    says = " =" if rules.classes is None else ":"
    return f"{name}{says} {_number(constant, np.abs(slopes).max() / 10)}{''.join(terms)}{more}"


def _output_names(rules: RuleBase) -> list[str]:
    target = _one_line(rules.target_name)
    if rules.classes is None:
        return [target]
    return [_one_line(c) if isinstance(c, str) else f"{target}={c}" for c in rules.classes.tolist()]


def _number(value: float, resolution: float) -> str:
    """A number to the digits that matter: down to two digits of what tells it from its neighbours."""
    if not (resolution > 0 and np.isfinite(resolution)):
        return f"{value:.4g}"
    places = int(1 - np.floor(np.log10(resolution)))
    value = round(float(value), places) + 0.0  # no "-0.00"
    if 1e-4 <= abs(value) < 1e15 or (value == 0 and places < 5):
        return f"{value:.{max(places, 0)}f}"
    digits = int(np.floor(np.log10(abs(value)))) + places if value else 0
    return f"{value:.{min(max(digits, 0), MOST_DIGITS)}e}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def _one_line(name: str) -> str:
    return " ".join(str(name).split())
