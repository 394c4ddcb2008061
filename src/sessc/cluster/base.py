"""Soft subspace clustering in general: fitting and predicting with any cost put together from terms.

The named algorithms in ``named.py`` differ from :class:`SoftSubspaceClustering` only in their parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._array import Array, array_namespace, clip, like, to_numpy
from .._progress import CallbackSupportMixin, Progress, with_callbacks
from ..rows.base import Rows
from ..rows.clean import read_weights
from ..rows.columns import Category, Column, Number, cell_type, cells_of, is_frame
from ..rows.extent import Extent, gap_columns
from ..rows.layout import Layout
from ..rows.read import has_labels, read_rows
from ..rows.robust import centered
from ..rows.sample import sample, seen_alike
from ..rows.target import Classes, Measurements, Target, holds_measurements
from ..solve.alternate import Solution, alternate, lowest
from ..solve.memory import Memory, online
from ..solve.start import first_parameters, k_means, k_means_seeds, raced_seeds, random_seeds
from ..terms.losses import Loss, SquaredLoss
from ..terms.mixed import shares
from ..terms.objective import Expansion, Objective, Parameters, Statistics
from ..terms.sharing import Power, Sharing, Uniform
from .documentation import documented
from .ranges import COUNT, NOT_NEGATIVE, Range, Ranges, check_parameters

__all__ = [
    "COMMON",
    "ETA",
    "Clusterer",
    "Clusters",
    "SoftSubspace",
    "SoftSubspaceClustering",
    "breadth",
    "clusters",
    "each_row",
    "evenness",
    "fuzziness",
    "label_loss",
    "settled",
    "starting_centers",
    "step",
    "votes",
    "with_gaps_found",
    "with_space",
]

_COMMON_PARAMETERS = """\
init : {"k-means", "random"} or array of shape (n_clusters, n_features), default="k-means"
        Where centres start: k-means from greedy k-means++ seeds, random rows, or these points, as rows of X.
        K-means sees all rows, or a sample of them where they weigh more than 20,000.
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
        Start from the previous fit.
    categorical_features : "from_dtype", names, positions, mask or None, default="from_dtype"
        Columns that are categories: by default those of a frame that hold text, truth values or categories, and no
        others; None takes no column for one."""

_COMMON_ATTRIBUTES = """\
cluster_centers_ : array of shape (n_clusters, n_features)
        Centres V. Of categories the shares of their levels: a column for each number, then one for each level,
        named by ``center_names_``.
    feature_weights_ : array of shape (n_clusters, n_features)
        Feature weights W, one for each column. Where rules share their attention, a column that never varies gets
        none.
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


COMMON = {
    "parameters": _COMMON_PARAMETERS,
    "attributes": _COMMON_ATTRIBUTES,
    "supervised": _SUPERVISED_ATTRIBUTE,
}
"""What the documentation of all clusterers has in common."""

ETA = Range(Real, lambda v: 0 <= v < 1, "a number in [0, 1)")


class SoftSubspace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupportMixin, BaseEstimator):
    """Fitting and memberships, the same for all; a subclass says only which objective."""

    _ranges: Ranges = {"n_clusters": COUNT, "n_init": COUNT, "max_iter": COUNT, "tol": NOT_NEGATIVE}
    _automatic: Mapping[str, Callable[[Extent], float]] = {}
    """What parameters given as "auto" are; the number used is kept as ``<parameter>_``."""
    n_iter_: int
    _columns: tuple[Column, ...]

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
        categorical_features: Any,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.categorical_features = categorical_features

    def make_objective(self) -> Objective:
        """The cost this estimator minimises, put together from its parameters.

        Override it in a subclass, perhaps with a subclass of :class:`Objective`, to try a variant; rule
        models take such a subclass as their ``clusterer`` like any other.
        """
        raise NotImplementedError

    def _loss(self) -> Loss | None:
        return None

    def _settle(self, extent: Extent) -> None:
        """Say what "auto" is for such data, in attributes of their own."""
        for name, automatic in self._automatic.items():
            value = getattr(self, name)
            setattr(self, f"{name}_", automatic(extent) if value == "auto" else float(value))

    def _fit(self, rows: Rows, target: Target | None) -> None:
        """Fit to rows; the label term takes part if there is something to predict."""
        for name in ("_memory", "_sums", "classes_"):
            self.__dict__.pop(name, None)
        rows, extent = centered(rows)
        objective = _heeding(settled(self, extent), target)
        previous = self._previous(rows, extent, target) if self.warm_start else None
        starts = [previous] if previous else self._starts(objective, rows, extent, target)
        progress = Progress(self, len(starts) * self.max_iter, "iteration")
        best = _best(self, objective, rows, extent, starts, progress)
        progress.finish()
        self._keep(objective, best, rows.center, extent, target)

    @online
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None, memory: float = math.inf
    ) -> Self:
        check_parameters(self)
        fitted, supervised = hasattr(self, "_parameters"), self._takes_labels(X, y)
        rows = read_rows(self, X, y, sample_weight, reset=not fitted, supervised=supervised, growing=True)
        if not fitted:
            target, rows = self._learn_target(rows, classes) if supervised else (None, rows)
            self._fit(rows, target)
        elif self._target is not None:
            rows = self._target.encode(rows)
        rows = with_gaps_found(rows.standardized(rows.at_home(self._center)), self._extent)
        recalled = getattr(self, "_memory", Memory()).of(rows.weight, memory)
        objective = _heeding(settled(self, replace(self._extent, weight=recalled.stands_for)), self._target)
        parameters = with_space(self._parameters, self._extent, rows)
        sums, moved, cost = step(objective, rows, parameters, recalled, getattr(self, "_sums", None))
        n_iter = self.n_iter_
        self._keep(objective, Solution(moved, (cost,)), rows.center, self._extent, self._target)
        self._memory, self._sums, self.n_iter_ = recalled, sums, n_iter + 1
        self.__dict__.pop("labels_", None)
        return self

    def _takes_labels(self, X: Any, y: Any) -> bool:
        """Whether labels take part."""
        return True

    def _learn_target(self, rows: Rows, classes: Any = None) -> tuple[Target, Rows]:
        """What these rows have for labels, and the rows with labels as the cost takes them."""
        raise NotImplementedError

    def _starts(self, objective: Objective, rows: Rows, extent: Extent, target: Target | None) -> list[Parameters]:
        centers = starting_centers(self, rows, extent)
        if (found := centers[0].shape[0]) < self.n_clusters:
            raise ValueError(f"n_clusters={self.n_clusters} is more than the {found} distinct rows of X.")
        outputs = None if target is None else target.first_outputs
        return [first_parameters(objective, V, extent, outputs) for V in centers]

    def _descend(
        self,
        objective: Objective,
        rows: Rows,
        extent: Extent,
        start: Parameters,
        progress: Progress | None = None,
    ) -> Solution:
        stop = progress.step if progress else bool
        return alternate(
            objective,
            rows,
            start,
            scale=extent.feature_scale,
            max_iter=self.max_iter,
            tol=self.tol,
            stop=stop,
            leaps=extent.is_large,
        )

    def _keep(
        self, objective: Objective, solution: Solution, center: Array, extent: Extent, target: Target | None
    ) -> None:
        V, W, Z = solution.parameters.V, solution.parameters.W, solution.parameters.Z
        self._fitted_objective = objective.without_labels()
        self._parameters, self._center, self._extent, self._target = solution.parameters, center, extent, target
        self._fitted_columns = self._columns
        self.cluster_centers_, self.feature_weights_ = centers_in_units(V, center, extent, objective.eta), W
        self.__dict__.pop("rule_outputs_", None)
        if target is not None:
            self.rule_outputs_ = target.in_units(Z)
        if target is not None and target.labels is not None:
            self.classes_ = target.labels
        self.n_iter_ = solution.n_iter
        self.objective_history_ = np.asarray(solution.history)
        self.objective_ = solution.history[-1]
        self._n_features_out = V.shape[0]
        self.center_names_ = np.asarray(_center_names(self._columns), dtype=object)

    def _previous(self, rows: Rows, extent: Extent, target: Target | None) -> Parameters | None:
        """The previous fit, seen from the mean of the new data; None if it is of another shape."""
        previous: Parameters | None = getattr(self, "_parameters", None)
        if previous is None or previous.V.shape != (self.n_clusters, extent.whole_space.layout.n_features):
            return None
        if self._fitted_columns != self._columns:
            return None
        if (None if previous.Z is None else previous.Z.shape[1]) != (target and len(target.first_outputs)):
            return None
        group = extent.whole_space.layout.group
        V = previous.V + like((to_numpy(self._center) - to_numpy(rows.center))[group], previous.V)
        Z = previous.Z if target is None or self._target is None else target.rescaled(previous.Z, self._target)
        return Parameters(V, previous.W, Z, extent.space).at(rows.center)

    def _each_row(self, rows: Rows, formula: Any) -> Any:
        """A formula of the label-free objective, its coefficients and a block's columns, for all rows."""
        found = Clusters(self._fitted_objective, self._parameters)
        return each_row(rows, self._center, None, found, self._extent, formula)

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
        tags.input_tags.allow_nan = True
        return tags


def centers_in_units(V: Array, center: Array, extent: Extent, eta: float) -> Array:
    """Centres as people read them: numbers in their own units, and the shares of levels."""
    if extent.space is None:
        return V + center
    layout = extent.space.layout
    return shares(V, extent.space, eta) + like(to_numpy(center)[layout.group], V)


def each_row(rows: Rows, center: Array, scale: Array | None, found: Clusters, extent: Extent, formula: Any) -> Any:
    """A formula of a cost, its coefficients and a block's columns, for all rows; they come in the users' units."""
    work = partial(_formula_of_rows, formula, found.objective, found.parameters, extent)
    unit = None if scale is None else rows.at_home(scale)
    rows = rows.standardized(rows.at_home(center), unit).spelled(looking(rows, extent))
    return rows.prepared(found.objective.columns).map(work)


def _center_names(columns: tuple[Column, ...]) -> list[str]:
    numbers = [column.name for column in columns if isinstance(column, Number)]
    return numbers + [
        f"{column.name}={label}" for column in columns if isinstance(column, Category) for label in column.labels
    ]


def looking(rows: Rows, extent: Extent) -> Layout | None:
    """How rows are spelled out that come after those of this extent: gaps may be anywhere."""
    if extent.layout is None and not rows.may_have_gaps:
        return None
    return Layout(extent.whole_space.layout.levels)


def _formula_of_rows(
    formula: Any, objective: Objective, parameters: Parameters, extent: Extent, columns: Expansion
) -> Array:
    # Rows need not be where the model was fitted, nor have gaps in the same columns.
    if columns.gap_columns or parameters.space is not None:
        space = extent.whole_space if parameters.space is None else parameters.space
        parameters = replace(parameters, space=space.with_gaps(columns.gap_columns))
    return formula(objective, objective.coefficients(parameters.at(columns.values)), columns)


def memberships(objective: Objective, coefficients: Array, columns: Expansion) -> Array:
    return objective.memberships(coefficients, columns).T


def votes(outputs: Array, objective: Objective, coefficients: Array, columns: Expansion) -> Array:
    """Outputs (R, C) of the clusters, weighted by membership."""
    shares = memberships(objective, coefficients, columns)
    return shares @ like(outputs, shares)


def _nearest(objective: Objective, coefficients: Array, columns: Expansion) -> Array:
    xp = array_namespace(coefficients)
    nearest = xp.argmax(objective.memberships(coefficients, columns), axis=0)
    return xp.astype(nearest, xp.int32)


def _row_costs(objective: Objective, coefficients: Array, columns: Expansion) -> Array:
    cost = objective.cost(coefficients, columns)
    share = objective.membership.share(cost, axis=0)
    total = array_namespace(cost).sum(objective.membership.amount(share) * cost, axis=0)
    return total + objective.membership.penalty(share, axis=0)


def fuzziness(extent: Extent) -> float:
    """The paper's fuzzy index for ``m="auto"``: near 1 for many features, so that rules stay apart."""
    k = min(extent.weight, extent.n_columns - 1)
    return k / (k - 2) if k >= 3 else 2.0


def evenness(extent: Extent) -> float:
    """How strongly feature weights are evened out if not told: a tenth of an average feature's total scatter.

    The same for all nine data sets of the paper, it does as well as a search on each of them (docs/paper.md).
    """
    spread = to_numpy(extent.spread).astype(float)
    return 0.1 * extent.weight * float(np.mean(spread[spread > 0] ** 2)) if np.any(spread > 0) else 1.0


def breadth(extent: Extent) -> float:
    """How wide a kernel is if not told: twice the standard deviation of an average feature."""
    spread = to_numpy(extent.spread).astype(float)
    return 2 * float(np.sqrt(np.mean(spread[spread > 0] ** 2))) if np.any(spread > 0) else 2.0


class Clusters(NamedTuple):
    """Clusters, and the cost that they make least."""

    objective: Objective
    parameters: Parameters


def label_loss(clusterer: SoftSubspace) -> Loss | None:
    """The label term of a clusterer's cost; None where labels play no part."""
    return clusterer._loss()


def settled(clusterer: SoftSubspace, extent: Extent) -> Objective:
    """The cost of a clusterer for such data."""
    clusterer._settle(extent)
    return clusterer.make_objective()


def _heeding(objective: Objective, target: Target | None) -> Objective:
    return objective.without_labels() if target is None else objective


def clusters(
    clusterer: SoftSubspace,
    rows: Rows,
    extent: Extent,
    target: Target,
    centers: list[Array],
    progress: Progress | None = None,
) -> Clusters:
    """The best clusters that a clusterer finds in labelled rows from these starts."""
    objective = settled(clusterer, extent)
    starts = [first_parameters(objective, V, extent, target.first_outputs) for V in centers]
    return Clusters(objective, _best(clusterer, objective, rows, extent, starts, progress).parameters)


def _best(
    clusterer: SoftSubspace,
    objective: Objective,
    rows: Rows,
    extent: Extent,
    starts: list[Parameters],
    progress: Progress | None,
) -> Solution:
    return lowest([clusterer._descend(objective, rows, extent, start, progress) for start in starts])


def step(
    objective: Objective, rows: Rows, parameters: Parameters, memory: Memory, before: Statistics | None
) -> tuple[Statistics, Parameters, float]:
    """One iteration on what is remembered once these rows are: the sums, the parameters, and their cost."""
    parameters = parameters.at(rows.center)
    coefficients = objective.coefficients(parameters)
    found = rows.prepared(objective.columns).sum(partial(objective.statistics, coefficients))
    if before is not None and _parts_of(before) != _parts_of(found):
        raise ValueError(
            "The terms of the cost are others than in earlier calls of partial_fit; call fit to begin anew."
        )
    sums = memory.added(before, found)
    if parameters.space is not None:
        parameters = replace(parameters, space=parameters.space.with_gaps(sums.gap_columns))
    moved = objective.update(memory.whole(sums), parameters)
    return sums, moved, objective.value(memory.whole(sums), moved, objective.coefficients(moved))


def _parts_of(sums: Statistics) -> tuple[int, ...]:
    return sums.n_features, sums.n_squares, sums.labels.shape[1]


def with_gaps_found(rows: Rows, extent: Extent) -> Rows:
    """More rows, spelled out as those of this extent were, with gaps where they have them."""
    gaps = gap_columns(rows)
    if extent.layout is None and not gaps:
        return rows
    return rows.spelled(Layout(extent.whole_space.layout.levels, gaps))


def with_space(parameters: Parameters, extent: Extent, rows: Rows) -> Parameters:
    """Clusters as those of rows that may be the first with gaps."""
    if rows.layout is None:
        return parameters
    space = extent.whole_space if parameters.space is None else parameters.space
    return replace(parameters, space=space.with_gaps(rows.layout.gaps or ()))


def starting_centers(clusterer: SoftSubspace, rows: Rows, extent: Extent) -> list[Array]:
    """Centres to start from, one array for each start; fewer than asked for if there are fewer distinct rows."""
    init, n_clusters = clusterer.init, clusterer.n_clusters
    if not isinstance(init, str):
        return [like(filled_in(rows, extent, _given_centers(init, n_clusters, rows))[0], rows.center)]
    if init not in ("k-means", "random"):
        raise ValueError(f'init must be "k-means", "random" or an array of centres, got {init!r}.')
    rng = np.random.default_rng(check_random_state(clusterer.random_state).randint(2**31, size=4))
    size, times = max(2048, 32 * n_clusters), 8 if extent.is_large else 1
    many = sample(rows, times * size, int(rng.integers(2**31)))
    picked = many.cut(size)  # seeds are those that k-means over all rows would start from
    n_clusters = min(n_clusters, len(picked.X))
    X, unit = filled_in(rows, extent, picked.X)
    if init == "random":
        draw = partial(random_seeds, X, picked.weight)
    elif rows.limits is None:
        draw = partial(k_means_seeds, X, picked.weight, unit=unit)
    else:
        draw = partial(raced_seeds, X, picked.weight, picked.keys, unit=unit)
    seeds = [like(draw(n_clusters, rng), rows.center) for _ in range(clusterer.n_init)]
    if init == "random":
        return seeds
    near = seen_alike(many, rows) if extent.is_large else rows
    return [k_means(near, V, extent) for V in seeds]


def filled_in(rows: Rows, extent: Extent, cells: np.ndarray) -> tuple[np.ndarray, Any]:
    """Some rows as users gave them in the coordinates of all, with the mean of the data where cells are missing.

    Also the units in which distances between them are those of the cost.
    """
    limits, center, scale = rows.limits, to_numpy(rows.center), rows.scale
    X = (cells if limits is None else clip(cells, *limits)) - center
    X = X if scale is None else X / to_numpy(scale)
    if extent.space is None:
        return X, 1.0
    layout, origin = extent.space.layout, extent.space.origin
    features, missing, gaps = layout.spell(X)
    if missing is not None:
        places = [(layout.features_of(column), missing[:, k, None]) for k, column in enumerate(gaps)]
        for features_of, lacks in places:
            features[:, features_of] += lacks * origin[features_of]
    return features, np.where(np.arange(layout.n_features) < layout.n_numbers, 1.0, 0.5**0.5)


def _given_centers(init: Any, n_clusters: int, rows: Rows) -> np.ndarray:
    try:
        given = to_numpy(init) if hasattr(init, "__dlpack__") else init
        if rows.columns is not None:
            given = cells_of(given if is_frame(given) else np.asarray(given, cell_type(given)), rows.columns)
        centers = like(given, to_numpy(rows.center))
    except (TypeError, ValueError):
        raise ValueError(f'init must be "k-means", "random" or an array of centres, got {init!r}.') from None
    known = np.isfinite(centers) | (np.isnan(centers) & (rows.layout is not None))
    if centers.shape != (n_clusters, rows.n_features) or not np.all(known):
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
        self.__dict__.pop("labels_", None)
        if rows.n_rows is not None and rows.n_rows < self.n_clusters:
            raise ValueError(f"n_clusters={self.n_clusters} is more than the n_samples={rows.n_rows} rows of X.")
        target, rows = self._learn_target(rows) if supervised else (None, rows)
        self._fit(rows, target)
        if rows.fit_in_memory:  # elsewhere labels would be as long as what does not
            self.labels_ = self.predict(X)
        return self

    def _takes_labels(self, X: Any, y: Any) -> bool:
        labelled = self._loss() is not None and has_labels(X, y)
        if hasattr(self, "_memory") and (self._target is not None) != labelled:
            raise ValueError("partial_fit was given labels in some calls only; give them in all, or in none.")
        return labelled

    def _learn_target(self, rows: Rows, classes: Any = None) -> tuple[Target, Rows]:
        if classes is None and isinstance(self._loss(), SquaredLoss) and holds_measurements(rows):
            return Measurements.of(rows, standardize=False)
        return Classes.of(rows, classes)

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


@documented(**COMMON)
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
        How a sample shares itself among clusters: any sharing rule but :class:`Uniform`; ``Power(2.0)`` if None.
    weighting : Sharing, default=None
        How a cluster shares its attention among features: any sharing rule; :class:`Uniform` if None.
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

    _ranges = Clusterer._ranges | {
        "membership": Range(
            (Sharing, type(None)),
            lambda v: not isinstance(v, Uniform),
            "a sharing rule other than Uniform, or None",
        ),
        "weighting": Range((Sharing, type(None)), lambda v: True, "a sharing rule or None"),
        "eta": ETA,
        "loss": Range((Loss, type(None)), lambda v: True, "a label loss or None"),
    }

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
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.membership = membership
        self.weighting = weighting
        self.eta = eta
        self.loss = loss

    def _loss(self) -> Loss | None:
        return self.loss

    def make_objective(self) -> Objective:
        return Objective(self.membership or Power(2.0), self.weighting or Uniform(), self.eta, self.loss)
