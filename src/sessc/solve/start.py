"""Starting points: seeds from a small sample of the rows, then the solver itself as k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array, array_namespace, like, squared_distances
from ..rows.base import Rows
from ..rows.extent import Extent
from ..terms.objective import Objective, Parameters
from ..terms.sharing import Linear, Uniform
from .alternate import alternate

__all__ = ["first_parameters", "k_means", "k_means_seeds", "raced_seeds", "random_seeds"]

K_MEANS = Objective(membership=Linear(), weighting=Uniform())


def random_seeds(X: np.ndarray, weight: np.ndarray, n_seeds: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct rows drawn by weight."""
    # Exponential races: the rows with the smallest waiting times are a draw without replacement.
    waiting = rng.exponential(size=len(X)) / weight
    return X[np.argsort(waiting)[:n_seeds]]


def k_means_seeds(
    X: np.ndarray, weight: np.ndarray, n_seeds: int, rng: np.random.Generator, unit: Any = 1.0
) -> np.ndarray:
    """Greedy k-means++: each seed is the best of a few rows drawn by their distance to the seeds so far.

    Distances are those of rows times ``unit``.
    """
    rows, X = X, (X * unit).astype(np.float64)
    n_tries = 2 + int(np.log(n_seeds))
    seeds = [int(np.searchsorted(np.cumsum(weight), rng.random() * weight.sum()))]
    nearest = squared_distances(X[seeds], X)[0]
    while len(seeds) < n_seeds:
        odds = np.cumsum(nearest * weight)
        tries = np.searchsorted(odds, rng.random(n_tries) * odds[-1], side="right").clip(max=len(X) - 1)
        reach = np.minimum(nearest, squared_distances(X[tries], X))
        best = int(np.argmin(reach @ weight))
        seeds.append(int(tries[best]))
        nearest = reach[best]
        nearest[seeds] = 0.0  # exactly, whatever rounding says: no row is drawn twice
    return rows.astype(np.float64)[seeds]


def raced_seeds(
    X: np.ndarray, weight: np.ndarray, keys: np.ndarray, n_seeds: int, rng: np.random.Generator, unit: Any = 1.0
) -> np.ndarray:
    """The same, but every row races with a luck of its own, by its key.

    One row that changes then changes the draw of no other: a slip in one cell leaves the seeds where they were.
    """
    rows, X = X, (X * unit).astype(np.float64)
    salt, n_tries = int(rng.integers(2**62)), 2 + int(np.log(n_seeds))
    seeds = [int(np.argmin(_waiting(keys, salt) / weight))]
    nearest = squared_distances(X[seeds], X)[0]
    while len(seeds) < n_seeds:
        nearest[seeds] = 0.0
        with np.errstate(divide="ignore", over="ignore"):
            tries = np.argsort(_waiting(keys, salt + len(seeds)) / (nearest * weight), kind="stable")[:n_tries]
        reach = np.minimum(nearest, squared_distances(X[tries], X))
        best = int(np.argmin(reach @ weight))
        seeds.append(int(tries[best]))
        nearest = reach[best]
    return rows.astype(np.float64)[seeds]


def _waiting(keys: np.ndarray, salt: int) -> np.ndarray:
    """Exponential waiting times that depend on nothing but a key and the salt."""
    word = keys.view(np.uint64) + np.uint64((salt * 0x9E3779B97F4A7C15) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    share = ((word ^ (word >> np.uint64(31))) >> np.uint64(11)).astype(float) * 2.0**-53
    return -np.log1p(-share)


def k_means(rows: Rows, seeds: Array, extent: Extent) -> Array:
    """Centres after k-means from these seeds: the solver with memberships of all or nothing."""
    start = first_parameters(K_MEANS, seeds, extent)
    return alternate(K_MEANS, rows, start, scale=extent.feature_scale, max_iter=100, tol=1e-4).parameters.V


def first_parameters(objective: Objective, V: Array, extent: Extent, outputs: Array | None = None) -> Parameters:
    """Parameters to start from: given centres, every varying column alike, every rule the same outputs."""
    xp, space = array_namespace(V), extent.space
    if space is not None and objective.weighting.is_fixed:
        W = objective.even_weights(V, space)
    else:
        spread = extent.spread[None, :]
        W = objective.weights(V[:, :1] * xp.zeros_like(spread), spread, space)
    if objective.loss is None or outputs is None:
        return Parameters(V, W, space=space)
    return Parameters(V, W, xp.ones_like(V[:, :1]) * like(outputs, V), space)
