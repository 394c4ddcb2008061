"""The arithmetic and the book-keeping of the experiments."""

import csv
import json
import os
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.protocol import METHODS, Grids, Unit, bca, units
from experiments.results import Result, Results
from experiments.statistics import adjusted, average_ranks, dunn, paired, ranks, signed_rank
from experiments.variants import VARIANTS
from scipy import stats
from sklearn.metrics import balanced_accuracy_score

PAPER = Path(__file__).parents[1] / "experiments" / "paper" / "tables.csv"


@pytest.fixture(scope="module")
def printed():
    """The paper's tables: statistic -> (order, measure) -> dataset -> method -> value."""
    tables = {}
    with PAPER.open(newline="") as file:
        for row in csv.DictReader(file):
            table = tables.setdefault(row["statistic"], {}).setdefault((row["order"], row["measure"]), {})
            table.setdefault(row["dataset"], {})[row["method"]] = float(row["value"])
    return tables


def test_all_printed_ranks_follow_from_the_printed_means(printed):
    compared = 0
    for key, table in printed["mean"].items():
        for dataset, means in table.items():
            if dataset == "average":
                continue
            assert ranks(means) == printed["rank"][key][dataset]
            compared += len(means)
    assert compared == 180


def test_printed_averages_are_averages(printed):
    for table in printed["mean"].values():
        for method, value in table["average"].items():
            cells = [means[method] for dataset, means in table.items() if dataset != "average"]
            assert np.mean(cells) == pytest.approx(value, abs=0.011)
    for key, table in printed["rank"].items():
        cells = {dataset: means for dataset, means in printed["mean"][key].items() if dataset != "average"}
        for method, value in average_ranks(cells).items():
            assert value == pytest.approx(table["average"][method], abs=0.051)


def test_signed_ranks_of_nine_means():
    assert signed_rank(np.arange(1.0, 10.0)) == pytest.approx(2 / 2**9)  # all one way: the two most extreme of 2^9
    assert signed_rank(np.zeros(9)) == 1.0


def test_what_the_paper_claims_is_asked_of_the_records(printed):
    from experiments import claims
    from experiments.tables import printed_means, signed_rank_table

    tables = {measure: printed_means(0, measure) for measure in ("RCA", "BCA")}
    assert [claims.times_best(tables[measure], "SESSC-LSE") for measure in ("RCA", "BCA")] == [6, 8]
    mean, wins, p = claims.over_data_sets(tables["BCA"], "SESSC-LSE", "SESSC")
    assert (wins, p) == (9, pytest.approx(2 / 2**9))
    assert mean == pytest.approx(78.03 - 75.90, abs=0.011)
    row = signed_rank_table(tables["BCA"], tables["BCA"], "SESSC-LSE", ["SESSC"]).splitlines()[-1]
    assert row == "| SESSC-LSE against SESSC | +2.13 | 9 of 9 | 0.004 | +2.13 | 9 of 9 | 0.004 |"
    assert claims.moved("vehicle", "SESSC-LSE", "gamma") < claims.moved("vehicle", "SESSC", "gamma")
    assert 0.5 < claims.sooner(4) <= claims.sooner(5) <= 1
    assert len(claims.accuracies()) == 8
    best = {n for m in claims.curves("own", "bca") for n in claims.best_with("own", "bca", m)}
    assert best == set(range(10, 101, 10))


@pytest.mark.parametrize("round_to", [0, 6])
def test_dunn_agrees_with_scikit_posthocs(rng, round_to):
    posthocs = pytest.importorskip("scikit_posthocs")
    samples = {name: rng.normal(70 + k, 5, size=40 + 10 * k).round(round_to) for k, name in enumerate("abcd")}
    oracle = posthocs.posthoc_dunn(list(samples.values()))
    corrected = posthocs.posthoc_dunn(list(samples.values()), p_adjust="fdr_bh")
    found = dunn(samples)
    order = {name: k for k, name in enumerate(samples)}
    for (a, b), value in found.items():
        assert value == pytest.approx(oracle.iloc[order[a], order[b]], rel=1e-9)
    for (a, b), value in adjusted(found).items():
        assert value == pytest.approx(corrected.iloc[order[a], order[b]], rel=1e-9)


def test_paired_differences(rng):
    a = rng.normal(size=30)
    mean, error, p = paired(a + 1, a)
    assert mean == pytest.approx(1)
    assert error == pytest.approx(0, abs=1e-12)
    assert p < 1e-4
    assert paired(a, a) == (0.0, 0.0, 1.0)
    assert paired(a[:1] + 1, a[:1])[1:] == (np.inf, 1.0)
    noisy = a + rng.normal(0.1, 1.0, size=30)
    _, error, p = paired(noisy, a)
    assert p > stats.ttest_rel(noisy, a).pvalue  # splits overlap: less evidence than as many tables
    assert error == pytest.approx(stats.sem(noisy - a))


def result(**changes):
    cells = {
        "dataset": "wdbc", "split": 3, "order": 0, "method": "SESSC", "rca": 95.5, "bca": 94.25,
        "parameters": json.dumps({"gamma": 0.1, "note": 'a "quoted", word'}),
        "seed": 3, "version": "0", "commit": "0", "seconds": 1.5,
    }  # fmt: skip
    return Result(**(cells | changes))


def test_results_survive_a_restart(tmp_path):
    path = tmp_path / "results.csv"
    first = Results(path)
    first.add(result())
    first.add(result(split=4, bca=90.0))
    again = Results(path)
    assert list(again) == [result(), result(split=4, bca=90.0)]
    assert ("wdbc", 3, 0, "SESSC") in again


def test_a_line_is_replaced_in_its_place(tmp_path):
    path = tmp_path / "results.csv"
    results = Results(path)
    for split in range(3):
        results.add(result(split=split))
    results.replace(result(split=1, bca=50.0, commit="abc1234"))
    again = list(Results(path))
    assert [line.split for line in again] == [0, 1, 2]
    assert (again[1].bca, again[1].commit) == (50.0, "abc1234")


def test_a_line_names_the_commit_that_computed_it(monkeypatch):
    from experiments import provenance
    from experiments.protocol import judged

    monkeypatch.setenv("SESSC_COMMIT", "abc1234")
    provenance.commit.cache_clear()
    line = judged(Unit("wdbc", 0, 0, "LR"), np.asarray([0, 1]), np.asarray([0, 1]), {}, 1.0)
    assert (line["commit"], line["bca"]) == ("abc1234", 100.0)
    monkeypatch.delenv("SESSC_COMMIT")
    provenance.commit.cache_clear()
    monkeypatch.setattr(provenance, "_git", lambda what, *rest: "" if what == "status" else "1234567\n")
    assert provenance.commit() == "1234567"
    provenance.commit.cache_clear()
    monkeypatch.setattr(provenance, "_git", lambda what, *rest: " M src\n" if what == "status" else "1234567\n")
    assert provenance.commit() == "1234567+"
    provenance.commit.cache_clear()


def test_every_recorded_line_names_its_commit():
    from experiments.comparison import Compared
    from experiments.figures import read
    from experiments.results import RESULTS
    from experiments.studies import STUDIES

    named = re.compile(r"(<=)?[0-9a-f]{7}")
    for name, kind in (("protocol", Result), ("variants", Result), ("comparison", Compared)):
        assert all(named.fullmatch(line.commit) for line in Results(RESULTS / f"{name}.csv", kind))
    for study in STUDIES:
        with (RESULTS / f"{study}.csv").open(newline="") as file:
            assert all(named.fullmatch(row["commit"]) for row in csv.DictReader(file))
    assert all(line["same"] in ("yes", "no") for line in read("again"))


def test_nothing_that_is_asked_for_is_missing():
    """``make paper`` and ``make compare`` find all they would compute."""
    from experiments import comparison, variants
    from experiments.protocol import N_SPLITS
    from experiments.results import RESULTS

    from sessc.datasets import NAMES

    asked = {
        "protocol": [unit for order in (0, 1) for unit in units(NAMES, N_SPLITS, order, tuple(METHODS))],
        "variants": list(variants.units(list(VARIANTS))),
        "comparison": list(comparison.units(list(comparison.MODELS), N_SPLITS)),
    }
    for name, todo in asked.items():
        known = Results(RESULTS / f"{name}.csv", comparison.Compared if name == "comparison" else Result)
        assert [unit for unit in todo if unit.key not in known] == []


def test_lines_computed_again_come_back_or_do_not(tmp_path, monkeypatch):
    from experiments import again

    monkeypatch.setattr(again, "RESULTS", tmp_path)
    before, after = result(split=0), result(split=0, commit="new", seconds=9.0)
    assert again.same(before, after)
    assert not again.same(before, replace(after, bca=1.0))
    assert not again.same(before, replace(after, parameters="{}"))
    again.record([(before, True), (result(split=1), False)])
    lines = list(csv.DictReader((tmp_path / "again.csv").read_text().splitlines()))
    assert [(line["split"], line["same"]) for line in lines] == [("0", "yes"), ("1", "no")]


@pytest.mark.parametrize(
    "damage",
    [
        "wdbc,5,0,SES",
        "wdbc,5,0,SESSC,95,94,{},5,0,c,one",
        "wdbc,5,0,SESSC,95,940,{},5,0,c,1",
        'wdbc,5,0,SESSC,9,9,"{",5,0,c,1',
    ],
)
def test_a_damaged_line_is_reported_and_dropped(tmp_path, capsys, damage):
    path = tmp_path / "results.csv"
    Results(path).add(result())
    with path.open("a") as file:
        file.write(damage + "\n")
    again = Results(path)
    assert list(again) == [result()]
    assert "line 3 is damaged" in capsys.readouterr().err
    again.add(result(split=5))
    assert len(list(Results(path))) == 2
    assert "damaged" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage",
    [
        b'wdbc,7,0,SESSC,95,94,"{""gamma"": 0.1\n',  # cut inside a quoted cell: the next line is whole
        b"wdbc,7,0,SES\xff\xfe,95,94,{},7,0,c,1\n",
    ],
)
def test_damage_does_not_spread_to_the_next_line(tmp_path, capsys, damage):
    path = tmp_path / "results.csv"
    Results(path).add(result())
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1].replace(b"wdbc,3", b"wdbc,9")
    path.write_bytes(whole + damage + last)
    again = Results(path)
    assert [one.split for one in again if one.method == "SESSC"] == [3, 9]
    if b"SESSC" in damage:
        assert "line 3 is damaged" in capsys.readouterr().err


def test_a_last_line_without_an_end_is_redone(tmp_path, capsys):
    path = tmp_path / "results.csv"
    Results(path).add(result(seconds=12.5))
    path.write_bytes(path.read_bytes()[:-2])  # 12.5 would read as 12
    assert list(Results(path)) == []
    assert "has no end" in capsys.readouterr().err


def test_reading_changes_nothing(tmp_path):
    path = tmp_path / "results.csv"
    assert list(Results(path)) == []
    assert not path.exists()
    path.write_text("rubbish\n")
    Results(path)
    assert path.read_text() == "rubbish\n"
    Results(path).add(result())
    assert "rubbish" not in path.read_text()
    assert list(Results(path)) == [result()]


def test_a_unit_that_takes_no_time_at_all(tmp_path):
    from experiments.progress import watching

    todo = [Unit("wdbc", split, 0, "SESSC") for split in (3, 4)]
    with watching(todo, Results(tmp_path / "results.csv")) as report:
        report(result(seconds=0.0))


def test_what_others_build_on_is_asked_for_first(tmp_path):
    from experiments.protocol import Work, compute, run

    todo = [Unit("wdbc", 0, 1, "SESSC-LSE")]
    with pytest.raises(SystemExit, match=r"SESSC.*--order 0"):
        run(Work(METHODS, compute), todo, Results(tmp_path / "results.csv"), Grids(), 1)


def test_the_paper_has_six_methods_of_order_zero_and_four_of_order_one():
    paper = [name for name in METHODS if name != "LR"]
    assert [name for name in paper if 0 in METHODS[name].orders] == paper
    assert [name for name in paper if 1 in METHODS[name].orders] == [
        "FCM-LSE",
        "EWFCM-LSE",
        "ESSC-LSE",
        "SESSC-LSE",
    ]
    assert len(list(units(("wdbc", "drd"), 3, 0, tuple(METHODS)))) == 2 * 3 * 7


def test_search_ranges_are_the_papers():
    grids = Grids()
    assert grids.h == grids.gamma == grids.beta == (0.01, 0.1, 1, 10, 100)
    assert grids.eta == (0.01, 0.05, 0.1, 0.3, 0.5)
    assert grids.lam == (0.0001, 0.001, 0.01, 0.1, 1, 10, 100)
    assert grids.sfp_gamma == (0.55, 0.65, 0.75, 0.85, 0.95)
    assert grids.sfp_lam[0] == 0.05  # ours; the table begins with the next
    assert grids.sfp_lam[1:] == (0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
    for grid, prime in zip(grids.sfp, grids.sfp_gamma, strict=True):
        assert 1 / (1 + grid["gamma"][0]) == pytest.approx(prime)
        assert 1 / (1 + grid["alpha"][0]) == pytest.approx(prime / 2)


def test_one_unit_from_beginning_to_end():
    """WDBC needs no file: the whole protocol on a thinned grid, the method that builds on another included."""
    from experiments.protocol import compute

    grids = Grids().thinned()
    first = compute(Unit("wdbc", 0, 0, "SESSC"), grids, {})
    second = compute(Unit("wdbc", 0, 1, "SESSC-LSE"), grids, json.loads(first.parameters))
    assert first.bca > 88
    assert second.bca > 90
    assert json.loads(second.parameters)["gamma"] == json.loads(first.parameters)["gamma"]


def test_tables_are_built_from_results_alone():
    from experiments.tables import collect, comparison, dunn_table, means, paired_table, printed_means, rank_table

    theirs = printed_means(0, "BCA")
    methods = list(theirs["wdbc"])
    results = [
        result(dataset=dataset, split=split, method=method, bca=theirs[dataset][method] + split - 1)
        for dataset in theirs
        for method in methods
        for split in range(3)
    ]
    scores = collect(results, 0, "BCA")
    ours = means(scores, methods)
    assert ours["vehicle"]["SFP"] == pytest.approx(theirs["vehicle"]["SFP"])
    text = comparison(ours, theirs)
    assert "| wdbc | 92.85<br><sub>92.85 (+0.00)</sub> |" in text
    assert "**average** | 66.77<br><sub>66.77 (+0.00)</sub>" in text
    ranked = rank_table(ours, theirs).splitlines()
    assert ranked[3] == "| wdbc | 5 (5) | 4 (4) | 3 (3) | 6 (6) | 2 (2) | 1 (1) |"
    assert ranked[-1].startswith("| **average** | 4.0 (4.0) |")
    printed = {("SESSC-LSE", "FCM-LSE"): 0.5, ("SESSC-LSE", "SFP"): 0.25}
    assert "| SESSC-LSE against SFP |" in dunn_table(scores, printed)
    assert "| wpbc | +4.78 ± 0.00 * |" in paired_table(scores, "SESSC-LSE", ["FCM-LSE"])


def test_the_lean_score_is_balanced_accuracy(rng):
    class Guess:
        def predict(self, X):
            return X[:, 0]

    for classes in (2, 5):
        y, guess = rng.integers(classes, size=(2, 40))
        y[y == 1] = 0  # a class without a row, as a fold of a small table may have it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = balanced_accuracy_score(y, guess)
        assert bca(Guess(), guess[:, None], y) == expected


def test_sizes_are_the_tables():
    """Those of the tables themselves; that they are the paper's, a reader of its summary sees."""
    from experiments.page import SIZES

    from sessc.datasets import NAMES

    assert tuple(SIZES) == NAMES
    folder = Path(os.environ.get("SESSC_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the data sets are not in {folder}; name a folder that has them in SESSC_DATA")
    for name, size in SIZES.items():
        with (folder / f"{name}.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        assert size == (len(rows), len(header) - 1, len({row[-1] for row in rows}))


def test_recorded_rules_draw_the_boundary_that_was_scored():
    from experiments.figures import lead_of_second, read
    from experiments.studies import synthetic

    cases = {}
    for row in read("boundaries"):
        cases.setdefault((row["problem"], row["method"], row["n_rules"]), []).append(row)
    assert len(cases) == 16
    for (problem, method, _), rules in cases.items():
        X, y = synthetic(problem)
        answers = lead_of_second(method, rules, X, X.mean(axis=0)) > 0
        assert 100 * np.mean(answers == y) == pytest.approx(
            rules[0]["accuracy"], abs=0.26
        )  # one sample, by rounding


def test_the_page_is_what_the_recorded_results_give():
    """Whoever records results also runs ``make paper``."""
    from experiments.page import ROOT, Evidence, PaperPage

    template = (ROOT / "experiments" / "paper.md").read_text(encoding="utf-8")
    assert PaperPage(Evidence()).filled(template) == (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")


def test_every_figure_is_drawn_from_recorded_studies():
    import matplotlib as mpl

    mpl.use("agg")
    from experiments.figures import FIGURES, OUT

    for name, draw in FIGURES.items():
        assert len(draw().axes) > 0
        assert f"paper/{name}.png" in (OUT.parent / "paper.md").read_text(encoding="utf-8")
        assert (OUT / f"{name}.png").exists()
    mpl.pyplot.close("all")


def test_a_new_method_is_one_entry(monkeypatch):
    """The recipe of CONTRIBUTING, word for word."""
    from experiments import protocol
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier

    guide = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    [recipe] = re.findall(r"```python\n(def neighbours.*?)```", guide, flags=re.S)
    methods = dict(METHODS)
    monkeypatch.setattr(protocol, "METHODS", methods)
    names = {"GridSearchCV": GridSearchCV, "KNeighborsClassifier": KNeighborsClassifier, "METHODS": methods}
    exec(recipe, vars(protocol) | names)
    found = protocol.compute(Unit("wdbc", 0, 0, "neighbours"), Grids(), {})
    assert found.bca > 90
    assert json.loads(found.parameters)["n_neighbors"] in (1, 5, 15, 45)


def test_the_plain_recipe_is_the_librarys():
    """The defaults of the variants' own, spelled-out rules give the protocol's result to the last digit."""
    from experiments import variants
    from experiments.protocol import judge

    from sessc import FCM, SESSC

    grids = Grids().thinned()
    chosen = {"gamma": 1.0, "eta": 0.1, "beta": 1.0}
    for order, base, clusterer in ((0, "SESSC-LSE", SESSC), (1, "SESSC-LSE", SESSC), (0, "FCM-LSE", FCM)):
        unit = Unit("wdbc", 1, order, base)
        chosen_here = chosen if clusterer is SESSC else {}
        plain = variants.Variant(variants.cooked(variants.Recipe(), clusterer))
        expected, found = judge(unit, METHODS[base], grids, chosen_here), judge(unit, plain, grids, chosen_here)
        assert (found.rca, found.bca) == (expected.rca, expected.bca)
        assert json.loads(found.parameters) == json.loads(expected.parameters)


@pytest.mark.parametrize("name", [name for name in VARIANTS if "time" not in name and "rules" not in name])
def test_each_variant_fits_and_predicts(name):
    from experiments.variants import compute

    grids = replace(Grids().thinned(), gamma=(10.0,), eta=(0.1,), beta=(1.0,), h=(1.0, 10.0), lam=(0.1,))
    chosen = {"gamma": 10.0, "eta": 0.1, "beta": 1.0} if name.startswith("SESSC-LSE") else {}
    assert compute(Unit("wdbc", 0, 0, name), grids, chosen).bca > 50


def test_lowering_eta_keeps_costs_at_zero_or_above_and_is_nothing_where_none_was_negative(rng):
    from experiments.variants import LoweredEta

    from sessc import Entropy, Objective, Power
    from sessc.rows.base import Samples
    from sessc.terms.objective import Parameters

    X = rng.normal(size=(50, 3))
    parameters = Parameters(2 * rng.normal(size=(4, 3)), rng.dirichlet(np.ones(3), size=4))
    for eta in (0.001, 0.9):
        terms = {"membership": Power(2.0), "weighting": Entropy(1.0), "eta": eta}
        plain, lowered = Objective(**terms), LoweredEta(**terms)
        block = Samples(X, None, None)
        columns = lowered.columns(block)
        coefficients = lowered.coefficients(parameters)
        before = plain.cost(plain.coefficients(parameters), plain.columns(block))
        after = lowered.cost(coefficients, lowered._lowered(coefficients, columns))
        np.testing.assert_allclose(after.min(axis=0), np.maximum(before.min(axis=0), 0), atol=1e-12)
        if eta < 0.01:
            np.testing.assert_allclose(after, before, atol=1e-12)


def test_a_model_is_compared_and_its_line_survives(tmp_path):
    from experiments.comparison import MODELS, Compared, compute

    assert {"10 rules", "default", "random forest"} <= set(MODELS)
    found = compute(Unit("wdbc", 0, 0, "logistic regression"), None, {})
    assert found.bca > 90
    assert np.isnan(found.rules)
    results = Results(tmp_path / "comparison.csv", Compared)
    results.add(found)
    [again] = Results(tmp_path / "comparison.csv", Compared)
    assert (again.key, again.log_loss) == (found.key, found.log_loss)


def test_the_comparison_page_is_what_was_recorded():
    from experiments.comparison import PATH, Compared
    from experiments.page import ROOT
    from experiments.refined import Comparison, RefinedPage

    template = (ROOT / "experiments" / "refined.md").read_text(encoding="utf-8")
    page = RefinedPage(Comparison(Results(PATH, Compared)))
    assert page.filled(template) == (ROOT / "docs" / "refined.md").read_text(encoding="utf-8")


def test_the_page_of_limits_is_what_was_recorded():
    from experiments.limits import recorded
    from experiments.page import ROOT

    template = (ROOT / "experiments" / "limits.md").read_text(encoding="utf-8")
    assert recorded().filled(template) == (ROOT / "docs" / "when-not.md").read_text(encoding="utf-8")


def test_calibration_error_is_none_for_honest_odds_and_all_for_certain_mistakes(rng):
    from experiments.comparison import calibration_error

    p = rng.random(200_000)
    y = (rng.random(p.size) < p).astype(int)
    assert calibration_error(y, np.stack([1 - p, p], axis=1)) < 0.005
    certain = np.stack([np.ones(10), np.zeros(10)], axis=1)
    assert calibration_error(np.zeros(10, int), certain) == 0
    assert calibration_error(np.ones(10, int), certain) == 1


def test_balancing_repeats_rows_of_smaller_classes(rng):
    from experiments.others import balanced

    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], [5, 20, 35])
    many, labels = balanced(X, y)
    assert np.bincount(labels).tolist() == [35, 35, 35]
    assert {tuple(row) for row in many} == {tuple(row) for row in X}
    for row, label in zip(many, labels, strict=True):
        assert y[np.flatnonzero(np.all(row == X, axis=1))[0]] == label


def test_the_page_of_the_comparison_says_what_was_recorded(tmp_path):
    from experiments.comparison import Compared
    from experiments.refined import Comparison, RefinedPage, draw

    results = Results(tmp_path / "comparison.csv", Compared)
    for model, score, conditions in (("10 rules", 80.0, 100), ("random forest", 82.0, np.nan)):
        for dataset, more in (("wdbc", 10.0), ("drd", -10.0)):
            for split in (0, 1):
                said = (
                    score + more,
                    score + more + split,
                    "{}",
                    split,
                    "0",
                    "0",
                    2.0,
                    0.5,
                    3.0,
                    10,
                    conditions,
                    300,
                    0.001,
                )
                results.add(Compared(dataset, split, 0, model, *said))
    page = RefinedPage(Comparison(results))
    assert page.mean("BCA", "10 rules") == "80.50"
    assert page.mean("conditions a rule", "10 rules") == "10.0"
    assert page.first(1, "BCA", "random forest") == "82.00"
    assert (
        "| random forest | 82.50 | 82.00 | 0.500 | 3.0 | 10.0 |  | 300 | 2.0 | 1.0 | 82.50 on 2 |"
        in page.overview()
    )
    assert page.first_splits().splitlines()[2].startswith("| random forest | **82.50** | 92.5 | 72.5 |")
    assert "| wdbc | -2.00 ± 0.00 * |" in page.against("10 rules", "random forest")
    assert len(draw(Comparison(results)).axes[0].lines) == 2
    assert page.against("10 rules", "random forest").startswith("| data set | against random forest, 2 splits |")
    assert page.lead("10 rules", "random forest") == "-2.00"
    assert page.stars("random forest", "10 rules") == "better on WDBC and DRD and worse on none"
    # A split that is known for one data set alone is left out: unlike splits do not stand side by side.
    results.add(Compared("wdbc", 2, 0, "10 rules", 10.0, 10.0, *said[2:]))
    assert Comparison(results).n_splits("10 rules") == 2
    assert RefinedPage(Comparison(results)).mean("BCA", "10 rules") == "80.50"
