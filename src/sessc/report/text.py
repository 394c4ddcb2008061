"""Rules as IF-THEN sentences in the user's own names and units."""

from __future__ import annotations

import shutil
import sys
from textwrap import fill

import numpy as np

from ..rules.base import RuleBase
from ..rules.wording import count, number, one_line
from .phrases import has_scores, holds_always, priors, sentences

__all__ = ["shortly", "to_text"]

MAX_CONDITIONS, MAX_TERMS = 5, 4
"""What ``print`` shows of each rule."""
IN_PYTHON = "to_text() shows all"


def shortly(rules: RuleBase, whole: str = IN_PYTHON) -> str:
    """The rules as ``print`` shows them; ``whole`` says what shows the rest, to whoever is reading."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return to_text(rules, max_conditions=MAX_CONDITIONS, max_terms=MAX_TERMS, width=width, whole=whole)


def to_text(
    rules: RuleBase,
    *,
    max_conditions: int | None = None,
    max_terms: int | None = None,
    words: bool = True,
    width: int | None = None,
    whole: str = IN_PYTHON,
) -> str:
    """The rules as readable text; :meth:`sessc.RuleBase.to_text` says what its parameters mean."""
    found = sentences(rules, max_conditions, max_terms, words)
    parts = ["\n".join(_broken(_head(rules, max_conditions, max_terms, whole).split("\n"), width, ""))]
    for r, sentence in enumerate(found):
        title = f"Rule {r + 1}" + (f" ({sentence.share})" if sentence.share else "")
        lines = [f"  {'AND ' if k else 'IF  '} {line}" for k, line in enumerate(sentence.conditions)]
        then = "THEN" if lines else "ALWAYS"
        if sentence.is_rest:
            lines, then = [], "OTHERWISE"
        lines += [f"  {' ' * len(then) if k else then} {line}" for k, line in enumerate(sentence.conclusion)]
        if sentence.seen:
            lines.append(f"  SEEN {sentence.seen}")
        parts.append("\n".join([title, *_broken(lines, width, " " * 9)]))
    return "\n\n".join(parts)


def _broken(lines: list[str], width: int | None, indent: str) -> list[str]:
    """Long lines broken, but never between a number and its ±."""
    if width is None:
        return lines
    whole = (line.replace("(± ", "(±\u00a0") for line in lines)
    return [fill(line, max(width, 30), subsequent_indent=indent).replace("\u00a0", " ") for line in whole]


def _head(rules: RuleBase, max_conditions: int | None, max_terms: int | None, whole: str) -> str:
    kind = "classification" if rules.classes is not None else "regression"
    conclusions = "constant" if rules.order == 0 else "linear"
    always = ", which always holds," if holds_always(rules) else ""
    head = (
        f"{count(rules.n_rules, 'rule')}{always} for {kind} by {count(rules.n_features, 'feature')}, "
        f"with {conclusions} outputs."
    )
    if 0 < rules.n_conditions.mean() < rules.n_features:
        head += f"\nA rule has {number(rules.n_conditions.mean(), 1.0)} conditions on average."
    if has_scores(rules):
        head += "\nScores are log-odds: how much higher one is than another says how much likelier its class is."
    if held := priors(rules):
        head += f"\n{held}"
    if rules.edits:
        head += f"\nChanged by hand: {'; '.join(map(one_line, rules.edits))}."
    if max_conditions is not None and np.any(rules.n_conditions > max_conditions):
        head += f"\nThe {max_conditions} strongest conditions of each rule are shown; {whole}."
    if max_terms is not None and np.any(rules.n_terms > max_terms):
        head += f"\nThe {max_terms} largest terms of each conclusion are shown; {whole}."
    return head
