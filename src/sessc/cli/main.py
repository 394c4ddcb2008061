"""The command line: parsing and printing, no mathematics."""

from __future__ import annotations

import argparse
import codecs
import csv
import io
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._writing import refuse_unwritable, write

if TYPE_CHECKING:
    from ..rules.explanation import Explanation
    from ..tables.columns import Table
    from ..tables.model import Model

__all__ = ["main"]

EXAMPLES = {
    "": """\
  sessc fit patients.csv --target diagnosis      learn rules; writes patients.rules.json and patients.rules.html
  sessc predict patients.rules.json new.csv      answers for new rows, as CSV
  sessc explain patients.rules.json new.csv --row 3
  sessc export patients.rules.json --onnx rules.onnx
""",
    "fit": """\
  sessc fit patients.csv --target diagnosis
  sessc fit patients.csv --target diagnosis --rules 4 --conditions 3      few and short rules
  sessc fit patients.csv --target diagnosis --skip name --skip "post code" --categorical ward
""",
    "predict": """\
  sessc predict patients.rules.json new.csv
  sessc predict patients.rules.json new.csv --out answers.csv
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


PLAIN = {"±": "+/-", "–": "-", "²": "2"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """What a stream that lacks letters shows in their place."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    plain = "".join(PLAIN.get(letter, letter) for letter in lacking)
    return plain.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error("sessc.plain", _plainly)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``sessc`` command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sessc.plain")
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()  # at exit it would be too late to say what went wrong
        return code
    except KeyboardInterrupt:
        return 130  # as shells say of what was interrupted
    except BrokenPipeError:
        _stop_talking()
        return 0
    except (ValueError, OSError, ImportError) as error:
        message = _of_system(error) if isinstance(error, OSError) else None
        print(f"sessc: {message or error}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:
            _stop_talking()
        return 2


def _stop_talking() -> None:
    """Nobody hears what is left to say, so at exit nothing is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    """Tell whoever is reading; work goes on if nobody is."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _stop_talking()


def _of_system(error: OSError) -> str | None:
    """What the system complains about, in words."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {error.filename}."
    return error.strerror and (f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror}.")


def _parser() -> argparse.ArgumentParser:
    from .._version import __version__

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="sessc",
        description="Fuzzy rule models that people can read.",
        epilog="examples:\n" + EXAMPLES[""],
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=f"sessc {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Any, about: str, *arguments: str) -> argparse.ArgumentParser:
        one = commands.add_parser(
            name,
            help=about,
            description=about[0].upper() + about[1:] + ".",
            epilog="examples:\n" + EXAMPLES[name],
            formatter_class=raw,
        )
        for argument in arguments:
            one.add_argument(argument, type=Path, help=FILES[argument])
        one.set_defaults(run=run)
        return one

    fit = command("fit", _fit, "learn rules from a table", "data")
    fit.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    fit.add_argument("--task", choices=("classes", "number"), help="what the target is (default: as it looks)")
    fit.add_argument("--rules", type=int, metavar="R", help="number of rules (default: chosen from the data)")
    fit.add_argument("--conditions", type=float, metavar="C", help="short rules, of so many conditions on average")
    again: dict[str, Any] = {"action": "append", "default": [], "metavar": "COLUMN"}
    fit.add_argument("--skip", **again, help="a column to leave out; repeat for more")
    fit.add_argument("--categorical", **again, help="a column of numbers that are only names; repeat for more")
    fit.add_argument(
        "--unbalanced", action="store_true", help="let common classes weigh more (default: all weigh the same)"
    )
    fit.add_argument(
        "--held-out", type=float, default=0.25, metavar="SHARE", help="rows to test on (default: 0.25)"
    )
    fit.add_argument("--seed", type=int, default=0, help="of the random choices (default: 0)")
    fit.add_argument("--out", type=Path, metavar="FILE", help="the model (default: beside the data)")
    fit.add_argument("--report", type=Path, metavar="FILE", help="the report page (default: beside the model)")
    fit.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    predict = command("predict", _predict, "answer for every row of a table, as CSV", "model", "data")
    predict.add_argument("--out", type=Path, metavar="FILE", help="where to (default: the screen)")
    predict.add_argument("--json", action="store_true", help="print a JSON list instead of CSV")

    explain = command("explain", _explain, "say why one row is answered as it is", "model", "data")
    explain.add_argument("--row", type=int, default=1, help="which row, counted from 1 (default: 1)")
    explain.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    report = command("report", _report, "write the rules as an interactive web page", "model")
    report.add_argument("--out", type=Path, metavar="FILE", help="the page (default: beside the model)")
    report.add_argument("--title", help="the page's title")
    report.add_argument(
        "--examples", type=Path, metavar="TABLE", help="rows to start from, which the page will contain"
    )

    report.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    export = command("export", _export, "write the model for other programs", "model")
    export.add_argument("--onnx", type=Path, required=True, metavar="FILE", help="an ONNX file")
    export.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    info = command("info", _info, "show what a model is", "model")
    info.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    demo = command("demo", _demo, "learn rules for the breast cancer data inside scikit-learn")
    demo.add_argument("--rules", type=int, default=4, metavar="R", help="number of short rules (default: 4)")
    return parser


FILES = {"data": "a table: CSV, TSV or Parquet", "model": "a model that fit wrote"}


def _fit(options: argparse.Namespace) -> int:
    from ..tables.columns import read
    from ..tables.training import train

    _check_rules(options.rules)
    heard: list[str] = []
    table = read(options.data, heard.append)
    out = options.out or options.data.with_suffix(".rules.json")
    page = options.report or out.with_suffix(".html")
    _check_new(out, options.data)
    _check_new(page, options.data, out)
    say = _quiet if options.json else _say
    for note in heard:
        say(f"{options.data}: {note}.")
    started = time.perf_counter()
    model, notes = train(
        table,
        options.target,
        task=options.task,
        n_rules=options.rules,
        conditions=options.conditions,
        skip=options.skip,
        categorical=options.categorical,
        balanced=not options.unbalanced,
        held_out=options.held_out,
        seed=options.seed,
        say=say,
        watch=_quiet if options.json else _watch,
    )
    lost = _lost(model, out, page)
    if options.json:
        seconds = round(time.perf_counter() - started, 2)
        said = _about(model) | {"notes": heard + notes} | _places(model, out, page, lost) | {"seconds": seconds}
        print(json.dumps(said))
    else:
        _show_fitted(model, options.rules)
    if lost:
        raise ValueError(f"{'; '.join(lost.values())}; the rules are printed instead.")
    if not options.json:
        print(f"\nWrote {out} and {page}; open the page in a browser.")
    return 0


def _lost(model: Model, out: Path, page: Path) -> dict[Path, str]:
    """Write what was learned; files that could not be written, with the reason."""
    from ..tables.files import save

    title = f"Rules for {model.rules.target_name}"
    writers: dict[Path, Callable[[Path], Any]] = {
        out: partial(save, model),
        page: partial(model.rules.to_html, title=title, evaluations=model.evaluations),
    }
    lost = {}
    for path, writer in writers.items():
        try:
            writer(path)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            lost[path] = f"{path} could not be written ({why})"
    return lost


def _places(model: Model, out: Path, page: Path, lost: Mapping[Path, str]) -> dict[str, Any]:
    """Where model and page are, for machines; and the model itself if it is nowhere."""
    from ..tables.files import dumps

    places = {"model": out, "report": page}
    said: dict[str, Any] = {name: None if path in lost else str(path) for name, path in places.items()}
    return said | ({"rules": json.loads(dumps(model))} if out in lost else {})


def _show_fitted(model: Model, asked: int | None) -> None:
    print(f"\n{model.rules}\n")
    _show_measures(model)
    if asked and model.rules.n_rules < asked:
        print(f"\nOf {asked} rules those that added nothing were dropped.")
    if model.rules.order:
        print("\nFor short IF–THEN rules instead of linear functions, add --conditions 3.")


def _watch(estimator: Any) -> None:
    """Show progress to whoever sits at a terminal: as a bar, or where there is none as a counter."""
    from .._progress import count_on

    if not (sys.stdout.isatty() and _has_bar(estimator)) and sys.stderr.isatty():
        count_on(estimator, sys.stderr)


def _has_bar(estimator: Any) -> bool:
    """Give an estimator a progress bar, if scikit-learn and rich have one."""
    try:
        from sklearn.callback import ProgressBar

        estimator.set_callbacks(ProgressBar())
    except ImportError:
        return False
    return True


def _check_rules(number: int | None) -> None:
    if number is not None and number < 1:
        raise ValueError(f"--rules must be a whole number above zero, got {number}.")


def _check_new(path: Path, *others: Path | None) -> None:
    """Complain before hours of work, and not after, about a file that cannot or must not be written."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} into.")
    if any(_same(path, other) for other in others if other):
        raise ValueError(f"{path} is a file that this command reads or writes already; choose another name.")
    try:
        refuse_unwritable(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error.strerror}); choose another place.") from None


def _same(path: Path, other: Path) -> bool:
    """Whether two names are of one file, as those of links are."""
    return path.resolve() == other.resolve() or (path.is_file() and other.exists() and path.samefile(other))


def _predict(options: argparse.Namespace) -> int:
    if options.out:
        _check_new(options.out, options.model, options.data)
    model, table = _read(options)
    rules, X = model.rules, model.features(table)
    _say_missing(model, table)
    header, rows = [rules.target_name], rules(X).reshape(-1, 1).tolist()
    if rules.classes is not None:
        header += [f"p({label})" for label in rules.classes.tolist()]
        rows = [row + odds for row, odds in zip(rows, rules.probabilities(X).tolist(), strict=True)]
    if header[0] in header[1:]:
        header[0] += " (answer)"
    text = _json(header, rows) if options.json else _csv(header, rows)
    if options.out:
        write(options.out, text)
    else:
        sys.stdout.write(text)
    return 0


def _json(header: list[str], rows: list[list[Any]]) -> str:
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows]) + "\n"


def _csv(header: list[str], rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _explain(options: argparse.Namespace) -> int:
    from ..tables.model import only

    model, table = _read(options)
    found = model.explain(table, options.row)
    _say_missing(model, only(table, options.row))
    print(json.dumps({"row": options.row} | _explained(found)) if options.json else found)
    return 0


def _explained(found: Explanation) -> dict[str, Any]:
    """An explanation, for machines: lists over rules, in them over classes or by the name of a feature."""
    rules, names = found.rules, found.rules.feature_names
    return {
        "target": rules.target_name,
        "answer": _plain(found.answer),
        "classes": None if rules.classes is None else rules.classes.tolist(),
        "probabilities": None if rules.classes is None else found.probabilities.tolist(),
        "values": dict(zip(names, found.x.tolist(), strict=True)),
        "firing": found.firing.tolist(),
        "grades": _grades(found),
        "contributions": found.contributions.sum(axis=1).tolist(),
        "outputs": found.outputs.tolist(),
        "changes": [
            {"feature": names[c.feature], "column": c.column, "value": c.value, "answer": _plain(c.answer)}
            for c in found.changes
        ],
    }


def _grades(found: Explanation) -> list[dict[str, float]]:
    """How well the row meets the conditions that each rule has."""
    rules, names = found.rules, found.rules.feature_names
    return [
        {name: grade for name, grade, width in zip(names, grades, widths, strict=True) if width < inf}
        for grades, widths in zip(found.grades.tolist(), rules.widths.tolist(), strict=True)
    ]


def _report(options: argparse.Namespace) -> int:
    from ..tables.columns import read
    from ..tables.files import load

    model = load(options.model)
    out = options.out or options.model.with_suffix(".html")
    _check_new(out, options.model, options.examples)
    examples = None if options.examples is None else model.features(read(options.examples, _aside))
    title = options.title or f"Rules for {model.rules.target_name}"
    model.rules.to_html(out, title=title, evaluations=model.evaluations, examples=examples)
    print(json.dumps({"report": str(out)}) if options.json else f"Wrote {out}; open it in a browser.")
    return 0


def _export(options: argparse.Namespace) -> int:
    from ..report.onnx import to_onnx
    from ..tables.files import load

    _check_new(options.onnx, options.model)
    model = load(options.model)
    made = to_onnx(model.rules, model.columns)
    write(options.onnx, made.SerializeToString())
    inputs, outputs = ([one.name for one in ends] for ends in (made.graph.input, made.graph.output))
    if options.json:
        print(json.dumps({"onnx": str(options.onnx), "inputs": inputs, "outputs": outputs}))
    else:
        print(f"Wrote {options.onnx}; its inputs are {', '.join(inputs)}.")
    return 0


def _info(options: argparse.Namespace) -> int:
    from ..tables.files import load

    model = load(options.model)
    if options.json:
        print(json.dumps(_about(model)))
        return 0
    print(model.rules)
    if model.evaluations:
        print()
        _show_measures(model)
    return 0


def _show_measures(model: Model) -> None:
    from ..report.text import _count

    width = max(map(len, model.evaluations), default=0)
    for k, (name, one) in enumerate(model.evaluations.items()):
        if not k:
            print(f"On {_count(one.n_rows, 'row')} held out:")
        print(f"  {name:<{width}}  " + ", ".join(f"{m} {value:.4g}" for m, value in one.measures.items()))


def _about(model: Model) -> dict[str, Any]:
    """What a model is, for machines."""
    rules = model.rules
    return {
        "target": rules.target_name,
        "classes": None if rules.classes is None else rules.classes.tolist(),
        "features": list(rules.feature_names),
        "columns": None if model.columns is None else model.columns.names,
        "n_rules": rules.n_rules,
        "order": rules.order,
        "conditions": rules.n_conditions.tolist(),
        "evaluations": {
            name: dict(one.measures) | {"n_rows": one.n_rows} for name, one in model.evaluations.items()
        },
    }


def _read(options: argparse.Namespace) -> tuple[Model, Table]:
    from ..tables.columns import read
    from ..tables.files import load

    return load(options.model), read(options.data, _aside)


def _aside(note: str) -> None:
    """What is worth knowing but no part of the answer."""
    print(note, file=sys.stderr)


def _say_missing(model: Model, table: Mapping[str, Sequence[str | None]]) -> None:
    """What missing cells counted as, beside the answers."""
    for note in model.columns.notes(table) if model.columns else ():
        _aside(note)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _quiet(*_: Any) -> None:
    pass


def _demo(options: argparse.Namespace) -> int:
    from sklearn.base import clone
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from ..tsk.tuning import TSKClassifierCV

    _check_rules(options.rules)
    started = time.perf_counter()
    data = load_breast_cancer(as_frame=False)
    names = tuple(data.feature_names)
    X, X_test, y, y_test = train_test_split(
        data.data, data.target_names[data.target], test_size=0.3, stratify=data.target, random_state=0
    )
    chosen = TSKClassifierCV(class_weight="balanced", random_state=0).fit(X, y)
    short = clone(chosen).set_params(n_rules=options.rules, order=0, conditions=2).fit(X, y)
    line = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)).fit(X, y)

    print(f"Breast cancer (WDBC): {len(data.data)} tumours, {len(names)} measurements, benign or malignant?")
    print(f"How often models are right about {len(y_test)} tumours they have not seen:\n")
    print("                          raw (RCA)  balanced (BCA)")
    for name, model in (("rules as chosen", chosen), ("short rules", short), ("logistic regression", line)):
        answers = model.predict(X_test)
        raw, balanced = accuracy_score(y_test, answers), balanced_accuracy_score(y_test, answers)
        print(f"  {name:<22} {100 * raw:8.1f} %     {100 * balanced:8.1f} %")

    print("\n--- Rules as chosen: TSKClassifierCV() takes the simplest that predict as well as any\n")
    print(f"{replace(chosen.rules_, feature_names=names)}\n")
    settings = [f"{name.removeprefix('clusterer__')} = {value}" for name, value in chosen.best_params_.items()]
    print(f"Settings chosen by cross-validation: {', '.join(settings)}.")
    heaviest = sorted(zip(chosen.feature_importances_, names, strict=True), reverse=True)[:3]
    print("Features that move the answer most: " + ", ".join(name for _, name in heaviest) + ".")

    print(f"\n--- Short rules: TSKClassifierCV({options.rules}, order=0, conditions=2)")
    print("--- Rules that add nothing are dropped; 'about 5 (± 1)' is a bell curve of that centre and width\n")
    print(f"{replace(short.rules_, feature_names=names)}\n")
    print(f"All of this took {time.perf_counter() - started:.0f} s.")
    return 0
