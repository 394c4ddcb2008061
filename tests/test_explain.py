"""Explanations add up, and what they say would change the answer does."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sessc import TSKClassifier, TSKRegressor

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
    assert "One standard deviation more or less:" in str(found)


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


def test_a_category_changes_as_a_whole(rng):
    pandas = pytest.importorskip("pandas")
    kinds = rng.choice(["u", "v", "w"], size=120)
    X = pandas.DataFrame({f"kind={k}": (kinds == k).astype(float) for k in "uvw"} | {"x": rng.normal(size=120)})
    for y, model in (
        (np.where(kinds == "w", "yes", "no"), TSKClassifier(3, refine=50, random_state=0)),
        (np.where(kinds == "w", 9.0, 1.0) + 0.1 * X["x"], TSKRegressor(3, refine=50, random_state=0)),
    ):
        model.fit(X, y)
        row = X.iloc[int(np.flatnonzero(kinds == "u")[0])]
        found = model.explain(row)
        assert {change.column for change in found.changes if "=" in X.columns[change.feature]} == {"kind"}
        for change in found.changes:
            if change.column:
                other = row.copy()
                other[["kind=u", "kind=v", "kind=w"]] = 0.0
                other.iloc[change.feature] = 1.0
                assert model.predict(other.to_frame().T)[0] == change.answer
        assert "  kind is w instead of u: " in str(found)
