"""Estimators on hostile tables, targets and weights, and everything that may be asked of what they learned."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import sessc
from sessc import Model, RuleBase

from .judging import Broken, Refused, attempt, is_sentence, refuse_odd_numbers
from .tables import hostile, targets, weights

__all__ = ["edited", "fitted", "raw"]

Chance = np.random.Generator

CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "constant": lambda s: sessc.TSKClassifier(n_rules=3, random_state=s),
    "linear": lambda s: sessc.TSKClassifier(n_rules=2, order=1, random_state=s),
    "refined": lambda s: sessc.TSKClassifier(n_rules=2, refine=5, random_state=s),
    "short": lambda s: sessc.TSKClassifier(n_rules=2, refine=5, conditions=1, random_state=s),
    "many": lambda s: sessc.TSKClassifier(n_rules=30, order=1, alpha=0.0, random_state=s),
    "SESSC": lambda s: sessc.SESSCClassifier(2, random_state=s),
    "SFP": lambda s: sessc.SFPClassifier(2, random_state=s),
}
REGRESSORS: dict[str, Callable[..., Any]] = {
    "constant": lambda s: sessc.TSKRegressor(n_rules=3, random_state=s),
    "linear": lambda s: sessc.TSKRegressor(n_rules=2, order=1, random_state=s),
    "refined": lambda s: sessc.TSKRegressor(n_rules=2, refine=5, order=1, random_state=s),
    "SESSC": lambda s: sessc.SESSCRegressor(2, random_state=s),
}
CLUSTERERS: dict[str, Callable[..., Any]] = {
    name: lambda s, name=name: getattr(sessc, name)(2, random_state=s)
    for name in ("FCM", "AWFCM", "SCAD", "EWFCM", "ESSC", "SFP", "SESSC", "KernelEWFCM")
} | {
    "random starts": lambda s: sessc.ESSC(3, init="random", n_init=2, random_state=s),
    "many": lambda s: sessc.FCM(50, random_state=s),
}
SEARCHES: dict[str, Callable[..., Any]] = {
    "classes": lambda s: sessc.TSKClassifierCV(n_rules=(1, 2), order=0, refine=3, random_state=s),
    "numbers": lambda s: sessc.TSKRegressorCV(n_rules=(1, 2), order=0, refine=3, random_state=s),
}
FAMILIES = [(CLASSIFIERS, 0.45), (REGRESSORS, 0.25), (CLUSTERERS, 0.27), (SEARCHES, 0.03)]


def fitted(rng: Chance) -> str:
    """A model fitted, asked, explained, saved and read again; and asked about another table."""
    table, X, n = hostile(rng)
    of_targets, y = targets(rng, n)
    of_weights, weight = weights(rng, n)
    family = FAMILIES[rng.choice(len(FAMILIES), p=[share for _, share in FAMILIES])][0]
    name = str(rng.choice(list(family)))
    model = family[name](int(rng.integers(100)))
    if rng.random() < 0.1:
        model.set_params(categorical_features=[0])
    about = f"{type(model).__name__} ({name}), {table}; y {of_targets}; weights {of_weights}"
    before = copy.deepcopy(X) if isinstance(X, (np.ndarray, list)) else None
    given = {} if weight is None else {"sample_weight": weight}
    stream = rng.random() < 0.1 and hasattr(model, "partial_fit")
    try:
        attempt(_streamed if stream else _learned, model, X, y, given)
        _unchanged(X, before)
        _asked(model, X, rng)
    except Refused:
        raise
    except Exception as error:
        error.args = (f"[{about}] {error}",)
        raise
    return about


def _learned(model: Any, X: Any, y: Any, given: dict) -> None:
    model.fit(X, y, **given)


def _streamed(model: Any, X: Any, y: Any, given: dict) -> None:
    for _ in range(2):
        model.partial_fit(X, y, **given)


def _unchanged(X: Any, before: Any) -> None:
    if isinstance(X, np.ndarray) and X.dtype != object and not np.ma.isMaskedArray(X):
        np.testing.assert_array_equal(X, before, "the table was written on")


def _asked(model: Any, X: Any, rng: Chance) -> None:
    answers = attempt(model.predict, X)
    refuse_odd_numbers("answers", answers)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        refuse_odd_numbers("probabilities", shares)
        if not np.allclose(np.sum(shares, axis=1), 1, atol=1e-3):
            raise Broken("probabilities do not add up to one")
    if hasattr(model, "cluster_centers_"):
        refuse_odd_numbers("centres", model.cluster_centers_)
    twin = pickle.loads(pickle.dumps(model))
    if not np.array_equal(np.asarray(twin.predict(X)), np.asarray(answers)):
        raise Broken("a pickle answers otherwise")
    if isinstance(getattr(model, "rules_", None), RuleBase):
        _told(model.rules_, X, answers)
    _about_others(model, rng)


def _told(rules: RuleBase, X: Any, answers: Any) -> None:
    """Rules as text, page, explanation and file."""
    str(rules), rules.to_markdown(), rules.to_latex(), attempt(rules.to_html)
    first = X[:1] if not isinstance(X, dict) else {name: cells[:1] for name, cells in X.items()}
    if not isinstance(X, dict):
        str(attempt(rules.explain, first.iloc[0] if hasattr(first, "iloc") else first))
    text = json.dumps(json.loads(_dumped(rules)))
    again = _loaded(text)
    if not np.array_equal(np.asarray(again(X)), np.asarray(answers)):
        raise Broken("a file answers otherwise")


def _dumped(rules: RuleBase) -> str:
    from sessc.tables.files import dumps

    return attempt(dumps, rules)


def _loaded(text: str) -> RuleBase:
    from sessc.tables.files import loads

    return loads(text).rules


def _about_others(model: Any, rng: Chance) -> None:
    """Another table is answered or refused."""
    _, other, _ = hostile(rng)
    try:
        answers = model.predict(other)
    except (ValueError, TypeError) as error:
        if not is_sentence(error):
            raise
        return
    refuse_odd_numbers("answers about another table", answers)


def raw(rng: Chance) -> str:
    """The whole way from a raw table to a model in a file, as the command line goes it."""
    import tempfile
    from pathlib import Path

    table, X, n = hostile(rng, int(rng.choice([5, 20, 60])))
    if not hasattr(X, "columns") or not hasattr(X, "iloc"):
        X = {f"c{k}": cells for k, cells in enumerate(np.asarray(X, object).T)} if not isinstance(X, dict) else X
    of_targets, y = targets(rng, n)
    if isinstance(X, dict):
        X["y"] = y
    elif len(np.shape(y)) == 1 and len(y) == len(X):
        # Of an array of texts pandas would make strings, and some are none.
        is_odd = isinstance(y, np.ndarray) and y.dtype.kind == "O"
        X = X.assign(y=pd.Series(y, X.index, object) if is_odd else y)
    about = f"Model.fit, {table}; y {of_targets}"
    try:
        model = attempt(Model.fit, X, "y", n_rules=2, random_state=0)
        answers = attempt(model.predict, X)
        refuse_odd_numbers("answers", answers)
        str(model.rules), model.to_html()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            attempt(model.save, path)
            if not np.array_equal(Model.load(path).predict(X), answers):
                raise Broken("a file answers otherwise")
    except Refused:
        raise
    except Exception as error:
        error.args = (f"[{about}] {error}",)
        raise
    return about


WISHES: list[Callable[[Chance], dict[str, Any]]] = [
    lambda rng: {"about": _number(rng), "width": abs(_number(rng))},
    lambda rng: {"at_least": _number(rng)},
    lambda rng: {"at_most": _number(rng)},
    lambda rng: {"between": tuple(sorted((_number(rng), _number(rng))))},
]


def _number(rng: Chance) -> float:
    return float(
        rng.choice([0.0, 1.0, -1.0, 1e9, 1e-9, 1e150, -1e300, np.inf, np.nan, 5e-324, 1.7e9 + rng.random()])
    )


def edited(rng: Chance) -> str:
    """Rules by hand, with absurd wishes: refused, or answering what they ask for."""
    names = ["a", "b"]
    rules = [
        ({name: WISHES[rng.integers(len(WISHES))](rng) for name in names if rng.random() < 0.7}, {str(k): 0.9})
        for k in range(int(rng.integers(1, 4)))
    ]
    about = f"by hand {rules}"
    X = rng.normal(size=(7, 2)) * 10.0 ** rng.uniform(-3, 10, size=2)
    try:
        made = attempt(RuleBase.by_hand, rules, features=names, classes=["0", "1", "2"])
        shares = attempt(made.probabilities, X)
        refuse_odd_numbers("probabilities", shares, made.firing(X))
        str(made), made.to_html(), str(made.explain(X[0]))
    except Refused:
        raise
    except Exception as error:
        error.args = (f"[{about}] {error}",)
        raise
    return about
