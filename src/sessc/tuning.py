"""Rule models that choose their own parameters by cross-validation, as RidgeCV is to Ridge.

A search has two parts: what finds the rules (the clusterer's parameters) and what is made of them (widths and
penalties). Within a fold all candidates share their starting points, all widths share one clustering, and all
penalties share one decomposition, so a search costs little more than its clusterings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import pairwise, product
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from ._progress import Progress, with_callbacks
from .checks import RANGES, check_each, check_parameters, read_table, read_weights
from .cluster import SESSC
from .consequents import ridge_path
from .objective import Objective, Parameters
from .rows import Rows
from .rules import design, firing
from .soft_subspace import SoftSubspace
from .tsk import (
    _TSK,
    Problem,
    TSKClassifier,
    TSKRegressor,
    _Classifies,
    _Regresses,
    cluster,
    decision,
    deviations,
    documented,
    scale_of_widths,
    starting_centers,
    widths,
)

__all__ = ["TSKClassifierCV", "TSKRegressorCV"]

DEFAULT_GRID = {"gamma": (1.0, 10.0, 100.0), "beta": (0.1, 1.0, 10.0)}
"""What is searched for the default clusterer, SESSC."""

Candidate = dict[str, Any]
Clusters = tuple[Objective, Parameters]
Formula = Callable[[np.ndarray], np.ndarray]


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

    def score_rules(
        self, objective: Objective, parameters: Parameters, width_scales: Sequence, alphas: np.ndarray
    ) -> np.ndarray:
        """Scores (width_scales, alphas) of the rules made of these clusters."""
        V = parameters.V
        deviation = deviations(self.problem, objective, parameters)
        scores = np.empty((len(width_scales), len(alphas)))
        for h, width_scale in enumerate(width_scales):
            width = widths(self.problem, deviation, scale_of_widths(width_scale, V.shape[1]))
            path = ridge_path(self.problem.fit_rows, V, width, self.model.order, alphas)
            path = path.reshape(len(alphas), -1, path.shape[-1]).astype(V.dtype)
            outputs = self._outputs(V, width, np.concatenate(path, axis=1), self.X)
            for a, known in enumerate(np.split(outputs, len(alphas), axis=1)):
                scores[h, a] = self.score(partial(self._outputs, V, width, path[a]), known)
        return scores

    def _rows(self, X: np.ndarray) -> Rows:
        return Rows(X).standardized(self.problem.rows.center, self.problem.rows.scale)

    def _votes(self, objective: Objective, parameters: Parameters, X: np.ndarray) -> np.ndarray:
        coefficients = objective.coefficients(parameters)
        return self._rows(X).map(
            lambda block: objective.memberships(coefficients, objective.columns(block)).T @ parameters.Z
        )

    def _outputs(self, V: np.ndarray, width: np.ndarray, consequents: np.ndarray, X: np.ndarray) -> np.ndarray:
        order = self.model.order
        return self._rows(X).map(lambda block: design(firing(block.X, V, width), block.X, order) @ consequents)


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


class _TSKCV(_TSK):
    """The search, the same for classifiers and regressors."""

    _default_scoring: str

    def __init__(
        self,
        n_rules: int,
        order: int,
        clusterer: Any,
        clusterer_grid: Any,
        width_scales: Any,
        alphas: Any,
        search: str,
        cv: Any,
        scoring: Any,
        standardize: bool,
        random_state: Any,
        n_jobs: int | None,
    ):
        super().__init__(n_rules, order, clusterer, standardize, random_state, n_jobs)
        self.clusterer_grid = clusterer_grid
        self.width_scales = width_scales
        self.alphas = alphas
        self.search = search
        self.cv = cv
        self.scoring = scoring

    def _plain(self, seed: Any) -> _TSK:
        """The estimator whose parameters are searched."""
        raise NotImplementedError

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Search the parameters by cross-validation, then learn the rules from all rows with the best.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Used in fitting and in scoring.

        Returns
        -------
        self
        """
        check_parameters(self)
        width_scales = check_each("width_scales", self.width_scales, RANGES["width_scale"])
        alphas = check_each("alphas", self.alphas, RANGES["alpha"])
        table = read_table(self, X, reset=True)
        weight = read_weights(sample_weight, table)
        plain = self._plain(_seed(self.random_state, self.clusterer))
        plain._read_problem(table, y, weight)  # complain about y before splitting it
        search = _Search(
            folds=list(self._folds(plain, table, np.asarray(y), weight)),
            candidates=self._candidates(plain),
            width_scales=width_scales,
            alphas=alphas,
            n_jobs=self.n_jobs,
        )
        staged = self._is_staged(search.folds[0].clusterer)
        progress = Progress(self, search.count_steps(staged), "fold")
        trials = (search.staged if staged else search.joint)(progress)
        progress.finish()
        self.cv_results_ = _results(trials)
        best = _best([trial for trial in trials if trial.stage == trials[-1].stage])
        self.best_params_, self.best_score_ = best.params, best.mean
        self._adopt(plain.set_params(**best.params).fit(X, y, sample_weight))
        return self

    def _candidates(self, plain: Any) -> list[Candidate]:
        grid = self.clusterer_grid
        if grid is None:
            grid = DEFAULT_GRID if self.clusterer is None else {}
        grids = [grid] if isinstance(grid, Mapping) else list(grid)
        for name, values in (item for one in grids for item in one.items()):
            check_each(f"clusterer_grid[{name!r}]", values)
            if "__" in name:
                raise ValueError(f"clusterer_grid names the clusterer's own parameters, without __; got {name!r}.")
            if name in ("n_clusters", "init", "n_init", "random_state"):
                raise ValueError(f"clusterer_grid must not hold {name!r}: starts are shared by candidates.")
        if not grids:
            raise ValueError(f"clusterer_grid must hold at least one candidate, got {grid!r}.")
        candidates = list(_combinations(grids))
        for candidate in candidates:
            plain._check_clusterer(clone(plain.clusterer).set_params(**candidate))
        return candidates

    def _folds(self, plain: _TSK, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Iterator[Fold]:
        scorer = get_scorer(self.scoring or self._default_scoring)
        for train, test in self._splits(X, y, weight):
            model = clone(plain)
            part = None if weight is None else weight[train]
            problem = model._read_problem(X[train], y[train], part)
            model._name(None)
            clusterer = model._clusterer()
            yield Fold(
                model,
                problem,
                clusterer,
                starting_centers(problem, clusterer),
                X[test],
                y[test],
                None if weight is None else weight[test],
                scorer,
            )

    def _splits(
        self, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of each fold; rows of weight zero do not exist and are in neither."""
        counts = np.ones(len(X), bool) if weight is None else weight > 0
        splitter = check_cv(self.cv, y[counts], classifier=isinstance(self, ClassifierMixin))
        if isinstance(self.cv, Iterable):  # rows are given as they stand in X
            for train, test in splitter.split(X, y):
                rows = np.arange(len(X))
                train, test = rows[train], rows[test]
                yield train[counts[train]], test[counts[test]]
            return
        rows = np.flatnonzero(counts)
        for train, test in splitter.split(X[rows], y[rows]):
            yield rows[train], rows[test]

    def _is_staged(self, clusterer: SoftSubspace) -> bool:
        predicts = clusterer._loss() is not None
        if self.search == "auto":
            return predicts
        if self.search == "staged" and not predicts:
            name = type(clusterer).__name__
            raise ValueError(f'search="staged" needs a clusterer that predicts, and {name} does not; use "joint".')
        return self.search == "staged"

    def _adopt(self, model: _TSK) -> None:
        for name in ("rules_", "n_rules_", "feature_importances_", "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))


def _seed(random_state: Any, clusterer: Any) -> Any:
    """One seed for all folds and candidates; None where the clusterer's own is to be used."""
    if isinstance(random_state, (int, np.integer)) or (
        random_state is None and getattr(clusterer, "random_state", None) is not None
    ):
        return random_state
    return check_random_state(random_state).randint(2**31)


def _combinations(grids: Sequence[Mapping[str, Sequence]]) -> Iterator[Candidate]:
    """All combinations of each grid in turn, the last parameter varying fastest."""
    for grid in grids:
        for values in product(*grid.values()):
            yield dict(zip(grid, values, strict=True))


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate and how it did on each fold."""

    stage: int
    params: Candidate
    scores: np.ndarray

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))


def _best(trials: list[Trial]) -> Trial:
    """The trial of the highest mean score, the first of equals; one without a score is never chosen."""
    scored = [trial for trial in trials if not np.isnan(trial.mean)]
    if not scored:
        raise ValueError("scoring gave NaN for every candidate; choose a score that every fold allows.")
    return max(scored, key=lambda trial: trial.mean)


@dataclass(frozen=True)
class _Search:
    """Candidates against folds. A unit of work is one fold with some of the candidates."""

    folds: list[Fold]
    candidates: list[Candidate]
    width_scales: list
    alphas: list[float]
    n_jobs: int | None

    def staged(self, progress: Progress) -> list[Trial]:
        """First the clusterer's parameters, by how well its clusters predict; then widths and penalties."""
        votes = self._over_candidates(_vote, progress)
        first = [
            Trial(1, _prefixed(candidate), np.asarray([score for score, _ in row]))
            for candidate, row in zip(self.candidates, votes, strict=True)
        ]
        best = first.index(_best(first))
        work = [
            delayed(_make_rules)(fold, solved, self.width_scales, self.alphas)
            for fold, (_, solved) in zip(self.folds, votes[best], strict=True)
        ]
        return first + self._rule_trials(2, first[best].params, np.stack(self._run(work, progress), axis=-1))

    def joint(self, progress: Progress) -> list[Trial]:
        """Every clustering with all its widths and penalties."""
        scores = self._over_candidates(
            partial(_cluster_and_make_rules, width_scales=self.width_scales, alphas=self.alphas), progress
        )
        return [
            trial
            for candidate, row in zip(self.candidates, scores, strict=True)
            for trial in self._rule_trials(1, _prefixed(candidate), np.stack(row, axis=-1))
        ]

    def _rule_trials(self, stage: int, params: Candidate, scores: np.ndarray) -> list[Trial]:
        return [
            Trial(stage, params | {"width_scale": width_scale, "alpha": alpha}, scores[h, a])
            for h, width_scale in enumerate(self.width_scales)
            for a, alpha in enumerate(self.alphas)
        ]

    @property
    def _chunks(self) -> list[list[Candidate]]:
        n_chunks = min(len(self.candidates), 2 * effective_n_jobs(self.n_jobs))
        bounds = np.linspace(0, len(self.candidates), n_chunks + 1).astype(int)
        return [self.candidates[low:high] for low, high in pairwise(bounds)]

    def count_steps(self, staged: bool) -> int:
        return len(self.folds) * (len(self._chunks) + int(staged))

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


def _make_rules(fold: Fold, solved: tuple[Objective, Parameters], width_scales: list, alphas: list) -> np.ndarray:
    return fold.score_rules(*solved, width_scales, np.asarray(alphas, dtype=float))


def _cluster_and_make_rules(fold: Fold, candidate: Candidate, width_scales: list, alphas: list) -> np.ndarray:
    return _make_rules(fold, fold.cluster(candidate), width_scales, alphas)


def _prefixed(candidate: Candidate) -> Candidate:
    return {f"clusterer__{name}": value for name, value in candidate.items()}


def _results(trials: list[Trial]) -> dict[str, Any]:
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


_SEARCH_PARAMETERS = """\
clusterer_grid : dict of lists or list of such dicts, default=None
        Values of the clusterer's parameters to try, in all combinations. By default :math:`\\gamma` in
        1, 10, 100 and :math:`\\beta` in 0.1, 1, 10 for the default clusterer, and one given as it is.
    width_scales : list, default=(1, 3, 10, 30)
        Values of ``width_scale``, the paper's h, to try: numbers, or "auto" among them.
    alphas : list of float, default=(0.001, 0.01, 0.1, 1, 10)
        Values of ``alpha``, the paper's lambda, to try.
    search : {"auto", "staged", "joint"}, default="auto"
        "staged" first chooses the clusterer's parameters by how well its clusters predict by themselves and
        then widths and penalties, as the paper does for SESSC; "joint" tries all combinations. "auto" is
        staged for clusterers that use labels and joint for the others, which predict nothing by themselves.
    cv : int, splitter or iterable of (train, test), default=5
    scoring : str or callable, default=None
        A scikit-learn scorer; {scoring} if None."""

_SEARCH_ATTRIBUTES = """\
best_params_ : dict
        The chosen parameters, as the plain model's ``set_params`` takes them.
    best_score_ : float
        Their mean score over the folds.
    cv_results_ : dict of columns
        One row for each candidate, in the order tried, as ``GridSearchCV`` gives it; ``stage`` says which part
        of a staged search the row belongs to, and ranks are within it. Of equals the first is chosen."""


def _searching(scoring: str) -> Any:
    def fill(cls: type) -> type:
        assert cls.__doc__ is not None
        cls.__doc__ = cls.__doc__.replace("{search}", _SEARCH_PARAMETERS.replace("{scoring}", scoring)).replace(
            "{found}", _SEARCH_ATTRIBUTES
        )
        return cls

    return fill


@_searching("balanced accuracy")
@documented("SESSC")
class TSKClassifierCV(_Classifies, _TSKCV):
    r"""A :class:`TSKClassifier` that chooses its own parameters by cross-validation.

    Parameters
    ----------
    {rules}
    {search}
    class_weight : None, "balanced" or dict, default=None
        Weight of each class in least squares; "balanced" makes every class weigh the same.
    {more}
    n_jobs : int, default=None
        Processes over folds and candidates; results do not depend on it.

    Attributes
    ----------
    {attributes}
    classes_ : array of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.
    {found}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sessc import TSKClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TSKClassifierCV(n_rules=5, random_state=0).fit(X, y)
    >>> model.best_score_ > 0.9
    True
    """

    _default_scoring = "balanced_accuracy"

    def __init__(
        self,
        n_rules: int = 30,
        *,
        order: int = 0,
        clusterer: Any = None,
        clusterer_grid: Any = None,
        width_scales: Any = (1.0, 3.0, 10.0, 30.0),
        alphas: Any = (0.001, 0.01, 0.1, 1.0, 10.0),
        search: str = "auto",
        cv: Any = 5,
        scoring: Any = None,
        class_weight: Any = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        super().__init__(
            n_rules=n_rules,
            order=order,
            clusterer=clusterer,
            clusterer_grid=clusterer_grid,
            width_scales=width_scales,
            alphas=alphas,
            search=search,
            cv=cv,
            scoring=scoring,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.class_weight = class_weight

    def _plain(self, seed: Any) -> _TSK:
        return TSKClassifier(
            self.n_rules,
            order=self.order,
            clusterer=self.clusterer or SESSC(),
            class_weight=self.class_weight,
            standardize=self.standardize,
            random_state=seed,
        )


@_searching("the coefficient of determination, R²,")
@documented('``SESSC(loss="squared")``')
class TSKRegressorCV(_Regresses, _TSKCV):
    r"""A :class:`TSKRegressor` that chooses its own parameters by cross-validation.

    Parameters
    ----------
    {rules}
    {search}
    {more}
    n_jobs : int, default=None
        Processes over folds and candidates; results do not depend on it.

    Attributes
    ----------
    {attributes}
    {found}
    """

    _default_scoring = "r2"

    def __init__(
        self,
        n_rules: int = 30,
        *,
        order: int = 0,
        clusterer: Any = None,
        clusterer_grid: Any = None,
        width_scales: Any = (1.0, 3.0, 10.0, 30.0),
        alphas: Any = (0.001, 0.01, 0.1, 1.0, 10.0),
        search: str = "auto",
        cv: Any = 5,
        scoring: Any = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        super().__init__(
            n_rules=n_rules,
            order=order,
            clusterer=clusterer,
            clusterer_grid=clusterer_grid,
            width_scales=width_scales,
            alphas=alphas,
            search=search,
            cv=cv,
            scoring=scoring,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _plain(self, seed: Any) -> _TSK:
        return TSKRegressor(
            self.n_rules,
            order=self.order,
            clusterer=self.clusterer or SESSC(loss="squared"),
            standardize=self.standardize,
            random_state=seed,
        )
