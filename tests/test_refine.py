"""Refinement: its slopes, that it never makes things worse, and that what comes out is a rule base."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

import sessc.tsk.refine
from sessc import FCM, TSKClassifier, TSKRegressor
from sessc.datasets import make_spiral
from sessc.rows.arrays import ArrayRows
from sessc.rows.columns import Category, Number, few
from sessc.rows.extent import gap_columns, standardized
from sessc.rows.read import read_rows
from sessc.rows.robust import LONGEST, robust
from sessc.rules.base import Conditions, design, filled, firing
from sessc.rules.conditions import impacts
from sessc.tsk.refine import (
    APART,
    GAP,
    ROUND,
    CrossEntropy,
    Descent,
    Ground,
    Moving,
    Prepared,
    Pulls,
    SquaredError,
    cost,
    plan_of,
    promise,
    refine,
    refine_all,
    slope,
)

COLUMNS = (Number("a"), Number("b"), Category("c", (0, 1, 2)), Category("d", (0, 1)))


def table(rng, n=60):
    """Two numbers, a category of three levels and one of two, with gaps in a number and in a category."""
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(3, size=n), rng.integers(2, size=n)])
    for column in (1, 2):
        X[rng.random(n) < 0.2, column] = np.nan
    return standardized(ArrayRows(X, columns=COLUMNS))


def problem(rng, loss, order):
    n_rules, n_outputs = 5, 3 if isinstance(loss, CrossEntropy) else 1
    rows, extent = table(rng)
    plan, samples = plan_of(extent), rows._kept_blocks[0]
    n = len(samples.X)
    Y = np.eye(3)[rng.integers(3, size=n)] if n_outputs == 3 else rng.normal(size=(n, 1))
    theta = np.where(plan.is_precision, 1.0, 0.0) + rng.normal(size=(n_rules, len(plan.group)))
    rules = Moving(theta, rng.normal(size=(n_rules, 1 + order * samples.X.shape[1], n_outputs)))
    return plan, plan.prepare(samples._replace(Y=Y, weight=rng.random(n))), rules


def test_what_descends_is_what_rules_compute(rng):
    """Logits and outputs of the plan are those of the conditions it stands for, gaps included."""
    rows, extent = table(rng)
    plan, samples = plan_of(extent), rows._kept_blocks[0]
    _, block, rules = problem(np.random.default_rng(7), SquaredError(), 1)
    block = plan.prepare(samples._replace(Y=np.zeros((len(samples.X), 1))))
    conditions = plan.conditions(rules)
    F = firing(samples, conditions)
    logits = rules.theta @ block.conditions.T
    np.testing.assert_allclose(F, np.exp(logits) / np.exp(logits).sum(axis=0), rtol=1e-9)
    inputs = filled(samples, plan.space.origin)
    said = design(F, inputs, 1) @ rules.consequents.reshape(-1, 1)
    lines = np.einsum("rn,rkc,nk->nc", F, rules.consequents, block.conclusions)
    np.testing.assert_allclose(said, lines, rtol=1e-9, atol=1e-12)
    again = plan.moving(conditions, rules.consequents)
    np.testing.assert_allclose(again.theta, rules.theta, rtol=1e-9, atol=1e-12)


def test_inputs_have_the_mean_zero_and_a_gap_adds_nothing_else(rng):
    rows, extent = table(rng)
    plan, samples = plan_of(extent), rows._kept_blocks[0]
    inputs = plan.prepare(samples._replace(Y=np.zeros((len(samples.X), 1)))).conditions
    own = np.isin(np.arange(inputs.shape[1]), [0, *range(inputs.shape[1] - len(plan.gaps), inputs.shape[1])])
    np.testing.assert_allclose(inputs[:, ~own].mean(axis=0), 0, atol=1e-12)
    for k, column in enumerate(samples.gap_columns):
        gone = samples.gaps[:, k] == 1
        assert np.all(inputs[gone][:, (plan.group == column) & ~own] == 0)


LOSSES = [CrossEntropy(), SquaredError(), CrossEntropy(own=0.7), SquaredError(own=0.7)]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_finite_differences(rng, loss, order):
    plan, block, rules = problem(rng, loss, order)
    _, _, start = problem(rng, loss, order)
    pulls = Pulls(ridge=0.3, start=0.2, small=0.4)

    def value(flat):
        moved = rules.like(flat)
        return (slope(loss, moved, block) + pulls(moved, start.theta, plan.prices(start.theta))).loss

    found, flat = (
        (slope(loss, rules, block) + pulls(rules, start.theta, plan.prices(start.theta))).flat(),
        rules.flat(),
    )
    steps = 1e-6 * np.eye(flat.size)
    expected = np.asarray([(value(flat + step) - value(flat - step)) / 2e-6 for step in steps])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_in_single_precision(rng, loss, order):
    _, block, rules = problem(rng, loss, order)
    single = Prepared(*(part.astype(np.float32) for part in block))
    exact, rounded = slope(loss, rules, block), slope(loss, rules, single)
    assert np.max(np.abs(rounded.flat() - exact.flat())) < 1e-4 * np.abs(exact.flat()).max()
    assert rounded.loss == pytest.approx(exact.loss, rel=1e-5)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_slope_is_a_sum_over_rows(rng, loss, order):
    _, block, rules = problem(rng, loss, order)
    whole = slope(loss, rules, block)
    first, second = (
        Prepared(block.conditions[rows], block.conclusions[rows], block.Y[:, rows], block.weight[rows])
        for rows in (slice(0, 17), slice(17, 60))
    )
    added = slope(loss, rules, first) + slope(loss, rules, second)
    np.testing.assert_allclose(added.flat(), whole.flat(), rtol=1e-10, atol=1e-12)
    assert added.loss == pytest.approx(whole.loss, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_loss_alone_is_that_beside_its_slope(rng, loss, order, weighted):
    _, block, rules = problem(rng, loss, order)
    block = block if weighted else block._replace(weight=None)
    assert cost(loss, rules, block) == slope(loss, rules, block).loss


def parts_of(loss, rules, block):
    """What all rules answer together costs, and what each by itself does, by how strongly it fires."""
    together = slope(replace(loss, own=0.0), rules, block).loss
    return together, slope(replace(loss, own=1.0), rules, block).loss - together


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES[:2], ids=repr)
def test_what_rules_say_alone_costs_never_less_than_what_they_say_together(loss, order):
    """By Jensen's inequality; the same, if all say the same, or if one rule speaks for each row."""
    for seed in range(20):
        _, block, rules = problem(np.random.default_rng(seed), loss, order)
        together, alone = parts_of(loss, rules, block)
        assert alone > together
        alike = replace(rules, consequents=np.broadcast_to(rules.consequents[:1], rules.consequents.shape).copy())
        together, alone = parts_of(loss, alike, block)
        assert alone == pytest.approx(together, rel=1e-12)
        together, alone = parts_of(loss, replace(rules, theta=1e6 * rules.theta), block)
        assert alone == pytest.approx(together, rel=1e-9)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES[:2], ids=repr)
def test_what_rules_say_alone_costs_against_plain_loops(rng, loss, order):
    _, block, rules = problem(rng, loss, order)
    expected = 0.0
    for n, weight in enumerate(block.weight):
        fires = np.exp(rules.theta @ block.conditions[n])
        for share, B in zip(fires / fires.sum(), rules.consequents, strict=True):
            says = block.conclusions[n, : len(B)] @ B
            if isinstance(loss, CrossEntropy):
                cost = np.log(np.sum(np.exp(says))) - says @ block.Y[:, n]
            else:
                cost = np.sum((says - block.Y[:, n]) ** 2)
            expected += weight * share * cost
    assert parts_of(loss, rules, block)[1] == pytest.approx(expected, rel=1e-12)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, y


@pytest.mark.parametrize("order", [0, 1])
def test_the_objective_never_rises(wine, order):
    model = TSKClassifier(4, order=order, refine=60, alpha=0.1, random_state=0).fit(*wine)
    history = model.refine_history_
    assert len(history) > 5
    assert np.all(np.diff(history) <= 0)
    X, y = load_diabetes(return_X_y=True)
    history = TSKRegressor(4, order=order, refine=60, alpha=1.0, random_state=0).fit(X, y).refine_history_
    assert np.all(np.diff(history) <= 0)


@pytest.mark.parametrize("faithfulness", [0.0, 0.6])
def test_the_history_is_the_loss_and_its_penalties(wine, faithfulness):
    X, y = wine
    settings = {"refine": 500, "alpha": 0.5, "pull": 0.0, "faithfulness": faithfulness}
    model = TSKClassifier(4, **settings, random_state=0).fit(X, y)
    B = model.rules_.consequents[:, 0]
    penalty = 0.5 * np.sum((B - B.mean(axis=0)) ** 2) / len(y)
    alone = np.log(np.exp(B).sum(axis=1)) - B.T[y]  # of each row by each rule
    own = faithfulness * np.mean(np.sum(model.firing(X) * alone, axis=1))
    loss = log_loss(y, model.predict_proba(X))
    assert model.refine_history_[-1] == pytest.approx(loss + own + penalty, rel=1e-9)


def test_what_rules_say_alike_costs_the_same_however_many_say_it():
    line = np.random.default_rng(0).normal(size=(1, 4, 2))

    def penalty(consequents):
        rules = Moving(np.zeros((len(consequents), 7)), consequents)
        plan = plan_of(standardized(ArrayRows(np.random.default_rng(0).normal(size=(9, 3))))[1])
        return Pulls(ridge=0.7)(rules, rules.theta, plan.prices(rules.theta)).loss

    alone = penalty(line)
    assert alone == pytest.approx(0.7 * np.sum(line[:, 1:] ** 2))
    assert penalty(np.repeat(line, 5, axis=0)) == pytest.approx(alone)
    apart = np.concatenate([line + 1, line - 1])
    assert penalty(apart) == pytest.approx(alone + 0.7 * 2 * (2 + APART * 6))


@pytest.mark.parametrize("own", [0.0, 1.0])
def test_one_linear_rule_is_logistic_regression(wine, own):
    """Which a price on what a rule says by itself only makes heavier, for it always speaks alone."""
    Z, y = StandardScaler().fit_transform(wine[0]), wine[1]
    rows, extent = standardized(ArrayRows(Z, y, n_classes=3))
    start = Moving(np.zeros((1, 1 + 2 * Z.shape[1])), np.full((1, 1 + Z.shape[1], 3), 1e-9))  # what is zero stays
    loss, pulls = CrossEntropy(own=own), Pulls(ridge=0.5 * (1 + own))
    rules, _ = refine(rows, plan_of(extent), start, loss, pulls, max_iter=5000, tol=1e-14)
    line = LogisticRegression(C=1.0, tol=1e-10, max_iter=5000).fit(Z, y)  # half a squared norm to a sum of losses
    slopes = rules.consequents[0, 1:]
    np.testing.assert_allclose(slopes.T, line.coef_, atol=1e-4)


def test_refinement_helps_and_its_probabilities_are_worth_using():
    X, y = make_spiral(800, random_state=0)
    plain, refined = (TSKClassifier(6, refine=k, random_state=0).fit(X[:400], y[:400]) for k in (0, 200))
    assert 1 - refined.score(X[400:], y[400:]) < 0.5 * (1 - plain.score(X[400:], y[400:]))
    assert log_loss(y[400:], refined.predict_proba(X[400:])) < 0.5 * log_loss(
        y[400:], plain.predict_proba(X[400:])
    )


def test_without_iterations_or_with_a_strong_pull_rules_stay_where_they_are(wine):
    X, y = wine
    assert len(TSKClassifier(3, random_state=0).fit(X, y).refine_history_) == 0
    held, free = (TSKRegressor(3, refine=30, pull=p, random_state=0).fit(X, X[:, 0]).rules_ for p in (1e9, 0.0))
    # Between where they began and asking for nothing.
    half = TSKRegressor(3, refine=30, pull=1e11, random_state=0).fit(X, X[:, 0]).rules_
    np.testing.assert_allclose(held.linear, half.linear, atol=1e-4)
    np.testing.assert_allclose(held.precisions, half.precisions, atol=1e-4)
    assert np.abs(free.linear - half.linear).max() > 0.01


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(rng, n_jobs):
    X = rng.normal(size=(20_000, 6))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    one = TSKClassifier(3, refine=5, random_state=0).fit(X, y).rules_
    more = TSKClassifier(3, refine=5, random_state=0, n_jobs=n_jobs).fit(X, y).rules_
    for name in ("constants", "linear", "precisions", "unknown", "consequents"):
        np.testing.assert_array_equal(getattr(one, name), getattr(more, name))


def test_the_same_seed_gives_the_same_rules(wine):
    first, second = (TSKClassifier(5, order=1, refine=50, random_state=3).fit(*wine).rules_ for _ in range(2))
    for name in ("constants", "linear", "precisions", "unknown", "consequents"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_constant_column_never_gets_a_condition(wine):
    X, y = wine
    X = np.column_stack([X, np.full(len(X), 3.0)])
    rules = TSKClassifier(4, refine=40, random_state=0).fit(X, y).rules_
    assert not np.any(rules.asks[:, -1])
    assert "x13" not in rules.to_text()


@pytest.mark.parametrize("settings", [{}, {"order": 1}, {"conditions": 3}])
def test_what_hardly_any_row_has_changes_nothing(settings):
    """Not even last bits, of which two hundred steps of descent would make something."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)  # of rows that are alike one may have what is rare
    rare = np.zeros((len(X), 10))
    rare[np.arange(10) * 7, np.arange(10)] = 1.0
    model = TSKClassifier(5, refine=200, class_weight="balanced", random_state=0, **settings)
    without = model.fit(X, y).predict_proba(X)
    beside = model.fit(np.concatenate([X, rare], axis=1), y)
    np.testing.assert_allclose(beside.predict_proba(np.concatenate([X, rare], axis=1)), without, atol=1e-12)


@pytest.mark.parametrize("far", [1e6, -1e9])
@pytest.mark.parametrize("settings", [{}, {"order": 1}, {"conditions": 3}])
def test_what_is_absurdly_far_from_all_others_is_no_value(wine, settings, far):
    """Rules learn what they would without it, to the last bit, and answer as if it lay at their limit."""
    X, y = wine
    typo, without = X.copy(), X.copy()
    typo[17, 4], without[17, 4] = far, np.nan
    model = TSKClassifier(4, refine=60, class_weight="balanced", random_state=0, **settings)
    found, expected = (clone(model).fit(table, y).rules_ for table in (typo, without))
    np.testing.assert_array_equal(found.outputs(X), expected.outputs(X))
    np.testing.assert_array_equal(found.outputs(without), expected.outputs(without))
    np.testing.assert_array_equal(found.limits, expected.limits)
    at_limit = np.where(typo == far, found.limits[int(far > 0)], X)
    np.testing.assert_array_equal(found.outputs(typo), found.outputs(at_limit))


@pytest.mark.parametrize("n", [40, 61, 300, 1001])
def test_it_is_none_among_any_number_of_rows(rng, n):
    X = np.round(rng.normal(size=(n, 3)), 2)
    y = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n)
    typo, without = X.copy(), X.copy()
    typo[3, 1], without[3, 1] = 1e6, np.nan
    model = TSKRegressor(3, refine=20, random_state=0)
    found, expected = (clone(model).fit(table, y).rules_ for table in (typo, without))
    np.testing.assert_array_equal(found.outputs(X), expected.outputs(X))


def lacks(X, **more):
    """In which columns cells count as missing while rules are learned."""
    rows, _ = robust(read_rows(FCM(), X, reset=True, **more), standardize=True)
    return gap_columns(rows)


def test_long_tails_and_rare_values_are_values(rng):
    for n in (100, 1000, 50_000):
        tails = np.exp(1.5 * rng.normal(size=(n, 4)))
        rare = np.zeros((n, 1))
        rare[::n] = 1e6
        assert lacks(np.concatenate([tails, rare], axis=1)) == ()
    tails[5, 2] = 1e7
    assert lacks(tails) == (2,)


def test_given_rules_keep_what_they_ask_of_a_column_that_never_varies_here(wine):
    X, y = wine
    rules = TSKClassifier(3, random_state=0).fit(X, y).rules_
    part = X[X[:, 12] < 700].copy()
    part[:, 12] = 500.0
    refined = TSKClassifier(rules=rules, refine=20).fit(part, y[X[:, 12] < 700]).rules_
    np.testing.assert_array_equal(refined.asks[:, 12], rules.asks[:, 12])


def test_refined_rules_are_rules(wine):
    X, y = wine
    model = TSKClassifier(4, refine=40, class_weight="balanced", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.rules_(X), model.predict(X))
    np.testing.assert_allclose(model.rules_.probabilities(X), model.predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert str(model.rules_).startswith("4 rules for classification")


def test_sample_weights_are_repetitions(wine, rng):
    X, y = wine
    weight = rng.integers(1, 3, size=len(y))
    settings = {"refine": 3, "random_state": 0}
    weighted = TSKClassifier(3, **settings).fit(X, y, sample_weight=weight)
    repeated = TSKClassifier(3, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_single_precision_stays_single(wine):
    X, y = wine
    rules = TSKClassifier(3, refine=10, random_state=0).fit(X.astype(np.float32), y).rules_
    parts = (*rules.conditions, rules.consequents, rules.mean, rules.scale, rules.fill, rules.limits)
    assert {part.dtype for part in parts} == {np.dtype(np.float32)}


def test_a_callback_can_end_it(rng):
    rows, extent = standardized(ArrayRows(rng.normal(size=(60, 4)), rng.integers(3, size=60), n_classes=3))
    rules = Moving(rng.random((5, 9)), rng.normal(size=(5, 1, 3)))
    calls = []
    _, history = refine(
        rows,
        plan_of(extent),
        rules,
        CrossEntropy(),
        Pulls(),
        max_iter=50,
        stop=lambda: len(calls) >= 3 or calls.append(1),
    )
    assert len(history) == 5  # the start, three iterations, and the one that was told to stop


@pytest.fixture
def last_bits(monkeypatch):
    """Sums whose last bits differ from run to run, as they do from processor to processor."""
    rng = np.random.default_rng(0)

    def inexact(loss, rules, block):
        found = slope(loss, rules, block)
        flat = found.flat()
        return replace(found.like(flat * (1 + 1e-15 * rng.normal(size=flat.shape))), loss=found.loss)

    monkeypatch.setattr(sessc.tsk.refine, "slope", inexact)


def test_last_bits_do_not_grow(last_bits):
    """The level of scores is free, and a strong penalty on it would turn rounding into motion."""
    X, y = load_breast_cancer(return_X_y=True)
    model = TSKClassifier(4, refine=100, alpha=100, faithfulness=0.2, random_state=0)
    one, other = (clone(model).fit(X[::2], y[::2]) for _ in range(2))
    np.testing.assert_allclose(one.rules_.linear, other.rules_.linear, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1])
def test_last_bits_do_not_decide_what_short_rules_say(last_bits, order):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    one, other = (
        TSKRegressor(2, order=order, refine=100, conditions=2, alpha=10, random_state=0) for _ in range(2)
    )
    np.testing.assert_array_equal(one.fit(X, y).rules_.asks, other.fit(X, y).rules_.asks)
    np.testing.assert_allclose(one.rules_.linear, other.rules_.linear, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1])
def test_the_level_of_scores_stays_where_it_is(wine, order):
    rules = TSKClassifier(3, order=order, refine=100, conditions=2, random_state=0).fit(*wine).rules_
    level = rules.consequents.sum(axis=2)
    np.testing.assert_allclose(level, np.broadcast_to(level[:1], level.shape), atol=1e-9)


def test_a_single_rule_is_left_alone():
    X, y = load_diabetes(return_X_y=True)
    whole, short = (TSKRegressor(1, order=1, refine=200, conditions=number).fit(X, y) for number in (None, 3))
    np.testing.assert_allclose(short.predict(X), whole.predict(X), rtol=1e-6)


def test_concise_rules_are_as_short_as_asked(wine):
    X, y = wine
    for conditions in (6, 2.5):
        model = TSKClassifier(4, refine=100, conditions=conditions, random_state=0).fit(X, y)
        rules = model.rules_
        assert rules.n_conditions.mean() <= conditions
        np.testing.assert_array_equal(rules.n_conditions, rules.asks.sum(axis=1))
        assert model.score(X, y) > 0.97
        np.testing.assert_array_equal(rules(X), model.predict(X))
    assert "A rule has" in str(rules)


def test_a_rule_that_adds_nothing_is_dropped(rng):
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)  # two rules say it all
    model = TSKClassifier(8, refine=200, conditions=1, random_state=0).fit(X, y)
    assert model.n_rules_ < 8
    assert len(model.rules_.linear) == model.n_rules_
    assert model.score(X, y) > 0.97


def test_short_rules_name_the_features_that_matter(rng):
    X = rng.normal(size=(500, 12))
    y = ((X[:, 3] > 0) ^ (X[:, 7] > 0)).astype(int)
    model = TSKClassifier(8, refine=300, conditions=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    impact = impacts(model.rules_).sum(axis=0)
    assert impact[[3, 7]].sum() >= 0.9 * impact.sum()


def test_conditions_need_refinement(wine):
    with pytest.raises(ValueError, match="set refine"):
        TSKClassifier(3, conditions=2).fit(*wine)


def test_accuracy_against_size_in_one_call(wine):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("agg")
    from sessc import AccuracySizeDisplay

    X, y = wine
    model = TSKClassifier(4, refine=40, random_state=0)
    shown = AccuracySizeDisplay.from_estimator(model, X, y, conditions=(4, 1, 2), cv=3)
    assert shown.conditions.tolist() == [1, 2, 4]
    assert shown.scores.shape == (3, 3)
    longest = cross_val_score(model.set_params(conditions=4), X, y, cv=3, scoring="balanced_accuracy")
    np.testing.assert_allclose(
        AccuracySizeDisplay.from_estimator(model.set_params(conditions=None), X, y, conditions=4, cv=3).scores[0],
        longest,
    )
    assert shown.ax_.get_xlabel() == "conditions per rule"
    mpl.pyplot.close("all")


@pytest.mark.parametrize("seed", range(4))
def test_dropping_rules_does_not_make_the_others_too_long(seed):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(y))[:120]
    model = TSKClassifier(10, refine=60, conditions=3, random_state=seed).fit(X[rows], y[rows])
    assert model.rules_.n_conditions.mean() <= 3


@pytest.mark.parametrize("pull", [0.0, 1.0])
def test_no_bell_is_narrower_than_the_data_can_tell(pull):
    X, y = load_breast_cancer(return_X_y=True)
    rules = TSKClassifier(5, refine=200, pull=pull, random_state=0).fit(X, y).rules_
    assert np.all(rules.widths >= LONGEST * few(len(X)) * (1 - 1e-12))


@pytest.mark.parametrize("beside", [(), (0, 1, 2)], ids=["alone", "beside others"])
def test_what_is_concluded_from_a_column_that_never_varies_is_part_of_the_constant(rng, beside):
    X = np.column_stack([rng.normal(size=(30, 2)), rng.integers(2, size=30), np.zeros(30)])[:, [*beside, 3]]
    columns = (*COLUMNS[:2], COLUMNS[3], Category("e", ("all",)))
    rows, extent = standardized(ArrayRows(X, columns=tuple(columns[j] for j in (*beside, 3))))
    plan, samples = plan_of(extent), rows._kept_blocks[0]
    assert plan.kept.tolist() == [True] * len(beside) + [False]
    layout = plan.space.layout
    shapes = (3,), (3, layout.n_features), (3, layout.n_numbers), (3, len(layout.levels))
    B = rng.normal(size=(3, 1 + layout.n_features, 2))
    moving = plan.moving(Conditions(*map(np.zeros, shapes)), B)
    block = plan.prepare(samples._replace(Y=np.zeros((30, 2))))
    inputs, again = np.concatenate([np.ones((30, 1)), samples.X], axis=1), plan.conclusions(moving)
    np.testing.assert_allclose(block.conclusions @ moving.consequents, inputs @ B, atol=1e-12)
    np.testing.assert_allclose(inputs[:, : again.shape[1]] @ again, inputs @ B, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_promise_is_the_slope_and_the_squares_of_what_each_row_adds(rng, loss, order, weighted):
    _, block, rules = problem(rng, loss, order)
    weight = np.where(rng.random(60) < 0.2, 0.0, block.weight) if weighted else np.ones(60)
    found = promise(loss, rules, block._replace(weight=weight if weighted else None))
    rows = [Prepared(*(part[[n]] for part in block[:2]), block.Y[:, [n]], None) for n in range(60)]
    each = np.stack([slope(loss, rules, row).theta for row in rows])
    np.testing.assert_allclose(found.slope, np.tensordot(weight, each, 1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.information, np.tensordot(weight, each**2, 1), rtol=1e-9, atol=1e-12)
    assert found.loss == pytest.approx(weight @ [slope(loss, rules, row).loss for row in rows])
    twice = found + found
    for part, whole in zip(found, twice, strict=True):
        np.testing.assert_array_equal(2 * part, whole)


@pytest.mark.parametrize("loss", LOSSES[:2], ids=repr)
def test_rounded_rules_are_about_the_same_whatever_their_last_bits_were(rng, loss):
    _, _, rules = problem(rng, loss, 1)
    rules.theta[:, 2], rules.consequents[:, 3] = 0.0, 0.0
    found = rules.rounded(loss)
    noisy = rules.like(rules.flat() * (1 + 1e-15 * rng.normal(size=rules.flat().shape)))
    np.testing.assert_array_equal(noisy.rounded(loss).flat(), found.flat())
    np.testing.assert_allclose(found.theta, rules.theta, rtol=2.0**-10)
    assert not np.any(found.theta[:, 2])
    steps = 2.0**10 * np.frexp(found.theta)[0]  # of which there are no parts
    np.testing.assert_array_equal(steps, np.round(steps))
    if loss.level_is_free:  # which stays, to a step that no last bits decide
        off = 2.0**30 * (rules.consequents - found.consequents).mean(axis=2)
        assert np.all((off > -0.31) & (off < 0.71))
    else:
        np.testing.assert_allclose(found.consequents, rules.consequents, rtol=2.0**-10)


def test_gaps_are_dear_constants_free_and_conditions_cheaper_the_more_they_asked_for(rng):
    plan = plan_of(table(rng)[1])
    start = rng.normal(size=(3, len(plan.group)))
    prices, first_gap = plan.prices(start), len(plan.group) - len(plan.gaps)
    assert plan.gaps == (1, 2)
    for r, k in np.ndindex(prices.shape):
        own = sum(start[r, i] ** 2 for i in range(len(plan.group)) if plan.group[i] == plan.group[k])
        dear = GAP if k >= first_gap else 1.0
        assert prices[r, k] == pytest.approx(0.0 if plan.group[k] < 0 else dear / (1 + own))


@pytest.mark.parametrize("n", [2, 16, 17, 100, 127, 128, 129, 511, 1000, 2049])
def test_blocks_have_a_round_number_of_rows_of_which_the_last_count_for_nothing(n):
    rng = np.random.default_rng(n)
    rows, extent = standardized(ArrayRows(rng.normal(size=(n, 2)), rng.integers(2, size=n), n_classes=2))
    ground = Ground.of(rows, plan_of(extent))
    n_more = len(ground.block.conditions) - n
    assert (n + n_more) % 16 == 0
    assert 0 <= n_more < max(16, min(ROUND, n / 8 + 1))
    rules = Moving(rng.normal(size=(3, 5)), rng.normal(size=(3, 3, 2)))
    whole = rows.prepared(ground.plan.prepare).whole()
    np.testing.assert_allclose(cost(LOSSES[0], rules, ground.block), cost(LOSSES[0], rules, whole), rtol=1e-12)


def test_columns_of_conditions_and_terms_are_those_with_a_coefficient(rng):
    plan = plan_of(table(rng)[1])
    n, n_terms = len(plan.group), len(plan.term_group)
    assert plan.group.tolist() == [-1, 0, 1, 2, 2, 2, 3, 3, 0, 1, 1, 2]
    assert plan.term_group.tolist() == [-1, 0, 1, 2, 2, 2, 3, 3]
    rules = Moving(np.eye(n), np.eye(n_terms)[:, :, None])
    asked = plan.group[:, None] == np.arange(4)
    said = plan.term_group[:, None] == np.arange(4)
    np.testing.assert_array_equal(plan.conditions_in(rules), asked)
    np.testing.assert_array_equal(plan.terms_in(rules), said)
    assert not plan.terms_in(Moving(np.eye(n), np.ones((n, 1, 2)))).any()  # constants conclude from nothing
    for group, alike in zip((plan.group, plan.term_group), plan.alike, strict=True):
        found = {
            column: own.tolist() for columns, inputs in alike for column, own in zip(columns, inputs, strict=True)
        }
        assert found == {column: np.flatnonzero(group == column).tolist() for column in range(4)}


@pytest.mark.parametrize("order", [0, 1])
def test_what_is_not_there_stays_away_and_the_rest_within_what_data_can_tell(rng, order):
    plan, _, rules = problem(rng, CrossEntropy(), order)
    ground = Ground.of(*table(np.random.default_rng(0))[:1], plan)
    rules.theta[0, plan.group == 1], rules.theta[1, plan.group == 2] = 0.0, 0.0
    if order:
        rules.consequents[2, plan.term_group == 3] = 0.0
    low, high = (rules.like(bound) for bound in Descent(ground, rules, CrossEntropy(), Pulls(), 1).bounds)
    steepest = plan.narrowest**-2.0
    for r, k in np.ndindex(rules.theta.shape):
        there, is_slope = plan.group[k] < 0 or rules.theta[r, k], k in (1, 2)
        most = steepest if plan.is_precision[k] else LONGEST * steepest if is_slope else np.inf
        least = 0.0 if plan.is_precision[k] else -most
        assert (low.theta[r, k], high.theta[r, k]) == ((least, most) if there else (0.0, 0.0))
    free = np.where(rules.consequents == 0, 0.0, np.inf)
    np.testing.assert_array_equal(high.consequents, free)
    np.testing.assert_array_equal(low.consequents, -free)


@pytest.mark.parametrize("many", [False, True])
def test_descents_made_together_are_those_made_alone(rng, monkeypatch, many):
    """To the last bit, each on its own rows, whether these are few or come in blocks."""
    if many:
        monkeypatch.setattr(ArrayRows, "whole", lambda rows: None)
    grounds = []
    for n in (60, 60, 75):
        rows, extent = standardized(ArrayRows(rng.normal(size=(n, 2)), rng.integers(2, size=n), n_classes=2))
        grounds.append(Ground.of(rows, plan_of(extent)))
    rules = [Moving(rng.normal(size=(3, 5)), rng.normal(size=(3, k, 2))) for k in (1, 1, 3, 3, 1)]
    descents = [
        Descent(grounds[k], start, CrossEntropy(), Pulls(0.1 * (1 + k)), max_iter=5 + k)
        for k, start in zip((0, 0, 1, 2, 2), rules, strict=True)
    ]
    for found, one in zip(refine_all(descents), descents, strict=True):
        [alone] = refine_all([one])
        np.testing.assert_array_equal(found.rules.flat(), alone.rules.flat())
        np.testing.assert_array_equal(found.history, alone.history)
        assert found.history[-1] < found.history[0]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_every_backend_finds_the_same_slopes(rng, loss, order, xp):
    _, block, rules = problem(rng, loss, order)
    expected = slope(loss, rules, block)
    found = slope(loss, rules, Prepared(*map(xp.asarray, block)))
    np.testing.assert_allclose(found.flat(), expected.flat(), rtol=1e-10, atol=1e-12)
    assert cost(loss, rules, Prepared(*map(xp.asarray, block))) == pytest.approx(expected.loss, rel=1e-12)


@pytest.mark.parametrize("part", ["linear", "precisions", "unknown"])
def test_a_column_that_never_varies_takes_part_if_anything_is_asked_of_it(rng, part):
    _, extent = standardized(ArrayRows(np.column_stack([rng.normal(size=30), np.full(30, 2.0)])))
    assert plan_of(extent).kept.tolist() == [True, False]
    nothing = Conditions(np.zeros(2), *(np.zeros((2, 2)) for _ in range(3)))
    assert plan_of(extent, nothing).kept.tolist() == [True, False]
    some = nothing._replace(**{part: np.asarray([[0.0, 0.0], [0.0, 1.0]])})
    assert plan_of(extent, some).kept.tolist() == [True, True]


def test_gaps_say_something_where_some_cells_are_there_and_some_are_not(rng):
    X = rng.normal(size=(200, 4))
    X[:, 1], X[:100, 2], X[:1, 3] = np.nan, np.nan, np.nan
    assert plan_of(standardized(ArrayRows(X, columns=tuple(map(Number, "abcd"))))[1]).gaps == (2,)
