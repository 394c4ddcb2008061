"""The scoreboard: our rules and the models people would otherwise use, on many tables.

    python -m experiments.scoreboard                         # what this environment can compute
    python -m experiments.scoreboard --models default EBM --splits 2 3 --jobs 16 --minutes 8
    python -m experiments.scoreboard --out lines.csv         # new lines elsewhere; known ones are skipped
    python -m experiments.scoreboard --merge lines.csv       # put them into the record

A unit of work is one (set, split, model) and a line of ``results/scoreboard.csv``, written as soon as it is known.
A unit that a model fails on is a line too, which says why. To compute a model again, ``--again`` passes over its
known lines, and the new ones take their places when merged.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_iris
from threadpoolctl import threadpool_limits

import sessc
from sessc.datasets import NAMES

from .comparison import calibration_error
from .contenders import CONTENDERS, OURS
from .development import CLASSES, VALUES, Split, Table, splits
from .provenance import commit
from .real_tables import of_classes, of_values, part_of
from .results import RESULTS, Results

PATH = RESULTS / "scoreboard.csv"
SPLITS = (2, 3, 4, 7, 8)
"""Choices were made on splits 0, 1, 5 and 6 of the development sets."""
LATER = 10
"""The paper's sets are split by its protocol, whose first ten splits had a part in choices: theirs are 12, 13 and
so on."""
OWN = {"iris": load_iris, "digits": load_digits, "diabetes": load_diabetes}
"""scikit-learn's sets, but for wine and breast cancer, which are among the others already."""
OF_CLASSES = (*CLASSES, *NAMES, "iris", "digits")
OF_VALUES = (*VALUES, "diabetes")
SLOW = (
    *(
        "letter",
        "optdigits",
        "digits",
        "satellite",
        "segment",
        "steel",
        "phoneme",
        "splice",
        "chess",
        "waveform21",
    ),
    *(
        "vowel",
        "biodeg",
        "ring",
        "compactiv",
        "casp",
        "electrical_grid_stability",
        "drd",
        "ionosphere",
        "sonar",
        "wdbc",
    ),
)
"""Those that take longest come first, so that none is waited for at the end."""


@dataclass(frozen=True)
class Line:
    """How one model did on one split of one set; NaN where a measure has no meaning or nothing is read."""

    dataset: str
    split: int
    model: str
    version: str
    commit: str
    bca: float = math.nan
    accuracy: float = math.nan
    auc: float = math.nan
    log_loss: float = math.nan
    calibration: float = math.nan
    r2: float = math.nan
    mean_absolute_error: float = math.nan
    rules: float = math.nan
    conditions: float = math.nan
    terms: float = math.nan
    is_rules: bool = False
    parameters: str = "{}"
    seconds: float = math.nan
    predict_seconds: float = math.nan
    machine: str = ""
    failure: str = ""

    @property
    def key(self) -> tuple:
        return self.dataset, self.split, self.model

    @classmethod
    def parse(cls, row: list[str]) -> Line:
        """A line from its cells; a ValueError if any of them is damaged."""
        if len(row) != len(fields(cls)):
            raise ValueError(f"{len(row)} cells instead of {len(fields(cls))}")
        kinds = {"int": int, "float": float, "str": str, "bool": lambda cell: {"True": True, "False": False}[cell]}
        try:
            line = cls(*(kinds[str(field.type)](cell) for field, cell in zip(fields(cls), row, strict=True)))
        except KeyError as error:
            raise ValueError(f"{error} is neither True nor False") from None
        json.loads(line.parameters)
        return line


def part(dataset: str, split: int) -> Split:
    """A set in two, classes counted from 0."""
    if dataset in OWN:
        found = OWN[dataset](as_frame=True)
        y = found.target.to_numpy(float if dataset in OF_VALUES else str)
        whole = splits(Table(dataset, found.data, y), range(split, split + 1))[split]
    else:
        whole = part_of(dataset, split)
    if dataset in OF_VALUES:
        return whole
    known, y = np.unique(whole.y, return_inverse=True)
    return Split(whole.X, y, whole.X_test, np.searchsorted(known, whole.y_test))


def compute(dataset: str, split: int, model: str) -> Line:
    """One unit of work; a line that says why if the model fails."""
    where = {"dataset": dataset, "split": split, "model": model, "version": made_by(model), "commit": commit()}
    data = part(dataset, split)
    try:
        return Line(**where, **judged(model, data, split), machine=machine())
    except ImportError:
        raise
    except Exception as error:  # what a library may raise is not ours to list
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return Line(**where, machine=machine(), failure=reason)


def judged(name: str, data: Split, seed: int) -> dict[str, Any]:
    """A model's figures on one split."""
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rare class in too few folds, a category that is new
        model, read = CONTENDERS[name].fit(data.X, data.y, seed)
        fitted = time.perf_counter()
        model.predict(data.X_test)
        predicted = time.perf_counter()
        measures = figures(model, data)
    last = model[-1] if hasattr(model, "steps") else model
    return {
        **{measure: round(float(value), 6) for measure, value in measures.items()},
        **read._asdict(),
        "parameters": json.dumps(getattr(last, "best_params_", {})),
        "seconds": round(fitted - started, 3),
        "predict_seconds": round(predicted - fitted, 5),
    }


def figures(model: Any, data: Split) -> dict[str, float]:
    """Every measure; a ValueError if an answer is no number."""
    if data.y.dtype == float:
        return {**of_values(model, data), "calibration": math.nan}
    odds = model.predict_proba(data.X_test)
    return {**of_classes(model, data), "calibration": 100 * calibration_error(data.y_test, odds)}


def made_by(model: str) -> str:
    """The library of a model, and its version."""
    package = CONTENDERS[model].package or ("sessc" if model in OURS else "scikit-learn")
    return f"{package} {sessc.__version__ if package == 'sessc' else version(package)}"


def machine() -> str:
    """What seconds are of, as far as that can be said: cores, and the versions that matter."""
    return f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, NumPy {np.__version__}"


def here(models: list[str]) -> list[str]:
    """Those whose library this environment has."""
    return [model for model in models if _installed(CONTENDERS[model].package)]


def _installed(package: str) -> bool:
    try:
        return not package or bool(version(package))
    except PackageNotFoundError:
        return False


def units(models: list[str], numbers: list[int], datasets: list[str]) -> Iterator[tuple[str, int, str]]:
    """Splits outermost, then models, and of each the slowest sets first."""
    ordered = sorted(datasets, key=lambda name: SLOW.index(name) if name in SLOW else len(SLOW))
    for number in numbers:
        for model in models:
            for dataset in ordered:
                yield dataset, number + (LATER if dataset in NAMES else 0), model


def computed(todo: list[tuple[str, int, str]], jobs: int, minutes: float) -> Iterator[Line]:
    """Lines of these units as they come, until time is over."""
    end = time.monotonic() + 60 * minutes
    waiting, running = list(reversed(todo)), set[Future]()
    with ProcessPoolExecutor(jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.add(pool.submit(compute, *waiting.pop()))
            left = None if math.isinf(minutes) else max(0.0, end - time.monotonic())
            done, running = wait(running, left, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
            if not done:
                print(f"{len(waiting) + len(running)} units are left for another run.", file=sys.stderr)
                for worker in active_children():
                    worker.terminate()
                return


def merge(path: Path) -> None:
    """Put the lines of a file into the record, in the places of those that are there."""
    record = Results(PATH, Line)  # type: ignore[arg-type]
    for line in Results(path, Line):  # type: ignore[arg-type]
        if line.key not in record:
            record.add(line)
        elif str(record[line.key]) != str(line):
            record.replace(line)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    every = (*OF_CLASSES, *OF_VALUES)
    parser.add_argument("--models", nargs="+", choices=tuple(CONTENDERS), metavar="NAME")
    parser.add_argument("--datasets", nargs="+", default=every, choices=every, metavar="NAME")
    parser.add_argument("--splits", type=int, nargs="+", default=SPLITS, choices=SPLITS, metavar="NUMBER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long, to be resumed")
    parser.add_argument("--out", type=Path, default=PATH, help="where new lines go (default: the record)")
    parser.add_argument("--again", action="store_true", help="also what the record has; give another --out")
    parser.add_argument("--merge", type=Path, help="put these lines into the record, and compute nothing")
    options = parser.parse_args()
    if options.again and options.out == PATH:
        parser.error("--again needs an --out that is not the record; put its lines into it with --merge")
    return options


def main() -> None:
    options = parsed()
    if options.merge:
        return merge(options.merge)
    commit()  # as it is now, whatever is checked out later
    models = options.models or here(list(CONTENDERS))
    results = Results(options.out, Line)  # type: ignore[arg-type]
    known = Results(PATH, Line) if not options.again else ()  # type: ignore[arg-type]
    every = list(units(models, options.splits, options.datasets))
    todo = [unit for unit in every if unit not in results and unit not in known]
    print(f"{len(todo)} units to compute, {len(every) - len(todo)} known already.", file=sys.stderr, flush=True)
    for k, line in enumerate(computed(todo, options.jobs, options.minutes), 1):
        results.add(line)  # type: ignore[arg-type]
        score = line.failure or (f"R² {line.r2:.3f}" if math.isnan(line.bca) else f"BCA {line.bca:.1f}")
        told = f"{line.dataset} {line.split} {line.model}: {score}, {line.seconds:.1f} s"
        print(f"{k:5d}/{len(todo)}  {told}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
