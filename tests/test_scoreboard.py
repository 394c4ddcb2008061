"""The scoreboard: lines that survive, pairs over sets that both have, and a page made of lines alone."""

import math
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("pandas", reason="pandas is not installed; pip install pandas")
mpl = pytest.importorskip("matplotlib", reason="matplotlib is not installed; pip install matplotlib")
mpl.use("agg")

from experiments import scoreboard  # noqa: E402
from experiments.contenders import CONTENDERS, OURS  # noqa: E402
from experiments.leads import Standings, critical_difference, groups, read, recorded  # noqa: E402
from experiments.page import ROOT  # noqa: E402
from experiments.podium import LOOKS, pictures  # noqa: E402
from experiments.results import Results  # noqa: E402
from experiments.scoreboard import LATER, OF_CLASSES, OF_VALUES, PATH, SPLITS, Line, units  # noqa: E402
from experiments.standings import ScoreboardPage  # noqa: E402

from sessc.datasets import NAMES  # noqa: E402

TEMPLATE = (ROOT / "experiments" / "scoreboard.md").read_text(encoding="utf-8")


def line(dataset="iris", split=2, model="default", **changes):
    """A line by hand; of values if it has an R²."""
    cells = {"version": "sessc 0", "commit": "abc1234", "rules": 2.0, "conditions": 3.0, "terms": 0.0}
    cells |= {"is_rules": True, "seconds": 1.5, "predict_seconds": 0.001, "machine": "2 cores"}
    if "r2" in changes:
        cells |= {"mean_absolute_error": 1 - changes["r2"]}
    else:
        score = changes.get("bca", 80.0)
        cells |= {"bca": score, "accuracy": score, "auc": score / 100, "log_loss": 0.5, "calibration": 5.0}
    return Line(dataset, split, model, **(cells | changes))


def several(rng, models=("default", "accurate", "linear model", "EBM", "random forest"), splits=(2, 3, 4)):
    """Lines of many sets, the paper's with numbers of their own."""
    sets = {name: rng.normal(75, 10) for name in ("iris", "wine", "wdbc", "vehicle", "letter", "sonar")}
    found = []
    for k, model in enumerate(models):
        for split in splits:
            for name, base in sets.items():
                number = split + (LATER if name in NAMES else 0)
                found.append(line(name, number, model, bca=float(base - k + rng.normal())))
            for name in ("laser", "casp", "diabetes"):
                found.append(line(name, split, model, r2=float(0.6 - 0.05 * k + 0.01 * rng.normal())))
    return found


def written(path, lines):
    results = Results(path, Line)
    for one in lines:
        results.add(one)
    return path


def test_lines_survive_a_restart(tmp_path):
    kept = [line(), line(split=3, failure='ValueError: a "quoted", word | and a bar', bca=math.nan)]
    again = list(Results(written(tmp_path / "lines.csv", kept), Line))
    assert [str(one) for one in again] == [str(one) for one in kept]  # NaN is not itself


@pytest.mark.parametrize(
    ("cell", "value", "said"),
    [
        (2, None, "cells instead of"),
        (5, "many", "could not convert"),
        (15, "yes", "neither"),
        (16, "{", "Expecting"),
    ],
)
def test_a_damaged_line_is_reported_and_redone(tmp_path, capsys, cell, value, said):
    path = written(tmp_path / "lines.csv", [line(split=2), line(split=3)])
    cells = path.read_text().splitlines()[2].split(",")
    cells[cell : cell + 1] = [] if value is None else [value]
    whole = path.read_text().splitlines(keepends=True)[:2]
    path.write_text("".join(whole) + ",".join(cells) + "\n")
    assert [one.split for one in Results(path, Line)] == [2]
    assert "line 3 is damaged" in (told := capsys.readouterr().err)
    assert said in told


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The command with a record of its own and without processes; answers how many units it computed."""
    monkeypatch.setenv("SESSC_COMMIT", "abc1234")
    monkeypatch.setattr(scoreboard, "PATH", tmp_path / "scoreboard.csv")
    done = []

    def computed(todo, jobs, minutes):
        for unit in todo:
            done.append(unit)
            yield scoreboard.compute(*unit)

    monkeypatch.setattr(scoreboard, "computed", computed)

    def command(*arguments):
        done.clear()
        monkeypatch.setattr(sys, "argv", ["scoreboard", *map(str, arguments)])
        scoreboard.main()
        return list(done)

    return command


SMALL = ("--models", "linear model", "--datasets", "iris", "diabetes", "--splits", "2")


def test_a_run_goes_on_where_it_stopped(run, tmp_path):
    assert len(run(*SMALL)) == 2
    assert run(*SMALL) == []
    found = {one.dataset: one for one in Results(tmp_path / "scoreboard.csv", Line)}
    assert found["iris"].bca > 90
    assert math.isnan(found["iris"].r2)
    assert 0.3 < found["diabetes"].r2 < 0.7
    assert math.isnan(found["diabetes"].bca)
    path = tmp_path / "scoreboard.csv"
    path.write_text(path.read_text()[:-5])  # stopped while writing
    assert run(*SMALL) == [("diabetes", 2, "linear model")]


def test_a_model_computed_again_takes_its_places_when_merged(run, tmp_path):
    record, fresh = tmp_path / "scoreboard.csv", tmp_path / "new.csv"
    stale = [line("iris", 2, "linear model", bca=1.0), line("iris", 2, "default", bca=2.0)]
    written(record, stale)
    with pytest.raises(SystemExit):
        run(*SMALL, "--again")
    assert run(*SMALL, "--out", fresh) == [("diabetes", 2, "linear model")]
    assert run(*SMALL, "--again", "--out", fresh) == [("iris", 2, "linear model")]
    assert run(*SMALL, "--again", "--out", fresh) == []
    assert [one.bca for one in Results(record, Line)] == [1.0, 2.0]  # until they are merged
    run("--merge", fresh)
    merged = {one.key: one for one in Results(record, Line)}
    assert len(merged) == 3
    assert merged["iris", 2, "linear model"].bca > 90
    assert merged["iris", 2, "default"].bca == 2.0
    before = record.read_bytes()
    run("--merge", fresh)
    assert record.read_bytes() == before


def test_what_a_model_fails_on_is_a_line_that_says_why(monkeypatch):
    def fails(X, y, seed):
        raise ValueError("more classes\nthan hands")

    monkeypatch.setenv("SESSC_COMMIT", "abc1234")
    monkeypatch.setitem(scoreboard.CONTENDERS, "FIGS", CONTENDERS["linear model"]._replace(fit=fails))
    found = scoreboard.compute("iris", 2, "FIGS")
    assert found.failure == "ValueError: more classes than hands"
    assert math.isnan(found.bca)
    page = ScoreboardPage(Standings([found, line(model="linear model")]))
    assert "| FIGS | iris 2 | ValueError: more classes than hands |" in page.failures()
    assert page.standings.lead("linear model", "FIGS", "bca") is None


def test_no_reported_split_decided_anything():
    assert not set(SPLITS) & {0, 1, 5, 6}
    of_paper = {split for dataset, split, _ in units(["default"], list(SPLITS), list(NAMES))}
    assert of_paper == {LATER + split for split in SPLITS}
    assert min(of_paper) >= 10
    assert {split for _, split, _ in units(["default"], list(SPLITS), ["iris", "laser"])} == set(SPLITS)


def test_pairs_are_over_sets_and_splits_that_both_have():
    lines = [line("iris", s, "default", bca=b) for s, b in ((2, 90.0), (3, 80.0), (4, 10.0))]
    lines += [line("iris", s, "EBM", bca=b) for s, b in ((2, 88.0), (3, 82.0), (7, 99.0))]
    lines += [line("wine", 2, "default", bca=95.0), line("wine", 2, "EBM", bca=91.0)]
    lines += [line("sonar", 2, "default", bca=70.0), line("letter", 2, "EBM", bca=70.0)]
    lines += [line("tae", 2, "default", bca=50.0), line("tae", 2, "EBM", bca=math.nan, failure="no")]
    lead = Standings(lines).lead("default", "EBM", "bca")
    assert lead == (pytest.approx(2.0), pytest.approx(stats.sem([0.0, 4.0])), 1, 0, 2, (1, 2))
    assert not lead.is_far  # of two sets nothing is said
    back = Standings(lines).lead("EBM", "default", "bca")
    assert (back.mean, back.error, back.wins, back.losses) == (-lead.mean, lead.error, lead.losses, lead.wins)
    assert Standings(lines).lead("default", "HTSK", "bca") is None


def test_leads_are_those_of_plain_loops(rng):
    lines = several(rng)
    standings = Standings(lines)
    scores = {one.key: one.bca for one in lines if not math.isnan(one.bca)}
    means = []
    for name in dict.fromkeys(name for name, *_ in scores):
        numbers = [split for dataset, split, model in scores if (dataset, model) == (name, "default")]
        means.append(np.mean([scores[name, s, "default"] - scores[name, s, "EBM"] for s in numbers]))
    lead = standings.lead("default", "EBM", "bca")
    assert lead.mean == pytest.approx(np.mean(means))
    assert lead.error == pytest.approx(stats.sem(means))
    assert (lead.wins, lead.losses) == (sum(m > 0 for m in means), sum(m < 0 for m in means))
    assert lead.is_far == (abs(lead.mean) > 2 * lead.error)


def test_less_is_better_where_it_is():
    lines = [line("iris", 2, "default", log_loss=0.1), line("iris", 2, "EBM", log_loss=0.4)]
    lead = Standings(lines).lead("default", "EBM", "log_loss")
    assert (lead.mean, lead.wins, lead.losses) == (pytest.approx(-0.3), 1, 0)


def test_absolute_errors_are_relative_to_a_line():
    lines = [line("laser", 2, "EBM", r2=0.9, mean_absolute_error=2.0), line("casp", 2, "EBM", r2=0.5)]
    lines += [line("laser", 2, "linear model", r2=0.8, mean_absolute_error=8.0)]
    assert Standings(lines).cells("EBM", "relative_error") == {"laser": {2: 0.25}}


def test_what_is_read_of_a_model():
    assert read(line(rules=3.0, conditions=7.0, terms=4.0)) == 14
    assert read(line(rules=math.nan, conditions=math.nan, terms=12.0)) == 12
    assert math.isnan(read(line(rules=math.nan, conditions=math.nan, terms=math.nan)))


def test_ranks_are_of_sets_that_all_ranked_models_have(rng):
    lines = [line(name, 2, "default", bca=90.0) for name in ("iris", "wine", "sonar", "letter")]
    lines += [
        line(name, 2, "EBM", bca=b) for name, b in zip(("iris", "wine", "sonar"), (95.0, 90.0, 80.0), strict=True)
    ]
    lines += [line("iris", 2, "HTSK", bca=100.0)]
    standings = Standings(lines)
    assert standings.ranked("classes") == ["default", "EBM"]
    assert standings.common("classes") == {"wine": [2], "sonar": [2], "iris": [2]}
    assert standings.ranks("classes") == {"default": 1.5, "EBM": 1.5}
    assert "HTSK (1 of them); with no line at all: accurate, ten rules of five" in ScoreboardPage(
        standings
    ).unranked("classes")
    ranks = Standings(several(rng)).ranks("values")
    assert sum(ranks.values()) == pytest.approx(5 * 6 / 2)


def test_critical_differences_are_demsars():
    """His table of Nemenyi's test: 2.343 and 3.164 for 3 and 10 models at 5 %; his example has 4 on 14 sets."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    for n_models, q in ((2, 1.960), (3, 2.343), (10, 3.164)):
        assert critical_difference(n_models, 1) == pytest.approx(
            q * math.sqrt(n_models * (n_models + 1) / 6), rel=1e-3
        )


def test_bars_join_neighbours_and_none_lies_in_another(rng):
    ranks = {"a": 1.0, "b": 2.0, "c": 2.5, "d": 4.0, "e": 8.0}
    assert groups(ranks, 1.6) == [["a", "b", "c"], ["c", "d"]]
    assert groups(ranks, 0.1) == []
    assert groups(ranks, 10) == [list("abcde")]
    drawn = dict(zip("abcdefgh", rng.uniform(1, 8, size=8), strict=True))
    found = groups(drawn, 2.0)
    for one in drawn:
        for other in drawn:
            together = any({one, other} <= set(row) for row in found)
            assert together == (one != other and abs(drawn[one] - drawn[other]) <= 2.0) or one == other


def test_a_set_is_lost_by_more_than_two_errors_over_splits_or_not_at_all():
    lines = [line("iris", s, "default", bca=80.0 + s) for s in (2, 3, 4)]
    lines += [line("iris", s, "EBM", bca=83.0 + s + (s == 3)) for s in (2, 3, 4)]  # ahead by 3, 4 and 3
    lines += [line("iris", s, "HTSK", bca=b) for s, b in ((2, 60.0), (3, 70.0), (4, 120.0))]  # ahead, not surely
    lines += [line("iris", 2, "FIGS", bca=100.0)]  # one split
    lines += [line("iris", s, "accurate", bca=99.0) for s in (2, 3, 4)]  # one of ours
    lines += [line("wine", s, "default", bca=90.0) for s in (2, 3, 4)]
    lines += [line("sonar", 2, "default", bca=10.0), line("sonar", 2, "EBM", bca=90.0)]
    page = ScoreboardPage(Standings(lines))
    [(other, mean, error, n)] = page.standings.lost("default", "iris")
    assert (other, n) == ("EBM", 3)
    assert mean == pytest.approx(10 / 3)
    assert error == pytest.approx(stats.sem([3, 4, 3]))
    said = page.losses("default")
    assert "On 1 of 2 sets another model is ahead. Nothing can be said of 1 more" in said
    assert "* **iris** (BCA 83.00, 3 splits): ahead are EBM by 3.33 ± 0.33." in said
    said = page.farthest("default", 5, 5)
    assert said.startswith("Farthest behind the best of others, sure or not: in BCA sonar (EBM by 80.00) and iris")
    assert said.endswith("(FIGS by 18.00); in R² none.")
    assert page.losses("accurate") == "On 0 of 1 sets another model is ahead."


def test_with_one_split_nothing_is_said_of_single_sets():
    lines = [line("iris", 2, "default", bca=50.0), line("iris", 2, "EBM", bca=99.0)]
    assert "Nothing can be said of single sets" in ScoreboardPage(Standings(lines)).losses("default")


def test_units_without_a_line_are_named():
    every = (*OF_CLASSES, *OF_VALUES)
    lines = [line(name, 2 + (LATER if name in NAMES else 0)) for name in every]
    lines += [line(name, 3) for name in ("iris", "letter")]
    lines += [line(name, 2, "EBM") for name in every if name not in NAMES]
    told = ScoreboardPage(Standings(lines)).missing()
    assert f"| default | {len(every) - 2} | all but letter, iris: 3 |" in told
    assert f"| EBM | {len(every) + len(NAMES)} |" in told
    assert f"| HTSK | {2 * len(every)} | all: 2, 3 |" in told


def test_a_page_from_the_same_lines_is_the_same(rng, tmp_path):
    lines = several(rng)
    mixed = [lines[k] for k in rng.permutation(len(lines))]
    pages = [ScoreboardPage(Standings(some)).filled(TEMPLATE) for some in (lines, lines, mixed)]
    assert pages[0] == pages[1] == pages[2]
    assert "<<" not in pages[0]
    assert "nan" not in re.findall(r"\w+", pages[0])
    drawn = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name, figure in pictures(Standings(lines)):
            figure.savefig(tmp_path / folder / f"{name}.png", metadata={"Software": None})
            mpl.pyplot.close(figure)
        drawn.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert drawn[0] == drawn[1]
    assert {f"scoreboard/{name}" in TEMPLATE for name in drawn[0]} == {True}
    assert len(drawn[0]) == 3


def test_every_figure_on_the_page_comes_from_lines(rng):
    """Where the page claims something, its template has no numbers; with other lines all of them are others."""
    claims = TEMPLATE[TEMPLATE.index("## In short") : TEMPLATE.index("## Who takes part")]
    by_hand = re.findall(r"\d+", re.sub(r"<<[^>]+>>", "", claims))
    assert by_hand == ["1", "5"]  # the best rank and the level of the test
    lines = several(rng)
    moved = [replace(one, bca=one.bca - 7) if one.model == "default" else one for one in lines]
    before, after = (ScoreboardPage(Standings(some)).less("default", "bca") for some in (lines, moved))
    one, other = (float(re.search(r"\| EBM \| ([+-][\d.]+)", text)[1]) for text in (before, after))
    assert one - other == pytest.approx(7, abs=0.011)


def test_ahead_and_behind_are_said_alike(rng):
    lines = several(rng)
    page = ScoreboardPage(Standings(lines))
    assert re.search(r"BCA: behind nobody; ahead of [^;]*EBM \(\+", page.verdict("default"))
    turned = [replace(one, bca=100 - one.bca) for one in lines]
    assert re.search(r"BCA: behind [^;]*EBM \(-", ScoreboardPage(Standings(turned)).verdict("default"))


def test_all_who_take_part_are_described_and_drawn():
    settings = TEMPLATE[TEMPLATE.index("## Who takes part") : TEMPLATE.index("## The sets")]
    assert set(re.findall(r"\*\*([^*]+)\*\*", settings)) == set(CONTENDERS) == set(LOOKS)
    assert {name for name in OURS if f"<<verdict: {name}>>" in TEMPLATE} == set(OURS)


def test_the_page_is_what_the_record_gives():
    """Whoever records lines also runs ``python -m experiments.standings``."""
    if not PATH.exists():
        pytest.skip("no line is recorded")
    page = (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8")
    assert ScoreboardPage(recorded()).filled(TEMPLATE) == page
    assert all((ROOT / "docs" / "scoreboard" / f"{name}.png").exists() for name in ("ranks", "reading", "time"))


def test_recorded_lines_are_of_reported_splits_and_name_their_code():
    for one in Results(PATH, Line):
        assert re.fullmatch(r"[0-9a-f]{7}", one.commit)
        assert one.split - (LATER if one.dataset in NAMES else 0) in SPLITS
        assert one.model in CONTENDERS
        assert bool(one.failure) == (math.isnan(one.bca) and math.isnan(one.r2))
