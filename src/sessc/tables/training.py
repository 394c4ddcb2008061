"""From a raw table to rules and how well they do on rows held out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..rules.base import RuleBase
from ..rules.columns import Column, Columns, code, listed, number_in
from ..rules.evaluation import Evaluation, measured
from ..rules.wording import count
from ..tsk.tuning import TSKClassifierCV, TSKRegressorCV
from .columns import codes, digits, kept_apart, learn, quoted, refuse_slips, remedy, slips
from .errors import ParameterError, TableError
from .reading import Table

__all__ = ["Trained", "train"]

FEW_VALUES = 20
"""A target of whole numbers with no more values than this is one of classes."""
UNEVEN = 2.0
"""Classes are worth a word if the largest has this many times the rows of the smallest."""


class Trained(NamedTuple):
    """What was learned from a table."""

    rules: RuleBase
    columns: Columns
    evaluations: dict[str, Evaluation]
    """Measures on the rows held out."""
    notes: tuple[str, ...]
    """How the table was read, for people."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """What there is to learn from, and on what to test it."""

    table: Table
    """The rows that have a target, without it."""
    y: np.ndarray
    is_number: bool
    numbers: list[int]
    """Which rows of the whole table they are, counted from 1."""
    train: np.ndarray
    test: np.ndarray
    notes: list[str]


def train(
    table: Table,
    target: str,
    *,
    task: str | None,
    n_rules: int | None,
    conditions: float | None,
    skip: Iterable[str],
    categorical: Iterable[str],
    class_weight: Any,
    held_out: float,
    random_state: Any,
    say: Callable[[str], Any],
    watch: Callable[[Any], Any],
) -> Trained:
    """Rules for a column of a table; :meth:`sessc.Model.fit` says what the parameters mean."""
    if target in {*skip, *categorical}:
        raise ValueError(f"{target!r} is the column to predict, so it can be neither skipped nor categorical.")
    lesson = _posed(table, target, task, class_weight, held_out, random_state)
    y, part, rest = lesson.y, lesson.train, lesson.test
    kind = "a number" if lesson.is_number else f"one of {len(set(y.tolist()))} classes"
    say(f"{len(y)} rows; {target} is {kind}.")
    columns, cells, notes = _read(lesson, skip, categorical)
    for note in notes:
        say(f"  {note}")
    X = columns.encode(cells)
    say(f"Learning from {len(part)} rows and {count(X.shape[1], 'feature')}; {len(rest)} rows are held out ...")
    estimator = _estimator(lesson.is_number, n_rules, conditions, class_weight, random_state)
    watch(estimator)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # folds can do without it
        estimator.fit(X[part], y[part])
    names = tuple(columns.features)
    rules = replace(estimator.rules_, feature_names=names, target_name=target, choices=columns.choices)
    evaluations = {"rules": rules.evaluate(X[rest], y[rest])} | _line(lesson, X, class_weight)
    return Trained(rules, columns, evaluations, tuple(notes))


def _posed(
    table: Table, target: str, task: str | None, class_weight: Any, held_out: float, random_state: Any
) -> Lesson:
    """The lesson that a table is."""
    _check(task, held_out, random_state)
    table, notes, numbers = _with_target(table, target)
    labels = table.pop(target)
    task = task or _task(labels, target, numbers)
    apart = kept_apart(target, labels, code) if task == "classes" else None
    y = _numbers(labels, target, numbers) if task == "number" else _classes(labels, bool(apart))
    notes += [apart] if apart else []
    try:
        part, rest = _split(y, task, held_out, random_state)
    except ValueError as error:
        raise ValueError("; ".join([str(error).rstrip("."), *notes]) + ".") from None
    notes += _unevenness(y, class_weight) if task == "classes" else []
    return Lesson(table, y, task == "number", numbers, part, rest, notes)


def _check(task: str | None, held_out: float, random_state: Any) -> None:
    """Refuse parameters that make no sense whatever the table is."""
    if task not in (None, "classes", "number"):
        raise ParameterError("task", f"must be 'classes', 'number' or None, got {task!r}")
    if isinstance(random_state, int) and random_state < 0:
        raise ParameterError("random_state", f"must be zero or more, got {random_state}")
    if not 0 < held_out < 1:
        raise ParameterError("held_out", f"must be a share of the rows between 0 and 1, got {held_out}")


def _with_target(table: Table, target: str) -> tuple[Table, list[str], list[int]]:
    """The rows that have a target, a note on those that have none, and the numbers of the rows that are left."""
    if target not in table:
        raise ValueError(f"there is no column {target!r} to predict; there are {', '.join(table)}.")
    kept = [k for k, cell in enumerate(table[target]) if cell is not None]
    if not kept:
        raise ValueError(f"column {target!r} is empty; fill in what is to be predicted, or name another column.")
    lost = len(table[target]) - len(kept)
    notes = [f"{count(lost, 'row')} without {target} {'are' if lost > 1 else 'is'} left out"] if lost else []
    return _taken(table, kept), notes, [k + 1 for k in kept]


def _taken(table: Table, rows: Sequence[int]) -> Table:
    """Some rows of a table, counted from 0."""
    return {name: [cells[k] for k in rows] for name, cells in table.items()}


def _task(labels: list[Any], target: str, rows: list[int]) -> str:
    """Numbers are a number to predict, unless they are codes or few and whole."""
    if kept_apart(target, labels, digits):
        return "classes"
    values = [number_in(label) for label in labels]
    whole = all(value is None or value.is_integer() for value in values)
    if whole and len({label if v is None else v for label, v in zip(labels, values, strict=True)}) <= FEW_VALUES:
        return "classes"
    if odd := slips(labels, rows):
        what = f"column {target!r} holds numbers, but {quoted(odd)}; {remedy(odd)}"
        raise TableError(what, ("task", "classes"), rest=" if these are names")
    return "classes" if None in values else "number"


def _numbers(labels: list[Any], target: str, rows: list[int]) -> np.ndarray:
    values = [number_in(label) for label in labels]
    if odd := [(row, label) for row, label, value in zip(rows, labels, values, strict=True) if value is None]:
        what = f"column {target!r} has cells that are no numbers, {quoted(odd)}"
        raise TableError(f"{what}; {remedy(odd)}", ("task", "number"), verb="leave out")
    return np.asarray(values, dtype=float)


def _classes(labels: list[Any], apart: bool) -> np.ndarray:
    """Whole numbers as such, unless their texts are to be kept apart; everything else as text."""
    values = [number_in(label) for label in labels]
    if apart or None in values:
        return np.asarray(labels)
    numbers = np.asarray(values, dtype=float)
    whole = np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.round(numbers))
    return numbers.astype(int) if whole else np.asarray(labels)


def _split(y: np.ndarray, task: str, held_out: float, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to test on, of every class some."""
    if task == "classes":
        counts = Counter(y.tolist())
        if len(counts) < 2:
            raise ValueError(f"every row is {y.tolist()[0]!r}; there must be at least two classes to tell apart.")
        rarest = min(counts, key=lambda label: counts[label])
        if counts[rarest] < 2:
            raise ValueError(f"the class {rarest!r} has one row only; it needs two to be learned and tested.")
    if len(y) < 10:
        raise ValueError(f"{len(y)} rows are too few to learn from and test on; ten are the least.")
    stratify = y if task == "classes" else None
    try:
        part, rest = train_test_split(
            np.arange(len(y)), test_size=held_out, stratify=stratify, random_state=random_state
        )
    except ValueError:
        what = f"holding out {held_out:g} of {len(y)} rows"
        raise ValueError(f"{what} leaves a class without rows; hold out more or less.") from None
    return part, rest


def _unevenness(y: np.ndarray, class_weight: Any) -> list[str]:
    """What it means that some classes are much rarer than others, if they are."""
    [(_, most), *_, (rarest, least)] = Counter(y.tolist()).most_common()
    if most < UNEVEN * least or class_weight not in (None, "balanced"):
        return []
    rare = f"{100 * least / len(y):.2g} % of the rows are {rarest}"
    if class_weight is None:
        return [f"{rare}; common classes weigh more, so these may never be the answer"]
    return [f"{rare}, but all classes weigh the same: probabilities are as if they were equally common"]


def _read(lesson: Lesson, skip: Iterable[str], categorical: Iterable[str]) -> tuple[Columns, Table, list[str]]:
    """The columns as the rows to learn from have them, the cells as those can be taken, and notes on both.

    Slips and codes are looked for in all rows: they are in the spelling of the table, and nothing that is learned.
    """
    table, part = lesson.table, sorted(lesson.train.tolist())
    refuse_slips(table, lesson.numbers, {*skip, *categorical})
    spelled = codes(table, {*skip, *categorical})
    numbers = [lesson.numbers[k] for k in part]
    texts = {*categorical, *spelled}
    columns, notes = learn(_taken(table, part), skip=skip, categorical=texts, rows=numbers)
    notes = [*spelled.values(), *notes]
    known = {column.name: _known(column, table[column.name]) for column in columns.each}
    unseen = [note for column in columns.each if (note := _unseen(column, table[column.name]))]
    return columns, table | known, [*lesson.notes, *notes, *columns.notes(table), *unseen]


def _known(column: Column, cells: Sequence[str | None]) -> list[str | None]:
    """The cells of a column, as if those were missing that rows to learn from do not have."""
    return [cell if cell is not None and column.knows(cell) else None for cell in cells]


def _unseen(column: Column, cells: Sequence[str | None]) -> str | None:
    odd = sorted({cell for cell in cells if cell is not None and not column.knows(cell)})
    verb = ("is", "counts") if len(odd) == 1 else ("are", "count")
    return (
        f"{column.name}: {listed(odd)} {verb[0]} only in rows held out, and {verb[1]} as missing" if odd else None
    )


def _estimator(
    is_number: bool, n_rules: int | None, conditions: float | None, class_weight: Any, random_state: Any
) -> Any:
    settings: dict[str, Any] = {
        "n_rules": "auto" if n_rules is None else n_rules,
        "conditions": conditions,
        "random_state": random_state,
    }
    if conditions is not None:
        settings["order"] = 0  # short rules conclude something short
    if is_number:
        return TSKRegressorCV(**settings)
    return TSKClassifierCV(class_weight=class_weight, **settings)


def _line(lesson: Lesson, X: np.ndarray, class_weight: Any) -> dict[str, Evaluation]:
    """How what every rule model should be compared with does on the rows held out."""
    y, part, rest = lesson.y, lesson.train, lesson.test
    if lesson.is_number:
        line = make_pipeline(StandardScaler(), Ridge(1e-6)).fit(X[part], y[part])
        return {"linear regression": measured(y[rest], line.predict(X[rest]), None, None)}
    line = make_pipeline(StandardScaler(), LogisticRegression(class_weight=class_weight, max_iter=10_000))
    line.fit(X[part], y[part])
    odds = line.predict_proba(X[rest])
    return {"logistic regression": measured(y[rest], line.predict(X[rest]), odds, line.classes_)}
