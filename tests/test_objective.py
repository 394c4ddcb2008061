"""The objective against the published formulas written as loops, and the laws of its statistics."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import formulas
from sessc import Entropy, Linear, LogLoss, Objective, Power, Quadratic, SquaredLoss, Uniform
from sessc._array import to_numpy
from sessc.rows.arrays import ArrayRows
from sessc.rows.base import Samples
from sessc.rows.robust import centered
from sessc.solve.alternate import alternate
from sessc.solve.start import first_parameters
from sessc.terms.adaptive import AdaptiveObjective
from sessc.terms.kernel import KernelObjective
from sessc.terms.objective import Expansion, Parameters, statistics_of


@pytest.fixture
def problem(rng):
    X = rng.normal(3, 2, size=(40, 4)) * [1.0, 2.0, 0.5, 1.0]
    y = rng.integers(3, size=40)
    return X, y, X[[3, 14, 27]]


def solve(X, y, V, objective, n_iter, sample_weight=None, n_classes=3, outputs=None, **where):
    rows, frame = centered(ArrayRows(X, y, sample_weight, n_classes=n_classes, **where))
    start = first_parameters(objective, V - rows.center, frame, np.full(3, 1 / 3) if outputs is None else outputs)
    return rows, alternate(objective, rows, start, scale=frame.scale, max_iter=n_iter, tol=0)


@pytest.mark.parametrize("loss", ["log", "squared"])
@pytest.mark.parametrize("eta", [0.0, 0.2])
def test_iterations_are_the_published_ones(problem, loss, eta):
    X, y, V = problem
    objective = Objective(Power(1.7), Entropy(5.0), eta, LogLoss(0.8) if loss == "log" else SquaredLoss(0.8))
    rows, solution = solve(X, y, V, objective, 4)
    _, V4, W4, Z4, history = formulas.sessc(
        X, np.eye(3)[y], V, m=1.7, gamma=5.0, eta=eta, beta=0.8, n_iter=4, loss=loss
    )
    found = solution.parameters
    np.testing.assert_allclose(found.V + rows.center, V4, rtol=1e-10)
    np.testing.assert_allclose(found.W, W4, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.Z, Z4, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(solution.history, history, rtol=1e-10)


def test_costs_are_the_published_ones(problem):
    X, y, V = problem
    objective = Objective(Power(2.0), Entropy(5.0), 0.3, LogLoss(0.8))
    rows, solution = solve(X, y, V, objective, 2)
    found = solution.parameters
    block = objective.columns(Samples(X - rows.center, np.eye(3)[y]))
    expected = formulas.costs(X, np.eye(3)[y], found.V + rows.center, found.W, found.Z, 0.3, 0.8, "log")
    np.testing.assert_allclose(objective.cost(objective.coefficients(found), block).T, expected, rtol=1e-10)


@pytest.mark.parametrize("width", [0.7, 4.0])
def test_a_kernel_moves_centres_by_its_weights(problem, width):
    X, y, V = problem
    rows, solution = solve(X, y, V, KernelObjective(Power(1.7), Entropy(5.0), width=width), 4)
    expected, weights, costs, tangents = formulas.kernel_ewfcm(X, V, m=1.7, gamma=5.0, width=width, n_iter=4)
    np.testing.assert_allclose(solution.parameters.V + rows.center, expected, rtol=1e-10)
    np.testing.assert_allclose(solution.parameters.W, weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(solution.history, tangents, rtol=1e-10)
    assert np.all(np.asarray(costs) <= np.asarray(tangents) + 1e-12)


def test_tangents_meet_the_cost_where_centres_rest(problem):
    X, y, V = problem
    _, solution = solve(X, y, V, KernelObjective(Power(1.7), Entropy(5.0), width=2.0), 400)
    _, _, costs, _ = formulas.kernel_ewfcm(X, V, m=1.7, gamma=5.0, width=2.0, n_iter=400)
    assert solution.history[-1] == pytest.approx(costs[-1], rel=1e-9)


@pytest.mark.parametrize("K", [0.05, 1.0])
def test_scads_strengths_are_its_authors(problem, K):
    X, y, V = problem
    rows, solution = solve(X, y, V, AdaptiveObjective(Power(1.7), Quadratic(K)), 4)
    expected, weights, _ = formulas.adaptive_scad(X, V, m=1.7, K=K, n_iter=4)
    np.testing.assert_allclose(solution.parameters.V + rows.center, expected, rtol=1e-10)
    np.testing.assert_allclose(solution.parameters.W, weights, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("K", [0.05, 1.0])
def test_scads_cost_has_the_strengths_that_its_weights_have(problem, K):
    X, y, V = problem
    objective = AdaptiveObjective(Power(1.7), Quadratic(K))
    rows, solution = solve(X, y, V, objective, 3)
    found, block = solution.parameters, objective.columns(Samples(X - rows.center))
    coefficients = objective.coefficients(found)
    costs = formulas.costs(X, None, found.V + rows.center, found.W, None, 0.0, 0.0, None)
    fit = np.sum(formulas.power_memberships(costs, 1.7) ** 1.7 * costs, axis=0)
    delta = K * fit / np.sum(found.W**2, axis=1)
    value = objective.value(objective.statistics(coefficients, block), found, coefficients)
    assert value == pytest.approx(np.sum(fit) + np.sum(delta * np.sum(found.W**2, axis=1)), rel=1e-9)


def test_scad_weighs_columns_of_equal_rows_alike():
    """A cluster of them has no scatter, and so no unit that a penalty could be in."""
    X = np.repeat([[0.0, 0.0], [8.0, 4.0], [0.0, 4.0]], 4, axis=0)
    _, solution = solve(X, None, X[::4], AdaptiveObjective(Power(2.0), Quadratic(1.0)), 1, n_classes=None)
    np.testing.assert_allclose(solution.parameters.W, 0.5)


OBJECTIVES = [
    Objective(Power(2.0)),
    Objective(Power(1.3), Power(2.0)),
    Objective(Power(1.3), Quadratic(10.0)),
    Objective(Power(1.3), Entropy(10.0)),
    KernelObjective(Power(1.3), Entropy(10.0), width=1.5),
    KernelObjective(Entropy(0.5), Entropy(10.0), width=1.5),
    Objective(Power(2.0), Entropy(10.0), 0.05, LogLoss(1.0)),
    Objective(Entropy(0.5), Entropy(10.0), 0.0, LogLoss(1.0)),
    Objective(Quadratic(2.0), Entropy(10.0), 0.2, SquaredLoss(1.0)),
    Objective(Entropy(1.0), Uniform(), 0.3, SquaredLoss(0.5)),
]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_cost_never_rises(objective, weighted, blobs, rng):
    X, y = blobs
    weight = rng.random(len(X)) if weighted else None
    _, solution = solve(X, y, X[:6], objective, 40, weight)
    history = np.asarray(solution.history)
    assert np.all(np.diff(history) <= 1e-10 * np.abs(history[:-1]))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_update_beats_its_neighbours(objective, blobs, rng):
    """V, W and Z minimise the cost for fixed memberships: no nearby parameters do better."""
    X, y = blobs
    rows, solution = solve(X, y, X[:4], objective, 3)
    old = solution.parameters
    statistics = rows.prepared(objective.columns).sum(partial(objective.statistics, objective.coefficients(old)))
    new = objective.update(statistics, old)

    def value(parameters):
        return objective.value(statistics, parameters, objective.coefficients(parameters))

    for _ in range(50):
        nudged = [replace(new, V=new.V + 1e-3 * rng.normal(size=new.V.shape))]
        if not isinstance(objective.weighting, Uniform):
            mixed = rng.dirichlet(np.ones(new.W.shape[1] - 1), size=len(new.W))
            mixed = np.column_stack([mixed, np.zeros(len(new.W))])  # the constant column takes no part
            nudged.append(replace(new, W=0.99 * new.W + 0.01 * mixed))
        if new.Z is not None:
            nudged.append(replace(new, Z=0.99 * new.Z + 0.01 * rng.dirichlet(np.ones(3), size=len(new.Z))))
        for other in nudged:
            assert value(new) <= value(other) + 1e-9 * abs(value(new))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_statistics_add(objective, blobs, rng):
    X, y = blobs
    rows, solution = solve(X, y, X[:4], objective, 2)
    coefficients = objective.coefficients(solution.parameters)
    weight = rng.random(len(X))

    def statistics(part):
        block = Samples(X[part] - rows.center, np.eye(3)[y[part]], weight[part])
        return objective.statistics(coefficients, objective.columns(block))

    whole, halves = statistics(slice(None)), statistics(slice(100)) + statistics(slice(100, None))
    np.testing.assert_allclose(halves.sums, whole.sums, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(halves.penalty, whole.penalty, rtol=1e-10)
    np.testing.assert_array_equal((whole * 2.0).sums, (whole + whole).sums)
    assert (whole * 2.0).penalty == (whole + whole).penalty


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_row_of_weight_two_is_the_row_twice(objective, blobs):
    X, y = blobs
    rows, solution = solve(X, y, X[:4], objective, 2)
    coefficients = objective.coefficients(solution.parameters)
    X, Y, weight = X[:20] - rows.center, np.eye(3)[y[:20]], np.arange(20) % 3
    weighted, repeated = (
        objective.statistics(coefficients, objective.columns(block))
        for block in (
            Samples(X, Y, weight.astype(float)),
            Samples(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)),
        )
    )
    np.testing.assert_allclose(weighted.sums, repeated.sums, rtol=1e-10, atol=1e-10)
    assert weighted.penalty == pytest.approx(repeated.penalty, rel=1e-10)


class OneByOne(Uniform):
    """The same weights, found anew in every iteration."""

    is_fixed = False


@pytest.mark.parametrize("loss", [None, LogLoss(1.0), SquaredLoss(0.5)])
def test_squares_together_are_as_good_as_one_by_one(loss, blobs):
    X, y = blobs
    objective = Objective(Power(1.7), Uniform(), 0.1, loss)
    _, together = solve(X, y, X[:4], objective, 10)
    _, apart = solve(X, y, X[:4], replace(objective, weighting=OneByOne()), 10)
    np.testing.assert_allclose(together.parameters.V, apart.parameters.V, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(together.parameters.W, apart.parameters.W)
    np.testing.assert_allclose(together.history, apart.history, rtol=1e-10)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("block_rows", [1, 7, 240])
def test_blocks_do_not_matter(objective, block_rows, blobs):
    X, y = blobs
    _, expected = solve(X, y, X[:4], objective, 5)
    _, found = solve(X, y, X[:4], objective, 5, block_rows=block_rows)
    np.testing.assert_allclose(found.parameters.V, expected.parameters.V, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.history, expected.history, rtol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_threads_change_no_bit(objective, blobs):
    X, y = blobs
    alone = solve(X, y, X[:4], objective, 5, block_rows=17)[1]
    shared = solve(X, y, X[:4], objective, 5, block_rows=17, n_jobs=4)[1]
    np.testing.assert_array_equal(alone.parameters.V, shared.parameters.V)
    assert alone.history == shared.history


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_backend_finds_the_same(objective, blobs, xp):
    X, y = blobs
    _, expected = solve(X, y, X[:4], objective, 5)
    _, found = solve(
        xp.asarray(X), xp.asarray(y), xp.asarray(X[:4]), objective, 5, outputs=xp.asarray(np.full(3, 1 / 3))
    )
    np.testing.assert_allclose(to_numpy(found.parameters.V), expected.parameters.V, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.history, expected.history, rtol=1e-9)
    assert type(found.parameters.V) is type(xp.asarray(X))


def test_a_row_is_spelled_out_with_its_squares_one_by_one_or_together(rng):
    X = rng.normal(size=(7, 3))
    apart, together = Expansion.of(Samples(X)), Expansion.of(Samples(X), together=True)
    np.testing.assert_array_equal(apart.values, np.column_stack([np.ones(7), X, X * X]))
    np.testing.assert_allclose(together.values, np.column_stack([np.ones(7), X, np.sum(X * X, axis=1)]))
    assert (apart.n_squares, together.n_squares) == (3, 1)
    summed = statistics_of(apart, np.ones((2, 7)))
    np.testing.assert_allclose(summed.sums, [apart.values.sum(axis=0)] * 2)
    assert summed.penalty == 0.0


def test_a_cost_of_zero_is_never_positive(rng):
    """Samples at a centre: whatever rounding leaves of their cost, rules at the same place share them alike."""
    X = np.repeat(rng.normal(size=(20, 6)), 3, axis=0)
    for objective in (Objective(Power(1.2)), Objective(Power(3.0), Power(2.0), 0.0, LogLoss(5.0))):
        V = np.repeat(X[:6:3], 2, axis=0) - X.mean(axis=0)  # each of two samples has two rules at its place
        parameters = Parameters(V, np.ones_like(V) / 6, np.eye(3)[[0, 0, 1, 1]])
        coefficients = objective.coefficients(parameters)
        columns = objective.columns(Samples(X[:6] - X.mean(axis=0), np.eye(3)[[0, 0, 0, 1, 1, 1]]))
        assert np.all(objective.cost(coefficients, columns)[:2, :3] <= 0)
        U = objective.memberships(coefficients, columns)
        np.testing.assert_allclose(U[:, :3], [[0.5], [0.5], [0], [0]] * np.ones(3), atol=1e-9)


def test_centres_that_differ_in_last_bits_share_their_samples(rng):
    """Where the nearest takes all, too: rounding settles no tie."""
    X = 1 + rng.normal(size=(50, 6))
    objective = Objective(Linear())
    V = np.stack([X[0], np.nextafter(X[0], 9.0), X[0] + 9.0])
    coefficients, columns = objective.coefficients(Parameters(V, np.ones_like(V))), objective.columns(Samples(X))
    U = objective.memberships(coefficients, columns)
    np.testing.assert_array_equal(U, [[0.5], [0.5], [0.0]] * np.ones(50))
    mass = objective.statistics(coefficients, columns).mass
    np.testing.assert_array_equal(mass, [25.0, 25.0, 0.0])


def test_no_cost_through_a_kernel_is_positive_at_a_centre(rng):
    """Nor where the centre is but for last bits."""
    X = 1 + rng.normal(size=(20, 6))
    for V in (X, np.nextafter(X, 9.0), np.nextafter(X, -9.0)):
        objective = KernelObjective(Power(1.2), Entropy(1.0), width=0.7)
        coefficients = objective.coefficients(Parameters(V, np.full_like(V, 1 / 6)))
        assert np.all(np.diag(objective.cost(coefficients, objective.columns(Samples(X)))) <= 0)


def test_a_rule_without_samples_stays(blobs):
    X, y = blobs
    far = np.vstack([X[:2], np.full((1, X.shape[1]), 1e6)])
    objective = Objective(Power(1.001), Entropy(10.0))
    rows, solution = solve(X, y, far, objective, 5)
    np.testing.assert_allclose(solution.parameters.V[2] + rows.center, 1e6)
    assert np.all(np.isfinite(solution.parameters.W))


def test_a_constant_column_takes_no_part(blobs):
    X, y = blobs
    for objective in OBJECTIVES:
        _, with_constant = solve(X, y, X[:4], objective, 5)
        _, without = solve(X[:, :-1], y, X[:4, :-1], objective, 5)
        np.testing.assert_allclose(with_constant.parameters.V[:, :-1], without.parameters.V, atol=1e-12)
        if not isinstance(objective.weighting, Uniform):
            assert np.all(with_constant.parameters.W[:, -1] == 0)


def test_nothing_but_constants():
    X = np.full((10, 3), 4.0)
    objective = Objective(Power(2.0), Entropy(1.0), 0.1)
    rows, solution = solve(X, None, X[:2], objective, 3, n_classes=None)
    np.testing.assert_allclose(solution.parameters.V + rows.center, 4.0)
    np.testing.assert_allclose(solution.parameters.W, 1 / 3)


def test_eta_out_of_range():
    with pytest.raises(ValueError, match=r"got 1\.0"):
        Objective(Power(2.0), eta=1.0)


def test_a_kernel_has_neither_separation_nor_labels():
    for more in ({"eta": 0.1}, {"loss": LogLoss(1.0)}):
        with pytest.raises(ValueError, match="neither eta nor a label loss"):
            KernelObjective(Power(2.0), Entropy(1.0), **more)
    assert KernelObjective(Power(2.0)).width == 1.0


def test_labels_can_be_left_out():
    objective = Objective(Power(2.0), Entropy(5.0), 0.1, LogLoss(1.0))
    assert objective.without_labels() == Objective(Power(2.0), Entropy(5.0), 0.1)
    assert Parameters(np.ones((1, 1)), np.ones((1, 1))).Z is None


def test_the_cost_of_samples_at_their_centres_is_nothing(rng):
    """What costs are lowered by, for fear of rounding, is no part of it."""
    X = np.repeat([[1024.0, 0.0], [0.0, 512.0]], 50, axis=0)
    parameters = Parameters(X[::50], np.full((2, 2), 0.5))
    objective = Objective(Power(2.0))
    coefficients, columns = objective.coefficients(parameters), objective.columns(Samples(X))
    value = objective.value(objective.statistics(coefficients, columns), parameters, coefficients)
    assert abs(value) < 8 * np.finfo(float).eps * np.sum(X * X)
