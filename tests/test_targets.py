"""Real targets: what is none is refused with one sentence, whatever door it comes through, and leaves no trace."""

import copy
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from sessc import SESSC, Blocks, SESSCClassifier, SESSCRegressor, TSKRegressor, TSKRegressorCV
from test_bad_input import one_sentence
from test_scale import cut

ONLINE = [
    TSKRegressor(3, random_state=0),
    SESSCRegressor(3, random_state=0),
    SESSC(3, loss="squared", random_state=0),
]
SEARCH = TSKRegressorCV(n_rules=2, refine=0, clusterer_grid={}, width_scales=[1.0], cv=2, random_state=0)
MODELS = [*ONLINE, TSKRegressor(2, order=1, refine=5, random_state=0), SEARCH]
NONSENSE = [
    (np.nan, "y contains NaN"),
    (np.inf, "infinite"),
    (-np.inf, "infinite"),
    (1e160, "1e[+]160.*overflow float64; rescale"),
    (-1e200, "1e[+]200.*overflow float64; rescale"),
]


@pytest.fixture
def measured(blobs, rng):
    X, y = blobs
    return X, X[:, 0] + y + rng.normal(size=len(X))


def as_array(X, y):
    return X, y


def as_blocks(X, y):
    return (Blocks(cut(X, y, sizes=(100, 1, len(X) - 101)) if len(X) > 101 else [(X, y)]),)


def as_dask(X, y):
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(50, X.shape[1])), da.from_array(y, chunks=50)


def as_torch(X, y):
    torch = pytest.importorskip("torch")
    return torch.asarray(X), torch.asarray(y)


def as_strict(X, y):
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(X), strict.asarray(y)


def as_torch_and_array(X, y):
    return pytest.importorskip("torch").asarray(X), y


DOORS = [as_array, as_blocks, as_dask, as_torch, as_strict, as_torch_and_array]
WAYS_IN = [*product(MODELS[:-1], DOORS), (SEARCH, as_array)]  # searches are in memory
each_way_in = pytest.mark.parametrize(
    ("model", "door"), WAYS_IN, ids=[f"{model}-{door.__name__}" for model, door in WAYS_IN]
)
each_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)


def with_one(y, value, row=7):
    y = y.copy()
    y[row] = value
    return y


def remembered(model):
    """Everything a model holds, as it was: later changes of its arrays do not reach it."""
    return copy.deepcopy(vars(model))


def assert_holds(model, expected):
    assert vars(model).keys() == expected.keys()
    for name, value in vars(model).items():
        assert _plain(value) == _plain(expected[name]), name


def _plain(value):
    """A value as something that compares by what is in it."""
    if hasattr(value, "__array__"):
        return np.asarray(value).tolist()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return _plain(vars(value)) if hasattr(value, "__dict__") and not callable(value) else repr(value)


@each_way_in
def test_a_fit_refuses_what_is_no_target(model, door, measured):
    X, y = measured
    for value, words in NONSENSE:
        with pytest.raises(ValueError, match=words) as error:
            clone(model).fit(*door(X, with_one(y, value)))
        one_sentence(error)


@each_door
@pytest.mark.parametrize("model", ONLINE, ids=repr)
def test_a_refused_batch_leaves_no_trace(model, door, measured):
    X, y = measured
    online, other = (clone(model).partial_fit(*door(X, y)) for _ in range(2))
    before = remembered(online)
    for (value, words), part in product(NONSENSE, (slice(0, 60), slice(7, 8))):  # also batches of one row
        with pytest.raises(ValueError, match=words) as error:
            online.partial_fit(*door(X[part], with_one(y, value)[part]))
        one_sentence(error)
        assert_holds(online, before)
    for one in (online, other):
        one.partial_fit(*door(X[60:90], y[60:90]))
    np.testing.assert_array_equal(online.predict(X), other.predict(X))
    assert np.all(np.isfinite(online.predict(X)))


@each_door
@pytest.mark.parametrize("model", ONLINE, ids=repr)
def test_a_refused_first_batch_leaves_no_trace(model, door, measured):
    X, y = measured
    online = clone(model)
    before = remembered(online)
    with pytest.raises(ValueError, match="NaN"):
        online.partial_fit(*door(X, with_one(y, np.nan)))
    assert_holds(online, before)
    online.partial_fit(*door(X[:, :3], y))
    assert online.n_features_in_ == 3


@pytest.mark.parametrize("model", ONLINE, ids=repr)
def test_whatever_a_batch_is_refused_for_it_leaves_no_trace(model, measured):
    X, y = measured
    online = clone(model).partial_fit(X, y)
    before = remembered(online)

    def breaks_off():
        yield X[:50], y[:50]
        raise OSError("the disk is gone")

    for arguments in ((Blocks(breaks_off),), (with_one(X, np.inf), y), (X[:, :2], y), (X, y[:-1]), (X, y, -y)):
        with pytest.raises((ValueError, OSError)):
            online.partial_fit(*arguments)
        assert_holds(online, before)


@each_way_in
def test_large_targets_work(model, door, measured):
    X, y = measured
    small = clone(model).fit(*door(X, y))
    # Refinement rounds its coordinates, which powers of two alone leave as it is.
    for size, near in ((2.0**332, 1e-9), (1e100, 1e-6 if getattr(model, "refine", 0) == 0 else 1e-5)):
        large = clone(model).fit(*door(X, size * y))
        if hasattr(model, "loss"):  # measured as they are, targets alone then decide
            assert np.all(np.isfinite(np.asarray(large.rule_outputs_)))
            continue
        same = {"rtol": near, "atol": near * np.std(y)}
        np.testing.assert_allclose(np.asarray(large.predict(X)) / size, np.asarray(small.predict(X)), **same)
        if hasattr(large, "rules_"):
            np.testing.assert_allclose(large.feature_importances_, small.feature_importances_, rtol=near)


@pytest.mark.parametrize("size", [1e-100, 1e149])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_all_that_is_taken_works(model, size, measured):
    X, y = measured
    fitted = clone(model).fit(X, size * y)
    assert np.all(np.isfinite(fitted.predict(X)))
    if hasattr(fitted, "rules_"):
        assert np.all(np.isfinite(fitted.feature_importances_))
    if hasattr(fitted, "partial_fit"):
        assert np.all(np.isfinite(fitted.partial_fit(X, -size * y).predict(X)))


@each_way_in
def test_single_precision_has_its_own_limit(model, door, measured):
    X, y = (column.astype(np.float32) for column in measured)
    with pytest.raises(ValueError, match=r"1e[+]20.*overflow float32; rescale") as error:
        clone(model).fit(*door(X, with_one(y, 1e20)))
    one_sentence(error)
    fitted = clone(model).fit(*door(X, 1e14 * y))
    assert np.all(np.isfinite(np.asarray(fitted.predict(door(X, y)[0]))))
    # It is that of the rows, which rules compute in.
    fitted = clone(model).fit(*door(X.astype(float), 1e30 * y))
    assert np.all(np.isfinite(fitted.predict(measured[0])))


@pytest.mark.parametrize("model", [model for model in ONLINE if not hasattr(model, "loss")], ids=repr)
def test_targets_too_far_from_the_first_ones(model, measured):
    X, y = measured
    online = clone(model).partial_fit(X, 1e-100 * y)
    before = remembered(online)
    with pytest.raises(ValueError, match=r"from those seen first.*overflow float64; call fit") as error:
        online.partial_fit(X, 1e100 * y)
    one_sentence(error)
    assert_holds(online, before)


@each_way_in
def test_a_target_of_weight_zero_does_not_exist(model, door, measured):
    X, y = measured
    weight = np.ones(len(X))
    weight[[7, 8, 9]] = 0
    bad = y.copy()
    bad[[7, 8, 9]] = np.nan, np.inf, 1e200
    if door is as_blocks:
        found = clone(model).fit(Blocks(cut(X, bad, weight)))
    elif door is as_dask:
        found = clone(model).fit(*door(X, bad), sample_weight=door(X, weight)[1])
    else:
        found = clone(model).fit(*door(X, bad), sample_weight=weight)
    expected = clone(model).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-7, atol=1e-9)


def test_one_row_at_a_time(measured):
    X, y = measured
    for model in ONLINE:
        online = clone(model).partial_fit(X, y)
        for row in range(20):
            online.partial_fit(X[row : row + 1], y[row : row + 1])
        assert np.all(np.isfinite(online.predict(X)))


TEXT = "y holds text such as 'much'; real targets are numbers"


@pytest.mark.parametrize(
    "door", [as_array, as_blocks, as_dask, as_torch_and_array], ids=lambda door: door.__name__
)
@pytest.mark.parametrize("model", [TSKRegressor(3), SESSCRegressor(3)], ids=repr)
@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (lambda y: np.full(len(y), "much"), TEXT),
        (lambda y: with_one(y.astype(object), "much"), TEXT),
        (lambda y: np.full(len(y), None), r"missing value in row 0|has no label in row 0"),
        (lambda y: with_one(y.astype(object), None), r"missing value in row 7|has no label in row 7"),
        (lambda y: with_one(y.astype(object), 10**400), "y holds whole numbers too large for float64; rescale"),
        (lambda y: with_one(y.astype(object), [1.0]), r"y holds \[1.0\], which is no number"),
        (lambda y: np.arange(len(y)).astype("datetime64[D]"), r"y holds datetime64\[D\] values"),
        (lambda y: y + 1j, "y holds complex128 values"),
        (lambda y: np.ma.masked_greater(y, np.sort(y)[-2]), "masked"),
    ],
    ids=["text", "a text", "all missing", "one missing", "huge integer", "list", "dates", "complex", "masked"],
)
def test_what_is_no_number(model, door, targets, words, measured):
    X, y = measured
    online = clone(model).partial_fit(X, y)
    before = remembered(online)
    with pytest.raises(ValueError, match=words) as error:
        clone(model).fit(*door(X, targets(y)))
    one_sentence(error)
    with pytest.raises(ValueError, match=words) as error:
        online.partial_fit(*door(X, targets(y)))
    one_sentence(error)
    assert_holds(online, before)


@pytest.mark.parametrize("door", [as_array, as_blocks, as_dask], ids=lambda door: door.__name__)
def test_numbers_of_any_kind_are_fine(door, measured):
    X, y = measured
    y = np.round(y)
    for model in (TSKRegressor(3, random_state=0), SESSCRegressor(3, random_state=0)):
        expected = clone(model).partial_fit(X, y).partial_fit(X, y).predict(X)
        decimals = np.asarray([Decimal(int(value)) for value in y], dtype=object)
        for kind in (y.astype(int), y.astype(np.float16), y.astype(object), decimals, np.ma.masked_array(y)):
            found = clone(model).partial_fit(*door(X, kind)).partial_fit(*door(X, kind))
            np.testing.assert_allclose(found.predict(X), expected, rtol=1e-9)


def test_labels_of_blocks_are_not_looked_at_where_none_are_needed(measured):
    X, y = measured
    model = TSKRegressor(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(Blocks([(X, np.full(len(y), np.nan))])), model.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_targets_that_are_all_alike_at_first_set_no_unit(dtype, rng):
    """The mean of equal numbers may differ from them in its last bit, which is no spread."""
    X, y = rng.normal(size=(40, 2)).astype(dtype), rng.normal(size=40)
    model = TSKRegressor(3, random_state=0).partial_fit(X, np.full(40, 0.1))
    for _ in range(5):
        model.partial_fit(X, y)
    assert np.abs(model.predict(X)).max() < 10 * np.abs(y).max()


@pytest.mark.parametrize("make", [TSKRegressor, SESSCRegressor])
def test_weights_too_large_to_be_added_are_refused(make, rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = make(3, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"sample_weight holds values as large as 1e\+308"):
        model.partial_fit(X, y, sample_weight=np.full(40, 1e308))
    with pytest.raises(ValueError, match=r"Block 1 holds weights as large as 1e\+308"):
        make(3).fit(Blocks([(X, y, np.full(40, 1e308))]))
    with pytest.raises(ValueError, match="y and the weights of its rows are too large together"):
        make(3).fit(X, 1e149 * y, sample_weight=np.full(40, 1e20))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("labels", [["a", 1] * 20, np.array("2020-01-01", "datetime64[D]") + np.arange(40) % 2])
def test_labels_of_another_kind_are_a_sentence(labels, rng):
    X = rng.normal(size=(40, 2))
    model = SESSCClassifier(3, random_state=0).partial_fit(X, np.arange(40) % 2)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="y holds labels of another kind than"):
        model.partial_fit(X, np.asarray(labels, dtype=object) if isinstance(labels, list) else labels)
    np.testing.assert_array_equal(model.predict_proba(X), before)
