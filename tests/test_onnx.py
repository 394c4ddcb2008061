"""Rules in the real ONNX Runtime; that their answers are ours is in test_everywhere.py."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from mixed import CATEGORIES, graph_inputs, mixed_table, odd_rows
from sessc import Model, RuleBase, TSKClassifier, TSKRegressor
from sessc.rows.columns import Category, Number
from sessc.rules.links import Identity

onnx = pytest.importorskip("onnx", reason="onnx is not installed; pip install onnx")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def asked(model, given):
    """What ONNX Runtime makes of the inputs of a graph."""
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


def run(rules, X):
    return asked(rules.to_onnx(), {"X": np.asarray(X, rules.linear.dtype)})


@pytest.mark.parametrize("classes", [(3, 1, 2), (1.0, 5.0, 7.0), (True, False, True), ("ä", "b c", "<x>")])
def test_labels_keep_their_type(classes):
    X, y = load_wine(return_X_y=True)
    rules = TSKClassifier(3, random_state=0).fit(X, np.asarray(classes)[y]).rules_
    found = run(rules, X)["label"]
    assert found.tolist() == rules(X).tolist()
    assert type(found.tolist()[0]) is type(classes[0])


def test_single_precision_and_short_rules():
    X, y = load_wine(return_X_y=True)
    rules = TSKClassifier(4, refine=20, conditions=3, random_state=0).fit(X.astype(np.float32), y).rules_
    found = run(rules, X)
    assert found["probabilities"].dtype == np.float32
    np.testing.assert_allclose(found["probabilities"], rules.probabilities(X.astype(np.float32)), atol=1e-4)


def test_written_rules_and_rows_that_no_class_wants():
    rules = RuleBase.by_hand([({"x": (0, 1)}, {"a": 1.0, "b": 0.0}), ({"x": (4, 1)}, {"b": 1.0})])
    X = np.asarray([[0.0], [2.0], [5.0], [1e9]])
    np.testing.assert_allclose(run(rules, X)["probabilities"], rules.probabilities(X), atol=1e-12)
    unwanted = replace(rules, consequents=-rules.consequents - 1)
    np.testing.assert_allclose(run(unwanted, X)["probabilities"], 0.5)


def test_the_file_says_what_it_is(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    rules = TSKClassifier(2, random_state=0).fit(X, y).rules_
    onnx.save(rules.to_onnx(), tmp_path / "rules.onnx")
    model = onnx.load(tmp_path / "rules.onnx")
    assert model.doc_string == str(rules)
    assert {item.key: item.value for item in model.metadata_props}["features"].splitlines() == list(X.columns)


@pytest.mark.parametrize("order", [0, 1])
def test_one_feature_is_as_exact_as_many(order, rng):
    X = rng.normal(50, 7, size=(100, 1))
    rules = TSKClassifier(3, order=order, refine=20, random_state=0).fit(X, (X[:, 0] > 52).astype(int)).rules_
    np.testing.assert_allclose(run(rules, X)["probabilities"], rules.probabilities(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("order", [0, 1])
def test_nan_is_missing_whether_or_not_there_were_gaps_before(order, rng):
    X, y = load_wine(return_X_y=True)
    rules = TSKClassifier(3, order=order, refine=20, random_state=0).fit(X, y).rules_
    gappy = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    found = run(rules, gappy)
    np.testing.assert_allclose(found["probabilities"], rules.probabilities(gappy), rtol=0, atol=1e-10)
    assert np.isfinite(found["firing"]).all()


def test_a_table_has_an_input_for_each_column():
    frame, y = mixed_table()
    rules = TSKRegressor(3, random_state=0, categorical_features=CATEGORIES).fit(frame, y).rules_
    given = rules.to_onnx().graph.input
    assert [one.name for one in given] == list(frame)
    kinds = {one.name: onnx.TensorProto.DataType.Name(one.type.tensor_type.elem_type) for one in given}
    assert {name for name, kind in kinds.items() if kind == "STRING"} == {"colour"}
    assert set(kinds.values()) == {"STRING", "DOUBLE"}


@pytest.mark.parametrize("order", [0, 1])
def test_single_precision_rules_take_tables_in_double(order):
    frame, y = mixed_table()
    rules = TSKRegressor(3, order=order, random_state=0, categorical_features=CATEGORIES).fit(frame, y).rules_
    names = ("constants", "linear", "precisions", "unknown", "consequents", "mean", "scale", "fill")
    single = replace(rules, **{name: getattr(rules, name).astype(np.float32) for name in names})
    rows = odd_rows()
    found = asked(single.to_onnx(), graph_inputs(single, rows))
    np.testing.assert_allclose(found["value"], single(rows), rtol=1e-10)


def by_levels(*columns):
    """Two rules that ask for the levels of these columns and conclude linearly."""
    rng = np.random.default_rng(0)
    n = sum(column.n_levels or 1 for column in columns)
    n_numbers = sum(not column.n_levels for column in columns)
    parts = (
        rng.normal(size=2),
        rng.normal(size=(2, n)),
        rng.random((2, n_numbers)),
        rng.normal(size=(2, len(columns))),
    )
    units = np.zeros(len(columns)), np.ones(len(columns))
    return RuleBase(*parts, rng.normal(size=(2, 1 + n, 1)), *units, Identity(), columns, rng.random(n))


def texts(*cells):
    return np.asarray([[cell] for cell in cells], object)


ALONE = {
    "text": (Category("c", ("u", "v"), ("w", "x")), ["u", "v", "w", "x", None, "new"], texts(*"uvwx", "", "new")),
    "an empty text": (Category("c", ("", "v")), ["", "v", "new"], texts("", "v", "new")),
    "only a pool": (Category("c", (), ("v", "w")), ["v", "w", "new"], texts("v", "w", "new")),
    "nothing": (Category("c", (), ()), [None, "new", None], texts("", "new", "")),
    "truth": (Category("c", (False, True)), [True, False, None], np.asarray([[1.0], [0.0], [np.nan]])),
    "numbers": (Category("c", (3, 0.5)), [3.0, 0.5, 7.0], np.asarray([[3.0], [0.5], [7.0]])),
    "several types": (Category("c", ("u", 2)), ["u", 2, "2"], texts("u", "2", "other")),
}


@pytest.mark.parametrize("kind", ALONE)
def test_levels_of_every_type(kind):
    column, cells, given = ALONE[kind]
    rules = by_levels(column)
    wanted = rules({"c": np.asarray(cells, object)})
    np.testing.assert_allclose(asked(rules.to_onnx(), {"c": given})["value"], wanted, rtol=1e-12)


def test_columns_may_have_the_names_of_outputs():
    rules = by_levels(Number("value"), Category("firing", ("u", "v")), Number("constant_0"))
    found = asked(
        rules.to_onnx(),
        {"value": np.asarray([[0.5]]), "firing": texts("v"), "constant_0": np.asarray([[np.nan]])},
    )
    wanted = rules({"value": [0.5], "firing": ["v"], "constant_0": [np.nan]})
    np.testing.assert_allclose(found["value_"], wanted, rtol=1e-12)


def test_levels_that_read_alike_are_refused():
    with pytest.raises(ValueError, match="Column 'c' has levels that read alike"):
        by_levels(Category("c", ("2", 2))).to_onnx()


@pytest.mark.parametrize("target", ["answer", "score"])
def test_a_model_takes_raw_columns_with_categories_and_gaps(target, rng):
    size, colour = rng.normal(40, 9, size=90), rng.choice(["red", "blue", "green"], size=90)
    score = size + 10 * (colour == "red") + rng.normal(size=90)
    table = {
        "size": [None if k % 11 == 3 else f"{x:.4g}" for k, x in enumerate(size)],
        "colour": [None if k % 13 == 5 else str(x) for k, x in enumerate(colour)],
        "fresh": rng.choice(["yes", "no"], size=90).tolist(),
        target: np.where(score > 42, "ill", "well").tolist() if target == "answer" else score.tolist(),
    }
    model = Model.fit(table, target, n_rules=3, conditions=2)
    made = model.to_onnx()
    assert tuple(one.name for one in made.graph.input) == model.rules.feature_names == ("size", "colour", "fresh")
    given = {
        "size": np.asarray([[np.nan if cell is None else float(cell)] for cell in table["size"]]),
        **{name: texts(*(cell or "" for cell in table[name])) for name in ("colour", "fresh")},
    }
    found = asked(made, given)
    if target == "answer":
        assert found["label"].tolist() == model.predict(table).tolist()
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(table), rtol=0, atol=1e-10)
    else:
        np.testing.assert_allclose(found["value"], model.predict(table), rtol=1e-10)
