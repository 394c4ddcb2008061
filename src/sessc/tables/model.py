"""A model as it is shipped: rules for raw tables, and how well they did."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..rules.base import RuleBase
from ..rules.evaluation import Evaluation
from ..rules.explanation import Explanation
from .columns import asked, settled
from .files import load, save
from .holding import Holding
from .judging import evaluate_table, prior_of
from .large import large_table
from .reading import MISSING, only, table_of, unheard
from .streaming import posed_large
from .training import Pose, posed, train

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Model"]


@dataclass(frozen=True, eq=False)
class Model:
    """Rules that take raw tables, as files have them, with how well they did: what ``sessc fit`` writes.

    A raw table is one of texts: a file, a data frame or a dict of columns. Only columns that the rules use need to
    be there, in any order; others are ignored. A cell that is empty, or a text that the rules have never seen in
    a category, is unknown to them.

    Parameters
    ----------
    rules : RuleBase
    evaluations : dict of Evaluation
        Measures on rows that were held out, by the name of what was measured.
    notes : tuple of str
        What was made of the table the model was fitted to, for people; not part of its file.
    missing : tuple of str
        Texts that stand for a missing cell in raw tables, in any case, beside empty ones.
    """

    rules: RuleBase
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = MISSING

    @classmethod
    def fit(
        cls,
        table: Any,
        target: str,
        *,
        task: str | None = None,
        n_rules: int | None = None,
        conditions: float | None = None,
        skip: Iterable[str] = (),
        categorical: Iterable[str] = (),
        missing: Iterable[str] = MISSING,
        class_weight: Any = "balanced",
        held_out: float = 0.25,
        weight: str | None = None,
        group: str | None = None,
        by: str | None = None,
        after: Any = None,
        test: Any = None,
        prior: Any = None,
        positive: Any = None,
        threshold: float | None = None,
        minutes: float | None = None,
        random_state: Any = 0,
        say: Callable[[str], Any] = unheard,
        watch: Callable[[Any], Any] = unheard,
    ) -> Model:
        """Learn rules from a raw table, as ``sessc fit`` does.

        Everything is learned from the same rows: what columns are, which categories are rare, what missing cells
        count as, and the rules. The others are held out, and ``evaluations`` is about those alone, with a linear
        model to compare with. A category that only they have counts there as missing.

        A Parquet file of more than ten million cells, or a folder of them, may be larger than memory: rules are
        learned from it block by block. Rows are held out by a hash of their number or group, what columns are is
        judged by some of the rows, and measures are those of 100,000 rows held out, if there are more.

        Parameters
        ----------
        table : data frame, dict of columns, or path of a CSV, TSV or Parquet file, or of a folder of the last
            Numbers, dates such as 2020-01-31, categories and missing cells.
        target : str
            The column to predict. Rows without it are left out.
        task : {"classes", "number"}, optional
            What the target is; by default text and few whole numbers are classes.
        n_rules : int, optional
            By default order and number of the rules are chosen by cross-validation.
        conditions : float, optional
            Short rules, of so many conditions on average.
        skip : names of columns
            To be left out.
        categorical : names of columns
            Of numbers that are only names, such as postcodes, or of many texts: rare ones count as one.
        missing : texts
            That stand for a missing cell, in any case, instead of NA, N/A, NaN, NaT, <NA>, null, ? and (missing).
            An empty cell is always missing, and so are ., -, -- and none where all other cells of a column that is
            not called categorical are numbers or dates. The model remembers them.
        class_weight : "balanced", dict or None, default="balanced"
            By default all classes weigh the same; with None common ones weigh more.
        held_out : float, default=0.25
            Share of the rows to test on.
        weight : name of a column, optional
            How much each row counts, in learning and in testing.
        group : name of a column, optional
            Of rows that belong together, such as visits of one patient. They are learned from or held out
            together, and intervals are about groups.
        by, after : name of a column, and a date or a number, optional
            Hold out the rows that have this value or a later one, and learn from those before.
        test : table, optional
            Rows to test on, in a table of their own; none are held out then.
        prior : "data" or dict of a share for each class, optional
            Give probabilities for classes that are as common as this, as ``RuleBase.with_prior`` does; by default
            as common as ``class_weight`` makes them.
        positive, threshold
            The class that is looked for and from which probability on; see :func:`sessc.evaluate`.
        minutes : float, optional
            After so long nothing else is tried, and the best so far is taken. Another run may get further, so that
            the result need not be the same; ``notes`` says what was left out.
        random_state : int, default=0
            Of the random choices: which rows are held out, and where learning starts.
        say : function, optional
            Hears, sentence by sentence, what is made of the table.
        watch : function, optional
            Is given the estimator before it is fitted, for instance to set callbacks.

        Returns
        -------
        Model
        """
        heard: list[str] = []

        def hear(note: str) -> None:
            heard.append(note)
            say(f"{table}: {note}." if isinstance(table, str | os.PathLike) else f"{note}.")

        missing, sure = _names(missing), {*_names(skip), *_names(categorical), *[target] * (task == "classes")}
        pose: Pose
        if (whole := large_table(table)) is not None:
            pose = partial(posed_large, whole, missing, sure, hear)
        else:
            pose = partial(posed, settled(table_of(table, hear, missing), hear, sure))
        rows = Holding(held_out, weight, group, by, after, test is not None)
        found = train(
            pose,
            target,
            task=task,
            n_rules=n_rules,
            conditions=conditions,
            skip=_names(skip),
            categorical=_names(categorical),
            class_weight=class_weight,
            holding=rows,
            test=None if test is None else table_of(test, unheard, missing),
            prior=prior,
            positive=positive,
            threshold=threshold,
            minutes=minutes,
            random_state=random_state,
            say=say,
            watch=watch,
        )
        return cls(found.rules, found.evaluations, (*heard, *found.notes), missing)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Model:
        """Read a model from a file that ``save`` or ``sessc fit`` wrote. Reading never runs code."""
        found = load(path)
        return cls(found.rules, found.evaluations, missing=MISSING if found.missing is None else found.missing)

    def save(self, path: str | os.PathLike) -> None:
        """Write the model to a JSON file, which people can read."""
        save(self.rules, path, self.evaluations, self.missing)

    def __repr__(self) -> str:
        measured = f", measured as {', '.join(self.evaluations)}" if self.evaluations else ""
        return f"<Model: {self.rules!r}{measured}>"

    def __str__(self) -> str:
        return str(self.rules)

    @property
    def used(self) -> list[str]:
        """The columns that the rules use, which a table to be answered for must have."""
        return [name for name, one in zip(self.rules.feature_names, self.rules.used, strict=True) if one]

    def read(
        self, table: Any, say: Callable[[str], Any] = unheard, wanted: Iterable[str] | None = None
    ) -> dict[str, list[str | None]]:
        """A raw table as text cells, read as the one that the model learned from was.

        Parameters
        ----------
        table : data frame, dict of columns, or path
        say : function, optional
            Hears, sentence by sentence, what was not taken as it stands.
        wanted : names of columns, optional
            All that is needed: of a Parquet file that has them no others are read.

        Returns
        -------
        dict of lists of n_rows texts
            None where a cell is missing.
        """
        return table_of(table, say, self.missing, wanted)

    def with_rules(self, rules: RuleBase) -> Model:
        """The model with other rules, and without measures, which were of the rules before.

        Parameters
        ----------
        rules : RuleBase
            Such as ``model.rules`` changed by hand.

        Returns
        -------
        Model
        """
        return replace(self, rules=rules, evaluations={})

    def with_prior(self, prior: Any = "data") -> Model:
        """The model with probabilities for classes that are as common as this; see ``RuleBase.with_prior``."""
        return self.with_rules(self.rules.with_prior(prior_of(self.rules.classes, prior)))

    def evaluate(
        self, table: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, **asked: Any
    ) -> Evaluation:
        """How well the model does on a raw table; ``print`` what this returns.

        Parameters
        ----------
        table : data frame, dict of columns, or path
            As for ``predict``, of rows that the model did not learn from.
        y : array of shape (n_rows,), optional
            What is true of them; by default in the table's own column, and rows without it are left out.
        sample_weight, groups : name of a column, or array of shape (n_rows,), optional
        asked
            Whatever else :func:`sessc.evaluate` takes.

        Returns
        -------
        Evaluation
        """
        return evaluate_table(self.rules, self.read(table), y, sample_weight, groups=groups, **asked)

    def features(self, table: Any, first: int = 1) -> dict[str, np.ndarray]:
        """A raw table as the columns that the rules are about, of the kinds they know: what ``rules`` take.

        Parameters
        ----------
        table : data frame, dict of columns, or path
            As for ``predict``.
        first : int, default=1
            The number of its first row, for complaints.

        Returns
        -------
        dict of arrays of shape (n_rows,)
            Numbers, moments, or levels, with NaN, NaT or None where a cell is missing.
        """
        return asked(self.read(table, wanted=self.used), self.rules.columns, self.rules.used, first)

    def predict(self, table: Any) -> np.ndarray:
        """The predicted class or value of each row of a raw table.

        Parameters
        ----------
        table : data frame, dict of columns, or path
            With the columns that the rules use, and perhaps others; cells may be missing.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.rules(self.features(table))

    def predict_proba(self, table: Any) -> np.ndarray:
        """The probability of each class, in the order of ``rules.classes``, for each row of a raw table.

        Parameters
        ----------
        table : data frame, dict of columns, or path
            As for ``predict``.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        if self.rules.classes is None:
            raise ValueError("the model predicts a number, and numbers have no probabilities; use predict.")
        return self.rules.probabilities(self.features(table))

    def explain(self, table: Any, row: int | None = None) -> Explanation:
        """Why one row of a raw table is answered as it is; other rows may be anything.

        Parameters
        ----------
        table : data frame, dict of columns, or path; or one row, as a Series or a dict of cells
        row : int, optional
            Counted from 1; of a table of one row it need not be said.

        Returns
        -------
        Explanation
        """
        read = self.read(_as_table(table))
        n_rows = len(next(iter(read.values()), ()))
        if row is None and n_rows != 1:
            raise ValueError(f"the table has {n_rows} rows; say with row, counted from 1, which to explain.")
        row = 1 if row is None else row
        cells = self.features(only(read, row), row)
        return self.rules.explain({name: column[0] for name, column in cells.items()})

    def to_html(
        self, path: str | os.PathLike | None = None, *, title: str | None = None, examples: Any = None
    ) -> str:
        """The model as a web page, with its measures on rows held out; :meth:`RuleBase.to_html` says more.

        Parameters
        ----------
        path : path, optional
            Where to write the page.
        title : str, optional
        examples : data frame, dict of columns, or path, optional
            A raw table, as for ``predict``, of rows to start from on the page. They are in the file for everyone
            to see, so none are by default.

        Returns
        -------
        str
            The page.
        """
        rows = None if examples is None else self.features(examples)
        return self.rules.to_html(path, title=title, evaluations=self.evaluations, examples=rows)

    def to_onnx(self) -> ModelProto:
        """The model as an ONNX model of raw columns, as :meth:`RuleBase.to_onnx` makes it.

        Returns
        -------
        onnx.ModelProto
            Write it with ``onnx.save(model, path)``.
        """
        return self.rules.to_onnx()


def _names(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _as_table(given: Any) -> Any:
    """One row, as a Series or a dict of cells, as a table; a table as it is."""
    is_row = getattr(given, "ndim", 0) == 1 and hasattr(given, "keys")
    is_cells = isinstance(given, Mapping) and not any(np.ndim(cell) for cell in given.values())
    return {str(name): [given[name]] for name in given.keys()} if is_row or is_cells else given  # noqa: SIM118
