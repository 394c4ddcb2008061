"""Rules in the real ONNX Runtime; that their answers are ours is in test_everywhere.py."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sessc import RuleBase, TSKClassifier

onnx = pytest.importorskip("onnx", reason="onnx is not installed; pip install 'sessc[export]'")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def run(rules, X):
    session = runtime.InferenceSession(rules.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, rules.centers.dtype)}), strict=True))


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


@pytest.mark.parametrize("order", [0, 1])
def test_one_feature_is_as_exact_as_many(order, rng):
    X = rng.normal(50, 7, size=(100, 1))
    rules = TSKClassifier(3, order=order, refine=20, random_state=0).fit(X, (X[:, 0] > 52).astype(int)).rules_
    np.testing.assert_allclose(run(rules, X)["probabilities"], rules.probabilities(X), rtol=0, atol=1e-10)
