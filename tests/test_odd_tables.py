"""Tables as they come: nothing that varies, categories alone, gaps that come and go, odd levels and dates."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from sessc import FCM, Blocks, RuleBase, TSKClassifier, TSKClassifierCV, TSKRegressor


@pytest.fixture
def table(rng):
    X = pd.DataFrame(
        {"a": rng.normal(size=120), "c": rng.choice(["u", "v"], 120), "d": rng.choice(["x", "y"], 120)}
    )
    return X, np.where((X.c == "u") ^ (X.a > 0), "yes", "no")


@pytest.mark.parametrize("settings", [{}, {"refine": 20}, {"refine": 20, "order": 1}], ids=str)
def test_a_table_of_categories_alone_is_saved_and_read(table, settings, tmp_path):
    X, y = table
    rules = TSKClassifier(3, random_state=0, **settings).fit(X[["c", "d"]], y).rules_
    rules.save(tmp_path / "rules.json")
    again = RuleBase.load(tmp_path / "rules.json")
    np.testing.assert_allclose(again.probabilities(X[["c", "d"]]), rules.probabilities(X[["c", "d"]]), rtol=1e-12)


@pytest.mark.parametrize("order", [0, 1])
def test_gaps_that_come_and_go_in_a_stream(table, order):
    X, y = table
    lacking = X.assign(a=X.a.where(X.index % 5 > 0), c=X.c.where(X.index % 7 > 0))
    model = TSKClassifier(3, order=order, random_state=0)
    for part, rows in zip(
        (X, lacking, X, lacking[["a"]].join(X[["c", "d"]])), np.split(np.arange(120), 4), strict=True
    ):
        model.partial_fit(part.iloc[rows], y[rows], classes=["no", "yes"])
    np.testing.assert_array_equal(model.rules_(lacking), model.predict(lacking))
    assert np.all(np.isfinite(model.predict_proba(lacking)))


def test_rules_know_the_levels_that_came_later(table):
    X, y = table
    model = TSKClassifier(3, random_state=0).partial_fit(X[:60], y[:60])
    model.partial_fit(X[60:].assign(c="w"), y[60:])
    new = X.assign(c="w")
    np.testing.assert_allclose(model.rules_.probabilities(new), model.predict_proba(new))
    assert model.rules_.columns[1].pool == ("w",)


@pytest.mark.parametrize("settings", [{}, {"refine": 20}, {"refine": 20, "order": 1}], ids=str)
def test_where_nothing_varies_the_answer_is_the_share_of_each_class(table, settings):
    X, y = table
    same = X.assign(a=1.0, c="u", d=[f"id{k}" for k in range(120)])
    odds = TSKClassifier(3, random_state=0, **settings).fit(same, y).predict_proba(same)
    np.testing.assert_allclose(odds, np.tile([np.mean(y == "no"), np.mean(y == "yes")], (120, 1)), atol=0.02)
    value = TSKRegressor(2, random_state=0, **settings).fit(same, X.a).predict(same)
    np.testing.assert_allclose(value, X.a.mean(), atol=1e-6)


def test_one_row_may_weigh_more_than_all_others(table):
    X, y = table
    weight = np.where(X.index == 3, 1e9, 1.0)
    odds = TSKClassifier(3, refine=20, random_state=0).fit(X, y, sample_weight=weight).predict_proba(X)
    assert np.all(np.isfinite(odds))


def test_a_search_where_nothing_varies(table):
    X, y = table
    same = X[["c"]].assign(c="u")
    assert np.all(np.isfinite(TSKClassifierCV(2, order=0, cv=2, random_state=0).fit(same, y).predict_proba(same)))


def test_missing_dates_in_blocks(table):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = table
    days = [None if k % 9 == 0 else dt.date(2020, 1, 1) + dt.timedelta(days=k) for k in range(120)]
    batch = pyarrow.RecordBatch.from_pydict({"a": X.a.tolist(), "when": days})
    found = TSKClassifier(3, random_state=0).fit(Blocks([(batch, y)]))
    expected = TSKClassifier(3, random_state=0).fit(pd.DataFrame({"a": X.a, "when": days}), y)
    np.testing.assert_allclose(
        found.predict_proba(Blocks([batch])), expected.predict_proba(pd.DataFrame({"a": X.a, "when": days}))
    )


def test_blocks_are_about_the_same_columns(table):
    X, _ = table
    turned = X[["c", "a", "d"]]
    with pytest.raises(ValueError, match=r"Block 2 has the columns \('c', 'a', 'd'\)"):
        FCM(2).fit(Blocks([X, turned]))
    numbers = X[["a"]].assign(b=1.0)
    with pytest.raises(ValueError, match="Block 2 has the columns"):
        FCM(2).fit(Blocks([numbers, numbers[["b", "a"]]]))
    model = FCM(2, random_state=0).fit(Blocks([numbers]))
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="was fitted to"):
        model.predict(Blocks([numbers[["b", "a"]]]))


def test_a_category_without_a_common_level_is_explained(table):
    X, y = table
    odd = X.assign(d=[f"id{k}" for k in range(120)])
    model = TSKClassifier(3, order=1, random_state=0).fit(odd, y)
    assert "The answer is" in str(model.explain(odd.iloc[0]))


def test_large_numbers_that_are_only_names_stay_apart(table):
    _, y = table
    names = np.where(y == "yes", 2**53 + 1, 2**53)
    X = pd.DataFrame({"id": pd.Series(names).astype("category")})
    assert TSKClassifier(2, refine=30, random_state=0).fit(X, y).score(X, y) == 1.0


def test_moments_are_the_same_in_any_zone_and_library(table):
    polars = pytest.importorskip("polars")
    _, y = table
    there = pd.date_range("2021-01-01", periods=120, freq="7h", tz="America/New_York")
    X = pd.DataFrame({"when": there})
    model = TSKClassifier(3, refine=10, random_state=0).fit(X, y)
    for other in (pd.DataFrame({"when": there.tz_convert("Asia/Tokyo")}), polars.from_pandas(X)):
        np.testing.assert_allclose(model.predict_proba(other), model.predict_proba(X))
    assert model.explain(X.iloc[5]).x[0] == pytest.approx(model.rules_.cells(X)[5, 0])


def test_every_nan_is_missing(table):
    X, y = table
    odd = X.c.astype(object).where(X.index % 6 > 0, np.float32("nan"))
    found = TSKClassifier(3, random_state=0).fit(X.assign(c=odd), y)
    assert found.rules_.columns[1].levels == ("u", "v")
    dates = np.asarray([np.datetime64("NaT"), *[dt.date(2020, 1, 1 + k % 28) for k in range(119)]], dtype=object)
    assert FCM(2, random_state=0).fit(X.assign(d=dates)).transform(X.assign(d=dates)).shape == (120, 2)


def test_a_dictionary_may_hold_a_gap_or_a_level_twice():
    pyarrow = pytest.importorskip("pyarrow")
    codes = pyarrow.array([0, 1, 2, 3] * 15, pyarrow.int32())
    cells = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["p", "q", None, "p"]))
    X = pyarrow.table({"c": cells, "a": np.arange(60.0)})
    model = TSKClassifier(2, random_state=0).fit(X, np.arange(60) % 2)
    assert model.rules_.columns[0].levels == ("p", "q")
    np.testing.assert_allclose(model.rules_.summary.levels[0], [0.5, 0.25])
    assert model.rules_.summary.missing[0] == pytest.approx(0.25)


def test_rules_take_the_arrays_that_the_model_takes(table):
    X, y = table
    flags = np.asarray([[bool(a > 0), c] for a, c in zip(X.a, X.c, strict=True)], dtype=object)
    model = TSKClassifier(2, random_state=0, categorical_features=[0, 1]).fit(flags, y)
    flags[0, 0] = "never seen"
    np.testing.assert_allclose(model.rules_.probabilities(flags), model.predict_proba(flags))


def test_a_row_is_explained_as_it_is_predicted(table):
    X, y = table
    cut = X.assign(c=pd.cut(X.a, 3), d=pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"] * 60)))
    for frame in (cut, X.set_axis(range(3), axis=1)):
        model = TSKClassifier(3, random_state=0).fit(frame, y)
        np.testing.assert_allclose(model.explain(frame.iloc[0]).x, model.rules_.cells(frame[:1])[0])


def test_codes_beyond_all_integers_are_saved_and_read(table, tmp_path):
    X, y = table
    frame = X.assign(c=pd.Categorical(np.asarray([2**63 + 4096 * (k % 2) for k in range(120)], dtype="uint64")))
    rules = TSKClassifier(2, random_state=0).fit(frame, y).rules_
    rules.save(tmp_path / "rules.json")
    np.testing.assert_array_equal(RuleBase.load(tmp_path / "rules.json")(frame), rules(frame))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "0 sample"),
        ({"a": [1.0, 2.0, 3.0], "c": ["x", "y"]}, "different lengths: a 3, c 2"),
        ({"a": 1.0, "c": "x"}, "'a' of X has the shape"),
        ({"a": np.ones((3, 2))}, "'a' of X has the shape"),
        ({"a": [10**400, 1, 2], "c": ["x", "y", "x"]}, "'a' of X holds whole numbers too large"),
    ],
    ids=str,
)
def test_what_is_no_table_is_a_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        TSKClassifier(2).fit(given, ["u", "v", "u"])
