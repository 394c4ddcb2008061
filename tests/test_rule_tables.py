"""Rules as Markdown and LaTeX."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from sessc import TSKClassifier, TSKRegressor
from sessc.rows.columns import Number

HOSTILE = ("a|b", "<script>", "50 % of $x_1^2$", "back\\slash {~} & #")


@pytest.fixture(scope="module")
def rules():
    X, y = load_iris(return_X_y=True)
    return TSKClassifier(3, refine=20, random_state=0).fit(X, y).rules_


def test_a_markdown_table_has_a_row_for_each_rule(rules):
    header, line, *rows = rules.to_markdown(max_conditions=2).splitlines()
    assert header == "| Rule | IF | THEN | Share | Seen |"
    assert all(f" of {rules.summary.evidence.weight:g} rows | " in row for row in rows)
    assert len(rows) == rules.n_rules
    assert all(row.count(" | ") == line.count(" | ") for row in rows)
    assert "<br>AND 2 weaker conditions" in rows[0]
    assert replace(rules, summary=None).to_markdown().startswith("| Rule | IF | THEN |\n")


def test_names_cannot_break_a_markdown_table(rules):
    odd = replace(rules, columns=tuple(map(Number, HOSTILE)))
    for row in odd.to_markdown().splitlines():
        assert row.replace(r"\|", "").count("|") == 6
    assert "<script>" not in odd.to_markdown()


def test_latex_names_are_escaped(rules):
    text = replace(rules, columns=tuple(map(Number, HOSTILE))).to_latex()
    assert r"50 \% of \$x\_1\textasciicircum{}2\$" in text
    assert r"back\textbackslash{}slash \{\textasciitilde{}\} \& \#" in text
    assert text.count(r" \tabularnewline") == 1 + rules.n_rules
    body = text.replace(r"\&", "").splitlines()[4:-2]
    assert all(line.count("&") == 4 for line in body)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here to typeset the table with")
def test_latex_typesets(rules, tmp_path):
    table = replace(rules, columns=tuple(map(Number, HOSTILE))).to_latex()
    page = rf"\documentclass{{article}}\begin{{document}}{table}\end{{document}}"
    (tmp_path / "rules.tex").write_text(page, encoding="utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "rules.tex"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here to typeset the table with")
@pytest.mark.parametrize("settings", [{}, {"refine": 20, "conditions": 3}, {"order": 1, "refine": 20}], ids=str)
def test_latex_fits_a_plain_article(settings, tmp_path):
    data = load_wine(as_frame=True)
    rules = TSKClassifier(3, random_state=0, **settings).fit(data.data, data.target_names[data.target]).rules_
    for one in (rules, rules.without_condition(1, "hue") if rules.asks[0, 10] else rules):
        table = rf"\noindent {one.to_latex()}"
        page = rf"\documentclass{{article}}\begin{{document}}{table}\end{{document}}"
        (tmp_path / "rules.tex").write_text(page, encoding="utf-8")
        subprocess.run(["pdflatex", "-halt-on-error", "rules.tex"], cwd=tmp_path, check=True, capture_output=True)
        assert r"Overfull \hbox" not in (tmp_path / "rules.log").read_text(encoding="latin-1")


def test_linear_rules_have_a_line_for_each_class():
    X, y = load_iris(return_X_y=True)
    linear = TSKClassifier(2, order=1, random_state=0).fit(X, y).rules_
    assert linear.to_markdown().splitlines()[2].count("<br>y=") == 2
    amount = TSKRegressor(2, random_state=0).fit(X[:, :3], X[:, 3]).rules_
    assert "y = " in amount.to_latex()


def test_text_breaks_long_lines(rules):
    long = replace(rules, columns=tuple(Number(f"a rather long name of feature number {d}") for d in range(4)))
    assert max(map(len, long.to_text(width=60).splitlines()[2:])) <= 60
    assert max(map(len, long.to_text().splitlines())) > 60
    assert long.to_text(width=60).split() == long.to_text().split()


def test_words_are_optional(rules):
    assert "(high)" in rules.to_text() or "(low)" in rules.to_text()
    plain = rules.to_text(words=False)
    assert not any(word in plain for word in ("low)", "medium)", "high)"))
    assert np.all(rules.summary.support > 0)
    assert "of 150 rows)" in plain
