"""Results on disk: one line for each unit of work, appended as soon as it is known."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

__all__ = ["Result", "Results"]


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
    """The lines of a file, by unit; adding one appends it to the file."""

    def __init__(self, path: Path, kind: type[Result] = Result):
        self.path = path
        self._by_key: dict[tuple, Result] = {}
        header = [field.name for field in fields(kind)]
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append(header)
            return
        good = [header]
        with path.open(newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.reader(file), start=1):
                if row == header:
                    continue
                try:
                    result = kind.parse(row)
                except ValueError as error:
                    print(f"{path.name}, line {number} is damaged ({error}) and will be redone.", file=sys.stderr)
                    continue
                if result.key not in self._by_key:
                    self._by_key[result.key] = result
                    good.append(row)
        self._rewrite(good)

    def add(self, result: Result) -> None:
        self._by_key[result.key] = result
        self._append([str(value) for value in asdict(result).values()])

    def __contains__(self, key: tuple) -> bool:
        return key in self._by_key

    def __getitem__(self, key: tuple) -> Result:
        return self._by_key[key]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._by_key.values())

    def _append(self, row: list[str]) -> None:
        with self.path.open("a", newline="", encoding="utf-8") as file:
            file.write(_line(row))

    def _rewrite(self, rows: list[list[str]]) -> None:
        text = "".join(map(_line, rows))
        if self.path.read_text(encoding="utf-8") != text:
            spare = self.path.with_suffix(".new")
            spare.write_text(text, encoding="utf-8", newline="")
            spare.replace(self.path)


def _line(row: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(row)
    return buffer.getvalue()
