"""The whole model at a glance: what the answer is over each column, which rules say so, and which columns matter.

The *mean* answer at a value is that of all rows if each had this value. Where columns go together there are no
such rows: nobody is two metres tall and weighs thirty kilograms. There the mean is that of the rows *about* the
value, which differ in the other columns, too. So a second curve says what the column does by itself: rows move
only between the two values next to their own, what that changes is averaged over the rows there, and these changes
are added up, beginning so that the answer is right on average (Apley and Zhu's accumulated local effects).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

__all__ = ["Effect", "Effects"]


@dataclass(frozen=True, eq=False)
class Effect:
    """What the answer is over one column, at G values, for each of C classes, or for one value.

    Parameters
    ----------
    column : int
        Which column, counted from 0.
    cells : array of shape (G,)
        Numbers in the user's units, or codes of levels; NaN, at the end, is a missing cell.
    answers : array of shape (G, C)
        The mean answer at each: of all rows, or, where there is a partner, of the rows about there.
    rules : array of shape (K,)
        The rules that count most somewhere along it, counted from 0.
    shares : array of shape (G, K)
        How much these count there, on average; what is missing to one is the share of all others.
    partner : int or None
        Another column that goes together with this one; None if none does.
    correlation : float
        How closely the two do, from 0 to 1: the size of their correlation.
    accumulated : array of shape (G, C) or None
        What the column does by itself, as accumulated local effects, if there is a partner.
    """

    column: int
    cells: np.ndarray
    answers: np.ndarray
    rules: np.ndarray
    shares: np.ndarray
    partner: int | None = None
    correlation: float = 0.0
    accumulated: np.ndarray | None = None

    def __post_init__(self) -> None:
        _freeze(self)


@dataclass(frozen=True, eq=False)
class Effects:
    """What the model answers over its columns, and how much each of them matters.

    Parameters
    ----------
    n_rows : int
        How many rows were asked; zero if there were none, and a typical row was asked.
    mean : array of shape (C,)
        The mean answer of these rows.
    importances : array of shape (n_features,) or None
        How much answers change with each column, as shares of one; None where no rows were asked.
    curves : tuple of Effect
        Those of the columns that matter most, these first.
    """

    n_rows: int
    mean: np.ndarray
    importances: np.ndarray | None
    curves: tuple[Effect, ...]

    def __post_init__(self) -> None:
        _freeze(self)


def _freeze(value: Effect | Effects) -> None:
    for field in fields(value):
        if isinstance(part := getattr(value, field.name), np.ndarray):
            part.setflags(write=False)
