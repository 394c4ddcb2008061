"""The published formulas as plain loops: slow, and as close to the print as its errors allow.

Symbols are the paper's. Samples are rows of ``X``; ``v0`` is the mean of the data. ``tests`` compare the
library with these, and nothing else uses them.
"""

import math

import numpy as np

TINY = np.finfo(float).tiny


def costs(X, Y, V, W, Z, eta, beta, loss):
    """D[n][r] of the membership update, unclipped; W are the amounts of the weights."""
    v0 = X.mean(axis=0)
    D = np.zeros((len(X), len(V)))
    for n, x in enumerate(X):
        for r, v in enumerate(V):
            for d in range(len(x)):
                D[n, r] += W[r, d] * ((x[d] - v[d]) ** 2 - eta * (v[d] - v0[d]) ** 2)
            if Y is not None and loss == "log":
                D[n, r] -= beta * sum(y * math.log(max(z, 2.0**-52)) for y, z in zip(Y[n], Z[r], strict=True))
            if Y is not None and loss == "squared":
                D[n, r] += beta * sum((y - z) ** 2 for y, z in zip(Y[n], Z[r], strict=True))
    return D


def power_memberships(D, m):
    """U for memberships that count by a power, in logs."""
    U = np.zeros_like(D)
    for n, row in enumerate(D):
        logs = [-math.log(max(c, TINY)) / (m - 1) for c in row]
        top = max(logs)
        total = sum(math.exp(v - top) for v in logs)
        U[n] = [math.exp(v - top) / total for v in logs]
    return U


def entropy_shares(costs, temperature):
    """Shares that are softmax(-cost / temperature), for each row."""
    out = np.zeros_like(costs)
    for i, row in enumerate(costs):
        low = min(row)
        parts = [math.exp(-(c - low) / temperature) for c in row]
        out[i] = [p / sum(parts) for p in parts]
    return out


def sessc(X, Y, V, *, m, gamma, eta, beta, n_iter, loss="log"):
    """Algorithm 1 from given centres; returns U, V, W, Z and the cost after each iteration."""
    N, D = X.shape
    R = len(V)
    v0 = X.mean(axis=0)
    W = np.full((R, D), 1 / D)
    Z = None if Y is None else np.full((R, Y.shape[1]), 1 / Y.shape[1])
    history = []
    for _ in range(n_iter):
        U = power_memberships(costs(X, Y, V, W, Z, eta, beta, loss), m)
        V = np.zeros((R, D))
        S = np.zeros((R, D))
        for r in range(R):
            mass = sum(U[n, r] ** m for n in range(N))
            for d in range(D):
                V[r, d] = sum(U[n, r] ** m * (X[n, d] - eta * v0[d]) for n in range(N)) / ((1 - eta) * mass)
                S[r, d] = sum(
                    U[n, r] ** m * ((X[n, d] - V[r, d]) ** 2 - eta * (V[r, d] - v0[d]) ** 2) for n in range(N)
                )
            if Y is not None:
                for c in range(Y.shape[1]):
                    Z[r, c] = sum(U[n, r] ** m * Y[n, c] for n in range(N)) / mass
        W = entropy_shares(S, gamma)
        final = costs(X, Y, V, W, Z, eta, beta, loss)
        J = sum(U[n, r] ** m * final[n, r] for n in range(N) for r in range(R))
        J += gamma * sum(w * math.log(w) for w in W.ravel() if w > 0)
        history.append(J)
    return U, V, W, Z, history


def widths(X, U, V, h):
    """Sigma as printed: h times a root mean square, counted by U."""
    S = np.zeros_like(V)
    for r, v in enumerate(V):
        for d in range(len(v)):
            square = sum(U[n, r] * (X[n, d] - v[d]) ** 2 for n in range(len(X)))
            S[r, d] = h * math.sqrt(square / sum(U[:, r]))
    return S


def firing(X, V, Sigma):
    """Normalised firing levels."""
    F = np.zeros((len(X), len(V)))
    for n, x in enumerate(X):
        logs = [
            -sum((x[d] - v[d]) ** 2 / (2 * s[d]) for d in range(len(x))) for v, s in zip(V, Sigma, strict=True)
        ]
        top = max(logs)
        total = sum(math.exp(v - top) for v in logs)
        F[n] = [math.exp(v - top) / total for v in logs]
    return F


def regressors(X, F, order):
    """The rows of the printed X-hat."""
    rows = []
    for x, f in zip(X, F, strict=True):
        rows.append([v for level in f for v in ([level] + ([level * value for value in x] if order else []))])
    return np.asarray(rows)


def ridge(P, Y, lam):
    """Least squares with an unpenalised intercept: coefficients and intercept."""
    design = np.column_stack([np.ones(len(P)), P])
    penalty = lam * np.eye(design.shape[1])
    penalty[0, 0] = 0
    B = np.linalg.solve(design.T @ design + penalty, design.T @ Y)
    return B[1:], B[0]
