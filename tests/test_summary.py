"""What rules remember of their data."""

import numpy as np
import pytest

from sessc import TSKClassifier
from sessc.rules.summary import SHARES, Summary, summarize, weighted_quantiles, word_for


def test_weights_are_repetitions(rng):
    X, weight = rng.normal(size=(300, 4)).round(1), rng.integers(0, 4, size=300)
    np.testing.assert_array_equal(
        weighted_quantiles(X, weight), weighted_quantiles(np.repeat(X, weight, axis=0), np.ones(weight.sum()))
    )


def test_quantiles_leave_their_share_of_the_data_below(rng):
    X = rng.exponential(size=(1001, 3))
    quantiles = weighted_quantiles(X, np.ones(len(X)))
    for share, values in zip(SHARES, quantiles, strict=True):
        assert np.all(np.mean(values >= X, axis=0) >= share - 1e-12)
        assert np.all(np.mean(values > X, axis=0) <= share)
    summary = summarize(X, np.ones(1))
    for value in (0.1, 0.7, 2.0):
        assert summary.share_below(0, value) == pytest.approx(np.mean(X[:, 0] < value), abs=0.01)
    assert (summary.share_below(0, -1.0), summary.share_below(0, 99.0)) == (0.0, 1.0)


def test_histograms_hold_every_row(rng):
    X = np.column_stack([rng.normal(size=500), np.full(500, 7.0), rng.pareto(1.0, size=500)])
    weight = rng.random(500)
    summary = summarize(X, np.ones(1), weight)
    assert summary.counts.shape == (3, 30)
    np.testing.assert_allclose(summary.counts.sum(axis=1), weight.sum())
    assert summary.n_rows == 500
    inside = (X[:, 0] > summary.low[0]) & (X[:, 0] < summary.high[0])
    expected, _ = np.histogram(
        X[inside, 0], summary.counts.shape[1], (summary.low[0], summary.high[0]), weights=weight[inside]
    )
    np.testing.assert_allclose(summary.counts[0, 1:-1], expected[1:-1])


def test_words_follow_the_data(rng):
    X = np.column_stack([rng.normal(50, 10, size=4000), rng.integers(0, 2, size=4000)])
    summary = summarize(X, np.ones(1))
    words = [word_for(summary, 0, value) for value in (20, 43, 50, 58, 90)]
    assert words == ["very low", "low", "medium", "high", "very high"]
    assert word_for(summary, 1, 1.0) is None  # yes or no, but never high


def test_supports_are_shares_of_the_data(rng):
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, size=200)
    weight = rng.random(200)
    model = TSKClassifier(4, random_state=0).fit(X, y, sample_weight=weight)
    support = model.rules_.summary.support
    assert support.sum() == pytest.approx(1)
    np.testing.assert_allclose(support, np.average(model.firing(X), axis=0, weights=weight))


def test_of_many_rows_some_are_remembered(monkeypatch, rng):
    X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, size=1000)
    monkeypatch.setattr("sessc.tsk.recipe.REMEMBERED_ROWS", 300)
    thinned = TSKClassifier(4, random_state=0).fit(X, y).rules_.summary
    np.testing.assert_array_equal(thinned.quantiles, weighted_quantiles(X[::4], np.ones(250)))
    assert thinned.n_rows == 1000
    assert thinned.counts.sum() == 2 * 1000  # each row once for each feature, whether seen or stood for


def test_levels_and_gaps_are_shares_of_all_rows(rng):
    codes = np.where(rng.random(200) < 0.1, np.nan, rng.integers(3, size=200))
    X = np.column_stack([codes, np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200))])
    weight = rng.random(200)
    summary = summarize(X, np.ones(1), weight, levels=(3, 0))
    np.testing.assert_allclose(summary.missing, weight @ np.isnan(X) / weight.sum())
    assert summary.levels[0].sum() + summary.missing[0] == pytest.approx(1)
    assert summary.levels[1].size == 0
    assert summary.counts[1].sum() == pytest.approx(weight[~np.isnan(X[:, 1])].sum())
    assert not np.any(summary.quantiles[:, 0])  # of codes, which are no numbers
    there = ~np.isnan(X[:, 1])
    np.testing.assert_array_equal(summary.quantiles[:, 1], weighted_quantiles(X[there, 1:], weight[there])[:, 0])


def test_words_are_of_the_lowest_tenth_and_of_thirds():
    summary = summarize(np.linspace(0.0, 1.0, 4001)[:, None], np.ones(1))
    for limit, below, above in (
        (0.1, "very low", "low"),
        (1 / 3, "low", "medium"),
        (2 / 3, "medium", "high"),
        (0.9, "high", "very high"),
    ):
        assert (word_for(summary, 0, limit - 0.01), word_for(summary, 0, limit + 0.01)) == (below, above)


def test_numbers_alone_need_no_levels():
    summary = Summary(3, np.zeros((len(SHARES), 4)), np.zeros((4, 30)), None)
    assert [shares.size for shares in summary.levels] == [0] * 4
    assert [summary.share_missing(feature) for feature in range(4)] == [0.0] * 4


def test_forty_equal_parts_with_the_median_between_them(rng):
    np.testing.assert_allclose(SHARES, np.arange(0, 102.5, 2.5) / 100)
    X = rng.normal(size=(1001, 3))
    np.testing.assert_array_equal(summarize(X, np.ones(1)).medians, np.median(X, axis=0))


def test_a_column_of_gaps_alone_has_zeros():
    X = np.asarray([[np.nan, 2.0], [np.nan, 4.0]])
    np.testing.assert_array_equal(weighted_quantiles(X, np.ones(2), np.asarray([0.0, 1.0])), [[0, 2], [0, 4]])


def test_what_is_remembered_cannot_be_changed(rng):
    summary = summarize(rng.normal(size=(9, 2)), np.ones(1), levels=(0, 0))
    codes = summarize(np.zeros((9, 1)), np.ones(1), levels=(2,)).levels[0]
    for part in (summary.quantiles, summary.counts, summary.support, summary.missing, codes):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1.0


def test_words_need_three_values():
    for n_values in (1, 2, 3):
        summary = summarize(np.arange(90.0)[:, None] % n_values, np.ones(1))
        assert summary.has_two_values(0) == (n_values < 3)
        assert (word_for(summary, 0, 0.0) is None) == (n_values < 3)
