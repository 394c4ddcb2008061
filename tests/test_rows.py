from dataclasses import dataclass

import numpy as np
import pytest

from sessc import FCM
from sessc.rows.arrays import ArrayRows
from sessc.rows.base import Block, Rows
from sessc.rows.clean import remember
from sessc.rows.read import PLACES, Place


def test_blocks_arrive_centred_scaled_encoded_and_weighted(rng):
    X, y, weight = rng.normal(size=(10, 2)), rng.integers(3, size=10), rng.random(10)
    rows = ArrayRows(X, y, weight, n_classes=3, block_rows=4).standardized(X.mean(axis=0), X.std(axis=0))
    np.testing.assert_allclose(rows.map(lambda block: block.X), (X - X.mean(0)) / X.std(0))
    np.testing.assert_array_equal(rows.map(lambda block: block.Y), np.eye(3)[y])
    np.testing.assert_array_equal(rows.map(lambda block: block.weight), weight)


def test_real_targets_are_one_column(rng):
    y = rng.normal(size=5)
    np.testing.assert_array_equal(ArrayRows(np.ones((5, 1)), y).map(lambda block: block.Y), y[:, None])


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1])
def test_order_of_addition_is_fixed(n_jobs, rng):
    X = rng.normal(size=(1000, 3)) * 10.0 ** rng.integers(-8, 8, size=(1000, 1))
    alone = ArrayRows(X, block_rows=7).sum(lambda block: block.X.sum(axis=0))
    shared = ArrayRows(X, block_rows=7, n_jobs=n_jobs).sum(lambda block: block.X.sum(axis=0))
    np.testing.assert_array_equal(alone, shared)


@pytest.mark.parametrize(("n", "preparations"), [(100, 10), (2**20, 20)])
def test_a_small_table_is_prepared_once_and_a_large_one_never_kept(n, preparations):
    calls = []
    rows = ArrayRows(np.ones((n, 2)), block_rows=n // 10 + 1).prepared(lambda block: calls.append(1) or block.X)
    assert rows.sum(np.sum) == rows.sum(np.sum) == 2 * n
    assert len(calls) == preparations


def test_blocks_shrink_for_wide_tables():
    widths = {}
    for n_features in (2, 36, 10_000):
        rows = ArrayRows(np.broadcast_to(0.0, (100_000, n_features)))
        widths[n_features] = rows._slices[0].stop
    assert widths[2] > widths[36] > widths[10_000] >= 64


@dataclass(frozen=True)
class Pair(Rows):
    """A new place for data: two halves, each an array."""

    halves: tuple

    n_features = property(lambda self: self.halves[0].shape[1])
    dtype = property(lambda self: self.halves[0].dtype)

    def sum(self, fn):
        return fn(self._seen(Block(self.halves[0]))) + fn(self._seen(Block(self.halves[1])))

    def map(self, fn):
        return np.concatenate([fn(self._seen(Block(half))) for half in self.halves])


def test_a_new_place_for_data_is_a_class_and_a_line(monkeypatch, blobs):
    X, _ = blobs

    def read(estimator, halves, y, sample_weight, asked):
        remember(estimator, halves[0].shape[1], None, asked.reset)
        return Pair(halves)

    place = Place(lambda X: isinstance(X, tuple), read)
    monkeypatch.setattr("sessc.rows.read.PLACES", [place, *PLACES])
    found, expected = FCM(3, random_state=0).fit((X[:100], X[100:])), FCM(3, random_state=0).fit(X)
    np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(found.predict((X[:100], X[100:])), expected.labels_)
    assert not hasattr(found, "labels_")


def test_errors_in_threads_reach_the_caller():
    rows = ArrayRows(np.ones((100, 2)), block_rows=5, n_jobs=2)
    with pytest.raises(ZeroDivisionError):
        rows.sum(lambda block: 1 / 0)
