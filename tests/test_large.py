"""The laws of clustering where data are large: starts in a sample, and leaps on the way.

It is weight that makes data large, so small tables will do.
"""

import numpy as np
import pytest
from sklearn.base import clone

from mixed import mixed_table
from sessc import FCM, SESSC, Blocks, SESSCClassifier, TSKClassifier
from sessc.rows.extent import LARGE
from sessc.solve.secants import Secants
from test_scale import CLUSTERERS, assert_same, cut

TIMES = 1 + LARGE // 240
MODELS = [*CLUSTERERS, SESSCClassifier(3, random_state=0), TSKClassifier(4, random_state=0)]


@pytest.fixture
def large(blobs, rng):
    """The blobs, every row many times."""
    X, y = blobs
    return X, y, rng.integers(TIMES, 2 * TIMES, size=len(X)).astype(float)


@pytest.fixture
def clouds(rng):
    """Two round clouds, which could be cut in many ways, heavy enough to be large."""
    X = rng.normal(size=(4000, 6)) + 3 * rng.integers(0, 2, size=(4000, 1))
    return X, np.full(4000, 10.0)


def fitted(model, *data, **more):
    return clone(model).fit(*data, **more)


def unclipped(model):
    """The same where all costs are positive, and so there is one cost to descend."""
    return clone(model).set_params(**({"eta": 0.0} if hasattr(model, "eta") else {}))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_weight_is_so_many_rows_in_any_order(model, large, rng):
    X, y, weight = large
    order = rng.permutation(np.repeat(np.arange(len(X)), weight.astype(int)))
    assert_same(fitted(model, X, y, sample_weight=weight), fitted(model, X[order], y[order]), 1e-6)


@pytest.mark.parametrize("model", [FCM(5, random_state=0), SESSC(5, random_state=0)], ids=repr)
def test_a_sample_does_not_depend_on_order_and_blocks(model, rng):
    X = rng.normal(size=(25_000, 3)) + 6 * rng.integers(0, 3, size=(25_000, 1))
    order, expected = rng.permutation(len(X)), fitted(model, X)
    assert_same(fitted(model, X[order]), expected, 1e-6)
    assert_same(fitted(model, Blocks([(X[:999],), (X[999:],)])), expected, 1e-6)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_blocks_give_what_an_array_gives(model, large):
    assert_same(fitted(model, Blocks(cut(*large))), fitted(model, *large[:2], sample_weight=large[2]), 1e-7)


@pytest.mark.parametrize("model", [FCM(3, random_state=0), SESSC(3, random_state=0)], ids=repr)
def test_collections_give_what_an_array_gives(model, large):
    da = pytest.importorskip("dask.array")
    X, y, weight = (da.from_array(part, chunks=(50, *part.shape[1:])) for part in large)
    found = fitted(model, X, y, sample_weight=weight)
    assert_same(found, fitted(model, *large[:2], sample_weight=large[2]), 1e-7)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_arrays_of_any_library(model, large, xp):
    X, y, weight = large
    found = fitted(model, xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(weight))
    assert_same(found, fitted(model, X, y, sample_weight=weight), 1e-7)


@pytest.mark.parametrize("model", [FCM(8, random_state=0), SESSC(8, random_state=0)], ids=repr)
def test_the_number_of_threads_changes_no_bit(model, rng):
    X = rng.normal(size=(2 * LARGE, 30))
    one, two = (fitted(model.set_params(n_jobs=n, max_iter=20), X) for n in (1, 2))
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    np.testing.assert_array_equal(one.objective_history_, two.objective_history_)


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_the_cost_never_rises(model, clouds):
    X, weight = clouds
    model = unclipped(model).set_params(n_clusters=6)
    history = model.fit(X, np.arange(len(X)) % 2, sample_weight=weight).objective_history_
    assert len(history) > 2
    assert np.all(np.diff(history) <= 1e-10 * np.abs(history[:-1]))


@pytest.mark.parametrize("model", CLUSTERERS, ids=repr)
def test_levels_and_gaps(model):
    X, y = mixed_table()
    y = y > np.median(y)
    weight = np.full(len(y), 1.0 + LARGE // len(y))
    model = unclipped(model)
    found = fitted(model, X, y, sample_weight=weight)
    assert np.all(np.diff(found.objective_history_) <= 1e-9 * np.abs(found.objective_history_[:-1]))
    order = np.argsort(y, kind="stable")
    assert_same(found, fitted(model, X.iloc[order], y[order], sample_weight=weight), 1e-6)


@pytest.mark.parametrize("model", [FCM(3, random_state=0), SESSC(3, random_state=0)], ids=repr)
def test_all_rows_at_once_are_a_fit_and_one_iteration_more(model, large):
    X, y, weight = large
    streamed = clone(model).partial_fit(X, y, sample_weight=weight)
    assert_same(streamed, fitted(model, X, y, sample_weight=weight), 1e-3)


@pytest.mark.parametrize(
    "model", [FCM(6, m=1.2, random_state=0), SESSC(6, m=1.2, eta=0.0, random_state=0)], ids=repr
)
def test_leaps_come_to_rest_sooner_and_no_higher(model, clouds, monkeypatch):
    X, weight = clouds
    model = clone(model).set_params(max_iter=2000)
    leaping = fitted(model, X, sample_weight=weight)
    monkeypatch.setattr(Secants, "leap", lambda self: None)
    walking = fitted(model, X, sample_weight=weight)
    assert leaping.n_iter_ < 0.5 * walking.n_iter_
    assert leaping.objective_ <= walking.objective_ + 1e-9 * abs(walking.objective_)


def test_a_leap_that_leads_astray_is_taken_back(clouds, monkeypatch):
    X, weight = clouds
    model = FCM(4, random_state=0, max_iter=1000)
    monkeypatch.setattr(Secants, "leap", lambda self: None)
    walking = fitted(model, X, sample_weight=weight)
    # All clusters made of the same sums are one, where no cost is lower.
    monkeypatch.setattr(Secants, "leap", lambda self: self.turns[-1].found * 0.0 if self.turns else None)
    astray = fitted(model, X, sample_weight=weight)
    assert np.all(np.diff(astray.objective_history_) <= 0)
    np.testing.assert_allclose(astray.cluster_centers_, walking.cluster_centers_, atol=1e-9)


def test_what_weighs_little_goes_the_published_way(clouds, monkeypatch):
    X, _ = clouds
    leaps = []
    monkeypatch.setattr(Secants, "leap", lambda self: leaps.append(self))
    FCM(3, max_iter=5, random_state=0).fit(X, sample_weight=np.full(len(X), LARGE / len(X)))
    assert not leaps
    FCM(3, max_iter=5, random_state=0).fit(X, sample_weight=np.full(len(X), 1.01 * LARGE / len(X)))
    assert leaps
