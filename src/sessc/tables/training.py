"""From a raw table to rules and how well they do on rows held out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..rows.base import is_beyond
from ..rows.columns import Column, cells_of, raw_columns, settle_columns, tally
from ..rows.robust import slips_beyond
from ..rules.base import RuleBase
from ..rules.evaluation import Evaluation, evaluate, flat
from ..rules.evidence import Evidence
from ..rules.wording import cell, count
from ..tsk.recipe import UselessModelWarning
from ..tsk.tuning import TSKClassifierCV, TSKRegressorCV
from .cells import code, either, listed, number_in
from .columns import (
    NUMBERS,
    Columns,
    Kinds,
    codes,
    digits,
    kept_apart,
    learn,
    may_name_rows,
    quoted,
    refuse_slips,
    remedy,
    slips,
    typed,
    unseen,
)
from .errors import ParameterError, TableError
from .holding import Holding, RowsApart, column_of
from .judging import evaluate_table, label_of, prior_of
from .reading import Table

__all__ = [
    "Lesson",
    "Pose",
    "Read",
    "Trained",
    "absent_notes",
    "check",
    "classes_in",
    "lost_rows",
    "numbers_of",
    "posed",
    "refuse_few",
    "refuse_no_target",
    "refuse_odd",
    "refuse_unlearned",
    "rows_of",
    "task_of",
    "train",
    "unevenness",
]

LARGEST_SEED = 2**32 - 1
"""What NumPy's generators take."""
FEW_VALUES = 20
"""A target of whole numbers with no more values than this is one of classes."""
MOST_NAMED = 5
"""Texts that only rows held out have of which each is named."""
KINDS = ("constant", "linear")
"""Of rules, by their order."""
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

    @property
    def classes(self) -> np.ndarray | None:
        """What the target may be; None if it is a number."""
        return None if self.is_number else np.unique(self.y)

    @property
    def n_rows(self) -> int:
        """How many rows have a target."""
        return len(self.y)

    @property
    def searched(self) -> np.ndarray:
        """The rows that folds are made of."""
        return self.train

    def folds(self, random_state: Any) -> list | None:
        """Folds in which a search keeps groups together; None if any will do."""
        return self.apart.folds(self.searched, self.y, self.is_number, random_state)

    def read(self, skip: Iterable[str], categorical: Iterable[str]) -> Read:
        """The columns, of the kinds that they are in the rows to learn from, and notes on them.

        Slips and codes are looked for in all rows: they are in the spelling of the table, and nothing that is
        learned.
        """
        table, part = self.table, sorted(self.train.tolist())
        refuse_slips(table, self.numbers, {*skip, *categorical})
        spelled = codes(table, {*skip, *categorical})
        known, numbers = taken(table, part), [self.numbers[k] for k in part]
        kinds, notes = learn(known, skip=skip, categorical=categorical, spelled=spelled, rows=numbers)
        gaps = self.gaps(kinds, known)
        said = [note for name, each in notes.items() for note in [*each, *gaps.get(name, ())]]
        return Read(typed(table, kinds), kinds, [*self.notes, *said])

    def gaps(self, kinds: Kinds, known: Table) -> dict[str, list[str]]:
        """Notes on what is missing in columns, of which the rows to learn from are known."""
        columns = settle_columns(list(kinds), tally(raw_columns(typed(known, kinds)), None))
        return {column.name: _notes(column, self.table[column.name], known[column.name]) for column in columns}

    def plan(self, n_columns: int, test: Table | None) -> str:
        """What is going to be learned from, in a sentence."""
        n_held = len(self.test) or len(next(iter((test or {}).values()), ()))
        held = f"{n_held} rows are {'held out' if len(self.test) else 'in the table to test on'}"
        return f"Learning from {len(self.train)} rows and {count(n_columns, 'column')}; {held} ..."

    def teach(self, estimator: Any, read: Read) -> RuleBase:
        """The rules that an estimator learns."""
        rows = self.train
        return estimator.fit(rows_of(read.columns, rows), self.y[rows], self.weight(rows)).rules_

    def observed(self, rules: RuleBase, read: Read) -> Evidence:
        """What happened under rules on the rows to learn from."""
        rows = self.train
        return rules.observe(rows_of(read.columns, rows), self.y[rows], self.weight(rows))


class Read(NamedTuple):
    """What the columns of a table are."""

    columns: Columns
    kinds: Kinds
    notes: list[str]


Pose = Callable[[str, str | None, Any, Holding, Any], Lesson]
"""What makes a lesson, given target, task, weights of classes, what to hold out, and a seed."""


def train(
    pose: Pose,
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
    lesson = pose(target, task, class_weight, holding, random_state)
    _check_asked(lesson, target, prior=prior, positive=positive, threshold=threshold)
    _check_test(lesson, target, test)
    classes = lesson.classes
    kind = "a number" if classes is None else f"one of {len(classes)} classes"
    say(f"{lesson.n_rows} rows; {target} is {kind}.")
    read = lesson.read(skip, categorical)
    for note in read.notes:
        say(f"  {note}")
    say(lesson.plan(len(read.columns), test))
    folds = lesson.folds(random_state)
    estimator = _estimator(lesson.is_number, n_rules, conditions, class_weight, minutes, random_state, folds)
    watch(estimator)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # folds can do without it
        warnings.simplefilter("ignore", UselessModelWarning)  # rows held out will tell
        learned = lesson.teach(estimator, read)
    for note in (late := [*_hurried(estimator), *_far_out(learned, lesson, read), *_named(learned, lesson, read)]):
        say(f"  {note}")
    rules = _for_prior(replace(learned, target_name=target), lesson, read, prior)
    seed = random_state if isinstance(random_state, int) else 0
    asked = {"positive": label_of(rules.classes, positive), "threshold": threshold, "random_state": seed}
    return Trained(rules, flat({"rules": _judged(rules, lesson, read.columns, test, asked)}), (*read.notes, *late))


def _check_asked(lesson: Lesson, target: str, **asked: Any) -> None:
    """Refuse, before hours of learning and not after, what cannot be asked of this target."""
    given = {name: value for name, value in asked.items() if value is not None}
    if (classes := lesson.classes) is None:
        for name in given:
            raise ParameterError(name, f"is about classes, and {target} is a number; leave it out")
        return
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
    classes = lesson.classes
    for row, label in enumerate(column_of(test, target), 1):
        if classes is not None and label is not None and label_of(classes, label) not in classes.tolist():
            raise ParameterError(
                "test", f"has {label!r} in row {row} of {target!r}, which no row to learn from is"
            )


def _for_prior(rules: RuleBase, lesson: Lesson, read: Read, prior: Any) -> RuleBase:
    """The rules for classes that are as common as this, with what these see happen and answer."""
    if prior is None:
        return rules
    rules, rows = rules.with_prior(prior_of(rules.classes, prior)), lesson.searched
    effects = rules.effects(rows_of(read.columns, rows), lesson.weight(rows))
    assert rules.summary is not None
    return replace(rules, summary=replace(rules.summary, evidence=lesson.observed(rules, read), effects=effects))


def _judged(
    rules: RuleBase, lesson: Lesson, columns: Columns, test: Table | None, asked: dict[str, Any]
) -> Evaluation:
    """How rules do on the rows held out, or on a table of their own, beside a line that learned from the same."""
    holding, y, part, rest = lesson.apart.asked, lesson.y, lesson.train, lesson.test
    asked = asked | {"beside": (rows_of(columns, part), y[part], lesson.weight(part))}
    if test is not None:
        return evaluate_table(rules, test, None, holding.weight, groups=holding.group, **asked)
    return evaluate(
        rules, rows_of(columns, rest), y[rest], lesson.weight(rest), groups=lesson.groups(rest), **asked
    )


def _hurried(estimator: Any) -> list[str]:
    """What a search left out for want of time, if anything."""
    if not (untried := estimator.untried_):
        return []
    numbers = {kind: [str(one["n_rules"]) for one in untried if one["order"] == k] for k, kind in enumerate(KINDS)}
    left = " and ".join(f"{either(some)} {kind} rules" for kind, some in numbers.items() if some)
    tried = (
        f"{len(estimator.cv_results_['params'])} candidates were compared when {estimator.minutes:g} min were over"
    )
    return [f"{tried}; not tried were {left}: another run may get further and choose others"]


def _far_out(rules: RuleBase, lesson: Lesson, read: Read) -> list[str]:
    """A word on cells that were no values to learn from, for they may be slips."""
    if rules.limits is None:
        return []
    cells = cells_of(
        rows_of({name: read.columns[name] for name in rules.feature_names}, lesson.searched), rules.columns
    )
    found = is_beyond(cells, *slips_beyond((rules.limits[0], rules.limits[1])))
    return [_left_out(rules, j, cells[found[:, j], j]) for j in np.flatnonzero(found.any(axis=0)).tolist()]


def _left_out(rules: RuleBase, column: int, cells: np.ndarray) -> str:
    name, such = rules.feature_names[column], cell(rules, column, cells[0])
    are, them = ("is", such) if len(cells) == 1 else ("are", f"such as {such}")
    return f"{name}: {count(len(cells), 'cell')} {are} far beyond all others ({them}) and left out of learning"


def _named(rules: RuleBase, lesson: Lesson, read: Read) -> list[str]:
    """A word on columns that rules use and that may only name rows: who was asked before may have missed it."""
    used = [name for name, one in zip(rules.feature_names, rules.used, strict=True) if one]
    numbers = rows_of({name: read.columns[name] for name in used if read.kinds[name] is NUMBERS}, lesson.searched)
    if not (named := [name for name, values in numbers.items() if may_name_rows(values)]):
        return []
    they, it = ("they", "them") if len(named) > 1 else ("it", "it")
    name = f"only name{'s' * (len(named) == 1)} rows"
    return [f"rules use {' and '.join(named)}: if {they} {name}, skip {it} and fit again"]


def rows_of(columns: Columns, rows: np.ndarray) -> Columns:
    return {name: cells[rows] for name, cells in columns.items()}


def posed(
    table: Table, target: str, task: str | None, class_weight: Any, holding: Holding, random_state: Any
) -> Lesson:
    """The lesson that a table is."""
    check(task, random_state)
    table, notes, numbers = with_target(table, target)
    labels = table.pop(target)
    rows = holding.read(table, numbers)
    task = task or task_of(labels, target, numbers)
    apart = kept_apart(target, labels, code) if task == "classes" else None
    y = numbers_of(labels, target, numbers) if task == "number" else classes_in(labels, bool(apart))
    notes += [apart] if apart else []
    try:
        part, rest = _split(y, task, rows, random_state)
    except ParameterError:
        raise
    except ValueError as error:
        raise ValueError("; ".join([str(error).rstrip("."), *notes]) + ".") from None
    notes += unevenness(Counter(y.tolist()), class_weight) if task == "classes" else []
    return Lesson(table, y, task == "number", numbers, part, rest, rows, [*rows.notes(part, rest), *notes])


def check(task: str | None, random_state: Any) -> None:
    """Refuse parameters that make no sense whatever the table is."""
    if task not in (None, "classes", "number"):
        raise ParameterError("task", f"must be 'classes', 'number' or None, got {task!r}")
    if isinstance(random_state, int) and random_state < 0:
        raise ParameterError("random_state", f"must be zero or more, got {random_state}")
    if isinstance(random_state, int) and random_state > LARGEST_SEED:
        raise ParameterError("random_state", f"must be at most {LARGEST_SEED}, got {random_state}")


def with_target(table: Table, target: str) -> tuple[Table, list[str], list[int]]:
    """The rows that have a target, a note on those that have none, and the numbers of the rows that are left."""
    refuse_no_target(table, target)
    kept = [k for k, cell in enumerate(table[target]) if cell is not None]
    return taken(table, kept), lost_rows(target, len(kept), len(table[target])), [k + 1 for k in kept]


def refuse_no_target(names: Iterable[str], target: str) -> None:
    """Complain about a table that lacks the column to predict."""
    if target not in (names := list(names)):
        raise ValueError(f"there is no column {target!r} to predict; there are {', '.join(names)}.")


def lost_rows(target: str, kept: int, n_rows: int) -> list[str]:
    """A note on rows that have no target, if there are any."""
    if not kept:
        raise ValueError(f"column {target!r} is empty; fill in what is to be predicted, or name another column.")
    lost = n_rows - kept
    return [f"{count(lost, 'row')} without {target} {'are' if lost > 1 else 'is'} left out"] if lost else []


def taken(table: Table, rows: Sequence[int]) -> Table:
    """Some rows of a table, counted from 0."""
    return {name: [cells[k] for k in rows] for name, cells in table.items()}


def task_of(labels: list[Any], target: str, rows: list[int]) -> str:
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


def numbers_of(labels: list[Any], target: str, rows: list[int]) -> np.ndarray:
    values = [number_in(label) for label in labels]
    refuse_odd([(row, one) for row, one, value in zip(rows, labels, values, strict=True) if value is None], target)
    return np.asarray(values, dtype=float)


def refuse_odd(odd: list[tuple[int, str]], target: str) -> None:
    """Complain about rows with texts that are no numbers to predict, if there are any."""
    if odd:
        what = f"column {target!r} has cells that are no numbers, {quoted(odd)}"
        raise TableError(f"{what}; {remedy(odd)}", ("task", "number"), verb="leave out")


def classes_in(labels: list[Any], apart: bool) -> np.ndarray:
    """Whole numbers as such, unless their texts are to be kept apart; everything else as text."""
    values = [number_in(label) for label in labels]
    if apart or None in values:
        return np.asarray(labels)
    numbers = np.asarray(values, dtype=float)
    whole = np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.round(numbers))
    return numbers.astype(int) if whole else np.asarray(labels)


def _split(y: np.ndarray, task: str, rows: RowsApart, random_state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to test on, of every class some."""
    refuse_few(len(y), Counter(y.tolist()) if task == "classes" else None)
    try:
        part, rest = rows.split(y, task == "number", random_state)
    except ParameterError:
        raise
    except ValueError:
        what = f"holding out {rows.asked.share:g} of {len(y)} rows"
        raise ValueError(f"{what} leaves a class without rows; hold out more or less.") from None
    if task == "classes":
        refuse_unlearned({*y.tolist()}, {*y[part].tolist()})
    return part, rest


def refuse_few(n_rows: int, counts: Counter | None) -> None:
    """Complain about rows, or rows of a class, that are too few."""
    if counts is not None:
        if len(counts) < 2:
            raise ValueError(
                f"every row is {next(iter(counts))!r}; there must be at least two classes to tell apart."
            )
        if lonely := [label for label, n in counts.items() if n < 2]:
            others = f", and so have {len(lonely) - 1} others" if len(lonely) > 1 else ""
            what = f"the class {lonely[0]!r} has one row only{others}; a class needs two to be learned and tested"
            raise ValueError(f"{what}, so leave such rows out.")
    if n_rows < 10:
        raise ValueError(f"{n_rows} rows are too few to learn from and test on; ten are the least.")


def refuse_unlearned(classes: set[Any], learned: set[Any]) -> None:
    """Complain about classes that are held out whole."""
    if unlearned := sorted(classes - learned, key=str):
        raise ValueError(f"every row of the class {unlearned[0]!r} is held out; hold out others, or fewer.")


def unevenness(counts: Counter, class_weight: Any) -> list[str]:
    """What it means that some classes are much rarer than others, if they are."""
    [(_, most), *_, (rarest, least)] = counts.most_common()
    if most < UNEVEN * least or class_weight not in (None, "balanced"):
        return []
    rare = f"{100 * least / counts.total():.2g} % of the rows are {rarest}"
    if class_weight is None:
        return [f"{rare}; common classes weigh more, so these may never be the answer"]
    return [f"{rare}, but all classes weigh the same in learning"]


def _notes(column: Column, cells: Sequence[str | None], known: Sequence[str | None]) -> list[str]:
    """How many cells are missing, and which only rows have that nothing is learned from."""
    odd = sorted(unseen(column, cells).keys() - set(known))
    return absent_notes(column.name, sum(cell is None for cell in cells), odd)


def absent_notes(name: str, absent: int, odd: list[str]) -> list[str]:
    """How many cells are missing, and these texts that only rows held out have."""
    found = [f"{name}: {count(absent, 'missing cell')}"] if absent else []
    verb = ("is", "counts") if len(odd) == 1 else ("are", "count")
    rest = f" and {len(odd) - MOST_NAMED} others" if len(odd) > MOST_NAMED + 1 else ""
    shown = odd[:MOST_NAMED] if rest else odd
    only = f"{name}: {listed(shown)}{rest} {verb[0]} only in rows held out, and {verb[1]} as missing"
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
