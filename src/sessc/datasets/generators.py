"""The synthetic problems of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["make_circles", "make_quadrants", "make_spiral", "make_waveform"]


def make_quadrants(n_samples: int = 400, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """A standard normal cloud in the plane whose classes are the four quadrants.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        0 to 3, counter-clockwise from the quadrant where both coordinates are positive.
    """
    X = check_random_state(random_state).normal(size=(n_samples, 2))
    right, above = X[:, 0] > 0, X[:, 1] > 0
    return X, np.where(above, np.where(right, 0, 1), np.where(right, 3, 2))


def make_circles(
    n_samples: int = 400, *, noise: float = 0.1, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two concentric circles of radius 1 and 2, one class each, with normal noise.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        0 for the inner circle, 1 for the outer.
    """
    random = check_random_state(random_state)
    y = np.arange(n_samples) % 2
    angle = random.uniform(0, 2 * np.pi, size=n_samples)
    X = (1 + y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + random.normal(0, noise, size=X.shape), y


def make_spiral(
    n_samples: int = 400, *, noise: float = 0.1, turns: float = 1.25, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two spirals that wind around each other, one class each, with normal noise.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        0 and 1 for the two arms.
    """
    random = check_random_state(random_state)
    y = np.arange(n_samples) % 2
    way = np.sqrt(random.uniform(0.02, 1, size=n_samples))  # even along the arm, not bunched at the centre
    angle = 2 * np.pi * turns * way + np.pi * y
    X = 3 * way[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + random.normal(0, noise, size=X.shape), y


def make_waveform(n_samples: int = 5000, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Breiman's waveform problem: each class mixes two of three triangular waves, plus noise, at 21 points.

    Returns
    -------
    X : array of shape (n_samples, 21)
    y : array of shape (n_samples,)
        0, 1 and 2 for the pairs of waves that peak at points (7, 15), (7, 11) and (15, 11), as in UCI's file.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees" (1984).
    """
    random = check_random_state(random_state)
    waves = np.maximum(6 - np.abs(np.arange(1, 22) - np.asarray([[7], [15], [11]])), 0.0)
    first, second = np.asarray([[0, 0, 1], [1, 2, 2]])
    y = random.randint(3, size=n_samples)
    share = random.uniform(size=(n_samples, 1))
    X = share * waves[first[y]] + (1 - share) * waves[second[y]]
    return X + random.normal(size=X.shape), y
