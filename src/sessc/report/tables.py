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
    has_evidence = bool(found[0].seen)
    widths = (0.26, 0.2, 0.12, 0.22) if has_evidence else (0.44, 0.29)
    columns = "@{}r" + "".join(rf"p{{{width}\linewidth}}" for width in widths)
    columns += "r" * (len(_header(found)) - 1 - len(widths)) + "@{}"
    head = " & ".join(_header(found)) + r" \tabularnewline"
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *lines, r"\hline", r"\end{tabular}"]
    )


def _latex_row(k: int, sentence: Sentence) -> str:
    number, conditions, conclusion, *rest = _cells(k, sentence, _latex, r" \newline ")
    # Narrow columns do not take well to justification, after which only \tabularnewline ends a row.
    narrow = [conditions, conclusion, *(rest if sentence.seen else [])]
    cells = [number, *(rf"\raggedright {cell}" for cell in narrow), *([] if sentence.seen else rest)]
    return " & ".join(cells) + r" \tabularnewline"


def _header(found: list[Sentence]) -> list[str]:
    return ["Rule", "IF", "THEN", *(["Share"] if found[0].share else []), *(["Seen"] if found[0].seen else [])]


def _cells(k: int, sentence: Sentence, escape: Callable[[str], str], newline: str) -> list[str]:
    conditions = f"{newline}AND ".join(map(escape, sentence.conditions)) or "always"
    conclusion = newline.join(map(escape, sentence.conclusion))
    if sentence.is_rest:
        conditions = "otherwise"
    return [str(k + 1), conditions, conclusion, *(escape(one) for one in (sentence.share, sentence.seen) if one)]


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def _latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"±": r"$\pm$", "<": r"$<$", ">": r"$>$"} | {c: "\\" + c for c in "&%$#_{}"}
    special[BREAK] = r"\allowbreak{}"
    breakable = LONG_WORD.sub(lambda word: re.sub(r"([_/])", rf"\1{BREAK}", word[0]), text)
    return "".join(special.get(c, c) for c in breakable)
