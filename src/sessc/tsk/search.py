"""Candidates against folds: what cross-validated rule models search with.

Within a fold all candidates share their starting points and all widths share one clustering. Without refinement
all penalties share one decomposition too, and a search costs little more than its clusterings; with it every
penalty is a descent of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import pairwise, product
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from .._progress import Progress
from ..cluster.base import SoftSubspace
from ..rows.arrays import ArrayRows
from ..rows.base import Rows
from ..rules.base import design, firing
from ..terms.objective import Objective, Parameters
from .consequents import ridge_path
from .estimators import Problem, cluster, decision, deviations, scale_of_widths, widths
from .refine import Moving

__all__ = ["Candidate", "Fold", "Ranges", "Search", "Trial", "cv_results", "highest", "last_stage", "simplest"]

Candidate = dict[str, Any]
Clusters = tuple[Objective, Parameters]
Formula = Callable[[np.ndarray], np.ndarray]
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Ranges:
    """What is tried with each clustering, in all combinations."""

    width_scales: list
    alphas: list[float]
    conditions: list[float | None]

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.width_scales), len(self.alphas), len(self.conditions)

    def params(self) -> Iterator[Candidate]:
        for width_scale, alpha, conditions in product(self.width_scales, self.alphas, self.conditions):
            short = {} if self.conditions == [None] else {"conditions": conditions}
            yield {"width_scale": width_scale, "alpha": alpha} | short


@dataclass(frozen=True)
class Fold:
    """One training part, ready to fit candidates to, and the test part to score them on."""

    model: Any
    problem: Problem
    clusterer: SoftSubspace
    centers: list[np.ndarray]
    X: np.ndarray
    y: Any
    weight: np.ndarray | None
    scorer: Any

    def cluster(self, candidate: Candidate) -> Clusters:
        return cluster(self.problem, clone(self.clusterer).set_params(**candidate), self.centers)

    def score(self, formula: Formula, known: np.ndarray) -> float:
        """The score of a formula for outputs, whose values for the test part are known."""
        answers = _ClassAnswers if isinstance(self.model, ClassifierMixin) else _ValueAnswers
        weight = {} if self.weight is None or not _takes_weights(self.scorer) else {"sample_weight": self.weight}
        with warnings.catch_warnings():
            # A rare class may be missing from a fold; saying so for every candidate helps nobody.
            warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
            return float(self.scorer(answers(self, formula, known), self.X, self.y, **weight))

    def score_clusters(self, objective: Objective, parameters: Parameters) -> float:
        """How well the clusters predict by themselves, before any least squares."""
        formula = partial(self._votes, objective.without_labels(), parameters)
        return self.score(formula, formula(self.X))

    def score_rules(self, objective: Objective, parameters: Parameters, ranges: Ranges) -> np.ndarray:
        """Scores (width_scales, alphas, conditions) of the rules made of these clusters."""
        V = parameters.V
        deviation = deviations(self.problem, objective, parameters)
        scores = np.empty(ranges.shape)
        for h, width_scale in enumerate(ranges.width_scales):
            width = widths(self.problem, deviation, scale_of_widths(width_scale, V.shape[1]))
            scores[h] = (self._score_refined if self.model.refine else self._score_path)(V, width, ranges)
        return scores

    def _least_squares(self, V: np.ndarray, width: np.ndarray, alphas: Sequence[float]) -> np.ndarray:
        return ridge_path(self.problem.fit_rows, V, width, self.model.order, np.asarray(alphas, dtype=float))

    def _score_path(self, V: np.ndarray, width: np.ndarray, ranges: Ranges) -> np.ndarray:
        """Scores (alphas, 1) of least squares, whose outputs for all penalties are one product."""
        path = self._least_squares(V, width, ranges.alphas)
        path = path.reshape(len(path), -1, path.shape[-1]).astype(V.dtype)
        outputs = self._outputs(V, width, np.concatenate(path, axis=1), self.X)
        each = zip(path, np.split(outputs, len(path), axis=1), strict=True)
        return np.asarray([[self.score(partial(self._outputs, V, width, B), known)] for B, known in each])

    def _score_refined(self, V: np.ndarray, width: np.ndarray, ranges: Ranges) -> np.ndarray:
        """Scores (alphas, conditions) of refined rules."""
        scores = np.empty((len(ranges.alphas), len(ranges.conditions)))
        for a, alpha in enumerate(ranges.alphas):
            # One penalty at a time, as the plain model has it: descent makes much of a difference in the last bit.
            start = Moving.from_rules(V, width, self._least_squares(V, width, [alpha])[0])
            found, _ = self.model._improved(self.problem, start, alpha, ranges.conditions)
            for c, rules in enumerate(found):
                B = rules.consequents.reshape(-1, rules.consequents.shape[-1])
                centers, widths, B = (part.astype(V.dtype) for part in (rules.centers, rules.widths, B))
                formula = partial(self._outputs, centers, widths, B)
                scores[a, c] = self.score(formula, formula(self.X))
        return scores

    def _rows(self, X: np.ndarray) -> Rows:
        return ArrayRows(X).standardized(self.problem.rows.center, self.problem.rows.scale)

    def _votes(self, objective: Objective, parameters: Parameters, X: np.ndarray) -> np.ndarray:
        coefficients = objective.coefficients(parameters)
        return self._rows(X).map(
            lambda samples: objective.memberships(coefficients, objective.columns(samples)).T @ parameters.Z
        )

    def _outputs(self, V: np.ndarray, width: np.ndarray, consequents: np.ndarray, X: np.ndarray) -> np.ndarray:
        order = self.model.order
        return self._rows(X).map(
            lambda samples: design(firing(samples.X, V, width), samples.X, order) @ consequents
        )


def _takes_weights(scorer: Any) -> bool:
    """Whether a scorer, or the metric it is made of, has a place for sample weights."""
    parameters = signature(getattr(scorer, "_score_func", scorer)).parameters
    return "sample_weight" in parameters or any(p.kind == p.VAR_KEYWORD for p in parameters.values())


class _Answers(BaseEstimator):
    """A fold's candidate as a predictor, for scorers. What it says of the test part is known already."""

    def __init__(self, fold: Fold, formula: Formula, known: np.ndarray):
        self.fold, self.formula, self.known = fold, formula, known

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _outputs(self, X: Any) -> np.ndarray:
        outputs = self.known if X is self.fold.X else self.formula(np.asarray(X))
        return self.fold.model._target_mean + self.fold.model._target_scale * outputs


class _ClassAnswers(ClassifierMixin, _Answers):
    @property
    def classes_(self) -> np.ndarray:
        return self.fold.model.classes_

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[np.argmax(self._outputs(X), axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.fold.model._link(self._outputs(X))

    def decision_function(self, X: Any) -> np.ndarray:
        return decision(self._outputs(X))


class _ValueAnswers(RegressorMixin, _Answers):
    def predict(self, X: Any) -> np.ndarray:
        return self._outputs(X)[:, 0]


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate and how it did on each fold."""

    stage: int
    params: Candidate
    scores: np.ndarray
    size: float
    """How many numbers its rules consist of, at most."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    def loses_to(self, other: Trial, overlap: float) -> tuple[float, float]:
        """By how much on average, and the standard error of that, as Nadeau and Bengio correct it.

        Training parts overlap, so that folds know less together than as many independent ones would.
        """
        lost = other.scores - self.scores
        spread = np.std(lost, ddof=1) if len(lost) > 1 else 0.0
        return float(np.mean(lost)), float(spread * np.sqrt(1 / len(lost) + overlap))


def highest(trials: list[Trial]) -> Trial:
    """The trial of the highest mean score, the first of equals; one without a score is never chosen."""
    scored = [trial for trial in trials if not np.isnan(trial.mean)]
    if not scored:
        raise ValueError("scoring gave NaN for every candidate; choose a score that every fold allows.")
    return max(scored, key=lambda trial: trial.mean)


def last_stage(trials: list[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.stage == trials[-1].stage]


def simplest(trials: list[Trial], parsimony: float, overlap: float) -> Trial:
    """The best of the smallest models that lose to the best by no more than so many standard errors."""
    best = highest(trials)
    good = [best]
    for trial in trials:
        loss, error = trial.loses_to(best, overlap)
        if loss <= parsimony * error:
            good.append(trial)
    least = min(trial.size for trial in good)
    return highest([trial for trial in good if trial.size == least])


@dataclass(frozen=True)
class Search:
    """Candidates against folds. A unit of work is one fold with some of the candidates."""

    shape: Candidate
    """Order and number of rules, as far as they are searched."""
    folds: list[Fold]
    candidates: list[Candidate]
    ranges: Ranges
    staged: bool
    n_jobs: int | None

    def run(self, progress: Progress) -> list[Trial]:
        return (self._staged if self.staged else self._joint)(progress)

    @property
    def steps_for_each_fold(self) -> int:
        return len(self._chunks) + int(self.staged)

    def _staged(self, progress: Progress) -> list[Trial]:
        """First the clusterer's parameters, by how well its clusters predict; then widths and penalties."""
        votes = self._over_candidates(_vote, progress)
        first = [
            Trial(1, self.shape | _prefixed(candidate), np.asarray([score for score, _ in row]), self._size())
            for candidate, row in zip(self.candidates, votes, strict=True)
        ]
        best = first.index(highest(first))
        work = [
            delayed(_make_rules)(fold, solved, self.ranges)
            for fold, (_, solved) in zip(self.folds, votes[best], strict=True)
        ]
        return first + self._rule_trials(2, first[best].params, np.stack(self._run(work, progress), axis=-1))

    def _joint(self, progress: Progress) -> list[Trial]:
        """Every clustering with all its widths and penalties."""
        scores = self._over_candidates(partial(_cluster_and_make_rules, ranges=self.ranges), progress)
        return [
            trial
            for candidate, row in zip(self.candidates, scores, strict=True)
            for trial in self._rule_trials(1, self.shape | _prefixed(candidate), np.stack(row, axis=-1))
        ]

    def _rule_trials(self, stage: int, params: Candidate, scores: np.ndarray) -> list[Trial]:
        each = zip(self.ranges.params(), scores.reshape(-1, scores.shape[-1]), strict=True)
        return [Trial(stage, params | more, by_fold, self._size(more.get("conditions"))) for more, by_fold in each]

    def _size(self, conditions: float | None = None) -> float:
        """How many numbers rules of at most so many conditions consist of, at most."""
        model, problem = self.folds[0].model, self.folds[0].problem
        n_features, n_outputs = problem.rows.n_features, len(problem.outputs)
        if isinstance(model, ClassifierMixin):
            n_outputs -= 1  # probabilities sum to one
        length = n_features if conditions is None else min(conditions, n_features)
        if model.n_rules == 1:
            length = 0
        return model.n_rules * (2 * length + n_outputs * (1 + model.order * n_features))

    @property
    def _chunks(self) -> list[list[Candidate]]:
        n_chunks = min(len(self.candidates), 2 * effective_n_jobs(self.n_jobs))
        bounds = np.linspace(0, len(self.candidates), n_chunks + 1).astype(int)
        return [self.candidates[low:high] for low, high in pairwise(bounds)]

    def _over_candidates(self, fn: Any, progress: Progress) -> list[list]:
        """``fn(fold, candidate)`` as rows of candidates by columns of folds."""
        work = [delayed(_each)(fn, fold, chunk) for fold in self.folds for chunk in self._chunks]
        done = iter(self._run(work, progress))
        by_fold = [[result for _ in self._chunks for result in next(done)] for _ in self.folds]
        return [list(row) for row in zip(*by_fold, strict=True)]

    def _run(self, work: list, progress: Progress) -> list:
        results = []
        for result in Parallel(n_jobs=self.n_jobs, return_as="generator")(work):
            results.append(result)
            progress.step()
        return results


def _each(fn: Any, fold: Fold, candidates: list[Candidate]) -> list:
    return [fn(fold, candidate) for candidate in candidates]


def _vote(fold: Fold, candidate: Candidate) -> tuple[float, Clusters]:
    solved = fold.cluster(candidate)
    return fold.score_clusters(*solved), solved


def _make_rules(fold: Fold, solved: tuple[Objective, Parameters], ranges: Ranges) -> np.ndarray:
    return fold.score_rules(*solved, ranges)


def _cluster_and_make_rules(fold: Fold, candidate: Candidate, ranges: Ranges) -> np.ndarray:
    return _make_rules(fold, fold.cluster(candidate), ranges)


def _prefixed(candidate: Candidate) -> Candidate:
    return {f"clusterer__{name}": value for name, value in candidate.items()}


def cv_results(trials: list[Trial]) -> dict[str, Any]:
    """A table as GridSearchCV's ``cv_results_``, with the stage each row belongs to."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    scores = np.stack([trial.scores for trial in trials])
    means, stages = scores.mean(axis=1), np.asarray([trial.stage for trial in trials])
    ranked = np.where(np.isnan(means), -np.inf, means)
    beaten_by = (ranked > ranked[:, None]) & (stages == stages[:, None])
    return (
        {"stage": stages, "params": [trial.params for trial in trials]}
        | {f"param_{name}": [trial.params.get(name) for trial in trials] for name in names}
        | {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
        | {
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": 1 + beaten_by.sum(axis=1),
        }
    )
