"""What can be typed, and how it is explained."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .._version import __version__
from . import commands, demo

__all__ = ["EXAMPLES", "parser"]

EXAMPLES = {
    "": """\
  sessc fit patients.csv --target diagnosis      learn rules; writes patients.rules.json and patients.rules.html
  sessc predict patients.rules.json new.csv      answers for new rows, as CSV
  sessc explain patients.rules.json new.csv --row 3
  sessc evaluate patients.rules.json other.csv   how well it does on other rows
  sessc export patients.rules.json --onnx rules.onnx
""",
    "fit": """\
  sessc fit patients.csv --target diagnosis
  sessc fit patients.csv --target diagnosis --rules 4 --conditions 3      few and short rules
  sessc fit patients.csv --target diagnosis --skip name --skip "post code" --categorical ward
  sessc fit patients.csv --target diagnosis --missing NA --missing -99
  sessc fit visits.csv --target diagnosis --group patient --weight n      no patient in both learning and testing
  sessc fit visits.csv --target diagnosis --by date --after 2020-01-01      learn from before, test on after
  sessc fit patients.csv --target diagnosis --test other.csv --prior data --positive ill --threshold 0.2
""",
    "evaluate": """\
  sessc evaluate patients.rules.json other.csv
  sessc evaluate patients.rules.json other.csv --positive ill --threshold 0.2 --prior data
""",
    "predict": """\
  sessc predict patients.rules.json new.csv
  sessc predict patients.rules.json new.csv --keep patient --out answers.csv
""",
    "explain": """\
  sessc explain patients.rules.json new.csv --row 3
  sessc explain patients.rules.json new.csv --row 3 --json
""",
    "report": """\
  sessc report patients.rules.json --title "Who is ill?"
  sessc report patients.rules.json --examples new.csv --out page.html
""",
    "export": """\
  sessc export patients.rules.json --onnx rules.onnx
""",
    "info": """\
  sessc info patients.rules.json
  sessc info patients.rules.json --json
""",
    "demo": """\
  sessc demo --rules 3
""",
}

FILES = {"data": "a table: CSV, TSV or Parquet", "model": "a model that fit wrote"}
ASKED = {"data": "a table with the columns that the rules use, which info names"}


def parser() -> argparse.ArgumentParser:
    """What can be typed."""
    raw = argparse.RawDescriptionHelpFormatter
    whole = argparse.ArgumentParser(
        prog="sessc",
        description="Fuzzy rule models that people can read.",
        epilog="examples:\n" + EXAMPLES[""],
        formatter_class=raw,
    )
    whole.add_argument("--version", action="version", version=f"sessc {__version__}")
    each = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Any, about: str, *arguments: str) -> argparse.ArgumentParser:
        one = each.add_parser(
            name,
            help=about,
            description=about[0].upper() + about[1:] + ".",
            epilog="examples:\n" + EXAMPLES[name],
            formatter_class=raw,
        )
        for argument in arguments:
            about_it = ASKED if "model" in arguments else FILES
            one.add_argument(argument, type=Path, help=about_it.get(argument, FILES[argument]))
        one.set_defaults(run=run)
        return one

    fit = command("fit", commands.fit, "learn rules from a table", "data")
    fit.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    fit.add_argument("--task", choices=("classes", "number"), help="what the target is (default: as it looks)")
    fit.add_argument("--rules", type=int, metavar="R", help="number of rules (default: chosen from the data)")
    fit.add_argument("--conditions", type=float, metavar="C", help="short rules, of so many conditions on average")
    again: dict[str, Any] = {"action": "append", "default": [], "metavar": "COLUMN"}
    fit.add_argument("--skip", **again, help="a column to leave out; repeat for more")
    fit.add_argument("--categorical", **again, help="a column of names, be they numbers or many; repeat for more")
    texts = "a text that stands for a missing cell, instead of NA, NaN, null, ? and the like; repeat for more"
    fit.add_argument("--missing", action="append", metavar="TEXT", help=texts)
    fit.add_argument(
        "--unbalanced", action="store_true", help="let common classes weigh more (default: all weigh the same)"
    )
    fit.add_argument(
        "--held-out", type=float, default=0.25, metavar="SHARE", help="rows to test on (default: 0.25)"
    )
    _ask_about_rows(fit)
    fit.add_argument("--by", metavar="COLUMN", help="a date or number by which rows are held out; with --after")
    fit.add_argument("--after", metavar="VALUE", help="hold out the rows from this date or number on; with --by")
    fit.add_argument(
        "--test", type=Path, metavar="TABLE", help="a table of rows to test on, instead of rows held out"
    )
    _ask_about_classes(fit)
    much = "stop searching after so long and take the best so far, which another run may not find again"
    fit.add_argument("--minutes", type=float, metavar="M", help=much)
    fit.add_argument("--seed", type=int, default=0, help="of the random choices (default: 0)")
    fit.add_argument("--out", type=Path, metavar="FILE", help="the model (default: beside the data)")
    fit.add_argument("--report", type=Path, metavar="FILE", help="the report page (default: beside the model)")
    fit.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    evaluate = command(
        "evaluate", commands.evaluate, "measure a model on rows that it did not learn from", "model", "data"
    )
    _ask_about_rows(evaluate)
    _ask_about_classes(evaluate)
    evaluate.add_argument("--seed", type=int, default=0, help="of the random choices (default: 0)")
    evaluate.add_argument("--out", type=Path, metavar="FILE", help="a JSON file of all that was measured")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    predict = command("predict", commands.predict, "answer for every row of a table, as CSV", "model", "data")
    _ask_for_prior(predict)
    predict.add_argument("--out", type=Path, metavar="FILE", help="where to (default: the screen)")
    beside = {**again, "help": "a column of the table to keep beside the answers, such as names; repeat for more"}
    predict.add_argument("--keep", **beside)
    predict.add_argument("--json", action="store_true", help="print a JSON list instead of CSV")

    explain = command("explain", commands.explain, "say why one row is answered as it is", "model", "data")
    _ask_for_prior(explain)
    explain.add_argument("--row", type=int, default=1, help="which row, counted from 1 (default: 1)")
    explain.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    report = command("report", commands.report, "write the rules as an interactive web page", "model")
    report.add_argument("--out", type=Path, metavar="FILE", help="the page (default: beside the model)")
    report.add_argument("--title", help="the page's title")
    report.add_argument(
        "--examples", type=Path, metavar="TABLE", help="rows to start from, which the page will contain"
    )

    report.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    export = command("export", commands.export, "write the model for other programs", "model")
    export.add_argument("--onnx", type=Path, required=True, metavar="FILE", help="an ONNX file")
    export.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    info = command("info", commands.info, "show what a model is", "model")
    info.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    example = command("demo", demo.demo, "learn rules for the breast cancer data inside scikit-learn")
    example.add_argument("--rules", type=int, default=4, metavar="R", help="number of short rules (default: 4)")
    return whole


def _ask_about_rows(command: argparse.ArgumentParser) -> None:
    command.add_argument("--weight", metavar="COLUMN", help="how much each row counts")
    command.add_argument(
        "--group", metavar="COLUMN", help="rows that belong together, such as visits of one patient"
    )


def _ask_about_classes(command: argparse.ArgumentParser) -> None:
    command.add_argument("--positive", metavar="CLASS", help="the class looked for (default: the rarer of two)")
    command.add_argument(
        "--threshold", type=float, metavar="P", help="the probability from which on a row is called so"
    )
    _ask_for_prior(command)


def _ask_for_prior(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--prior",
        action="append",
        metavar="data|CLASS=SHARE",
        help="probabilities where classes are as common as in the data, or as you say; repeat for each class",
    )
