"""Rules behind scalers and encoders are said in the units of the table."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from sessc import TSKClassifier, rules_of
from sessc.rules.choices import Choice

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def model(**settings):
    return TSKClassifier(3, random_state=0, **settings)


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [MinMaxScaler((-2, 5))],
        [MaxAbsScaler()],
        [RobustScaler()],
        [RobustScaler(with_centering=False, with_scaling=False)],
        [SimpleImputer(), MinMaxScaler(), "passthrough", StandardScaler()],
        [FunctionTransformer(), make_pipeline(RobustScaler(), MaxAbsScaler())],
    ],
    ids=str,
)
@pytest.mark.parametrize("settings", [{}, {"order": 1, "refine": 20}], ids=str)
def test_scalers_are_undone(wine, steps, settings):
    X, y = wine
    fitted = make_pipeline(*steps, model(**settings)).fit(X, y)
    rules = rules_of(fitted)
    assert rules.feature_names == tuple(X.columns)
    np.testing.assert_allclose(rules.probabilities(X), fitted.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(rules.summary.medians, X.median(), rtol=0.05)
    low, high = X.min().to_numpy(), X.max().to_numpy()
    assert np.all((rules.centers_in_units >= low - 1e-9) & (rules.centers_in_units <= high + 1e-9))


def test_selected_features_keep_their_names(wine):
    X, y = wine
    fitted = make_pipeline(StandardScaler(), SelectKBest(k=4), model()).fit(X, y)
    chosen = X.columns[fitted[1].get_support()]
    rules = rules_of(fitted)
    assert rules.feature_names == tuple(chosen)
    np.testing.assert_array_equal(rules(X[chosen]), fitted.predict(X))


def test_a_search_is_looked_into(wine):
    X, y = wine
    search = GridSearchCV(make_pipeline(MinMaxScaler(), model()), {"tskclassifier__alpha": [0.1, 1.0]}, cv=2).fit(
        X, y
    )
    np.testing.assert_array_equal(rules_of(search)(X), search.predict(X))
    alone = model().fit(X, y)
    assert rules_of(alone) is alone.rules_


def test_categories_are_named_by_their_column(rng):
    X = pandas.DataFrame(
        {
            "color": rng.choice(["red", "blue", "green"], size=200),
            "size": rng.normal(170, 10, size=200),
            "sex": rng.choice(["f", "m"], size=200),
            "weight": rng.normal(70, 5, size=200),
        }
    )
    X.loc[::17, "weight"] = np.nan
    y = np.where((X["color"] == "red") | (X["size"] > 180), "yes", "no")
    table = make_column_transformer(
        (OneHotEncoder(), ["color"]),
        (OneHotEncoder(drop="first"), ["sex"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["weight", "size"]),
        remainder="drop",
    )
    fitted = make_pipeline(table, model(refine=50)).fit(X, y)
    rules = rules_of(fitted)
    names = ("color=blue", "color=green", "color=red", "sex=m", "weight", "size", "weight=(missing)")
    assert rules.feature_names == names
    assert rules.summary.medians[names.index("size")] == pytest.approx(X["size"].median(), rel=0.01)
    assert "color is " in str(rules)
    assert rules.choices == (
        Choice("color", (0, 1, 2), ("blue", "green", "red")),
        Choice("sex", (3,), ("m",), "f"),
        Choice("weight", (6,), ("(missing)",), "known"),
    )
    raw = pandas.DataFrame(dict.fromkeys(names, 0.0), index=X.index)
    for name in names[:3]:
        raw[name] = (X["color"] == name.partition("=")[2]).astype(float)
    raw["sex=m"] = (X["sex"] == "m").astype(float)
    raw["size"], raw["weight"] = X["size"], X["weight"].fillna(X["weight"].mean())
    raw["weight=(missing)"] = X["weight"].isna().astype(float)
    np.testing.assert_allclose(rules.probabilities(raw), fitted.predict_proba(X), atol=1e-8)


def test_ordinal_codes_are_spelled_out(rng):
    sizes = ["small", "medium", "large"]
    X = pandas.DataFrame(
        {"size": rng.choice(sizes, size=150), "city": rng.choice([f"c{k:02}" for k in range(20)], 150)}
    )
    X["price"] = rng.normal(size=150)
    y = (X["size"] == "large") ^ (X["price"] > 0)
    codes = OrdinalEncoder(categories=[sizes, sorted(set(X["city"]))])
    table = make_column_transformer((codes, ["size", "city"]), remainder="passthrough")
    fitted = make_pipeline(table, StandardScaler(), model(refine=20)).fit(X, y)
    rules = rules_of(fitted)
    assert rules.feature_names == (
        "size (0 small, 1 medium, 2 large)",
        "city (0 c00, 1 c01, 2 c02, ..., 19 c19)",
        "price",
    )
    np.testing.assert_allclose(rules.probabilities(table.transform(X)), fitted.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(("k", "rest"), [(3, None), (2, "blue"), (1, "something else")])
def test_values_that_were_not_selected_are_the_rest(rng, k, rest):
    X = pandas.DataFrame({"color": rng.choice(["blue", "green", "red"], p=[0.2, 0.2, 0.6], size=200)})
    y = X["color"].map({"blue": 1, "green": 2, "red": 0}) + 3 * (rng.random(200) < 0.1)
    chosen = SelectKBest(lambda X, y: np.asarray([1.0, 2.0, 3.0]), k=k)
    rules = rules_of(
        make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler(), chosen, model()).fit(X, y)
    )
    [choice] = rules.choices
    assert choice == Choice("color", tuple(range(k)), ("blue", "green", "red")[3 - k :], rest)


def test_mixed_features_are_refused(wine):
    X, y = wine
    with pytest.raises(ValueError, match="PCA makes features that are not columns of the table"):
        rules_of(make_pipeline(PCA(3), model()).fit(X, y))
    with pytest.raises(ValueError, match="a function changes the features"):
        rules_of(make_pipeline(FunctionTransformer(np.log1p), model()).fit(X, y))


def test_odd_but_legal_pipelines(wine):
    X, y = wine
    by_name = ColumnTransformer([("s", StandardScaler(), slice("alcohol", "ash")), ("none", OneHotEncoder(), [])])
    assert rules_of(make_pipeline(by_name, model()).fit(X, y)).feature_names == ("alcohol", "malic_acid", "ash")
    fitted = make_pipeline("passthrough", MinMaxScaler(), model()).fit(X, y)
    np.testing.assert_array_equal(rules_of(fitted)(X), fitted.predict(X))
    with pytest.raises(ValueError, match="clip=True"):
        rules_of(make_pipeline(MinMaxScaler(clip=True), model()).fit(X, y))
    with pytest.raises(ValueError, match="TSKClassifier has no rules; rules_of takes a fitted"):
        rules_of(make_pipeline(StandardScaler(), model()))
    with pytest.raises(ValueError, match="PCA has no rules"):
        rules_of(PCA(2).fit(X))
