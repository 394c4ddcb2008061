import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sessc import FCM, fukuyama_sugeno, partition_coefficient, partition_entropy, xie_beni


def test_indices_are_their_formulas(rng):
    X, V, U = rng.normal(5, 1, size=(20, 3)), rng.normal(5, 1, size=(4, 3)), rng.dirichlet(np.ones(4), size=20)
    squares = ((X[:, None] - V) ** 2).sum(-1)
    assert partition_coefficient(U) == pytest.approx((U**2).sum() / 20)
    assert partition_entropy(U) == pytest.approx(-(U * np.log(U)).sum() / 20)
    apart = min(((V[r] - V[q]) ** 2).sum() for r in range(4) for q in range(r))
    assert xie_beni(X, U, V, m=1.5) == pytest.approx((U**1.5 * squares).sum() / (20 * apart))
    between = ((V - V.mean(0)) ** 2).sum(1)
    assert fukuyama_sugeno(X, U, V, m=1.5) == pytest.approx((U**1.5 * (squares - between)).sum())


def test_bounds():
    assert partition_coefficient(np.eye(3)) == 1
    assert partition_entropy(np.eye(3)) == partition_entropy(np.eye(3, dtype=int)) == 0
    assert partition_entropy(np.full((5, 4), 0.25)) == pytest.approx(np.log(4))
    assert xie_beni(np.eye(2), np.full((2, 2), 0.5), np.zeros((2, 2))) == np.inf


def test_indices_find_the_number_of_clusters():
    X, _ = make_blobs(400, centers=[[0, 0], [8, 0], [0, 8], [8, 8]], random_state=0)
    fits = {k: FCM(k, m=2.0, random_state=0, n_init=3).fit(X) for k in range(2, 8)}
    U = {k: fit.transform(X) for k, fit in fits.items()}
    assert max(U, key=lambda k: partition_coefficient(U[k])) == 4
    assert min(U, key=lambda k: partition_entropy(U[k])) == 4
    assert min(U, key=lambda k: xie_beni(X, U[k], fits[k].cluster_centers_)) == 4


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="do not fit"):
        xie_beni(np.ones((3, 2)), np.ones((3, 4)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="at least two"):
        xie_beni(np.ones((3, 2)), np.ones((3, 1)), np.ones((1, 2)))
