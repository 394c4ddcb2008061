"""Rules about what a pipeline makes of a table, said about the columns of the table.

Every column inside is made of one column outside: a number times a factor, or something for each level of a
category. What conditions on all that is made of a column add is then a parabola in its number, or one addition for
each of its levels, which is what a rule can say; and so it is for conclusions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..rows.columns import Category, Column, Number
from ..rows.missing import is_missing
from .base import RuleBase
from .conditions import additions
from .summary import BINS, SHARES, Summary

__all__ = ["Feature", "in_units"]

NEAR = 1e-9
"""How much numbers may differ that only rounding made different."""
MEANS_NEAR = 4e-6
"""The same of means that gaps count as: refined rules know twenty bits of each, in units of a deviation."""
RIDGE = 1e-10


class Feature(NamedTuple):
    """What a column inside a pipeline is made of."""

    column: Column
    """The column of the table; a number as long as no encoder says otherwise."""
    place: int
    """Where that stands in the table."""
    factor: float = 1.0
    offset: float = 0.0
    """Of a number it is ``factor * number + offset``."""
    values: np.ndarray | None = None
    """What it is at each level of a category."""
    unknown: Any = np.nan
    """What it is where the cell is missing; None if the pipeline then has no answer."""

    @property
    def is_untouched(self) -> bool:
        return self.values is None and (self.factor, self.offset) == (1.0, 0.0)

    def scaled(self, factor: float, offset: float) -> Feature:
        """The feature behind a scaler."""
        unknown = None if self.unknown is None else self.unknown * factor + offset
        if self.values is not None:
            return self._replace(values=self.values * factor + offset, unknown=unknown)
        return self._replace(factor=self.factor * factor, offset=self.offset * factor + offset, unknown=unknown)


class Part(NamedTuple):
    """One of the columns inside that a column of the table is made into."""

    inside: int
    feature: Feature


class Said(NamedTuple):
    """What rules say of one column of a table, with D features, R rules and C outputs."""

    column: Column
    constants: np.ndarray
    """What conditions add whatever the cell is, (R,)."""
    linear: np.ndarray
    """(R, D)."""
    precisions: np.ndarray
    """(R, D) for a number and (R, 0) for a category."""
    unknown: np.ndarray
    """(R,)."""
    bases: np.ndarray
    """What conclusions add whatever the cell is, (R, C)."""
    slopes: np.ndarray
    """(R, D, C)."""
    fill: np.ndarray
    """(D,)."""
    mean: float = 0.0
    scale: float = 1.0
    limits: tuple[float, float] = (-np.inf, np.inf)
    quantiles: np.ndarray = np.zeros(len(SHARES))
    counts: np.ndarray = np.zeros(BINS)
    levels: np.ndarray = np.zeros(0)
    missing: float = 0.0


def in_units(rules: RuleBase, features: Sequence[Feature]) -> RuleBase:
    """Rules about these features, said about the columns of the table they are made of."""
    places = sorted({feature.place for feature in features})
    parts = [[Part(c, f) for c, f in enumerate(features) if f.place == place] for place in places]
    said = [_of_category(rules, own) if _is_category(rules, own) else _of_number(rules, own) for own in parts]
    numbers_first = sorted(said, key=lambda one: isinstance(one.column, Category))
    made: dict[str, Any] = {
        "constants": rules.constants + sum(one.constants for one in said),
        "linear": np.concatenate([one.linear for one in numbers_first], axis=1),
        "precisions": np.concatenate([one.precisions for one in numbers_first], axis=1),
        "unknown": np.stack([one.unknown for one in said], axis=1),
        "consequents": _consequents(rules, said, numbers_first),
        "fill": np.concatenate([one.fill for one in numbers_first]),
    }
    return replace(
        rules,
        **{name: part.astype(rules.linear.dtype) for name, part in made.items()},
        mean=np.asarray([one.mean for one in said]),
        scale=np.asarray([one.scale for one in said]),
        limits=None if rules.limits is None else np.asarray([one.limits for one in said]).T,
        columns=tuple(one.column for one in said),
        summary=rules.summary and _summary(rules.summary, said, parts),
    )


def _consequents(rules: RuleBase, said: Sequence[Said], numbers_first: Sequence[Said]) -> np.ndarray:
    if not rules.order:
        return rules.consequents
    constants = rules.consequents[:, 0] + sum(one.bases for one in said)
    return np.concatenate([constants[:, None], *(one.slopes for one in numbers_first)], axis=1)


def _summary(inside: Summary, said: Sequence[Said], parts: Sequence[Sequence[Part]]) -> Summary:
    return replace(
        inside,
        quantiles=np.stack([one.quantiles for one in said], axis=1),
        counts=np.stack([one.counts for one in said]),
        levels=tuple(one.levels for one in said),
        missing=np.asarray([one.missing for one in said]),
        reach=None if inside.reach is None else _reach(inside.reach, said, parts),
    )


def _reach(inside: np.ndarray, said: Sequence[Said], parts: Sequence[Sequence[Part]]) -> np.ndarray:
    """How far conditions reach, known where a column is made into one; less what they add in any case."""
    unknown = np.full(len(inside), np.inf)
    found = [
        inside[:, own[0].inside] - one.constants if len(own) == 1 else unknown
        for one, own in zip(said, parts, strict=True)
    ]
    return np.stack(found, axis=1)


def _is_category(rules: RuleBase, parts: Sequence[Part]) -> bool:
    return any(f.values is not None or isinstance(rules.columns[c], Category) for c, f in parts)


def _added(rules: RuleBase, inside: int, cells: Any) -> np.ndarray:
    """What conditions on a column inside add at some of its cells, (R, n)."""
    return np.stack([additions(rules, r, inside, cells) for r in range(rules.n_rules)])


def _concluded(rules: RuleBase, inside: int, cells: Any) -> np.ndarray:
    """What conclusions add at some cells of a column inside, (R, n, C)."""
    cells = np.asarray(cells, dtype=float)
    if not rules.order:
        return np.zeros((rules.n_rules, len(cells), rules.consequents.shape[2]))
    features = rules.layout.features_of(inside)
    if rules.layout.levels[inside]:
        spelled = (cells[:, None] == np.arange(len(features))).astype(float)
    else:
        held = cells if rules.limits is None else np.clip(cells, *rules.limits[:, inside])
        spelled = ((held - rules.mean[inside]) / rules.scale[inside])[:, None]
    spelled = np.where(np.isnan(cells)[:, None], rules.fill[features], spelled)
    return np.einsum("nd,rdc->rnc", spelled, rules.consequents[:, 1 + features])


def _of_number(rules: RuleBase, parts: Sequence[Part]) -> Said:
    """What rules say of a number: parabolas in one number add up to a parabola in it."""
    lead = next((part for part in parts if part.feature.factor), None)
    mean, scale = (0.0, 1.0) if lead is None else _units(rules, lead)
    nothing, unknown = np.zeros((rules.n_rules, 1)), _unknown(rules, parts, _added)[:, 0]
    bases = np.zeros((rules.n_rules, rules.consequents.shape[2]))
    column = Number(parts[0].feature.column.name, _is_date(rules, lead))
    said = Said(column, nothing[:, 0], nothing, nothing, unknown, bases, bases[:, None], np.zeros(1), mean, scale)
    for part in parts:
        said = _with_constant(rules, part, said) if not part.feature.factor else _with_line(rules, part, said)
    said = said._replace(unknown=said.unknown - said.constants)
    if lead is None:
        return said._replace(missing=_missing(rules, parts))
    _refuse_other_limits(rules, lead, parts)
    return _filled(rules, lead, parts, _seen(rules, lead, parts, said))


def _is_date(rules: RuleBase, lead: Part | None) -> bool:
    return lead is not None and rules.columns[lead.inside].is_date  # type: ignore[union-attr]


def _units(rules: RuleBase, part: Part) -> tuple[float, float]:
    """Origin and unit of a number of which a column inside is made."""
    c, f = part
    return float((rules.mean[c] - f.offset) / f.factor), float(rules.scale[c] / abs(f.factor))


def _with_constant(rules: RuleBase, part: Part, said: Said) -> Said:
    """With what is the same for all numbers, such as that the cell is not missing."""
    at = [part.feature.offset]
    return said._replace(
        constants=said.constants + _added(rules, part.inside, at)[:, 0],
        bases=said.bases + _concluded(rules, part.inside, at)[:, 0],
    )


def _with_line(rules: RuleBase, part: Part, said: Said) -> Said:
    """With ``l z - p z^2 / 2`` for ``z = a u + b``, where ``u`` are the units of the table."""
    c, f = part
    if _units(rules, part) == (said.mean, said.scale):
        a, b = float(np.sign(f.factor)), 0.0
    else:
        a = f.factor * said.scale / float(rules.scale[c])
        b = float((f.factor * said.mean + f.offset - rules.mean[c]) / rules.scale[c])
    [d] = rules.layout.features_of(c)
    linear, precision = rules.linear[:, d].astype(float), rules.precisions[:, d].astype(float)
    slopes = rules.consequents[:, 1 + d] if rules.order else np.zeros_like(said.bases)
    return said._replace(
        constants=said.constants + linear * b - 0.5 * precision * b * b,
        linear=said.linear + (a * (linear - precision * b))[:, None],
        precisions=said.precisions + (a * a * precision)[:, None],
        bases=said.bases + b * slopes,
        slopes=said.slopes + a * slopes[:, None],
    )


def _limits(rules: RuleBase, part: Part) -> np.ndarray:
    c, f = part
    ends = np.asarray([-np.inf, np.inf]) if rules.limits is None else rules.limits[:, c]
    return np.sort((ends - f.offset) / f.factor)


def _refuse_other_limits(rules: RuleBase, lead: Part, parts: Sequence[Part]) -> None:
    _, scale = _units(rules, lead)
    ends = [_limits(rules, part) for part in parts if part.feature.factor]
    if not all(np.allclose(end, ends[0], rtol=NEAR, atol=NEAR * scale) for end in ends):
        name = lead.feature.column.name
        raise ValueError(f"{name!r} goes in twice and is held at different limits; use rules_ of the last step.")


def _filled(rules: RuleBase, lead: Part, parts: Sequence[Part], said: Said) -> Said:
    """With the number that missing cells count as in conclusions, if there is one that all rules agree on."""
    c, f = lead
    [d] = rules.layout.features_of(c)
    inside = rules.fill[d] if is_missing(f.unknown) else (f.unknown - rules.mean[c]) / rules.scale[c]
    said = said._replace(fill=np.asarray([np.sign(f.factor) * inside]))
    needed = _unknown(rules, parts, _concluded)[:, 0] - said.bases
    near = MEANS_NEAR * (1 + np.abs(said.slopes).max() + np.abs(needed).max())
    if not np.allclose(said.slopes[:, 0] * said.fill, needed, rtol=MEANS_NEAR, atol=near):
        raise ValueError(
            f"linear conclusions depend on whether {said.column.name!r} is missing, which those about a table "
            "cannot; leave add_indicator out, or use rules_ of the last step."
        )
    return said


def _seen(rules: RuleBase, lead: Part, parts: Sequence[Part], said: Said) -> Said:
    """With what the data looked like."""
    c, f = lead
    low, high = _limits(rules, lead)
    said = said._replace(limits=(low, high))
    if rules.summary is None:
        return said
    along = slice(None, None, -1 if f.factor < 0 else 1)
    quantiles = (rules.summary.quantiles[:, c] - f.offset) / f.factor
    counts = rules.summary.counts[c]
    return said._replace(quantiles=quantiles[along], counts=counts[along], missing=_missing(rules, parts))


def _over(
    rules: RuleBase, parts: Sequence[Part], cells: Any, what: Callable[[RuleBase, int, Any], np.ndarray]
) -> np.ndarray:
    """What all parts add together, each at its own cells."""
    return np.sum([what(rules, part.inside, own) for part, own in zip(parts, cells, strict=True)], axis=0)


def _unknown(
    rules: RuleBase, parts: Sequence[Part], what: Callable[[RuleBase, int, Any], np.ndarray]
) -> np.ndarray:
    """What is added where the cell of the table is missing, over all parts."""
    return _over(rules, parts, [[_cell(rules, part, part.feature.unknown)] for part in parts], what)


def _cell(rules: RuleBase, part: Part, value: Any) -> float:
    """A value inside as a cell of its column."""
    column = rules.columns[part.inside]
    if is_missing(value):
        return np.nan
    return float(column.codes([value])[0]) if isinstance(column, Category) else float(value)


def _of_category(rules: RuleBase, parts: Sequence[Part]) -> Said:
    """What rules say of a category: an addition for each level."""
    column = _category(rules, parts)
    cells = np.stack([_at_levels(rules, part, column) for part in parts])
    asked = all(part.feature.unknown is not None for part in parts)
    gap = np.asarray([_cell(rules, part, part.feature.unknown) for part in parts]) if asked else None
    shares, missing = _shares(rules, parts, cells, gap)
    known = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
    adds, says = _over(rules, parts, cells, _added), _over(rules, parts, cells, _concluded)
    unknown = adds @ known if gap is None else _unknown(rules, parts, _added)[:, 0]
    top = adds.max(axis=1)
    said = Said(
        column,
        top,
        adds - top[:, None],
        np.zeros((rules.n_rules, 0)),
        unknown - top,
        np.zeros((rules.n_rules, rules.consequents.shape[2])),
        says,
        known,
        levels=shares,
        missing=missing,
    )
    return said if gap is None else _with_fill(rules, parts, cells, gap, said)


def _category(rules: RuleBase, parts: Sequence[Part]) -> Category:
    """The column of the table; a sentence if its parts do not agree on it."""
    name, found = parts[0].feature.column.name, []
    for c, f in parts:
        inside = rules.columns[c]
        if f.values is not None:
            found.append(f.column)
        elif isinstance(inside, Category) and f.is_untouched:
            found.append(replace(inside, name=name))
        elif f.factor:
            raise ValueError(f"{name!r} goes in as a number and as categories; use rules_ of the last step.")
    if any(one != found[0] for one in found):
        raise ValueError(f"{name!r} goes in twice, with different categories; use rules_ of the last step.")
    return found[0]  # type: ignore[return-value]


def _at_levels(rules: RuleBase, part: Part, column: Category) -> np.ndarray:
    """The cells inside at each level of the table."""
    values, inside = part.feature.values, rules.columns[part.inside]
    if values is not None:
        return inside.codes(values.tolist()) if isinstance(inside, Category) else values.astype(float)
    if isinstance(inside, Category):
        return np.arange(float(column.n_levels))
    return np.full(column.n_levels, part.feature.offset)


def _with_fill(rules: RuleBase, parts: Sequence[Part], cells: np.ndarray, gap: np.ndarray, said: Said) -> Said:
    """With what missing cells count as in conclusions: a level, or nothing, from which levels are measured."""
    if _is_passed(rules, parts, cells) and np.isnan(gap[0]):
        return said._replace(fill=rules.fill[rules.layout.features_of(parts[0].inside)])
    if not rules.order:
        return said
    same = np.flatnonzero(np.all(_alike(cells, gap[:, None]), axis=0))
    if len(same):
        return said._replace(fill=np.eye(cells.shape[1])[same[0]])
    bases = _unknown(rules, parts, _concluded)[:, 0]
    return said._replace(bases=bases, slopes=said.slopes - bases[:, None], fill=np.zeros(cells.shape[1]))


def _is_passed(rules: RuleBase, parts: Sequence[Part], cells: np.ndarray) -> bool:
    """Whether a category comes to the model as it is."""
    levels = rules.layout.levels[parts[0].inside]
    return len(parts) == 1 and np.array_equal(cells[0], np.arange(levels or -1))


def _alike(cells: np.ndarray, others: np.ndarray) -> np.ndarray:
    return (cells == others) | (np.isnan(cells) & np.isnan(others))


def _shares(
    rules: RuleBase, parts: Sequence[Part], cells: np.ndarray, gap: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """The share of the rows that have each level, and that lack the cell, as far as what is seen inside tells.

    A level is in one bin of each histogram inside, and the bins of all are known: linear equations in the shares.
    """
    n_levels = cells.shape[1]
    if rules.summary is None:
        return np.full(n_levels, 1 / n_levels), 0.0
    every = cells if gap is None else np.column_stack([cells, gap])
    equations = [_equations(rules, part, own) for part, own in zip(parts, every, strict=True)]
    left = np.concatenate([*(left for left, _ in equations), np.ones((1, every.shape[1]))])
    right = np.concatenate([*(right for _, right in equations), [1.0]])
    told = gap is not None and not np.any(np.all(left[:, :-1] == left[:, -1:], axis=0))
    left = left if told else left[:, :n_levels]
    # A trace of a ridge: levels that share every bin then share what is in it.
    found = np.linalg.solve(left.T @ left + RIDGE * np.eye(left.shape[1]), left.T @ right)
    found = np.where(found > NEAR, found, 0.0)
    found = found / found.sum() if found.sum() > 0 else np.full(len(found), 1 / len(found))
    return found[:n_levels], float(found[n_levels]) if told else 0.0


def _equations(rules: RuleBase, part: Part, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which cells are in each bin of a column inside, and the share of the rows there; the last bin is missing."""
    bins, shares = _histogram(rules, part.inside, cells)
    left = bins == np.arange(len(shares))[:, None]
    told = left.any(axis=1)
    return left[told].astype(float), shares[told]


def _histogram(rules: RuleBase, inside: int, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    summary = rules.summary
    assert summary is not None
    missing = float(summary.missing[inside])  # type: ignore[index]
    if rules.layout.levels[inside]:
        bins, shares = cells, np.asarray(summary.levels[inside], float)
    else:
        counts = summary.counts[inside]
        bins = _bins(summary, inside, np.nan_to_num(cells))
        shares = counts * ((1 - missing) / counts.sum() if counts.sum() > 0 else 0.0)
    return np.where(np.isnan(cells), len(shares), bins), np.append(shares, missing)


def _bins(summary: Summary, inside: int, cells: np.ndarray) -> np.ndarray:
    """The bins that cells are in; of two between which only rounding decides, the fuller one."""
    low, high = summary.low[inside], summary.high[inside]
    at = (cells - low) / (high - low if high > low else 1.0) * BINS
    below, above = (np.clip(np.floor(at + slack), 0, BINS - 1).astype(int) for slack in (-NEAR, NEAR))
    return np.where(summary.counts[inside][below] > summary.counts[inside][above], below, above)


def _missing(rules: RuleBase, parts: Sequence[Part]) -> float:
    """The share of the rows that lack a number."""
    if rules.summary is None:
        return 0.0
    found = 0.0
    for c, f in parts:
        if is_missing(f.unknown):
            found = max(found, float(rules.summary.missing[c]))  # type: ignore[index]
        elif not f.factor and f.unknown != f.offset:
            (known, gap), shares = _histogram(rules, c, np.asarray([f.offset, float(f.unknown)]))
            found = max(found, float(shares[int(gap)]) if gap != known else 0.0)
    return found
