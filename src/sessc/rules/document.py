"""Rules as plain data for JSON, with every digit of every number, and back: whole or not at all.

The format is described in ``docs/rules.schema.json``. A rule has a constant, what each condition that it has adds,
by the name of its column, and outputs; what is not there is zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from .._version import __version__
from ..rows.columns import Category, Column, Number
from .base import Conditions, RuleBase
from .effects import Effect, Effects
from .evaluation import Curve, Cuts, Evaluation, counted, flat
from .evidence import Evidence
from .links import Identity, Link, Proportions, Softmax
from .measures import CUTS
from .measures import SHARES as SHARES_FOUND
from .summary import BINS, SHARES, Summary

__all__ = [
    "FORMAT",
    "VERSION",
    "Damaged",
    "different",
    "effects_to_data",
    "evaluations_from_data",
    "evaluations_to_data",
    "from_data",
    "read_array",
    "read_classes",
    "read_count",
    "read_list",
    "read_number",
    "read_object",
    "read_one_of",
    "read_shares",
    "read_text",
    "read_texts",
    "to_data",
    "whole",
]

FORMAT, VERSION = "sessc rules", 2
LINKS: dict[str, Link] = {"identity": Identity(), "proportions": Proportions(), "softmax": Softmax()}
KINDS = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}
TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}
NUMBERS = ("consequents", "mean", "scale", "fill")
"""Arrays of rules, beside those of conditions, that have the precision of the model."""
MOST = 1e300
"""No level that is a number is this large."""
CURVE = ("said", "found", "low", "high", "weight")
"""What a curve of what was said and what happened is made of."""
MIXED = "mixed"
"""The type of levels of which some are text and others are not."""


class Damaged(Exception):
    """What is wrong with data that should be a model."""


def to_data(rules: RuleBase) -> dict[str, Any]:
    """Rules as numbers, texts, lists and dicts."""
    if len(set(rules.feature_names)) < rules.n_features:
        raise ValueError("features must have different names to be saved.")
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"sessc {__version__}",
        "precision": rules.linear.dtype.name,
        "target": rules.target_name,
        "classes": _classes(rules.classes),
        "link": next(name for name, link in LINKS.items() if link == rules.link),
        "columns": [_column(rules, j) for j in range(rules.n_features)],
        "rules": [_rule(rules, r) for r in range(rules.n_rules)],
        "summary": _summary(rules),
        "edits": list(rules.edits),
    }


def _column(rules: RuleBase, j: int) -> dict[str, Any]:
    """What a column holds, and what its missing cells count as in linear conclusions."""
    column, fill = rules.columns[j], rules.fill[rules.layout.features_of(j)].tolist()
    if isinstance(column, Number):
        ends = None if rules.limits is None else [_finite(end) for end in rules.limits[:, j].tolist()]
        units = {"mean": float(rules.mean[j]), "scale": float(rules.scale[j]), "limits": ends}
        return {"name": column.name, "kind": "number", "is_date": column.is_date, **units, "fill": fill[0]}
    every = (*column.levels, *(column.pool or ()))
    if odd := [level for level in every if not isinstance(level, str) and not abs(level) < MOST]:
        raise ValueError(f"levels of {column.name!r} must be text or finite numbers to be saved, got {odd[0]!r}.")
    levels = {"type": _type_of(column), "levels": list(column.levels)}
    pool = None if column.pool is None else list(column.pool)
    return {"name": column.name, "kind": "category", **levels, "pool": pool, "fill": fill}


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _type_of(column: Category) -> str:
    there = {type(level) for level in (*column.levels, *(column.pool or ()))} or {str}
    return next((name for name, kind in TYPES.items() if there == {kind}), MIXED)


def _rule(rules: RuleBase, r: int) -> dict[str, Any]:
    asked = np.flatnonzero(rules.asks[r])
    outputs = {"constant": rules.consequents[r, 0].tolist(), "slopes": _slopes(rules, r) if rules.order else None}
    return {
        "constant": float(rules.constants[r]),
        "conditions": {rules.columns[j].name: _condition(rules, r, int(j)) for j in asked},
        "outputs": outputs,
    }


def _condition(rules: RuleBase, r: int, j: int) -> dict[str, Any]:
    adds, unknown = rules.linear[r, rules.layout.features_of(j)].tolist(), float(rules.unknown[r, j])
    if rules.layout.levels[j]:
        return {"levels": adds, "unknown": unknown}
    place = int(np.searchsorted(rules.layout.numbers, j))
    return {"slope": adds[0], "precision": float(rules.precisions[r, place]), "unknown": unknown}


def _slopes(rules: RuleBase, r: int) -> dict[str, Any]:
    """By column, for each output: of a number its slope, of a category what each level adds."""
    found = {}
    for j, column in enumerate(rules.columns):
        slopes = rules.consequents[r, 1 + rules.layout.features_of(j)].tolist()
        found[column.name] = slopes if rules.layout.levels[j] else slopes[0]
    return found


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


def _summary(rules: RuleBase) -> dict[str, Any] | None:
    if (summary := rules.summary) is None:
        return None
    return {
        "n_rows": summary.n_rows,
        "quantiles": summary.quantiles.tolist(),
        "counts": summary.counts.tolist(),
        "support": None if summary.support is None else summary.support.tolist(),
        "levels": [shares.tolist() for shares in summary.levels],
        "missing": np.asarray(summary.missing).tolist(),
        "reach": None if summary.reach is None else [_known(row) for row in summary.reach.tolist()],
        "prior": None if summary.prior is None else summary.prior.tolist(),
        "shares": None if summary.shares is None else summary.shares.tolist(),
        "evidence": evidence_to_data(summary.evidence),
        "effects": effects_to_data(rules, summary.effects),
    }


def effects_to_data(rules: RuleBase, effects: Effects | None) -> dict[str, Any] | None:
    """What the model answers over its columns, as plain numbers."""
    if effects is None:
        return None
    importances, names = effects.importances, rules.feature_names
    curves = [
        {
            "column": names[one.column],
            "partner": None if one.partner is None else names[one.partner],
            "correlation": one.correlation,
            "cells": _defined(one.cells.tolist()),
            **{name: getattr(one, name).tolist() for name in ("answers", "rules", "shares")},
            "accumulated": None if one.accumulated is None else one.accumulated.tolist(),
        }
        for one in effects.curves
    ]
    return {
        "n_rows": effects.n_rows,
        "mean": effects.mean.tolist(),
        "importances": None if importances is None else importances.tolist(),
        "curves": curves,
    }


def evidence_to_data(evidence: Evidence | None) -> dict[str, Any] | None:
    """What happened under each rule, as plain numbers."""
    if evidence is None:
        return None
    parts = {field.name: getattr(evidence, field.name) for field in fields(Evidence)}
    return {name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in parts.items()}


def _known(values: list[float]) -> list[float | None]:
    """Numbers, None for those that are infinite."""
    return [value if math.isfinite(value) else None for value in values]


def evaluations_to_data(evaluations: Mapping[str, Evaluation]) -> list[dict[str, Any]]:
    """Measures by the name of what was measured, as a list; those of models beside it come after."""
    return [
        {
            "name": name,
            "n_rows": one.n_rows,
            "measures": dict(one.measures),
            "intervals": {key: list(ends) for key, ends in one.intervals.items()},
            "resamples": one.resamples,
            "classes": None if one.classes is None else list(one.classes),
            "positive": one.positive,
            "threshold": one.threshold,
            "prior": None if one.prior is None else one.prior.tolist(),
            "confusion": None if one.confusion is None else one.confusion.tolist(),
            "faithfulness": one.faithfulness,
            "calibration": None if one.calibration is None else _lists(vars(one.calibration)),
            "cuts": None if one.cuts is None else _lists(vars(one.cuts)),
        }
        for name, one in flat(evaluations).items()
    ]


def _lists(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays as lists, with None for what is not defined."""
    return {
        name: _lists(part) if isinstance(part, Mapping) else [_defined(one) for one in part.tolist()]
        for name, part in parts.items()
    }


def _defined(one: Any) -> Any:
    if isinstance(one, list):
        return [_defined(inner) for inner in one]
    return one if math.isfinite(one) else None


def from_data(data: dict[str, Any]) -> RuleBase:
    """Rules from what :func:`to_data` made of them; Damaged if anything about it is wrong."""
    columns = _read_columns(data)
    classes = read_classes(data.get("classes"))
    n_outputs = 1 if classes is None else len(classes)
    given = [read_object(item, "a rule") for item in read_list(data, "rules")]
    if not given:
        raise Damaged("there is no rule")
    numbers, fill = _read_numbers(data, columns), _read_fill(data, columns)
    conditions = _read_conditions(given, columns)
    return whole(
        data,
        conditions=conditions,
        consequents=_read_outputs(given, columns, n_outputs),
        columns=columns,
        fill=fill,
        classes=classes,
        summary=_read_summary(data.get("summary"), len(given), columns, n_outputs),
        **numbers,
    )


def whole(data: dict[str, Any], *, conditions: Conditions, classes: np.ndarray | None, **parts: Any) -> RuleBase:
    """Rules of parts that were read, and of what is the same in every version of the format."""
    precision = read_one_of(data, "precision", ("float64", "float32"))
    link = LINKS[read_one_of(data, "link", tuple(LINKS))]
    if (classes is None) != isinstance(link, Identity):
        raise Damaged("link and classes do not go together")
    with np.errstate(over="ignore", under="ignore"):
        parts |= {name: parts[name].astype(precision) for name in NUMBERS}
        asked = Conditions(*(part.astype(precision) for part in conditions))
    numbers = (*asked, *(parts[name] for name in NUMBERS))
    if not all(_has_squares(part) for part in numbers) or not np.all(
        parts["scale"] > np.finfo(precision).tiny ** 0.5
    ):
        raise Damaged(f"some numbers are too large or too small for {precision}")
    parts |= {"target_name": read_text(data, "target"), "edits": tuple(read_texts(data, "edits"))}
    parts |= dict(zip(("constants", "linear", "precisions", "unknown"), asked, strict=True))
    return RuleBase(**parts, link=link, classes=classes)


def _has_squares(part: np.ndarray) -> bool:
    """Whether numbers can be squared, as formulas do, in the precision that they have by now."""
    return bool(np.all(np.abs(part) < np.finfo(part.dtype).max ** 0.5))


def _read_columns(data: dict[str, Any]) -> tuple[Column, ...]:
    given = [read_object(item, "a column") for item in read_list(data, "columns")]
    return different(tuple(_read_column(item) for item in given))


def different(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns, if there are any and no two have one name."""
    if len({column.name for column in columns}) < len(columns) or not columns:
        raise Damaged("columns need different names")
    return columns


def _read_column(data: dict[str, Any]) -> Column:
    name = read_text(data, "name")
    if read_one_of(data, "kind", ("number", "category")) == "number":
        if type(is_date := data.get("is_date")) is not bool:
            raise Damaged("is_date must be true or false")
        return Number(name, is_date)
    kind = read_one_of(data, "type", (*TYPES, MIXED))
    levels = _read_levels(data, "levels", kind)
    pool = None if data.get("pool") is None else _read_levels(data, "pool", kind)
    every = (*levels, *(pool or ()))
    if len(set(Category(name, every).codes(every))) < len(every) or (not levels and pool is None):
        raise Damaged("the levels of a category must be different, and one at least")
    return Category(name, levels, pool)


def _read_levels(data: dict[str, Any], key: str, kind: str) -> tuple[Any, ...]:
    levels = read_list(data, key)
    if kind == "float":  # some programs write 1.0 as 1
        levels = [float(level) if type(level) is int else level for level in levels]
    allowed = set(TYPES.values()) if kind == MIXED else {TYPES[kind]}
    if any(type(level) not in allowed for level in levels):
        raise Damaged(f"{key} must be of the type that their column says")
    if any(not isinstance(level, str) and not abs(level) < MOST for level in levels):
        raise Damaged(f"{key} must be finite")
    return tuple(levels)


def _read_numbers(data: dict[str, Any], columns: tuple[Column, ...]) -> dict[str, Any]:
    """Mean, scale and limits of every column; those of categories are never used."""
    n, mean, scale = len(columns), np.zeros(len(columns)), np.ones(len(columns))
    limits, held = np.asarray([[-np.inf] * n, [np.inf] * n]), []
    for j, (item, column) in enumerate(zip(data["columns"], columns, strict=True)):
        if isinstance(column, Number):
            mean[j], scale[j] = (read_number(item, key) for key in ("mean", "scale"))
            held.append(item.get("limits") is not None)
            limits[:, j] = _read_limits(item) if held[-1] else limits[:, j]
    if np.any(scale <= 0):
        raise Damaged("scales must be above zero")
    if any(held) and not all(held):
        raise Damaged("either all columns of numbers have limits or none has")
    return {"mean": mean, "scale": scale, "limits": limits if any(held) else None}


def _read_limits(data: dict[str, Any]) -> np.ndarray:
    ends = read_list(data, "limits")
    known = read_array([end for end in ends if end is not None], "limits", (sum(end is not None for end in ends),))
    if len(ends) != 2 or (len(known) == 2 and known[0] > known[1]):
        raise Damaged("limits must be two numbers, the lower first, or null where there is none")
    low, high = ends
    return np.asarray([-np.inf if low is None else low, np.inf if high is None else high], dtype=float)


def _read_fill(data: dict[str, Any], columns: tuple[Column, ...]) -> np.ndarray:
    given = {column.name: item.get("fill") for item, column in zip(data["columns"], columns, strict=True)}
    return np.concatenate([np.zeros(0), *_by_feature(given, columns, "fill")])


def _by_feature(given: dict[str, Any], columns: tuple[Column, ...], what: str, *each: int) -> list[np.ndarray]:
    """What is given for columns in the order of features: of numbers first, then of the levels of categories."""
    order = sorted(columns, key=lambda column: column.n_levels > 0)
    shapes = [(*((column.n_levels,) if column.n_levels else ()), *each) for column in order]
    found = [read_array(given.get(c.name), what, shape) for c, shape in zip(order, shapes, strict=True)]
    return [part.reshape(-1, *each) for part in found]


def _read_conditions(given: list[dict[str, Any]], columns: tuple[Column, ...]) -> Conditions:
    each = [_read_rule(rule, columns) for rule in given]
    return Conditions(*(np.stack([np.asarray(rule[k], float) for rule in each]) for k in range(4)))


def _read_rule(rule: dict[str, Any], columns: tuple[Column, ...]) -> tuple[float, np.ndarray, list, list]:
    """Constant, linear part, precisions and what missing cells add."""
    conditions = read_object(rule.get("conditions"), "conditions")
    if not conditions.keys() <= {column.name for column in columns}:
        raise Damaged("conditions must be about the columns")
    linear, precisions, unknown = {}, [], []
    for column in columns:
        one = (
            read_object(conditions[column.name], "a condition") if column.name in conditions else _nothing(column)
        )
        linear[column.name] = one.get("levels" if column.n_levels else "slope")
        precisions += [] if column.n_levels else [read_number(one, "precision")]
        unknown.append(read_number(one, "unknown"))
    if min(precisions, default=0.0) < 0:
        raise Damaged("a precision must be zero or more")
    adds = np.concatenate(_by_feature(linear, columns, "what conditions add"))
    return read_number(rule, "constant"), adds, precisions, unknown


def _nothing(column: Column) -> dict[str, Any]:
    """A condition that a rule does not have."""
    return {"slope": 0.0, "precision": 0.0, "levels": [0.0] * column.n_levels, "unknown": 0.0}


def _read_outputs(given: list[dict[str, Any]], columns: tuple[Column, ...], n_outputs: int) -> np.ndarray:
    outputs = [read_object(rule.get("outputs"), "outputs") for rule in given]
    linear = [one.get("slopes") is not None for one in outputs]
    if any(linear) != all(linear):
        raise Damaged("outputs must be linear in all rules or in none")
    parts = []
    for one in outputs:
        constant = read_array(one.get("constant"), "outputs", (n_outputs,))[None]
        slopes = _read_slopes(one, columns, n_outputs) if linear[0] else []
        parts.append(np.concatenate([constant, *slopes]))
    return np.stack(parts)


def _read_slopes(outputs: dict[str, Any], columns: tuple[Column, ...], n_outputs: int) -> list[np.ndarray]:
    slopes = read_object(outputs["slopes"], "slopes")
    if slopes.keys() != {column.name for column in columns}:
        raise Damaged("slopes must be about all columns")
    return _by_feature(slopes, columns, "slopes", n_outputs)


def read_classes(data: Any) -> np.ndarray | None:
    """The labels of classes; None for a number to predict."""
    if data is None:
        return None
    kind = TYPES[read_one_of(read_object(data, "classes"), "type", tuple(TYPES))]
    values = read_list(data, "values")
    if len(values) < 2 or any(type(value) is not kind for value in values) or len(set(values)) < len(values):
        raise Damaged("classes must be two or more different values of one type")
    return np.asarray(values)


def _read_summary(data: Any, n_rules: int, columns: Sequence[Column], n_outputs: int) -> Summary | None:
    if data is None:
        return None
    levels = [column.n_levels for column in columns]
    data, n_columns = read_object(data, "the summary"), len(levels)
    n_rows, support = read_count(data), data.get("support")
    shares = read_list(data, "levels")
    if len(shares) != n_columns:
        raise Damaged("levels must be a list for each column")
    return Summary(
        n_rows,
        read_array(data.get("quantiles"), "quantiles", (len(SHARES), n_columns)),
        read_shares(data.get("counts"), "counts", (n_columns, BINS)),
        None if support is None else read_shares(support, "support", (n_rules,)),
        tuple(read_shares(one, "levels", (n,)) for one, n in zip(shares, levels, strict=True)),
        read_shares(data.get("missing"), "missing", (n_columns,)),
        _read_reach(data.get("reach"), (n_rules, n_columns)),
        _read_common(data, "prior", n_outputs),
        _read_common(data, "shares", n_outputs),
        _read_evidence(data.get("evidence"), n_rules, n_outputs),
        _read_effects(data.get("effects"), n_rules, columns, n_outputs),
    )


def _read_effects(data: Any, n_rules: int, columns: Sequence[Column], n_outputs: int) -> Effects | None:
    if data is None:
        return None
    data = read_object(data, "the effects")
    given = [read_object(one, "a curve") for one in read_list(data, "curves")]
    importances = data.get("importances")
    return Effects(
        read_count(data, least=0),
        read_array(data.get("mean"), "mean", (n_outputs,)),
        None if importances is None else read_shares(importances, "importances", (len(columns),)),
        tuple(_read_effect(one, n_rules, columns, n_outputs) for one in given),
    )


def _read_effect(data: dict[str, Any], n_rules: int, columns: Sequence[Column], n_outputs: int) -> Effect:
    places = {column.name: j for j, column in enumerate(columns)}
    place, partner, alone = read_text(data, "column"), data.get("partner"), data.get("accumulated")
    if place not in places or not (partner is None or (isinstance(partner, str) and partner in places)):
        raise Damaged("curves must be about the columns")
    rules, n_cells = read_list(data, "rules"), len(read_list(data, "cells"))
    if any(type(r) is not int or not 0 <= r < n_rules for r in rules):
        raise Damaged("curves must have the shares of rules that there are")
    cells, n_levels = _read_defined(data["cells"], "cells", (n_cells,)), columns[places[place]].n_levels
    codes = cells[~np.isnan(cells)]
    if n_levels and not np.all((codes >= 0) & (codes < n_levels) & (codes == np.round(codes))):
        raise Damaged("curves over categories must be at levels that there are")
    return Effect(
        places[place],
        cells,
        read_array(data.get("answers"), "answers", (n_cells, n_outputs)),
        np.asarray(rules, int),
        read_shares(data.get("shares"), "shares", (n_cells, len(rules))),
        None if partner is None else places[partner],
        read_number(data, "correlation"),
        None if alone is None else read_array(alone, "accumulated", (n_cells, n_outputs)),
    )


def _read_common(data: dict[str, Any], name: str, n_outputs: int) -> np.ndarray | None:
    """How common classes are; None if that is not known."""
    return None if data.get(name) is None else read_shares(data[name], name, (n_outputs,))


def _read_evidence(data: Any, n_rules: int, n_outputs: int) -> Evidence | None:
    if data is None:
        return None
    data = read_object(data, "the evidence")
    shapes = {"governed": (n_rules,), "spread": (n_rules,), "support": (n_rules,), "together": (n_rules, n_rules)}
    parts: dict[str, Any] = {}
    for field in fields(Evidence):
        value = data.get(field.name)
        if field.name in ("weight", "strongest", "score", "unit"):
            parts[field.name] = float(read_array(value, field.name, ()))
        elif field.name in ("spread", "together") and value is None:
            parts[field.name] = None
        else:
            parts[field.name] = read_array(value, field.name, shapes.get(field.name, (n_rules, n_outputs)))
    return Evidence(**parts)


def _read_reach(data: Any, shape: tuple[int, int]) -> np.ndarray | None:
    if data is None:
        return None
    if not isinstance(data, list) or not all(isinstance(row, list) for row in data):
        raise Damaged("reach must be a list for each rule")
    rows = [[math.inf if value is None else value for value in row] for row in data]
    return read_array(rows, "reach", shape, infinite=True)


def read_shares(values: Any, what: str, shape: tuple[int, ...]) -> np.ndarray:
    """Counts or shares, which are never below zero."""
    found = read_array(values, what, shape)
    if np.any(found < 0):
        raise Damaged(f"{what} must be zero or more")
    return found


def evaluations_from_data(data: list) -> dict[str, Evaluation]:
    """What :func:`evaluations_to_data` made a list of."""
    items = [read_object(item, "an evaluation") for item in data]
    return {read_text(one, "name"): _read_evaluation(one) for one in items}


def _read_evaluation(one: dict[str, Any]) -> Evaluation:
    measures, intervals = (
        read_object(one.get("measures"), "measures"),
        read_object(one.get("intervals", {}), "intervals"),
    )
    confusion = one.get("confusion")
    if confusion is not None:
        n_classes = len(confusion) if isinstance(confusion, list) else 0
        confusion = counted(read_array(confusion, "a confusion matrix", (n_classes, n_classes)))
    ends = {str(name): read_array(both, "intervals", (2,)).tolist() for name, both in intervals.items()}
    return Evaluation(
        read_count(one),
        {str(name): float(read_array(value, "measures", ())) for name, value in measures.items()},
        confusion,
        faithfulness=_read_if(one, "faithfulness"),
        threshold=_read_if(one, "threshold"),
        intervals={name: (low, high) for name, (low, high) in ends.items()},
        resamples=read_count(one, "resamples", least=0) if "resamples" in one else 0,
        calibration=_read_curve(one.get("calibration")),
        cuts=_read_cuts(one.get("cuts")),
        **_read_labels(one, None if confusion is None else len(confusion)),
    )


def _read_if(one: dict[str, Any], key: str) -> float | None:
    return None if one.get(key) is None else read_number(one, key)


def _read_labels(one: dict[str, Any], n_classes: int | None) -> dict[str, Any]:
    """Which classes measures are about, and how common these are where probabilities hold."""
    classes, positive, prior = one.get("classes"), one.get("positive"), one.get("prior")
    if classes is None or n_classes is None:
        return {}
    plain = isinstance(classes, list) and all(isinstance(label, str | int | float | bool) for label in classes)
    if not plain or len(classes) != n_classes or (positive is not None and positive not in classes):
        raise Damaged("classes of an evaluation must be those of its confusion matrix")
    shares = None if prior is None else read_shares(prior, "prior", (n_classes,))
    return {"classes": tuple(classes), "positive": positive, "prior": shares}


def _read_curve(data: Any) -> Curve | None:
    if data is None:
        return None
    parts = read_object(data, "calibration")
    k = len(read_list(parts, "said"))
    sizes = {name: (len(read_list(parts, name)),) if name in ("low", "high") else (k,) for name in CURVE}
    if {sizes["low"], sizes["high"]} - {(k,), (0,)}:
        raise Damaged("calibration must have as many ends as points")
    return Curve(**{name: _read_defined(parts.get(name), name, size) for name, size in sizes.items()})


def _read_cuts(data: Any) -> Cuts | None:
    if data is None:
        return None
    parts = read_object(data, "cuts")
    hits, alarms = (read_shares(parts.get(name), name, CUTS.shape) for name in ("hits", "alarms"))
    low, high = (_read_ends(parts, side) for side in ("low", "high"))
    first = (read_list(parts, "roc") or [None])[0]
    n_points = len(first) if isinstance(first, list) else 0
    return Cuts(hits, alarms, low, high, _read_defined(parts["roc"], "roc", (2, n_points)))


def _read_ends(parts: dict[str, Any], side: str) -> dict[str, np.ndarray]:
    """The lower or upper ends of what is found at each threshold; nothing if these were not asked for."""
    given = read_object(parts.get(side), side)
    if {*given} not in ({*SHARES_FOUND}, set()):
        raise Damaged(f"{side} must be of {', '.join(SHARES_FOUND)}")
    return {name: _read_defined(values, name, CUTS.shape) for name, values in given.items()}


def _read_defined(values: Any, what: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers, with NaN for what is not defined."""
    given = np.asarray(values, object) if isinstance(values, list) else np.asarray(None, object)
    if given.shape != shape:
        raise Damaged(f"{what} must be numbers of shape {shape}")
    absent = np.asarray([value is None for value in given.ravel()], bool).reshape(shape)
    filled = read_array(np.where(absent, 0, given).tolist(), what, shape)
    return np.where(absent, np.nan, filled)


def read_array(values: Any, what: str, shape: tuple[int, ...], infinite: bool = False) -> np.ndarray:
    """Numbers of a shape."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise Damaged(f"{what} are not a table") from None
    if array.shape != shape or (array.dtype.kind not in "if" and array.size):
        raise Damaged(f"{what} must be {f'numbers of shape {shape}' if shape else 'a number'}")
    array = array.astype(float)
    if not np.all(np.isfinite(array) | (infinite & np.isposinf(array))):
        raise Damaged(f"{what} must be finite")
    return array


def read_number(data: dict[str, Any], key: str) -> float:
    """A number in a dict."""
    return float(read_array(data.get(key), key, ()))


def read_count(data: dict[str, Any], key: str = "n_rows", least: int = 1) -> int:
    """A count in a dict: if nothing else is said, of the rows that something is about."""
    if type(n := data.get(key)) is not int or n < least:
        raise Damaged(f"{key} must be a count")
    return n


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
