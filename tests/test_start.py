import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessc import FCM
from sessc.rows.arrays import ArrayRows
from sessc.rows.extent import measure, standardized
from sessc.rows.read import read_rows
from sessc.rows.robust import centered
from sessc.rows.sample import hashed, sample
from sessc.solve.start import _waiting, k_means, k_means_seeds, raced_seeds, random_seeds


def test_frame_is_mean_and_standard_deviation(rng):
    X, weight = rng.normal(1e6, 3, size=(200, 3)), rng.random(200)
    frame = measure(ArrayRows(X, None, weight, block_rows=13))
    np.testing.assert_allclose(frame.center, np.average(X, axis=0, weights=weight))
    np.testing.assert_allclose(
        frame.spread, np.sqrt(np.cov(X.T, aweights=weight, bias=True).diagonal()), rtol=1e-6
    )
    assert frame.weight == pytest.approx(weight.sum())


def test_means_of_float32_are_as_good_as_the_data(rng):
    X = (1e5 + 4 * rng.normal(size=(300_000, 1))).astype(np.float32)
    assert abs(measure(ArrayRows(X)).center[0] - X.astype(float).mean()) < 0.01


@pytest.mark.parametrize("value", [0.1, 1e9 + 1 / 3, -7.3e-12])
def test_a_constant_column_is_exactly_zero_when_centred(value):
    rows, frame = centered(ArrayRows(np.full((1000, 1), value), block_rows=7))
    assert np.all(rows.map(lambda block: block.X) == 0)
    assert frame.spread[0] == 0
    assert frame.scale[0] == 1


def test_rows_of_weight_zero_do_not_exist(rng):
    X = rng.normal(size=(50, 2))
    weight = (np.arange(50) < 30).astype(float)
    X[30:, 0] = 1e30
    rows = read_rows(FCM(), X, sample_weight=weight, reset=True)
    found, expected = measure(rows), measure(ArrayRows(X[:30]))
    np.testing.assert_allclose(found.center, expected.center)
    assert np.all(sample(rows, 2048, 0).X[:, 0] < 1e30)


def test_standardized_rows_have_unit_spread(rng):
    rows, frame = standardized(ArrayRows(rng.normal(5, 3, size=(100, 2))))
    found = measure(ArrayRows(rows.map(lambda block: block.X)))
    np.testing.assert_allclose(found.spread, 1)
    np.testing.assert_allclose(frame.spread, 1)


@given(seed=st.integers(0, 2**31 - 1), block_rows=st.integers(1, 60), copies=st.integers(1, 4))
def test_a_sample_is_free_of_order_blocks_and_repetition(seed, block_rows, copies):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(4, size=(50, 2)).astype(float), rng.integers(3, size=50).astype(float)
    weight[0] = 1
    expected = sample(read_rows(FCM(), X, sample_weight=copies * weight, reset=True), 2048, seed)
    order = rng.permutation(np.repeat(np.arange(50), (copies * weight).astype(int)))
    found = sample(ArrayRows(X[order], block_rows=block_rows), 2048, seed)
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.weight, expected.weight)


def test_a_large_sample_is_cut_to_size_and_is_random(rng):
    X = np.arange(20_000.0)[:, None]
    picked = sample(ArrayRows(X), 2048, seed=1)
    assert len(picked.X) == 2048
    assert abs(picked.X.mean() - 10_000) < 1000
    assert not np.array_equal(np.sort(picked.X[:, 0]), np.sort(sample(ArrayRows(X), 2048, seed=2).X[:, 0]))


def test_a_sample_that_is_cut_is_the_smaller_sample(rng):
    rows = ArrayRows(rng.normal(size=(900, 2)), sample_weight=rng.random(900), block_rows=70)
    found, expected = sample(rows, 300, seed=1).cut(40), sample(rows, 40, seed=1)
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.weight, expected.weight)


def test_hashes_tell_rows_of_round_numbers_apart():
    X = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1).reshape(-1, 2)
    assert len(np.unique(hashed(X, 3))) == len(X)
    np.testing.assert_array_equal(hashed(np.asarray([[0.0]]), 3), hashed(np.asarray([[-0.0]]), 3))


@pytest.mark.parametrize("seeds", [k_means_seeds, random_seeds])
def test_seeds_are_distinct_rows(seeds, rng):
    X, weight = rng.normal(size=(30, 2)), rng.random(30) + 0.1
    picked = seeds(X, weight, 30, rng)
    np.testing.assert_array_equal(np.unique(picked, axis=0), np.unique(X, axis=0))


def test_k_means_is_k_means(rng):
    from sklearn.cluster import KMeans

    X = np.concatenate([rng.normal(c, 1, size=(100, 2)) for c in (0, 6, 12)])
    rows, frame = centered(ArrayRows(X))
    V = k_means(rows, X[[0, 100, 200]] - rows.center, frame) + rows.center
    oracle = KMeans(3, init=X[[0, 100, 200]], n_init=1).fit(X)
    np.testing.assert_allclose(V, oracle.cluster_centers_, rtol=1e-9)


def test_rows_race_with_exponential_luck():
    keys = np.random.default_rng(0).integers(2**63, size=20_000)
    for salt in (1, 2, 2**61):
        waiting = _waiting(keys, salt)
        assert waiting.min() >= 0
        assert waiting.mean() == pytest.approx(1.0, abs=0.03)
        assert np.mean(waiting > 1.0) == pytest.approx(np.exp(-1), abs=0.02)
    assert abs(np.corrcoef(_waiting(keys, 1), _waiting(keys, 2))[0, 1]) < 0.03


def test_a_row_that_changes_changes_the_draw_of_no_other(rng):
    X = rng.normal(size=(400, 3)) + 6 * rng.integers(0, 3, size=(400, 1))
    keys, weight = rng.integers(2**63, size=400), np.ones(400)
    seeds = raced_seeds(X, weight, keys, 3, np.random.default_rng(1))
    moved, other = X.copy(), keys.copy()
    chosen = {int(np.argmin(np.abs(X - seed).sum(axis=1))) for seed in seeds}
    row = next(k for k in range(400) if k not in chosen)
    moved[row] += 0.1
    other[row] = 5
    np.testing.assert_allclose(raced_seeds(moved, weight, other, 3, np.random.default_rng(1)), seeds)
