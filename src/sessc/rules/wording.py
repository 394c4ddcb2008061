"""Numbers, names and conclusions of rules as people write them."""

from __future__ import annotations

import numpy as np

from .base import RuleBase

__all__ = ["amount", "bell", "count", "number", "odds", "one_line", "output_names"]

MOST_DIGITS = 5
"""Of numbers so large or small that they are written with an exponent."""


def bell(rules: RuleBase, r: int, d: int) -> str:
    """What a rule wants a feature to be, in the user's units."""
    center, width = rules.centers_in_units[r, d], rules.widths_in_units[r, d]
    return f"about {number(center, width)} (± {number(width, width)})"


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
        return f"{value:.{max(places, 0)}f}"
    digits = int(np.floor(np.log10(abs(value)))) + places if value else 0
    return f"{value:.{min(max(digits, 0), MOST_DIGITS)}e}"


def count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def one_line(name: str) -> str:
    return " ".join(str(name).split())
