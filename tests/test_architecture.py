"""Imports point one way: computed from the sources, those inside functions included, and not merely claimed."""

import ast
import importlib
import tokenize
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

import sessc

ROOT = Path(sessc.__file__).parent

ORDER = ("_array", "rows", "terms", "solve", "cluster", "tsk", "tables", "cli")
"""Each area may import those before it."""
BESIDE = {
    "rules": {"_array", "rows"},
    "report": {"_array", "rows", "rules"},
    "datasets": set(),
}
"""Areas that stand beside that order, and what they may import."""
USED_FROM = {"rules": "tsk", "report": "tables", "datasets": "cli"}
"""From where on in the order they may be imported."""
PRIVATE = {"_version", "_progress", "_runtime", "_writing"}
"""Modules that everything may import, and that import nothing of the package but each other."""
DECLARED = "rules.forms"
"""The one module that may import upwards, inside its functions."""

LONGEST = 40
"""Lines of a function without its signature, docstring and comments: it must have fewer."""
LONG_BY_NATURE = {"solve.fused", "cli.parser.parser"}
"""The GPU kernel, and the argument parser."""


class Import(NamedTuple):
    importer: str
    imported: str
    name: str | None
    """What is imported of it; None if it is the module itself."""
    lazily: bool

    def __str__(self) -> str:
        return f"{self.importer} -> {self.imported}" + (f".{self.name}" if self.name else "")


def sources(root: Path = ROOT) -> dict[str, str]:
    """The text of every module, by its name within the package; folders are modules too."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


SOURCES = sources()


def imports(modules: dict[str, str]) -> list[Import]:
    """All imports of modules by modules, except of folders by what is in them."""
    return [one for module, text in modules.items() for one in imports_of(module, text, modules)]


def imports_of(module: str, text: str, modules: dict[str, str]) -> Iterator[Import]:
    for node, lazily in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            came_from = origin(node, module, modules)
            if came_from is None:
                continue
            for alias in node.names:
                inner = f"{came_from}.{alias.name}".lstrip(".")
                is_module = inner in modules
                yield Import(module, inner if is_module else came_from, None if is_module else alias.name, lazily)
        else:
            for alias in node.names:
                if alias.name.partition(".")[0] == "sessc":
                    yield Import(module, alias.name.partition(".")[2], None, lazily)


def statements(tree: ast.AST, lazily: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Import statements, and whether they run only when something is called.

    What stands under ``if TYPE_CHECKING`` is for the eye and never runs, so it cannot make a cycle.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, lazily
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from statements(ast.Module(node.orelse, []), lazily)
        else:
            yield from statements(node, lazily or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def origin(node: ast.ImportFrom, module: str, modules: dict[str, str]) -> str | None:
    """The module that a ``from`` names; None if it is of another package."""
    if not node.level:
        package, _, inside = (node.module or "").partition(".")
        return inside if package == "sessc" else None
    is_folder = any(other.startswith(f"{module}.") for other in modules) or not module
    parts = module.split(".") if module else []
    here = parts if is_folder else parts[:-1]
    above = here[: len(here) - (node.level - 1)]
    return ".".join([*above, *([node.module] if node.module else [])])


def area(module: str) -> str:
    return module.partition(".")[0]


def allowed(importer: str) -> set[str]:
    """The areas that an area may import, besides itself."""
    if importer in PRIVATE:
        return PRIVATE
    if importer in BESIDE:
        return BESIDE[importer] | PRIVATE
    before = set(ORDER[: ORDER.index(importer)])
    beside = {name for name, first in USED_FROM.items() if ORDER.index(first) <= ORDER.index(importer)}
    return before | beside | PRIVATE


def missteps(modules: dict[str, str]) -> list[str]:
    """Imports against the order."""
    return [
        str(one)
        for one in imports(modules)
        if one.importer  # the package itself exports what it likes
        and not (one.importer == DECLARED and one.lazily)
        and area(one.imported) not in {area(one.importer)} | allowed(area(one.importer))
    ]


def cycle(modules: dict[str, str]) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    needs: dict[str, set[str]] = {module: set() for module in modules}
    for one in imports(modules):
        if not (one.importer == DECLARED and one.lazily):
            needs[one.importer].add(one.imported)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_area_has_its_place():
    areas = {area(module) for module in SOURCES} - {""}
    assert areas <= {*ORDER, *BESIDE, *PRIVATE}


def test_imports_follow_the_order():
    assert missteps(SOURCES) == []


def test_no_modules_import_each_other():
    assert cycle(SOURCES) == []


@pytest.mark.parametrize(
    ("module", "line", "complaint"),
    [
        ("_array", "from .rows.base import Rows", "_array -> rows.base.Rows"),
        ("rows.blocks", "from ..terms import losses", "rows.blocks -> terms.losses"),
        ("terms.sharing", "def late():\n    from ..solve.alternate import alternate", "terms.sharing -> solve."),
        ("cluster.named", "import sessc.tsk.estimators", "cluster.named -> tsk.estimators"),
        ("cluster.base", "from ..rules.base import RuleBase", "cluster.base -> rules.base.RuleBase"),
        ("rules.base", "def late():\n    from ..report.text import to_text", "rules.base -> report.text.to_text"),
        ("rules.forms", "from ..report.text import to_text", "rules.forms -> report.text.to_text"),
        ("report.html", "from ..tables.files import dumps", "report.html -> tables.files.dumps"),
        ("tsk.tuning", "from ..report.plots import BoundaryDisplay", "tsk.tuning -> report.plots."),
        ("tables.model", "class A:\n    def late(self):\n        from ..cli.main import main", "-> cli.main.main"),
        ("datasets.uci", "from .._array import to_numpy", "datasets.uci -> _array.to_numpy"),
        ("_progress", "from .rules import base", "_progress -> rules.base"),
        ("rules.links", "def late():\n    import sessc", "rules.links -> "),
    ],
)
def test_a_step_against_the_order_is_seen(module, line, complaint):
    changed = SOURCES | {module: f"{SOURCES[module]}\n{line}\n"}
    [found] = [step for step in missteps(changed) if step not in missteps(SOURCES)]
    assert complaint in found


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("terms.losses", "from .objective import Objective"),
        ("rules.choices", "def late():\n    from .base import RuleBase"),
        ("report.phrases", "from . import text"),
    ],
)
def test_a_cycle_is_seen(module, line):
    found = cycle(SOURCES | {module: f"{SOURCES[module]}\n{line}\n"})
    assert module in found


def test_imports_for_the_eye_are_none():
    text = "if TYPE_CHECKING:\n    from .objective import Objective\nelse:\n    from .sharing import Sharing\n"
    assert [str(one) for one in imports_of("terms.losses", text, SOURCES)] == [
        "terms.losses -> terms.sharing.Sharing"
    ]


def test_nobody_imports_private_names():
    private = [one for one in imports(SOURCES) if one.name and one.name.startswith("_")]
    assert [str(one) for one in private if one.imported != "_version"] == []


@pytest.mark.parametrize("module", SOURCES)
def test_what_a_module_says_it_offers_is_true(module):
    try:
        offered = importlib.import_module(f"sessc.{module}".rstrip("."))
    except ImportError:
        pytest.skip("it needs what is not installed")
    names = getattr(offered, "__all__", [])
    assert [name for name in names if not hasattr(offered, name)] == []
    used = {one.name for one in imports(SOURCES) if one.imported == module and one.name}
    assert sorted(used - {*names, "__version__"}) == []


def functions(text: str, within: str = "") -> Iterator[tuple[str, int]]:
    """Each function and its length."""
    comments = {token.start[0] for token in tokenize.generate_tokens(StringIO(text).readline) if alone(token)}
    blank = {k for k, line in enumerate(text.splitlines(), 1) if not line.strip()}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[ast.get_docstring(node) is not None :]
            if body:
                yield node.name, len(set(range(body[0].lineno, (node.end_lineno or 0) + 1)) - comments - blank)


def alone(token: tokenize.TokenInfo) -> bool:
    """Whether a comment has a line of its own."""
    return token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()


@pytest.mark.parametrize("module", sorted(set(SOURCES) - LONG_BY_NATURE))
def test_functions_fit_on_a_screen(module):
    lengths = {f"{module}.{name}": length for name, length in functions(SOURCES[module])}
    assert {name: n for name, n in lengths.items() if n >= LONGEST and name not in LONG_BY_NATURE} == {}
