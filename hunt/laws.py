"""Laws that hold for any table of numbers: what may be changed about it without changing the answers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import sessc
from sessc import Blocks, RuleBase

from .judging import Broken, attempt

__all__ = ["law"]

Chance = np.random.Generator
Table = tuple[np.ndarray, np.ndarray]

MODELS: dict[str, Callable[[], Any]] = {
    "constant": lambda: sessc.TSKClassifier(n_rules=3, random_state=0),
    "linear": lambda: sessc.TSKClassifier(n_rules=2, order=1, random_state=0),
    "refined": lambda: sessc.TSKClassifier(n_rules=2, refine=5, random_state=0),
    "short": lambda: sessc.TSKClassifier(n_rules=2, refine=5, conditions=1, random_state=0),
    "numbers": lambda: sessc.TSKRegressor(n_rules=2, order=1, random_state=0),
    "refined numbers": lambda: sessc.TSKRegressor(n_rules=2, refine=5, random_state=0),
    "SESSC": lambda: sessc.SESSCClassifier(3, random_state=0),
    "FCM": lambda: sessc.FCM(3, random_state=0),
    "ESSC": lambda: sessc.ESSC(3, random_state=0),
}


def law(rng: Chance) -> str:
    """One law for one model and one table."""
    name, of = str(rng.choice(list(LAWS))), str(rng.choice(list(MODELS)))
    X, y = _table(rng)
    attempt(MODELS[of]().fit, X, y)  # too few rows for so many rules, and the like
    LAWS[name](MODELS[of], X, y, rng)
    return f"{name}, {of}, {X.shape}"


def _table(rng: Chance) -> Table:
    """Three groups in a few columns of unlike units, some cells missing, some rows twice."""
    n, n_columns = int(rng.integers(12, 90)), int(rng.integers(1, 5))
    group = rng.integers(0, 3, n)
    X = 3 * rng.normal(size=(3, n_columns))[group] + rng.normal(size=(n, n_columns))
    X = X * 10.0 ** rng.integers(-5, 6, n_columns) + rng.integers(-3, 4, n_columns)
    if rng.random() < 0.3:
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    if rng.random() < 0.3:
        X = np.round(X)
    X[rng.integers(n)] = X[rng.integers(n)]
    y = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), group)
    y[:3] = 0, 1, 2
    return X, y


def _answers(model: Any, X: Any) -> np.ndarray:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    if hasattr(model, "cluster_centers_"):
        return np.asarray(model.cluster_centers_)
    return np.asarray(model.predict(X))


def _same(found: np.ndarray, expected: np.ndarray, within: float = 0.0) -> None:
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    apart = float(np.max(np.abs(found - expected), initial=0.0)) / scale
    if not apart <= within:
        raise Broken(f"answers differ by {apart:.2g} of the largest")


def _is_refined(model: Any) -> bool:
    return bool(getattr(model, "refine", 0))


def _fit(make: Callable, X: Any, y: Any, **given: Any) -> Any:
    return make().fit(X, y, **given)


def _order_of_rows(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    order = rng.permutation(len(X))
    one, other = _fit(make, X, y), _fit(make, X[order], y[order])
    _same(_answers(other, X), _answers(one, X), 0.0 if _is_refined(one) else 1e-6)


def _repetitions(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    times = rng.integers(1, 4, len(X))
    one = _fit(make, np.repeat(X, times, axis=0), np.repeat(y, times))
    other = _fit(make, X, y, sample_weight=times.astype(float))
    _same(_answers(other, X), _answers(one, X), 0.0 if _is_refined(one) else 1e-6)


def _no_weight(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    there = np.r_[np.ones(len(X)), np.zeros(5)]
    more = np.concatenate([X, 1e3 * rng.normal(size=(5, X.shape[1]))]), np.r_[y, y[:5]]
    one, other = _fit(make, X, y), _fit(make, *more, sample_weight=there)
    _same(_answers(other, X), _answers(one, X), 1e-9)


def _threads(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    one, other = (_fit(lambda k=k: make().set_params(n_jobs=k), X, y) for k in (1, 3))
    _same(_answers(other, X), _answers(one, X))


def _blocks(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    cuts = np.sort(rng.integers(0, len(X) + 1, 3))
    parts = [part for part in zip(np.split(X, cuts), np.split(y, cuts), strict=True) if len(part[0])]
    one, other = _fit(make, X, y), make().fit(Blocks(lambda: iter(parts)))
    if not _is_refined(one):
        _same(_answers(other, X), _answers(one, X), 1e-6)


def _again(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    _same(_answers(_fit(make, X, y), X), _answers(_fit(make, X, y), X))


def _names_of_classes(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    if not hasattr(make(), "predict_proba"):
        return
    one, other = _fit(make, X, y), _fit(make, X, np.asarray(["k", "l", "m"])[y])
    _same(_answers(other, X), _answers(one, X))


def _one_row(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    """A row is answered alone as among others."""
    model = _fit(make, X, y)
    if not hasattr(model, "cluster_centers_") or hasattr(model, "predict_proba"):
        alone = np.concatenate([_answers(model, X[k : k + 1]) for k in range(0, len(X), 5)])
        _same(alone, _answers(model, X)[::5], 1e-9)


def _forms(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    """Estimator, rules, pickle and JSON say the same; ONNX to the digits of its precision."""
    from sessc.tables.files import dumps, loads

    model = _fit(make, X, y)
    rules = getattr(model, "rules_", None)
    _same(_answers(pickle.loads(pickle.dumps(model)), X), _answers(model, X))
    if not isinstance(rules, RuleBase):
        return
    again = loads(json.dumps(json.loads(dumps(rules)))).rules
    if not np.array_equal(rules(X), model.predict(X)) or not np.array_equal(again(X), rules(X)):
        raise Broken("rules or their file answer otherwise")
    if rng.random() < 0.3:
        _same(_in_onnx(rules, X), rules.outputs(X) if rules.classes is None else rules.probabilities(X), 1e-6)


def _in_onnx(rules: RuleBase, X: np.ndarray) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(rules.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    given = session.get_inputs()[0]
    kind = np.float32 if given.type == "tensor(float)" else np.float64
    return np.asarray(session.run(None, {given.name: X.astype(kind)})[-1]).reshape(len(X), -1)


def _explained(make: Callable, X: np.ndarray, y: np.ndarray, rng: Chance) -> None:
    """What is explained is what is predicted."""
    model = _fit(make, X, y)
    rules = getattr(model, "rules_", None)
    if isinstance(rules, RuleBase):
        said = rules.explain(X[0])
        if said.answer != rules(X[:1])[0]:
            raise Broken(f"explained {said.answer!r}, predicted {rules(X[:1])[0]!r}")


LAWS: dict[str, Callable] = {
    "order of rows": _order_of_rows,
    "weights as repetitions": _repetitions,
    "rows of no weight": _no_weight,
    "threads": _threads,
    "blocks": _blocks,
    "again": _again,
    "names of classes": _names_of_classes,
    "one row": _one_row,
    "forms": _forms,
    "explanation": _explained,
}
