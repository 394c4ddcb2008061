"""Shorter rules: conditions and terms are driven to nothing, and rules that add nothing are dropped.

The pull towards short rules is a price on the size of each condition, all of what a rule asks of a column
together, and of each term of a linear conclusion. Its strength grows step by step, each step starting from the
last, and what changes next to nothing goes. Once rules are nearly as short as was asked for, what changes least
goes, half of what is too much at a time, with a short descent after each; then rules are refined once more without
the price. The price finds what columns say together, and is hard on rules that few rows need; so rules go the same
way without it, too. Of all that was met and is short enough the best is kept: to allow more never makes rules
worse.

What a condition changes is its impact: the standard deviation of what it adds over the rows; so a term's.

Rules share each row, so that what all of them ask alike decides nothing. Where every rule has a condition on a
column, the weakest of these is taken from all: the same model with one condition less. And a rule that asks what
another asks is one with it.

It is a long way on which last bits, which differ from processor to processor, would grow until they decide what is
kept. So each step starts from rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from .._array import array_namespace, like, to_numpy
from ..rows.base import Rows
from .refine import Moving, OutputLoss, Plan, Prepared, Pulls, refine, slope

__all__ = ["NO_LIMIT", "Limit", "concise", "impacts"]

FIRST_STRENGTH = 1e-3
"""Pull towards short rules in the first step, for each unit of weight in the data."""
GROWTH = 2.0
"""What the pull grows by from step to step."""
STEP_ITERATIONS = 40
NEARLY = 1.5
"""Times as much as asked for is little enough to choose among by impact."""
FAINT = 0.02
"""A condition or term of less impact goes on the way."""
IDLE = 1e-3
"""A rule is dropped if the loss without it is at most this share higher, and conditions if the mean loss is
without all of these at most this much higher."""


class Limit(NamedTuple):
    """How many conditions and terms rules may have on average; None is no limit."""

    conditions: float | None = None
    terms: float | None = None

    @property
    def is_none(self) -> bool:
        return self.conditions is None and self.terms is None

    def is_within(self, other: Limit) -> bool:
        """Whether rules that keep to this limit keep to the other."""
        return all(b is None or (a is not None and a <= b) for a, b in zip(self, other, strict=True))


NO_LIMIT = Limit()


def impacts(ready: Rows, plan: Plan, rules: Moving) -> tuple[np.ndarray, np.ndarray]:
    """How much conditions and terms change: the standard deviation over rows of what each adds, twice (R, J).

    Rows are ready as the plan prepares them.
    """
    sums = ready.sum(partial(_additions, plan, rules))
    found = []
    for first, second in ((sums.first, sums.second), (sums.first_terms, sums.second_terms)):
        mean = first / ready.weight
        found.append(np.sqrt(np.maximum(second / ready.weight - mean * mean, 0.0)))
    # of a term, over all outputs
    return found[0], np.sqrt(np.sum(found[1] ** 2, axis=2))


class _Sums(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    first_terms: np.ndarray
    second_terms: np.ndarray

    def __add__(self, other: Any) -> _Sums:
        return _Sums(*(a + b for a, b in zip(self, other, strict=True)))


def _additions(plan: Plan, rules: Moving, samples: Prepared) -> _Sums:
    """What conditions (R, J) and terms (R, J, C) add, and its squares, summed over rows."""
    n_rules, n_inputs, n_outputs = rules.consequents.shape
    n_columns = len(plan.space.total)
    found = _Sums(
        *(np.zeros(shape) for shape in [(n_rules, n_columns)] * 2 + [(n_rules, n_columns, n_outputs)] * 2)
    )
    about = plan.term_group[:n_inputs]
    for j in range(n_columns):
        adds = _added(samples.conditions, samples.weight, rules.theta, np.flatnonzero(plan.group == j))
        found.first[:, j], found.second[:, j] = adds
        if n_inputs > 1:
            member = np.flatnonzero(about == j)
            flat = np.moveaxis(rules.consequents, 1, 2).reshape(-1, n_inputs)
            adds = _added(samples.conclusions, samples.weight, flat, member)
            found.first_terms[:, j], found.second_terms[:, j] = (part.reshape(n_rules, n_outputs) for part in adds)
    return found


def _added(
    inputs: Any, weight: Any, coefficients: np.ndarray, member: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What some of the inputs add with each row of coefficients, and its square, summed over rows."""
    xp = array_namespace(inputs)
    part = xp.take(inputs, xp.asarray(member, device=getattr(inputs, "device", None)), axis=1)
    adds = part @ like(coefficients[:, member].T, part)
    counts = xp.ones_like(adds[:, 0]) if weight is None else weight
    return to_numpy(counts @ adds), to_numpy(counts @ (adds * adds))


def least_said(ready: Rows, plan: Plan, rules: Moving) -> Moving:
    """The same model said with the fewest conditions.

    Where every rule asks about a column, what the weakest asks is taken from all; rules without any condition are
    one.
    """
    if len(rules.theta) == 1:
        return rules
    theta, strength = rules.theta.copy(), impacts(ready, plan, rules)[0]
    for j in np.flatnonzero(plan.conditions_in(rules).all(axis=0)):
        about = plan.group == j
        squares = (
            theta[:, about & plan.is_precision][:, 0] if np.any(about & plan.is_precision) else strength[:, j]
        )
        theta[:, about] -= theta[np.lexsort((strength[:, j], squares))[0], about]
    return _joined(replace(rules, theta=theta), plan)


def _joined(rules: Moving, plan: Plan) -> Moving:
    """Rules without conditions as one, which says their mean and counts as much as they did."""
    free = np.flatnonzero(~plan.conditions_in(rules).any(axis=1))
    if len(free) < 2:
        return rules
    return _merged(rules, free)


def _merged(rules: Moving, which: np.ndarray) -> Moving:
    """Rules with some of them as one, in the place of the first: exact where these ask the same."""
    constants = rules.theta[which, 0]
    size = np.exp(constants - constants.max())
    share = size / size.sum()
    theta, consequents = rules.theta.copy(), rules.consequents.copy()
    theta[which[0]] = share @ rules.theta[which]
    theta[which[0], 0] = constants.max() + np.log(size.sum())
    consequents[which[0]] = np.tensordot(share, rules.consequents[which], axes=1)
    return Moving(np.delete(theta, which[1:], axis=0), np.delete(consequents, which[1:], axis=0))


def concise(
    rows: Rows,
    plan: Plan,
    rules: Moving,
    loss: OutputLoss,
    pulls: Pulls,
    limits: Sequence[Limit],
    *,
    max_iter: int,
) -> list[Moving]:
    """Rules within each of the limits, refined on what is left; without a limit the rules as they are.

    Limits of which each is tighter than the last share the way down.
    """
    found: dict[Limit, Moving] = {NO_LIMIT: rules}
    alone = len(rules.theta) == 1  # and has no conditions that would count
    found |= {limit: rules for limit in limits if alone and limit.terms is None}
    for asked in _nested({limit for limit in limits if limit not in found}):
        way = _Way(rows, plan, loss, pulls)
        for first in (FIRST_STRENGTH * rows.weight, np.inf):
            way.down(rules, asked, first, max_iter)
        found |= {limit: way.best(limit) for limit in asked}
    return [found[limit] for limit in limits]


def _nested(limits: set[Limit]) -> list[list[Limit]]:
    """Limits in rows of which each is tighter than the last."""
    found: list[list[Limit]] = []
    for limit in sorted(limits, key=lambda limit: [-np.inf if most is None else -most for most in limit[::-1]]):
        if not found or not limit.is_within(found[-1][-1]):
            found.append([])
        found[-1].append(limit)
    return found


@dataclass(frozen=True)
class _Way:
    """The way down to shorter rules, and what it met."""

    rows: Rows
    plan: Plan
    loss: OutputLoss
    pulls: Pulls
    met: list[tuple[float, Moving]] = field(default_factory=list)
    """Rules with their objective."""

    @cached_property
    def ready(self) -> Rows:
        return self.rows.prepared(self.plan.prepare)

    def down(self, rules: Moving, limits: Sequence[Limit], strength: float, max_iter: int) -> None:
        """Meet rules within each limit, the loosest first; without a price if its strength is infinite."""
        rules = least_said(self.ready, self.plan, rules)
        for limit in limits:
            while strength < np.inf and any(self.too_many(rules, _times(limit, NEARLY))):
                shorter = self.faint_dropped(self.pulled(rules, strength, limit), limit)
                if self._is_within(shorter, limit):  # the price took all that was asked: the rest goes by impact
                    break
                rules, strength = shorter, strength * GROWTH
            kept = self.polished(self.cut(rules, limit), max_iter)
            busy = self.without_idle(kept)  # not before: rules that were just cut look idle and are not
            if len(busy.theta) < len(kept.theta):
                kept = self.polished(self.cut(busy, limit), max_iter)
            self.meet(self.without_idle_parts(kept, limit), limit)

    def meet(self, rules: Moving, limit: Limit) -> None:
        # To make rules without conditions one is to have fewer rules, and the others are longer on average.
        rules = self.cut(least_said(self.ready, self.plan, rules), limit)
        self.met.append((self.objective(rules), rules))

    def best(self, limit: Limit) -> Moving:
        """The best rules that were met and are within the limit."""
        return min((one for one in self.met if self._is_within(one[1], limit)), key=lambda one: one[0])[1]

    def objective(self, rules: Moving) -> float:
        """What descent goes down on, wherever rules began."""
        found = self._loss(rules) + replace(self.pulls, start=0.0)(rules, rules, self.plan).loss
        return found / self.rows.weight

    def polished(self, rules: Moving, max_iter: int) -> Moving:
        pulls = replace(self.pulls, start=0.0)  # what was cut has to be made up for
        return refine(self.rows, self.plan, rules, self.loss, pulls, max_iter=max_iter)[0]

    def pulled(self, rules: Moving, strength: float, limit: Limit = NO_LIMIT) -> Moving:
        """The rules after a short descent with a price on what is limited."""
        conditions, terms = (0.0 if most is None else strength for most in limit)
        pulling = replace(self.pulls, nothing=conditions, constant=terms, start=0.0)
        start = rules.rounded(self.loss)
        return refine(self.rows, self.plan, start, self.loss, pulling, max_iter=STEP_ITERATIONS, tol=1e-5)[0]

    def too_many(self, rules: Moving, limit: Limit) -> tuple[int, int]:
        """How many conditions and terms more there are than the limit allows; a single rule has no conditions."""
        present = self._present(rules)
        n_rules = len(rules.theta)
        over = [
            0 if most is None else max(int(np.sum(there)) - int(most * n_rules), 0)
            for there, most in zip(present, limit, strict=True)
        ]
        return (over[0] if n_rules > 1 else 0), over[1]

    def _is_within(self, rules: Moving, limit: Limit) -> bool:
        return not any(self.too_many(rules, limit))

    def cut(self, rules: Moving, limit: Limit) -> Moving:
        """Rules as short as allowed, what has the least impact gone, half of what is too much at a time."""
        while any(over := self.too_many(rules, limit)):
            rules = self._without_least(rules, [-(-n // 2) for n in over])
            if max(over) > 1:
                rules = least_said(self.ready, self.plan, self.pulled(rules, 0.0))
        return rules

    def faint_dropped(self, rules: Moving, limit: Limit) -> Moving:
        parts = zip(self._present(rules), impacts(self.ready, self.plan, rules), limit, strict=True)
        kept = (there if most is None else there & (impact >= FAINT) for there, impact, most in parts)
        return least_said(self.ready, self.plan, self._only(rules, *kept))

    def without_idle(self, rules: Moving) -> Moving:
        """The rules less those that add nothing or say what another says, one after the other."""
        full = self._loss(rules)
        while len(rules.theta) > 1:
            fewer = list(self._with_one_less(rules))
            losses = [self._loss(one) for one in fewer]
            best = int(np.argmin(losses))
            if losses[best] > full + IDLE * abs(full):
                break
            rules = fewer[best]
        return rules

    def _with_one_less(self, rules: Moving) -> Iterator[Moving]:
        """The rules without each, and with each as one with that which asks most like it."""
        n_rules = len(rules.theta)
        for r in range(n_rules):
            yield Moving(np.delete(rules.theta, r, axis=0), np.delete(rules.consequents, r, axis=0))
        apart = np.sum((rules.theta[:, None, 1:] - rules.theta[None, :, 1:]) ** 2, axis=2)
        np.fill_diagonal(apart, np.inf)
        for pair in {tuple(sorted((r, int(q)))) for r, q in enumerate(np.argmin(apart, axis=1))}:
            yield _merged(rules, np.asarray(pair))

    def without_idle_parts(self, rules: Moving, limit: Limit) -> Moving:
        """The rules less what is limited and adds nothing, those parts of the least impact first."""
        most = self._loss(rules) + IDLE * self.rows.weight
        impact = np.stack(impacts(self.ready, self.plan, rules))
        order = np.argsort(impact, axis=None, kind="stable")
        limited = np.asarray([most is not None for most in limit])[:, None, None]
        for place in order[(self._present(rules) & limited).ravel()[order]]:
            kept = self._present(rules)
            kept.ravel()[place] = False
            fewer = self._only(rules, *kept)
            if self._loss(fewer) <= most:
                rules = fewer
        return rules

    def _loss(self, rules: Moving) -> float:
        return self.ready.sum(partial(slope, self.loss, rules)).loss

    def _present(self, rules: Moving) -> np.ndarray:
        """Which rules have a condition and which a term of which columns, (2, R, J)."""
        return np.stack([self.plan.conditions_in(rules), self.plan.terms_in(rules)])

    def _without_least(self, rules: Moving, over: Sequence[int]) -> Moving:
        kept = self._present(rules)
        for there, impact, n in zip(kept, impacts(self.ready, self.plan, rules), over, strict=True):
            order = np.argsort(np.where(there, impact, np.inf), axis=None, kind="stable")
            there.ravel()[order[:n]] = False
        return self._only(rules, *kept)

    def _only(self, rules: Moving, conditions: np.ndarray, terms: np.ndarray) -> Moving:
        """The rules with no other conditions and terms than these, (R, J)."""
        constant = np.ones((len(conditions), 1), bool)
        asked, said = (np.concatenate([kept, constant], axis=1) for kept in (conditions, terms))
        about = self.plan.term_group[: rules.consequents.shape[1]]
        return replace(
            rules,
            theta=np.where(asked[:, self.plan.group], rules.theta, 0.0),
            consequents=np.where(said[:, about, None], rules.consequents, 0.0),
        )


def _times(limit: Limit, factor: float) -> Limit:
    return Limit(*(None if most is None else factor * most for most in limit))
