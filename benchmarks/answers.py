"""Time to an answer: whole fits of clusterings, and searches for a model, beside those of other libraries.

    make bench
    python -m benchmarks.answers                   # what is not recorded yet
    python -m benchmarks.answers --up-to 10000     # rows

A measurement is one (task, contender, round), a process of its own with one thread, and a line of
``results/answers.csv``. Contenders take turns within a round, and ratios are taken within rounds. Seconds are
those of the processor, so that other work on the machine does not count. What is recorded for this machine is not
measured again: remove lines to measure anew.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
PATH = ROOT / "benchmarks" / "results" / "answers.csv"

Data = tuple[np.ndarray, np.ndarray]


def clouds(n: int) -> Data:
    """Six overlapping Gaussian clouds in 36 features, as for single iterations."""
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=n)
    return rng.normal(size=(6, 36))[y] + rng.normal(size=(n, 36)), y


def table(n: int) -> Data:
    """Two classes by a few of 25 features, some of them together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 25))
    logit = X[:, 0] - X[:, 1] + np.where(X[:, 2] > 0, 2 * X[:, 3], -2 * X[:, 3]) + np.sin(2 * X[:, 4])
    return X, (logit + rng.logistic(size=n) > 0).astype(int)


def shipped(name: str) -> Data:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


class Task(NamedTuple):
    """What is to be answered: clusters of samples, or a classifier that tunes itself."""

    kind: str
    data: str
    n: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.data} {self.n}"

    def load(self) -> Data:
        made: dict[str, Callable[[int], Data]] = {"clouds": clouds, "table": table}
        return made[self.data](self.n) if self.data in made else shipped(self.data)


def fcm(X: np.ndarray, y: np.ndarray) -> Any:
    from sessc import FCM

    return FCM(30, random_state=0).fit(X)


def supervised(X: np.ndarray, y: np.ndarray) -> Any:
    from sessc import SESSC

    return SESSC(30, random_state=0).fit(X, y)


def k_means(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(30, random_state=0).fit(X)


def mixture(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(30, covariance_type="diag", random_state=0).fit(X)


def default_search(X: np.ndarray, y: np.ndarray) -> Any:
    from sessc import TSKClassifierCV

    return TSKClassifierCV(random_state=0).fit(X, y)


def svm_grid(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5).fit(X, y)


def boosted_trees(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0).fit(X, y)


def explainable_boosting(X: np.ndarray, y: np.ndarray) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1).fit(X, y)


CONTENDERS: dict[str, dict[str, Callable[[np.ndarray, np.ndarray], Any]]] = {
    "clusters": {"KMeans": k_means, "FCM": fcm, "SESSC": supervised, "GaussianMixture": mixture},
    "search": {
        "SVM grid": svm_grid,
        "default search": default_search,
        "boosted trees": boosted_trees,
        "EBM": explainable_boosting,
    },
}
"""By kind of task; the first is what others are compared with."""
TASKS = [
    *(Task("search", name, n) for name, n in (("iris", 150), ("wine", 178), ("breast_cancer", 569))),
    *(Task("search", "table", n) for n in (1_000, 3_000, 10_000, 30_000, 100_000)),
    *(Task("clusters", "clouds", n) for n in (5_000, 20_000, 50_000, 200_000)),
]
MOST_ROWS = {"SVM grid": 3_000, "EBM": 200}
"""Of more rows these take minutes, and are left out."""
LEFT_OUT = {("wine", "EBM")}
"""Where one takes minutes all the same."""
ROUNDS = 3


@dataclass(frozen=True)
class Answer:
    """What one contender took in one round."""

    kind: str
    data: str
    n: int
    contender: str
    round: int
    seconds: float
    """Of the processor, for the whole fit."""
    machine: str
    load: float
    date: str
    commit: str

    @property
    def task(self) -> Task:
        return Task(self.kind, self.data, self.n)

    @property
    def key(self) -> tuple:
        return self.kind, self.data, self.n, self.contender, self.round, self.machine

    @classmethod
    def parse(cls, row: list[str]) -> Answer:
        kinds = {"int": int, "float": float, "str": str}
        return cls(*(kinds[str(field.type)](cell) for field, cell in zip(fields(cls), row, strict=True)))


def interpreter(contender: str) -> Path:
    """Where the contender's package is; the EBM has an environment of its own."""
    return ROOT / ".venv-interpret" / "bin" / "python" if contender == "EBM" else Path(sys.executable)


def measured(task: Task, contender: str, round: int) -> Answer:
    """One contender in a process of its own."""
    from experiments.provenance import commit

    from .libraries import machine

    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [str(interpreter(contender)), "-m", "benchmarks.answers", "--one", *map(str, task), contender]
    load, _, _ = os.getloadavg()
    said = subprocess.run(
        command, cwd=ROOT, env=os.environ | one_thread, capture_output=True, text=True, check=True
    )
    today = date.today().isoformat()
    return Answer(*task, contender, round, float(said.stdout.split()[-1]), machine(), load, today, commit())


def one(kind: str, data: str, n: str, contender: str) -> float:
    """How long a contender takes, in this process: what it imports and does first at all does not count."""
    warnings.simplefilter("ignore")
    task, fit = Task(kind, data, int(n)), CONTENDERS[kind][contender]
    X, y = task.load()
    fit(X[-120:] if len(X) > 120 else X, y[-120:] if len(np.unique(y[-120:])) > 1 else np.arange(120) % 2)
    started = time.process_time()
    fit(X, y)
    return time.process_time() - started


def main() -> None:
    from experiments.results import Results

    from .libraries import machine

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--one", nargs=4, metavar=("KIND", "DATA", "N", "CONTENDER"), help="in this process")
    parser.add_argument("--up-to", type=int, default=max(task.n for task in TASKS), help="rows, at most")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    if chosen.one:
        print(one(*chosen.one))
        return
    results = Results(PATH, Answer)
    for round in range(chosen.rounds):
        for task in (task for task in TASKS if task.n <= chosen.up_to):
            for contender in CONTENDERS[task.kind]:
                left_out = task.n > MOST_ROWS.get(contender, task.n) or not interpreter(contender).exists()
                left_out = left_out or (task.data, contender) in LEFT_OUT
                if left_out or (*task, contender, round, machine()) in results:
                    continue
                found = measured(task, contender, round)
                results.add(found)
                print(f"{task.name:24} round {round}  {contender:16} {found.seconds:8.2f} s", flush=True)


if __name__ == "__main__":
    main()
