"""Rules as one self-contained web page, on which people can ask "what if"."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from .._writing import write
from ..rows.columns import Category, Number
from ..rules.base import RuleBase
from ..rules.conditions import impacts, is_whole, origin, places, read_condition, seen_range, shown_range, top
from ..rules.document import evaluations_to_data, to_data
from ..rules.effects import Effects
from ..rules.evaluation import Evaluation, verdict
from ..rules.explanation import step
from ..rules.wording import count, number, one_line, output_names, quoted
from .evaluation import meaning
from .glance import briefly, glance
from .phrases import UNITS, Sentence, conclusion, held, holds_always, priors, sentences, worded_conditions

__all__ = ["to_html"]

MAX_TERMS = 4
"""Terms of a linear conclusion that are shown before one asks for all."""


def to_html(
    rules: RuleBase,
    path: Any = None,
    *,
    title: str | None = None,
    evaluations: Mapping[str, Evaluation] | None = None,
    examples: Any = None,
    effects: Effects | None = None,
) -> str:
    """The rules as a web page; :meth:`sessc.RuleBase.to_html` says what its parameters mean.

    The page is one file. It loads nothing, sends nothing, and works from a disk, on a phone and on paper.
    """
    data, rows = to_data(rules), _examples(rules, examples)
    payload = {
        "model": data | {"summary": _drawn(data["summary"])},
        "labels": output_names(rules),
        "columns": _columns(rules, rows),
        "about": _about(rules),
        "sentences": [_sentence(rules, r, one) for r, one in enumerate(sentences(rules))],
        "evaluations": evaluations_to_data(evaluations or {}),
        "verdict": verdict(evaluations or {}),
        "faithful": next((one.faithful for one in (evaluations or {}).values()), ""),
        "meant": next((" ".join(meaning(one)) for one in (evaluations or {}).values()), ""),
        "held": held(rules),
        "whole": glance(rules, rules.effects() if effects is None else effects),
        "examples": rows,
        "unit": UNITS.get(type(rules.link), "The answer is the sum of what rules add."),
        "terms": MAX_TERMS,
        "typical": rules.typical.tolist(),
        "unknown": _begun_unknown(rules),
    }
    pieces = {
        "title": html.escape(title or f"Rules for {' '.join(rules.target_name.split())}"),
        "text": html.escape(rules.to_text()),
        "made_by": html.escape(data["made_by"]),
        # In a script element only "<" could end it or begin a comment.
        "data": json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
        "style": _part("page.css"),
        "script": _part("page.js"),
    }
    page = re.sub(r"\{(\w+)\}", lambda place: pieces[place[1]], _part("page.html"))
    if path is not None:
        write(path, page)
    return page


def _drawn(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    """What pictures show of the data."""
    hidden = ("quantiles", "reach", "evidence", "effects")
    return None if summary is None else {key: value for key, value in summary.items() if key not in hidden}


def _part(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8").rstrip("\n")


def _about(rules: RuleBase) -> str:
    kind = "tells classes apart" if rules.classes is not None else "predicts a number"
    each = f"with {number(rules.n_conditions.mean(), 1.0)} conditions on average"
    what = f"{count(rules.n_rules, 'rule')}, {'which always holds' if holds_always(rules) else each}"
    seen = "" if rules.summary is None else f", learned from {count(rules.summary.n_rows, 'row')}"
    changed = f" Changed by hand: {'; '.join(rules.edits)}." if rules.edits else ""
    prior = f" {said}" if (said := priors(rules) or held(rules)) else ""
    return f"A model that {kind} by {count(rules.n_features, 'column')}: {what}{seen}.{prior}{changed}"


def _columns(rules: RuleBase, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the page shows of each column, beside what the model knows."""
    weights = impacts(rules).sum(axis=0) + _steepness(rules)
    lacking = np.zeros(rules.n_features) if rules.summary is None else np.asarray(rules.summary.missing)
    found = []
    for j, column in enumerate(rules.columns):
        one = {"name": one_line(column.name), "weight": float(weights[j]) if rules.used[j] else 0.0}
        one["mayLack"] = bool(lacking[j] > 0 or any(row["values"][j] is None for row in rows))
        of_kind = _levels(column) if isinstance(column, Category) else _numbers(rules, j, column)
        found.append(one | of_kind)
    return found


def _steepness(rules: RuleBase) -> np.ndarray:
    """How much linear conclusions move with each column, in all."""
    slopes = np.abs(rules.consequents[:, 1:]).max(axis=2, initial=0.0).sum(axis=0)
    return np.bincount(rules.layout.group, slopes, rules.n_features) if rules.order else np.zeros(rules.n_features)


def _levels(column: Category) -> dict[str, Any]:
    return {"levels": [quoted(label) for label in column.labels], "possible": len(column.levels)}


def _numbers(rules: RuleBase, j: int, column: Number) -> dict[str, Any]:
    looked_at = places(rules, j)
    return {
        "levels": None,
        "isDate": column.is_date,
        "isWhole": is_whole(rules, j),
        "two": looked_at.tolist() if len(looked_at) == 2 else None,
        "range": seen_range(rules, j),
        "shown": shown_range(rules, j),
        "step": step(rules, j),
    }


def _begun_unknown(rules: RuleBase) -> list[int]:
    """Columns of which one begins with a missing cell: it is commoner than any level."""
    if rules.summary is None:
        return []
    missing = [rules.summary.share_missing(j) for j in range(rules.n_features)]
    shares = [n / (np.sum(n) or 1.0) for n in rules.summary.levels]
    return [j for j, one in enumerate(shares) if len(one) and missing[j] > (1 - missing[j]) * np.max(one)]


def _sentence(rules: RuleBase, r: int, said: Sentence) -> dict[str, Any]:
    """A rule in words, with the column that each condition is about and where it is met."""
    conditions = [_condition(rules, r, j, text) for j, text in worded_conditions(rules, r, words=True)]
    shares = None
    if rules.classes is not None and rules.order == 0:
        shares = np.asarray(rules.link.of_one_rule(rules.consequents[r, 0]), float).tolist()
    return {
        "conditions": conditions,
        "conclusion": conclusion(rules, r, MAX_TERMS),
        "shares": shares,
        "share": said.share,
        "seen": said.seen,
        "isRest": said.is_rest,
        "origin": _origin(rules, r),
    }


def _condition(rules: RuleBase, r: int, j: int, text: str) -> list[Any]:
    """As a list, for there may be thousands: text, column, top, where it is met, and whether it excludes."""
    read = read_condition(rules, r, j)
    low, high = (None if end is None else briefly(end) for end in (read.low, read.high))
    return [text, j, top(rules, r, j), low, high, int(read.worst < 0.5)]


def _origin(rules: RuleBase, r: int) -> list[float] | None:
    """By column, where a linear conclusion is measured from; of categories that is their average."""
    if not rules.order:
        return None
    found = np.zeros(rules.n_features)
    found[rules.layout.numbers] = origin(rules, r)[: rules.layout.n_numbers]
    return found.tolist()


def _examples(rules: RuleBase, examples: Any) -> list[dict[str, Any]]:
    """Rows as cells, None where one is missing, with their names in the table."""
    if examples is None:
        return []
    cells = np.asarray(rules.cells(examples), dtype=float)
    names = examples.index if hasattr(examples, "iloc") else range(1, 1 + len(cells))
    rows = [[None if np.isnan(cell) else cell for cell in row] for row in cells.tolist()]
    return [{"name": f"row {name}", "values": row} for name, row in zip(names, rows, strict=True)]
