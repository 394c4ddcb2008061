"""Rules about the columns of one table, as they apply to another that has other levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..rows.columns import Category, Column
from .base import RuleBase
from .conditions import asks

__all__ = ["recoded"]


def recoded(rules: RuleBase, columns: Sequence[Column]) -> RuleBase:
    """The rules about columns that have these levels.

    A level that the rules do not know adds what they say of others, and if they say nothing of these, what a
    missing cell adds. A column that no rule asks about may be anything. Conclusions lose their slopes.
    """
    if tuple(column.n_levels for column in columns) == rules.layout.levels and tuple(columns) == rules.columns:
        return rules
    numbers, levels, scale = [], [], np.ones(len(columns))
    for j, column in enumerate(columns):
        if isinstance(column, Category):
            levels.append(_levels(rules, j, column))
        else:
            numbers.append(_number(rules, j, column))
            scale[j] = 1.0 if rules.layout.levels[j] else rules.scale[j]
    linear = np.concatenate([*(part[:, :1] for part in numbers), *levels], axis=1)
    precisions = np.concatenate([np.zeros((rules.n_rules, 0)), *(part[:, 1:] for part in numbers)], axis=1)
    fill = [np.zeros(len(numbers)), *(np.full(part.shape[1], 1 / part.shape[1]) for part in levels)]
    return replace(
        rules,
        linear=linear,
        precisions=precisions,
        columns=tuple(columns),
        scale=scale,
        fill=np.concatenate(fill),
        consequents=rules.consequents[:, :1],
        summary=None,
    )


def _number(rules: RuleBase, j: int, column: Column) -> np.ndarray:
    """What a column adds to rules along a number and along its square, (R, 2)."""
    if rules.layout.levels[j]:
        _refuse_conditions(rules, j, f"{column.name!r} holds numbers, and the rules ask for its levels")
        return np.zeros((rules.n_rules, 2))
    [d] = rules.layout.features_of(j)
    return np.stack([rules.linear[:, d], rules.precisions[:, d]], axis=1)


def _levels(rules: RuleBase, j: int, column: Category) -> np.ndarray:
    """What each level adds to rules, (R, levels)."""
    known = rules.columns[j]
    if not isinstance(known, Category):
        _refuse_conditions(rules, j, f"{column.name!r} holds categories, and the rules ask for numbers")
        return np.zeros((rules.n_rules, column.n_levels))
    adds = rules.linear[:, rules.layout.features_of(j)]
    others = rules.unknown[:, j : j + 1] if known.pool is None else adds[:, -1:]
    codes = known.codes(column.levels)
    codes = np.append(codes, np.nan)[: column.n_levels]  # what is pooled in the table is other than those named
    return np.concatenate([adds, others], axis=1)[:, np.where(np.isnan(codes), adds.shape[1], codes).astype(int)]


def _refuse_conditions(rules: RuleBase, j: int, why: str) -> None:
    if any(asks(rules, r, j) for r in range(rules.n_rules)):
        raise ValueError(f"{why}; write the rules about what the table has.")
