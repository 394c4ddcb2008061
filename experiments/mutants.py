"""Small faults put into the formulas one by one, to see whether the tests of each module notice.

    python -m experiments.mutants                       # resuming where the last run stopped
    python -m experiments.mutants --minutes 30          # as many as that allows, of each module in turn
    python -m experiments.mutants --each 20 --seed 1    # so many of each module, others
    python -m experiments.mutants --again               # survivors nobody has judged, after a test was written
    python -m experiments.mutants --tell                # what is recorded

A mutant is one module with one operator, comparison, number or condition turned into another, in a copy of sources
and tests. The tests of that module, and the examples in it, run on it until the first one fails. What survives is
to be judged: a fault no test sees, or one that changes nothing. Who finds that it changes nothing says why in the
record, in the cell ``judgement``, which begins with ``equivalent``. Mutants of a module come in an order that the
seed alone decides, so that more of them go on where fewer stopped.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from .provenance import ROOT, commit
from .results import RESULTS, Results

PATH = RESULTS / "mutants.csv"
EACH = 40
"""Mutants of each module."""
SLOWER, PATIENCE = 4, 30
"""Tests that run so many times longer than on sound code, and so many seconds, count as failed: they never end."""
WARM = [
    *("numpy", "scipy.linalg", "scipy.optimize", "pandas", "polars", "pyarrow", "torch", "array_api_strict"),
    *("sklearn.cluster", "sklearn.datasets", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection"),
    *("hypothesis.extra.numpy", "matplotlib.pyplot", "pytest"),
]
"""What tests import that is not the library, if it is installed."""
ROOM = 16 * 2**30
"""Bytes that tests of a mutant may ask for: some would fill the machine."""

TESTS = {
    "terms/sharing.py": ("sharing", "objective"),
    "terms/losses.py": ("losses", "objective", "cluster"),
    "terms/adaptive.py": ("objective", "mixed", "family"),
    "terms/mixed.py": ("mixed", "objective", "categories"),
    "terms/objective.py": ("objective", "mixed", "family", "cluster"),
    "terms/kernel.py": ("objective", "mixed", "family"),
    "rules/links.py": ("tsk", "summary", "explanation"),
    "rules/base.py": ("tsk", "rule_tables", "categories", "editing", "mixed", "explanation"),
    "rules/conditions.py": ("categories", "rule_tables", "text", "evidence", "editing", "explanation"),
    "rules/summary.py": ("summary", "text", "evidence"),
    "tsk/consequents.py": ("consequents", "tsk"),
    "tsk/refine.py": ("descent", "refine", "mixed"),
    "tsk/simplify.py": ("short_rules", "refine"),
}
"""By module: the tests that are about it, the quickest first. Kernels of graphics cards are not in it."""

OTHER: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Line:
    """What became of one mutant."""

    module: str
    line: int
    column: int
    fault: str
    text: str
    """The line of the module as it is without the fault."""
    killed: int
    seconds: float
    commit: str
    judgement: str = ""
    """Why nobody need notice, once somebody has thought about a survivor."""

    @property
    def key(self) -> tuple:
        return self.module, self.line, self.column, self.fault

    @property
    def is_equivalent(self) -> bool:
        return not self.killed and self.judgement.startswith("equivalent")

    @classmethod
    def parse(cls, row: list[str]) -> Line:
        """A line from its cells; a ValueError if any of them is damaged."""
        module, line, column, fault, text, killed, seconds, of, judgement = row
        return cls(module, int(line), int(column), fault, text, int(killed), float(seconds), of, judgement)


@dataclass(frozen=True)
class Mutant:
    """A place in a module, and what is put there."""

    line: int
    column: int
    fault: str
    put: Callable[[], None]
    """Changes the tree the mutant is of."""


def mutants_of(tree: ast.Module) -> Iterator[Mutant]:
    """Every small fault a module could have; types, messages and names have none that tests could see."""
    for node in _said(tree):
        match node:
            case ast.BinOp(left=first) | ast.BoolOp(values=[first, *_]) | ast.AugAssign(target=first):
                if type(node.op) in OTHER:
                    yield _swap(first, node, "op", node.op)
            case ast.Compare():
                for place, (first, of) in enumerate(zip([node.left, *node.comparators], node.ops, strict=False)):
                    yield _swap(first, node.ops, place, of)
            case ast.UnaryOp(op=ast.USub()):
                yield _put(node, "op", ast.UAdd(), "- dropped")
            case ast.UnaryOp(op=ast.Not()):
                yield _put(node, "operand", ast.UnaryOp(ast.Not(), node.operand), "not dropped")
            case ast.If() | ast.IfExp() | ast.While():
                yield _put(node, "test", ast.UnaryOp(ast.Not(), node.test), "condition turned")
            case ast.Constant(value=bool() | int() | float() as value):
                other = _other_number(value)
                yield _put(node, "value", other, f"{value!r} to {other!r}")


def _other_number(value: float) -> float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2 * value + 1


def _put(node: ast.expr | ast.stmt, field: str, value: object, fault: str) -> Mutant:
    return Mutant(node.lineno, node.col_offset, fault, partial(_set, node, field, value))


def _swap(first: ast.expr, holder: object, place: str | int, of: ast.AST) -> Mutant:
    """Another operator, told from others by where what it comes after ends."""
    other = OTHER[type(of)]()
    fault = f"{type(of).__name__} to {type(other).__name__}"
    return Mutant(first.end_lineno, first.end_col_offset, fault, partial(_set, holder, place, other))  # type: ignore[arg-type]


def _set(holder: object, place: str | int, value: object) -> None:
    if isinstance(holder, list):
        holder[place] = value  # type: ignore[index]
    else:
        setattr(holder, str(place), value)


def _said(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are computed with."""
    yield node
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, (ast.Raise, ast.JoinedStr)):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _said(child)


def drawn(source: str, each: int, seed: int) -> list[int]:
    """Which mutants of a module are tried, in this order; fewer are the first of more."""
    numbers = list(range(sum(1 for _ in mutants_of(ast.parse(source)))))
    random.Random(seed).shuffle(numbers)
    return numbers[:each]


def in_turn(modules: list[str], each: int, seed: int) -> Iterator[tuple[str, int]]:
    """Mutants of each module in turn, so that a run that is stopped has tried about as many of each."""
    columns = [[(module, number) for number in drawn(sound(module), each, seed)] for module in modules]
    return (one for turn in zip_longest(*columns) for one in turn if one is not None)


def sound(module: str) -> str:
    return (ROOT / "src" / "sessc" / module).read_text()


def mutated(source: str, number: int) -> tuple[str, Mutant]:
    """A module with one of its faults."""
    tree = ast.parse(source)
    mutant = list(mutants_of(tree))[number]
    mutant.put()
    return ast.unparse(ast.fix_missing_locations(tree)), mutant


class Laboratory:
    """A copy of sources and tests, where modules are changed and tested one at a time."""

    def __init__(self, folder: Path):
        self.folder = folder
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        self._limits: dict[str, float] = {}

    def kills(self, module: str, source: str) -> tuple[bool, float]:
        """Whether the tests of a module fail with another source in its place, or never end; and seconds."""
        if module not in self._limits:
            passed, seconds = self._run(module, ast.unparse(ast.parse(sound(module))), None)
            if not passed:
                raise SystemExit(f"Tests of {module} fail without a fault in it: mend them first.")
            self._limits[module] = SLOWER * seconds + PATIENCE
        passed, seconds = self._run(module, source, self._limits[module])
        return not passed, seconds

    def _run(self, module: str, source: str, limit: float | None) -> tuple[bool, float]:
        """Whether tests pass, in a process of their own: forked, since imports take longer than most tests."""
        place = self.folder / "src" / "sessc" / module
        place.write_text(source)
        began = time.monotonic()
        child = os.fork()
        if not child:
            self._be_tested(place, TESTS[module], keeps=limit is None)
        try:
            passed = _ended_well(child, limit)
        finally:
            place.write_text(sound(module))
        return passed, time.monotonic() - began

    def _be_tested(self, place: Path, names: Sequence[str], keeps: bool) -> NoReturn:
        """Run tests and examples of a module, and end."""
        failed = 1
        try:
            os.setsid()
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
            os.chdir(self.folder)
            os.environ["PYTHONPATH"] = str(self.folder / "src")
            sys.path[:0] = [os.environ["PYTHONPATH"]]
            sys.dont_write_bytecode = (
                not keeps
            )  # two faults of one length in one second would share what is compiled
            import pytest

            options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(self.folder)]
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is imported already
            failed = int(pytest.main([*options, str(place), *(f"tests/test_{name}.py" for name in names)]))
        finally:
            os._exit(failed)


def warm_up() -> None:
    """Import what tests import, but for the library itself: processes that are forked have it."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    os.environ |= {"TRITON_INTERPRET": "1", "SCIPY_ARRAY_API": "1"}  # as tests/conftest.py does, before any import
    for name in WARM:
        with suppress(ImportError):
            import_module(name)


def _ended_well(child: int, limit: float | None) -> bool:
    """Whether a process ends without a failure, and within so many seconds."""
    until = time.monotonic() + (limit or float("inf"))
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.02)


def try_all(modules: list[str], each: int, seed: int, until: float, again: bool) -> None:
    """Mutants that are not in the record, or survivors in it that nobody has judged, until the time is over."""
    results = Results(PATH, Line)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        warm_up()
        laboratory = Laboratory(Path(folder))
        for module, number in in_turn(modules, each, seed):
            if time.monotonic() > until:
                break
            source, mutant = mutated(sound(module), number)
            text = sound(module).splitlines()[mutant.line - 1].strip()
            line = Line(module, mutant.line, mutant.column, mutant.fault, text, 0, 0.0, commit())
            if not _is_asked_for(line, results, again):
                continue
            killed, seconds = laboratory.kills(module, source)
            line = replace(line, killed=int(killed), seconds=round(seconds, 1))
            (results.replace if again else results.add)(line)  # type: ignore[arg-type]
            print(module, mutant.line, mutant.fault, "killed" if killed else f"SURVIVES  {text}", flush=True)


def _is_asked_for(line: Line, results: Results, again: bool) -> bool:
    if line.key not in results:
        return not again
    known: Line = results[line.key]  # type: ignore[assignment]
    return again and not known.killed and not known.judgement


def tell() -> None:
    """How many were tried, killed, and change nothing, by module; and survivors with what was said of them."""
    lines: list[Line] = list(Results(PATH, Line))  # type: ignore[arg-type]
    for module in [*dict.fromkeys(line.module for line in lines), ""]:
        own = [line for line in lines if line.module == (module or line.module)]
        killed, equivalent = sum(line.killed for line in own), sum(line.is_equivalent for line in own)
        found = f"{len(own)} tried, {killed} killed ({killed / len(own):.1%}), {equivalent} equivalent"
        print(f"{module or 'all'}: {found}, {killed / max(len(own) - equivalent, 1):.1%} of the others")
    for line in lines:
        if not line.killed:
            print(f"{line.module}:{line.line}:{line.column} {line.fault} | {line.text} | {line.judgement}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=EACH, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="when to stop")
    parser.add_argument("--modules", nargs="+", default=list(TESTS), choices=list(TESTS), metavar="MODULE")
    parser.add_argument("--again", action="store_true", help="survivors that nobody has judged, and no others")
    parser.add_argument("--tell", action="store_true", help="what is recorded, and no more")
    asked = parser.parse_args()
    if not asked.tell:
        until = time.monotonic() + 60 * asked.minutes
        try_all(asked.modules, asked.each, asked.seed, until, asked.again)
    tell()


if __name__ == "__main__":
    main()
