"""Rule models that choose their own parameters by cross-validation, as RidgeCV is to Ridge.

A search has two parts: what finds the rules (the clusterer's parameters) and what is made of them (widths,
penalties and lengths).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product
from numbers import Number, Real
from time import monotonic
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from .._progress import Progress, with_callbacks
from .._runtime import at_work
from ..cluster.base import SoftSubspace, label_loss
from ..cluster.documentation import documented
from ..cluster.ranges import COUNT, NOT_NEGATIVE, POSITIVE, Range, check_each, check_parameters, one_of, or_auto
from ..rows.base import Rows
from ..rows.read import in_memory, read_rows
from ..rows.robust import without_slips
from ..rows.sample import by_size, in_own_order, labelled_rows
from .estimators import (
    ALPHA,
    CONDITIONS,
    DOCUMENTATION,
    FAITHFULNESS,
    ORDER,
    PULL,
    REFINE,
    WIDTH_SCALE,
    ClassAnswers,
    RuleModel,
    TSKClassifier,
    TSKRegressor,
    ValueAnswers,
)
from .recipe import (
    CLASSES,
    MEASUREMENTS,
    Problem,
    Recipe,
    UselessModelWarning,
    check_clusterer,
    fresh_clusterer,
    pose,
    warn_if_useless,
)
from .search import (
    SCREEN,
    UNNOTICED,
    WORST,
    Candidate,
    Fold,
    Grid,
    Search,
    Trial,
    cv_results,
    highest,
    last_stage,
    sharpest,
    simplest,
)
from .simplify import Limit

__all__ = ["SEARCHED_ROWS", "TSKClassifierCV", "TSKRegressorCV", "score_name", "searching"]

Split = tuple[np.ndarray, np.ndarray]

DEFAULT_GRID = {"gamma": (1.0, 10.0, 100.0), "beta": (0.1, 1.0, 10.0)}
"""What is searched for the default clusterer, SESSC, if rules are not refined."""

PLAIN_WIDTHS, PLAIN_ALPHAS = (1.0, 3.0, 10.0, 30.0), (0.001, 0.01, 0.1, 1.0, 10.0)
"""What is searched for rules that are not refined."""

REFINED_WIDTHS, REFINED_ALPHAS = ("auto",), (0.01, 0.1, 1.0, 10.0)
"""What is searched for rules that are refined."""

SHAPES = ((1, 1), (1, 2), (1, 4), (1, 8), (0, 5), (0, 10), (0, 20), (0, 30))
"""Orders and numbers of refined rules, for each order as long as more rules help. One linear rule is a linear
model."""

LENGTHS = {0: (Limit(5), Limit(3)), 1: (Limit(terms=10), Limit(terms=5))}
"""How short rules are tried by default, by order: ten, of which those go that add nothing, and one line."""

SHORTER = {0: (Limit(10), *LENGTHS[0]), 1: (Limit(10, 10), Limit(5, 5))}
"""How short constant rules and several lines are tried that would be chosen and do not fit on a screen."""

PULLS = ((0.3, 0.1, 0.03), (3.0, 10.0))
"""How the best is held less or more where it began, by default, if only the score is asked for."""

N_FOLDS = 5
"""They are not repeated: training parts overlap, so that three times the work would make the standard error of a
difference smaller by a sixth alone."""

SEARCHED_ROWS = 5_000
"""Rows that a search looks at; of more, or if they are not in memory, it draws as many by a hash of their values.
Penalties compete with sums over rows as a prior does, so that what is chosen for fewer rows holds for all."""


def _is_time(minutes: Any) -> bool:
    return minutes is None or POSITIVE.accepts(minutes)


class _Searches(RuleModel):
    """The search, the same for classifiers and regressors. It has a plain model, whose parameters it chooses."""

    _ranges = {
        "order": or_auto(ORDER),
        "refine": REFINE,
        "pull": or_auto(PULL),
        "faithfulness": FAITHFULNESS,
        "search": one_of("auto", "staged", "joint"),
        "parsimony": NOT_NEGATIVE,
        "minutes": POSITIVE._replace(kind=(Real, type(None)), accepts=_is_time, says="a positive number or None"),
    }
    class_weight: Any = None

    def __init__(
        self,
        n_rules: Any,
        order: Any,
        clusterer: Any,
        clusterer_grid: Any,
        width_scales: Any,
        alphas: Any,
        refine: int,
        pull: Any,
        faithfulness: float,
        conditions: Any,
        terms: Any,
        search: str,
        parsimony: float,
        minutes: float | None,
        cv: Any,
        scoring: Any,
        standardize: bool,
        random_state: Any,
        n_jobs: int | None,
        categorical_features: Any,
    ):
        self.n_rules = n_rules
        self.order = order
        self.clusterer = clusterer
        self.clusterer_grid = clusterer_grid
        self.width_scales = width_scales
        self.alphas = alphas
        self.refine = refine
        self.pull = pull
        self.faithfulness = faithfulness
        self.conditions = conditions
        self.terms = terms
        self.search = search
        self.parsimony = parsimony
        self.minutes = minutes
        self.cv = cv
        self.scoring = scoring
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _plain(self, seed: Any) -> Any:
        """The model whose parameters are searched."""
        raise NotImplementedError

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        late = monotonic() + 60 * (np.inf if self.minutes is None else self.minutes)
        grid, shapes = self._to_try(), self._shapes()
        seed = _seed(self.random_state, self.clusterer)
        clusterer = fresh_clusterer(self.clusterer, self._kind, shapes[0]["n_rules"], seed)
        candidates = self._candidates(clusterer)
        splits, folds = self._folds(X, y, sample_weight, clusterer.random_state if seed is None else seed)
        search = Search(folds, candidates, grid, self._is_staged(clusterer, candidates), self.n_jobs)
        overlap = float(np.mean([len(test) / len(train) for train, test in splits]))
        with at_work:  # once for all folds
            trials = self._tried(search, shapes, clusterer, overlap, late)
        self.cv_results_ = cv_results(trials)
        best = simplest(last_stage(trials), self.parsimony, overlap)
        self.best_params_, self.best_score_ = best.params, best.mean
        plain = self._plain(seed).set_params(**shapes[0]).set_params(**best.params)
        with warnings.catch_warnings():
            if self.scoring is None:
                warnings.simplefilter("ignore", UselessModelWarning)  # rows held out tell more
            self._adopt(plain.fit(X, y, sample_weight))
        if self.refine and self.scoring is None:
            warn_if_useless(best.mean, folds[0].problem, "rows held out")
        return self

    def _tried(
        self, search: Search, shapes: list[Candidate], clusterer: SoftSubspace, overlap: float, late: float
    ) -> list[Trial]:
        """The trials of every shape, of each order as long as more rules help; and of the same rules, shorter.

        When it is late no other shape is begun, and ``untried_`` says which there would have been.
        """
        self.untried_: list[Candidate] = []
        n_short = sum(bool(self._lengths_of(shape)) for shape in shapes)
        progress = Progress(self, len(shapes) * search.n_steps + n_short * len(search.folds), "fold")
        trials: list[Trial] = []
        whole, noticed = search.grid, UNNOTICED if self.parsimony else 0.0
        for order, growing in groupby(shapes, key=lambda shape: shape["order"]):
            reached, search = WORST, replace(search, grid=whole)
            for shape in growing:
                if trials and monotonic() >= late:
                    self.untried_.append(shape)
                    continue
                of_shape = clone(clusterer).set_params(n_clusters=shape["n_rules"])
                named = shape if len(shapes) > 1 else {}
                found = search.run(named, of_shape, self._recipe(order), progress)
                trials += found
                best = highest(last_stage(found))
                score = best.mean
                if self._grows and _is_auto(self.alphas):
                    search = replace(search, grid=whole.near(best.params["alpha"]))
                if lengths := self._lengths_of(shape):
                    chosen = sharpest(last_stage(found), overlap)
                    trials += search.shortened(chosen, lengths, self._recipe(order), progress)
                if self._grows and score <= reached + noticed * abs(reached):
                    break
                reached = max(reached, score)
        progress.finish()
        if monotonic() >= late:
            return trials
        if self.parsimony:
            return trials + self._made_short(search, trials, shapes[0], overlap)
        return trials + self._held_otherwise(search, trials, shapes[0], clusterer)

    def _made_short(self, search: Search, trials: list[Trial], shape: Candidate, overlap: float) -> list[Trial]:
        """What would be chosen, as short as fits on a screen, if it does not and the search is free to choose."""
        chosen = simplest(last_stage(trials), self.parsimony, overlap)
        given = [chosen.params.get(name) for name in ("conditions", "terms")]
        if not (self._lengths_are_free and self.parsimony) or chosen.size <= SCREEN or any(given):
            return []
        shape = shape | {name: chosen.params[name] for name in shape if name in chosen.params}
        order, n_rules = shape["order"], shape["n_rules"]
        tried = SHORTER[order] if n_rules > 1 else LENGTHS[order]
        limits = [limit for limit in tried if n_rules * limit.size <= SCREEN]
        if not limits:
            return []
        quiet = Progress(None, len(search.folds), "fold")  # it is not known before that there is more to do
        return search.shortened(chosen, limits, self._recipe(order), quiet)

    def _held_otherwise(
        self, search: Search, trials: list[Trial], shape: Candidate, clusterer: SoftSubspace
    ) -> list[Trial]:
        """The best, held less or more where it began as long as that helps, if the search is free to choose."""
        if not (self.refine and _is_auto(self.pull)):
            return []
        best, found = highest(last_stage(trials)), list[Trial]()
        for pulls in PULLS:
            reached = best.mean
            for pull in pulls:
                found.append(self._once_more(search, best, shape, clusterer, pull))
                if not found[-1].mean > reached:
                    break
                reached = found[-1].mean
            if reached > best.mean:  # then the other way is the wrong one
                break
        return found

    def _once_more(
        self, search: Search, trial: Trial, shape: Candidate, clusterer: SoftSubspace, pull: float
    ) -> Trial:
        """A trial with another pull."""
        same = shape | trial.params
        its_own = {name.removeprefix("clusterer__"): value for name, value in same.items() if "__" in name}
        limit = Limit(same.get("conditions"), same.get("terms"))
        alone = replace(
            search, candidates=[{}], grid=Grid([same["width_scale"]], [same["alpha"]], [limit]), staged=False
        )
        of_shape = clone(clusterer).set_params(n_clusters=same["n_rules"], **its_own)
        quiet = Progress(None, search.n_steps, "fold")  # it is not known before that there is more to do
        [found] = alone.run({}, of_shape, replace(self._recipe(same["order"]), pull=pull), quiet)
        return replace(found, stage=trial.stage, params=trial.params | {"pull": pull})

    @property
    def _pull(self) -> float:
        return 1.0 if _is_auto(self.pull) else self.pull

    def _recipe(self, order: int) -> Recipe:
        return Recipe(order, 0.0, self.refine, self._pull, self.faithfulness)

    @property
    def _lengths_are_free(self) -> bool:
        return bool(self.refine) and _is_auto(self.conditions) and _is_auto(self.terms)

    def _lengths_of(self, shape: Candidate) -> list[Limit]:
        """How short rules of a shape are tried, if the search is free to choose."""
        order, n_rules = shape["order"], shape["n_rules"]
        fewest = 10 if self._grows else 2  # of fewer rules, ten that were shortened tell enough
        is_short = n_rules == 1 if order else fewest <= n_rules <= 10
        return list(LENGTHS[order]) if self._lengths_are_free and is_short else []

    def _to_try(self) -> Grid:
        widths, alphas = (REFINED_WIDTHS, REFINED_ALPHAS) if self.refine else (PLAIN_WIDTHS, PLAIN_ALPHAS)
        return Grid(
            _each_of("width_scales", self.width_scales, widths, WIDTH_SCALE),
            _each_of("alphas", self.alphas, alphas, ALPHA),
            [
                Limit(conditions, terms)
                for conditions in self._lengths("conditions", self.conditions)
                for terms in self._lengths("terms", self.terms)
            ],
        )

    def _lengths(self, name: str, asked: Any) -> list[float | None]:
        free = asked is None or _is_auto(asked)
        return [None] if free else _each_of(name, asked, (), CONDITIONS)

    def _shapes(self) -> list[Candidate]:
        """Orders and numbers of rules to try, the simplest first."""
        free = SHAPES if self.refine else ((0, 30),)
        orders = sorted({order for order, _ in free}) if self.order == "auto" else [self.order]
        if isinstance(self.n_rules, str) and self.n_rules == "auto":
            known = [(order, n) for order, n in free if order in orders]
            pairs = known or [(order, n) for order in orders for _, n in free]
        else:
            numbers = _each_of("n_rules", self.n_rules, (), COUNT)
            pairs = [(order, n) for n in numbers for order in orders]
        return [{"order": order, "n_rules": n} for order, n in pairs]

    def _candidates(self, clusterer: SoftSubspace) -> list[Candidate]:
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
            check_clusterer(clone(clusterer).set_params(**candidate), self._kind)
        return candidates

    @property
    def _grows(self) -> bool:
        """Whether more rules are tried only as long as that helps."""
        return isinstance(self.n_rules, str)

    def _folds(self, X: Any, y: Any, sample_weight: Any, seed: Any) -> tuple[list[Split], list[Fold]]:
        """Training and test rows of each fold, by number and as problems; the same for all shapes."""
        rows = read_rows(self, X, y, sample_weight, reset=True, supervised=True)
        rows = self._searched(rows, in_memory(X), seed)
        # Processes go over folds, and threads over blocks of rows would be in their way.
        rows = replace(rows, n_jobs=None)
        whole = rows.stored()
        X, y = whole.X, np.asarray(whole.y)
        splits = list(self._splits(X, y, sample_weight, seed))
        scoring = self.scoring or self._kind.scoring
        scorer = None if scoring == CLASSES.scoring else get_scorer(scoring)
        folds = []
        for train, test in splits:
            weight = None if whole.weight is None else whole.weight[test]
            problem = self._posed(rows.taken(train))
            learned = problem.drawn().problem if self.refine else problem
            folds.append(Fold(learned, X[test], y[test], weight, scorer))
        return splits, folds

    @property
    def _folds_go_by_value(self) -> bool:
        """Whether folds are the same in any order of rows, which those that are named by number are not."""
        return bool(self.refine) and self.cv is None

    def _searched(self, rows: Rows, are_here: bool, seed: Any) -> Rows:
        """The rows that the search looks at, in memory: all, or some of many, with what each weighs."""
        if are_here and (self.cv is not None or (rows.n_rows or 0) <= SEARCHED_ROWS):
            whole = self._posed(rows)  # which complains about y before it is split
            if not self._folds_go_by_value:
                return rows
            return in_own_order(rows.bounded(whole.rows.bounds), whole.rows, whole.target, seed or 0)
        if not (self.cv is None or isinstance(self.cv, Number)):
            raise ValueError(f"cv must be None or a number of folds for rows not in memory, got {self.cv!r}.")
        target, coded = self._kind.learn(rows, None)
        coded = without_slips(coded)[0] if self.refine else coded
        return labelled_rows(rows, by_size(coded), target, SEARCHED_ROWS)

    def _posed(self, rows: Rows) -> Problem:
        held = bool(self.refine)
        return pose(rows, self._kind, class_weight=self.class_weight, standardize=self.standardize, held=held)

    def _splits(self, X: np.ndarray, y: np.ndarray, sample_weight: Any, seed: Any) -> Iterator[Split]:
        """Training and test rows of each fold, among rows that exist: those given that weigh something."""
        if self._folds_go_by_value:  # their order is already one of chance, and a row that changes moves no other
            yield from self._kind.splitter(N_FOLDS).split(X, y)
            return
        shuffled = self._kind.splitter(N_FOLDS, shuffle=True, random_state=seed)
        cv = shuffled if self.cv is None else self.cv
        splitter = check_cv(cv, y, classifier=self._kind is CLASSES)
        if not isinstance(self.cv, Iterable):
            yield from splitter.split(X, y)
            return
        counts = np.ones(len(X), bool) if sample_weight is None else np.asarray(sample_weight) > 0
        given, place = np.arange(len(counts)), np.cumsum(counts) - 1  # rows are numbered as they were given
        for parts in splitter.split(given, given):
            train, test = (given[part] for part in parts)
            yield place[train[counts[train]]], place[test[counts[test]]]

    def _is_staged(self, clusterer: SoftSubspace, candidates: list[Candidate]) -> bool:
        predicts = label_loss(clusterer) is not None
        if self.search == "auto":
            return predicts and len(candidates) > 1
        if self.search == "staged" and not predicts:
            name = type(clusterer).__name__
            raise ValueError(f'search="staged" needs a clusterer that predicts, and {name} does not; use "joint".')
        return self.search == "staged"

    def _adopt(self, model: RuleModel) -> None:
        for name in ("rules_", "n_rules_", "feature_importances_", "refine_history_", "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _seed(random_state: Any, clusterer: Any) -> Any:
    """One seed for all folds and candidates; None where the clusterer's own is to be used."""
    if isinstance(random_state, (int, np.integer)) or (
        random_state is None and getattr(clusterer, "random_state", None) is not None
    ):
        return random_state
    return check_random_state(random_state).randint(2**31)


def _each_of(name: str, values: Any, auto: Sequence, allowed: Range) -> list:
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


_SEARCH_PARAMETERS = """\
n_rules : int, list of int or "auto", default="auto"
        Numbers of rules to try. "auto" goes with the order, 1, 2, 4 and 8 linear rules, and 5, 10, 20 and 30
        constant ones, and tries more only as long as that helps; without refinement it is 30, as in the paper.
        One linear rule is a linear model.
    order : {0, 1, "auto"}, default="auto"
        Whether a rule concludes constants or linear functions of the inputs; "auto" tries both, or
        without refinement constants only.
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
        Values of ``alpha``, the paper's lambda, to try. By default 0.01, 0.1, 1, 10, of which further numbers of
        rules try the best before and its neighbours; without refinement 0.001 as well, and all of them.
    refine : int, default=200
        Iterations of refinement, at most; see the plain model. With 0 the search goes as the paper's does, over
        fewer values.
    pull : float or "auto", default="auto"
        How strongly refinement holds rules back where they began. "auto" is 1, and with ``parsimony=0`` the best
        is tried with others, too, as long as they help.
    faithfulness : float, default={faithfulness}
        What it costs in refinement that a rule by itself says something else than what happens where it fires.
    conditions : float, list, None or "auto", default="auto"
        Mean numbers of conditions per rule to try; None is no limit. "auto", with ``terms``, tries up to ten
        constant rules without a limit and short.
    terms : float, list, None or "auto", default="auto"
        Mean numbers of terms per linear conclusion to try; "auto" tries one linear rule without a limit and short.
    search : {"auto", "staged", "joint"}, default="auto"
        "staged" first chooses the clusterer's parameters by how well its clusters predict by themselves and
        then widths and penalties, as the paper does for SESSC; "joint" tries all combinations. "auto" is
        staged for clusterers that use labels and joint for the others, which predict nothing by themselves.
    parsimony : float, default=1.0
        Of models that predict about equally well the one is chosen that is read fastest: with the fewest rules,
        conditions and terms, and of those about as short the one of the best probabilities. About equally well is
        within so many standard errors of the difference from the best, corrected for training parts that overlap
        (Nadeau and Bengio, 2003); twice as many, if nothing else fits on a screen. 0 chooses the best.
    minutes : float, default=None
        After so long no other order and number of rules is begun, and the best so far is learned from all rows.
        Which that is depends on how fast the machine is just then, so that another fit may choose another.
    cv : int, splitter or iterable of (train, test), default=None
        None takes five shuffled folds. Of more than five thousand rows as many are searched, and the best
        is then learned from all; they are drawn by a hash of their values, so that wherever rows are the same is
        chosen. Rows that are not in memory are always searched so, with None or a number of folds.
    scoring : str or callable, default=None
        A scikit-learn scorer; if None {scoring}."""

_SEARCH_ATTRIBUTES = """\
best_params_ : dict
        The chosen parameters, as the plain model's ``set_params`` takes them.
    best_score_ : float
        Their mean score over the folds.
    cv_results_ : dict of columns
        One row for each candidate, in the order tried, as ``GridSearchCV`` gives it; ``stage`` says which part
        of a staged search the row belongs to, and ranks are within it.
    untried_ : list of dicts
        Orders and numbers of rules that were left out because the minutes were over."""


def _documented_search(scoring: str, faithfulness: str) -> Callable[[type], type]:
    own = {"search": _SEARCH_PARAMETERS, "scoring": scoring, "faithfulness": faithfulness}
    return documented(**own, found=_SEARCH_ATTRIBUTES, **DOCUMENTATION)


@_documented_search(
    'balanced accuracy, which asks\n        for right answers only; "neg_log_loss" asks for good probabilities',
    faithfulness="0.1",
)
class TSKClassifierCV(_Searches, ClassAnswers):
    r"""A :class:`TSKClassifier` that chooses its own parameters by cross-validation.

    Parameters
    ----------
    {search}
    class_weight : None, "balanced" or dict, default="balanced"
        Weight of each class in least squares and refinement; "balanced" makes every class weigh the same, as the
        default score does.
    {more}
    n_jobs : int, default=None
        Processes over folds and candidates; results do not depend on it.
    {categories}

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
        pull: Any = "auto",
        faithfulness: float = 0.1,
        conditions: Any = "auto",
        terms: Any = "auto",
        search: str = "auto",
        parsimony: float = 1.0,
        minutes: float | None = None,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Any = "balanced",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
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
            faithfulness=faithfulness,
            conditions=conditions,
            terms=terms,
            search=search,
            parsimony=parsimony,
            minutes=minutes,
            cv=cv,
            scoring=scoring,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
            categorical_features=categorical_features,
        )
        self.class_weight = class_weight

    def _plain(self, seed: Any) -> TSKClassifier:
        return TSKClassifier(
            refine=self.refine,
            pull=self._pull,
            faithfulness=self.faithfulness,
            clusterer=self.clusterer,
            class_weight=self.class_weight,
            standardize=self.standardize,
            random_state=seed,
            categorical_features=self.categorical_features,
        )


@_documented_search("the coefficient of determination, R²", faithfulness="0.03")
class TSKRegressorCV(_Searches, ValueAnswers):
    r"""A :class:`TSKRegressor` that chooses its own parameters by cross-validation.

    Parameters
    ----------
    {search}
    {more}
    n_jobs : int, default=None
        Processes over folds and candidates; results do not depend on it.
    {categories}

    Attributes
    ----------
    {attributes}
    {found}
    """

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
        pull: Any = "auto",
        faithfulness: float = 0.03,
        conditions: Any = "auto",
        terms: Any = "auto",
        search: str = "auto",
        parsimony: float = 1.0,
        minutes: float | None = None,
        cv: Any = None,
        scoring: Any = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
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
            faithfulness=faithfulness,
            conditions=conditions,
            terms=terms,
            search=search,
            parsimony=parsimony,
            minutes=minutes,
            cv=cv,
            scoring=scoring,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
            categorical_features=categorical_features,
        )

    def _plain(self, seed: Any) -> TSKRegressor:
        return TSKRegressor(
            refine=self.refine,
            pull=self._pull,
            faithfulness=self.faithfulness,
            clusterer=self.clusterer,
            standardize=self.standardize,
            random_state=seed,
            categorical_features=self.categorical_features,
        )


def searching(model: Any, **grid: Any) -> TSKClassifierCV | TSKRegressorCV:
    """A search over this grid with everything else as in a plain model."""
    if not isinstance(model, (TSKClassifier, TSKRegressor)):
        kinds = f"a TSKClassifier or TSKRegressor, got {type(model).__name__}"
        raise ValueError(f"rules of several lengths need {kinds}; of a pipeline give the last step.")
    own = model.get_params(deep=False)
    if own.pop("rules") is not None:
        raise ValueError("a search finds rules of its own; give it a clusterer instead of rules.")
    fixed = {"width_scales": [own.pop("width_scale")], "alphas": [own.pop("alpha")]}
    kind = TSKClassifierCV if isinstance(model, TSKClassifier) else TSKRegressorCV
    return kind(**(own | fixed | grid))


def score_name(search: TSKClassifierCV | TSKRegressorCV) -> str:
    """What the scores of a search are called."""
    kind = CLASSES if isinstance(search, TSKClassifierCV) else MEASUREMENTS
    name = kind.scoring if search.scoring is None else search.scoring
    return name.replace("_", " ") if isinstance(name, str) else "score"
