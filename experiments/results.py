"""Results on disk: one line for each unit of work, appended as soon as it is known."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

__all__ = ["RESULTS", "Result", "Results"]

RESULTS = Path(os.environ.get("SESSC_RESULTS") or Path(__file__).parent / "results")
"""The folder of what is recorded; ``SESSC_RESULTS`` names another."""


@dataclass(frozen=True)
class Result:
    """How one method did on one split of one data set, in percent."""

    dataset: str
    split: int
    order: int
    method: str
    rca: float
    bca: float
    parameters: str
    seed: int
    version: str
    commit: str
    """The code that computed it; ``<=`` before the one a line was recorded in, where no more is known."""
    seconds: float

    @property
    def key(self) -> tuple:
        return self.dataset, self.split, self.order, self.method

    @classmethod
    def parse(cls, row: list[str]) -> Result:
        """A result from the cells of a line; a ValueError if any of them is damaged."""
        if len(row) != len(fields(cls)):
            raise ValueError(f"{len(row)} cells instead of {len(fields(cls))}")
        kinds = {"int": int, "float": float, "str": str}
        result = cls(*(kinds[str(field.type)](cell) for field, cell in zip(fields(cls), row, strict=True)))
        json.loads(result.parameters)
        if not (0 <= result.rca <= 100 and 0 <= result.bca <= 100):
            raise ValueError("an accuracy that is not a percentage")
        return result


class Results:
    """The lines of a file, by unit; adding one appends it to the file.

    Reading changes nothing. A damaged line is reported and left out, and the file is put in order before the first
    line is added to it.
    """

    def __init__(self, path: Path, kind: type[Result] = Result):
        self.path = path
        self._header = _line([field.name for field in fields(kind)])
        self._by_key: dict[tuple, Result] = {}
        self._sound = False
        if not path.exists():
            return
        text = path.read_bytes().decode("utf-8", errors="replace")
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines, start=1):
            if line == self._header:
                continue
            try:
                result = kind.parse(_cells(line))
            except ValueError as error:
                print(f"{path.name}, line {number} is damaged ({error}) and will be redone.", file=sys.stderr)
                continue
            self._by_key.setdefault(result.key, result)
        self._sound = text == self._text()

    def _text(self) -> str:
        rows = ([str(value) for value in asdict(result).values()] for result in self)
        return self._header + "".join(map(_line, rows))

    def _put_in_order(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        spare = self.path.with_suffix(".new")
        spare.write_text(self._text(), encoding="utf-8", newline="")
        spare.replace(self.path)
        self._sound = True

    def add(self, result: Result) -> None:
        if not self._sound:
            self._put_in_order()
        self._by_key[result.key] = result
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(_line([str(value) for value in asdict(result).values()]))

    def replace(self, result: Result) -> None:
        """Put a line in the place of the one that is there."""
        self._by_key[result.key] = result
        self._put_in_order()

    def __contains__(self, key: tuple) -> bool:
        return key in self._by_key

    def __getitem__(self, key: tuple) -> Result:
        return self._by_key[key]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._by_key.values())


def _cells(line: str) -> list[str]:
    """The cells of one whole line; a ValueError if it was cut off."""
    if not line.endswith("\n"):
        raise ValueError("it has no end")
    try:
        [row] = csv.reader([line], strict=True)
    except csv.Error as error:
        raise ValueError(str(error)) from None
    return row


def _line(row: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(row)
    return buffer.getvalue()
