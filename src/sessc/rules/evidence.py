"""What happened under each rule: the rows it governs, what became of them, and what the model answers there.

A rule *governs* the rows on which it counts most. What it *states* is its own conclusion, what the model computes
with; what is *observed* is the outcome of all rows by how strongly the rule fires for them. Half the distance
between the two, of a rule or of a model on average by support, is how faithful it is: zero where rules mean what
they say. Both sides have classes weigh what they weighed in learning.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

__all__ = ["Evidence"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What happened under R rules on some rows, for each of C classes, or for one value.

    Parameters
    ----------
    weight : float
        What all rows weigh together: how many there are, if each counts once.
    governed : array of shape (R,)
        What the rows weigh that each rule counts most for.
    outcomes : array of shape (R, C)
        What became of these: the share of each class, or the mean.
    low, high : arrays of shape (R, C)
        Between which that lies with 95 % confidence.
    spread : array of shape (R,) or None
        The standard deviation of values among them; None for classes.
    weighed : array of shape (R, C)
        The same as ``outcomes``, with classes weighing what they weighed in learning.
    answers : array of shape (R, C)
        What the model answers on these rows on average.
    stated : array of shape (R, C)
        What each rule says by itself: of linear conclusions, on average over the rows it fires for.
    observed : array of shape (R, C)
        What became of all rows, by how strongly each rule fires for them.
    support : array of shape (R,)
        How much of the rows each rule speaks for; sums to one.
    strongest : float
        How much the strongest rule of a row counts, on average.
    score : float
        Balanced accuracy of the answers, or of values R².
    unit : float
        What distances between values are measured in: their standard deviation. One for classes.
    together : array of shape (R, R) or None
        How much two rules count for the same rows: the mean product of how strongly they fire. Rows of it sum to
        the support. None in files of earlier versions.
    """

    weight: float
    governed: np.ndarray
    outcomes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    spread: np.ndarray | None
    weighed: np.ndarray
    answers: np.ndarray
    stated: np.ndarray
    observed: np.ndarray
    support: np.ndarray
    strongest: float
    score: float
    unit: float = 1.0
    together: np.ndarray | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(value := getattr(self, field.name), np.ndarray):
                value.setflags(write=False)

    @property
    def distances(self) -> np.ndarray:
        """How far each rule is from what happens under it, (R,): total variation, or standard deviations."""
        apart = np.abs(self.stated - self.observed).sum(axis=1)
        return apart / self.unit if self.spread is not None else apart / 2

    @property
    def overlaps(self) -> np.ndarray | None:
        """How much each rule counts where another one does, (R, R): rows are where, and sum to one."""
        if self.together is None:
            return None
        where = self.together.sum(axis=1, keepdims=True)
        return np.divide(self.together, where, out=np.zeros_like(self.together), where=where > 0)

    @property
    def faithfulness(self) -> float:
        """How far rules are from what happens under them, on average by support; zero is best."""
        return float(self.support @ self.distances)

    @property
    def agreement(self) -> float:
        """For how much of the support the class that is stated is the one observed most, or as much as any."""
        stated = np.argmax(self.stated, axis=1)
        found = self.observed[np.arange(len(stated)), stated]
        return float(self.support @ (found >= self.observed.max(axis=1) - 1e-9))

    def __str__(self) -> str:
        far = "differ" if self.spread is None else "differ in standard deviations"
        return (
            f"On {self.weight:.6g} rows: what rules say and what happens under them {far} by "
            f"{self.faithfulness:.2g}; the strongest rule of a row counts {self.strongest:.2g} on average."
        )
