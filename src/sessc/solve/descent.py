"""Descent on many functions at once, each within bounds of its own, until each is done.

Functions of one shape are one array with a leading axis: what a step costs beside the functions themselves is paid
once for all of them. What one member does depends in no bit on who else takes part.

It is L-BFGS with steps that stay within the bounds (two-metric projection): what a bound holds back takes no part
in the direction, and along it one goes as far as the bounds allow, less far until the value falls by enough.
What is remembered is a few products of small matrices (the compact form of Byrd, Nocedal and Schnabel), which cost
a quarter of what the usual two loops over the last steps do where members are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["descend"]

Objective = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

REMEMBERED = 10
"""Steps that tell about curvature."""
ENOUGH = 1e-4
"""A step is taken if the value falls by this share of what the slope promised."""
MOST_TRIALS = 20
"""Of one step, each shorter than the last."""


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Products (K, Q) of matrices (K, Q, P) with vectors (K, P)."""
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Inner products (K,) of vectors (K, P)."""
    return np.matmul(a[:, None, :], b[:, :, None])[:, 0, 0]


@dataclass
class _Members:
    """Those who are still on their way, each with where it is, where it goes, and what it remembers."""

    place: np.ndarray
    """Which of all members they are, (K,)."""
    low: np.ndarray
    high: np.ndarray
    x: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    direction: np.ndarray
    length: np.ndarray
    """How far along the direction the next trial is, (K,)."""
    trials: np.ndarray
    steps: np.ndarray
    pairs: np.ndarray
    """The last steps, then how slopes changed with them (K, 2 REMEMBERED, P); zero where none was taken."""
    products: np.ndarray
    """Of each step and its change, (K, REMEMBERED)."""
    squares: np.ndarray
    """Products of all changes, (K, REMEMBERED, REMEMBERED)."""
    inverse: np.ndarray
    """Of the triangle of products of steps with changes that are not older."""
    unit: np.ndarray
    """The first guess at the inverse curvature, (K,)."""

    @classmethod
    def at(
        cls, x: np.ndarray, value: np.ndarray, slope: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> _Members:
        n, size = x.shape
        count, square = np.zeros(n, int), np.zeros((n, REMEMBERED, REMEMBERED))
        found = cls(
            np.arange(n), low, high, x, value, slope, np.zeros_like(x), np.ones(n), count, count.copy(),
            np.zeros((n, 2 * REMEMBERED, size)), square[:, 0].copy(), square, square.copy(), np.ones(n),
        )  # fmt: skip
        found.aim(np.ones(n, bool))
        steepness = np.sqrt(_dot(found.direction, found.direction))
        found.length = np.minimum(1.0, 1 / np.maximum(steepness, np.finfo(float).tiny))
        return found

    def only(self, kept: np.ndarray) -> None:
        """Go on with some of them."""
        for name, part in vars(self).items():
            setattr(self, name, part[kept])

    def remember(self, taken: np.ndarray, move: np.ndarray, change: np.ndarray, slot: int) -> None:
        product, size = _dot(move, change), _dot(change, change)
        curved = taken & (product > np.finfo(float).eps * size)
        change = change * curved[:, None]
        self.pairs[:, slot], self.pairs[:, REMEMBERED + slot] = move * curved[:, None], change
        self.products[:, slot] = product * curved
        safe = np.where(curved, product, 1.0)
        self.unit = np.where(curved, safe / np.where(curved, size, 1.0), self.unit)
        self._extend(slot, _times(self.pairs, change), curved / safe)

    def _extend(self, slot: int, with_change: np.ndarray, inverse: np.ndarray) -> None:
        """Put a new step in the place of the oldest, without which a triangle's inverse stays what it is."""
        moves, changes = with_change[:, :REMEMBERED], with_change[:, REMEMBERED:]
        self.squares[:, slot] = self.squares[:, :, slot] = changes
        self.inverse[:, slot] = self.inverse[:, :, slot] = 0.0
        column = -_times(self.inverse, moves)
        column[:, slot] = 1.0
        self.inverse[:, :, slot] = column * inverse[:, None]

    def _inverse_curvature(self, steepest: np.ndarray) -> np.ndarray:
        """What is remembered of the inverse curvature, times a vector."""
        found, unit = _times(self.pairs, steepest), self.unit[:, None]
        early = _times(self.inverse, found[:, :REMEMBERED])
        rest = unit * (found[:, REMEMBERED:] - _times(self.squares, early))
        late = _times(self.inverse.swapaxes(1, 2), self.products * early - rest)
        back = np.concatenate([late, -unit * early], axis=1)
        return unit * steepest + np.matmul(back[:, None, :], self.pairs)[:, 0]

    def aim(self, taken: np.ndarray) -> None:
        """A new direction for those who took a step, by what is remembered."""
        free = ~(((self.x <= self.low) & (self.slope > 0)) | ((self.x >= self.high) & (self.slope < 0)))
        steepest = -self.slope * free
        along = self._inverse_curvature(steepest)
        along *= free
        uphill = ~(_dot(along, self.slope) < 0)
        along[uphill] = steepest[uphill]
        self.direction[taken] = along[taken]
        self.length[taken], self.trials[taken] = 1.0, 0

    def shorten(self, missed: np.ndarray, promised: np.ndarray, reached: np.ndarray) -> None:
        """Try again less far: where a parabola through what is known is least, within a tenth and a half."""
        excess = reached - self.value - promised
        share = np.where(excess > 0, -promised / (2 * np.where(excess > 0, excess, 1.0)), 0.5)
        share = np.where(np.isfinite(share), np.clip(share, 0.1, 0.5), 0.1)
        self.length = np.where(missed, share * self.length, self.length)
        self.trials[missed] += 1


def descend(
    objective: Objective,
    start: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    max_iter: Sequence[int],
    tol: Sequence[float],
    stop: Sequence[Callable[[], bool] | None] | None = None,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Points (K, P) no higher than the starts, and the value of each after each of its steps, the start's first.

    Parameters
    ----------
    objective : callable
        From the numbers of some members and a point for each of these, their values and slopes.
    start, low, high : arrays of shape (K, P)
        Where members begin, within which bounds they stay.
    max_iter : sequence of int
        Steps each may take.
    tol : sequence of float
        A member is done once a step improves its value by no more than this share of it, or of one.
    stop : sequence of callables, optional
        Called after each step of a member; a true answer ends its descent.
    """
    most, least = np.asarray(max_iter), np.asarray(tol, float)
    movable = low < high
    start = np.clip(start, low, high)
    value, slope = objective(np.arange(len(start)), start)
    at = _Members.at(start, value, slope * movable, low, high)
    best, histories = start.copy(), [[v] for v in value.tolist()]
    at.only(most > 0)
    tick = 0
    while len(at.place):
        slot = tick % REMEMBERED
        tick += 1
        trial = np.clip(at.x + at.length[:, None] * at.direction, at.low, at.high)
        reached, slope = objective(at.place, trial)
        slope = slope * movable[at.place]
        move = trial - at.x
        promised = _dot(at.slope, move)
        taken = (reached <= at.value + ENOUGH * promised) & (promised <= 0)
        at.remember(taken, move, slope - at.slope, slot)
        if not taken.all():
            at.shorten(~taken, promised, reached)
        gain = at.value - reached
        small = gain <= least[at.place] * np.maximum(np.maximum(np.abs(at.value), np.abs(reached)), 1.0)
        at.x, at.slope = (np.where(taken[:, None], new, old) for new, old in ((trial, at.x), (slope, at.slope)))
        at.value = np.where(taken, reached, at.value)
        at.steps += taken
        at.aim(taken)
        done = (taken & (small | (at.steps >= most[at.place]))) | (at.trials >= MOST_TRIALS)
        for k in np.flatnonzero(taken):
            member = at.place[k]
            best[member] = at.x[k]
            histories[member].append(float(at.value[k]))
            if stop is not None and (asked := stop[member]) is not None and asked():
                done[k] = True
        if done.any():
            at.only(~done)
    return best, [np.asarray(history) for history in histories]
