"""The cost of columns that are not numbers, and of cells that are not there.

What a column adds to the cost of a row under a rule, times its amount:

.. math::
    \\text{number:}\\quad o\\,(z - v)^2 + (1 - o)\\,T, \\qquad
    \\text{category:}\\quad o\\,(\\tfrac12 \\|e - v\\|^2 + 1 - T) + (1 - o),

where :math:`o` is one if the cell is there, :math:`e` are the indicators of the levels, :math:`v` for a category
the shares of the levels in the cluster, and :math:`T` what the column costs about its mean. So a gap costs what
its column costs on average, and every column costs the same in all, one on z-scores: attention runs neither to
columns with many gaps nor to those that hardly vary. (Where numbers are in units longer than their standard
deviation, as columns with long tails are, their :math:`T` is below one, and they too cost :math:`1 - T` besides.)
The reward for separation is that of cells that are there.

All of it is linear in ``[1, x, x^2, gaps, labels]``, with a column of indicators for each level, which is its own
square, and one for each column that has gaps.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .._array import Array, array_namespace, divide, like
from ..rows.layout import Layout, Space

if TYPE_CHECKING:
    from .objective import Statistics

__all__ = ["centers", "costs_at_centers", "known_mass", "scatter", "shares", "slopes", "spread_out", "together"]


def spread_out(by_column: Array, layout: Layout) -> Array:
    """What belongs to columns (R, J), for each of their features (R, D)."""
    xp = array_namespace(by_column)
    return xp.take(by_column, xp.asarray(layout.group, device=getattr(by_column, "device", None)), axis=1)


def together(by_feature: Array, layout: Layout) -> Array:
    """What belongs to features (R, D), added up for each column (R, J)."""
    return by_feature @ like(layout.onto_columns, by_feature)


def costs_at_centers(V: Array, space: Space, eta: float) -> tuple[Array, Array]:
    """What columns add where every feature is zero, and what more if the cell is missing, (R, J)."""
    layout, to = space.layout, partial(like, x=V)
    half, away = to(layout.halves), V - to(space.origin)
    there = together(half * V * V - eta * half * away * away, layout)
    there = there + to(space.extra + 0.5 * layout.is_category)
    return there, to(space.total + space.extra) - there


def slopes(V: Array, amounts: Array, space: Space) -> Array:
    """What each feature adds for each unit of it, (R, D)."""
    return -2 * like(space.layout.halves, V) * spread_out(amounts, space.layout) * V


def known_mass(statistics: Statistics, space: Space) -> Array:
    """What rows with a cell in each column count for each rule, (R, J)."""
    mass = statistics.mass[:, None]
    gaps = statistics.gap_columns
    if not gaps:
        return mass + 0 * like(space.total, mass)
    xp = array_namespace(mass)
    known = mass - statistics.gaps @ like(space.layout.places(gaps), mass)
    return xp.where(known > 1e-12 * mass, known, 0 * known)  # what is left of a difference of equals is none


def centers(statistics: Statistics, space: Space, eta: float, otherwise: Array) -> Array:
    """The best centres; one without a cell stays where it was."""
    mass = spread_out(known_mass(statistics, space), space.layout)
    pulled = statistics.x - eta * mass * like(space.origin, mass)
    return divide(pulled, (1 - eta) * mass, otherwise=otherwise)


def scatter(statistics: Statistics, V: Array, space: Space, eta: float) -> tuple[Array, Array]:
    """What each column costs each rule with these centres, and the terms that cancelled in it, (R, J)."""
    layout, xp = space.layout, array_namespace(V)
    known = known_mass(statistics, space)
    there, missing = costs_at_centers(V, space, eta)
    squares = xp.concat([statistics.xx, xp.zeros_like(V[:, layout.n_numbers :])], axis=1)
    features = squares - 2 * like(layout.halves, V) * V * statistics.x
    mass = statistics.mass[:, None]
    found = together(features, layout) + mass * there + (mass - known) * missing
    sizes = together(squares, layout) + mass * like(layout.is_category, V)
    return found, sizes


def shares(V: Array, space: Space, eta: float) -> Array:
    """Centres as people read them: of levels the shares themselves, which a reward for separation moves apart."""
    xp = array_namespace(V)
    level = like(space.layout.halves < 1, V)
    return xp.where(level > 0, (1 - eta) * V + eta * like(space.origin, V), V)
