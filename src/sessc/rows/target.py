"""What is predicted: classes, or measurements; and how either is told in numbers.

Formulas see labels as columns (n, C): one-hot classes, or one column of measurements from their mean, in a unit.
A target is what it takes to write labels in that way, to read outputs back, and to balance classes. Nothing else
in the library knows which of the two it deals with, beyond choosing what goes with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from .._array import Array, array_namespace, divide, is_foreign, to_numpy
from .base import Rows, Samples
from .clean import check_labels, largest_square_root, read_numbers, refuse_classes, refuse_one_class

__all__ = ["Classes", "Measurements", "Target", "class_of", "holds_measurements"]


class Target:
    """Labels in numbers and back."""

    labels: np.ndarray | None = None
    """The classes, sorted; None where labels are measurements."""
    origin: float = 0.0
    unit: float = 1.0
    """What outputs are measured from, and in."""

    @property
    def first_outputs(self) -> np.ndarray:
        """What every rule says before it has learned anything, shape (n_outputs,)."""
        raise NotImplementedError

    def encode(self, rows: Rows) -> Rows:
        """More rows, with labels as formulas take them."""
        raise NotImplementedError

    def in_units(self, outputs: Array) -> Array:
        """Outputs of rules (R, n_outputs) as users would say them."""
        return self.unit * outputs + self.origin

    def lines_in_units(self, lines: np.ndarray) -> np.ndarray:
        """The same of conclusions (R, 1 or 1 + D, n_outputs): constants, and slopes."""
        lines = self.unit * lines
        lines[:, 0] += self.origin
        return lines

    def rescaled(self, outputs: Array, before: Target) -> Array:
        """Outputs of rules that were learned for another target, for this one."""
        return outputs * (before.unit / self.unit) + (before.origin - self.origin) / self.unit

    def masses(self, rows: Rows) -> np.ndarray | None:
        """What the rows of each class weigh together, shape (n_classes,); None where there are no classes."""
        return None

    def weights(self, class_weight: Any, masses: Callable[[], Any]) -> np.ndarray | None:
        """What a row of each class counts beside its weight; None where all count alike."""
        return None


@dataclass(frozen=True, eq=False)
class Classes(Target):
    """One of several labels."""

    labels: np.ndarray

    @classmethod
    def of(cls, rows: Rows, labels: Any = None) -> tuple[Self, Rows]:
        """The classes that rows have, or those given; and the rows with codes for labels."""
        if labels is not None:
            target = cls(np.unique(np.asarray(labels)))
            return target, target.encode(rows)
        found = rows.distinct_labels()
        check_labels(np.tile(found, 2))  # once each, they would look like measurements to scikit-learn
        return cls(found), rows.relabelled(partial(_places, found), len(found))

    @classmethod
    def several(cls, rows: Rows, labels: Any = None) -> tuple[Self, Rows]:
        """The same for a classifier, which needs two at least."""
        target, rows = cls.of(rows, labels)
        refuse_one_class(target.labels)
        return target, rows

    @property
    def first_outputs(self) -> np.ndarray:
        return np.full(len(self.labels), 1 / len(self.labels))

    def encode(self, rows: Rows) -> Rows:
        return rows.relabelled(partial(_codes, self.labels), len(self.labels))

    def masses(self, rows: Rows) -> np.ndarray:
        return to_numpy(rows.as_given().sum(_mass))

    def weights(self, class_weight: Any, masses: Callable[[], Any]) -> np.ndarray | None:
        if class_weight is None:
            return None
        if isinstance(class_weight, str) and class_weight == "balanced":
            mass = masses()
            return divide(mass.sum() / len(self.labels), mass, otherwise=0.0)
        if isinstance(class_weight, dict):
            return _listed(class_weight, self.labels.tolist())
        raise ValueError(f'class_weight must be None, "balanced" or a dict, got {class_weight!r}.')


@dataclass(frozen=True)
class Measurements(Target):
    """Numbers on a scale, measured from their mean."""

    origin: float
    unit: float

    @classmethod
    def of(cls, rows: Rows, *, standardize: bool) -> tuple[Self, Rows]:
        """Where the targets of rows lie, and the rows measured from there, perhaps in units of their spread."""
        moments = partial(_moments, rows.precision)
        weight, total, _ = rows.sum(partial(moments, 0.0))
        mean = float(total / weight)
        spread = float(np.sqrt(rows.sum(partial(moments, mean))[2] / weight))
        varies = spread > 8 * np.finfo(float).eps * abs(mean)  # more than the last bits of the mean
        target = cls(mean, spread if standardize and varies else 1.0)
        return target, target.encode(rows)

    @classmethod
    def standardized(cls, rows: Rows, classes: Any = None) -> tuple[Self, Rows]:
        """The same for a regressor, in units of their spread; it has no classes."""
        refuse_classes(classes)
        return cls.of(rows, standardize=True)

    @property
    def first_outputs(self) -> np.ndarray:
        return np.zeros(1)

    def encode(self, rows: Rows) -> Rows:
        return rows.relabelled(partial(_measured, self.origin, self.unit, rows.precision), None)


def class_of(scores: Array, classes: np.ndarray) -> Array:
    """The class of the highest score in each row (n, C); where the scores live, if classes are numbers."""
    xp = array_namespace(scores)
    best = xp.argmax(scores, axis=1)
    if not is_foreign(scores):
        return classes[best]
    if classes.dtype.kind not in "iufb":
        return classes[to_numpy(best)]
    return xp.take(xp.asarray(np.array(classes), device=scores.device), best, axis=0)


def holds_measurements(rows: Rows) -> bool:
    """Whether labels are real targets and not classes: numbers that are not all whole."""
    return bool(rows.sum(_count_fractions))


def _count_fractions(samples: Samples) -> int:
    """How many labels are no whole numbers, or so large that they would be whole in any case."""
    y = to_numpy(samples.Y)
    return int(np.sum((np.floor(y) != y) | (np.abs(y) >= 2 / np.finfo(y.dtype).eps))) if y.dtype.kind == "f" else 0


def _places(labels: np.ndarray, y: Array) -> Array:
    """Where labels stand among all of them."""
    if is_foreign(y):
        xp = array_namespace(y)
        return xp.searchsorted(xp.asarray(np.array(labels), device=y.device), y)
    # Part by part, in as few bytes as will do: y may be as long as a file.
    codes = np.empty(len(y), np.min_scalar_type(len(labels)))
    for start in range(0, len(y), 2**20):
        codes[start : start + 2**20] = np.searchsorted(labels, y[start : start + 2**20])
    return codes


def _codes(labels: np.ndarray, y: Array) -> np.ndarray:
    given = to_numpy(y)
    try:
        codes = np.searchsorted(labels, given).clip(max=len(labels) - 1)
    except TypeError:  # they cannot even be compared
        raise ValueError(
            f"y holds labels of another kind than {labels.tolist()}; call fit to begin anew."
        ) from None
    if not np.all(known := labels[codes] == given):
        raise ValueError(
            f"y holds the class {given[~known].tolist()[0]!r}, which is none of {labels.tolist()}; "
            "name all classes in the first call of partial_fit."
        )
    return codes


def _mass(samples: Samples) -> Array:
    assert samples.Y is not None
    xp = array_namespace(samples.Y)
    Y = xp.astype(samples.Y, xp.float64)
    return xp.sum(Y, axis=0) if samples.weight is None else xp.astype(samples.weight, xp.float64) @ Y


def _listed(class_weight: dict, labels: list) -> np.ndarray:
    # As in scikit-learn, a name that is no class is a mistake only if a class has no weight: folds of a
    # cross-validation may lack a rare class.
    unknown, unweighted = set(class_weight) - set(labels), set(labels) - set(class_weight)
    if unknown and unweighted:
        raise ValueError(f"class_weight names {unknown.pop()!r}, which is not a class in y.")
    weights = np.asarray([class_weight.get(label, 1.0) for label in labels], dtype=float)
    if not (np.all(np.isfinite(weights) & (weights >= 0)) and np.any(weights > 0)):
        raise ValueError(f"class_weight must hold numbers of zero or more, not all zero, got {class_weight!r}.")
    return weights


def _moments(dtype: np.dtype, origin: float, samples: Samples) -> np.ndarray:
    assert samples.Y is not None
    y = to_numpy(read_numbers(samples.Y[:, 0], dtype)) - origin
    weight = np.ones(len(y)) if samples.weight is None else to_numpy(samples.weight).astype(float)
    with np.errstate(over="ignore"):
        moments = np.asarray([weight.sum(), weight @ y, weight @ (y * y)])
    if not np.all(np.isfinite(moments)):
        raise ValueError("y and the weights of its rows are too large together; rescale them.")
    return moments


def _measured(mean: float, unit: float, dtype: np.dtype, y: Array) -> Array:
    """Targets as the cost takes them; every door leads through here."""
    y = (read_numbers(y, dtype) - mean) / unit
    xp = array_namespace(y)
    # Those a fit begins with are within twice the limit; later ones may be anywhere.
    if not bool(xp.all(xp.abs(y) < 2 * largest_square_root(np.finfo(dtype)))):
        raise ValueError(
            f"y holds values {float(xp.max(xp.abs(y))):.0e} units away from those seen first, and the squares of "
            f"that overflow {dtype}; call fit to begin anew."
        )
    return xp.astype(y, getattr(xp, dtype.name))
