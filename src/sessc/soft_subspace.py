"""Soft subspace clustering in general: fitting and predicting with any cost put together from terms.

The named algorithms in ``cluster.py`` differ from :class:`SoftSubspaceClustering` only in their parameters.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._array import Array, array_namespace, like, to_numpy
from ._progress import CallbackSupportMixin, Progress, with_callbacks
from .checks import RANGES, TERM_RANGES, check_parameters, read_weights, refuse_one_class
from .frame import Frame, centered
from .losses import Loss, SquaredLoss
from .objective import Columns, Objective, Parameters
from .online import Memory, online
from .reading import (
    class_rows,
    coded_rows,
    has_labels,
    holds_measurements,
    measured_rows,
    read_rows,
    real_rows,
)
from .rows import ArrayRows, Rows
from .rules import class_of
from .simplex import Power, Sharing, Uniform
from .solver import Solution, alternate
from .start import first_parameters, k_means, k_means_seeds, random_seeds, sample

__all__ = ["SoftSubspaceClustering"]

_COMMON_PARAMETERS = """\
init : {"k-means", "random"} or array of shape (n_clusters, n_features), default="k-means"
        Where centres start: k-means from greedy k-means++ seeds, random rows, or these points.
    n_init : int, default=1
        Starts to try; the one that ends with the lowest cost is kept.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-5
        Stop once the centres together move less than this, in standard deviations of the features.
    random_state : int, RandomState instance or None, default=None
        Seed of the starting points. Results depend on nothing else: neither the order of the rows, nor
        ``n_jobs``, nor whether a row appears twice or has ``sample_weight`` 2.
    n_jobs : int, default=None
        Threads over blocks of rows.
    warm_start : bool, default=False
        Start from the previous fit."""

_COMMON_ATTRIBUTES = """\
cluster_centers_ : array of shape (n_clusters, n_features)
        Centres V.
    feature_weights_ : array of shape (n_clusters, n_features)
        Feature weights W. Where rules share their attention, a column that never varies gets none.
    n_iter_ : int
        Iterations run.
    objective_ : float
        The cost at the end.
    objective_history_ : array of shape (n_iterations,)
        The cost after each iteration. It never rises unless costs are clipped at zero, as ``eta`` can
        make them negative; clipping is the paper's way, and then there is no fixed cost to descend."""

_SUPERVISED_ATTRIBUTE = """\
rule_outputs_ : array of shape (n_clusters, n_outputs)
        What each cluster says of the label, Z; only after a fit with labels."""


def documented(cls: type) -> type:
    """Fill in what the documentation of all estimators here has in common."""
    assert cls.__doc__ is not None
    cls.__doc__ = (
        cls.__doc__.replace("{parameters}", _COMMON_PARAMETERS)
        .replace("{attributes}", _COMMON_ATTRIBUTES)
        .replace("{supervised}", _SUPERVISED_ATTRIBUTE)
    )
    return cls


class SoftSubspace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupportMixin, BaseEstimator):
    """Fitting and memberships, the same for all; a subclass says only which objective."""

    _ranges = RANGES
    n_iter_: int

    def __init__(
        self,
        n_clusters: int,
        init: Any,
        n_init: int,
        max_iter: int,
        tol: float,
        random_state: Any,
        n_jobs: int | None,
        warm_start: bool,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start

    def make_objective(self) -> Objective:
        """The cost this estimator minimises, put together from its parameters.

        Override it in a subclass, perhaps with a subclass of :class:`Objective`, to try a variant; rule
        models take such a subclass as their ``clusterer`` like any other.
        """
        raise NotImplementedError

    def _loss(self) -> Loss | None:
        return None

    def _resolve(self, frame: Frame) -> None:
        """Settle parameters given as "auto", in attributes of their own."""
        if hasattr(self, "m"):
            self.m_ = fuzziness(frame) if self.m == "auto" else float(self.m)
        for name in {"gamma", "lam"} & vars(self).keys():
            value = getattr(self, name)
            setattr(self, f"{name}_", evenness(frame) if value == "auto" else float(value))

    def _fit(self, rows: Rows, labels: Labels) -> None:
        """Fit to rows; the label term takes part if there are labels for it."""
        self.__dict__.pop("_memory", None)
        rows, frame = centered(rows)
        self._resolve(frame)
        objective = self.make_objective()
        if labels.outputs is None:
            objective = objective.without_labels()
        previous = self._previous(rows, labels) if self.warm_start else None
        starts = [previous] if previous else self._starts(objective, rows, frame, labels.outputs)
        progress = Progress(self, len(starts) * self.max_iter, "iteration")
        solutions = [self._descend(objective, rows, frame, start, progress) for start in starts]
        progress.finish()
        best = min(solutions, key=lambda solution: solution.history[-1])
        self._keep(objective, best, rows.center, frame, labels)

    @online
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None, memory: float = math.inf
    ) -> Self:
        check_parameters(self)
        fitted, supervised = hasattr(self, "_parameters"), self._takes_labels(X, y)
        rows = read_rows(self, X, y, sample_weight, reset=not fitted, supervised=supervised)
        if fitted:
            rows = self._relabelled(rows)
        else:
            rows, labels = self._labelled(rows, classes) if supervised else (rows, NO_LABELS)
            self._fit(rows, labels)
        rows = rows.standardized(rows.at_home(self._center))
        recalled = getattr(self, "_memory", Memory()).of(rows.weight, memory)
        self._resolve(replace(self._frame, weight=recalled.stands_for))
        objective = self.make_objective()
        if self._labels.outputs is None:
            objective = objective.without_labels()
        self._memory, moved, cost = step(objective, rows, self._parameters, recalled)
        n_iter = self.n_iter_
        self._keep(objective, Solution(moved, (cost,)), rows.center, self._frame, self._labels)
        self.n_iter_ = n_iter + 1
        self.__dict__.pop("labels_", None)
        return self

    def _takes_labels(self, X: Any, y: Any) -> bool:
        """Whether labels take part."""
        return True

    def _labelled(self, rows: Rows, classes: Any = None) -> tuple[Rows, Labels]:
        """Rows with labels as the cost takes them, and what is to be known about them."""
        raise NotImplementedError

    def _relabelled(self, rows: Rows) -> Rows:
        """The same for more rows."""
        if self._labels.outputs is None:
            return rows
        if hasattr(self, "classes_"):
            return coded_rows(rows, self.classes_)
        return measured_rows(rows, self._labels.origin, self._labels.unit)

    def _starts(
        self, objective: Objective, rows: Rows, frame: Frame, outputs: np.ndarray | None
    ) -> list[Parameters]:
        centers = initial_centers(rows, frame, self.n_clusters, self.init, self.n_init, self.random_state)
        if (found := centers[0].shape[0]) < self.n_clusters:
            raise ValueError(f"n_clusters={self.n_clusters} is more than the {found} distinct rows of X.")
        return [first_parameters(objective, V, frame, outputs) for V in centers]

    def _descend(
        self,
        objective: Objective,
        rows: Rows,
        frame: Frame,
        start: Parameters,
        progress: Progress | None = None,
    ) -> Solution:
        stop = progress.step if progress else bool
        return alternate(
            objective, rows, start, scale=frame.scale, max_iter=self.max_iter, tol=self.tol, stop=stop
        )

    def _keep(self, objective: Objective, solution: Solution, center: Array, frame: Frame, labels: Labels) -> None:
        V, W, Z = solution.parameters.V, solution.parameters.W, solution.parameters.Z
        self._fitted_objective = objective.without_labels()
        self._parameters, self._center, self._frame, self._labels = solution.parameters, center, frame, labels
        self.cluster_centers_, self.feature_weights_ = V + center, W
        self.__dict__.pop("rule_outputs_", None)
        if Z is not None:
            self.rule_outputs_ = labels.unit * Z + labels.origin
        self.n_iter_ = solution.n_iter
        self.objective_history_ = np.asarray(solution.history)
        self.objective_ = solution.history[-1]
        self._n_features_out = V.shape[0]

    def _previous(self, rows: Rows, labels: Labels) -> Parameters | None:
        """The previous fit, seen from the mean of the new data; None if it is of another shape."""
        n_outputs = None if labels.outputs is None else len(labels.outputs)
        previous: Parameters | None = getattr(self, "_parameters", None)
        if previous is None or previous.V.shape != (self.n_clusters, rows.n_features):
            return None
        if (None if previous.Z is None else previous.Z.shape[1]) != n_outputs:
            return None
        V = previous.V + (like(self._center, previous.V) - like(rows.center, previous.V))
        Z = previous.Z
        if Z is not None:
            Z = Z * (self._labels.unit / labels.unit) + (self._labels.origin - labels.origin) / labels.unit
        return Parameters(V, previous.W, Z).at(rows.center)

    def _each_row(self, rows: Rows, formula: Any) -> Any:
        """A formula of the label-free objective, its coefficients and a block's columns, for all rows."""
        objective: Objective = self._fitted_objective
        work = partial(_formula_of_rows, formula, objective, self._parameters)
        return rows.standardized(rows.at_home(self._center)).prepared(objective.columns).map(work)

    def _read(self, X: Any) -> Rows:
        check_is_fitted(self, "cluster_centers_")
        return read_rows(self, X)

    def transform(self, X: Any) -> Any:
        """Memberships of each row in each cluster; labels are never used.

        Returns
        -------
        memberships : array of shape (n_samples, n_clusters)
            Each row sums to one.
        """
        return self._each_row(self._read(X), memberships)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _formula_of_rows(formula: Any, objective: Objective, parameters: Parameters, columns: Columns) -> Array:
    # Rows need not be where the model was fitted.
    return formula(objective, objective.coefficients(parameters.at(columns.values)), columns)


def memberships(objective: Objective, coefficients: Array, columns: Columns) -> Array:
    return objective.memberships(coefficients, columns).T


def votes(outputs: Array, objective: Objective, coefficients: Array, columns: Columns) -> Array:
    """Outputs (R, C) of the clusters, weighted by membership."""
    shares = memberships(objective, coefficients, columns)
    return shares @ like(outputs, shares)


def probabilities(outputs: Array, objective: Objective, coefficients: Array, columns: Columns) -> Array:
    said = votes(outputs, objective, coefficients, columns)
    said /= array_namespace(said).sum(said, axis=1, keepdims=True)
    return said


def _classes(outputs: Array, classes: np.ndarray, *seen: Any) -> Array:
    return class_of(votes(outputs, *seen), classes)


def _nearest(objective: Objective, coefficients: Array, columns: Columns) -> Array:
    xp = array_namespace(coefficients)
    nearest = xp.argmax(objective.memberships(coefficients, columns), axis=0)
    return xp.astype(nearest, xp.int32)


def _row_costs(objective: Objective, coefficients: Array, columns: Columns) -> Array:
    cost = objective.cost(coefficients, columns)
    share = objective.membership.share(cost, axis=0)
    total = array_namespace(cost).sum(objective.membership.amount(share) * cost, axis=0)
    return total + objective.membership.penalty(share, axis=0)


def fuzziness(frame: Frame) -> float:
    """The paper's fuzzy index for ``m="auto"``: near 1 for many features, so that rules stay apart."""
    k = min(frame.weight, frame.spread.shape[0] - 1)
    return k / (k - 2) if k >= 3 else 2.0


def evenness(frame: Frame) -> float:
    """How strongly feature weights are evened out if not told: a tenth of an average feature's total scatter.

    The same for all nine data sets of the paper, it does as well as a search on each of them (docs/paper.md).
    """
    spread = to_numpy(frame.spread).astype(float)
    return 0.1 * frame.weight * float(np.mean(spread[spread > 0] ** 2)) if np.any(spread > 0) else 1.0


def typical_spread(frame: Frame) -> float:
    """The root mean square of the standard deviations of features that vary; one if none does."""
    spread = to_numpy(frame.spread).astype(float)
    return float(np.sqrt(np.mean(spread[spread > 0] ** 2))) if np.any(spread > 0) else 1.0


def initial_centers(
    rows: Rows, frame: Frame, n_clusters: int, init: Any, n_init: int, random_state: Any
) -> list[Array]:
    """Centres to start from, one array for each start; fewer than asked for if there are fewer distinct rows."""
    center, scale = (None if part is None else to_numpy(part) for part in (rows.center, rows.scale))

    def measured(X: np.ndarray) -> np.ndarray:
        return X - center if scale is None else (X - center) / scale

    if not isinstance(init, str):
        return [like(measured(_given_centers(init, n_clusters, rows)), rows.center)]
    if init not in ("k-means", "random"):
        raise ValueError(f'init must be "k-means", "random" or an array of centres, got {init!r}.')
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
    picked = sample(rows, n_clusters, int(rng.integers(2**31)))
    n_clusters = min(n_clusters, len(picked.X))
    X = measured(picked.X)
    draw = random_seeds if init == "random" else k_means_seeds
    seeds = [like(draw(X, picked.weight, n_clusters, rng), rows.center) for _ in range(n_init)]
    return seeds if init == "random" else [k_means(rows, V, frame) for V in seeds]


def _given_centers(init: Any, n_clusters: int, rows: Rows) -> np.ndarray:
    try:
        centers = like(to_numpy(init) if hasattr(init, "__dlpack__") else init, to_numpy(rows.center))
    except (TypeError, ValueError):
        raise ValueError(f'init must be "k-means", "random" or an array of centres, got {init!r}.') from None
    if centers.shape != (n_clusters, rows.n_features) or not np.all(np.isfinite(centers)):
        raise ValueError(
            f"init must be finite and of shape (n_clusters, n_features) = "
            f"({n_clusters}, {rows.n_features}), got an array of shape {centers.shape}."
        )
    return centers


class Clusterer(ClusterMixin, SoftSubspace):
    """What makes it a clusterer: labels for rows, and a score without labels."""

    labels_: np.ndarray

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
            Classes, or with the squared loss real targets (numbers that are not all whole). Without it the
            label term drops out; algorithms that have none ignore it.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_parameters(self)
        supervised = self._takes_labels(X, y)
        rows = read_rows(self, X, y, sample_weight, reset=True, supervised=supervised)
        for name in ("classes_", "labels_"):
            self.__dict__.pop(name, None)
        if isinstance(rows, ArrayRows) and rows.n_rows < self.n_clusters:
            raise ValueError(f"n_clusters={self.n_clusters} is more than the n_samples={rows.n_rows} rows of X.")
        rows, labels = self._labelled(rows) if supervised else (rows, NO_LABELS)
        self._fit(rows, labels)
        if isinstance(rows, ArrayRows):  # elsewhere they would be as long as what does not fit in memory
            self.labels_ = self.predict(X)
        return self

    def _takes_labels(self, X: Any, y: Any) -> bool:
        labelled = self._loss() is not None and has_labels(X, y)
        known: Labels | None = getattr(self, "_labels", None) if hasattr(self, "_memory") else None
        if known is not None and (known.outputs is not None) != labelled:
            raise ValueError("partial_fit was given labels in some calls only; give them in all, or in none.")
        return labelled

    def _labelled(self, rows: Rows, classes: Any = None) -> tuple[Rows, Labels]:
        if classes is None and isinstance(self._loss(), SquaredLoss) and holds_measurements(rows):
            rows, mean, _ = real_rows(rows, standardize=False)
            return rows, Labels(np.zeros(1), mean)
        self.classes_, rows = class_rows(rows) if classes is None else with_classes(rows, classes)
        return rows, class_labels(self.classes_)

    def predict(self, X: Any) -> Any:
        """The cluster each row belongs to most."""
        return self._each_row(self._read(X), _nearest)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """``fit(X, y, sample_weight).predict(X)``."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the cost of these rows, labels left out: higher is better.

        It compares fits of the same algorithm and parameters; to compare numbers of clusters use the
        validity indices, such as :func:`sessc.xie_beni`.
        """
        costs = to_numpy(self._each_row(self._read(X), _row_costs))
        weight = read_weights(sample_weight, costs[:, None])
        return -float(np.sum(costs if weight is None else weight * costs))


class ClassifierByClusters(ClassifierMixin, SoftSubspace):
    """What makes it a classifier: clusters vote with their outputs, by membership."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters that agree with the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Classes, as numbers or text.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_parameters(self)
        self._fit(*self._labelled(read_rows(self, X, y, sample_weight, reset=True, supervised=True)))
        return self

    def _labelled(self, rows: Rows, classes: Any = None) -> tuple[Rows, Labels]:
        self.classes_, rows = class_rows(rows) if classes is None else with_classes(rows, classes)
        refuse_one_class(self.classes_)
        return rows, class_labels(self.classes_)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class: the outputs of the clusters, weighted by membership."""
        rows = self._read(X)
        return self._each_row(rows, partial(probabilities, self.rule_outputs_))

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        rows = self._read(X)
        return self._each_row(rows, partial(_classes, self.rule_outputs_, self.classes_))


class Labels(NamedTuple):
    """What clustering has to know of labels."""

    outputs: np.ndarray | None = None
    """What every rule says before it has learned anything; None where labels take no part."""
    origin: float = 0.0
    unit: float = 1.0
    """What real targets are measured from, and in."""


NO_LABELS = Labels()


def class_labels(classes: np.ndarray) -> Labels:
    """Every rule starts with all classes alike."""
    return Labels(np.full(len(classes), 1 / len(classes)))


def with_classes(rows: Rows, classes: Any) -> tuple[np.ndarray, Rows]:
    """All classes there will be, sorted, and the rows with codes for labels."""
    known = np.unique(np.asarray(classes))
    return known, coded_rows(rows, known)


def step(
    objective: Objective, rows: Rows, parameters: Parameters, memory: Memory
) -> tuple[Memory, Parameters, float]:
    """One iteration on what is remembered once these rows are: the new memory, the parameters, and their cost."""
    parameters = parameters.at(rows.center)
    coefficients = objective.coefficients(parameters)
    found = rows.prepared(objective.columns).sum(partial(objective.statistics, coefficients))
    before = memory.sums.get("clusters")
    if before is not None and before.sums.shape != found.sums.shape:
        raise ValueError(
            "The terms of the cost are others than in earlier calls of partial_fit; call fit to begin anew."
        )
    memory = memory.with_sum("clusters", found)
    moved = objective.update(memory["clusters"], parameters)
    return memory, moved, objective.value(memory["clusters"], moved, objective.coefficients(moved))


@documented
class SoftSubspaceClustering(Clusterer):
    r"""Clustering with a cost put together from terms, for combinations nobody has named.

    .. math::
        J = \sum_n \Big( \sum_r \mathrm{amount}(u_{nr})\, c_{nr} + \mathrm{penalty}(u_n) \Big)
            + \sum_r \mathrm{penalty}(w_r), \quad
        c_{nr} = \|x_n - v_r\|_{w_r}^2 - \eta \|v_r - v_0\|_{w_r}^2 + \ell(y_n, z_r).

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    membership : Sharing, default=None
        How a sample shares itself among clusters: :class:`Power`, :class:`Entropy`, :class:`Quadratic` or
        :class:`Linear`; ``Power(2.0)`` if None.
    weighting : Sharing, default=None
        How a cluster shares its attention among features: one of those, or :class:`Uniform` if None.
    eta : float, default=0.0
        Reward for separation, in [0, 1).
    loss : Loss, default=None
        Label term: :class:`LogLoss`, :class:`SquaredLoss`, or none.
    {parameters}

    Attributes
    ----------
    {attributes}
    {supervised}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most, labels left out; not after a fit to ``Blocks`` or a
        Dask collection.

    Examples
    --------
    Hard k-means in a soft subspace:

    >>> from sessc import Linear, Quadratic, SoftSubspaceClustering
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 8.0], [9.0, 9.0]]
    >>> model = SoftSubspaceClustering(2, membership=Linear(), weighting=Quadratic(5.0), random_state=0)
    >>> model.fit(X).labels_.tolist()
    [0, 0, 1, 1]
    """

    _ranges = RANGES | TERM_RANGES

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        membership: Sharing | None = None,
        weighting: Sharing | None = None,
        eta: float = 0.0,
        loss: Loss | None = None,
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
    ):
        super().__init__(n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start)
        self.membership = membership
        self.weighting = weighting
        self.eta = eta
        self.loss = loss

    def _loss(self) -> Loss | None:
        return self.loss

    def make_objective(self) -> Objective:
        return Objective(self.membership or Power(2.0), self.weighting or Uniform(), self.eta, self.loss)
