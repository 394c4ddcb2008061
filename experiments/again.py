"""Recorded lines computed again, to see whether they come back.

    python -m experiments.again --draw 100                                   # at random, over all that is recorded
    python -m experiments.again --draw 100 --record                          # and what came of it, for the page
    python -m experiments.again --methods SESSC --datasets wpbc steel        # these
    python -m experiments.again --methods SESSC --datasets wpbc --replace    # and those that differ recorded anew

A line comes back if its accuracies and its parameters do. Models of other packages are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from threadpoolctl import threadpool_limits

from . import comparison, protocol, variants
from .protocol import Grids, Unit, Work
from .provenance import commit
from .results import RESULTS, Result, Results


def recorded() -> list[tuple[Results, Work]]:
    """Every file of lines, and what computes them."""
    known = Results(RESULTS / "protocol.csv")
    models = {name: protocol.Method(lambda task: (None, {})) for name in comparison.MODELS}
    return [
        (known, Work(protocol.METHODS, protocol.compute)),
        (Results(RESULTS / "variants.csv"), Work(variants.VARIANTS, variants.compute, known)),
        (Results(RESULTS / "comparison.csv", comparison.Compared), Work(models, comparison.compute)),
    ]


def same(before: Result, after: Result) -> bool:
    ours, theirs = ((r.rca, r.bca, json.loads(r.parameters)) for r in (before, after))
    return ours == theirs


def record(outcome: list[tuple[Result, bool]]) -> None:
    """Write which lines were computed again, by which code, and whether they came back."""
    ordered = sorted(outcome, key=lambda pair: (pair[0].method, pair[0].key))
    with (RESULTS / "again.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["dataset", "split", "order", "method", "commit", "by", "same"])
        for line, came_back in ordered:
            writer.writerow([*line.key, line.commit, commit(), "yes" if came_back else "no"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draw", type=int, help="so many lines at random")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--methods", nargs="+", metavar="NAME")
    parser.add_argument("--datasets", nargs="+", metavar="NAME")
    parser.add_argument("--longest", type=float, default=math.inf, help="leave out lines that took more seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one a core)")
    parser.add_argument("--replace", action="store_true", help="record anew what differs")
    parser.add_argument("--record", action="store_true", help="write what came of it to again.csv")
    options = parser.parse_args()
    commit()
    lines = [
        (line, results, work)
        for results, work in recorded()
        for line in results
        if line.method in (options.methods or work.methods)
        and line.method in work.methods
        and line.dataset in (options.datasets or [line.dataset])
        and line.seconds <= options.longest
    ]
    if options.draw:
        lines = random.Random(options.seed).sample(lines, options.draw)
    started = time.perf_counter()
    outcome: list[tuple[Result, bool]] = []
    with ProcessPoolExecutor(options.jobs, initializer=threadpool_limits, initargs=(1,)) as pool:
        running = {}
        for line, results, work in lines:
            unit = Unit(line.dataset, line.split, line.order, line.method)
            running[pool.submit(work.compute, unit, Grids(), work.chosen(unit, results))] = line, results
        for count, future in enumerate(as_completed(running), start=1):
            (line, results), now = running[future], future.result()
            print(f"\r{count}/{len(lines)}, {time.perf_counter() - started:.0f} s", end="", file=sys.stderr)
            outcome.append((line, same(line, now)))
            if not same(line, now):
                print(f"\n{line}\n{now}", flush=True)
                if options.replace:
                    results.replace(now)
    differ = sum(not came_back for _, came_back in outcome)
    print(f"\n{len(lines)} lines computed again with {commit()}, {differ} differ.")
    if options.record:
        record(outcome)


if __name__ == "__main__":
    main()
