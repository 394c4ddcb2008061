"""Label terms: what it costs a rule to speak for a sample of another label.

A loss is linear in a few columns made of the labels, so that its cost for every sample and its total over
all samples both come from the products that the distances need anyway:

.. math:: \\mathrm{loss}(y_n, z_r) = \\mathrm{constant}(z_r) + \\mathrm{slope}(z_r) \\cdot \\mathrm{columns}(y_n).

The first columns are the labels themselves. For every loss of this kind (they are Bregman losses) the best
rule output ``z`` is the weighted mean of the labels, and the objective relies on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._array import Array, array_namespace, plain, scalar

__all__ = ["LogLoss", "Loss", "SquaredLoss"]

OUTPUT_FLOOR = 2.0**-52
"""Rule outputs below this count as this in a logarithm.

It bounds what one contradicting label can cost (36 times the weight), which steers the first iterations, so
it is the same number for every dtype.
"""


@dataclass(frozen=True)
class Loss:
    """A label term counted ``weight`` times (the paper's beta; SFP's alpha)."""

    weight: float

    def __post_init__(self) -> None:
        plain(self, "weight")
        if not self.weight >= 0:
            raise ValueError(f"weight of a label loss must not be negative, got {self.weight}")

    def columns(self, Y: Array) -> Array:
        """The columns the loss is linear in, shape (n, at least C), ``Y`` first."""
        return Y

    def coefficients(self, Z: Array) -> tuple[Array, Array]:
        """``constant`` (R,) and ``slope`` (R, columns) of the loss for each rule."""
        raise NotImplementedError


@dataclass(frozen=True)
class LogLoss(Loss):
    """``-sum_c y_c ln z_c`` for one-hot labels: rules are rewarded for being sure and right."""

    def coefficients(self, Z: Array) -> tuple[Array, Array]:
        xp = array_namespace(Z)
        return xp.zeros_like(Z[:, 0]), -self.weight * xp.log(xp.maximum(Z, scalar(OUTPUT_FLOOR, Z)))


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """``||y - z||^2`` for one-hot labels or real targets."""

    def columns(self, Y: Array) -> Array:
        # The square of y is the same for all rules, but Power sharing is not shift-invariant: it belongs here.
        xp = array_namespace(Y)
        return xp.concat([Y, xp.sum(Y * Y, axis=1, keepdims=True)], axis=1)

    def coefficients(self, Z: Array) -> tuple[Array, Array]:
        xp = array_namespace(Z)
        slope = xp.concat([-2 * Z, xp.ones_like(Z[:, :1])], axis=1)
        return self.weight * xp.sum(Z * Z, axis=1), self.weight * slope
