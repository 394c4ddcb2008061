"""A display of what remains and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["watching"]


@contextmanager
def watching(todo: list, results: Any) -> Iterator[Callable]:
    """Yields a function to call with each result. Work is weighed by how long its kind took so far."""
    left = {unit.key: unit for unit in todo if unit.key not in results}
    known: dict[tuple, list[float]] = {}
    for result in results:
        known.setdefault((result.dataset, result.order, result.method), []).append(result.seconds)
    started, done = time.perf_counter(), 0.0
    total = len(left)

    def expected(unit: Any) -> float:
        seen = known.get((unit.dataset, unit.order, unit.method))
        return sum(seen) / len(seen) if seen else usual

    usual = 0.0

    def report(result: Any) -> None:
        nonlocal done, usual
        left.pop(result.key, None)
        known.setdefault((result.dataset, result.order, result.method), []).append(result.seconds)
        done += result.seconds
        usual = done / (total - len(left))
        pace = max(done, 1e-3) / (time.perf_counter() - started)
        remaining = sum(map(expected, left.values())) / pace
        print(
            f"{total - len(left):5d}/{total}  {result.dataset:<11} split {result.split:2d}  order {result.order}  "
            f"{result.method:<10} BCA {result.bca:5.1f}  {result.seconds:7.1f} s   "
            f"about {remaining / 60:.0f} min left",
            file=sys.stderr,
            flush=True,
        )

    print(f"{total} units to compute, {len(todo) - total} known already.", file=sys.stderr, flush=True)
    yield report
