"""From Python as from the command line: a raw table becomes a model, and nothing is learned from rows held out."""

import json

import numpy as np
import pytest

from sessc import Category, Model, Number
from sessc.cli.main import main
from sessc.tables.errors import TableError
from sessc.tables.files import dumps


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
    return dumps(model.rules, model.columns, model.evaluations)


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
    assert said[-1] == "Learning from 60 rows and 4 features; 20 rows are held out ..."
    assert model.notes == (comma, *(note.strip() for note in said[2:-1]))
    assert [estimator.n_rules for estimator in seen] == [1]
    assert capsys.readouterr() == ("", "")


def marked(table, name, row, mark="rare"):
    return table | {name: [mark if k == row else cell for k, cell in enumerate(table[name])]}


def test_columns_are_learned_from_the_rows_that_rules_are_learned_from(table):
    whole = Model.fit(table, "answer", n_rules=1)
    rest = set(range(80)) - set(rows_learned_from(table))
    assert len(rest) == 20
    for row in sorted(rest)[:3]:
        model = Model.fit(marked(table, "colour", row), "answer", n_rules=1)
        assert model.columns == whole.columns
        np.testing.assert_array_equal(model.rules.centers, whole.rules.centers)
        assert "colour: rare is only in rows held out, and counts as missing" in model.notes
        as_missing = Model.fit(marked(table, "colour", row, None), "answer", n_rules=1)
        assert model.evaluations["rules"].measures == as_missing.evaluations["rules"].measures
    extreme = Model.fit(
        table | {"size": ["1e9" if k in rest else x for k, x in enumerate(table["size"])]}, "answer"
    )
    assert extreme.columns == whole.columns


def rows_learned_from(table):
    """The rows that an estimator is given, told by a column of their numbers."""
    found = []
    numbered = table | {"number": [str(100 + 7 * k) for k in range(80)]}

    class Seen(Exception):
        pass

    def catch(estimator):
        def fit(X, y):
            found.extend(X[:, -1])
            raise Seen

        estimator.fit = fit

    with pytest.raises(Seen):
        Model.fit(numbered, "answer", n_rules=1, watch=catch)
    return [int((number - 100) / 7) for number in found]


def test_a_column_that_counts_the_rows_of_its_file_is_left_out(table):
    numbered = table | {"row": [str(k) for k in range(1, 81)], "answer": [None, *table["answer"][1:]]}
    model = Model.fit(numbered, "answer", n_rules=1)
    assert model.columns.names == ["size", "colour"]
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
    assert Model.fit(table, "answer", n_rules=1, skip="size").columns.names == ["colour"]
    whole = table | {"ward": [str(k % 4) for k in range(80)]}
    kinds = [type(column) for column in Model.fit(whole, "answer", n_rules=1, categorical="ward").columns.each]
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
    assert type(model.columns.each[-1]) is Category
    assert "code: a column of texts, for '007' and '7' would be the same number" in [
        note.replace("'7' and '007'", "'007' and '7'") for note in model.notes
    ]
