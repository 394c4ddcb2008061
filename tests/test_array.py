import numpy as np
import pytest

from sessc._array import divide, exp, floor, one_hot, softmax, squared_distances, to_numpy, xlogx, zero_where

TINY = np.finfo(float).tiny


def test_floor_is_the_smallest_normal_number():
    np.testing.assert_array_equal(floor(np.asarray([-1.0, 0.0, TINY / 2, 1.0])), [TINY, TINY, TINY, 1.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_never_underflows(dtype):
    x = -np.logspace(-3, 5, 2000, dtype=dtype)
    with np.errstate(all="raise"):
        found = exp(x)
    limits = np.finfo(dtype)
    assert found.dtype == dtype
    assert np.all((found == 0) | (found >= limits.smallest_normal))
    large = x > np.log(limits.smallest_normal) - 2 * np.log(limits.eps)
    np.testing.assert_allclose(found[large], np.exp(x[large]), rtol=2 * limits.eps)
    assert np.all(found[x < np.log(limits.smallest_normal)] == 0)


def test_softmax_of_anything_finite_sums_to_one():
    logits = np.asarray([[1e300, -1e300, 0.0], [-1e5, -1e5, -1e5 - 1]])
    np.testing.assert_allclose(softmax(logits).sum(axis=1), 1)


def test_xlogx_has_its_limit_at_zero():
    np.testing.assert_array_equal(xlogx(np.asarray([0.0, 1.0])), [0, 0])


def test_divide_where_possible():
    found = divide(np.asarray([1.0, 1.0]), np.asarray([2.0, 0.0]), otherwise=np.asarray([7.0, 7.0]))
    np.testing.assert_array_equal(found, [0.5, 7.0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_zeros_are_where_they_should_be_and_every_other_bit_stays(dtype, rng):
    x = rng.normal(size=(40, 5)).astype(dtype)
    x[:2] = [[np.inf, -np.inf, np.nan, -0.0, np.finfo(dtype).smallest_subnormal], [np.nan] * 5]
    for cells in (x, np.asfortranarray(x), x[::2, ::-1]):
        gone = np.isnan(cells) | (rng.random(cells.shape) < 0.2)
        found = zero_where(gone, cells)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.where(gone, dtype(0), cells))
        np.testing.assert_array_equal(np.signbit(found), np.where(gone, False, np.signbit(cells)))


def test_guards_on_every_backend(xp, rng):
    x = rng.normal(size=(4, 3))
    y = xp.asarray(np.abs(x))
    for fn in (floor, softmax, xlogx):
        np.testing.assert_allclose(to_numpy(fn(y)), fn(np.abs(x)), rtol=1e-12)
    np.testing.assert_allclose(to_numpy(divide(y, y, y)), 1)
    np.testing.assert_array_equal(to_numpy(zero_where(y > 1, y)), zero_where(np.abs(x) > 1, np.abs(x)))
    hot = one_hot(xp.asarray(np.asarray([2, 0])), 3, y.dtype)
    np.testing.assert_array_equal(to_numpy(hot), [[0, 0, 1], [1, 0, 0]])


def test_squared_distances(rng):
    X, V = rng.normal(size=(7, 3)), rng.normal(size=(2, 3))
    np.testing.assert_allclose(squared_distances(X, V), ((X[:, None] - V) ** 2).sum(-1))
