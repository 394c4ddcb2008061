"""Learning from rows as they come."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from sessc import (
    AWFCM,
    ESSC,
    EWFCM,
    FCM,
    SCAD,
    SESSC,
    SFP,
    Entropy,
    KernelEWFCM,
    SESSCClassifier,
    SESSCRegressor,
    SoftSubspaceClustering,
    TSKClassifier,
    TSKRegressor,
    Uniform,
)
from sessc.rows.arrays import ArrayRows
from sessc.rows.robust import centered
from sessc.solve.memory import SHARE, Memory
from sessc.terms.objective import Parameters
from test_scale import assert_same

CLUSTERERS = [FCM, AWFCM, SCAD, EWFCM, KernelEWFCM, ESSC, SFP, SESSC]


@pytest.fixture(scope="module")
def stream():
    X, group = make_blobs(20_000, n_features=6, centers=5, cluster_std=2.0, random_state=1)
    return (X - X.mean(0)) / X.std(0), group % 3


def batches(size, *columns):
    for start in range(0, len(columns[0]), size):
        yield tuple(column[start : start + size] for column in columns)


def cost(model, objective, X, y):
    """The cost of all rows for what a model has found."""
    rows, _ = centered(ArrayRows(X, y, n_classes=3))
    found = Parameters(
        model.cluster_centers_ - rows.center, model.feature_weights_, getattr(model, "rule_outputs_", None)
    )
    coefficients = objective.coefficients(found)
    sums = rows.prepared(objective.columns).sum(lambda columns: objective.statistics(coefficients, columns))
    return objective.value(sums, found, coefficients)


@pytest.mark.parametrize("algorithm", CLUSTERERS)
def test_once_through_shuffled_rows_comes_near_a_fit(algorithm, stream):
    X, y = stream
    init = X[[0, 1, 2, 3, 4]]
    whole = algorithm(5, init=init, max_iter=300).fit(X, y)
    start = algorithm(5, init=init, max_iter=1, tol=0).fit(X, y)
    online = algorithm(5, init=init)
    for part in batches(400, X, y):
        online.partial_fit(*part)
    objective = whole.make_objective()
    first, best, reached = (cost(model, objective, X, y) for model in (start, whole, online))
    assert first - reached >= 0.98 * (first - best)


@pytest.mark.parametrize(
    "model", [FCM(3), SESSC(3), SESSCClassifier(3), SESSCRegressor(3), TSKClassifier(3), TSKRegressor(3)], ids=repr
)
def test_all_rows_at_once_are_a_fit_and_one_iteration_more(model, blobs):
    X, y = blobs
    model = clone(model).set_params(random_state=0)
    assert_same(clone(model).partial_fit(X, y), clone(model).fit(X, y), 1e-3)


@pytest.mark.parametrize("model", [SESSC(3), TSKClassifier(3, class_weight="balanced"), TSKRegressor(3)], ids=repr)
def test_a_row_of_weight_two_is_the_row_twice(model, blobs, rng):
    X, y = blobs
    weight = rng.integers(1, 3, size=len(X))
    weighted, repeated = (clone(model).set_params(random_state=0) for _ in range(2))
    for part, labels, times in batches(80, X, y, weight):
        weighted.partial_fit(part, labels, sample_weight=times)
        repeated.partial_fit(np.repeat(part, times, 0), np.repeat(labels, times))
    assert_same(weighted, repeated, 1e-8)


def test_a_short_memory_follows_a_world_that_moves(rng):
    moving = [rng.normal(day, 1, size=(100, 2)) for day in range(40)]
    long, short = FCM(1, m=2.0), FCM(1, m=2.0)
    for X in moving:
        long.partial_fit(X)
        short.partial_fit(X, memory=200)
    assert abs(short.cluster_centers_ - 39).max() < 1.5
    assert long.cluster_centers_.max() < 36  # remembers a quarter of all it saw


def test_memory_keeps_its_share_and_its_limit(rng):
    memory, remembered = Memory(), None
    for k, value in enumerate(rng.random(200), 1):
        memory = memory.of(10.0, limit=300.0)
        remembered = memory.added(remembered, 10 * value)
        assert memory.seen == pytest.approx(10 * k)
        assert memory.kept <= min(300.0, 10.0 + SHARE * memory.seen) + 1e-9
        assert memory.stands_for == pytest.approx(min(memory.seen, 300.0))
        assert 0 < memory.whole(remembered) < memory.stands_for


def test_it_goes_on_from_a_fit(blobs):
    X, y = blobs
    for model in (SESSC(3, random_state=0), TSKClassifier(3, random_state=0)):
        fitted = clone(model).fit(X, y)
        gone_on = clone(model).fit(X, y).partial_fit(X, y)
        assert_same(gone_on, fitted, 1e-3)
        assert not hasattr(gone_on.fit(X, y), "_memory")  # and a fit forgets
        assert_same(gone_on, fitted, 0)


def test_rules_keep_learning(stream):
    X, y = stream
    test = slice(15_000, None)
    for model in (TSKClassifier(6, random_state=0), TSKClassifier(6, order=1, random_state=0)):
        whole, little, online = (
            clone(model).fit(X[:15_000], y[:15_000]),
            clone(model).fit(X[:150], y[:150]),
            clone(model),
        )
        for part in batches(150, X[:15_000], y[:15_000]):
            online.partial_fit(*part, classes=[0, 1, 2])
        scores = [fitted.score(X[test], y[test]) for fitted in (little, online, whole)]
        assert scores[0] < scores[1] > scores[2] - 0.01


def test_given_rules_learn_what_they_conclude(blobs):
    X, y = blobs
    rules = TSKClassifier(3, random_state=0).fit(X, y).rules_
    online = TSKClassifier(rules=rules)
    for part in batches(80, X, y):
        online.partial_fit(*part, classes=[0, 1, 2])
    np.testing.assert_allclose(online.rules_.centers_in_units, rules.centers_in_units)
    assert online.score(X, y) > TSKClassifier(rules=rules).fit(X, y).score(X, y) - 0.05


def test_classes_that_come_late_are_announced(blobs):
    X, y = blobs
    few = y < 2
    named = np.asarray(["a", "b", "c"])[y]
    for model in (SESSC(3), SESSCClassifier(3), TSKClassifier(3)):
        online = clone(model).partial_fit(X[few], named[few], classes=["a", "b", "c"])
        assert list(online.partial_fit(X, named).classes_) == ["a", "b", "c"]
        with pytest.raises(ValueError, match="holds the class 'c', which is none of"):
            clone(model).partial_fit(X[few], named[few]).partial_fit(X, named)


def test_it_says_what_it_cannot(blobs):
    X, y = blobs
    with pytest.raises(AttributeError) as refused:
        TSKClassifier(3, refine=10).partial_fit(X, y)
    assert "needs refine=0" in str(refused.value.__cause__)
    with pytest.raises(ValueError, match="in all, or in none"):
        SESSC(3).partial_fit(X, y).partial_fit(X)
    with pytest.raises(ValueError, match="memory must be a positive number"):
        FCM(3).partial_fit(X, memory=0)
    with pytest.raises(ValueError, match="expecting 5 features"):
        FCM(3).partial_fit(X).partial_fit(X[:, :2])
    for model in (TSKRegressor(3), SESSCRegressor(3)):
        with pytest.raises(ValueError, match="classes is for classifiers"):
            model.partial_fit(X, X[:, 0], classes=[0, 1])


def test_other_weights_mean_another_cost(blobs):
    X, _ = blobs
    model = SoftSubspaceClustering(3, weighting=Entropy(30.0), random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match="call fit to begin anew"):
        model.set_params(weighting=Uniform()).partial_fit(X)
    model.set_params(warm_start=True).fit(X)
    np.testing.assert_array_equal(model.feature_weights_, 1.0)
    plain = SoftSubspaceClustering(3, weighting=Uniform(), init=model.cluster_centers_).fit(X)
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-6)
