"""Rules in the user's own units, when scalers and encoders stand before the model in a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from .base import RuleBase, default_names
from .choices import Choice

__all__ = ["rules_of"]

FEW_CODES = 10
"""Codes of categories that are all spelled out."""


@dataclass(frozen=True, eq=False)
class Origin:
    """A column that an encoder made features of, one for each value."""

    name: str
    values: tuple[str, ...]


class Feature(NamedTuple):
    """What a column inside a pipeline is: ``factor * original + offset``, of the original of this name."""

    name: str
    factor: float = 1.0
    offset: float = 0.0
    origin: Origin | None = None
    value: str = ""
    """Which value of its origin it stands for."""

    def scaled(self, factor: float, offset: float) -> Feature:
        return self._replace(factor=self.factor * factor, offset=self.offset * factor + offset)


Features = list[Feature]


def rules_of(model: Any) -> RuleBase:
    """The rules of a fitted model, in the units and names of what the whole pipeline is given.

    Parameters
    ----------
    model : rule model, Pipeline that ends in one, or a search over either
        Before the model there may be scalers, imputers, encoders and feature selection, also inside a
        ``ColumnTransformer``.

    Returns
    -------
    RuleBase
        Features made by a ``OneHotEncoder`` are called ``column=category``, and ``choices`` says which belong
        together; those of an ``OrdinalEncoder`` are codes, which ``column (0 small, 1 large)`` spells out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from sessc import TSKClassifier, rules_of
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(MinMaxScaler(), TSKClassifier(n_rules=3, random_state=0)).fit(X, y)
    >>> bool((rules_of(model)(X) == model.predict(X)).all())
    True
    """
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline):
        if not hasattr(model, "rules_"):
            raise ValueError(
                f"{type(model).__name__} has no rules; rules_of takes a fitted rule model or pipeline."
            )
        return model.rules_
    *before, last = (step for _, step in model.steps)
    rules, features = rules_of(last), _given(model)
    for step in before:
        features = _after(step, features)
    return _in_units(rules, features)


def _in_units(rules: RuleBase, features: Features) -> RuleBase:
    factor, offset = (np.asarray(part) for part in zip(*((f.factor, f.offset) for f in features), strict=True))
    summary = rules.summary and replace(rules.summary, quantiles=(rules.summary.quantiles - offset) / factor)
    return replace(
        rules,
        mean=(rules.mean - offset) / factor,
        scale=rules.scale / factor,
        feature_names=tuple(feature.name for feature in features),
        summary=summary,
        choices=tuple(_choices(features)),
    )


def _choices(features: Features) -> Iterator[Choice]:
    """The features of each origin that are left, and what stands where all of them are zero."""
    for origin in dict.fromkeys(feature.origin for feature in features):
        if origin is not None:
            places = tuple(d for d, feature in enumerate(features) if feature.origin is origin)
            shown = tuple(features[d].value for d in places)
            rest = [value for value in origin.values if value not in shown]
            other = None if not rest else rest[0] if len(rest) == 1 else "something else"
            yield Choice(origin.name, places, shown, other)


def _given(model: Pipeline) -> Features:
    first = next(step for _, step in model.steps if hasattr(step, "n_features_in_"))  # not every word is a step
    names = getattr(first, "feature_names_in_", default_names(first.n_features_in_))
    return [Feature(str(name)) for name in names]


def _after(step: Any, features: Features) -> Features:
    """The columns behind one step."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return features
    for kind, rule in STEPS.items():
        if isinstance(step, kind):
            return rule(step, features)
    what = f"{type(step).__name__} makes features that are not columns of the table"
    raise ValueError(f"{what}, so rules cannot be said in its units; use rules_ of the last step.")


def _scaled(factors: Any, offsets: Any, features: Features) -> Features:
    factors, offsets = (np.broadcast_to(part, len(features)) for part in (factors, offsets))
    return [f.scaled(float(a), float(b)) for f, a, b in zip(features, factors, offsets, strict=True)]


def _standard(step: Any, features: Features) -> Features:
    mean = step.mean_ if getattr(step, "with_mean", False) and step.mean_ is not None else 0.0
    scale = step.scale_ if step.scale_ is not None else 1.0
    return _scaled(1 / np.asarray(scale), -np.asarray(mean) / scale, features)


def _min_max(step: MinMaxScaler, features: Features) -> Features:
    if step.clip:
        raise ValueError(
            "MinMaxScaler(clip=True) gives many values one place, so rules cannot be said in units before it."
        )
    return _scaled(step.scale_, step.min_, features)


def _robust(step: Any, features: Features) -> Features:
    center = step.center_ if step.center_ is not None else 0.0
    scale = step.scale_ if step.scale_ is not None else 1.0
    return _scaled(1 / np.asarray(scale), -np.asarray(center) / scale, features)


def _one_hot(step: OneHotEncoder, features: Features) -> Features:
    found = []
    for k, (feature, categories) in enumerate(zip(features, step.categories_, strict=True)):
        dropped = None if step.drop_idx_ is None else step.drop_idx_[k]
        origin = Origin(feature.name, tuple(map(str, categories)))
        shown = [value for c, value in enumerate(origin.values) if c != dropped]
        found += [Feature(f"{feature.name}={value}", origin=origin, value=value) for value in shown]
    if len(found) != len(step.get_feature_names_out([f.name for f in features])):
        raise ValueError(
            "an encoder that lumps rare categories together cannot be said in words; use rules_ of the last step."
        )
    return found


def _ordinal(step: OrdinalEncoder, features: Features) -> Features:
    """Codes stay numbers, which have an order, and the name says what they stand for."""
    return [f._replace(name=f"{f.name} ({_legend(c)})") for f, c in zip(features, step.categories_, strict=True)]


def _legend(categories: Sequence[Any]) -> str:
    codes = [f"{code} {value}" for code, value in enumerate(categories)]
    return ", ".join(codes if len(codes) <= FEW_CODES else [*codes[:3], "...", codes[-1]])


def _imputed(step: SimpleImputer, features: Features) -> Features:
    kept = [
        f
        for f, value in zip(features, step.statistics_, strict=True)
        if step.keep_empty_features or value == value
    ]
    if step.indicator_ is None:
        return kept
    names = [features[d].name for d in step.indicator_.features_]
    origins = [Origin(name, ("known", "(missing)")) for name in names]
    return kept + [Feature(f"{origin.name}=(missing)", origin=origin, value="(missing)") for origin in origins]


def _selected(step: SelectorMixin, features: Features) -> Features:
    return [features[d] for d in step.get_support(indices=True)]


def _by_column(step: ColumnTransformer, features: Features) -> Features:
    found: dict[int, Feature] = {}
    for name, transformer, columns in step.transformers_:
        places = step.output_indices_[name]
        if places.stop == places.start or (isinstance(transformer, str) and transformer == "drop"):
            continue
        made = _after(transformer, [features[d] for d in _places(columns, features)])
        found |= dict(zip(range(places.start, places.stop), made, strict=True))
    return [found[k] for k in sorted(found)]


def _places(columns: Any, features: Features) -> Sequence[int]:
    names = [feature.name for feature in features]
    if isinstance(columns, str):
        return [names.index(columns)]
    if isinstance(columns, slice):
        first, last = (names.index(end) if isinstance(end, str) else end for end in (columns.start, columns.stop))
        last = last + 1 if isinstance(columns.stop, str) else last  # by name, the last is part of it
        return list(range(len(names)))[slice(first, last, columns.step)]
    chosen = np.asarray(columns)
    if chosen.dtype == bool:
        return np.flatnonzero(chosen).tolist()
    return [names.index(str(c)) if chosen.dtype.kind in "OU" else int(c) for c in np.atleast_1d(chosen).tolist()]


def _unchanged(step: Any, features: Features) -> Features:
    if isinstance(step, FunctionTransformer) and step.func is not None:
        raise ValueError("a function changes the features, so rules cannot be said in units before it.")
    return features


def _nested(step: Pipeline, features: Features) -> Features:
    for _, inner in step.steps:
        features = _after(inner, features)
    return features


STEPS: dict[type, Callable[[Any, Features], Features]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: lambda step, features: _scaled(1 / step.scale_, 0.0, features),
    RobustScaler: _robust,
    OneHotEncoder: _one_hot,
    OrdinalEncoder: _ordinal,
    SimpleImputer: _imputed,
    SelectorMixin: _selected,
    ColumnTransformer: _by_column,
    Pipeline: _nested,
    FunctionTransformer: _unchanged,
}
"""What each kind of step does to the columns it is given."""
