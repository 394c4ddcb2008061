"""Variants that explain where our tables differ from the printed ones.

    python -m experiments.variants            # all of them, resuming where the last run stopped
    python -m experiments.variants --only "FCM-LSE, floors alone"

Each variant changes one thing of a method of the protocol: what the authors' code does, what the print says
elsewhere, or what the paper leaves open. They run on the protocol's own splits, with all tuning redone unless
a variant says otherwise, and their results are lines of ``results/variants.csv``.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sessc import ESSC, EWFCM, FCM, SCAD, SESSC, KernelEWFCM, Objective, Power, SESSCClassifier
from sessc._array import divide
from sessc.datasets import NAMES
from sessc.rows.arrays import ArrayRows
from sessc.rows.base import Samples
from sessc.rules.base import Conditions, design, firing
from sessc.solve.start import K_MEANS
from sessc.terms.objective import Expansion, Parameters, Statistics
from sessc.tsk.recipe import CLASSES, deviations, members, pose

from .protocol import (
    METHODS,
    STOP,
    Fitted,
    Grids,
    Make,
    Method,
    Task,
    Unit,
    Work,
    by_itself,
    judge,
    least_squares,
    mean_recall,
    run,
    with_chosen,
)
from .results import RESULTS, Result, Results

EPS = float(np.finfo(float).eps)


# --- clustering as the authors' code has it


@dataclass(frozen=True)
class FlooredPower(Power):
    """Memberships computed as they are printed and floored at machine epsilon before they are normalised.

    With an exponent near 1 most of them fall below the floor, and a sample then belongs to all rules alike.
    """

    def share(self, cost: Any, axis: int = -1, rounding: Any = None) -> Any:
        closeness = np.maximum(np.maximum(cost, EPS) ** (-1 / (self.exponent - 1)), EPS)
        return closeness / closeness.sum(axis=axis, keepdims=True)

    def settle(self, cost: Any, axis: int = -1, rounding: Any = None) -> tuple[Any, float]:
        return self.amount(self.share(cost, axis)), 0.0


class FlooredFCM(FCM):
    def make_objective(self) -> Objective:
        return replace(super().make_objective(), membership=FlooredPower(self.m_))


@dataclass(frozen=True)
class LoweredEta(Objective):
    """Where the separation term would make a sample's cost negative, eta is lowered for that sample alone.

    As in the authors' code this concerns memberships and centres, not feature weights. One more column says how
    much of eta is taken back for a sample, and its coefficient is the separation of each rule, so that costs,
    sums and the objective need nothing else.
    """

    def columns(self, samples: Samples) -> Expansion:
        columns = super().columns(samples)
        return columns._replace(values=np.concatenate([columns.values, np.zeros((len(samples.X), 1))], axis=1))

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        separation = np.sum(self.weighting.amount(parameters.W) * parameters.V**2, axis=1, keepdims=True)
        return np.concatenate([super().coefficients(parameters), separation], axis=1)

    def _lowered(self, coefficients: np.ndarray, columns: Expansion) -> Expansion:
        below = np.maximum(-self.cost(coefficients, columns), 0.0)
        values = columns.values.copy()
        values[:, -1] = np.minimum(np.max(below / np.maximum(coefficients[:, -1:], EPS), axis=0), self.eta)
        return columns._replace(values=values)

    def memberships(self, coefficients: np.ndarray, columns: Expansion) -> np.ndarray:
        return super().memberships(coefficients, self._lowered(coefficients, columns))

    def statistics(self, coefficients: np.ndarray, columns: Expansion) -> Statistics:
        return super().statistics(coefficients, self._lowered(coefficients, columns))

    def update(self, statistics: Statistics, parameters: Parameters) -> Parameters:
        mass, taken_back = statistics.mass[:, None], statistics.sums[:, -1:]
        V = divide(statistics.x, (1 - self.eta) * mass + taken_back, otherwise=parameters.V)
        scatter = statistics.xx - 2 * V * statistics.x + (1 - self.eta) * V * V * mass
        return replace(super().update(statistics, parameters), V=V, W=self.weights(scatter, statistics.xx))


@dataclass(frozen=True)
class Everything(Objective):
    """Lets a column that never varies compete for weight; having no scatter, it takes nearly all of it."""

    def weights(self, scatter: np.ndarray, squares: np.ndarray, space: Any = None) -> np.ndarray:
        return self.weighting.share(scatter, axis=1)


def minimising(objective: type[Objective], estimator: type) -> type:
    """An estimator whose cost is computed by another kind of objective, from the same terms."""

    def make_objective(self: Any) -> Objective:
        return objective(**vars(super(variant, self).make_objective()))  # type: ignore[misc]

    variant = type(f"{objective.__name__}{estimator.__name__}", (estimator,), {"make_objective": make_objective})
    return variant


def starting_from_clusters(estimator: type) -> type:
    """An estimator whose rule outputs start as the label means of the k-means clusters, not all alike."""

    def _descend(self: Any, objective: Objective, rows: Any, extent: Any, start: Parameters, *more: Any) -> Any:
        crisp = replace(K_MEANS, loss=objective.loss)
        uniform = replace(start, W=np.ones_like(start.W), Z=np.full_like(start.Z, 1 / start.Z.shape[1]))
        statistics = rows.prepared(crisp.columns).sum(partial(crisp.statistics, crisp.coefficients(uniform)))
        start = replace(start, Z=crisp.update(statistics, uniform).Z)
        return super(variant, self)._descend(objective, rows, extent, start, *more)  # type: ignore[misc]

    variant = type(f"FromClusters{estimator.__name__}", (estimator,), {"_descend": _descend})
    return variant


def starting_from_memberships(estimator: type) -> type:
    """An estimator that starts from random memberships: every centre is then close to the mean of the data."""

    def _descend(self: Any, objective: Objective, rows: Any, extent: Any, start: Parameters, *more: Any) -> Any:
        X = rows.map(lambda samples: samples.X)
        U = np.random.default_rng(self.random_state).random((len(start.V), len(X)))
        amount = objective.membership.amount(U / U.sum(axis=0))
        V = amount @ X / amount.sum(axis=1, keepdims=True)
        return super(variant, self)._descend(objective, rows, extent, replace(start, V=V), *more)  # type: ignore[misc]

    variant = type(f"FromMemberships{estimator.__name__}", (estimator,), {"_descend": _descend})
    return variant


# --- rules made of clusters as the print or the authors' code has it


@dataclass(frozen=True)
class Recipe:
    """How clusters become rules, spelled out plainly. The defaults are the library's."""

    square_widths: bool = False
    """Sigma = h * (mean square distance), as in the authors' code, instead of its printed square root."""
    floored: bool = False
    """Firing levels floored at machine epsilon before they are normalised."""
    intercept: bool = True

    def regressors(self, rules: Clusters, h: float, X: np.ndarray, order: int) -> np.ndarray:
        variance = h * (rules.deviation**2 if self.square_widths else rules.deviation)
        widths = np.sqrt(np.where(rules.varies, variance, np.inf))
        Z = X - rules.center
        if not self.floored:
            return design(firing(Samples(Z), Conditions.bells(rules.V, widths)), Z, order)
        distance = ((Z[None, :, :] - rules.V[:, None, :]) ** 2 / widths[:, None, :] ** 2).sum(axis=2)
        F = np.maximum(np.exp(-distance / 2), EPS)
        return design(F / F.sum(axis=0), Z, order)

    def fit(self, P: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
        """Consequents, the last row being the intercept."""
        Y = np.eye(y.max() + 1)[y]
        mean, target = (P.mean(axis=0), Y.mean(axis=0)) if self.intercept else (0 * P[0], 0 * Y[0])
        square = (P - mean).T @ (P - mean) + lam * np.eye(P.shape[1])
        B = np.linalg.solve(square, (P - mean).T @ (Y - target))
        return np.vstack([B, target - mean @ B])


@dataclass(frozen=True)
class Clusters:
    """What a recipe needs of a clustering."""

    V: np.ndarray
    deviation: np.ndarray
    varies: np.ndarray
    center: np.ndarray

    @classmethod
    def found(cls, task: Task, clusterer: Any, X: np.ndarray, y: np.ndarray) -> Clusters:
        seed = check_random_state(task.seed).randint(2**31)
        clusterer = clusterer.set_params(n_clusters=task.n_rules, random_state=seed, **STOP)
        problem = pose(ArrayRows(X, y), CLASSES, standardize=False)
        found = problem.clusters(clusterer, problem.starts(clusterer))
        V, spread = found.parameters.V, problem.extent.spread
        return cls(V, deviations(members(problem, found), V, spread), spread > 0, problem.rows.center)


@dataclass(frozen=True)
class PlainRules:
    """A fitted recipe, for predicting."""

    recipe: Recipe
    clusters: Clusters
    h: float
    order: int
    B: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        return answers(self.recipe.regressors(self.clusters, self.h, X, self.order), self.B)


def answers(P: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.argmax(P @ B[:-1] + B[-1], axis=1)


def cooked(recipe: Recipe, clusterer: Make) -> Callable[[Task], Fitted]:
    """Rules of a clustering algorithm made by a recipe, h and lambda searched as in the protocol."""

    def fit(task: Task) -> Fitted:
        folds = list(task.folds.split(task.X, task.y))
        scores = np.zeros((len(task.grids.h), len(task.grids.lam)))
        for train, test in folds:
            clusters = Clusters.found(task, clusterer(**task.chosen), task.X[train], task.y[train])
            for i, h in enumerate(task.grids.h):
                P, P_test = (recipe.regressors(clusters, h, task.X[part], task.order) for part in (train, test))
                for j, lam in enumerate(task.grids.lam):
                    scores[i, j] += mean_recall(task.y[test], answers(P_test, recipe.fit(P, task.y[train], lam)))
        i, j = np.unravel_index(np.argmax(scores), scores.shape)
        h, lam = task.grids.h[i], task.grids.lam[j]
        clusters = Clusters.found(task, clusterer(**task.chosen), task.X, task.y)
        B = recipe.fit(recipe.regressors(clusters, h, task.X, task.order), task.y, lam)
        return PlainRules(recipe, clusters, h, task.order, B), task.chosen | {"width_scale": h, "alpha": lam}

    return fit


# --- the list

SMALL = tuple(name for name in NAMES if name not in ("waveform21", "satellite"))
FOUR = ("vehicle", "biodeg", "drd", "segment")
FEW = ("wdbc", "vehicle", "biodeg", "drd")


@dataclass(frozen=True)
class Variant(Method):
    """A method of the protocol with one thing changed."""

    datasets: tuple[str, ...] = NAMES
    splits: int = 10
    linear: tuple[str, ...] = NAMES
    linear_splits: int = 5
    """Data sets and splits for first-order rules, which take far longer."""


def sessc(name: str, change: Callable[[type], Make], **settings: Any) -> dict[str, Variant]:
    """SESSC changed, by itself and as the source of rules."""
    alone = by_itself(change(SESSC), change(SESSCClassifier), lambda grids: grids.sessc)
    return {
        f"SESSC, {name}": Variant(alone, **settings),
        f"SESSC-LSE, {name}": Variant(with_chosen(change(SESSC)), after=f"SESSC, {name}", **settings),
    }


def with_time(name: str) -> Variant:
    """A method of the protocol on the other reading of WPBC."""
    method = METHODS[name]
    after = method.after and f"{method.after}, with follow-up time"
    return Variant(method.fit, method.orders, after, ("wpbc_with_time",), 20, ("wpbc_with_time",), 20)


def sfp(n_rules: int) -> Callable[[Task], Fitted]:
    return lambda task: METHODS["SFP"].fit(replace(task, n_rules=n_rules))


def narrow(name: str, h: float) -> Variant:
    """First-order rules whose widths go no further than this."""

    def fit(task: Task) -> Fitted:
        kept = tuple(value for value in task.grids.h if value <= h)
        return METHODS[name].fit(replace(task, grids=replace(task.grids, h=kept)))

    return Variant(fit, (1,), METHODS[name].after, linear=("drd", "steel"), linear_splits=10)


def balanced(task: Task) -> Fitted:
    """SESSC-LSE whose least squares weighs all classes alike."""
    model = task.search(SESSC(**task.chosen), {}, search="joint", class_weight="balanced")
    return model, task.chosen | model.best_params_


def sfp_as_printed(task: Task) -> Fitted:
    return METHODS["SFP"].fit(replace(task, grids=replace(task.grids, sfp_lam=Grids().sfp_lam[1:])))


def sfp_widely(task: Task) -> Fitted:
    """SFP whose penalty on feature weights may be as strong as SESSC's, and stronger."""
    stronger = (0.002, 0.005, 0.01, 0.02)
    return METHODS["SFP"].fit(replace(task, grids=replace(task.grids, sfp_lam=stronger + task.grids.sfp_lam)))


def searched(clusterer: Make, **grid: tuple) -> Callable[[Task], Fitted]:
    """Rules of a clustering algorithm the paper did not run, its parameters searched jointly with h and lambda."""

    def fit(task: Task) -> Fitted:
        model = task.search(clusterer(), grid, search="joint")
        return model, model.best_params_

    return fit


RANDOM = {"init": "random"}

VARIANTS: dict[str, Variant] = {
    "FCM-LSE, floors and random memberships": Variant(
        cooked(Recipe(floored=True), starting_from_memberships(FlooredFCM)),
        orders=(0, 1),
        splits=15,
        linear_splits=3,
    ),
    "FCM-LSE, floors, random memberships and code's widths": Variant(
        cooked(Recipe(floored=True, square_widths=True), starting_from_memberships(FlooredFCM)),
        orders=(0, 1),
        linear=("wpbc", "drd", "satellite"),
        linear_splits=3,
    ),
    "FCM-LSE, floors alone": Variant(cooked(Recipe(floored=True), FlooredFCM)),
    "FCM-LSE, random memberships alone": Variant(least_squares(starting_from_memberships(FCM))),
    "FCM-LSE, random start": Variant(least_squares(partial(FCM, **RANDOM))),
    "FCM-LSE, code's widths": Variant(cooked(Recipe(square_widths=True), FCM)),
    "EWFCM-LSE, random start": Variant(least_squares(partial(EWFCM, **RANDOM), "gamma")),
    "EWFCM-LSE, constant column": Variant(
        least_squares(minimising(Everything, EWFCM), "gamma"), datasets=("segment",)
    ),
    "ESSC-LSE, constant column": Variant(
        least_squares(minimising(Everything, ESSC), "gamma", "eta"), datasets=("segment",)
    ),
    "EWFCM-LSE, through a kernel": Variant(
        searched(KernelEWFCM, gamma=Grids().gamma, width=(1.0, 2.0, 4.0)), datasets=NAMES[:-1], splits=5
    ),
    "EWFCM-LSE, SCAD's delta": Variant(
        searched(partial(SCAD, penalty="l2"), delta=(1.0, 10.0, 100.0, 1000.0, 10000.0)),
        datasets=FEW,
        splits=5,
    ),
    "EWFCM-LSE, SCAD's adaptive delta": Variant(
        searched(partial(SCAD, penalty="adaptive"), delta=(0.1, 1.0, 10.0, 100.0, 1000.0)),
        datasets=FEW,
        splits=5,
    ),
    "SFP, wider range": Variant(sfp_widely, splits=30),
    "SFP, printed range": Variant(sfp_as_printed, splits=14),
    "SFP, 100 rules": Variant(sfp(100), datasets=FOUR, splits=3),
    "SFP, 300 rules": Variant(sfp(300), datasets=FOUR, splits=2),
    **sessc("constant column", partial(minimising, Everything), datasets=("segment",)),
    **sessc("random start", lambda estimator: partial(estimator, **RANDOM), datasets=SMALL, splits=8),
    **sessc("Z from clusters", starting_from_clusters, datasets=SMALL, splits=8),
    **sessc("squared loss", lambda estimator: partial(estimator, loss="squared"), datasets=SMALL, splits=8),
    **sessc("eta per sample", partial(minimising, LoweredEta), datasets=SMALL, splits=8),
    "SESSC-LSE, searched jointly": Variant(
        least_squares(SESSC, "gamma", "eta", "beta"), datasets=("wpbc", "drd"), splits=30
    ),
    "SESSC-LSE, code's widths": Variant(
        cooked(Recipe(square_widths=True), SESSC), (0, 1), "SESSC", splits=30, linear=("drd", "steel")
    ),
    "SESSC-LSE, no intercept": Variant(
        cooked(Recipe(intercept=False), SESSC), after="SESSC", orders=(0, 1), linear=("drd", "steel")
    ),
    "SESSC-LSE, floored firing": Variant(
        cooked(Recipe(floored=True), SESSC), after="SESSC", orders=(0, 1), linear=("drd", "steel")
    ),
    "SESSC-LSE, balanced classes": Variant(balanced, after="SESSC"),
    "SESSC-LSE, h up to 10": narrow("SESSC-LSE", 10.0),
    **{f"{name}, h up to 1": narrow(name, 1.0) for name in METHODS if "LSE" in name},
    **{f"{name}, with follow-up time": with_time(name) for name in METHODS},
}


def compute(unit: Unit, grids: Grids, chosen: dict[str, Any]) -> Result:
    return judge(unit, VARIANTS[unit.method], grids, chosen)


def units(names: list[str]) -> Iterator[Unit]:
    """Splits outermost, so that an interrupted run has seen all variants."""
    for split in range(30):
        for name in names:
            variant = VARIANTS[name]
            for order in variant.orders:
                datasets = variant.linear if order else variant.datasets
                if split < (variant.linear_splits if order else variant.splits):
                    yield from (Unit(dataset, split, order, name) for dataset in datasets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long, to be resumed")
    options = parser.parse_args()
    work = Work(VARIANTS, compute, known=Results(RESULTS / "protocol.csv"))
    results = Results(RESULTS / "variants.csv")
    run(work, list(units(options.only)), results, Grids(), options.jobs, options.minutes)


if __name__ == "__main__":
    main()
