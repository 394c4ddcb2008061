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
from itertools import groupby, pairwise, product
from numbers import Number
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv
from sklearn.utils import check_random_state

from ._progress import Progress, with_callbacks
from .checks import RANGES, check_each, check_parameters, read_table, read_weights
from .cluster import SESSC
from .consequents import ridge_path
from .objective import Objective, Parameters
from .refine import Moving
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
"""What is searched for the default clusterer, SESSC, if rules are not refined."""

PLAIN_WIDTHS, PLAIN_ALPHAS = (1.0, 3.0, 10.0, 30.0), (0.001, 0.01, 0.1, 1.0, 10.0)
"""What is searched for rules that are not refined."""

REFINED_WIDTHS, REFINED_ALPHAS = ("auto",), (0.03, 0.3, 3.0)
"""What is searched for rules that are refined."""

SHAPES = ((1, 1), (1, 2), (1, 4), (1, 8), (0, 5), (0, 10), (0, 20), (0, 30))
"""Orders and numbers of refined rules, for each order as long as more rules help. One linear rule is a linear
model."""

N_FOLDS, ENOUGH_ROWS, MOST_REPEATS = 5, 1000, 5
"""Folds are repeated until so many rows were judged."""

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

    _ranges = {name: allowed for name, allowed in RANGES.items() if name not in ("n_rules", "conditions")} | {
        "order": RANGES["order"]._replace(words=("auto",))
    }
    _default_scoring: str

    def __init__(
        self,
        n_rules: Any,
        order: Any,
        clusterer: Any,
        clusterer_grid: Any,
        width_scales: Any,
        alphas: Any,
        refine: int,
        pull: float,
        conditions: Any,
        search: str,
        parsimony: float,
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
        self.refine = refine
        self.pull = pull
        self.conditions = conditions
        self.search = search
        self.parsimony = parsimony
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
        ranges, shapes = self._to_try(), self._shapes()
        table = read_table(self, X, reset=True)
        weight = read_weights(sample_weight, table)
        plain = self._plain(_seed(self.random_state, self.clusterer)).set_params(**shapes[0])
        plain._read_problem(table, y, weight)  # complain about y before splitting it
        candidates = self._candidates(plain)
        staged = self._is_staged(plain.clusterer, candidates)
        seed = plain.clusterer.random_state if plain.random_state is None else plain.random_state
        splits = list(self._splits(table, np.asarray(y), weight, seed))
        search = partial(_Search, candidates=candidates, ranges=ranges, staged=staged, n_jobs=self.n_jobs)
        progress = Progress(self, len(shapes) * len(splits) * search({}, []).steps_for_each_fold, "fold")
        trials: list[Trial] = []
        for _, growing in groupby(shapes, key=lambda shape: shape["order"]):
            highest = -np.inf
            for shape in growing:
                folds = list(self._folds(clone(plain).set_params(**shape), splits, table, np.asarray(y), weight))
                found = search(shape if len(shapes) > 1 else {}, folds).run(progress)
                trials += found
                score = _best(_last_stage(found)).mean
                if self._grows and score <= highest:
                    break
                highest = max(highest, score)
        progress.finish()
        self.cv_results_ = _results(trials)
        overlap = float(np.mean([len(test) / len(train) for train, test in splits]))
        best = _simplest(_last_stage(trials), self.parsimony, overlap)
        self.best_params_, self.best_score_ = best.params, best.mean
        self._adopt(plain.set_params(**best.params).fit(X, y, sample_weight))
        return self

    def _to_try(self) -> Ranges:
        widths, alphas = (REFINED_WIDTHS, REFINED_ALPHAS) if self.refine else (PLAIN_WIDTHS, PLAIN_ALPHAS)
        return Ranges(
            _each_of("width_scales", self.width_scales, widths, RANGES["width_scale"]),
            _each_of("alphas", self.alphas, alphas, RANGES["alpha"]),
            _each_of(
                "conditions", [None] if self.conditions is None else self.conditions, (), RANGES["conditions"]
            ),
        )

    def _shapes(self) -> list[Candidate]:
        """Orders and numbers of rules to try, the simplest first."""
        free = SHAPES if self.refine else ((0, 30),)
        orders = sorted({order for order, _ in free}) if self.order == "auto" else [self.order]
        if isinstance(self.n_rules, str) and self.n_rules == "auto":
            known = [(order, n) for order, n in free if order in orders]
            pairs = known or [(order, n) for order in orders for _, n in free]
        else:
            numbers = _each_of("n_rules", self.n_rules, (), RANGES["n_clusters"])
            pairs = [(order, n) for n in numbers for order in orders]
        return [{"order": order, "n_rules": n} for order, n in pairs]

    def _candidates(self, plain: Any) -> list[Candidate]:
        grid = self.clusterer_grid
        if grid is None:
            grid = DEFAULT_GRID if self.clusterer is None and not self.refine else {}
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

    @property
    def _grows(self) -> bool:
        """Whether more rules are tried only as long as that helps."""
        return isinstance(self.n_rules, str)

    def _folds(
        self, plain: _TSK, splits: list[Split], X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> Iterator[Fold]:
        scorer = get_scorer(self.scoring or self._default_scoring)
        for train, test in splits:
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

    def _splits(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, seed: Any) -> Iterator[Split]:
        """Training and test rows of each fold; rows of weight zero do not exist and are in neither."""
        counts = np.ones(len(X), bool) if weight is None else weight > 0
        cv = self._repeated(int(counts.sum()), seed) if self.cv is None else self.cv
        splitter = check_cv(cv, y[counts], classifier=isinstance(self, ClassifierMixin))
        if isinstance(self.cv, Iterable):  # rows are given as they stand in X
            for train, test in splitter.split(X, y):
                rows = np.arange(len(X))
                train, test = rows[train], rows[test]
                yield train[counts[train]], test[counts[test]]
            return
        rows = np.flatnonzero(counts)
        for train, test in splitter.split(X[rows], y[rows]):
            yield rows[train], rows[test]

    def _repeated(self, n_rows: int, seed: Any) -> Any:
        """Five folds; of few rows again and again, for their scores are noisy."""
        splitter = RepeatedStratifiedKFold if isinstance(self, ClassifierMixin) else RepeatedKFold
        repeats = min(MOST_REPEATS, -(-ENOUGH_ROWS // n_rows))
        return splitter(n_splits=N_FOLDS, n_repeats=repeats, random_state=seed)

    def _is_staged(self, clusterer: SoftSubspace, candidates: list[Candidate]) -> bool:
        predicts = clusterer._loss() is not None
        if self.search == "auto":
            return predicts and len(candidates) > 1
        if self.search == "staged" and not predicts:
            name = type(clusterer).__name__
            raise ValueError(f'search="staged" needs a clusterer that predicts, and {name} does not; use "joint".')
        return self.search == "staged"

    def _adopt(self, model: _TSK) -> None:
        for name in ("rules_", "n_rules_", "feature_importances_", "refine_history_", "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))


def _seed(random_state: Any, clusterer: Any) -> Any:
    """One seed for all folds and candidates; None where the clusterer's own is to be used."""
    if isinstance(random_state, (int, np.integer)) or (
        random_state is None and getattr(clusterer, "random_state", None) is not None
    ):
        return random_state
    return check_random_state(random_state).randint(2**31)


def _each_of(name: str, values: Any, auto: Sequence, allowed: Any) -> list:
    """Values to try, from a list, a single value, or the word for the library's own choice."""
    if auto and isinstance(values, str) and values == "auto":
        return list(auto)
    if isinstance(values, Number):
        if not allowed.includes(values):
            raise ValueError(f"{name} must be {allowed}, got {values!r}.")
        values = [values]
    return check_each(name, values, allowed)


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
    size: float
    """How many numbers its rules consist of."""

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


def _best(trials: list[Trial]) -> Trial:
    """The trial of the highest mean score, the first of equals; one without a score is never chosen."""
    scored = [trial for trial in trials if not np.isnan(trial.mean)]
    if not scored:
        raise ValueError("scoring gave NaN for every candidate; choose a score that every fold allows.")
    return max(scored, key=lambda trial: trial.mean)


def _last_stage(trials: list[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.stage == trials[-1].stage]


def _simplest(trials: list[Trial], parsimony: float, overlap: float) -> Trial:
    """The best of the smallest models that lose to the best by no more than so many standard errors."""
    best = _best(trials)
    good = [best]
    for trial in trials:
        loss, error = trial.loses_to(best, overlap)
        if loss <= parsimony * error:
            good.append(trial)
    least = min(trial.size for trial in good)
    return _best([trial for trial in good if trial.size == least])


@dataclass(frozen=True)
class _Search:
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
        best = first.index(_best(first))
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
        """How many numbers rules of at most so many conditions consist of."""
        model, problem = self.folds[0].model, self.folds[0].problem
        n_features, n_outputs = problem.rows.X.shape[1], len(problem.outputs)
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
n_rules : int, list of int or "auto", default="auto"
        Numbers of rules to try. "auto" goes with the order, 1, 2, 4 and 8 linear rules, and 5, 10, 20 and 30
        constant ones, and tries more only as long as that helps; without refinement it is 30, as in the paper.
        One linear rule is a linear model.
    order : {0, 1, "auto"}, default="auto"
        Whether a rule concludes constants or linear functions of the inputs; "auto" tries both.
    clusterer : clusterer of this library, default=None
        What finds the rules; see the plain model.
    clusterer_grid : dict of lists or list of such dicts, default=None
        Values of the clusterer's parameters to try, in all combinations. By default a clusterer is taken as it
        is; without refinement the default one is tried with :math:`\\gamma` in 1, 10, 100 and :math:`\\beta` in
        0.1, 1, 10.
    width_scales : list or "auto", default="auto"
        Values of ``width_scale``, the paper's h, to try: numbers, or "auto" among them. By default "auto" alone;
        without refinement 1, 3, 10, 30.
    alphas : list of float or "auto", default="auto"
        Values of ``alpha``, the paper's lambda, to try. By default 0.03, 0.3, 3; without refinement 0.001, 0.01,
        0.1, 1, 10.
    refine : int, default=200
        Iterations of refinement, at most; see the plain model. 0 gives the paper's own search.
    pull : float, default=1.0
        How strongly refinement holds rules back where they began.
    conditions : float or list, default=None
        Mean numbers of conditions per rule to try; None among them is no limit.
    search : {"auto", "staged", "joint"}, default="auto"
        "staged" first chooses the clusterer's parameters by how well its clusters predict by themselves and
        then widths and penalties, as the paper does for SESSC; "joint" tries all combinations. "auto" is
        staged for clusterers that use labels and joint for the others, which predict nothing by themselves.
    parsimony : float, default=1.0
        Of models that predict about equally well the simplest is chosen, the one that consists of the fewest
        numbers. About equally well is within so many standard errors of the difference from the best, corrected
        for training parts that overlap (Nadeau and Bengio, 2003). 0 chooses the best.
    cv : int, splitter or iterable of (train, test), default=None
        None takes five shuffled folds, and for fewer than a thousand rows repeats them, up to five times, because
        the scores of few rows are noisy.
    scoring : str or callable, default=None
        A scikit-learn scorer; {scoring} if None."""

_SEARCH_ATTRIBUTES = """\
best_params_ : dict
        The chosen parameters, as the plain model's ``set_params`` takes them.
    best_score_ : float
        Their mean score over the folds.
    cv_results_ : dict of columns
        One row for each candidate, in the order tried, as ``GridSearchCV`` gives it; ``stage`` says which part
        of a staged search the row belongs to, and ranks are within it."""


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
        n_rules: Any = "auto",
        *,
        order: Any = "auto",
        clusterer: Any = None,
        clusterer_grid: Any = None,
        width_scales: Any = "auto",
        alphas: Any = "auto",
        refine: int = 200,
        pull: float = 1.0,
        conditions: Any = None,
        search: str = "auto",
        parsimony: float = 1.0,
        cv: Any = None,
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
            refine=refine,
            pull=pull,
            conditions=conditions,
            search=search,
            parsimony=parsimony,
            cv=cv,
            scoring=scoring,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.class_weight = class_weight

    def _plain(self, seed: Any) -> _TSK:
        return TSKClassifier(
            refine=self.refine,
            pull=self.pull,
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
        n_rules: Any = "auto",
        *,
        order: Any = "auto",
        clusterer: Any = None,
        clusterer_grid: Any = None,
        width_scales: Any = "auto",
        alphas: Any = "auto",
        refine: int = 200,
        pull: float = 1.0,
        conditions: Any = None,
        search: str = "auto",
        parsimony: float = 1.0,
        cv: Any = None,
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
            refine=refine,
            pull=pull,
            conditions=conditions,
            search=search,
            parsimony=parsimony,
            cv=cv,
            scoring=scoring,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _plain(self, seed: Any) -> _TSK:
        return TSKRegressor(
            refine=self.refine,
            pull=self.pull,
            clusterer=self.clusterer or SESSC(loss="squared"),
            standardize=self.standardize,
            random_state=seed,
        )


def searching(model: _TSK, **ranges: Any) -> _TSKCV:
    """A search that tries these ranges with everything else as in a plain model."""
    kind = TSKClassifierCV if isinstance(model, ClassifierMixin) else TSKRegressorCV
    own = model.get_params(deep=False)
    fixed = {"width_scales": [own.pop("width_scale")], "alphas": [own.pop("alpha")]}
    return kind(**(own | fixed | ranges))
