"""Distances through a kernel, feature by feature, in the cost that all algorithms share.

The squared distance along a feature becomes :math:`2(1 - K)` with :math:`K = \\exp(-(x_{nd} - v_{rd})^2 / s^2)`,
the squared distance between the images of both in the feature space of the kernel; it ends at 2, so that samples
far away pull no more. No closed form gives the best centres then. But :math:`1 - e^{-t}` is concave in :math:`t`
and lies below each of its tangents,

.. math::
    2(1 - e^{-t}) \\le 2(1 - K) + 2K (t - t_0), \\qquad K = e^{-t_0},

and with the tangent at the present distances :math:`t_0` in its place the cost is a weighted sum of squares again,
whose best centres are the means that the kernel weighs:

.. math:: v_{rd} = \\sum_n a_{nr} K_{nrd} x_{nd} \\Big/ \\sum_n a_{nr} K_{nrd}.

The tangent touches where the step begins, so a lower tangent is a lower cost, and it never rises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from .._array import Array, array_namespace, divide, like, plain, scalar
from ..rows.base import Samples
from ..rows.layout import Space
from . import mixed
from .objective import Expansion, Objective, Parameters, Statistics, rounding_of, total

__all__ = ["KernelObjective"]


@dataclass(frozen=True)
class KernelObjective(Objective):
    """A cost whose distances between numbers go through a kernel of this width, in units of the data.

    Sums are those of ``[1, K x, K x^2, K, tangent]``, the last four number by number, then of levels and gaps. The
    distance of a category is bounded as it is and goes through none; a gap costs what the kernel makes of the mean
    distance.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        plain(self, "width")
        if self.eta or self.loss is not None:
            raise ValueError("a kernel has neither eta nor a label loss")

    def columns(self, samples: Samples) -> Expansion:
        """Numbers, NaN where they are missing, a one, levels, and gaps."""
        X, xp, layout = samples.X, array_namespace(samples.X), samples.layout
        n_numbers = X.shape[1] if layout is None else layout.n_numbers
        numbers = X[:, :n_numbers]
        if samples.gaps is not None and layout is not None:
            lacks = like(layout.places(samples.gap_columns)[:, layout.numbers], X)
            numbers = xp.where(samples.gaps @ lacks > 0, scalar(xp.nan, X), numbers)
        parts = [numbers, xp.ones_like(X[:, :1]), X[:, n_numbers:], samples.gaps]
        values = xp.concat([part for part in parts if part is not None], axis=1)
        return Expansion(values, samples.weight, X.shape[1], n_numbers, samples.gap_columns)

    def coefficients(self, parameters: Parameters) -> Array:
        """Centres of numbers beside their amounts, then a constant and the slopes of levels and of gaps."""
        V, A, space = parameters.V, self.weighting.amount(parameters.W), parameters.space
        xp = array_namespace(V)
        if space is None:
            return xp.concat([V, A, xp.zeros_like(V[:, :1])], axis=1)
        n_numbers, layout = space.layout.n_numbers, space.layout
        there, missing = self._of_columns(parameters)
        amounts = mixed.spread_out(A, layout)[:, :n_numbers]
        gaps = [A[:, j, None] * missing[:, j, None] for j in layout.gaps or ()]
        slopes = mixed.slopes(V, A, space)[:, n_numbers:]
        constant = xp.sum(A * there, axis=1, keepdims=True)
        return xp.concat([V[:, :n_numbers], amounts, constant, slopes, *gaps], axis=1)

    def _of_columns(self, parameters: Parameters) -> tuple[Array, Array]:
        """What categories cost where no level is there, and what gaps add to that, (R, J)."""
        V, space = parameters.V, parameters.space
        assert space is not None
        there, missing = mixed.costs_at_centers(V, space, 0.0)
        category = like(space.layout.is_category, V)
        gap = 2 * self._distance(like(space.total, V) / self.width**2)
        return category * there, category * missing + (1 - category) * gap

    def cost(self, coefficients: Array, columns: Expansion) -> Array:
        """Costs (R, n), lower by what rounding may add."""
        n_numbers = columns.n_squares
        cost = coefficients[:, 2 * n_numbers :] @ columns.values[:, n_numbers:].T
        cost -= self._rounding_of(coefficients, n_numbers)
        for d in range(n_numbers):
            amount = coefficients[:, n_numbers + d, None]
            cost += 2 * amount * self._distance(self._squares(coefficients, columns, d))
        return cost

    def _squares(self, coefficients: Array, columns: Expansion, d: int) -> Array:
        """Squared distances along one number, in widths, (R, n); none where it is missing."""
        step = (columns.values[None, :, d] - coefficients[:, d, None]) / self.width
        if columns.gap_columns:
            xp = array_namespace(step)
            step = xp.where(xp.isnan(step), scalar(0.0, step), step)
        return step * step

    def _distance(self, squares: Array) -> Array:
        """``1 - K``, with all its digits where samples are near."""
        return -array_namespace(squares).expm1(-squares)

    def memberships(self, coefficients: Array, columns: Expansion) -> Array:
        cost = self.cost(coefficients, columns)
        return self.membership.share(cost, axis=0, rounding=self._rounding_of(coefficients, columns.n_squares))

    def statistics(self, coefficients: Array, columns: Expansion) -> Statistics:
        xp, n_numbers = array_namespace(coefficients), columns.n_squares
        cost = self.cost(coefficients, columns)
        rounding = self._rounding_of(coefficients, n_numbers)
        amount, penalty = self.membership.settle(cost, axis=0, rounding=rounding)
        if columns.weight is not None:
            amount, penalty = amount * columns.weight, penalty * columns.weight
        mass = xp.sum(amount, axis=1, keepdims=True)
        parts = [self._feature(coefficients, columns, amount, d) for d in range(n_numbers)]
        rest = amount @ columns.values[:, n_numbers + 1 :]
        sums = xp.concat([mass, *(xp.stack(part, axis=1) for part in zip(*parts, strict=True)), rest], axis=1)
        n_levels = columns.n_features - n_numbers
        sums = xp.astype(sums, xp.float64)
        return Statistics(sums, total(xp, penalty), 3 * n_numbers + n_levels, n_numbers, columns.gap_columns)

    def _feature(self, coefficients: Array, columns: Expansion, amount: Array, d: int) -> tuple[Array, ...]:
        """``K x``, ``K x^2``, ``K`` and the tangents at no distance, along a number, summed by amount, (R,)."""
        xp = array_namespace(coefficients)
        squares, x = self._squares(coefficients, columns, d), columns.values[:, d]
        if columns.gap_columns:
            missing = xp.isnan(x)
            x = xp.where(missing, scalar(0.0, x), x)
            amount = amount * xp.astype(~missing, amount.dtype)
        distance = self._distance(squares)
        K = 1 - distance
        distance -= K * squares
        K *= amount
        sums = K @ xp.stack([x, x * x, xp.ones_like(x)], axis=1)
        return sums[:, 0], sums[:, 1], sums[:, 2], 2 * xp.vecdot(amount, distance)

    def _rounding_of(self, coefficients: Array, n_numbers: int) -> Array:
        """What rounding may leave of a cost of zero, (R, 1)."""
        xp = array_namespace(coefficients)
        far = (coefficients[:, :n_numbers] / self.width) ** 2
        sizes = coefficients[:, n_numbers : 2 * n_numbers] * xp.minimum(far, xp.ones_like(far))
        return rounding_of(2 * xp.sum(sizes, axis=1, keepdims=True))

    def update(self, statistics: Statistics, parameters: Parameters) -> Parameters:
        """The best V, then W, for the memberships behind the statistics and the tangents at their distances."""
        statistics = replace(statistics, sums=like(statistics.sums, parameters.V))
        xp, space, parts = array_namespace(parameters.V), parameters.space, _parts(statistics)
        n_numbers = statistics.n_squares
        V = divide(parts.Kx, parts.K, otherwise=parameters.V[:, :n_numbers])
        if space is not None:
            known = mixed.spread_out(mixed.known_mass(statistics, space), space.layout)[:, n_numbers:]
            V = xp.concat([V, divide(parts.levels, known, otherwise=parameters.V[:, n_numbers:])], axis=1)
        if self.weighting.is_fixed:
            return Parameters(V, self.even_weights(V, space), space=space)
        W = self.weights(*self.scatter(statistics, V, space), space)
        return Parameters(V, W, space=space)

    def scatter(self, statistics: Statistics, V: Array, space: Space | None) -> tuple[Array, Array]:
        """The tangents at V, summed over samples, and the squares that cancelled in them, (R, J)."""
        parts, n_numbers = _parts(statistics), statistics.n_squares
        v = V[:, :n_numbers]
        squares = (2 / self.width**2) * parts.Kxx
        found = parts.meets + (2 / self.width**2) * (parts.Kxx - 2 * v * parts.Kx + v * v * parts.K)
        if space is None:
            return found, squares
        there, missing = self._of_columns(Parameters(V, V, space=space))
        mass, known = statistics.mass[:, None], mixed.known_mass(statistics, space)
        onto = like(space.layout.onto_columns, V)
        levels = -V[:, n_numbers:] * parts.levels
        found = (
            found @ onto[:n_numbers, :] + levels @ onto[n_numbers:, :] + mass * there + (mass - known) * missing
        )
        category = like(space.layout.is_category, V)
        return found, squares @ onto[:n_numbers, :] + mass * category

    def value(self, statistics: Statistics, parameters: Parameters, coefficients: Array) -> float:
        """The cost as the tangents have it: not below the cost itself, and equal where centres rest."""
        xp = array_namespace(parameters.V)
        statistics = replace(statistics, sums=like(statistics.sums, parameters.V))
        scatter, _ = self.scatter(statistics, parameters.V, parameters.space)
        fit = total(xp, self.weighting.amount(parameters.W) * scatter)
        return float(fit + statistics.penalty + total(xp, self.weighting.penalty(parameters.W, axis=1)))


class _Parts(NamedTuple):
    Kx: Array
    Kxx: Array
    K: Array
    meets: Array
    levels: Array


def _parts(statistics: Statistics) -> _Parts:
    """Sums by number, and those of levels."""
    n, sums = statistics.n_squares, statistics.sums
    first = 1 + statistics.n_features + n
    Kx, Kxx, K, meets = (sums[:, 1 + k * n : 1 + (k + 1) * n] for k in range(4))
    return _Parts(Kx, Kxx, K, meets, sums[:, 1 + 4 * n : first])
