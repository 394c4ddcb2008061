"""Explanations add up, and what they say would change the answer does."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from formulas import weights
from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.rows.columns import Category, Number
from sessc.rules.base import Cells
from sessc.rules.conditions import additions, is_whole, top
from sessc.rules.links import Softmax

SETTINGS = [{"order": order, "refine": refine} for order in (0, 1) for refine in (0, 30)]


@pytest.fixture(params=SETTINGS, ids=str)
def model(request):
    X, y = load_wine(return_X_y=True, as_frame=True)
    return TSKClassifier(4, random_state=0, **request.param).fit(X, y), X


def test_contributions_add_up_to_the_answer(model):
    model, X = model
    for k in range(0, len(X), 30):
        found = model.explain(X.iloc[k])
        np.testing.assert_array_equal(found.outputs, found.contributions.sum(axis=(0, 1)))
        np.testing.assert_allclose(found.outputs, model.decision_function(X.iloc[[k]])[0], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.probabilities, model.predict_proba(X.iloc[[k]])[0], atol=1e-10)
        np.testing.assert_allclose(found.firing, model.firing(X.iloc[[k]])[0], atol=1e-12)
        assert found.answer == model.predict(X.iloc[[k]])[0]
        _fires_by_grades(found)


def test_as_data_it_says_the_same(model):
    model, X = model
    found = model.explain(X.iloc[7])
    data = found.to_data()
    assert json.loads(json.dumps(data)) == data
    assert data["answer"] == data["classes"][int(np.argmax(data["probabilities"]))] == found.answer
    assert data["values"] == X.iloc[7].to_dict()
    np.testing.assert_allclose(np.sum(data["contributions"], axis=0), data["outputs"], rtol=1e-10, atol=1e-10)
    assert [len(grades) for grades in data["grades"]] == model.rules_.n_conditions.tolist()
    assert [change["value"] for change in data["changes"]] == [change.value for change in found.changes]


def _fires_by_grades(found):
    """Firing is proportional to weights times the product of the grades, but where a cell lies beyond the data."""
    rules = found.rules
    for r in range(rules.n_rules):
        adds = [additions(rules, r, j, found.x[j : j + 1])[0] - top(rules, r, j) for j in range(rules.n_features)]
        np.testing.assert_allclose(found.grades[r], np.exp(np.minimum(adds, 0)), rtol=1e-9)
    logits = weights(rules) + np.log(found.grades).sum(axis=1)
    if np.all(found.grades < 1):
        np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(), found.firing, rtol=1e-6, atol=1e-12)


def test_what_is_said_to_change_the_answer_does_and_a_little_less_does_not(model):
    model, X = model
    tried = 0
    for k in range(0, len(X), 12):
        found = model.explain(X.iloc[k])
        distances = [abs(c.value - found.x[c.feature]) / model.rules_.scale[c.feature] for c in found.changes]
        assert distances == sorted(distances)
        for change in found.changes:
            row = np.array(found.x)
            row[change.feature] = change.value
            assert model.rules_(row[None, :])[0] == change.answer != found.answer
            back = found.x[change.feature] - change.value
            row[change.feature] += np.sign(back) if is_whole(model.rules_, change.feature) else 1e-6 * back
            assert model.rules_(row[None, :])[0] == found.answer
            tried += 1
    assert tried > 10


@pytest.mark.parametrize("order", [0, 1])
def test_the_answer_is_the_one_predicted_to_the_last_bit(order):
    X, y = load_diabetes(return_X_y=True)
    rules = TSKRegressor(3, order=order, random_state=0).fit(X, y).rules_
    for k in range(40):
        assert rules.explain(X[k]).answer == rules(X[k : k + 1])[0]


def test_of_classes_level_but_for_last_bits_the_one_predicted_is_explained(rng):
    for _ in range(30):
        levels = rng.normal(size=(5, 1, 1)) * [1.0, 1.0]
        places = [({"a": (float(a), 1.0)}, {"x": 0.5, "y": 0.5}) for a in range(5)]
        rules = replace(RuleBase.by_hand(places), consequents=levels + 1e-16 * rng.normal(size=(5, 1, 2)))
        row = rng.normal(2, 2, size=1)
        assert rules.explain(row).answer == rules(row[None, :])[0]


def test_real_targets_say_what_one_standard_deviation_does():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = TSKRegressor(3, refine=30, random_state=0).fit(X, y)
    found = model.explain(X.iloc[3])
    assert found.outputs[0] == pytest.approx(found.answer)
    effects = [abs(change.answer - found.answer) for change in found.changes]
    assert effects == sorted(effects, reverse=True)
    assert "ne standard deviation more or less:" in str(found)


def adds(line):
    """The numbers that a line of an explanation says are added."""
    return np.asarray([float(number) for number in re.findall(r"[+-]\d+\.\d\d\b", line.rpartition("add")[2])])


def test_printed_contributions_add_up(model):
    model, X = model
    for k in range(0, len(X), 30):
        text = str(model.explain(X.iloc[k]))
        assert "-0.00" not in text
        rules = [part for part in text.split("\n\n") if part.startswith("Rule ") or " more rule" in part]
        [together] = [adds(part) for part in text.split("\n\n") if part.startswith("Together ")]
        titles = [adds(part.split("\n")[0]) for part in rules]
        np.testing.assert_allclose(np.sum(titles, axis=0), together, atol=0.005 * (1 + len(titles)) + 1e-9)
        for part, title in zip(rules, titles, strict=True):
            terms = [adds(line) for line in part.split("\n")[1:] if " add" in line]
            assert len(terms) == (0 if model.rules_.order == 0 or " more rule" in part else 5)
            if terms:
                np.testing.assert_allclose(np.sum(terms, axis=0), title, atol=0.005 * 6 + 1e-9)
        if model.rules_.link == Softmax():
            first, second = np.sort(model.predict_proba(X.iloc[[k]])[0])[:-3:-1]
            assert together[0] - together[1] == pytest.approx(np.log(first / second), abs=0.0101)


def test_printed_amounts_add_up():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    for n_rules in (1, 3):
        model = TSKRegressor(n_rules, order=1, refine=20, random_state=0).fit(X, y)
        text = str(model.explain(X.iloc[3]))
        parts = [part.split("\n") for part in text.split("\n\n") if part.startswith("Rule ")]
        for title, *lines in parts:
            terms = [float(line.split()[-1]) for line in lines if " add" in line]
            assert len(terms) == 5
            assert sum(terms) == pytest.approx(float(title.split()[-1]), rel=0.02, abs=1.0)
        said = sum(float(title.split()[-1]) for title, *_ in parts)
        assert said == pytest.approx(model.predict(X.iloc[[3]])[0], rel=0.02)
        assert ("Together " in text) == (n_rules > 1)


def test_a_row_may_come_in_any_form():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = TSKClassifier(3, random_state=0).fit(X, y)
    texts = {
        str(model.explain(row))
        for row in (
            *(X.iloc[0], X.iloc[[0]], X.iloc[0].to_numpy(), dict(X.iloc[0]), list(X.iloc[0])),
            *(X.iloc[0, ::-1], X.iloc[[0], ::-1], dict(X.iloc[0]) | {"beer": 1.0}),
        )
    }
    assert len(texts) == 1
    with pytest.raises(ValueError, match="no value for 'alcohol'"):
        model.explain(dict.fromkeys(X.columns[1:], 0.0))
    with pytest.raises(ValueError, match="'alcohol' of X holds text such as 'high', and the model knows"):
        model.explain(dict(X.iloc[0]) | {"alcohol": "high"})
    with pytest.raises(ValueError, match="one row of 13 values, got 2 rows"):
        model.explain(X.iloc[:2])
    with pytest.raises(ValueError, match=r"one row of 13 values, got shape \(3,\)"):
        model.explain([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="columns"):
        model.explain(X.iloc[[0], 1:])


def test_an_explanation_reads_from_the_answer_to_what_would_change_it():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model = TSKClassifier(6, refine=50, random_state=0).fit(X, y)
    odds = model.predict_proba(X)[:, 0]
    unsure = X.iloc[np.argmin(np.where(odds > 0.5, odds, 1.0))]
    text = str(model.explain(unsure))
    assert text.startswith("The answer is benign: benign 0.")
    assert "25 more conditions, which fit " in text
    assert text.index("adds benign +") < text.index("What would change the answer:")
    assert "No feature moved alone within the data would change the answer." in str(model.explain(X.iloc[0]))
    line = str(TSKClassifier(1, order=1, refine=50, random_state=0).fit(X, y).explain(X.iloc[0]))
    assert "Rule 1 counts 100 % and adds malignant +" in line
    assert "\n  27 more terms add malignant " in line


@pytest.fixture
def kinds(rng):
    """Three kinds and a rare one, yes or no, whole numbers and others above zero, some of them missing."""
    pandas = pytest.importorskip("pandas")
    n = 300
    X = pandas.DataFrame({
        "kind": np.where(np.arange(n) % 60, rng.choice(["u", "v", "w"], size=n), [f"odd {k}" for k in range(n)]),
        "asked": rng.random(n) < 0.5,
        "doors": rng.integers(1, 9, size=n),
        "carat": rng.exponential(size=n),
    })  # fmt: skip
    amount = 8.0 * (X["kind"] == "w") + 3.0 * X["asked"] + 0.7 * X["doors"] + X["carat"]
    X.loc[rng.random(n) < 0.1, "kind"] = None
    X.loc[rng.random(n) < 0.1, "carat"] = np.nan
    return X, amount


def models(X, amount):
    for order in (0, 1):
        yield TSKClassifier(3, order=order, refine=50, random_state=0).fit(
            X, np.where(amount > 7, "much", "little")
        )
        yield TSKRegressor(3, order=order, refine=50, random_state=0).fit(X, amount)


def test_what_is_said_to_change_the_answer_is_possible_and_does(kinds):
    X, amount = kinds
    for model in models(X, amount):
        rules, tried = model.rules_, set()
        for k in range(0, len(X), 12):
            found = rules.explain(X.iloc[k])
            np.testing.assert_allclose(found.outputs, rules.outputs(X.iloc[[k]])[0], rtol=1e-9, atol=1e-9)
            for change in found.changes:
                what, cells = rules.columns[change.feature], np.array(found.x)
                if isinstance(what, Category):
                    assert change.value in what.levels
                    cells[change.feature] = what.levels.index(change.value)
                else:
                    low, high = X[what.name].min(), X[what.name].max()
                    assert low <= change.value <= high
                    assert what.name == "carat" or change.value == round(change.value)
                    cells[change.feature] = change.value
                assert cells[change.feature] != found.x[change.feature]
                said = rules(Cells(cells[None, :]))[0]
                assert said == (change.answer if rules.classes is not None else pytest.approx(change.answer))
                assert said != found.answer
                tried.add(what.name)
        assert tried == set(X.columns)


def test_categories_are_said_in_words(kinds):
    X, amount = kinds
    row = {"kind": "u", "asked": False, "doors": 6, "carat": 1.0}
    classifier, regressor, _, line = models(X, amount)
    assert "  kind is w instead of u: much" in str(classifier.explain(row))
    assert "  kind is w instead of u: " in str(regressor.explain(row))
    text = str(regressor.explain(row | {"kind": None, "carat": None}))
    assert ": unknown, fits " in text
    assert "  kind is w instead of unknown: " in text
    assert "  asked is True instead of False: " in text
    assert "  kind is u adds " in str(line.explain(row))
    unknown = line.explain(row | {"kind": "never heard of"})
    assert np.isnan(unknown.x[0])
    np.testing.assert_array_equal(unknown.contributions[:, 1], 0.0)
    assert [len(part) for part in unknown.contributions] == [1 + X.shape[1]] * 3


def test_rows_with_text_come_in_any_form_and_go_as_data(kinds):
    X, amount = kinds
    model = next(models(X, amount))
    rows = (X.iloc[5], X.iloc[[5]], X.iloc[5].to_numpy(), dict(X.iloc[5]), list(X.iloc[5]), X.iloc[[5]].to_numpy())
    assert len({str(model.explain(row)) for row in rows}) == 1
    data = model.explain(dict(X.iloc[5]) | {"kind": "odd 60", "carat": None}).to_data()
    assert json.loads(json.dumps(data)) == data
    assert data["values"] == {
        "kind": "other", "asked": bool(X["asked"][5]), "doors": float(X["doors"][5]), "carat": None
    }  # fmt: skip
    assert {change["feature"] for change in data["changes"]} <= set(X.columns)


def test_dates_are_dates(rng):
    pandas = pytest.importorskip("pandas")
    days = pandas.Timestamp("2019-01-01") + pandas.to_timedelta(rng.integers(0, 800, 300), "D")
    X = pandas.DataFrame({"admitted": days, "x": rng.normal(size=300)})
    model = TSKClassifier(2, refine=50, random_state=0).fit(X, np.where(days < "2020-01-01", "before", "after"))
    found = model.explain({"admitted": np.datetime64("2019-06-01"), "x": 0.0})
    assert found.to_data()["values"]["admitted"] == "2019-06-01"
    assert "  admitted since 20" in str(found)
    assert " instead of 2019-06-01: after" in str(found)


@settings(max_examples=30)
@given(st.lists(st.text("ab= ", min_size=1).map("x{}z".format), min_size=5, max_size=5, unique=True))
def test_names_are_only_names(names):
    """Whatever features are called, and with "=" in it too, they are independent."""
    names = [" ".join(name.split()) for name in names]
    assume(len(set(names)) == 5)
    plain = [f"feature {d};" for d in range(5)]
    for rules in (FLAGS, AMOUNT):
        texts = []
        for called in (names, plain):
            one = replace(rules, columns=tuple(map(Number, called)))
            text = "\n".join(
                [str(one), one.to_markdown(), str(one.explain(np.asarray([1.0, 1.0, 0.0, 1.0, 0.5])))]
            )
            # the longest first: names may begin with each other
            for name in sorted(called, key=len, reverse=True):
                text = text.replace(name, f"<{called.index(name)}>")
            texts.append(text)
        assert texts[0] == texts[1]


def flags():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(2, size=(200, 4)).astype(float), rng.normal(size=200)])
    return X, X @ [4.0, 2.0, 1.0, 0.5, 0.1]


FLAGS = TSKClassifier(3, refine=30, random_state=0).fit(flags()[0], (flags()[1] > 4).astype(int)).rules_
AMOUNT = TSKRegressor(3, refine=30, random_state=0).fit(*flags()).rules_


def test_flags_of_like_names_are_independent():
    names = ("tag=red", "tag=blue", "tag=green", "a=b=c", "x")
    for rules in (FLAGS, AMOUNT):
        named = replace(rules, columns=tuple(map(Number, names)))
        found = named.explain([1.0, 1.0, 0.0, 1.0, 0.5])
        assert " tag is " not in str(named)
    assert "tag=red is 0 instead of 1: " in str(found)


def test_features_of_two_values_get_only_the_other():
    X, _ = flags()
    for row in X[::20]:
        for rules in (FLAGS, AMOUNT):
            for change in rules.explain(row).changes:
                assert change.feature == 4 or change.value == 1.0 - row[change.feature]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([0.0] * 6, "1 more condition, which fits 100 %\n"),
        ([1.0] * 6, "1 more condition, which fits 61 %\n"),
        ([0.0] * 7, "2 more conditions, which fit 100 %\n"),
        ([1.0] * 7, "2 more conditions, which fit 61 % or better\n"),
    ],
)
def test_conditions_that_are_only_counted_are_counted_in_english(x, words):
    n = len(x)
    centers, names = np.stack([np.zeros(n), np.full(n, 2.0)]), tuple("abcdefg"[:n])
    says = np.asarray([[[1.0, 0.0]], [[0.0, 1.0]]])
    classes = {"classes": np.asarray(["no", "yes"])}
    rules = RuleBase.bells(centers, np.ones((2, n)), says, np.zeros(n), np.ones(n), Softmax(), names, **classes)
    assert words in str(rules.explain(x)).replace("\n\n", "\n")
