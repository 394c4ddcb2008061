"""From rows to rules: problem, clusters, conditions, conclusions, rule base.

Each cluster becomes a rule. Its conditions are bell curves around the cluster's centre, as wide as its members are
spread; what it concludes is fitted by least squares; and all of it may then be refined together. ``fit``,
``partial_fit`` and the search all go this way; they differ in whose rows are summed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state

from .._array import Array, array_namespace, divide, like, to_numpy
from .._progress import Progress
from ..cluster.base import Clusters, SoftSubspace, clusters, label_loss, starting_centers
from ..cluster.named import SESSC
from ..cluster.ranges import check_parameters
from ..rows.base import Rows, Samples
from ..rows.columns import Category, Column, Number, default_names
from ..rows.extent import Extent, standardized
from ..rows.layout import Space
from ..rows.robust import centered, robust
from ..rows.sample import labelled_rows, some_rows
from ..rows.target import Classes, Measurements, Target
from ..rules.base import Cells, Conditions, RuleBase
from ..rules.conditions import reach_of
from ..rules.links import Identity, Link, Proportions, Softmax
from ..rules.observe import Outcome, observe_rows
from ..rules.overview import effects_of
from ..rules.summary import summarize
from ..terms.losses import LogLoss
from ..terms.objective import Expansion, Objective, Statistics, statistics_of
from .consequents import ridge_path
from .refine import Asking, CrossEntropy, Descent, Ground, Moving, OutputLoss, Pulls, SquaredError, plan_of
from .simplify import NO_LIMIT, Cut, Limit, concise

__all__ = [
    "CLASSES",
    "LAST_ITERATIONS",
    "MEASUREMENTS",
    "Kind",
    "Names",
    "Problem",
    "Recipe",
    "UselessModelWarning",
    "check_clusterer",
    "conditions_of",
    "deviations",
    "fresh_clusterer",
    "given_conditions",
    "ground_of",
    "improved",
    "least_squares",
    "members",
    "pose",
    "remembering",
    "rule_base",
    "shortened",
    "warn_if_useless",
]

WIDTH_FLOOR = 1e-3
"""Conditions are at least this wide before scaling, as a share of the spread of their feature."""
TOGETHER = 0.25
"""The share of refinement in which rules need only be right together. To answer alone from the start would keep
them where clusters are, which are not always where answers change."""
DRAWN_ROWS = 2**16
"""Of more distinct rows so many are drawn, and refined rules are found on these."""
LAST_ITERATIONS = 10
"""In which all rows then have their say. Each goes over all of them, and rules are nearly where they belong."""
REMEMBERED_ROWS, HEARD_ROWS = 50_000, 2_000
"""Of more rows every second, third, ... is remembered, and asked how far conditions reach."""


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
    scoring: str
    """The score by which a search judges if none is named."""
    splitter: Callable[..., Any]
    """What cuts rows into folds, again and again."""

    def link(self, recipe: Recipe) -> Link:
        return self.refined if recipe.refine else self.fitted


CLASSES = Kind(
    learn=Classes.several,
    clusterer=SESSC,
    loss=CrossEntropy(),
    first_scale=2.0,  # as logarithms of odds, one rule sure of a class then gives it odds of e^2
    fitted=Proportions(),
    refined=Softmax(),
    scoring="balanced_accuracy",
    splitter=StratifiedKFold,
)
MEASUREMENTS = Kind(
    learn=Measurements.standardized,
    clusterer=partial(SESSC, loss="squared"),
    loss=SquaredError(),
    first_scale=1.0,
    fitted=Identity(),
    refined=Identity(),
    scoring="r2",
    splitter=KFold,
)


@dataclass(frozen=True)
class Recipe:
    """How rules are made of conditions; see the parameters of the rule models."""

    order: int
    alpha: float
    refine: int
    pull: float
    faithfulness: float = 0.0


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
    standardized: bool = True
    """Whether the coordinates are those that people compare columns by."""
    given: Rows | None = None
    """The rows with labels as they were given."""

    @property
    def fit_rows(self) -> Rows:
        by_class = self.class_weight
        return self.rows if by_class is None else replace(self.rows, class_weight=like(by_class, self.rows.center))

    def drawn(self) -> Drawn:
        """The same problem on its distinct rows in an order of their own, by a hash of their values; some of many.

        These are the same to the last bit wherever rows are, in whatever order, and whether a row is there twice
        or weighs two. So that rules found on them are, too, coordinates are rounded: last bits would grow in
        hundreds of iterations until they decide what is kept.
        """
        if self.given is None:
            return Drawn(self, self, are_all=True)
        few, whole = labelled_rows(self.given, self.rows, self.target, DRAWN_ROWS), self.rounded()
        rows, are_all = whole.rows, few.n_rows < DRAWN_ROWS
        stands_for = 1.0 if are_all else float(_rounded(self.rows.weight / few.weight))
        counts = rows.at_home(np.asarray(few.sample_weight) * stands_for)
        few = replace(few, X=rows.at_home(few.X), sample_weight=counts, n_jobs=rows.n_jobs)
        seen = few.clipped(rows.limits).standardized(rows.center, rows.scale).spelled(rows.layout)
        by_class = None if self.class_weight is None else _rounded(self.class_weight)
        return Drawn(replace(whole, rows=whole.target.encode(seen), class_weight=by_class), whole, are_all)

    def rounded(self) -> Problem:
        """The problem in coordinates that the order of a sum does not reach; constants stay at their value."""
        rows, extent, target = self.rows, self.extent, self.target
        spread, scale = to_numpy(extent.spread), _rounded(to_numpy(rows.scale))
        center = np.where(spread > 0, _rounded(to_numpy(rows.center), scale), to_numpy(rows.center))
        shares, known = (None if part is None else _rounded(part) for part in (extent.shares, extent.known))
        extent = replace(extent, spread=like(_rounded(spread), extent.spread), shares=shares, known=known)
        if isinstance(target, Measurements) and self.given is not None:
            unit = float(_rounded(target.unit, bits=32))
            target = Measurements(float(_rounded(target.origin, unit, 32)), unit)
            rows = target.encode(self.given).clipped(rows.limits).bounded(rows.bounds).spelled(rows.layout)
        at = self.rows.center
        rows = rows.standardized(like(center, at), like(scale, at))
        return replace(self, rows=rows, extent=extent, target=target)

    def starts(self, clusterer: SoftSubspace) -> list[Array]:
        """Where the rules start: as many as asked for, unless there are fewer distinct rows."""
        return starting_centers(clusterer, self.rows, self.extent)

    def clusters(self, clusterer: SoftSubspace, starts: list[Array], progress: Progress | None = None) -> Clusters:
        """The clusters that become rules."""
        return clusters(clusterer, self.rows, self.extent, self.target, starts, progress)


class Drawn(NamedTuple):
    """A problem on rows drawn by their values, and on all rows as they are."""

    problem: Problem
    whole: Problem
    are_all: bool
    """Whether no row was left out."""


def _rounded(values: Any, unit: Any = None, bits: int = 20) -> np.ndarray:
    """Numbers to so many bits of themselves, or of a unit."""
    size = np.abs(np.asarray(values if unit is None else unit, float))
    step = np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1] - bits)
    return np.round(np.asarray(values, float) / step) * step


class Names(NamedTuple):
    """What things are called in the rules."""

    columns: tuple[Column, ...]
    target: str = "y"


class UselessModelWarning(UserWarning):
    """Rules that are no better than guessing, by balanced accuracy or by R²."""


def warn_if_useless(score: float, problem: Problem, where: str) -> None:
    """Say that rules are no better than guessing, by balanced accuracy or R², if they are not."""
    labels = problem.target.labels
    measure, chance = ("R²", 0.0) if labels is None else ("balanced accuracy", 1 / len(labels))
    if score <= chance + 1e-9:
        what = f"The rules are no better than guessing: {measure} {score:.2f} on {where}"
        warnings.warn(f"{what}; look for columns that tell more.", UselessModelWarning, stacklevel=4)


def pose(
    given: Rows,
    kind: Kind,
    *,
    classes: Any = None,
    class_weight: Any = None,
    standardize: bool,
    held: bool = False,
) -> Problem:
    """Rows as a problem, in the coordinates of the rules: z-scores, or the units kept and the mean taken off.

    With ``held`` no cell decides where the data sit: tails are held at limits.
    """
    target, rows = kind.learn(given, classes)
    by_class = target.weights(class_weight, partial(target.masses, rows))
    if held:
        rows, extent = robust(rows, standardize)
    else:
        rows, extent = (standardized if standardize else centered)(rows)
    if rows.scale is None:
        rows = rows.standardized(rows.center, array_namespace(rows.center).ones_like(rows.center))
    return Problem(rows, extent, target, kind, by_class, standardize, given)


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
    return statistics_of(Expansion.of(samples), objective.memberships(coefficients, objective.columns(samples)))


def conditions_of(problem: Problem, found: Clusters, sums: Statistics, width_scale: Any) -> Conditions:
    """Clusters as conditions, from sums over their members; a column that never varies gets none.

    Widths are standard deviations: the paper's Sigma = h * deviation is their square. A level adds the logarithm
    of how much commoner it is in the cluster than among all rows, over h; a gap what cells that are there add on
    average.
    """
    space, extent = problem.extent.whole_space, problem.extent
    V, spread = to_numpy(found.parameters.V), to_numpy(extent.spread)
    h = float(np.sqrt(max(extent.n_columns, 1))) if width_scale == "auto" else float(width_scale)
    numbers, n_numbers = space.layout.numbers, space.layout.n_numbers
    sigma = np.sqrt(h * deviations(sums, V[:, :n_numbers], spread[numbers], space))
    widths = np.where(spread[numbers] > 0, sigma, np.inf).astype(sigma.dtype)
    bells = Conditions.bells(V[:, :n_numbers], widths)
    if extent.layout is None:
        return bells
    linear = np.concatenate([bells.linear, _commoner(sums, space) / h], axis=1)
    unknown = on_average(linear, bells.precisions, extent)
    return Conditions(*(like(part, V) for part in (bells.constants, linear, bells.precisions, unknown)))


def _commoner(sums: Statistics, space: Space) -> np.ndarray:
    """How much commoner each level is among members than among all rows, as logarithms (R, all levels).

    As if each cluster had one more row, which is like all rows are.
    """
    n_numbers = space.layout.n_numbers
    overall, group = space.origin[n_numbers:], space.layout.group[n_numbers:]
    inside = (to_numpy(sums.x)[:, n_numbers:] + overall) / (_known(sums, space)[:, group] + 1)
    says = (overall > 0) & space.varies[group]
    return np.log(np.divide(inside, overall, out=np.ones_like(inside), where=says))


def on_average(linear: np.ndarray, precisions: np.ndarray, extent: Extent) -> np.ndarray:
    """What cells that are there add on average, (R, J)."""
    space = extent.whole_space
    layout, n_columns = space.layout, len(space.total)
    squares = to_numpy(extent.spread).astype(float)[layout.numbers] ** 2
    adds = linear * space.origin
    adds[:, : layout.n_numbers] = -0.5 * precisions * squares
    return adds @ np.eye(n_columns)[layout.group]


def _known(sums: Statistics, space: Space) -> np.ndarray:
    """What members count that have a cell in each column, (R, J)."""
    known = np.repeat(to_numpy(sums.mass)[:, None], len(space.total), axis=1)
    known[:, list(sums.gap_columns)] -= to_numpy(sums.gaps)
    return np.maximum(known, 0.0)


def deviations(sums: Statistics, V: np.ndarray, spread: np.ndarray, space: Space | None = None) -> np.ndarray:
    """Root mean square distance of each cluster's members from its centre, by number; some in any case."""
    mass = sums.mass[:, None] if space is None else _known(sums, space)[:, space.layout.numbers]
    mass, x, xx = (like(to_numpy(part), V) for part in (mass, sums.x[:, : V.shape[1]], sums.xx))
    scatter = divide(xx - 2 * V * x, mass, otherwise=-V * V) + V * V
    return np.sqrt(np.maximum(scatter, (WIDTH_FLOOR * spread) ** 2))


def given_conditions(problem: Problem, rules: RuleBase) -> Conditions:
    """The conditions of rules that are there already, in the coordinates of the problem."""
    center, scale = to_numpy(problem.rows.center), to_numpy(problem.rows.scale)
    numbers, n_numbers = rules.layout.numbers, rules.layout.n_numbers
    factor, shift = (scale / rules.scale)[numbers], ((center - rules.mean) / rules.scale)[numbers]
    along, p = np.array(rules.linear, float), np.asarray(rules.precisions, float)
    # l (f z + s) - p / 2 (f z + s)^2, in powers of z
    level = along[:, :n_numbers] * shift - 0.5 * p * shift * shift
    along[:, :n_numbers] = factor * (along[:, :n_numbers] - p * shift)
    unknown = np.array(rules.unknown, float)
    unknown[:, numbers] -= level
    parts = (rules.constants + level.sum(axis=1), along, p * factor * factor, unknown)
    return Conditions(*(like(part, center) for part in parts))


def least_squares(problem: Problem, conditions: Conditions, order: int, alphas: Sequence[float]) -> np.ndarray:
    """Conclusions (len(alphas), R, 1 or 1 + D, C) by least squares, for every penalty."""
    penalties = np.asarray(alphas, dtype=float)
    return ridge_path(problem.fit_rows, conditions, order, penalties, problem.extent.space)


def ground_of(problem: Problem, conditions: Conditions) -> Ground:
    """Where rules that begin with these conditions are refined."""
    return Ground.of(problem.fit_rows, plan_of(problem.extent, conditions))


class Improved(NamedTuple):
    """Rules for each limit, and how refinement went."""

    rules: list[tuple[Conditions, np.ndarray]]
    history: np.ndarray
    whole: Moving | None = None
    """The refined rules before they were shortened, from which one may go on to other limits."""


def improved(
    problem: Problem,
    conditions: Conditions,
    consequents: np.ndarray,
    recipe: Recipe,
    limits: Sequence[Limit] = (NO_LIMIT,),
    stop: Callable[[], bool] | None = None,
    ground: Ground | None = None,
    whole: Problem | None = None,
) -> Asking[Improved]:
    """Rules refined, and made as short as each limit asks for, on a ground that others may share.

    Where rows were left out of the problem, all of the ``whole`` one have their say at last.
    """
    if not recipe.refine:
        if not all(limit.is_none for limit in limits):
            raise ValueError("short rules need refinement to choose what stays; set refine to a few hundred.")
        return Improved([(conditions, consequents)] * len(limits), np.empty(0))
    ground = ground_of(problem, conditions) if ground is None else ground
    plan, loss, pulls = ground.plan, _loss(problem, recipe), _pulls(recipe)
    moving = plan.moving(conditions, problem.kind.first_scale * consequents).rounded(loss, bits=22)
    n_together = int(TOGETHER * recipe.refine) if loss.own else 0
    if n_together:
        first = replace(loss, own=0.0)
        [(moving, _)] = yield [Descent(ground, moving, first, pulls, n_together, stop=stop)]
    held = moving.theta
    [(moving, history)] = yield [Descent(ground, moving, loss, pulls, recipe.refine - n_together, stop=stop)]
    found = yield from concise(ground, moving, loss, pulls, limits, max_iter=recipe.refine)
    if whole is not None:
        last = Descent(Ground.of(whole.fit_rows, plan), moving, loss, pulls, LAST_ITERATIONS, stop=stop, held=held)
        found = yield from _finished(last, found)
    return Improved([(plan.conditions(one), plan.conclusions(one)) for one in found], history, moving)


def shortened(
    problem: Problem, conditions: Conditions, whole: Moving, recipe: Recipe, limits: Sequence[Limit]
) -> Asking[list[tuple[Conditions, np.ndarray]]]:
    """Rules that began with these conditions and are refined already, as short as each limit asks for."""
    ground = ground_of(problem, conditions)
    loss, pulls = _loss(problem, recipe), _pulls(recipe)
    found = yield from concise(ground, whole, loss, pulls, limits, max_iter=recipe.refine)
    return [(ground.plan.conditions(one), ground.plan.conclusions(one)) for one in found]


def _loss(problem: Problem, recipe: Recipe) -> OutputLoss:
    return replace(problem.kind.loss, own=recipe.faithfulness)


def _pulls(recipe: Recipe) -> Pulls:
    return Pulls(ridge=recipe.alpha, start=recipe.pull, small=recipe.pull)


def _finished(last: Descent, found: Sequence[Moving]) -> Asking[list[Moving]]:
    """Rules after a last descent; short ones are held where short ones are."""
    plan = last.ground.plan
    refined = yield [
        replace(last, start=one, held=one.held(plan) if isinstance(one, Cut) else last.held) for one in found
    ]
    return [one.rules for one in refined]


def rule_base(
    problem: Problem, conditions: Conditions, consequents: np.ndarray, recipe: Recipe, names: Names | None = None
) -> RuleBase:
    """The rules in z-scores, by which people compare features, whatever they were learned in."""
    rows, extent = problem.rows, problem.extent
    center, scale = to_numpy(rows.center), to_numpy(rows.scale)
    unit = np.ones_like(scale) if problem.standardized else to_numpy(extent.scale)
    space = extent.whole_space
    by_feature = unit[space.layout.group]
    consequents = problem.target.lines_in_units(consequents)
    consequents[:, 1:] *= by_feature[: consequents.shape[1] - 1, None]
    alone = len(conditions.linear) == 1  # and fires always, whatever its conditions
    parts = Conditions(
        conditions.constants,
        conditions.linear * by_feature,
        conditions.precisions * unit[space.layout.numbers] ** 2,
        conditions.unknown,
    )
    columns = tuple(map(Number, default_names(len(center)))) if names is None else names.columns
    if names is None and space.layout.n_numbers < len(center):
        columns = tuple(_unnamed(j, n) for j, n in enumerate(space.layout.levels))
    asked = Conditions(*(like(0 * part if alone else part, center) for part in parts))
    return RuleBase(
        constants=asked.constants,
        linear=asked.linear,
        precisions=asked.precisions,
        unknown=asked.unknown,
        consequents=like(consequents, center),
        mean=center,
        scale=scale * unit,
        link=problem.kind.link(recipe),
        columns=columns,
        fill=like(space.origin, center),
        limits=None if rows.limits is None else np.stack([to_numpy(end) for end in rows.limits]),
        classes=problem.target.labels,
        target_name="y" if names is None else names.target,
    )


def _unnamed(column: int, n_levels: int) -> Column:
    return Category(f"x{column}", tuple(range(n_levels))) if n_levels else Number(f"x{column}")


def _total(formula: Callable[[RuleBase, Array], Array], rules: RuleBase, samples: Samples) -> np.ndarray:
    """A formula of rules and samples summed over rows by weight."""
    found = formula(rules, Cells(samples.X))
    xp = array_namespace(found)
    return to_numpy(xp.sum(found, axis=0) if samples.weight is None else samples.weight @ found).astype(float)


def importances(problem: Problem, rules: RuleBase) -> np.ndarray:
    """How much the outputs change with each feature, per standard deviation, as shares of one."""
    squares = problem.rows.as_given().sum(partial(_total, RuleBase.slopes, rules))
    size = (to_numpy(problem.extent.spread) > 0) * np.sqrt(squares)
    return size / (size.sum() or 1.0)


def remembering(rules: RuleBase, problem: Problem) -> RuleBase:
    """The rules with the training data as they remember them, and with what they answer there."""
    rows, target = problem.rows.as_given(), problem.target
    outcome = Outcome(problem.class_weight, target.origin, target.unit)
    found, masses = observe_rows(rules, rows, outcome), target.masses(problem.rows)
    weighed = masses if masses is None or problem.class_weight is None else masses * problem.class_weight
    X, weight, n_rows = some_rows(rows, REMEMBERED_ROWS)
    summary = summarize(X, found.support, weight, n_rows=n_rows, levels=rules.layout.levels)
    heard = slice(None, None, -(-len(X) // HEARD_ROWS))
    summary = replace(
        summary,
        reach=reach_of(rules, X[heard], weight[heard]),
        evidence=found,
        shares=None if masses is None else masses / masses.sum(),
        prior=None if weighed is None else weighed / weighed.sum(),
    )
    rules = replace(rules, summary=summary)
    effects = effects_of(rules, X, weight, importances(problem, rules))
    return replace(rules, summary=replace(summary, effects=effects))
