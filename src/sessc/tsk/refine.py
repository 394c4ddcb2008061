"""Descent on a whole rule base at once, from where clustering and least squares left it.

Least squares moves only what rules conclude. Here centres ``v``, conditions and conclusions ``b`` move together,
downhill on

.. math::
    J = \\sum_n s_n\\, \\ell(y_n, o_n) + \\alpha \\Big( \\|\\bar b\\|^2 + \\sum_{r} \\|b_r - \\bar b\\|_k^2 \\Big)
        + \\tau \\sum_{rd} \\big( (v_{rd} - v_{rd}^0)^2 + (p_{rd} - p_{rd}^0)^2 \\big)
        + \\kappa \\sum_{rd} p_{rd}, \\qquad p_{rd} \\ge 0.

What rules conclude alike, the mean ``b`` of all, costs the same however many say it, and its constant nothing.
What sets them apart costs more, slopes ``k`` times as much as constants: rules fall back on a linear model, not on
a constant.
A condition counts by its precision ``p``, one over its width squared, so a condition of precision zero is "any
value". With ``g`` the slope of the loss along the logits of the firing levels, all that centres and precisions
need is ``g @ [1, z, z^2]``: the product that clustering makes of memberships.
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

__all__ = ["CrossEntropy", "Moving", "OutputLoss", "Pulls", "SquaredError", "prepare", "refine", "slope"]


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

    centers: np.ndarray
    """Shape (R, D)."""
    precisions: np.ndarray
    """Shape (R, D); zero where a feature has no condition."""
    consequents: np.ndarray
    """Shape (R, 1 or 1 + D, C)."""
    loss: float = 0.0

    @classmethod
    def from_rules(cls, centers: np.ndarray, widths: np.ndarray, consequents: np.ndarray) -> Moving:
        return cls(centers.astype(float), widths.astype(float) ** -2, consequents.astype(float))

    @property
    def widths(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return self.precisions**-0.5

    def __add__(self, other: Moving) -> Moving:
        return Moving(
            self.centers + other.centers,
            self.precisions + other.precisions,
            self.consequents + other.consequents,
            self.loss + other.loss,
        )

    def rounded(self, loss: OutputLoss) -> Moving:
        """The same to three digits, whatever the last ones were; zero stays zero, and the level where it is."""
        mantissa, exponent = np.frexp(self.flat())
        rounded = self.like(np.ldexp(np.round(2.0**10 * mantissa), exponent - 10))
        if not loss.level_is_free:
            return rounded
        off = (self.consequents - rounded.consequents).mean(axis=2, keepdims=True)
        return replace(rounded, consequents=rounded.consequents + off)

    def flat(self) -> np.ndarray:
        return np.concatenate([self.centers.ravel(), self.precisions.ravel(), self.consequents.ravel()])

    def like(self, flat: np.ndarray) -> Moving:
        """Rules of the same shape from a flat array."""
        V, P, B = np.split(flat, [self.centers.size, 2 * self.centers.size])
        shape = self.centers.shape
        return Moving(V.reshape(shape), P.reshape(shape), B.reshape(self.consequents.shape))


@dataclass(frozen=True)
class Pulls:
    """What holds rules back from following the data alone."""

    ridge: float = 0.0
    """alpha, towards conclusions that are alike and flat."""
    start: float = 0.0
    """tau, towards where centres and precisions began."""
    nothing: float = 0.0
    """kappa, towards no conditions at all."""
    within: tuple[np.ndarray, np.ndarray] | None = None
    """Smallest and largest centres (D,): a condition about a value that never occurs is hard to read."""

    def __call__(self, rules: Moving, start: Moving) -> Moving:
        """The penalty and its slope."""
        common = rules.consequents.mean(axis=0)
        apart = rules.consequents - common
        common[0] = 0.0  # a constant common to all rules is free
        priced = apart.copy()
        priced[:, 1:] *= APART
        from_start = rules.centers - start.centers, rules.precisions - start.precisions
        squares = sum(float(np.sum(part * part)) for part in from_start)
        return Moving(
            2 * self.start * from_start[0],
            2 * self.start * from_start[1] + self.nothing,
            2 * self.ridge * (priced + common / len(priced)),
            self.ridge * float(np.sum(priced * apart) + np.sum(common * common))
            + self.start * squares
            + self.nothing * float(np.sum(rules.precisions)),
        )


class Prepared(NamedTuple):
    """A block of rows with what every evaluation needs of it."""

    columns: Array
    """``[1, z, z^2]``, shape (n, 1 + 2 D)."""
    Y: Array
    """Labels (C, n)."""
    weight: Array | None


def prepare(samples: Samples) -> Prepared:
    xp = array_namespace(samples.X)
    columns = xp.concat([xp.ones_like(samples.X[:, :1]), samples.X, samples.X * samples.X], axis=1)
    labels: Array = samples.Y
    Y = xp.zeros(labels.shape[::-1], dtype=labels.dtype, device=getattr(labels, "device", None))
    Y += labels.T  # written out: reductions over classes then run along contiguous rows
    return Prepared(columns, Y, samples.weight)


def slope(loss: OutputLoss, rules: Moving, samples: Prepared) -> Moving:
    """The loss of a block of rows, and how it changes with everything that moves."""
    columns = samples.columns
    xp = array_namespace(columns)
    V, P, B = (like(part, columns) for part in (rules.centers, rules.precisions, rules.consequents))
    n_features = V.shape[1]
    PV = P * V
    logits = xp.concat([-0.5 * xp.sum(PV * V, axis=1, keepdims=True), PV, -0.5 * P], axis=1) @ columns.T
    F = softmax(logits, axis=0)
    value, along, dB = (_linear if B.shape[1] > 1 else _constant)(loss, F, B, samples)
    G = F * (along - xp.sum(F * along, axis=0))
    sums = G @ columns
    one, z, zz = sums[:, :1], sums[:, 1 : 1 + n_features], sums[:, 1 + n_features :]
    return Moving(
        to_numpy(P * (z - V * one)).astype(float),
        to_numpy(-0.5 * (zz - 2 * V * z + V * V * one)).astype(float),
        to_numpy(dB).astype(float),
        float(xp.sum(value)),
    )


def _constant(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """Loss by row, its slope along firing levels (R, n), and along constant conclusions."""
    value, E = _weighted(loss(B[:, 0, :].T @ F, samples.Y), samples)
    return value, B[:, 0, :] @ E, (F @ E.T)[:, None, :]


def _linear(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """The same for conclusions linear in ``[1, z]``: what each rule says is one product, (R, C, n)."""
    xp = array_namespace(F)
    n_rules, n_inputs, n_outputs = B.shape
    inputs = samples.columns[:, :n_inputs]
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
    start : Moving
        Where a precision is zero it stays zero.
    loss : OutputLoss
    pulls : Pulls
    max_iter : int
    tol : float
        Stop once an iteration improves the objective by no more than this share.
    stop : callable
        Called after each iteration; a true answer ends the descent.
    """
    weight = rows.weight
    rows = rows.prepared(prepare)
    low, high = _bounds(start, pulls)
    start = start.like(np.clip(start.flat(), low, high))
    first = start.flat()

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        rules = start.like(flat)
        found = rows.sum(partial(slope, loss, rules)) + pulls(rules, start)
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


def _bounds(rules: Moving, pulls: Pulls) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest values of everything that moves; a precision of zero stays zero."""
    every = np.full(rules.consequents.size, np.inf)
    least, most = (-np.inf, np.inf) if pulls.within is None else pulls.within
    low, high = (np.broadcast_to(bound, rules.centers.shape).ravel() for bound in (least, most))
    free = np.where(rules.precisions.ravel() > 0, np.inf, 0.0)
    return np.concatenate([low, np.zeros(free.size), -every]), np.concatenate([high, free, every])
