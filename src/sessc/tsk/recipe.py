"""From rows to rules: problem, clusters, conditions, conclusions, rule base.

Each cluster becomes a rule. Its conditions are bell curves around the cluster's centre, as wide as its members are
spread; what it concludes is fitted by least squares; and all of it may then be refined together. ``fit``,
``partial_fit`` and the search all go this way; they differ in whose rows are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._array import Array, array_namespace, divide, like, to_numpy
from .._progress import Progress
from ..cluster.base import Clusters, SoftSubspace, clusters, label_loss, starting_centers
from ..cluster.named import SESSC
from ..cluster.ranges import check_parameters
from ..rows.base import Rows, Samples
from ..rows.clean import refuse_classes
from ..rows.extent import Extent, centered, standardized
from ..rows.sample import few
from ..rows.target import Classes, Measurements, Target
from ..rules.base import RuleBase, default_names
from ..rules.choices import Choice
from ..rules.links import Identity, Link, Proportions, Softmax
from ..rules.summary import Summary, summarize
from ..terms.losses import LogLoss
from ..terms.objective import Expansion, Objective, Statistics, summarise
from .consequents import ridge_path
from .refine import CrossEntropy, Moving, OutputLoss, Pulls, SquaredError, refine
from .simplify import concise

__all__ = [
    "CLASSES",
    "MEASUREMENTS",
    "Conditions",
    "Kind",
    "Names",
    "Problem",
    "Recipe",
    "check_clusterer",
    "conditions_of",
    "deviations",
    "fresh_clusterer",
    "given_conditions",
    "importances",
    "improved",
    "least_squares",
    "members",
    "pose",
    "rule_base",
    "seen_by",
]

WIDTH_FLOOR = 1e-3
"""Conditions are at least this wide before scaling, as a share of the spread of their feature."""
REMEMBERED_ROWS = 50_000
"""Of more rows every second, third, ... is remembered."""


@dataclass(frozen=True)
class Kind:
    """What goes with a kind of target."""

    learn: Callable[[Rows, Any], tuple[Target, Rows]]
    """The target of rows whose classes may be given, and the rows with labels as formulas take them."""
    clusterer: Callable[[], SoftSubspace]
    """What finds the rules if nothing else is asked for."""
    loss: OutputLoss
    """What refinement goes down on."""
    first_scale: float
    """What least squares says, times this, is where refinement begins."""
    fitted: Link
    refined: Link
    """How outputs become answers, of rules by least squares and of refined ones."""

    def link(self, recipe: Recipe) -> Link:
        return self.refined if recipe.refine else self.fitted


def _measurements(rows: Rows, classes: Any) -> tuple[Target, Rows]:
    refuse_classes(classes)
    return Measurements.of(rows, standardize=True)


CLASSES = Kind(
    learn=Classes.several,
    clusterer=SESSC,
    loss=CrossEntropy(),
    first_scale=2.0,  # as logarithms of odds, one rule sure of a class then gives it odds of e^2
    fitted=Proportions(),
    refined=Softmax(),
)
MEASUREMENTS = Kind(
    learn=_measurements,
    clusterer=partial(SESSC, loss="squared"),
    loss=SquaredError(),
    first_scale=1.0,
    fitted=Identity(),
    refined=Identity(),
)


@dataclass(frozen=True)
class Recipe:
    """How rules are made of conditions; see the parameters of the rule models."""

    order: int
    alpha: float
    refine: int
    pull: float


@dataclass(frozen=True)
class Problem:
    """What rules are learned from: samples in the coordinates of the rules, and targets as columns."""

    rows: Rows
    """Samples with labels, and the weights clustering gives them."""
    extent: Extent
    target: Target
    kind: Kind
    class_weight: np.ndarray | None = None
    """What a row of each class counts in least squares and refinement, beside its weight."""

    @property
    def fit_rows(self) -> Rows:
        by_class = self.class_weight
        return self.rows if by_class is None else replace(self.rows, class_weight=like(by_class, self.rows.center))

    def starts(self, clusterer: SoftSubspace) -> list[Array]:
        """Where the rules start: as many as asked for, unless there are fewer distinct rows."""
        return starting_centers(clusterer, self.rows, self.extent)

    def clusters(self, clusterer: SoftSubspace, starts: list[Array], progress: Progress | None = None) -> Clusters:
        """The clusters that become rules."""
        return clusters(clusterer, self.rows, self.extent, self.target, starts, progress)


class Conditions(NamedTuple):
    """Centres and widths (R, D) of the conditions of all rules."""

    centers: np.ndarray
    widths: np.ndarray


class Names(NamedTuple):
    """What things are called in the rules."""

    features: tuple[str, ...]
    target: str = "y"
    choices: tuple[Choice, ...] = ()


def pose(rows: Rows, kind: Kind, *, classes: Any = None, class_weight: Any = None, standardize: bool) -> Problem:
    """Rows as a problem, in the coordinates of the rules: z-scores, or the units kept and the mean taken off."""
    target, rows = kind.learn(rows, classes)
    by_class = target.weights(class_weight, partial(target.masses, rows))
    rows, extent = (standardized if standardize else centered)(rows)
    if rows.scale is None:
        rows = rows.standardized(rows.center, array_namespace(rows.center).ones_like(rows.center))
    return Problem(rows, extent, target, kind, by_class)


def fresh_clusterer(clusterer: Any, kind: Kind, n_rules: int, random_state: Any) -> SoftSubspace:
    """A copy of the clusterer that will be fitted: the model's own settings override its."""
    if not isinstance(clusterer, (SoftSubspace, type(None))):
        given = "; rules that are there already are given as rules" if isinstance(clusterer, RuleBase) else ""
        raise ValueError(f"clusterer must be one of sessc's clusterers or None, got {clusterer!r}{given}.")
    fresh = kind.clusterer() if clusterer is None else clone(clusterer)
    fresh.set_params(n_clusters=n_rules)
    if random_state is not None:
        fresh.set_params(random_state=check_random_state(random_state).randint(2**31))
    check_clusterer(fresh, kind)
    return fresh


def check_clusterer(clusterer: SoftSubspace, kind: Kind) -> None:
    """Refuse one with parameters out of range, or with a label term for another kind of target."""
    check_parameters(clusterer)
    if kind is MEASUREMENTS and isinstance(label_loss(clusterer), LogLoss):
        raise ValueError(f'clusterer {type(clusterer).__name__} needs loss="squared" for real targets.')


def members(problem: Problem, found: Clusters) -> Statistics:
    """Samples and their squares, feature by feature, summed by membership itself.

    Not by its power, as the paper prints it.
    """
    coefficients = found.objective.coefficients(found.parameters)
    return problem.rows.sum(partial(_member_sums, found.objective, coefficients))


def _member_sums(objective: Objective, coefficients: Array, samples: Samples) -> Statistics:
    return summarise(Expansion.of(samples), objective.memberships(coefficients, objective.columns(samples)))


def conditions_of(problem: Problem, found: Clusters, sums: Statistics, width_scale: Any) -> Conditions:
    """Clusters as conditions, from sums over their members; a feature that never varies gets none.

    Widths are standard deviations: the paper's Sigma = h * deviation is their square.
    """
    V, spread = to_numpy(found.parameters.V), to_numpy(problem.extent.spread)
    h = float(np.sqrt(V.shape[1])) if width_scale == "auto" else float(width_scale)
    sigma = np.sqrt(h * deviations(sums, V, spread))
    return Conditions(V, np.where(spread > 0, sigma, np.inf).astype(sigma.dtype))


def deviations(sums: Statistics, V: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Root mean square distance of each cluster's members from its centre, by feature; some in any case."""
    mass, x, xx = (like(to_numpy(part), V) for part in (sums.mass[:, None], sums.x, sums.xx))
    scatter = divide(xx - 2 * V * x, mass, otherwise=-V * V) + V * V
    return np.sqrt(np.maximum(scatter, (WIDTH_FLOOR * spread) ** 2))


def given_conditions(problem: Problem, rules: RuleBase) -> Conditions:
    """The conditions of rules that are there already."""
    center, scale = to_numpy(problem.rows.center), to_numpy(problem.rows.scale)
    V, width = (rules.centers_in_units - center) / scale, rules.widths_in_units / scale
    return Conditions(like(V, center), like(width, center))


def least_squares(problem: Problem, conditions: Conditions, order: int, alphas: Sequence[float]) -> np.ndarray:
    """Conclusions (len(alphas), R, 1 or 1 + D, C) by least squares, for every penalty."""
    return ridge_path(problem.fit_rows, *conditions, order, np.asarray(alphas, dtype=float))


def improved(
    problem: Problem,
    rules: Moving,
    recipe: Recipe,
    conditions: Sequence[float | None] = (None,),
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[Moving], np.ndarray]:
    """The rules refined, and made as concise as each number asks for; and how refinement went."""
    if not recipe.refine:
        if any(number is not None for number in conditions):
            raise ValueError("conditions needs refinement to choose them; set refine to a few hundred.")
        return [rules] * len(conditions), np.empty(0)
    low, high = to_numpy(problem.extent.low), to_numpy(problem.extent.high)
    pulls = Pulls(ridge=recipe.alpha, start=recipe.pull, within=(low, high))
    rows, loss = problem.fit_rows, problem.kind.loss
    rules = replace(rules, consequents=problem.kind.first_scale * rules.consequents)
    rules, history = refine(rows, rules, loss, pulls, max_iter=recipe.refine, stop=stop)
    return concise(rows, rules, loss, pulls, conditions, max_iter=recipe.refine), history


def rule_base(problem: Problem, rules: Moving, recipe: Recipe, names: Names | None = None) -> RuleBase:
    """The rules in z-scores, by which people compare features, whatever they were learned in."""
    rows, unit = problem.rows, to_numpy(problem.extent.scale)
    center, scale = to_numpy(rows.center), to_numpy(rows.scale)
    consequents = problem.target.unit * rules.consequents
    consequents[:, 0] += problem.target.origin
    consequents[:, 1:] *= unit[: consequents.shape[1] - 1, None]
    alone = len(rules.centers) == 1  # and fires always, whatever its conditions
    names = Names(default_names(len(center))) if names is None else names
    return RuleBase(
        centers=like(rules.centers / unit, center),
        widths=like(np.where(alone, np.inf, rules.widths / unit), center),
        consequents=like(consequents, center),
        mean=center,
        scale=scale * unit,
        link=problem.kind.link(recipe),
        feature_names=names.features,
        classes=problem.target.labels,
        target_name=names.target,
        choices=names.choices,
    )


def _total(formula: Callable[[RuleBase, Array], Array], rules: RuleBase, samples: Samples) -> np.ndarray:
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
    X, weight, n_rows = few(rows, REMEMBERED_ROWS)
    return summarize(X, support, weight, n_rows=n_rows)
