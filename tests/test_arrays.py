"""Arrays that say more than their numbers do: which cells are masked, and that some are dates."""

import numpy as np
import pytest
from sklearn.base import clone

from sessc import FCM, Blocks, Number, TSKClassifier

MODELS = [FCM(3, random_state=0), TSKClassifier(3, random_state=0)]


@pytest.fixture
def table(rng):
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] > 0).astype(int), rng.random(X.shape) < 0.1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, object])
def test_a_masked_cell_is_missing(model, dtype, table):
    X, y, gone = table
    X = (10 * X).astype(np.float32 if dtype is np.float32 else int).astype(dtype)
    masked, gaps = np.ma.MaskedArray(X, gone), X.astype(np.float32 if dtype is np.float32 else float)
    gaps[gone] = np.nan
    expected = clone(model).fit(gaps, y)
    found = clone(model).fit(masked, y)
    np.testing.assert_array_equal(found.predict(masked), expected.predict(gaps))
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(masked), clone(model).fit(X, y).predict(gaps))
    if hasattr(found, "rules_"):
        np.testing.assert_array_equal(found.rules_(masked), expected.rules_(gaps))
    if dtype is not object:
        blocks = Blocks([(masked[:40], y[:40]), (masked[40:], y[40:])])
        np.testing.assert_array_equal(
            clone(model).fit(blocks).predict(X),
            clone(model).fit(Blocks([(gaps[:40], y[:40]), (gaps[40:], y[40:])])).predict(X),
        )


@pytest.mark.parametrize("model", MODELS)
def test_nothing_masked_is_nothing_missing(model, table):
    X, y, _ = table
    found = clone(model).fit(np.ma.MaskedArray(X), y)
    np.testing.assert_array_equal(found.predict(X), clone(model).fit(X, y).predict(X))


@pytest.mark.parametrize("model", MODELS)
def test_masked_weights_are_refused(model, table):
    X, y, _ = table
    with pytest.raises(ValueError, match="sample_weight holds values that are masked, as in row 3"):
        model.fit(X, y, sample_weight=np.ma.MaskedArray(np.ones(80), np.arange(80) == 3))


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_arrays_of_dates_are_dates(unit, table):
    _, y, gone = table
    days = np.random.default_rng(1).integers(0, 900, size=(80, 2))
    dates = (np.datetime64("2020-01-01", "D") + days).astype(f"datetime64[{unit}]")
    dates[gone[:, :2]] = np.datetime64("NaT")
    numbers = np.where(gone[:, :2], np.nan, days + 18262.0)
    model = TSKClassifier(3, random_state=0).fit(dates, y)
    assert model.rules_.columns == (Number("x0", is_date=True), Number("x1", is_date=True))
    expected = TSKClassifier(3, random_state=0).fit(numbers, y)
    np.testing.assert_array_equal(model.predict(dates), expected.predict(numbers))
    np.testing.assert_array_equal(model.rules_(dates), expected.rules_(numbers))
    np.testing.assert_array_equal(
        FCM(3, random_state=0).fit(dates).labels_, FCM(3, random_state=0).fit(numbers).labels_
    )


@pytest.mark.parametrize("model", MODELS)
def test_lengths_of_time_are_a_sentence(model, table):
    X, y, _ = table
    lengths = (1000 * X).astype("timedelta64[s]")
    with pytest.raises(ValueError, match=r"X holds timedelta64.* cells; divide them by a unit"):
        clone(model).fit(lengths, y)
    with pytest.raises(ValueError, match=r"X holds timedelta64.* cells; divide them by a unit"):
        clone(model).fit(X, y).predict(lengths)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("model", MODELS)
def test_weights_too_small_to_compute_with_are_refused(model, dtype, table):
    X, y, _ = table
    X = X.astype(dtype)
    least = float(np.finfo(dtype).smallest_normal) ** 0.5
    clone(model).fit(X, y, sample_weight=np.full(80, 1.01 * least))
    for weight in (0.9 * least, 5e-324):
        one = np.where(np.arange(80) == 5, weight, 1.0)
        for given in (np.full(80, weight), one):
            with pytest.raises(ValueError, match=r"sample_weight holds weights as small as .*; make them larger"):
                clone(model).fit(X, y, sample_weight=given)
            with pytest.raises(ValueError, match=r"Block 1 has weights as small as .*; make them larger"):
                clone(model).fit(Blocks([(X, y, given)]))
    clone(model).fit(X, y, sample_weight=np.where(np.arange(80) == 5, 0.0, 1.0))
    for kind in (int, np.uint8, bool):
        counts = np.arange(80) % 2 == 0
        clone(model).fit(Blocks([(X, y, counts.astype(kind))]))
