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

from .._array import Array, array_namespace, divide, like, plain
from ..rows.base import Samples
from .objective import Expansion, Objective, Parameters, Statistics, rounding_of, total

__all__ = ["KernelObjective"]


@dataclass(frozen=True)
class KernelObjective(Objective):
    """A cost whose distances go through a kernel of this width, in units of the data.

    Sums are those of ``[1, K x, K x^2, K, tangent]``, the last four feature by feature.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        plain(self, "width")
        if self.eta or self.loss is not None:
            raise ValueError("a kernel has neither eta nor a label loss")

    def columns(self, samples: Samples) -> Expansion:
        return Expansion(samples.X, samples.weight, samples.X.shape[1], samples.X.shape[1])

    def coefficients(self, parameters: Parameters) -> Array:
        """Centres beside amounts of the feature weights, (R, 2 D)."""
        xp = array_namespace(parameters.V)
        return xp.concat([parameters.V, self.weighting.amount(parameters.W)], axis=1)

    def cost(self, coefficients: Array, columns: Expansion) -> Array:
        """Costs (R, n), lower by what rounding may add."""
        xp = array_namespace(coefficients)
        cost = xp.zeros_like(columns.values[None, :, 0]) - self._heeded(coefficients)
        for d in range(columns.n_features):
            amount = coefficients[:, columns.n_features + d, None]
            cost += 2 * amount * self._distance(self._squares(coefficients, columns, d))
        return cost

    def _squares(self, coefficients: Array, columns: Expansion, d: int) -> Array:
        """Squared distances along one feature, in widths, (R, n)."""
        step = (columns.values[None, :, d] - coefficients[:, d, None]) / self.width
        return step * step

    def _distance(self, squares: Array) -> Array:
        """``1 - K``, with all its digits where samples are near."""
        return -array_namespace(squares).expm1(-squares)

    def statistics(self, coefficients: Array, columns: Expansion) -> Statistics:
        xp = array_namespace(coefficients)
        cost = self.cost(coefficients, columns)
        amount, penalty = self.membership.settle(cost, axis=0, rounding=self._heeded(coefficients))
        if columns.weight is not None:
            amount, penalty = amount * columns.weight, penalty * columns.weight
        mass = xp.sum(amount, axis=1, keepdims=True)
        parts = [self._feature(coefficients, columns, amount, d) for d in range(columns.n_features)]
        sums = xp.concat([mass, *(xp.stack(part, axis=1) for part in zip(*parts, strict=True))], axis=1)
        sums = xp.astype(sums, xp.float64)
        return Statistics(sums, total(xp, penalty), columns.n_features, columns.n_features)

    def _feature(self, coefficients: Array, columns: Expansion, amount: Array, d: int) -> tuple[Array, ...]:
        """``K x``, ``K x^2``, ``K`` and the tangents at no distance, along a feature, summed by amount, (R,)."""
        xp = array_namespace(coefficients)
        squares, x = self._squares(coefficients, columns, d), columns.values[:, d]
        distance = self._distance(squares)
        K = 1 - distance
        distance -= K * squares
        K *= amount
        sums = K @ xp.stack([x, x * x, xp.ones_like(x)], axis=1)
        return sums[:, 0], sums[:, 1], sums[:, 2], 2 * xp.vecdot(amount, distance)

    def _heeded(self, coefficients: Array) -> Array:
        """What rounding may leave of a cost of zero, (R, 1)."""
        xp = array_namespace(coefficients)
        D = coefficients.shape[1] // 2
        far = (coefficients[:, :D] / self.width) ** 2
        sizes = coefficients[:, D:] * xp.minimum(far, xp.ones_like(far))
        return rounding_of(2 * xp.sum(sizes, axis=1, keepdims=True))

    def update(self, statistics: Statistics, parameters: Parameters) -> Parameters:
        """The best V, then W, for the memberships behind the statistics and the tangents at their distances."""
        statistics = replace(statistics, sums=like(statistics.sums, parameters.V))
        Kx, _, K, _ = _parts(statistics)
        V = divide(Kx, K, otherwise=parameters.V)
        if self.weighting.is_fixed:
            return Parameters(V, self.weighting.share(V, axis=1))
        squares = (2 / self.width**2) * statistics.xx  # which are those of K x^2
        return Parameters(V, self.weights(self._scatter(statistics, V), squares))

    def _scatter(self, statistics: Statistics, V: Array) -> Array:
        """The tangents at V, summed over samples, (R, D)."""
        Kx, Kxx, K, meets = _parts(statistics)
        return meets + (2 / self.width**2) * (Kxx - 2 * V * Kx + V * V * K)

    def value(self, statistics: Statistics, parameters: Parameters, coefficients: Array) -> float:
        """The cost as the tangents have it: not below the cost itself, and equal where centres rest."""
        xp = array_namespace(parameters.V)
        statistics = replace(statistics, sums=like(statistics.sums, parameters.V))
        fit = total(xp, self.weighting.amount(parameters.W) * self._scatter(statistics, parameters.V))
        return float(fit + statistics.penalty + total(xp, self.weighting.penalty(parameters.W, axis=1)))


def _parts(statistics: Statistics) -> list[Array]:
    D = statistics.n_features
    return [statistics.sums[:, 1 + k * D : 1 + (k + 1) * D] for k in range(4)]
