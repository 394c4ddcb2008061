"""Descent on a whole rule base at once, from where clustering and least squares left it.

Least squares moves only what rules conclude. Here conditions and conclusions ``b`` move together, downhill on

.. math::
    J = \\sum_n s_n \\Big( \\ell(y_n, o_n) + \\omega \\sum_r f_{nr}\\, \\ell(y_n, o_{nr}) \\Big)
        + \\alpha \\Big( \\|\\bar b\\|^2 + \\sum_{r} \\|b_r - \\bar b\\|_k^2 \\Big)
        + \\tau \\sum_r \\|\\theta_r - \\theta_r^0\\|^2 + \\rho \\sum_r \\|\\theta_r\\|^2.

Rules answer together: ``o_n`` is the mean of what they say, ``o_nr``, by how strongly they fire, ``f_nr``. With
``omega`` each must besides answer by itself for the rows on which it fires, as a cluster of SESSC does for its
members; what it says alone is then what happens under it. The loss is convex, so this term is never less than the
first, and their difference is how much rules contradict each other where they overlap.

What rules conclude alike, the mean ``b`` of all, costs the same however many say it, and its constant nothing.
What sets them apart costs more, slopes ``k`` times as much as constants: rules fall back on a linear model, not on
a constant.

What a rule asks for is linear in ``[1, x, (m - z^2) / 2, gaps]``, whose coefficients ``theta`` are its constant,
the slopes of numbers and what levels add, the precisions of numbers, which are not negative, and what gaps add.
Each of these inputs has the mean zero, and is zero where its cell is missing: a gap counts as a cell does on
average, and besides as much as gaps themselves turn out to say. With ``g`` the slope of the loss along the logits,
the slope along ``theta`` is ``g @ inputs``: the product that clustering makes of memberships.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from .._array import Array, array_namespace, like, softmax, to_numpy
from .._runtime import at_work
from ..rows.base import Rows, Samples
from ..rows.columns import few
from ..rows.extent import Extent
from ..rows.layout import Space, taken
from ..rows.robust import LONGEST
from ..rules.base import Conditions, filled

__all__ = [
    "CrossEntropy",
    "Moving",
    "OutputLoss",
    "Plan",
    "Prepared",
    "Pulls",
    "SquaredError",
    "cost",
    "plan_of",
    "refine",
    "slope",
]


GAP = 10.0
"""What it costs that a gap says something, beside a cell that is there: gaps are few, and say little."""
APART = 10.0
"""What a slope of a rule costs that others do not have, beside one that all have."""


@dataclass(frozen=True)
class OutputLoss:
    """What outputs (..., C, n) cost beside the labels (C, n), for each row, and the slope of that cost.

    Parameters
    ----------
    own : float
        omega, what the loss of each rule alone counts, by how strongly it fires, beside that of all together.
    """

    own: float = 0.0

    level_is_free: ClassVar[bool] = False
    """Whether only the differences between a row's outputs matter."""
    along: ClassVar[float] = 1.0
    """The loss is a convex function of the outputs, less so many times outputs times labels."""

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def of_constants(self, b: Array, Y: Array) -> tuple[Array, Array]:
        """The loss (R, n) of constant outputs (R, C), and the slope (R, C) of its part without labels."""
        raise NotImplementedError


@dataclass(frozen=True)
class CrossEntropy(OutputLoss):
    """Minus the logarithm of the probability of the true class, outputs being logits."""

    level_is_free: ClassVar[bool] = True

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        xp = array_namespace(outputs)
        outputs = outputs - xp.max(outputs, axis=-2, keepdims=True)
        size = xp.exp(outputs)
        total = xp.sum(size, axis=-2, keepdims=True)
        value = xp.squeeze(xp.log(total), axis=-2) - xp.sum(Y * outputs, axis=-2)
        return value, size / total - Y

    def of_constants(self, b: Array, Y: Array) -> tuple[Array, Array]:
        xp = array_namespace(b)
        b = b - xp.max(b, axis=1, keepdims=True)
        total = xp.sum(xp.exp(b), axis=1, keepdims=True)
        return xp.log(total) - b @ Y, xp.exp(b) / total


@dataclass(frozen=True)
class SquaredError(OutputLoss):
    """The squared difference, as in least squares."""

    along: ClassVar[float] = 2.0

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        difference = outputs - Y
        return array_namespace(outputs).sum(difference * difference, axis=-2), 2 * difference

    def of_constants(self, b: Array, Y: Array) -> tuple[Array, Array]:
        xp = array_namespace(b)
        squares = xp.sum(b * b, axis=1, keepdims=True) + xp.sum(Y * Y, axis=0)
        return squares - 2 * (b @ Y), 2 * b


@dataclass(frozen=True)
class Moving:
    """Rules as descent sees them, or a direction among rules; they add."""

    theta: np.ndarray
    """What rules ask for, shape (R, inputs): constant, features, precisions, gaps."""
    consequents: np.ndarray
    """Shape (R, 1 or 1 + D, C)."""
    loss: float = 0.0

    def __add__(self, other: Moving) -> Moving:
        return Moving(self.theta + other.theta, self.consequents + other.consequents, self.loss + other.loss)

    def rounded(self, loss: OutputLoss, bits: int = 10) -> Moving:
        """The same to so many bits, whatever the last ones were; zero stays zero, and the level where it is."""
        mantissa, exponent = np.frexp(self.flat())
        rounded = self.like(np.ldexp(np.round(2.0**bits * mantissa), exponent - bits))
        if not loss.level_is_free:
            return rounded
        off = (self.consequents - rounded.consequents).mean(axis=2, keepdims=True)
        return replace(rounded, consequents=rounded.consequents + np.round(2.0**30 * off) / 2.0**30)

    def flat(self) -> np.ndarray:
        return np.concatenate([self.theta.ravel(), self.consequents.ravel()])

    def like(self, flat: np.ndarray) -> Moving:
        """Rules of the same shape from a flat array."""
        theta, B = np.split(flat, [self.theta.size])
        return Moving(theta.reshape(self.theta.shape), B.reshape(self.consequents.shape))


@dataclass(frozen=True)
class Plan:
    """What the inputs of conditions are.

    Parameters
    ----------
    space : Space
    squares : array of shape (numbers,)
        The mean square of each.
    gaps : tuple of int
        Columns whose gaps are many enough to say something.
    kept : bool array of shape (J,)
        Columns that take part. Others never vary: they could say nothing, and are not even multiplied by zero, for
        a sum of more numbers has other last bits.
    narrowest : float
        Bell curves are at least this wide, in units of their column: what few rows have, if all are spread evenly.
    """

    space: Space
    squares: np.ndarray
    gaps: tuple[int, ...]
    kept: np.ndarray
    narrowest: float = 0.0

    @cached_property
    def features(self) -> np.ndarray:
        """The features that take part: numbers first, then levels."""
        return np.flatnonzero(self.kept[self.space.layout.group])

    @cached_property
    def numbers(self) -> np.ndarray:
        """The numbers that do."""
        return self.features[self.features < self.space.layout.n_numbers]

    @cached_property
    def group(self) -> np.ndarray:
        """The column that each input is about, (inputs,); -1 for the constant."""
        layout = self.space.layout
        parts = [[-1], layout.group[self.features], layout.numbers[self.numbers], self.gaps]
        return np.concatenate(parts).astype(int)

    @cached_property
    def term_group(self) -> np.ndarray:
        """The column that each input of a linear conclusion is about; -1 for the constant."""
        return np.concatenate([[-1], self.space.layout.group[self.features]]).astype(int)

    @cached_property
    def is_precision(self) -> np.ndarray:
        """Which inputs are squares, (inputs,)."""
        first, place = 1 + len(self.features), np.arange(len(self.group))
        return (place >= first) & (place < first + len(self.numbers))

    def conditions_in(self, rules: Moving) -> np.ndarray:
        """Which rules have a condition on which columns, (R, J)."""
        return _any_by_column(rules.theta[:, :, None], self.group, len(self.space.total))

    def terms_in(self, rules: Moving) -> np.ndarray:
        """Which rules conclude something from which columns, (R, J); none if conclusions are constants."""
        n_inputs = rules.consequents.shape[1]
        return _any_by_column(rules.consequents, self.term_group[:n_inputs], len(self.space.total))

    def prices(self, start: np.ndarray) -> np.ndarray:
        """What squares of coefficients count, (R, inputs), of rules that began as these.

        Constants nothing; gaps, of which there are few, more; and a condition less, the more it asked for at
        first.
        """
        member = (self.group[:, None] == np.arange(len(self.space.total))).astype(float)
        prices = (1 / (1 + (start * start) @ member)) @ member.T
        prices[:, len(self.group) - len(self.gaps) :] *= GAP
        return prices

    def moving(self, conditions: Conditions, consequents: np.ndarray) -> Moving:
        """Rules as descent sees them."""
        constants, linear, p, unknown = (np.asarray(part, float) for part in conditions)
        average = linear * self.space.origin
        average[:, : p.shape[1]] = -0.5 * p * self.squares
        constants = constants + average.sum(axis=1)
        together = average @ np.eye(unknown.shape[1])[self.space.layout.group]
        gaps = (unknown - together)[:, list(self.gaps)]
        theta = [constants[:, None], linear[:, self.features], p[:, self.numbers], gaps]
        says = consequents.astype(float)
        if says.shape[1] > 1:
            terms = says[:, 1:]
            others = np.tensordot(
                terms, np.where(self.kept[self.space.layout.group], 0.0, self.space.origin), axes=(1, 0)
            )
            says = np.concatenate([says[:, :1] + others[:, None, :], terms[:, self.features]], axis=1)
        return Moving(np.concatenate(theta, axis=1), says)

    def conditions(self, rules: Moving) -> Conditions:
        """And back."""
        layout = self.space.layout
        ends = np.cumsum([1, len(self.features), len(self.numbers)])
        constants, slopes, precisions, gaps = np.split(rules.theta, ends, axis=1)
        linear, p = (np.zeros((len(slopes), n)) for n in (layout.n_features, layout.n_numbers))
        linear[:, self.features], p[:, self.numbers] = slopes, precisions
        average = linear * self.space.origin
        average[:, : layout.n_numbers] = -0.5 * p * self.squares
        unknown = average @ np.eye(len(layout.levels))[layout.group]
        unknown[:, list(self.gaps)] += gaps
        return Conditions(constants[:, 0] - average.sum(axis=1), linear, p, unknown)

    def conclusions(self, rules: Moving) -> np.ndarray:
        """What rules conclude, with a term for each feature."""
        says = rules.consequents
        if says.shape[1] == 1:
            return says
        full = np.zeros((len(says), 1 + self.space.layout.n_features, says.shape[2]))
        full[:, 0], full[:, 1 + self.features] = says[:, 0], says[:, 1:]
        return full

    def prepare(self, samples: Samples) -> Prepared:
        """A block of rows with what every evaluation needs of it."""
        X, xp, layout = samples.X, array_namespace(samples.X), self.space.layout
        known, numbers = taken(filled(samples, self.space.origin), self.features), taken(X, self.numbers)
        squares = like(self.squares[self.numbers], X) - numbers * numbers
        if samples.gaps is not None:
            lacks = np.asarray(samples.gap_columns)[:, None] == layout.numbers[self.numbers]
            squares = squares * (1 - samples.gaps @ like(lacks, X))
        parts = [xp.ones_like(X[:, :1]), known - like(self.space.origin[self.features], X), 0.5 * squares]
        if self.gaps:
            assert samples.gaps is not None
            parts += [samples.gaps[:, samples.gap_columns.index(j), None] for j in self.gaps]
        labels: Array = samples.Y
        Y = xp.zeros(labels.shape[::-1], dtype=labels.dtype, device=getattr(labels, "device", None))
        Y += labels.T  # written out: reductions over classes then run along contiguous rows
        ones = xp.ones_like(X[:, :1])
        return Prepared(xp.concat(parts, axis=1), xp.concat([ones, known], axis=1), Y, samples.weight)


def _any_by_column(coefficients: np.ndarray, group: np.ndarray, n_columns: int) -> np.ndarray:
    """Whether any coefficient (R, inputs, k) about a column is not zero, (R, n_columns)."""
    some = np.any(coefficients != 0, axis=2)
    return (some.astype(int) @ (group[:, None] == np.arange(n_columns)).astype(int)) > 0


def plan_of(extent: Extent, conditions: Conditions | None = None) -> Plan:
    """What the inputs are for rows of this extent, and of rules that may ask for what never varies here."""
    space = extent.whole_space
    kept = space.varies
    if conditions is not None:
        _, linear, p, unknown = conditions
        asked = np.concatenate([np.asarray(part, float) for part in (linear, p, unknown)], axis=1)
        about = np.concatenate([space.layout.group, space.layout.numbers, np.arange(len(kept))])
        kept = kept | (np.bincount(about, np.any(asked != 0, axis=0)) > 0)
    squares = to_numpy(extent.spread).astype(float)[space.layout.numbers] ** 2
    least = few(extent.weight)
    many = (
        [] if extent.known is None else np.flatnonzero((1 - extent.known >= least) & (extent.known > 0)).tolist()
    )
    return Plan(space, squares, tuple(many), kept, LONGEST * least)


@dataclass(frozen=True)
class Pulls:
    """What holds rules back from following the data alone."""

    ridge: float = 0.0
    """alpha, towards conclusions that are alike and flat."""
    start: float = 0.0
    """tau, towards where conditions began."""
    small: float = 0.0
    """rho, towards conditions that say little."""

    def __call__(self, rules: Moving, start: Moving, prices: np.ndarray) -> Moving:
        """The penalty and its slope, what squares cost being given; see :meth:`Plan.prices`."""
        common = rules.consequents.mean(axis=0)
        apart = rules.consequents - common
        common[0] = 0.0  # a constant common to all rules is free
        priced = apart.copy()
        priced[:, 1:] *= APART
        from_start = rules.theta - start.theta
        return Moving(
            2 * prices * (self.start * from_start + self.small * rules.theta),
            2 * self.ridge * (priced + common / len(priced)),
            self.ridge * float(np.sum(priced * apart) + np.sum(common * common))
            + self.start * float(np.sum(prices * from_start * from_start))
            + self.small * float(np.sum(prices * rules.theta * rules.theta)),
        )


class Prepared(NamedTuple):
    """A block of rows with what every evaluation needs of it."""

    conditions: Array
    """What conditions are linear in, shape (n, inputs)."""
    conclusions: Array
    """What conclusions are linear in, ``[1, x]``, shape (n, 1 + D)."""
    Y: Array
    """Labels (C, n)."""
    weight: Array | None


def slope(loss: OutputLoss, rules: Moving, samples: Prepared) -> Moving:
    """The loss of a block of rows, and how it changes with everything that moves."""
    inputs = samples.conditions
    xp = array_namespace(inputs)
    theta, B = like(rules.theta, inputs), like(rules.consequents, inputs)
    F = softmax(theta @ inputs.T, axis=0)
    value, along, dB = (_linear if B.shape[1] > 1 else _constant)(loss, F, B, samples)
    G = F * (along - xp.sum(F * along, axis=0))
    return Moving(to_numpy(G @ inputs).astype(float), to_numpy(dB).astype(float), float(xp.sum(value)))


def cost(loss: OutputLoss, rules: Moving, samples: Prepared) -> float:
    """The loss of a block of rows alone, to the same bit."""
    inputs = samples.conditions
    xp = array_namespace(inputs)
    theta, B = like(rules.theta, inputs), like(rules.consequents, inputs)
    F = softmax(theta @ inputs.T, axis=0)
    if B.shape[1] == 1:
        value, _ = _weighted(loss(B[:, 0, :].T @ F, samples.Y), samples.weight)
        alone, _ = loss.of_constants(B[:, 0, :], samples.Y) if loss.own else (None, None)
        F = F if samples.weight is None else F * samples.weight
    else:
        says = _lines(B, samples)
        value, _ = _weighted(loss(_mean(F, says), samples.Y), samples.weight)
        alone, _ = _weighted(loss(says, samples.Y), samples.weight) if loss.own else (None, None)
    return float(xp.sum(value if alone is None else value + loss.own * xp.sum(F * alone, axis=0)))


def _constant(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """Loss by row, its slope along firing levels (R, n), and along constant conclusions."""
    b = B[:, 0, :]
    value, E = _weighted(loss(b.T @ F, samples.Y), samples.weight)
    along, dB = b @ E, F @ E.T
    if loss.own:
        xp, G = array_namespace(F), F if samples.weight is None else F * samples.weight
        alone, curve = loss.of_constants(b, samples.Y)
        value = value + loss.own * xp.sum(G * alone, axis=0)
        along = along + loss.own * (alone if samples.weight is None else alone * samples.weight)
        dB = dB + loss.own * (xp.sum(G, axis=1)[:, None] * curve - loss.along * (G @ samples.Y.T))
    return value, along, dB[:, None, :]


def _linear(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """The same for conclusions linear in ``[1, z]``: what each rule says is one product, (R, C, n)."""
    xp = array_namespace(F)
    n_rules, n_inputs, n_outputs = B.shape
    inputs, says = samples.conclusions, _lines(B, samples)
    value, E = _weighted(loss(_mean(F, says), samples.Y), samples.weight)
    along = xp.sum(says * E[None, :, :], axis=1)
    E = E[None, :, :]
    if loss.own:
        alone, own = _weighted(loss(says, samples.Y), samples.weight)
        value, along, E = (
            value + loss.own * xp.sum(F * alone, axis=0),
            along + loss.own * alone,
            E + loss.own * own,
        )
    dB = xp.reshape(F[:, None, :] * E, (n_rules * n_outputs, -1)) @ inputs
    return value, along, xp.permute_dims(xp.reshape(dB, (n_rules, n_outputs, n_inputs)), (0, 2, 1))


def _lines(B: Array, samples: Prepared) -> Array:
    """What each rule says of each row, (R, C, n)."""
    xp = array_namespace(B)
    n_rules, n_inputs, n_outputs = B.shape
    says = xp.reshape(xp.permute_dims(B, (0, 2, 1)), (-1, n_inputs)) @ samples.conclusions.T
    return xp.reshape(says, (n_rules, n_outputs, -1))


def _mean(F: Array, says: Array) -> Array:
    """What rules say together, (C, n)."""
    return array_namespace(F).sum(F[:, None, :] * says, axis=0)


def _weighted(found: tuple[Array, Array], weight: Array | None) -> tuple[Array, Array]:
    value, E = found
    return found if weight is None else (value * weight, E * weight)


def refine(
    rows: Rows,
    plan: Plan,
    start: Moving,
    loss: OutputLoss,
    pulls: Pulls,
    *,
    max_iter: int,
    tol: float = 1e-6,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Moving, np.ndarray]:
    """Rules no worse than the start, and the objective after each iteration, the start's first.

    Parameters
    ----------
    rows : Rows
        Standardised samples, their labels, and the weights the loss should give them.
    plan : Plan
    start : Moving
        Where a rule has no condition on a column it gets none.
    loss : OutputLoss
    pulls : Pulls
    max_iter : int
    tol : float
        Stop once an iteration improves the objective by no more than this share.
    stop : callable
        Called after each iteration; a true answer ends the descent.
    """
    weight = rows.weight
    rows = rows.prepared(plan.prepare)
    low, high = _bounds(start, plan)
    start = start.like(np.clip(start.flat(), low, high))
    first, prices = start.flat(), plan.prices(start.theta)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        rules = start.like(flat)
        found = rows.sum(partial(slope, loss, rules)) + pulls(rules, start, prices)
        if loss.level_is_free:
            # Rounding alone would set it in motion, and L-BFGS, which knows nothing of it, makes that grow.
            found.consequents[:] -= found.consequents.mean(axis=2, keepdims=True)
        return found.loss / weight, found.flat() / weight

    history = [objective(first)[0]]
    best = first

    def step(intermediate_result: object) -> None:
        nonlocal best
        history.append(float(intermediate_result.fun))  # type: ignore[attr-defined]
        best = np.array(intermediate_result.x)  # type: ignore[attr-defined]
        if stop():
            raise StopIteration

    with at_work:
        minimize(
            objective,
            first,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(low, high),
            callback=step,
            options={"maxiter": max_iter, "maxcor": 20, "ftol": tol, "gtol": 0.0, "maxfun": 10 * max_iter},
        )
    return start.like(best), np.asarray(history)


def _bounds(rules: Moving, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest values of everything that moves; a condition or term that is not there stays away."""
    group = plan.group
    first_gap = len(group) - len(plan.gaps)
    is_number = (
        np.isin(group, plan.space.layout.numbers) & ~plan.is_precision & (np.arange(len(group)) < first_gap)
    )
    steepest = plan.narrowest**-2.0
    high = np.where(plan.is_precision, steepest, np.where(is_number, LONGEST * steepest, np.inf))
    low = np.where(plan.is_precision, 0.0, -high)
    asked = plan.conditions_in(rules)[:, group] | (group == -1)
    lows, highs = (np.where(asked, bound, 0.0).ravel() for bound in (low, high))
    about = plan.term_group[: rules.consequents.shape[1]]
    said = plan.terms_in(rules)[:, about] | (about == -1)
    most = np.where(said[:, :, None], np.full(rules.consequents.shape, np.inf), 0.0)
    return np.concatenate([lows, -most.ravel()]), np.concatenate([highs, most.ravel()])
