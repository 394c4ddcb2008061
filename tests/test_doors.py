"""Tables go straight in: frames of any library, gaps and categories of any kind, wherever rows are."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sessc import FCM, SESSC, Blocks, SESSCClassifier, TSKClassifier, TSKClassifierCV, TSKRegressor
from sessc.rows.columns import FEW, Category, Number, few

MODELS = [
    FCM(3, random_state=0),
    SESSC(3, random_state=0),
    SESSCClassifier(3, random_state=0),
    TSKClassifier(4, random_state=0),
    TSKClassifier(3, order=1, refine=15, class_weight="balanced", random_state=0),
]


@pytest.fixture
def table(rng):
    n = 300
    colour = rng.choice(["red", "green", "blue"], n).astype(object)
    size, age = rng.normal(2, 3, n), rng.integers(20, 80, n).astype(float)
    y = np.where((colour == "red") ^ (size > 2), "yes", "no")
    colour[rng.random(n) < 0.1] = None
    size[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"size": size, "colour": colour, "age": age, "ill": rng.random(n) < 0.4}), y


def answers(model, X):
    found = model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)
    return np.asarray(found)


def rows_of(frame):
    return [[None if pd.isna(v) else v for v in row] for row in frame.itertuples(index=False)]


def polars_frame(X):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({name: [None if pd.isna(v) else v for v in X[name]] for name in X})


def arrow_table(X):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: [None if pd.isna(v) else v for v in X[name]] for name in X})


FRAMES = {
    "category": lambda X: X.assign(colour=X.colour.astype("category"), ill=X.ill.astype("category")),
    "pandas NA": lambda X: X.convert_dtypes(),
    "objects": lambda X: X.astype(object).where(X.notna(), None),
    "polars": polars_frame,
    "polars categorical": lambda X: polars_frame(X).with_columns(
        pytest.importorskip("polars").col("colour").cast(pytest.importorskip("polars").Categorical)
    ),
    "polars enum": lambda X: polars_frame(X).with_columns(
        pytest.importorskip("polars")
        .col("colour")
        .cast(pytest.importorskip("polars").Enum(["red", "green", "blue"]))
    ),
    "arrow": arrow_table,
    "dict": lambda X: {name: [None if pd.isna(v) else v for v in X[name]] for name in X},
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_frame_is_the_same_table(model, kind, table):
    X, y = table
    expected = clone(model).fit(X, y)
    other = FRAMES[kind](X)
    found = clone(model).fit(other, y)
    np.testing.assert_allclose(answers(found, other), answers(expected, X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(answers(expected, other), answers(expected, X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("given", [["colour", "ill"], [1, 3], [False, True, False, True]], ids=str)
def test_categories_by_name_position_and_mask(given, table):
    X, y = table
    codes = X.assign(colour=X.colour.map({"red": 7.0, "green": 2.0, "blue": 5.5}), ill=X.ill.astype(float))
    named = isinstance(given[0], str)
    values = codes if named else codes.to_numpy()
    model = TSKClassifier(4, random_state=0, categorical_features=given).fit(values, y)
    kinds = [type(column) for column in model.rules_.columns]
    assert kinds == [Number, Category, Number, Category]
    assert model.rules_.columns[1].levels == (2, 5.5, 7)
    typed = codes.astype({"colour": "category", "ill": "category"})
    expected = TSKClassifier(4, random_state=0).fit(typed, y)
    np.testing.assert_allclose(model.predict_proba(values), expected.predict_proba(typed), rtol=1e-12)
    np.testing.assert_allclose(model.rules_.probabilities(values), model.predict_proba(values))


def test_no_categories_unless_told(table):
    X, y = table
    with pytest.raises(ValueError, match="'colour' of X holds text such as"):
        TSKClassifier(3, categorical_features=None).fit(X, y)
    with pytest.raises(ValueError, match="'colour' of X holds text such as"):
        TSKClassifier(3, categorical_features=["ill"]).fit(X, y)
    with pytest.raises(ValueError, match="'nothing', which is no column"):
        TSKClassifier(3, categorical_features=["nothing"]).fit(X, y)
    with pytest.raises(ValueError, match="4 columns"):
        TSKClassifier(3, categorical_features=[True, False]).fit(X, y)
    numbers = TSKClassifier(3, categorical_features=None, random_state=0).fit(X[["size", "age"]], y)
    assert numbers.predict(X[["size", "age"]]).shape == y.shape


def test_arrays_of_objects(table):
    X, y = table
    values = np.asarray(rows_of(X), dtype=object)
    model = TSKClassifier(4, random_state=0, categorical_features=[1, 3]).fit(values, y)
    np.testing.assert_allclose(
        model.predict_proba(values), TSKClassifier(4, random_state=0).fit(X, y).predict_proba(X), rtol=1e-9
    )
    with pytest.raises(ValueError, match="text such as"):
        TSKClassifier(4).fit(np.asarray(rows_of(X[["colour"]]), dtype=object), y)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_level_never_seen_counts_as_missing(model, table):
    X, y = table
    model = clone(model).fit(X, y)
    new, gone = (answers(model, X.assign(colour=value)) for value in ("purple", None))
    np.testing.assert_array_equal(new, gone)


def test_levels_that_few_rows_have_are_pooled(table):
    X, y = table
    rare = X.assign(colour=X.colour.where(X.index % 100 > 1, "odd" + X.index.astype(str)))
    model = TSKClassifier(3, random_state=0).fit(rare, y)
    colour = model.rules_.columns[1]
    assert colour.levels == ("blue", "green", "red")
    assert len(colour.pool) == 6
    assert colour.labels[-1] == "other"
    pooled, other = (model.predict_proba(X.assign(colour=name)) for name in colour.pool[:2])
    np.testing.assert_array_equal(pooled, other)


def test_a_lone_rare_level_counts_as_missing_and_takes_no_other_along(table):
    X, y = table
    lone = X.assign(colour=X.colour.where(X.index != 7, "pink"))
    model = TSKClassifier(3, random_state=0).fit(lone, y)
    assert model.rules_.columns[1] == Category("colour", ("blue", "green", "red"))
    pink, gone = (model.predict_proba(X.assign(colour=value)) for value in ("pink", None))
    np.testing.assert_array_equal(pink, gone)


def test_few_is_a_share_that_weights_and_repetitions_agree_on():
    assert few(1000) == 0.005
    assert few(400) == FEW / 400
    assert few(1.0) == few(10.0) == 0.05  # weights that sum to one say nothing of how many rows there are


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_what_only_rows_of_weight_zero_have_does_not_exist(model, table):
    X, y = table
    weight = np.ones(len(X))
    weight[:20] = 0
    odd = X.copy()
    odd.loc[:19, "colour"] = "purple"
    odd.loc[:19, "age"] = np.nan
    found = clone(model).fit(odd, y, sample_weight=weight)
    expected = clone(model).fit(X[20:], y[20:])
    np.testing.assert_allclose(answers(found, X), answers(expected, X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_infinity_is_refused(model, table):
    X, y = table
    for bad in (np.inf, -np.inf, 1e200):
        with pytest.raises(ValueError, match=r"X (contains an infinite|holds values as large)"):
            clone(model).fit(X.assign(age=X.age.where(X.index != 5, bad)), y)
    numbers = X[["size", "age"]].to_numpy(copy=True)
    numbers[3, 0] = np.inf
    with pytest.raises(ValueError, match="infinite value"):
        clone(model).fit(numbers, y)


def test_dates_are_numbers_that_are_read_as_dates(table, rng):
    X, y = table
    days = rng.integers(0, 3000, len(X))
    when = pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")
    y = np.where(days > 1500, "late", "early")
    dated = X.assign(when=when)
    dated.loc[3, "when"] = pd.NaT
    model = TSKClassifier(3, refine=30, random_state=0).fit(dated, y)
    assert model.rules_.columns[-1] == Number("when", is_date=True)
    assert model.score(dated, y) > 0.9
    plain = X.assign(when=[None if pd.isna(one) else one.date() for one in dated.when])
    assert isinstance(plain.when[0], dt.date)
    np.testing.assert_allclose(model.predict_proba(plain), model.predict_proba(dated))
    zoned = dated.assign(when=dated.when.dt.tz_localize("UTC"))
    np.testing.assert_allclose(model.predict_proba(zoned), model.predict_proba(dated))
    np.testing.assert_allclose(model.predict_proba(polars_frame(dated)), model.predict_proba(dated))
    with pytest.raises(ValueError, match="timedelta"):
        TSKClassifier(3).fit(X.assign(lasts=pd.to_timedelta(days, unit="D")), y)


def test_text_where_numbers_were_is_refused(table):
    X, y = table
    model = TSKClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="'age' of X holds text such as 'old'"):
        model.predict(X.assign(age="old"))
    with pytest.raises((ValueError, TypeError), match="number"):
        TSKClassifier(3).fit(X.assign(age=[{"a": 1}] * len(X)), y)


def blocks_of(X, y, sizes=(50, 100, 150)):
    ends = np.cumsum(sizes)
    return [(X.iloc[end - size : end], y[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_blocks_of_frames(model, table):
    X, y = table
    late = X.copy()
    late.loc[:199, "size"] = late.loc[:199, "size"].fillna(0.0)  # gaps show in the last block alone
    found, expected = clone(model).fit(Blocks(blocks_of(late, y), list(X))), clone(model).fit(late, y)
    np.testing.assert_allclose(answers(found, late), answers(expected, late), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(answers(found, Blocks(blocks_of(late, y))), answers(expected, late), atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_gaps_in_blocks_of_numbers(model, table, rng):
    _, y = table
    X = rng.normal(size=(300, 3))
    X[250:, 1] = np.nan
    parts = [(X[:150], y[:150]), (X[150:], y[150:])]
    found, expected = clone(model).fit(Blocks(parts)), clone(model).fit(X, y)
    np.testing.assert_allclose(answers(found, X), answers(expected, X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_parquet_with_dictionaries_and_gaps(model, table, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = table
    whole = X.assign(colour=X.colour.astype("category"), outcome=y, since=pd.Timestamp("2020-01-01"))
    whole["since"] += pd.to_timedelta(np.arange(len(X)), unit="D")
    whole.to_parquet(tmp_path / "rows.parquet", row_group_size=120)
    assert "dictionary" in str(parquet.read_schema(tmp_path / "rows.parquet").field("colour").type)
    blocks = Blocks.from_parquet(tmp_path / "rows.parquet", target="outcome")
    found, expected = clone(model).fit(blocks), clone(model).fit(whole.drop(columns="outcome"), y)
    np.testing.assert_allclose(
        answers(found, blocks), answers(expected, whole.drop(columns="outcome")), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_dask_frames(model, table):
    dask = pytest.importorskip("dask.dataframe")
    X, y = table
    parts = dask.from_pandas(X.assign(outcome=y), npartitions=3)
    features, outcome = parts[list(X)], parts["outcome"]
    found, expected = clone(model).fit(features, outcome), clone(model).fit(X, y)
    np.testing.assert_allclose(answers(found, X), answers(expected, X), rtol=1e-6, atol=1e-8)
    method = "predict_proba" if hasattr(model, "predict_proba") else "transform"
    lazily = getattr(found, method)(features)
    np.testing.assert_allclose(np.asarray(lazily.compute()), answers(expected, X), rtol=1e-6, atol=1e-8)


def test_dask_weights_count_levels(table):
    dask = pytest.importorskip("dask.dataframe")
    X, y = table
    weight = np.where(X.colour == "red", 0.0, 1.0)
    parts = dask.from_pandas(X.assign(outcome=y, weight=weight), npartitions=3)
    model = TSKClassifier(3, random_state=0).fit(parts[list(X)], parts["outcome"], sample_weight=parts["weight"])
    assert model.rules_.columns[1].levels == ("blue", "green")


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_arrays_of_other_libraries_hold_codes(model, table, xp):
    if xp is np:
        pytest.skip("NumPy's are tried above")
    X, y = table
    codes = X.assign(colour=X.colour.map({"red": 0.0, "green": 1.0, "blue": 2.0}), ill=X.ill.astype(float))
    values, labels = codes.to_numpy(), (y == "yes").astype(int)
    model = clone(model).set_params(categorical_features=[1, 3])
    found = clone(model).fit(xp.asarray(values), xp.asarray(labels))
    expected = clone(model).fit(values, labels)
    np.testing.assert_allclose(answers(found, xp.asarray(values)), answers(expected, values), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", MODELS[:4], ids=repr)
def test_learning_on_when_gaps_and_levels_come_later(model, table):
    X, y = table
    first = X[:100].assign(size=X["size"][:100].fillna(1.0), colour=X.colour[:100].fillna("red"))
    later = X[100:].copy()
    later.loc[later.index[:30], "colour"] = "purple"
    model = clone(model).partial_fit(
        first, y[:100], **({} if isinstance(model, FCM) else {"classes": ["no", "yes"]})
    )
    model.partial_fit(later, y[100:])
    assert np.all(np.isfinite(answers(model, later)))
    known, new = model._columns[1].levels, model._columns[1].pool
    assert known == ("blue", "green", "red")
    assert new == ("purple",)
    declared = clone(model).partial_fit(first.assign(colour=first.colour.astype("category")), y[:100])
    assert declared._columns[1].pool is None


def test_a_search_takes_tables(table):
    X, y = table
    model = TSKClassifierCV([3, 5], order=0, cv=3, refine=30, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    np.testing.assert_array_equal(model.rules_(X), model.predict(X))
    value = X.age + 30 * (X.colour == "red")
    assert TSKRegressor(4, refine=60, random_state=0).fit(X, value).score(X, value) > 0.5


def test_rules_answer_frames_and_say_which_columns_they_miss(table):
    X, y = table
    rules = TSKClassifier(3, random_state=0).fit(X, y).rules_
    with pytest.raises(ValueError, match="rules are about"):
        rules(X.rename(columns={"age": "years"}))
    np.testing.assert_allclose(rules.firing(X).sum(axis=1), 1)
