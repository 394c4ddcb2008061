"""Takagi-Sugeno-Kang rule models: clusters that become rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._array import Array
from .._progress import CallbackSupportMixin, Progress, with_callbacks
from ..cluster.base import Clusters, SoftSubspace, settled, step, with_gaps_found, with_space
from ..cluster.documentation import documented
from ..cluster.ranges import COUNT, NOT_NEGATIVE, POSITIVE, Range, Ranges, check_parameters, or_auto
from ..rows.base import Samples
from ..rows.extent import Extent
from ..rows.read import read_rows
from ..rows.target import Target
from ..rules.base import Cells, Conditions, RuleBase
from ..rules.explanation import Explanation
from ..rules.recoding import recoded
from ..solve.memory import Memory, online
from ..terms.objective import Parameters, Statistics
from .consequents import Gram, gram, solve_gram
from .recipe import (
    CLASSES,
    LAST_ITERATIONS,
    MEASUREMENTS,
    Kind,
    Names,
    Problem,
    Recipe,
    conditions_of,
    fresh_clusterer,
    given_conditions,
    improved,
    least_squares,
    members,
    pose,
    remembering,
    rule_base,
    warn_if_useless,
)
from .refine import together
from .simplify import Limit

__all__ = [
    "ALPHA",
    "CONDITIONS",
    "DOCUMENTATION",
    "FAITHFULNESS",
    "ORDER",
    "PULL",
    "REFINE",
    "WIDTH_SCALE",
    "ClassAnswers",
    "RuleModel",
    "Stream",
    "TSKClassifier",
    "TSKRegressor",
    "ValueAnswers",
    "decision",
]

ORDER = Range(Integral, lambda v: v in (0, 1), "0 or 1")
WIDTH_SCALE = or_auto(POSITIVE)
ALPHA = PULL = FAITHFULNESS = NOT_NEGATIVE
REFINE = Range(Integral, lambda v: v >= 0, "a whole number of zero or more")
CONDITIONS = Range((Real, type(None)), lambda v: v is None or 0 < v < np.inf, "a positive number or None")


class RuleModel(CallbackSupportMixin, BaseEstimator):
    """What every model made of rules does with them, however it came by them."""

    _ranges: Ranges
    _kind: Kind
    clusterer: Any
    rules_: RuleBase

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the clusterer as ``clusterer__<name>``.

        Setting one of the default clusterer's parameters makes that clusterer explicit.
        """
        inner = any(name.startswith("clusterer__") for name in params)
        if inner and self.clusterer is None and params.get("clusterer") is None:
            params = {"clusterer": self._kind.clusterer()} | {
                name: value for name, value in params.items() if name != "clusterer"
            }
        return super().set_params(**params)

    def _each_row(self, X: Any, formula: Any) -> Any:
        check_is_fitted(self, "rules_")
        return read_rows(self, X).map(partial(_formula_of_rows, formula, self.rules_))

    def firing(self, X: Any) -> Any:
        """How strongly each rule fires for each row, shape (n_samples, n_rules); rows sum to one."""
        return self._each_row(X, RuleBase.firing)

    def explain(self, x: Any) -> Explanation:
        """Why the rules answer as they do for one row; see :meth:`RuleBase.explain`."""
        check_is_fitted(self, "rules_")
        return self.rules_.explain(x)

    def predict(self, X: Any) -> Any:
        """The predicted class or value of each row."""
        return self._each_row(X, RuleBase.__call__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _formula_of_rows(formula: Any, rules: RuleBase, samples: Samples) -> Array:
    return formula(rules, Cells(samples.X))


class ClassAnswers(ClassifierMixin, RuleModel):
    """What makes a rule model a classifier."""

    _kind = CLASSES

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, in the order of ``classes_``."""
        return self._each_row(X, RuleBase.probabilities)

    def decision_function(self, X: Any) -> Any:
        """The outputs of the rules: one column for each class, or for two classes their difference."""
        return decision(self._each_row(X, RuleBase.outputs))


def decision(outputs: Array) -> Array:
    """Outputs as scikit-learn wants decisions: for two classes one column, positive for the second."""
    return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs


class ValueAnswers(RegressorMixin, RuleModel):
    """What makes a rule model a regressor."""

    _kind = MEASUREMENTS


@dataclass(frozen=True)
class Stream:
    """What a rule model needs to go on learning."""

    center: Array
    scale: Array
    """Origin and units of its rules."""
    extent: Extent
    target: Target
    parameters: Parameters | None
    """Its clusters; None where rules were given."""
    memory: Memory = field(default_factory=Memory)
    clusters: Statistics | None = None
    members: Statistics | None = None
    gram: Gram | None = None
    masses: np.ndarray | None = None
    """Remembered sums: of the clusters' cost, of their members, of least squares, and of each class."""


def _does_not_refine(model: Any) -> bool:
    if model.refine:
        raise AttributeError("Refinement goes over the same rows many times; partial_fit needs refine=0.")
    return True


class _TSK(RuleModel):
    """Learning, the same for classifiers and regressors."""

    _ranges = {
        "n_rules": COUNT,
        "order": ORDER,
        "width_scale": WIDTH_SCALE,
        "alpha": ALPHA,
        "refine": REFINE,
        "pull": PULL,
        "faithfulness": FAITHFULNESS,
        "conditions": CONDITIONS,
        "terms": CONDITIONS,
    }
    class_weight: Any = None
    _stream: Stream

    def __init__(
        self,
        n_rules: int,
        order: int,
        clusterer: Any,
        rules: RuleBase | None,
        width_scale: Any,
        alpha: float,
        refine: int,
        pull: float,
        faithfulness: float,
        conditions: float | None,
        terms: float | None,
        standardize: bool,
        random_state: Any,
        n_jobs: int | None,
        categorical_features: Any,
    ):
        self.n_rules = n_rules
        self.order = order
        self.clusterer = clusterer
        self.rules = rules
        self.width_scale = width_scale
        self.alpha = alpha
        self.refine = refine
        self.pull = pull
        self.faithfulness = faithfulness
        self.conditions = conditions
        self.terms = terms
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the rules.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_parameters(self)
        self._learn(self._read(X, y, sample_weight), y)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, classes: Any = None, growing: bool = False) -> Problem:
        rows = read_rows(self, X, y, sample_weight, reset=True, supervised=True, growing=growing)
        return pose(
            rows,
            self._kind,
            classes=classes,
            class_weight=self.class_weight,
            standardize=self.standardize,
            held=bool(self.refine),
        )

    @property
    def _recipe(self) -> Recipe:
        return Recipe(self.order, self.alpha, self.refine, self.pull, self.faithfulness)

    def _learn(self, problem: Problem, y: Any) -> None:
        self._names = self._named(y)
        problem, whole, are_all = problem.drawn() if self.refine else (problem, problem, True)
        n_iter = self.refine + (0 if are_all else LAST_ITERATIONS)
        if self.rules is None:
            clusterer = self._clusterer()
            progress = Progress(self, n_iter + clusterer.n_init * clusterer.max_iter, "iteration")
            found = problem.clusters(clusterer, problem.starts(clusterer), progress)
            parameters: Parameters | None = found.parameters
            conditions = conditions_of(problem, found, members(problem, found), self.width_scale)
        else:
            self._check_given(self.rules)
            progress = Progress(self, n_iter, "iteration")
            parameters, conditions = None, given_conditions(problem, recoded(self.rules, self._columns))
        rows = problem.rows
        self._stream = Stream(rows.center, rows.scale, problem.extent, problem.target, parameters)
        [consequents] = least_squares(problem, conditions, self.order, [self.alpha])
        limits = [Limit(self.conditions, self.terms)]
        last = None if are_all else whole
        way = improved(problem, conditions, consequents, self._recipe, limits, progress.step, whole=last)
        [refined] = together([way])
        self.refine_history_ = refined.history
        self._keep(whole, *refined.rules[0])
        if self.refine:
            assert self.rules_.summary is not None
            seen = self.rules_.summary.evidence
            assert seen is not None
            warn_if_useless(seen.score, problem, "the rows it was learned from")
        progress.finish()

    @available_if(_does_not_refine)
    @online
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None, memory: float = np.inf
    ) -> Self:
        check_parameters(self)
        if not hasattr(self, "_stream"):
            self._learn(self._read(X, y, sample_weight, classes, growing=True), y)
        stream = self._stream
        rows = stream.target.encode(read_rows(self, X, y, sample_weight, supervised=True, growing=True))
        rows = rows.standardized(rows.at_home(stream.center), rows.at_home(stream.scale))
        rows = with_gaps_found(rows, stream.extent)
        recalled = stream.memory.of(rows.weight, memory)
        masses = stream.target.masses(rows)
        if masses is not None:
            masses = recalled.added(stream.masses, masses)
        by_class = stream.target.weights(self.class_weight, lambda: recalled.whole(masses))
        extent = replace(stream.extent, weight=recalled.stands_for)
        problem = Problem(rows, extent, stream.target, self._kind, by_class, self.standardize)
        stream = replace(stream, memory=recalled, masses=masses)
        stream, conditions = self._moved(problem, stream)
        space = None if rows.layout is None else extent.whole_space
        found = problem.fit_rows.sum(partial(gram, conditions, self.order, space))
        remembered = recalled.added(stream.gram, found)
        [consequents] = solve_gram(recalled.whole(remembered), len(conditions.linear), np.asarray([self.alpha]))
        self._names = self._names._replace(columns=self._columns)  # pools may have grown
        self._keep(problem, conditions, consequents)
        self._stream = replace(stream, gram=remembered)
        return self

    def _moved(self, problem: Problem, stream: Stream) -> tuple[Stream, Conditions]:
        """The clusters after one step on what is remembered, and the conditions they make."""
        if stream.parameters is None:
            assert self.rules is not None
            return stream, given_conditions(problem, recoded(self.rules, self._columns))
        memory, objective = stream.memory, settled(self._clusterer(), problem.extent)
        before = with_space(stream.parameters, problem.extent, problem.rows)
        sums, parameters, _ = step(objective, problem.rows, before, memory, stream.clusters)
        # Clusters know gaps of all rows so far; these may have others.
        found = Clusters(objective, with_space(parameters, problem.extent, problem.rows))
        seen = memory.added(stream.members, members(problem, found))
        conditions = conditions_of(problem, found, memory.whole(seen), self.width_scale)
        return replace(stream, parameters=parameters, clusters=sums, members=seen), conditions

    def _clusterer(self) -> SoftSubspace:
        return fresh_clusterer(self.clusterer, self._kind, self.n_rules, self.random_state)

    def _check_given(self, rules: Any) -> None:
        """Refuse rules about other features than those of the data."""
        if not isinstance(rules, RuleBase):
            raise ValueError(f"rules must be a RuleBase or None, got {rules!r}.")
        if self.clusterer is not None:
            raise ValueError("rules that are there already need no clusterer; give one of the two.")
        if rules.n_features != self.n_features_in_:
            raise ValueError(
                f"the rules have {rules.n_features} features and X has {self.n_features_in_} features."
            )
        names = tuple(column.name for column in self._columns)
        if hasattr(self, "feature_names_in_") and names != rules.feature_names:
            raise ValueError(f"X has the columns {names}, and the rules are about {rules.feature_names}.")

    def _named(self, y: Any) -> Names:
        """What the rules will call things, by what X and y do."""
        return Names(self._columns, str(getattr(y, "name", None) or "y"))

    def _keep(self, problem: Problem, conditions: Conditions, consequents: np.ndarray) -> None:
        found = rule_base(problem, conditions, consequents, self._recipe, self._names)
        self.rules_ = remembering(found, problem)
        self.n_rules_ = self.rules_.n_rules
        assert self.rules_.summary is not None
        assert self.rules_.summary.effects is not None
        self.feature_importances_ = np.array(self.rules_.summary.effects.importances)
        if found.classes is not None:
            self.classes_ = found.classes


_RULE_PARAMETERS = """\
n_rules : int, default=30
        Number of rules R; fewer if there are fewer distinct rows, which ``n_rules_`` then says.
    order : {0, 1}, default=0
        Whether a rule concludes constants or linear functions of the inputs.
    clusterer : clusterer of this library, default=None
        What finds the rules; {default} if None. Its ``n_clusters`` is overridden by ``n_rules``, its
        ``random_state`` by this model's unless that is None, its ``n_jobs`` always; its ``warm_start`` has no
        effect here.
    rules : RuleBase, default=None
        Rules that are there already, written by hand or learned before. Their conditions are taken as they are, in
        place of a clusterer's, and what they conclude is fitted anew."""

_FITTED_PARAMETERS = """\
width_scale : float or "auto", default="auto"
        The paper's h. The variance of a condition's bell curve is h times the standard deviation of the
        cluster in that feature, so conditions are wider by the square root of h. "auto" is the square root
        of the number of features, which keeps the sum over all conditions in balance.
    alpha : float, default=0.01
        The paper's lambda: ridge penalty of the consequents. In refinement it holds back what
        sets rules apart more than what all of them conclude.
    refine : int, default=0
        Iterations, at most, in which conditions and conclusions then move together to fit the data better; 0
        leaves the rules where clustering and least squares put them, as in the paper. Classifiers are refined on
        cross-entropy, which gives probabilities worth using, regressors on squared errors. A few hundred are
        usual. Of more than 65,536 distinct rows that many are drawn by a hash of their values for it, and ten
        last iterations go over all. In refined models no single cell decides: numbers far beyond the others are
        held at limits, which the rules keep, and what hardly any row has makes no condition.
    pull : float, default=1.0
        How strongly refinement holds conditions back, both where they began and at asking for little; like
        ``alpha`` it competes with a sum over samples.
    faithfulness : float, default={faithfulness}
        What it costs in refinement that a rule by itself says something else than what happens where it fires,
        beside what wrong answers of all rules together cost. 0 lets rules say anything as long as they are right
        together.
    conditions : float, default=None
        How many conditions a rule may have on average. Refinement then goes on to drive the least useful
        conditions to "any value" until rules are that short, and drops rules that add nothing. Short rules often
        predict as well as long ones, or better.
    terms : float, default=None
        The same for the terms of linear conclusions: how many columns a rule may conclude from on average."""

_MORE_PARAMETERS = """\
standardize : bool, default=True
        Learn in z-scores, so that units do not matter; rules are reported in the user's units all the same.
    random_state : int, RandomState instance or None, default=None
        Seed of the starting points."""

_ATTRIBUTES = """\
rules_ : RuleBase
        The fitted model: an immutable value that predicts on its own. ``print(model.rules_)`` shows it.
    n_rules_ : int
        Number of rules.
    feature_importances_ : array of shape (n_features,)
        How much the outputs change with each feature: the root mean square slope over the training rows,
        per standard deviation of the feature, as shares of one.
    refine_history_ : array of shape (n_iterations + 1,)
        The mean loss with its penalties, from when rules answer for themselves on, after each iteration of
        refinement, on the rows drawn for it where there are many; it never rises. Empty without refinement."""


_CATEGORIES = """\
categorical_features : "from_dtype", names, positions, mask or None, default="from_dtype"
        Columns that are categories: by default those of a frame that hold text, truth values or categories, and no
        others; None takes no column for one."""

DOCUMENTATION = {
    "categories": _CATEGORIES,
    "rules": _RULE_PARAMETERS,
    "fitted": _FITTED_PARAMETERS,
    "more": _MORE_PARAMETERS,
    "attributes": _ATTRIBUTES,
}
"""What the documentation of rule models has in common."""


@documented(**DOCUMENTATION, default="SESSC", faithfulness="0.1")
class TSKClassifier(_TSK, ClassAnswers):
    r"""A classifier made of IF-THEN rules, the paper's SESSC-LSE by default.

    Clusters become rules, :math:`\Sigma_{rd} = h \sqrt{\mathrm{mean}_r (x_d - v_{rd})^2}` says how wide their
    conditions are, and least squares on one-hot classes says what they conclude:

    .. math::
        \hat y(x) = \sum_r \bar f_r(x)\, (b_{r0} + b_r \cdot x), \qquad
        \bar f_r(x) \propto \exp\Big( -\sum_d \frac{(x_d - v_{rd})^2}{2 \Sigma_{rd}} \Big).

    Parameters
    ----------
    {rules}
    {fitted}
    class_weight : None, "balanced" or dict, default=None
        Weight of each class in least squares and refinement; "balanced" makes every class weigh the same.
    {more}
    n_jobs : int, default=None
        Threads over blocks of rows; results do not depend on it.
    {categories}

    Attributes
    ----------
    {attributes}
    classes_ : array of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.

    References
    ----------
    Y. Cui, H. Wang and D. Wu, "Supervised Enhanced Soft Subspace Clustering (SESSC) for TSK Fuzzy
    Classifiers".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sessc import TSKClassifier
    >>> iris = load_iris(as_frame=True)
    >>> model = TSKClassifier(n_rules=3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> print(model.rules_)
    3 rules for classification by 4 features, with constant outputs.
    <BLANKLINE>
    Rule 1 (... of 150 rows)
      IF   ...
      THEN ...
    """

    def __init__(
        self,
        n_rules: int = 30,
        *,
        order: int = 0,
        clusterer: Any = None,
        rules: RuleBase | None = None,
        width_scale: Any = "auto",
        alpha: float = 0.01,
        refine: int = 0,
        pull: float = 1.0,
        faithfulness: float = 0.1,
        conditions: float | None = None,
        terms: float | None = None,
        class_weight: Any = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_rules=n_rules,
            order=order,
            clusterer=clusterer,
            rules=rules,
            width_scale=width_scale,
            alpha=alpha,
            refine=refine,
            pull=pull,
            faithfulness=faithfulness,
            conditions=conditions,
            terms=terms,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
            categorical_features=categorical_features,
        )
        self.class_weight = class_weight


@documented(**DOCUMENTATION, default='``SESSC(loss="squared")``', faithfulness="0.03")
class TSKRegressor(_TSK, ValueAnswers):
    r"""A regressor made of IF-THEN rules.

    As :class:`TSKClassifier`, with rules found by SESSC with the squared loss. Targets are standardised
    inside; rules are reported in their own units.

    Parameters
    ----------
    {rules}
    {fitted}
    {more}
    n_jobs : int, default=None
        Threads over blocks of rows; results do not depend on it.
    {categories}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sessc import TSKRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=5, order=1, alpha=10.0, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 1)
    0.5
    """

    def __init__(
        self,
        n_rules: int = 30,
        *,
        order: int = 0,
        clusterer: Any = None,
        rules: RuleBase | None = None,
        width_scale: Any = "auto",
        alpha: float = 0.01,
        refine: int = 0,
        pull: float = 1.0,
        faithfulness: float = 0.03,
        conditions: float | None = None,
        terms: float | None = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_rules=n_rules,
            order=order,
            clusterer=clusterer,
            rules=rules,
            width_scale=width_scale,
            alpha=alpha,
            refine=refine,
            pull=pull,
            faithfulness=faithfulness,
            conditions=conditions,
            terms=terms,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
            categorical_features=categorical_features,
        )
