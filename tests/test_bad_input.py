"""Every mistake gets one sentence that names what was wrong; none gets a traceback from somewhere deep."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from sessc import (
    AWFCM,
    ESSC,
    EWFCM,
    FCM,
    SCAD,
    SESSC,
    SFP,
    SESSCClassifier,
    SESSCRegressor,
    SFPClassifier,
    SoftSubspaceClustering,
    TSKClassifier,
    TSKClassifierCV,
    TSKRegressor,
    TSKRegressorCV,
)

EVERYTHING = [
    FCM(),
    SESSC(),
    SFP(),
    SESSCClassifier(),
    SESSCRegressor(),
    TSKClassifier(),
    TSKRegressor(),
    TSKClassifierCV(),
]
PREDICTORS = [
    SESSCClassifier(),
    SFPClassifier(),
    SESSCRegressor(),
    TSKClassifier(),
    TSKRegressor(),
    TSKClassifierCV(),
    TSKRegressorCV(),
]


pytestmark = pytest.mark.filterwarnings("ignore::sessc.UselessModelWarning")


@pytest.fixture
def table(rng):
    """Labels have nothing to do with the columns: models of them may well be useless, and are told so."""
    return rng.normal(size=(30, 3)), np.arange(30) % 2


def one_sentence(error, *words):
    message = str(error.value)
    assert "\n" not in message
    assert message.count(". ") <= 1
    assert message.strip().endswith((".", "None."))
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("model", EVERYTHING, ids=repr)
@pytest.mark.parametrize(("value", "word"), [(np.inf, "inf"), (-np.inf, "inf")])
def test_infinite_values(model, value, word, table):
    X, y = table
    X[4, 2] = value
    with pytest.raises(ValueError, match="row 4, column 2") as error:
        model.fit(X, y)
    one_sentence(error, word)


@pytest.mark.parametrize("model", EVERYTHING, ids=repr)
def test_sparse_matrices(model, table):
    with pytest.raises(ValueError, match=r"X\.toarray\(\)") as error:
        model.fit(csr_array(table[0]), table[1])
    one_sentence(error)


def test_infinite_values_are_named_by_column(table):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(table[0], columns=["age", "dose", "weight"])
    X.loc[7, "dose"] = np.inf
    with pytest.raises(ValueError, match="row 7, column 'dose'") as error:
        TSKClassifier().fit(X, table[1])
    one_sentence(error)


@pytest.mark.parametrize("kind", ["object", "str", "category"])
def test_text_columns_pandas(table, kind):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(table[0], columns=["a", "b", "c"]).assign(
        colour=pandas.Series(["red", "blue"] * 15).astype(kind)
    )
    with pytest.raises(ValueError, match=r"'colour'.*'(red|blue)'.*categorical_features") as error:
        TSKClassifier(categorical_features=None).fit(X, table[1])
    one_sentence(error)


@pytest.mark.parametrize("kind", ["Utf8", "Categorical", "Enum"])
def test_text_columns_polars(table, kind):
    polars = pytest.importorskip("polars")
    dtype = polars.Enum(["red", "blue"]) if kind == "Enum" else getattr(polars, kind)
    X = polars.DataFrame(table[0], schema=["a", "b", "c"])
    X = X.with_columns(polars.Series("colour", ["red", "blue"] * 15).cast(dtype))
    with pytest.raises(ValueError, match=r"'colour'.*'(red|blue)'") as error:
        FCM(categorical_features=None).fit(X)
    one_sentence(error)


@pytest.mark.parametrize("kind", ["timedelta64[ns]", "period[D]"])
def test_durations_pandas(table, kind):
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2020-01-01", periods=30)
    when = days - days[0] if kind.startswith("time") else days.to_period("D")
    X = pandas.DataFrame(table[0], columns=["a", "b", "c"]).assign(when=when)
    with pytest.raises(ValueError, match=r"'when' of X holds .* cells; say what matters") as error:
        TSKClassifier().fit(X, table[1])
    one_sentence(error)


def test_durations_polars(table):
    polars = pytest.importorskip("polars")
    X = polars.DataFrame(table[0], schema=["a", "b", "c"])
    for kind in (polars.Duration, polars.Time):
        when = polars.Series("when", range(30)).cast(kind)
        with pytest.raises(ValueError, match=r"'when' of X holds .* cells; say what matters"):
            FCM().fit(X.with_columns(when))


def test_text_in_arrays(table):
    X = table[0].astype(object)
    X[3, 1] = "red"
    with pytest.raises(ValueError, match="X holds text such as 'red'") as error:
        FCM().fit(X)
    one_sentence(error)


def test_values_too_large_to_square(table):
    for dtype, size in ((np.float64, 1e160), (np.float32, 1e20)):
        X = table[0].astype(dtype)
        X[3, 1] = size
        with pytest.raises(ValueError, match=f"{dtype.__name__}; rescale") as error:
            FCM().fit(X)
        one_sentence(error)


def test_numbers_kept_as_objects_are_fine(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table[0]).astype(object)
    frame.columns = list("abc")
    assert FCM(2, random_state=0).fit(frame).cluster_centers_.dtype == float


@pytest.mark.parametrize("model", EVERYTHING, ids=repr)
def test_lazy_frames(model, table):
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"X\.collect\(\)") as error:
        model.fit(polars.LazyFrame(table[0], schema=list("abc")), table[1])
    one_sentence(error)


@pytest.mark.parametrize(
    "model", [SESSCClassifier(), SFPClassifier(), TSKClassifier(), TSKClassifierCV()], ids=repr
)
def test_one_class_only(model, table):
    with pytest.raises(ValueError, match="only one class, 'yes'") as error:
        model.fit(table[0], ["yes"] * 30)
    one_sentence(error)


@pytest.mark.parametrize("model", PREDICTORS, ids=repr)
def test_labels_missing(model, table):
    for arguments in ((table[0],), (table[0], None)):
        with pytest.raises(ValueError, match="requires y") as error:
            model.fit(*arguments)
        one_sentence(error)


def test_labels_of_another_length(table):
    with pytest.raises(ValueError, match=r"30, 29"):
        TSKClassifier().fit(table[0], table[1][:29])


def test_labels_that_are_measurements(table):
    with pytest.raises(ValueError, match="continuous"):
        TSKClassifier().fit(table[0], table[0][:, 0])
    with pytest.raises(ValueError, match="continuous"):
        SESSC(loss="log").fit(table[0], table[0][:, 0])


def test_missing_targets(table):
    X, y = table
    y = y.astype(float)
    y[3] = np.nan
    for model in (TSKRegressor(), SESSCRegressor(), TSKClassifier()):
        with pytest.raises(ValueError, match="y contains NaN"):
            model.fit(X, y)


@pytest.mark.parametrize("missing", ["None", "nan", "pandas.NA"])
def test_missing_labels(table, missing):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(["yes", "no"] * 15, dtype="object" if missing != "pandas.NA" else "string")
    y[7] = {"None": None, "nan": np.nan, "pandas.NA": pandas.NA}[missing]
    with pytest.raises(ValueError, match=r"y contains NaN .* row 7") as error:
        TSKClassifier(3).fit(table[0], y)
    one_sentence(error)


@pytest.mark.parametrize("model", [FCM(8), SESSC(8), SESSCClassifier(8), SESSCRegressor(8)], ids=repr)
def test_fewer_rows_than_clusters(model, table):
    X, y = table
    with pytest.raises(ValueError, match="n_clusters=8") as error:
        model.fit(X[:5], y[:5])
    one_sentence(error, "5")
    with pytest.raises(ValueError, match="n_clusters=8 is more than the 5 distinct rows") as error:
        model.fit(np.repeat(X[:5], 4, axis=0), np.repeat(y[:5], 4))
    one_sentence(error)


PARAMETERS = [
    (FCM, "m", 1.0),
    (FCM, "m", 0.3),
    (FCM, "m", "crisp"),
    (FCM, "m", np.nan),
    (FCM, "m", np.inf),
    (FCM, "n_clusters", 0),
    (FCM, "n_clusters", 2.5),
    (FCM, "n_clusters", True),
    (FCM, "max_iter", 0),
    (FCM, "n_init", 0),
    (FCM, "tol", -1.0),
    (FCM, "init", "kmeans++"),
    (FCM, "init", print),
    (AWFCM, "t", 0.5),
    (SCAD, "penalty", "l1"),
    (SCAD, "delta", 0.0),
    (EWFCM, "gamma", 0.0),
    (EWFCM, "gamma", -3.0),
    (EWFCM, "gamma", "big"),
    (EWFCM, "gamma", None),
    (ESSC, "eta", 1.0),
    (ESSC, "eta", -0.1),
    (SESSC, "beta", -1.0),
    (SESSC, "loss", "hinge"),
    (SFP, "lam", 0.0),
    (SFP, "alpha", -1.0),
    (SoftSubspaceClustering, "membership", "power"),
    (SoftSubspaceClustering, "weighting", 3),
    (SoftSubspaceClustering, "loss", "log"),
    (SESSCClassifier, "gamma", 0.0),
    (SESSCRegressor, "eta", 2.0),
    (TSKClassifier, "n_rules", 0),
    (TSKClassifier, "order", 2),
    (TSKClassifier, "width_scale", 0.0),
    (TSKClassifier, "alpha", -1.0),
    (TSKClassifier, "class_weight", "even"),
    (TSKClassifier, "clusterer", "SESSC"),
    (TSKRegressor, "width_scale", "wide"),
]


@pytest.mark.parametrize(("cls", "name", "value"), PARAMETERS)
def test_parameters_out_of_range(cls, name, value, table):
    model = cls(**{name: value})
    with pytest.raises(ValueError, match=name) as error:
        model.fit(*table)
    one_sentence(error, repr(value))


def test_a_bad_clusterer_inside_a_rule_model(table):
    with pytest.raises(ValueError, match=r"gamma must be .* got 0"):
        TSKClassifier(3, clusterer=SESSC(gamma=0)).fit(*table)


def test_centres_of_the_wrong_shape(table):
    with pytest.raises(ValueError, match=r"\(3, 3\), got an array of shape \(2, 3\)") as error:
        FCM(3, init=table[0][:2]).fit(table[0])
    one_sentence(error)


def test_class_weight_for_an_unknown_class(table):
    with pytest.raises(ValueError, match="'maybe'") as error:
        TSKClassifier(3, class_weight={"maybe": 2.0}).fit(*table)
    one_sentence(error)
    for weights in ({0: -1.0, 1: 1.0}, {0: 0.0, 1: 0.0}, {0: np.nan, 1: 1.0}):
        with pytest.raises(ValueError, match="class_weight must") as error:
            TSKClassifier(3, class_weight=weights).fit(*table)
        one_sentence(error)


def test_weights_that_are_all_zero_or_negative(table):
    for model in (FCM(), TSKClassifier()):
        with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
            model.fit(*table, sample_weight=np.zeros(30))
        with pytest.raises(ValueError, match="Negative"):
            model.fit(*table, sample_weight=np.full(30, -1.0))


@pytest.mark.parametrize("model", EVERYTHING, ids=repr)
def test_features_changed_after_fitting(model, table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    X = pandas.DataFrame(X, columns=["a", "b", "c"])
    model.fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"c": "z"}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that names are missing
        np.testing.assert_array_equal(model.predict(X.to_numpy()), model.predict(X))
        with pytest.raises(ValueError, match="3 features"):
            model.predict(X.to_numpy()[:, :2])
