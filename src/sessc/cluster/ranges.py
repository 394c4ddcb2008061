"""Which values parameters may have, and one sentence for all others."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "COUNT",
    "NOT_NEGATIVE",
    "POSITIVE",
    "Range",
    "Ranges",
    "check_each",
    "check_parameters",
    "one_of",
    "or_auto",
]


class Range(NamedTuple):
    """Values that a parameter may have."""

    kind: Any
    accepts: Callable[[Any], bool]
    says: str
    words: tuple[str, ...] = ()

    def includes(self, value: Any) -> bool:
        if isinstance(value, str) and value in self.words:
            return True
        return not isinstance(value, bool) and isinstance(value, self.kind) and self.accepts(value)

    def __str__(self) -> str:
        return self.says + "".join(f' or "{word}"' for word in self.words)


Ranges = dict[str, Range]
"""By the name of the parameter; each estimator states those of its own."""

COUNT = Range(Integral, lambda v: v >= 1, "a positive integer")
POSITIVE = Range(Real, lambda v: 0 < v < np.inf, "a positive number")
NOT_NEGATIVE = Range(Real, lambda v: 0 <= v < np.inf, "a number that is not negative")


def or_auto(allowed: Range) -> Range:
    """The same, or the word for the library's own choice."""
    return allowed._replace(words=("auto",))


def one_of(*words: str) -> Range:
    """Any of these words."""
    *first, last = (f'"{word}"' for word in words)
    return Range(str, lambda v: v in words, f"{', '.join(first)} or {last}")


def check_parameters(estimator: Any) -> None:
    """Refuse parameters out of range, by name and value."""
    for name, value in estimator.get_params(deep=False).items():
        allowed = estimator._ranges.get(name)
        if allowed is not None and not allowed.includes(value):
            raise ValueError(f"{name} must be {allowed}, got {value!r}.")


def check_each(name: str, values: Any, allowed: Range | None = None) -> list:
    """Candidates as a list; refuse it if it is empty or holds one out of range."""
    if isinstance(values, str) or not np.iterable(values) or not (values := list(values)):
        raise ValueError(f"{name} must be a list of at least one value, got {values!r}.")
    for value in values:
        if allowed is not None and not allowed.includes(value):
            raise ValueError(f"{name} must hold {allowed} each, got {value!r}.")
    return values
