"""Small faults put into the formulas one by one, to see whether the tests of each module notice.

    python -m experiments.mutants                       # resuming where the last run stopped
    python -m experiments.mutants --each 20 --seed 1    # so many of each module, others

A mutant is one module with one operator, comparison, number or condition turned into another, in a copy of the
package. The tests of that module run on it until the first one fails. What survives is a line to be judged: a
fault no test sees, or one that changes nothing. Of each module as many are drawn as ``--each`` says, by the seed,
so that the whole takes a known time.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .provenance import ROOT, commit
from .results import RESULTS, Results

PATH = RESULTS / "mutants.csv"
EACH, LIMIT = 40, 300
"""Mutants of each module, and seconds after which its tests count as failed: they wait for something."""

TESTS = {
    "terms/sharing.py": ("sharing", "objective"),
    "terms/losses.py": ("losses", "objective", "targets"),
    "terms/adaptive.py": ("objective", "mixed", "family"),
    "terms/mixed.py": ("mixed", "objective", "categories"),
    "terms/objective.py": ("objective", "mixed", "family", "cluster"),
    "rules/links.py": ("tsk", "summary", "explanation"),
    "rules/base.py": ("tsk", "summary", "rule_tables", "editing", "explanation", "mixed"),
    "rules/conditions.py": ("tsk", "text", "rule_tables", "evidence", "explanation", "editing", "categories"),
    "tsk/consequents.py": ("consequents", "tsk"),
    "tsk/refine.py": ("refine", "descent", "short_rules", "mixed"),
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
    killed: int
    commit: str

    @property
    def key(self) -> tuple:
        return self.module, self.line, self.column, self.fault

    @classmethod
    def parse(cls, row: list[str]) -> Line:
        """A line from its cells; a ValueError if any of them is damaged."""
        module, line, column, fault, killed, of = row
        return cls(module, int(line), int(column), fault, int(killed), of)


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
            case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in OTHER:
                yield _swap(node, node, "op", node.op)
            case ast.Compare():
                for place, of in enumerate(node.ops):
                    yield _swap(node, node.ops, place, of)
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


def _swap(node: ast.expr | ast.stmt, holder: object, place: str | int, of: ast.AST) -> Mutant:
    other = OTHER[type(of)]()
    fault = f"{type(of).__name__} to {type(other).__name__}"
    return Mutant(node.lineno, node.col_offset, fault, partial(_set, holder, place, other))


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
    """Which mutants of a module are tried."""
    n_mutants = sum(1 for _ in mutants_of(ast.parse(source)))
    return sorted(random.Random(seed).sample(range(n_mutants), min(each, n_mutants)))


def mutated(source: str, number: int) -> tuple[str, Mutant]:
    """A module with one of its faults."""
    tree = ast.parse(source)
    mutant = list(mutants_of(tree))[number]
    mutant.put()
    return ast.unparse(ast.fix_missing_locations(tree)), mutant


def survives(package: Path, module: str, source: str) -> bool:
    """Whether the tests of a module pass with another source in its place, in a copy of the package."""
    place = package / "sessc" / module
    sound = place.read_text()
    place.write_text(source)
    tests = [f"tests/test_{name}.py" for name in TESTS[module]]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(package), "OPENBLAS_NUM_THREADS": "1"}
    try:
        found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return False
    finally:
        place.write_text(sound)
    return found.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=EACH, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    results = Results(PATH, Line)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder)
        shutil.copytree(ROOT / "src" / "sessc", package / "sessc")
        for module in TESTS:
            source = (ROOT / "src" / "sessc" / module).read_text()
            for number in drawn(source, asked.each, asked.seed):
                changed, mutant = mutated(source, number)
                if (module, mutant.line, mutant.column, mutant.fault) in results:
                    continue
                killed = not survives(package, module, changed)
                results.add(Line(module, mutant.line, mutant.column, mutant.fault, int(killed), commit()))  # type: ignore[arg-type]
                print(module, mutant.line, mutant.fault, "killed" if killed else "SURVIVES", flush=True)


if __name__ == "__main__":
    main()
