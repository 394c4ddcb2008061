"""Rule models: estimator, rule base and published formulas say the same."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import formulas
from mixed import mixed_table
from sessc import EWFCM, FCM, SCAD, SESSC, SFP, TSKClassifier, TSKRegressor
from sessc.rows.columns import Number
from sessc.rules.base import Conditions, RuleBase, design, filled, firing
from sessc.rules.links import Identity, Proportions


@pytest.fixture
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("order", [0, 1])
def test_model_rules_and_formulas_agree(wine, order, standardize):
    X, y = wine
    X = X[:, :5] / (1 if standardize else X[:, :5].std(axis=0) * [1, 2, 0.5, 1.5, 0.7])
    clusterer = SESSC(gamma=5.0, eta=0.05, beta=0.5, m=1.6, max_iter=3, tol=0, init=X[[5, 70, 150]])
    settings = {"width_scale": 2.0, "alpha": 0.1, "standardize": standardize}
    model = TSKClassifier(3, order=order, clusterer=clusterer, **settings).fit(X, y)

    Z = StandardScaler(with_std=standardize).fit_transform(X)
    unit = 1 if standardize else X.std(axis=0)
    Y = np.eye(3)[y]
    _, V, W, outputs, _ = formulas.sessc(Z, Y, Z[[5, 70, 150]], m=1.6, gamma=5.0, eta=0.05, beta=0.5, n_iter=3)
    U = formulas.power_memberships(formulas.costs(Z, Y, V, W, outputs, 0.05, 0.5, "log"), 1.6)
    Sigma = formulas.widths(Z, U, V, 2.0)
    F = formulas.firing(Z, V, Sigma)
    P = formulas.regressors(Z, F, order)
    slopes, intercept = formulas.ridge(P, Y, 0.1)
    expected = P @ slopes + intercept

    np.testing.assert_allclose(unit * model.rules_.centers, V, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose((unit * model.rules_.widths) ** 2, Sigma, rtol=1e-10)
    np.testing.assert_allclose(model.firing(X), F, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)
    np.testing.assert_allclose(model.rules_.outputs(X), model.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(model.rules_.probabilities(X), model.predict_proba(X), atol=1e-10)
    np.testing.assert_array_equal(model.rules_(X), model.predict(X))
    np.testing.assert_array_equal(model.predict(X), np.argmax(expected, axis=1))


@pytest.mark.parametrize("order", [0, 1])
def test_regressor_rules_and_formulas_agree(wine, order):
    X, y = wine[0][:, :4], 100 + 20 * wine[0][:, 4]
    clusterer = EWFCM(m=1.6, gamma=5.0, max_iter=2, tol=0, init=X[[5, 70, 150]])
    model = TSKRegressor(3, order=order, clusterer=clusterer, width_scale=2.0, alpha=0.1).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    _, V, W, _, _ = formulas.sessc(Z, None, Z[[5, 70, 150]], m=1.6, gamma=5.0, eta=0, beta=0, n_iter=2)
    U = formulas.power_memberships(formulas.costs(Z, None, V, W, None, 0, 0, "log"), 1.6)
    P = formulas.regressors(Z, formulas.firing(Z, V, formulas.widths(Z, U, V, 2.0)), order)
    slopes, intercept = formulas.ridge(P, (y - y.mean()) / y.std(), 0.1)
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * (P @ slopes + intercept), rtol=1e-10)
    np.testing.assert_allclose(model.rules_(X), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("clusterer", [FCM(), SCAD(), EWFCM(), SFP(), SESSC(loss="squared")], ids=repr)
def test_any_clusterer_finds_rules(clusterer, wine):
    X, y = wine
    before = clusterer.get_params()
    model = TSKClassifier(6, clusterer=clusterer, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.rules_.n_rules == model.n_rules_ == 6
    assert clusterer.get_params() == before
    assert not hasattr(clusterer, "cluster_centers_")


def test_random_state_overrides_the_clusterers_only_if_given(wine):
    X, y = wine

    def centers(outer, inner):
        return TSKClassifier(5, clusterer=SESSC(random_state=inner), random_state=outer).fit(X, y).rules_.centers

    np.testing.assert_array_equal(centers(1, 2), centers(1, 3))
    np.testing.assert_array_equal(centers(None, 2), centers(None, 2))
    assert not np.array_equal(centers(None, 2), centers(None, 3))


def test_more_rules_than_distinct_rows(rng):
    X = np.repeat(rng.normal(size=(4, 3)), 10, axis=0)
    y = np.repeat([0, 1, 0, 1], 10)
    model = TSKClassifier(30, random_state=0).fit(X, y)
    assert model.n_rules_ == 4
    assert model.score(X, y) == 1


def test_one_rule_of_first_order_is_ridge_regression(wine):
    from sklearn.linear_model import Ridge

    X, y = wine[0][:, :5], wine[0][:, 5]
    Z = StandardScaler().fit_transform(X)
    model = TSKRegressor(1, order=1, alpha=2.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), Ridge(2.0).fit(Z, y).predict(Z), rtol=1e-9)


def test_binary_decisions_are_one_column(wine):
    X, y = wine
    names = np.where(y == 0, "yes", "no")
    model = TSKClassifier(5, random_state=0).fit(X, names)
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    np.testing.assert_array_equal(np.where(decision > 0, "yes", "no"), model.predict(X))
    np.testing.assert_array_equal(model.classes_[np.argmax(model.predict_proba(X), axis=1)], model.predict(X))


def test_balanced_classes_weigh_the_same(rng):
    X = np.concatenate([rng.normal(size=(190, 2)), rng.normal(1.5, 1, size=(10, 2))])
    y = np.repeat([0, 1], [190, 10])
    plain = TSKClassifier(4, random_state=0).fit(X, y)
    balanced = TSKClassifier(4, class_weight="balanced", random_state=0).fit(X, y)
    by_hand = TSKClassifier(4, class_weight={0: 200 / 380, 1: 10.0}, random_state=0).fit(X, y)
    assert balanced.predict(X).sum() > plain.predict(X).sum()
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X), rtol=1e-9)
    np.testing.assert_array_equal(balanced.rules_.centers, plain.rules_.centers)


def test_class_weights_count_repetitions(blobs, rng):
    X, y = blobs
    weight = rng.integers(3, size=len(X))
    model = TSKClassifier(4, class_weight="balanced", random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)


def test_importances_are_finite_differences(wine):
    X, y = wine
    X = X[:, :4]
    for order in (0, 1):
        model = TSKClassifier(3, order=order, random_state=0).fit(X, y)
        step = 1e-5 * X.std(axis=0)
        slopes = np.empty((len(X), 4, 3))
        for d in range(4):
            nudge = np.eye(4)[d] * step
            slopes[:, d] = (model.rules_.outputs(X + nudge) - model.rules_.outputs(X - nudge)) / 2e-5
        size = np.sqrt((slopes**2).sum(axis=(0, 2)))
        np.testing.assert_allclose(model.feature_importances_, size / size.sum(), rtol=1e-5)


def test_importance_finds_what_matters(rng):
    X = rng.normal(size=(400, 4)) * [1, 100, 1, 1]
    model = TSKClassifier(6, random_state=0).fit(X, X[:, 1] > 0)
    assert np.argmax(model.feature_importances_) == 1
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_constant_feature_has_no_condition(blobs):
    X, y = blobs
    model = TSKClassifier(4, random_state=0).fit(X, y)
    assert np.all(np.isinf(model.rules_.widths[:, -1]))
    assert model.feature_importances_[-1] == 0
    changed = X.copy()
    changed[:, -1] = 1e6
    np.testing.assert_allclose(model.predict_proba(changed), model.predict_proba(X))


def test_rules_learned_without_standardising_are_written_in_z_scores_all_the_same(wine):
    X, y = wine
    model = TSKRegressor(4, standardize=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.rules_.scale, X.std(axis=0))
    np.testing.assert_allclose(model.rules_.mean, X.mean(axis=0))
    change = model.explain(X[0]).changes[0]
    whole = 0.5 * bool(np.all(X[:, change.feature] == np.round(X[:, change.feature])))  # which stay whole
    assert abs(change.value - X[0, change.feature]) == pytest.approx(X[:, change.feature].std(), abs=whole)


def test_log_loss_cannot_take_real_targets(wine):
    X, _ = wine
    with pytest.raises(ValueError, match='loss="squared"'):
        TSKRegressor(3, clusterer=SESSC()).fit(X, X[:, 0])


def test_importances_are_per_standard_deviation_in_any_units(wine):
    X, y = wine
    model = TSKClassifier(3, standardize=False, clusterer=SESSC(init=X[[5, 70, 150]])).fit(X, y)
    step = 1e-5 * X.std(axis=0)
    slopes = [
        (model.rules_.outputs(X + nudge) - model.rules_.outputs(X - nudge)) / 2e-5 for nudge in np.diag(step)
    ]
    size = np.sqrt((np.asarray(slopes) ** 2).sum(axis=(1, 2)))
    np.testing.assert_allclose(model.feature_importances_, size / size.sum(), rtol=1e-4, atol=1e-8)


def test_parameters_of_the_default_clusterer_can_be_set(wine):
    from sklearn.model_selection import GridSearchCV

    model = TSKClassifier(3, random_state=0).set_params(clusterer__gamma=3.0, alpha=1.0)
    assert model.clusterer.gamma == 3.0
    assert model.alpha == 1.0
    assert TSKRegressor().set_params(clusterer__gamma=3.0).clusterer.loss == "squared"
    search = GridSearchCV(TSKClassifier(3, random_state=0), {"clusterer__gamma": [1, 10]}, cv=3).fit(*wine)
    assert search.best_params_["clusterer__gamma"] in (1, 10)


def test_a_rule_base_takes_what_predict_takes(wine):
    pandas = pytest.importorskip("pandas")
    X, y = wine
    frame = pandas.DataFrame(X, columns=[f"f{d}" for d in range(13)])
    frame["f2"] = frame["f2"] > 2.3
    frame["f3"] = frame["f3"].astype("Float64")
    model = TSKClassifier(3, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.rules_(frame), model.predict(frame))
    np.testing.assert_array_equal(model.rules_(frame[frame.columns[::-1]]), model.predict(frame))
    with pytest.raises(ValueError, match="f12"):
        model.rules_(frame[frame.columns[:-1]])
    np.testing.assert_array_equal(model.rules_(frame.to_numpy()), model.predict(frame))


def test_a_rule_base_survives_pickling_immutable(wine):
    import pickle

    rules = TSKClassifier(3, random_state=0).fit(*wine).rules_
    again = pickle.loads(pickle.dumps(rules))
    np.testing.assert_array_equal(again.outputs(wine[0]), rules.outputs(wine[0]))
    with pytest.raises(ValueError, match="read-only"):
        again.linear[0, 0] = 1.0


def test_class_weights_for_a_class_that_a_fold_lacks(wine):
    X, y = wine
    weights = {0: 1.0, 1: 2.0, 2: 3.0}
    assert TSKClassifier(3, class_weight=weights, random_state=0).fit(X[y < 2], y[y < 2]).score(X, y) > 0.5


def test_a_rule_base_is_immutable(wine):
    rules = TSKClassifier(3, random_state=0).fit(*wine).rules_
    with pytest.raises(FrozenInstanceError):
        rules.linear = np.zeros((3, 13))
    with pytest.raises(ValueError, match="read-only"):
        rules.linear[0, 0] = 1.0
    assert replace(rules, columns=tuple(map(Number, "abcdefghijklm"))).feature_names[0] == "a"
    assert repr(rules) == "<RuleBase: 3 rules of order 0, 13 features, 3 classes>"
    amount = TSKRegressor(2, order=1, random_state=0).fit(wine[0], wine[0][:, 0]).rules_
    assert repr(amount) == "<RuleBase: 2 rules of order 1, 13 features, regression>"


def test_a_rule_base_can_be_written_by_hand():
    rules = RuleBase.bells(
        centers=np.asarray([[0.0], [10.0]]),
        widths=np.asarray([[1.0], [np.inf]]),
        consequents=np.asarray([[[1.0, 0.0]], [[0.0, 1.0]]]),
        mean=np.zeros(1),
        scale=np.ones(1),
        link=Proportions(),
        feature_names=("x",),
        classes=np.asarray(["low", "high"]),
    )
    np.testing.assert_allclose(rules.firing([[0.0]]), [[0.5, 0.5]])
    np.testing.assert_array_equal(rules([[0.1], [3.0]]), ["high", "high"])


def test_far_from_every_rule_something_still_fires(wine):
    model = TSKClassifier(5, random_state=0).fit(*wine)
    F = model.firing(np.full((1, 13), 1e12))
    np.testing.assert_allclose(F.sum(), 1)


def test_proportions_keep_the_winner(rng):
    outputs = rng.normal(size=(100, 4))
    outputs += (1 - outputs.sum(axis=1, keepdims=True)) / 4
    probabilities = Proportions()(outputs)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(np.argmax(probabilities, 1), np.argmax(outputs, 1))
    np.testing.assert_allclose(Proportions()(-np.ones((1, 4))), 0.25)
    assert Identity()(outputs) is outputs


def test_a_dead_start_still_makes_rules(wine):
    X, y = wine
    centers = np.vstack([X[:2], np.full((1, 13), 1e9)])
    model = TSKClassifier(3, clusterer=SESSC(init=centers)).fit(X, y)
    assert np.all(np.isfinite(model.rules_.outputs(X)))


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_frames_name_rules(frames):
    frame = pytest.importorskip(frames)
    X, y = load_iris(return_X_y=True)
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    X = frame.DataFrame(X, **({"columns": names} if frames == "pandas" else {"schema": names}))
    y = frame.Series(y, name="species") if frames == "pandas" else frame.Series("species", y)
    model = TSKClassifier(3, random_state=0).fit(X, y)
    assert model.rules_.feature_names == tuple(names)
    assert model.rules_.target_name == "species"
    np.testing.assert_array_equal(model.rules_(X), model.predict(X))


@pytest.mark.parametrize("settings", [{}, {"refine": 5}])
def test_a_single_rule_has_no_conditions(settings):
    X, y = load_iris(return_X_y=True)
    rules = TSKClassifier(1, order=1, random_state=0, **settings).fit(X, y).rules_
    assert rules.n_conditions.tolist() == [0]
    assert "  ALWAYS " in str(rules)


@pytest.mark.parametrize("remembers", [True, False])
@pytest.mark.parametrize("order", [0, 1])
def test_slopes_are_finite_differences_and_spreads_over_levels(order, remembers, rng):
    X, y = mixed_table(80)
    rules = TSKRegressor(3, order=order, refine=5, random_state=0).fit(X, y).rules_
    rules = rules if remembers else replace(rules, summary=None)
    seen, B = rules.seen(X), rules.consequents.reshape(-1, 1)

    def answers(features):
        moved = seen._replace(X=features)
        return (design(firing(moved, rules.conditions), filled(moved, rules.fill), order) @ B)[:, 0]

    steps = 1e-5 * np.eye(rules.layout.n_features)
    slopes = np.stack([(answers(seen.X + step) - answers(seen.X - step)) / 2e-5 for step in steps], axis=1)
    expected = np.empty((len(X), rules.n_features))
    for column, n_levels in enumerate(rules.layout.levels):
        own = slopes[:, rules.layout.features_of(column)]
        if n_levels:
            shares = rules.summary.levels[column] if remembers else rules.fill[rules.layout.features_of(column)]
            own = own - (own @ shares / shares.sum())[:, None]
            expected[:, column] = own**2 @ shares / shares.sum()
        else:
            expected[:, column] = own[:, 0] ** 2
    np.testing.assert_allclose(rules.slopes(X), expected, rtol=1e-5, atol=1e-6 * expected.max())


@pytest.mark.parametrize("n_outputs", [None, 2, 3, 4])
@pytest.mark.parametrize("n_rules", [1, 3])
def test_the_size_is_what_there_is_to_read(n_outputs, n_rules):
    """Rules, conditions where there are several rules, and twice each term of each line that is printed."""
    centers, widths = np.zeros((n_rules, 3)), np.where(np.arange(3) < 1, 1.0, np.inf) * np.ones((n_rules, 1))
    B = np.ones((n_rules, 4, n_outputs or 1))
    B[:, 2:] = 0.0
    classes = None if n_outputs is None else np.arange(n_outputs)
    parts = (np.zeros(3), np.ones(3), Identity() if classes is None else Proportions(), ("a", "b", "c"))
    linear, plain = (RuleBase.bells(centers, widths, part, *parts, classes=classes) for part in (B, B[:, :1]))
    n_conditions = n_rules if n_rules > 1 else 0
    n_lines = {None: 1, 2: 1}.get(n_outputs, n_outputs)
    assert (plain.size, linear.size) == (
        n_rules + n_conditions,
        3 * n_rules + n_conditions + 2 * n_rules * (n_lines - 1),
    )
    assert linear.n_terms.tolist() == [1] * n_rules
    assert plain.n_terms.tolist() == [0] * n_rules


@pytest.mark.parametrize("kind", [int, bool, object, np.float16, np.float32, np.float64])
def test_numbers_of_any_kind_are_the_same_numbers(kind, rng):
    X = rng.normal(size=(60, 2))
    rules = TSKRegressor(2, random_state=0).fit(X, X[:, 0]).rules_
    Z = np.round(X).astype(kind)
    assert rules.cells(Z).dtype == (np.float32 if kind is np.float32 else np.float64)
    np.testing.assert_allclose(rules(Z), rules(Z.astype(float)), rtol=1e-5)


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_arrays_of_dates_are_tables(rng, unit):
    X = np.datetime64("2021-01-01") + rng.integers(0, 700, size=(60, 2)).astype("timedelta64[D]")
    X = X.astype(f"datetime64[{unit}]")
    model = TSKRegressor(2, random_state=0).fit(X, X[:, 0].astype(float))
    np.testing.assert_array_equal(model.rules_(X), model.predict(X))


def test_lines_along_a_single_column_are_of_first_order(rng):
    X = rng.normal(size=(60, 1))
    model = TSKRegressor(2, order=1, random_state=0).fit(X, X[:, 0] ** 2)
    assert model.rules_.order == 1
    assert model.rules_.n_terms.tolist() == [1, 1]
    np.testing.assert_allclose(model.rules_(X), model.predict(X))
    step = 1e-6 * X.std()
    slopes = (model.rules_.outputs(X + step) - model.rules_.outputs(X - step)) / 2e-6
    np.testing.assert_allclose(model.rules_.slopes(X), slopes**2, rtol=1e-5, atol=1e-8)


def test_a_missing_cell_adds_to_bells_what_cells_add_on_average(rng):
    z = np.asarray([-1.0, 1.0])  # mean zero and variance one
    centers, widths = rng.normal(size=(3, 2)), 0.5 + rng.random((3, 2))
    constants, linear, precisions, unknown = Conditions.bells(centers, widths)
    adds = linear[..., None] * z - 0.5 * precisions[..., None] * z**2
    np.testing.assert_allclose(unknown, adds.mean(axis=2))
    at_top = constants + np.sum(linear * centers - 0.5 * precisions * centers**2, axis=1)
    np.testing.assert_allclose(at_top, 0.0, atol=1e-12)
