"""The hunt, from the command line."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from . import commands, files, laws, models
from .judging import SECONDS, Refused, generator, judged
from .ledger import Case, Ledger, Outcome

__all__ = ["KINDS", "SHARES", "cases", "hunted", "main"]

KINDS: dict[str, Callable[[np.random.Generator], str]] = {
    "tables": models.fitted,
    "raw": models.raw,
    "hands": models.edited,
    "laws": laws.law,
    **files.KINDS,
    "commands": commands.command,
}
SHARES = {
    "tables": 0.4,
    "raw": 0.01,
    "hands": 0.1,
    "laws": 0.15,
    "json": 0.2,
    "csv": 0.07,
    "parquet": 0.06,
    "skops": 0.0094,
    "commands": 0.0006,
}
"""Of all cases: those that take a process of their own are few."""
AT_ONCE = 200
"""Cases that one process goes through: if it dies, that is known of one of them."""
LONGEST = SECONDS + 60
"""Seconds after which a process is ended that has not ended its case by itself."""
LEDGER = Path(__file__).parent / "results" / "ledger.jsonl"


def cases(n: int, seed: int, kinds: tuple[str, ...] = tuple(KINDS)) -> list[Case]:
    """So many cases of a seed, by their shares, all kinds abreast; of more cases the first are those of fewer."""
    found = [Case(kind, seed, k) for kind in kinds for k in range(round(n * SHARES[kind]))]
    return sorted(found, key=lambda case: (case.number / SHARES[case.kind], case.kind))


def hunted(to_do: list[Case], ledger: Ledger) -> Iterator[Outcome]:
    """Run cases in processes of their own, and write down what came of each."""
    remaining = iter(to_do)
    while batch := list(islice(remaining, AT_ONCE)):
        while batch:
            done = set()
            for outcome in _in_a_process(batch):
                ledger.add(outcome)
                done.add(outcome.case)
                yield outcome
            batch = [case for case in batch if case not in done]


def _in_a_process(batch: list[Case]) -> Iterator[Outcome]:
    """What came of cases; if the process dies or hangs, the one at which it did is a fault, and the last.

    It is forked, which is quick, and so must begin where nobody has used Polars: its threads are not there after a
    fork, and whoever waits for them waits for ever.
    """
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(batch, there), daemon=False)
    process.start()
    there.close()
    for case in batch:
        if not here.poll(LONGEST):
            process.kill()  # in compiled code no alarm is heard
        try:
            yield here.recv()
        except EOFError:
            process.join()
            yield Outcome(case.kind, case.seed, case.number, "FAULT", f"the process died: {process.exitcode}")
            return
    process.join()


def _work(batch: list[Case], pipe: object) -> None:
    for case in batch:
        pipe.send(judged(case, KINDS[case.kind]))  # type: ignore[attr-defined]


def _replayed(kind: str, seed: str, number: str) -> int:
    """One case again, where it stands."""
    try:
        print(KINDS[kind](generator(Case(kind, int(seed), int(number)))))
    except Refused as refusal:
        print(f"refused: {refusal}")
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="hunt", description=__doc__)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("HUNT_CASES", "100000")))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--replay", nargs=3, metavar=("KIND", "SEED", "NUMBER"))
    asked = parser.parse_args(arguments)
    if asked.replay:
        return _replayed(*asked.replay)
    ledger = Ledger(asked.ledger)
    done = ledger.done
    to_do = [case for case in cases(asked.cases, asked.seed, tuple(asked.kinds)) if case not in done]
    print(f"{len(to_do)} cases of seed {asked.seed} are to be run, {len(done)} are in {asked.ledger}.", flush=True)
    for outcome in hunted(to_do, ledger):
        if outcome.verdict == "FAULT":
            _tell(outcome)
    for (kind, verdict), times in sorted(ledger.counts().items()):
        print(f"{kind:10} {verdict:10} {times}")
    return 1 if ledger.faults else 0


def _tell(outcome: Outcome) -> None:
    print(f"{outcome.kind} {outcome.seed} {outcome.number}: {outcome.about}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
