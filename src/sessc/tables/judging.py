"""Rules and raw tables with the answers in them: how well rules do there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules.base import RuleBase
from ..rules.evaluation import Evaluation, evaluate
from .cells import number_in
from .columns import asked
from .holding import column_of, groups_in, weights_in
from .reading import Table

__all__ = ["evaluate_table", "label_of", "prior_of"]


def evaluate_table(
    rules: RuleBase, table: Table, y: Any = None, sample_weight: Any = None, *, groups: Any = None, **settings: Any
) -> Evaluation:
    """How well rules do on a raw table; weights and groups may be columns of it, and so are answers by default."""
    n_rows = len(next(iter(table.values()), ()))
    numbers = list(range(1, n_rows + 1))
    if isinstance(sample_weight, str):
        sample_weight = weights_in(column_of(table, sample_weight), sample_weight, numbers)
    if isinstance(groups, str):
        groups = groups_in(column_of(table, groups))
    y, kept = _truths(rules, table) if y is None else (np.asarray(y), np.ones(n_rows, bool))
    X = {name: cells[kept] for name, cells in asked(table, rules.columns, rules.used).items()}
    weight, together = (None if one is None else np.asarray(one)[kept] for one in (sample_weight, groups))
    settings["positive"] = label_of(rules.classes, settings.get("positive"))
    settings["prior"] = prior_of(rules.classes, settings.get("prior"))
    return evaluate(rules, X, y, weight, groups=together, **settings)


def _truths(rules: RuleBase, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """What is true of the rows that have an answer, and which these are."""
    cells = column_of(table, rules.target_name)
    kept = np.asarray([cell is not None for cell in cells])
    if not kept.any():
        raise ValueError(f"column {rules.target_name!r} is empty, so answers can be compared with nothing.")
    if rules.classes is not None:
        return np.asarray([label_of(rules.classes, cell) for cell in cells if cell is not None], object), kept
    values = [None if cell is None else number_in(cell) for cell in cells]
    for row, (cell, value) in enumerate(zip(cells, values, strict=True), 1):
        if cell is not None and value is None:
            raise ValueError(f"row {row} has {cell!r} in column {rules.target_name!r}; answers are numbers.")
    return np.asarray([value for value in values if value is not None], float), kept


def label_of(classes: np.ndarray | None, cell: Any) -> Any:
    """The class that a cell names, or the cell itself if it names none."""
    for label in () if classes is None else classes.tolist():
        if label == cell or str(label) == cell:
            return label
        if not isinstance(label, str) and isinstance(cell, str) and number_in(cell) == label:
            return label
    return cell


def prior_of(classes: np.ndarray | None, given: Any) -> Any:
    """What was said of how common classes are, which texts may name."""
    return {label_of(classes, key): share for key, share in given.items()} if isinstance(given, dict) else given
