"""Rules changed by hand: each function gives a new rule base, which remembers what was changed.

Rules are numbered as they are printed, from 1; features and classes go by their names; values are in the user's
units. A condition is written as it is read: ``at_most=1.3`` is met by a half at 1.3, and better below. A rule
whose conditions are all met in full counts as much as before, whichever of them was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..rows.columns import Category, Column, Number
from .base import RuleBase, place_of
from .conditions import REACH, additions, asks, origin, places, seen_range, top
from .links import Identity, Proportions, Softmax
from .summary import Summary
from .wishes import KEYS, Group, extent, group_of, is_number, levels_of
from .wording import amount, condition, odds, one_line

__all__ = ["by_hand", "with_condition", "with_output", "with_prior", "without_condition", "without_rule"]

SURE = 1e-6
"""A probability set by hand is kept this far from certainty, where its logarithm would be infinite."""


TOLD = 2.0**-6
"""The error that rounding may leave in what conditions add to a logarithm: one or two per cent."""


def with_condition(rules: RuleBase, rule: int, feature: str, **wish: Any) -> RuleBase:
    """A condition moved, made wider or narrower, or added; :meth:`sessc.RuleBase.with_condition` says how."""
    r, column = _rule(rules, rule), place_of(rules, feature)
    changed = _asking(rules, r, column, wish)
    was = f"instead of {_without_name(rules, r, column)}" if asks(rules, r, column) else "added"
    return _noted(changed, f"rule {rule}: {condition(changed, r, column, words=False)} {was}")


def _without_name(rules: RuleBase, r: int, column: int) -> str:
    text = condition(rules, r, column, words=False).removeprefix(f"{one_line(rules.feature_names[column])} ")
    return text.removeprefix("is ")


def _asking(rules: RuleBase, r: int, column: int, wish: Mapping[str, Any]) -> RuleBase:
    """The rules with a condition as somebody wishes it; one that is an edge stays met beyond the data."""
    unknown = wish.get("unknown")
    if not isinstance(unknown, bool | None):
        raise ValueError(f"unknown is True, False or None for the average of known cells; got {unknown!r}.")
    group = group_of(rules, r, column, {key: value for key, value in wish.items() if value is not None})
    if group.is_edge:
        rules = replace(rules, limits=_limits(rules, column))
    return _told(_put(rules, r, column, group, unknown), r, column)


def _told(rules: RuleBase, r: int, column: int) -> RuleBase:
    """The rules, if there are bits left for what a condition adds.

    A bell is written as ``c + l z - p z**2 / 2``. Where its centre is millions of widths from the middle of its
    column, all three are large, and what is left of their sum is rounding.
    """
    lost = abs(float(rules.constants[r])) * float(np.finfo(rules.constants.dtype).eps)
    if not lost < TOLD:
        raise ValueError(
            f"rule {r + 1} asks for a range of {rules.feature_names[column]!r} that is too narrow beside how far "
            "it is from others; make it wider, or put what is far away in a column of its own."
        )
    return rules


def _limits(rules: RuleBase, column: int) -> np.ndarray:
    """Limits that a column has at the end of where its data are, if it had none."""
    found = np.full((2, rules.n_features), [[-np.inf], [np.inf]]) if rules.limits is None else rules.limits
    here = np.where(np.isfinite(found[:, column]), found[:, column], seen_range(rules, column))
    return np.where(np.arange(rules.n_features) == column, here[:, None], found)


def _put(rules: RuleBase, r: int, column: int, group: Group, unknown: bool | None = None) -> RuleBase:
    """The rules with a condition in its place; what it is met in full adds nothing to how much its rule counts."""
    linear, precisions = np.array(rules.linear), np.array(rules.precisions)
    features = rules.layout.features_of(column)
    linear[r, features] = group.linear
    if not rules.layout.levels[column]:
        precisions[r, features] = group.precision
    # On average z-scores are 0 and their squares 1; levels have their shares.
    average = float(rules.fill[features] @ linear[r, features]) - group.precision / 2
    changed = _with_unknown(replace(rules, linear=linear, precisions=precisions), r, column, average)
    if unknown is not None:
        adds = additions(changed, r, column, places(changed, column))
        changed = _with_unknown(changed, r, column, adds.max() if unknown else adds.min())
    changed = replace(changed, summary=_unheard(changed.summary, r, column))
    constants = np.array(rules.constants)
    constants[r] += top(rules, r, column) - top(changed, r, column)
    return replace(changed, constants=constants)


def _unheard(summary: Summary | None, r: int, column: int) -> Summary | None:
    """The summary without what a rule's own rows say of a condition, which has changed."""
    if summary is None or summary.reach is None:
        return summary
    reach = np.array(summary.reach)
    reach[r, column] = np.inf
    return replace(summary, reach=reach)


def _with_unknown(rules: RuleBase, r: int, column: int, adds: float) -> RuleBase:
    unknown = np.array(rules.unknown)
    unknown[r, column] = adds
    return replace(rules, unknown=unknown)


def without_condition(rules: RuleBase, rule: int, feature: str) -> RuleBase:
    """A rule that no longer asks about a feature."""
    r, column = _rule(rules, rule), place_of(rules, feature)
    if not asks(rules, r, column):
        raise ValueError(f"rule {rule} has no condition on {feature!r} to drop.")
    nothing = Group(np.zeros(len(rules.layout.features_of(column))))
    return _noted(_put(rules, r, column, nothing), f"rule {rule}: {rules.feature_names[column]} may be anything")


def without_rule(rules: RuleBase, rule: int) -> RuleBase:
    """All rules but one; those after it move up by one."""
    r = _rule(rules, rule)
    if rules.n_rules == 1:
        raise ValueError("the last rule cannot be dropped.")
    parts = ("constants", "linear", "precisions", "unknown", "consequents")
    kept = {name: np.delete(getattr(rules, name), r, axis=0) for name in parts}
    summary = rules.summary
    if summary is not None and summary.reach is not None:
        summary = replace(summary, reach=np.delete(summary.reach, r, axis=0))
    return _noted(replace(rules, **kept, summary=summary), f"rule {rule} dropped")


def with_output(rules: RuleBase, rule: int, output: Mapping[Any, float] | float) -> RuleBase:
    """What a rule concludes; if it is linear, where its conclusion is measured from."""
    r = _rule(rules, rule)
    said = np.asarray(_outputs(rules, output), dtype=rules.consequents.dtype)
    if isinstance(rules.link, Softmax):
        said = np.log(np.clip(said / said.sum(), SURE, None))
        said = said - said.mean()
    consequents = np.array(rules.consequents)
    consequents[r, 0] = said - origin(rules, r) @ consequents[r, 1:] if rules.order else said
    where = "at its centre " if rules.order else ""
    return _noted(
        replace(rules, consequents=consequents),
        f"rule {rule} says {where}{_words(rules, _outputs(rules, output))}",
    )


def by_hand(
    rules: Sequence[tuple[Mapping[str, Any], Mapping[Any, float] | float]],
    *,
    features: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    target_name: str = "y",
) -> RuleBase:
    """A rule base written by hand; :meth:`sessc.RuleBase.by_hand` says what its parameters mean."""
    rules = _pairs(rules)
    names = _names(rules, features)
    wishes = [{name: _wish(r, name, asked) for name, asked in one.items()} for r, (one, _) in enumerate(rules)]
    columns = tuple(_column(name, [one[name] for one in wishes if name in one]) for name in names)
    said = [output for _, output in rules]
    labels = _classes(said) if classes is None else np.atleast_1d(np.asarray(classes))
    if labels is not None and (labels.ndim > 1 or len(labels) < 2 or len(set(labels.tolist())) < len(labels)):
        raise ValueError(f"there must be two or more different classes, got {labels.tolist()}.")
    found = _blank(columns, wishes, labels, str(target_name))
    for r, one in enumerate(wishes):
        for name, wish in one.items():
            found = _asking(found, r, names.index(name), wish)
    return replace(found, consequents=np.asarray([[_outputs(found, output)] for output in said]))


def _blank(
    columns: tuple[Column, ...], wishes: list[dict[str, Any]], labels: np.ndarray | None, target_name: str
) -> RuleBase:
    """Rules without conditions about columns whose numbers are where people speak of them."""
    ends = np.asarray([extent([one[column.name] for one in wishes if column.name in one]) for column in columns])
    n_rules, n_numbers = len(wishes), sum(isinstance(column, Number) for column in columns)
    counts = [column.n_levels for column in columns if column.n_levels]
    fill = np.concatenate([np.zeros(n_numbers), *(np.full(n, 1 / n) for n in counts)])
    is_edge = np.asarray([any(_is_edge(one.get(column.name, {})) for one in wishes) for column in columns])
    return RuleBase(
        constants=np.zeros(n_rules),
        linear=np.zeros((n_rules, len(fill))),
        precisions=np.zeros((n_rules, n_numbers)),
        unknown=np.zeros((n_rules, len(columns))),
        consequents=np.zeros((n_rules, 1, 1 if labels is None else len(labels))),
        mean=ends.mean(axis=1),
        scale=np.where([column.n_levels > 0 for column in columns], 1.0, np.ptp(ends, axis=1) / (2 * REACH)),
        link=Identity() if labels is None else Proportions(),
        columns=columns,
        fill=fill,
        limits=np.where(is_edge, ends.T, [[-np.inf], [np.inf]]) if is_edge.any() else None,
        classes=labels,
        target_name=target_name,
    )


def _is_edge(wish: Mapping[str, Any]) -> bool:
    return ("at_least" in wish) != ("at_most" in wish)


def _wish(r: int, name: str, asked: Any) -> dict[str, Any]:
    """A condition given by a person: a centre and a width, or a dict of what it asks for."""
    if isinstance(asked, Mapping) and asked and set(asked) <= KEYS:
        return ({"unknown": False} if "among" in asked else {}) | dict(asked)
    if not isinstance(asked, (tuple, list)) or len(asked) != 2 or not all(map(is_number, asked)):
        example = "give a number and a width above 0, or a dict such as {'at_least': 3}"
        raise ValueError(f"rule {r + 1} wants {name!r} to be {asked!r}; {example}.")
    center, width = asked
    if not width > 0:
        raise ValueError(f"rule {r + 1} wants {name!r} about {center} (± {width}); give a width above 0.")
    return {"about": center, "width": width}


def _column(name: str, wishes: list[Mapping[str, Any]]) -> Column:
    """What a column is, by what is asked of it; levels that no rule names are one more, "other"."""
    named = [levels_of(name, wish["among"]) for wish in wishes if "among" in wish]
    if not named:
        return Number(name)
    if len(named) < len(wishes):
        raise ValueError(f"rules ask for levels of {name!r} and for numbers; a column is one or the other.")
    return Category(name, tuple(dict.fromkeys(level for levels in named for level in levels)), ())


def _pairs(rules: Any) -> list[tuple[Mapping[str, Any], Any]]:
    """Rules given by a person, each a pair of conditions and an output."""
    if not isinstance(rules, Iterable) or isinstance(rules, (str, Mapping)):
        raise ValueError(f"rules are a list of pairs of conditions and an output; got {rules!r}.")
    found = list(rules)
    if not found:
        raise ValueError("a rule base needs at least one rule.")
    for r, rule in enumerate(found):
        if not (isinstance(rule, (tuple, list)) and len(rule) == 2 and isinstance(rule[0], Mapping)):
            raise ValueError(f"rule {r + 1} must be a pair of conditions, in a dict, and an output; got {rule!r}.")
    return found


def _names(rules: Sequence[tuple[Mapping[str, Any], Any]], features: Any) -> list[str]:
    """The features, as given or as mentioned."""
    mentioned = list(dict.fromkeys(name for conditions, _ in rules for name in conditions))
    given = mentioned if features is None else features
    names: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"features are a list of names, which are text; got {given!r}.")
    if unknown := [name for name in mentioned if name not in names]:
        raise ValueError(f"a condition names {unknown[0]!r}, which is not among the features {', '.join(names)}.")
    if not names:
        raise ValueError("no rule has a condition; name the features.")
    if len(set(names)) < len(names):
        raise ValueError("features need different names.")
    return names


def _classes(outputs: Sequence[Any]) -> np.ndarray | None:
    named = {label for output in outputs if isinstance(output, Mapping) for label in output}
    return np.asarray(sorted(named, key=lambda label: (str(type(label)), label))) if named else None


def _outputs(rules: RuleBase, output: Any) -> list[float]:
    """An output given by a person, as a list."""
    if rules.classes is None:
        if not is_number(output):
            raise ValueError(f"these rules predict a number, so an output is one; got {output!r}.")
        return [float(output)]
    labels = rules.classes.tolist()
    if not isinstance(output, Mapping) or set(output) - set(labels):
        raise ValueError(f"an output is a probability for each of the classes {labels}; got {output!r}.")
    said = [output.get(label, 0.0) for label in labels]
    if not all(map(is_number, said)) or min(said) < 0 or not 0 < sum(said) < np.inf:
        raise ValueError(f"probabilities are numbers of zero or more, not all zero; got {output!r}.")
    return [float(value / sum(said)) for value in said]


def _rule(rules: RuleBase, number: int) -> int:
    if not isinstance(number, (int, np.integer)) or not 1 <= number <= rules.n_rules:
        raise ValueError(f"there is no rule {number}; rules go from 1 to {rules.n_rules}.")
    return number - 1


def _words(rules: RuleBase, outputs: list[float]) -> str:
    if rules.classes is None:
        return f"{rules.target_name} = {amount(rules, outputs[0])}"
    return odds(rules, np.asarray(outputs))


def _noted(rules: RuleBase, change: str) -> RuleBase:
    """The rule base with a change noted; how much of the data its rules speak for is not known any more."""
    summary = rules.summary and replace(rules.summary, support=None, evidence=None, effects=None)
    return replace(rules, edits=(*rules.edits, change), summary=summary)


def with_prior(rules: RuleBase, prior: Any) -> RuleBase:
    """The rules with probabilities for classes that are as common as this; see :meth:`RuleBase.with_prior`."""
    known = None if rules.summary is None else rules.summary.prior
    if rules.classes is None or known is None or not isinstance(rules.link, Softmax):
        raise ValueError("only refined rules that tell classes apart know for which shares of them they hold.")
    assert rules.summary is not None
    if np.any(known <= 0):
        raise ValueError("a class that weighed nothing in learning has no probability that could be adjusted.")
    as_in_data = isinstance(prior, str) and prior == "data"
    if as_in_data and rules.summary.shares is None:
        raise ValueError("how common classes are in the data is not known; say it for each class.")
    wanted = rules.summary.shares if as_in_data else _outputs(rules, prior)
    shares = np.asarray(wanted, float)
    if np.any(shares <= 0):
        raise ValueError(f"every class needs a share above zero; got {prior!r}.")
    consequents = np.array(rules.consequents)
    consequents[:, 0] += np.log(shares / shares.sum()) - np.log(known)
    return replace(
        rules,
        consequents=consequents,
        summary=replace(rules.summary, prior=shares / shares.sum(), evidence=None, effects=None),
    )
