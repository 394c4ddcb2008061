"""The fitted rules: an immutable value that predicts by itself.

A rule asks something of some columns of a table and says what then holds. With ``x`` the features that a row is
spelled out as, numbers in units of their spread and one indicator for each level of a category, and ``g`` the
columns whose cell is missing, rule ``r`` fires by

.. math::
   \\bar f_r \\propto \\exp\\Big( c_r + \\sum_d l_{rd} x_d - \\tfrac12 \\sum_{\\text{numbers}} p_{rd} x_d^2
   + \\sum_{j \\in g} u_{rj} \\Big), \\qquad \\sum_r \\bar f_r = 1,

and the model's output is :math:`\\sum_r \\bar f_r (b_{r0} + b_r \\cdot x)`. For a number this is a bell curve
about ``l / p`` of width ``p ** -0.5``, or, where its top lies beyond the data, an edge; for a category a number
for each level; a missing cell adds ``u`` and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from .._array import Array, array_namespace, clip, is_foreign, like, softmax
from .._runtime import cached_property
from ..rows.base import Samples
from ..rows.clean import as_array, is_float32_frame, plain_table, refuse_extremes
from ..rows.columns import (
    Column,
    Number,
    cell_type,
    cells_of,
    chosen,
    default_names,
    is_frame,
    is_plain_frame,
    named,
)
from ..rows.layout import Layout
from ..rows.target import class_of
from .forms import Forms
from .links import Link
from .summary import Summary

__all__ = [
    "Cells",
    "Conditions",
    "RuleBase",
    "default_names",
    "design",
    "filled",
    "firing",
    "logits",
    "place_of",
]


class Cells(NamedTuple):
    """A table whose categories are codes already."""

    values: Array


class Conditions(NamedTuple):
    """What all rules ask for, in numbers."""

    constants: np.ndarray
    """Shape (R,)."""
    linear: np.ndarray
    """Shape (R, D): slopes of numbers, and what each level adds."""
    precisions: np.ndarray
    """Shape (R, numbers), zero or more."""
    unknown: np.ndarray
    """What a missing cell of each column adds, shape (R, J)."""

    @classmethod
    def bells(cls, centers: np.ndarray, widths: np.ndarray) -> Conditions:
        """Bell curves with a top of one, (R, J), about numbers; an infinite width is no condition.

        A missing cell counts as one does on average, among z-scores.
        """
        precisions = widths**-2.0
        linear = precisions * centers
        constants = -0.5 * np.sum(linear * centers, axis=1)
        return cls(constants, linear, precisions, -0.5 * precisions)


@dataclass(frozen=True, eq=False)
class RuleBase(Forms):
    """Rules as numbers; everything shown to people is made from them.

    Numbers are in the standardised coordinates ``(x - mean) / scale`` the rules were learned in, where they keep
    all their digits; ``centers_in_units`` and ``widths_in_units`` are views in the user's own units. R rules, J
    columns, of which some are numbers and others are spelled out as their levels: D features in all, numbers
    first.

    Parameters
    ----------
    constants : array of shape (R,)
        What rules start from.
    linear : array of shape (R, D)
        What each feature adds to how strongly a rule fires, in logarithms: the slope of a number, what a level
        adds.
    precisions : array of shape (R, numbers)
        What the squares of numbers take away, twice: one over the squared width of a bell curve.
    unknown : array of shape (R, J)
        What a missing cell of each column adds.
    consequents : array of shape (R, 1 or 1 + D, n_outputs)
        Constant, and for first-order rules the slopes, of each output.
    mean, scale : arrays of shape (J,)
        Origin and units of the numbers; zero and one for categories.
    link : Link
        How outputs become probabilities or predictions.
    columns : tuple of Number and Category
        What the columns of a table are.
    fill : array of shape (D,)
        What missing cells count as in linear conclusions.
    limits : array of shape (2, J), optional
        Numbers below the first or above the second row, in the user's units, count as these.
    classes : array of shape (n_outputs,) or None
        Class labels; None for regression.
    target_name : str
    summary : Summary, optional
        What the data looked like that the rules were learned from.
    edits : tuple of str
        What was changed by hand, in order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sessc import TSKClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rules = TSKClassifier(n_rules=3, random_state=0).fit(X, y).rules_
    >>> rules(X.iloc[[0, 75, 149]])
    array([0, 1, 2])
    """

    constants: np.ndarray
    linear: np.ndarray
    precisions: np.ndarray
    unknown: np.ndarray
    consequents: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    link: Link
    columns: tuple[Column, ...]
    fill: np.ndarray
    limits: np.ndarray | None = None
    classes: np.ndarray | None = None
    target_name: str = "y"
    summary: Summary | None = None
    edits: tuple[str, ...] = ()

    @classmethod
    def bells(
        cls,
        centers: np.ndarray,
        widths: np.ndarray,
        consequents: np.ndarray,
        mean: np.ndarray,
        scale: np.ndarray,
        link: Link,
        feature_names: tuple[str, ...],
        **rest: Any,
    ) -> RuleBase:
        """Rules of bell curves about numbers, (R, J), in standardised coordinates."""
        columns = tuple(map(Number, feature_names))
        fill = np.zeros(len(columns), np.asarray(centers).dtype)
        parts = Conditions.bells(np.asarray(centers), np.asarray(widths))
        return cls(*parts, consequents, mean, scale, link, columns, fill, **rest)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.setflags(write=False)
                object.__setattr__(self, field.name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # arrays come back from a pickle writeable

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rules(self) -> int:
        return self.linear.shape[0]

    @property
    def n_features(self) -> int:
        """How many columns a table has."""
        return len(self.columns)

    @cached_property
    def layout(self) -> Layout:
        """How tables are spelled out as features."""
        return Layout(tuple(column.n_levels for column in self.columns))

    @property
    def conditions(self) -> Conditions:
        """What all rules ask for, in numbers."""
        return Conditions(self.constants, self.linear, self.precisions, self.unknown)

    @property
    def asks(self) -> np.ndarray:
        """Whether each rule has a condition on each column, shape (n_rules, n_features)."""
        found = self.unknown != 0
        found[:, self.layout.numbers] |= self.precisions != 0
        for feature, column in enumerate(self.layout.group):
            found[:, column] |= self.linear[:, feature] != 0
        return found

    @property
    def used(self) -> np.ndarray:
        """Whether an answer may depend on each column, shape (n_features,)."""
        found = np.asarray(self.asks.any(axis=0) & (self.n_rules > 1))
        if self.order:
            for feature, column in enumerate(self.layout.group):
                found[column] |= bool(np.any(self.consequents[:, 1 + feature]))
        return found

    @property
    def n_conditions(self) -> np.ndarray:
        """How many conditions each rule has, shape (n_rules,)."""
        return np.sum(self.asks, axis=1)

    @property
    def n_terms(self) -> np.ndarray:
        """From how many columns each rule concludes something, shape (n_rules,)."""
        if not self.order:
            return np.zeros(self.n_rules, int)
        some = np.any(self.consequents[:, 1:] != 0, axis=2)
        return np.sum(some.astype(float) @ self.layout.onto_columns > 0, axis=1)

    @property
    def size(self) -> int:
        """How much there is to read: rules, their conditions, and twice the terms of every line they conclude.

        A term has a slope and a place it is measured from, and has to be worked out; a category has one for each
        level.
        """
        n_lines = max(self.consequents.shape[2] - 1, 1) if self.classes is not None else 1
        n_lines = n_lines if n_lines == 1 else n_lines + 1  # of two classes one line says both
        asked = np.sum(self.n_conditions) if self.n_rules > 1 else 0
        n_terms = np.count_nonzero(np.any(self.consequents[:, 1:] != 0, axis=2))
        return int(self.n_rules + asked + 2 * n_lines * n_terms)

    @property
    def order(self) -> int:
        """0 if consequents are constants, 1 if they are linear in the inputs."""
        return int(self.consequents.shape[1] > 1)

    @property
    def centers(self) -> np.ndarray:
        """Where conditions on numbers have their top, (n_rules, n_features); zero where they have none."""
        return self._of_numbers(
            np.divide(
                self.linear[:, : self.layout.n_numbers],
                self.precisions,
                out=np.zeros_like(self.precisions),
                where=self.precisions > 0,
            ),
            0.0,
        )

    @property
    def widths(self) -> np.ndarray:
        """How wide bell curves about numbers are, (n_rules, n_features); infinite where there is none."""
        with np.errstate(divide="ignore"):
            return self._of_numbers(self.precisions**-0.5, np.inf)

    def _of_numbers(self, values: np.ndarray, otherwise: float) -> np.ndarray:
        found = np.full((self.n_rules, self.n_features), otherwise, values.dtype)
        found[:, self.layout.numbers] = values
        return found

    @property
    def centers_in_units(self) -> np.ndarray:
        return self.mean + self.scale * self.centers

    @property
    def widths_in_units(self) -> np.ndarray:
        return self.scale * self.widths

    @property
    def typical(self) -> np.ndarray:
        """Cells in the midst of the data, shape (n_features,): medians, and the code of the commonest level."""
        if self.summary is None:
            return np.where(np.asarray(self.layout.levels) > 0, 0.0, self.mean)
        common = [0 if not len(shares) else int(np.argmax(shares)) for shares in self.summary.levels]
        return np.where(np.asarray(self.layout.levels) > 0, common, self.summary.medians)

    def cells(self, X: Any) -> Array:
        """A table as the rules see it: numbers, codes of levels, and NaN for what is missing or was never seen.

        A frame may have its columns in any order, and others beside.
        """
        if isinstance(X, Cells):
            return X.values
        X = chosen(X, self.feature_names) if is_frame(X) else plain_table(X)
        names = named(X) if is_frame(X) else self.feature_names
        if names != self.feature_names and self.feature_names != default_names(self.n_features):
            raise ValueError(f"X has the columns {names}, and the rules are about {self.feature_names}.")
        if self._dtypes is not None and is_plain_frame(X) and is_float32_frame(X):  # estimators keep its precision
            X = as_array(X, [np.float64, np.float32]).astype(np.float32)
        if not is_foreign(X) and not is_frame(X):
            dtypes = None if getattr(X, "dtype", np.dtype(float)).kind == "M" else self._dtypes
            X = as_array(X, dtypes or cell_type(X))
        n_features = len(names) if is_frame(X) else X.shape[1]
        if n_features != self.n_features:
            raise ValueError(f"X has {n_features} features, and the rules are about {self.n_features}.")
        found = cells_of(X, self.columns)
        if not is_foreign(found):
            refuse_extremes(found, "X", self.feature_names, may_lack=True)
        return found

    @property
    def _dtypes(self) -> Any:
        """What arrays may hold: anything, if some of it is text."""
        return None if any(column.n_levels for column in self.columns) else [np.float64, np.float32]

    def seen(self, X: Any) -> Samples:
        """A table in the coordinates of the rules, spelled out as features."""
        cells = self.cells(X)
        Z = cells if self.limits is None else clip(cells, *self.limits)
        Z = (Z - like(self.mean, Z)) / like(self.scale, Z)
        if not is_foreign(Z):
            refuse_extremes(Z, "X in units of the rules", self.feature_names, may_lack=True)
        features, gaps, gap_columns = self.layout.spell(Z)
        return Samples(features, None, None, gaps, gap_columns, self.layout)

    def firing(self, X: Any) -> np.ndarray:
        """How strongly each rule fires for each row, shape (n_samples, n_rules); rows sum to one."""
        return firing(self.seen(X), self.conditions).T

    def outputs(self, X: Any) -> np.ndarray:
        """The weighted outputs of the rules, before the link, shape (n_samples, n_outputs)."""
        seen = self.seen(X)
        F = firing(seen, self.conditions)
        inputs = filled(seen, self.fill) if self.order else seen.X
        return design(F, inputs, self.order) @ like(
            self.consequents.reshape(-1, self.consequents.shape[2]), seen.X
        )

    def probabilities(self, X: Any) -> np.ndarray:
        """Probability of each class, shape (n_samples, n_classes)."""
        return self.link(self.outputs(X))

    def __call__(self, X: Any) -> np.ndarray:
        """The predicted class or value of each row."""
        outputs = self.outputs(X)
        if self.classes is None:
            return self.link(outputs)[:, 0]
        return class_of(outputs, self.classes)

    def slopes(self, X: Any) -> np.ndarray:
        """How much the outputs change with each column at each row, squared and added over outputs.

        Along a number it is the slope per standard deviation, along a category the spread over its levels. Shape
        (n_samples, n_features). Its mean over rows is what ``feature_importances_`` is made of.
        """
        seen = self.seen(X)
        Z, xp = filled(seen, self.fill), array_namespace(seen.X)
        F = firing(seen, self.conditions).T
        precision, along = like(self.precisions, Z), like(self.linear, Z)
        n_numbers = self.layout.n_numbers
        squares = xp.zeros_like(Z[:, :1]) * like(self.mean, Z)
        for constant, linear in zip(self._constants.T, self._linear, strict=True):
            constant, linear = like(constant, Z), like(linear, Z)
            says = constant + Z @ linear.T
            # d f_r / d x = f_r (g_r - sum_q f_q g_q) with g_r = l_r - p_r x
            pull = F * (says - xp.sum(F * says, axis=1, keepdims=True))
            moves, own = pull @ along, F @ linear
            numbers = moves[:, :n_numbers] - Z[:, :n_numbers] * (pull @ precision) + own[:, :n_numbers]
            squares += self._by_column(numbers, moves[:, n_numbers:] + own[:, n_numbers:])
        return squares

    def _by_column(self, numbers: Array, levels: Array) -> Array:
        """Squared slopes of columns (n, J): of numbers their own, of categories the variance over levels."""
        xp, layout = array_namespace(numbers), self.layout
        if layout.n_numbers == self.n_features:
            return numbers * numbers
        shares, group = self._shares, layout.group[layout.n_numbers :]
        by_level = like(np.eye(self.n_features)[group] * shares[:, None], levels)
        apart = levels - (levels @ by_level) @ like(np.eye(self.n_features)[group].T, levels)
        of_numbers = like(np.eye(self.n_features)[layout.numbers], numbers)
        return xp.matmul(numbers * numbers, of_numbers) + (apart * apart) @ by_level

    @property
    def _shares(self) -> np.ndarray:
        """How often each level occurs among known cells, as far as that is known, (all levels,)."""
        if self.summary is None:
            return self.fill[self.layout.n_numbers :]
        totals = [max(float(np.sum(shares)), np.finfo(float).tiny) for shares in self.summary.levels]
        return np.concatenate([shares / total for shares, total in zip(self.summary.levels, totals, strict=True)])

    @property
    def _constants(self) -> np.ndarray:
        return self.consequents[:, 0, :]

    @property
    def _linear(self) -> np.ndarray:
        """Slopes as (n_outputs, n_rules, D), zero for zero-order rules."""
        n_outputs = self.consequents.shape[2]
        if self.order == 0:
            return np.zeros((n_outputs, *self.linear.shape), self.linear.dtype)
        return np.moveaxis(self.consequents[:, 1:, :], 2, 0)

    def __repr__(self) -> str:
        what = "regression" if self.classes is None else f"{len(self.classes)} classes"
        return f"<RuleBase: {self.n_rules} rules of order {self.order}, {self.n_features} features, {what}>"


def firing(seen: Samples, conditions: Conditions) -> Array:
    """Normalised firing levels as a block of rules by rows, (R, n)."""
    # In logs: a sample far from every rule still fires the nearest, instead of dividing zero by zero.
    return softmax(logits(seen, conditions), axis=0)


def logits(seen: Samples, conditions: Conditions) -> Array:
    """The logarithms of how strongly rules fire before they share a row, (R, n)."""
    Z = seen.X
    constants, linear, precisions, unknown = (like(part, Z) for part in conditions)
    numbers = Z if precisions.shape[1] == Z.shape[1] else Z[:, : precisions.shape[1]]
    found = linear @ Z.T
    found -= 0.5 * (precisions @ (numbers * numbers).T)
    found += constants[:, None]
    if seen.gaps is not None:
        places = array_namespace(Z).asarray(np.asarray(seen.gap_columns), device=getattr(Z, "device", None))
        found += array_namespace(Z).take(unknown, places, axis=1) @ seen.gaps.T
    return found


def filled(seen: Samples, fill: np.ndarray) -> Array:
    """Features (n, D) with what missing cells count as in conclusions."""
    if seen.gaps is None or seen.layout is None:
        return seen.X
    columns = np.asarray(seen.gap_columns)
    return seen.X + seen.gaps @ like((columns[:, None] == seen.layout.group) * fill, seen.X)


def design(F: Array, Z: Array, order: int) -> Array:
    """Firing levels (R, n) as the regressors of the consequents: for first order each times ``[1, z]``."""
    xp = array_namespace(F)
    if order == 0:
        return F.T
    n, n_features = Z.shape
    inputs = xp.ones((1 + n_features, n), dtype=Z.dtype, device=getattr(Z, "device", None))
    inputs[1:, :] = Z.T
    return xp.reshape(F[:, None, :] * inputs[None, :, :], (F.shape[0] * (1 + n_features), n)).T


def place_of(rules: RuleBase, feature: str) -> int:
    """Which column, counted from 0, has this name; a sentence if none has."""
    if not isinstance(feature, str) or feature not in rules.feature_names:
        raise ValueError(f"there is no feature {feature!r}; the rules are about {', '.join(rules.feature_names)}.")
    return rules.feature_names.index(feature)
