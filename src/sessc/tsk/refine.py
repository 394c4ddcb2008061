"""Descent on a whole rule base at once, from where clustering and least squares left it.

Least squares moves only what rules conclude. Here conditions and conclusions ``b`` move together, downhill on

.. math::
    J = \\sum_n s_n \\Big( \\ell(y_n, o_n) + \\omega \\sum_r f_{nr}\\, \\ell(y_n, o_{nr}) \\Big)
        + \\alpha \\Big( \\|\\bar b\\|^2 + \\sum_{r} \\|b_r - \\bar b\\|_k^2 \\Big)
        + \\tau \\sum_r \\|\\theta_r - \\theta_r^0\\|^2 + \\rho \\sum_r \\|\\theta_r\\|^2.

Rules answer together: ``o_n`` is the mean of what they say, ``o_nr``, by how strongly they fire, ``f_nr``. With
``omega`` each must besides answer by itself for the rows on which it fires, as a cluster of SESSC does for its
members; what it says alone is then what happens under it. The loss is convex, so this term is never less than the
first, and their difference is how much rules contradict each other where they overlap.

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

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from .._array import Array, array_namespace, like, softmax, to_numpy
from .._runtime import at_work, cached_property
from ..rows.base import Rows, Samples
from ..rows.columns import few
from ..rows.extent import Extent
from ..rows.layout import Space, taken
from ..rows.robust import LONGEST
from ..rules.base import Conditions, filled
from ..solve.descent import descend

__all__ = [
    "STACKED",
    "Asking",
    "CrossEntropy",
    "Descent",
    "Ground",
    "Moving",
    "OutputLoss",
    "Plan",
    "Prepared",
    "Pulls",
    "Refined",
    "SquaredError",
    "abreast",
    "cost",
    "plan_of",
    "promise",
    "refine",
    "refine_all",
    "slope",
    "together",
]


GAP = 10.0
"""What it costs that a gap says something, beside a cell that is there: gaps are few, and say little."""
APART = 10.0
"""What a slope of a rule costs that others do not have, beside one that all have."""
STACKED = 2**17
"""Numbers, in the largest array of an evaluation, up to which rows of several descents are one array."""
ROUND = 64
"""Blocks have a multiple of so many rows; small ones of an eighth or less of their own, and of sixteen."""


@dataclass(frozen=True)
class OutputLoss:
    """What outputs (..., C, n) cost beside the labels (..., C, n), for each row, and the slope of that cost.

    Parameters
    ----------
    own : float
        omega, what the loss of each rule alone counts, by how strongly it fires, beside that of all together.
    """

    own: float = 0.0

    level_is_free: ClassVar[bool] = False
    """Whether only the differences between a row's outputs matter."""
    along: ClassVar[float] = 1.0
    """The loss is a convex function of outputs, less so many times outputs times labels, and what labels add."""

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def of_outputs(self, b: Array) -> tuple[Array, Array]:
        """The part of the loss that labels have no part in, (..., R) of outputs (..., R, C), and its slope."""
        raise NotImplementedError

    def of_labels(self, Y: Array) -> Array | float:
        """The part that outputs have no part in."""
        return 0.0


@dataclass(frozen=True)
class CrossEntropy(OutputLoss):
    """Minus the logarithm of the probability of the true class, outputs being logits."""

    level_is_free: ClassVar[bool] = True

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        xp = array_namespace(outputs)
        outputs = outputs - xp.max(outputs, axis=-2, keepdims=True)
        size = xp.exp(outputs)
        total = xp.sum(size, axis=-2, keepdims=True)
        value = xp.squeeze(xp.log(total), axis=-2) - xp.sum(Y * outputs, axis=-2)
        return value, size / total - Y

    def of_outputs(self, b: Array) -> tuple[Array, Array]:
        xp = array_namespace(b)
        most = xp.max(b, axis=-1, keepdims=True)
        size = xp.exp(b - most)
        total = xp.sum(size, axis=-1, keepdims=True)
        return xp.squeeze(most + xp.log(total), axis=-1), size / total


@dataclass(frozen=True)
class SquaredError(OutputLoss):
    """The squared difference, as in least squares."""

    along: ClassVar[float] = 2.0

    def __call__(self, outputs: Array, Y: Array) -> tuple[Array, Array]:
        difference = outputs - Y
        return array_namespace(outputs).sum(difference * difference, axis=-2), 2 * difference

    def of_outputs(self, b: Array) -> tuple[Array, Array]:
        return array_namespace(b).sum(b * b, axis=-1), 2 * b

    def of_labels(self, Y: Array) -> Array | float:
        return array_namespace(Y).sum(Y * Y, axis=-2)


@dataclass(frozen=True)
class Moving:
    """Rules as descent sees them, or a direction among rules; they add. Several may be one, along a first axis."""

    theta: np.ndarray
    """What rules ask for, shape (..., R, inputs): constant, features, precisions, gaps."""
    consequents: np.ndarray
    """Shape (..., R, 1 or 1 + D, C)."""
    loss: Any = 0.0

    def __add__(self, other: Moving) -> Moving:
        return Moving(self.theta + other.theta, self.consequents + other.consequents, self.loss + other.loss)

    def rounded(self, loss: OutputLoss, bits: int = 10) -> Moving:
        """The same to so many bits, whatever the last ones were; zero stays zero, and the level where it is."""
        mantissa, exponent = np.frexp(self.flat())
        found = self.like(np.ldexp(np.round(2.0**bits * mantissa), exponent - bits))
        if not loss.level_is_free:
            return found
        off = (self.consequents - found.consequents).mean(axis=2, keepdims=True)
        # Means of what was rounded lie on whole steps, halves and thirds; 0.7 of a step is none of these.
        return replace(found, consequents=found.consequents + np.floor(2.0**30 * off + 0.3) / 2.0**30)

    def flat(self) -> np.ndarray:
        several = self.theta.shape[:-2]
        return np.concatenate([part.reshape(*several, -1) for part in (self.theta, self.consequents)], axis=-1)

    def like(self, flat: np.ndarray) -> Moving:
        """Rules of the same shape from a flat array, or several from several."""
        shape, of_consequents = self.theta.shape[-2:], self.consequents.shape[-3:]
        theta, B = np.split(flat, [shape[0] * shape[1]], axis=-1)
        several = flat.shape[:-1]
        return Moving(theta.reshape(*several, *shape), B.reshape(*several, *of_consequents))


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
    kept : bool array of shape (J,)
        Columns that take part. Others never vary: they could say nothing, and are not even multiplied by zero, for
        a sum of more numbers has other last bits.
    narrowest : float
        Bell curves are at least this wide, in units of their column: what few rows have, if all are spread evenly.
    """

    space: Space
    squares: np.ndarray
    gaps: tuple[int, ...]
    kept: np.ndarray
    narrowest: float = 0.0

    @cached_property
    def features(self) -> np.ndarray:
        """The features that take part: numbers first, then levels."""
        return np.flatnonzero(self.kept[self.space.layout.group])

    @cached_property
    def numbers(self) -> np.ndarray:
        """The numbers that do."""
        return self.features[self.features < self.space.layout.n_numbers]

    @cached_property
    def group(self) -> np.ndarray:
        """The column that each input is about, (inputs,); -1 for the constant."""
        layout = self.space.layout
        parts = [[-1], layout.group[self.features], layout.numbers[self.numbers], self.gaps]
        return np.concatenate(parts).astype(int)

    @cached_property
    def term_group(self) -> np.ndarray:
        """The column that each input of a linear conclusion is about; -1 for the constant."""
        return np.concatenate([[-1], self.space.layout.group[self.features]]).astype(int)

    @cached_property
    def is_precision(self) -> np.ndarray:
        """Which inputs are squares, (inputs,)."""
        first, place = 1 + len(self.features), np.arange(len(self.group))
        return (place >= first) & (place < first + len(self.numbers))

    @cached_property
    def alike(self) -> tuple[list[tuple[np.ndarray, np.ndarray]], ...]:
        """Columns that conditions and terms have equally many inputs about (k,), and which inputs (k, size)."""
        return tuple(map(_columns_alike, (self.group, self.term_group)))

    def conditions_in(self, rules: Moving) -> np.ndarray:
        """Which rules have a condition on which columns, (R, J)."""
        return _any_by_column(rules.theta[:, :, None], self.group, len(self.space.total))

    def terms_in(self, rules: Moving) -> np.ndarray:
        """Which rules conclude something from which columns, (R, J); none if conclusions are constants."""
        n_inputs = rules.consequents.shape[1]
        return _any_by_column(rules.consequents, self.term_group[:n_inputs], len(self.space.total))

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
        theta = [constants[:, None], linear[:, self.features], p[:, self.numbers], gaps]
        says = consequents.astype(float)
        if says.shape[1] > 1:
            terms = says[:, 1:]
            others = np.tensordot(
                terms, np.where(self.kept[self.space.layout.group], 0.0, self.space.origin), axes=(1, 0)
            )
            says = np.concatenate([says[:, :1] + others[:, None, :], terms[:, self.features]], axis=1)
        return Moving(np.concatenate(theta, axis=1), says)

    def conditions(self, rules: Moving) -> Conditions:
        """And back."""
        layout = self.space.layout
        ends = np.cumsum([1, len(self.features), len(self.numbers)])
        constants, slopes, precisions, gaps = np.split(rules.theta, ends, axis=1)
        linear, p = (np.zeros((len(slopes), n)) for n in (layout.n_features, layout.n_numbers))
        linear[:, self.features], p[:, self.numbers] = slopes, precisions
        average = linear * self.space.origin
        average[:, : layout.n_numbers] = -0.5 * p * self.squares
        unknown = average @ np.eye(len(layout.levels))[layout.group]
        unknown[:, list(self.gaps)] += gaps
        return Conditions(constants[:, 0] - average.sum(axis=1), linear, p, unknown)

    def conclusions(self, rules: Moving) -> np.ndarray:
        """What rules conclude, with a term for each feature."""
        says = rules.consequents
        if says.shape[1] == 1:
            return says
        full = np.zeros((len(says), 1 + self.space.layout.n_features, says.shape[2]))
        full[:, 0], full[:, 1 + self.features] = says[:, 0], says[:, 1:]
        return full

    def prepare(self, samples: Samples) -> Prepared:
        """A block of rows with what every evaluation needs of it."""
        X, xp, layout = samples.X, array_namespace(samples.X), self.space.layout
        known, numbers = taken(filled(samples, self.space.origin), self.features), taken(X, self.numbers)
        squares = like(self.squares[self.numbers], X) - numbers * numbers
        if samples.gaps is not None:
            lacks = np.asarray(samples.gap_columns)[:, None] == layout.numbers[self.numbers]
            squares = squares * (1 - samples.gaps @ like(lacks, X))
        parts = [xp.ones_like(X[:, :1]), known - like(self.space.origin[self.features], X), 0.5 * squares]
        if self.gaps:
            assert samples.gaps is not None
            parts += [samples.gaps[:, samples.gap_columns.index(j), None] for j in self.gaps]
        labels: Array = samples.Y
        Y = xp.zeros(labels.shape[::-1], dtype=labels.dtype, device=getattr(labels, "device", None))
        Y += labels.T  # written out: reductions over classes then run along contiguous rows
        ones = xp.ones_like(X[:, :1])
        return Prepared(xp.concat(parts, axis=1), xp.concat([ones, known], axis=1), Y, samples.weight)


def _columns_alike(group: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    present, size = np.unique(group[group >= 0], return_counts=True)
    order = np.argsort(group, kind="stable")[np.sum(group < 0) :]  # inputs of the first column, of the second, ...
    first = np.cumsum(size) - size
    return [
        (present[size == n], order[first[size == n][:, None] + np.arange(n)]) for n in np.unique(size).tolist()
    ]


def _any_by_column(coefficients: np.ndarray, group: np.ndarray, n_columns: int) -> np.ndarray:
    """Whether any coefficient (R, inputs, k) about a column is not zero, (R, n_columns)."""
    some = np.any(coefficients != 0, axis=2)
    return (some.astype(int) @ (group[:, None] == np.arange(n_columns)).astype(int)) > 0


def plan_of(extent: Extent, conditions: Conditions | None = None) -> Plan:
    """What the inputs are for rows of this extent, and of rules that may ask for what never varies here."""
    space = extent.whole_space
    kept = space.varies
    if conditions is not None:
        _, linear, p, unknown = conditions
        asked = np.concatenate([np.asarray(part, float) for part in (linear, p, unknown)], axis=1)
        about = np.concatenate([space.layout.group, space.layout.numbers, np.arange(len(kept))])
        kept = kept | (np.bincount(about, np.any(asked != 0, axis=0)) > 0)
    squares = to_numpy(extent.spread).astype(float)[space.layout.numbers] ** 2
    least = few(extent.weight)
    many = (
        [] if extent.known is None else np.flatnonzero((1 - extent.known >= least) & (extent.known > 0)).tolist()
    )
    return Plan(space, squares, tuple(many), kept, LONGEST * least)


@dataclass(frozen=True)
class Pulls:
    """What holds rules back from following the data alone."""

    ridge: Any = 0.0
    """alpha, towards conclusions that are alike and flat."""
    start: Any = 0.0
    """tau, towards where conditions began."""
    small: Any = 0.0
    """rho, towards conditions that say little."""

    def __call__(self, rules: Moving, start: np.ndarray, prices: np.ndarray) -> Moving:
        """The penalty and its slope, of conditions held at a start; what squares cost is given by a plan."""
        ridge, held, small = (np.asarray(pull, float) for pull in (self.ridge, self.start, self.small))
        common = rules.consequents.mean(axis=-3, keepdims=True)
        apart = rules.consequents - common
        common[..., 0, :] = 0.0  # a constant common to all rules is free
        priced = apart.copy()
        priced[..., 1:, :] *= APART
        from_start = rules.theta - start
        each, along = (..., None, None), (..., None, None, None)
        return Moving(
            2 * prices * (held[each] * from_start + small[each] * rules.theta),
            2 * ridge[along] * (priced + common / priced.shape[-3]),
            ridge * (_total(priced * apart, 3) + _total(common * common, 3))
            + held * _total(prices * from_start * from_start, 2)
            + small * _total(prices * rules.theta * rules.theta, 2),
        )

    @classmethod
    def several(cls, pulls: Sequence[Pulls]) -> Pulls:
        """One for each of several rules."""
        return cls(*(np.asarray([getattr(one, name) for one in pulls]) for name in ("ridge", "start", "small")))


def _total(part: np.ndarray, n_axes: int) -> np.ndarray:
    """Summed over the last axes, in an order that does not depend on what is before them."""
    return part.reshape(*part.shape[:-n_axes], -1).sum(axis=-1)


class Prepared(NamedTuple):
    """A block of rows with what every evaluation needs of it; several blocks may be one, along a first axis."""

    conditions: Array
    """What conditions are linear in, shape (..., n, inputs)."""
    conclusions: Array
    """What conclusions are linear in, ``[1, x]``, shape (..., n, 1 + D)."""
    Y: Array
    """Labels (..., C, n)."""
    weight: Array | None


def slope(loss: OutputLoss, rules: Moving, samples: Prepared) -> Moving:
    """The loss of a block of rows, and how it changes with everything that moves."""
    inputs = samples.conditions
    value, G, dB = _by_row(loss, rules, samples)
    total = to_numpy(array_namespace(value).sum(value, axis=-1)).astype(float)
    return Moving(to_numpy(G @ inputs).astype(float), to_numpy(dB).astype(float), total)


def _by_row(loss: OutputLoss, rules: Moving, samples: Prepared) -> tuple[Array, Array, Array]:
    """The loss of each row (..., n), its slope along logits (..., R, n), and that of all along conclusions."""
    inputs = samples.conditions
    xp = array_namespace(inputs)
    theta, B = like(rules.theta, inputs), like(rules.consequents, inputs)
    F = softmax(theta @ xp.matrix_transpose(inputs), axis=-2)
    value, along, dB = (_linear if B.shape[-2] > 1 else _constant)(loss, F, B, samples)
    along *= F
    return value, along, dB


class Promise(NamedTuple):
    """Sums that tell what could be gained."""

    slope: np.ndarray
    """Along theta, (R, inputs)."""
    information: np.ndarray
    """Squares of what each row adds to it."""
    loss: np.ndarray

    def __add__(self, other: Any) -> Promise:
        return Promise(*(a + b for a, b in zip(self, other, strict=True)))


def promise(loss: OutputLoss, rules: Moving, samples: Prepared) -> Promise:
    """How the loss of a block of rows changes with what rules do not ask yet, and how sure that is."""
    inputs = samples.conditions
    xp = array_namespace(inputs)
    value, G, _ = _by_row(loss, rules, samples)
    # A row of weight two is the row twice: its square counts twice, not four times.
    squares = G * G if samples.weight is None else G * (G / xp.where(samples.weight > 0, samples.weight, 1.0))
    parts = (G @ inputs, squares @ (inputs * inputs), xp.sum(value))
    return Promise(*(to_numpy(part).astype(float) for part in parts))


def cost(loss: OutputLoss, rules: Moving, samples: Prepared) -> np.ndarray:
    """The loss of a block of rows alone, to the same bit."""
    inputs = samples.conditions
    xp = array_namespace(inputs)
    theta, B = like(rules.theta, inputs), like(rules.consequents, inputs)
    F = softmax(theta @ xp.matrix_transpose(inputs), axis=-2)
    if B.shape[-2] == 1:
        said, _ = _columns(loss, B)
        value, _ = _of_means(loss, xp.matrix_transpose(said) @ F, samples)
        return to_numpy(xp.sum(value, axis=-1)).astype(float)
    says = _lines(B, samples)
    value, _ = _weighted(loss(_mean(F, says), samples.Y), samples.weight)
    if loss.own:
        alone, _ = _of_each(loss, says, samples)
        value = value + loss.own * xp.sum(F * alone, axis=-2)
    return to_numpy(xp.sum(value, axis=-1)).astype(float)


def _constant(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """Loss by row, its slope along firing levels (..., R, n) less their mean, and along constant conclusions."""
    xp = array_namespace(F)
    said, curve = _columns(loss, B)
    means = xp.matrix_transpose(said) @ F
    value, E = _of_means(loss, means, samples)
    along = said @ E
    along -= xp.sum(means * E, axis=-2, keepdims=True)
    dB = F @ xp.matrix_transpose(E)
    if loss.own:
        dB = dB[..., :-1] + dB[..., -1:] * curve
    return value, along, dB[..., None, :]


def _columns(loss: OutputLoss, B: Array) -> tuple[Array, Array | None]:
    """What rules say (..., R, C); if each answers by itself, also what that costs whatever the label, with slope.

    Labels meet only the mean of what is said, alone as together: so that cost is one more column to be averaged.
    """
    b = B[..., 0, :]
    if not loss.own:
        return b, None
    size, curve = loss.of_outputs(b)
    return array_namespace(b).concat([b, size[..., None]], axis=-1), curve


def _of_means(loss: OutputLoss, means: Array, samples: Prepared) -> tuple[Array, Array]:
    """The loss of each row by the means of what rules say, and its slope along these."""
    if not loss.own:
        return _weighted(loss(means, samples.Y), samples.weight)
    xp, Y = array_namespace(means), samples.Y
    outputs, size = means[..., :-1, :], means[..., -1, :]
    value, E = loss(outputs, Y)
    alone = size - loss.along * xp.sum(Y * outputs, axis=-2) + loss.of_labels(Y)
    E = xp.concat([E - loss.own * loss.along * Y, xp.full_like(E[..., :1, :], loss.own)], axis=-2)
    return _weighted((value + loss.own * alone, E), samples.weight)


def _linear(loss: OutputLoss, F: Array, B: Array, samples: Prepared) -> tuple[Array, Array, Array]:
    """The same for conclusions linear in ``[1, z]``: what each rule says is one product, (..., R, C, n)."""
    xp = array_namespace(F)
    *several, n_rules, n_inputs, n_outputs = B.shape
    inputs, says = samples.conclusions, _lines(B, samples)
    value, E = _weighted(loss(_mean(F, says), samples.Y), samples.weight)
    E = E[..., None, :, :]
    along = xp.sum(says * E, axis=-2)
    if loss.own:
        alone, own = _of_each(loss, says, samples)
        value, along, E = (
            value + loss.own * xp.sum(F * alone, axis=-2),
            along + loss.own * alone,
            E + loss.own * own,
        )
    along -= xp.sum(F * along, axis=-2, keepdims=True)
    dB = xp.reshape(F[..., None, :] * E, (*several, n_rules * n_outputs, -1)) @ inputs
    return value, along, xp.matrix_transpose(xp.reshape(dB, (*several, n_rules, n_outputs, n_inputs)))


def _lines(B: Array, samples: Prepared) -> Array:
    """What each rule says of each row, (..., R, C, n)."""
    xp = array_namespace(B)
    *several, n_rules, n_inputs, n_outputs = B.shape
    terms = xp.reshape(xp.matrix_transpose(B), (*several, n_rules * n_outputs, n_inputs))
    says = terms @ xp.matrix_transpose(samples.conclusions)
    return xp.reshape(says, (*several, n_rules, n_outputs, -1))


def _mean(F: Array, says: Array) -> Array:
    """What rules say together, (..., C, n)."""
    return array_namespace(F).sum(F[..., None, :] * says, axis=-3)


def _of_each(loss: OutputLoss, says: Array, samples: Prepared) -> tuple[Array, Array]:
    """What each rule by itself costs for each row, (..., R, n), and the slope along what it says."""
    weight = None if samples.weight is None else samples.weight[..., None, :]
    return _weighted(loss(says, samples.Y[..., None, :, :]), weight)


def _weighted(found: tuple[Array, Array], weight: Array | None) -> tuple[Array, Array]:
    value, E = found
    return found if weight is None else (value * weight, E * weight[..., None, :])


@dataclass(frozen=True, eq=False)
class Ground:
    """What rules are refined on: rows ready for it, what is made of them, and what they weigh."""

    rows: Rows
    plan: Plan
    weight: float

    @classmethod
    def of(cls, rows: Rows, plan: Plan) -> Ground:
        """Of standardised samples with labels, and the weights the loss should give them."""
        return cls(rows.prepared(plan.prepare), plan, rows.weight)

    @cached_property
    def block(self) -> Prepared | None:
        """All rows at once, if they are few, with others of no weight up to a round number; else None."""
        whole = self.rows.whole()
        return None if whole is None else _rounded_up(whole)

    def cost(self, loss: OutputLoss, rules: Moving) -> np.ndarray:
        """The loss of rules, or of each of several."""
        return self.rows.sum(partial(cost, loss, rules))


def _rounded_up(block: Prepared) -> Prepared:
    """The block with as many rows as others of about its size have, so that they are one array."""
    n = block.conditions.shape[0]
    more = -n % min(ROUND, max(16, 1 << (n // 16).bit_length()))
    weight = np.ones(n, block.conditions.dtype) if block.weight is None else block.weight
    rows, columns = ((0, more), (0, 0)), ((0, 0), (0, more))
    return Prepared(
        np.pad(block.conditions, rows),
        np.pad(block.conclusions, rows),
        np.pad(block.Y, columns),
        np.pad(weight, rows[0]),
    )


@dataclass(frozen=True, eq=False)
class Descent:
    """Rules that are to be refined.

    Parameters
    ----------
    ground : Ground
    start : Moving
        Where a rule has no condition on a column it gets none.
    loss : OutputLoss
    pulls : Pulls
    max_iter : int
    tol : float
        Stop once an iteration improves the objective by no more than this share.
    stop : callable, optional
        Called after each iteration; a true answer ends the descent.
    held : array of shape (R, inputs), optional
        Where conditions are held; by default where they start. Squares count less, the more is asked for there.
    """

    ground: Ground
    start: Moving
    loss: OutputLoss
    pulls: Pulls
    max_iter: int
    tol: float = 1e-6
    stop: Callable[[], bool] | None = None
    held: np.ndarray | None = None

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return _bounds(self.start, self.ground.plan)

    @property
    def shape(self) -> tuple:
        """Descents of one shape can be made together."""
        block, plan = self.ground.block, self.ground.plan
        where = id(self.ground.rows) if block is None else (block.Y.shape, block.Y.dtype.str)
        return self.loss, self.start.theta.shape, self.start.consequents.shape, len(plan.term_group), where


class Refined(NamedTuple):
    """Rules no worse than the start, and the objective after each iteration, the start's first."""

    rules: Moving
    history: np.ndarray


T = TypeVar("T")
Asking = Generator[list[Descent], list[Refined], T]
"""What goes its own way and asks for descents on it, several at once; see :func:`together`."""


def abreast(ways: Iterable[Asking[T]]) -> Asking[list[T]]:
    """Several ways as one that asks for what all of them ask for at the same time."""
    found: dict[int, T] = {}
    going: list[tuple[int, Asking[T], Any]] = [(k, way, None) for k, way in enumerate(ways)]
    while going:
        asked: list[tuple[int, Asking[T], list[Descent]]] = []
        for k, way, answers in going:
            try:
                asked.append((k, way, way.send(answers)))
            except StopIteration as end:
                found[k] = end.value
        given = iter((yield [descent for *_, descents in asked for descent in descents]) if asked else [])
        going = [(k, way, [next(given) for _ in descents]) for k, way, descents in asked]
    return [found[k] for k in range(len(found))]


def together(ways: Iterable[Asking[T]]) -> list[T]:
    """Where several ways lead, the descents that they ask for at the same time being made together."""
    way, answers = abreast(ways), None
    while True:
        try:
            answers = refine_all(way.send(answers))  # type: ignore[arg-type]
        except StopIteration as end:
            return end.value


def refine_all(descents: Sequence[Descent]) -> list[Refined]:
    """Make descents, those of one shape together."""
    found: dict[int, Refined] = {}
    for shape in dict.fromkeys(descent.shape for descent in descents):
        places = [k for k, descent in enumerate(descents) if descent.shape == shape]
        found |= zip(places, _refined([descents[k] for k in places]), strict=True)
    return [found[k] for k in range(len(descents))]


def _refined(descents: list[Descent]) -> list[Refined]:
    """Make descents of one shape."""
    like_one, loss = descents[0].start, descents[0].loss
    low, high = (np.stack(part) for part in zip(*(one.bounds for one in descents), strict=True))
    first = np.clip(np.stack([one.start.flat() for one in descents]), low, high)
    start, pulls = like_one.like(first), Pulls.several([one.pulls for one in descents])
    each = list(zip(descents, start.theta, strict=True))
    held = np.stack([theta if one.held is None else one.held for one, theta in each])
    prices = np.stack([one.ground.plan.prices(theta) for one, theta in zip(descents, held, strict=True)])
    weight = np.asarray([one.ground.weight for one in descents])
    data = _Stack([one.ground for one in descents])

    def objective(which: np.ndarray, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rules = like_one.like(flat)
        own = Pulls(pulls.ridge[which], pulls.start[which], pulls.small[which])
        found = data.slope(which, loss, rules) + own(rules, held[which], prices[which])
        if loss.level_is_free:
            # Rounding alone would set it in motion, and L-BFGS, which knows nothing of it, makes that grow.
            found.consequents[:] -= found.consequents.mean(axis=-1, keepdims=True)
        return found.loss / weight[which], found.flat() / weight[which, None]

    with at_work:
        best, histories = descend(
            objective,
            first,
            low,
            high,
            max_iter=[one.max_iter for one in descents],
            tol=[one.tol for one in descents],
            stop=[one.stop for one in descents],
        )
    return [Refined(like_one.like(one), history) for one, history in zip(best, histories, strict=True)]


class _Stack:
    """Rows of several grounds as one array where they are small, or ground by ground."""

    def __init__(self, grounds: list[Ground]):
        self.grounds = grounds
        self._which: np.ndarray | None = None
        self._parts: list[tuple[np.ndarray, Prepared | None]] = []

    def slope(self, which: np.ndarray, loss: OutputLoss, rules: Moving) -> Moving:
        """The loss of rules of some members, each on its own rows, and its slope."""
        if self._which is None or not np.array_equal(which, self._which):
            self._which, self._parts = which, list(self._in_parts(which, rules.theta.shape[-2]))
        found = Moving(np.empty_like(rules.theta), np.empty_like(rules.consequents), np.empty(len(which)))
        for part, samples in self._parts:
            own = Moving(rules.theta[part], rules.consequents[part])
            if samples is None:
                one = self.grounds[which[part[0]]].rows.sum(partial(slope, loss, own))
            else:
                one = slope(loss, own, samples)
            found.theta[part], found.consequents[part], found.loss[part] = one.theta, one.consequents, one.loss
        return found

    def _in_parts(self, which: np.ndarray, n_rules: int) -> Iterator[tuple[np.ndarray, Prepared | None]]:
        """Members whose rows are one array, or the same: as many as a processor's cache holds."""
        block = self.grounds[which[0]].block
        if block is None:  # then all have the same rows
            yield np.arange(len(which)), None
            return
        n, n_inputs = block.conditions.shape
        most = STACKED // (n * max(n_rules * block.Y.shape[0], n_inputs))
        grounds = [self.grounds[member] for member in which]
        if most <= 1 or (most < len(which) and 2 * len(set(map(id, grounds))) <= len(which)):
            for ground in dict.fromkeys(grounds):
                yield np.asarray([k for k, own in enumerate(grounds) if own is ground]), ground.block
            return
        for first in range(0, len(which), most):
            part = np.arange(first, min(first + most, len(which)))
            blocks = [self.grounds[member].block for member in which[part]]
            yield part, Prepared(*(np.stack(column) for column in zip(*blocks, strict=True)))


def refine(
    rows: Rows,
    plan: Plan,
    start: Moving,
    loss: OutputLoss,
    pulls: Pulls,
    *,
    max_iter: int,
    tol: float = 1e-6,
    stop: Callable[[], bool] | None = None,
) -> Refined:
    """One descent by itself; see :class:`Descent`."""
    return refine_all([Descent(Ground.of(rows, plan), start, loss, pulls, max_iter, tol, stop)])[0]


def _bounds(rules: Moving, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest values of everything that moves; a condition or term that is not there stays away."""
    group = plan.group
    first_gap = len(group) - len(plan.gaps)
    is_number = (
        np.isin(group, plan.space.layout.numbers) & ~plan.is_precision & (np.arange(len(group)) < first_gap)
    )
    steepest = plan.narrowest**-2.0
    high = np.where(plan.is_precision, steepest, np.where(is_number, LONGEST * steepest, np.inf))
    low = np.where(plan.is_precision, 0.0, -high)
    asked = plan.conditions_in(rules)[:, group] | (group == -1)
    lows, highs = (np.where(asked, bound, 0.0).ravel() for bound in (low, high))
    about = plan.term_group[: rules.consequents.shape[1]]
    said = plan.terms_in(rules)[:, about] | (about == -1)
    most = np.where(said[:, :, None], np.full(rules.consequents.shape, np.inf), 0.0)
    return np.concatenate([lows, -most.ravel()]), np.concatenate([highs, most.ravel()])
