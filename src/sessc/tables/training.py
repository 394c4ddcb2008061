"""From a raw table to rules and how well they do on rows held out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ..rows.columns import Column, raw_columns, settle_columns, tally
from ..rules.base import RuleBase
from ..rules.evaluation import Evaluation, measured
from ..rules.wording import count
from ..tsk.recipe import UselessModelWarning
from ..tsk.tuning import TSKClassifierCV, TSKRegressorCV
from .cells import code, listed, number_in
from .columns import Columns, codes, digits, kept_apart, learn, quoted, refuse_slips, remedy, slips, typed, unseen
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
    columns, notes = _read(lesson, skip, categorical)
    for note in notes:
        say(f"  {note}")
    n_columns = count(len(columns), "column")
    say(f"Learning from {len(part)} rows and {n_columns}; {len(rest)} rows are held out ...")
    estimator = _estimator(lesson.is_number, n_rules, conditions, class_weight, random_state)
    watch(estimator)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # folds can do without it
        warnings.simplefilter("ignore", UselessModelWarning)  # rows held out will tell
        estimator.fit(_rows(columns, part), y[part])
    rules = replace(estimator.rules_, target_name=target)
    evaluations = {"rules": rules.evaluate(_rows(columns, rest), y[rest])}
    return Trained(rules, evaluations | _line(lesson, rules, columns, class_weight), tuple(notes))


def _rows(columns: Columns, rows: np.ndarray) -> Columns:
    return {name: cells[rows] for name, cells in columns.items()}


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


def _read(lesson: Lesson, skip: Iterable[str], categorical: Iterable[str]) -> tuple[Columns, list[str]]:
    """The columns, of the kinds that they are in the rows to learn from, and notes on them.

    Slips and codes are looked for in all rows: they are in the spelling of the table, and nothing that is learned.
    """
    table, part = lesson.table, sorted(lesson.train.tolist())
    refuse_slips(table, lesson.numbers, {*skip, *categorical})
    spelled = codes(table, {*skip, *categorical})
    known, numbers = _taken(table, part), [lesson.numbers[k] for k in part]
    kinds, notes = learn(known, skip=skip, categorical=categorical, spelled=spelled, rows=numbers)
    for column in settle_columns(list(kinds), tally(raw_columns(typed(known, kinds)), None)):
        notes[column.name] += _notes(column, table[column.name], known[column.name])
    return typed(table, kinds), [*lesson.notes, *(note for each in notes.values() for note in each)]


def _notes(column: Column, cells: Sequence[str | None], known: Sequence[str | None]) -> list[str]:
    """How many cells are missing, and which only rows have that nothing is learned from."""
    absent, odd = sum(cell is None for cell in cells), sorted(unseen(column, cells).keys() - set(known))
    found = [f"{column.name}: {count(absent, 'missing cell')}"] if absent else []
    verb = ("is", "counts") if len(odd) == 1 else ("are", "count")
    only = f"{column.name}: {listed(odd)} {verb[0]} only in rows held out, and {verb[1]} as missing"
    return [*found, only] if odd else found


def _estimator(
    is_number: bool, n_rules: int | None, conditions: float | None, class_weight: Any, random_state: Any
) -> Any:
    settings: dict[str, Any] = {
        "n_rules": "auto" if n_rules is None else n_rules,
        "conditions": "auto" if conditions is None else conditions,
        "random_state": random_state,
    }
    if conditions is not None:
        settings["order"] = 0  # short rules conclude something short
    if is_number:
        return TSKRegressorCV(**settings)
    return TSKClassifierCV(class_weight=class_weight, **settings)


def _line(lesson: Lesson, rules: RuleBase, columns: Columns, class_weight: Any) -> dict[str, Evaluation]:
    """How what every rule model should be compared with does on the rows held out."""
    X, y, part, rest = rules.cells(columns), lesson.y, lesson.train, lesson.test
    prepared = _prepared(rules)
    if lesson.is_number:
        line = make_pipeline(*prepared, Ridge(1e-6)).fit(X[part], y[part])
        return {"linear regression": measured(y[rest], line.predict(X[rest]), None, None)}
    line = make_pipeline(*prepared, LogisticRegression(class_weight=class_weight, max_iter=10_000))
    line.fit(X[part], y[part])
    given = line.predict_proba(X[rest])[np.arange(len(rest)), np.searchsorted(line.classes_, y[rest])]
    return {"logistic regression": measured(y[rest], line.predict(X[rest]), given, line.classes_)}


def _prepared(rules: RuleBase) -> tuple[Any, Any]:
    """What a line needs of cells: medians in the gaps of numbers, and a column for each level."""
    is_number = np.asarray(rules.layout.levels) == 0
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    filled = SimpleImputer(strategy="median")
    return make_column_transformer((filled, is_number), (levels, ~is_number)), StandardScaler()
