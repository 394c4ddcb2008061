"""Rules in the real ONNX Runtime."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sessc import RuleBase, TSKClassifier, TSKRegressor

onnx = pytest.importorskip("onnx", reason="onnx is not installed; pip install 'sessc[export]'")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

SHAPES = [(order, refine) for order in (0, 1) for refine in (0, 20)]


def run(rules, X):
    session = runtime.InferenceSession(rules.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, rules.centers.dtype)}), strict=True))


def around(rules, rng, n=300):
    """Rows among the data and far outside."""
    return rules.mean + rules.scale * rng.normal(size=(n, rules.n_features)) * rng.choice([0.3, 1, 5], size=(n, 1))


@pytest.mark.parametrize(("order", "refine"), SHAPES)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_classes_and_probabilities_are_ours(load, order, refine, rng):
    data = load()
    labels = np.asarray(data.target_names)[data.target]
    rules = TSKClassifier(4, order=order, refine=refine, random_state=0).fit(data.data, labels).rules_
    X = np.concatenate([data.data, around(rules, rng)])
    found = run(rules, X)
    assert found["label"].tolist() == rules(X).tolist()
    assert found["probabilities"].dtype == np.float64
    np.testing.assert_allclose(found["probabilities"], rules.probabilities(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found["firing"], rules.firing(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("order", "refine"), SHAPES)
def test_values_are_ours(order, refine, rng):
    X, y = load_diabetes(return_X_y=True)
    rules = TSKRegressor(3, order=order, refine=refine, random_state=0).fit(X, y).rules_
    X = np.concatenate([X, around(rules, rng)])
    np.testing.assert_allclose(run(rules, X)["value"], rules(X), rtol=1e-10)


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
    rules = RuleBase.write([({"x": (0, 1)}, {"a": 1.0, "b": 0.0}), ({"x": (4, 1)}, {"b": 1.0})])
    X = np.asarray([[0.0], [2.0], [5.0], [1e9]])
    np.testing.assert_allclose(run(rules, X)["probabilities"], rules.probabilities(X), atol=1e-12)
    from dataclasses import replace

    unwanted = replace(rules, consequents=-rules.consequents - 1)
    np.testing.assert_allclose(run(unwanted, X)["probabilities"], 0.5)


def test_the_file_says_what_it_is(tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    rules = TSKClassifier(2, random_state=0).fit(X, y).rules_
    onnx.save(rules.to_onnx(), tmp_path / "rules.onnx")
    model = onnx.load(tmp_path / "rules.onnx")
    assert model.doc_string == str(rules)
    assert {item.key: item.value for item in model.metadata_props}["features"].splitlines() == list(X.columns)
