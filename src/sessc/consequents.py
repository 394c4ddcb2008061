"""Least squares for the THEN parts, a whole path of penalties from one decomposition.

Consequents ``B`` minimise :math:`\\sum_n s_n \\|y_n - b_0 - B^\\top \\varphi_n\\|^2 + \\lambda \\|B\\|^2`, where
:math:`\\varphi` are the firing levels, for first-order rules times ``[1, z]``. The intercept :math:`b_0` is not
penalised and, since firing levels sum to one, is folded into the constant of every rule.

With fewer rows than regressors the same solution comes from the kernel between rows, which for first-order
rules is :math:`(F^\\top F) \\circ (1 + Z Z^\\top)`: the regressors are never written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import lapack

from ._array import to_numpy
from .rows import Block, Rows, one_blas_thread
from .rules import design, firing

__all__ = ["ridge_path"]


def ridge_path(rows: Rows, centers: np.ndarray, widths: np.ndarray, order: int, alphas: np.ndarray) -> np.ndarray:
    """Consequents (len(alphas), R, 1 + order * D, C) for every penalty.

    Parameters
    ----------
    rows : Rows
        Standardised samples, their labels, and the weights least squares should give them.
    centers, widths : arrays of shape (R, D)
    order : {0, 1}
    alphas : array of shape (len(alphas),)
    """
    n_rules, n_features = centers.shape
    n_regressors = n_rules * (1 + order * n_features)
    solve = _dual if rows.X.shape[0] < n_regressors else _primal
    with one_blas_thread:
        return solve(rows, centers, widths, order, np.asarray(alphas, dtype=float))


@dataclass(frozen=True)
class _Gram:
    """Sums of products of regressors and targets; they add."""

    weight: float
    regressors: np.ndarray
    targets: np.ndarray
    square: np.ndarray
    cross: np.ndarray

    def __add__(self, other: _Gram) -> _Gram:
        return _Gram(
            self.weight + other.weight,
            self.regressors + other.regressors,
            self.targets + other.targets,
            self.square + other.square,
            self.cross + other.cross,
        )


def _gram(centers: np.ndarray, widths: np.ndarray, order: int, block: Block) -> _Gram:
    # Always in float64: a Gram matrix squares the condition number. And as phi.T @ phi, of one array with
    # itself, which BLAS does in half the work.
    Y = to_numpy(block.Y).astype(float)
    root = np.ones(len(Y)) if block.weight is None else np.sqrt(to_numpy(block.weight).astype(float))
    F = to_numpy(firing(block.X, centers, widths)).astype(float)
    phi, Y = design(root * F, to_numpy(block.X).astype(float), order), root[:, None] * Y
    return _Gram(float(root @ root), root @ phi, root @ Y, phi.T @ phi, phi.T @ Y)


def _primal(rows: Rows, centers: np.ndarray, widths: np.ndarray, order: int, alphas: np.ndarray) -> np.ndarray:
    gram = rows.sum(partial(_gram, centers, widths, order))
    mean, target = gram.regressors / gram.weight, gram.targets / gram.weight
    square = gram.square - gram.weight * np.outer(mean, mean)
    cross = gram.cross - gram.weight * np.outer(mean, target)
    B = _solve(square, cross, alphas)
    return _fold(B.reshape(len(alphas), len(centers), -1, len(target)), target - mean @ B)


def _dual(rows: Rows, centers: np.ndarray, widths: np.ndarray, order: int, alphas: np.ndarray) -> np.ndarray:
    Z = to_numpy(rows.map(lambda block: block.X)).astype(float)
    Y = to_numpy(rows.map(lambda block: block.Y)).astype(float)
    weight = np.ones(len(Z)) if rows.sample_weight is None else to_numpy(rows.sample_weight).astype(float)
    F = firing(Z, centers.astype(float), widths.astype(float))
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
