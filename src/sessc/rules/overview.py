"""The whole model at a glance, computed from rows: see :mod:`sessc.rules.effects` for what the figures mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._array import softmax
from .base import Cells, RuleBase, filled, logits
from .conditions import additions, impacts, shown_range
from .effects import Effect, Effects
from .links import Softmax
from .summary import SHARES, weighted_quantiles

__all__ = ["CORRELATED", "Coefficient", "coefficients", "effects", "effects_of"]

CORRELATED = 0.5
"""Columns that go together more closely than this have their effects accumulated."""
ASKED_ROWS, CURVES, RULES = 500, 24, 6
"""Of more rows every second, third, ... is asked; so many columns have curves, and so many rules a share of their
own in each."""
STEPS = SHARES[::2]
"""At the quantiles of these shares the answer is asked for: every twentieth of the rows."""
MOST_NUMBERS = 2**20
"""Numbers that are computed with at a time."""
DIGITS = 12


def effects(rules: RuleBase, X: Any = None, sample_weight: Any = None) -> Effects:
    """Effects of columns on rows; see :meth:`RuleBase.effects`."""
    if X is not None:
        cells = np.asarray(rules.cells(X), float)
        weight = np.ones(len(cells)) if sample_weight is None else np.asarray(sample_weight, float)
        return effects_of(rules, cells, weight)
    if rules.summary is not None and rules.summary.effects is not None:
        return rules.summary.effects
    return _of_typical(rules)


def effects_of(
    rules: RuleBase, cells: np.ndarray, weight: np.ndarray, importances: np.ndarray | None = None
) -> Effects:
    """Effects on rows of cells (n, J), of which those without weight are not there."""
    there = np.flatnonzero(weight > 0)
    some = there[:: max(-(-len(there) // ASKED_ROWS), 1)]
    asked = _Asked.of(rules, np.asarray(cells[some], float), weight[some] / weight[some].sum())
    if importances is None:
        size = np.sqrt(asked.weight @ rules.slopes(Cells(asked.cells)))
        importances = size / (size.sum() or 1.0)
    used, order = rules.used, np.argsort(-importances, kind="stable")
    chosen = [int(j) for j in order if used[j]][:CURVES]
    partners = _partners(asked, chosen)
    curves = [_curve(asked, j, partners.get(j)) for j in chosen]
    return Effects(len(some), _short(asked.mean), importances, _drawable(curves))


def _of_typical(rules: RuleBase) -> Effects:
    """Where no rows are known, of one row: what it is answered if one of its cells changes."""
    asked = _Asked.of(rules, np.asarray(rules.typical, float)[None, :], np.ones(1))
    used, order = rules.used, np.argsort(-impacts(rules).sum(axis=0), kind="stable")
    curves = [_mean(asked, int(j), _asked_for(rules, int(j))) for j in order[used[order]][:CURVES]]
    return Effects(0, _short(asked.mean), None, _drawable(curves))


def _drawable(curves: list[Effect]) -> tuple[Effect, ...]:
    """Curves of columns that vary."""
    return tuple(one for one in curves if len(one.cells) > 1)


def _asked_for(rules: RuleBase, j: int) -> np.ndarray:
    """At which cells a typical row is asked."""
    n_levels, summary = rules.layout.levels[j], rules.summary
    if n_levels:
        known = np.arange(n_levels, dtype=float)
    elif summary is not None and len(np.unique(summary.quantiles[:, j])) > 1:
        known = np.unique(summary.quantiles[::2, j])
    else:
        known = np.linspace(*shown_range(rules, j), len(STEPS))
    return np.append(known, np.nan) if summary is not None and summary.share_missing(j) else known


class _Asked(NamedTuple):
    """Rows, and what rules make of them by themselves, to which a change of one column is then added."""

    rules: RuleBase
    cells: np.ndarray
    """(n, J)."""
    weight: np.ndarray
    """(n,), one in all."""
    levels: np.ndarray
    """The logarithms of how strongly rules fire, (R, n)."""
    features: np.ndarray
    """The rows spelled out, (n, D), zero where cells are missing."""
    says: np.ndarray
    """What each rule says by itself before the link, (n, R, C), or (1, R, C) if that is the same for all rows."""

    @classmethod
    def of(cls, rules: RuleBase, cells: np.ndarray, weight: np.ndarray) -> _Asked:
        seen = rules.seen(Cells(cells))
        says = np.asarray(rules.consequents[None, :, 0], float)
        if rules.order:
            says = says + np.tensordot(filled(seen, rules.fill), rules.consequents[:, 1:], (1, 1))
        return cls(rules, cells, weight, logits(seen, rules.conditions), seen.X, says)

    @property
    def mean(self) -> np.ndarray:
        """The mean answer, (C,)."""
        return np.asarray(self.weight @ self.with_cells(0, self.cells[None, :, 0])[1][0])

    def some(self, chosen: np.ndarray) -> _Asked:
        says = self.says[chosen] if len(self.says) > 1 else self.says
        rows = self.cells[chosen], self.weight[chosen], self.levels[:, chosen], self.features[chosen]
        return _Asked(self.rules, *rows, says)

    def with_cells(self, j: int, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How rules fire (R, b, n) and what is answered (b, n, C) with cells (b, n) or (b, 1) in a column."""
        rules, own = self.rules, self.cells[:, j]
        moved = np.stack([additions(rules, r, j, at) - additions(rules, r, j, own) for r in range(rules.n_rules)])
        F = softmax(self.levels[:, None, :] + moved, axis=0)
        outputs = np.einsum("rbn,nrc->bnc", F, np.broadcast_to(self.says, (len(own), *self.says.shape[1:])))
        if rules.order:
            slopes = rules.consequents[:, 1 + rules.layout.features_of(j)]
            moved = _spelled(rules, j, at) - _spelled(rules, j, own)
            outputs += np.einsum("bnd,bndc->bnc", moved, np.tensordot(F, slopes, (0, 0)))
        return F, rules.link(outputs.reshape(-1, outputs.shape[2])).reshape(outputs.shape)


def _spelled(rules: RuleBase, j: int, cells: np.ndarray) -> np.ndarray:
    """Cells of a column as the features that linear conclusions take, with one axis more."""
    features = rules.layout.features_of(j)
    if n_levels := rules.layout.levels[j]:
        known = np.asarray(cells[..., None] == np.arange(n_levels), float)
    else:
        limits = (-np.inf, np.inf) if rules.limits is None else rules.limits[:, j]
        known = ((np.clip(cells, *limits) - rules.mean[j]) / rules.scale[j])[..., None]
    return np.where(np.isnan(cells)[..., None], rules.fill[features], known)


def _curve(asked: _Asked, j: int, partner: tuple[int, float] | None) -> Effect:
    own, weight = asked.cells[:, j], asked.weight
    there = ~np.isnan(own)
    if n_levels := asked.rules.layout.levels[j]:
        known = np.arange(n_levels, dtype=float)
    else:
        known = np.unique(weighted_quantiles(own[:, None], weight, STEPS)) if there.any() else own[:0]
    gap = known[:0] if there.all() else np.asarray([np.nan])
    if partner is None or len(known) < 2:
        return _mean(asked, j, np.append(known, gap))
    shares, answers, accumulated = _local(asked.some(there), j, known)
    accumulated += asked.mean
    if gap.size:
        of_gap = (*_means(asked.some(~there), j, gap), _means(asked, j, gap)[1])
        both = zip((shares, answers, accumulated), of_gap, strict=True)
        shares, answers, accumulated = (np.concatenate(parts) for parts in both)
    return _told(j, np.append(known, gap), answers, shares, *partner, accumulated)


def _mean(asked: _Asked, j: int, cells: np.ndarray) -> Effect:
    """The mean answer if every row had each of these cells."""
    each = (asked.rules.n_rules + asked.says.shape[2] * len(asked.rules.layout.features_of(j))) * len(asked.cells)
    step = max(MOST_NUMBERS // each, 1)
    parts = [_means(asked, j, cells[k : k + step]) for k in range(0, len(cells), step)]
    shares, answers = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return _told(j, cells, answers, shares)


def _means(asked: _Asked, j: int, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much rules count (G, R) and what is answered (G, C) if every row has each of these cells."""
    firing, answers = asked.with_cells(j, cells[:, None])
    weight = asked.weight / asked.weight.sum()
    return (firing @ weight).T, np.moveaxis(answers, 1, 2) @ weight


def _local(asked: _Asked, j: int, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the rows about each number: shares of rules (G, R), mean answers, and accumulated effects (G, C).

    A row lies above one end and not above the next, and is asked what it is answered at both. Accumulated effects
    are zero on average.
    """
    # The last end is no maximum if rows beyond it weigh next to nothing.
    part = np.minimum(np.searchsorted(ends[1:], asked.cells[:, j]), len(ends) - 2)
    into = (part == np.arange(len(ends) - 1)[:, None]) * asked.weight
    mass = into.sum(axis=1)[:, None]
    firing, answers = asked.with_cells(j, ends[[part, part + 1]])
    below, above = (into @ np.concatenate([firing[:, k].T, answers[k]], axis=1) for k in (0, 1))
    nothing, n_rules = np.zeros_like(below[:1]), len(firing)
    about = np.concatenate([below, nothing]) + np.concatenate([nothing, above])
    about /= np.concatenate([mass, [[0.0]]]) + np.concatenate([[[0.0]], mass])
    steps = np.cumsum((above - below)[:, n_rules:] / mass, axis=0)
    height = np.concatenate([np.zeros_like(steps[:1]), steps])
    height -= (mass * (height[1:] + height[:-1])).sum(axis=0) / (2 * mass.sum())
    return about[:, :n_rules], about[:, n_rules:], height


def _told(
    j: int,
    cells: np.ndarray,
    answers: np.ndarray,
    shares: np.ndarray,
    partner: int | None = None,
    correlation: float = 0.0,
    accumulated: np.ndarray | None = None,
) -> Effect:
    """An effect with the rules that count most somewhere along it."""
    chosen = np.sort(np.argsort(-shares.max(axis=0, initial=0.0), kind="stable")[:RULES])
    alone = None if accumulated is None else _short(accumulated)
    return Effect(j, cells, _short(answers), chosen, _short(shares[:, chosen]), partner, correlation, alone)


def _short(values: np.ndarray) -> np.ndarray:
    """Numbers to twelve digits, so that files of them are short."""
    flat = [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, float).ravel().tolist()]
    return np.asarray(flat).reshape(np.shape(values))


def _partners(asked: _Asked, chosen: list[int]) -> dict[int, tuple[int, float]]:
    """For numbers among some columns that go together with another one: with which, and how closely."""
    found, used = {}, asked.rules.used
    for j, close in _closeness(asked, [j for j in chosen if not asked.rules.layout.levels[j]]):
        close = np.where(used, close, 0.0)
        close[j] = 0.0
        if (best := int(np.argmax(close))) != j and close[best] >= CORRELATED:
            found[j] = best, float(_short(close[best]))
    return found


def _closeness(asked: _Asked, numbers: list[int]) -> Iterator[tuple[int, np.ndarray]]:
    """How closely each number goes together with every column, (J,): by correlation, or by what levels explain."""
    layout, weight, tiny = asked.rules.layout, asked.weight, np.finfo(float).tiny
    there = ~np.isnan(asked.cells)[:, layout.group]
    mass = weight[:, None] * there
    values = (asked.features - (mass * asked.features).sum(axis=0) / np.maximum(mass.sum(axis=0), tiny)) * there
    spread = weight @ values**2
    # An indicator less its mean is above zero where the level is.
    unit = np.where(np.arange(len(spread)) < layout.n_numbers, spread, weight @ (values > 0))
    for j in numbers:
        [d] = layout.features_of(j)
        explained = ((weight * values[:, d]) @ values) ** 2 / np.maximum(spread[d] * unit, tiny)
        yield j, np.sqrt(np.minimum(explained @ layout.onto_columns, 1.0))


class Coefficient(NamedTuple):
    """What a rule that always holds makes of one column, or of one level of it."""

    column: int
    level: int | None
    """The code of a level; None for a number."""
    adds: np.ndarray
    """What one standard deviation more adds to each output, or this level beside an average one, (C,)."""


def coefficients(rules: RuleBase) -> list[Coefficient]:
    """Those of a single linear rule, columns that move its answer most first; none of other rules.

    To classes they add scores, of which only differences matter: on average over classes they add nothing.
    """
    if rules.n_rules > 1 or not rules.order:
        return []
    slopes = np.asarray(rules.consequents[0, 1:], float)
    if rules.classes is not None and isinstance(rules.link, Softmax):
        slopes = slopes - slopes.mean(axis=1, keepdims=True)
    found = [_of_column(rules, j, slopes[rules.layout.features_of(j)]) for j in range(rules.n_features)]
    return [one for _, group in sorted(found, key=lambda pair: -pair[0]) for one in group]


def _of_column(rules: RuleBase, j: int, slopes: np.ndarray) -> tuple[float, list[Coefficient]]:
    """How far a column moves the answer, and its coefficients, the largest first; none if it moves nothing."""
    if not np.any(slopes):
        return 0.0, []
    if not rules.layout.levels[j]:
        return float(np.abs(slopes).max()), [Coefficient(j, None, slopes[0])]
    shares = rules.fill[rules.layout.features_of(j)]
    adds = slopes - shares @ slopes
    order = np.argsort(-np.abs(adds).max(axis=1), kind="stable")
    far = float(np.sqrt(shares @ adds**2).max())
    return far, [Coefficient(j, int(k), adds[k]) for k in order]
