"""Validity indices: how many clusters do the data support?

Fit a clusterer for several ``n_clusters`` and compare. Each index takes memberships, as ``transform`` returns
them, so it serves any fuzzy clustering.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from .._array import squared_distances, xlogx

__all__ = ["fukuyama_sugeno", "partition_coefficient", "partition_entropy", "xie_beni"]

FLOATS = [np.float64, np.float32]


def partition_coefficient(memberships: Any) -> float:
    r"""Bezdek's partition coefficient, :math:`\frac1N \sum_{n,r} u_{nr}^2`: 1 is crisp, 1/R is no clustering.

    Parameters
    ----------
    memberships : array of shape (n_samples, n_clusters)

    Examples
    --------
    >>> from sessc import partition_coefficient
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    """
    U = check_array(memberships, dtype=FLOATS, input_name="memberships")
    return float(np.mean(np.sum(U * U, axis=1)))


def partition_entropy(memberships: Any) -> float:
    r"""Bezdek's partition entropy, :math:`-\frac1N \sum_{n,r} u_{nr} \ln u_{nr}`: 0 is crisp, lower is better.

    Parameters
    ----------
    memberships : array of shape (n_samples, n_clusters)
    """
    U = check_array(memberships, dtype=FLOATS, input_name="memberships")
    return float(np.mean(-np.sum(xlogx(U), axis=1)))


def xie_beni(X: Any, memberships: Any, centers: Any, m: float = 2.0) -> float:
    r"""Xie and Beni's index: compactness over separation, lower is better.

    .. math:: \frac{\sum_{n,r} u_{nr}^m \|x_n - v_r\|^2}{N \min_{r \ne q} \|v_r - v_q\|^2}

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    memberships : array of shape (n_samples, n_clusters)
    centers : array of shape (n_clusters, n_features), at least two
    m : float, default=2.0
        Exponent of the memberships.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sessc import FCM, xie_beni
    >>> X, _ = make_blobs(300, centers=3, random_state=7)
    >>> fits = [FCM(n_clusters=k, m=2.0, random_state=0).fit(X) for k in (2, 3, 4, 5)]
    >>> scores = [xie_beni(X, fit.transform(X), fit.cluster_centers_) for fit in fits]
    >>> 2 + scores.index(min(scores))
    3
    """
    X, U, V = _check(X, memberships, centers)
    if len(V) < 2:
        raise ValueError("xie_beni compares clusters with each other and needs at least two, got one.")
    apart = squared_distances(V, V) + np.diag(np.full(len(V), np.inf))
    compact = np.sum(U**m * squared_distances(X, V))
    return float(compact / (len(X) * apart.min())) if apart.min() > 0 else float(np.inf)


def fukuyama_sugeno(X: Any, memberships: Any, centers: Any, m: float = 2.0) -> float:
    r"""Fukuyama and Sugeno's index: scatter within clusters less scatter between, lower is better.

    .. math:: \sum_{n,r} u_{nr}^m \left( \|x_n - v_r\|^2 - \|v_r - \bar v\|^2 \right)

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    memberships : array of shape (n_samples, n_clusters)
    centers : array of shape (n_clusters, n_features)
    m : float, default=2.0
        Exponent of the memberships.
    """
    X, U, V = _check(X, memberships, centers)
    between = np.sum((V - V.mean(axis=0)) ** 2, axis=1)
    return float(np.sum(U**m * (squared_distances(X, V) - between)))


def _check(X: Any, memberships: Any, centers: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = check_array(X, dtype=FLOATS, input_name="X")
    U = check_array(memberships, dtype=FLOATS, input_name="memberships")
    V = check_array(centers, dtype=FLOATS, input_name="centers")
    check_consistent_length(X, U)
    if U.shape[1] != len(V) or X.shape[1] != V.shape[1]:
        raise ValueError(
            f"centers of shape {V.shape} do not fit X of shape {X.shape} and memberships of shape {U.shape}."
        )
    origin = X.mean(axis=0)
    return X - origin, U, V - origin
