"""Rules made shorter: what changes nothing, what limits mean, and that accuracy does not collapse."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score

from sessc import TSKClassifier, TSKRegressor
from sessc.rows.arrays import ArrayRows
from sessc.rows.columns import Category, Number
from sessc.rows.extent import standardized
from sessc.tsk.refine import (
    CrossEntropy,
    Descent,
    Ground,
    Moving,
    Prepared,
    Pulls,
    SquaredError,
    plan_of,
    promise,
    refine,
    refine_all,
    slope,
    together,
)
from sessc.tsk.simplify import NO_LIMIT, Cut, Limit, _Way, concise, impacts, least_said

COLUMNS = (Number("a"), Number("b"), Number("c"), Category("d", (0, 1, 2)), Category("e", (0, 1)))
LOSSES = [CrossEntropy(own=0.3), SquaredError(own=0.3)]


def table(rng, loss, n=90):
    """Rows of numbers and categories with gaps, whose labels have to do with the first and the fourth."""
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(3, size=n), rng.integers(2, size=n)])
    said = X[:, 0] + (X[:, 3] == 1) + 0.3 * rng.normal(size=n)
    for column in (1, 3):
        X[rng.random(n) < 0.1, column] = np.nan
    is_class = loss.level_is_free
    y = np.digitize(said, [-0.3, 0.8]) if is_class else said
    rows, extent = standardized(ArrayRows(X, y, n_classes=3 if is_class else None, columns=COLUMNS))
    return rows, plan_of(extent)


def some_rules(rng, plan, loss, order, n_rules=5, share=0.7):
    """Rules that ask about each column, and conclude from it, with this chance."""
    group, n_columns = plan.group, len(COLUMNS)
    theta = rng.normal(size=(n_rules, len(group)))
    theta[:, plan.is_precision] = np.abs(theta[:, plan.is_precision])
    asks, says = (
        np.column_stack([rng.random((n_rules, n_columns)) < share, np.ones(n_rules, bool)]) for _ in range(2)
    )
    about = plan.term_group[: 1 + order * len(plan.term_group)]
    consequents = rng.normal(size=(n_rules, len(about), 3 if loss.level_is_free else 1))
    if loss.level_is_free:  # least squares leaves it at zero, and so does descent
        consequents -= consequents.mean(axis=2, keepdims=True)
    return Moving(np.where(asks[:, group], theta, 0.0), np.where(says[:, about, None], consequents, 0.0))


def answers(rows, plan, rules):
    """What rules say of each row together, by plain formulas."""
    found = []
    for samples in rows._kept_blocks:
        block = plan.prepare(samples)
        logits = rules.theta @ block.conditions.T
        F = np.exp(logits - logits.max(axis=0))
        inputs = block.conclusions[:, : rules.consequents.shape[1]]
        found.append(np.einsum("rn,rkc,nk->nc", F / F.sum(axis=0), rules.consequents, inputs))
    return np.concatenate(found)


def cost(rows, plan, rules, loss, pulls):
    """What descent of short rules goes down on, of which something was cut."""
    ready, held = rows.prepared(plan.prepare), rules.held(plan)
    return (ready.sum(partial(slope, loss, rules)) + pulls(rules, held, plan.prices(held))).loss


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n_rules", [2, 5])
def test_what_all_rules_ask_alike_is_said_by_nobody(order, share, n_rules):
    """The same answers with no more conditions: of every column there is a rule that does not ask about it."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows, plan = table(rng, LOSSES[0])
        rules = Cut.of(some_rules(rng, plan, LOSSES[0], order, n_rules, share))
        least = least_said(Ground.of(rows, plan), rules)
        np.testing.assert_allclose(answers(rows, plan, least), answers(rows, plan, rules), rtol=0, atol=1e-12)
        asked, asks = plan.conditions_in(rules), plan.conditions_in(least)
        assert not asks.all(axis=0).any()
        assert np.sum(~asks.any(axis=1)) <= 1
        assert asks.sum() <= asked.sum() - asked.all(axis=0).sum()
        assert np.all(least.theta[:, plan.is_precision] >= 0)
        if len(asks) == n_rules:
            assert not np.any(asks & ~asked)
            again = least_said(Ground.of(rows, plan), least)
            np.testing.assert_array_equal(again.theta, least.theta)


def test_rules_that_ask_nothing_are_one_that_counts_as_much():
    """Of rules without conditions one is left, which says their mean, by how much each counted."""
    rng = np.random.default_rng(0)
    rows, plan = table(rng, LOSSES[0])
    rules = some_rules(rng, plan, LOSSES[0], 1)
    rules.theta[1::2, 1:] = 0.0
    least = least_said(Ground.of(rows, plan), Cut.of(rules))
    assert len(least.theta) == 4
    size = np.exp(rules.theta[1::2, 0])
    assert np.exp(least.theta[1, 0]) == pytest.approx(size.sum())
    mean = np.tensordot(size / size.sum(), rules.consequents[1::2], axes=1)
    np.testing.assert_allclose(least.consequents[1], mean, rtol=1e-12)
    np.testing.assert_allclose(answers(rows, plan, least), answers(rows, plan, rules), rtol=0, atol=1e-12)


def test_impact_is_the_spread_of_what_a_column_adds(rng):
    """Of a condition to the logit of its rule, of a term to what the rule says; nothing for what is not there."""
    rows, plan = table(rng, LOSSES[0])
    rules = some_rules(rng, plan, LOSSES[0], 1)
    of_conditions, of_terms = impacts(Ground.of(rows, plan), rules)
    block = plan.prepare(rows._kept_blocks[0])
    for j in range(len(COLUMNS)):
        asked, said = plan.group == j, plan.term_group == j
        adds = block.conditions[:, asked] @ rules.theta[:, asked].T
        np.testing.assert_allclose(of_conditions[:, j], adds.std(axis=0), rtol=1e-9)
        adds = np.einsum("nk,rkc->nrc", block.conclusions[:, said], rules.consequents[:, said])
        np.testing.assert_allclose(of_terms[:, j], np.sqrt(adds.var(axis=0).sum(axis=1)), rtol=1e-9)
    np.testing.assert_array_equal(of_conditions > 0, plan.conditions_in(rules))
    np.testing.assert_array_equal(of_terms > 0, plan.terms_in(rules))


LIMITS = [Limit(4), Limit(2.5), Limit(1)]
BOTH = [NO_LIMIT, Limit(3, 3), Limit(2, 3), Limit(2, 1), Limit(terms=1)]


def shortened(rng, loss, order, limits, n_rules=5):
    rows, plan = table(rng, loss)
    pulls = Pulls(ridge=0.1, start=0.1, small=0.1)
    rules, _ = refine(rows, plan, some_rules(rng, plan, loss, order, n_rules, 1.0), loss, pulls, max_iter=30)
    [found] = together([concise(Ground.of(rows, plan), rules, loss, pulls, limits, max_iter=60)])
    return rows, plan, pulls, rules, found


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("order", "limits"), [(0, LIMITS), (1, LIMITS), (1, BOTH)])
def test_limits_are_kept_on_average(rng, loss, order, limits):
    _, plan, _, rules, found = shortened(rng, loss, order, limits)
    for limit, short in zip(limits, found, strict=True):
        asks, says = plan.conditions_in(short), plan.terms_in(short)
        assert limit.conditions is None or len(asks) == 1 or asks.sum() <= limit.conditions * len(asks)
        assert limit.terms is None or says.sum() <= limit.terms * len(says)
        assert np.all(short.theta[:, plan.is_precision] >= 0)
        assert limit.is_none or np.sum(~asks.any(axis=1)) <= 1
        assert not limit.is_none or short is rules


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("order", [0, 1])
def test_to_allow_more_on_one_way_is_never_worse(loss, order):
    limits = [Limit(4), Limit(3), Limit(2), Limit(1), Limit(0.5)]
    for seed in range(3):
        rows, plan, pulls, _, found = shortened(np.random.default_rng(seed), loss, order, limits)
        costs = [cost(rows, plan, short, loss, pulls) for short in found]
        assert np.all(np.diff(costs) >= -1e-9 * np.abs(costs[0]))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("order", [0, 1])
def test_what_rules_could_gain_is_what_each_row_tells(rng, loss, order):
    """The slope along what is not asked yet, and the squares of what rows add to it, a row at a time."""
    rows, plan = table(rng, loss)
    rules, block = some_rules(rng, plan, loss, order), plan.prepare(rows._kept_blocks[0])
    block = block._replace(weight=rng.integers(1, 3, size=len(block.conditions)).astype(float))
    slopes, squares = 0.0, 0.0
    for n in range(len(block.conditions)):
        one = Prepared(block.conditions[n : n + 1], block.conclusions[n : n + 1], block.Y[:, n : n + 1], None)
        adds = slope(loss, rules, one).theta
        slopes, squares = slopes + block.weight[n] * adds, squares + block.weight[n] * adds**2
    found = promise(loss, rules, block)
    np.testing.assert_allclose(found.slope, slopes, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.information, squares, rtol=1e-9, atol=1e-12)
    assert found.loss == pytest.approx(slope(loss, rules, block).loss)


def test_the_less_is_left_of_rules_the_more_of_it_is_held(rng):
    """Whole rules are held where they are; of others what is there, louder by the root of how much is gone."""
    _, plan = table(rng, LOSSES[0])
    rules = some_rules(rng, plan, LOSSES[0], 0, share=1.0)
    whole = Cut.of(rules)
    constant = np.where(plan.group == -1, 0.0, 1.0)
    np.testing.assert_array_equal(whole.held(plan), constant * rules.theta)
    left = np.isin(plan.group, [1, 3])
    cut = whole.moved(Moving(np.where(left, 7.0, 0.0) + 0 * rules.theta, rules.consequents))
    np.testing.assert_allclose(cut.held(plan), np.sqrt(5 / 2) * left * rules.theta)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_what_was_cut_too_early_comes_back(loss):
    """Rules that were left with the wrong conditions exchange them for those that the labels have to do with."""
    rng = np.random.default_rng(0)
    rows, plan = table(rng, loss, n=300)
    rules = some_rules(rng, plan, loss, 0, n_rules=3, share=1.0)
    rules.theta[:, np.isin(plan.group, [0, 3])] = 0.0
    rules = Cut.of(rules)
    way = _Way(Ground.of(rows, plan), loss, Pulls(ridge=0.1, small=0.1), max_iter=100)
    [settled] = together([way.settled(rules)])
    [other] = together([way.exchanged(settled, Limit(2))])
    assert way.objective(other) < way.objective(settled)
    assert plan.conditions_in(other)[:, [0, 3]].any(axis=0).all()
    assert not any(way.too_many(other, Limit(2)))


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_descents_together_are_those_one_by_one(loss, order):
    """To the last bit, on the same rows or others, with other penalties and for as long as each needs."""
    grounds = [
        Ground.of(*table(np.random.default_rng(seed), loss, n=n)) for seed, n in ((0, 90), (1, 90), (2, 71))
    ]
    descents = [
        Descent(
            ground,
            some_rules(np.random.default_rng(seed), ground.plan, loss, order, n_rules),
            loss,
            Pulls(ridge=ridge, small=0.1),
            max_iter,
        )
        for seed, (ground, ridge, n_rules, max_iter) in enumerate(product(grounds, (0.01, 1.0), (3, 4), (5, 60)))
    ]
    for one, found in zip(descents, refine_all(descents), strict=True):
        [alone] = refine_all([one])
        np.testing.assert_array_equal(found.rules.theta, alone.rules.theta)
        np.testing.assert_array_equal(found.rules.consequents, alone.rules.consequents)
        np.testing.assert_array_equal(found.history, alone.history)


def test_ways_go_on_by_themselves_and_ask_together():
    asked = []

    def way(name, steps):
        for k in range(steps):
            asked.append((name, k))
            [_] = yield [ask]
        return name

    rng = np.random.default_rng(0)
    rows, plan = table(rng, LOSSES[0])
    ask = Descent(Ground.of(rows, plan), some_rules(rng, plan, LOSSES[0], 0), LOSSES[0], Pulls(), 1)
    assert together([way("a", 3), way("b", 0), way("c", 2)]) == ["a", "b", "c"]
    assert asked == [("a", 0), ("c", 0), ("a", 1), ("c", 1), ("a", 2)]
    assert together([]) == []


def test_what_is_asked_for_together_is_found_as_if_asked_for_in_any_order(rng):
    *_, found = shortened(np.random.default_rng(0), LOSSES[0], 1, BOTH)
    *_, turned = shortened(np.random.default_rng(0), LOSSES[0], 1, BOTH[::-1])
    for one, other in zip(found, turned[::-1], strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)


def test_a_single_rule_has_no_conditions_to_lose_and_terms_like_any(rng):
    limits = [Limit(1), Limit(terms=2), Limit(1, 2), NO_LIMIT]
    _, plan, _, rules, found = shortened(rng, LOSSES[0], 1, limits, n_rules=1)
    assert found[0] is found[3] is rules
    for short in found[1:3]:
        assert plan.terms_in(short).sum() == 2
        assert plan.terms_in(short)[0, 0]  # one of those that the labels have to do with


def test_what_rules_leave_out_stays_out(rng):
    """Descent moves what is there, and nothing else."""
    loss = LOSSES[0]
    rows, plan = table(rng, loss)
    start = some_rules(rng, plan, loss, 1, share=0.5)
    rules, history = refine(rows, plan, start, loss, Pulls(ridge=0.1), max_iter=30)
    assert history[-1] < history[0]
    np.testing.assert_array_equal(plan.conditions_in(rules), plan.conditions_in(start))
    np.testing.assert_array_equal(plan.terms_in(rules), plan.terms_in(start))


@pytest.mark.parametrize("terms", [1, 2.5])
def test_rules_conclude_from_so_many_columns_at_most(terms):
    X, y = load_wine(return_X_y=True)
    for n_rules in (1, 3):
        model = TSKClassifier(n_rules, order=1, refine=60, terms=terms, random_state=0).fit(X, y)
        rules = model.rules_
        assert rules.n_terms.mean() <= terms
        np.testing.assert_array_equal(rules.n_terms, np.sum(np.any(rules.consequents[:, 1:] != 0, axis=2), axis=1))
        assert model.score(X, y) > 0.7
        lines = [line for line in rules.to_text().split("\n") if "score of" in line]
        assert max(line.count("(") for line in lines) <= terms * n_rules


def test_a_category_is_one_term_however_many_levels_it_has(rng):
    """What a conclusion has about a column is kept or dropped together, and counts once; it is read one by one."""
    pandas = pytest.importorskip("pandas")
    kind, size = rng.choice(list("abcdef"), 400), rng.normal(size=(400, 3))
    frame = pandas.DataFrame({"kind": kind, "one": size[:, 0], "two": size[:, 1], "three": size[:, 2]})
    y = pandas.Series(kind).map(dict(zip("abcdef", range(6), strict=True))) + 0.2 * size[:, 0]
    rules = TSKRegressor(1, order=1, refine=100, terms=1, random_state=0).fit(frame, y).rules_
    assert rules.n_terms.tolist() == [1]
    assert rules.evaluate(frame, y).measures["R²"] > 0.9
    assert np.count_nonzero(rules.consequents[0, 1:]) == 6
    assert rules.size == 1 + 2 * 6


def test_a_limit_leaves_a_model_of_one_rule_as_it_is():
    X, y = load_diabetes(return_X_y=True)
    whole, short = (TSKRegressor(1, order=1, refine=50, conditions=n, random_state=0).fit(X, y) for n in (None, 3))
    np.testing.assert_array_equal(whole.predict(X), short.predict(X))


def table_of_dull_columns(n=500, seed=0):
    """Columns that hardly vary, and so are the most precise of all, beside four that say everything."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    columns = {f"dull{k}": np.where(rng.random(n) < 0.02, "rare", "usual") for k in range(12)}
    columns |= {
        f"still{k}": np.where(rng.random(n) < 0.02, 1.0, 0.0) + 1e-3 * rng.normal(size=n) for k in range(4)
    }
    odour, ring = rng.choice(["none", "foul", "sweet"], n, p=[0.5, 0.3, 0.2]), rng.choice(["one", "two"], n)
    width, height = rng.normal(size=(2, n))
    bad = (odour == "foul") | ((odour == "none") & (ring == "two") & (width > 0)) | (width + height > 2)
    frame = pandas.DataFrame(columns | {"odour": odour, "ring": ring, "width": width, "height": height})
    return frame, np.where(bad, "bad", "good")


def test_short_rules_do_not_collapse():
    """What hardly varies is the most precise, and the first to be kept if precision decided; impact does."""
    frame, y = table_of_dull_columns()

    def reached(conditions):
        model = TSKClassifier(10, refine=200, conditions=conditions, class_weight="balanced", random_state=0)
        return balanced_accuracy_score(y, model.fit(frame, y).predict(frame))

    whole = reached(None)
    assert whole > 0.9
    for conditions in (10, 5, 3):
        assert reached(conditions) > whole - 0.04


@pytest.mark.parametrize("conditions", [0.5, 1, 2])
def test_otherwise_is_written_once_and_for_the_rule_that_asks_nothing(conditions):
    X, y = load_iris(return_X_y=True, as_frame=True)
    rules = TSKClassifier(5, refine=60, conditions=conditions, random_state=0).fit(X, y).rules_
    free = np.flatnonzero(rules.n_conditions == 0)
    parts = rules.to_text().split("\n\n")[1:]
    assert [k for k, part in enumerate(parts) if "OTHERWISE" in part] == free.tolist()
    assert len(free) <= 1
    assert all("IF" in part for k, part in enumerate(parts) if k not in free)
    assert rules.to_markdown().count("| otherwise |") == rules.to_latex().count("otherwise") == len(free)


def test_a_rule_that_is_all_there_is_holds_always():
    X, y = load_iris(return_X_y=True, as_frame=True)
    text = TSKClassifier(1, order=1, refine=30, conditions=2, random_state=0).fit(X, y).rules_.to_text()
    assert "ALWAYS" in text
    assert "OTHERWISE" not in text


@pytest.mark.parametrize("seed", range(8))
def test_a_row_of_weight_two_is_the_row_twice_in_short_rules_too(seed):
    """Even where one row alone is in doubt: what is left of its spread is rounding, and decides nothing."""
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(10, 30)), rng.integers(3, size=10).astype(float), rng.integers(1, 4, size=10)
    model = TSKRegressor(3, refine=3, conditions=5, alpha=0.1, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).predict(X)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_every_short_rule_counts_most_for_some_row_or_matters(seed):
    """Nobody finds the rows that a rule is about which others always outweigh."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(240, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=240) > 0).astype(int)
    rules = TSKClassifier(6, refine=100, conditions=2, faithfulness=0.2, random_state=seed).fit(X, y).rules_
    idle = rules.firing(X).max(axis=1, keepdims=True) > rules.firing(X)
    assert not idle.all(axis=0).any()


def test_rules_that_count_most_for_hardly_any_row_come_after_those_that_do(rng):
    """Whoever reads from the top should meet first what decides."""
    met, hardly = 0, 3  # of sixty rows
    for seed in range(12):
        X = rng.normal(size=(60, 4))
        y = np.sign(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=60)
        rules = TSKRegressor(8, refine=60, conditions=1.5, alpha=0.01, random_state=seed).fit(X, y).rules_
        governed = rules.summary.evidence.governed[rules.n_conditions > 0]
        assert np.all(np.diff((governed <= hardly).astype(int)) >= 0)
        met += int(np.any(governed <= hardly))
    assert met
