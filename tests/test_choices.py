"""Features that are the values of one column say so; nobody guesses it from their names."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sessc import Model, RuleBase, TSKClassifier
from sessc.rules.choices import Choice
from sessc.rules.columns import Category, Columns, Number
from sessc.tables.columns import learn
from sessc.tables.files import dumps, loads
from sessc.tables.trusted import trusted_types


@pytest.fixture
def rules():
    written = [
        ({"kind=u": (1, 0.5), "x": (0, 1)}, {"a": 1.0}),
        ({"kind=v": (1, 0.5), "asked=yes": (0, 1)}, {"b": 1.0}),
    ]
    rules = RuleBase.by_hand(written, features=["kind=u", "kind=v", "x", "asked=yes"])
    return replace(rules, choices=(Choice("kind", (0, 1), ("u", "v"), "w"), Choice("asked", (3,), ("yes",), "no")))


def test_a_choice_gives_every_row_one_value():
    choice = Choice("kind", (0, 2), ("u", "v"), "w")
    for value, code in choice.options:
        row = np.full(4, 7.0)
        row[[0, 2]] = code
        assert choice.value(row) == value
    assert [value for value, _ in choice.options] == ["u", "v", "w"]
    assert choice.value(np.ones(4)) is None
    assert (choice.says(2, True), choice.says(2, False)) == ("v", "not v")
    assert Choice("asked", (1,), ("yes",), "no").says(1, False) == "no"


@pytest.mark.parametrize("wrong", [((), ()), ((0, 0), ("u", "v")), ((0, 1), ("u",))], ids=str)
def test_choices_without_a_feature_for_each_value_are_refused(wrong):
    with pytest.raises(ValueError, match="'kind'"):
        Choice("kind", *wrong)


def test_choices_are_about_features_of_the_rules(rules):
    for features in ((9,), (0, 1)):
        with pytest.raises(ValueError, match="each in one of them"):
            replace(rules, choices=(*rules.choices, Choice("z", features, ("u", "v")[: len(features)])))


def test_files_and_edits_keep_choices(rules):
    assert loads(dumps(rules)).rules.choices == rules.choices
    for edited in (rules.without_rule(1), rules.without_condition(1, "x"), rules.with_output(1, {"a": 1, "b": 1})):
        assert edited.choices == rules.choices
    X = np.random.default_rng(0).integers(2, size=(60, 4)).astype(float)
    fitted = TSKClassifier(rules=rules).fit(X, np.where(X[:, 0] > X[:, 1], "a", "b")).rules_
    assert fitted.choices == rules.choices


def test_skops_files_keep_choices(rules):
    skops = pytest.importorskip("skops.io", reason="skops is not installed; pip install 'sessc[export]'")
    assert skops.loads(skops.dumps(rules), trusted=trusted_types()).choices == rules.choices


def test_files_of_before_have_independent_features(rules):
    old = json.loads(dumps(rules))
    del old["choices"]
    assert old["version"] == 1
    assert loads(json.dumps(old)).rules.choices == ()


@pytest.mark.parametrize(
    "wrong",
    [
        [{"name": "kind", "features": ["kind=u", "nobody"], "values": ["u", "v"]}],
        [{"name": "kind", "features": ["kind=u"], "values": ["u", "v"]}],
        [{"name": "kind", "features": ["x"], "values": ["u"]}] * 2,
        [{"name": "kind", "features": ["x"], "values": ["u"], "other": 3}],
        [{"features": ["x"], "values": ["u"]}],
        [7],
        None,
    ],
    ids=str,
)
def test_damaged_choices_are_refused(rules, wrong):
    data = json.loads(dumps(rules)) | {"choices": wrong}
    with pytest.raises(ValueError, match="is damaged: "):
        loads(json.dumps(data))


def test_columns_know_their_choices():
    columns = Columns(
        (
            Number("a=b", 0.0),
            Category("kind", ("u", "v", "w"), "u"),
            Category("asked", ("no", "yes"), "no"),
            Number("c", 0.0),
        )
    )
    assert columns.choices == (Choice("kind", (1, 2, 3), ("u", "v", "w")), Choice("asked", (4,), ("yes",), "no"))
    table = {"kind": ["u", "w", "v"], "asked": ["yes", "no", "no"], "a=b": ["1", "2", "3.5"], "c": ["1", "0", "5"]}
    for row, kind, asked in zip(columns.encode(table), table["kind"], table["asked"], strict=True):
        assert [choice.value(row) for choice in columns.choices] == [kind, asked]


def test_a_trained_model_knows_the_choices_of_its_table(rng):
    flags = {f"tag={k}": rng.choice(["0", "1"], size=80).tolist() for k in ("red", "blue")}
    table = flags | {"kind": rng.choice(["u", "v"], size=80).tolist()}
    table["y"] = [
        "a" if (r == "1") ^ (k == "u") else "b" for r, k in zip(table["tag=red"], table["kind"], strict=True)
    ]
    model = Model.fit(table, "y", n_rules=2)
    assert model.rules.choices == learn({k: v for k, v in table.items() if k != "y"})[0].choices
    assert [choice.name for choice in model.rules.choices] == ["kind"]


def test_a_typical_row_has_one_value_of_every_choice(rng):
    kind, asked = rng.choice(4, p=[0.3, 0.2, 0.1, 0.4], size=300), rng.random(300) < 0.7
    X = np.column_stack([kind == 0, kind == 1, kind == 2, asked, rng.normal(size=300)]).astype(float)
    rules = TSKClassifier(2, random_state=0).fit(X, kind % 2).rules_
    choices = (Choice("kind", (0, 1, 2), ("0", "1", "2"), "3"), Choice("asked", (3,), ("yes",), "no"))
    for one in (replace(rules, choices=choices), replace(rules, choices=choices, summary=None)):
        assert [choice.value(one.typical) for choice in choices] == ["3", "yes"]
    assert rules.typical.tolist() == rules.summary.medians.tolist()


def test_conditions_on_a_choice_name_the_value(rules):
    text = rules.to_text()
    assert "kind is u, about 1.00 (± 0.50)" in text
    assert "asked is no, about 0.0 (± 1.0)" in text
    plain = rules.to_text(words=False)
    assert "asked=yes is about 0.0 (± 1.0)" in plain
    assert "kind is not u, about 0.00" in rules.with_condition(1, "kind=u", about=0.0).to_text()
    between = rules.with_condition(1, "kind=u", about=0.5).to_text()
    assert "kind=u is about 0.50 (± 0.50)" in between
