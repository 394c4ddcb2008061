"""From a raw table to a model that is ready to ship, as the command line does it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..report.text import _count
from ..rules.evaluation import measured
from ..tsk.tuning import TSKClassifierCV, TSKRegressorCV
from .columns import Columns, Number, Table, code, digits, kept_apart, learn, number, quoted, remedy, slips
from .model import Model

__all__ = ["train"]

FEW_VALUES = 20
"""A target of whole numbers with no more values than this is one of classes."""
UNEVEN = 2.0
"""Classes are worth a word if the largest has this many times the rows of the smallest."""


def train(
    table: Table,
    target: str,
    *,
    task: str | None = None,
    n_rules: int | None = None,
    conditions: float | None = None,
    skip: Iterable[str] = (),
    categorical: Iterable[str] = (),
    balanced: bool = True,
    held_out: float = 0.25,
    seed: int = 0,
    say: Callable[[str], Any] = print,
    watch: Callable[[Any], Any] = bool,
) -> tuple[Model, list[str]]:
    """Rules for a column of a table, with measures on rows held out; and notes on how the table was read.

    ``say`` hears what is going on, and ``watch`` is given the estimator before it is fitted.
    """
    if target in set(skip) | set(categorical):
        raise ValueError(f"{target!r} is the column to predict, so it can be neither skipped nor categorical.")
    table, notes, row_numbers = _with_target(table, target)
    labels = table.pop(target)
    task = task or _task(labels, target, row_numbers)
    apart = kept_apart(target, labels, code) if task == "classes" else None
    y = _numbers(labels, target, row_numbers) if task == "number" else _classes(labels, bool(apart))
    try:
        rows, rest = _split(y, task, held_out, seed)
    except ValueError as error:
        raise ValueError("; ".join([str(error).rstrip("."), *notes]) + ".") from None
    notes += [apart] if apart else []
    if task == "classes":
        notes += _unevenness(y, balanced)
    kind = "a number" if task == "number" else f"one of {len(set(y.tolist()))} classes"
    say(f"{len(y)} rows; {target} is {kind}.")
    columns, left_out = learn(table, skip=skip, categorical=categorical, rows=row_numbers)
    columns = _filled(columns, table, rows)
    notes += left_out + columns.notes(table)
    for note in notes:
        say(f"  {note}")
    X = columns.encode(table)
    features = f"{X.shape[1]} feature{'s' * (X.shape[1] != 1)}"
    say(f"Learning from {len(rows)} rows and {features}; {len(rest)} rows are held out ...")
    class_weight = "balanced" if balanced else None
    model = _estimator(task, n_rules, conditions, seed, class_weight)
    watch(model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # folds can do without it
        model.fit(X[rows], y[rows])
    names = tuple(columns.features)
    rules = replace(model.rules_, feature_names=names, target_name=target, choices=columns.choices)
    name, line = _line(task, class_weight)
    line.fit(X[rows], y[rows])
    odds = line.predict_proba(X[rest]) if task == "classes" else None
    evaluations = {
        "rules": rules.evaluate(X[rest], y[rest]),
        name: measured(y[rest], line.predict(X[rest]), odds, rules.classes),
    }
    return Model(rules, columns, evaluations), notes


def _with_target(table: Table, target: str) -> tuple[Table, list[str], list[int]]:
    """The rows that have a target, a note on those that have none, and the numbers of the rows that are left."""
    if target not in table:
        raise ValueError(f"there is no column {target!r} to predict; there are {', '.join(table)}.")
    kept = [k for k, cell in enumerate(table[target]) if cell is not None]
    if not kept:
        raise ValueError(f"column {target!r} is empty; fill in what is to be predicted, or name another column.")
    lost = len(table[target]) - len(kept)
    notes = [f"{_count(lost, 'row')} without {target} {'are' if lost > 1 else 'is'} left out"] if lost else []
    return {name: [cells[k] for k in kept] for name, cells in table.items()}, notes, [k + 1 for k in kept]


def _task(labels: list[Any], target: str, rows: list[int]) -> str:
    """Numbers are a number to predict, unless they are codes or few and whole."""
    if kept_apart(target, labels, digits):
        return "classes"
    values = [number(label) for label in labels]
    whole = all(value is None or value.is_integer() for value in values)
    if whole and len({label if v is None else v for label, v in zip(labels, values, strict=True)}) <= FEW_VALUES:
        return "classes"
    if odd := slips(labels, rows):
        what = f"column {target!r} holds numbers, but {quoted(odd)}; {remedy(odd)}"
        raise ValueError(f"{what}, or add --task classes if these are names.")
    return "classes" if None in values else "number"


def _numbers(labels: list[Any], target: str, rows: list[int]) -> np.ndarray:
    values = [number(label) for label in labels]
    if odd := [(row, label) for row, label, value in zip(rows, labels, values, strict=True) if value is None]:
        what = f"column {target!r} has cells that are no numbers, {quoted(odd)}"
        raise ValueError(f"{what}; {remedy(odd)}, or leave out --task number.")
    return np.asarray(values, dtype=float)


def _classes(labels: list[Any], apart: bool) -> np.ndarray:
    """Whole numbers as such, unless their texts are to be kept apart; everything else as text."""
    values = [number(label) for label in labels]
    if apart or None in values:
        return np.asarray(labels)
    numbers = np.asarray(values, dtype=float)
    whole = np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.round(numbers))
    return numbers.astype(int) if whole else np.asarray(labels)


def _split(y: np.ndarray, task: str, held_out: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if seed < 0:
        raise ValueError(f"the seed must be zero or more, got {seed}.")
    if not 0 < held_out < 1:
        raise ValueError(f"the share of rows held out must be between 0 and 1, got {held_out}.")
    if task == "classes":
        counts = Counter(y.tolist())
        if len(counts) < 2:
            raise ValueError(f"every row is {y.tolist()[0]!r}; there must be at least two classes to tell apart.")
        rarest = min(counts, key=lambda label: counts[label])
        if counts[rarest] < 2:
            raise ValueError(f"the class {rarest!r} has one row only; it needs two to be learned and tested.")
    if len(y) < 10:
        raise ValueError(f"{len(y)} rows are too few to learn from and test on; ten are the least.")
    rows = np.arange(len(y))
    stratify = y if task == "classes" else None
    try:
        part, rest = train_test_split(rows, test_size=held_out, stratify=stratify, random_state=seed)
    except ValueError:
        what = f"holding out {held_out:g} of {len(y)} rows"
        raise ValueError(f"{what} leaves a class without rows; hold out more or less.") from None
    return part, rest


def _filled(columns: Columns, table: Table, rows: np.ndarray) -> Columns:
    """Medians from the training rows alone."""
    each = []
    for column in columns.each:
        if isinstance(column, Number):
            cells = (table[column.name][k] for k in rows)
            known = np.asarray([number(cell) for cell in cells if cell is not None], dtype=float)
            column = replace(column, fill=float(np.median(known)) if len(known) else column.fill)
        each.append(column)
    return Columns(tuple(each))


def _unevenness(y: np.ndarray, balanced: bool) -> list[str]:
    """What it means that some classes are much rarer than others, if they are."""
    [(_, most), *_, (rarest, least)] = Counter(y.tolist()).most_common()
    if most < UNEVEN * least:
        return []
    rare = f"{100 * least / len(y):.2g} % of the rows are {rarest}"
    if not balanced:
        return [f"{rare}; common classes weigh more, so these may never be the answer"]
    return [f"{rare}, but all classes weigh the same: probabilities are as if they were equally common"]


def _estimator(task: str, n_rules: int | None, conditions: float | None, seed: int, class_weight: Any) -> Any:
    settings: dict[str, Any] = {
        "n_rules": "auto" if n_rules is None else n_rules,
        "conditions": conditions,
        "random_state": seed,
    }
    if conditions is not None:
        settings["order"] = 0  # short rules conclude something short
    if task == "number":
        return TSKRegressorCV(**settings)
    return TSKClassifierCV(class_weight=class_weight, **settings)


def _line(task: str, class_weight: Any) -> tuple[str, Any]:
    """What every rule model should be compared with."""
    if task == "number":
        return "linear regression", make_pipeline(StandardScaler(), Ridge(1e-6))
    line = LogisticRegression(class_weight=class_weight, max_iter=10_000)
    return "logistic regression", make_pipeline(StandardScaler(), line)
