"""What is done to development sets before rules are judged on them."""

import numpy as np
import pytest

pandas = pytest.importorskip("pandas", reason="pandas is not installed; pip install pandas")

from experiments.development import Split, losing  # noqa: E402
from experiments.real_tables import CHANGES, Line, changed, indicators  # noqa: E402

from sessc import TSKClassifier  # noqa: E402


@pytest.fixture
def split(rng):
    X = pandas.DataFrame({"a": rng.normal(size=400), "b": np.where(rng.random(400) < 0.6, "x", "y")})
    X = X.astype({"b": "category"})
    y = np.where(X["a"] + (X["b"] == "x") > 0.5, "yes", "no")
    return Split(X[:300], y[:300], X[300:], y[300:])


@pytest.mark.parametrize("how", ["anywhere", "by value"])
def test_a_tenth_of_the_cells_goes(split, how):
    lost = pandas.concat([losing(split.X, 0.1, how, seed) for seed in range(20)]).isna()
    assert abs(lost.to_numpy().mean() - 0.1) < 0.01
    high = np.tile(split.X["a"] > split.X["a"].median(), 20)
    ratio = lost["a"][high].mean() / lost["a"][~high].mean()
    assert abs(ratio - (1.0 if how == "anywhere" else 2.0)) < 0.3


@pytest.mark.parametrize("change", CHANGES)
def test_changes_leave_what_they_are_not_about(split, change):
    found = changed(split, change, seed=0)
    np.testing.assert_array_equal(found.y, split.y)
    np.testing.assert_array_equal(found.y_test, split.y_test)
    assert split.X.isna().sum().sum() == 0
    if not change.startswith("gaps"):
        pandas.testing.assert_frame_equal(found.X_test[["a", "b"]], split.X_test)
    if change == "rare columns":
        assert set(found.X.iloc[:, 2:].sum()) <= {1.0, 2.0, 3.0}
    if change == "a typo":
        assert (found.X != split.X).to_numpy().sum() == 1


@pytest.mark.parametrize("change", CHANGES)
def test_any_model_of_numbers_can_be_judged(split, change):
    part = changed(split, change, seed=1)
    model = indicators(TSKClassifier(3, random_state=0)).fit(part.X, part.y)
    assert model.predict(part.X_test).shape == part.y_test.shape


def test_damaged_lines_are_noticed():
    with pytest.raises(ValueError, match="cells instead of"):
        Line.parse(["wine", "0"])
