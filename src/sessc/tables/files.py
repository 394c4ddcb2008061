"""Rules as a file that people can read and that never runs code: JSON, with every digit of every number.

The format is described in ``docs/rules.schema.json``. A width of null is "any value". A file is read whole or not
at all.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from .._writing import write
from ..rules.base import Identity, Link, Proportions, RuleBase, Softmax
from ..rules.choices import Choice
from ..rules.evaluation import Evaluation
from ..rules.summary import BINS, SHARES, Summary
from .columns import Category, Column, Columns, Number
from .model import Model

__all__ = ["dumps", "load", "loads", "save", "trusted_types"]

FORMAT, VERSION = "sessc rules", 1
LINKS: dict[str, Link] = {"identity": Identity(), "proportions": Proportions(), "softmax": Softmax()}
KINDS = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}
TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}


def trusted_types() -> list[str]:
    """The types of this library that a skops file of a fitted model may hold: give them to ``skops.io.load``."""
    import sessc

    from ..rows.extent import Extent
    from ..rows.target import Classes, Measurements
    from ..solve.memory import Memory
    from ..terms.objective import Parameters, Statistics
    from ..tsk.consequents import Gram
    from ..tsk.estimators import Stream

    public = [getattr(sessc, name) for name in sessc.__all__]
    inner = [Identity, Proportions, Softmax, Summary, Choice, Parameters]
    inner += [
        Extent,
        Gram,
        Classes,
        Measurements,
        Memory,
        Statistics,
        Stream,
    ]  # what a model needs to go on learning
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in [*public, *inner] if isinstance(kind, type))


def save(model: Model | RuleBase, path: str | os.PathLike) -> None:
    """Write a model to a file."""
    write(path, dumps(model))


def load(path: str | os.PathLike) -> Model:
    """Read a model from a file that :func:`save` wrote."""
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give a file of rules in it.")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a file of rules: it is not text.") from None
    return loads(text, str(path))


def dumps(model: Model | RuleBase) -> str:
    """A model as JSON text."""
    model = Model(model) if isinstance(model, RuleBase) else model
    rules = model.rules
    if len(set(rules.feature_names)) < rules.n_features:
        raise ValueError("features must have different names to be saved.")
    widths = [[None if math.isinf(w) else w for w in row] for row in rules.widths.tolist()]
    parts = zip(rules.centers.tolist(), widths, rules.consequents.tolist(), strict=True)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"sessc {__version__}",
        "precision": rules.centers.dtype.name,
        "target": rules.target_name,
        "classes": _classes(rules.classes),
        "link": next(name for name, link in LINKS.items() if link == rules.link),
        "features": [
            {"name": name, "mean": mean, "scale": scale}
            for name, mean, scale in zip(
                rules.feature_names, rules.mean.tolist(), rules.scale.tolist(), strict=True
            )
        ],
        "rules": [{"centers": c, "widths": w, "outputs": b} for c, w, b in parts],
        "summary": _summary(rules.summary),
        "edits": list(rules.edits),
        "choices": [_choice(choice, rules.feature_names) for choice in rules.choices],
        "columns": None if model.columns is None else [_column(column) for column in model.columns.each],
        "evaluations": [_evaluation(name, one) for name, one in model.evaluations.items()],
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _classes(classes: np.ndarray | None) -> dict[str, Any] | None:
    if classes is None:
        return None
    values = classes.tolist()
    kind = KINDS.get(classes.dtype.kind) or next(
        (k for k, t in TYPES.items() if all(type(v) is t for v in values)), None
    )
    if kind is None:
        raise ValueError(f"classes must be text, numbers or booleans to be saved, got {values[0]!r}.")
    return {"type": kind, "values": values}


def _summary(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    return {
        "n_rows": summary.n_rows,
        "quantiles": summary.quantiles.tolist(),
        "counts": summary.counts.tolist(),
        "support": None if summary.support is None else summary.support.tolist(),
    }


def _choice(choice: Choice, names: tuple[str, ...]) -> dict[str, Any]:
    features = [names[d] for d in choice.features]
    return {"name": choice.name, "features": features, "values": list(choice.values), "other": choice.other}


def _column(column: Column) -> dict[str, Any]:
    if isinstance(column, Number):
        return {"name": column.name, "kind": "number", "fill": column.fill}
    return {"name": column.name, "kind": "category", "values": list(column.values), "fill": column.fill}


def _evaluation(name: str, evaluation: Evaluation) -> dict[str, Any]:
    confusion = None if evaluation.confusion is None else evaluation.confusion.tolist()
    return {
        "name": name,
        "n_rows": evaluation.n_rows,
        "measures": dict(evaluation.measures),
        "confusion": confusion,
    }


def loads(text: str, name: str = "the text") -> Model:
    """A model from JSON text; a ValueError in one sentence for anything else."""
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not a file of rules, or a damaged one: {error}.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{name} is not a file of rules: it does not say that it is one.")
    if data.get("version") != VERSION:
        theirs = data.get("version")
        raise ValueError(
            f"{name} is of version {theirs!r} of the format, and this sessc reads version {VERSION}; "
            "try a newer one."
        )
    try:
        rules = _read(data)
        return Model(
            rules, _read_columns(data.get("columns"), rules), _read_evaluations(_list(data, "evaluations"))
        )
    except _Damaged as damage:
        raise ValueError(f"{name} is damaged: {damage}.") from None


class _Damaged(Exception):
    """What is wrong with a file."""


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _read(data: dict[str, Any]) -> RuleBase:
    precision = _one_of(data, "precision", ("float64", "float32"))
    link = LINKS[_one_of(data, "link", tuple(LINKS))]
    features = [_object(item, "a feature") for item in _list(data, "features")]
    names = tuple(_text(item, "name") for item in features)
    if len(set(names)) < len(names) or not names:
        raise _Damaged("features need different names")
    classes = _read_classes(data.get("classes"))
    if (classes is None) != isinstance(link, Identity):
        raise _Damaged("link and classes do not go together")
    rules = [_object(item, "a rule") for item in _list(data, "rules")]
    if not rules:
        raise _Damaged("there is no rule")
    n_features, n_outputs = len(names), 1 if classes is None else len(classes)
    n_inputs = len(_list(rules[0], "outputs"))
    if n_inputs not in (1, 1 + n_features):
        raise _Damaged("outputs are neither constant nor linear")
    scale = _array([item.get("scale") for item in features], "scales", (n_features,))
    widths = _array(
        [[math.inf if width is None else width for width in _list(rule, "widths")] for rule in rules],
        "widths",
        (len(rules), n_features),
        infinite=True,
    )
    if np.any(scale <= 0) or np.any(widths <= 0):
        raise _Damaged("widths and scales must be above zero")
    centers = _array([rule.get("centers") for rule in rules], "centers", widths.shape)
    outputs = _array([rule.get("outputs") for rule in rules], "outputs", (len(rules), n_inputs, n_outputs))
    mean = _array([item.get("mean") for item in features], "means", (n_features,))
    return RuleBase(
        centers=centers.astype(precision),
        widths=widths.astype(precision),
        consequents=outputs.astype(precision),
        mean=mean.astype(precision),
        scale=scale.astype(precision),
        link=link,
        feature_names=names,
        classes=classes,
        target_name=_text(data, "target"),
        summary=_read_summary(data.get("summary"), len(rules), n_features),
        edits=tuple(_texts(data, "edits")),
        choices=_read_choices(_list({"choices": []} | data, "choices"), names),
    )


def _read_choices(data: list, names: tuple[str, ...]) -> tuple[Choice, ...]:
    """Features that exclude each other. Files of before this was written down have none."""
    found, free = [], set(names)
    for item in data:
        one = _object(item, "a choice")
        features, values, other = _texts(one, "features"), _texts(one, "values"), one.get("other")
        if not features or len(values) != len(features) or not (other is None or isinstance(other, str)):
            raise _Damaged("a choice needs a value for each of its features")
        if len(set(features)) < len(features) or not free.issuperset(features):
            raise _Damaged("the features of choices must be features of the rules, each in one choice")
        free -= set(features)
        found.append(Choice(_text(one, "name"), tuple(map(names.index, features)), tuple(values), other))
    return tuple(found)


def _read_classes(data: Any) -> np.ndarray | None:
    if data is None:
        return None
    kind = TYPES[_one_of(_object(data, "classes"), "type", tuple(TYPES))]
    values = _list(data, "values")
    if len(values) < 2 or any(type(value) is not kind for value in values) or len(set(values)) < len(values):
        raise _Damaged("classes must be two or more different values of one type")
    return np.asarray(values)


def _read_summary(data: Any, n_rules: int, n_features: int) -> Summary | None:
    if data is None:
        return None
    data = _object(data, "the summary")
    n_rows, support = data.get("n_rows"), data.get("support")
    if type(n_rows) is not int or n_rows < 1:
        raise _Damaged("n_rows must be a count")
    quantiles = _array(data.get("quantiles"), "quantiles", (len(SHARES), n_features))
    counts = _array(data.get("counts"), "counts", (n_features, BINS))
    return Summary(n_rows, quantiles, counts, None if support is None else _array(support, "support", (n_rules,)))


def _read_columns(data: Any, rules: RuleBase) -> Columns | None:
    if data is None:
        return None
    if not isinstance(data, list):
        raise _Damaged("columns must be a list")
    columns = Columns(tuple(_read_column(_object(item, "a column")) for item in data))
    if tuple(columns.features) != rules.feature_names or len(set(columns.names)) < len(columns.names):
        raise _Damaged("columns do not give the features of the rules")
    return columns


def _read_column(data: dict[str, Any]) -> Column:
    name = _text(data, "name")
    if _one_of(data, "kind", ("number", "category")) == "number":
        return Number(name, float(_array(data.get("fill"), "what missing cells count as", ())))
    values = _texts(data, "values")
    if len(set(values)) < max(len(values), 2) or _text(data, "fill") not in values:
        raise _Damaged("categories must be different, and missing cells count as one of them")
    return Category(name, tuple(values), _text(data, "fill"))


def _read_evaluations(data: list) -> dict[str, Evaluation]:
    found = {}
    for item in data:
        one = _object(item, "an evaluation")
        measures = _object(one.get("measures"), "measures")
        n_rows, confusion = one.get("n_rows"), one.get("confusion")
        if type(n_rows) is not int or n_rows < 1:
            raise _Damaged("n_rows must be a count")
        if confusion is not None:
            n_classes = len(confusion) if isinstance(confusion, list) else 0
            confusion = _array(confusion, "a confusion matrix", (n_classes, n_classes))
        values = {str(name): float(_array(value, "measures", ())) for name, value in measures.items()}
        found[_text(one, "name")] = Evaluation(n_rows, values, confusion)
    return found


def _array(values: Any, what: str, shape: tuple[int, ...], infinite: bool = False) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:
        raise _Damaged(f"{what} are not a table") from None
    if array.shape != shape or array.dtype.kind not in "if":
        raise _Damaged(f"{what} must be numbers of shape {shape}")
    array = array.astype(float)
    if not np.all(np.isfinite(array) | (infinite & np.isposinf(array))):
        raise _Damaged(f"{what} must be finite")
    return array


def _object(data: Any, what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _Damaged(f"{what} must be an object")
    return data


def _list(data: dict[str, Any], key: str) -> list:
    if not isinstance(value := data.get(key), list):
        raise _Damaged(f"{key} must be a list")
    return value


def _text(data: dict[str, Any], key: str) -> str:
    if not isinstance(value := data.get(key), str):
        raise _Damaged(f"{key} must be text")
    return value


def _texts(data: dict[str, Any], key: str) -> list[str]:
    if not all(isinstance(value, str) for value in _list(data, key)):
        raise _Damaged(f"{key} must be texts")
    return _list(data, key)


def _one_of(data: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    if not isinstance(value := data.get(key), str) or value not in allowed:
        raise _Damaged(f"{key} must be one of {', '.join(allowed)}")
    return value
