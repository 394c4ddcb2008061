"""Shorter rules: conditions are driven to "any value", and rules that add nothing are dropped.

The pull towards no conditions is a price on the size of each, all of what a rule asks of a column together. Its
strength grows step by step, each step starting from the last, and conditions that change next to nothing go. Once
rules are nearly as short as was asked for, the conditions that change least go, half of what is too much at a
time, with a short descent after each; then rules are refined once more without the price.

What a condition changes is its impact: the standard deviation of what it adds over the rows.

It is a long way on which last bits, which differ from processor to processor, would grow until they decide what is
kept. So each step starts from rounded numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._array import array_namespace, like, to_numpy
from ..rows.base import Rows
from .refine import Moving, OutputLoss, Plan, Prepared, Pulls, refine, slope

__all__ = ["concise", "impacts"]

FIRST_STRENGTH = 1e-3
"""Pull towards no conditions in the first step, for each unit of weight in the data."""
GROWTH = 1.5
"""What the pull grows by from step to step."""
STEP_ITERATIONS = 40
NEARLY = 1.5
"""Times as many conditions as asked for are few enough to choose among by impact."""
FAINT = 0.02
"""A condition of less impact goes on the way."""
IDLE = 1e-3
"""A rule is dropped if the loss without it is at most this share higher, and conditions if the mean loss is
without all of these at most this much higher."""


def impacts(rows: Rows, plan: Plan, rules: Moving) -> np.ndarray:
    """How much conditions change: the standard deviation over rows of what each adds, (R, J)."""
    first, second = rows.prepared(plan.prepare).sum(partial(_additions, plan, rules))
    mean = first / rows.weight
    return np.sqrt(np.maximum(second / rows.weight - mean * mean, 0.0))


class _Sums(NamedTuple):
    first: np.ndarray
    second: np.ndarray

    def __add__(self, other: Any) -> _Sums:
        return _Sums(self.first + other.first, self.second + other.second)


def _additions(plan: Plan, rules: Moving, samples: Prepared) -> _Sums:
    """What conditions add, and its squares, summed over rows, (R, J)."""
    columns = len(plan.space.total)
    found = _Sums(np.zeros((len(rules.theta), columns)), np.zeros((len(rules.theta), columns)))
    xp = array_namespace(samples.conditions)
    for j in range(columns):
        member = np.flatnonzero(plan.group == j)
        places = xp.asarray(member, device=getattr(samples.conditions, "device", None))
        part = xp.take(samples.conditions, places, axis=1)
        adds = part @ like(rules.theta[:, member].T, part)
        counts = xp.ones_like(adds[:, 0]) if samples.weight is None else samples.weight
        found.first[:, j], found.second[:, j] = to_numpy(counts @ adds), to_numpy(counts @ (adds * adds))
    return found


def concise(
    rows: Rows,
    plan: Plan,
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
    way = _Way(rows, plan, loss, pulls)
    found: dict[float | None, Moving] = {None: rules}
    strength = FIRST_STRENGTH * rows.weight
    for number in sorted({number for number in conditions if number is not None}, reverse=True):
        while way.too_many(rules, NEARLY * number) > 0:
            shorter = way.faint_dropped(way.pulled(rules, strength))
            if way.too_many(shorter, number) < 0:  # the price took more than was asked: the rest goes by impact
                break
            rules, strength = shorter, strength * GROWTH
        short_already = rules is found[None] and way.too_many(rules, number) <= 0
        kept = rules if short_already else way.polished(way.cut(rules, number), max_iter)
        busy = way.without_idle(kept)  # not before: rules that were just cut look idle and are not
        dropped = len(busy.theta) < len(kept.theta)
        kept = way.polished(way.cut(busy, number), max_iter) if dropped else kept
        found[number] = kept if short_already else way.without_idle_conditions(kept)
    return [found[number] for number in conditions]


@dataclass(frozen=True)
class _Way:
    """The way down to shorter rules."""

    rows: Rows
    plan: Plan
    loss: OutputLoss
    pulls: Pulls

    def polished(self, rules: Moving, max_iter: int) -> Moving:
        return refine(self.rows, self.plan, rules, self.loss, self.pulls, max_iter=max_iter)[0]

    def pulled(self, rules: Moving, strength: float) -> Moving:
        """The rules after a short descent with a price on conditions."""
        pulling = replace(self.pulls, nothing=strength, start=0.0)
        start = rules.rounded(self.loss)
        return refine(self.rows, self.plan, start, self.loss, pulling, max_iter=STEP_ITERATIONS, tol=1e-5)[0]

    def too_many(self, rules: Moving, number: float) -> int:
        """How many conditions more there are than so many on average; a single rule has none."""
        if len(rules.theta) == 1:
            return 0
        return int(np.sum(self._asked(rules))) - int(number * len(rules.theta))

    def cut(self, rules: Moving, number: float) -> Moving:
        """Rules as short as allowed, conditions of the least impact gone, half of what is too much at a time."""
        while (over := self.too_many(rules, number)) > 0:
            rules = self._without_least(rules, -(-over // 2))
            if over > 1:
                rules = self.pulled(rules, 0.0)
        return rules

    def faint_dropped(self, rules: Moving) -> Moving:
        impact = impacts(self.rows, self.plan, rules)
        return self._only(rules, self._asked(rules) & (impact >= FAINT))

    def without_idle(self, rules: Moving) -> Moving:
        """The rules less those that add nothing, one after the other."""
        rows = self.rows.prepared(self.plan.prepare)
        full = rows.sum(partial(slope, self.loss, rules)).loss
        while len(rules.theta) > 1:
            fewer = [_without(rules, r) for r in range(len(rules.theta))]
            losses = [rows.sum(partial(slope, self.loss, one)).loss for one in fewer]
            best = int(np.argmin(losses))
            if losses[best] > full + IDLE * abs(full):
                break
            rules = fewer[best]
        return rules

    def without_idle_conditions(self, rules: Moving) -> Moving:
        """The rules less conditions that add nothing, those of the least impact first."""
        rows, asked = self.rows.prepared(self.plan.prepare), self._asked(rules)
        most = rows.sum(partial(slope, self.loss, rules)).loss + IDLE * rows.weight
        order = np.argsort(impacts(self.rows, self.plan, rules), axis=None, kind="stable")
        for place in order[asked.ravel()[order]]:
            kept = self._asked(rules)
            kept.ravel()[place] = False
            fewer = self._only(rules, kept)
            if rows.sum(partial(slope, self.loss, fewer)).loss <= most:
                rules = fewer
        return rules

    def _asked(self, rules: Moving) -> np.ndarray:
        """Which rules have a condition on which columns, (R, J)."""
        columns = range(len(self.plan.space.total))
        return np.stack([np.any(rules.theta[:, self.plan.group == j] != 0, axis=1) for j in columns], axis=1)

    def _without_least(self, rules: Moving, n: int) -> Moving:
        impact = np.where(asked := self._asked(rules), impacts(self.rows, self.plan, rules), np.inf)
        kept = asked.copy()
        kept.ravel()[np.argsort(impact, axis=None, kind="stable")[:n]] = False
        return self._only(rules, kept)

    def _only(self, rules: Moving, kept: np.ndarray) -> Moving:
        """The rules with no other conditions than these, (R, J)."""
        constant = np.ones((len(kept), 1), bool)
        return replace(
            rules, theta=np.where(np.concatenate([kept, constant], axis=1)[:, self.plan.group], rules.theta, 0.0)
        )


def _without(rules: Moving, r: int) -> Moving:
    return Moving(np.delete(rules.theta, r, axis=0), np.delete(rules.consequents, r, axis=0))
