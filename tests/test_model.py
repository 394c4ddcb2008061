"""From Python as from the command line: a raw table becomes a model, and nothing is learned from rows held out."""

import json

import numpy as np
import pytest

from sessc import Category, Model, Number, TSKClassifier
from sessc.cli.main import main
from sessc.tables.errors import TableError
from sessc.tables.files import dumps
from sessc.tables.training import absent_notes


@pytest.fixture
def table(rng):
    size, colour = rng.normal(size=80), rng.choice(["red", "blue", "green"], size=80)
    answer = np.where(size + (colour == "red") + rng.normal(0, 0.3, size=80) > 0.3, "yes", "no")
    return {"size": [f"{x:.3f}" for x in size], "colour": colour.tolist(), "answer": answer.tolist()}


def write(table, path):
    rows = zip(*table.values(), strict=True)
    lines = [",".join("" if cell is None else cell for cell in row) for row in rows]
    path.write_text("\n".join([",".join(table), *lines]) + "\n", encoding="utf-8")
    return path


def text(model):
    return dumps(model.rules, model.evaluations, model.missing)


def test_python_learns_what_the_command_line_learns(table, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    path = write(table, tmp_path / "t.csv")
    given = ["fit", str(path), "--target", "answer", "--rules", "2", "--conditions", "1", "--seed", "3", "--json"]
    assert main(given) == 0
    said = json.loads(capsys.readouterr().out)
    settings = {"n_rules": 2, "conditions": 1, "random_state": 3}
    for given in (path, str(path), table, pandas.read_csv(path)):
        model = Model.fit(given, target="answer", **settings)
        assert text(model) == (tmp_path / "t.rules.json").read_text(encoding="utf-8")
        assert list(model.notes) == said["notes"]
    np.testing.assert_array_equal(model.predict(path), model.predict(table))
    assert str(model.explain(path, 3)) == str(model.explain(table, 3))


def test_probabilities_are_those_of_the_rules(table):
    model = Model.fit(table, "answer", n_rules=1)
    odds = model.predict_proba(table)
    np.testing.assert_array_equal(odds, model.rules.probabilities(model.features(table)))
    np.testing.assert_array_equal(model.rules.classes[odds.argmax(axis=1)], model.predict(table))
    number = Model.fit(table, "size", n_rules=1)
    with pytest.raises(ValueError, match="the model predicts a number, and numbers have no probabilities"):
        number.predict_proba(table)


def test_texts_for_missing_cells_are_said_chosen_and_remembered(table, tmp_path, capsys):
    table["size"][0], table["size"][1], table["size"][2] = "-99", "NA", "."
    table["colour"] = ["none" if colour == "green" else colour for colour in table["colour"]]
    path = write(table, tmp_path / "t.csv")
    given = ["fit", str(path), "--target", "answer", "--rules", "1", "--missing", "-99", "--missing", "NA"]
    assert main(given) == 0
    said = capsys.readouterr().out
    assert f"{path}: 1 cell '-99' and 1 cell 'NA' count as missing.\n" in said
    assert f"{path}: 1 cell '.' of size counts as missing.\n" in said
    assert "size: 3 missing cells" in said
    assert "colour: 3 categories (blue, none, red)" in said
    model = Model.load(tmp_path / "t.rules.json")
    assert model.missing == ("-99", "NA")
    row = {"size": ["-99", "NA", "."], "colour": ["none", "red", "blue"]}
    assert np.isnan(model.features(row)["size"]).all()
    write(row, tmp_path / "new.csv")
    assert main(["predict", str(tmp_path / "t.rules.json"), str(tmp_path / "new.csv")]) == 0
    assert "1 cell '-99' and 1 cell 'NA' count as missing\n" in capsys.readouterr().err
    heard = []
    Model.fit(table, "answer", n_rules=1, say=heard.append)
    assert heard[:2] == ["1 cell 'NA' counts as missing.", "1 cell '.' of size counts as missing."]


def test_the_page_has_the_measures_and_raw_rows_to_start_from(table, tmp_path):
    model = Model.fit(table, "answer", n_rules=2, conditions=1)
    some = {name: [*cells[:2], None] for name, cells in table.items()}
    page = model.to_html(tmp_path / "page.html", title="Who says yes?", examples=some)
    shown = {"title": "Who says yes?", "evaluations": model.evaluations, "examples": model.features(some)}
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8") == model.rules.to_html(**shown)
    assert model.to_html() == model.rules.to_html(evaluations=model.evaluations)


def test_it_is_said_what_is_going_on_and_who_is_fitted(table, capsys, tmp_path):
    said, seen = [], []
    lines = write(table, tmp_path / "t.csv").read_text(encoding="utf-8").replace(",", ";").replace(".", ",")
    (tmp_path / "t.csv").write_text(lines, encoding="utf-8")
    model = Model.fit(tmp_path / "t.csv", "answer", n_rules=1, say=said.append, watch=seen.append)
    comma = said[0].removeprefix(f"{tmp_path / 't.csv'}: ").rstrip(".")
    assert comma.startswith("commas are read as decimal points: ")
    assert said[1] == "80 rows; answer is one of 2 classes."
    assert said[-1] == "Learning from 60 rows and 2 columns; 20 rows are held out ..."
    assert model.notes == (comma, *(note.strip() for note in said[2:-1]))
    assert [estimator.n_rules for estimator in seen] == [1]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("given", "says"), [(["id"], "id: if it only names"), (["id", "no"], "id and no: if they only name")]
)
def test_it_is_said_that_rules_use_what_may_only_name_rows(rng, given, says):
    """Once more after learning, where rules are read."""
    numbers = 1000 + rng.permutation(80)
    table = {name: numbers * k for k, name in enumerate(given, 1)} | {"size": rng.normal(size=80)}
    rows = ["small" if k < 1040 else "large" for k in numbers]
    model = Model.fit(table | {"answer": rows}, "answer", n_rules=1)
    assert model.notes[-1] == f"rules use {says} rows, skip {'them' if given[1:] else 'it'} and fit again"
    others = Model.fit(table | {"answer": rows}, "answer", n_rules=1, skip=given)
    assert not any("rules use" in note for note in others.notes)


def test_it_is_said_which_cells_are_too_far_out_to_learn_from(table):
    rows = rows_learned_from(table)
    typos = {rows[0]: "1000000", rows[5]: "-2e7"}
    model = Model.fit(
        table | {"size": [typos.get(k, x) for k, x in enumerate(table["size"])]}, "answer", n_rules=1
    )
    assert "size: 2 cells are far beyond all others (such as 1000000.00) and left out of learning" in model.notes
    one = Model.fit(marked(table, "size", rows[0], "1e6"), "answer", n_rules=1)
    lacking = Model.fit(marked(table, "size", rows[0], None), "answer", n_rules=1)
    assert "size: 1 cell is far beyond all others (1000000.00) and left out of learning" in one.notes
    assert not any("far beyond" in note for note in lacking.notes)
    np.testing.assert_array_equal(one.predict_proba(table), lacking.predict_proba(table))


def marked(table, name, row, mark="rare"):
    return table | {name: [mark if k == row else cell for k, cell in enumerate(table[name])]}


def test_columns_are_learned_from_the_rows_that_rules_are_learned_from(table):
    whole = Model.fit(table, "answer", n_rules=1)
    rest = set(range(80)) - set(rows_learned_from(table))
    assert len(rest) == 20
    for row in sorted(rest)[:3]:
        model = Model.fit(marked(table, "colour", row), "answer", n_rules=1)
        assert model.rules.columns == whole.rules.columns
        np.testing.assert_array_equal(model.rules.centers, whole.rules.centers)
        assert "colour: rare is only in rows held out, and counts as missing" in model.notes
        as_missing = Model.fit(marked(table, "colour", row, None), "answer", n_rules=1)
        assert model.evaluations["rules"].measures == as_missing.evaluations["rules"].measures
    extreme = Model.fit(
        table | {"size": ["1e9" if k in rest else x for k, x in enumerate(table["size"])]}, "answer"
    )
    assert extreme.rules.columns == whole.rules.columns


def rows_learned_from(table):
    """The rows that an estimator is given, told by a column of their numbers."""
    found = []
    numbered = table | {"number": [str(100 + 7 * k) for k in range(80)]}

    class Seen(Exception):
        pass

    def catch(estimator):
        def fit(X, y, sample_weight):
            found.extend(X["number"])
            raise Seen

        estimator.fit = fit

    with pytest.raises(Seen):
        Model.fit(numbered, "answer", n_rules=1, watch=catch)
    return [int((number - 100) / 7) for number in found]


def test_a_column_that_counts_the_rows_of_its_file_is_left_out(table):
    numbered = table | {"row": [str(k) for k in range(1, 81)], "answer": [None, *table["answer"][1:]]}
    model = Model.fit(numbered, "answer", n_rules=1)
    assert model.rules.feature_names == ("size", "colour")
    assert "row: left out, it only counts the rows" in model.notes


@pytest.mark.parametrize(
    ("slip", "settings", "python", "typed"),
    [
        (
            "a b",
            {},
            "or pass categorical=['size'] or skip=['size'].",
            "or add --categorical size or --skip size.",
        ),
        (
            "tall",
            {"target": "size"},
            "or pass task='classes' if these are names.",
            "or add --task classes if these are names.",
        ),
        (
            "tall",
            {"target": "size", "task": "number"},
            "or leave out task='number'.",
            "or leave out --task number.",
        ),
    ],
)
def test_what_to_do_is_said_in_the_words_of_the_reader(table, tmp_path, capsys, slip, settings, python, typed):
    wrong = marked(table, "size", 5, slip)
    settings = {"target": "answer"} | settings
    with pytest.raises(TableError) as error:
        Model.fit(wrong, **settings)
    assert str(error.value).endswith(python)
    assert "--" not in str(error.value)
    options = [f"--{name}={value}" for name, value in settings.items()]
    assert main(["fit", str(write(wrong, tmp_path / "t.csv")), *options]) == 2
    assert capsys.readouterr().err == f"sessc: {str(error.value).removesuffix(python)}{typed}\n"


def test_names_are_typed_as_the_shell_wants_them(table, tmp_path, capsys):
    wrong = {"post code": marked(table, "size", 5, "none of these")["size"], "answer": table["answer"]}
    assert main(["fit", str(write(wrong, tmp_path / "t.csv")), "--target", "answer"]) == 2
    assert "or add --categorical 'post code' or --skip 'post code'.\n" in capsys.readouterr().err


def test_columns_go_by_one_name_or_several(table):
    assert Model.fit(table, "answer", n_rules=1, skip="size").rules.feature_names == ("colour",)
    whole = table | {"ward": [str(k % 4) for k in range(80)]}
    kinds = [type(column) for column in Model.fit(whole, "answer", n_rules=1, categorical="ward").rules.columns]
    assert kinds == [Number, Category, Category]


@pytest.mark.parametrize(
    "given", [np.zeros((20, 3)), [[1.0, 2.0], [3.0, 4.0]], [{"x": 1}, {"x": 2}], np.float64(3), None, {1, 2}]
)
def test_what_is_no_table_is_refused_by_its_kind(table, given):
    message = f"where columns have names; got {type(given).__name__}.$"
    for use in (lambda: Model.fit(given, "answer"), lambda: Model.fit(table, "answer", n_rules=1).predict(given)):
        with pytest.raises(TypeError, match=message):
            use()


def test_a_column_of_a_frame_or_an_arrow_table_is_none(table):
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    for given in (pandas.Series(table["size"]), arrow.table(table)):
        with pytest.raises(TypeError, match=f"got {type(given).__name__}.$"):
            Model.fit(given, "answer")


@pytest.mark.parametrize("cells", ["0.5", 0.5, None])
def test_a_column_is_a_list_of_cells(table, cells):
    with pytest.raises(TypeError, match="column 'size' of a table must be a list or an array of cells, got "):
        Model.fit(table | {"size": cells}, "answer")


def test_columns_of_one_name_are_refused(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table).rename(columns={"colour": "size"})
    for given, name in ((frame, "size"), (table | {1: table["size"], "1": table["colour"]}, "1")):
        with pytest.raises(ValueError, match=f"^the table has two columns called '{name}'; rename one.$"):
            Model.fit(given, "answer")


@pytest.mark.parametrize(
    ("changed", "settings", "message"),
    [
        ({}, {"task": "both"}, "task must be 'classes', 'number' or None, got 'both'"),
        ({"size": ["1"]}, {}, "must be equally long; rows in each: 'size' 1, 'colour' 80, 'answer' 80"),
        ({}, {"held_out": 1}, "^held_out must be a share of the rows between 0 and 1, got 1.$"),
        ({}, {"random_state": -1}, "^random_state must be zero or more, got -1.$"),
        ({}, {"skip": ["nothing"]}, "there is no column 'nothing'; there are size, colour"),
    ],
)
def test_what_makes_no_sense_is_refused(table, changed, settings, message):
    with pytest.raises(ValueError, match=message):
        Model.fit(table | changed, "answer", **settings)


@pytest.mark.parametrize("place", range(4))
def test_codes_are_codes_whichever_rows_are_held_out(table, place):
    coded = table | {"code": ["7", "8"] * 40}
    coded["code"][place] = "007"
    model = Model.fit(coded, "answer", n_rules=1)
    assert type(model.rules.columns[-1]) is Category
    assert "code: a column of texts, for '007' and '7' would be the same number" in [
        note.replace("'7' and '007'", "'007' and '7'") for note in model.notes
    ]


@pytest.fixture
def mixed(rng):
    """A table of everything: numbers, codes, dates, flags, rare categories and gaps."""
    n = 160
    size, ward = rng.normal(size=n), rng.choice(["007", "7", "12"], size=n)
    colour = rng.permutation(["red"] * 96 + ["blue"] * 55 + ["teal", "pink", "gold"] * 3)
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]")
    answer = np.where(size + (colour == "red") + (ward == "7") > 0.8, "yes", "no")
    table = {
        "size": [f"{x:.3f}" for x in size],
        "colour": colour.tolist(),
        "day": list(map(str, day)),
        "ward": ward.tolist(),
        "flag": list(map(str, rng.random(n) < 0.5)),
        "answer": answer.tolist(),
    }
    table["size"][::9], table["colour"][::11] = [None] * 18, [None] * 15
    return table


def test_a_table_of_everything_becomes_columns_of_their_kinds(mixed):
    model = Model.fit(mixed, "answer", n_rules=3, conditions=2)
    columns = {column.name: column for column in model.rules.columns}
    assert columns["size"] == Number("size")
    assert columns["day"] == Number("day", is_date=True)
    assert columns["ward"] == Category("ward", ("007", "12", "7"))
    assert columns["flag"] == Category("flag", ("False", "True"))
    assert columns["colour"].levels == ("blue", "red")
    assert columns["colour"].pool == ("gold", "pink", "teal")
    told = ["size", "colour", "colour", "day", "ward", "ward", "flag"]
    assert [note.partition(":")[0] for note in model.notes] == told
    assert model.notes[:2] == (
        "size: 18 missing cells",
        "colour: 5 categories, of which 3 that few rows have count as one, 'other'",
    )
    assert model.evaluations["rules"].measures["balanced accuracy"] > 0.6


def test_an_answer_needs_the_columns_that_rules_use_and_no_others(mixed):
    model = Model.fit(mixed, "answer", n_rules=2, conditions=1)
    used = [name for name, one in zip(model.rules.feature_names, model.rules.used, strict=True) if one]
    assert 0 < len(used) < 5
    fewer = {name: mixed[name] for name in reversed(used)}
    np.testing.assert_array_equal(model.predict(fewer), model.predict(mixed))
    np.testing.assert_array_equal(model.predict(fewer | {"extra": ["?"] * 160}), model.predict(mixed))
    assert str(model.explain(fewer, 5)) == str(model.explain(mixed, 5))
    for name in used:
        with pytest.raises(ValueError, match=f"^the table has no column '{name}'; it has "):
            model.predict({other: mixed[other] for other in mixed if other != name})


def test_a_category_never_seen_is_a_missing_cell(mixed):
    model = Model.fit(mixed, "answer", n_rules=2)
    for name, cell in (("colour", "purple"), ("ward", "0007"), ("flag", "perhaps")):
        strange, missing = (mixed | {name: [given] * 160} for given in (cell, None))
        np.testing.assert_array_equal(model.predict_proba(strange), model.predict_proba(missing))


def test_a_file_answers_as_the_frame_that_rules_were_fitted_to(mixed, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(mixed).drop(columns="answer")
    frame["size"] = frame["size"].astype(float)
    frame["flag"] = frame["flag"] == "True"
    frame["ward"] = frame["ward"].astype(int)
    frame["day"] = pandas.to_datetime(frame["day"])
    fitted = TSKClassifier(3, random_state=0, categorical_features=["colour", "ward", "flag"])
    fitted.fit(frame, mixed["answer"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = Model(fitted.rules_)
    odds = fitted.predict_proba(frame)
    np.testing.assert_array_equal(model.predict_proba(tmp_path / "t.csv"), odds)
    np.testing.assert_array_equal(model.predict_proba(frame), odds)
    model.save(tmp_path / "m.json")
    np.testing.assert_allclose(Model.load(tmp_path / "m.json").predict_proba(frame), odds, atol=1e-12)


def test_what_rules_take_is_what_a_raw_table_becomes(mixed):
    model = Model.fit(mixed, "answer", n_rules=2)
    columns = model.features(mixed)
    assert list(columns) == list(model.rules.feature_names)
    np.testing.assert_array_equal(model.rules.probabilities(columns), model.predict_proba(mixed))


def test_a_typical_row_has_the_commonest_levels(mixed):
    rules = Model.fit(mixed, "answer", n_rules=1).rules
    codes = dict(zip(rules.feature_names, rules.typical, strict=True))
    assert rules.columns[1].labels[int(codes["colour"])] == "red"


def test_one_row_needs_no_number(table):
    model = Model.fit(table, "answer", n_rules=2, conditions=1)
    row = {name: cells[4] for name, cells in table.items()}
    expected = str(model.explain(table, 5))
    assert str(model.explain(row)) == expected
    assert str(model.explain({name: [cell] for name, cell in row.items()})) == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    assert str(model.explain(frame.iloc[4])) == str(model.explain(frame.iloc[[4]])) == expected
    with pytest.raises(ValueError, match=r"has \d+ rows; say with row, counted from 1, which to explain"):
        model.explain(frame)


def test_a_model_is_printed_as_its_rules(table):
    model = Model.fit(table, "answer", n_rules=2, conditions=1)
    assert str(model) == str(model.rules)
    assert repr(model).startswith("<Model: <RuleBase: ")
    assert repr(model).endswith("measured as rules, logistic regression>")


def test_of_many_texts_that_only_rows_held_out_have_few_are_named():
    notes = absent_notes("city", 2, [f"c{k}" for k in range(9)])
    assert notes[0] == "city: 2 missing cells"
    assert notes[1] == "city: c0, c1, c2, c3, c4 and 4 others are only in rows held out, and count as missing"
    assert "c5 are only" in absent_notes("city", 0, [f"c{k}" for k in range(6)])[0]
