"""Numbers, names, cells and conditions as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rows.columns import Category, Column, Number
from .base import RuleBase
from .conditions import HALF, Reading, additions, asks, grades, is_whole, places, read_condition, shown_range
from .summary import Summary

__all__ = [
    "MANY",
    "amount",
    "cell",
    "condition",
    "count",
    "day",
    "limit",
    "listed",
    "number",
    "odds",
    "one_line",
    "output_names",
    "percent",
    "quoted",
    "unheard_of",
]

MOST_DIGITS = 5
"""Of numbers so large or small that they are written with an exponent."""
MOST_PLACES = 20
"""Behind the point of other numbers, which have no digits farther on."""
MANY = 4
"""Levels that are named where not everything is shown."""
HALF_WIDTHS = float(np.sqrt(2 * HALF))
"""How many widths a bell's half-height is away from its top."""
CLOSE = 0.03
"""Limits are rounded by no more than this part of a width, which changes how well they meet a condition by 2 %."""
ROUNDING = 1e-6
"""By how much a limit that was asked to be whole may miss it."""
COUNTED = 20
"""Whole numbers that lie no further apart are counted, one by one."""
BELOW = ((0.2, "very low"), (0.5, "low"), (0.8, "not high"), (1.0, "not very high"))
"""What "at most" is called where it holds for so much of the data; "at least" is the same from above."""
WITHIN = ((0.1, "very low"), (1 / 3, "low"), (2 / 3, "medium"), (0.9, "high"), (1.0, "very high"))
"""What "between" is called where its middle lies above so much of the data."""
MIRRORED = {"very low": "very high", "low": "high", "not high": "not low", "not very high": "not very low"}
IN_TIME = {"low": "early", "high": "late"}


def condition(rules: RuleBase, r: int, column: int, words: bool = True, most: int | None = None) -> str:
    """What a rule asks of a column, as a person would say it.

    ``age between 20 and 35``, ``age at least 61`` and ``colour is red or blue`` say where the condition is met by
    a half or more. One that is met so everywhere inclines only, and says ``rather``. Where cells of it were
    missing, ``or unknown`` says that a missing one meets the condition as well.

    Parameters
    ----------
    words : bool
        Say where data are known whether such numbers are low or high among them.
    most : int, optional
        Name no more levels than this.
    """
    name, read = one_line(rules.feature_names[column]), read_condition(rules, r, column)
    if not asks(rules, r, column):
        return f"{name} may be anything"
    missing = 0.0 if rules.summary is None else rules.summary.share_missing(column)
    all_alike = not np.ptp(additions(rules, r, column, places(rules, column)))
    if read.worst >= 0.5 and (missing or all_alike) and not 0.5 <= read.unknown <= 2.0:
        return f"{name} is {'known' if read.unknown < 0.5 else 'unknown'}"
    if all_alike:
        return f"{name} is rather {'known' if read.unknown < 1.0 else 'unknown'}"
    asked = _known(rules, r, column, read, words, most)
    if read.worst >= 0.5 or not missing or read.unknown < 0.5:
        return f"{name} {asked}"
    if read.unknown > 2.0:
        return f"{name} is unknown, or else {asked.removeprefix('is ')}"
    return f"{name} {asked}, or unknown"


def _known(rules: RuleBase, r: int, column: int, read: Reading, words: bool, most: int | None) -> str:
    """What is asked of a cell that is there."""
    what = rules.columns[column]
    if isinstance(what, Category):
        return f"is {_set(rules, r, column, read, what, most)}"
    looked_at = places(rules, column)
    if len(looked_at) == 2:
        return f"is {_one_of_two(rules, r, column, looked_at)}"
    if read.kind == "any":
        return f"is rather {_inclined(rules, r, column, what)}"
    text = _limits(rules, r, column, read, what)
    word = _word(rules.summary, column, read) if words and rules.summary is not None else None
    text = text if what.is_date else f"is {text}"  # one visits since a day, and is at least so old
    return f"{text} ({_of_kind(word, what)})" if word else text


def _set(rules: RuleBase, r: int, column: int, read: Reading, what: Category, most: int | None) -> str:
    """Levels that meet a condition; those that do not, if these are few of many."""
    labels = what.labels
    out = [k for k in range(what.n_levels) if k not in read.levels]
    if read.worst >= 0.5 and not out:
        adds = additions(rules, r, column, np.arange(what.n_levels))
        best = [k for k in read.levels if adds[k] >= (adds.max() + adds.min()) / 2]
        return f"rather {listed([labels[k] for k in best], most)}"
    is_pooled = what.pool is not None and what.n_levels - 1 in out
    if is_pooled or len(read.levels) < 2 * len(out) + 1 + (len(out) < 3):
        return listed([labels[k] for k in read.levels], most)
    if len(out) == 2:
        return f"neither {quoted(labels[out[0]])} nor {quoted(labels[out[1]])}"
    return (
        f"not {quoted(labels[out[0]])}" if len(out) == 1 else f"none of {listed([labels[k] for k in out], most)}"
    )


def listed(labels: Sequence[str], most: int | None = None) -> str:
    """Labels as one says them: red, blue or green."""
    shown = [quoted(label) for label in labels]
    if most is not None and len(shown) > most + 1:
        shown = [*shown[:most], f"one of {len(shown) - most} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def quoted(label: str) -> str:
    """A label on one line, in quotes where it would be taken for several."""
    text = one_line(label)
    is_plain = text and not any(mark in f" {text} " for mark in (",", " or ", " nor ", '"'))
    return text if is_plain else f'"{text}"'


def _one_of_two(rules: RuleBase, r: int, column: int, values: np.ndarray) -> str:
    """The better of two numbers, of which there are no others."""
    text = f"{values[int(np.argmax(additions(rules, r, column, values)))]:g}"
    return text if grades(rules, r, column, values).min() < 0.5 else f"rather {text}"


def _inclined(rules: RuleBase, r: int, column: int, what: Number) -> str:
    """Where a condition that excludes nothing is met best."""
    looked_at = places(rules, column)
    best = int(np.argmax(additions(rules, r, column, looked_at)))
    if 0.1 < best / (len(looked_at) - 1) < 0.9:
        middle = _value(looked_at[best], np.ptp(looked_at) / 5, what)
        are_few = is_whole(rules, column) and np.ptp(looked_at) <= COUNTED
        return f"about {looked_at[best]:.0f}" if are_few else f"about {middle}"
    return _of_kind("low" if best < len(looked_at) / 2 else "high", what)


def _limits(rules: RuleBase, r: int, column: int, read: Reading, what: Number) -> str:
    """Between, at least or at most which numbers a condition is met by a half or more."""
    unit, (least, most) = _resolution(rules, column, read), shown_range(rules, column)
    low, high = (None if end is None else _value(end, unit, what) for end in (read.low, read.high))
    if is_whole(rules, column) and not what.is_date:
        low, high = _whole_limits(read, low, high, least, most)
    return low if low and low == high else limit(what, low, high)


def _whole_limits(
    read: Reading, low: str | None, high: str | None, least: float, most: float
) -> tuple[str | None, str | None]:
    """Limits of whole numbers, if there are some between: nobody has 2.4 children, and everybody at least none."""
    first = -np.inf if read.low is None else np.ceil(read.low - ROUNDING)
    last = np.inf if read.high is None else np.floor(read.high + ROUNDING)
    if first > last:
        return low, high
    are_few = most - least <= COUNTED
    low = f"{first:.0f}" if low and (are_few or float(low) <= least) else low
    return low, f"{last:.0f}" if high and (are_few or float(high) >= most) else high


def limit(what: Column, low: str | None, high: str | None) -> str:
    """From where to where a number may go, or a date."""
    is_date = isinstance(what, Number) and what.is_date
    if high is None:
        return f"since {low}" if is_date else f"at least {low}"
    if low is None:
        return f"until {high}" if is_date else f"at most {high}"
    return f"between {low} and {high}"


def _resolution(rules: RuleBase, column: int, read: Reading) -> float:
    """What tells numbers apart: the width of the bell, or of half a bell from an edge to the end of the data."""
    start, end = shown_range(rules, column)
    low, high = start if read.low is None else read.low, end if read.high is None else read.high
    width = (high - low) / (HALF_WIDTHS * (2 if read.kind == "bell" else 1))
    return width if read.kind == "bell" else max(width, float(rules.scale[column]) / 10)


def _value(value: float, unit: float, what: Number) -> str:
    """A limit; where it ends in zeros it is the shorter for it."""
    if what.is_date:
        return day(value, unit)
    text = number(value, unit)
    if abs(float(text) - value) > CLOSE * unit:
        text = number(value, unit / 10)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _word(summary: Summary, column: int, read: Reading) -> str | None:
    """Where numbers stand among the data that meet a condition by a half or more."""
    below = 0.0 if read.low is None else summary.share_below(column, read.low)
    until = 1.0 if read.high is None else summary.share_below(column, read.high)
    if read.low is None:
        return next(word for limit, word in BELOW if until <= limit)
    if read.high is None:
        return MIRRORED[next(word for limit, word in BELOW if 1 - below <= limit)]
    if until - below > 2 / 3:
        return None
    return next(word for limit, word in WITHIN if (below + until) / 2 <= limit)


def _of_kind(word: str | None, what: Number) -> str:
    """A word for numbers, or for moments."""
    if not what.is_date or word is None:
        return word or ""
    for number_word, time_word in IN_TIME.items():
        word = word.replace(number_word, time_word)
    return word


def cell(rules: RuleBase, column: int, value: float, unit: float | None = None) -> str:
    """A cell, as a number in the user's units or as a code, in words."""
    what = rules.columns[column]
    if np.isnan(value):
        return "unknown"
    if isinstance(what, Category):
        return quoted(what.labels[int(value)])
    unit = float(rules.scale[column]) if unit is None else unit
    if what.is_date:
        return day(value, unit)
    return f"{value:.0f}" if value == round(value) and is_whole(rules, column) else number(value, unit)


def unheard_of(rules: RuleBase, column: int, cells: np.ndarray) -> str:
    """A sentence on numbers of one column that are beyond all that rules were learned from."""
    assert rules.summary is not None
    low, high = (cell(rules, column, end) for end in rules.summary.quantiles[[0, -1], column])
    are = "is" if len(cells) == 1 else "are"
    what = f"{count(len(cells), 'cell')} of {one_line(rules.feature_names[column])} {are} beyond all that was seen"
    return f"{what}, {low} to {high}, such as {cell(rules, column, cells[0])}; do not rely on an answer there"


def day(value: float, unit: float = 1.0) -> str:
    """Days since 1970 as a date, to the minute where that matters."""
    precision, days = ("D", round(value)) if unit >= 1 else ("m", value)
    try:
        moment = np.datetime64(0, "m") + np.timedelta64(round(days * 24 * 60), "m")
    except OverflowError:
        return number(value, unit)
    return str(moment.astype(f"datetime64[{precision}]")).replace("T", " ")


def output_names(rules: RuleBase) -> list[str]:
    target = one_line(rules.target_name)
    if rules.classes is None:
        return [target]
    return [one_line(c) if isinstance(c, str) else f"{target}={c}" for c in rules.classes.tolist()]


def amount(rules: RuleBase, value: float) -> str:
    """A real target to a hundredth of how far the rules' own outputs differ, or else of the steepest slope."""
    differ = float(np.ptp(rules.consequents[:, 0, 0])) or float(np.abs(rules.consequents[:, 1:, 0]).max(initial=0))
    return number(value, (differ or abs(value) or 1.0) / 100)


def odds(rules: RuleBase, outputs: np.ndarray) -> str:
    names = output_names(rules)
    return ", ".join(f"{names[c]} {number(outputs[c], 0.1)}" for c in np.argsort(-outputs, kind="stable"))


def number(value: float, resolution: float) -> str:
    """A number to the digits that matter: down to two digits of what tells it from its neighbours."""
    if not (resolution > 0 and np.isfinite(resolution)):
        return f"{value:.4g}"
    places = int(1 - np.floor(np.log10(resolution)))
    value = round(float(value), places) + 0.0  # no "-0.00"
    if 1e-4 <= abs(value) < 1e15 or (value == 0 and places < 5):
        return f"{value:.{min(max(places, 0), MOST_PLACES)}f}"
    digits = int(np.floor(np.log10(abs(value)))) + places if value else 0
    return f"{value:.{min(max(digits, 0), MOST_DIGITS)}e}"


def percent(share: float) -> str:
    """A share to two digits, and near all of it what is left to two digits."""
    value = 100 * float(share)
    if 99 < value < 100:
        return f"{100 - float(f'{100 - value:.2g}'):.10g} %"
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


def count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def one_line(name: Any) -> str:
    """A name without line breaks, and without what would command a terminal."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in " ".join(str(name).split()))
