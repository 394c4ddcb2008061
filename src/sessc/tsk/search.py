"""Candidates against folds: what cross-validated rule models search with.

Within a fold all candidates share their starting points and all widths share one clustering. Without refinement
all penalties share one decomposition too, and a search costs little more than its clusterings; with it every
penalty is a descent of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from .._array import Array
from .._progress import Progress
from .._runtime import cached_property
from ..cluster.base import Clusters, SoftSubspace, each_row, votes
from ..rows.arrays import ArrayRows
from ..rows.target import class_of
from ..rules.base import Cells, Conditions
from ..rules.links import Link, Softmax
from .estimators import decision
from .recipe import (
    Problem,
    Recipe,
    conditions_of,
    ground_of,
    improved,
    least_squares,
    members,
    rule_base,
    shortened,
)
from .refine import Asking, Ground, Moving, together
from .simplify import Limit

__all__ = [
    "SCREEN",
    "UNNOTICED",
    "WORST",
    "Candidate",
    "Fold",
    "Grid",
    "Search",
    "Trial",
    "cv_results",
    "highest",
    "last_stage",
    "sharpest",
    "simplest",
]

Candidate = dict[str, Any]
Formula = Callable[[Cells], np.ndarray]
Task = Callable[["_Work", Candidate], Any]


@dataclass(frozen=True)
class Grid:
    """What is tried with each clustering, in all combinations."""

    width_scales: list
    alphas: list[float]
    limits: list[Limit]

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.width_scales), len(self.alphas), len(self.limits)

    def near(self, alpha: float) -> Grid:
        """The same with this penalty and its neighbours alone."""
        place = self.alphas.index(alpha)
        return replace(self, alphas=self.alphas[max(place - 1, 0) : place + 2])

    def params(self) -> Iterator[Candidate]:
        names = ("conditions", "terms")
        given = [name for name in names if any(getattr(limit, name) is not None for limit in self.limits)]
        for width_scale, alpha, limit in product(self.width_scales, self.alphas, self.limits):
            yield {"width_scale": width_scale, "alpha": alpha} | {name: getattr(limit, name) for name in given}


BUNDLED = 2**19
"""Numbers in the test parts of folds that are gone through together."""
JUDGED = 3
"""Numbers by which a candidate is judged."""


class Judged(NamedTuple):
    """How a candidate did on a fold."""

    score: float
    sharpness: float
    """Of refined classes, minus the balanced Brier score of probabilities; of others the score itself."""
    size: float
    """How much there is to read, as rules count it."""


class Whole(NamedTuple):
    """Rules of a fold that were refined and not shortened, and the conditions they began with."""

    conditions: Conditions
    rules: Moving


WORST = -1e300
"""No score is below this, so that differences and means of scores are finite."""


class Made(NamedTuple):
    """How rules did, and if they were refined, what they were before anything was cut."""

    scores: np.ndarray
    """Of each width, penalty and limit, (width_scales, alphas, limits, 3)."""
    wholes: list[Whole]
    """For each width and penalty."""


@dataclass(frozen=True)
class Fold:
    """One training part as a problem, and the test part to score candidates on."""

    problem: Problem
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    scorer: Any = None
    """By default classes are judged by balanced accuracy, many times faster than by scikit-learn's own scorer."""

    @cached_property
    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each test row's class, and what the rows of each class weigh."""
        _, codes = np.unique(np.asarray(self.y), return_inverse=True)
        return codes, np.bincount(codes, self.weight)

    def _by_class(self, values: np.ndarray) -> float:
        """The mean of a value of each test row, on average over the classes that there are."""
        codes, total = self._classes
        sums, there = np.bincount(codes, values if self.weight is None else values * self.weight), total > 0
        return float(np.mean(sums[there] / total[there]))

    def judge(self, formula: Formula, known: np.ndarray, link: Link, size: float = 0.0) -> Judged:
        """How a formula for outputs does, whose values for the test part are known."""
        score, labels = self._score(formula, known, link), self.problem.target.labels
        if labels is None or not isinstance(link, Softmax):
            return Judged(score, score, size)
        off = link(known) - (np.asarray(self.y)[:, None] == labels)
        return Judged(score, -self._by_class(np.sum(off**2, axis=1)), size)  # the Brier score

    def _score(self, formula: Formula, known: np.ndarray, link: Link) -> float:
        labels = self.problem.target.labels
        if self.scorer is None:
            assert labels is not None
            return self._by_class(class_of(known, labels) == self.y)
        answers = (
            _Values(self.X, formula, known) if labels is None else _Classes(self.X, formula, known, link, labels)
        )
        weight = {} if self.weight is None or not _takes_weights(self.scorer) else {"sample_weight": self.weight}
        # R² of targets that are nothing beside those learned from may be more than there are numbers.
        with warnings.catch_warnings(), np.errstate(over="ignore"):
            # A rare class may be missing from a fold; saying so for every candidate helps nobody.
            warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
            return max(float(self.scorer(answers, self.X, self.y, **weight)), WORST)

    def score_clusters(self, found: Clusters, recipe: Recipe) -> Judged:
        """How well the clusters predict by themselves, before any least squares."""
        formula = partial(_said_by_clusters, self.problem, found)
        return self.judge(formula, formula(Cells(self.X)), self.problem.kind.link(recipe))

    def score_plain(self, found: Clusters, recipe: Recipe, grid: Grid) -> Made:
        """How rules made of these clusters by least squares do."""
        each = [self._score_path(conditions, recipe, grid) for conditions in self._drafts(found, grid)]
        return Made(np.stack(each), [])

    def score_refined(
        self, found: Clusters, recipe: Recipe, grid: Grid
    ) -> Iterator[Asking[tuple[np.ndarray, Whole]]]:
        """How refined rules do: ways to the scores (limits, 3) of each width and penalty, and to the rules."""
        for conditions in self._drafts(found, grid):
            ground = ground_of(self.problem, conditions)
            for alpha in grid.alphas:
                yield self._refined(conditions, replace(recipe, alpha=alpha), grid.limits, ground)

    def _drafts(self, found: Clusters, grid: Grid) -> Iterator[Conditions]:
        sums = members(self.problem, found)
        for width_scale in grid.width_scales:
            yield conditions_of(self.problem, found, sums, width_scale)

    def _score_path(self, conditions: Conditions, recipe: Recipe, grid: Grid) -> np.ndarray:
        """How rules by least squares do (alphas, 1, 3), whose outputs for all penalties are one product."""
        path = least_squares(self.problem, conditions, recipe.order, grid.alphas)
        # As if one rule base had the outputs of all penalties side by side.
        all_rules = rule_base(self.problem, conditions, np.concatenate(path, axis=2), recipe)
        outputs = np.split(all_rules.outputs(Cells(self.X)), len(path), axis=1)
        consequents = np.split(all_rules.consequents, len(path), axis=2)
        each = zip(consequents, outputs, strict=True)
        size = all_rules.size
        return np.asarray(
            [
                [self.judge(replace(all_rules, consequents=B).outputs, known, all_rules.link, size)]
                for B, known in each
            ]
        )

    def _refined(
        self, conditions: Conditions, recipe: Recipe, limits: list[Limit], ground: Ground
    ) -> Asking[tuple[np.ndarray, Whole]]:
        # One penalty at a time, as the plain model has it: descent makes much of a difference in the last bit.
        [consequents] = least_squares(self.problem, conditions, recipe.order, [recipe.alpha])
        found = yield from improved(self.problem, conditions, consequents, recipe, limits, ground=ground)
        assert found.whole is not None
        return self._judged(found.rules, recipe), Whole(conditions, found.whole)

    def score_shortened(self, found: Whole, recipe: Recipe, limits: list[Limit]) -> Asking[np.ndarray]:
        """How refined rules do that are made as short as each limit asks for, (limits, 3)."""
        rules = yield from shortened(self.problem, found.conditions, found.rules, recipe, limits)
        return self._judged(rules, recipe)

    def _judged(self, found: list[tuple[Conditions, np.ndarray]], recipe: Recipe) -> np.ndarray:
        each, X = (rule_base(self.problem, *one, recipe) for one in found), Cells(self.X)
        return np.asarray([self.judge(rules.outputs, rules.outputs(X), rules.link, rules.size) for rules in each])


def _said_by_clusters(problem: Problem, found: Clusters, X: Cells) -> np.ndarray:
    objective, parameters = found.objective.without_labels(), found.parameters
    rows = ArrayRows(X.values, columns=problem.rows.columns).clipped(problem.rows.limits)
    outputs = problem.target.in_units(parameters.Z)
    found = Clusters(objective, parameters)
    return each_row(rows, problem.rows.center, problem.rows.scale, found, problem.extent, partial(votes, outputs))


def _takes_weights(scorer: Any) -> bool:
    """Whether a scorer, or the metric it is made of, has a place for sample weights."""
    parameters = signature(getattr(scorer, "_score_func", scorer)).parameters
    return "sample_weight" in parameters or any(p.kind == p.VAR_KEYWORD for p in parameters.values())


class _Contender(BaseEstimator):
    """A candidate as a predictor, for scorers. What it says of the test part is known already."""

    def __init__(self, X: np.ndarray, formula: Formula, known: np.ndarray):
        self.X, self.formula, self.known = X, formula, known

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _outputs(self, X: Any) -> np.ndarray:
        return self.known if X is self.X else self.formula(Cells(np.asarray(X)))


class _Classes(ClassifierMixin, _Contender):
    def __init__(self, X: np.ndarray, formula: Formula, known: np.ndarray, link: Link, classes: np.ndarray):
        super().__init__(X, formula, known)
        self.link, self.classes_ = link, classes

    def predict(self, X: Any) -> np.ndarray:
        return class_of(self._outputs(X), self.classes_)

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.link(self._outputs(X))

    def decision_function(self, X: Any) -> np.ndarray:
        return decision(self._outputs(X))


class _Values(RegressorMixin, _Contender):
    def predict(self, X: Any) -> np.ndarray:
        return self._outputs(X)[:, 0]


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate and how it did on each fold."""

    stage: int
    params: Candidate
    scores: np.ndarray
    sharpness: np.ndarray
    sizes: np.ndarray
    wholes: tuple[Whole, ...] = ()
    """The refined rules of each fold."""

    @classmethod
    def of(cls, stage: int, params: Candidate, judged: Any, wholes: tuple[Whole, ...] = ()) -> Trial:
        """From how it was judged on each fold, (folds, 3)."""
        score, sharpness, size = np.asarray(judged, float).T
        return cls(stage, params, score, sharpness, size, wholes)

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def size(self) -> float:
        """How much there is to read on average."""
        return float(np.mean(self.sizes))

    def loses_to(self, other: Trial, overlap: float) -> tuple[float, float]:
        """By how much on average, and the standard error of that, as Nadeau and Bengio correct it.

        Training parts overlap, so that folds know less together than as many independent ones would.
        """
        lost = other.scores - self.scores
        spread = _deviation(lost, ddof=1) if len(lost) > 1 else 0.0
        return float(np.mean(lost)), float(spread * np.sqrt(1 / len(lost) + overlap))


def _deviation(scores: np.ndarray, axis: int | None = None, ddof: int = 0) -> Any:
    """The standard deviation, also of scores that cannot be squared: R² of targets unlike by a hundred orders."""
    unit = max(1.0, float(np.max(np.abs(scores))) * 2.0**-500)
    return unit * np.std(scores / unit, axis=axis, ddof=ddof)


def highest(trials: list[Trial]) -> Trial:
    """The trial of the highest mean score, the first of equals; one without a score is never chosen."""
    scored = [trial for trial in trials if not np.isnan(trial.mean)]
    if not scored:
        raise ValueError("scoring gave NaN for every candidate; choose a score that every fold allows.")
    return max(scored, key=lambda trial: trial.mean)


def last_stage(trials: list[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.stage == trials[-1].stage]


SCREEN = 60
"""What a person takes in at a glance: ten rules of five conditions, or a screen of text."""
ALIKE = 1.25
"""Models up to so many times as large as the smallest take as long to read, and the sharper one is taken."""


UNNOTICED = 0.003
"""A share of the best score, by which nobody would tell two models apart however sure they differ."""


def simplest(trials: list[Trial], parsimony: float, overlap: float) -> Trial:
    """What is read fastest of those that lose to the best by no more than so many standard errors, or unnoticed.

    Twice as many, if nothing else fits on a screen. Of those that are about as long, the one whose probabilities
    are the sharpest.
    """
    best = highest(trials)
    if parsimony == 0:
        return best
    near = partial(_is_near, best=best, overlap=overlap, unnoticed=UNNOTICED * abs(best.mean))
    good = [trial for trial in trials if near(trial, errors=parsimony)]
    if min(trial.size for trial in good) > SCREEN:
        short = [t for t in trials if t.size <= SCREEN and near(t, errors=2 * parsimony)]
        good = short or good
    least = min(trial.size for trial in good)
    most = ALIKE * least if least > SCREEN else min(ALIKE * least, SCREEN)
    return max((trial for trial in good if trial.size <= most), key=lambda t: float(np.mean(t.sharpness)))


def sharpest(trials: list[Trial], overlap: float) -> Trial:
    """Of those that lose to the best by a standard error at most, the one of the best probabilities."""
    best = highest(trials)
    good = [trial for trial in trials if _is_near(trial, best, overlap)]
    return max(good, key=lambda trial: float(np.mean(trial.sharpness)))


def _is_near(trial: Trial, best: Trial, overlap: float, errors: float = 1.0, unnoticed: float = 0.0) -> bool:
    loss, error = trial.loses_to(best, overlap)
    return trial is best or loss <= max(errors * error, unnoticed)


@dataclass(frozen=True)
class Search:
    """Candidates against folds. A unit of work is one fold with some of the candidates."""

    folds: list[Fold]
    candidates: list[Candidate]
    grid: Grid
    staged: bool
    n_jobs: int | None

    def run(self, shape: Candidate, clusterer: SoftSubspace, recipe: Recipe, progress: Progress) -> list[Trial]:
        """The trials of rules of one shape: of so many, which this clusterer finds, and of an order."""
        work = [_Work(fold, clusterer, fold.problem.starts(clusterer), recipe, self.grid) for fold in self.folds]
        return (self._staged if self.staged else self._joint)(shape, work, progress)

    def shortened(self, trial: Trial, limits: list[Limit], recipe: Recipe, progress: Progress) -> list[Trial]:
        """The same rules, shorter: what was refined for the trial is where they begin."""
        recipe = replace(recipe, alpha=trial.params["alpha"])
        tasks = [
            delayed(_shorten)([(self.folds[k], trial.wholes[k]) for k in part], recipe, limits)
            for part in self._bundles
        ]
        scores = [one for bundle in self._run(tasks, progress, list(map(len, self._bundles))) for one in bundle]
        grid = Grid([trial.params["width_scale"]], [trial.params["alpha"]], limits)
        each = zip(grid.params(), np.stack(scores, axis=1), strict=True)
        return [Trial.of(trial.stage, trial.params | more, by_fold) for more, by_fold in each]

    @property
    def n_steps(self) -> int:
        """Units of work for each shape."""
        return len(self.folds) * (len(self._chunks) + int(self.staged))

    def _staged(self, shape: Candidate, work: list[_Work], progress: Progress) -> list[Trial]:
        """First the clusterer's parameters, by how well its clusters predict; then widths and penalties."""
        votes = self._over_candidates(_vote, work, progress)
        first = [
            Trial.of(1, shape | _prefixed(candidate), [judged for judged, _ in row])
            for candidate, row in zip(self.candidates, votes, strict=True)
        ]
        best = first.index(highest(first))
        solved = [solved for _, solved in votes[best]]
        tasks = [delayed(_make_rules)([(work[k], solved[k]) for k in part]) for part in self._bundles]
        made = [one for bundle in self._run(tasks, progress, list(map(len, self._bundles))) for one in bundle]
        return first + self._rule_trials(2, first[best].params, made)

    def _joint(self, shape: Candidate, work: list[_Work], progress: Progress) -> list[Trial]:
        """Every clustering with all its widths and penalties."""
        tasks = [
            delayed(_cluster_and_make_rules)([work[k] for k in part], chunk)
            for part in self._bundles
            for chunk in self._chunks
        ]
        done = iter(self._run(tasks, progress, [len(part) for part in self._bundles for _ in self._chunks]))
        by_fold = [
            one
            for _ in self._bundles
            for one in zip(*(row for _ in self._chunks for row in next(done)), strict=True)
        ]
        made = list(zip(*by_fold, strict=True))
        return [
            trial
            for candidate, row in zip(self.candidates, made, strict=True)
            for trial in self._rule_trials(1, shape | _prefixed(candidate), row)
        ]

    def _rule_trials(self, stage: int, params: Candidate, made: Sequence[Made]) -> list[Trial]:
        """Trials of all widths, penalties and limits, from what was made in each fold."""
        scores = np.stack([one.scores for one in made], axis=-2)
        by_alpha = list(zip(*(one.wholes for one in made), strict=True)) or [()] * int(
            np.prod(self.grid.shape[:2])
        )
        wholes = [whole for whole in by_alpha for _ in self.grid.limits]
        each = zip(self.grid.params(), scores.reshape(-1, *scores.shape[-2:]), wholes, strict=True)
        return [Trial.of(stage, params | more, by_fold, whole) for more, by_fold, whole in each]

    @property
    def _chunks(self) -> list[list[Candidate]]:
        n_chunks = min(len(self.candidates), 2 * effective_n_jobs(self.n_jobs))
        bounds = np.linspace(0, len(self.candidates), n_chunks + 1).astype(int)
        return [self.candidates[low:high] for low, high in pairwise(bounds)]

    @property
    def _bundles(self) -> list[np.ndarray]:
        """Folds that are gone through together, by number: small ones are, for what a step costs beside sums."""
        one = self.folds[0]
        most = max(1, BUNDLED // (len(one.X) * one.X.shape[1]))
        n_bundles = max(-(-len(self.folds) // most), min(len(self.folds), effective_n_jobs(self.n_jobs)))
        return np.array_split(np.arange(len(self.folds)), n_bundles)

    def _over_candidates(self, fn: Task, work: list[_Work], progress: Progress) -> list[list]:
        """``fn(work, candidate)`` as rows of candidates by columns of folds."""
        tasks = [delayed(_each)(fn, one, chunk) for one in work for chunk in self._chunks]
        done = iter(self._run(tasks, progress, [1] * len(tasks)))
        by_fold = [[result for _ in self._chunks for result in next(done)] for _ in work]
        return [list(row) for row in zip(*by_fold, strict=True)]

    def _run(self, work: list, progress: Progress, steps: list[int]) -> list:
        """What work gives, each of which is so many steps."""
        results = []
        for result, n in zip(Parallel(n_jobs=self.n_jobs, return_as="generator")(work), steps, strict=True):
            results.append(result)
            for _ in range(n):
                progress.step()
        return results


@dataclass(frozen=True)
class _Work:
    """A fold with what all its candidates of one shape share."""

    fold: Fold
    clusterer: SoftSubspace
    starts: list[Array]
    recipe: Recipe
    grid: Grid

    def clusters(self, candidate: Candidate) -> Clusters:
        return self.fold.problem.clusters(clone(self.clusterer).set_params(**candidate), self.starts)


def _each(fn: Task, work: _Work, candidates: list[Candidate]) -> list:
    return [fn(work, candidate) for candidate in candidates]


def _vote(work: _Work, candidate: Candidate) -> tuple[Judged, Clusters]:
    found = work.clusters(candidate)
    return work.fold.score_clusters(found, work.recipe), found


def _make_rules(found: list[tuple[_Work, Clusters]]) -> list[Made]:
    """How rules made of clusters do."""
    if not found[0][0].recipe.refine:
        return [work.fold.score_plain(solved, work.recipe, work.grid) for work, solved in found]
    grid = found[0][0].grid
    ways = [way for work, solved in found for way in work.fold.score_refined(solved, work.recipe, grid)]
    judged, wholes = zip(*together(ways), strict=True)
    scores, each = np.reshape(judged, (len(found), *grid.shape, JUDGED)), len(ways) // len(found)
    return [Made(one, list(wholes[k * each : (k + 1) * each])) for k, one in enumerate(scores)]


def _shorten(found: list[tuple[Fold, Whole]], recipe: Recipe, limits: list[Limit]) -> list[np.ndarray]:
    """How rules that were refined in each fold do once they are short, (limits, 3)."""
    return together([fold.score_shortened(whole, recipe, limits) for fold, whole in found])


def _cluster_and_make_rules(works: list[_Work], candidates: list[Candidate]) -> list[list[Made]]:
    """The same for folds and candidates, which are first clustered: a list for each candidate."""
    made = _make_rules([(work, work.clusters(candidate)) for candidate in candidates for work in works])
    return [made[k : k + len(works)] for k in range(0, len(made), len(works))]


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
            "std_test_score": _deviation(scores, axis=1),
            "rank_test_score": 1 + beaten_by.sum(axis=1),
            "mean_size": np.asarray([trial.size for trial in trials]),
        }
    )
