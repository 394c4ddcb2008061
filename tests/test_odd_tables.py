"""Tables as they come: nothing that varies, categories alone, gaps that come and go, odd levels and dates."""

import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from sessc import ESSC, FCM, Blocks, RuleBase, TSKClassifier, TSKClassifierCV, TSKRegressor

USELESS = pytest.mark.filterwarnings("ignore::sessc.UselessModelWarning")
"""Where labels have nothing to do with the columns that are left."""


@pytest.fixture
def table(rng):
    X = pd.DataFrame(
        {"a": rng.normal(size=120), "c": rng.choice(["u", "v"], 120), "d": rng.choice(["x", "y"], 120)}
    )
    return X, np.where((X.c == "u") ^ (X.a > 0), "yes", "no")


@USELESS
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


@USELESS
@pytest.mark.parametrize("settings", [{}, {"refine": 20}, {"refine": 20, "order": 1}], ids=str)
def test_where_nothing_varies_the_answer_is_the_share_of_each_class(table, settings):
    X, y = table
    same = X.assign(a=1.0, c="u", d=[f"id{k}" for k in range(120)])
    odds = TSKClassifier(3, random_state=0, **settings).fit(same, y).predict_proba(same)
    np.testing.assert_allclose(odds, np.tile([np.mean(y == "no"), np.mean(y == "yes")], (120, 1)), atol=0.02)
    value = TSKRegressor(2, random_state=0, **settings).fit(same, X.a).predict(same)
    np.testing.assert_allclose(value, X.a.mean(), atol=1e-6)


@USELESS
def test_one_row_may_weigh_more_than_all_others(table):
    X, y = table
    weight = np.where(X.index == 3, 1e9, 1.0)
    odds = TSKClassifier(3, refine=20, random_state=0).fit(X, y, sample_weight=weight).predict_proba(X)
    assert np.all(np.isfinite(odds))


@USELESS
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


@USELESS
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


@pytest.mark.parametrize("kind", [np.longdouble, np.float16])
def test_rules_about_categories_take_numbers_of_any_precision(kind):
    """In extended precision there was no smallest number above zero, and half has too few digits for a cost."""
    rng = np.random.default_rng(0)
    values = np.c_[rng.normal(size=(60, 2)), rng.integers(0, 2, 60)].astype(np.float16)
    for kind_of_model in (ESSC, TSKClassifier):
        model = kind_of_model(2, categorical_features=[2], random_state=0)
        model.fit(values.astype(float), values[:, 0] > 0)
        np.testing.assert_array_equal(model.predict(values.astype(kind)), model.predict(values.astype(float)))


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


GAPS = {"objects": None, "numbers": np.nan}


@pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS)
@pytest.mark.parametrize("first", [True, False], ids=["gaps first", "gaps last"])
def test_a_block_of_gaps_says_nothing_of_its_column(table, gap, first):
    X, y = table
    X = X[["a", "c"]].assign(c=X.c.where((X.index >= 60) == first))
    gaps = X.c.isna()
    blocks = [(X[gaps].assign(c=gap), y[gaps]), (X[~gaps], y[~gaps])]
    found = TSKClassifier(3, random_state=0).fit(Blocks(blocks if first else blocks[::-1]))
    expected = TSKClassifier(3, random_state=0).fit(X, y)
    assert found.rules_.columns == expected.rules_.columns
    np.testing.assert_allclose(found.predict_proba(Blocks([X])), expected.predict_proba(X))
    with pytest.raises(ValueError, match="'c' of X holds text"):
        TSKClassifier(3, categorical_features=None).fit(Blocks(blocks))


def test_columns_of_gaps_are_what_their_type_says(table):
    polars = pytest.importorskip("polars")
    X, y = table
    for c in (pd.Series([None] * 120, dtype="string"), pd.Series([None] * 120, dtype="str")):
        assert TSKClassifier(2, random_state=0).fit(X.assign(c=c), y).rules_.columns[1].n_levels
    frame = polars.from_pandas(X[["a"]]).with_columns(c=polars.Series([None] * 120, dtype=polars.String))
    assert TSKClassifier(2, random_state=0).fit(frame, y).rules_.columns[1].n_levels


@pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS)
def test_text_after_a_batch_of_gaps_is_a_sentence(table, gap):
    X, y = table
    model = TSKClassifier(3, random_state=0).partial_fit(X[:60].assign(c=gap), y[:60])
    with pytest.raises(
        ValueError, match=r"'c' of X holds text such as '[uv]', and no row before .* category type"
    ):
        model.partial_fit(X[60:], y[60:])
    typed = X[:60].assign(c=pd.Categorical([None] * 60))
    for named, settings in ((typed, {}), (X[:60].assign(c=gap), {"categorical_features": ["c", "d"]})):
        model = TSKClassifier(3, random_state=0, **settings).partial_fit(named, y[:60]).partial_fit(X[60:], y[60:])
        assert model.rules_.columns[1].pool == ("u", "v")


@pytest.mark.parametrize("numbers_first", [True, False])
def test_numbers_beside_text_are_levels_in_blocks_as_in_one_table(table, numbers_first):
    X, y = table
    X, y = (X, y) if numbers_first else (X[::-1], y[::-1])
    codes = pd.Series([k % 3 for k in range(120)], dtype=object)
    X = X[["a"]].assign(c=X.c.astype(object).where(X.index >= 60, codes))
    parts = X[:60].infer_objects(), X[60:].infer_objects()
    found = TSKClassifier(3, random_state=0).fit(Blocks([(parts[0], y[:60]), (parts[1], y[60:])]))
    expected = TSKClassifier(3, random_state=0).fit(X, y)
    assert found.rules_.columns[1].levels == expected.rules_.columns[1].levels == (0, 1, 2, "u", "v")
    np.testing.assert_allclose(found.predict_proba(Blocks(parts)), expected.predict_proba(X))


def test_dates_do_not_mix(table):
    X, y = table
    dated = X[:60].assign(c=pd.Timestamp("2020-01-01"))
    for other, name in ((X[60:], "text"), (X[60:].assign(c=1.0), "numbers")):
        with pytest.raises(ValueError, match=f"'c' of X holds dates in some blocks and {name} in others"):
            TSKClassifier(2).fit(Blocks([(dated, y[:60]), (other, y[60:])]))


NUMBERS = {
    "Int64": lambda cells: pd.array(cells, dtype="Int64"),
    "Float64": lambda cells: pd.array(cells, dtype="Float64"),
    "Float32": lambda cells: pd.array(cells, dtype="Float32"),
    "decimals": lambda cells: [None if cell is None else Decimal(cell) for cell in cells],
    "decimals with NaN": lambda cells: [Decimal("NaN" if cell is None else cell) for cell in cells],
    "Arrow integers": lambda cells: pd.Series(cells, dtype="int64[pyarrow]"),
    "Arrow decimals": lambda cells: pd.Series(
        [None if cell is None else Decimal(cell) for cell in cells],
        dtype=pd.ArrowDtype(pytest.importorskip("pyarrow").decimal128(6, 2)),
    ),
    "sparse": lambda cells: pd.arrays.SparseArray([np.nan if cell is None else float(cell) for cell in cells]),
}


@pytest.mark.parametrize("typed", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("names", [["a"], ["a", "c"]], ids=["among numbers", "among text"])
def test_numbers_of_any_type_are_numbers(table, typed, names):
    X, y = table
    cells = [None if k % 7 == 0 else k % 5 for k in range(120)]
    plain = X[names].assign(k=np.asarray(cells, dtype=float))
    odd = X[names].assign(k=typed(cells))
    expected = TSKClassifier(3, random_state=0).fit(plain, y)
    for given in ((odd, y), (Blocks([(odd[:50], y[:50]), (odd[50:], y[50:])]),)):
        found = TSKClassifier(3, random_state=0).fit(*given)
        assert found.rules_.columns == expected.rules_.columns
        for new in (odd, Blocks([odd])):
            np.testing.assert_allclose(found.predict_proba(new), expected.predict_proba(plain))
    np.testing.assert_allclose(found.explain(odd.iloc[1]).x, expected.explain(plain.iloc[1]).x)


def test_truth_values_that_may_be_missing(table):
    X, y = table
    cells = [None if k % 7 == 0 else k % 2 == 0 for k in range(120)]
    plain, odd = (X[["a"]].assign(k=pd.Series(cells, dtype=kind)) for kind in (object, "boolean"))
    expected = TSKClassifier(3, random_state=0).fit(plain, y).predict_proba(plain)
    for given in ((odd, y), (Blocks([(odd[:50], y[:50]), (odd[50:], y[50:])]),)):
        np.testing.assert_allclose(TSKClassifier(3, random_state=0).fit(*given).predict_proba(odd), expected)


def test_decimals_in_polars_and_parquet(table, tmp_path):
    polars, parquet = pytest.importorskip("polars"), pytest.importorskip("pyarrow.parquet")
    X, y = table
    cells = [None if k % 7 == 0 else Decimal(k % 5) for k in range(120)]
    plain = X[["a"]].assign(k=[np.nan if cell is None else float(cell) for cell in cells])
    expected = TSKClassifier(3, random_state=0).fit(plain, y).predict_proba(plain)
    frame = polars.DataFrame({"a": X.a.to_numpy(), "k": cells})
    np.testing.assert_allclose(TSKClassifier(3, random_state=0).fit(frame, y).predict_proba(frame), expected)
    found = TSKClassifier(3, random_state=0).fit(Blocks([(frame, y)])).predict_proba(Blocks([frame]))
    np.testing.assert_allclose(found, expected)
    parquet.write_table(frame.with_columns(y=polars.Series(y.tolist())).to_arrow(), tmp_path / "table.parquet")
    blocks = Blocks.from_parquet(tmp_path / "table.parquet", target="y")
    np.testing.assert_allclose(TSKClassifier(3, random_state=0).fit(blocks).predict_proba(blocks), expected)


def test_a_decimal_may_name_a_level(table):
    X, y = table
    frame = X[["a"]].assign(k=[Decimal(k % 3) for k in range(120)])
    model = TSKClassifier(2, random_state=0, categorical_features=["k"]).fit(frame, y)
    assert model.rules_.columns[1].levels == (0, 1, 2)
    np.testing.assert_allclose(model.explain(frame.iloc[2]).x, model.rules_.cells(frame[2:3])[0])


def test_rows_in_lists_are_read_as_in_an_array_of_objects(table):
    X, y = table
    array = X[["a", "c"]].to_numpy(dtype=object)
    expected = TSKClassifier(3, random_state=0, categorical_features=[1]).fit(array, y)
    for rows in (array.tolist(), list(map(tuple, array)), tuple(array)):
        found = TSKClassifier(3, random_state=0, categorical_features=[1]).fit(rows, y)
        assert found.rules_.columns == expected.rules_.columns
        for model in (found, expected):
            np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(array))
    stream = TSKClassifier(3, random_state=0, categorical_features=[1]).partial_fit(array.tolist(), y)
    assert stream.partial_fit(array.tolist(), y).rules_.columns[0].n_levels == 0
    with pytest.raises(ValueError, match=r"X holds text such as '[uv]'"):
        TSKClassifier(3).fit(array.tolist(), y)


def test_centres_in_lists(table):
    X, _ = table
    start = [[-1.0, "u", "x"], [1.0, "v", "y"]]
    found = FCM(2, init=start, max_iter=3).fit(X).cluster_centers_
    np.testing.assert_array_equal(
        found, FCM(2, init=np.asarray(start, object), max_iter=3).fit(X).cluster_centers_
    )


OF_NO_USE = {
    "list": lambda arrow: arrow.array([[1]] * 120),
    "large list": lambda arrow: arrow.array([[1]] * 120, arrow.large_list(arrow.int64())),
    "list of one": lambda arrow: arrow.array([[1]] * 120, arrow.list_(arrow.int64(), 1)),
    "struct": lambda arrow: arrow.array([{"q": 1}] * 120),
    "map": lambda arrow: arrow.array([[("q", 1)]] * 120, arrow.map_(arrow.string(), arrow.int64())),
    "binary": lambda arrow: arrow.array([b"x"] * 120),
    "large binary": lambda arrow: arrow.array([b"x"] * 120, arrow.large_binary()),
    "bytes": lambda arrow: arrow.array([b"x"] * 120, arrow.binary(1)),
    "coded binary": lambda arrow: arrow.array([b"x"] * 120).dictionary_encode(),
    "duration": lambda arrow: arrow.array([dt.timedelta(days=1)] * 120),
    "time": lambda arrow: arrow.array([dt.time(1)] * 120),
    "interval": lambda arrow: arrow.array([arrow.MonthDayNano([1, 2, 3])] * 120),
    "runs": lambda arrow: arrow.RunEndEncodedArray.from_arrays([60, 120], [1.0, 2.0]),
}


@pytest.mark.parametrize("made", OF_NO_USE.values(), ids=OF_NO_USE)
def test_types_that_say_nothing_here_are_named(table, made):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = table
    cells = made(pyarrow)
    arrow = pyarrow.table({"a": X.a.to_numpy(), "z": cells})
    pandas = X[["a"]].assign(z=pd.Series(pd.arrays.ArrowExtensionArray(cells)))
    message = rf"^Column 'z' of X holds {re.escape(str(cells.type).lower())} cells; say what matters[^.]*\.$"
    for given in ((arrow, y), (Blocks([(arrow, y)]),), (pandas, y), (Blocks([(pandas, y)]),)):
        with pytest.raises(ValueError, match=message):
            TSKClassifier(2).fit(*given)


@pytest.mark.parametrize("cells", [[[1]], [{"q": 1}], [b"x"], [dt.time(1)], [dt.timedelta(days=1)]], ids=str)
def test_types_of_polars_that_say_nothing_here_are_named(table, cells):
    polars = pytest.importorskip("polars")
    X, y = table
    frame = polars.DataFrame({"a": X.a.to_numpy(), "z": cells * 120})
    for given in ((frame, y), (Blocks([(frame, y)]),)):
        with pytest.raises(ValueError, match=r"^Column 'z' of X holds .* cells; say what matters[^.]*\.$"):
            TSKClassifier(2).fit(*given)


@pytest.mark.parametrize("names", [["a"], ["a", "c"]], ids=["among numbers", "among text"])
def test_complex_numbers_are_refused(table, names):
    X, y = table
    with pytest.raises(ValueError, match="'z' of X holds complex128 cells; say what matters"):
        TSKClassifier(2).fit(X[names].assign(z=1j), y)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "bool", "int64", "date32[day]"])
def test_columns_of_arrow_are_the_same_in_pandas(table, kind):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = table
    days = [None if k % 9 == 0 else dt.date(2020, 1, 1 + k % 28) for k in range(120)]
    cells = {
        "bool": [k % 2 == 0 for k in range(120)],
        "int64": list(range(120)),
        "date32[day]": days,
    }.get(kind, X.c.tolist())
    types = {
        "string": pyarrow.string(),
        "large_string": pyarrow.large_string(),
        "string_view": pyarrow.string_view(),
    }
    column = pyarrow.array(cells, types.get(kind))
    for one in (column, column.dictionary_encode()) if "string" in kind else (column,):
        arrow = pyarrow.table({"a": X.a.to_numpy(), "z": one})
        pandas = X[["a"]].assign(z=pd.Series(pd.arrays.ArrowExtensionArray(one)))
        expected = TSKClassifier(2, random_state=0).fit(arrow, y)
        found = TSKClassifier(2, random_state=0).fit(pandas, y)
        assert found.rules_.columns == expected.rules_.columns
        np.testing.assert_allclose(found.predict_proba(pandas), expected.predict_proba(arrow))


@pytest.mark.parametrize("names", [["a", "c", "a"], ["a", "a"], [1, "c", "1"]], ids=str)
def test_names_that_columns_share_are_named(table, names):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = table
    X = X[["a", "c", "a"] if "c" in names else ["a", "a"]].set_axis(names, axis=1)
    arrow = pyarrow.table([X.iloc[:, j].tolist() for j in range(len(names))], names=list(map(str, names)))
    array = Blocks([(np.zeros((120, len(names))), y)], feature_names=names)
    for given in ((X, y), (arrow, y), (Blocks([(X, y)]),), (Blocks([(arrow, y)]),), (array,)):
        with pytest.raises(ValueError, match=rf"^X has 2 columns called '{names[0]}'; rename[^.]*\.$"):
            TSKClassifier(2).fit(*given)
