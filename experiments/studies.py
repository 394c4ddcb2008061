"""What the paper's figures show, computed once and recorded: ``results/<study>.csv``.

python -m experiments.studies                 # those whose file is not there yet
python -m experiments.studies convergence     # this one, anew
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sessc import ESSC, EWFCM, FCM, SESSC, SESSCClassifier, SFPClassifier, TSKClassifier
from sessc.datasets import NAMES, make_circles, make_quadrants, make_spiral

from .protocol import STOP, Grids, R, prepared
from .provenance import commit
from .results import RESULTS

SPLITS = 10
NUMBERS_OF_RULES = tuple(range(10, 101, 10))
PAPERS = {"gamma": 10.0, "eta": 0.1, "beta": 1.0}
SYNTHETIC = {"gamma": 100.0, "eta": 0.01, "beta": 0.1}
PROBLEMS = {"circles": make_circles, "spiral": make_spiral}

Row = dict[str, Any]
Calls = Iterator[tuple[Callable[..., list[Row]], tuple]]
"""Calls that each give some rows."""


def synthetic(problem: str) -> tuple[np.ndarray, np.ndarray]:
    """A problem of the paper's boundary figure, as z-scores."""
    X, y = PROBLEMS[problem](random_state=0)
    return StandardScaler().fit_transform(X), y


def quadrants() -> Calls:
    """Centres of ESSC and SESSC on four classes that no gap separates."""
    yield _centers, ()


def _centers() -> list[Row]:
    X, y = make_quadrants(random_state=0)
    found = {
        "ESSC": ESSC(4, gamma=100.0, eta=0.01, random_state=0, **STOP).fit(X),
        "SESSC": SESSC(4, **SYNTHETIC, random_state=0, **STOP).fit(X, y),
    }
    return [
        {"method": method, "rule": r, "x": v[0], "y": v[1]}
        for method, model in found.items()
        for r, v in enumerate(model.cluster_centers_)
    ]


def boundaries() -> Calls:
    """The rules of SESSC and SESSC-LSE on two problems that no line separates."""
    for problem in PROBLEMS:
        for n_rules in (5, 10, 15, 20):
            yield _rules, (problem, n_rules)


def _rules(problem: str, n_rules: int) -> list[Row]:
    X, y = synthetic(problem)
    alone = SESSCClassifier(n_rules, **SYNTHETIC, random_state=0, **STOP).fit(X, y)
    settings = {"clusterer": SESSC(**SYNTHETIC, **STOP), "width_scale": 1.0, "alpha": 0.01, "standardize": False}
    fitted = TSKClassifier(n_rules, **settings, random_state=0).fit(X, y)
    rules = fitted.rules_
    models = {
        "SESSC": (alone, alone.cluster_centers_, alone.feature_weights_, alone.rule_outputs_),
        "SESSC-LSE": (fitted, rules.centers_in_units, rules.widths_in_units, rules.consequents[:, 0]),
    }
    return [
        {
            "problem": problem, "method": method, "n_rules": n_rules,
            "accuracy": 100 * accuracy_score(y, model.predict(X)),
            "v0": v[0], "v1": v[1], "s0": s[0], "s1": s[1], "z0": z[0], "z1": z[1],
        }
        for method, (model, V, S, Z) in models.items()
        for v, s, z in zip(V, S, Z, strict=True)
    ]  # fmt: skip


def rules() -> Calls:
    """RCA and BCA against the number of rules on Vehicle, everything else fixed.

    Once with the printed h and lambda, and once with those that SESSC-LSE's own search prefers there.
    """
    for h, lam in ((100.0, 0.01), (10.0, 0.0001)):
        for split in range(SPLITS):
            for n_rules in NUMBERS_OF_RULES:
                yield _methods, (h, lam, split, n_rules)


def _methods(h: float, lam: float, split: int, n_rules: int) -> list[Row]:
    seed = {"random_state": split}
    unsupervised = {name: PAPERS[name] for name in ("gamma", "eta")}
    prime = {"gamma": 0.9, "alpha": 0.45, "lam": 0.05}
    rules = {"width_scale": h, "alpha": lam, "standardize": False}
    models = {
        "FCM-LSE": TSKClassifier(n_rules, clusterer=FCM(**STOP), **rules, **seed),
        "EWFCM-LSE": TSKClassifier(n_rules, clusterer=EWFCM(gamma=PAPERS["gamma"], **STOP), **rules, **seed),
        "ESSC-LSE": TSKClassifier(n_rules, clusterer=ESSC(**unsupervised, **STOP), **rules, **seed),
        "SFP": SFPClassifier(n_rules, **{name: (1 - v) / v for name, v in prime.items()}, **STOP, **seed),
        "SESSC": SESSCClassifier(n_rules, **PAPERS, **STOP, **seed),
        "SESSC-LSE": TSKClassifier(n_rules, clusterer=SESSC(**PAPERS, **STOP), **rules, **seed),
    }
    return [
        {"h": h, "lam": lam, "method": method, "n_rules": n_rules, "split": split}
        | _accuracies(model, "vehicle", split)
        for method, model in models.items()
    ]


def _accuracies(model: Any, dataset: str, split: int) -> Row:
    X, X_test, y, y_test = prepared(dataset, split)
    answers = model.fit(X, y).predict(X_test)
    return {"rca": 100 * accuracy_score(y_test, answers), "bca": 100 * balanced_accuracy_score(y_test, answers)}


def convergence() -> Calls:
    """SESSC's cost after each iteration on Vehicle."""
    for n_rules in (10, 30, 50, 70, 100):
        for split in range(SPLITS):
            yield _history, (n_rules, split)


def _history(n_rules: int, split: int) -> list[Row]:
    X, _, y, _ = prepared("vehicle", split)
    model = SESSC(n_rules, **PAPERS, random_state=split, max_iter=30, tol=0.0).fit(X, y)
    return [
        {"n_rules": n_rules, "split": split, "iteration": k + 1, "cost": cost}
        for k, cost in enumerate(model.objective_history_)
    ]


def sensitivity() -> Calls:
    """BCA of SESSC when one parameter is moved at a time."""
    grids = Grids()
    values = {"n_rules": NUMBERS_OF_RULES, "gamma": grids.gamma, "eta": grids.eta, "beta": grids.beta}
    for dataset in ("vehicle", "biodeg", "drd"):
        for split in range(SPLITS):
            for parameter in values:
                yield _moved, (dataset, split, parameter, values[parameter])


def _moved(dataset: str, split: int, parameter: str, values: tuple) -> list[Row]:
    rows = []
    for value in values:
        settings = {"n_rules": R, **PAPERS, parameter: value}
        model = SESSCClassifier(settings.pop("n_rules"), **settings, random_state=split, **STOP)
        scores = _accuracies(model, dataset, split)
        rows.append({"dataset": dataset, "split": split, "parameter": parameter, "value": value} | scores)
    return rows


def defaults() -> Calls:
    """What SESSC and SESSC-LSE reach with the same parameters on all data sets: the evidence for our defaults."""
    for dataset in NAMES:
        for split in range(5):
            yield _untuned, (dataset, split)


def _untuned(dataset: str, split: int) -> list[Row]:
    X, X_test, y, y_test = prepared(dataset, split)
    n, d = X.shape
    rows = []
    for gamma, eta, beta in product(("10", "100", "N/30", "N/10"), (0.01, 0.1), (0.1, 1.0)):
        value = n / float(gamma.removeprefix("N/")) if gamma.startswith("N/") else float(gamma)
        clusterer = SESSC(gamma=value, eta=eta, beta=beta, **STOP)
        alone = SESSCClassifier(R, gamma=value, eta=eta, beta=beta, random_state=split, **STOP).fit(X, y)
        bca = {"alone": alone.predict(X_test)}
        for (name, h), lam in product({"sqrt(D)": np.sqrt(d), "10": 10.0}.items(), (1e-4, 1e-2)):
            model = TSKClassifier(R, clusterer=clusterer, width_scale=h, alpha=lam, random_state=split)
            bca[f"h = {name}, lambda = {lam:g}"] = model.fit(X, y).predict(X_test)
        rows += [
            {"dataset": dataset, "split": split, "gamma": gamma, "eta": eta, "beta": beta, "rules": name}
            | {"bca": 100 * balanced_accuracy_score(y_test, answers)}
            for name, answers in bca.items()
        ]
    return rows


STUDIES: dict[str, Callable[[], Calls]] = {
    study.__name__: study for study in (quadrants, boundaries, rules, convergence, sensitivity, defaults)
}


def _alone(call: Callable[..., list[Row]], arguments: tuple) -> list[Row]:
    with threadpool_limits(1):
        return call(*arguments)


def record(name: str, n_jobs: int) -> None:
    """Compute a study and write it, all of it or nothing."""
    code, started = commit(), time.perf_counter()
    parts = Parallel(n_jobs)(delayed(_alone)(*call) for call in STUDIES[name]())
    rows = [row | {"commit": code} for part in parts for row in part]
    path = RESULTS / f"{name}.csv"
    with path.with_suffix(".new").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    path.with_suffix(".new").replace(path)
    print(f"{name}: {len(rows)} rows in {time.perf_counter() - started:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []], metavar="STUDY", help=", ".join(STUDIES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    options = parser.parse_args()
    for name in options.studies or [name for name in STUDIES if not (RESULTS / f"{name}.csv").exists()]:
        record(name, options.jobs)


if __name__ == "__main__":
    main()
