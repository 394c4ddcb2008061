"""Load: thousands of fits and predictions from many threads and forked workers, answers equal and memory flat.

python -m hunt.soak               # 10,000 fits
python -m hunt.soak --fits 500
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import sessc

from .ledger import Ledger, Outcome

__all__ = ["main", "soaked"]

THREADS, AT_ONCE = 16, 100
GROWTH = 32.0
"""MiB by which memory may grow after the first rounds; a fit that kept its table would take 38 in ten thousand."""
SETTLED = 5
"""Rounds after which allocators have what they need."""
LEDGER = Path(__file__).parent / "results" / "soak.jsonl"

MODELS: list[Callable[[int], Any]] = [
    lambda seed: sessc.TSKClassifier(n_rules=3, random_state=seed),
    lambda seed: sessc.TSKClassifier(n_rules=2, refine=5, random_state=seed),
    lambda seed: sessc.TSKClassifier(n_rules=2, order=1, n_jobs=2, random_state=seed),
    lambda seed: sessc.SESSCClassifier(3, random_state=seed),
]


def _table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


def _answer(number: int) -> bytes:
    """What a model says, to the last bit."""
    X, y = _table(number % 7)
    model = MODELS[number % len(MODELS)](number % 3).fit(X, y)
    return np.asarray(model.predict_proba(X)).tobytes()


def soaked(n: int, begin: int, expected: dict[int, bytes]) -> None:
    """So many fits from many threads, and some in forked workers meanwhile; each answers as it does alone."""
    numbers = range(begin, begin + n)
    with ThreadPoolExecutor(THREADS) as pool:
        found = [pool.submit(_answer, number) for number in numbers]
        workers = [_forked(number) for number in (begin, begin + 1)]
        for number, future in zip(numbers, found, strict=True):
            _equal(future.result(), expected, number)
    for number, (process, pipe) in zip((begin, begin + 1), workers, strict=True):
        if not pipe.poll(300):
            process.kill()
            raise RuntimeError("a forked worker hangs")
        _equal(pipe.recv_bytes(), expected, number)
        process.join()


def _forked(number: int) -> tuple[Any, Any]:
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=lambda: there.send_bytes(_answer(number)))
    process.start()
    there.close()
    return process, here


def _equal(found: bytes, expected: dict[int, bytes], number: int) -> None:
    if found != expected[number % len(expected)]:
        raise RuntimeError(f"fit {number} answers otherwise than alone")


def _resident() -> float:
    """Memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="hunt.soak", description=__doc__)
    parser.add_argument("--fits", type=int, default=int(os.environ.get("SOAK_FITS", "10000")))
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    asked = parser.parse_args(arguments)
    ledger, expected = Ledger(asked.ledger), {number: _answer(number) for number in range(84)}
    done, settled = len(list(ledger)) * AT_ONCE, None
    for rounds, begin in enumerate(range(done, asked.fits, AT_ONCE), 1):
        soaked(min(AT_ONCE, asked.fits - begin), begin, expected)
        now = _resident()
        settled = now if rounds == SETTLED else settled
        print(f"{begin + AT_ONCE} fits, {now:.0f} MiB", flush=True)
        if settled is not None and now > settled + GROWTH:
            print(f"memory grew from {settled:.0f} MiB to {now:.0f}")
            return 1
        ledger.add(Outcome("soak", 0, begin // AT_ONCE, "works", f"{now:.0f} MiB"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
