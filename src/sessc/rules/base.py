"""The fitted rules: an immutable value that predicts by itself.

A rule says: IF every feature is near its centre, within its width, THEN these are the outputs. How strongly
rule ``r`` fires for ``x`` is

.. math:: \\bar f_r(x) \\propto \\exp\\Big( -\\tfrac12 \\sum_d \\frac{(x_d - v_{rd})^2}{\\sigma_{rd}^2} \\Big),
   \\qquad \\sum_r \\bar f_r = 1,

and the model's output is :math:`\\sum_r \\bar f_r(x) (b_{r0} + b_r \\cdot x)`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._array import Array, array_namespace, is_foreign, like, softmax
from ..rows.clean import refuse_extremes
from ..rows.target import class_of
from .choices import Choice
from .forms import Forms
from .links import Link
from .summary import Summary

__all__ = ["RuleBase", "default_names", "design", "firing", "place_of"]


@dataclass(frozen=True, eq=False)
class RuleBase(Forms):
    """Rules as numbers; everything shown to people is made from them.

    Centres, widths and consequents are in the standardised coordinates ``(x - mean) / scale`` the rules were
    learned in, where they keep all their digits; ``centers_in_units`` and ``widths_in_units`` are views in
    the user's own units.

    Parameters
    ----------
    centers, widths : arrays of shape (n_rules, n_features)
        Centre and standard deviation of each condition; an infinite width means "any value".
    consequents : array of shape (n_rules, 1 or 1 + n_features, n_outputs)
        Constant, and for first-order rules the slopes, of each output.
    mean, scale : arrays of shape (n_features,)
        Origin and units of the inputs.
    link : Link
        How outputs become probabilities or predictions.
    feature_names : tuple of str
    classes : array of shape (n_outputs,) or None
        Class labels; None for regression.
    target_name : str
    summary : Summary, optional
        What the data looked like that the rules were learned from.
    edits : tuple of str
        What was changed by hand, in order.
    choices : tuple of Choice
        Features that stand for the values of one column, so that one of them is 1 and the others are 0. All other
        features are independent, whatever their names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sessc import TSKClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rules = TSKClassifier(n_rules=3, random_state=0).fit(X, y).rules_
    >>> rules(X.iloc[[0, 75, 149]])
    array([0, 1, 2])
    """

    centers: np.ndarray
    widths: np.ndarray
    consequents: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    link: Link
    feature_names: tuple[str, ...]
    classes: np.ndarray | None = None
    target_name: str = "y"
    summary: Summary | None = None
    edits: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.setflags(write=False)
                object.__setattr__(self, field.name, value)
        chosen = [d for choice in self.choices for d in choice.features]
        if len(set(chosen)) < len(chosen) or not set(chosen) <= set(range(self.n_features)):
            raise ValueError(f"choices must be about features of the rules, each in one of them; got {chosen}.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # arrays come back from a pickle writeable

    @property
    def n_rules(self) -> int:
        return self.centers.shape[0]

    @property
    def n_features(self) -> int:
        return self.centers.shape[1]

    @property
    def n_conditions(self) -> np.ndarray:
        """How many conditions each rule has, shape (n_rules,)."""
        return np.sum(np.isfinite(self.widths), axis=1)

    @property
    def order(self) -> int:
        """0 if consequents are constants, 1 if they are linear in the inputs."""
        return int(self.consequents.shape[1] > 1)

    @property
    def centers_in_units(self) -> np.ndarray:
        return self.mean + self.scale * self.centers

    @property
    def widths_in_units(self) -> np.ndarray:
        return self.scale * self.widths

    @property
    def typical(self) -> np.ndarray:
        """A row in the midst of the data, shape (n_features,): medians, and the commonest value of each choice."""
        if self.summary is None:
            x, shares = np.array(self.mean, float), self.mean
        else:
            x, shares = np.array(self.summary.medians, float), self.summary.quantiles.mean(axis=0)
        for choice in self.choices:
            each = list(choice.features)
            common = [shares[each] @ code if any(code) else 1 - shares[each].sum() for _, code in choice.options]
            x[each] = choice.options[int(np.argmax(common))][1]
        return x

    def choice_of(self, feature: int) -> Choice | None:
        """The choice a feature is a value of; None if it is independent."""
        return next((choice for choice in self.choices if feature in choice.features), None)

    def standardize(self, X: Any) -> np.ndarray:
        """Inputs in the coordinates of the rules."""
        names = tuple(map(str, getattr(X, "columns", self.feature_names)))
        if names != self.feature_names and self.feature_names != default_names(self.n_features):
            raise ValueError(f"X has the columns {names}, and the rules are about {self.feature_names}.")
        if is_foreign(X):
            return (X - like(self.mean, X)) / like(self.scale, X)
        X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, and the rules are about {self.n_features}.")
        refuse_extremes(X, "X", self.feature_names)
        Z = (X - self.mean) / self.scale
        refuse_extremes(Z, "X in units of the rules", self.feature_names)
        return Z

    def firing(self, X: Any) -> np.ndarray:
        """How strongly each rule fires for each row, shape (n_samples, n_rules); rows sum to one."""
        return firing(self.standardize(X), self.centers, self.widths).T

    def outputs(self, X: Any) -> np.ndarray:
        """The weighted outputs of the rules, before the link, shape (n_samples, n_outputs)."""
        Z = self.standardize(X)
        F = firing(Z, self.centers, self.widths)
        return design(F, Z, self.order) @ like(self.consequents.reshape(-1, self.consequents.shape[2]), Z)

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
        """How much the outputs change with each standardised feature at each row, squared and added over outputs.

        Shape (n_samples, n_features). Its mean over rows is what ``feature_importances_`` is made of.
        """
        Z = self.standardize(X)
        xp = array_namespace(Z)
        F = firing(Z, self.centers, self.widths).T
        precision, centers = like(self.widths**-2.0, Z), like(self.centers, Z)
        squares = xp.zeros_like(Z)
        for constant, linear in zip(self._constants.T, self._linear, strict=True):
            constant, linear = like(constant, Z), like(linear, Z)
            says = constant + Z @ linear.T
            # d f_r / d x = f_r (g_r - sum_q f_q g_q) with g_r = -(x - v_r) / width_r^2
            pull = F * (says - xp.sum(F * says, axis=1, keepdims=True))
            slope = pull @ (precision * centers) - Z * (pull @ precision) + F @ linear
            squares += slope * slope
        return squares

    @property
    def _constants(self) -> np.ndarray:
        return self.consequents[:, 0, :]

    @property
    def _linear(self) -> np.ndarray:
        """Slopes as (n_outputs, n_rules, n_features), zero for zero-order rules."""
        n_outputs = self.consequents.shape[2]
        if self.order == 0:
            return np.zeros((n_outputs, *self.centers.shape), self.centers.dtype)
        return np.moveaxis(self.consequents[:, 1:, :], 2, 0)

    def __repr__(self) -> str:
        what = "regression" if self.classes is None else f"{len(self.classes)} classes"
        return f"<RuleBase: {self.n_rules} rules of order {self.order}, {self.n_features} features, {what}>"


def default_names(n_features: int) -> tuple[str, ...]:
    """Names for features that have none."""
    return tuple(f"x{d}" for d in range(n_features))


def firing(Z: Array, centers: Array, widths: Array) -> Array:
    """Normalised firing levels as a block of rules by rows, (R, n), for standardised inputs."""
    xp = array_namespace(Z)
    centers, precision = like(centers, Z), like(widths**-2.0, Z)
    weighted = precision * centers
    # In logs: a sample far from every rule still fires the nearest, instead of dividing zero by zero.
    logits = weighted @ Z.T
    logits -= 0.5 * (precision @ (Z * Z).T)
    logits -= 0.5 * xp.sum(weighted * centers, axis=1)[:, None]
    return softmax(logits, axis=0)


def design(F: Array, Z: Array, order: int) -> Array:
    """Firing levels (R, n) as the regressors of the consequents: for first order each times ``[1, z]``."""
    xp = array_namespace(F)
    if order == 0:
        return F.T
    n, n_features = Z.shape
    inputs = xp.ones((1 + n_features, n), dtype=Z.dtype, device=getattr(Z, "device", None))
    inputs[1:, :] = Z.T
    return xp.reshape(F[:, None, :] * inputs[None, :, :], (-1, n)).T


def place_of(rules: RuleBase, feature: str) -> int:
    """Which feature, counted from 0, has this name; a sentence if none has."""
    if not isinstance(feature, str) or feature not in rules.feature_names:
        raise ValueError(f"there is no feature {feature!r}; the rules are about {', '.join(rules.feature_names)}.")
    return rules.feature_names.index(feature)
