"""The whole model at a glance, as what the page draws: numbers and the words beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules.base import RuleBase
from ..rules.effects import Effect, Effects
from ..rules.overview import Coefficient, coefficients
from ..rules.wording import cell, number, one_line, output_names
from .whole import adds_to, heading, kind_of, shown_outputs

__all__ = ["briefly", "glance"]

CURVES = 12
"""Columns that have a curve on the page."""


def glance(rules: RuleBase, effects: Effects) -> dict[str, Any]:
    """What the page shows of the whole model."""
    seen = None if rules.summary is None else rules.summary.evidence
    known = seen is not None and seen.overlaps is not None and rules.n_rules > 1
    lines = shown_outputs(rules, effects)
    return {
        "asked": effects.n_rows,
        "importances": _importances(rules, effects),
        "lines": lines,
        "curves": [_curve(rules, effects, one, lines) for one in effects.curves[:CURVES]],
        "overlaps": _brief(seen.overlaps) if known else None,  # type: ignore[union-attr,arg-type]
        "governed": (seen.governed / seen.weight).tolist() if known else None,  # type: ignore[union-attr]
        "coefficients": _coefficients(rules),
    }


def _importances(rules: RuleBase, effects: Effects) -> list[list[float]]:
    """Columns with how much each matters, those that matter first."""
    if effects.importances is None:
        return []
    order = np.argsort(-effects.importances, kind="stable")
    return [[int(j), float(effects.importances[j])] for j in order if effects.importances[j] > 0]


def _curve(rules: RuleBase, effects: Effects, one: Effect, lines: list[int]) -> dict[str, Any]:
    return {
        "feature": one.column,
        "kind": kind_of(rules, effects, one),
        "cells": [None if np.isnan(value) else value for value in one.cells.tolist()],
        "answers": _brief(one.answers[:, lines].T),
        "accumulated": None if one.accumulated is None else _brief(one.accumulated[:, lines].T),
        "rules": one.rules.tolist(),
        "shares": _brief(one.shares.T),
        "said": _said(rules, one, lines),
    }


def briefly(value: float) -> float:
    """A number to be drawn, to ten digits: a page has many."""
    return float(f"{value:.10g}")


def _brief(values: np.ndarray) -> list[list[float]]:
    return [[briefly(value) for value in row] for row in values.tolist()]


def _said(rules: RuleBase, one: Effect, lines: list[int]) -> str:
    """Where answers are highest and lowest, for those who cannot see the curve."""
    names, found = output_names(rules), []
    for c in lines[:2]:
        answers, unit = one.answers[:, c], np.ptp(one.answers[:, c]) / 10
        ends = int(np.argmin(answers)), int(np.argmax(answers))
        low, high = (f"{number(answers[k], unit)} at {cell(rules, one.column, one.cells[k])}" for k in ends)
        found.append(f"{names[c]} from {low} to {high}")
    return f"{one_line(rules.feature_names[one.column])}: {'; '.join(found)}"


def _coefficients(rules: RuleBase) -> dict[str, Any] | None:
    """What a single linear rule makes of each column."""
    found = coefficients(rules)
    if not found:
        return None
    outputs = adds_to(rules)
    rows = [
        {
            "change": heading(rules, one),
            "each": _each(rules, one),
            "adds": [float(one.adds @ weights) for weights in outputs.values()],
        }
        for one in found
    ]
    said = "one standard deviation more" + (", or each level beside an average one," if _has_levels(found) else "")
    return {"outputs": list(outputs), "rows": rows, "said": f"What {said} adds to {_to(rules, outputs)}."}


def _to(rules: RuleBase, outputs: dict[str, np.ndarray]) -> str:
    return next(iter(outputs)) if len(outputs) == 1 else "the score of each class"


def _has_levels(found: list[Coefficient]) -> bool:
    return any(one.level is not None for one in found)


def _each(rules: RuleBase, one: Coefficient) -> float | None:
    """What one unit more is of a standard deviation; None for a level."""
    return None if one.level is not None else 1 / float(rules.scale[one.column])
