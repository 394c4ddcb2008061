"""From a raw table to rules and how well they do on rows held out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..rows.columns import Column, raw_columns, settle_columns, tally
from ..rules.base import RuleBase
from ..rules.evaluation import Evaluation, evaluate, flat
from ..rules.wording import count
from ..tsk.recipe import UselessModelWarning
from ..tsk.tuning import TSKClassifierCV, TSKRegressorCV
from .cells import code, listed, number_in
from .columns import Columns, codes, digits, kept_apart, learn, quoted, refuse_slips, remedy, slips, typed, unseen
from .errors import ParameterError, TableError
from .holding import Holding, RowsApart, column_of
from .judging import evaluate_table, label_of, prior_of
from .reading import Table

__all__ = ["Trained", "train"]

LARGEST_SEED = 2**32 - 1
"""What NumPy's generators take."""
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
    apart: RowsApart
    notes: list[str]

    def weight(self, rows: np.ndarray) -> np.ndarray | None:
        """How much some rows count."""
        return None if self.apart.weight is None else self.apart.weight[rows]

    def groups(self, rows: np.ndarray) -> np.ndarray | None:
        """Which of them belong together."""
        return None if self.apart.groups is None else self.apart.groups[rows]


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
    holding: Holding,
    test: Table | None,
    prior: Any,
    positive: Any,
    threshold: float | None,
    minutes: float | None,
    random_state: Any,
    say: Callable[[str], Any],
    watch: Callable[[Any], Any],
) -> Trained:
    """Rules for a column of a table; :meth:`sessc.Model.fit` says what the parameters mean."""
    if target in {*skip, *categorical, *holding.columns}:
        raise ValueError(f"{target!r} is the column to predict, so it can be nothing else.")
    lesson = _posed(table, target, task, class_weight, holding, random_state)
    _check_asked(lesson, target, prior=prior, positive=positive, threshold=threshold)
    _check_test(lesson, target, test)
    y, part, rest = lesson.y, lesson.train, lesson.test
    kind = "a number" if lesson.is_number else f"one of {len(set(y.tolist()))} classes"
    say(f"{len(y)} rows; {target} is {kind}.")
    columns, notes = _read(lesson, skip, categorical)
    for note in notes:
        say(f"  {note}")
    n_columns, n_held = count(len(columns), "column"), len(rest) or len(next(iter((test or {}).values()), ()))
    held = f"{n_held} rows are {'held out' if len(rest) else 'in the table to test on'}"
    say(f"Learning from {len(part)} rows and {n_columns}; {held} ...")
    folds = lesson.apart.folds(part, y, lesson.is_number, random_state)
    estimator = _estimator(lesson.is_number, n_rules, conditions, class_weight, minutes, random_state, folds)
    watch(estimator)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # folds can do without it
        warnings.simplefilter("ignore", UselessModelWarning)  # rows held out will tell
        estimator.fit(_rows(columns, part), y[part], lesson.weight(part))
    for note in (hurried := _hurried(estimator)):
        say(f"  {note}")
    rules = _for_prior(replace(estimator.rules_, target_name=target), lesson, columns, prior)
    seed = random_state if isinstance(random_state, int) else 0
    asked = {"positive": label_of(rules.classes, positive), "threshold": threshold, "random_state": seed}
    return Trained(rules, flat({"rules": _judged(rules, lesson, columns, test, asked)}), (*notes, *hurried))


def _check_asked(lesson: Lesson, target: str, **asked: Any) -> None:
    """Refuse, before hours of learning and not after, what cannot be asked of this target."""
    given = {name: value for name, value in asked.items() if value is not None}
    if lesson.is_number:
        for name in given:
            raise ParameterError(name, f"is about classes, and {target} is a number; leave it out")
        return
    classes = np.unique(lesson.y)
    names, known = ", ".join(map(str, classes)), classes.tolist()
    if "positive" in given and label_of(classes, given["positive"]) not in known:
        raise ParameterError("positive", f"must be one of {names}, got {given['positive']!r}")
    if "threshold" in given and len(known) > 2 and "positive" not in given:
        raise ParameterError("threshold", f"is about one class; say with positive which of {names}")
    if "threshold" in given and not 0 <= given["threshold"] <= 1:
        raise ParameterError("threshold", f"must be from 0 to 1, got {given['threshold']:g}")
    if "prior" in given and given["prior"] != "data":
        _check_shares(prior_of(classes, given["prior"]), known)


def _check_shares(shares: Any, known: list[Any]) -> None:
    names = ", ".join(map(str, known))
    if not isinstance(shares, dict) or {*shares} != {*known}:
        said = ", ".join(map(str, shares)) if isinstance(shares, dict) else repr(shares)
        raise ParameterError("prior", f"must be 'data' or a share for each of {names}, got {said}")
    if not all(share > 0 for share in shares.values()):
        raise ParameterError("prior", f"must be a share above zero for each of {names}, got {shares}")


def _check_test(lesson: Lesson, target: str, test: Table | None) -> None:
    """Refuse a table to test on that lacks what it needs, also before learning."""
    if test is None:
        return
    holding = lesson.apart.asked
    for name in filter(None, (target, holding.weight, holding.group)):
        if name not in test:
            raise ParameterError("test", f"must have the column {name!r} too; it has {', '.join(test)}")
    classes = None if lesson.is_number else np.unique(lesson.y)
    for row, cell in enumerate(column_of(test, target), 1):
        if classes is not None and cell is not None and label_of(classes, cell) not in classes.tolist():
            raise ParameterError("test", f"has {cell!r} in row {row} of {target!r}, which no row to learn from is")


def _for_prior(rules: RuleBase, lesson: Lesson, columns: Columns, prior: Any) -> RuleBase:
    """The rules for classes that are as common as this, with what these see happen and answer."""
    if prior is None:
        return rules
    rules, part = rules.with_prior(prior_of(rules.classes, prior)), lesson.train
    rows, weight = _rows(columns, part), lesson.weight(part)
    seen, effects = rules.observe(rows, lesson.y[part], weight), rules.effects(rows, weight)
    assert rules.summary is not None
    return replace(rules, summary=replace(rules.summary, evidence=seen, effects=effects))


def _judged(
    rules: RuleBase, lesson: Lesson, columns: Columns, test: Table | None, asked: dict[str, Any]
) -> Evaluation:
    """How rules do on the rows held out, or on a table of their own, beside a line that learned from the same."""
    holding, y, part, rest = lesson.apart.asked, lesson.y, lesson.train, lesson.test
    asked = asked | {"beside": (_rows(columns, part), y[part], lesson.weight(part))}
    if test is not None:
        return evaluate_table(rules, test, None, holding.weight, groups=holding.group, **asked)
    return evaluate(rules, _rows(columns, rest), y[rest], lesson.weight(rest), groups=lesson.groups(rest), **asked)


def _hurried(estimator: Any) -> list[str]:
    """What a search left out for want of time, if anything."""
    if not (untried := estimator.untried_):
        return []
    left = ", ".join(f"{shape['n_rules']} {('constant', 'linear')[shape['order']]}" for shape in untried)
    tried = f"{len(estimator.cv_results_['params'])} candidates were compared in {estimator.minutes:g} min"
    return [f"{tried}, rules that were not tried: {left}; another run may get further and choose others"]


def _rows(columns: Columns, rows: np.ndarray) -> Columns:
    return {name: cells[rows] for name, cells in columns.items()}


def _posed(
    table: Table, target: str, task: str | None, class_weight: Any, holding: Holding, random_state: Any
) -> Lesson:
    """The lesson that a table is."""
    _check(task, random_state)
    table, notes, numbers = _with_target(table, target)
    labels = table.pop(target)
    rows = holding.read(table, numbers)
    task = task or _task(labels, target, numbers)
    apart = kept_apart(target, labels, code) if task == "classes" else None
    y = _numbers(labels, target, numbers) if task == "number" else _classes(labels, bool(apart))
    notes += [apart] if apart else []
    try:
        part, rest = _split(y, task, rows, random_state)
    except ParameterError:
        raise
    except ValueError as error:
        raise ValueError("; ".join([str(error).rstrip("."), *notes]) + ".") from None
    notes += _unevenness(y, class_weight) if task == "classes" else []
    return Lesson(table, y, task == "number", numbers, part, rest, rows, [*rows.notes(part, rest), *notes])


def _check(task: str | None, random_state: Any) -> None:
    """Refuse parameters that make no sense whatever the table is."""
    if task not in (None, "classes", "number"):
        raise ParameterError("task", f"must be 'classes', 'number' or None, got {task!r}")
    if isinstance(random_state, int) and random_state < 0:
        raise ParameterError("random_state", f"must be zero or more, got {random_state}")
    if isinstance(random_state, int) and random_state > LARGEST_SEED:
        raise ParameterError("random_state", f"must be at most {LARGEST_SEED}, got {random_state}")


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


def _split(y: np.ndarray, task: str, rows: RowsApart, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
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
    try:
        part, rest = rows.split(y, task == "number", random_state)
    except ParameterError:
        raise
    except ValueError:
        what = f"holding out {rows.asked.share:g} of {len(y)} rows"
        raise ValueError(f"{what} leaves a class without rows; hold out more or less.") from None
    if task == "classes" and (unlearned := sorted(set(y.tolist()) - set(y[part].tolist()), key=str)):
        raise ValueError(f"every row of the class {unlearned[0]!r} is held out; hold out others, or fewer.")
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
    is_number: bool,
    n_rules: int | None,
    conditions: float | None,
    class_weight: Any,
    minutes: float | None,
    random_state: Any,
    folds: list | None,
) -> Any:
    settings: dict[str, Any] = {
        "cv": folds,
        "n_rules": "auto" if n_rules is None else n_rules,
        "conditions": "auto" if conditions is None else conditions,
        "minutes": minutes,
        "random_state": random_state,
    }
    if conditions is not None:
        settings["order"] = 0  # short rules conclude something short
    if is_number:
        return TSKRegressorCV(**settings)
    return TSKClassifierCV(class_weight=class_weight, **settings)
