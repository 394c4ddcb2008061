"""What the README and the pages of docs/ show must work as shown."""

import inspect
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import sessc
from sessc.cli.main import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
GUIDE = [
    DOCS / f"{name}.md"
    for name in ("reading", "evaluation", "report", "command-line", "editing", "files", "scale")
]
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def read(page):
    return page.read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.DOTALL | re.MULTILINE)


def run(command, capsys):
    """What a command prints: the library's own without a new process, others as they are."""
    name, *arguments = shlex.split(command)
    if name != "sessc":
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
    code = main(arguments)
    printed = capsys.readouterr()
    assert code == (2 if printed.err.startswith("sessc: ") else 0)
    return printed.err + printed.out


def after(shown, printed):
    """What is printed after what is shown: words to the letter, numbers as near as processors agree on them."""
    words, numbers = re.split(NUMBER, shown), re.findall(NUMBER, shown)
    found = re.search(f"({NUMBER})".join(map(re.escape, words)), printed)
    assert found, f"{shown}\n--- is shown, and printed is\n{printed}"
    for number, other in zip(numbers, found.groups(), strict=True):
        assert abs(float(number) - float(other)) <= max(0.02 * abs(float(number)), unit(number)), (number, other)
    return printed[found.end() :]


def unit(number):
    """What the last digit shown counts; nothing if it is the only one, which may be a count of something."""
    digits, _, power = number.lstrip("-").partition("e")
    return 1.01 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2])) if len(digits) > 1 else 0.0


@pytest.mark.parametrize("page", [README, *GUIDE], ids=lambda page: page.stem)
def test_examples_print_what_is_shown(page, capsys, monkeypatch, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    if "sklearn.callback" in read(page):
        pytest.importorskip("sklearn.callback")
    for table in DOCS.glob("*.csv"):
        shutil.copy(table, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(page, "python"):
        exec(block, names)
    plt.close("all")
    printed = capsys.readouterr().out
    for shown in blocks(page, "text"):
        printed = after(shown, printed)
    for block in blocks(page, "console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            assert after(shown, run(command, capsys)) == ""


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", prose)]
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []


PUBLIC = [name for name in sessc.__all__ if name != "__version__"]


def test_what_is_exported_is_public():
    exported = {name for name, what in vars(sessc).items() if not name.startswith("_") and not is_inner(what)}
    assert exported == set(PUBLIC)
    assert len(set(sessc.__all__)) == len(sessc.__all__)


def is_inner(what):
    """Whether something is a folder of the package, which Python puts beside what is exported."""
    return inspect.ismodule(what) and what is not sessc.datasets


def test_only_what_can_be_installed_is_said_to_be():
    """The package is on no index, so that only a checkout or another package can be."""
    root = README.parent
    texts = [README, *root.glob("docs/*.md"), *root.glob("src/**/*.py"), *root.glob("tests/*.py")]
    promised = "pip install 'sessc" + "["
    assert [str(path) for path in texts if promised in read(path)] == []


def test_every_public_name_is_in_the_table_of_the_readme():
    table = read(README).partition("## What is in it")[2]
    assert [name for name in PUBLIC if f"`{name}`" not in table] == []


def test_what_is_public_has_a_page_and_nothing_else_has():
    documented = re.findall(r"^   ([\w.]+)$", read(DOCS / "api.md"), re.MULTILINE)
    data_sets = {f"datasets.{name}" for name in sessc.datasets.__all__ if callable(getattr(sessc.datasets, name))}
    assert set(documented) == set(PUBLIC) - {"datasets"} | data_sets
    assert len(set(documented)) == len(documented)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_is_described(name):
    assert inspect.getdoc(getattr(sessc, name))


@pytest.mark.parametrize("script", ["gpu", "out_of_core", "cluster", "search", "large_table"])
def test_measurements_are_shown_as_recorded(script):
    assert read(ROOT / "benchmarks" / "results" / f"{script}.txt") in read(DOCS / "scale.md")


def test_one_version_is_in_the_making():
    release = sessc.__version__.partition(".dev")[0]
    assert re.search(r"^version: (.*)$", read(ROOT / "CITATION.cff"), re.MULTILINE)[1] == release
    assert re.search(r"^## (\S+)", read(ROOT / "CHANGELOG.md"), re.MULTILINE)[1] == release
