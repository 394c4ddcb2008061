"""Faults put into formulas: every one is a fault, and the tests of a module see one they must see."""

import ast

import pytest
from experiments.mutants import TESTS, drawn, mutants_of, mutated
from experiments.provenance import ROOT

SOURCE = '''
def shares(cost: int = 2, *, most: float = 0.5) -> float:
    """Text is not computed with: 3 + 4."""
    if not cost < most and cost - 1:
        raise ValueError(f"{cost + 1} is too much.")
    return -cost
'''


def test_a_fault_is_in_what_is_computed():
    found = {(mutant.line, mutant.fault) for mutant in mutants_of(ast.parse(SOURCE))}
    assert found == {
        (2, "2 to 3"),
        (2, "0.5 to 2.0"),
        (4, "condition turned"),
        (4, "And to Or"),
        (4, "not dropped"),
        (4, "Lt to GtE"),
        (4, "Sub to Add"),
        (4, "1 to 2"),
        (6, "- dropped"),
    }


@pytest.mark.parametrize("module", TESTS)
def test_each_mutant_differs_and_can_be_drawn_again(module):
    source = (ROOT / "src" / "sessc" / module).read_text()
    assert drawn(source, 5, 0) == drawn(source, 5, 0)
    whole = ast.unparse(ast.parse(source))
    assert all(mutated(source, number)[0] != whole for number in drawn(source, 5, 0))
    assert all((ROOT / "tests" / f"test_{name}.py").exists() for name in TESTS[module])
