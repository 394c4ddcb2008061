"""One function for each command: what was typed in, what is printed and written out, and no mathematics."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from .._progress import Muttering, count_on
from .._writing import refuse_unwritable, write
from ..report.evaluation import to_text
from ..report.phrases import held
from ..report.text import shortly
from ..rules.conditions import beyond
from ..rules.evaluation import Evaluation, verdict
from ..rules.wording import count, one_line, unheard_of
from ..tables.cells import number_in
from ..tables.columns import remarks
from ..tables.files import dumps
from ..tables.large import is_large
from ..tables.model import Model
from ..tables.reading import MISSING, Table, only, refuse_no_file
from .speech import aside, quiet, say

__all__ = ["check_rules", "evaluate", "explain", "export", "fit", "info", "predict", "report"]

FORMULAS = "=+-@\t\r"
"""What texts begin with that spreadsheets run."""
OFTEN = 10.0
"""Seconds between words on progress to whoever is not at a terminal."""
LINE = 110
"""Letters in a line of text."""


def fit(options: argparse.Namespace) -> None:
    """Learn rules from a table, and write model and page."""
    check_rules(options.rules)
    refuse_no_file(options.data)
    if options.test:
        refuse_no_file(options.test)
    out = options.out or options.data.with_suffix(".rules.json")
    page = options.report or out.with_suffix(".html")
    _check_new(out, options.data, options.test)
    _check_new(page, options.data, options.test, out)
    started = time.perf_counter()
    model = _fitted(options)
    lost = _lost(model, out, page)
    if options.json:
        said = _about(model) | {"notes": model.notes} | _places(model, out, page, lost)
        print(json.dumps(said | {"seconds": round(time.perf_counter() - started, 2)}))
    else:
        print(f"\n{model.rules.to_text() if lost else shortly(model.rules, 'the page shows all')}\n")
        _show_fitted(model, options.rules)
    if lost:
        raise ValueError(f"{'; '.join(lost.values())}; the rules are printed instead.")
    if not options.json:
        print(f"\nWrote {out} and {page}; open the page in a browser.")


def _fitted(options: argparse.Namespace) -> Model:
    with Muttering(aside, OFTEN) as muttering:
        return _fitted_while(muttering, options)


def _fitted_while(muttering: Muttering, options: argparse.Namespace) -> Model:
    if options.json:
        watch = muttering.listen_to
    else:
        watch = partial(_count if is_large(options.data) else _watch, muttering)
    return Model.fit(
        options.data,
        options.target,
        task=options.task,
        n_rules=options.rules,
        conditions=options.conditions,
        skip=options.skip,
        categorical=options.categorical,
        missing=options.missing or MISSING,
        class_weight=None if options.unbalanced else "balanced",
        held_out=options.held_out,
        weight=options.weight,
        group=options.group,
        by=options.by,
        after=options.after,
        test=options.test,
        prior=_prior(options.prior),
        positive=options.positive,
        threshold=options.threshold,
        minutes=options.minutes,
        random_state=options.seed,
        say=quiet if options.json else say,
        watch=watch,
    )


def _lost(model: Model, out: Path, page: Path) -> dict[Path, str]:
    """Write what was learned; files that could not be written, with the reason."""
    writers: dict[Path, Callable[[Path], Any]] = {out: model.save, page: model.to_html}
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
    places = {"model": out, "report": page}
    said: dict[str, Any] = {name: None if path in lost else str(path) for name, path in places.items()}
    whole = dumps(model.rules, model.evaluations, model.missing)
    return said | ({"rules": json.loads(whole)} if out in lost else {})


def _show_fitted(model: Model, asked: int | None) -> None:
    _show_measures(model)
    if asked and model.rules.n_rules < asked:
        print(f"\nOf {asked} rules those that added nothing were dropped.")
    if model.rules.order:
        print("\nFor short IF–THEN rules instead of linear functions, add --conditions 3.")


def _watch(muttering: Muttering, estimator: Any) -> None:
    """Show progress: on a terminal as a bar, or without one as a counter, and elsewhere as a line now and then."""
    if not (sys.stdout.isatty() and _has_bar(estimator)):
        _count(muttering, estimator)


def _count(muttering: Muttering, estimator: Any) -> None:
    """Show progress without a bar, which knows nothing of passes over blocks of rows."""
    if sys.stderr.isatty():
        count_on(estimator, sys.stderr)
    else:
        muttering.listen_to(estimator)


def _has_bar(estimator: Any) -> bool:
    """Give an estimator a progress bar, if scikit-learn and rich have one."""
    try:
        from sklearn.callback import ProgressBar

        estimator.set_callbacks(ProgressBar())
    except ImportError:
        return False
    return True


def check_rules(number: int | None) -> None:
    """Complain about a number of rules that is none."""
    if number is not None and number < 1:
        raise ValueError(f"--rules must be a whole number above zero, got {number}.")


def _check_new(path: Path, *others: Path | None) -> None:
    """Complain before hours of work, and not after, about a file that cannot or must not be written."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} into.")
    try:
        refuse_unwritable(path)
        taken = any(_same(path, other) for other in others if other)
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error.strerror}); choose another place.") from None
    if taken:
        raise ValueError(f"{path} is a file that this command reads or writes already; choose another name.")


def _same(path: Path, other: Path) -> bool:
    """Whether two names are of one file, as those of links are, or one is of a file in the other's folder."""
    if path.resolve().is_relative_to(other.resolve()):
        return True
    return path.is_file() and other.is_file() and path.samefile(other)


def evaluate(options: argparse.Namespace) -> None:
    """Measure a model on another table."""
    if options.out:
        _check_new(options.out, options.model, options.data)
    model = Model.load(options.model)
    table = model.read(options.data, aside)
    _say_unknown(model, table)
    found = model.evaluate(
        table,
        sample_weight=options.weight,
        groups=options.group,
        positive=options.positive,
        threshold=options.threshold,
        prior=_prior(options.prior),
        random_state=options.seed,
    )
    if options.out:
        found.save(options.out)
    said = {"rules": found} | dict(found.beside)
    print(json.dumps(_measured(said)) if options.json else to_text(found, "rules"))


def _prior(given: list[str] | None) -> Any:
    """How common classes are, as it was typed: as in the data, or a share for each."""
    if given is None or given == ["data"]:
        return None if given is None else "data"
    pairs = [one.rpartition("=") for one in given]
    for one, (name, _, share) in zip(given, pairs, strict=True):
        if not name or number_in(share) is None:
            raise ValueError(f"--prior must be data, or a class and its share such as ill=0.02, got {one!r}.")
    return {name: number_in(share) for name, _, share in pairs}


def predict(options: argparse.Namespace) -> None:
    """Answer for every row of a table."""
    if options.out:
        _check_new(options.out, options.model, options.data)
    model, table = _read(options)
    kept = _kept(table, options.keep)
    answers = _answers(model, table, kept)
    _say_unknown(model, table)
    _say_prior(model)
    _say_beyond(model, table)
    header, rows = [*kept, *answers], [list(row) for row in zip(*kept.values(), *answers.values(), strict=True)]
    text = _json(header, rows) if options.json else _csv(header, rows)
    if options.out:
        write(options.out, text)
    else:
        sys.stdout.write(text)


def _kept(table: Table, names: Sequence[str]) -> Table:
    """Columns that are to stand beside the answers."""
    if unknown := [name for name in names if name not in table]:
        raise ValueError(f"there is no column {unknown[0]!r} to keep; there are {', '.join(table)}.")
    return {name: table[name] for name in names}


def _answers(model: Model, table: Table, others: Iterable[str]) -> dict[str, list[Any]]:
    """What is answered, by column, under names that no other column has."""
    rules, X = model.rules, model.features(table)
    odds = {}
    if rules.classes is not None:
        shares = rules.probabilities(X).T.tolist()
        odds = {f"p({label})": column for label, column in zip(rules.classes.tolist(), shares, strict=True)}
    found = {rules.target_name + " (answer)" * (rules.target_name in odds): rules(X).tolist()} | odds
    return {name + " (answer)" * (name in others): column for name, column in found.items()}


def _json(header: list[str], rows: list[list[Any]]) -> str:
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows]) + "\n"


def _csv(header: list[str], rows: list[list[Any]]) -> str:
    text, harmless = io.StringIO(), [[_harmless(cell) for cell in row] for row in [header, *rows]]
    csv.writer(text, lineterminator="\n").writerows(harmless)
    if harmless != [header, *rows]:
        aside("texts that begin with =, +, -, @ or a tab have a ' before them, so that no spreadsheet runs them")
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; signs alone and numbers are none."""
    is_formula = isinstance(cell, str) and len(cell) > 1 and cell[0] in FORMULAS and number_in(cell) is None
    return f"'{cell}" if is_formula else cell


def explain(options: argparse.Namespace) -> None:
    """Say why one row is answered as it is."""
    model, table = _read(options)
    found = model.explain(table, options.row)
    _say_unknown(model, only(table, options.row))
    print(json.dumps({"row": options.row} | found.to_data()) if options.json else found)


def report(options: argparse.Namespace) -> None:
    """Write the rules as a web page."""
    model = Model.load(options.model)
    out = options.out or options.model.with_suffix(".html")
    _check_new(out, options.model, options.examples)
    examples = options.examples and model.read(options.examples, aside)
    model.to_html(out, title=options.title, examples=examples)
    print(json.dumps({"report": str(out)}) if options.json else f"Wrote {out}; open it in a browser.")


def export(options: argparse.Namespace) -> None:
    """Write the model for other programs."""
    _check_new(options.onnx, options.model)
    model = Model.load(options.model)
    made = model.to_onnx()
    write(options.onnx, made.SerializeToString())
    inputs, outputs = ([one.name for one in ends] for ends in (made.graph.input, made.graph.output))
    if options.json:
        print(json.dumps({"onnx": str(options.onnx), "inputs": inputs, "outputs": outputs}))
    else:
        print(f"Wrote {options.onnx}; its inputs are {', '.join(inputs)}.")


def info(options: argparse.Namespace) -> None:
    """Show what a model is."""
    model = Model.load(options.model)
    if options.json:
        print(json.dumps(_about(model)))
        return
    print(shortly(model.rules, "sessc report shows all"))
    print(f"\n{_needed(model)}")
    if model.evaluations:
        print()
        _show_measures(model)


def _needed(model: Model) -> str:
    """Which columns a table to be answered for must have."""
    rules = model.rules
    used = [one_line(name) for name in model.used]
    rest = rules.n_features - len(used)
    others = f"; {count(rest, 'other column')} may be left out" if rest else ""
    needed = f"the columns {', '.join(used)}" if used else "no column"
    return fill(f"A table needs {needed}{others}.", LINE)


def _show_measures(model: Model) -> None:
    (name, own), *others = model.evaluations.items()
    print(to_text(replace(own, beside=dict(others)), name, " held out"))
    if sentence := verdict(model.evaluations):
        print(fill(sentence, LINE))


def _about(model: Model) -> dict[str, Any]:
    """What a model is, for machines."""
    rules = model.rules
    return {
        "target": rules.target_name,
        "classes": None if rules.classes is None else rules.classes.tolist(),
        "columns": list(rules.feature_names),
        "used": model.used,
        "n_rules": rules.n_rules,
        "order": rules.order,
        "conditions": rules.n_conditions.tolist(),
        "evaluations": _measured(model.evaluations),
        "verdict": verdict(model.evaluations),
    }


def _measured(evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Measures for machines, with their intervals and what they are about."""
    return {
        name: dict(one.measures)
        | {"n_rows": one.n_rows, "faithfulness": one.faithfulness, "intervals": dict(one.intervals)}
        | {"positive": one.positive, "threshold": one.threshold}
        | {"prior": None if one.prior is None else one.prior.tolist()}
        for name, one in evaluations.items()
    }


def _read(options: argparse.Namespace) -> tuple[Model, Table]:
    model, prior = Model.load(options.model), _prior(options.prior)
    model = model if prior is None else model.with_prior(prior)
    return model, model.read(options.data, aside, [*model.used, *getattr(options, "keep", ())])


def _say_unknown(model: Model, table: Table) -> None:
    """Which cells counted as unknown, beside the answers."""
    for note in remarks(table, model.rules.columns, model.rules.used):
        aside(note)


def _say_prior(model: Model) -> None:
    """For which classes probabilities hold, and how to ask for others, if those of the data are others."""
    summary, sentence = model.rules.summary, held(model.rules)
    if sentence:
        assert summary is not None
        others = summary.shares is not None and abs(summary.prior - summary.shares).max() >= 0.01
        aside(sentence[:-1] + ("; for classes as common as in the data add --prior data" if others else ""))


def _say_beyond(model: Model, table: Table) -> None:
    """Which numbers are unlike all that rules were learned from."""
    rules = model.rules
    cells = np.asarray(rules.cells(model.features(table)))
    far = beyond(rules, cells)
    for j in np.flatnonzero(far.any(axis=0) & rules.used).tolist():
        aside(unheard_of(rules, j, cells[far[:, j], j]))
