"""The one cost behind every algorithm, and its closed-form updates.

With samples measured from the mean of the data (so that the paper's ``v0`` is zero), letting rule ``r`` speak
for sample ``n`` costs

.. math::
    c_{nr} = \\sum_d a_{rd} (x_{nd} - v_{rd})^2 - \\eta \\sum_d a_{rd} v_{rd}^2 + \\mathrm{loss}(y_n, z_r),
    \\qquad a_{rd} = \\mathrm{amount}(w_{rd}),

and the whole is

.. math::
    J = \\sum_n s_n \\Big( \\sum_r \\mathrm{amount}(u_{nr})\\, c_{nr} + \\mathrm{penalty}(u_n) \\Big)
        + \\sum_r \\mathrm{penalty}(w_r).

Columns of a table that are not numbers, and cells that are missing, have their part in ``mixed.py``.

A cost is linear in the columns ``[1, x, x^2, gaps, labels]`` of a sample, so two small matrices say everything:
``coefficients`` (R, K), which turn a sample's columns into its costs, and ``Statistics.sums`` (R, K), the
same columns summed over samples by how much they count for each rule. Sums add, so rows may be anywhere.
Where all features weigh the same for good, as in plain FCM, squares matter only together and are one column.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .._array import Array, array_namespace, divide, epsilon, like, plain, scalar
from ..rows.base import Samples
from ..rows.layout import Space
from . import mixed
from .losses import Loss
from .sharing import Sharing, Uniform

__all__ = ["Expansion", "Objective", "Parameters", "Statistics", "rounding_of", "statistics_of", "total"]


@dataclass(frozen=True)
class Parameters:
    """Rules as clustering sees them, in coordinates centred on the data."""

    V: Array
    """Centres, shape (R, D)."""
    W: Array
    """Weights of the columns of the table, shape (R, J), which are its features if all are numbers."""
    Z: Array = None
    """Rule outputs, shape (R, C), if labels take part."""
    space: Space | None = None
    """What features are worth; None for numbers without gaps."""

    def at(self, x: Array) -> Parameters:
        """The same where formulas with ``x`` need them."""
        V, W, Z = (None if part is None else like(part, x) for part in (self.V, self.W, self.Z))
        return Parameters(V, W, Z, self.space)


class Expansion(NamedTuple):
    """A block of rows spelled out as the columns ``[1, x, x^2, gaps, labels]`` that costs are linear in."""

    values: Array
    weight: Array | None
    n_features: int
    n_squares: int
    """As many as numbers, or one: their sum."""
    gap_columns: tuple[int, ...] = ()
    """The columns of the table that gaps are in."""

    @classmethod
    def of(cls, samples: Samples, labels: Array | None = None, together: bool = False) -> Expansion:
        """The columns of a block, with all squares together or one by one; levels are their own."""
        X, xp = samples.X, array_namespace(samples.X)
        numbers = X if samples.layout is None else X[:, : samples.layout.n_numbers]
        squares = xp.vecdot(numbers, numbers)[:, None] if together else numbers * numbers
        parts = [xp.ones_like(X[:, :1]), X, squares, samples.gaps, labels]
        values = xp.concat([part for part in parts if part is not None], axis=1)
        return cls(values, samples.weight, X.shape[1], squares.shape[1], samples.gap_columns)


@dataclass(frozen=True)
class Statistics:
    """What a pass over rows leaves behind; statistics of two sets of rows add up to those of both."""

    sums: Array
    """``[1, x, x^2, gaps, labels]`` summed over rows by what they count for each rule, shape (R, K)."""
    penalty: Array | float
    """The weighted sum of the membership penalties."""
    n_features: int
    n_squares: int
    gap_columns: tuple[int, ...] = ()

    def __add__(self, other: Statistics) -> Statistics:
        if self.gap_columns != other.gap_columns:
            gaps = tuple(sorted({*self.gap_columns, *other.gap_columns}))
            return self.with_gaps(gaps) + other.with_gaps(gaps)
        return replace(self, sums=self.sums + other.sums, penalty=self.penalty + other.penalty)

    def __mul__(self, times: float) -> Statistics:
        return replace(self, sums=times * self.sums, penalty=times * self.penalty)

    def with_gaps(self, gaps: tuple[int, ...]) -> Statistics:
        """The same with a place for gaps in more columns, of which these rows have none."""
        if gaps == self.gap_columns:
            return self
        xp = array_namespace(self.sums)
        found = dict(zip(self.gap_columns, self.gaps.T, strict=True))
        parts = xp.stack([found.get(column, 0 * self.mass) for column in gaps], axis=1)
        before = self.sums[:, : 1 + self.n_features + self.n_squares]
        return replace(self, sums=xp.concat([before, parts, self.labels], axis=1), gap_columns=gaps)

    @property
    def mass(self) -> Array:
        return self.sums[:, 0]

    @property
    def x(self) -> Array:
        return self.sums[:, 1 : 1 + self.n_features]

    @property
    def xx(self) -> Array:
        return self.sums[:, 1 + self.n_features : 1 + self.n_features + self.n_squares]

    @property
    def gaps(self) -> Array:
        first = 1 + self.n_features + self.n_squares
        return self.sums[:, first : first + len(self.gap_columns)]

    @property
    def labels(self) -> Array:
        return self.sums[:, 1 + self.n_features + self.n_squares + len(self.gap_columns) :]


@dataclass(frozen=True)
class Objective:
    """A cost put together from terms; every algorithm of the library is one of these.

    Parameters
    ----------
    membership : Sharing
        How a sample shares itself among rules.
    weighting : Sharing
        How a rule shares its attention among features.
    eta : float
        Reward for centres far from the mean of the data, in [0, 1).
    loss : Loss, optional
        The label term; without it labels are ignored.

    Examples
    --------
    Fuzzy c-means whose rules choose features, which nobody has named:

    >>> from sessc import Entropy, Objective, Quadratic
    >>> Objective(membership=Entropy(0.5), weighting=Quadratic(10.0)).eta
    0.0
    """

    membership: Sharing
    weighting: Sharing = field(default_factory=Uniform)
    eta: float = 0.0
    loss: Loss | None = None

    def __post_init__(self) -> None:
        plain(self, "eta")
        if not 0 <= self.eta < 1:
            raise ValueError(f"eta must lie in [0, 1), got {self.eta}")

    def without_labels(self) -> Objective:
        """The same cost for samples whose label is not known."""
        return replace(self, loss=None)

    def columns(self, samples: Samples) -> Expansion:
        """``[1, x, x^2, gaps, labels]`` for a block of rows."""
        labels = None if self.loss is None else self.loss.columns(samples.Y)
        return Expansion.of(samples, labels, together=self.weighting.is_fixed)

    def coefficients(self, parameters: Parameters) -> Array:
        """The matrix (R, K) whose product with a sample's columns is that sample's cost under each rule.

        Costs are lower by what rounding may add, so that a cost of zero is never positive: rules that share by
        ratio would otherwise let the last bits of a sum decide between two of them.
        """
        xp = array_namespace(parameters.V)
        constant, slopes = (self._of_numbers if parameters.space is None else self._of_columns)(parameters)
        if self.loss is not None:
            of_labels, slope = self.loss.coefficients(parameters.Z)
            constant = constant + of_labels[:, None]
            slopes.append(slope)
        return xp.concat([constant - self._rounding(constant), *slopes], axis=1)

    def _of_numbers(self, parameters: Parameters) -> tuple[Array, list[Array]]:
        """Constant (R, 1), and slopes along x and its squares."""
        V, A = parameters.V, self.weighting.amount(parameters.W)
        AV = A * V
        constant = (1 - self.eta) * array_namespace(V).sum(AV * V, axis=1, keepdims=True)
        return constant, [-2 * AV, A[:, :1] if self.weighting.is_fixed else A]

    def _of_columns(self, parameters: Parameters) -> tuple[Array, list[Array]]:
        """The same for columns of all kinds, and slopes along gaps."""
        V, space = parameters.V, parameters.space
        assert space is not None
        xp, A, layout = array_namespace(V), self.weighting.amount(parameters.W), space.layout
        there, missing = mixed.costs_at_centers(V, space, self.eta)
        squares = mixed.spread_out(A, layout)[:, : layout.n_numbers]
        if self.weighting.is_fixed:
            squares = xp.max(A, axis=1, keepdims=True)
        gaps = [] if not layout.gaps else [A[:, j, None] * missing[:, j, None] for j in layout.gaps]
        return xp.sum(A * there, axis=1, keepdims=True), [mixed.slopes(V, A, space), squares, *gaps]

    def cost(self, coefficients: Array, columns: Expansion) -> Array:
        """Costs as a block of rules by rows, (R, n): reductions over rules then run along contiguous rows."""
        return coefficients @ columns.values.T

    def memberships(self, coefficients: Array, columns: Expansion) -> Array:
        """How each row shares itself among the rules, (R, n)."""
        cost = self.cost(coefficients, columns)
        return self.membership.share(cost, axis=0, rounding=self._heeded(coefficients))

    def statistics(self, coefficients: Array, columns: Expansion) -> Statistics:
        """One pass over a block: costs, best memberships, and what they add up to."""
        cost = self.cost(coefficients, columns)
        return statistics_of(columns, *self.membership.settle(cost, axis=0, rounding=self._heeded(coefficients)))

    def _heeded(self, coefficients: Array) -> Array | None:
        return self._rounding(coefficients[:, :1]) if self.membership.heeds_rounding else None

    def _rounding(self, constant: Array) -> Array:
        """What rounding may leave of a cost of zero, (R, 1): at a centre, terms of this size cancel."""
        return rounding_of(constant if self.loss is None else abs(constant) + self.loss.weight)

    def update(self, statistics: Statistics, parameters: Parameters) -> Parameters:
        """The best V, then W, then Z, for the memberships behind the statistics."""
        statistics = replace(statistics, sums=like(statistics.sums, parameters.V))
        mass, space = statistics.mass[:, None], parameters.space
        V = self.centers(statistics, parameters)
        if self.weighting.is_fixed:
            W = self.even_weights(V, space)
        else:
            W = self.weights(*self.scatter(statistics, V, space), space)
        if self.loss is None:
            return Parameters(V, W, space=space)
        Z = divide(statistics.labels[:, : parameters.Z.shape[1]], mass, otherwise=parameters.Z)
        return Parameters(V, W, Z, space)

    def centers(self, statistics: Statistics, parameters: Parameters) -> Array:
        """The best centres; a rule that has lost all its samples stays where it was."""
        if parameters.space is not None:
            return mixed.centers(statistics, parameters.space, self.eta, parameters.V)
        return divide(statistics.x, (1 - self.eta) * statistics.mass[:, None], otherwise=parameters.V)

    def scatter(self, statistics: Statistics, V: Array, space: Space | None) -> tuple[Array, Array]:
        """What columns cost each rule with these centres, and sums of squares that cancelled in it, (R, J)."""
        if space is not None:
            return mixed.scatter(statistics, V, space, self.eta)
        mass = statistics.mass[:, None]
        return statistics.xx - 2 * V * statistics.x + (1 - self.eta) * V * V * mass, statistics.xx

    def even_weights(self, V: Array, space: Space | None) -> Array:
        """Weights that never change, (R, J): the same for every column that there is."""
        if space is None:
            return self.weighting.share(V, axis=1)
        xp, known = array_namespace(V), like(space.known, V)
        shared = self.weighting.share(V[:, :1] + 0 * known[None, : max(int(space.known.sum()), 1)], axis=1)
        return known * xp.max(shared, axis=1, keepdims=True)

    def weights(self, scatter: Array, squares: Array, space: Space | None = None) -> Array:
        """Weights of columns for the scatter (R, J) of each rule, about which such sums of squares cancelled.

        A column that never varies has no scatter and would take all the weight, having nothing to say: it is
        left out. ``squares`` (any rows, J) is positive somewhere in each column of numbers that does vary.
        """
        xp = array_namespace(scatter)
        varies = xp.any(squares > 0, axis=0) if space is None else like(space.varies, scatter) > 0
        varies = varies | ~xp.any(varies)  # a table of constants alone: treat them alike
        rounding = rounding_of(squares)
        cost = xp.where(varies, scatter - rounding, scalar(xp.inf, scatter))
        return self.weighting.share(cost, axis=1, rounding=rounding)

    def value(self, statistics: Statistics, parameters: Parameters, coefficients: Array) -> float:
        """The cost J of these parameters for the memberships behind the statistics."""
        xp = array_namespace(coefficients)
        lowered = self._rounding(coefficients[:, :1]) * statistics.mass[:, None]
        fit = total(xp, coefficients * statistics.sums) + total(xp, lowered)
        return float(fit + statistics.penalty + total(xp, self.weighting.penalty(parameters.W, axis=1)))


def rounding_of(size: Array) -> Array:
    """What rounding may leave of terms of this size that cancel."""
    xp = array_namespace(size)
    return 64 * epsilon(size.dtype, xp) * xp.abs(size)


def statistics_of(columns: Expansion, amount: Array, penalty: Array | float = 0.0) -> Statistics:
    """Columns summed by given amounts (R, n), each row counting by its sample weight."""
    xp = array_namespace(amount)
    if columns.weight is not None:
        amount = amount * columns.weight
        penalty = penalty * columns.weight
    # Blocks may be float32, but not the sum of thousands of blocks.
    sums = xp.astype(amount @ columns.values, xp.float64)
    return Statistics(sums, total(xp, penalty), columns.n_features, columns.n_squares, columns.gap_columns)


def total(xp: Any, penalty: Array | float) -> Array | float:
    """The sum of an array; rules without a penalty say so with a plain zero."""
    return penalty if isinstance(penalty, float) else xp.sum(penalty, dtype=xp.float64)
