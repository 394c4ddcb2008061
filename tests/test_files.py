"""Rules in files: nothing is lost, nothing is run, and half a model is never read."""

import importlib
import json
import pickle
from dataclasses import fields, replace
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_wine

import sessc
from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.cli.main import main
from sessc.rows.columns import Category, Number
from sessc.rules.base import Cells
from sessc.rules.links import Identity
from sessc.tables.files import dumps, load, loads

DATA = Path(__file__).parent / "data"
SCHEMA = Path(__file__).parents[1] / "docs" / "rules.schema.json"


def classifier(classes=("a", "b", "c"), dtype=float, **settings):
    X, y = load_wine(return_X_y=True)
    return TSKClassifier(3, random_state=0, **settings).fit(X.astype(dtype), np.asarray(classes)[y]).rules_


def regressor(**settings):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return TSKRegressor(2, random_state=0, **settings).fit(X, y).rules_


def of_a_table(kind, **settings):
    """Rules about text, truth values, numbers that are names, a date, edges, gaps and pooled levels."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    n = 240
    frame = pandas.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, size=n)),
            "colour": rng.choice(
                ["red", "blue", "green", "pink", "gold", None], n, p=[0.4, 0.3, 0.2, 0.01, 0.01, 0.08]
            ),
            "fresh": rng.random(n) < 0.5,
            "ward": rng.choice([3, 7, 12], n),
            "seen": pandas.Timestamp("2021-03-01") + pandas.to_timedelta(rng.integers(0, 700, n), "D"),
        }
    )
    y = frame["size"].fillna(40).to_numpy() + 9.0 * (frame["colour"] == "red") - 4.0 * frame["fresh"]
    y = y if kind is TSKRegressor else np.where(y > 41, "ill", "well")
    return (
        kind(3, random_state=0, categorical_features=["colour", "fresh", "ward"], **settings).fit(frame, y).rules_
    )


def with_odd_levels():
    """Rules about levels of several types, only a pool, and limits on one side."""
    columns = (Category("a", ("u", 2, 0.5, True)), Number("b"), Category("c", (), ("x", "y")), Number("d", True))
    rng = np.random.default_rng(0)
    parts = rng.normal(size=2), rng.normal(size=(2, 7)), rng.random((2, 2)), rng.normal(size=(2, 4))
    limits = np.asarray([[-np.inf, -1.0, -np.inf, -np.inf], [np.inf, np.inf, np.inf, 9.0]])
    units = np.asarray([0.0, 3.0, 0.0, 5.0]), np.asarray([1.0, 2.0, 1.0, 4.0])
    return RuleBase(
        *parts, rng.normal(size=(2, 8, 1)), *units, Identity(), columns, rng.random(7), limits, edits=("done",)
    )


def every_kind():
    yield of_a_table(TSKClassifier, refine=20, order=1)
    yield of_a_table(TSKRegressor, refine=20)
    yield with_odd_levels()
    yield classifier()
    yield classifier(order=1, classes=(3, 1, 2))
    yield classifier(refine=20, conditions=4, dtype=np.float32, classes=(0.0, 1.0, 2.0))
    yield classifier(refine=20, order=1, classes=(True, False, True))
    yield classifier(classes=np.asarray(["x", "yy", "zzz"], dtype=object)).without_rule(2)
    yield regressor(order=1)
    yield replace(regressor(refine=10), summary=None)
    yield RuleBase.by_hand([({"Größe \n<b>": (1.0, 2.0)}, {"ja": 1.0}), ({}, {"nein": 1.0})])


KINDS = list(every_kind())


def same(a, b):
    for field in fields(RuleBase):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if field.name == "summary" and one is not None:
            assert one.n_rows == other.n_rows
            for name in ("quantiles", "counts", "support", "missing"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
            assert all(map(np.array_equal, one.levels, other.levels))
        elif isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
            assert one.dtype.kind == other.dtype.kind or field.name == "classes"
            assert not other.flags.writeable
        else:
            assert one == other
    return True


def cells_near(rules, rng, n=50):
    """Cells of every kind: numbers far and near, every level, and some that are missing."""
    cells = rules.mean + 3 * rules.scale * rng.normal(size=(n, rules.n_features))
    for j, levels in enumerate(rules.layout.levels):
        if levels:
            cells[:, j] = rng.integers(levels, size=n)
    return Cells(np.where(rng.random(cells.shape) < 0.2, np.nan, cells))


@pytest.mark.parametrize("rules", KINDS, ids=repr)
def test_a_file_keeps_every_digit(rules, tmp_path, rng):
    rules.save(tmp_path / "rules.json")
    again = RuleBase.load(tmp_path / "rules.json")
    assert same(rules, again)
    assert again.linear.dtype == rules.linear.dtype
    X = cells_near(rules, rng)
    np.testing.assert_array_equal(again.outputs(X), rules.outputs(X))
    np.testing.assert_array_equal(again(X), rules(X))
    assert dumps(again) == dumps(rules)


def test_a_category_of_nothing_but_gaps_comes_back():
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=60)
    frame = pandas.DataFrame({"x": x, "empty": pandas.Categorical([None] * 60, categories=["u", "v"])})
    rules = TSKClassifier(2, refine=5, random_state=0).fit(frame, x > 0).rules_
    assert same(rules, loads(dumps(rules)).rules)
    assert rules.to_html()


def test_levels_keep_their_types():
    again = loads(dumps(with_odd_levels())).rules
    assert [type(level) for level in again.columns[0].levels] == [str, int, float, bool]
    text = dumps(of_a_table(TSKRegressor)).replace(
        '"type": "int", "levels": [3, 7, 12]', '"type": "float", "levels": [3, 7.0, 12]'
    )
    assert loads(text).rules.columns[3].levels == (3.0, 7.0, 12.0)


def test_only_conditions_that_are_there_are_in_the_file():
    rules = classifier(refine=20, conditions=2)
    written = [rule["conditions"] for rule in json.loads(dumps(rules))["rules"]]
    assert [len(conditions) for conditions in written] == rules.n_conditions.tolist()
    assert all(rules.feature_names[j] in written[r] for r, j in np.argwhere(rules.asks))


def answers_of(name):
    """Rules of a file of version 1, rows, and what that version made of them."""
    kept = json.loads((DATA / "version1_answers.json").read_text(encoding="utf-8"))[name]
    rows = kept["rows"]
    if isinstance(rows, dict):
        rows["size"] = [np.nan if cell is None else float(cell) for cell in rows["size"]]
    return load(DATA / f"version1_{name}.json").rules, rows, kept


@pytest.mark.parametrize("name", ["classifier", "regressor", "table", "linear_table"])
def test_files_of_version_1_give_the_answers_of_version_1(name):
    rules, rows, kept = answers_of(name)
    np.testing.assert_allclose(rules.outputs(rows), kept["outputs"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rules.firing(rows), kept["firing"], rtol=1e-12, atol=1e-12)
    if rules.classes is None:
        np.testing.assert_allclose(rules(rows), kept["answers"], rtol=1e-12)
    else:
        assert rules(rows).tolist() == kept["answers"]
    assert dumps(loads(dumps(rules)).rules) == dumps(rules)


def test_categories_of_version_1_are_columns():
    rules, _, _ = answers_of("table")
    assert rules.feature_names == ("size", "colour", "fresh", "shape")
    assert rules.columns[1] == Category("colour", ("blue", "green", "red", "(missing)"))
    assert rules.columns[2] == Category("fresh", ("no", "yes"))
    missing = {"size": [40.0] * 2, "colour": [None, "(missing)"], "fresh": [None, "no"], "shape": ["flat"] * 2}
    np.testing.assert_allclose(*rules.outputs(missing), rtol=1e-12)
    assert all(shares.sum() == pytest.approx(1) for shares in rules.summary.levels[1:])
    assert loads((DATA / "version1_table.json").read_text(encoding="utf-8")).evaluations


def test_choices_of_version_1_are_columns_too():
    by_choice, (_, rows, kept) = load(DATA / "version1_choices.json").rules, answers_of("linear_table")
    there = [k for k in range(len(kept["answers"])) if all(column[k] == column[k] for column in rows.values())]
    told = {name: [column[k] for k in there] for name, column in rows.items()}
    told = {name: ["(missing)" if cell is None else cell for cell in column] for name, column in told.items()}
    told["fresh"] = ["no" if cell == "(missing)" else cell for cell in told["fresh"]]
    assert by_choice.columns[2] == Category("fresh", ("yes", "no"))
    np.testing.assert_allclose(by_choice(told), np.asarray(kept["answers"])[there], rtol=1e-12)


def test_choices_that_cannot_be_columns_stay_numbers():
    data = json.loads((DATA / "version1_choices.json").read_text(encoding="utf-8"))
    data["choices"][0]["name"] = "size"
    rules = loads(json.dumps(data)).rules
    assert rules.feature_names[:5] == ("size", "colour=blue", "colour=green", "colour=red", "colour=(missing)")
    assert [column.n_levels for column in rules.columns] == [0] * 5 + [2, 3]


@pytest.mark.parametrize("rules", KINDS, ids=repr)
def test_files_are_what_the_schema_says(rules):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(dumps(rules)), schema)


def test_pickle_and_joblib_work_too(tmp_path):
    rules = classifier(refine=10)
    assert same(rules, pickle.loads(pickle.dumps(rules)))
    joblib.dump(rules, tmp_path / "rules.joblib")
    assert same(rules, joblib.load(tmp_path / "rules.joblib"))


def test_a_newer_file_is_refused_politely():
    data = json.loads(dumps(classifier()))
    data["version"] = 3
    with pytest.raises(
        ValueError, match="version 3 of the format, and this sessc reads versions 1 to 2; try a newer one"
    ):
        loads(json.dumps(data))


def test_what_is_no_file_of_rules_is_named(tmp_path):
    for content in (b"", b"hello", b"\xff\xfe\x00", b"[1, 2]", b'{"format": "other"}', pickle.dumps(classifier())):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(ValueError, match="is not a file of rules"):
            RuleBase.load(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        RuleBase.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="NaN is no number"):
        loads(dumps(classifier()).replace('"mean": ', '"mean": NaN, "was": ', 1))
    with pytest.raises(ValueError, match="is not a file of rules"):
        loads("[" * 100_000)


def test_a_truncated_file_is_never_half_a_model():
    text = dumps(classifier(refine=5))
    for length in range(0, len(text.rstrip()), 97):
        with pytest.raises(ValueError, match="is not a file of rules"):
            loads(text[:length])


def places(data, path=()):
    """Every place in a JSON document."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data[:2]) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


DOCUMENTS = [
    *(json.loads(dumps(rules)) for rules in (of_a_table(TSKClassifier, refine=5, order=1), classifier(refine=5))),
    *(json.loads((DATA / f"version1_{name}.json").read_text(encoding="utf-8")) for name in ("table", "choices")),
]
PLACES = [
    (k, place)
    for k, document in enumerate(DOCUMENTS)
    for place in places(document)
    if place and place[0] not in ("made_by", "edits")
]
ODD = [None, "x", -1, 0, True, [], {}, [[1.0]], 1e400, 10**400, 1e300, 1e-300, [None, None], "delete"]


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(PLACES), st.sampled_from(ODD))
def test_a_damaged_file_is_refused_in_a_sentence_or_means_a_whole_model(place, instead):
    k, place = place
    data = json.loads(json.dumps(DOCUMENTS[k]))
    inside = data
    for key in place[:-1]:
        inside = inside[key]
    if instead == "delete":
        del inside[place[-1]]
    else:
        inside[place[-1]] = instead
    complaint, rules = "", None
    try:
        rules = loads(json.dumps(data)).rules
    except ValueError as error:
        complaint = str(error)
    if rules is None:
        assert complaint.endswith(".")
        assert "\n" not in complaint
    else:
        if instead not in (1e300, 1e-300):  # which are numbers, but have no square
            assert np.all(np.isfinite(rules.outputs(Cells(np.stack([rules.typical, 0 * rules.typical])))))
        assert dumps(loads(dumps(rules)).rules) == dumps(rules)


WRONG = {
    "scales must be above zero": ("columns", 0, "scale", 0.0),
    "limits must be two numbers, the lower first": ("columns", 0, "limits", [3.0, 2.0]),
    "either all columns of numbers have limits or none has": ("columns", 0, "limits", None),
    "is_date must be true or false": ("columns", 4, "is_date", 1),
    "levels must be of the type that their column says": ("columns", 1, "levels", ["blue", 2, "red"]),
    "the levels of a category must be different": ("columns", 1, "levels", ["red", "blue", "red"]),
    "fill must be numbers of shape": ("columns", 1, "fill", [0.5, 0.5]),
    "columns need different names": ("columns", 1, "name", "fresh"),
    "a precision must be zero or more": ("rules", 0, "conditions", "size", "precision", -1.0),
    "unknown must be a number": ("rules", 0, "conditions", "size", "unknown", None),
    "conditions must be about the columns": ("rules", 0, "conditions", {"height": {}}),
    "what conditions add must be numbers of shape": ("rules", 0, "conditions", "colour", "levels", [1.0]),
    "slopes must be about all columns": ("rules", 0, "outputs", "slopes", {}),
    "outputs must be linear in all rules or in none": ("rules", 0, "outputs", "slopes", None),
    "outputs must be numbers of shape": ("rules", 0, "outputs", "constant", [1.0]),
    "levels must be a list for each column": ("summary", "levels", []),
    "missing must be zero or more": ("summary", "missing", [-0.5] * 5),
    "link and classes do not go together": ("link", "identity"),
    "missing must be texts": ("missing", ["NA", 99]),
    "some numbers are too large or too small for float32": ("precision", "float32"),
}


@pytest.mark.parametrize("complaint", WRONG)
def test_what_is_wrong_is_said(complaint):
    data = json.loads(json.dumps(DOCUMENTS[0]))
    if "float32" in complaint:
        data["columns"][0]["mean"] = 1e200
    *way, key, instead = WRONG[complaint]
    inside = data
    for step in way:
        inside = inside[step]
    inside[key] = instead
    with pytest.raises(ValueError, match=f"is damaged: {complaint}"):
        loads(json.dumps(data))


def test_only_plain_classes_can_be_saved():
    odd = replace(classifier(), classes=np.asarray([1, "b", None], dtype=object))
    with pytest.raises(ValueError, match="classes must be text, numbers or booleans"):
        dumps(odd)


def test_features_with_one_name_are_not_saved():
    rules = regressor()
    with pytest.raises(ValueError, match="different names"):
        dumps(replace(rules, columns=(Number("a"),) * rules.n_features))


def test_estimators_that_files_may_hold_are_those_that_are_public():
    public = {getattr(sessc, name) for name in sessc.__all__}
    known = {place.rpartition(".") for place in sessc.trusted_types()}
    trusted = {getattr(importlib.import_module(module), name) for module, _, name in known}
    estimators = [{kind for kind in kinds if is_estimator(kind)} for kinds in (trusted, public)]
    assert estimators[0] == estimators[1]


def is_estimator(kind):
    return isinstance(kind, type) and issubclass(kind, BaseEstimator)


@pytest.mark.parametrize("value", [1e-170, 1e170, 1e300])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("place", [("columns", 0, "scale"), ("rules", 0, "conditions", "size", "precision")])
def test_numbers_that_cannot_be_squared_are_damage(value, precision, place):
    """They were checked before they had their precision, and answers were nan."""
    if value < 1 and place[-1] == "precision":
        value = 1 / value
    data = json.loads(json.dumps(DOCUMENTS[0])) | {"precision": precision}
    *way, key = place
    inside = data
    for step in way:
        inside = inside[step]
    inside[key] = value
    with pytest.raises(ValueError, match=f"damaged: some numbers are too large or too small for {precision}"):
        loads(json.dumps(data))


def test_names_command_no_terminal(tmp_path, capsys):
    """Escape sequences are shown, not sent."""
    odd = "\x1b]0;owned\x07"
    text = json.dumps(DOCUMENTS[0]).replace(json.dumps("size"), json.dumps(f"size{odd}"))
    text = text.replace('"ill"', json.dumps(f"ill{odd}")).replace('"red"', json.dumps(f"red{odd}"))
    (tmp_path / "odd.json").write_text(text, encoding="utf-8")
    cells = [f"size{odd},colour,fresh,ward,seen", f"41,red{odd},true,3,2022-01-01", "9e9,,true,3,2022-01-01"]
    (tmp_path / "t.csv").write_text("\n".join(cells) + "\n", encoding="utf-8")
    model, table = str(tmp_path / "odd.json"), str(tmp_path / "t.csv")
    commands = [
        ["info", model],
        ["info", model, "--json"],
        ["explain", model, table],
        ["explain", model, "no\x1b"],
    ]
    for command in commands:
        main(command)
        shown = capsys.readouterr()
        assert "\x1b" not in shown.out + shown.err
    main(["predict", model, table])
    assert "\x1b" not in capsys.readouterr().err
