"""Explanations add up, and what they say would change the answer does."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sessc import TSKClassifier, TSKRegressor
from sessc.rules.choices import Choice
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
        np.testing.assert_allclose(
            np.log(found.grades).sum(axis=1) - np.log(found.firing), _constant(found), rtol=1e-6
        )


def _constant(found):
    """Firing is proportional to the product of the grades."""
    return np.full(len(found.firing), (np.log(found.grades).sum(axis=1) - np.log(found.firing))[0])


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
            row[change.feature] += 1e-6 * (found.x[change.feature] - change.value)
            assert model.rules_(row[None, :])[0] == found.answer
            tried += 1
    assert tried > 10


def test_real_targets_say_what_one_standard_deviation_does():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = TSKRegressor(3, refine=30, random_state=0).fit(X, y)
    found = model.explain(X.iloc[3])
    assert found.answer == pytest.approx(model.predict(X.iloc[[3]])[0])
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
        for row in (X.iloc[0], X.iloc[[0]], X.iloc[0].to_numpy(), dict(X.iloc[0]), list(X.iloc[0]))
    }
    assert len(texts) == 1
    with pytest.raises(ValueError, match="no value for 'alcohol'"):
        model.explain(dict.fromkeys(X.columns[1:], 0.0))
    with pytest.raises(ValueError, match="'beer', which is no feature"):
        model.explain(dict(X.iloc[0]) | {"beer": 1.0})
    with pytest.raises(ValueError, match="the row has 'high' for 'alcohol'; explain takes numbers"):
        model.explain(dict(X.iloc[0]) | {"alcohol": "high"})
    with pytest.raises(ValueError, match="one row of 13 values"):
        model.explain(X.iloc[:2])
    with pytest.raises(ValueError, match="columns"):
        model.explain(X.iloc[[0], ::-1])


def test_an_explanation_reads_from_the_answer_to_what_would_change_it():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model = TSKClassifier(6, refine=50, random_state=0).fit(X, y)
    unsure = X.iloc[np.argmin(np.abs(model.predict_proba(X)[:, 0] - 0.6))]
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
    """Three kinds and two answers as ones and zeros, of which one is enough for the answers, and a number."""
    pandas = pytest.importorskip("pandas")
    kind, asked = rng.choice(["u", "v", "w"], size=160), rng.choice(["no", "yes"], size=160)
    ones = {f"kind={k}": (kind == k).astype(float) for k in "uvw"} | {"asked=yes": (asked == "yes").astype(float)}
    X = pandas.DataFrame(ones | {"x": rng.normal(size=160)})
    amount = 8.0 * (kind == "w") + 3.0 * (asked == "yes") + 0.1 * X["x"]
    choices = (Choice("kind", (0, 1, 2), ("u", "v", "w")), Choice("asked", (3,), ("yes",), "no"))
    return X, amount, choices


def models(X, amount):
    yield TSKClassifier(3, refine=50, random_state=0).fit(X, np.where(amount > 5, "much", "little"))
    yield TSKRegressor(3, refine=50, random_state=0).fit(X, amount)


def test_a_choice_changes_as_a_whole(kinds):
    X, amount, choices = kinds
    for model in models(X, amount):
        rules = replace(model.rules_, choices=choices)
        for k in range(0, len(X), 20):
            row = X.iloc[k].to_numpy()
            found = rules.explain(row)
            assert {change.column for change in found.changes if change.feature < 4} <= {"kind", "asked"}
            for change in found.changes:
                if change.column:
                    other = np.array(row)
                    other[list(rules.choice_of(change.feature).features)] = 0.0
                    other[change.feature] = change.value
                    assert rules(other[None, :])[0] == change.answer != found.answer


def test_choices_are_said_in_words(kinds):
    X, amount, choices = kinds
    row = X[(X["kind=u"] == 1) & (X["asked=yes"] == 0)].iloc[0]
    for model in models(X, amount):
        text = str(replace(model.rules_, choices=choices).explain(row))
        assert "  kind is w instead of u: " in text
        assert "  kind is u: u, fits 100 %" in text
    assert "  asked is yes instead of no: " in text
    line = TSKRegressor(1, order=1, random_state=0).fit(X, amount).rules_
    assert "  asked is no adds " in str(replace(line, choices=choices).explain(row))


@settings(max_examples=30)
@given(st.lists(st.text("ab= ", min_size=1).map("x{}z".format), min_size=5, max_size=5, unique=True))
def test_names_are_only_names(names):
    """Whatever features are called, and with "=" in it too, they are independent unless choices say otherwise."""
    names = [" ".join(name.split()) for name in names]
    assume(len(set(names)) == 5)
    plain = [f"feature {d};" for d in range(5)]
    for rules in (FLAGS, AMOUNT):
        texts = []
        for called in (names, plain):
            one = replace(rules, feature_names=tuple(called))
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
        found = replace(rules, feature_names=names).explain([1.0, 1.0, 0.0, 1.0, 0.5])
        assert all(change.column is None for change in found.changes)
        assert " tag is " not in str(replace(rules, feature_names=names))
    assert "tag=red is 0 instead of 1: " in str(found)


def test_features_of_two_values_get_only_the_other():
    X, _ = flags()
    for row in X[::20]:
        for rules in (FLAGS, AMOUNT):
            for change in rules.explain(row).changes:
                assert change.feature == 4 or change.value == 1.0 - row[change.feature]
