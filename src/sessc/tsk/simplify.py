"""Shorter rules: conditions are driven to "any value", and rules that add nothing are dropped.

The pull towards no conditions is an L1 penalty on precisions, which cannot be negative, so it sets the needless
ones to exactly zero. Its strength grows step by step, each step starting from the last, until rules are as short
as was asked for. The last step usually goes too far, so the rules before it lose only as many conditions as they
must, the least precise first; then they are refined once more without the penalty.

It is a long way on which last bits, which differ from processor to processor, would grow until they decide what is
kept. So each step starts from rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..rows.base import Rows
from .refine import Moving, OutputLoss, Pulls, prepare, refine, slope

__all__ = ["concise", "shortening"]

FIRST_STRENGTH = 1e-3
"""Pull towards no conditions in the first step, for each unit of weight in the data."""
GROWTH = 1.6
"""What the pull grows by from step to step."""
STEP_ITERATIONS = 40
IDLE = 1e-3
"""A rule is dropped if the loss without it is at most this share higher."""


def shortening(rows: Rows, rules: Moving, loss: OutputLoss, pulls: Pulls) -> Iterator[Moving]:
    """Ever shorter rules, each from the one before, until no condition is left."""
    strength = FIRST_STRENGTH * rows.weight
    while np.any(rules.precisions > 0):
        # On the way down centres go where they like: far away and wide is how a condition begins to matter less.
        pulling = replace(pulls, nothing=strength, within=None)
        rules, _ = refine(rows, rules.rounded(loss), loss, pulling, max_iter=STEP_ITERATIONS, tol=1e-5)
        yield rules
        strength *= GROWTH


def concise(
    rows: Rows,
    rules: Moving,
    loss: OutputLoss,
    pulls: Pulls,
    conditions: Sequence[float | None],
    *,
    max_iter: int,
) -> list[Moving]:
    """Rules of at most so many conditions on average, refined on what is left, for each of the numbers asked for.

    None asks for the rules as they are. All share one way down, so a number's rules do not depend on the others.
    """
    polished = partial(_polished, rows, loss, pulls, max_iter)
    shorter = shortening(rows, rules, loss, pulls)
    found: dict[float | None, Moving] = {None: rules}
    longer = rules
    for number in sorted({number for number in conditions if number is not None}, reverse=True):
        while _n_conditions(rules) > _allowed(rules, number):
            longer, rules = rules, next(shorter)
        short_already = longer is rules
        kept = rules if short_already else polished(_cut(longer, number))
        busy = without_idle(rows, kept, loss)  # not before: rules that were just cut look idle and are not
        dropped = len(busy.centers) < len(kept.centers)
        found[number] = polished(_cut(busy, number)) if dropped else kept  # the idle ones may have been short
    return [found[number] for number in conditions]


def _polished(rows: Rows, loss: OutputLoss, pulls: Pulls, max_iter: int, rules: Moving) -> Moving:
    return refine(rows, rules, loss, pulls, max_iter=max_iter)[0]


def _n_conditions(rules: Moving) -> int:
    """A single rule has none, as there is nothing to choose between."""
    return int(np.count_nonzero(rules.precisions)) if len(rules.precisions) > 1 else 0


def _allowed(rules: Moving, number: float) -> int:
    """Conditions that so many on average allow these rules together."""
    return int(min(number * len(rules.precisions), rules.precisions.size))


def _cut(rules: Moving, number: float) -> Moving:
    """The rules with as many conditions as allowed, the most precise ones."""
    too_many = rules.precisions.size - _allowed(rules, number)
    precisions = rules.precisions.ravel().copy()
    precisions[np.argsort(precisions, kind="stable")[:too_many]] = 0.0
    return replace(rules, precisions=precisions.reshape(rules.precisions.shape))


def without_idle(rows: Rows, rules: Moving, loss: OutputLoss) -> Moving:
    """The rules less those that add nothing, one after the other."""
    rows = rows.prepared(prepare)
    full = rows.sum(partial(slope, loss, rules)).loss
    while len(rules.centers) > 1:
        fewer = [_without(rules, r) for r in range(len(rules.centers))]
        losses = [rows.sum(partial(slope, loss, one)).loss for one in fewer]
        best = int(np.argmin(losses))
        if losses[best] > full + IDLE * abs(full):
            break
        rules = fewer[best]
    return rules


def _without(rules: Moving, r: int) -> Moving:
    V, P, B = (np.delete(part, r, axis=0) for part in (rules.centers, rules.precisions, rules.consequents))
    return Moving(V, P, B)
