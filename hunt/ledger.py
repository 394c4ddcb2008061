"""What ran and what came of it: a line of JSON for each case, so that a run goes on where the last one stopped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Case", "Ledger", "Outcome"]


@dataclass(frozen=True)
class Case:
    """One case: with these three it can be run again."""

    kind: str
    seed: int
    number: int


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    kind: str
    seed: int
    number: int
    verdict: str
    """``works``, ``sentence`` (it was refused as promised), or ``FAULT``."""
    about: str = ""
    """What it was about, and what was said, if it is a fault."""

    @property
    def case(self) -> Case:
        return Case(self.kind, self.seed, self.number)


class Ledger:
    """Outcomes in a file; a line cut short by a kill is left out, and its case runs again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Outcome]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield Outcome(**json.loads(line))
            except (ValueError, TypeError):
                continue

    def add(self, outcome: Outcome) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            if file.tell() and not _ends_a_line(self.path):
                file.write(b"\n")
            file.write(json.dumps(asdict(outcome)).encode() + b"\n")

    @property
    def done(self) -> set[Case]:
        return {outcome.case for outcome in self}

    @property
    def faults(self) -> list[Outcome]:
        return [outcome for outcome in self if outcome.verdict == "FAULT"]

    def counts(self) -> Counter[tuple[str, str]]:
        return Counter((outcome.kind, outcome.verdict) for outcome in self)


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
