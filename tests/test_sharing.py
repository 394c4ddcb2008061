from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sessc import Entropy, Linear, Power, Quadratic, Uniform

SHARING = [
    Power(1.01),
    Power(1.1),
    Power(2.0),
    Power(3.0),
    Power(7.0),
    Entropy(0.5),
    Entropy(30.0),
    Quadratic(0.1),
    Quadratic(3.0),
    Linear(),
]


@pytest.mark.parametrize("rule", SHARING)
def test_shares_beat_any_other_shares(rule, rng):
    cost = rng.gamma(2.0, size=(50, 4))
    best = rule.share(cost)

    def total(p):
        return np.sum(rule.amount(p) * cost) + np.sum(rule.penalty(p))

    for _ in range(100):
        other = rng.dirichlet(np.ones(4), size=50)
        assert total(best) <= total(0.99 * best + 0.01 * other) + 1e-12
        assert total(best) <= total(other) + 1e-12


@pytest.mark.parametrize("rule", SHARING)
@given(
    cost=arrays(float, array_shapes(min_dims=2, max_dims=2), elements=st.floats(0, 1e12)),
    axis=st.sampled_from([0, 1]),
)
def test_shares_lie_on_the_simplex(rule, cost, axis):
    share = rule.share(cost, axis)
    assert np.all(share >= 0)
    np.testing.assert_allclose(share.sum(axis=axis), 1, rtol=1e-12)


@pytest.mark.parametrize("rule", SHARING)
@given(cost=arrays(float, (5, 3), elements=st.floats(0, 1e9)))
def test_settling_is_sharing_and_counting(rule, cost):
    share = rule.share(cost, axis=0)
    amount, penalty = rule.settle(cost, axis=0)
    # amounts near underflow are cut to zero, at places that may differ
    np.testing.assert_allclose(amount, rule.amount(share), rtol=1e-9, atol=1e-270)
    np.testing.assert_allclose(penalty, rule.penalty(share, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [1.02, 1.5, 2.0, 5.0, 100.0])
def test_amounts_do_not_depend_on_the_unit_of_costs(exponent, dtype, rng):
    rule, cost = Power(exponent), rng.gamma(5.0, size=(30, 50)).astype(dtype)
    expected = rule.amount(rule.share(cost.astype(float), axis=0))
    limits = np.finfo(dtype)
    span = np.log(limits.max) - 7
    rounding = limits.eps * span * max(exponent, exponent / (exponent - 1))  # of a logarithm, in a power
    for unit in np.exp(np.linspace(-span, span, 101)):
        amount, _ = rule.settle(cost * dtype(unit), axis=0)
        np.testing.assert_allclose(amount, expected, rtol=4 * rounding, atol=limits.tiny / limits.eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [1.1, 2.0, 8.0, 100.0])
def test_a_cost_of_zero_counts_the_same_either_way(exponent, dtype, rng):
    rule, cost = Power(exponent), 100 * rng.gamma(5.0, size=(30, 50)).astype(dtype)
    cost[3, ::2] = -1.0
    expected = rule.amount(rule.share(cost.astype(dtype), axis=0))
    np.testing.assert_allclose(rule.settle(cost, axis=0)[0], expected, rtol=1e-3, atol=1e-30)


@pytest.mark.parametrize("rule", SHARING)
def test_sharing_leaves_costs_alone(rule, rng):
    cost = rng.gamma(2.0, size=(6, 4))
    before = cost.copy()
    rule.share(cost, axis=0)
    rule.settle(cost, axis=0)
    np.testing.assert_array_equal(cost, before)


@pytest.mark.parametrize("rule", SHARING)
def test_every_backend_shares_alike(rule, xp, rng):
    cost = rng.gamma(2.0, size=(6, 4))
    found = rule.share(xp.asarray(cost), 0)
    np.testing.assert_allclose(np.asarray(found), rule.share(cost, 0), rtol=1e-12, atol=1e-300)
    amount, _ = rule.settle(xp.asarray(cost), 0)
    np.testing.assert_allclose(np.asarray(amount), rule.settle(cost, 0)[0], rtol=1e-12, atol=1e-300)


def test_closed_forms(rng):
    cost = rng.gamma(2.0, size=(8, 3))
    powers = cost ** (-1 / 0.5)
    np.testing.assert_allclose(Power(1.5).share(cost), powers / powers.sum(1, keepdims=True))
    exps = np.exp(-cost / 0.7)
    np.testing.assert_allclose(Entropy(0.7).share(cost), exps / exps.sum(1, keepdims=True))
    np.testing.assert_array_equal(Uniform().share(cost), 1)


def test_power_near_one_is_winner_takes_all_without_overflow():
    share = Power(1 + 1e-12).share(np.asarray([[1.0, 2.0, 1e300], [3.0, 1e-300, 5.0]]))
    np.testing.assert_array_equal(share, [[1, 0, 0], [0, 1, 0]])


def test_costs_of_zero_or_less_share_everything():
    for cost in ([[0.0, 0.0, 1.0]], [[-3.0, 0.0, 1.0]]):
        np.testing.assert_array_equal(Power(2.0).share(np.asarray(cost)), [[0.5, 0.5, 0.0]])
        np.testing.assert_allclose(Power(2.0).settle(np.asarray(cost))[0], [[0.25, 0.25, 0.0]])


def test_linear_splits_ties():
    np.testing.assert_array_equal(Linear().share(np.asarray([[1.0, 1.0, 2.0]])), [[0.5, 0.5, 0]])


def test_rounding_settles_no_tie(rng):
    """Costs that are equal but for rounding share alike, whichever way the last bits fell."""
    noise = 1e-16 * rng.normal(size=(50, 2))
    known_to = np.full((1, 3), 1e-14)
    for size in (0.0, 5.0, 1e9):
        ties = np.column_stack([size + (1 + size) * noise, np.full(50, 1 + 2 * size)])
        np.testing.assert_array_equal(Linear().share(ties, rounding=known_to), [[0.5, 0.5, 0]] * 50)


@pytest.mark.parametrize("number", [np.float64(1.5), np.int64(2)])
def test_numbers_of_numpy_promote_nothing(number):
    cost = np.ones((2, 3), np.float32)
    for rule in {type(rule) for rule in SHARING if fields(rule)}:
        assert rule(*[number] * len(fields(rule))).share(cost).dtype == np.float32


def test_infinite_costs_get_nothing():
    cost = np.asarray([[1.0, np.inf, 2.0]])
    for rule in SHARING:
        share = rule.share(cost)
        assert share[0, 1] == 0
        np.testing.assert_allclose(share.sum(), 1)


@pytest.mark.parametrize("rule", SHARING)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(rule, dtype, rng):
    cost = rng.gamma(2.0, size=(6, 4)).astype(dtype)
    assert rule.share(cost).dtype == dtype
    assert rule.settle(cost)[0].dtype == dtype


@pytest.mark.parametrize("rule", sorted({type(rule) for rule in SHARING if fields(rule)}, key=repr))
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_terms_refuse_nonsense(rule, value):
    with pytest.raises(ValueError, match=f"got {value}"):
        rule(value)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_powers_exceed_one(exponent):
    with pytest.raises(ValueError, match=f"got {exponent}"):
        Power(exponent)


@pytest.mark.parametrize("rule", [*SHARING, Uniform()])
def test_unless_told_the_last_axis_is_shared(rule, rng):
    cost = rng.gamma(2.0, size=(2, 3, 4))
    np.testing.assert_array_equal(rule.share(cost), rule.share(cost, axis=2))
    np.testing.assert_array_equal(rule.penalty(cost), rule.penalty(cost, axis=2))
    for found, expected in zip(rule.settle(cost), rule.settle(cost, axis=2), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rule", [*SHARING, Uniform()])
def test_where_there_are_no_rows_nothing_is_shared(rule):
    assert rule.share(np.empty((3, 0)), axis=0).shape == (3, 0)
    amount, _ = rule.settle(np.empty((3, 0)), axis=0)
    assert amount.shape == (3, 0)
