"""Rules changed by hand: each function gives a new rule base, which remembers what was changed.

Rules are numbered as they are printed, from 1; features and classes go by their names; values are in the user's
units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .base import RuleBase, place_of
from .links import Identity, Proportions, Softmax
from .wording import amount, bell, odds

__all__ = ["by_hand", "with_condition", "with_output", "without_condition", "without_rule"]

SURE = 1e-6
"""A probability set by hand is kept this far from certainty, where its logarithm would be infinite."""


def with_condition(
    rules: RuleBase, rule: int, feature: str, about: float | None = None, width: float | None = None
) -> RuleBase:
    """A condition moved, made wider or narrower, or added."""
    r, d = _rule(rules, rule), place_of(rules, feature)
    had = np.isfinite(rules.widths[r, d])
    if not had and (about is None or width is None):
        raise ValueError(f"rule {rule} has no condition on {feature!r}; give both about and width to add one.")
    if width is not None and not (_is_number(width) and width > 0):
        raise ValueError(
            f"width must be a positive number, got {width!r}; to drop a condition use without_condition."
        )
    if about is not None and not _is_number(about):
        raise ValueError(f"about must be a number, got {about!r}.")
    centers, widths = np.array(rules.centers), np.array(rules.widths)
    if about is not None:
        centers[r, d] = (about - rules.mean[d]) / rules.scale[d]
    if width is not None:
        widths[r, d] = width / rules.scale[d]
    changed = replace(rules, centers=centers, widths=widths)
    name = rules.feature_names[d]
    was = f"instead of {bell(rules, r, d)}" if had else "added"
    return _noted(changed, f"rule {rule}: {name} is {bell(changed, r, d)} {was}")


def without_condition(rules: RuleBase, rule: int, feature: str) -> RuleBase:
    """A rule that no longer asks about a feature."""
    r, d = _rule(rules, rule), place_of(rules, feature)
    if not np.isfinite(rules.widths[r, d]):
        raise ValueError(f"rule {rule} has no condition on {feature!r} to drop.")
    widths = np.array(rules.widths)
    widths[r, d] = np.inf
    return _noted(replace(rules, widths=widths), f"rule {rule}: {rules.feature_names[d]} may be anything")


def without_rule(rules: RuleBase, rule: int) -> RuleBase:
    """All rules but one; those after it move up by one."""
    r = _rule(rules, rule)
    if rules.n_rules == 1:
        raise ValueError("the last rule cannot be dropped.")
    kept = {name: np.delete(getattr(rules, name), r, axis=0) for name in ("centers", "widths", "consequents")}
    return _noted(replace(rules, **kept), f"rule {rule} dropped")


def with_output(rules: RuleBase, rule: int, output: Mapping[Any, float] | float) -> RuleBase:
    """What a rule concludes, at its own centre if it is linear."""
    r = _rule(rules, rule)
    said = np.asarray(_outputs(rules, output), dtype=rules.consequents.dtype)
    if isinstance(rules.link, Softmax):
        said = np.log(np.clip(said / said.sum(), SURE, None))
        said = said - said.mean()
    consequents = np.array(rules.consequents)
    consequents[r, 0] = said - rules.centers[r] @ consequents[r, 1:] if rules.order else said
    where = "at its centre " if rules.order else ""
    return _noted(
        replace(rules, consequents=consequents),
        f"rule {rule} says {where}{_words(rules, _outputs(rules, output))}",
    )


def by_hand(
    rules: Sequence[tuple[Mapping[str, tuple[float, float]], Mapping[Any, float] | float]],
    *,
    features: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    target_name: str = "y",
) -> RuleBase:
    """A rule base written by hand; :meth:`sessc.RuleBase.by_hand` says what its parameters mean."""
    rules = _pairs(rules)
    names = _names(rules, features)
    centers, widths = np.full((2, len(rules), len(names)), np.nan)
    for r, (conditions, _) in enumerate(rules):
        for name, condition in conditions.items():
            centers[r, names.index(name)], widths[r, names.index(name)] = _center_and_width(r, name, condition)
    asked = np.isfinite(widths)
    count = np.maximum(asked.sum(axis=0), 1)
    mean = np.where(asked, centers, 0.0).sum(axis=0) / count
    scale = np.where(asked.any(axis=0), np.where(asked, widths, 0.0).sum(axis=0) / count, 1.0)
    said = [output for _, output in rules]
    labels = _classes(said) if classes is None else np.atleast_1d(np.asarray(classes))
    if labels is not None and (labels.ndim > 1 or len(labels) < 2 or len(set(labels.tolist())) < len(labels)):
        raise ValueError(f"there must be two or more different classes, got {labels.tolist()}.")
    blank = RuleBase(
        centers=np.where(asked, (centers - mean) / scale, 0.0),
        widths=np.where(asked, widths / scale, np.inf),
        consequents=np.zeros((len(rules), 1, 1 if labels is None else len(labels))),
        mean=mean,
        scale=scale,
        link=Identity() if labels is None else Proportions(),
        feature_names=tuple(map(str, names)),
        classes=labels,
        target_name=str(target_name),
    )
    return replace(blank, consequents=np.asarray([[_outputs(blank, output)] for output in said]))


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


def _center_and_width(r: int, name: str, condition: Any) -> tuple[float, float]:
    """A condition given by a person: a centre and a width."""
    if not isinstance(condition, (tuple, list)) or len(condition) != 2 or not all(map(_is_number, condition)):
        raise ValueError(f"rule {r + 1} wants {name!r} to be {condition!r}; give a number and a width above 0.")
    center, width = condition
    if not width > 0:
        raise ValueError(f"rule {r + 1} wants {name!r} about {center} (± {width}); give a width above 0.")
    return center, width


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _classes(outputs: Sequence[Any]) -> np.ndarray | None:
    named = {label for output in outputs if isinstance(output, Mapping) for label in output}
    return np.asarray(sorted(named, key=lambda label: (str(type(label)), label))) if named else None


def _outputs(rules: RuleBase, output: Any) -> list[float]:
    """An output given by a person, as a list."""
    if rules.classes is None:
        if not _is_number(output):
            raise ValueError(f"these rules predict a number, so an output is one; got {output!r}.")
        return [float(output)]
    labels = rules.classes.tolist()
    if not isinstance(output, Mapping) or set(output) - set(labels):
        raise ValueError(f"an output is a probability for each of the classes {labels}; got {output!r}.")
    said = [output.get(label, 0.0) for label in labels]
    if not all(map(_is_number, said)) or min(said) < 0 or not 0 < sum(said) < np.inf:
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
    return replace(
        rules, edits=(*rules.edits, change), summary=rules.summary and replace(rules.summary, support=None)
    )
