"""What a cell of text says: a number, a moment, or one of several names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

__all__ = [
    "DECIMAL_COMMA",
    "NEVER",
    "brief",
    "code",
    "either",
    "listed",
    "looks_dated",
    "looks_numeric",
    "moment_in",
    "number_in",
    "written_with_comma",
]

WHOLE = re.compile(r"([+-]?\d+)\.0+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
DATE = r"\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d"
TIME = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
MOMENT = re.compile(rf"({DATE})(?:[T ]({TIME})(?:Z| ?[+-]\d\d:?\d\d)?)?", re.ASCII)
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
DATED = re.compile(rf"(\d{{4}}([-/.]){DAY}\2{DAY}|{DAY}([-/.]){DAY}\3(\d{{4}}|\d\d))(\D.*)?", re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?\d{1,3}([,.' ]\d{3})+([,.]\d+)?")
NEVER = np.datetime64("NaT", "us")
MOST_LETTERS = 40
"""Of a cell that is quoted."""


def number_in(cell: str) -> float | None:
    """What a cell says, if that is a finite number and written as one: Python reads 1_0 as ten too."""
    value = float(cell) if NUMBER.fullmatch(cell) else math.inf
    return value if math.isfinite(value) else None


def moment_in(cell: str) -> np.datetime64 | None:
    """What a cell says, if that is a date such as 2020-01-31, perhaps with a time, which is that of the place."""
    found = MOMENT.fullmatch(cell)
    try:
        return np.datetime64(f"{found[1].replace('/', '-')}T{found[2] or '00:00'}", "us") if found else None
    except ValueError:  # of a day that no month has
        return None


def code(cell: str) -> str:
    """A cell as a category: whole numbers alike, whether a program wrote 1 or 1.0."""
    whole = WHOLE.fullmatch(cell)
    return whole[1] if whole else cell


def looks_numeric(cell: str) -> bool:
    """Whether a cell is a number, infinite, or written as people write numbers elsewhere."""
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return written_with_comma(cell)


def looks_dated(cell: str) -> bool:
    """Whether a cell is a date, or nearly one, such as 31.1.2020."""
    return bool(DATED.fullmatch(cell))


def written_with_comma(cell: str) -> bool:
    return bool(DECIMAL_COMMA.fullmatch(cell) or THOUSANDS.fullmatch(cell))


def brief(text: str) -> str:
    """A text on one line, of which a long one has its beginning only."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 3].rstrip()}..."


def listed(values: Sequence[str], letters: float = math.inf) -> str:
    """Categories with commas between them, and in quotes if they have their own.

    As many as so many letters hold, and at least one, have their names; the others are counted.
    """
    texts = [repr(brief(value)) if "," in value else brief(value) for value in values]
    n_named = max(sum(end - 2 <= letters for end in accumulate(len(text) + 2 for text in texts)), 1)
    rest = len(texts) - n_named
    named = ", ".join(texts[:n_named])
    return f"{named} and {rest} other{'s' * (rest > 1)}" if rest > 0 else named


def either(texts: Sequence[str]) -> str:
    """Texts with commas between them, and an *or* before the last."""
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
