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
from sessc.rules.choices import Choice
from sessc.tables.files import dumps, loads

SCHEMA = Path(__file__).parents[1] / "docs" / "rules.schema.json"


def classifier(classes=("a", "b", "c"), dtype=float, **settings):
    X, y = load_wine(return_X_y=True)
    return TSKClassifier(3, random_state=0, **settings).fit(X.astype(dtype), np.asarray(classes)[y]).rules_


def regressor(**settings):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return TSKRegressor(2, random_state=0, **settings).fit(X, y).rules_


def every_kind():
    yield classifier()
    yield classifier(order=1, classes=(3, 1, 2))
    yield classifier(refine=20, conditions=4, dtype=np.float32, classes=(0.0, 1.0, 2.0))
    yield classifier(refine=20, order=1, classes=(True, False, True))
    yield classifier(classes=np.asarray(["x", "yy", "zzz"], dtype=object)).without_rule(2)
    yield regressor(order=1)
    yield replace(regressor(refine=10), summary=None)
    yield replace(regressor(), choices=(Choice("a", (0, 3), ("u", "v=w"), "x"), Choice("b", (1,), ("yes",), "no")))
    yield RuleBase.by_hand([({"Größe \n<b>": (1.0, 2.0)}, {"ja": 1.0}), ({}, {"nein": 1.0})])


KINDS = list(every_kind())


def same(a, b):
    for field in fields(RuleBase):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if field.name == "summary" and one is not None:
            assert one.n_rows == other.n_rows
            for name in ("quantiles", "counts", "support"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
        elif isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
            assert one.dtype.kind == other.dtype.kind or field.name == "classes"
            assert not other.flags.writeable
        else:
            assert one == other
    return True


@pytest.mark.parametrize("rules", KINDS, ids=repr)
def test_a_file_keeps_every_digit(rules, tmp_path, rng):
    rules.save(tmp_path / "rules.json")
    again = RuleBase.load(tmp_path / "rules.json")
    assert same(rules, again)
    assert again.centers.dtype == rules.centers.dtype
    X = rules.mean + rules.scale * rng.normal(size=(50, rules.n_features))
    np.testing.assert_array_equal(again.outputs(X), rules.outputs(X))
    np.testing.assert_array_equal(again(X), rules(X))
    assert str(again) == str(rules)
    assert dumps(again) == dumps(rules)


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
    data["version"] = 2
    with pytest.raises(
        ValueError, match="version 2 of the format, and this sessc reads version 1; try a newer one"
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


DOCUMENT = json.loads(dumps(classifier(refine=5)))
PLACES = [place for place in places(DOCUMENT) if place and place[0] not in ("made_by", "edits")]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PLACES), st.sampled_from([None, "x", -1, 0, True, [], {}, [[1.0]], 1e400, "delete"]))
def test_a_damaged_file_is_refused_in_a_sentence_or_means_a_whole_model(place, instead):
    data = json.loads(json.dumps(DOCUMENT))
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
        assert np.all(np.isfinite(rules.outputs(rules.centers_in_units)))
        assert str(rules)


def test_only_plain_classes_can_be_saved():
    odd = replace(classifier(), classes=np.asarray([1, "b", None], dtype=object))
    with pytest.raises(ValueError, match="classes must be text, numbers or booleans"):
        dumps(odd)


def test_features_with_one_name_are_not_saved():
    rules = regressor()
    with pytest.raises(ValueError, match="different names"):
        dumps(replace(rules, feature_names=("a",) * rules.n_features))


def test_estimators_that_files_may_hold_are_those_that_are_public():
    public = {getattr(sessc, name) for name in sessc.__all__}
    known = {place.rpartition(".") for place in sessc.trusted_types()}
    trusted = {getattr(importlib.import_module(module), name) for module, _, name in known}
    estimators = [{kind for kind in kinds if is_estimator(kind)} for kinds in (trusted, public)]
    assert estimators[0] == estimators[1]


def is_estimator(kind):
    return isinstance(kind, type) and issubclass(kind, BaseEstimator)
