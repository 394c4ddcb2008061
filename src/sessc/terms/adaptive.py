"""A penalty on feature weights that follows each cluster, as SCAD's authors have it.

Frigui and Nasraoui's cost has a strength of its own for each cluster,

.. math::
    J = \\sum_{n,r} u_{nr}^m \\sum_d w_{rd} (x_{nd} - v_{rd})^2 + \\sum_r \\delta_r \\sum_d w_{rd}^2, \\qquad
    \\delta_r = K \\frac{\\sum_n u_{nr}^m \\sum_d w_{rd} (x_{nd} - v_{rd})^2}{\\sum_d w_{rd}^2},

set anew in each iteration from the weights before, so that a cluster's penalty stays K times what its samples
cost, whatever the number of rows and the units of the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._array import Array, array_namespace, divide, like
from .objective import Objective, Parameters, Statistics
from .sharing import Linear

__all__ = ["AdaptiveObjective"]


@dataclass(frozen=True)
class AdaptiveObjective(Objective):
    """A cost whose weighting is ``Quadratic(K)``, in units of what each cluster costs.

    As the penalty changes on the way there is no fixed cost to descend, and ``value`` may rise.
    """

    def update(self, statistics: Statistics, parameters: Parameters) -> Parameters:
        moved = super().update(statistics, parameters)
        statistics = replace(statistics, sums=like(statistics.sums, moved.V))
        V, W = moved.V, parameters.W
        scatter, sizes = self.scatter(statistics, V, moved.space)
        xp = array_namespace(V)
        costs, squares = (xp.sum(W * part, axis=1, keepdims=True) for part in (scatter, W))
        unit = divide(costs, squares, otherwise=xp.ones_like(costs))  # delta over K
        unit = xp.where(unit > 0, unit, xp.ones_like(unit))  # a cluster of equal rows
        return replace(moved, W=self.weights(scatter / unit, sizes / unit, moved.space))

    def value(self, statistics: Statistics, parameters: Parameters, coefficients: Array) -> float:
        """The cost with each strength as the weights themselves have it: a penalty of K times the rest."""
        rest = Objective(self.membership, Linear(), self.eta, self.loss)
        return (1 + self.weighting.strength) * rest.value(statistics, parameters, coefficients)  # type: ignore[attr-defined]
