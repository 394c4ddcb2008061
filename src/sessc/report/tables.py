"""Rules as tables, for web pages and papers."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..rules.base import RuleBase
from .phrases import Sentence, sentences

__all__ = ["to_latex", "to_markdown"]

LONG_WORD = re.compile(r"\S{20,}")
"""What LaTeX may break between its parts, as it hyphenates no names."""
BREAK = "\u200b"


def to_markdown(
    rules: RuleBase, *, max_conditions: int | None = None, max_terms: int | None = None, words: bool = True
) -> str:
    """The rules as a Markdown table, one row for each."""
    found = sentences(rules, max_conditions, max_terms, words)
    rows = [_cells(k, sentence, _markdown, "<br>") for k, sentence in enumerate(found)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [_header(found), ["---"] * len(rows[0]), *rows])


def to_latex(
    rules: RuleBase, *, max_conditions: int | None = None, max_terms: int | None = None, words: bool = True
) -> str:
    """The rules as a LaTeX table as wide as a line, which needs no package."""
    found = sentences(rules, max_conditions, max_terms, words)
    lines = [_latex_row(k, sentence) for k, sentence in enumerate(found)]
    columns = r"@{}rp{0.44\linewidth}p{0.29\linewidth}" + "r" * (len(_header(found)) - 3) + "@{}"
    head = " & ".join(_header(found)) + r" \tabularnewline"
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *lines, r"\hline", r"\end{tabular}"]
    )


def _latex_row(k: int, sentence: Sentence) -> str:
    number, conditions, conclusion, *share = _cells(k, sentence, _latex, r" \newline ")
    # Narrow columns do not take well to justification, after which only \tabularnewline ends a row.
    cells = [number, rf"\raggedright {conditions}", rf"\raggedright {conclusion}", *share]
    return " & ".join(cells) + r" \tabularnewline"


def _header(found: list[Sentence]) -> list[str]:
    return ["Rule", "IF", "THEN", *(["Share"] if found[0].share else [])]


def _cells(k: int, sentence: Sentence, escape: Callable[[str], str], newline: str) -> list[str]:
    conditions = f"{newline}AND ".join(map(escape, sentence.conditions)) or "always"
    conclusion = newline.join(map(escape, sentence.conclusion))
    return [str(k + 1), conditions, conclusion, *([escape(sentence.share)] if sentence.share else [])]


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def _latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"±": r"$\pm$", "<": r"$<$", ">": r"$>$"} | {c: "\\" + c for c in "&%$#_{}"}
    special[BREAK] = r"\allowbreak{}"
    breakable = LONG_WORD.sub(lambda word: re.sub(r"([_/])", rf"\1{BREAK}", word[0]), text)
    return "".join(special.get(c, c) for c in breakable)
