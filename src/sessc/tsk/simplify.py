"""Shorter rules: what decides least goes, step by step, and so do rules that add nothing.

Half of what is too much goes at a time, with a short descent after each step; what is left is refined once more.
There are two ways down. On one what goes first has the least *impact*: the standard deviation of what a condition
adds over the rows, or a term of a linear conclusion. On the other only rows count about which rules are in doubt:
a condition decides nothing where its rule holds, or does not, in any case. Neither is better everywhere, so both
are gone, and the better end is taken. What went may be missed later: so conditions that promise most by the slope
of the loss come back for a third of those that are there, and what then decides least goes, twice if that helps.
Of all that was met and is short enough the best is kept: to allow more never makes rules worse.

Short rules are held where the whole ones were, as these at the clusters that they came from. Were they held at
asking for little alone, most would soon ask for nothing: a few can tell the rows apart that they learn from, but
more do better with others. The fewer conditions a rule has, the more each may ask for.

Rules share each row, so that what all of them ask alike decides nothing. Where every rule has a condition on a
column, the weakest of these is taken from all: the same model with one condition less. And a rule that asks what
another asks is one with it.

It is a long way on which last bits, which differ from processor to processor, would grow until they decide what is
kept. So each step starts from rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._array import Array, array_namespace, like, softmax, to_numpy
from ..rows.columns import few
from .refine import (
    STACKED,
    Asking,
    Descent,
    Ground,
    Moving,
    OutputLoss,
    Plan,
    Prepared,
    Pulls,
    abreast,
    promise,
)

__all__ = ["NO_LIMIT", "Cut", "Limit", "concise", "impacts"]

TRIED_AT_ONCE = 8
"""Parts that are tried to leave out together."""
TINY = np.finfo(float).tiny
NONE = 1e-100
"""The least loss of a row that promises are compared with; where there is none they are all the same."""
ROUNDING = 1e-12
"""A spread of less than this share of a mean square is none."""
STEP_ITERATIONS = 40
"""Of the descent after each step, at most."""
EXCHANGES = 2
"""Times that conditions are exchanged for others, at most."""
IDLE = 1e-3
"""A rule is dropped if the loss without it is at most this share higher, and conditions if the mean loss is
without all of these at most this much higher."""


OTHERWISE = 1e-2
"""The same of a rule that asks for nothing, or counts most for hardly any row: people look for the rows it is
about."""


class Limit(NamedTuple):
    """How many conditions and terms rules may have on average; None is no limit."""

    conditions: float | None = None
    terms: float | None = None

    @property
    def is_none(self) -> bool:
        return self.conditions is None and self.terms is None

    @property
    def size(self) -> float:
        """How much there is to read in each rule, at least, if it has as much as it may."""
        return 1 + (self.conditions or 0) + 2 * (self.terms or 0)

    def is_within(self, other: Limit) -> bool:
        """Whether rules that keep to this limit keep to the other."""
        return all(b is None or (a is not None and a <= b) for a, b in zip(self, other, strict=True))


NO_LIMIT = Limit()


def impacts(ground: Ground, rules: Moving, *, doubtful: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """How much conditions and terms change: the standard deviation over rows of what each adds, twice (R, J).

    Parameters
    ----------
    ground : Ground
    rules : Moving
    doubtful : bool
        Whether rows count for a condition by how much its rule is in doubt, and for a term by how much it fires.
    """
    sums = ground.rows.sum(partial(_additions, ground.plan, rules, doubtful))
    scatter = sums.second - sums.first**2 / np.maximum(sums.mass, TINY)
    # What is left of a difference of equals is rounding, where one row alone counts.
    spread = np.sqrt(np.where(scatter > ROUNDING * sums.second, scatter, 0.0) / ground.weight)
    # of a term, over all outputs
    return spread[:, :, 0], np.sqrt(np.sum(spread[:, :, 1:] ** 2, axis=2))


@dataclass(frozen=True)
class Cut(Moving):
    """Rules of which something may have been cut."""

    whole: np.ndarray = field(kw_only=True)
    """What they asked for before that, (R, inputs)."""

    @classmethod
    def of(cls, rules: Moving) -> Cut:
        return cls(rules.theta, rules.consequents, whole=rules.theta)

    def moved(self, rules: Moving) -> Cut:
        """The same after a descent, which led to these."""
        return replace(self, theta=rules.theta, consequents=rules.consequents)

    def only(self, kept: Any) -> Cut:
        """Some of the rules, in the order given."""
        return replace(self, theta=self.theta[kept], consequents=self.consequents[kept], whole=self.whole[kept])

    def without(self, which: Any) -> Cut:
        """The rules without some."""
        return self.only(np.delete(np.arange(len(self.theta)), which))

    def held(self, plan: Plan) -> np.ndarray:
        """Where short rules are held, (R, inputs): what they asked for whole, louder where less of it is left.

        A bell of the paper's grows wider with the root of the number of columns; with fewer it is narrower.
        """
        there = plan.conditions_in(self)
        louder = np.sqrt(np.maximum(plan.kept.sum() / np.maximum(there.sum(axis=1), 1), 1.0))
        asked = np.concatenate([there, np.zeros((len(there), 1), bool)], axis=1)[:, plan.group]
        return np.where(asked, louder[:, None] * self.whole, 0.0)


class _Sums(NamedTuple):
    """Of conditions and, output by output, of terms, (R, J, 1 + C)."""

    mass: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def __add__(self, other: Any) -> _Sums:
        return _Sums(*(a + b for a, b in zip(self, other, strict=True)))


def _additions(plan: Plan, rules: Moving, doubtful: bool, samples: Prepared) -> _Sums:
    """What rows count for, what conditions and terms add to them, and its squares, summed."""
    xp = array_namespace(samples.conditions)
    counts = xp.ones_like(samples.conditions[:, 0]) if samples.weight is None else samples.weight
    F = softmax(like(rules.theta, samples.conditions) @ samples.conditions.T, axis=0)
    counted = (counts * F * (1 - F), counts * F) if doubtful else (counts + 0 * F,) * 2
    n_rules, n_inputs, n_outputs = rules.consequents.shape
    found = _Sums(*(np.zeros((n_rules, len(plan.space.total), 1 + n_outputs)) for _ in range(3)))
    kinds = [(samples.conditions, rules.theta[:, :, None], 0)]
    if n_inputs > 1:
        kinds.append((samples.conclusions, rules.consequents, 1))
    for inputs, coefficients, k in kinds:
        mass = to_numpy(xp.sum(counted[k], axis=1))[:, None, None]
        for columns, members in _in_parts(plan.alike[k], n_rules * coefficients.shape[2] * inputs.shape[0]):
            first, second = _added(inputs, counted[k], coefficients, members)
            place = np.ix_(np.arange(n_rules), columns, np.arange(k, k + first.shape[2]))
            found.mass[place], found.first[place], found.second[place] = mass, first, second
    return found


def _in_parts(
    alike: list[tuple[np.ndarray, np.ndarray]], elements: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Columns with the same number of inputs (k,), and which inputs (k, size): so many as keep arrays small."""
    most = max(1, STACKED // elements)
    for columns, members in alike:
        for first in range(0, len(columns), most):
            yield columns[first : first + most], members[first : first + most]


def _added(inputs: Array, counts: Array, coefficients: np.ndarray, members: np.ndarray) -> list[np.ndarray]:
    """What the inputs of columns add to the k outputs of each rule (R, columns, k), summed, and its squares."""
    xp = array_namespace(inputs)
    n_rules, _, n_outputs = coefficients.shape
    (n_columns, size), n = members.shape, inputs.shape[0]
    flat = xp.asarray(members.ravel(), device=getattr(inputs, "device", None))
    part = xp.reshape(xp.take(inputs, flat, axis=1).T, (n_columns, size, n))
    own = np.moveaxis(coefficients[:, members], (1, 3), (0, 2)).reshape(n_columns, n_rules * n_outputs, size)
    adds = xp.reshape(xp.matmul(like(own, part), part), (n_columns, n_rules, n_outputs, n))
    weighed = adds * counts[None, :, None, :]
    sums = (xp.sum(weighed, axis=-1), xp.sum(weighed * adds, axis=-1))
    return [np.moveaxis(to_numpy(one), 0, 1) for one in sums]


def least_said(ground: Ground, rules: Cut) -> Cut:
    """The same model said with the fewest conditions.

    Where every rule asks about a column, what the weakest asks is taken from all; rules without any condition are
    one.
    """
    plan = ground.plan
    if len(rules.theta) == 1:
        return rules
    theta, whole, strength = rules.theta.copy(), rules.whole.copy(), impacts(ground, rules)[0]
    for j in np.flatnonzero(plan.conditions_in(rules).all(axis=0)):
        about, squared = plan.group == j, (plan.group == j) & plan.is_precision
        squares = theta[:, squared][:, 0] if squared.any() else strength[:, j]
        weakest = np.lexsort((strength[:, j], squares))[0]
        theta[:, about] -= theta[weakest, about]
        whole[:, about] -= whole[weakest, about]
        whole[:, squared] = np.maximum(whole[:, squared], 0.0)
    return _joined(replace(rules, theta=theta, whole=whole), plan)


def _joined(rules: Cut, plan: Plan) -> Cut:
    """Rules without conditions as one, which says their mean and counts as much as they did."""
    free = np.flatnonzero(~plan.conditions_in(rules).any(axis=1))
    if len(free) < 2:
        return rules
    return _merged(rules, free)


def _merged(rules: Cut, which: np.ndarray) -> Cut:
    """Rules with some of them as one, in the place of the first: exact where these ask the same."""
    constants, first = rules.theta[which, 0], which[0]
    size = np.exp(constants - constants.max())
    share = size / size.sum()
    theta, consequents, whole = rules.theta.copy(), rules.consequents.copy(), rules.whole.copy()
    theta[first], whole[first] = share @ rules.theta[which], share @ rules.whole[which]
    theta[first, 0] = constants.max() + np.log(size.sum())
    consequents[first] = np.tensordot(share, rules.consequents[which], axes=1)
    return Cut(theta, consequents, whole=whole).without(which[1:])


def concise(
    ground: Ground,
    rules: Moving,
    loss: OutputLoss,
    pulls: Pulls,
    limits: Sequence[Limit],
    *,
    max_iter: int,
) -> Asking[list[Moving]]:
    """Rules within each of the limits, refined on what is left; without a limit the rules as they are.

    Limits of which each is tighter than the last share the way down.
    """
    found: dict[Limit, Moving] = {NO_LIMIT: rules}
    alone = len(rules.theta) == 1  # and has no conditions that would count
    found |= {limit: rules for limit in limits if alone and limit.terms is None}
    for asked in _nested({limit for limit in limits if limit not in found}):
        way = _Way(ground, loss, pulls, max_iter)
        yield from way.down(Cut.of(rules), asked)
        found |= {limit: way.best(limit) for limit in asked}
    return [_rest_last(found[limit], ground, limit) for limit in limits]


def _rest_last(rules: Moving, ground: Ground, limit: Limit) -> Moving:
    """The rules in an order in which those come last that are about what is left.

    These ask for nothing; before them come, of short rules, those that count most for hardly any row and only help
    others.
    """
    last = 2 * ~ground.plan.conditions_in(rules).any(axis=1)
    if not limit.is_none:
        last = last + ~_governs(ground, rules)
    order = np.argsort(last, kind="stable")
    if np.all(order == np.arange(len(order))):
        return rules
    return (rules if isinstance(rules, Cut) else Cut.of(rules)).only(order)


def _nested(limits: set[Limit]) -> list[list[Limit]]:
    """Limits in rows of which each is tighter than the last."""
    found: list[list[Limit]] = []
    for limit in sorted(limits, key=lambda limit: [-np.inf if most is None else -most for most in limit[::-1]]):
        if not found or not limit.is_within(found[-1][-1]):
            found.append([])
        found[-1].append(limit)
    return found


def _in_order(values: np.ndarray) -> np.ndarray:
    """Places of the values, the least first.

    Those that differ by a millionth of the largest are alike, and the first of them comes first: of two rules that
    ask for opposite things rounding would decide otherwise.
    """
    finite = np.isfinite(values)
    largest = np.max(np.abs(values), where=finite, initial=0.0) or 1.0
    return np.argsort(np.where(finite, np.round(values / largest, 6), values), axis=None, kind="stable")


def _governs(ground: Ground, rules: Moving) -> np.ndarray:
    """Whether there are more than a few rows that each rule counts most for, (R,)."""
    return ground.rows.sum(partial(_governed, rules)) > few(ground.weight) * ground.weight


def _governed(rules: Moving, samples: Prepared) -> np.ndarray:
    """What the rows of a block weigh that each rule counts most for, (R,)."""
    xp = array_namespace(samples.conditions)
    strongest = xp.argmax(like(rules.theta, samples.conditions) @ samples.conditions.T, axis=0)
    weight = None if samples.weight is None else to_numpy(samples.weight)
    return np.bincount(to_numpy(strongest), weight, minlength=len(rules.theta)).astype(float)


@dataclass(frozen=True)
class _Way:
    """The way down to shorter rules, and what it met."""

    ground: Ground
    loss: OutputLoss
    pulls: Pulls
    max_iter: int
    """Of a descent."""
    met: list[tuple[float, Cut]] = field(default_factory=list)
    """Rules with their objective."""

    @property
    def plan(self) -> Plan:
        return self.ground.plan

    def down(self, rules: Cut, limits: Sequence[Limit]) -> Asking[None]:
        """Meet rules within each limit, the loosest first."""
        rules = least_said(self.ground, rules)
        for limit in limits:
            ways = yield from abreast(self.cut(rules, limit, doubtful) for doubtful in (False, True))
            ways = yield from abreast(map(self.settled, ways))
            rules = yield from self.exchanged(min(ways, key=self.objective), limit)
            fewer = yield from self.only(self.without_idle(rules), rules, limit)
            # Fewer rules may have fewer conditions, so that what adds nothing may yet be worth its place.
            kept = fewer if self.objective(fewer) <= (1 + IDLE) * self.objective(rules) else rules
            kept = yield from self.polished(kept)
            kept = yield from self.only(self.without_idle(kept, asking=False), kept, limit)
            kept = yield from self.least_said(self.without_idle_parts(kept, limit), limit)
            self.meet(kept)

    def least_said(self, rules: Cut, limit: Limit) -> Asking[Cut]:
        """The same model said with the fewest conditions, and no rule that asks for nothing and adds nothing."""
        while True:
            rules = least_said(self.ground, rules)
            busy = self.without_idle(rules, asking=False)
            if len(busy.theta) < len(rules.theta):
                rules = yield from self.only(busy, rules, limit)
            elif any(self.too_many(rules, limit)):  # fewer rules are longer on average
                rules = yield from self.cut(rules, limit)
            else:
                return rules

    def only(self, busy: Cut, rules: Cut, limit: Limit) -> Asking[Cut]:
        """The busy ones of the rules, as short as allowed; the rules as they are if all of them are busy."""
        if len(busy.theta) == len(rules.theta):
            return rules
        short = yield from self.cut(busy, limit)
        return (yield from self.settled(short))

    def exchanged(self, rules: Cut, limit: Limit) -> Asking[Cut]:
        """The rules with conditions that promise more for those that decide least, as long as that helps."""
        if limit.conditions is None or len(rules.theta) == 1:
            return rules
        n, reached = -(-int(self.plan.conditions_in(rules).sum()) // 3), self.objective(rules)
        for _ in range(EXCHANGES):
            more = yield from self.settled(self.with_most_promising(rules, n))
            fewer = yield from self.settled(self._without_least(more, self._half(self.too_many(more, limit))))
            other = yield from self.settled(self._without_least(fewer, self.too_many(fewer, limit)))
            value = self.objective(other)
            if value < (1 - IDLE) * reached:
                rules, reached = least_said(self.ground, other), value
            elif n == 1:
                break
            else:
                n //= 2
        return rules

    def with_most_promising(self, rules: Cut, n: int) -> Cut:
        """The rules with so many more conditions: those by which the loss would fall most, as slopes tell."""
        found = self.ground.rows.sum(partial(promise, self.loss, rules))
        scale = (
            1.0
            if self.loss.level_is_free
            else self.ground.weight / (2 * max(float(found.loss), NONE * self.ground.weight))
        )
        prices = self.plan.prices(rules.held(self.plan))
        step = -found.slope / (scale * found.information + self.pulls.small * prices + TINY)
        step = np.where(self.plan.is_precision, np.maximum(step, 0.0), step)
        member = self.plan.group[:, None] == np.arange(len(self.plan.space.total))
        gain = np.where(self.plan.conditions_in(rules), 0.0, (-found.slope * step) @ member)
        chosen = np.zeros_like(gain, bool)
        chosen.ravel()[_in_order(-gain)[:n]] = True
        chosen &= gain > 0
        new = np.concatenate([chosen, np.zeros((len(chosen), 1), bool)], axis=1)[:, self.plan.group]
        return replace(rules, theta=np.where(new, 0.5 * step, rules.theta))

    def meet(self, rules: Cut) -> None:
        self.met.append((self.objective(rules), rules))

    def best(self, limit: Limit) -> Cut:
        """The best rules that were met and are within the limit."""
        return min((one for one in self.met if self._is_within(one[1], limit)), key=lambda one: one[0])[1]

    def objective(self, rules: Cut) -> float:
        """What descent goes down on, wherever rules began."""
        held = rules.held(self.plan)
        found = self._loss(rules) + self.pulls(rules, held, self.plan.prices(held)).loss
        return float(found / self.ground.weight)

    def polished(self, rules: Cut) -> Asking[Cut]:
        return (yield from self.refined(rules, rules, self.max_iter, tol=1e-6))

    def settled(self, rules: Cut) -> Asking[Cut]:
        """The rules after a short descent."""
        return (yield from self.refined(rules, rules.rounded(self.loss), STEP_ITERATIONS, tol=1e-5))

    def refined(self, rules: Cut, start: Moving, most: int, tol: float) -> Asking[Cut]:
        """The rules after a descent from a start that is theirs, of so many steps at most."""
        held, most = rules.held(self.plan), min(most, self.max_iter)
        [found] = yield [Descent(self.ground, start, self.loss, self.pulls, most, tol=tol, held=held)]
        return rules.moved(found.rules)

    def too_many(self, rules: Cut, limit: Limit) -> tuple[int, int]:
        """How many conditions and terms more there are than the limit allows; a single rule has no conditions."""
        present = self._present(rules)
        n_rules = len(rules.theta)
        over = [
            0 if most is None else max(int(np.sum(there)) - int(most * n_rules), 0)
            for there, most in zip(present, limit, strict=True)
        ]
        return (over[0] if n_rules > 1 else 0), over[1]

    def _is_within(self, rules: Cut, limit: Limit) -> bool:
        return not any(self.too_many(rules, limit))

    def cut(self, rules: Cut, limit: Limit, doubtful: bool = True) -> Asking[Cut]:
        """Rules as short as allowed, what decides least gone, half of what is too much at a time."""
        while any(over := self.too_many(rules, limit)):
            rules = self._without_least(rules, self._half(over), doubtful)
            if max(over) > 1:
                settled = yield from self.settled(rules)
                rules = least_said(self.ground, settled)
        return rules

    def without_idle(self, rules: Cut, asking: bool = True) -> Cut:
        """The rules less those that add nothing or say what another says, one after the other.

        Those that ask for something and count most for some rows may stay.
        """
        full = self._loss(rules)
        while len(rules.theta) > 1:
            fewer = list(self._with_one_less(rules) if asking else self._without_one_idle(rules))
            if not fewer:
                break
            losses = self._losses(fewer)
            best = int(np.argmin(losses))
            if losses[best] > full + (IDLE if asking else OTHERWISE) * abs(full):
                break
            rules = fewer[best]
        return rules

    def _without_one_idle(self, rules: Cut) -> Iterator[Cut]:
        """The rules without each that asks for nothing or counts most for hardly any row."""
        for r in np.flatnonzero(~(self.plan.conditions_in(rules).any(axis=1) & _governs(self.ground, rules))):
            yield rules.without(r)

    def _with_one_less(self, rules: Cut) -> Iterator[Cut]:
        """The rules without each, and with each as one with that which asks most like it."""
        n_rules = len(rules.theta)
        for r in range(n_rules):
            yield rules.without(r)
        apart = np.sum((rules.theta[:, None, 1:] - rules.theta[None, :, 1:]) ** 2, axis=2)
        np.fill_diagonal(apart, np.inf)
        for pair in {tuple(sorted((r, int(q)))) for r, q in enumerate(np.argmin(apart, axis=1))}:
            yield _merged(rules, np.asarray(pair))

    def without_idle_parts(self, rules: Cut, limit: Limit) -> Cut:
        """The rules less what is limited and adds nothing, those parts of the least impact first."""
        most = self._loss(rules) + IDLE * self.ground.weight
        impact = np.stack(impacts(self.ground, rules))
        order = np.argsort(impact, axis=None, kind="stable")
        limited = np.asarray([most is not None for most in limit])[:, None, None]
        left = order[(self._present(rules) & limited).ravel()[order]].tolist()
        while left:
            fewer = [self._without(rules, place) for place in left[:TRIED_AT_ONCE]]
            idle = np.flatnonzero(self._losses(fewer) <= most)
            tried = int(idle[0]) + 1 if len(idle) else len(fewer)
            rules, left = fewer[tried - 1] if len(idle) else rules, left[tried:]
        return rules

    def _without(self, rules: Cut, place: int) -> Cut:
        kept = self._present(rules)
        kept.ravel()[place] = False
        return self._only(rules, *kept)

    def _loss(self, rules: Cut) -> float:
        return float(self.ground.cost(self.loss, rules))

    def _losses(self, several: Sequence[Cut]) -> np.ndarray:
        """Of several rules of one shape."""
        stacked = Moving(np.stack([one.theta for one in several]), np.stack([one.consequents for one in several]))
        return self.ground.cost(self.loss, stacked)

    def _present(self, rules: Cut) -> np.ndarray:
        """Which rules have a condition and which a term of which columns, (2, R, J)."""
        return np.stack([self.plan.conditions_in(rules), self.plan.terms_in(rules)])

    def _half(self, over: Sequence[int]) -> list[int]:
        return [-(-n // 2) for n in over]

    def _without_least(self, rules: Cut, over: Sequence[int], doubtful: bool = True) -> Cut:
        kept, found = self._present(rules), impacts(self.ground, rules, doubtful=doubtful)
        for there, impact, n in zip(kept, found, over, strict=True):
            strength = np.where(there, impact, np.inf)
            if n <= np.sum(there) - np.sum(there.any(axis=1)):
                # A rule goes because nothing is lost without it, not because others ask for more.
                strength[np.arange(len(there)), np.argmax(np.where(there, impact, -1.0), axis=1)] = np.inf
            there.ravel()[_in_order(strength)[:n]] = False
        return self._only(rules, *kept)

    def _only(self, rules: Cut, conditions: np.ndarray, terms: np.ndarray) -> Cut:
        """The rules with no other conditions and terms than these, (R, J)."""
        constant = np.ones((len(conditions), 1), bool)
        asked, said = (np.concatenate([kept, constant], axis=1) for kept in (conditions, terms))
        about = self.plan.term_group[: rules.consequents.shape[1]]
        return replace(
            rules,
            theta=np.where(asked[:, self.plan.group], rules.theta, 0.0),
            consequents=np.where(said[:, about, None], rules.consequents, 0.0),
        )
