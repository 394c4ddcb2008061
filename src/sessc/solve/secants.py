"""Leaps: where an alternation is heading, from how its last turns have bent.

A turn goes from parameters to the best ones for their memberships. Near its end it is a step downhill by the slope
over the curvature that each cluster would have alone, with memberships held where they are. These move along, the
curvature is less, and steps are too short: a hundred times, where clusters share a cloud that could be cut in many
ways. By how much, the secants between turns tell, and L-BFGS is the way to put a few of them together.

Points are sums over rows and not parameters: sums may be added and taken apart, and the update makes weights that
are on their simplex of whatever comes of it. Outputs may leave theirs for one pass; costs are compared after it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from .._array import Array, array_namespace, to_numpy
from ..terms.objective import Statistics

__all__ = ["Secants"]

MEMORY = 11
"""Turns to remember; twice or four times as many were no faster when measured."""

GRID = 2.0**12
"""Parts of points are whole multiples of one over this: else the last bits of sums, which change with the order of
the rows, would grow from leap to leap.
"""


class _Turn(NamedTuple):
    """One turn of an alternation."""

    behind: Statistics
    """The sums that its first parameters were made of."""
    found: Statistics
    """The sums with these parameters, of which the next were made."""
    first: np.ndarray
    moved: np.ndarray
    """Centres before and after, (R, D)."""


@dataclass(frozen=True)
class Secants:
    """The last turns, oldest first, with movements of the centres measured in units of ``scale`` (D,)."""

    scale: Array
    turns: tuple[_Turn, ...] = ()

    def after(self, behind: Statistics | None, found: Statistics, first: Array, moved: Array) -> Secants:
        """What is remembered after one more turn; the very first has no sums behind it."""
        if behind is None:
            return self
        return Secants(self.scale, (*self.turns, _Turn(behind, found, _plain(first), _plain(moved)))[-MEMORY:])

    def leap(self) -> Statistics | None:
        """The sums to make the next parameters of; None if nothing is known but the last turn.

        None, too, if a cluster would lose more than half of what counts for it: so far secants cannot see.
        """
        if len(self.turns) < 2:
            return None
        points = [turn.behind for turn in self.turns] + [turn.found for turn in self.turns]
        parts = zip(points, _ahead(self._products()), strict=True)
        sums = reduce(operator.add, (point * float(part) for point, part in parts))
        kept = 2 * sums.mass >= self.turns[-1].found.mass
        return sums if bool(array_namespace(kept).all(kept)) else None

    def _products(self) -> np.ndarray:
        """Products of the points with each other as the curvature has them: a cluster counts by its mass."""
        weight = np.sqrt(_plain(self.turns[-1].found.mass))[:, None] / _plain(self.scale)
        centers = [turn.first for turn in self.turns] + [turn.moved for turn in self.turns]
        # From the last of them: far from the origin products would have no digits left for small differences.
        points = np.stack([((V - centers[-1]) * weight).ravel() for V in centers])
        return points @ points.T


def _plain(x: Array) -> np.ndarray:
    return to_numpy(x).astype(np.float64)


def _ahead(products: np.ndarray) -> np.ndarray:
    """The point ahead by L-BFGS, as parts of the points before and after each turn; they sum to one.

    Vectors are written as parts of points, and multiply by the products of these.
    """
    before, after = np.split(np.eye(len(products)), 2)
    residual = after - before
    pairs = list(_pairs(np.diff(before, axis=0), -np.diff(residual, axis=0), products))
    step, taken = residual[-1], []
    for moved, bent, size in reversed(pairs):
        taken.append(moved @ products @ step / size)
        step = step - taken[-1] * bent
    if pairs:
        _, bent, size = pairs[-1]
        step = step * max(size / (bent @ products @ bent), 1.0)  # never shorter than a turn
    for (moved, bent, size), part in zip(pairs, reversed(taken), strict=True):
        step = step + (part - bent @ products @ step / size) * moved
    parts = np.round((before[-1] + step) * GRID) / GRID
    parts[-1] += 1 - np.sum(parts)
    return parts


def _pairs(moves: np.ndarray, bends: np.ndarray, products: np.ndarray) -> Iterator[tuple]:
    """By how much points moved, by how much less the turns there then did, and the product of both.

    Only where that is positive: elsewhere the cost is no valley.
    """
    for moved, bent in zip(moves, bends, strict=True):
        size = moved @ products @ bent
        if size > 1e-8 * (bent @ products @ bent) > 0:
            yield moved, bent, size
