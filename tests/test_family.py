"""The algorithms as one family: limits and inclusions between them, and laws they all obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

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
    Power,
    SESSCClassifier,
    SESSCRegressor,
    SFPClassifier,
    SoftSubspaceClustering,
    TSKClassifier,
    TSKRegressor,
)

CLUSTERERS = [
    FCM(4),
    AWFCM(4),
    AWFCM(4, t=1),
    SCAD(4),
    SCAD(4, penalty="l2"),
    SCAD(4, penalty="adaptive", delta=1.0),
    EWFCM(4),
    KernelEWFCM(4),
    ESSC(4),
    SFP(4),
    SESSC(4),
    SESSC(4, loss="squared"),
    SoftSubspaceClustering(4),
]
PREDICTORS = [
    SESSCClassifier(4),
    SFPClassifier(4),
    SESSCRegressor(4),
    TSKClassifier(4),
    TSKClassifier(4, order=1, class_weight="balanced"),
    TSKRegressor(4),
    TSKRegressor(4, order=1),
]


def same(a, b, names=("cluster_centers_", "feature_weights_"), **tolerance):
    for name in names:
        np.testing.assert_allclose(
            getattr(a, name), getattr(b, name), **({"rtol": 1e-9, "atol": 1e-9} | tolerance)
        )


def fitted(model, *data, **options):
    return clone(model).set_params(random_state=0).fit(*data, **options)


def started(model, centers):
    """The model with given starting centres: seeds depend on the values of rows and follow no transformation."""
    if hasattr(model, "clusterer"):
        loss = "squared" if isinstance(model, TSKRegressor) else "log"
        return clone(model).set_params(clusterer=SESSC(init=centers, loss=loss))
    return clone(model).set_params(init=centers)


def answers(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.firing(X)


def test_sessc_without_labels_is_essc(blobs):
    X, y = blobs
    same(fitted(SESSC(4), X), fitted(ESSC(4), X))
    same(fitted(SESSC(4, beta=0), X, y), fitted(ESSC(4), X))


def test_essc_without_separation_is_ewfcm(blobs):
    X, _ = blobs
    same(fitted(ESSC(4, eta=0), X), fitted(EWFCM(4), X))


def test_ewfcm_with_huge_gamma_is_fcm(blobs):
    X = blobs[0][:, :-1]  # weights 1/D need every column to take part
    huge, plain = fitted(EWFCM(4, gamma=1e12), X), fitted(FCM(4), X)
    same(huge, plain, ["cluster_centers_"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(huge.transform(X), plain.transform(X), atol=1e-6)


def test_a_wide_kernel_is_no_kernel(blobs):
    X, _ = blobs
    s = 1e5
    wide, plain = fitted(KernelEWFCM(4, gamma=60 / s**2, width=s), X), fitted(EWFCM(4, gamma=30.0), X)
    same(wide, plain, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(wide.transform(X), plain.transform(X), atol=1e-6)
    automatic = fitted(KernelEWFCM(4, width=s), X)
    assert automatic.gamma_ == pytest.approx(fitted(EWFCM(4), X).gamma_ * 2 / s**2)


def test_a_narrow_kernel_does_not_hear_what_is_far(blobs):
    X, _ = blobs
    far = np.vstack([X, np.full((5, X.shape[1]), 1e4)])
    near, pulled = (KernelEWFCM(4, init=X[:4], width=2.0).fit(table).cluster_centers_ for table in (X, far))
    moved = EWFCM(4, init=X[:4]).fit(far).cluster_centers_
    assert np.abs(near - pulled).max() < 0.5 < np.abs(moved).max() / 100


def test_an_adaptive_penalty_follows_units_and_the_number_of_rows(blobs):
    X, _ = blobs
    model = SCAD(4, penalty="adaptive", delta=0.5)
    here, *others = (
        model.set_params(init=table[:4]).fit(table).feature_weights_
        for table in (X, 1000 * X, 1e-5 * X, np.concatenate([X, X]))
    )
    for other in others:
        np.testing.assert_allclose(here, other, atol=1e-7)


def test_power_weights_of_scad_and_awfcm_are_the_same(blobs):
    X, _ = blobs
    same(fitted(SCAD(4, t=3.0), X), fitted(AWFCM(4, t=3.0), X))


def test_linear_weights_pick_one_feature(blobs):
    X, _ = blobs
    W = fitted(AWFCM(4, t=1), X).feature_weights_
    np.testing.assert_allclose(np.sort(W, axis=1)[:, -1], 1)


def test_l2_weights_are_sparse(blobs):
    X = blobs[0][:, np.std(blobs[0], axis=0) > 0]  # a column that never varies has no weight in any case
    assert np.any(fitted(SCAD(4, penalty="l2", delta=1.0), X).feature_weights_ == 0)
    assert np.all(fitted(SCAD(4, penalty="l2", delta=1e6), X).feature_weights_ > 0)


def test_named_algorithms_are_rows_of_the_table(blobs):
    X, y = blobs
    free = SoftSubspaceClustering(4, membership=Power(1.5), weighting=Entropy(3.0), eta=0.2, loss=LogLoss(0.5))
    named = SESSC(4, m=1.5, gamma=3.0, eta=0.2, beta=0.5)
    same(fitted(free, X, y), fitted(named, X, y), ["cluster_centers_", "feature_weights_", "rule_outputs_"])


@pytest.mark.parametrize("model", CLUSTERERS + PREDICTORS, ids=repr)
def test_the_order_of_rows_does_not_matter(model, blobs, rng):
    X, y = blobs
    order = rng.permutation(len(X))
    here, there = fitted(model, X, y), fitted(model, X[order], y[order])
    np.testing.assert_allclose(answers(here, X), answers(there, X), atol=1e-7)


@pytest.mark.parametrize("model", CLUSTERERS + PREDICTORS, ids=repr)
def test_weights_are_repetitions(model, blobs, rng):
    X, y = blobs
    weight = rng.integers(3, size=len(X))
    weighted = fitted(model, X, y, sample_weight=weight)
    repeated = fitted(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(answers(weighted, X), answers(repeated, X), atol=1e-7)


@pytest.mark.parametrize("model", [FCM(12), EWFCM(12), SESSC(12), TSKClassifier(12)], ids=repr)
@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_order_and_weights_on_tables_of_whole_numbers(model, levels, seed):
    """Such tables are full of ties, which rounding must not settle."""
    rng = np.random.default_rng(seed)
    X = rng.integers(levels, size=(200, 7)).astype(float)
    y = (X.sum(axis=1) > X.sum(axis=1).mean()).astype(int)
    order, weight = rng.permutation(200), rng.integers(3, size=200)
    np.testing.assert_allclose(
        answers(fitted(model, X, y), X), answers(fitted(model, X[order], y[order]), X), atol=1e-7
    )
    weighted = fitted(model, X, y, sample_weight=weight)
    repeated = fitted(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(answers(weighted, X), answers(repeated, X), atol=1e-7)


@pytest.mark.parametrize("seed", [3, 111, 126, 150, 156, 195])
def test_of_starts_that_end_alike_the_first_is_kept(seed):
    """As many clusters as distinct rows: every start ends with the same cost, and rounding must not choose."""
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(60, 1)).astype(float)
    y, order, weight = rng.integers(3, size=60), rng.permutation(60), rng.integers(1, 4, size=60)
    model = SESSC(4, init="random", n_init=4, random_state=0)
    expected = clone(model).fit(X, y).transform(X)
    np.testing.assert_allclose(clone(model).fit(X[order], y[order]).transform(X), expected, atol=1e-7)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-7)


@pytest.mark.parametrize(
    "model", [SESSC(4), SESSCClassifier(4), TSKClassifier(4, class_weight="balanced")], ids=repr
)
def test_rows_of_weight_zero_do_not_exist(model, blobs):
    X, y = blobs
    weight = (y != 2).astype(float)  # a whole class goes
    weighted, without = fitted(model, X, y, sample_weight=weight), fitted(model, X[y != 2], y[y != 2])
    np.testing.assert_array_equal(weighted.classes_, [0, 1])
    np.testing.assert_allclose(answers(weighted, X), answers(without, X), atol=1e-9)


@pytest.mark.parametrize("model", CLUSTERERS + PREDICTORS, ids=repr)
def test_threads_change_no_bit(model, rng):
    X = rng.normal(size=(20_000, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    alone = fitted(model, X, y)
    shared = fitted(clone(model).set_params(n_jobs=2), X, y)
    np.testing.assert_array_equal(answers(alone, X), answers(shared, X))


@pytest.mark.parametrize("model", CLUSTERERS + PREDICTORS, ids=repr)
def test_where_the_data_lie_does_not_matter(model, blobs):
    X, y = blobs
    X = np.round(X * 2**20) / 2**20
    shift = 2.0**20 * np.arange(1, 6)  # exact in floating point
    here = fitted(started(model, X[:4]), X, y)
    there = fitted(started(model, X[:4] + shift), X + shift, y)
    np.testing.assert_allclose(answers(here, X), answers(there, X + shift), atol=1e-6)


@pytest.mark.parametrize("model", [TSKClassifier(4), TSKClassifier(4, order=1), TSKRegressor(4)], ids=repr)
def test_units_do_not_matter_to_rule_models(model, blobs):
    X, y = blobs
    units = 2.0 ** np.asarray([-30, -3, 0, 5, 40])
    here = fitted(started(model, X[:4]), X, y)
    there = fitted(started(model, X[:4] * units), X * units, y)
    np.testing.assert_allclose(here.firing(X), there.firing(X * units), atol=1e-9)
    np.testing.assert_allclose(there.rules_.centers_in_units, here.rules_.centers_in_units * units, rtol=1e-6)


@pytest.mark.parametrize("model", CLUSTERERS + PREDICTORS, ids=repr)
def test_float32_stays_float32_and_is_close(model, blobs):
    X, y = blobs
    single = X.astype(np.float32)
    low, high = (
        fitted(started(model, single[:4]), single, y),
        fitted(started(model, single[:4]), single.astype(float), y),
    )
    assert answers(low, single).dtype == np.float32
    values = [value for value in vars(low).values() if isinstance(value, np.ndarray) and value.ndim == 2]
    if hasattr(low, "rules_"):
        values += [low.rules_.centers, low.rules_.widths, low.rules_.consequents]
    assert {value.dtype for value in values} == {np.dtype(np.float32)}
    np.testing.assert_allclose(answers(low, single), answers(high, single.astype(float)), atol=1e-2)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 40),
    d=st.integers(1, 12),
    r=st.integers(1, 6),
    scale=st.sampled_from([1e-12, 1e-3, 1.0, 1e4, 1e12]),
    offset=st.sampled_from([0.0, 1.0, -1e9]),
    which=st.integers(0, len(CLUSTERERS) - 1),
)
def test_any_shape_and_scale_gives_memberships(seed, n, d, r, scale, offset, which):
    rng = np.random.default_rng(seed)
    X = offset + scale * rng.normal(size=(n, d))
    r = min(r, len(np.unique(X, axis=0)))
    model = fitted(clone(CLUSTERERS[which]).set_params(n_clusters=r), X, rng.integers(3, size=n))
    U = model.transform(X)
    assert np.all(U >= 0)
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-9)
    assert np.all(np.isfinite(model.cluster_centers_))
    assert np.all(np.isfinite(model.feature_weights_))
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize("estimator", [EWFCM, ESSC, SESSC])
def test_the_automatic_evenness_follows_scale_and_number_of_rows(estimator, rng):
    X = rng.normal(size=(80, 4)) * [1.0, 2.0, 0.5, 3.0]
    once = estimator(3, random_state=0).fit(X)
    assert once.gamma_ == pytest.approx(0.1 * len(X) * np.mean(X.var(axis=0)))
    larger = estimator(3, random_state=0, init=8 * once.cluster_centers_).fit(8 * X)
    again = estimator(3, random_state=0, init=once.cluster_centers_).fit(X)
    np.testing.assert_allclose(larger.feature_weights_, again.feature_weights_, rtol=1e-6)
    np.testing.assert_allclose(larger.transform(8 * X), again.transform(X), atol=1e-6)
    assert estimator(3, random_state=0).fit(np.repeat(X, 2, axis=0)).gamma_ == pytest.approx(2 * once.gamma_)
    assert estimator(2, gamma=7.0).fit(X).gamma_ == 7.0
