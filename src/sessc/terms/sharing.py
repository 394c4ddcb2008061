"""Sharing one unit among competitors.

Memberships (each sample shares itself among rules) and feature weights (each rule shares its attention
among features) are the same small problem: given what each competitor costs, find shares ``p`` on the
simplex that minimise

.. math:: \\sum_k \\mathrm{amount}(p_k)\\, c_k + \\mathrm{penalty}(p).

A sharing rule is a frozen value that knows how shares count (``amount``), what they cost on their own
(``penalty``) and the shares that are best (``share``). The laws in ``tests/test_simplex.py`` hold for each.

Ties are common in tables of whole numbers, and must not be settled by the last bits of sums, which change with
the order of the rows. So a caller may say how well costs are known (``rounding``: a true cost lies between the one
given and twice this above it), and a rule that goes by the cheapest alone takes costs closer than that for equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._array import (
    Array,
    array_namespace,
    epsilon,
    exp,
    floor,
    is_elsewhere,
    plain,
    scalar,
    smallest_normal,
    softmax,
    xlogx,
)

__all__ = ["Entropy", "Linear", "Power", "Quadratic", "Sharing", "Uniform"]


class Sharing:
    """What all sharing rules have in common; by default a share counts as itself and is free."""

    heeds_rounding = False
    """Whether shares depend on how well costs are known."""
    is_fixed = False
    """Whether competitors all count alike, whatever they cost."""

    def share(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> Array:
        """Best shares for these costs, summing to one along ``axis``."""
        raise NotImplementedError

    def amount(self, share: Array) -> Array:
        """What a share counts for in the total cost."""
        return share

    def penalty(self, share: Array, axis: int = -1) -> Array | float:
        """What the shares cost by themselves, one number for each unit shared."""
        return 0.0

    def settle(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> tuple[Array, Array | float]:
        """Amounts and penalty of the best shares, for callers who need nothing else."""
        share = self.share(cost, axis, rounding)
        return self.amount(share), self.penalty(share, axis)


@dataclass(frozen=True)
class Uniform(Sharing):
    """Nothing to share: every competitor counts one, whatever it costs (feature weights of plain FCM)."""

    is_fixed = True

    def share(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> Array:
        return array_namespace(cost).ones_like(cost)

    def amount(self, share: Array) -> Array:
        return array_namespace(share).ones_like(share)  # shares may be what another rule left behind


@dataclass(frozen=True)
class Power(Sharing):
    """Shares that minimise ``sum_k p_k**e * c_k`` on the simplex.

    The minimiser is ``p_k ~ c_k ** (-1 / (e - 1))``: cheap options get more, and the closer ``e`` is to 1
    the nearer this comes to winner-takes-all. Costs of zero or less share everything among themselves.

    Examples
    --------
    >>> import numpy as np
    >>> Power(2.0).share(np.asarray([1.0, 1.0, 2.0]))
    array([0.4, 0.4, 0.2])
    """

    exponent: float

    def __post_init__(self) -> None:
        plain(self, "exponent")
        if not self.exponent > 1:
            raise ValueError(f"exponent must exceed 1, got {self.exponent}")

    def share(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> Array:
        # In logs: c ** (-1 / (e - 1)) overflows as e -> 1, a softmax of logs does not.
        xp = array_namespace(cost)
        return softmax(xp.log(floor(cost)) * (-1 / (self.exponent - 1)), axis)

    def amount(self, share: Array) -> Array:
        return share**self.exponent

    def settle(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> tuple[Array, float]:
        # With q_k = (b/c_k)**(1/(e-1)) for some b, and Q = sum_k q_k, the share is q_k / Q and its e-th power is
        # q_k * b/c_k / Q**e: one logarithm and one exponential where share() and amount() need three.
        xp = array_namespace(cost)
        tame, unit = self._is_tame(cost), 1.0
        if not tame:
            cost = floor(cost)
            unit = xp.min(cost, axis=axis, keepdims=True)
        if self.exponent == 2:  # plain fuzzy c-means needs neither
            amount = unit / cost
            amount *= 1 / xp.sum(amount, axis=axis, keepdims=True)
            amount *= amount
            return amount, 0.0
        logit = xp.log(cost)
        if not tame:
            logit -= xp.log(unit)
        logit *= -1 / (self.exponent - 1)
        amount = xp.exp(logit) if tame else exp(logit)
        total = xp.sum(amount, axis=axis, keepdims=True)
        if tame:
            amount /= cost
        else:
            amount *= unit / cost
        amount *= total**-self.exponent
        return amount, 0.0

    def _is_tame(self, cost: Array) -> bool:
        """Whether all costs have powers far from overflow and underflow, and digits to spare for them.

        They mostly do, and asking is cheap; but a GPU would wait for the answer.
        """
        xp = array_namespace(cost)
        if is_elsewhere(cost) or 0 in cost.shape or (cost.dtype != xp.float64 and self.exponent != 2):
            return False
        widest = smallest_normal(cost.dtype, xp) ** (-0.45 * (1 - 1 / self.exponent))
        return 1 / widest < float(xp.min(cost)) and float(xp.max(cost)) < widest


@dataclass(frozen=True)
class Entropy(Sharing):
    """Shares that minimise ``sum_k p_k * c_k + temperature * sum_k p_k ln p_k``: ``softmax(-c / temperature)``.

    Examples
    --------
    >>> import numpy as np
    >>> Entropy(1.0).share(np.log([1.0, 1.0, 2.0])).round(6)
    array([0.4, 0.4, 0.2])
    """

    temperature: float

    def __post_init__(self) -> None:
        plain(self, "temperature")
        if not self.temperature > 0:
            raise ValueError(f"temperature must be positive, got {self.temperature}")

    def share(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> Array:
        return softmax(cost * (-1 / self.temperature), axis)

    def penalty(self, share: Array, axis: int = -1) -> Array:
        return self.temperature * array_namespace(share).sum(xlogx(share), axis=axis)


@dataclass(frozen=True)
class Quadratic(Sharing):
    """Shares that minimise ``sum_k p_k * c_k + strength * sum_k p_k**2``; costly options get exactly nothing.

    This is the Euclidean projection of ``-c / (2 strength)`` onto the simplex: subtract from every
    competitor the one threshold that leaves positive parts summing to one.

    Examples
    --------
    >>> import numpy as np
    >>> Quadratic(1.0).share(np.asarray([0.0, 0.0, 0.5, 9.0])).round(6)
    array([0.416667, 0.416667, 0.166667, 0.      ])
    """

    strength: float

    def __post_init__(self) -> None:
        plain(self, "strength")
        if not self.strength > 0:
            raise ValueError(f"strength must be positive, got {self.strength}")

    def share(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> Array:
        xp = array_namespace(cost)
        lead = (xp.min(cost, axis=axis, keepdims=True) - cost) / (2 * self.strength)
        ordered = xp.sort(lead, axis=axis, descending=True)
        rank = xp.cumulative_sum(xp.ones_like(ordered), axis=axis)
        threshold = (xp.cumulative_sum(ordered, axis=axis) - 1) / rank
        # The true threshold is the largest of these: the mean excess of the competitors that stay in.
        return xp.maximum(lead - xp.max(threshold, axis=axis, keepdims=True), scalar(0.0, lead))

    def penalty(self, share: Array, axis: int = -1) -> Array:
        return self.strength * array_namespace(share).sum(share * share, axis=axis)


@dataclass(frozen=True)
class Linear(Sharing):
    """Shares that minimise ``sum_k p_k * c_k``: all to the cheapest, split equally on ties."""

    heeds_rounding = True

    def share(self, cost: Array, axis: int = -1, rounding: Array | None = None) -> Array:
        xp = array_namespace(cost)
        highest = cost
        if rounding is not None:  # a sum is known to a share of itself, too
            highest = cost + 2 * rounding + 64 * epsilon(cost.dtype, xp) * xp.abs(cost)
        winners = xp.astype(cost <= xp.min(highest, axis=axis, keepdims=True), cost.dtype)
        winners /= xp.sum(winners, axis=axis, keepdims=True)
        return winners
