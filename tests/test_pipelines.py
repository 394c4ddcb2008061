"""Rules behind scalers and encoders are said in the units of the table."""

import importlib.util

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
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

from sessc import Category, Model, Number, TSKClassifier, TSKRegressor, rules_of
from sessc.rules.units import Feature, in_units

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
    tops = pandas.DataFrame(rules.centers_in_units, columns=X.columns)
    np.testing.assert_allclose(fitted[:-1].transform(tops), fitted[-1].rules_.centers_in_units, atol=1e-8)
    if not settings:  # refined rules may have edges, whose tops lie beyond the data
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


NUMBERS, TEXTS = ["size", "weight"], ["color", "sex"]


@pytest.fixture(scope="module")
def people():
    """A table of numbers and text, without gaps; one with gaps; and one with gaps and a level never seen."""
    rng, n = np.random.default_rng(0), 240
    colors = rng.choice(["red", "blue", "green", "teal", "pink"], p=[0.4, 0.3, 0.26, 0.03, 0.01], size=n)
    sizes, sexes, weights = rng.normal(170, 10, n), rng.choice(["f", "m"], size=n), rng.normal(70, 5, n)
    whole = pandas.DataFrame({"color": colors, "size": sizes, "sex": sexes, "weight": weights})
    gaps = whole.copy()
    gaps.loc[::17, "weight"], gaps.loc[::13, "color"] = np.nan, np.nan
    strange = gaps.copy()
    strange.loc[5:9, "color"] = "purple"
    return {"whole": whole, "gaps": gaps, "strange": strange}


def encoded_again(encoder, n_columns):
    """A second encoder on what the first made codes of."""
    return ColumnTransformer([("again", encoder, list(range(n_columns)))], remainder="passthrough")


def encoded(encoder, scaler=None, texts=TEXTS):
    return make_column_transformer((encoder, texts), (scaler or StandardScaler(), NUMBERS))


def filled(strategy, fill=None):
    return make_pipeline(SimpleImputer(strategy=strategy, fill_value=fill), OneHotEncoder())


LUMPED = {"handle_unknown": "infrequent_if_exist", "min_frequency": 0.05}
UNKNOWN = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
INDICATED = make_pipeline(
    SimpleImputer(strategy="most_frequent", add_indicator=True).set_output(transform="pandas"),
    ColumnTransformer([("levels", OneHotEncoder(), TEXTS)], remainder="passthrough"),
)
PREPARED = {
    "levels": (encoded(OneHotEncoder()), "whole", "whole"),
    "the first dropped": (encoded(OneHotEncoder(drop="first"), MinMaxScaler()), "whole", "whole"),
    "one of two dropped, scaled": (
        make_pipeline(encoded(OneHotEncoder(drop="if_binary", sparse_output=False)), StandardScaler()),
        "whole",
        "whole",
    ),
    "never seen is none": (encoded(OneHotEncoder(handle_unknown="ignore")), "whole", "strange"),
    "never seen is rare": (encoded(OneHotEncoder(**LUMPED)), "whole", "strange"),
    "rare, the first dropped": (encoded(OneHotEncoder(**LUMPED, drop="first")), "whole", "whole"),
    "missing is a level": (encoded(OneHotEncoder()), "gaps", "gaps"),
    "missing is the commonest": (encoded(filled("most_frequent"), SimpleImputer()), "gaps", "gaps"),
    "missing is another": (
        encoded(filled("constant", "none"), make_pipeline(StandardScaler(), SimpleImputer(strategy="median"))),
        "gaps",
        "gaps",
    ),
    "codes": (encoded(OrdinalEncoder()), "whole", "whole"),
    "codes, scaled": (make_pipeline(encoded(OrdinalEncoder(**UNKNOWN)), StandardScaler()), "whole", "strange"),
    "codes with one for missing": (encoded(OrdinalEncoder(encoded_missing_value=-2)), "gaps", "gaps"),
    "codes with gaps": (encoded(OrdinalEncoder()), "gaps", "gaps"),
    "codes of rare levels": (encoded(OrdinalEncoder(min_frequency=0.05)), "gaps", "gaps"),
    "codes as levels": (
        make_pipeline(encoded(OrdinalEncoder()), encoded_again(OneHotEncoder(), 2)),
        "whole",
        "whole",
    ),
    "passed through": (
        make_column_transformer((StandardScaler(), NUMBERS), remainder="passthrough").set_output(
            transform="pandas"
        ),
        "gaps",
        "strange",
    ),
    "numbers twice": (
        make_column_transformer((StandardScaler(), NUMBERS), (MinMaxScaler(), NUMBERS), (OneHotEncoder(), TEXTS)),
        "whole",
        "whole",
    ),
    "whether text is missing": (
        make_column_transformer((INDICATED, TEXTS), (RobustScaler(), NUMBERS)),
        "gaps",
        "gaps",
    ),
}


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("prepared", PREPARED)
def test_rules_answer_for_the_table_as_the_pipeline_does(people, prepared, order):
    steps, learned, asked = PREPARED[prepared]
    X, rows = people[learned], people[asked]
    y = X["size"] + 10 * (X["color"] == "red")
    settings = {"n_rules": 4, "order": order, "refine": 20, "random_state": 0}
    classifier = make_pipeline(clone(steps), TSKClassifier(**settings)).fit(X, np.where(y > 175, "yes", "no"))
    rules = rules_of(classifier)
    assert rules.feature_names == tuple(X.columns)
    assert [type(column) for column in rules.columns] == [Category, Number, Category, Number]
    np.testing.assert_allclose(rules.probabilities(rows), classifier.predict_proba(rows), atol=1e-10)
    np.testing.assert_allclose(Model(rules).predict_proba(rows), classifier.predict_proba(rows), atol=1e-10)
    np.testing.assert_allclose(rules.summary.levels[2], np.asarray([0.5042, 0.4958]), atol=1e-3)
    np.testing.assert_allclose(rules.summary.medians[1], X["size"].median(), rtol=0.01)
    regressor = make_pipeline(clone(steps), TSKRegressor(**settings)).fit(X, y)
    np.testing.assert_allclose(rules_of(regressor)(rows), regressor.predict(rows), rtol=1e-10)


def test_the_levels_of_a_category_have_the_shares_they_have_in_the_table(people):
    for prepared in ("levels", "the first dropped", "codes, scaled", "missing is a level", "codes with gaps"):
        steps, learned, _ = PREPARED[prepared]
        X = people[learned]
        found = rules_of(make_pipeline(clone(steps), model()).fit(X, X["size"] > 170))
        shares = X["color"].value_counts().sort_index() / len(X)
        assert found.columns[0] == Category("color", tuple(shares.index))
        np.testing.assert_allclose(found.summary.levels[0], shares, atol=1e-9)
        np.testing.assert_allclose(found.summary.missing, X.isna().mean(), atol=1e-9)
    steps, learned, _ = PREPARED["never seen is rare"]
    found = rules_of(make_pipeline(clone(steps), model()).fit(people[learned], people[learned]["size"] > 170))
    assert found.columns[0] == Category("color", ("blue", "green", "red"), ("pink", "teal"))


def test_whether_a_number_is_missing_is_what_an_unknown_cell_counts(people):
    X = people["gaps"].drop(columns=TEXTS)
    steps = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    fitted = make_pipeline(steps, model(refine=20, order=0)).fit(X, X["weight"].isna() ^ (X["size"] > 170))
    rules = rules_of(fitted)
    assert rules.columns == (Number("size"), Number("weight"))
    assert rules.summary.missing.tolist() == pytest.approx(X.isna().mean().tolist())
    np.testing.assert_allclose(rules.probabilities(X), fitted.predict_proba(X), atol=1e-10)
    linear = make_pipeline(steps, model(refine=20, order=1)).fit(X, X["weight"].isna() ^ (X["size"] > 170))
    with pytest.raises(ValueError, match="linear conclusions depend on whether 'weight' is missing"):
        rules_of(linear)


@pytest.mark.parametrize("order", [0, 1])
def test_factors_below_zero_turn_a_number_around(order):
    rng = np.random.default_rng(1)
    X = rng.gamma(2.0, size=(200, 2)) + np.asarray([3.0, -1.0])
    rules = model(order=order, refine=20).fit(-2.0 * X + 1.0, X[:, 0] > 4).rules_
    turned = in_units(rules, [Feature(Number(f"x{d}"), d, -2.0, 1.0) for d in range(2)])
    np.testing.assert_allclose(turned.probabilities(X), rules.probabilities(-2.0 * X + 1.0), atol=1e-12)
    assert np.all(turned.scale > 0)
    assert np.all(np.diff(turned.summary.quantiles, axis=0) >= 0)
    assert np.all(turned.limits[0] < turned.limits[1])
    np.testing.assert_allclose(turned.summary.medians, np.median(X, axis=0), rtol=0.02)
    np.testing.assert_array_equal(turned.summary.counts, rules.summary.counts[:, ::-1])
    gap = np.asarray([[np.nan, 0.5]])
    np.testing.assert_allclose(turned.probabilities(gap), rules.probabilities(-2.0 * gap + 1.0), atol=1e-12)


def test_a_level_that_a_pipeline_refuses_counts_as_levels_do_on_average(people):
    X = people["whole"]
    rules = rules_of(make_pipeline(encoded(OneHotEncoder()), model(order=0)).fit(X, X["color"] == "red"))
    shares = rules.summary.levels[0]
    adds = rules.linear[:, rules.layout.features_of(0)]
    np.testing.assert_allclose(rules.unknown[:, 0], adds @ shares, atol=1e-9)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            encoded(OneHotEncoder(sparse_output=False), texts=["color", "size"]),
            "'size' goes in as a number and as categories",
        ),
        (
            make_column_transformer(
                (make_pipeline(StandardScaler(), OneHotEncoder(sparse_output=False)), ["size"])
            ),
            "'size' is scaled before it is encoded",
        ),
        (
            make_column_transformer((OneHotEncoder(), ["sex"]), (SimpleImputer(missing_values=-1), NUMBERS)),
            "SimpleImputer takes -1 for missing, which rules cannot; write NaN",
        ),
        (make_column_transformer((KNNImputer(), NUMBERS)), "KNNImputer makes features that are not columns"),
    ],
    ids=["both", "scaled", "other gaps", "neighbours"],
)
def test_what_rules_cannot_say_about_a_table_is_a_sentence(people, steps, message):
    X = people["whole"].round({"size": -1})
    fitted = make_pipeline(clone(steps), model()).fit(X, X["color"] == "red")
    with pytest.raises(ValueError, match=message):
        rules_of(fitted)


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


def test_rules_take_the_raw_table_and_its_rows(people):
    """Columns that never reach the model included, as the pipeline takes them."""
    X = people["whole"].assign(name=[f"p{k}" for k in range(len(people["whole"]))])
    steps = make_column_transformer((OneHotEncoder(), ["sex"]), (StandardScaler(), ["size"]))
    fitted = make_pipeline(steps, model()).fit(X, X["color"] == "red")
    rules = rules_of(fitted)
    assert "name" not in rules.feature_names
    forms = [X, X.iloc[:, ::-1], X.to_dict("list")]
    if importlib.util.find_spec("polars"):
        forms.append(importlib.import_module("polars").DataFrame(X.to_dict("list")))
    if importlib.util.find_spec("pyarrow"):
        forms.append(importlib.import_module("pyarrow").table(X.to_dict("list")))
    for given in forms:
        np.testing.assert_array_equal(rules(given), fitted.predict(X))
    found = rules.explain(X.iloc[0])
    assert found.answer == fitted.predict(X.iloc[[0]])[0]
    assert str(found) == str(rules.explain(X.iloc[[0]])) == str(rules.explain(X.iloc[0].to_dict()))
