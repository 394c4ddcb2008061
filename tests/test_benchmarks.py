"""The harness of the benchmarks, on tiny data and with what is a dependency anyway."""

from dataclasses import fields, replace

import numpy as np
import pytest
from benchmarks import answers
from benchmarks.answers import Answer, Task
from benchmarks.contenders import CONTENDERS, FEW, MANY, Skip, exactly, memberships, per_iteration
from benchmarks.libraries import (
    FCMS,
    HEADLINE,
    Measurement,
    Size,
    fcm_objective,
    make_data,
    measured,
    missing,
    stored,
)
from benchmarks.page import Answered
from experiments.results import Results

from sessc import FCM

SIZE = Size(600, 4, 5)
LINE = Measurement(
    "FCM", *HEADLINE, 0, 0.1, 9.0, 50.0, "", "0.1.0", "2.4.6", "a machine", 1.0, "2026-01-01", "0123abc"
)


def test_the_judge_is_the_formula(rng):
    X, V = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    V[0] = X[0]  # a sample on a centre costs nothing
    total = 0.0
    for x in X[1:]:
        squared = [sum((a - b) ** 2 for a, b in zip(x, v, strict=True)) for v in V]
        for c in squared:
            total += (1 / sum(c / other for other in squared)) ** 2 * c
    assert fcm_objective(X, V) == pytest.approx(total, rel=1e-12)


def test_starting_memberships_are_those_of_the_starting_centres(rng):
    X, V = rng.normal(size=(600, 3)), rng.normal(size=(4, 3))
    distance = ((X[:, None] - V) ** 2).sum(axis=2)
    U = memberships(X, V)
    np.testing.assert_allclose(U.sum(axis=0), 1)
    np.testing.assert_allclose(np.sum(U.T**2 * distance), fcm_objective(X, V))


def test_contenders_are_measured_in_processes_of_their_own():
    with stored(SIZE) as folder:
        ours, theirs = (measured(name, folder, SIZE, seconds=0.0) for name in ("FCM", "KMeans"))
    X, _ = make_data(SIZE)
    expected = FCM(SIZE.r, m=2.0, init=X[: SIZE.r], max_iter=MANY, tol=0.0).fit(X)
    assert ours.skipped == theirs.skipped == ""
    assert ours.objective == pytest.approx(fcm_objective(X, expected.cluster_centers_), rel=1e-12)
    assert np.isnan(theirs.objective)
    assert min(ours.seconds, theirs.seconds) > 0
    assert 0 <= ours.mebibytes < 64


@pytest.mark.parametrize("name", ["FCM", "SESSC", "KMeans", "GaussianMixture", "FCM, two cores", "products"])
def test_contenders_start_where_they_are_told_and_do_not_stop_early(name):
    X, y = make_data(SIZE)
    run = CONTENDERS[name].prepare(X, y, X[: SIZE.r].copy())
    few, many = run(FEW), run(MANY)
    if name == "products":
        assert few is None
    elif name in FCMS:
        assert fcm_objective(X, many) < fcm_objective(X, few) < fcm_objective(X, X[: SIZE.r])
    else:
        assert few.shape == many.shape == (SIZE.r, SIZE.d)


def test_a_contender_that_stops_early_or_takes_too_long_is_left_out(monkeypatch):
    with pytest.raises(Skip, match="did 3 iterations instead of 7"):
        exactly(7, 3, np.zeros((2, 2)))
    monkeypatch.setattr("benchmarks.contenders.LIMIT_SECONDS", 0)
    with pytest.raises(Skip, match="would take more than 0 s"):
        per_iteration(lambda n: None, 0.0)


def test_what_is_recorded_is_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.libraries.machine", lambda: "a machine")
    monkeypatch.setattr("benchmarks.libraries.installed", lambda package: "0.1.0")
    path = tmp_path / "libraries.csv"
    results = Results(path, Measurement)
    results.add(LINE)
    results.add(replace(LINE, contender="SESSC", seconds=np.nan, skipped="it needs more than 8 GiB"))
    again = Results(path, Measurement)
    assert [line.key for line in again] == [line.key for line in results]
    assert missing(["FCM", "SESSC", "KMeans"], HEADLINE, again)[:3] == [(0, "KMeans"), (1, "FCM"), (1, "KMeans")]
    monkeypatch.setattr("benchmarks.libraries.machine", lambda: "another machine")
    assert missing(["FCM"], HEADLINE, again)[0] == (0, "FCM")


def test_the_page_takes_ratios_within_rounds_and_says_where_we_lose():
    from benchmarks.page import BenchmarkPage, Measured

    lines = [replace(LINE, machine="an old machine", seconds=9.0)]
    for round, slow in enumerate((1, 10, 1)):
        lines.append(replace(LINE, round=round, seconds=0.1 * slow))
        lines.append(replace(LINE, contender="scikit-fuzzy", round=round, seconds=0.5 * slow, mebibytes=400.0))
        lines.append(replace(LINE, contender="KMeans", round=round, seconds=0.05 * slow, objective=np.nan))
    lines.append(replace(LINE, contender="scikit-pytsk", seconds=np.nan, skipped="it needs more than 8 GiB"))
    page = BenchmarkPage(Measured(lines), Answered([]))
    assert page.filled("<<ratio: scikit-fuzzy; FCM>> on <<machine>>") == "5.00 on a machine"
    assert "| scikit-fuzzy | 500 | 5.00 | 400 | +0e+00 |" in page.headline()
    assert "| KMeans | 50 | 0.50 | 9 | – |" in page.headline()
    assert page.losses().splitlines() == [
        "* No other FCM is faster than our FCM at any size.",
        "* KMeans is faster than our FCM at 1 of 1 sizes, up to 2.00 times.",
        "* Nothing is smaller in memory than our FCM at any size.",
    ]
    assert page.left_out() == "* scikit-pytsk, N = 200,000, D = 36, R = 30: it needs more than 8 GiB."


def test_the_page_is_what_was_recorded():
    """Whoever records measurements also runs ``make bench``."""
    import matplotlib as mpl

    mpl.use("agg")
    from benchmarks.page import FIGURES, PATH, PICTURES, ROOT, BenchmarkPage, Measured, whole

    measured, answered = Measured(Results(PATH, Measurement)), Answered(Results(answers.PATH, Answer))
    template = (ROOT / "benchmarks" / "benchmarks.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert BenchmarkPage(measured, answered).filled(template) == page
    drawn = {name: draw(measured) for name, draw in FIGURES.items()} | {"whole": whole(answered)}
    for name, figure in drawn.items():
        assert len(figure.axes) > 0
        assert f"benchmarks/{name}.png" in page
        assert (PICTURES / f"{name}.png").exists()
    mpl.pyplot.close("all")


def test_answers_are_timed_in_processes_of_their_own_and_compared_within_rounds():
    task = Task("search", "iris", 150)
    line = answers.measured(task, "boosted trees", 0)
    assert line.task == task
    assert line.seconds > 0
    assert Answer.parse([str(getattr(line, field.name)) for field in fields(Answer)]) == line
    lines = [replace(line, contender=name, round=k, seconds=s) for name, k, s in TIMES]
    found = Answered(lines)
    assert found.tasks("search") == [task]
    assert found.ratio(task, "default search", "SVM grid") == 3.0  # in round 0 it is 2, in round 1 it is 4
    assert found.median(task, "EBM") != found.median(task, "EBM")  # left out


TIMES = [("SVM grid", 0, 1.0), ("default search", 0, 2.0), ("SVM grid", 1, 10.0), ("default search", 1, 40.0)]


@pytest.mark.parametrize("task", [task for task in answers.TASKS if task.n < 6_000], ids=lambda task: task.name)
def test_tasks_have_as_many_rows_as_they_say(task):
    X, y = task.load()
    assert len(X) == len(y) == task.n
