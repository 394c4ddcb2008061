"""The only optimisation loop: memberships, then centres, feature weights and outputs, until centres rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import inf

from .._array import Array, array_namespace
from .._runtime import at_work
from ..rows.base import Rows
from ..terms.objective import Objective, Parameters, Statistics
from .secants import Secants

__all__ = ["Solution", "alternate", "lowest"]

ROUNDING = 2.0**-46
"""Costs that differ by no more than this share are equal: their last bits change with the order of the rows."""


@dataclass(frozen=True)
class Solution:
    """Where the alternation came to rest, and how it got there."""

    parameters: Parameters
    history: tuple[float, ...]
    """The cost after each iteration. It never rises, unless costs are clipped at zero because of ``eta``."""

    @property
    def n_iter(self) -> int:
        return len(self.history)


def alternate(
    objective: Objective,
    rows: Rows,
    start: Parameters,
    *,
    scale: Array,
    max_iter: int = 100,
    tol: float = 1e-5,
    stop: Callable[[], bool] = lambda: False,
    leaps: bool = False,
) -> Solution:
    """Minimise the objective by turns from a start, the paper's Algorithm 1.

    With leaps it goes on not from where a turn ends but from where the last turns lead to. A leap that would leave
    the cost higher is taken back: its iteration changes nothing, and the next begins where the turn before ended.

    Parameters
    ----------
    objective : Objective
    rows : Rows
        Samples measured from their mean.
    start : Parameters
    scale : array of shape (D,)
        Units in which movements of the centres are measured, so that ``tol`` means the same for any data.
    max_iter : int
    tol : float
        Stop once all centres together moved no further than this.
    stop : callable
        Called after each iteration; a true answer ends the loop.
    leaps : bool
        Whether to leap ahead; without it iterations are the published ones.
    """
    one_pass = _one_pass(objective, rows, start.V.shape[0])
    parameters, coefficients = start, objective.coefficients(start)
    history: list[float] = []
    secants, sums, leap = Secants(scale), None, None
    with at_work:  # once for all iterations
        for _ in range(max_iter):
            first = parameters if leap is None else objective.update(leap, parameters)
            found = one_pass(coefficients if leap is None else objective.coefficients(first))
            moved = objective.update(found, first)
            ahead = objective.coefficients(moved)
            cost, shift = objective.value(found, moved, ahead), _distance(moved.V, first.V, scale)
            if leaps:
                secants = secants.after(sums if leap is None else leap, found, first.V, moved.V)
            if leap is not None and not _as_low(cost, history[-1]):
                leap, cost, shift = None, history[-1], inf
            else:
                parameters, coefficients, sums = moved, ahead, found
                leap = secants.leap() if leaps else None
            history.append(cost)
            if stop() or shift <= tol:
                break
    return Solution(parameters, tuple(history))


def lowest(solutions: Sequence[Solution]) -> Solution:
    """The solution of the lowest cost, the first of equals."""
    least = min(solution.history[-1] for solution in solutions)
    return next(solution for solution in solutions if _as_low(solution.history[-1], least))


def _as_low(cost: float, other: float) -> bool:
    return cost <= other + ROUNDING * abs(other)


def _one_pass(objective: Objective, rows: Rows, n_rules: int) -> Callable[[Array], Statistics]:
    """What makes the statistics of all rows from coefficients."""
    if (table := rows.on_device()) is not None and find_spec("triton"):
        from . import fused

        if fused.applies(objective, table, n_rules):
            return partial(fused.statistics, objective, table)
    rows = rows.prepared(objective.columns)
    return lambda coefficients: rows.sum(partial(objective.statistics, coefficients))


def _distance(V: Array, U: Array, scale: Array) -> float:
    xp = array_namespace(V)
    step = (V - U) / scale
    return float(xp.sqrt(xp.sum(step * step)))
