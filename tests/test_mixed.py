"""Columns that are not numbers, and cells that are not there: the laws of their cost."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import formulas
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
    LogLoss,
    Objective,
    Power,
    SESSCClassifier,
    SESSCRegressor,
    SoftSubspaceClustering,
    TSKClassifier,
)
from sessc._array import to_numpy
from sessc.rows.arrays import ArrayRows
from sessc.rows.columns import Category, Number
from sessc.rows.robust import centered
from sessc.solve.start import first_parameters
from sessc.terms.kernel import KernelObjective
from sessc.terms.mixed import known_mass, shares, spread_out
from sessc.terms.objective import Statistics

LEVELS = (0, 3, 0, 2)
COLUMNS = (Number("a"), Category("b", (0, 1, 2)), Number("c"), Category("d", (0, 1)))
CLUSTERERS = [FCM(3), AWFCM(3), SCAD(3), SCAD(3, penalty="l2"), EWFCM(3), KernelEWFCM(3), ESSC(3, eta=0.0)]
CLUSTERERS += [SFP(3), SESSC(3, eta=0.0), SoftSubspaceClustering(3)]


@pytest.fixture
def cells(rng):
    """Two numbers and two categories; a number and a category have gaps."""
    n = 90
    X = np.column_stack(
        [rng.normal(2, 3, n), rng.integers(3, size=n), rng.normal(size=n), rng.integers(2, size=n)]
    )
    X[rng.random(n) < 0.2, 0] = np.nan
    X[rng.random(n) < 0.15, 1] = np.nan
    return X


@pytest.fixture
def frame(cells, rng):
    names = np.asarray(["red", "green", "blue"], object)
    colour = [None if np.isnan(c) else names[int(c)] for c in cells[:, 1]]
    X = pd.DataFrame({"size": cells[:, 0], "colour": colour, "age": cells[:, 2], "ill": cells[:, 3] == 1})
    return X, np.where((cells[:, 1] == 0) ^ (cells[:, 2] > 0), "yes", "no")


def spread_apart(V, layout):
    """Centres as lists: a number, or the shares of levels, for each column."""
    return [
        [row[layout.features_of(j)] if n else float(row[layout.features_of(j)[0]]) for j, n in enumerate(LEVELS)]
        for row in V
    ]


@pytest.mark.parametrize(("eta", "width"), [(0.0, None), (0.3, None), (0.0, 0.6), (0.0, 3.0)])
def test_costs_are_the_formulas(cells, rng, eta, width, xp):
    X = cells if xp is np else xp.asarray(cells)
    rows, extent = centered(ArrayRows(X, columns=COLUMNS))
    plain = Objective(Power(2.0), Entropy(1.0), eta)
    objective = plain if width is None else KernelObjective(Power(2.0), Entropy(1.0), width=width)
    parameters = first_parameters(objective, xp.asarray(rng.random((3, 7))), extent)
    A = rng.random((3, 4))
    parameters = replace(parameters, W=xp.asarray(A))
    columns = objective.columns(rows._kept_blocks[0])
    found = objective.cost(objective.coefficients(parameters), columns).T
    center = to_numpy(rows.center)
    shares = [extent.shares[extent.layout.group[2:] == j] for j in range(4)]
    V = spread_apart(to_numpy(parameters.V), extent.layout)
    expected = formulas.mixed_costs(cells - center, LEVELS, V, A, shares, eta, width)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("make", [Objective, partial(KernelObjective, width=1.5)], ids=["plain", "kernel"])
@pytest.mark.parametrize("eta", [0.0, 0.3])
@pytest.mark.parametrize("gaps", [True, False])
def test_no_other_centres_or_weights_are_cheaper(cells, rng, make, eta, gaps):
    if make is not Objective and eta:
        pytest.skip("a kernel has no reward for separation")
    cells = cells if gaps else np.nan_to_num(cells)
    rows, extent = centered(ArrayRows(cells, columns=COLUMNS))
    objective = make(Power(2.0), Entropy(20.0), **({"eta": eta} if eta else {}))
    start = first_parameters(objective, rng.random((3, 7)), extent)
    prepared = rows.prepared(objective.columns)
    sums = prepared.sum(partial(objective.statistics, objective.coefficients(start)))
    best = objective.update(sums, start)

    def value(parameters):
        return objective.value(sums, parameters, objective.coefficients(parameters))

    for _ in range(20):
        moved = replace(best, V=best.V + 0.1 * rng.normal(size=best.V.shape))
        assert value(moved) >= value(best) - 1e-9
        shared = best.W * np.exp(0.3 * rng.normal(size=best.W.shape))
        assert value(replace(best, W=shared / shared.sum(axis=1, keepdims=True))) >= value(best) - 1e-9


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_the_cost_never_rises(model, frame):
    X, y = frame
    history = model.set_params(random_state=0).fit(X, y).objective_history_
    assert len(history) > 2
    assert np.all(np.diff(history) <= 1e-9 * np.abs(history[:-1]))


@pytest.mark.parametrize("model", [*CLUSTERERS, SESSC(3)], ids=repr)
def test_a_column_of_gaps_alone_does_not_exist(model, frame):
    X, y = frame
    model.set_params(random_state=0)
    model.set_params(init=X.iloc[[3, 30, 60]].fillna({"size": 1.0, "colour": "red"}))
    without = model.fit(X, y)
    U, W = without.transform(X), without.feature_weights_
    more = X.assign(nothing=np.nan)
    model.set_params(init=model.init.assign(nothing=0.0))
    found = model.fit(more, y)
    np.testing.assert_allclose(found.transform(more), U, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.feature_weights_[:, :4], W, rtol=1e-7, atol=1e-9)
    assert np.all(found.feature_weights_[:, 4] == 0)


@pytest.mark.parametrize("model", [FCM(3), EWFCM(3), SESSC(3)], ids=repr)
def test_the_order_of_levels_is_free(model, frame):
    X, y = frame
    model.set_params(init=X.iloc[[3, 30, 60]].fillna({"size": 1.0, "colour": "red"}))
    ordered = [
        X.assign(colour=X.colour.astype(pd.CategoricalDtype(order)))
        for order in (["red", "green", "blue"], ["blue", "red", "green"])
    ]
    first, second = (model.fit(one, y).transform(one) for one in ordered)
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", [FCM(3), SESSC(3), SESSCClassifier(3), TSKClassifier(4, refine=3)], ids=repr)
def test_a_row_of_weight_two_is_the_row_twice(model, frame, rng):
    X, y = frame
    weight = rng.integers(0, 3, size=len(X))
    model.set_params(random_state=0)
    ask = "transform" if hasattr(model, "transform") else "predict_proba"
    weighted = getattr(model.fit(X, y, sample_weight=weight), ask)(X)
    places = np.repeat(np.arange(len(X)), weight)
    repeated = getattr(model.fit(X.iloc[places], y[places]), ask)(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-7)


def test_sums_of_rows_with_gaps_in_different_columns_add(cells, rng):
    objective = Objective(Power(2.0), Entropy(1.0), loss=LogLoss(1.0))
    rows, extent = centered(ArrayRows(cells, rng.integers(2, size=len(cells)), columns=COLUMNS, n_classes=2))
    start = first_parameters(objective, rng.random((3, 7)), extent, np.full(2, 0.5))
    whole = rows.prepared(objective.columns).sum(partial(objective.statistics, objective.coefficients(start)))
    order = np.argsort(np.isnan(cells[:, 0]), kind="stable")
    found: list[Statistics] = []
    for part in np.array_split(order, 3):
        some = rows.taken(part)
        some = some.spelled(replace(extent.layout, gaps=None))
        columns = objective.columns(some._kept_blocks[0])
        space = start.space.with_gaps(columns.gap_columns)
        found.append(objective.statistics(objective.coefficients(replace(start, space=space)), columns))
    added = found[0] + found[1] + found[2]
    assert added.gap_columns == whole.gap_columns
    np.testing.assert_allclose(added.sums, whole.sums, rtol=1e-9)


def test_a_gap_costs_what_its_column_costs_on_average(frame):
    """Else rules pay attention to what is not there: columns of noise must not gain weight by gaps."""
    rng = np.random.default_rng(3)
    group = rng.integers(3, size=400)
    X = rng.normal(size=(400, 4))
    X[:, :2] += 4 * np.eye(3)[group][:, :2]
    weights = []
    for share in (0.0, 0.5, 0.9):
        Z = X.copy()
        Z[rng.random(400) < share, 3] = np.nan
        weights.append(EWFCM(3, random_state=0).fit(Z).feature_weights_[:, 3].mean())
    assert max(weights) < 1.3 * weights[0]


def test_a_rare_level_gains_no_attention(rng):
    group = rng.integers(2, size=500)
    X = pd.DataFrame({"a": 3 * group + rng.normal(size=500), "b": rng.choice(["x", "y"], 500, p=[0.97, 0.03])})
    weights = EWFCM(2, random_state=0).fit(X.assign(a=X.a / X.a.std())).feature_weights_
    assert np.all(weights[:, 1] <= weights[:, 0])


@pytest.mark.parametrize("model", [FCM(3), SESSC(3), KernelEWFCM(3)], ids=repr)
def test_rows_to_come_may_have_gaps_that_training_had_not(model, rng):
    X = rng.normal(size=(80, 3))
    model.set_params(random_state=0).fit(X)
    Z = X.copy()
    Z[::2, 1] = np.nan
    U = model.transform(Z)
    np.testing.assert_allclose(U.sum(axis=1), 1)
    np.testing.assert_allclose(U[1::2], model.transform(X)[1::2], rtol=1e-9)
    far = X.copy()
    far[:, 1] = np.nan  # as a row whose cell costs every cluster the same
    assert np.all(np.isfinite(model.transform(far)))


def test_shares_are_shown_and_not_what_moved_them_apart(frame):
    X, y = frame
    model = SESSC(3, eta=0.4, random_state=0).fit(X, y)
    shares = model.cluster_centers_[:, 2:5]
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert np.all(shares > -1e-9)
    assert list(model.center_names_) == [
        "size",
        "age",
        "colour=blue",
        "colour=green",
        "colour=red",
        "ill=False",
        "ill=True",
    ]


def test_a_regressor_of_clusters_takes_them_too(frame):
    X, _ = frame
    y = X.age + 3 * (X.colour == "red")
    answers = SESSCRegressor(4, beta=10.0, random_state=0).fit(X, y).predict(X)
    assert np.corrcoef(answers, y)[0, 1] > 0.3


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_what_rounding_leaves_of_a_column_of_gaps_counts_for_nothing(cells, size):
    """And what is known of the others counts as much as there is, whatever rows weigh."""
    _, extent = centered(ArrayRows(cells, columns=COLUMNS))
    sums = size * np.asarray([[3.0, *np.zeros(7), 3.0 * (1 - 1e-15), 1.0]])
    statistics = Statistics(sums, 0.0, 7, 0, gap_columns=(0, 1))
    np.testing.assert_allclose(known_mass(statistics, extent.space), size * np.asarray([[0.0, 2.0, 3.0, 3.0]]))


def test_weights_that_never_change_are_those_of_columns_that_there_are(cells):
    X = np.column_stack([np.full(len(cells), np.nan), cells[:, 1:]])
    _, extent = centered(ArrayRows(X, columns=COLUMNS))
    found = Objective(Power(2.0)).even_weights(np.ones((3, 7)), extent.space)
    np.testing.assert_array_equal(found, [[0.0, 1.0, 1.0, 1.0]] * 3)


def test_without_gaps_all_is_known_of_every_column(cells):
    _, extent = centered(ArrayRows(np.nan_to_num(cells) * [0, 1, 1, 0], columns=COLUMNS))
    assert extent.space.varies.tolist() == [False, True, True, False]
    sums = np.asarray([[3.0, *np.zeros(9)], [0.0, *np.zeros(9)]])
    np.testing.assert_array_equal(known_mass(Statistics(sums, 0.0, 7, 2), extent.space), [[3.0] * 4, [0.0] * 4])


@pytest.mark.parametrize("eta", [0.0, 0.4])
def test_centres_are_read_as_the_shares_of_levels_and_as_the_numbers_they_are(cells, rng, eta):
    rows, extent = centered(ArrayRows(cells, columns=COLUMNS))
    objective = Objective(Power(2.0), Entropy(20.0), eta)
    start = first_parameters(objective, rng.random((3, 7)), extent)
    sums = rows.prepared(objective.columns).sum(partial(objective.statistics, objective.coefficients(start)))
    V = objective.update(sums, start).V
    found, known = shares(V, extent.space, eta), spread_out(known_mass(sums, extent.space), extent.layout)
    np.testing.assert_allclose(found[:, 2:], (sums.x / known)[:, 2:], rtol=1e-9)
    np.testing.assert_array_equal(found[:, :2], V[:, :2])


def test_a_rule_without_samples_takes_part_in_sums_of_rows_with_other_gaps():
    """Which are sums over no rows."""
    none = Statistics(np.zeros((1, 5)), 0.0, 2, 2)
    some = Statistics(np.asarray([[3.0, 1.0, 2.0, 5.0, 6.0, 1.0]]), 0.0, 2, 2, gap_columns=(1,))
    for added in (none + some, some + none):
        assert added.gap_columns == (1,)
        np.testing.assert_array_equal(added.sums, some.sums)


@pytest.mark.parametrize("make", [Objective, partial(KernelObjective, width=1.5)], ids=["plain", "kernel"])
@pytest.mark.parametrize("gaps", [True, False])
def test_the_cost_is_what_rows_cost_and_what_sharing_does(cells, rng, make, gaps):
    rows, extent = centered(ArrayRows(cells if gaps else np.nan_to_num(cells), columns=COLUMNS))
    objective = make(Entropy(0.5), Entropy(20.0))
    start = first_parameters(objective, rng.random((3, 7)), extent)
    start = replace(start, W=rng.dirichlet(np.ones(4), size=3))
    coefficients, block = objective.coefficients(start), rows.prepared(objective.columns)._kept_blocks[0]
    U, costs = objective.memberships(coefficients, block), objective.cost(coefficients, block)
    expected = np.sum(U * costs) + 0.5 * np.sum(U * np.log(U)) + 20.0 * np.sum(start.W * np.log(start.W))
    value = objective.value(objective.statistics(coefficients, block), start, coefficients)
    assert value == pytest.approx(expected, rel=1e-9)
