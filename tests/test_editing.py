"""Rules changed and written by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from formulas import weights
from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.rules.conditions import grades, origin, read_condition, shown_range


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.asarray(["barolo", "grignolino", "barbera"])[y]


@pytest.fixture(scope="module", params=[(order, refine) for order in (0, 1) for refine in (0, 20)], ids=str)
def rules(request, wine):
    order, refine = request.param
    return TSKClassifier(3, order=order, refine=refine, random_state=0).fit(*wine).rules_


def test_a_condition_is_moved_in_the_users_units(rules):
    moved = rules.with_condition(2, "alcohol", about=13.5, width=0.4)
    d = rules.feature_names.index("alcohol")
    assert moved.centers_in_units[1, d] == pytest.approx(13.5)
    assert moved.widths_in_units[1, d] == pytest.approx(0.4)
    same = np.ones_like(rules.linear, bool)
    same[1, d] = False
    for name in ("linear", "precisions", "unknown"):
        np.testing.assert_array_equal(getattr(moved, name)[same], getattr(rules, name)[same])
    np.testing.assert_allclose(weights(moved), weights(rules), rtol=1e-9, atol=1e-9)
    assert rules.edits == ()  # the old one is as it was
    assert moved.edits[0].startswith("rule 2: alcohol is between 13.03 and 13.97 instead of ")
    assert "Changed by hand: rule 2: alcohol" in str(moved)
    assert moved.with_condition(2, "alcohol", width=0.5).centers_in_units[1, d] == pytest.approx(13.5)


def test_dropping_a_condition_makes_the_feature_matter_less_and_adding_it_back_restores_it(rules, wine):
    X, _ = wine
    d = int(np.argmax(rules.precisions[0]))  # a bell, which has a centre and a width
    name = rules.feature_names[d]
    without = rules.without_condition(1, name)
    assert without.n_conditions[0] == rules.n_conditions[0] - 1
    about, width = rules.centers_in_units[0, d], rules.widths_in_units[0, d]
    again = without.with_condition(1, name, about, width)
    np.testing.assert_allclose(again.outputs(X), rules.outputs(X), rtol=1e-9, atol=1e-9)
    assert len(again.edits) == 2
    with pytest.raises(ValueError, match=f"no condition on '{name}' to drop"):
        without.without_condition(1, name)
    with pytest.raises(ValueError, match="give both about and width"):
        without.with_condition(1, name, about=3.0)


def test_without_a_rule_the_others_share_what_it_had(rules, wine):
    X, _ = wine
    fewer = rules.without_rule(2)
    kept = rules.firing(X)[:, [0, 2]]
    np.testing.assert_allclose(fewer.firing(X), kept / kept.sum(axis=1, keepdims=True), atol=1e-9)
    with pytest.raises(ValueError, match="last rule"):
        fewer.without_rule(1).without_rule(1)


def test_an_output_set_is_what_the_rule_says_at_its_centre(rules):
    wanted = {"barbera": 0.7, "barolo": 0.2, "grignolino": 0.1}
    changed = rules.with_output(3, wanted)
    alone = changed.without_rule(1).without_rule(1)
    odds = alone.probabilities([alone.mean + alone.scale * origin(alone, 0)])[0]
    np.testing.assert_allclose(odds, [wanted[name] for name in alone.classes], atol=1e-9)
    np.testing.assert_array_equal(changed.consequents[:2], rules.consequents[:2])


def test_support_is_unknown_after_a_change_and_words_stay(rules):
    changed = rules.without_rule(1)
    assert "of 178 rows)" in str(rules)
    assert "of 178 rows)" not in str(changed)
    assert changed.summary.quantiles is rules.summary.quantiles
    assert "high)" in changed.to_text()


def about_hue(rules):
    """A rule with a bell about it."""
    return 1 + int(np.argmax(rules.precisions[:, rules.feature_names.index("hue")]))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda r: r.without_rule(4), "no rule 4; rules go from 1 to 3"),
        (lambda r: r.without_rule(0), "no rule 0"),
        (lambda r: r.with_condition(1, "beer", 1.0, 1.0), "no feature 'beer'"),
        (lambda r: r.with_condition(about_hue(r), "hue", width=0.0), "width must be a positive number"),
        (lambda r: r.with_condition(about_hue(r), "hue", about=np.nan), "about must be a number"),
        (lambda r: r.with_output(1, {"merlot": 1.0}), "each of the classes"),
        (lambda r: r.with_output(1, {"barolo": -1.0}), "zero or more"),
        (lambda r: r.with_output(1, 0.3), "each of the classes"),
        (lambda r: r.with_output(1, {"barolo": "much"}), "probabilities are numbers"),
        (lambda r: r.with_output(1, {"barolo": 10**400}), "probabilities are numbers"),
        (lambda r: r.with_condition(about_hue(r), "hue", about="high"), "about must be a number, got 'high'"),
        (lambda r: r.with_condition(about_hue(r), "hue", about=[1.0]), "about must be a number"),
        (lambda r: r.with_condition(about_hue(r), "hue", width=(1, 2)), "width must be a positive number"),
        (lambda r: r.with_condition(about_hue(r), "hue", width=True), "width must be a positive number"),
        (lambda r: r.with_condition(1, ["hue"], 1.0, 1.0), "no feature"),
        (lambda r: r.without_condition(1, None), "no feature None"),
    ],
)
def test_mistakes_are_named(rules, edit, message):
    with pytest.raises(ValueError, match=message):
        edit(rules)


def test_changes_are_noted_as_rules_are_printed(rules):
    noted = rules.with_condition(1, "flavanoids", between=(4 / 3, 2.871)).edits[0]
    assert "flavanoids is between 1.33 and 2.87 instead of " in noted
    numbers = replace(rules, classes=np.asarray([0, 1, 7]), target_name="grade")
    says = "at its centre " if rules.order else ""
    assert numbers.with_output(2, {7: 2, 1: 1}).edits == (
        f"rule 2 says {says}grade=7 0.67, grade=1 0.33, grade=0 0.00",
    )
    price = RuleBase.by_hand([({"x": (0, 1)}, 5.0), ({"x": (10, 1)}, 7.0)], target_name="price")
    assert price.with_output(1, 1 / 3).edits == ("rule 1 says price = 0.333",)


def test_the_effect_of_a_change_is_measured(wine):
    X, y = wine
    rules = TSKClassifier(3, refine=50, random_state=0).fit(X[::2], y[::2]).rules_
    worse = rules.with_output(1, {"barolo": 1.0, "barbera": 1.0, "grignolino": 1.0}).without_rule(2)
    effect = worse.compare(rules, X[1::2], y[1::2])
    assert effect.n_changed == np.sum(rules(X[1::2]) != worse(X[1::2])) > 0
    assert effect.before.measures["accuracy"] == pytest.approx(np.mean(rules(X[1::2]) == y[1::2]))
    assert effect.before.measures["accuracy"] > effect.after.measures["accuracy"]
    assert effect.after.confusion.sum() == len(X[1::2])
    text = str(effect)
    assert text.startswith("Changed: rule 1 says barbera 0.33, barolo 0.33, grignolino 0.33.")
    assert "Changed: rule 2 dropped." in text
    assert "balanced accuracy" in text
    with pytest.raises(ValueError, match="'merlot', which the rules do not know"):
        rules.evaluate(X, np.full(len(X), "merlot"))


def test_real_targets():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    rules = TSKRegressor(2, order=1, random_state=0).fit(X, y).rules_
    changed = rules.with_output(1, 250.0)
    alone = changed.without_rule(2)
    assert alone([alone.mean + alone.scale * origin(alone, 0)])[0] == pytest.approx(250.0)
    assert set(changed.compare(rules, X, y).after.measures) == {
        "R²",
        "root mean square error",
        "mean absolute error",
        "mean residual",
        "5 % of residuals below",
        "median residual",
        "95 % of residuals below",
    }
    assert str(rules.evaluate(X, y)).startswith("On 442 rows, with 95 % intervals from 1000 resamples:\n")
    with pytest.raises(ValueError, match="predict a number"):
        rules.with_output(1, {"a": 1.0})


def test_rules_written_by_hand_predict():
    rules = RuleBase.by_hand(
        [
            ({"age": (70, 10)}, {"ill": 3, "well": 1}),
            ({"age": (30, 20), "pulse": (60, 15)}, {"well": 1.0}),
            ({}, {"ill": 0.5, "well": 0.5}),
        ],
        features=["pulse", "age", "height"],
    )
    assert rules.feature_names == ("pulse", "age", "height")
    assert rules.n_conditions.tolist() == [1, 2, 0]
    x = np.asarray([[75.0, 50.0, 180.0]])
    fired = np.exp([-0.5 * 2.0**2, -0.5 * (1.0 + 1.0), 0.0])
    expected = fired @ [[0.75, 0.25], [0.0, 1.0], [0.5, 0.5]] / fired.sum()
    np.testing.assert_allclose(rules.probabilities(x)[0], expected)
    assert "OTHERWISE" in str(rules)
    assert rules.explain({"pulse": 75, "age": 50, "height": 180}).answer == "well"
    amount = RuleBase.by_hand([({"x": (0, 1)}, 5.0), ({"x": (10, 1)}, 7.0)])
    np.testing.assert_allclose(amount([[0.0], [10.0], [5.0]]), [5.0, 7.0, 6.0])
    assert "About the width of its conditions more or less:\n  x = " in str(amount.explain([5.0]))


@pytest.mark.parametrize(
    ("rules", "settings", "message"),
    [
        ([], {}, "at least one rule"),
        ([({"x": (0, 0)}, 1.0)], {}, "width above 0"),
        ([({"x": (0, 1)}, 1.0)], {"features": ["y"]}, "names 'x', which is not among"),
        ([({}, 1.0)], {}, "no rule has a condition"),
        ([({"x": (0, 1)}, {"a": 1.0, "b": 0.0}), ({"x": (0, 1)}, 2.0)], {}, "each of the classes"),
        (7, {}, "rules are a list of pairs"),
        (None, {}, "rules are a list of pairs"),
        ([7], {}, "rule 1 must be a pair"),
        ([({"x": (0, 1)}, 1.0), ({"x": (0, 1)},)], {}, "rule 2 must be a pair"),
        ([([("x", 0, 1)], 1.0)], {}, "rule 1 must be a pair"),
        ([({"x": 5}, 1.0)], {}, "rule 1 wants 'x' to be 5; give a number and a width above 0"),
        ([({"x": (0, 1, 2)}, 1.0)], {}, "give a number and a width above 0"),
        ([({"x": ("low", 1)}, 1.0)], {}, "give a number and a width above 0"),
        ([({"x": (0, 1)}, [1.0])], {}, "predict a number"),
        ([({"x": (0, 1)}, None)], {}, "predict a number"),
        ([({"x": (0, 1)}, {"a": None, "b": 1.0})], {}, "probabilities are numbers"),
        ([({"x": (0, 1)}, 1.0)], {"features": 3}, "features are a list of names"),
        ([({"x": (0, 1)}, 1.0)], {"features": "x"}, "features are a list of names"),
        ([({3: (0, 1)}, 1.0)], {}, "features are a list of names"),
        ([({"x": (0, 1)}, {"a": 1.0})], {"classes": 2}, "two or more different classes"),
        ([({"x": (0, 1)}, {"a": 1.0})], {"classes": "ab"}, "two or more different classes"),
    ],
)
def test_mistakes_in_writing_are_named(rules, settings, message):
    with pytest.raises(ValueError, match=message):
        RuleBase.by_hand(rules, **settings)


def test_written_rules_are_a_start_for_refinement():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data[["worst radius", "worst texture", "mean concavity"]], data.target_names[data.target]
    rules = RuleBase.by_hand(
        [({"worst radius": (12, 3)}, {"benign": 1.0}), ({"worst radius": (22, 5)}, {"malignant": 1.0})],
        features=list(X.columns),
    )
    model = TSKClassifier(rules=rules, refine=100).fit(X, y)
    assert model.n_rules_ == 2
    assert model.rules_.n_conditions.tolist() == [1, 1]  # refinement adds no conditions
    assert model.score(X, y) > np.mean(rules(X) == y)
    fitted = TSKClassifier(rules=rules).fit(X, y).rules_  # without refinement only what rules conclude is fitted
    np.testing.assert_allclose(fitted.centers_in_units[:, 0], [12, 22])
    np.testing.assert_allclose(fitted.widths_in_units[:, 0], [3, 5])
    with pytest.raises(ValueError, match="rules are about"):
        TSKClassifier(rules=rules).fit(X.rename(columns={"worst radius": "radius"}), y)
    with pytest.raises(ValueError, match="2 features"):
        TSKClassifier(rules=replace(rules)).fit(X.to_numpy()[:, :2], y)


def test_the_order_of_classes_does_not_matter_to_measures():
    written = [({"a": (0, 1)}, {"x": 0.9, "y": 0.1}), ({"a": (3, 1)}, {"y": 0.9, "x": 0.1})]
    one, other = RuleBase.by_hand(written), RuleBase.by_hand(written, classes=["y", "x"])
    X, y = [[0.0], [3.0], [1.0]], ["x", "y", "y"]
    assert one.evaluate(X, y).measures == pytest.approx(other.evaluate(X, y).measures)
    from sklearn.metrics import log_loss

    assert one.evaluate(X, y).measures["log-loss"] == pytest.approx(log_loss(y, one.probabilities(X)))


@pytest.mark.parametrize(
    ("rules", "settings", "message"),
    [
        ([({"a": (0, 1)}, {"x": 1.0})], {}, "two or more different classes"),
        ([({"a": (0, 1)}, {"x": 1.0, "y": 1.0})], {"classes": ["x", "x", "y"]}, "two or more different classes"),
        ([({"a": (0, 1)}, 1.0)], {"features": ["a", "a"]}, "different names"),
        ([({"a": (0, 1)}, "x")], {}, "predict a number"),
    ],
)
def test_rules_that_could_not_be_saved_are_not_written(rules, settings, message):
    with pytest.raises(ValueError, match=message):
        RuleBase.by_hand(rules, **settings)


def test_a_rule_has_a_whole_number(rules):
    for number in (1.0, "1", None):
        with pytest.raises(ValueError, match="there is no rule"):
            rules.without_rule(number)


def test_numbers_too_large_to_square_are_refused(rules):
    row = np.array(rules.mean)
    row[0] = 1e200
    with pytest.raises(ValueError, match="X holds values as large as 1e\\+200, whose squares overflow"):
        rules.probabilities(row[None, :])
    with pytest.raises(ValueError, match="give a number and a width above 0"):
        RuleBase.by_hand([({"x": (0, 1e-200)}, 1.0), ({}, 2.0)])
    narrow = RuleBase.by_hand([({"x": (0, 1e-140)}, 1.0), ({}, 2.0)])
    with pytest.raises(ValueError, match="X in units of the rules holds values as large as 1e"):
        narrow([[1e20]])
    with pytest.raises(ValueError, match="X has 2 features, and the rules are about 1"):
        narrow([[1.0, np.nan]])
    np.testing.assert_allclose(narrow([[0.0], [np.nan]]), [1.5, 2 - 1 / (1 + np.exp(0.5))])


@pytest.mark.parametrize("asked", ["at_least", "at_most", "between"])
@pytest.mark.parametrize("settings", [{}, {"refine": 20}, {"refine": 20, "order": 1}], ids=str)
def test_what_is_written_is_read(wine, rng, asked, settings):
    """A limit anywhere among the data comes back, whatever was there before, and no other condition moves."""
    rules = TSKClassifier(3, random_state=0, **settings).fit(*wine).rules_
    for column in rng.permutation(rules.n_features)[:6]:
        name, (low, high) = rules.feature_names[column], shown_range(rules, column)
        a, b = np.sort(rng.uniform(low + 0.02 * (high - low), high - 0.02 * (high - low), size=2))
        wish = {"at_least": a, "at_most": b, "between": (a, b)}[asked]
        changed = rules.with_condition(2, name, **{asked: wish})
        read = read_condition(changed, 1, column)
        assert read.kind == {"between": "bell"}.get(asked, asked.replace("_", " "))
        assert read.low == (None if asked == "at_most" else pytest.approx(a))
        assert read.high == (None if asked == "at_least" else pytest.approx(b))
        np.testing.assert_allclose(weights(changed), weights(rules), rtol=1e-9, atol=1e-9)
        for r, other in np.argwhere(rules.asks):
            if (r, other) != (1, column):
                assert read_condition(changed, r, other) == read_condition(rules, r, other)
        cells = np.asarray([np.nan, *np.linspace(low, high, 50)])
        for unknown, best in ((True, np.max), (False, np.min)):
            one = rules.with_condition(2, name, **{asked: wish}, unknown=unknown)
            missing, *others = grades(one, 1, column, cells)
            assert missing == pytest.approx(best(others), abs=0.03)


def test_words_say_what_was_written(rules):
    assert "flavanoids is at most 1.3\n" in rules.with_condition(1, "flavanoids", at_most=1.3).to_text(words=False)
    assert "alcohol is at least 12.65\n" in rules.with_condition(1, "alcohol", at_least=12.65).to_text(words=False)
    both = rules.with_condition(1, "hue", at_least=0.8, at_most=1.1)
    assert "hue is between 0.8 and 1.1\n" in both.to_text(words=False)
    assert both.edits[0].startswith("rule 1: hue is between 0.8 and 1.1 instead of ")
    # beyond the data there is no limit, so it is an edge
    assert "hue is at most 1.1\n" in rules.with_condition(1, "hue", between=(-3, 1.1)).to_text(words=False)
    for beyond in ({"at_least": 5000.0}, {"at_most": 10.0}, {"between": (-1, 9e9)}):
        with pytest.raises(ValueError, match="a limit of 'proline' must lie where the data are, which is between"):
            rules.with_condition(1, "proline", **beyond)
    with pytest.raises(ValueError, match="give both about and width"):
        rules.without_condition(1, "hue").with_condition(1, "hue", unknown=True)


@pytest.mark.parametrize("width", [100.0, 1.0, 0.01])
def test_rules_about_moments_of_a_clock_are_exact(width):
    """Seconds since 1970 are many widths from zero, but not from each other."""
    now = 1.7e9
    rules = RuleBase.by_hand(
        [({"t": (now, width)}, {"a": 0.9, "b": 0.1}), ({"t": (now + 3 * width, width)}, {"b": 0.9, "a": 0.1})]
    )
    rows = now + width * np.asarray([[-1.0], [0.0], [1.4], [1.6], [3.0], [9.0]])
    assert rules(rows).tolist() == ["a", "a", "a", "b", "b", "b"]
    z = (rows - now) / width
    exact = 1 / (1 + np.exp((z**2 - (z - 3) ** 2) / 2))
    np.testing.assert_allclose(rules.firing(rows)[:, :1], exact, rtol=2e-4)


def test_what_rounding_would_leave_nothing_of_is_refused():
    now = 1.7e9
    far = [({"t": (now, 1)}, 0.0), ({"t": (now + 3, 1)}, 1.0), ({"t": (0, 1)}, 2.0)]
    with pytest.raises(ValueError, match="rule 1 asks for a range of 't' that is too narrow beside how far it is"):
        RuleBase.by_hand(far)
    rules = RuleBase.by_hand([({"t": (now, 1e6)}, 0.0), ({"t": (0, 1e6)}, 1.0)])
    with pytest.raises(ValueError, match="rule 2 asks for a range of 't'"):
        rules.with_condition(2, "t", width=1.0)
    apart = RuleBase.by_hand(
        [({"t": (1.0, 1e-6)}, 0.0), ({"t": (1.0 + 3e-6, 1e-6)}, 1.0), ({"t": (0, 1e-6)}, 2.0)]
    )
    np.testing.assert_allclose(apart([[1.0], [1.0 + 3e-6], [0.0]]), [0.0, 1.0, 2.0], atol=0.02)
