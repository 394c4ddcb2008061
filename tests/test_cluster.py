"""What users do with clusterers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sessc import EWFCM, FCM, SESSC, SFP, SESSCClassifier, SESSCRegressor, SFPClassifier


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def test_fit_predict_is_fit_then_predict(iris):
    X, y = iris
    for model in (FCM(3, random_state=0), SESSC(3, random_state=0)):
        labels = model.fit_predict(X, y)
        np.testing.assert_array_equal(labels, model.predict(X))
        np.testing.assert_array_equal(labels, model.labels_)
        np.testing.assert_array_equal(labels, np.argmax(model.transform(X), axis=1))


def test_labels_help_in_fitting_and_are_never_needed_after(iris):
    X, y = iris
    with_labels, without = SESSC(3, random_state=0).fit(X, y), SESSC(3, random_state=0).fit(X)
    assert not np.allclose(with_labels.cluster_centers_, without.cluster_centers_)
    assert hasattr(with_labels, "rule_outputs_")
    assert not hasattr(without, "rule_outputs_")
    np.testing.assert_allclose(with_labels.rule_outputs_.sum(axis=1), 1)


def test_refitting_without_labels_forgets_outputs(iris):
    X, y = iris
    model = SESSC(3, random_state=0).fit(X, y)
    assert not hasattr(model.fit(X), "rule_outputs_")


def test_text_labels_and_real_targets(iris):
    X, y = iris
    names = np.asarray(["setosa", "versicolor", "virginica"])[y]
    by_name, by_code = SFP(3, random_state=0).fit(X, names), SFP(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(by_name.rule_outputs_, by_code.rule_outputs_)
    real = SESSC(3, loss="squared", random_state=0).fit(X, X[:, 0] + 0.123)
    assert real.rule_outputs_.shape == (3, 1)


def test_m_auto_is_the_papers(rng):
    for n, d, expected in ((50, 2, 2.0), (50, 3, 2.0), (50, 4, 3.0), (50, 11, 10 / 8), (5, 40, 5 / 3)):
        model = FCM(2, random_state=0).fit(rng.normal(size=(n, d)))
        assert model.m_ == pytest.approx(expected)
        assert model.m == "auto"
    weighted = FCM(2, random_state=0).fit(rng.normal(size=(5, 40)), sample_weight=np.full(5, 2.0))
    assert weighted.m_ == pytest.approx(10 / 8)


def test_more_starts_are_never_worse(iris):
    X, _ = iris
    one = FCM(6, init="random", random_state=3, m=1.5).fit(X)
    five = FCM(6, init="random", random_state=3, m=1.5, n_init=5).fit(X)
    assert five.objective_ <= one.objective_


def test_given_centres_are_used(iris):
    X, _ = iris
    model = FCM(3, init=X[[0, 60, 120]], max_iter=1, m=2.0).fit(X)
    U = 1 / ((X[:, None] - X[[0, 60, 120]]) ** 2).sum(-1).clip(1e-300)
    U /= U.sum(axis=1, keepdims=True)
    expected = (U**2).T @ X / (U**2).sum(0)[:, None]
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-8)


def test_warm_start_goes_on(iris):
    X, y = iris
    model = SESSC(4, max_iter=3, tol=0, warm_start=True, random_state=0).fit(X, y)
    first = model.objective_
    twice = model.fit(X, y)
    whole = SESSC(4, max_iter=6, tol=0, random_state=0).fit(X, y)
    assert twice.objective_ < first
    np.testing.assert_allclose(twice.cluster_centers_, whole.cluster_centers_, rtol=1e-9)
    assert twice.set_params(n_clusters=2).fit(X, y).cluster_centers_.shape == (2, 4)


def test_warm_start_after_other_labels_or_numbers(iris):
    X, y = iris
    model = SESSCClassifier(3, warm_start=True, random_state=0).fit(X[y < 2], y[y < 2])
    assert model.fit(X, y).rule_outputs_.shape == (3, 3)
    model = SESSC(3, loss="squared", warm_start=True, random_state=0).fit(X, y)
    assert model.fit(X, X[:, 0] + 0.05).rule_outputs_.shape == (3, 1)
    model = FCM(3, warm_start=True, random_state=0).fit(X)
    assert model.fit(X.astype(np.float32)).cluster_centers_.dtype == np.float32


def test_parameters_changed_after_fitting_change_nothing(iris):
    X, y = iris
    model = SESSC(3, random_state=0).fit(X, y)
    before = model.transform(X)
    np.testing.assert_array_equal(model.set_params(eta=0.9, gamma=0.1).transform(X), before)


def test_a_failed_fit_is_no_fit(iris):
    from sklearn.exceptions import NotFittedError

    model = FCM(200)
    with pytest.raises(ValueError, match="n_clusters=200"):
        model.fit(iris[0])
    with pytest.raises(NotFittedError):
        model.predict(iris[0])


def test_real_targets_far_from_zero(iris):
    X, _ = iris
    near = SESSC(3, loss="squared", eta=0, random_state=0).fit(X, X[:, 0] + 0.05)
    far = SESSC(3, loss="squared", eta=0, random_state=0).fit(X, X[:, 0] + 0.05 + 2.0**30)
    np.testing.assert_allclose(near.transform(X), far.transform(X), atol=1e-5)
    np.testing.assert_allclose(far.rule_outputs_ - 2.0**30, near.rule_outputs_, atol=1e-5)
    assert np.all(np.diff(far.objective_history_) <= 1e-6)


def test_a_variant_is_a_subclass(iris):
    """Researchers change the cost in one method, and rule models take the result."""
    from dataclasses import dataclass

    from sessc import Objective, TSKClassifier

    @dataclass(frozen=True)
    class Halved(Objective):
        def cost(self, coefficients, columns):
            return super().cost(coefficients, columns) / 2

    class Variant(SESSC):
        def make_objective(self):
            whole = super().make_objective()
            return Halved(whole.membership, whole.weighting, whole.eta, whole.loss)

    X, y = iris
    model = Variant(3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.transform(X), SESSC(3, random_state=0).fit(X, y).transform(X), atol=1e-6)
    rules, plain = (TSKClassifier(3, clusterer=c, random_state=0).fit(X, y) for c in (Variant(), SESSC()))
    np.testing.assert_allclose(rules.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_fits_in_threads_restore_blas():
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X = np.random.default_rng(0).normal(size=(2000, 8))
    before = threads()
    Parallel(4, prefer="threads")(delayed(FCM(3, random_state=seed).fit)(X) for seed in range(16))
    assert threads() == before


def test_memory_does_not_grow_with_rows():
    """Beyond the data, and one label for each row, a fit needs a few blocks whatever the number of rows."""
    import tracemalloc

    peaks = []
    for n in (60_000, 240_000):
        X = np.random.default_rng(0).normal(size=(n, 20))
        model = FCM(5, max_iter=3, init=X[:5])
        model.fit(X)
        tracemalloc.start()
        model.fit(X)
        peaks.append(tracemalloc.get_traced_memory()[1] - 8 * 2 * n)  # labels_, old and new
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_score_is_minus_the_cost(iris):
    X, _ = iris
    model = FCM(3, m=2.0, random_state=0, tol=1e-10, max_iter=500).fit(X)
    assert model.score(X) == pytest.approx(-model.objective_, rel=1e-6)
    assert model.score(X, sample_weight=np.full(len(X), 2.0)) == pytest.approx(2 * model.score(X))


def test_history_tells_the_story(iris):
    X, _ = iris
    model = EWFCM(3, random_state=0).fit(X)
    assert len(model.objective_history_) == model.n_iter_
    assert model.objective_history_[-1] == model.objective_
    assert np.all(np.diff(model.objective_history_) <= 1e-9)


def test_convergence_does_not_depend_on_units(iris):
    X, _ = iris
    assert FCM(3, random_state=0).fit(X).n_iter_ == FCM(3, random_state=0).fit(X * 2.0**40).n_iter_


def test_rounding_chooses_no_weights(rng):
    """A cluster of one sample has no scatter; its weights must not depend on how sums were rounded."""
    from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

    from sessc import AWFCM, SCAD

    for model in (AWFCM(8), SCAD(8), AWFCM(8, t=1), SCAD(8, penalty="l2"), SESSC(8)):
        check_sample_weight_equivalence_on_dense_data(type(model).__name__, model)


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_frames_in_and_out(frames, iris):
    frame = pytest.importorskip(frames)
    X = frame.DataFrame(iris[0], **({"columns": list("abcd")} if frames == "pandas" else {"schema": list("abcd")}))
    model = FCM(3, random_state=0).fit(X)
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.get_feature_names_out()) == ["fcm0", "fcm1", "fcm2"]
    found = model.set_output(transform=frames).transform(X)
    assert isinstance(found, frame.DataFrame)
    float32 = X.astype("float32") if frames == "pandas" else X.cast(frame.Float32)
    assert FCM(3).fit(float32).cluster_centers_.dtype == np.float32
    assert list(found.columns) == ["fcm0", "fcm1", "fcm2"]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_metadata_routing(iris, rng):
    import sklearn

    X, y = iris
    weight = rng.random(len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = SESSC(3, random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, model).fit(X, y, sample_weight=weight)
    direct = SESSC(3, random_state=0).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_allclose(routed[-1].cluster_centers_, direct.cluster_centers_)


def test_classifiers_vote_by_membership(iris):
    X, y = iris
    for model in (SESSCClassifier(5, random_state=0), SFPClassifier(5, random_state=0)):
        model.fit(X, y)
        expected = model.transform(X) @ model.rule_outputs_
        np.testing.assert_allclose(model.predict_proba(X), expected)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert model.score(X, y) >= 0.9


def test_regressor_speaks_the_units_of_the_target(iris):
    X, _ = iris
    y = 1e6 + 1e3 * X[:, 2]
    model = SESSCRegressor(8, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.all((model.rule_outputs_ >= y.min()) & (model.rule_outputs_ <= y.max()))


def test_fitting_changes_no_argument(iris):
    X, y = iris
    for model in (FCM(), SESSC(), SFP(), SESSCClassifier(), SESSCRegressor()):
        before = clone(model).get_params()
        assert model.fit(X, y).get_params() == before


def test_pickles_predict_the_same(iris):
    import pickle

    X, y = iris
    model = SESSCClassifier(4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
