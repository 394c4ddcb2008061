"""From a Parquet file too large to be read whole to rules: what there is to learn, block by block.

What columns are is judged by rows drawn from it, as of a small table; what all rows have to say is counted; and
rules are learned from all blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._progress import Passes
from ..rows.blocks import BlockRows, Blocks
from ..rules.base import RuleBase
from ..rules.evidence import Evidence
from ..rules.observe import Outcome, codes, observe_rows
from ..rules.wording import count
from ..tsk.tuning import SEARCHED_ROWS
from .cells import code, moment_in, number_in
from .columns import CATEGORIES, NO_NUMBER, NUMBERS, Kinds, kept_apart, refuse_found, settled
from .holding import Holding
from .large import Batch, LargeTable, cells_in, is_number, spelled
from .reading import Table, count_of, emptied, gaps_of, unheard, without_index
from .sides import HELD, LEARNED, MOST_LABELS, Sides, Splitter
from .training import (
    Lesson,
    Read,
    absent_notes,
    check,
    classes_in,
    lost_rows,
    numbers_of,
    refuse_few,
    refuse_no_target,
    refuse_odd,
    refuse_unlearned,
    rows_of,
    task_of,
    unevenness,
)

__all__ = ["posed_large"]

DRAWN_ROWS, DRAWN_CELLS = 100_000, 2_000_000
"""Of each side so many rows are drawn, but no more cells, to judge columns and to measure rules by."""


@dataclass(frozen=True, eq=False)
class LargeLesson(Lesson):
    """A lesson whose table has the drawn rows alone, and whose rows to learn from come in blocks."""

    whole: LargeTable
    sides: Sides
    target: str
    missing: frozenset[str]
    blank: frozenset[str]
    places: dict[str, Any] | None
    """The class that each text of the target is; None if it is a number."""
    hear: Callable[[str], Any]
    seed: int

    @property
    def classes(self) -> np.ndarray | None:
        return None if self.places is None else np.unique(list(self.places.values()))

    @property
    def n_rows(self) -> int:
        return self.sides.n_rows

    @property
    def searched(self) -> np.ndarray:
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.permutation(self.train)[:SEARCHED_ROWS])

    def gaps(self, kinds: Kinds, known: Table) -> dict[str, list[str]]:
        """What all rows say of the columns, and complaints about those that say something else than was judged."""
        seen = {name: _Seen() for name in kinds}
        odd: list[tuple[int, str]] = []
        for batch in self.whole.batches([*kinds, self.target]):
            side = self.sides.side[batch.numbers - 1]
            for name, kind in kinds.items():
                seen[name].look(batch, name, kind, side, self.missing)
            odd += self._odd(batch)
        refuse_found({name: (kinds[name], one.odd) for name, one in seen.items() if one.odd})
        refuse_odd(odd, self.target)
        if found := sum((one.gaps for one in seen.values()), Counter[str]()):
            self.hear(f"{count_of(found)} count{'s' * (found.total() == 1)} as missing")
        for name, one in seen.items():
            if one.own_gaps:
                self.hear(
                    f"{count_of(one.own_gaps)} of {name} count{'s' * (one.own_gaps.total() == 1)} as missing"
                )
        return {name: one.notes(name) for name, one in seen.items()}

    def _odd(self, batch: Batch) -> list[tuple[int, str]]:
        """Rows whose target is no number though it has to be one."""
        if not self.is_number:
            return []
        cells = cells_in(batch.column(self.target), NUMBERS, self.blank)
        return [(int(batch.numbers[k]), text) for k, text in cells.odd]

    def plan(self, n_columns: int, test: Table | None) -> str:
        n_held, n_tested = self.sides.count(HELD), len(self.test)
        if test is not None:
            held = f"{len(next(iter(test.values()), ())):,} rows are in the table to test on"
        else:
            drawn = "" if n_tested == n_held else f", of which {n_tested:,} drawn by a hash are tested on"
            held = f"{n_held:,} rows are held out{drawn}"
        return f"Learning from {self.sides.count(LEARNED):,} rows and {count(n_columns, 'column')}; {held} ..."

    def teach(self, estimator: Any, read: Read) -> RuleBase:
        passes = Passes(estimator, self.sides.count(LEARNED))
        if self.apart.groups is not None:  # the search of blocks knows no groups, so it is done before
            rows = self.searched
            estimator = _as_found(estimator.fit(rows_of(read.columns, rows), self.y[rows], self.weight(rows)))
        rules = estimator.fit(Blocks(lambda: passes.over(self._blocks(read.kinds)))).rules_
        passes.finish()
        return rules

    def observed(self, rules: RuleBase, read: Read) -> Evidence:
        classes, summary = rules.classes, rules.summary
        assert classes is not None
        assert summary is not None
        assert summary.prior is not None

        def coded() -> Iterator[tuple]:
            for (X, y, weight), _ in self._blocks(read.kinds):
                yield np.asarray(rules.cells(X)), codes(classes, y), weight

        blocks = Blocks(coded)
        rows = BlockRows(blocks, blocks.first, n_classes=len(classes))
        return observe_rows(rules, rows, Outcome(summary.prior / np.asarray(summary.shares)))

    def _blocks(self, kinds: Kinds) -> Iterator[tuple[tuple, int]]:
        """The rows to learn from, and how many there are in each block."""
        weight = self.apart.asked.weight
        names = [*kinds, self.target, *([] if weight is None else [weight])]
        for batch in self.whole.batches(list(dict.fromkeys(names))):
            batch = batch.taken(self.sides.side[batch.numbers - 1] == LEARNED)
            if not len(batch.numbers):
                continue
            cells = {name: cells_in(batch.column(name), kind, self.missing) for name, kind in kinds.items()}
            X = {name: column.values for name, column in cells.items()}
            counts = None if weight is None else cells_in(batch.column(weight), NUMBERS, self.missing).values
            yield (X, self._targets(batch), counts), len(batch.numbers)

    def _targets(self, batch: Batch) -> np.ndarray:
        column = batch.column(self.target)
        if self.places is None:
            return cells_in(column, NUMBERS, self.blank).values
        text, classes = spelled(column, self.blank), np.asarray(list(self.places.values()))
        place = {label: k for k, label in enumerate(self.places)}
        return classes[text.looked_up([place.get(str(one), 0) for one in text.texts], 0, int)]


class _Seen:
    """What all rows say of a column."""

    def __init__(self) -> None:
        self.n_absent = 0
        self.gaps, self.own_gaps = Counter[str](), Counter[str]()
        self.odd: list[tuple[int, str]] = []
        self.learned, self.held = set[str](), set[str]()

    def look(self, batch: Batch, name: str, kind: Any, side: np.ndarray, missing: frozenset[str]) -> None:
        column = batch.column(name)
        cells = cells_in(column, kind, missing)
        self.n_absent += int(np.sum(~cells.known & (side > 0)))
        self.gaps.update(cells.gaps)
        self.own_gaps.update(cells.own_gaps)
        self.odd += [(int(batch.numbers[k]), text) for k, text in cells.odd]
        if kind is CATEGORIES:
            texts, places = cells.values.dictionary.to_pylist(), cells.values.indices.fill_null(-1).to_numpy()
            for which, levels in ((LEARNED, self.learned), (HELD, self.held)):
                levels.update(texts[k] for k in np.unique(places[side == which]).tolist() if k >= 0)

    def notes(self, name: str) -> list[str]:
        """How many cells are missing, and which texts only rows have that nothing is learned from."""
        return absent_notes(name, self.n_absent, sorted(self.held - self.learned))


def _as_found(search: Any) -> Any:
    """A search for nothing but what another one chose."""
    best = search.best_params_
    free = {name: None for name in ("conditions", "terms") if getattr(search, name) == "auto"}
    named = {name: best[name] for name in ("order", "n_rules", "conditions", "terms") if name in best}
    fixed = {"alphas": [best["alpha"]], "width_scales": [best["width_scale"]], "cv": None}
    return clone(search).set_params(**(free | named | fixed))


def posed_large(
    whole: LargeTable,
    missing: tuple[str, ...],
    sure: set[str],
    hear: Callable[[str], Any],
    target: str,
    task: str | None,
    class_weight: Any,
    holding: Holding,
    random_state: Any,
) -> LargeLesson:
    """The lesson that a large table is; ``hear`` hears at once what was not taken as it stands."""
    check(task, random_state)
    names = without_index(whole.path, whole.schema, hear)
    refuse_no_target(names, target)
    seed = int(random_state if isinstance(random_state, int) else check_random_state(random_state).randint(2**31))
    gaps = gaps_of(missing)
    splitter = Splitter(whole, names, target, gaps, gaps, holding, seed)
    sides = splitter()
    if blank := _blank(splitter, sides, sure, hear):
        splitter = replace(splitter, blank=gaps | blank)
        sides = splitter()
    notes = lost_rows(target, sides.n_rows, whole.n_rows)
    most = min(DRAWN_ROWS, max(DRAWN_CELLS // len(names), 1))
    drawn = np.union1d(*(sides.drawn(side, most, seed) for side in (LEARNED, HELD)))
    table = settled(emptied(whole.rows(drawn, names), unheard, missing), unheard, sure)
    labels, numbers = table.pop(target), drawn.tolist()
    rows = holding.read(table, numbers)
    y, places, said = _told(labels, numbers, splitter, sides, task, class_weight)
    part, rest = (np.flatnonzero(sides.side[drawn - 1] == side) for side in (LEARNED, HELD))
    notes += [*holding.notes(sides.weights, sides.groups), *said, *_drawn(sides, len(part), len(rest))]
    own = (table, y, places is None, numbers, part, rest, rows, notes)
    return LargeLesson(*own, whole, sides, target, gaps, splitter.blank, places, hear, seed)


def _blank(splitter: Splitter, sides: Sides, sure: set[str], hear: Callable[[str], Any]) -> frozenset[str]:
    """Texts that stand for a missing target, if all others are numbers or dates."""
    target, labels = splitter.target, sides.labels
    if target in sure or is_number(splitter.table.schema.field(target).type):
        return frozenset()
    if labels is None:
        return NO_NUMBER  # so many texts can only be numbers
    found = Counter({text: int(n[1:].sum()) for text, n in labels.items() if text.lower() in NO_NUMBER})
    rest = labels.keys() - found
    if not (
        found and rest and any(all(says(text) is not None for text in rest) for says in (number_in, moment_in))
    ):
        return frozenset()
    hear(f"{count_of(found)} of {target} count{'s' * (found.total() == 1)} as missing")
    return NO_NUMBER


Told = tuple[np.ndarray, dict[str, Any] | None, list[str]]


def _told(
    labels: list[Any], numbers: list[int], splitter: Splitter, sides: Sides, task: str | None, class_weight: Any
) -> Told:
    """What is to be predicted of the drawn rows, the class of each text, if there are any, and notes."""
    target, known = splitter.target, sides.labels
    if known is None:
        task = task or task_of(labels, target, numbers)
    else:
        task = task or task_of(list(known), target, [int(n[0]) for n in known.values()])
    if task == "number":
        _refuse_empty(splitter, sides)
        refuse_few(sides.n_rows, None)
        return numbers_of(labels, target, numbers), None, []
    if known is None:
        what = f"column {target!r} has more than {MOST_LABELS:,} different texts, which are too many classes"
        raise ValueError(f"{what}; name another column.")
    apart = kept_apart(target, list(known), code)
    classes = classes_in(list(known), bool(apart))
    places = dict(zip(known, classes.tolist(), strict=True))
    counts, learned = Counter[Any](), Counter[Any]()
    for text, n in known.items():
        counts[places[text]] += int(n[1:].sum())
        learned[places[text]] += int(n[1 + LEARNED])
    refuse_few(sides.n_rows, counts)
    _refuse_empty(splitter, sides)
    refuse_unlearned({*counts}, {*+learned})
    y = np.asarray([places[label] for label in labels], classes.dtype)
    return y, places, [*([apart] if apart else []), *unevenness(counts, class_weight)]


def _refuse_empty(splitter: Splitter, sides: Sides) -> None:
    """Complain about a share that leaves nothing on one side."""
    holding = splitter.holding
    if holding.is_elsewhere or (sides.count(LEARNED) and sides.count(HELD)):
        return
    what = f"holding out {holding.share:g} of {sides.n_rows} rows leaves none to"
    raise ValueError(f"{what} {'test on' if sides.count(LEARNED) else 'learn from'}; hold out more or less.")


def _drawn(sides: Sides, n_learned: int, n_held: int) -> list[str]:
    """What only some of the rows were asked."""
    all_learned, all_held = sides.count(LEARNED), sides.count(HELD)
    notes = []
    if n_learned < all_learned:
        which = f"{n_learned:,} of the {all_learned:,} rows to learn from, drawn by a hash of their numbers"
        notes.append(f"what columns are is judged by {which}; the linear model beside the rules learns from these")
    if n_held < all_held:
        notes.append(f"measures are those of {n_held:,} of the {all_held:,} rows held out, drawn likewise")
    return notes
