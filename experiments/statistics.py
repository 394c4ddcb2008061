"""Ranks, Dunn's test and paired comparisons: the arithmetic of the paper's tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import stats

__all__ = ["adjusted", "average_ranks", "dunn", "paired", "ranks", "signed_rank", "unordered"]


def ranks(means: Mapping[str, float]) -> dict[str, int]:
    """Ranks of methods, 1 for the highest; ties share the lower rank, as in the paper."""
    return {name: 1 + sum(other > mean for other in means.values()) for name, mean in means.items()}


def average_ranks(by_dataset: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Mean rank of each method over the data sets."""
    each = [ranks(means) for means in by_dataset.values()]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


def dunn(samples: Mapping[str, np.ndarray]) -> dict[tuple[str, str], float]:
    """Two-sided p-values of Dunn's test for each pair of methods, not corrected, from the pooled ranks."""
    names = list(samples)
    sizes = {name: len(samples[name]) for name in names}
    pooled = np.concatenate([samples[name] for name in names])
    n = len(pooled)
    _, counts = np.unique(pooled, return_counts=True)
    variance = n * (n + 1) / 12 - np.sum(counts**3.0 - counts) / (12 * (n - 1))
    pieces = np.split(stats.rankdata(pooled), np.cumsum([sizes[name] for name in names])[:-1])
    means = {name: piece.mean() for name, piece in zip(names, pieces, strict=True)}
    return {
        (a, b): float(
            2 * stats.norm.sf(abs(means[a] - means[b]) / np.sqrt(variance * (1 / sizes[a] + 1 / sizes[b])))
        )
        for i, a in enumerate(names)
        for b in names[:i]
    }


def adjusted(p_values: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Benjamini and Hochberg's correction for the false discovery rate."""
    return dict(zip(p_values, stats.false_discovery_control(list(p_values.values())).tolist(), strict=True))


def unordered(p_values: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """The same correction without its last step: p times the number of tests over its rank, at most one."""
    p = np.asarray(list(p_values.values()))
    return dict(zip(p_values, np.minimum(p * len(p) / stats.rankdata(p, "ordinal"), 1.0).tolist(), strict=True))


def signed_rank(difference: np.ndarray) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test, one if nothing differs."""
    return float(stats.wilcoxon(difference).pvalue) if np.any(difference) else 1.0


def paired(ours: np.ndarray, theirs: np.ndarray, tested: float = 0.3) -> tuple[float, float, float]:
    """Mean difference over paired random splits, its standard error, and a p-value.

    The error is that over other splits of the same table. The p-value is Nadeau and Bengio's corrected resampled
    t-test, which asks about new tables of the same kind and so allows for splits that share most of their rows;
    ``tested`` is the share of rows in the test part.
    """
    difference = np.asarray(ours) - np.asarray(theirs)
    if not np.any(difference):
        return 0.0, 0.0, 1.0
    if len(difference) == 1:  # nothing to tell an error from
        return float(difference[0]), np.inf, 1.0
    n, variance = len(difference), difference.var(ddof=1)
    if variance == 0:
        return float(difference.mean()), 0.0, 0.0
    t = difference.mean() / np.sqrt(variance * (1 / n + tested / (1 - tested)))
    return float(difference.mean()), float(np.sqrt(variance / n)), float(2 * stats.t.sf(abs(t), n - 1))
