"""Faults put into formulas: every one is a fault, and the tests of a module see one they must see."""

import ast
from dataclasses import replace

import pytest
from experiments.mutants import TESTS, Line, drawn, in_turn, mutants_of, mutated
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
    assert drawn(source, 5, 0) == drawn(source, 9, 0)[:5]  # fewer are the first of more
    whole = ast.unparse(ast.parse(source))
    assert all(mutated(source, number)[0] != whole for number in drawn(source, 5, 0))
    assert all((ROOT / "tests" / f"test_{name}.py").exists() for name in TESTS[module])


@pytest.mark.parametrize("module", TESTS)
def test_no_two_mutants_of_a_module_are_recorded_as_one(module):
    found = list(mutants_of(ast.parse((ROOT / "src" / "sessc" / module).read_text())))
    assert len({(mutant.line, mutant.column, mutant.fault) for mutant in found}) == len(found)


def test_modules_come_in_turn_until_each_has_had_its_mutants():
    few, many = "rules/links.py", "rules/base.py"
    turns = [module for module, _ in in_turn([few, many], 10, 0)]
    n_few = turns.count(few)
    assert n_few < turns.count(many) == 10
    assert turns == [few, many] * n_few + [many] * (10 - n_few)


def test_only_a_survivor_is_equivalent_and_only_if_somebody_says_why():
    line = Line("a.py", 1, 2, "0 to 1", "return 0, 'b'", 0, 1.5, "abc1234")
    assert Line.parse([str(value) for value in vars(line).values()]) == line
    judged = {"": False, "tolerated: a guard": False, "equivalent: it is multiplied by zero": True}
    for judgement, expected in judged.items():
        assert replace(line, judgement=judgement).is_equivalent == expected
        assert not replace(line, judgement=judgement, killed=1).is_equivalent
