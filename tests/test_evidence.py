"""What happens under rules: against plain loops, wherever rows are, and as long as rules are what they were."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from mixed import mixed_table
from sessc import (
    Blocks,
    RuleBase,
    TSKClassifier,
    TSKClassifierCV,
    TSKRegressor,
    TSKRegressorCV,
    UselessModelWarning,
)
from sessc.rules.evaluation import Evaluation, verdict
from sessc.rules.evidence import Evidence

PARTS = ("governed", "outcomes", "low", "high", "weighed", "answers", "stated", "observed", "support")
NUMBERS = ("weight", "strongest", "score", "unit", "faithfulness", "agreement")


def assert_same_evidence(one: Evidence, other: Evidence, rtol=1e-9):
    for name in (*PARTS, *NUMBERS):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol, err_msg=name)
    assert (one.spread is None) == (other.spread is None)
    if one.spread is not None:
        np.testing.assert_allclose(one.spread, other.spread, rtol=rtol)


def alone(rules, r):
    """A rule base of one rule, which says of every row what that rule says by itself."""
    names = ("constants", "linear", "precisions", "unknown", "consequents")
    return replace(rules, **{name: getattr(rules, name)[[r]] for name in names}, summary=None)


def answered(rules, X):
    """Probabilities, or values, as columns."""
    return rules(X)[:, None] if rules.classes is None else rules.probabilities(X)


def by_loops(rules, X, Y, weight, by_class=None):
    """The sums of evidence, row by row and rule by rule."""
    F, answers = rules.firing(X), answered(rules, X)
    says = [answered(alone(rules, r), X) for r in range(rules.n_rules)]
    n_rules, n_outputs = rules.n_rules, Y.shape[1]
    found = {
        name: np.zeros((n_rules, n_outputs)) for name in ("outcomes", "weighed", "answers", "stated", "observed")
    }
    found |= {name: np.zeros(n_rules) for name in ("governed", "counted", "mass", "support")}
    for n in range(len(Y)):
        counts = weight[n] * (1.0 if by_class is None else by_class @ Y[n])
        leader = int(np.argmax(F[n]))
        found["governed"][leader] += weight[n]
        found["outcomes"][leader] += weight[n] * Y[n]
        found["counted"][leader] += counts
        found["weighed"][leader] += counts * Y[n]
        found["answers"][leader] += counts * answers[n]
        for r in range(n_rules):
            found["support"][r] += weight[n] * F[n, r] / weight.sum()
            found["mass"][r] += counts * F[n, r]
            found["stated"][r] += counts * F[n, r] * says[r][n]
            found["observed"][r] += counts * F[n, r] * Y[n]
    for name, by in {
        "outcomes": "governed",
        "weighed": "counted",
        "answers": "counted",
        "stated": "mass",
        "observed": "mass",
    }.items():
        found[name] /= np.maximum(found[by], 1e-300)[:, None]
    return found


CLASSIFIERS = [
    {"order": 0},
    {"order": 1},
    {"order": 0, "class_weight": "balanced"},
    {"order": 1, "class_weight": {0: 3.0, 1: 1.0, 2: 0.5}},
    {"order": 0, "conditions": 2},
    {"order": 1, "refine": 0},
]


@pytest.mark.parametrize("settings", CLASSIFIERS, ids=str)
def test_evidence_of_classes_is_counted_row_by_row(rng, settings):
    X, y = load_wine(return_X_y=True)
    weight = rng.integers(1, 4, size=len(y)).astype(float)
    rules = TSKClassifier(4, **({"refine": 20} | settings), random_state=0).fit(X, y, sample_weight=weight).rules_
    found, Y = rules.summary.evidence, np.eye(3)[y]
    shares, given = weight @ Y / weight.sum(), settings.get("class_weight") or dict.fromkeys(range(3), 1.0)
    counts = 1 / shares if given == "balanced" else np.asarray(list(given.values()))
    expected = by_loops(rules, X, Y, weight, counts)
    for name in ("governed", "outcomes", "weighed", "answers", "stated", "observed", "support"):
        np.testing.assert_allclose(getattr(found, name), expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
    apart = np.abs(expected["stated"] - expected["observed"]).sum(axis=1) / 2
    assert found.faithfulness == pytest.approx(expected["support"] @ apart)
    assert found.strongest == pytest.approx(weight @ rules.firing(X).max(axis=1) / weight.sum())
    assert found.weight == weight.sum()
    right = [np.average(rules(X)[y == c] == c, weights=weight[y == c]) for c in range(3)]
    assert found.score == pytest.approx(np.mean(right))
    assert_same_evidence(rules.observe(X, y, weight), found)
    np.testing.assert_allclose(rules.summary.shares, shares)
    np.testing.assert_allclose(rules.summary.prior, shares * counts / (shares @ counts))


@pytest.mark.parametrize("order", [0, 1])
def test_evidence_of_values_is_counted_row_by_row(rng, order):
    X, y = load_diabetes(return_X_y=True)
    y, weight = 1e4 + y, rng.integers(1, 4, size=len(y)).astype(float)
    rules = TSKRegressor(4, order=order, refine=20, random_state=0).fit(X, y, sample_weight=weight).rules_
    found, expected = rules.summary.evidence, by_loops(rules, X, y[:, None], weight)
    for name in ("governed", "outcomes", "weighed", "answers", "stated", "observed", "support"):
        np.testing.assert_allclose(getattr(found, name), expected[name], rtol=1e-9, err_msg=name)
    deviation = np.sqrt(np.cov(y, aweights=weight, ddof=0))
    assert found.unit == pytest.approx(deviation)
    apart = np.abs(expected["stated"] - expected["observed"])[:, 0] / deviation
    assert found.faithfulness == pytest.approx(expected["support"] @ apart)
    assert found.score == pytest.approx(1 - np.average((rules(X) - y) ** 2, weights=weight) / deviation**2)
    leads = np.argmax(rules.firing(X), axis=1)
    for r in np.flatnonzero(found.governed):
        mine = leads == r
        spread = np.sqrt(np.cov(y[mine], aweights=weight[mine], ddof=0))
        assert found.spread[r] == pytest.approx(spread, rel=1e-6)
    assert_same_evidence(rules.observe(X, y, weight), found)


def test_every_row_is_governed_by_one_rule_and_spoken_for_by_all():
    frame, y = mixed_table()
    found = TSKRegressor(5, refine=20, random_state=0).fit(frame, y).rules_.summary.evidence
    assert found.governed.sum() == found.weight == len(y)
    assert found.support.sum() == pytest.approx(1)
    assert found.outcomes[:, 0] @ found.governed / len(y) == pytest.approx(y.mean())
    assert found.observed[:, 0] @ found.support == pytest.approx(y.mean())
    assert np.all((found.low <= found.outcomes) & (found.outcomes <= found.high))


def test_weights_are_repetitions_and_blocks_change_nothing(rng):
    frame, y = mixed_table()
    label, times = np.where(y > np.median(y), "high", "low"), rng.integers(1, 4, size=len(y))
    settings = {"refine": 15, "class_weight": "balanced", "random_state": 0}
    rules = TSKClassifier(3, **settings).fit(frame, label).rules_
    weighted = rules.observe(frame, label, times)
    places = np.repeat(np.arange(len(y)), times)
    assert_same_evidence(weighted, rules.observe(frame.iloc[places], label[places]))
    parts = np.array_split(np.arange(len(y)), 7)
    blocks = Blocks([(frame.iloc[part], label[part]) for part in parts])
    in_blocks = TSKClassifier(3, **settings).fit(blocks).rules_
    assert_same_evidence(in_blocks.summary.evidence, rules.summary.evidence, 1e-5)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rules_that_say_what_happens_under_them_are_faithful(class_weight):
    """With conclusions that are the observed shares, nothing is apart, and what is stated is what is observed."""
    X, y = load_breast_cancer(return_X_y=True)
    rules = TSKClassifier(5, refine=10, class_weight=class_weight, random_state=0).fit(X, y).rules_
    seen = rules.observe(X, y)
    assert seen.faithfulness > 0.01
    honest = replace(rules, consequents=np.log(seen.observed)[:, None, :])
    found = honest.observe(X, y)
    assert found.faithfulness == pytest.approx(0, abs=1e-12)
    assert found.agreement == pytest.approx(1)
    np.testing.assert_allclose(found.distances, 0, atol=1e-12)


def test_intervals_hold_what_they_promise():
    """Wilson's interval holds the true share 95 times in a hundred, that of a mean the true mean."""
    rng = np.random.default_rng(0)
    held = {"classes": 0, "values": 0}
    X = np.zeros((40, 1))
    one = RuleBase.by_hand([({}, {"no": 0.5, "yes": 0.5})], features=["x"])
    value = RuleBase.by_hand([({}, 1.0)], features=["x"])
    for _ in range(400):
        found = one.observe(X, np.where(rng.random(40) < 0.2, "yes", "no"))
        held["classes"] += found.low[0, 1] <= 0.2 <= found.high[0, 1]
        found = value.observe(X, 3 + rng.normal(size=40))
        held["values"] += found.low[0, 0] <= 3 <= found.high[0, 0]
    assert all(0.92 <= count / 400 <= 0.98 for count in held.values())


@pytest.fixture(scope="module")
def learned():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.asarray(["malignant", "benign"])[y]
    model = TSKClassifier(4, refine=30, conditions=3, class_weight="balanced", random_state=0)
    return X, y, model.fit(X, y).rules_


def test_evidence_is_kept_in_files(learned, tmp_path):
    X, _, rules = learned
    rules.save(tmp_path / "rules.json")
    again = RuleBase.load(tmp_path / "rules.json")
    assert_same_evidence(again.summary.evidence, rules.summary.evidence, 1e-12)
    np.testing.assert_array_equal(again.summary.prior, rules.summary.prior)
    np.testing.assert_array_equal(again.summary.shares, rules.summary.shares)
    assert str(again) == str(rules)
    values = TSKRegressor(3, refine=10, random_state=0).fit(X, X["mean area"]).rules_
    values.save(tmp_path / "values.json")
    assert_same_evidence(RuleBase.load(tmp_path / "values.json").summary.evidence, values.summary.evidence, 1e-12)


def test_what_was_changed_by_hand_has_no_evidence_until_it_is_compared(learned):
    X, y, rules = learned
    column = rules.feature_names[int(np.flatnonzero(rules.asks[0])[0])]
    assert "SEEN" in str(rules)
    for changed in (
        rules.without_condition(1, column),
        rules.without_rule(1),
        rules.with_output(1, {"benign": 0.9, "malignant": 0.1}),
    ):
        assert changed.summary.evidence is None
        assert "SEEN" not in str(changed)
        comparison = changed.compare(rules, X, y)
        assert_same_evidence(comparison.after.evidence, changed.observe(X, y))
        assert_same_evidence(comparison.before.evidence, rules.observe(X, y))
        assert comparison.after.faithfulness == changed.observe(X, y).faithfulness
        assert "happens under them" in str(comparison)


def test_evidence_is_read_as_it_is_counted(learned):
    _, _, rules = learned
    found = rules.summary.evidence
    parts = rules.to_text().split("\n\n")[1:]
    for r, part in enumerate(parts):
        assert part.startswith(f"Rule {r + 1} (counts most for {found.governed[r]:g} of {found.weight:g} rows)")
        c = int(np.argmax(found.outcomes[r]))
        assert f"SEEN {rules.classes[c]} {100 * found.outcomes[r, c]:.0f} %" in part
    assert "Classes weigh the same" in str(rules)
    assert rules.to_markdown().split("\n")[0] == "| Rule | IF | THEN | Share | Seen |"


def overlapping(rng, n=600):
    """Two classes on either side of a slope, so that rules are shades of one another."""
    X = rng.normal(size=(n, 4))
    return X, (X @ [1.0, 1.0, 0.5, 0.0] + rng.logistic(size=n) > 0).astype(int)


def test_what_faithfulness_asks_for_is_found_on_rows_held_out():
    """Rules that pay for saying something else than what happens say what happens, there as well."""
    rng = np.random.default_rng(0)
    (X, y), (Z, z) = overlapping(rng), overlapping(rng)

    def apart(faithfulness):
        model = TSKClassifier(5, refine=100, alpha=0.1, faithfulness=faithfulness, random_state=0).fit(X, y)
        return model.rules_.observe(Z, z).faithfulness

    free, held = apart(0.0), apart(1.0)
    assert held < 0.6 * free
    assert apart(10.0) < held

    def values_apart(faithfulness):
        model = TSKRegressor(5, refine=100, alpha=0.1, faithfulness=faithfulness, random_state=0)
        return model.fit(X, X[:, 0] + X[:, 1]).rules_.observe(Z, Z[:, 0] + Z[:, 1]).faithfulness

    assert values_apart(1.0) < 0.6 * values_apart(0.0)


@pytest.mark.parametrize("order", [0, 1])
def test_probabilities_under_another_prior_are_those_of_bayes_rule(order):
    X, y = load_breast_cancer(return_X_y=True)
    model = TSKClassifier(3, order=order, refine=20, class_weight="balanced", random_state=0).fit(X, y)
    rules, odds = model.rules_, model.predict_proba(X)
    priors = [({0: 0.02, 1: 0.98}, [0.02, 0.98]), ({0: 1, 1: 3}, [0.25, 0.75])]
    for prior, shares in [("data", np.bincount(y) / len(y)), *priors]:
        other = rules.with_prior(prior)
        expected = odds * np.asarray(shares) / rules.summary.prior
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(other.probabilities(X), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.summary.prior, shares)
        np.testing.assert_array_equal(other.firing(X), rules.firing(X))
        assert other.summary.evidence is None
        again = other.with_prior({0: 0.5, 1: 0.5})
        np.testing.assert_allclose(again.probabilities(X), odds, rtol=0, atol=1e-12)
    assert "equally common" in str(rules)
    assert "Classes" not in str(rules.with_prior())


def test_a_prior_needs_classes_and_probabilities(learned):
    X, y = load_iris(return_X_y=True)
    plain = TSKClassifier(3, random_state=0).fit(X, y).rules_
    values = TSKRegressor(3, refine=5, random_state=0).fit(X, y).rules_
    by_hand = RuleBase.by_hand([({"x": {"at_least": 1}}, {"a": 0.9, "b": 0.1}), ({}, {"a": 0.1, "b": 0.9})])
    for rules in (plain, values, by_hand):
        with pytest.raises(ValueError, match=r"^only refined rules .*\.$"):
            rules.with_prior()
    for prior in ({"benign": 1.0}, {"benign": 0.5, "malignant": 0.0}):
        with pytest.raises(ValueError, match="share above zero"):
            learned[2].with_prior(prior)
    for prior in ({"neither": 1.0}, 0.3, "balanced"):
        with pytest.raises(ValueError, match=r"benign.*\.$"):
            learned[2].with_prior(prior)


def test_nearly_all_is_not_called_all(rng):
    """Of a rule for a class that nearly all rows have; others read as before."""
    X = rng.normal(size=(300, 2))
    rules = TSKClassifier(2, refine=5, random_state=0).fit(X, rng.permutation(300) % 2).rules_
    for share, text in ((0.9973, "99.7"), (0.996, "99.6"), (1.0, "100"), (0.994, "99"), (0.62, "62")):
        outcomes = np.array([[share, 1 - share]] * 2)
        all_alike = dict.fromkeys(("outcomes", "weighed", "low", "high"), outcomes)
        evidence = replace(rules.summary.evidence, **all_alike)
        told = replace(rules, summary=replace(rules.summary, evidence=evidence))
        assert f"SEEN y=0 {text} % ({text} to {text})" in str(told)


def evaluation(score, is_class=True):
    measures = {"balanced accuracy" if is_class else "R²": score}
    return Evaluation(100, measures, np.ones((2, 2)) if is_class else None)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([], ""),
        ([evaluation(0.9)], ""),
        ([evaluation(0.5)], "no better than guessing (balanced accuracy 0.50)"),
        ([evaluation(0.43)], "no better than guessing (balanced accuracy 0.43)"),
        ([evaluation(-0.1, False)], "no better than guessing (R² -0.10)"),
        ([evaluation(0.8), evaluation(0.84)], ""),
        ([evaluation(0.8), evaluation(0.9)], "a logistic regression is much better"),
        ([evaluation(0.3, False), evaluation(0.5, False)], "(R² 0.50 against 0.30)"),
        ([evaluation(0.8), evaluation(0.7)], ""),
    ],
)
def test_a_model_that_is_of_no_use_is_called_that_in_one_sentence(scores, says):
    found = verdict(dict(zip(["rules", "logistic regression"], scores, strict=False)))
    assert says in found
    assert bool(found) == bool(says)
    assert found == "" or (found.endswith(".") and ". " not in found)


def test_rules_that_only_guess_say_so(rng):
    """A column that is always the same tells nothing, whatever labels are."""
    X, y = np.ones((60, 2)), rng.permutation(60) % 2
    search = {"refine": 5, "alphas": (1.0,), "cv": 3, "random_state": 0}
    for model, where in (
        (TSKClassifier(3, refine=10, random_state=0), "the rows it was learned from"),
        (TSKRegressor(3, refine=10, random_state=0), "the rows it was learned from"),
        (TSKClassifierCV(2, **search), "rows held out"),
        (TSKRegressorCV(2, **search), "rows held out"),
        (TSKClassifierCV(2, scoring="neg_log_loss", **search), "the rows it was learned from"),
    ):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, y)
        [one] = said
        assert one.category is UselessModelWarning
        assert "no better than guessing" in str(one.message)
        assert f" on {where}" in str(one.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TSKClassifier(3, random_state=0).fit(X, y)  # without refinement it is the paper's, and says nothing


def test_rules_that_are_of_use_say_nothing():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TSKClassifier(3, refine=20, random_state=0).fit(X, y)
        TSKClassifierCV(3, refine=5, alphas=(1.0,), cv=3, random_state=0).fit(X, y)
        TSKRegressor(3, refine=20, random_state=0).fit(X, y)
