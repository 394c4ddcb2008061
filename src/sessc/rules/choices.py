"""Columns of which a row has one value out of several, kept as features of ones and zeros."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """One value out of several.

    Rules cannot see from names that features exclude each other: ``tag=red`` and ``tag=blue`` may be the colours a
    thing has one of, or tags of which it has any number. Whoever made the features knows, and says so with this.

    Parameters
    ----------
    name : str
        What is chosen, such as a column.
    features : tuple of int
        The features of which one is 1 and the others are 0.
    values : tuple of str
        What each of them stands for.
    other : str, optional
        What it is when all of them are 0; None if they never are.
    """

    name: str
    features: tuple[int, ...]
    values: tuple[str, ...]
    other: str | None = None

    def __post_init__(self) -> None:
        if not self.features or len(set(self.features)) < len(self.features):
            raise ValueError(f"the values of {self.name!r} need a feature each, got {self.features}.")
        if len(self.values) != len(self.features):
            counts = f"{len(self.values)} values and {len(self.features)} features"
            raise ValueError(f"{self.name!r} has {counts}; give as many, and the value without one as other.")

    @property
    def options(self) -> list[tuple[str, tuple[float, ...]]]:
        """Each value, and what the features are then."""
        codes = zip(self.values, map(tuple, np.eye(len(self.features)).tolist()), strict=True)
        return [*codes, *([] if self.other is None else [(self.other, (0.0,) * len(self.features))])]

    def value(self, x: np.ndarray) -> str | None:
        """What a row has; None if it has none of the values or several."""
        return next((value for value, code in self.options if np.array_equal(x[list(self.features)], code)), None)

    def says(self, feature: int, one: bool) -> str:
        """What it means that one of the features is 1, or 0."""
        value = self.values[self.features.index(feature)]
        if one:
            return value
        return self.other if len(self.features) == 1 and self.other is not None else f"not {value}"
