"""Clustering of several libraries on the same data: time of an iteration, peak memory, goodness of the centres.

    make bench                               # makes the environments the others need
    python -m benchmarks.libraries           # with the environments that are there
    python -m benchmarks.libraries --contenders FCM KMeans --up-to 50000

A measurement is one (contender, size, round), a process of its own and a line of ``results/libraries.csv``.
Within a round contenders take turns, so that a slow moment of the machine meets all alike; ratios are taken within
rounds. What is recorded for this machine and the installed version is not measured again: remove the file to start
anew. It needs Linux, which is asked for cores, limits and memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from experiments.provenance import commit
from experiments.results import Results
from scipy.spatial.distance import cdist

from .contenders import CONTENDERS

ROOT = Path(__file__).parents[1]
PATH = ROOT / "benchmarks" / "results" / "libraries.csv"
ENVIRONMENTS = {
    "scikit-fuzzy": ".venv-fuzzy",
    "soft-clustering": ".venv-fuzzy",
    "scikit-pytsk": ".venv-fuzzy",
    "fuzzy-c-means": ".venv-fuzzy-c-means",  # insists on NumPy 1
}
"""Where packages are that are not beside this library."""
FCMS = ("FCM", "FCM, two cores", "scikit-fuzzy", "fuzzy-c-means", "soft-clustering", "scikit-pytsk")
"""Those that minimise the same cost, so that it may be compared."""


class Size(NamedTuple):
    """Samples, features, clusters."""

    n: int
    d: int
    r: int


HEADLINE = Size(200_000, 36, 30)
CURVES = {
    "n": [Size(n, 36, 30) for n in (5_000, 50_000, 200_000, 1_000_000)],
    "d": [Size(50_000, d, 30) for d in (8, 36, 128)],
    "r": [Size(50_000, 36, r) for r in (10, 30, 100)],
}
ROUNDS = {size: 3 if size.n <= 200_000 else 1 for curve in CURVES.values() for size in curve}
ROUNDS[Size(1_000_000, 128, 100)] = 1
ROUNDS[HEADLINE] = 5
"""Every size measured, small before large, and in how many rounds."""
ONLY_HEADLINE = ("products", "FCM, two cores", "SESSC, two cores")


@dataclass(frozen=True)
class Measurement:
    """What one contender took in one round; NaN where it was left out, for the reason given."""

    contender: str
    n: int
    d: int
    r: int
    round: int
    seconds: float
    """Of one iteration."""
    mebibytes: float
    """At the peak, beyond the data and the code."""
    objective: float
    """The cost of FCM, by the same judge for all; NaN for what minimises another."""
    skipped: str
    version: str
    numpy: str
    machine: str
    load: float
    """Of the machine, over the minute before: other work shows here."""
    date: str
    commit: str
    """The code that was measured, or that measured others; ``<=`` before the one a line was recorded in."""

    @property
    def size(self) -> Size:
        return Size(self.n, self.d, self.r)

    @property
    def key(self) -> tuple:
        return self.contender, *self.size, self.round, self.version, self.machine

    @classmethod
    def parse(cls, row: list[str]) -> Measurement:
        kinds = {"int": int, "float": float, "str": str}
        found = cls(*(kinds[str(field.type)](cell) for field, cell in zip(fields(cls), row, strict=True)))
        if found.seconds <= 0:
            raise ValueError("an iteration that took no time")
        return found


def make_data(size: Size, n_classes: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=size.n)
    return rng.normal(size=(n_classes, size.d))[y] + rng.normal(size=(size.n, size.d)), y


@contextmanager
def stored(size: Size) -> Iterator[Path]:
    """A folder with the data that all contenders read."""
    with TemporaryDirectory() as folder:
        for name, array in zip("Xy", make_data(size), strict=True):
            np.save(Path(folder, f"{name}.npy"), array)
        yield Path(folder)


def fcm_objective(X: np.ndarray, centers: np.ndarray) -> float:
    r"""FCM's cost with m = 2 of these centres and the memberships best for them.

    With :math:`u_{nr} \propto 1 / d_{nr}^2`, the sum of :math:`u_{nr}^2 d_{nr}^2` over r is the reciprocal of the
    sum of :math:`1 / d_{nr}^2`.
    """
    total = 0.0
    for i in range(0, len(X), 8192):
        with np.errstate(divide="ignore"):  # a sample on a centre costs nothing
            total += np.sum(1 / np.sum(1 / cdist(X[i : i + 8192], centers, "sqeuclidean"), axis=1))
    return float(total)


def interpreter(package: str) -> str:
    return str(ROOT / ENVIRONMENTS[package] / "bin" / "python") if package in ENVIRONMENTS else sys.executable


@cache
def installed(package: str) -> str:
    """The version that is installed; empty if there is none."""
    ask = f"from importlib.metadata import version; print(version({package!r}))"
    try:
        return subprocess.run([interpreter(package), "-c", ask], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


@cache
def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} cores"


def measured(name: str, folder: Path, size: Size, round: int = 0, seconds: float = 3.0) -> Measurement:
    """One contender in a process of its own, repeating for some seconds what is faster than that."""
    package = CONTENDERS[name].package
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [interpreter(package), "-m", "benchmarks.contenders", name, str(folder), str(size.r), str(seconds)]
    load, _, _ = os.getloadavg()
    ended = subprocess.run(command, cwd=ROOT, env=os.environ | one_thread, capture_output=True, text=True)
    said: dict[str, Any] = {"version": installed(package), "numpy": ""}
    try:
        said |= json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        print(ended.stderr, file=sys.stderr)
        said["skipped"] = f"it ended with status {ended.returncode}"
    centers = np.asarray(said.get("centers", []))
    judged = name in FCMS and centers.size
    return Measurement(
        contender=name,
        **size._asdict(),
        round=round,
        seconds=said.get("seconds", np.nan),
        mebibytes=said.get("mebibytes", np.nan),
        objective=fcm_objective(np.load(folder / "X.npy", mmap_mode="r"), centers) if judged else np.nan,
        skipped=said.get("skipped", ""),
        version=said["version"],
        numpy=said["numpy"],
        machine=machine(),
        load=load,
        date=date.today().isoformat(),
        commit=commit(),
    )


def missing(names: list[str], size: Size, results: Results) -> list[tuple[int, str]]:
    """The turns that are not recorded, round by round; a contender once left out has no further turn."""
    versions = {name: installed(CONTENDERS[name].package) for name in names}
    here = [line for line in results if line.machine == machine() and line.version == versions.get(line.contender)]
    out = {line.contender for line in here if line.size == size and line.skipped}
    return [
        (round, name)
        for round in range(ROUNDS[size])
        for name in names
        if versions[name] and name not in out and (size == HEADLINE or name not in ONLY_HEADLINE)
        if (name, *size, round, versions[name], machine()) not in results
    ]


def compare(names: list[str], size: Size, results: Results) -> None:
    turns = missing(names, size, results)
    if not turns:
        return
    with stored(size) as folder:
        left_out = set()
        for round, name in turns:
            if name in left_out:
                continue
            found = measured(name, folder, size, round)
            results.add(found)
            if found.skipped:
                left_out.add(name)
            took = found.skipped or f"{1e3 * found.seconds:10.2f} ms {found.mebibytes:9.1f} MiB"
            print(f"N = {size.n:9,}  D = {size.d:3}  R = {size.r:3}  round {round}  {name:16} {took}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS), metavar="NAME")
    parser.add_argument("--up-to", type=int, default=max(size.n for size in ROUNDS), help="largest N")
    chosen = parser.parse_args()
    for name in chosen.contenders:
        if not installed(CONTENDERS[name].package):
            print(f"{name} is not installed and left out; make bench makes the environments.")
    for size in sorted(ROUNDS):
        if size.n <= chosen.up_to:
            compare(chosen.contenders, size, Results(PATH, Measurement))


if __name__ == "__main__":
    main()
