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
from ..rules.base import RuleBase
from ..rules.document import evaluations_to_data, to_data
from ..rules.evaluation import Evaluation
from ..rules.wording import count, number, output_names
from .phrases import UNITS, conclusion, conditions_of, holds_always, sentences

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
) -> str:
    """The rules as a web page; :meth:`sessc.RuleBase.to_html` says what its parameters mean.

    The page is one file. It loads nothing, sends nothing, and works from a disk, on a phone and on paper.
    """
    model = to_data(rules)
    payload = {
        "model": model,
        "labels": output_names(rules),
        "about": _about(rules),
        "sentences": [_sentence(rules, r) for r in range(rules.n_rules)],
        "evaluations": evaluations_to_data(evaluations or {}),
        "examples": _examples(rules, examples),
        "unit": UNITS.get(type(rules.link), "The answer is the sum of what rules add."),
        "terms": MAX_TERMS,
        "typical": rules.typical.tolist(),
        "choices": [
            {"name": choice.name, "features": choice.features, "options": choice.options}
            for choice in rules.choices
        ],
    }
    pieces = {
        "title": html.escape(title or f"Rules for {' '.join(rules.target_name.split())}"),
        "text": html.escape(rules.to_text()),
        "made_by": html.escape(model["made_by"]),
        # In a script element only "<" could end it or begin a comment.
        "data": json.dumps(payload, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"),
        "style": _part("page.css"),
        "script": _part("page.js"),
    }
    page = re.sub(r"\{(\w+)\}", lambda place: pieces[place[1]], _part("page.html"))
    if path is not None:
        write(path, page)
    return page


def _part(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8").rstrip("\n")


def _about(rules: RuleBase) -> str:
    kind = "tells classes apart" if rules.classes is not None else "predicts a number"
    each = f"with {number(rules.n_conditions.mean(), 1.0)} conditions on average"
    what = f"{count(rules.n_rules, 'rule')}, {'which always holds' if holds_always(rules) else each}"
    seen = "" if rules.summary is None else f", learned from {count(rules.summary.n_rows, 'row')}"
    changed = f" Changed by hand: {'; '.join(rules.edits)}." if rules.edits else ""
    return f"A model that {kind} by {count(rules.n_features, 'feature')}: {what}{seen}.{changed}"


def _sentence(rules: RuleBase, r: int) -> dict[str, Any]:
    """A rule in words, with the feature that each condition is about."""
    conditions = [{"text": _held(text), "feature": d} for d, text in conditions_of(rules, r, words=True)]
    shares = None
    if rules.classes is not None and rules.order == 0:
        shares = np.asarray(rules.link.of_one_rule(rules.consequents[r, 0]), float).tolist()
    return {
        "conditions": conditions,
        "conclusion": conclusion(rules, r, MAX_TERMS),
        "shares": shares,
        "share": sentences(rules)[r].share,
    }


def _held(text: str) -> str:
    """A condition that never breaks between a number and its ±."""
    return text.replace("(± ", "(±\u00a0").replace(" (±", "\u00a0(±")


def _examples(rules: RuleBase, examples: Any) -> list[dict[str, Any]]:
    if examples is None:
        return []
    rules.standardize(examples)  # complains about columns that are not the rules'
    names = getattr(examples, "index", range(1, 1 + len(examples)))
    values = np.asarray(examples, dtype=float).tolist()
    return [{"name": f"row {name}", "values": row} for name, row in zip(names, values, strict=True)]
