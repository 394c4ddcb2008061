"""A condition as somebody writes it, in numbers: what is read from it is what was written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..rows.columns import Category
from .base import RuleBase
from .conditions import HALF, REACH, asks, seen_range, shown_range
from .wording import listed

__all__ = ["KEYS", "Group", "extent", "group_of", "is_number", "levels_of"]

KEYS = {"about", "width", "at_least", "at_most", "between", "among", "unknown"}
"""What a condition may be written with."""
WIDTHS = 2 * math.sqrt(2 * HALF)
"""How many widths lie between the half-heights of a bell."""
OUTSIDE = math.log(0.05)
"""What a level adds that is not among those asked for: it meets the condition by a twentieth."""


LEAST, MOST = 1e-150, 1e150
"""Of numbers in conditions, whatever their sign: squares are made of them."""


class Group(NamedTuple):
    """The numbers of one condition, in the coordinates of the rules."""

    linear: np.ndarray
    precision: float = 0.0
    is_edge: bool = False


def group_of(rules: RuleBase, r: int, column: int, wish: Mapping[str, Any]) -> Group:
    """The condition on a column that somebody wishes a rule to have."""
    what, asked = rules.columns[column], set(wish) - {"unknown"}
    if unheard := set(wish) - KEYS:
        raise ValueError(f"a condition has no {min(unheard)!r}; it is written with {', '.join(sorted(KEYS))}.")
    if not asked and asks(rules, r, column):
        return _present(rules, r, column)
    if isinstance(what, Category):
        if asked != {"among"}:
            raise ValueError(f"{what.name!r} is a category; say which of its levels with among.")
        return _among(what, wish["among"])
    if "among" in asked:
        raise ValueError(f"{what.name!r} is a number; write about and width, at_least, at_most or between.")
    if asked <= {"about", "width"}:
        return _bell(rules, r, column, wish.get("about"), wish.get("width"))
    if asked & {"about", "width"} or ("between" in asked and len(asked) > 1):
        raise ValueError("a condition is written with about and width, at_least and at_most, or between.")
    return _within(rules, column, *_ends(what, wish))


def _present(rules: RuleBase, r: int, column: int) -> Group:
    """The condition that is there."""
    features = rules.layout.features_of(column)
    is_number = not rules.layout.levels[column]
    return Group(rules.linear[r, features], float(rules.precisions[r, features[0]]) if is_number else 0.0)


def _bell(rules: RuleBase, r: int, column: int, about: Any, width: Any) -> Group:
    """A bell curve; what is not given of it stays."""
    what = rules.columns[column]
    had = np.isfinite(rules.widths[r, column])
    if not had and (about is None or width is None):
        raise ValueError(
            f"rule {r + 1} has no condition on {what.name!r} with a centre; give both about and width to add one."
            if asks(rules, r, column)
            else f"rule {r + 1} has no condition on {what.name!r}; give both about and width to add one."
        )
    if width is not None and not (is_number(width) and width > 0):
        raise ValueError(
            f"width must be a positive number, got {width!r}; to drop a condition use without_condition."
        )
    center = rules.centers_in_units[r, column] if about is None else _number("about", about, what)
    return _curve(rules, column, center, rules.widths_in_units[r, column] if width is None else width)


def _curve(rules: RuleBase, column: int, center: float, width: float, is_edge: bool = False) -> Group:
    with np.errstate(all="ignore"):
        precision = np.square(np.float64(rules.scale[column]) / width)
        linear = precision * (center - rules.mean[column]) / rules.scale[column]
        square = np.square(REACH**2 * (precision + abs(linear)))  # impacts are made of such
    if not (precision > 0 and np.isfinite(square)):
        raise ValueError(
            f"{rules.feature_names[column]!r} about {center:g} (± {width:g}) is more than can be computed with "
            f"beside its spread of {rules.scale[column]:g}; choose a width closer to that."
        )
    return Group(np.asarray([linear]), float(precision), is_edge)


def _ends(what: Any, wish: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """From where to where a number shall be."""
    if "between" in wish:
        pair = wish["between"]
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"between takes two numbers, got {pair!r}.")
        ends: list[float | None] = [_number("between", end, what) for end in pair]
    else:
        ends = [_number(key, wish[key], what) if key in wish else None for key in ("at_least", "at_most")]
    low, high = ends
    if low is not None and high is not None and not low < high:
        raise ValueError(f"{what.name!r} cannot be at least {low:g} and at most {high:g}; give the smaller first.")
    return low, high


def _within(rules: RuleBase, column: int, low: float | None, high: float | None) -> Group:
    """A condition met by a half at its ends; those beyond the data are none, and it is an edge."""
    first, last = shown_range(rules, column)
    low, high = (None if low is None or low <= first else low), (None if high is None or high >= last else high)
    is_inside = (low is None or low < last) and (high is None or high > first)
    if not is_inside or (low is None and high is None):
        raise ValueError(
            f"a limit of {rules.feature_names[column]!r} must lie where the data are, "
            f"which is between {first:g} and {last:g}."
        )
    if low is not None and high is not None:
        return _curve(rules, column, (low + high) / 2, (high - low) / WIDTHS)
    # Half a bell, whose top is the last number seen. It is read from where most of the data end.
    smallest, largest = seen_range(rules, column)
    center, end, half = (largest, last, low) if high is None else (smallest, first, high)
    assert half is not None
    width = math.sqrt(((half - center) ** 2 - (end - center) ** 2) / (2 * HALF))
    return _curve(rules, column, center, width, is_edge=True)


def _among(what: Category, levels: Any) -> Group:
    asked = levels_of(what.name, levels)
    codes = what.codes(asked)
    named = [*map(float, codes)]
    for k, level in enumerate(asked):
        if np.isnan(named[k]) and level in what.labels:  # how people read what is pooled, or a number
            named[k] = float(what.labels.index(level))
        if np.isnan(named[k]):
            raise ValueError(f"{level!r} is no level of {what.name!r}, which is {listed(what.labels)}.")
    if len(set(named)) == what.n_levels:
        raise ValueError(f"these are all levels of {what.name!r}; to allow any use without_condition.")
    return Group(np.where(np.isin(np.arange(what.n_levels), named), 0.0, OUTSIDE))


def levels_of(name: str, levels: Any) -> list[Any]:
    """Levels given by a person, one or more."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise ValueError(f"among takes a list of levels of {name!r}, got {levels!r}.")
    found = [level.item() if isinstance(level, np.generic) else level for level in levels]
    if not found or not all(isinstance(level, (str, Real)) for level in found):
        raise ValueError(f"among takes one or more levels of {name!r}, text or numbers; got {found!r}.")
    return found


def extent(wishes: list[Mapping[str, Any]]) -> tuple[float, float]:
    """Where numbers are that people speak of: three widths about a bell, and about an edge as far as others."""
    bells = [_spoken(wish) for wish in wishes if not _limit(wish) and "among" not in wish]
    limits = [limit for wish in wishes for limit in _limit(wish)]
    ends = [center + side * REACH * width for center, width in bells for side in (-1, 1)]
    points = [*limits, *(center for center, _ in bells)]
    for limit in limits:
        room = max(abs(limit - point) for point in points) or abs(limit) or 1.0
        ends += [limit - room, limit + room]
    return (min(ends), max(ends)) if ends else (-REACH, REACH)


def _limit(wish: Mapping[str, Any]) -> list[float]:
    """The number at which an edge is met by a half."""
    given = [wish[key] for key in ("at_least", "at_most") if key in wish]
    return [float(given[0])] if len(given) == 1 and is_number(given[0]) else []


def _spoken(wish: Mapping[str, Any]) -> tuple[float, float]:
    """Centre and width of a bell; what makes no sense is refused later, with a sentence."""
    pair = wish.get("between", (wish.get("at_least"), wish.get("at_most")))
    low, high = pair if isinstance(pair, (tuple, list)) and len(pair) == 2 else (math.nan, math.nan)
    if is_number(low) and is_number(high) and low < high:
        return (low + high) / 2, (high - low) / WIDTHS
    center, width = wish.get("about", math.nan), wish.get("width", math.nan)
    return (center, width) if is_number(center) and is_number(width) and width > 0 else (0.0, 1.0)


def _number(key: str, value: Any, what: Any) -> float:
    """A number given by a person, or a date where dates are read as days."""
    if what.is_date and isinstance(value, (str, date, np.datetime64)):
        try:
            return float((np.datetime64(str(value), "us") - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
        except ValueError:
            raise ValueError(f"{key} must be a date such as '2019-03-01', got {value!r}.") from None
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{key} must be a number, got {value!r}.")
    if not is_number(value):
        raise ValueError(f"{key} must be a number between {LEAST:g} and {MOST:g} in size, or zero, got {value!r}.")
    return float(value)


def is_number(value: Any) -> bool:
    """Whether something is a number with which can be computed."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and (value == 0 or LEAST <= abs(value) <= MOST)
