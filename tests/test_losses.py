import numpy as np
import pytest

from sessc import LogLoss, SquaredLoss
from sessc.terms.losses import OUTPUT_FLOOR


def loss_matrix(loss, Y, Z):
    constant, slope = loss.coefficients(Z)
    return constant + loss.columns(Y) @ slope.T


def test_log_loss(rng):
    Y, Z = np.eye(3)[[0, 2, 1]], rng.dirichlet(np.ones(3), size=4)
    np.testing.assert_allclose(loss_matrix(LogLoss(2.0), Y, Z), -2 * np.log(Z).T[[0, 2, 1]])


def test_log_loss_is_bounded():
    worst = loss_matrix(LogLoss(1.0), np.eye(2), np.asarray([[0.0, 1.0]]))
    assert worst[0, 0] == -np.log(OUTPUT_FLOOR) == pytest.approx(52 * np.log(2))  # as is printed


def test_squared_loss(rng):
    Y, Z = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    expected = 3 * ((Y[:, None] - Z) ** 2).sum(-1)
    np.testing.assert_allclose(loss_matrix(SquaredLoss(3.0), Y, Z), expected)


@pytest.mark.parametrize("loss", [LogLoss(1.0), SquaredLoss(1.0)])
def test_the_weighted_mean_is_the_best_output(loss, rng):
    Y, weight = np.eye(3)[rng.integers(3, size=40)], rng.random(40)
    best = (weight @ Y / weight.sum())[None]
    for _ in range(100):
        other = rng.dirichlet(np.ones(3), size=1)
        assert weight @ loss_matrix(loss, Y, best) <= weight @ loss_matrix(loss, Y, other) + 1e-12


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="got -1"):
        LogLoss(-1)


def test_a_single_class_costs_nothing():
    np.testing.assert_array_equal(loss_matrix(LogLoss(2.0), np.ones((5, 1)), np.ones((4, 1))), np.zeros((5, 4)))
