"""What the paper's figures show, computed once and recorded: ``results/<study>.csv``.

python -m experiments.studies                 # those whose file is not there yet
python -m experiments.studies convergence     # this one, anew
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sessc import ESSC, EWFCM, FCM, SESSC, SESSCClassifier, SFPClassifier, TSKClassifier
from sessc.datasets import NAMES, make_circles, make_quadrants, make_spiral

from .protocol import N_SPLITS, STOP, Grids, R, prepared
from .provenance import commit
from .results import RESULTS, Results

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

    At what the paper prints; with the h and lambda that each method's own searches took most often there, with 30
    rules; and with all that its own search took on that split.
    """
    for setting, parameters in (("printed", _printed), ("own widths", _own_widths), ("own", _own)):
        for split in range(SPLITS):
            for n_rules in NUMBERS_OF_RULES:
                yield _methods, (setting, parameters(split), split, n_rules)


CLUSTERERS = {"FCM-LSE": FCM, "EWFCM-LSE": EWFCM, "ESSC-LSE": ESSC, "SESSC-LSE": SESSC}
ALONE = {"SFP": SFPClassifier, "SESSC": SESSCClassifier}


def _printed(split: int) -> dict[str, Row]:
    """Parameters by method."""
    clusters = {"FCM-LSE": (), "EWFCM-LSE": ("gamma",), "ESSC-LSE": ("gamma", "eta"), "SESSC-LSE": tuple(PAPERS)}
    widths = {"width_scale": 100.0, "alpha": 0.01}
    prime = {"gamma": 0.9, "alpha": 0.45, "lam": 0.05}
    return {
        **{method: {name: PAPERS[name] for name in names} | widths for method, names in clusters.items()},
        "SFP": {name: (1 - value) / value for name, value in prime.items()},
        "SESSC": PAPERS,
    }


def _own_widths(split: int) -> dict[str, Row]:
    chosen = [_own(other) for other in range(N_SPLITS)]
    both = {method: [(of[method]["width_scale"], of[method]["alpha"]) for of in chosen] for method in CLUSTERERS}
    usual = {method: Counter(pairs).most_common(1)[0][0] for method, pairs in both.items()}
    return _printed(split) | {
        method: _printed(split)[method] | {"width_scale": h, "alpha": lam} for method, (h, lam) in usual.items()
    }


def _own(split: int) -> dict[str, Row]:
    """What searches took, SFP's from the wider range."""
    found = {method: ("protocol", method) for method in CLUSTERERS} | {"SESSC": ("protocol", "SESSC")}
    found["SFP"] = ("variants", "SFP, wider range")
    return {
        method: {
            name.removeprefix("clusterer__"): value
            for name, value in json.loads(_recorded(file)["vehicle", split, 0, line].parameters).items()
        }
        for method, (file, line) in found.items()
    }


@cache
def _recorded(file: str) -> Results:
    return Results(RESULTS / f"{file}.csv")


def _methods(setting: str, parameters: dict[str, Row], split: int, n_rules: int) -> list[Row]:
    rows = []
    for method, own in parameters.items():
        of_rules = {name: own[name] for name in ("width_scale", "alpha") if method in CLUSTERERS}
        of_clusters = {name: value for name, value in own.items() if name not in of_rules} | STOP
        if method in CLUSTERERS:
            model = rules_of(CLUSTERERS[method](**of_clusters), n_rules, split, **of_rules)
        else:
            model = ALONE[method](n_rules, **of_clusters, random_state=split)
        row = {"setting": setting, "h": of_rules.get("width_scale", ""), "lam": of_rules.get("alpha", "")}
        row |= {"method": method, "n_rules": n_rules, "split": split}
        rows.append(row | _accuracies(model, "vehicle", split))
    return rows


def rules_of(clusterer: Any, n_rules: int, seed: int, **settings: Any) -> TSKClassifier:
    """The paper's zero-order rules, of a table of z-scores."""
    return TSKClassifier(n_rules, clusterer=clusterer, standardize=False, random_state=seed, **settings)


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
    """BCA of SESSC and of SESSC-LSE as one parameter is moved at a time; the paper does not say whose it drew."""
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
        n_rules = settings.pop("n_rules")
        models = {
            "SESSC": SESSCClassifier(n_rules, **settings, random_state=split, **STOP),
            "SESSC-LSE": rules_of(SESSC(**settings, **STOP), n_rules, split, width_scale=10.0, alpha=1e-4),
        }
        for method, model in models.items():
            row = {"dataset": dataset, "method": method, "split": split, "parameter": parameter, "value": value}
            rows.append(row | _accuracies(model, dataset, split))
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
