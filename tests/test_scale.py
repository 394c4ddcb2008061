"""The same fit wherever the rows are: arrays of any library, files mapped into memory, blocks, Parquet."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from sessc import (
    AWFCM,
    ESSC,
    EWFCM,
    FCM,
    SCAD,
    SESSC,
    SFP,
    Blocks,
    KernelEWFCM,
    SESSCClassifier,
    SESSCRegressor,
    SFPClassifier,
    TSKClassifier,
    TSKClassifierCV,
    TSKRegressor,
    TSKRegressorCV,
)
from sessc._array import one_hot
from sessc.tsk import recipe, tuning

CLUSTERERS = [model(3, random_state=0) for model in (FCM, AWFCM, SCAD, EWFCM, KernelEWFCM, ESSC, SFP, SESSC)]
PREDICTORS = [
    SFPClassifier(3, random_state=0),
    SESSCClassifier(3, random_state=0),
    SESSCRegressor(3, random_state=0),
    TSKClassifier(4, random_state=0),
    TSKClassifier(3, order=1, refine=20, class_weight="balanced", random_state=0),
    TSKClassifier(3, refine=20, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, random_state=0),
    TSKRegressor(4, order=1, random_state=0),
    TSKRegressor(4, refine=20, random_state=0),
]
MODELS = CLUSTERERS + PREDICTORS


def fitted(model, *data, **more):
    return clone(model).fit(*data, **more)


def learned(model):
    """Everything a model has learned, as NumPy arrays."""
    if hasattr(model, "rules_"):
        rules = model.rules_
        parts = [rules.centers_in_units, 1 / rules.widths_in_units, rules.consequents, model.feature_importances_]
    else:
        parts = [model.cluster_centers_, model.feature_weights_, getattr(model, "rule_outputs_", [0.0])]
    return [np.asarray(part) for part in parts]


def assert_same(found, expected, tolerance=1e-9):
    for part, like in zip(learned(found), learned(expected), strict=True):
        np.testing.assert_allclose(part, like, rtol=tolerance, atol=tolerance)


def answers(model, X):
    methods = [name for name in ("predict", "transform", "predict_proba", "firing") if hasattr(model, name)]
    return [(name, getattr(model, name)(X)) for name in methods]


def cut(X, y, weight=None, sizes=(1, 100, 39, 100)):
    """The rows as blocks of any size."""
    ends = np.cumsum(sizes)
    columns = (X, y) if weight is None else (X, y, weight)
    return [tuple(column[end - size : end] for column in columns) for size, end in zip(sizes, ends, strict=True)]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_blocks_give_what_an_array_gives(model, blobs, rng):
    X, y = blobs
    weight = rng.random(len(X)).round(1)  # some are zero
    blocks = Blocks(cut(X, y, weight))
    found, expected = fitted(model, blocks), fitted(model, X, y, sample_weight=weight)
    assert_same(found, expected)
    counts = weight > 0
    for (name, here), (_, there) in zip(answers(found, blocks), answers(expected, X[counts]), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_arrays_of_any_library_stay_where_they_are(model, blobs, xp):
    X, y = blobs
    there, labels = xp.asarray(X), xp.asarray(y)
    found, expected = fitted(model, there, labels), fitted(model, X, y)
    assert_same(found, expected)
    for (name, here), (_, like) in zip(answers(found, there), answers(expected, X), strict=True):
        assert type(here) is type(there), name
        np.testing.assert_allclose(np.asarray(here), like, rtol=1e-7, atol=1e-9, err_msg=name)
    if not hasattr(found, "rules_"):
        assert type(found.cluster_centers_) is type(there)
    # Rows need not be where the model was fitted.
    for (name, here), (_, like) in zip(answers(found, X), answers(expected, X), strict=True):
        assert type(here) is np.ndarray, name
        np.testing.assert_allclose(here, like, rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("model", [SESSC(3, random_state=0), TSKClassifier(3, random_state=0)], ids=repr)
def test_arrays_of_any_library_take_weights_and_float32(model, blobs, rng, xp):
    X, y = blobs
    weight = rng.random(len(X)).round(1).astype(np.float32)
    single = X.astype(np.float32)
    found = fitted(model, xp.asarray(single), xp.asarray(y), sample_weight=xp.asarray(weight))
    assert_same(found, fitted(model, single, y, sample_weight=weight), 1e-4)
    assert found.transform(xp.asarray(single)).dtype == xp.float32 if hasattr(found, "transform") else True
    named = fitted(model, xp.asarray(single), np.asarray(["a", "b", "c"])[y])  # labels need not be numbers
    if hasattr(named, "rules_"):
        assert set(named.predict(xp.asarray(single))) <= {"a", "b", "c"}


def test_short_rules_from_anywhere(blobs, xp):
    """The way down to short rules is long, but last bits do not grow on it."""
    X, y = blobs
    model = TSKClassifier(4, refine=50, conditions=2, alpha=1, random_state=0)
    expected = fitted(model, X, y)
    assert expected.rules_.n_conditions.mean() <= 2
    for found in (fitted(model, Blocks(cut(X, y))), fitted(model, xp.asarray(X), xp.asarray(y))):
        assert_same(found, expected, 1e-6)


def test_warm_start_on_any_library(blobs, xp):
    X, y = blobs
    model = SESSC(3, random_state=0, warm_start=True, max_iter=200).fit(xp.asarray(X), xp.asarray(y))
    assert model.fit(xp.asarray(X), xp.asarray(y)).n_iter_ == 1


def test_a_mapped_file_goes_in_as_it_is(blobs, tmp_path):
    X, y = blobs
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for model in (SESSC(3, random_state=0), TSKClassifier(3, refine=5, random_state=0)):
        found, expected = fitted(model, mapped, y), fitted(model, X, y)
        assert_same(found, expected, 0)
        np.testing.assert_array_equal(found.predict(mapped), expected.predict(X))


@pytest.mark.parametrize("n", [100_000, 400_000])
def test_memory_beyond_the_data_does_not_grow_with_them(n):
    X = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.uint8)
    few = {"init": "random", "max_iter": 3, "random_state": 0}
    for model in (FCM(10, **few), SESSC(10, **few), TSKClassifier(10, order=1, clusterer=SESSC(**few))):
        fitted(model, X[:100], y[:100])  # what is imported or kept once does not count
        tracemalloc.start()
        fitted(model, X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        labels = 4 * n if hasattr(model, "predict") and not hasattr(model, "refine") else n
        assert peak - labels < 48 * 2**20


@pytest.mark.parametrize(
    "model",
    [
        SESSC(3, max_iter=3, random_state=0),
        TSKClassifier(3, order=1, random_state=0),
        TSKClassifier(3, refine=3, faithfulness=1.0, random_state=0),
    ],
    ids=["SESSC", "TSK", "refined"],
)
def test_memory_does_not_grow_with_classes(model):
    """Labels are one number a row wherever rows are, and one for each class in a block alone."""
    X = np.random.default_rng(0).normal(size=(20_000, 5))
    y = np.argsort(np.argsort(X[:, 0])) // 40
    fitted(model, X[:100], y[:100] % 3)
    tracemalloc.start()
    found = fitted(model, X, y)
    if hasattr(found, "rules_"):
        found.rules_.evaluate(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20  # 76 MiB are the classes of all rows, once


def test_few_rows_of_many_classes():
    """Codes are spelled out without an array of classes by classes, and as ever."""
    codes = np.asarray([3, 0, 3])
    for n_classes in (4, 5, 300):
        np.testing.assert_array_equal(one_hot(codes, n_classes, np.float32), np.eye(n_classes)[codes])


@pytest.fixture
def parquet(blobs, rng, tmp_path):
    """A folder of two files, with names, labels as categories and weights."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = blobs
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame["kind"], frame["count"] = pandas.Categorical(np.asarray(["no", "yes", "perhaps"])[y]), rng.random(len(X))
    frame[:100].to_parquet(tmp_path / "part-0.parquet", index=False)
    frame[100:].to_parquet(tmp_path / "part-1.parquet", index=False, row_group_size=17)
    return tmp_path, frame


@pytest.mark.parametrize(
    "model", [SESSC(3, random_state=0), TSKClassifier(3, refine=10, random_state=0)], ids=repr
)
def test_parquet_is_read_block_by_block(model, parquet):
    path, frame = parquet
    found = fitted(model, Blocks.from_parquet(path, target="kind", weight="count"))
    expected = fitted(model, frame[list("abcde")], frame["kind"].astype(str), sample_weight=frame["count"])
    assert_same(found, expected)
    assert list(found.feature_names_in_) == list("abcde")
    rows = Blocks.from_parquet(path, features=list("abcde"))
    np.testing.assert_array_equal(found.predict(rows), expected.predict(frame[list("abcde")]))
    with pytest.raises(ValueError, match="fitted to"):
        found.predict(Blocks.from_parquet(path, features=list("bacde")))


def test_blocks_say_what_is_wrong(parquet, rng):
    path, _ = parquet
    X = rng.normal(size=(20, 2))
    broken = X.copy()
    broken[3, 1] = np.inf
    wrong = {
        "gone through more than once": lambda: Blocks(block for block in [X]),
        "no blocks": lambda: FCM(2).fit(Blocks([])),
        r"Block 2 has 3 features and those before it 2": lambda: FCM(2).fit(Blocks([X, np.ones((4, 3))])),
        r"Block 2 contains an infinite value \(inf\) in row 3, column 1": lambda: FCM(2).fit(Blocks([X, broken])),
        r"Block 1 has 20 rows and labels of shape \(3,\)": lambda: SESSC(2).fit(Blocks([(X, [0, 1, 0])])),
        "Block 1 has no label in row 2": lambda: SESSC(2).fit(Blocks([(X[:3], np.asarray(["a", "b", None]))])),
        "requires y": lambda: TSKClassifier(2).fit(Blocks([X])),
        "come with the rows": lambda: TSKClassifier(2).fit(Blocks([X]), np.ones(20)),
        r"Block 1 has the shape \(20,\)": lambda: FCM(2).fit(Blocks([X[:, 0]])),
        "encode them as numbers": lambda: FCM(2).fit(Blocks([X.astype(object)])),
        "has no column 'price'; it has a, b": lambda: Blocks.from_parquet(path, target="price"),
        "only one class": lambda: TSKClassifier(2).fit(Blocks([(X, np.zeros(20))])),
        "negative or not finite": lambda: FCM(2).fit(Blocks([(X, None, -np.ones(20))])),
        "more than the 1 distinct": lambda: FCM(2).fit(Blocks([np.ones((5, 2))])),
        "TSKClassifierCV estimator requires y": lambda: TSKClassifierCV().fit(Blocks([X])),
        "cv must be None or a number of folds": lambda: TSKClassifierCV(cv=KFold(3)).fit(
            Blocks([(X, np.arange(20) % 2)])
        ),
    }
    for message, attempt in wrong.items():
        with pytest.raises(ValueError, match=message):
            attempt()


@pytest.mark.parametrize("xp", ["array_api_strict", "torch"], indirect=True)
def test_arrays_of_other_libraries_say_what_is_wrong(xp, rng):
    X, y = xp.asarray(rng.normal(size=(20, 2))), xp.asarray(rng.integers(2, size=20))
    broken = rng.normal(size=(20, 2))
    broken[3, 1] = np.inf
    wrong = {
        r"X contains an infinite value \(inf\) in row 3, column 1": lambda: FCM(2).fit(xp.asarray(broken)),
        "table of rows and features": lambda: FCM(2).fit(y),
        r"y has the shape \(10,\) and X has 20 rows": lambda: TSKClassifier(2).fit(X, y[:10]),
        "requires y": lambda: TSKClassifier(2).fit(X),
        "cv must be None or a number of folds": lambda: TSKClassifierCV(cv=KFold(3)).fit(X, y),
        "expecting 2 features": lambda: FCM(2, random_state=0).fit(X).predict(X[:, :1]),
    }
    for message, attempt in wrong.items():
        with pytest.raises(ValueError, match=message):
            attempt()


def test_many_classes_in_blocks_are_classes(rng):
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 30
    found = SESSCClassifier(3, random_state=0).fit(Blocks([(X[:150], y[:150]), (X[150:], y[150:])]))
    np.testing.assert_array_equal(found.classes_, np.arange(30))


def test_blocks_of_which_no_row_counts_are_a_sentence(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match="X holds no rows to learn from"):
        FCM(2).fit(Blocks([(X, None, np.zeros(20)), (X, None, np.zeros(20))]))


@pytest.mark.parametrize("kind", ["classes", "values"])
@pytest.mark.parametrize("searched", [100, 10_000])
def test_a_search_chooses_the_same_wherever_rows_are(monkeypatch, rng, kind, searched):
    """Of many rows it draws some by their values: in any order, in any blocks, twice or of weight two."""
    monkeypatch.setattr(tuning, "SEARCHED_ROWS", searched)
    X = rng.normal(size=(260, 3))
    says = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=260)
    y = np.where(says > 0, "high", "low") if kind == "classes" else says
    settings = {"n_rules": [2, 4], "order": 0, "alphas": [0.1, 10.0], "refine": 30, "random_state": 0}
    model = (TSKClassifierCV if kind == "classes" else TSKRegressorCV)(**settings)
    order = rng.permutation(260)
    cut = Blocks([(X[part], y[part]) for part in np.array_split(order, 4)])
    weighed = Blocks([(X[:100], y[:100], np.full(100, 2.0)), (X[100:], y[100:], np.ones(160))])
    twice = Blocks([(X[:100], y[:100]), (X, y)])
    for one, other in ((Blocks([(X, y)]), cut), (weighed, twice)):
        found, expected = fitted(model, one), fitted(model, other)
        assert found.best_params_ == expected.best_params_
        assert found.best_score_ == pytest.approx(expected.best_score_, abs=1e-6)
        # Last bits, which the order of a sum decides, grow in thirty steps of a descent.
        np.testing.assert_allclose(found.rules_.outputs(X), expected.rules_.outputs(X), atol=1e-3)
    if searched < len(X):  # then those in memory are drawn too
        found = fitted(model, X[order], y[order])
        assert found.best_params_ == fitted(model, cut).best_params_


@pytest.mark.parametrize("conditions", [None, 2])
@pytest.mark.parametrize("kind", ["classes", "values"])
def test_rules_of_many_rows_are_the_same_wherever_they_are(monkeypatch, rng, kind, conditions):
    """They are found on rows drawn by their values: in any order, in any blocks, twice or of weight two."""
    monkeypatch.setattr(recipe, "DRAWN_ROWS", 150)
    X = rng.normal(size=(260, 3))
    says = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=260)
    y = np.where(says > 0, "high", "low") if kind == "classes" else says
    model = (TSKClassifier if kind == "classes" else TSKRegressor)(3, refine=20, alpha=1.0, random_state=0)
    model.set_params(conditions=conditions)
    order, weight = rng.permutation(260), np.repeat([2.0, 1.0], [100, 160])
    twice = np.concatenate([np.arange(100), np.arange(260)])
    cut = Blocks([(X[part], y[part]) for part in np.array_split(order, 4)])
    assert_same(fitted(model, X, y), fitted(model, cut), 1e-5)
    assert_same(fitted(model, X, y, sample_weight=weight), fitted(model, X[twice], y[twice]), 1e-5)


def test_last_bits_do_not_grow_where_rows_are_drawn(monkeypatch, rng):
    """Not even in two hundred iterations and on the way to short rules."""
    monkeypatch.setattr(recipe, "DRAWN_ROWS", 1_000)
    X, order = rng.normal(size=(3_000, 5)), rng.permutation(3_000)
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + 0.5 * rng.normal(size=3_000) > 1
    model = TSKClassifier(8, refine=200, conditions=3, class_weight="balanced", random_state=0)
    assert_same(fitted(model, X, y), fitted(model, X[order], y[order]), 1e-7)


def test_few_distinct_rows_are_not_drawn_from(monkeypatch, rng):
    """However often each is repeated: a row of weight two is the row twice."""
    monkeypatch.setattr(recipe, "DRAWN_ROWS", 150)
    X = rng.normal(size=(100, 3))
    y, often = X[:, 0] * X[:, 1] > 0, np.arange(400) % 100
    model = TSKClassifier(3, refine=20, alpha=1.0, random_state=0)
    found = fitted(model, X[often], y[often])
    assert_same(found, fitted(model, X, y, sample_weight=np.full(100, 4.0)), 1e-6)


@pytest.mark.parametrize("conditions", [None, 2])
def test_all_rows_have_their_say(monkeypatch, rng, conditions):
    """Rules found on some rows end close to those found on all, and closer than before the last iterations."""
    X = rng.normal(size=(4_000, 3))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=4_000) > 0
    model = TSKClassifier(4, refine=100, conditions=conditions, alpha=1.0, random_state=0)

    def loss(drawn, last):
        monkeypatch.setattr(recipe, "DRAWN_ROWS", drawn)
        monkeypatch.setattr(recipe, "LAST_ITERATIONS", last)
        return fitted(model, X, y).rules_.evaluate(X, y).measures["log-loss"]

    best, first, last = loss(10_000, 0), loss(1_000, 0), loss(1_000, 10)
    assert last < first
    assert last < 1.05 * best


@pytest.mark.parametrize("xp", ["torch"], indirect=True)
def test_many_rows_of_other_libraries(monkeypatch, xp, rng):
    monkeypatch.setattr(recipe, "DRAWN_ROWS", 150)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = TSKClassifier(3, refine=20, class_weight="balanced", random_state=0)
    assert_same(fitted(model, xp.asarray(X), xp.asarray(y)), fitted(model, X, y), 1e-6)


@pytest.mark.parametrize("xp", ["torch"], indirect=True)
def test_a_search_takes_arrays_of_other_libraries(xp, rng):
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = TSKClassifierCV(n_rules=2, order=0, alphas=[0.1, 1.0], refine=20, random_state=0)
    found, expected = fitted(model, xp.asarray(X), xp.asarray(y)), fitted(model, Blocks([(X, y)]))
    assert found.best_params_ == expected.best_params_
    assert_same(found, expected, 1e-6)


REFINED = [
    TSKClassifier(6, refine=200, conditions=3, class_weight="balanced", random_state=0),
    TSKClassifier(2, order=1, refine=60, terms=2, random_state=0),
    TSKClassifierCV([2, 4], order=0, refine=60, random_state=0),
    TSKRegressor(4, refine=200, conditions=2, random_state=0),
    TSKRegressorCV([2, 4], order=0, refine=60, random_state=0),
]


@pytest.mark.parametrize("model", REFINED, ids=repr)
def test_refined_rules_are_the_same_in_any_order_of_rows(model, rng):
    """To the last bit: they are found on rows in an order of their own."""
    X = np.round(rng.normal(size=(300, 4)), 1)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=300)
    y, weight = (y > 0.2 if "Classifier" in repr(model) else y), rng.integers(1, 4, size=300)
    order = rng.permutation(300)
    found = fitted(model, X[order], y[order], sample_weight=weight[order]).rules_
    expected = fitted(model, X, y, sample_weight=weight).rules_
    assert np.array_equal(found.outputs(X), expected.outputs(X))


@pytest.mark.parametrize("model", [one for one in REFINED if "CV" not in repr(one)], ids=repr)
def test_a_weight_is_so_many_rows_for_refined_rules(model, rng):
    """To the last bit, too."""
    X, weight = rng.normal(size=(200, 4)), rng.integers(1, 4, size=200)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=200)
    y, often = (y > 0.2 if "Classifier" in repr(model) else y), rng.permutation(np.repeat(np.arange(200), weight))
    found, expected = fitted(model, X[often], y[often]), fitted(model, X, y, sample_weight=weight)
    assert np.array_equal(found.rules_.outputs(X), expected.rules_.outputs(X))


@pytest.mark.parametrize("place", ["array", "blocks"])
@pytest.mark.parametrize("model", REFINED, ids=repr)
def test_a_typo_is_no_value_where_rows_are_drawn(monkeypatch, model, place, rng):
    """To the last bit: it changes neither which rows are looked at nor their order, nor what a search chooses."""
    monkeypatch.setattr("sessc.rows.robust.SIZE", 120)
    monkeypatch.setattr(recipe, "DRAWN_ROWS", 150)
    X = np.round(rng.normal(size=(300, 4)), 2)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=300)
    y = y > 0.2 if "Classifier" in repr(model) else y
    rules = []
    for cell in (1e6, np.nan):
        Z = X.copy()
        Z[17, 1] = cell
        rows = (Z, y) if place == "array" else (Blocks([(Z[:90], y[:90]), (Z[90:], y[90:])]),)
        rules.append(fitted(model, *rows).rules_)
    np.testing.assert_array_equal(rules[0].outputs(X), rules[1].outputs(X))
    np.testing.assert_array_equal(rules[0].limits, rules[1].limits)


@pytest.mark.parametrize("xp", ["torch"], indirect=True)
def test_a_typo_is_no_value_in_arrays_of_other_libraries(xp, rng):
    X = rng.normal(size=(200, 3)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[5, 2] = 1e6
    model = TSKClassifier(3, refine=20, random_state=0)
    found = fitted(model, xp.asarray(X), xp.asarray(y))
    without = fitted(model, xp.asarray(np.where(X > 1e5, np.float32(np.nan), X)), xp.asarray(y))
    found, without = (np.asarray(model.rules_.outputs(xp.asarray(X))) for model in (found, without))
    np.testing.assert_array_equal(found, without)
