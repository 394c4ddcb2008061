"""Rules as tables, for web pages and papers."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..rules import RuleBase
from .text import Sentence, sentences

__all__ = ["to_latex", "to_markdown"]


def to_markdown(rules: RuleBase, *, max_conditions: int | None = None, words: bool = True) -> str:
    """The rules as a Markdown table, one row for each.

    Parameters are those of :func:`sessc.report.text.to_text`.
    """
    found = sentences(rules, max_conditions, words)
    rows = [_cells(k, sentence, _markdown, "<br>") for k, sentence in enumerate(found)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [_header(found), ["---"] * len(rows[0]), *rows])


def to_latex(rules: RuleBase, *, max_conditions: int | None = None, words: bool = True) -> str:
    """The rules as a LaTeX table, which needs no package.

    Parameters are those of :func:`sessc.report.text.to_text`.
    """
    found = sentences(rules, max_conditions, words)
    lines = [" & ".join(_cells(k, sentence, _latex, " \\newline ")) + r" \\" for k, sentence in enumerate(found)]
    columns = r"rp{0.5\linewidth}p{0.3\linewidth}" + "l" * (len(_header(found)) - 3)
    head = " & ".join(_header(found)) + r" \\"
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *lines, r"\hline", r"\end{tabular}"]
    )


def _header(found: list[Sentence]) -> list[str]:
    return ["Rule", "IF", "THEN", *(["For"] if found[0].support else [])]


def _cells(k: int, sentence: Sentence, escape: Callable[[str], str], newline: str) -> list[str]:
    conditions = f"{newline}AND ".join(map(escape, sentence.conditions))
    conclusion = newline.join(map(escape, sentence.conclusion))
    return [str(k + 1), conditions, conclusion, *([escape(sentence.support)] if sentence.support else [])]


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*|\[\]])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))


def _latex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"±": r"$\pm$", "<": r"$<$", ">": r"$>$"} | {c: "\\" + c for c in "&%$#_{}"}
    return "".join(special.get(c, c) for c in text)
