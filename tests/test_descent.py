"""Descent on many functions at once: each as if it were alone, within its bounds, never uphill, to the least."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from sessc.solve.descent import descend

MEMBERS, SIZE = 6, 5


@pytest.fixture
def bowls(rng):
    """Squared distances from targets under bounds, whose least points another method knows."""
    A = rng.normal(size=(MEMBERS, 12, SIZE))
    b = rng.normal(size=(MEMBERS, 12))
    low = np.where(rng.random((MEMBERS, SIZE)) < 0.5, 0.0, -np.inf)
    high = np.where(rng.random((MEMBERS, SIZE)) < 0.3, 0.1, np.inf)
    high[:, 0] = low[:, 0] = 0.05  # some may not move at all

    def objective(which, x):
        off = np.matmul(A[which], x[:, :, None])[:, :, 0] - b[which]
        return (off * off).sum(axis=1), 2 * np.matmul(off[:, None, :], A[which])[:, 0, :]

    start = np.clip(rng.normal(size=(MEMBERS, SIZE)), low, high)
    return objective, start, low, high, A, b


def every(value):
    return [value] * MEMBERS


def test_each_reaches_the_least_point_within_its_bounds(bowls):
    objective, start, low, high, A, b = bowls
    found, _ = descend(objective, start, low, high, max_iter=every(500), tol=every(1e-15))
    for k in range(MEMBERS):
        least = lsq_linear(A[k], b[k], (low[k] - 1e-12, high[k] + 1e-12)).x
        np.testing.assert_allclose(found[k], least, atol=1e-5)
    assert np.all((found >= low) & (found <= high))


def test_a_member_does_the_same_alone(bowls):
    """To the last bit, whoever else takes part and however long that takes."""
    objective, start, low, high, _, _ = bowls
    steps = [3, 1, 50, 7, 500, 20]
    together, histories = descend(objective, start, low, high, max_iter=steps, tol=every(1e-12))
    for k in range(MEMBERS):
        own = np.asarray([k])
        alone, [history] = descend(
            lambda which, x, own=own: objective(own[which], x),
            start[own],
            low[own],
            high[own],
            max_iter=[steps[k]],
            tol=[1e-12],
        )
        np.testing.assert_array_equal(alone[0], together[k])
        np.testing.assert_array_equal(history, histories[k])


def test_values_never_rise_and_each_takes_no_more_steps_than_it_may(bowls):
    objective, start, low, high, _, _ = bowls
    steps = [0, 1, 2, 5, 10, 1000]
    found, histories = descend(objective, start, low, high, max_iter=steps, tol=every(1e-9))
    for most, history in zip(steps, histories, strict=True):
        assert len(history) <= 1 + most
        assert np.all(np.diff(history) <= 0)
    np.testing.assert_array_equal(found[0], start[0])
    last = objective(np.arange(MEMBERS), found)[0]
    np.testing.assert_allclose(last, [history[-1] for history in histories], rtol=1e-12)


def test_where_a_value_is_not_a_number_one_goes_less_far():
    def objective(which, x):
        with np.errstate(invalid="ignore"):
            return -np.log(1 - np.abs(x)).sum(axis=1), np.sign(x) / (1 - np.abs(x))

    start = np.asarray([[0.9999], [-0.5]])
    wide = np.full_like(start, np.inf)
    found, histories = descend(objective, start, -wide, wide, max_iter=[100, 100], tol=[1e-12, 1e-12])
    assert np.all(np.isfinite(found))
    assert all(history[-1] < 0.1 * history[0] for history in histories)


def test_one_may_be_told_to_stop_while_others_go_on(bowls):
    objective, start, low, high, _, _ = bowls
    calls = []
    stop = [None] * MEMBERS
    stop[2] = lambda: len(calls) >= 2 or calls.append(1)
    _, histories = descend(objective, start, low, high, max_iter=every(50), tol=every(0.0), stop=stop)
    assert len(histories[2]) == 4  # the start, two steps, and the one after which it was told
    assert len(histories[1]) > 4
