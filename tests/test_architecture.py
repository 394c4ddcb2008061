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
PRIVATE = {"_version", "_progress", "_runtime", "_writing", "_drawing"}
"""Modules that everything may import, and that import nothing of the package but each other."""
DECLARED = "rules.forms"
"""The one module that may import upwards, inside its functions."""

LONGEST = 40
"""Lines of a function without its signature, docstring and comments: it must have fewer."""
LONG_BY_NATURE = {"solve.fused.kernel", "cli.parser.parser"}
"""The GPU kernel, and the argument parser."""

OF_OTHERS = {"_replace", "_skl_callbacks", "_init_callback_context", "_score_func", "_real_set_num_threads"}
"""Private by their spelling: of all named tuples, three of scikit-learn's and one of threadpoolctl's."""
ENTRUSTED = {("cluster.ranges", "_ranges")}
"""Modules that may read what another one keeps private: an estimator states the ranges of its parameters there."""


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
        ("rules.links", "def late():\n    from .base import RuleBase"),
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


def reaches(module: str, text: str) -> list[str]:
    """Private attributes that a module touches and that nothing in it defines.

    What is inherited is one's own, so ``self``, ``cls`` and ``super()`` may have any.
    """
    tree = ast.parse(text)
    known = OF_OTHERS | defined(tree) | {name for entrusted, name in ENTRUSTED if entrusted == module}
    return [f"{module}:{line} {whose}.{name}" for whose, name, line in touched(tree) if name not in known]


def defined(tree: ast.AST) -> set[str]:
    """Names of functions and classes, of what is assigned in the body of a class, and of attributes assigned."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            body = (inner for statement in node.body for inner in ast.walk(statement))
            names |= {one.id for one in body if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return names


def touched(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Private attributes of anything but oneself, spelled out or in ``getattr``: whose, which, in which line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            whose, name = ast.unparse(node.value), node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr", "delattr"):
            whose, name = (ast.unparse(one) for one in node.args[:2])
            name = name.strip("'") if isinstance(node.args[1], ast.Constant) else ""
        else:
            continue
        if name.startswith("_") and not name.endswith("__") and whose not in ("self", "cls", "super()"):
            yield whose, name, node.lineno


@pytest.mark.parametrize("module", SOURCES)
def test_nobody_touches_private_attributes_of_others(module):
    assert reaches(module, SOURCES[module]) == []


@pytest.mark.parametrize(
    ("module", "text", "seen"),
    [
        ("tsk.search", "def score(model):\n    return model._learn()", "tsk.search:2 model._learn"),
        ("tsk.search", "_x = 1\nprint(model._x)", "tsk.search:2 model._x"),
        ("tsk.search", "class A:\n    def f(self):\n        return self.rows._x", "tsk.search:3 self.rows._x"),
        ("tsk.search", "model._rows.sum()", "tsk.search:1 model._rows"),
        ("tsk.search", "steps = getattr(model, '_steps', None)", "tsk.search:1 model._steps"),
        ("tsk.search", "print(estimator._ranges)", "tsk.search:1 estimator._ranges"),
        ("cluster.ranges", "print(estimator._ranges)", None),
        ("tsk.search", "class A:\n    def _f(self): pass\ndef use(a):\n    return a._f()", None),
        ("tsk.search", "class A:\n    _x: int = 1\ndef use(a):\n    return a._x", None),
        (
            "tsk.search",
            "class A:\n    def __init__(self):\n        self._x = 1\ndef use(a):\n    return a._x",
            None,
        ),
        ("tsk.search", "class A(B):\n    def f(self):\n        return self._inherited + super()._f()", None),
        ("tsk.search", "print(pair._replace(x=1), model.__class__)", None),
    ],
)
def test_a_private_attribute_of_others_is_seen(module, text, seen):
    assert reaches(module, text) == ([] if seen is None else [seen])


def asks_for_rows(module: str, text: str) -> list[str]:
    """Questions of what kind some rows are."""
    return [
        f"{module}:{node.lineno} {ast.unparse(node)}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call | ast.Compare) and any(name.endswith("Rows") for name in kinds_in(node))
    ]


def kinds_in(question: ast.Call | ast.Compare) -> list[str]:
    """The names of classes that something is compared with, if it is."""
    if isinstance(question, ast.Call):
        against = question.args[1:] if ast.unparse(question.func) in ("isinstance", "issubclass") else []
    else:
        sides = [question.left, *question.comparators]
        against = sides if any(ast.unparse(side).startswith("type(") for side in sides) else []
    inner = [node for one in against for node in ast.walk(one)]
    return [node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in inner]


@pytest.mark.parametrize("module", [module for module in SOURCES if area(module) != "rows"])
def test_nobody_outside_rows_asks_what_kind_of_rows_there_are(module):
    assert asks_for_rows(module, SOURCES[module]) == []


@pytest.mark.parametrize(
    "question",
    [
        "isinstance(rows, ArrayRows)",
        "isinstance(rows, (list, arrays.ArrayRows))",
        "isinstance(X, DaskRows | BlockRows)",
        "issubclass(kind, Rows)",
        "type(rows) is ArrayRows",
        "type(rows) in (ArrayRows, DaskRows)",
    ],
)
def test_a_question_for_the_kind_of_rows_is_seen(question):
    assert asks_for_rows("tsk.recipe", f"def f(rows):\n    return {question}") == [f"tsk.recipe:2 {question}"]
    assert asks_for_rows("tsk.recipe", "ArrayRows(X)\nisinstance(x, dict)\ntype(x) is Blocks") == []


def functions(module: str, text: str) -> Iterator[tuple[str, int]]:
    """Each function, by its full name, and its length."""
    comments = {token.start[0] for token in tokenize.generate_tokens(StringIO(text).readline) if alone(token)}
    blank = {k for k, line in enumerate(text.splitlines(), 1) if not line.strip()}
    for name, node in named(module, ast.parse(text)):
        body = node.body[ast.get_docstring(node) is not None :]
        if body:
            yield name, len(set(range(body[0].lineno, (node.end_lineno or 0) + 1)) - comments - blank)


def named(within: str, tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions, methods and functions in functions."""
    for node in ast.iter_child_nodes(tree):
        name = f"{within}.{node.name}" if hasattr(node, "name") and hasattr(node, "body") else within
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, node
        yield from named(name, node)


def alone(token: tokenize.TokenInfo) -> bool:
    """Whether a comment has a line of its own."""
    return token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()


def too_long(module: str, text: str) -> list[tuple[str, int]]:
    return [one for one in functions(module, text) if one[1] >= LONGEST and one[0] not in LONG_BY_NATURE]


@pytest.mark.parametrize("module", SOURCES)
def test_functions_fit_on_a_screen(module):
    assert too_long(module, SOURCES[module]) == []


def test_a_function_that_does_not_fit_is_seen():
    lines = "\n".join(["        pass"] * LONGEST)
    long, short = f"    def f(self):\n{lines}\n", "    def f(self):\n        pass\n"
    assert too_long("tsk.search", f"class A:\n{long}class B:\n{short}") == [("tsk.search.A.f", LONGEST)]
    assert too_long("tsk.search", f"if True:\n{long}") == [("tsk.search.f", LONGEST)]
    spaced = lines.replace("pass", "pass\n\n        # why", LONGEST - 1).rpartition("\n")[0]
    assert too_long("tsk.search", f'class A:\n    def f(self):\n        """What."""\n{spaced}\n') == []
    for exempt, within in (("solve.fused", "kernel"), ("cli.parser", "parser")):
        text = f"def {within}():\n{lines}\ndef other():\n{lines}\n"
        assert too_long(exempt, text) == [(f"{exempt}.other", LONGEST)]


@pytest.mark.parametrize("module", SOURCES)
def test_no_property_has_a_lock_that_a_fork_may_copy_while_it_is_held(module):
    taken = [node for node in ast.walk(ast.parse(SOURCES[module])) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in taken if node.module == "functools" for alias in node.names}
    assert "cached_property" not in names, "take that of _runtime"
