"""Files of version 1 of the format, as the rules of today.

Rules then were bell curves about numbers, a category was one feature of ones and zeros for each of its values, of
two for the second alone, and a missing cell was filled in before rules saw it. All of that is a special case: a
level adds what the bells about its features add together at its code, and a missing cell what the value adds that
it counted as.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..rows.columns import Category, Column, Number
from .base import Conditions, RuleBase
from .document import (
    Damaged,
    different,
    read_array,
    read_classes,
    read_count,
    read_list,
    read_number,
    read_object,
    read_one_of,
    read_shares,
    read_text,
    read_texts,
    whole,
)
from .summary import BINS, SHARES, Summary

__all__ = ["from_data"]


class Features(NamedTuple):
    """The features of a file and what rules ask of them."""

    names: tuple[str, ...]
    mean: np.ndarray
    scale: np.ndarray
    centers: np.ndarray
    widths: np.ndarray
    """Infinite where there is no condition."""
    outputs: np.ndarray

    def standard(self, d: int, value: Any) -> Any:
        return (value - self.mean[d]) / self.scale[d]


class Source(NamedTuple):
    """A column, the features that it was, and what these are for each of its levels."""

    column: Column
    features: tuple[int, ...]
    codes: np.ndarray
    """Shape (levels, features); one row of zero for a number."""
    fill: float | str | None = None
    """What a missing cell counted as; None if there might be none."""


def from_data(data: dict[str, Any]) -> RuleBase:
    """Rules from a file of version 1; Damaged if anything about it is wrong."""
    classes = read_classes(data.get("classes"))
    features = _read_features(data, 1 if classes is None else len(classes))
    sources = _sources(data, features)
    with np.errstate(over="ignore", invalid="ignore"):  # of what is too large for numbers, whole() complains
        parts = [_spelled(source, features) for source in sources]
        conditions = _conditions(features, sources, parts)
    lines = [features.outputs[:, :1], *(part.slopes for part in _by_feature(parts, sources))]
    return whole(
        data,
        conditions=conditions,
        consequents=np.concatenate(lines if features.outputs.shape[1] > 1 else lines[:1], axis=1),
        columns=different(tuple(source.column for source in sources)),
        fill=np.concatenate([part.fill for part in _by_feature(parts, sources)]),
        mean=np.asarray([part.mean for part in parts]),
        scale=np.asarray([part.scale for part in parts]),
        classes=classes,
        summary=_read_summary(data.get("summary"), features, sources),
    )


class Spelled(NamedTuple):
    """What a column is in rules of today, with k features."""

    linear: np.ndarray
    """Shape (R, k)."""
    unknown: np.ndarray
    """Shape (R,)."""
    slopes: np.ndarray
    """Shape (R, k, C)."""
    fill: np.ndarray
    """Shape (k,)."""
    mean: float = 0.0
    scale: float = 1.0


def _by_feature(parts: list[Spelled], sources: list[Source]) -> list[Spelled]:
    """What columns are in the order of features: numbers first, then categories."""
    is_number = [isinstance(source.column, Number) for source in sources]
    return [part for wanted in (True, False) for part, is_ in zip(parts, is_number, strict=True) if is_ is wanted]


def _conditions(features: Features, sources: list[Source], parts: list[Spelled]) -> Conditions:
    bells = features.widths**-2.0
    precisions = bells[:, [source.features[0] for source in sources if isinstance(source.column, Number)]]
    linear = np.concatenate([part.linear for part in _by_feature(parts, sources)], axis=1)
    unknown = np.stack([part.unknown for part in parts], axis=1)
    return Conditions(-0.5 * np.sum(bells * features.centers**2, axis=1), linear, precisions, unknown)


def _spelled(source: Source, features: Features) -> Spelled:
    return _number(source, features) if isinstance(source.column, Number) else _category(source, features)


def _number(source: Source, features: Features) -> Spelled:
    [d], fill = source.features, source.fill
    precision = features.widths[:, d] ** -2.0
    slope, slopes = precision * features.centers[:, d], _slopes(features, d)[:, None]
    if fill is None:  # what cells add on average, as nobody said
        z, unknown = 0.0, -0.5 * precision
    else:
        z = features.standard(d, fill)
        unknown = slope * z - 0.5 * precision * z * z
    return Spelled(slope[:, None], unknown, slopes, np.asarray([z]), features.mean[d], features.scale[d])


def _category(source: Source, features: Features) -> Spelled:
    adds, slopes = 0.0, 0.0
    for d, code in zip(source.features, source.codes.T, strict=True):
        z = features.standard(d, code)
        precision = features.widths[:, d, None] ** -2.0
        adds = adds + precision * features.centers[:, d, None] * z - 0.5 * precision * z * z
        slopes = slopes + _slopes(features, d)[:, None, :] * z[:, None]
    levels = source.column.levels  # type: ignore[union-attr]
    fill = _shares(source, features) if source.fill is None else np.eye(len(levels))[levels.index(source.fill)]
    return Spelled(np.asarray(adds), adds @ fill, np.asarray(slopes), fill)


def _slopes(features: Features, d: int) -> np.ndarray:
    """What a feature adds to conclusions, (R, C); zero if these are constants."""
    linear = features.outputs.shape[1] > 1
    return features.outputs[:, 1 + d] if linear else np.zeros_like(features.outputs[:, 0])


def _shares(source: Source, features: Features) -> np.ndarray:
    """How common levels were: ones and zeros have their share as their mean."""
    means = np.clip(features.mean[list(source.features)], 0.0, 1.0)
    shares = np.where(source.codes.any(axis=1), source.codes @ means, max(1 - means.sum(), 0.0))
    return shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))


def _sources(data: dict[str, Any], features: Features) -> list[Source]:
    choices = _read_choices(read_list({"choices": []} | data, "choices"), features.names)
    if data.get("columns") is not None:
        return _read_columns(read_list(data, "columns"), features.names)
    chosen = _told_apart(choices, features.names)
    taken = {d for choice in chosen for d in choice.features}
    alone = [_alone(name, d) for d, name in enumerate(features.names) if d not in taken]
    return sorted([*chosen, *alone], key=lambda source: min(source.features))


def _alone(name: str, d: int, fill: float | None = None) -> Source:
    return Source(Number(name), (d,), np.zeros((1, 1)), fill)


def _told_apart(choices: list[Source], names: tuple[str, ...]) -> list[Source]:
    """Choices that can be columns: with names of their own and different values. Others stay numbers."""
    every = [*(choice.column.name for choice in choices), *names]
    return [
        choice
        for choice in choices
        if every.count(choice.column.name) == 1 and len(set(choice.column.levels)) == len(choice.codes)  # type: ignore[union-attr]
    ]


def _read_choices(data: list, names: tuple[str, ...]) -> list[Source]:
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
        levels = (*values, *([] if other is None else [other]))
        codes = np.eye(len(levels), len(values))
        found.append(Source(Category(read_text(one, "name"), levels), tuple(map(names.index, features)), codes))
    return found


def _read_columns(data: list, names: tuple[str, ...]) -> list[Source]:
    found: list[Source] = []
    first, made = 0, []
    for item in data:
        source, own = _read_column(read_object(item, "a column"), first)
        found.append(source)
        made += own
        first += len(own)
    if tuple(made) != names:
        raise Damaged("columns do not give the features of the rules")
    return found


def _read_column(data: dict[str, Any], first: int) -> tuple[Source, list[str]]:
    """A column whose features begin at some place, and what they are called."""
    name = read_text(data, "name")
    if read_one_of(data, "kind", ("number", "category")) == "number":
        return _alone(name, first, read_number(data, "fill")), [name]
    values, fill = read_texts(data, "values"), read_text(data, "fill")
    if len(set(values)) < max(len(values), 2) or fill not in values:
        raise Damaged("categories must be different, and missing cells count as one of them")
    codes = np.eye(len(values))[:, 1:] if len(values) == 2 else np.eye(len(values))
    shown = values[1:] if len(values) == 2 else values
    places = tuple(range(first, first + len(shown)))
    return Source(Category(name, tuple(values)), places, codes, fill), [f"{name}={value}" for value in shown]


def _read_features(data: dict[str, Any], n_outputs: int) -> Features:
    given = [read_object(item, "a feature") for item in read_list(data, "features")]
    names = tuple(read_text(item, "name") for item in given)
    if len(set(names)) < len(names) or not names:
        raise Damaged("features need different names")
    mean = read_array([item.get("mean") for item in given], "means", (len(names),))
    scale = read_array([item.get("scale") for item in given], "scales", (len(names),))
    centers, widths, outputs = _read_rules(data, len(names), n_outputs)
    if np.any(scale <= 0) or np.any(widths <= 0):
        raise Damaged("widths and scales must be above zero")
    return Features(names, mean, scale, centers, widths, outputs)


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
    centers = read_array([rule.get("centers") for rule in rules], "centers", shape)
    outputs = [rule.get("outputs") for rule in rules]
    return centers, widths, read_array(outputs, "outputs", (len(rules), n_inputs, n_outputs))


def _read_summary(data: Any, features: Features, sources: list[Source]) -> Summary | None:
    if data is None:
        return None
    data, n_features = read_object(data, "the summary"), len(features.names)
    n_rows, support = read_count(data), data.get("support")
    quantiles = read_array(data.get("quantiles"), "quantiles", (len(SHARES), n_features))
    counts = read_shares(data.get("counts"), "counts", (n_features, BINS))
    is_number = np.asarray([isinstance(source.column, Number) for source in sources])
    first = [source.features[0] for source in sources]
    return Summary(
        n_rows,
        np.where(is_number, quantiles[:, first], 0.0),
        np.where(is_number[:, None], counts[first], 0.0),
        None if support is None else read_shares(support, "support", (len(features.centers),)),
        tuple(
            np.zeros(0) if number else _shares(s, features) for s, number in zip(sources, is_number, strict=True)
        ),
    )
