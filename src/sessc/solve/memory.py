"""Learning from rows as they come: the sums of a pass, of which older ones count less and less."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import Any

__all__ = ["Memory", "online"]

SHARE = 0.25
"""Beside those just seen, this share of all rows is remembered: earlier sums were made by rules that knew less."""

_DOCUMENTATION = """Go on learning from some more rows.

        The first call is a ``fit`` to its rows, which also sets origin and units: give it a few hundred that look
        like the rest. Each call then adds what its rows amount to under the rules so far, while what earlier rows
        amounted to fades, and moves the rules once. After ``fit`` it goes on from what was fitted.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
        sample_weight : array of shape (n_samples,), optional
        classes : array of shape (n_classes,), optional
            All classes there will be, if the first rows do not show them all.
        memory : float, default=inf
            How many rows to remember at most. For rows that are like each other, as many as possible; for a world
            that changes, as many as it stays the same for. Penalties that compete with a sum over samples compete
            with as many rows as were seen, or with this number.

        Returns
        -------
        self"""


def online(method: Any) -> Any:
    """A ``partial_fit`` with its documentation, the same for all; rows it refuses leave no trace."""

    @wraps(method)
    def partial_fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(model))
        try:
            return method(model, *args, **kwargs)
        except BaseException:
            vars(model).clear()
            vars(model).update(before)
            raise

    partial_fit.__doc__ = _DOCUMENTATION
    return partial_fit


@dataclass(frozen=True)
class Memory:
    """How much of the rows seen so far is remembered; the sums themselves belong to whoever made them."""

    seen: float = 0.0
    """What all rows weighed."""
    kept: float = 0.0
    """What is left of that in the sums."""
    limit: float = float("inf")
    fading: float = 1.0
    """What earlier sums count beside those of the rows now seen."""

    @property
    def stands_for(self) -> float:
        """How many rows the sums are taken for: all seen, or as many as may be remembered."""
        return min(self.seen, max(self.limit, self.kept))

    def of(self, weight: float, limit: float) -> Memory:
        """The memory when rows of this weight come in."""
        if not limit > 0:
            raise ValueError(f"memory must be a positive number of rows, got {limit!r}.")
        seen = self.seen + weight
        room = max(min(limit - weight, SHARE * seen), 0.0)
        fading = min(room / self.kept, 1.0) if self.kept else 1.0
        return Memory(seen, fading * self.kept + weight, limit, fading)

    def added(self, before: Any, found: Any) -> Any:
        """What the rows now seen amount to, added to what earlier ones did, if there were any."""
        return found if before is None else before * self.fading + found

    def whole(self, remembered: Any) -> Any:
        """A remembered sum, for as many rows as it is taken for."""
        return remembered * (self.stands_for / self.kept)
