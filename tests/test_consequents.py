from dataclasses import fields

import numpy as np
import pytest

import formulas
from sessc.rows.arrays import ArrayRows
from sessc.rows.base import Samples
from sessc.rules.base import Conditions
from sessc.tsk import consequents
from sessc.tsk.consequents import gram, ridge_path

ALPHAS = np.asarray([1e-4, 0.01, 1.0, 100.0])


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(60, 3))
    return X, rng.integers(3, size=60), X[:4], 0.5 + rng.random((4, 3)), rng.random(60)


def outputs(X, centers, widths, B, order):
    F = formulas.firing(X, centers, widths**2)
    return formulas.regressors(X, F, order) @ B.reshape(-1, B.shape[-1])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("solve", ["_primal", "_dual"])
def test_outputs_are_those_of_ridge_with_an_intercept(problem, order, solve):
    X, y, centers, widths, _ = problem
    path = getattr(consequents, solve)(
        ArrayRows(X, y, n_classes=3), Conditions.bells(centers, widths), order, ALPHAS
    )
    P = formulas.regressors(X, formulas.firing(X, centers, widths**2), order)
    for B, alpha in zip(path, ALPHAS, strict=True):
        slopes, intercept = formulas.ridge(P, np.eye(3)[y], alpha)
        np.testing.assert_allclose(outputs(X, centers, widths, B, order), P @ slopes + intercept, atol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 70])
def test_both_decompositions_solve_the_same_system(rng, n):
    root = rng.normal(size=(n - 1, n))  # of lower rank than n, as firing levels that sum to one are
    square, side = root.T @ root, root.T @ rng.normal(size=(len(root), 3))
    expected = [np.linalg.solve(square + alpha * np.eye(n), side) for alpha in ALPHAS]
    for solve in (consequents._solve_tridiagonal, consequents._solve_spectral):
        np.testing.assert_allclose(solve(square, side, ALPHAS), expected, rtol=1e-9, atol=1e-9)


def test_directions_that_the_data_do_not_span_get_nothing(rng):
    root = rng.normal(size=(20, 5)) @ rng.normal(size=(5, 12))  # seven directions of rounding alone
    square, side = root.T @ root, rng.normal(size=(12, 3))
    (found,) = consequents._solve_spectral(square, side, np.zeros(1))
    np.testing.assert_allclose(found, np.linalg.pinv(square, rcond=1e-10, hermitian=True) @ side, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1])
def test_primal_and_dual_agree(problem, order):
    X, y, centers, widths, weight = problem
    rows = ArrayRows(X, y, weight, n_classes=3, block_rows=11)
    primal = consequents._primal(rows, Conditions.bells(centers, widths), order, ALPHAS)
    dual = consequents._dual(rows, Conditions.bells(centers, widths), order, ALPHAS)
    np.testing.assert_allclose(dual, primal, rtol=1e-6, atol=1e-8)


def test_the_smaller_system_is_solved(problem, monkeypatch):
    X, y, centers, widths, _ = problem
    called = []
    for name in ("_primal", "_dual"):
        solver = getattr(consequents, name)
        monkeypatch.setattr(consequents, name, lambda *a, s=solver, n=name: called.append(n) or s(*a))
    for order, n_regressors in ((0, 4), (1, 16)):
        for n in (60, n_regressors, n_regressors - 1):
            rows = ArrayRows(X[:n], y[:n], n_classes=3)
            ridge_path(rows, Conditions.bells(centers, widths), order, ALPHAS)
    assert called == ["_primal", "_primal", "_dual"] * 2


@pytest.mark.parametrize("solve", ["_primal", "_dual"])
def test_weights_are_repetitions(problem, solve, rng):
    X, y, centers, widths, _ = problem
    weight = rng.integers(3, size=60)
    solver = getattr(consequents, solve)
    weighted = solver(
        ArrayRows(X, y, weight.astype(float), n_classes=3), Conditions.bells(centers, widths), 1, ALPHAS
    )
    rows = ArrayRows(np.repeat(X, weight, 0), np.repeat(y, weight), n_classes=3)
    repeated = solver(rows, Conditions.bells(centers, widths), 1, ALPHAS)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("order", [0, 1])
def test_classes_sum_to_one(problem, order):
    X, y, centers, widths, _ = problem
    for B in ridge_path(ArrayRows(X, y, n_classes=3), Conditions.bells(centers, widths), order, ALPHAS):
        np.testing.assert_allclose(outputs(X, centers, widths, B, order).sum(axis=1), 1)


def test_no_penalty_at_all_is_least_squares(problem):
    X, y, centers, widths, _ = problem
    [B] = ridge_path(ArrayRows(X, y, n_classes=3), Conditions.bells(centers, widths), 1, np.zeros(1))
    P = formulas.regressors(X, formulas.firing(X, centers, widths**2), 1)
    best = P @ np.linalg.lstsq(P, np.eye(3)[y], rcond=None)[0]
    np.testing.assert_allclose(outputs(X, centers, widths, B, 1), best, atol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("solve", ["_primal", "_dual"])
def test_one_column_and_one_output_are_enough(problem, order, solve):
    X, _, centers, widths, _ = problem
    X, y, centers, widths = X[:, :1], X[:, 1:2], centers[:, :1], widths[:, :1]
    rows = ArrayRows(X, y[:, 0])
    [B] = getattr(consequents, solve)(rows, Conditions.bells(centers, widths), order, np.ones(1))
    P = formulas.regressors(X, formulas.firing(X, centers, widths**2), order)
    slopes, intercept = formulas.ridge(P, y, 1.0)
    np.testing.assert_allclose(outputs(X, centers, widths, B, order), P @ slopes + intercept, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_without_data_nothing_is_concluded(n):
    for alpha in (0.0, 1.0):
        found = consequents._solve(np.zeros((n, n)), np.zeros((n, 2)), np.full(1, alpha))
        np.testing.assert_array_equal(found, np.zeros((1, n, 2)))


@pytest.mark.parametrize("order", [0, 1])
def test_sums_add_and_multiply_as_rows_do(problem, order):
    X, y, centers, widths, weight = problem
    conditions = Conditions.bells(centers, widths)

    def sums(part, times=1.0):
        return gram(conditions, order, None, Samples(X[part], np.eye(3)[y[part]], times * weight[part]))

    whole, halves = sums(slice(60)), sums(slice(25)) + sums(slice(25, 60))
    for part in fields(whole):
        found = getattr(whole, part.name)
        np.testing.assert_allclose(getattr(halves, part.name), found, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(getattr(whole * 3.0, part.name), 3 * found)
        np.testing.assert_allclose(getattr(sums(slice(60), 3.0), part.name), 3 * found)
