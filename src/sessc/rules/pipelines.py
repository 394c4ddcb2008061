"""Rules in the user's own units, when scalers and encoders stand before the model in a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
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

from ..rows.columns import Category, Number
from ..rows.missing import is_missing
from .base import RuleBase, default_names
from .units import Feature, in_units

__all__ = ["rules_of"]

Features = list[Feature]


def rules_of(model: Any) -> RuleBase:
    """The rules of a fitted model, about the table that the whole pipeline is given, and in its units.

    Parameters
    ----------
    model : rule model, Pipeline that ends in one, or a search over either
        Before the model there may be scalers, imputers, encoders and feature selection, also inside a
        ``ColumnTransformer``.

    Returns
    -------
    RuleBase
        They answer for the raw table, gaps included, as the pipeline does. What an encoder made of a column is
        one category again, with its levels; what an imputer fills in is what an unknown cell counts as. A level
        that the pipeline was not fitted to counts as a missing cell. Columns that never reach the model are not
        in the rules.

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
    return in_units(rules, features)


def _given(model: Pipeline) -> Features:
    first = next(step for _, step in model.steps if hasattr(step, "n_features_in_"))  # not every word is a step
    names = getattr(first, "feature_names_in_", default_names(first.n_features_in_))
    return [Feature(Number(str(name)), place) for place, name in enumerate(names)]


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
    found: Features = []
    for k, (feature, categories) in enumerate(zip(features, step.categories_, strict=True)):
        rare = _rare(step, k)
        groups = _groups(categories, rare)
        dropped = None if step.drop_idx_ is None else step.drop_idx_[k]
        shown = [group for group in range(max(groups) + 1) if dropped is None or group != groups[dropped]]
        codes = np.equal.outer(groups, shown).astype(float)
        found += _coded(feature, categories, rare, codes, _unseen(step, max(groups), shown, bool(rare)))
    return found


def _unseen(step: OneHotEncoder, last: int, shown: Sequence[int], has_rare: bool) -> np.ndarray | None:
    """What a level never seen becomes: one of the rare ones, none of all, or a complaint."""
    if step.handle_unknown == "error":
        return None
    return np.equal(shown, last if has_rare and step.handle_unknown != "ignore" else -1).astype(float)


def _ordinal(step: OrdinalEncoder, features: Features) -> Features:
    found: Features = []
    for k, (feature, categories) in enumerate(zip(features, step.categories_, strict=True)):
        rare, missing = _rare(step, k), np.asarray([is_missing(one) for one in categories.tolist()])
        codes = np.full(len(categories), float(step.encoded_missing_value))
        codes[~missing] = _groups(categories[~missing], rare)
        unseen = None if step.handle_unknown == "error" else np.asarray([step.unknown_value], dtype=float)
        found += _coded(feature, categories, rare, codes[:, None], unseen)
    return found


def _rare(step: Any, k: int) -> list[Any]:
    """The levels of one column that an encoder lumps together."""
    each = getattr(step, "infrequent_categories_", None)
    return [] if each is None or each[k] is None else np.asarray(each[k]).tolist()


def _groups(categories: np.ndarray, rare: Sequence[Any]) -> list[int]:
    """A number for each level as encoders count them: rare ones come last, as one."""
    lumped, levels = set(map(_key, rare)), list(map(_key, categories.tolist()))
    common = {level: group for group, level in enumerate(level for level in levels if level not in lumped)}
    return [common.get(level, len(common)) for level in levels]


def _key(level: Any) -> Any:
    """A level, or None for all that is missing."""
    return None if is_missing(level) else level


def _coded(
    feature: Feature, categories: np.ndarray, rare: Sequence[Any], codes: np.ndarray, unseen: np.ndarray | None
) -> Features:
    """The columns that an encoder makes of one: rows of ``codes``, one for each category."""
    table = {_key(one): row for one, row in zip(categories.tolist(), codes, strict=True)}
    column, values = feature.column, feature.values
    if values is None:
        if not feature.is_untouched:
            raise ValueError(f"{column.name!r} is scaled before it is encoded; use rules_ of the last step.")
        column = _category(column.name, [one for one in table if one is not None], set(map(_key, rare)))
        values = np.asarray([*column.levels, *(column.pool or ())[:1]], dtype=object)
    rows = [_row(table, value, unseen) for value in values]
    gap = None if feature.unknown is None else _row(table, feature.unknown, unseen)
    if any(row is None for row in rows):
        raise ValueError(f"an encoder refuses what one before it makes of {column.name!r}.")
    made = np.asarray(rows, dtype=float).T
    gaps = [None] * len(made) if gap is None else gap.tolist()
    return [feature._replace(column=column, values=own, unknown=one) for own, one in zip(made, gaps, strict=True)]


def _category(name: str, levels: Sequence[Any], rare: set[Any]) -> Category:
    """The column that is encoded; a single rare level is itself."""
    pool = tuple(level for level in levels if level in rare)
    if len(pool) < 2:
        return Category(name, tuple(levels))
    return Category(name, tuple(level for level in levels if level not in rare), pool)


def _row(table: dict[Any, np.ndarray], value: Any, unseen: np.ndarray | None) -> np.ndarray | None:
    return table.get(_key(value), unseen)


def _imputed(step: SimpleImputer, features: Features) -> Features:
    if not is_missing(step.missing_values):
        raise ValueError(
            f"SimpleImputer takes {step.missing_values!r} for missing, which rules cannot; write NaN in the table "
            "instead."
        )
    kept = [
        _filled(feature, value)
        for feature, value in zip(features, step.statistics_, strict=True)
        if step.keep_empty_features or value == value
    ]
    return kept if step.indicator_ is None else kept + _indicated(step.indicator_, features)


def _filled(feature: Feature, value: Any) -> Feature:
    """A column with something in its gaps."""
    values = feature.values
    if values is not None:
        values = np.asarray([value if is_missing(one) else one for one in values])
    return feature._replace(values=values, unknown=value if is_missing(feature.unknown) else feature.unknown)


def _indicated(step: MissingIndicator, features: Features) -> Features:
    """Columns that say whether a cell is missing."""
    found = []
    for feature in (features[d] for d in step.features_):
        unknown = None if feature.unknown is None else float(is_missing(feature.unknown))
        if feature.values is None:
            found.append(feature._replace(factor=0.0, offset=0.0, unknown=unknown))
        else:
            gaps = np.asarray([float(is_missing(one)) for one in feature.values])
            found.append(feature._replace(values=gaps, unknown=unknown))
    return found


def _selected(step: SelectorMixin, features: Features) -> Features:
    return [features[d] for d in step.get_support(indices=True)]


def _by_column(step: ColumnTransformer, features: Features) -> Features:
    names = [str(name) for name in getattr(step, "feature_names_in_", default_names(len(features)))]
    found: dict[int, Feature] = {}
    for name, transformer, columns in step.transformers_:
        places = step.output_indices_[name]
        if places.stop == places.start or (isinstance(transformer, str) and transformer == "drop"):
            continue
        made = _after(transformer, [features[d] for d in _places(columns, names)])
        found |= dict(zip(range(places.start, places.stop), made, strict=True))
    return [found[k] for k in sorted(found)]


def _places(columns: Any, names: list[str]) -> Sequence[int]:
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
    MissingIndicator: _indicated,
    SelectorMixin: _selected,
    ColumnTransformer: _by_column,
    Pipeline: _nested,
    FunctionTransformer: _unchanged,
}
"""What each kind of step does to the columns it is given."""
