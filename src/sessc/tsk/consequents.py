"""Least squares for the THEN parts, a whole path of penalties from one decomposition.

Consequents ``B`` minimise :math:`\\sum_n s_n \\|y_n - b_0 - B^\\top \\varphi_n\\|^2 + \\lambda \\|B\\|^2`, where
:math:`\\varphi` are the firing levels, for first-order rules times ``[1, z]``. The intercept :math:`b_0` is not
penalised and, since firing levels sum to one, is folded into the constant of every rule.

With fewer rows than regressors the same solution comes from the kernel between rows, which for first-order
rules is :math:`(F^\\top F) \\circ (1 + Z Z^\\top)`: the regressors are never written out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from operator import itemgetter

import numpy as np
from scipy.linalg import lapack

from .._array import Array, array_namespace, to_numpy
from .._runtime import at_work
from ..rows.base import Rows, Samples
from ..rows.layout import Space
from ..rules.base import Conditions, design, filled, firing

__all__ = ["Gram", "gram", "ridge_path", "solve_gram"]


def ridge_path(
    rows: Rows, conditions: Conditions, order: int, alphas: np.ndarray, space: Space | None = None
) -> np.ndarray:
    """Consequents (len(alphas), R, 1 + order * D, C) for every penalty.

    Parameters
    ----------
    rows : Rows
        Standardised samples, their labels, and the weights least squares should give them.
    conditions : Conditions
    order : {0, 1}
    alphas : array of shape (len(alphas),)
    space : Space, optional
        What missing cells count as, if there are any.
    """
    n_rules, n_features = conditions.linear.shape
    n_regressors = n_rules * (1 + order * n_features)
    alphas = np.asarray(alphas, dtype=float)
    with at_work:
        if rows.n_rows is not None and rows.n_rows < n_regressors:
            return _dual(rows, conditions, order, alphas, space)
        return _primal(rows, conditions, order, alphas, space)


@dataclass(frozen=True)
class Gram:
    """Sums of products of regressors and targets; they add."""

    weight: Array
    regressors: Array
    targets: Array
    square: Array
    cross: Array

    def __add__(self, other: Gram) -> Gram:
        return Gram(
            self.weight + other.weight,
            self.regressors + other.regressors,
            self.targets + other.targets,
            self.square + other.square,
            self.cross + other.cross,
        )

    def __mul__(self, times: float) -> Gram:
        return Gram(*(times * getattr(self, part.name) for part in fields(self)))


def gram(conditions: Conditions, order: int, space: Space | None, samples: Samples) -> Gram:
    # Always in float64: a Gram matrix squares the condition number. And as phi.T @ phi, of one array with
    # itself, which BLAS does in half the work.
    xp = array_namespace(samples.X)
    Y, X, F = (
        xp.astype(part, xp.float64) for part in (samples.Y, _inputs(samples, space), firing(samples, conditions))
    )
    root = xp.ones_like(X[:, 0]) if samples.weight is None else xp.sqrt(xp.astype(samples.weight, xp.float64))
    phi, Y = design(root * F, X, order), root[:, None] * Y
    return Gram(root @ root, root @ phi, root @ Y, phi.T @ phi, phi.T @ Y)


def _inputs(samples: Samples, space: Space | None) -> Array:
    return samples.X if space is None else filled(samples, space.origin)


def _primal(
    rows: Rows, conditions: Conditions, order: int, alphas: np.ndarray, space: Space | None = None
) -> np.ndarray:
    return solve_gram(rows.sum(partial(gram, conditions, order, space)), len(conditions.linear), alphas)


def solve_gram(gram: Gram, n_rules: int, alphas: np.ndarray) -> np.ndarray:
    """Consequents (len(alphas), R, 1 or 1 + D, C) from the sums of all rows."""
    weight = float(gram.weight)
    mean, target = to_numpy(gram.regressors) / weight, to_numpy(gram.targets) / weight
    square = to_numpy(gram.square) - weight * np.outer(mean, mean)
    cross = to_numpy(gram.cross) - weight * np.outer(mean, target)
    B = _solve(square, cross, alphas)
    return _fold(B.reshape(len(alphas), n_rules, -1, len(target)), target - mean @ B)


def _dual(
    rows: Rows, conditions: Conditions, order: int, alphas: np.ndarray, space: Space | None = None
) -> np.ndarray:
    Z, Y, F = (to_numpy(rows.map(fn)).astype(float) for fn in _parts(conditions, space))
    weight, F = to_numpy(rows.map(_weights)).astype(float), F.T
    inputs = np.concatenate([np.ones((len(Z), 1)), Z], axis=1) if order else np.ones((len(Z), 1))
    share, root = weight / weight.sum(), np.sqrt(weight)
    target = share @ Y
    kernel = (F.T @ F) * (inputs @ inputs.T)
    side = kernel @ share  # centring in feature space: phi - mean, for kernels
    kernel += share @ side - side[:, None] - side
    solved = _solve(root[:, None] * kernel * root, root[:, None] * (Y - target), alphas)
    solved *= root[:, None]  # (alphas, n, C): B is the centred regressors times this
    solved -= share[:, None] * solved.sum(axis=1, keepdims=True)
    B = np.stack([_combine(F, inputs, one) for one in solved])
    mean = np.einsum("rn,nd->rd", F * share, inputs)
    return _fold(B, target - np.einsum("rd,ardc->ac", mean, B))


def _parts(conditions: Conditions, space: Space | None) -> list[Callable[[Samples], Array]]:
    """Inputs, labels and firing levels of rows."""
    exact = Conditions(*(np.asarray(part, float) for part in conditions))
    return [partial(_inputs_of, space), itemgetter(1), partial(_firing_of, exact)]


def _inputs_of(space: Space | None, samples: Samples) -> Array:
    return _inputs(samples, space)


def _firing_of(conditions: Conditions, samples: Samples) -> Array:
    xp = array_namespace(samples.X)
    exact = samples._replace(
        X=xp.astype(samples.X, xp.float64),
        gaps=None if samples.gaps is None else xp.astype(samples.gaps, xp.float64),
    )
    return firing(exact, conditions).T


def _weights(samples: Samples) -> Array:
    return array_namespace(samples.X).ones_like(samples.X[:, 0]) if samples.weight is None else samples.weight


def _combine(F: np.ndarray, inputs: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """The regressors' transpose (R * inputs, n) times a matrix (n, C), without writing them out."""
    n_rules, n_outputs = len(F), solved.shape[1]
    spread = (F[:, :, None] * solved).transpose(1, 0, 2).reshape(len(solved), -1)
    return (inputs.T @ spread).reshape(inputs.shape[1], n_rules, n_outputs).transpose(1, 0, 2)


def _solve(square: np.ndarray, side: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """``(square + alpha I)^-1 side`` for every penalty, (alphas, n, C), from one decomposition of ``square``."""
    noise = np.trace(square) * len(square) * np.finfo(float).eps
    solve = _solve_tridiagonal if len(square) > 1 and np.min(alphas) > noise else _solve_spectral
    return solve(square, side, alphas)


def _solve_tridiagonal(square: np.ndarray, side: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Through ``square = Q T Q^T`` with T tridiagonal: a third of the work of eigenvectors."""
    factors, diagonal, beside, tau, _ = lapack.dsytrd(
        np.array(square, order="F"),
        lower=1,
        lwork=int(lapack.dsytrd_lwork(len(square), lower=1)[0]),
        overwrite_a=1,
    )
    turned = _rotate(factors, tau, side, "T")
    solved = [lapack.dptsv(diagonal + alpha, beside, turned)[2] for alpha in alphas]
    return np.stack(np.split(_rotate(factors, tau, np.concatenate(solved, axis=1), "N"), len(alphas), axis=1))


def _rotate(factors: np.ndarray, tau: np.ndarray, columns: np.ndarray, transposed: str) -> np.ndarray:
    """``Q @ columns``, or with "T" its transpose's product. Q leaves the first row alone."""
    room = 64 * (columns.shape[1] + 65)  # what LAPACK needs to take 64 reflections at a time
    rotated = lapack.dormqr("L", transposed, factors[1:, :-1], tau, columns[1:], room)[0]
    return np.concatenate([columns[:1], rotated])


def _solve_spectral(square: np.ndarray, side: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Through eigenvectors, which tell rounding from data: directions the data do not span get nothing."""
    values, vectors = np.linalg.eigh(square)
    spanned = values > values[-1] * len(values) * np.finfo(float).eps
    shrink = np.where(spanned, 1 / np.where(spanned, values + alphas[:, None], 1.0), 0.0)
    return vectors @ (shrink[:, :, None] * (vectors.T @ side))


def _fold(B: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Add the intercept (len(alphas), C) to the constant of every rule."""
    B = np.array(B)
    B[:, :, 0, :] += intercept[:, None, :]
    return B
