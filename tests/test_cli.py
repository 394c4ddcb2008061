import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sessc import Model, RuleBase, __version__
from sessc.cli.main import main
from sessc.cli.parser import EXAMPLES, parser
from sessc.rules.base import Cells
from sessc.rules.conditions import grades
from sessc.tables.files import loads
from sessc.tables.reading import read


def test_demo_shows_scores_and_rules(capsys):
    assert main(["demo", "--rules", "3"]) == 0
    shown = capsys.readouterr().out
    for words in ("logistic regression", "short rules", "Rule 2", "malignant", "worst radius", "Settings"):
        assert words in shown


def test_the_demo_shows_rules_before_it_searches(capsys, monkeypatch):
    def stopped(*_, **__):
        raise ValueError("nothing was searched.")

    monkeypatch.setattr("sessc.cli.demo.Model.fit", stopped)
    assert main(["demo"]) == 2
    assert "Rule 1 (counts most for" in capsys.readouterr().out


def test_mistakes_are_one_line(capsys):
    assert main(["demo", "--rules", "0"]) == 2
    assert capsys.readouterr().err == "sessc: --rules must be a whole number above zero, got 0.\n"


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert __version__ in capsys.readouterr().out


def test_importing_is_light():
    """Heavy optional packages are imported by the functions that need them."""
    heavy = [
        "torch",
        "matplotlib",
        "dask",
        "onnx",
        "polars",
        "jinja2",
    ]  # scikit-learn itself brings pandas and rich
    code = f"import sys, sessc; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with text labels, a category and missing cells, and a model that was fitted to it."""
    folder = tmp_path_factory.mktemp("patients")
    rng = np.random.default_rng(0)
    age, smoker = rng.normal(50, 15, size=150), rng.choice(["yes", "no"], size=150)
    pressure = 120 + 0.4 * (age - 50) + 10 * (smoker == "yes") + rng.normal(0, 8, size=150)
    ill = np.where(pressure + 15 * (smoker == "yes") + rng.normal(0, 5, size=150) > 133, "ill", "well")
    people = enumerate(zip(age, smoker, pressure, ill, strict=True))
    rows = [[f"{a:.1f}", s, f"{p:.0f}", f"id{k}", h] for k, (a, s, p, h) in people]
    rows[3][0] = rows[7][0] = ""
    rows[9][1] = "NA"
    with (folder / "patients.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "smoker", "pressure", "id", "health"], *rows])
    (folder / "new.csv").write_text("pressure,smoker,age\n150,yes,70\n110,no,\n,,\n")
    settings = ["--target", "health", "--rules", "3", "--conditions", "2"]
    assert main(["fit", str(folder / "patients.csv"), *settings]) == 0
    return folder


def test_a_table_becomes_rules_a_report_and_answers(folder, capsys):
    model = Model.load(folder / "patients.rules.json")
    assert model.rules.feature_names == ("age", "smoker", "pressure")
    assert model.rules.classes.tolist() == ["ill", "well"]
    assert model.evaluations["rules"].measures["balanced accuracy"] > 0.8
    assert set(model.evaluations) == {"rules", "logistic regression"}
    assert "<title>Rules for health</title>" in (folder / "patients.rules.html").read_text(encoding="utf-8")
    assert main(["predict", str(folder / "patients.rules.json"), str(folder / "new.csv")]) == 0
    shown = capsys.readouterr()
    used = dict(zip(model.rules.feature_names, model.rules.used, strict=True))
    assert ("age: 2 missing cells count as unknown\n" in shown.err) == used["age"]
    assert "pressure: 1 missing cell counts as unknown\n" in shown.err
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert [row["health"] for row in rows[:2]] == ["ill", "well"]
    X = model.features(read(folder / "new.csv"))
    odds = [[float(row["p(ill)"]), float(row["p(well)"])] for row in rows]
    np.testing.assert_array_equal(odds, model.rules.probabilities(X))
    np.testing.assert_array_equal(
        RuleBase.load(folder / "patients.rules.json")(X), [row["health"] for row in rows]
    )


def test_rules_changed_by_hand_still_take_the_raw_table(folder, capsys, tmp_path):
    model = Model.load(folder / "patients.rules.json")
    changed = model.rules.without_rule(1)
    model.with_rules(changed).save(tmp_path / "changed.json")
    again = Model.load(tmp_path / "changed.json")
    assert again.rules.columns == model.rules.columns
    assert again.evaluations == {}
    assert again.rules.edits == changed.edits
    assert main(["predict", str(tmp_path / "changed.json"), str(folder / "new.csv")]) == 0
    assert capsys.readouterr().out.startswith("health,p(ill),p(well)\n")


def test_a_table_needs_the_columns_that_rules_use(folder, capsys, tmp_path):
    fitted, model = Model.load(folder / "patients.rules.json"), str(tmp_path / "without_age.json")
    rules = fitted.rules
    for r in np.flatnonzero(rules.asks[:, 0]):
        rules = rules.without_condition(int(r) + 1, "age")
    fitted.with_rules(rules).save(model)
    used = [name for name, one in zip(rules.feature_names, rules.used, strict=True) if one]
    assert used == ["smoker", "pressure"]
    assert main(["info", model]) == 0
    assert (
        "\nA table needs the columns smoker, pressure; 1 other column may be left out.\n"
        in capsys.readouterr().out
    )
    (tmp_path / "few.csv").write_text("pressure,note,smoker\n150,x,yes\n110,y,maybe\n120,z,maybe\n")
    assert main(["predict", model, str(tmp_path / "few.csv")]) == 0
    shown = capsys.readouterr()
    odd, prior = shown.err.splitlines()
    assert odd == "2 cells of smoker hold 'maybe', which the model has never seen; they count as unknown"
    assert prior.startswith(
        "Probabilities are as if all classes were equally common; for classes as common as in "
    )
    assert shown.out.count("\n") == 4
    (tmp_path / "few.csv").write_text("pressure,age\n150,3\n")
    assert main(["predict", model, str(tmp_path / "few.csv")]) == 2
    assert capsys.readouterr().err == "sessc: the table has no column 'smoker'; it has pressure, age.\n"


def test_answers_go_to_a_file_or_as_json(folder, capsys, tmp_path):
    given = [str(folder / "patients.rules.json"), str(folder / "new.csv")]
    assert main(["predict", *given, "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)
    assert main(["predict", *given, "--out", str(tmp_path / "answers.csv")]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "answers.csv").read_text(encoding="utf-8"))))
    assert [row["health"] for row in rows] == [row["health"] for row in answers]


def test_columns_are_kept_beside_the_answers(folder, capsys, tmp_path):
    model, rows = str(folder / "patients.rules.json"), (folder / "patients.csv").read_text().splitlines()[:5]
    (tmp_path / "few.csv").write_text("\n".join(rows) + "\n")
    given = ["predict", model, str(tmp_path / "few.csv"), "--keep", "id", "--keep", "health", "--keep", "age"]
    assert main(given) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(found[0]) == ["id", "health", "age", "health (answer)", "p(ill)", "p(well)"]
    truth = list(csv.DictReader(rows))
    for name in ("id", "health", "age"):
        assert [row[name] for row in found] == [row[name] for row in truth]
    assert found[3]["age"] == ""
    assert main([*given, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in said] == ["id0", "id1", "id2", "id3"]
    assert said[3]["age"] is None


def test_no_spreadsheet_runs_an_answer(folder, capsys, tmp_path):
    model = Model.load(folder / "patients.rules.json")
    odd = replace(model.rules, classes=np.asarray(["=HYPERLINK(1)", "-1"]), target_name="@sum")
    model.with_rules(odd).save(tmp_path / "odd.json")
    (tmp_path / "new.csv").write_text("pressure,smoker,age,id\n150,yes,70,+A1\n110,no,30,-\n110,no,30,-3.5\n")
    given = ["predict", str(tmp_path / "odd.json"), str(tmp_path / "new.csv"), "--keep", "id"]
    assert main(given) == 0
    shown = capsys.readouterr()
    header, *rows = csv.reader(io.StringIO(shown.out))
    assert header == ["id", "'@sum", "p(=HYPERLINK(1))", "p(-1)"]
    assert [row[:2] for row in rows] == [["'+A1", "'=HYPERLINK(1)"], ["-", "-1"], ["-3.5", "-1"]]
    assert "so that no spreadsheet runs them" in shown.err
    assert main([*given, "--json"]) == 0
    shown = capsys.readouterr()
    assert [row["@sum"] for row in json.loads(shown.out)] == ["=HYPERLINK(1)", "-1", "-1"]
    assert "spreadsheet" not in shown.err


def test_numbers_beyond_all_that_was_seen_are_named(folder, capsys, tmp_path):
    path, rules = str(folder / "patients.rules.json"), Model.load(folder / "patients.rules.json").rules
    [low, high] = rules.summary.quantiles[[0, -1], rules.feature_names.index("pressure")]
    (tmp_path / "new.csv").write_text(f"pressure,smoker,age\n{high:.0f},yes,40\n5000,no,40\n-7,no,40\n,no,40\n")
    assert main(["predict", path, str(tmp_path / "new.csv")]) == 0
    beyond = f"of pressure are beyond all that was seen, {low:.0f} to {high:.0f}, such as 5000; do not rely on"
    assert f"2 cells {beyond} an answer there\n" in capsys.readouterr().err
    assert main(["explain", path, str(tmp_path / "new.csv"), "--row", "2"]) == 0
    assert f"1 cell {beyond.replace('are', 'is')} an answer there.\n" in capsys.readouterr().out
    assert main(["explain", path, str(tmp_path / "new.csv"), "--row", "1"]) == 0
    assert "beyond" not in capsys.readouterr().out


def test_what_would_change_an_answer_lies_within_the_data(folder):
    """As a carat of -0.16 does not."""
    model = Model.load(folder / "patients.rules.json")
    low, high = model.rules.summary.quantiles[[0, -1]]
    for row in range(1, 40):
        for change in model.explain(folder / "patients.csv", row).changes:
            if not model.rules.layout.levels[change.feature]:
                assert low[change.feature] <= change.value <= high[change.feature]


def test_where_all_of_a_rule_is_shown_is_something_to_type_or_open(tmp_path, capsys, rng):
    X = rng.normal(size=(60, 7))
    rows = [",".join([*(f"{x:.3f}" for x in row), f"{row.sum():.3f}"]) for row in X]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,f,g,y", *rows]) + "\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "y", "--rules", "2"]) == 0
    fitted = capsys.readouterr().out
    assert main(["info", str(tmp_path / "t.rules.json")]) == 0
    shown = capsys.readouterr().out
    for what in ("5 strongest conditions of each rule", "4 largest terms of each conclusion"):
        assert f"\nThe {what} are shown; the page shows all.\n" in fitted
        assert f"\nThe {what} are shown; sessc report shows all.\n" in shown
        assert f"\nThe {what} are shown; to_text() shows all.\n" in str(RuleBase.load(tmp_path / "t.rules.json"))
    assert "to_text" not in fitted + shown


def test_one_answer_is_explained(folder, capsys):
    given = ["explain", str(folder / "patients.rules.json"), str(folder / "new.csv"), "--row", "1"]
    assert main(given) == 0
    assert capsys.readouterr().out.startswith("The answer is ill: ill ")
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] == "ill"
    np.testing.assert_allclose(np.sum(found["contributions"], axis=0), found["outputs"])
    assert found["classes"] == ["ill", "well"]
    assert found["values"]["pressure"] == 150.0
    rules = Model.load(folder / "patients.rules.json").rules
    assert [len(grades) for grades in found["grades"]] == rules.n_conditions.tolist()
    assert all(0 <= grade <= 1 for grades in found["grades"] for grade in grades.values())
    row = rules.cells(Model.load(folder / "patients.rules.json").features(folder / "new.csv"))[:1]
    np.testing.assert_allclose(found["firing"], rules.firing(Cells(row))[0])
    for r, column in np.argwhere(rules.asks):
        said = found["grades"][r][rules.feature_names[column]]
        np.testing.assert_allclose(said, grades(rules, r, column, row[:, column])[0])


def test_a_row_is_explained_whatever_the_others_are(folder, capsys, tmp_path):
    (tmp_path / "t.csv").write_text("age,smoker,pressure\n50,no,120\n50,,high\n50,maybe,120\n")
    given = ["explain", str(folder / "patients.rules.json"), str(tmp_path / "t.csv"), "--row"]
    assert main([*given, "1"]) == 0
    assert capsys.readouterr().err == ""
    assert main([*given, "2"]) == 2
    assert "row 2 has 'high' in column 'pressure', which holds numbers;" in capsys.readouterr().err
    assert main([*given, "3"]) == 0
    unknown = "1 cell of smoker holds 'maybe', which the model has never seen; it counts as unknown\n"
    assert capsys.readouterr().err == unknown


def test_what_a_model_is_and_its_page(folder, capsys, tmp_path):
    model = str(folder / "patients.rules.json")
    assert main(["info", model]) == 0
    assert "On 38 rows held out (ill" in capsys.readouterr().out
    assert main(["info", model, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["columns"] == ["age", "smoker", "pressure"]
    rules = Model.load(model).rules
    assert said["used"] == [name for name, one in zip(rules.feature_names, rules.used, strict=True) if one]
    page = tmp_path / "page.html"
    assert (
        main(["report", model, "--out", str(page), "--title", "A & B", "--examples", str(folder / "new.csv")]) == 0
    )
    capsys.readouterr()
    assert main(["report", model, "--out", str(tmp_path / "other.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": str(tmp_path / "other.html")}
    text = page.read_text(encoding="utf-8")
    assert "<title>A &amp; B</title>" in text
    assert "row 3" in text


def test_the_exported_model_takes_the_raw_table(folder, capsys, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    assert main(["export", str(folder / "patients.rules.json"), "--onnx", str(tmp_path / "m.onnx")]) == 0
    assert "its inputs are age, smoker, pressure" in capsys.readouterr().out
    given = ["export", str(folder / "patients.rules.json"), "--onnx", str(tmp_path / "n.onnx")]
    assert main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["inputs"] == ["age", "smoker", "pressure"]
    model, table = Model.load(folder / "patients.rules.json"), read(folder / "patients.csv")
    numbers = {n: np.asarray([[np.nan if c is None else float(c)] for c in table[n]]) for n in ("age", "pressure")}
    texts = {"smoker": np.asarray([["" if c is None else c] for c in table["smoker"]], dtype=object)}
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    label, odds = session.run(["label", "probabilities"], numbers | texts)
    X = model.features(table)
    assert label.tolist() == model.rules(X).tolist()
    np.testing.assert_allclose(odds, model.rules.probabilities(X), atol=1e-10)


def test_a_number_is_predicted_and_said_in_json(folder, capsys, tmp_path):
    given = [
        str(folder / "patients.csv"),
        "--target",
        "pressure",
        "--rules",
        "2",
        "--skip",
        "health",
        "--seed",
        "1",
    ]
    assert main(["fit", *given, "--out", str(tmp_path / "p.json"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["classes"] is None
    assert set(said["evaluations"]) == {"rules", "ridge regression"}
    assert said["evaluations"]["rules"]["R²"] > 0.3
    assert "id: left out, it has 112 different texts in 112 rows" in said["notes"]
    assert "smoker: 2 categories (no, yes)" in said["notes"]
    assert (tmp_path / "p.html").exists()
    assert main(["predict", str(tmp_path / "p.json"), str(folder / "new.csv")]) == 0
    assert capsys.readouterr().out.startswith("pressure\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nothing.csv", "--target", "y"], "there is no file nothing.csv."),
        (["fit", "patients.csv", "--target", "healt"], "there is no column 'healt' to predict; there are age,"),
        (["fit", "patients.csv", "--target", "health", "--task", "number"], "cells that are no numbers"),
        (
            ["fit", "slip.csv", "--target", "y"],
            "column 'x' holds numbers, but 'unknown' in row 30; correct the cell",
        ),
        (
            ["fit", "slip.csv", "--target", "x"],
            "'unknown' in row 30; correct the cell or leave it empty, or add --task",
        ),
        (
            ["fit", "slip.csv", "--target", "x", "--task", "number"],
            "no numbers, 'unknown' in row 30; correct the cell or leave it empty, or leave out --task number.",
        ),
        (
            ["fit", "infinite.csv", "--target", "x", "--skip", "y"],
            "column 'x' holds numbers, but 'inf' in row 30;",
        ),
        (["fit", "patients.csv", "--target", "id"], "has one row only, and so have "),
        (["fit", "patients.csv", "--target", "health", "--held-out", "1.5"], "between 0 and 1, got 1.5."),
        (["fit", "one.csv", "--target", "y"], "every row is 'a'; there must be at least two classes"),
        (["fit", "few.csv", "--target", "y"], "4 rows are too few"),
        (
            ["fit", "none.csv", "--target", "y"],
            "every row is 'a'; there must be at least two classes to tell apart; 7 rows without y are left out.",
        ),
        (["predict", "nowhere.json", "new.csv"], "there is no file nowhere.json."),
        (
            ["predict", "patients.rules.json", "odd.csv"],
            "row 1 has 'high' in column 'pressure', which holds numbers;",
        ),
        (["predict", "patients.rules.json", "few.csv"], "or 'pressure'; it has x, y."),
        (["predict", "patients.csv", "new.csv"], "is not a file of rules"),
        (["explain", "patients.rules.json", "new.csv", "--row", "9"], "there is no row 9; rows go from 1 to 3."),
        (["report", "patients.rules.json", "--out", "nowhere/page.html"], "there is no folder nowhere"),
        (
            ["report", "patients.rules.json", "--out", "patients.rules.json"],
            "patients.rules.json is a file that this command",
        ),
        (["report", "patients.rules.json", "--out", "."], ". is a folder; name a file in it."),
        (
            ["report", "patients.rules.json", "--examples", "new.csv", "--out", "./new.csv"],
            "new.csv is a file that this command",
        ),
        (
            ["export", "patients.rules.json", "--onnx", "patients.rules.json"],
            "patients.rules.json is a file that this command",
        ),
        (["predict", "patients.rules.json", "new.csv", "--out", "new.csv"], "new.csv is a file that this command"),
        (["predict", "patients.rules.json", "new.csv", "--out", "patients.rules.json"], "choose another name"),
        (
            ["fit", "patients.csv", "--target", "health", "--out", "patients.csv"],
            "patients.csv is a file that this command",
        ),
        (["fit", ".", "--target", "health"], ". is a folder; give a table in it."),
        (["report", "."], ". is a folder; give a file of rules in it."),
        (["info", "."], ". is a folder; give a file of rules in it."),
        (
            ["fit", "patients.csv", "--target", "health", "--out", "m.html"],
            "m.html is a file that this command",
        ),
        (["fit", "patients.csv", "--target", "health", "--out", "nowhere/m.json"], "there is no folder nowhere"),
        (
            ["fit", "patients.csv", "--target", "health", "--seed", "-1"],
            "sessc: --seed must be zero or more, got -1.",
        ),
        (
            ["fit", "patients.csv", "--target", "health", "--seed", "4294967296"],
            "sessc: --seed must be at most 4294967295, got 4294967296.",
        ),
        (
            ["predict", "patients.rules.json", "new.csv", "--keep", "name"],
            "sessc: there is no column 'name' to keep; there are pressure, smoker, age.",
        ),
        (
            ["fit", "patients.csv", "--target", "health", "--held-out", "1.5"],
            "sessc: --held-out must be a share of the rows between 0 and 1, got 1.5.",
        ),
        (
            ["fit", "patients.csv", "--target", "health", "--rules", "0"],
            "--rules must be a whole number above zero, got 0.",
        ),
        (["fit", "patients.csv", "--target", "health", "--skip", "health"], "is the column to predict"),
        (["info", "cut.json"], "cut.json is not a file of rules, or a damaged one"),
    ],
)
def test_every_mistake_is_a_sentence(folder, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(folder)
    (folder / "one.csv").write_text("x,y\n" + "".join(f"{k % 7},a\n" for k in range(20)))
    (folder / "none.csv").write_text("x,y\n" + "".join(f"{k % 7},{'a' if k % 3 else 'NA'}\n" for k in range(20)))
    (folder / "few.csv").write_text("x,y\n1,a\n5,b\n3,a\n4,b\n")
    (folder / "odd.csv").write_text("age,smoker,pressure\n50,maybe,high\n")
    numbers = [f"{k / 7:.3f},{'ab'[k % 2] if k else ''}" for k in range(40)]
    for name, slip in (("slip", "unknown"), ("infinite", "inf")):
        (folder / f"{name}.csv").write_text("\n".join(["x,y", *numbers[:29], f"{slip},a", *numbers[29:]]) + "\n")
    (folder / "cut.json").write_text((folder / "patients.rules.json").read_text(encoding="utf-8")[:500])
    assert main(arguments) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("sessc: ")
    assert complaint.count("\n") == 1
    assert message in complaint


def test_whole_numbers_are_classes_and_json_goes_to_a_file(tmp_path, capsys):
    rows = [f"{k % 7},{'1' if k % 7 > 3 else '0.0' if k % 2 else '0'}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,p(1)", *rows]) + "\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "p(1)", "--rules", "2"]) == 0
    model = tmp_path / "t.rules.json"
    assert Model.load(model).rules.classes.tolist() == [0, 1]
    assert main(["predict", str(model), str(tmp_path / "t.csv"), "--json", "--out", str(tmp_path / "p.json")]) == 0
    answers = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert set(answers[0]) == {"p(1) (answer)", "p(0)", "p(1)"}


def test_a_reader_that_stops_early_is_no_mistake(folder):
    given = [str(folder / "patients.rules.json"), str(folder / "many.csv")]
    code = f"from sessc.cli.main import main; raise SystemExit(main(['predict', *{given!r}]))"
    text = (folder / "patients.csv").read_text(encoding="utf-8")
    (folder / "many.csv").write_text(text + text.partition("\n")[2] * 20, encoding="utf-8")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen([sys.executable, "-c", code], **pipes)
    running.stdout.readline()
    running.stdout.close()
    complaints = running.stderr.read()
    running.stderr.close()
    assert running.wait() == 0
    assert "Broken" not in complaints


def unheard(arguments, unbuffered):
    """The exit code of a command whose output nobody reads, and its complaints."""
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    given = [sys.executable, "-c", code, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(given, env=os.environ | {"PYTHONUNBUFFERED": unbuffered}, **pipes)
    running.stdout.close()
    complaints = running.stderr.read()
    running.stderr.close()
    return running.wait(), complaints


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_work_is_done_even_if_nobody_listens(folder, tmp_path, unbuffered):
    assert unheard(["info", folder / "patients.rules.json"], unbuffered) == (0, "")
    out = tmp_path / "m.json"
    fit = ["fit", folder / "patients.csv", "--target", "health", "--rules", "1", "--out", out]
    assert unheard(fit, unbuffered) == (0, "")
    assert Model.load(out).rules.n_rules == 1
    assert out.with_suffix(".html").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a disk that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_said(folder, unbuffered):
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    given = [sys.executable, "-c", code, "info", str(folder / "patients.rules.json")]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        found = subprocess.run(given, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert (found.returncode, found.stderr) == (2, "sessc: No space left on device.\n")


def test_a_model_takes_frames_as_the_command_line_takes_their_files(folder):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    model, path = Model.load(folder / "patients.rules.json"), folder / "patients.csv"
    answers = model.predict(read(path))
    for frame in (pandas.read_csv(path), pandas.read_csv(path).convert_dtypes(), polars.read_csv(path)):
        np.testing.assert_array_equal(model.predict(frame), answers)
        assert str(model.explain(frame, 4)) == str(model.explain(read(path), 4))


def test_flags_in_frames_are_as_in_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": np.arange(60) % 11, "flag": np.arange(60) % 3 == 0})
    frame["y"] = np.where(frame.x + 5 * frame.flag > 6, "a", "b")
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = Model.fit(read(tmp_path / "t.csv"), "y", n_rules=1)
    np.testing.assert_array_equal(model.predict(frame), model.predict(read(tmp_path / "t.csv")))


def test_it_is_said_that_classes_weigh_the_same(rng):
    rare = rng.random(400) < 0.1
    table = {
        "x": [f"{x:.3f}" for x in rng.normal(size=400) + rare],
        "y": ["fraud" if one else "ok" for one in rare],
    }
    balanced = Model.fit(dict(table), "y", n_rules=1)
    notes = balanced.notes
    [said] = [note for note in notes if "weigh" in note]
    assert said.endswith("fraud, but all classes weigh the same in learning")
    as_they_come = Model.fit(dict(table), "y", n_rules=1, class_weight=None)
    notes = as_they_come.notes
    assert any("common classes weigh more" in note for note in notes)
    means = [model.rules.probabilities(model.features(table))[:, 0].mean() for model in (balanced, as_they_come)]
    assert means[0] > 0.3
    assert means[1] == pytest.approx(rare.mean(), abs=0.05)


def test_letters_that_a_terminal_lacks_are_written_plainly(folder):
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    Model.fit(folder / "patients.csv", "pressure", n_rules=1).save(folder / "pressure.json")
    given = [sys.executable, "-c", code, "info", str(folder / "pressure.json")]
    asked = {
        "env": os.environ | {"PYTHONIOENCODING": "ascii"},
        "capture_output": True,
        "text": True,
        "check": True,
    }
    assert "\n  R2                       0." in subprocess.run(given, **asked).stdout


def test_an_interruption_is_quiet(folder, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sessc.tables.model.load", interrupt)
    assert main(["info", str(folder / "patients.rules.json")]) == 130
    assert capsys.readouterr() == ("", "")


def test_linear_rules_come_with_a_hint(folder, capsys, tmp_path):
    given = ["fit", str(folder / "patients.csv"), "--target", "health", "--rules", "1"]
    assert main([*given, "--out", str(tmp_path / "m.json")]) == 0
    shown = capsys.readouterr().out
    assert Model.load(tmp_path / "m.json").rules.order == 1
    assert "short IF–THEN rules instead of linear functions, add --conditions 3." in shown


def test_help_has_examples(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    assert "sessc fit patients.csv --target diagnosis" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    assert "--conditions" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["fit", "evaluate", "predict", "explain", "report", "export", "info", "demo"])
def test_every_command_has_examples_that_can_be_parsed(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert f"examples:\n  sessc {command} " in shown
    for line in EXAMPLES[command].splitlines():
        options = parser().parse_args(shlex.split(line.partition("      ")[0])[1:])
        assert options.run.__name__ == command


def test_columns_may_be_named_before_the_table():
    options = parser().parse_args(["fit", "--skip", "a", "--skip", "b", "t.csv", "--target", "y"])
    assert options.skip == ["a", "b"]
    assert str(options.data) == "t.csv"
    assert parser().parse_args(["fit", "t.csv", "--target", "y"]).skip == []


def test_progress_is_counted_where_there_is_no_bar(folder, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "rich", None)
    given = ["fit", str(folder / "patients.csv"), "--target", "health", "--rules", "2", "--conditions", "1"]
    given += ["--out", str(tmp_path / "m.json")]
    assert main(given) == 0
    assert capsys.readouterr().err == ""
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True)
    assert main(given) == 0
    counted = capsys.readouterr().err.split("\r")
    assert counted[1].startswith("fold 1 of at most ")
    assert counted[-2].strip() == counted[-1] == ""
    assert main([*given, "--json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_progress_is_said_now_and_then_where_there_is_no_terminal(folder, monkeypatch, capsys, tmp_path, form):
    monkeypatch.setattr("sessc.cli.commands.OFTEN", 0.0)
    given = ["fit", str(folder / "patients.csv"), "--target", "health", "--rules", "2", "--conditions", "1"]
    assert main([*given, "--out", str(tmp_path / "m.json"), *form]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"fold 1 of at most \d+, after \d+ s", lines[0])
    assert len(lines) > 1


def test_a_search_may_be_given_little_time(folder, capsys, tmp_path):
    given = ["fit", str(folder / "patients.csv"), "--target", "health", "--out", str(tmp_path / "m.json")]
    assert main([*given, "--minutes", "1e-9"]) == 0
    said = capsys.readouterr().out
    assert re.search(
        r"compared when 1e-09 min were over; not tried were 5, .* or 30 constant rules and 2, .* linear rules",
        said,
    )
    assert "another run may get further and choose others" in said
    assert Model.load(tmp_path / "m.json").rules.n_rules == 1
    assert main([*given, "--minutes", "0"]) == 2
    assert "minutes must be a positive number or None, got 0.0" in capsys.readouterr().err


@pytest.mark.parametrize("texts", [("1_0", "10"), ("007", "7"), ("1e1", "10"), ("+1", "1"), ("-0", "0")])
@pytest.mark.parametrize("task", [None, "classes"])
def test_classes_whose_texts_differ_are_never_one(texts, task):
    table = {"x": [f"{k % 7}" for k in range(60)], "y": [texts[k % 7 > 3] for k in range(60)]}
    model = Model.fit(table, "y", task=task, n_rules=1)
    notes = model.notes
    assert model.rules.classes.tolist() == sorted(texts)
    said = [note for note in notes if "texts" in note]
    one, other = texts
    expected = f"y: a column of texts, for {one!r} and {other!r} would be the same number"
    assert said == ([] if "_" in one else [expected])


def test_many_codes_are_classes_and_a_number_if_asked(rng):
    codes = [f"{k % 25}" if k % 2 else f"{k % 25:03d}" for k in range(500)]
    table = {"x": [f"{x:.3f}" for x in rng.normal(size=500)], "y": codes}
    model = Model.fit(dict(table), "y", n_rules=1)
    notes = model.notes
    assert model.rules.classes.tolist() == sorted(set(codes))
    assert "y: a column of texts, for '000' and '0' would be the same number" in notes
    model = Model.fit(dict(table), "y", task="number", n_rules=1)
    notes = model.notes
    assert model.rules.classes is None
    assert not any("texts" in note for note in notes)


def test_an_empty_target_is_a_sentence(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,\n2,NA\n" * 10)
    for task in ([], ["--task", "classes"], ["--task", "number"]):
        assert main(["fit", str(tmp_path / "t.csv"), "--target", "y", *task]) == 2
        said = "sessc: column 'y' is empty; fill in what is to be predicted, or name another column.\n"
        assert capsys.readouterr().err == said


@pytest.mark.parametrize("link", ["hardlink_to", "symlink_to"])
def test_no_command_writes_over_what_it_reads(folder, tmp_path, capsys, link):
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    data.write_bytes((folder / "patients.csv").read_bytes())
    model.write_bytes((folder / "patients.rules.json").read_bytes())
    for name in (data, model):
        getattr(tmp_path / f"other {name.name}", link)(name)
    before = data.read_bytes(), model.read_bytes()
    other_data, other_model = tmp_path / "other t.csv", tmp_path / "other m.json"
    for given in (
        ["fit", data, "--target", "health", "--out", other_data],
        ["fit", data, "--target", "health", "--report", other_data],
        ["predict", model, data, "--out", other_data],
        ["predict", model, data, "--out", other_model],
        ["report", model, "--out", other_model],
        ["report", model, "--examples", data, "--out", other_data],
        ["export", model, "--onnx", other_model],
    ):
        assert main(list(map(str, given))) == 2
        assert "is a file that this command reads or writes already" in capsys.readouterr().err
    assert (data.read_bytes(), model.read_bytes()) == before


@pytest.fixture
def closed(tmp_path):
    """A folder in which nothing can be written: by root neither, on a file system that is read only."""
    place = tmp_path / "closed"
    place.mkdir()
    place.chmod(0o555)
    if os.access(place, os.W_OK):
        mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(place)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("root may write everywhere, and nothing can be mounted here")
        yield place
        subprocess.run(["umount", str(place)], check=True)
    else:
        yield place
        place.chmod(0o755)


def test_it_is_known_before_learning_that_nothing_can_be_written(folder, closed, monkeypatch, tmp_path, capsys):
    def learned(*_, **__):
        raise AssertionError("it learned")

    monkeypatch.setattr("sessc.tables.model.train", learned)
    fit = ["fit", str(folder / "patients.csv"), "--target", "health"]
    for where in (
        ["--out", str(closed / "m.json")],
        ["--out", str(tmp_path / "m.json"), "--report", str(closed / "p")],
    ):
        assert main([*fit, *where]) == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith(f"sessc: {closed}")
        assert "cannot be written" in complaint
        assert complaint.endswith("; choose another place.\n")
    assert list(tmp_path.iterdir()) == [closed]


SMALL_FILES = """
import resource, sys
from sessc.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
raise SystemExit(main(sys.argv[1:]))
"""


def test_rules_that_cannot_be_saved_are_printed(folder, tmp_path):
    pytest.importorskip("resource", reason="this system has no limits of files")
    out = tmp_path / "m.json"
    out.write_text("old")
    fit = ["fit", str(folder / "patients.csv"), "--target", "health", "--rules", "1", "--out", str(out)]
    for json_too in ([], ["--json"]):
        given = [sys.executable, "-c", SMALL_FILES, *fit, *json_too]
        found = subprocess.run(given, capture_output=True, text=True, check=False)
        lost = [f"{path} could not be written (File too large)" for path in (out, out.with_suffix(".html"))]
        why = f"sessc: {'; '.join(lost)}; the rules are printed instead.\n"
        assert (found.returncode, found.stderr) == (2, why)
        if json_too:
            said = json.loads(found.stdout)
            assert (said["model"], said["report"]) == (None, None)
            assert loads(json.dumps(said["rules"])).rules.n_rules == 1
        else:
            assert "\nRule 1" in found.stdout
            assert "Wrote" not in found.stdout
        assert out.read_text() == "old"
        assert list(tmp_path.iterdir()) == [out]


def test_a_table_in_a_folder_is_not_written_over(tmp_path, capsys, rng):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").mkdir()
    part = tmp_path / "t.parquet" / "part-0.parquet"
    pandas.DataFrame({"a": rng.normal(size=40), "y": np.arange(40) % 2}).to_parquet(part)
    before = part.read_bytes()
    assert main(["fit", str(tmp_path / "t.parquet"), "--target", "y", "--out", str(part)]) == 2
    assert "reads or writes already" in capsys.readouterr().err
    assert part.read_bytes() == before


def test_what_is_open_already_is_written_on_and_not_over(folder, tmp_path):
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    files = [str(folder / "patients.rules.json"), str(folder / "patients.csv")]
    given = [sys.executable, "-c", code, "predict", *files, "--out", "/dev/stdout"]
    with (tmp_path / "all.csv").open("a") as file:
        file.write("precious\n")
        file.flush()
        assert subprocess.run(given, stdout=file, check=False).returncode == 0
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert lines[0] == "precious"
    assert len(lines) > 2


def test_closed_output_is_a_sentence(folder):
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    given = " ".join(map(shlex.quote, [sys.executable, "-c", code, "info", str(folder / "patients.rules.json")]))
    found = subprocess.run(["sh", "-c", f"{given} >&-"], stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr == (
        "sessc: standard output is closed, so nothing could be said; open it or send it to a file.\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a disk that is always full")
@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full"])
def test_notes_that_nobody_can_hear_are_not_among_the_answers(folder, redirected):
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"

    def run(*given, where=""):
        command = " ".join(map(shlex.quote, [sys.executable, "-c", code, *map(str, given)]))
        return subprocess.run(["sh", "-c", f"{command} {where}"], capture_output=True, text=True, check=False)

    given = ("predict", folder / "patients.rules.json", folder / "new.csv")
    heard, unheard = run(*given), run(*given, where=redirected)
    assert "missing cell" in heard.stderr
    assert (unheard.returncode, unheard.stdout, unheard.stderr) == (0, heard.stdout, "")
    wrong = run(given[0], given[1], folder / "nowhere.csv", where=redirected)
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", "")


def test_links_that_lead_nowhere_are_a_sentence(folder, tmp_path, capsys):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    files = [str(folder / "patients.rules.json"), str(folder / "patients.csv")]
    assert main(["predict", *files, "--out", str(tmp_path / "a")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_reader_of_a_named_pipe_that_leaves_is_a_mistake(folder, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    rows = (folder / "patients.csv").read_text().splitlines()
    (tmp_path / "many.csv").write_text("\n".join([rows[0], *(rows[1:] * 400)]) + "\n")
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    files = [str(folder / "patients.rules.json"), str(tmp_path / "many.csv")]
    given = [sys.executable, "-c", code, "predict", *files, "--out", str(tmp_path / "pipe")]
    running = subprocess.Popen(given, stderr=subprocess.PIPE, text=True)
    with (tmp_path / "pipe").open() as reader:
        reader.read(10)
    _, complaints = running.communicate(timeout=60)
    assert running.returncode == 2
    assert complaints.splitlines()[-1].startswith("sessc: Broken pipe: ")


def test_a_target_with_a_zero_before_it_is_explained(tmp_path, capsys):
    rows = [f"{k * 37 % 101},{k}" for k in range(2, 32)] + ["3,05"]
    (tmp_path / "t.csv").write_text("\n".join(["a,t", *rows]) + "\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "t"]) == 2
    assert "t: a column of texts, for '5' and '05' would be the same number" in capsys.readouterr().err
