"""A model as it is shipped: rules, how raw tables become their features, and how well they did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..rules.base import RuleBase
from ..rules.evaluation import Evaluation
from ..rules.explanation import Explanation
from .columns import Columns, as_text, number

__all__ = ["Model", "only"]


@dataclass(frozen=True, eq=False)
class Model:
    """Rules with everything that is needed to use them on raw tables: what ``sessc fit`` writes.

    To change the rules of a file and keep what it says about columns, change them here and not in a
    :class:`RuleBase`, which knows features only:

    >>> import sessc
    >>> model = sessc.Model.load("patients.rules.json")  # doctest: +SKIP
    >>> changed = model.rules.with_condition(1, "age", about=60)  # doctest: +SKIP
    >>> model.with_rules(changed).save("changed.json")  # doctest: +SKIP

    ``sessc predict changed.json new.csv`` then takes the same raw table as before.
    """

    rules: RuleBase
    columns: Columns | None = None
    """How tables are read; None if rows are numbers already."""
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    """Measures on rows that were held out, by the name of what was measured."""

    def __post_init__(self) -> None:
        if self.columns is not None and tuple(self.columns.features) != self.rules.feature_names:
            raise ValueError(
                f"the columns give the features {', '.join(self.columns.features)}, "
                f"and the rules are about {', '.join(self.rules.feature_names)}."
            )

    @classmethod
    def load(cls, path: Any) -> Model:
        """Read a model from a file that ``save`` or ``sessc fit`` wrote. Reading never runs code."""
        from .files import load

        return load(path)

    def save(self, path: Any) -> None:
        """Write the model to a JSON file; see the page on files."""
        from .files import save

        save(self, path)

    def with_rules(self, rules: RuleBase) -> Model:
        """The model with other rules for the same columns, and without measures, which were of the rules before.

        Parameters
        ----------
        rules : RuleBase
            About the same features, such as ``model.rules`` changed by hand.

        Returns
        -------
        Model
        """
        return replace(self, rules=rules, evaluations={})

    def features(self, table: Any, first: int = 1) -> np.ndarray:
        """A raw table as the numbers that the rules are about; ``first`` is the number of its first row."""
        cells = as_text(table)
        return self.columns.encode(cells, first) if self.columns else _plain(cells, self.rules.feature_names)

    def predict(self, table: Any) -> np.ndarray:
        """The predicted class or value of each row of a raw table.

        Parameters
        ----------
        table : data frame or dict of columns
            With the columns of the table the model was fitted to, and perhaps others; cells may be missing.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.rules(self.features(table))

    def explain(self, table: Any, row: int) -> Explanation:
        """Why one row of a raw table, counted from 1, is answered as it is; other rows may be anything."""
        return self.rules.explain(self.features(only(as_text(table), row), row)[0])


def only(table: Mapping[str, Sequence[str | None]], row: int) -> dict[str, Sequence[str | None]]:
    """The table of one row of a table, counted from 1."""
    n_rows = len(next(iter(table.values()), ()))
    if not 1 <= row <= n_rows:
        raise ValueError(f"there is no row {row}; rows go from 1 to {n_rows}.")
    return {name: cells[row - 1 : row] for name, cells in table.items()}


def _plain(table: Mapping[str, Sequence[Any]], names: Sequence[str]) -> np.ndarray:
    if missing := [name for name in names if name not in table]:
        raise ValueError(f"the table has no column {missing[0]!r}; it has {', '.join(table)}.")
    for name in names:
        if None in table[name]:
            raise ValueError(f"column {name!r} has missing cells, and the model does not say what they count as.")
    values = [[number(cell) for cell in table[name]] for name in names]
    if any(None in column for column in values):
        raise ValueError("the model is about numbers, and the table has cells that are none.")
    return np.asarray(values, dtype=float).T
