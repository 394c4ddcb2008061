"""The published formulas as plain loops: slow, and as close to the print as its errors allow.

Symbols are the paper's. Samples are rows of ``X``; ``v0`` is the mean of the data. ``tests`` compare the
library with these, and nothing else uses them.
"""

import math

import numpy as np

from sessc.rules.conditions import top

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


def kernel_ewfcm(X, V, *, m, gamma, width, n_iter):
    """Entropy weighting through a kernel: V by the kernel's weights at the distances before, then W.

    Returns V, W, the cost of each iteration's memberships with new V and W, and the same with the tangents of the
    kernel where the iteration began in place of its distances.
    """
    N, D = X.shape
    R = len(V)
    W = np.full((R, D), 1 / D)
    costs_after, tangents_after = [], []

    def kernel(x, v):
        return math.exp(-((x - v) ** 2) / width**2)

    for _ in range(n_iter):
        C = np.zeros((N, R))
        for n in range(N):
            for r in range(R):
                C[n, r] = sum(2 * W[r, d] * (1 - kernel(X[n, d], V[r, d])) for d in range(D))
        A = power_memberships(C, m) ** m
        old, V = V, np.zeros((R, D))
        T, S = np.zeros((R, D)), np.zeros((R, D))
        for r in range(R):
            for d in range(D):
                K = [kernel(X[n, d], old[r, d]) for n in range(N)]
                V[r, d] = sum(A[n, r] * K[n] * X[n, d] for n in range(N)) / sum(A[n, r] * K[n] for n in range(N))
                for n in range(N):
                    step = ((X[n, d] - V[r, d]) ** 2 - (X[n, d] - old[r, d]) ** 2) / width**2
                    T[r, d] += A[n, r] * (2 * (1 - K[n]) + 2 * K[n] * step)
                    S[r, d] += A[n, r] * 2 * (1 - kernel(X[n, d], V[r, d]))
        W = entropy_shares(T, gamma)
        entropy = gamma * sum(w * math.log(w) for w in W.ravel() if w > 0)
        costs_after.append(np.sum(W * S) + entropy)
        tangents_after.append(np.sum(W * T) + entropy)
    return V, W, costs_after, tangents_after


def nearest_on_simplex(p):
    """The point of the simplex nearest to p, by trying every number of positive entries."""
    for k in range(len(p), 0, -1):
        largest = sorted(p, reverse=True)[:k]
        level = (sum(largest) - 1) / k
        if largest[-1] > level:
            return [max(value - level, 0.0) for value in p]


def adaptive_scad(X, V, *, m, K, n_iter):
    """SCAD with a strength for each cluster, from the weights before; returns V, W and the last strengths."""
    N, D = X.shape
    R = len(V)
    W = np.full((R, D), 1 / D)
    delta = np.zeros(R)
    for _ in range(n_iter):
        A = power_memberships(costs(X, None, V, W, None, 0.0, 0.0, None), m) ** m
        V = np.zeros((R, D))
        for r in range(R):
            mass = sum(A[n, r] for n in range(N))
            S = [0.0] * D
            for d in range(D):
                V[r, d] = sum(A[n, r] * X[n, d] for n in range(N)) / mass
                S[d] = sum(A[n, r] * (X[n, d] - V[r, d]) ** 2 for n in range(N))
            delta[r] = K * sum(W[r, d] * S[d] for d in range(D)) / sum(W[r, d] ** 2 for d in range(D))
            W[r] = nearest_on_simplex([-S[d] / (2 * delta[r]) for d in range(D)])
    return V, W, delta


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


def mixed_costs(cells, levels, V, A, shares, eta, width=None):
    """Costs D[n][r] of rows of numbers and codes with gaps (NaN), number columns about their mean.

    ``V[r][j]`` is a number, or the shares of the levels; ``shares[j]`` those among all rows. With a width,
    distances along numbers go through a kernel.
    """
    totals = []
    for j, n_levels in enumerate(levels):
        known = [row[j] for row in cells if not math.isnan(row[j])]
        square = sum(share**2 for share in shares[j]) if n_levels else 0.0
        totals.append(0.5 * (1 - square) if n_levels else sum(x * x for x in known) / len(known))

    def through(square):
        return square if width is None else 2 * (1 - math.exp(-square / width**2))

    D = np.zeros((len(cells), len(V)))
    for n, row in enumerate(cells):
        for r in range(len(V)):
            for j, n_levels in enumerate(levels):
                if math.isnan(row[j]):
                    D[n, r] += A[r, j] * (1.0 if n_levels else through(totals[j]))
                elif n_levels:
                    e = [float(row[j] == k) for k in range(n_levels)]
                    away = 0.5 * sum((a - b) ** 2 for a, b in zip(e, V[r][j], strict=True))
                    moved = 0.5 * sum((a - b) ** 2 for a, b in zip(V[r][j], shares[j], strict=True))
                    D[n, r] += A[r, j] * (away + 1 - totals[j] - eta * moved)
                else:
                    D[n, r] += A[r, j] * (through((row[j] - V[r][j]) ** 2) - eta * V[r][j] ** 2)
    return D


def weights(rules):
    """How strongly rules fire whose conditions are all met in full, in logarithms."""
    tops = [[top(rules, r, column) for column in range(rules.n_features)] for r in range(rules.n_rules)]
    return rules.constants + np.sum(tops, axis=1)
