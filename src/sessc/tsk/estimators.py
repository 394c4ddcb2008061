"""Takagi-Sugeno-Kang rule models: cluster -> widths -> consequents -> refine.

Each cluster becomes a rule. Its conditions are bell curves around the cluster's centre, as wide as its
members are spread; what it concludes is fitted by least squares; and all of it may then be refined together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._array import Array, array_namespace, divide, like, to_numpy
from .._progress import CallbackSupportMixin, Progress, with_callbacks
from ..cluster.base import Labels, SoftSubspace, class_labels, initial_centers, step, with_classes
from ..cluster.named import SESSC
from ..rows.base import Rows, Samples
from ..rows.clean import RANGES, check_parameters, refuse_classes, refuse_one_class
from ..rows.extent import Extent, centered, standardized
from ..rows.read import class_masses, class_rows, coded_rows, measured_rows, read_rows, real_rows
from ..rows.sample import few
from ..rules.base import Identity, Link, Proportions, RuleBase, Softmax, default_names
from ..rules.explanation import Explanation
from ..rules.summary import ENOUGH_ROWS, Summary, summarize
from ..solve.memory import Memory, online
from ..solve.start import first_parameters
from ..terms.losses import LogLoss
from ..terms.objective import Expansion, Objective, Parameters, Statistics, summarise
from .consequents import gram, ridge_path, solve_gram
from .refine import CrossEntropy, Moving, OutputLoss, Pulls, SquaredError, refine
from .simplify import concise

__all__ = ["TSKClassifier", "TSKRegressor"]

WIDTH_FLOOR = 1e-3
"""Conditions are at least this wide before scaling, as a share of the spread of their feature."""


@dataclass(frozen=True)
class Problem:
    """What rules are learned from: samples in the coordinates of the rules, and targets as columns."""

    rows: Rows
    """Samples with labels, and the weights clustering gives them."""
    extent: Extent
    outputs: np.ndarray
    """What every rule says before it has learned anything."""
    class_weight: np.ndarray | None = None
    """What a row of each class counts in least squares and refinement, beside its weight."""

    @property
    def fit_rows(self) -> Rows:
        by_class = self.class_weight
        return self.rows if by_class is None else replace(self.rows, class_weight=like(by_class, self.rows.center))


@dataclass(frozen=True)
class Stream:
    """What a rule model needs to go on learning."""

    center: Array
    scale: Array
    """Origin and units of its rules."""
    extent: Extent
    parameters: Parameters | None
    """Its clusters; None where rules were given."""
    memory: Memory = field(default_factory=Memory)


def pose(rows: Rows, labels: Labels, class_weight: np.ndarray | None = None, *, standardize: bool) -> Problem:
    """Rows in the coordinates of the rules: z-scores, or the units kept and only the mean taken off."""
    rows, extent = (standardized if standardize else centered)(rows)
    if rows.scale is None:
        rows = rows.standardized(rows.center, array_namespace(rows.center).ones_like(rows.center))
    assert labels.outputs is not None
    return Problem(rows, extent, labels.outputs, class_weight)


def starting_centers(problem: Problem, clusterer: SoftSubspace) -> list[np.ndarray]:
    """Where the rules start: as many as asked for, unless there are fewer distinct rows."""
    return initial_centers(
        problem.rows,
        problem.extent,
        clusterer.n_clusters,
        clusterer.init,
        clusterer.n_init,
        clusterer.random_state,
    )


def cluster(
    problem: Problem, clusterer: SoftSubspace, centers: list[np.ndarray], progress: Progress | None = None
) -> tuple[Objective, Parameters]:
    """The clusters that become rules."""
    clusterer._resolve(problem.extent)
    objective = clusterer.make_objective()
    solutions = [
        clusterer._descend(
            objective,
            problem.rows,
            problem.extent,
            first_parameters(objective, V, problem.extent, problem.outputs),
            progress,
        )
        for V in centers
    ]
    return objective, min(solutions, key=lambda solution: solution.history[-1]).parameters


def deviations(problem: Problem, objective: Objective, parameters: Parameters) -> np.ndarray:
    """Root mean square distance of each cluster's members from its centre, by feature, shape (R, D).

    Members count by membership itself, not by its power, as the paper prints it.
    """
    V, spread = to_numpy(parameters.V), to_numpy(problem.extent.spread)
    return spreads(members(problem, objective, parameters), V, spread)


def members(problem: Problem, objective: Objective, parameters: Parameters) -> Statistics:
    """Samples and their squares, feature by feature, summed by membership itself."""
    return problem.rows.sum(partial(_member_sums, objective, objective.coefficients(parameters)))


def _member_sums(objective: Objective, coefficients: Array, samples: Samples) -> Statistics:
    return summarise(Expansion.of(samples), objective.memberships(coefficients, objective.columns(samples)))


def spreads(members: Statistics, V: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The root mean square distances behind those sums; a condition has some width in any case."""
    mass, x, xx = (like(to_numpy(part), V) for part in (members.mass[:, None], members.x, members.xx))
    scatter = divide(xx - 2 * V * x, mass, otherwise=-V * V) + V * V
    return np.sqrt(np.maximum(scatter, (WIDTH_FLOOR * spread) ** 2))


def widths(problem: Problem, deviation: np.ndarray, width_scale: float) -> np.ndarray:
    """Standard deviations of the conditions: the paper's Sigma = h * deviation is their square.

    A feature that never varies gets no condition.
    """
    sigma = np.sqrt(width_scale * deviation)
    return np.where(to_numpy(problem.extent.spread) > 0, sigma, np.inf).astype(deviation.dtype)


def scale_of_widths(width_scale: Any, n_features: int) -> float:
    """The paper's h as a number."""
    return float(np.sqrt(n_features)) if width_scale == "auto" else float(width_scale)


class _TSK(CallbackSupportMixin, BaseEstimator):
    """What rule classifiers and regressors have in common."""

    width_scale: Any
    alpha: float
    refine: int
    pull: float
    conditions: float | None
    _ranges = RANGES
    _output_loss: OutputLoss
    _first_scale: float
    """What least squares says, times this, is where refinement begins."""
    _stream: Stream
    _target_mean: Any = 0.0
    _target_scale: Any = 1.0

    def __init__(
        self,
        n_rules: int,
        order: int,
        clusterer: Any,
        standardize: bool,
        random_state: Any,
        n_jobs: int | None,
    ):
        self.n_rules = n_rules
        self.order = order
        self.clusterer = clusterer
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _read_problem(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Problem:
        raise NotImplementedError

    def _default_clusterer(self) -> SoftSubspace:
        raise NotImplementedError

    @property
    def _link(self) -> Link:
        raise NotImplementedError

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the clusterer as ``clusterer__<name>``.

        Setting one of the default clusterer's parameters makes that clusterer explicit.
        """
        inner = any(name.startswith("clusterer__") for name in params)
        if inner and self.clusterer is None and params.get("clusterer") is None:
            params = {"clusterer": self._default_clusterer()} | {
                name: value for name, value in params.items() if name != "clusterer"
            }
        return super().set_params(**params)

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
        self._learn(self._read_problem(X, y, sample_weight), y)
        return self

    def _learn(self, problem: Problem, y: Any) -> None:
        self._name(y)
        clusterer = None if isinstance(self.clusterer, RuleBase) else self._clusterer()
        n_steps = self.refine + (clusterer.n_init * clusterer.max_iter if clusterer else 0)
        progress = Progress(self, n_steps, "iteration")
        if clusterer:
            objective, parameters = cluster(problem, clusterer, starting_centers(problem, clusterer), progress)
            V, width = self._conditions(problem, parameters, members(problem, objective, parameters))
        else:
            parameters, (V, width) = None, self._given(problem)
        self._stream = Stream(problem.rows.center, problem.rows.scale, problem.extent, parameters)
        [consequents] = ridge_path(problem.fit_rows, V, width, self.order, np.asarray([self.alpha]))
        rules = Moving.from_rules(V, width, consequents)
        [rules], self.refine_history_ = self._improved(
            problem, rules, self.alpha, [self.conditions], progress.step
        )
        self._keep(problem, rules)
        progress.finish()

    def _relabelled(self, rows: Rows) -> Rows:
        """More rows, with labels as those the model was fitted to."""
        raise NotImplementedError

    def _balance(self, rows: Rows, memory: Memory) -> tuple[Memory, np.ndarray | None]:
        """What a row of each class counts, and a memory of what that depends on."""
        return memory, None

    def _conditions(
        self, problem: Problem, parameters: Parameters, sums: Statistics
    ) -> tuple[np.ndarray, np.ndarray]:
        """Centres and widths of rules made of clusters, from sums over their members."""
        V = to_numpy(parameters.V)
        deviation = spreads(sums, V, to_numpy(problem.extent.spread))
        return V, widths(problem, deviation, scale_of_widths(self.width_scale, self.n_features_in_))

    def _given(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """Centres and widths of rules that are there already."""
        rules, center, scale = self.clusterer, to_numpy(problem.rows.center), to_numpy(problem.rows.scale)
        if rules.n_features != self.n_features_in_:
            raise ValueError(
                f"the rules have {rules.n_features} features and X has {self.n_features_in_} features."
            )
        if hasattr(self, "feature_names_in_") and self._feature_names != rules.feature_names:
            raise ValueError(
                f"X has the columns {self._feature_names}, and the rules are about {rules.feature_names}."
            )
        V, width = (rules.centers_in_units - center) / scale, rules.widths_in_units / scale
        return like(V, center), like(width, center)

    def _improved(
        self,
        problem: Problem,
        rules: Moving,
        alpha: float,
        conditions: Sequence[float | None],
        stop: Any = lambda: False,
    ) -> tuple[list[Moving], np.ndarray]:
        """The rules refined, and made as concise as each number asks for; and how refinement went."""
        if not self.refine:
            if any(number is not None for number in conditions):
                raise ValueError("conditions needs refinement to choose them; set refine to a few hundred.")
            return [rules] * len(conditions), np.empty(0)
        extent = problem.extent
        pulls = Pulls(ridge=alpha, start=self.pull, within=(to_numpy(extent.low), to_numpy(extent.high)))
        rows, loss = problem.fit_rows, self._output_loss
        rules = replace(rules, consequents=self._first_scale * rules.consequents)
        rules, history = refine(rows, rules, loss, pulls, max_iter=self.refine, stop=stop)
        return concise(rows, rules, loss, pulls, conditions, max_iter=self.refine), history

    def _clusterer(self) -> SoftSubspace:
        """A copy of the clusterer that will be fitted: the model's own settings override its."""
        if not isinstance(self.clusterer, (SoftSubspace, type(None))):
            kinds = "one of sessc's clusterers, a RuleBase or None"
            raise ValueError(f"clusterer must be {kinds}, got {self.clusterer!r}.")
        clusterer = self._default_clusterer() if self.clusterer is None else clone(self.clusterer)
        clusterer.set_params(n_clusters=self.n_rules)
        if self.random_state is not None:
            clusterer.set_params(random_state=check_random_state(self.random_state).randint(2**31))
        self._check_clusterer(clusterer)
        return clusterer

    def _check_clusterer(self, clusterer: SoftSubspace) -> None:
        check_parameters(clusterer)

    def _name(self, y: Any) -> None:
        names = getattr(self, "feature_names_in_", None)
        self._feature_names = default_names(self.n_features_in_) if names is None else tuple(map(str, names))
        self._target_name = str(getattr(y, "name", None) or "y")

    def _keep(self, problem: Problem, rules: Moving) -> None:
        rule_base = self._rule_base(problem, rules)
        self.rules_ = replace(rule_base, summary=seen_by(rule_base, problem))
        self.n_rules_ = self.rules_.n_rules
        self.feature_importances_ = importances(problem, self.rules_)

    def _rule_base(self, problem: Problem, rules: Moving) -> RuleBase:
        """The rules in z-scores, by which people compare features, whatever they were learned in."""
        rows, unit = problem.rows, to_numpy(problem.extent.scale)
        center, scale = to_numpy(rows.center), to_numpy(rows.scale)
        consequents = self._target_scale * rules.consequents
        consequents[:, 0] += self._target_mean
        consequents[:, 1:] *= unit[: consequents.shape[1] - 1, None]
        alone = len(rules.centers) == 1  # and fires always, whatever its conditions
        return RuleBase(
            centers=like(rules.centers / unit, center),
            widths=like(np.where(alone, np.inf, rules.widths / unit), center),
            consequents=like(consequents, center),
            mean=center,
            scale=scale * unit,
            link=self._link,
            feature_names=self._feature_names,
            classes=getattr(self, "classes_", None),
            target_name=self._target_name,
            choices=getattr(self.clusterer, "choices", ()),
        )

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


def _does_not_refine(model: _TSK) -> bool:
    if model.refine:
        raise AttributeError("Refinement goes over the same rows many times; partial_fit needs refine=0.")
    return True


class _Online(_TSK):
    """What goes on learning from more rows."""

    @available_if(_does_not_refine)
    @online
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None, memory: float = np.inf
    ) -> Self:
        check_parameters(self)
        stream: Stream | None = getattr(self, "_stream", None)
        if stream is None:
            self._learn(self._read_problem(X, y, sample_weight, classes), y)
            stream = self._stream
        rows = self._relabelled(read_rows(self, X, y, sample_weight, supervised=True))
        rows = rows.standardized(rows.at_home(stream.center), rows.at_home(stream.scale))
        recalled = stream.memory.of(rows.weight, memory)
        extent = replace(stream.extent, weight=recalled.stands_for)
        recalled, by_class = self._balance(rows, recalled)
        problem, parameters = Problem(rows, extent, np.empty(0), by_class), stream.parameters
        if parameters is None:
            V, width = self._given(problem)
        else:
            clusterer = self._clusterer()
            clusterer._resolve(extent)
            objective = clusterer.make_objective()
            recalled, parameters, _ = step(objective, rows, parameters, recalled)
            recalled = recalled.with_sum("members", members(problem, objective, parameters))
            V, width = self._conditions(problem, parameters, recalled["members"])
        recalled = recalled.with_sum("gram", problem.fit_rows.sum(partial(gram, V, width, self.order)))
        [consequents] = solve_gram(recalled["gram"], len(V), np.asarray([self.alpha]))
        self._keep(problem, Moving.from_rules(V, width, consequents))
        self._stream = replace(stream, parameters=parameters, memory=recalled)
        return self


def _formula_of_rows(formula: Any, rules: RuleBase, samples: Samples) -> Array:
    return formula(rules, samples.X)


def _total(formula: Any, rules: RuleBase, samples: Samples) -> np.ndarray:
    """A formula of rules and samples summed over rows by weight."""
    found = formula(rules, samples.X)
    xp = array_namespace(found)
    return to_numpy(xp.sum(found, axis=0) if samples.weight is None else samples.weight @ found).astype(float)


def importances(problem: Problem, rules: RuleBase) -> np.ndarray:
    """How much the outputs change with each feature, per standard deviation, as shares of one."""
    squares = problem.rows.as_given().sum(partial(_total, RuleBase.slopes, rules))
    size = (to_numpy(problem.extent.spread) > 0) * np.sqrt(squares)
    return size / (size.sum() or 1.0)


def seen_by(rules: RuleBase, problem: Problem) -> Summary:
    """The training data as the rules remember them."""
    rows = problem.rows.as_given()
    support = rows.sum(partial(_total, RuleBase.firing, rules)) / problem.extent.weight
    X, weight, n_rows = few(rows, ENOUGH_ROWS)
    return summarize(X, support, weight, n_rows=n_rows)


_RULE_PARAMETERS = """\
n_rules : int, default=30
        Number of rules R; fewer if there are fewer distinct rows, which ``n_rules_`` then says.
    order : {0, 1}, default=0
        Whether a rule concludes constants or linear functions of the inputs.
    clusterer : clusterer of this library or RuleBase, default=None
        What finds the rules; {default} if None. Its ``n_clusters`` is overridden by ``n_rules``, its
        ``random_state`` by this model's unless that is None, its ``n_jobs`` always; its ``warm_start`` has no
        effect here. The conditions of a rule base, written by hand or learned before, are taken as they are, and
        what rules conclude is fitted anew."""

_FITTED_PARAMETERS = """\
width_scale : float or "auto", default="auto"
        The paper's h. The variance of a condition's bell curve is h times the standard deviation of the
        cluster in that feature, so conditions are wider by the square root of h. "auto" is the square root
        of the number of features, which keeps the sum over all conditions in balance.
    alpha : float, default=0.01
        The paper's lambda: ridge penalty of the consequents. In refinement it holds back what
        sets rules apart more than what all of them conclude.
    refine : int, default=0
        Iterations, at most, in which centres, widths and consequents then move together to fit the data
        better; 0 leaves the rules where clustering and least squares put them, as in the paper. Classifiers are
        refined on cross-entropy, which gives probabilities worth using, regressors on squared errors. A few
        hundred are usual.
    pull : float, default=1.0
        How strongly refinement holds centres and conditions back where they began; like ``alpha`` it competes
        with a sum over samples.
    conditions : float, default=None
        How many conditions a rule may have on average. Refinement then goes on to drive the least useful
        conditions to "any value" until rules are that short, and drops rules that add nothing. Short rules often
        predict as well as long ones, or better."""

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
        The mean loss with its penalties before refinement and after each of its iterations; it never rises.
        Empty without refinement."""


def documented(default: str) -> Any:
    """Fill in what the documentation of rule models has in common."""

    def fill(cls: type) -> type:
        assert cls.__doc__ is not None
        cls.__doc__ = (
            cls.__doc__.replace("{rules}", _RULE_PARAMETERS.replace("{default}", default))
            .replace("{fitted}", _FITTED_PARAMETERS)
            .replace("{more}", _MORE_PARAMETERS)
            .replace("{attributes}", _ATTRIBUTES)
        )
        return cls

    return fill


class _Classifies(ClassifierMixin, _TSK):
    """What makes a rule model a classifier."""

    _output_loss = CrossEntropy()
    _first_scale = 2.0  # as logarithms of odds, one rule sure of a class then gives it odds of e^2

    @property
    def _link(self) -> Link:
        return Softmax() if self.refine else Proportions()

    def _default_clusterer(self) -> SoftSubspace:
        return SESSC()

    class_weight: Any

    def _read_problem(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Problem:
        rows = read_rows(self, X, y, sample_weight, reset=True, supervised=True)
        self.classes_, rows = class_rows(rows) if classes is None else with_classes(rows, classes)
        refuse_one_class(self.classes_)
        by_class = class_weights(self.class_weight, self.classes_, partial(class_masses, rows))
        return pose(rows, class_labels(self.classes_), by_class, standardize=self.standardize)

    def _relabelled(self, rows: Rows) -> Rows:
        return coded_rows(rows, self.classes_)

    def _balance(self, rows: Rows, memory: Memory) -> tuple[Memory, np.ndarray | None]:
        memory = memory.with_sum("masses", class_masses(rows))
        return memory, class_weights(self.class_weight, self.classes_, lambda: memory["masses"])

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, in the order of ``classes_``."""
        return self._each_row(X, RuleBase.probabilities)

    def decision_function(self, X: Any) -> Any:
        """The outputs of the rules: one column for each class, or for two classes their difference."""
        outputs = self._each_row(X, RuleBase.outputs)
        return decision(outputs)


def decision(outputs: np.ndarray) -> np.ndarray:
    """Outputs as scikit-learn wants decisions: for two classes one column, positive for the second."""
    return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs


def class_weights(class_weight: Any, classes: np.ndarray, masses: Callable[[], np.ndarray]) -> np.ndarray | None:
    """What a row of each class counts, beside its weight, if the rows of each class weigh this together."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        mass = masses()
        return divide(mass.sum() / len(classes), mass, otherwise=0.0)
    if isinstance(class_weight, dict):
        return _listed(class_weight, classes.tolist())
    raise ValueError(f'class_weight must be None, "balanced" or a dict, got {class_weight!r}.')


def _listed(class_weight: dict, classes: list) -> np.ndarray:
    # As in scikit-learn, a name that is no class is a mistake only if a class has no weight: folds of a
    # cross-validation may lack a rare class.
    unknown, unweighted = set(class_weight) - set(classes), set(classes) - set(class_weight)
    if unknown and unweighted:
        raise ValueError(f"class_weight names {unknown.pop()!r}, which is not a class in y.")
    weights = np.asarray([class_weight.get(label, 1.0) for label in classes], dtype=float)
    if not (np.all(np.isfinite(weights) & (weights >= 0)) and np.any(weights > 0)):
        raise ValueError(f"class_weight must hold numbers of zero or more, not all zero, got {class_weight!r}.")
    return weights


class _Regresses(RegressorMixin, _TSK):
    """What makes a rule model a regressor: targets are standardised inside."""

    _output_loss = SquaredError()
    _first_scale = 1.0

    @property
    def _link(self) -> Link:
        return Identity()

    def _default_clusterer(self) -> SoftSubspace:
        return SESSC(loss="squared")

    def _read_problem(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Problem:
        refuse_classes(classes)
        rows = read_rows(self, X, y, sample_weight, reset=True, supervised=True)
        rows, self._target_mean, self._target_scale = real_rows(rows, standardize=True)
        return pose(rows, Labels(np.zeros(1)), standardize=self.standardize)

    def _relabelled(self, rows: Rows) -> Rows:
        return measured_rows(rows, self._target_mean, self._target_scale)

    def _check_clusterer(self, clusterer: SoftSubspace) -> None:
        super()._check_clusterer(clusterer)
        if isinstance(clusterer._loss(), LogLoss):
            raise ValueError(f'clusterer {type(clusterer).__name__} needs loss="squared" for real targets.')


@documented("SESSC")
class TSKClassifier(_Online, _Classifies):
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
    Rule 1 (... % of the data)
      IF   ...
      THEN ...
    """

    def __init__(
        self,
        n_rules: int = 30,
        *,
        order: int = 0,
        clusterer: Any = None,
        width_scale: Any = "auto",
        alpha: float = 0.01,
        refine: int = 0,
        pull: float = 1.0,
        conditions: float | None = None,
        class_weight: Any = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        super().__init__(n_rules, order, clusterer, standardize, random_state, n_jobs)
        self.width_scale = width_scale
        self.alpha = alpha
        self.refine = refine
        self.pull = pull
        self.conditions = conditions
        self.class_weight = class_weight


@documented('``SESSC(loss="squared")``')
class TSKRegressor(_Online, _Regresses):
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
        width_scale: Any = "auto",
        alpha: float = 0.01,
        refine: int = 0,
        pull: float = 1.0,
        conditions: float | None = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        super().__init__(n_rules, order, clusterer, standardize, random_state, n_jobs)
        self.width_scale = width_scale
        self.alpha = alpha
        self.refine = refine
        self.pull = pull
        self.conditions = conditions
