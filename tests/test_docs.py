"""What the README and the pages of docs/ show must work as shown."""

import inspect
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn

import sessc
from sessc.cli.main import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
GUIDE = [
    DOCS / f"{name}.md"
    for name in (
        *("choose", "settings", "reading", "why", "ship", "coming-from"),
        *("evaluation", "report", "command-line", "editing", "files", "scale"),
    )
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
    names = {"__name__": "__main__"}  # as in a script, or what it guards would not run
    for block in blocks(page, "python"):
        exec(block, names)
    plt.close("all")
    printed = capsys.readouterr().out
    for shown in blocks(page, "text"):
        printed = after(shown, printed)
    for block in blocks(page, "console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            assert after(shown, run(command, capsys)) == ""


COMMAND = re.compile(r"^(sessc (?!demo).*)$", re.MULTILINE)


@pytest.mark.parametrize(
    "page", [page for page in (README, *GUIDE) if COMMAND.findall(read(page))], ids=lambda p: p.stem
)
def test_commands_shown_without_answers_run(page, fitted, capsys, monkeypatch, tmp_path):
    for file in (*DOCS.glob("*.csv"), fitted):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in COMMAND.findall("".join(blocks(page, "console"))):
        if "--onnx" in command:
            pytest.importorskip("onnx")
        assert not run(command, capsys).startswith("sessc: ")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model in a file, as the page before would have left it."""
    path = tmp_path_factory.mktemp("fitted") / "patients.rules.json"
    sessc.Model.fit(DOCS / "patients.csv", target="diagnosis", n_rules=3, conditions=3).save(path)
    return path


def test_blocks_for_a_cluster_run_on_one_of_this_machine():
    pytest.importorskip("distributed")
    shown = [block for page in (README, DOCS / "scale.md") for block in blocks(page, "py") if "tcp://" in block]
    assert len(shown) == 2
    there = re.sub(r'"tcp://[\w-]+:8786"', "here.scheduler_address", "\n".join(shown))
    script = CLUSTER + there.replace("LocalCluster()", "here")
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=300)


CLUSTER = """
import dask.array as da
from dask.distributed import LocalCluster
from sessc import SESSC, TSKClassifier

here = LocalCluster(processes=False, dashboard_address=None)
X = dask_array = da.random.default_rng(0).normal(size=(400, 3), chunks=(200, 3))
y = dask_labels = (X[:, 0] > 0).astype(int)
model = TSKClassifier(3, clusterer=SESSC(max_iter=3), random_state=0)
"""
"""What the blocks have at hand: a cluster where one would say its address, and data."""


def test_blocks_for_a_gpu_run_on_a_processor():
    torch = pytest.importorskip("torch")
    shown = [block for block in blocks(DOCS / "scale.md", "py") if "cuda" in block]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    names = {"X": X, "y": (X[:, 0] > 0).astype(int), "TSKClassifier": sessc.TSKClassifier}
    with sklearn.config_context(array_api_dispatch=True):
        for block in shown:
            exec(block.replace('device="cuda"', 'device="cpu"'), names)
        assert isinstance(names["model"].predict_proba(names["X"]), torch.Tensor)
    assert shown


COMING_FROM = DOCS / "coming-from.md"
PACKAGES = {
    "skfuzzy": "scikit-fuzzy",
    "pytsk": "scikit-pytsk",
    "highfis": "highfis",
    "interpret": "interpret-core",
}


@pytest.mark.parametrize("package", PACKAGES)
def test_other_libraries_say_what_is_shown(package, capsys):
    """Their calls, after ours, where they are installed; each line printed is followed by what it prints."""
    shown = [block for block in blocks(COMING_FROM, "py") if f"from {package}" in block]
    assert shown
    pytest.importorskip(package, reason=f"pip install {PACKAGES[package]} to compare with it")
    names = {}
    for block in (*blocks(COMING_FROM, "python"), *shown):
        exec(block, names)
    assert capsys.readouterr().out.split() == re.findall(r"# (True)$", "".join(shown), re.MULTILINE)


@pytest.mark.parametrize("m", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("n_iter", [1, 2, 10])
def test_fuzzy_c_means_takes_the_steps_of_scikit_fuzzy(rng, m, n_iter):
    cluster = pytest.importorskip("skfuzzy.cluster", reason="pip install scikit-fuzzy to compare with it")
    X, start = rng.normal(size=(60, 4)), rng.normal(size=(3, 4))
    near = np.sum((X - start[:, None]) ** 2, axis=2) ** (-1 / (m - 1))
    centers, *_ = cluster.cmeans(X.T, 3, m, error=0.0, maxiter=n_iter, init=near / near.sum(axis=0))
    ours = sessc.FCM(3, m=m, init=start, max_iter=n_iter, tol=0.0).fit(X)
    np.testing.assert_allclose(ours.cluster_centers_, centers, rtol=0, atol=1e-12)


IN_CI = ("make demo", "make test", "pip install ", "dask ")
"""Commands that the checks give themselves, in .ci/run or test_dask.py."""


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda page: page.stem)
def test_no_block_is_left_that_nothing_runs(page):
    elsewhere = ("tcp://", "cuda", *(f"from {package}" for package in PACKAGES))
    assert not blocks(page, "python") or page in (README, *GUIDE)
    assert [block for block in blocks(page, "py") if not any(word in block for word in elsewhere)] == []
    recorded = "".join(read(path) for path in (ROOT / "benchmarks" / "results").glob("*.txt"))
    for block in blocks(page, "console"):
        lines = [line for line in block.splitlines() if not line.startswith(("sessc ", *IN_CI))]
        assert lines == [] or block.startswith("$ ") or block in recorded


PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"(!?)\[([^]]*)\]\(([^)\s]+)\)")


def links(page):
    """What a page links to, as (whether it is a picture, words, target)."""
    return LINK.findall(prose(page))


def prose(page):
    fenced = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", fenced) if page.name == "CHANGELOG.md" else fenced


def anchors(page):
    """What the headings of a page are called in links; those that come again are counted."""
    found = []
    for heading in re.findall(
        r"^#{1,6} (.*)$", re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE), re.M
    ):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = sum(other == name or re.fullmatch(rf"{name}-\d+", other) is not None for other in found)
        found.append(f"{name}-{again}" if again else name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for _, words, target in links(page):
        path, _, anchor = target.partition("#")
        if "://" in target:
            assert re.fullmatch(r"https://[\w-]+(\.[\w-]+)+(/[\w./%?=&~+-]*)?(#[\w.-]+)?", target), target
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{words} leads to {target}, which is not there"
        assert there.is_relative_to(ROOT), f"{words} leads out of the project"
        assert not anchor or anchor in anchors(there), f"{there.name} has no heading {anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_are_described_and_small(page):
    for is_picture, words, target in links(page):
        if is_picture:
            assert len(words) > 8, f"{target} needs words for those who cannot see it"
            assert (page.parent / target).stat().st_size < 350_000, f"{target} is too large for a page"


def test_the_rule_that_is_drawn_is_the_one_of_the_readme():
    drawn = re.findall(r'"( *(?:Rule \d|IF|AND|THEN|SEEN|answered) [^"]*)"', read(DOCS / "pictures.py"))
    assert len(drawn) == 6
    assert [line for line in drawn if line.strip() not in read(README)] == []


def test_every_page_is_in_the_site_and_every_picture_on_a_page():
    listed = set(re.findall(r"<([\w-]+)>$", read(DOCS / "index.md"), re.MULTILINE))
    assert listed == {page.stem for page in DOCS.glob("*.md")} - {"index"}
    used = {
        (page.parent / target).resolve() for page in PAGES for is_picture, _, target in links(page) if is_picture
    }
    assert set(DOCS.rglob("pictures/*.png")) <= used


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
