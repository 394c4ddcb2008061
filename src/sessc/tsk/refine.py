"""Descent on a whole rule base at once, from where clustering and least squares left it.

Least squares moves only what rules conclude. Here conditions and conclusions ``b`` move together, downhill on

.. math::
    J = \\sum_n s_n\\, \\ell(y_n, o_n) + \\alpha \\Big( \\|\\bar b\\|^2 + \\sum_{r} \\|b_r - \\bar b\\|_k^2 \\Big)
        + \\tau \\sum_r \\|\\theta_r - \\theta_r^0\\|^2 + \\rho \\sum_r \\|\\theta_r\\|^2
        + \\kappa \\sum_{rj} \\|\\theta_{rj}\\|.

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
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from .._array import Array, array_namespace, like, softmax, to_numpy
from .._runtime import at_work
from ..rows.base import Rows, Samples
from ..rows.columns import few
from ..rows.extent import Extent
from ..rows.layout import Space
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
    "plan_of",
    "refine",
    "slope",
]


GAP = 10.0
"""What it costs that a gap says something, beside a cell that is there: gaps are few, and say little."""
APART = 10.0
"""What a slope of a rule costs that others do not have, beside one that all have."""


class OutputLoss:
    """What outputs (C, n) cost beside the labels (C, n), for each row, and the slope of that cost."""

    level_is_free = False
    """Whether only the differences between a row's outputs matter."""

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        raise NotImplementedError


@dataclass(frozen=True)
class CrossEntropy(OutputLoss):
    """Minus the logarithm of the probability of the true class, outputs being logits."""

    level_is_free = True

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        xp = array_namespace(outputs)
        outputs = outputs - xp.max(outputs, axis=0)
        size = xp.exp(outputs)
        total = xp.sum(size, axis=0)
        return xp.log(total) - xp.sum(Y * outputs, axis=0), size / total - Y


@dataclass(frozen=True)
class SquaredError(OutputLoss):
    """The squared difference, as in least squares."""

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        difference = outputs - Y
        return array_namespace(outputs).sum(difference * difference, axis=0), 2 * difference


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

    def rounded(self, loss: OutputLoss) -> Moving:
        """The same to three digits, whatever the last ones were; zero stays zero, and the level where it is."""
        mantissa, exponent = np.frexp(self.flat())
        rounded = self.like(np.ldexp(np.round(2.0**10 * mantissa), exponent - 10))
        if not loss.level_is_free:
            return rounded
        off = (self.consequents - rounded.consequents).mean(axis=2, keepdims=True)
        return replace(rounded, consequents=rounded.consequents + off)

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
    narrowest : float
        Bell curves are at least this wide, in units of their column: what few rows have, if all are spread evenly.
    """

    space: Space
    squares: np.ndarray
    gaps: tuple[int, ...]
    narrowest: float = 0.0

    @property
    def group(self) -> np.ndarray:
        """The column that each input is about, (inputs,); -1 for the constant."""
        layout = self.space.layout
        return np.concatenate([[-1], layout.group, layout.numbers, np.asarray(self.gaps, int)]).astype(int)

    @property
    def is_precision(self) -> np.ndarray:
        """Which inputs are squares, (inputs,)."""
        layout = self.space.layout
        first = 1 + layout.n_features
        return (np.arange(len(self.group)) >= first) & (np.arange(len(self.group)) < first + layout.n_numbers)

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
        return Moving(np.concatenate([constants[:, None], linear, p, gaps], axis=1), consequents.astype(float))

    def conditions(self, rules: Moving) -> Conditions:
        """And back."""
        layout = self.space.layout
        ends = np.cumsum([1, layout.n_features, layout.n_numbers])
        constants, linear, p, gaps = np.split(rules.theta, ends, axis=1)
        average = linear * self.space.origin
        average[:, : layout.n_numbers] = -0.5 * p * self.squares
        unknown = average @ np.eye(len(layout.levels))[layout.group]
        unknown[:, list(self.gaps)] += gaps
        return Conditions(constants[:, 0] - average.sum(axis=1), linear, p, unknown)

    def prepare(self, samples: Samples) -> Prepared:
        """A block of rows with what every evaluation needs of it."""
        X, xp, layout = samples.X, array_namespace(samples.X), self.space.layout
        known = filled(samples, self.space.origin)
        squares = like(self.squares, X) - X[:, : layout.n_numbers] * X[:, : layout.n_numbers]
        if samples.gaps is not None:
            lacks = np.asarray(samples.gap_columns)[:, None] == layout.numbers
            squares = squares * (1 - samples.gaps @ like(lacks, X))
        parts = [xp.ones_like(X[:, :1]), known - like(self.space.origin, X), 0.5 * squares]
        if self.gaps:
            assert samples.gaps is not None
            parts += [samples.gaps[:, samples.gap_columns.index(j), None] for j in self.gaps]
        labels: Array = samples.Y
        Y = xp.zeros(labels.shape[::-1], dtype=labels.dtype, device=getattr(labels, "device", None))
        Y += labels.T  # written out: reductions over classes then run along contiguous rows
        ones = xp.ones_like(X[:, :1])
        return Prepared(xp.concat(parts, axis=1), xp.concat([ones, known], axis=1), Y, samples.weight)


def plan_of(extent: Extent) -> Plan:
    """What the inputs of conditions are for rows of this extent."""
    space = extent.whole_space
    squares = to_numpy(extent.spread).astype(float)[space.layout.numbers] ** 2
    least = few(extent.weight)
    many = (
        [] if extent.known is None else np.flatnonzero((1 - extent.known >= least) & (extent.known > 0)).tolist()
    )
    return Plan(space, squares, tuple(many), LONGEST * least)


@dataclass(frozen=True)
class Pulls:
    """What holds rules back from following the data alone."""

    ridge: float = 0.0
    """alpha, towards conclusions that are alike and flat."""
    start: float = 0.0
    """tau, towards where conditions began."""
    small: float = 0.0
    """rho, towards conditions that say little."""
    nothing: float = 0.0
    """kappa, towards no conditions at all."""

    def __call__(self, rules: Moving, start: Moving, plan: Plan) -> Moving:
        """The penalty and its slope."""
        common = rules.consequents.mean(axis=0)
        apart = rules.consequents - common
        common[0] = 0.0  # a constant common to all rules is free
        priced = apart.copy()
        priced[:, 1:] *= APART
        from_start, price = rules.theta - start.theta, plan.prices(start.theta)
        size, along = _sizes(rules.theta, plan.group) if self.nothing else (0.0, 0.0)
        return Moving(
            2 * price * (self.start * from_start + self.small * rules.theta) + self.nothing * along,
            2 * self.ridge * (priced + common / len(priced)),
            self.ridge * float(np.sum(priced * apart) + np.sum(common * common))
            + self.start * float(np.sum(price * from_start * from_start))
            + self.small * float(np.sum(price * rules.theta * rules.theta))
            + self.nothing * size,
        )


SMOOTH = 0.02
"""A group of coefficients this small is priced like its square, so that the price is smooth."""


def _sizes(theta: np.ndarray, group: np.ndarray) -> tuple[float, np.ndarray]:
    """The sum of the sizes of all conditions, and its slope."""
    member = (group[:, None] == np.unique(group[group >= 0])).astype(float)
    sizes = np.sqrt((theta * theta) @ member + SMOOTH**2)
    return float(np.sum(sizes)), theta * ((1 / sizes) @ member.T)


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


def _constant(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """Loss by row, its slope along firing levels (R, n), and along constant conclusions."""
    value, E = _weighted(loss(B[:, 0, :].T @ F, samples.Y), samples)
    return value, B[:, 0, :] @ E, (F @ E.T)[:, None, :]


def _linear(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """The same for conclusions linear in ``[1, z]``: what each rule says is one product, (R, C, n)."""
    xp = array_namespace(F)
    n_rules, n_inputs, n_outputs = B.shape
    inputs = samples.conclusions
    says = xp.reshape(xp.permute_dims(B, (0, 2, 1)), (-1, n_inputs)) @ inputs.T
    says = xp.reshape(says, (n_rules, n_outputs, -1))
    value, E = _weighted(loss(xp.sum(F[:, None, :] * says, axis=0), samples.Y), samples)
    along = xp.sum(says * E[None, :, :], axis=1)
    dB = xp.reshape(F[:, None, :] * E[None, :, :], (n_rules * n_outputs, -1)) @ inputs
    return value, along, xp.permute_dims(xp.reshape(dB, (n_rules, n_outputs, n_inputs)), (0, 2, 1))


def _weighted(found: tuple[Array, Array], samples: Prepared) -> tuple[Array, Array]:
    value, E = found
    return found if samples.weight is None else (value * samples.weight, E * samples.weight)


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
    first = start.flat()

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        rules = start.like(flat)
        found = rows.sum(partial(slope, loss, rules)) + pulls(rules, start, plan)
        if loss.level_is_free:
            # Rounding alone would set it in motion, and L-BFGS, which knows nothing of it, makes that grow.
            found = replace(found, consequents=found.consequents - found.consequents.mean(axis=2, keepdims=True))
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
    """Smallest and largest values of everything that moves; a column without a condition stays so."""
    group, every = plan.group, np.full(rules.consequents.size, np.inf)
    first_gap = len(group) - len(plan.gaps)
    asked = np.stack([np.any(rules.theta[:, group == j] != 0, axis=1) for j in group], axis=1) | (group == -1)
    is_number = (
        np.isin(group, plan.space.layout.numbers) & ~plan.is_precision & (np.arange(len(group)) < first_gap)
    )
    steepest = plan.narrowest**-2.0
    high = np.where(plan.is_precision, steepest, np.where(is_number, LONGEST * steepest, np.inf))
    low = np.where(plan.is_precision, 0.0, -high)
    lows, highs = (np.where(asked, bound, 0.0).ravel() for bound in (low, high))
    return np.concatenate([lows, -every]), np.concatenate([highs, every])
