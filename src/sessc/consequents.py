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
    phi = to_numpy(design(firing(block.X, centers, widths), block.X, order)).astype(float)
    Y = to_numpy(block.Y).astype(float)
    root = np.ones(len(Y)) if block.weight is None else np.sqrt(to_numpy(block.weight).astype(float))
    phi, Y = root[:, None] * phi, root[:, None] * Y
    return _Gram(float(root @ root), root @ phi, root @ Y, phi.T @ phi, phi.T @ Y)


def _primal(rows: Rows, centers: np.ndarray, widths: np.ndarray, order: int, alphas: np.ndarray) -> np.ndarray:
    gram = rows.sum(partial(_gram, centers, widths, order))
    mean, target = gram.regressors / gram.weight, gram.targets / gram.weight
    square = gram.square - gram.weight * np.outer(mean, mean)
    cross = gram.cross - gram.weight * np.outer(mean, target)
    values, vectors = np.linalg.eigh(square)
    shrink = _shrink(values, alphas)
    B = vectors @ (shrink[:, :, None] * (vectors.T @ cross))
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
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
    shrink = _shrink(values, alphas)
    solved = vectors @ (shrink[:, :, None] * (vectors.T @ (root[:, None] * (Y - target))))
    solved = root[:, None] * solved  # (alphas, n, C): B is the centred regressors times this
    solved -= share[:, None] * solved.sum(axis=1, keepdims=True)
    B = np.stack([_combine(F, inputs, one) for one in solved])
    mean = np.einsum("rn,nd->rd", F * share, inputs)
    return _fold(B, target - np.einsum("rd,ardc->ac", mean, B))


def _combine(F: np.ndarray, inputs: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """The regressors' transpose (R * inputs, n) times a matrix (n, C), without writing them out."""
    n_rules, n_outputs = len(F), solved.shape[1]
    spread = (F[:, :, None] * solved).transpose(1, 0, 2).reshape(len(solved), -1)
    return (inputs.T @ spread).reshape(inputs.shape[1], n_rules, n_outputs).transpose(1, 0, 2)


def _shrink(values: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """``1 / (value + alpha)`` for every penalty; directions the data do not span get nothing."""
    spanned = values > values[-1] * len(values) * np.finfo(float).eps
    return np.where(spanned, 1 / np.where(spanned, values + alphas[:, None], 1.0), 0.0)


def _fold(B: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Add the intercept (len(alphas), C) to the constant of every rule."""
    B = np.array(B)
    B[:, :, 0, :] += intercept[:, None, :]
    return B
