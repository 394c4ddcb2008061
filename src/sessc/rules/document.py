"""Rules as plain data for JSON, with every digit of every number, and back: whole or not at all.

The format is described in ``docs/rules.schema.json``. A width of null is "any value".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._version import __version__
from .base import RuleBase
from .choices import Choice
from .evaluation import Evaluation
from .links import Identity, Link, Proportions, Softmax
from .summary import BINS, SHARES, Summary

__all__ = [
    "FORMAT",
    "VERSION",
    "Damaged",
    "evaluations_from_data",
    "evaluations_to_data",
    "from_data",
    "read_array",
    "read_list",
    "read_object",
    "read_one_of",
    "read_text",
    "read_texts",
    "to_data",
]

FORMAT, VERSION = "sessc rules", 1
LINKS: dict[str, Link] = {"identity": Identity(), "proportions": Proportions(), "softmax": Softmax()}
KINDS = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}
TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}


class Damaged(Exception):
    """What is wrong with data that should be a model."""


def to_data(rules: RuleBase) -> dict[str, Any]:
    """Rules as numbers, texts, lists and dicts."""
    if len(set(rules.feature_names)) < rules.n_features:
        raise ValueError("features must have different names to be saved.")
    widths = [[None if math.isinf(w) else w for w in row] for row in rules.widths.tolist()]
    parts = zip(rules.centers.tolist(), widths, rules.consequents.tolist(), strict=True)
    units = zip(rules.feature_names, rules.mean.tolist(), rules.scale.tolist(), strict=True)
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"sessc {__version__}",
        "precision": rules.centers.dtype.name,
        "target": rules.target_name,
        "classes": _classes(rules.classes),
        "link": next(name for name, link in LINKS.items() if link == rules.link),
        "features": [{"name": name, "mean": mean, "scale": scale} for name, mean, scale in units],
        "rules": [{"centers": c, "widths": w, "outputs": b} for c, w, b in parts],
        "summary": _summary(rules.summary),
        "edits": list(rules.edits),
        "choices": [_choice(choice, rules.feature_names) for choice in rules.choices],
    }


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


def evaluations_to_data(evaluations: Mapping[str, Evaluation]) -> list[dict[str, Any]]:
    """Measures by the name of what was measured, as a list."""
    return [
        {
            "name": name,
            "n_rows": one.n_rows,
            "measures": dict(one.measures),
            "confusion": None if one.confusion is None else one.confusion.tolist(),
        }
        for name, one in evaluations.items()
    ]


def from_data(data: dict[str, Any]) -> RuleBase:
    """Rules from what :func:`to_data` made of them; Damaged if anything about it is wrong."""
    precision = read_one_of(data, "precision", ("float64", "float32"))
    link = LINKS[read_one_of(data, "link", tuple(LINKS))]
    names, mean, scale = _read_features(data)
    classes = _read_classes(data.get("classes"))
    if (classes is None) != isinstance(link, Identity):
        raise Damaged("link and classes do not go together")
    centers, widths, outputs = _read_rules(data, len(names), 1 if classes is None else len(classes))
    return RuleBase(
        centers=centers.astype(precision),
        widths=widths.astype(precision),
        consequents=outputs.astype(precision),
        mean=mean.astype(precision),
        scale=scale.astype(precision),
        link=link,
        feature_names=names,
        classes=classes,
        target_name=read_text(data, "target"),
        summary=_read_summary(data.get("summary"), *widths.shape),
        edits=tuple(read_texts(data, "edits")),
        choices=_read_choices(read_list({"choices": []} | data, "choices"), names),
    )


def _read_features(data: dict[str, Any]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names, means and scales."""
    features = [read_object(item, "a feature") for item in read_list(data, "features")]
    names = tuple(read_text(item, "name") for item in features)
    if len(set(names)) < len(names) or not names:
        raise Damaged("features need different names")
    mean = read_array([item.get("mean") for item in features], "means", (len(names),))
    scale = read_array([item.get("scale") for item in features], "scales", (len(names),))
    if np.any(scale <= 0):
        raise Damaged("widths and scales must be above zero")
    return names, mean, scale


def _read_rules(
    data: dict[str, Any], n_features: int, n_outputs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, widths and consequents."""
    rules = [read_object(item, "a rule") for item in read_list(data, "rules")]
    if not rules:
        raise Damaged("there is no rule")
    n_inputs = len(read_list(rules[0], "outputs"))
    if n_inputs not in (1, 1 + n_features):
        raise Damaged("outputs are neither constant nor linear")
    shape = (len(rules), n_features)
    given = [[math.inf if width is None else width for width in read_list(rule, "widths")] for rule in rules]
    widths = read_array(given, "widths", shape, infinite=True)
    if np.any(widths <= 0):
        raise Damaged("widths and scales must be above zero")
    centers = read_array([rule.get("centers") for rule in rules], "centers", shape)
    outputs = [rule.get("outputs") for rule in rules]
    return centers, widths, read_array(outputs, "outputs", (len(rules), n_inputs, n_outputs))


def _read_choices(data: list, names: tuple[str, ...]) -> tuple[Choice, ...]:
    """Features that exclude each other. Files of before this was written down have none."""
    found, free = [], set(names)
    for item in data:
        one = read_object(item, "a choice")
        features, values, other = read_texts(one, "features"), read_texts(one, "values"), one.get("other")
        if not features or len(values) != len(features) or not (other is None or isinstance(other, str)):
            raise Damaged("a choice needs a value for each of its features")
        if len(set(features)) < len(features) or not free.issuperset(features):
            raise Damaged("the features of choices must be features of the rules, each in one choice")
        free -= set(features)
        found.append(Choice(read_text(one, "name"), tuple(map(names.index, features)), tuple(values), other))
    return tuple(found)


def _read_classes(data: Any) -> np.ndarray | None:
    if data is None:
        return None
    kind = TYPES[read_one_of(read_object(data, "classes"), "type", tuple(TYPES))]
    values = read_list(data, "values")
    if len(values) < 2 or any(type(value) is not kind for value in values) or len(set(values)) < len(values):
        raise Damaged("classes must be two or more different values of one type")
    return np.asarray(values)


def _read_summary(data: Any, n_rules: int, n_features: int) -> Summary | None:
    if data is None:
        return None
    data = read_object(data, "the summary")
    n_rows, support = data.get("n_rows"), data.get("support")
    if type(n_rows) is not int or n_rows < 1:
        raise Damaged("n_rows must be a count")
    quantiles = read_array(data.get("quantiles"), "quantiles", (len(SHARES), n_features))
    counts = read_array(data.get("counts"), "counts", (n_features, BINS))
    return Summary(
        n_rows, quantiles, counts, None if support is None else read_array(support, "support", (n_rules,))
    )


def evaluations_from_data(data: list) -> dict[str, Evaluation]:
    """What :func:`evaluations_to_data` made a list of."""
    found = {}
    for item in data:
        one = read_object(item, "an evaluation")
        measures = read_object(one.get("measures"), "measures")
        n_rows, confusion = one.get("n_rows"), one.get("confusion")
        if type(n_rows) is not int or n_rows < 1:
            raise Damaged("n_rows must be a count")
        if confusion is not None:
            n_classes = len(confusion) if isinstance(confusion, list) else 0
            confusion = read_array(confusion, "a confusion matrix", (n_classes, n_classes))
        values = {str(name): float(read_array(value, "measures", ())) for name, value in measures.items()}
        found[read_text(one, "name")] = Evaluation(n_rows, values, confusion)
    return found


def read_array(values: Any, what: str, shape: tuple[int, ...], infinite: bool = False) -> np.ndarray:
    """Numbers of a shape."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise Damaged(f"{what} are not a table") from None
    if array.shape != shape or array.dtype.kind not in "if":
        raise Damaged(f"{what} must be numbers of shape {shape}")
    array = array.astype(float)
    if not np.all(np.isfinite(array) | (infinite & np.isposinf(array))):
        raise Damaged(f"{what} must be finite")
    return array


def read_object(data: Any, what: str) -> dict[str, Any]:
    """A dict."""
    if not isinstance(data, dict):
        raise Damaged(f"{what} must be an object")
    return data


def read_list(data: dict[str, Any], key: str) -> list:
    """A list in a dict."""
    if not isinstance(value := data.get(key), list):
        raise Damaged(f"{key} must be a list")
    return value


def read_text(data: dict[str, Any], key: str) -> str:
    """A text in a dict."""
    if not isinstance(value := data.get(key), str):
        raise Damaged(f"{key} must be text")
    return value


def read_texts(data: dict[str, Any], key: str) -> list[str]:
    """A list of texts in a dict."""
    if not all(isinstance(value, str) for value in read_list(data, key)):
        raise Damaged(f"{key} must be texts")
    return read_list(data, key)


def read_one_of(data: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    """One of a few texts in a dict."""
    if not isinstance(value := data.get(key), str) or value not in allowed:
        raise Damaged(f"{key} must be one of {', '.join(allowed)}")
    return value
