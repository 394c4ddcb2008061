"""Data that break careless formulas: results must be finite and sensible, without a warning."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from sessc import AWFCM, ESSC, EWFCM, FCM, SCAD, SESSC, SFP, KernelEWFCM, TSKClassifier, TSKRegressor

# gamma and delta on the scale of the data, as their docstrings ask
CLUSTERERS = [
    FCM(3),
    AWFCM(3),
    SCAD(3),
    SCAD(3, penalty="l2", delta=1e4),
    EWFCM(3, gamma=1e4),
    KernelEWFCM(3),
    ESSC(3, gamma=1e4),
    SFP(3, lam=1e4),
    SESSC(3, gamma=1e4),
]


@pytest.fixture
def groups(rng):
    """Three groups that anyone can see."""
    y = np.arange(150) % 3
    return np.asarray([[0, 0, 0], [9, 0, 5], [0, 9, 9]])[y] + rng.normal(size=(150, 3)), y


def sane(model, X, y):
    model.set_params(random_state=0).fit(X, y)
    U = model.transform(X)
    assert np.all(np.isfinite(U))
    assert np.all(np.isfinite(model.cluster_centers_))
    assert np.all(np.isfinite(model.feature_weights_))
    assert np.all(np.isfinite(model.objective_history_))
    return model


def separates(labels, y):
    """Whether each cluster holds one group."""
    return all(len(set(y[labels == r])) == 1 for r in set(labels.tolist())) and len(set(labels.tolist())) == 3


def sane_rules(X, y, **settings):
    for model in (
        TSKClassifier(3, random_state=0, **settings),
        TSKClassifier(3, order=1, random_state=0, **settings),
        TSKRegressor(3, random_state=0, **settings),
    ):
        model.fit(X, y)
        assert np.all(np.isfinite(model.rules_.outputs(X)))
        assert np.all(np.isfinite(model.feature_importances_))
        assert str(model.rules_)
    return model


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_constant_columns(model, groups):
    X, y = groups
    X = np.column_stack([X, np.full(150, 9.0), np.zeros(150)])
    sane(model, X, y)
    assert separates(model.labels_, y)


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_duplicated_rows(model, groups):
    X, y = groups
    sane(model, np.repeat(X[:30], 20, axis=0), np.repeat(y[:30], 20))
    assert separates(model.labels_, np.repeat(y[:30], 20))


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_as_many_clusters_as_rows(model, groups):
    X, y = groups
    n_clusters = model.n_clusters
    sane(model.set_params(n_clusters=12), X[:12], y[:12])
    model.set_params(n_clusters=n_clusters)


@pytest.mark.parametrize(
    "model", [FCM(3), EWFCM(3, gamma=100.0), ESSC(3, gamma=100.0), SESSC(3, gamma=100.0)], ids=repr
)
def test_columns_with_an_offset_of_a_billion(model, groups):
    X, y = groups
    sane(model, X + 1e9, y)
    assert separates(model.labels_, y)
    np.testing.assert_array_equal(model.labels_, model.predict(X + 1e9))


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
def test_scales_of_clusterers(scale, groups):
    X, y = groups
    for model in CLUSTERERS:
        sane(model, X * scale, y)
    assert separates(FCM(3, random_state=0).fit(X * scale).labels_, y)
    assert separates(AWFCM(3, random_state=0).fit(X * scale).labels_, y)


def test_scales_of_rule_models(groups):
    X, y = groups
    scales = np.asarray([1e-12, 1.0, 1e12])
    for model in (TSKClassifier(3, random_state=0), TSKClassifier(3, order=1, random_state=0)):
        assert model.fit(X * scales, y).score(X * scales, y) == 1
        assert model.fit(X * scales + [0, 1e9, 0], y).score(X * scales + [0, 1e9, 0], y) == 1


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_ten_thousand_features(model, rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 10_000)) + 3 * np.eye(3)[y] @ rng.normal(size=(3, 10_000))
    sane(model, X, y)
    if not isinstance(model, AWFCM):
        assert separates(model.labels_, y)


def test_rules_on_ten_thousand_features(rng):
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 10_000)) + np.eye(3)[y] @ rng.normal(size=(3, 10_000))
    for order in (0, 1):
        assert TSKClassifier(3, order=order, random_state=0).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("m", [1 + 1e-3, 1 + 1e-9, 1 + 1e-15, 1000.0])
def test_any_fuzzy_index(m, groups):
    X, y = groups
    for model in (FCM(3, m=m), EWFCM(3, m=m), ESSC(3, m=m), SESSC(3, m=m)):
        sane(model, X, y)
    if m < 2:
        assert separates(FCM(3, m=m, random_state=0).fit(X).labels_, y)


@pytest.mark.parametrize("gamma", [1e-300, 1e-6, 1e6, 1e300])
def test_any_gamma(gamma, groups):
    X, y = groups
    for model in (EWFCM(3, gamma=gamma), ESSC(3, gamma=gamma), SESSC(3, gamma=gamma), SFP(3, gamma=gamma)):
        sane(model, X, y)


@pytest.mark.parametrize("eta", [0.9, 0.999999])
def test_separation_that_makes_costs_negative(eta, groups):
    X, y = groups
    sane(ESSC(3, eta=eta), X, y)
    sane(SESSC(3, eta=eta), X, y)


def test_rules_of_hard_tables(groups, rng):
    X, y = groups
    sane_rules(np.column_stack([X, np.full(150, 1e9)]), y)
    sane_rules(np.repeat(X[:5], 30, axis=0), np.repeat(y[:5], 30))
    sane_rules(rng.integers(2, size=(150, 4)).astype(float), y)
    sane_rules(np.ones((150, 2)), y)
    sane_rules(X, y, width_scale=1e-9)
    sane_rules(X, y, width_scale=1e9)
    sane_rules(X, y, alpha=0.0)
    sane_rules(X[:, :1], y)


def test_one_row_one_column():
    model = FCM(1).fit([[3.0]])
    np.testing.assert_array_equal(model.cluster_centers_, [[3.0]])
    np.testing.assert_array_equal(model.transform([[5.0]]), [[1.0]])


def test_outliers_do_not_spoil_the_rest(groups):
    X, y = groups
    X = np.vstack([X, [[1e15, 0, 0]]])
    model = TSKClassifier(6, random_state=0).fit(X, np.append(y, 0))
    assert np.all(np.isfinite(model.predict_proba(X)))


def test_float32_at_both_ends(groups):
    X, y = groups
    for scale in (1e-12, 1e12):
        model = sane(SESSC(3), (X * scale).astype(np.float32), y)
        assert model.cluster_centers_.dtype == np.float32


@pytest.mark.parametrize("far", [1e4, 1e7, 1e10, 1e13])
@pytest.mark.parametrize("axis", [0, 1])
def test_one_row_far_away_hides_no_group(far, axis, rng):
    """Seen from a mean that it has drawn away, distances between the others would be lost in rounding."""
    X = np.concatenate([rng.normal(center, 1, size=(50, 2)) for center in ((0, 0), (20, 0), (0, 20))])
    X = np.vstack([X, far * np.eye(2)[axis]])
    for model in (FCM(4, random_state=0), EWFCM(4, random_state=0), FCM(4, m=1.2, init=X[[0, 50, 100, 150]])):
        found = clone(model).fit(X)
        assert adjusted_rand_score(np.repeat([0, 1, 2, 3], [50, 50, 50, 1]), found.labels_) == 1
        assert np.all(np.isfinite(found.objective_history_))
        np.testing.assert_array_equal(found.predict(X), found.labels_)
