"""Rows held out by group, by time or in a table of their own: nothing that is tested was learned from."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from sessc import Evaluation, Model
from sessc.cli.main import main
from sessc.tables.holding import Holding


def visits(n=160, seed=0):
    """Visits of patients of a clinic, a quarter of them of people who are ill."""
    rng = np.random.default_rng(seed)
    patient, day = rng.integers(0, n // 3, size=n), np.sort(rng.integers(0, 1000, size=n))
    fever = rng.normal(37.5, 1, size=n)
    ill = fever + rng.normal(0, 0.5, size=n) > 38.3
    dates = np.datetime64("2019-01-01") + day
    return {
        "patient": [f"P{k}" for k in patient],
        "date": [str(date) for date in dates],
        "fever": [f"{one:.2f}" for one in fever],
        "noise": [f"{one:.2f}" for one in rng.normal(size=n)],
        "n": [str(one) for one in rng.integers(0, 4, size=n)],
        "diagnosis": np.where(ill, "ill", "well").tolist(),
    }


def apart(table, **asked):
    n_rows = len(table["date"])
    return Holding(**asked).read({name: list(cells) for name, cells in table.items()}, list(range(1, n_rows + 1)))


@pytest.mark.parametrize("is_number", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_on_both_sides(seed, is_number):
    table = visits(seed=seed)
    rows = apart(table, group="patient")
    y = np.asarray(table["fever"], float) if is_number else np.asarray(table["diagnosis"])
    patient = np.asarray(table["patient"])
    part, rest = rows.split(y, is_number, seed)
    assert sorted([*part, *rest]) == list(range(len(y)))
    assert not {*patient[part]} & {*patient[rest]}
    assert 0.1 < len(rest) / len(y) < 0.4
    for learned, tested in rows.folds(part, y, is_number, seed):
        assert not {*patient[part][learned]} & {*patient[part][tested]}


def test_rows_without_a_group_are_groups_by_themselves():
    table = visits(20) | {"patient": [None] * 20}
    assert len(np.unique(apart(table, group="patient").groups)) == 20


@pytest.mark.parametrize("grouped", [False, True])
def test_time_goes_one_way(grouped):
    table = visits()
    asked = {"by": "date", "after": "2021-01-01", "group": "patient" if grouped else None}
    part, rest = apart(table, **asked).split(np.asarray(table["diagnosis"]), False, 0)
    date, patient = np.asarray(table["date"]), np.asarray(table["patient"])
    assert max(date[part]) < "2021-01-01" <= min(date[rest])
    assert len(rest) == np.count_nonzero(date >= "2021-01-01")
    assert len(part) + len(rest) == len(date) or grouped
    assert not grouped or not {*patient[part]} & {*patient[rest]}


def test_time_may_be_a_number():
    table = visits() | {"year": [str(2000 + k // 20) for k in range(160)]}
    part, rest = apart(table, by="year", after=2006).split(np.asarray(table["diagnosis"]), False, 0)
    assert (len(part), len(rest)) == (120, 40)


def test_a_model_is_measured_on_a_table_of_its_own():
    table, other = visits(), visits(60, seed=9)
    model = Model.fit(
        table, "diagnosis", n_rules=2, conditions=2, skip=["patient", "date"], weight="n", test=other
    )
    found, weight = model.evaluations["rules"], np.asarray(other["n"], float)
    assert model.rules.summary.n_rows == 160 - table["n"].count("0")
    assert found.n_rows == np.count_nonzero(weight)
    assert "n" not in model.rules.feature_names
    truth = np.asarray(other["diagnosis"])
    assert found.measures["accuracy"] == pytest.approx(
        accuracy_score(truth, model.predict(other), sample_weight=weight)
    )
    p = model.predict_proba(other)[:, 0]
    assert found.measures["AUC"] == pytest.approx(
        roc_auc_score(truth == "ill", p, sample_weight=weight), rel=1e-12
    )
    assert model.evaluate(other, sample_weight="n").measures == pytest.approx(found.measures)
    assert list(model.evaluations) == ["rules", "logistic regression"]


def test_probabilities_at_the_prevalence_of_the_data():
    table = visits()
    fit = {"n_rules": 2, "conditions": 2, "skip": ["patient", "date", "n"]}
    balanced, asked = Model.fit(table, "diagnosis", **fit), Model.fit(table, "diagnosis", prior="data", **fit)
    np.testing.assert_allclose(balanced.evaluations["rules"].prior, 0.5, atol=1e-9)
    np.testing.assert_allclose(asked.evaluations["rules"].prior, asked.rules.summary.shares)
    np.testing.assert_allclose(
        balanced.with_prior("data").predict_proba(table), asked.predict_proba(table), atol=1e-12
    )
    rate = table["diagnosis"].count("ill") / 160
    ill = [one.predict_proba(table)[:, 0].mean() for one in (balanced, asked)]
    assert abs(ill[1] - rate) < min(0.05, abs(ill[0] - rate))
    assert asked.rules.summary.evidence is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    for name, table in (("visits.csv", visits()), ("other.csv", visits(60, seed=9))):
        lines = [",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


SHORT = ["--target", "diagnosis", "--rules", "2", "--conditions", "2"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            ["--group", "patient", "--weight", "n", "--skip", "date"],
            "patient: 14 groups of 50 held out, with all of their rows",
        ),
        (
            ["--by", "date", "--after", "2021-01-01", "--skip", "patient"],
            "date: rows from 2021-01-01 on are held out",
        ),
        (["--test", "other.csv", "--threshold", "0.2", "--prior", "data"], "60 rows are in the table to test on"),
    ],
)
def test_rows_are_held_out_as_is_asked_on_the_command_line(folder, capsys, monkeypatch, asked, says):
    monkeypatch.chdir(folder)
    assert main(["fit", "visits.csv", *SHORT, *asked, "--out", "m.json"]) == 0
    shown = capsys.readouterr().out
    assert says in shown
    assert "with 95 % intervals from 1000 resamples" in shown
    model = Model.load("m.json")
    assert model.rules.target_name == "diagnosis"
    assert not {"patient", "date", "n"} & {*asked} & {*model.rules.feature_names}
    found = model.evaluations["rules"]
    assert found.intervals.keys() == found.measures.keys()
    if "--threshold" in asked:
        assert "a row is called so where its probability is at least 0.2" in shown
        assert "Probabilities hold where there are ill" in shown
        assert found.threshold == 0.2


def test_a_model_is_evaluated_on_another_table(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["fit", "visits.csv", *SHORT, "--out", "e.json"]) == 0
    capsys.readouterr()
    given = ["evaluate", "e.json", "other.csv", "--weight", "n", "--group", "patient", "--threshold", "0.3"]
    assert main([*given, "--prior", "ill=0.1", "--prior", "well=0.9", "--out", "found.json", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = Model.load("e.json").evaluate(
        "other.csv", sample_weight="n", groups="patient", threshold=0.3, prior={"ill": 0.1, "well": 0.9}
    )
    assert list(said) == ["rules", "logistic regression, cross-validated"]
    assert {name: said["rules"][name] for name in expected.measures} == expected.measures
    assert said["rules"]["prior"] == pytest.approx([0.1, 0.9])
    assert said["rules"]["intervals"]["AUC"] == pytest.approx(expected.intervals["AUC"])
    assert Evaluation.load("found.json").measures == expected.measures
    assert main(["predict", "e.json", "other.csv", "--prior", "data"]) == 0
    assert "Probabilities hold where there are ill" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--by", "date"], "--by needs a date or number beside it, from which on rows are held out."),
        (["--after", "2020-01-01"], "--after needs a column beside it, by which rows are held out."),
        (
            ["--by", "date", "--after", "soon"],
            "--after must be a date such as 2020-01-31 or a number, got 'soon'.",
        ),
        (
            ["--by", "date", "--after", "2031-01-01"],
            "--after must leave rows on both sides, but no row is from 2031-01-01 on.",
        ),
        (["--by", "noise", "--after", "2020-01-01"], "row 1 has "),
        (["--by", "date", "--after", "2020-01-01", "--test", "other.csv"], "--test holds the rows to test on"),
        (["--weight", "patient"], "in column 'patient'; a weight must be a number of zero or more."),
        (["--group", "ward"], "there is no column 'ward'; there are patient, date"),
        (["--test", "none.csv"], "there is no file none.csv."),
        (["--threshold", "2"], "--threshold must be from 0 to 1, got 2."),
        (["--positive", "sick"], "--positive must be one of ill, well, got 'sick'."),
        (["--prior", "ill"], "--prior must be data, or a class and its share such as ill=0.02, got 'ill'."),
        (["--prior", "ill=0.1"], "--prior must be 'data' or a share for each of ill, well, got ill."),
        (["--prior", "ill=0", "--prior", "well=1"], "--prior must be a share above zero for each of ill, well"),
        (["--weight", "diagnosis"], "'diagnosis' is the column to predict"),
        (
            ["--target", "fever", "--threshold", "0.3"],
            "--threshold is about classes, and fever is a number; leave it out.",
        ),
    ],
)
def test_every_mistake_is_a_sentence(folder, capsys, monkeypatch, asked, message):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sessc.tsk.tuning.TSKClassifierCV.fit", None)  # mistakes are told before learning
    assert main(["fit", "visits.csv", *SHORT, *asked]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("sessc: ")
    assert said.count("\n") == 1


def test_a_table_to_test_on_needs_the_same_columns_and_classes(folder):
    table = visits()
    with pytest.raises(ValueError, match="test must have the column 'diagnosis' too; it has fever"):
        Model.fit(table, "diagnosis", test={"fever": ["38"]})
    other = visits(20) | {"diagnosis": ["dead", *visits(20)["diagnosis"][1:]]}
    with pytest.raises(ValueError, match="test has 'dead' in row 1 of 'diagnosis', which no row to learn from is"):
        Model.fit(table, "diagnosis", test=other)
