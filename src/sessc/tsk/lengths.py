"""How long rules need to be: accuracy against length, as one of scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._drawing import pyplot
from .tuning import score_name, searching

__all__ = ["AccuracySizeDisplay"]


class AccuracySizeDisplay:
    """How accurate rules are when they are kept short: pick the knee, and give it to ``conditions``.

    Parameters
    ----------
    conditions : sequence of float
        Conditions a rule may have on average.
    scores : array of shape (len(conditions), n_folds)
        Cross-validated scores of rules that short.
    unlimited : array of shape (n_folds,)
        Scores of rules with all their conditions.
    score_name : str
    """

    def __init__(
        self, conditions: Sequence[float], scores: np.ndarray, unlimited: np.ndarray, score_name: str = "score"
    ):
        self.conditions = np.asarray(conditions, dtype=float)
        self.scores = np.asarray(scores, dtype=float)
        self.unlimited = np.asarray(unlimited, dtype=float)
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        conditions: Sequence[float] = (1, 2, 3, 4, 5, 6, 8, 10, 15),
        sample_weight: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        ax: Any = None,
    ) -> Self:
        """Shorten the rules of a model step by step in each fold, score every length, and plot it.

        Parameters
        ----------
        estimator : TSKClassifier or TSKRegressor
            With ``refine`` above zero; it need not be fitted.
        X, y, sample_weight
            The data, as for ``fit``.
        conditions : sequence of float
            Lengths to score.
        cv, scoring
            As for the cross-validated models.
        ax : matplotlib axes, optional

        Returns
        -------
        AccuracySizeDisplay
        """
        lengths = sorted(set(conditions if np.iterable(conditions) else [conditions]))
        search = searching(estimator, conditions=[*lengths, None], cv=cv, scoring=scoring)
        search.fit(X, y, sample_weight)
        found = search.cv_results_
        folds = [name for name in found if name.startswith("split")]
        scores = np.stack([found[name] for name in folds], axis=1)
        return cls(lengths, scores[:-1], scores[-1], score_name(search)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the scores with their standard errors, on ``ax`` or a new figure."""
        plt = pyplot()

        if ax is None:
            _, ax = plt.subplots()
        root = np.sqrt(self.scores.shape[1])
        mean, error = self.scores.mean(axis=1), self.scores.std(axis=1, ddof=1) / root
        ax.errorbar(self.conditions, mean, error, marker="o", capsize=3, color="#0072B2", label="short rules")
        ax.axhline(self.unlimited.mean(), ls="--", color="#999999", label="all conditions")
        ax.set(xlabel="conditions per rule", ylabel=self.score_name)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
