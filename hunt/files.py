"""Damaged files: models in JSON, tables in CSV and Parquet, estimators in skops files."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sessc import Model, TSKClassifier, trusted_types
from sessc.cli.main import main

from .judging import Broken, Refused, attempt, is_sentence, refuse_odd_numbers

__all__ = ["csv", "learned", "model_file", "parquet", "skops_file"]

Chance = np.random.Generator

ODD: list[Any] = [
    None,
    "x",
    "",
    "\ud800",
    "</script>",
    "\x1b[2J",
    -1,
    0,
    1,
    True,
    [],
    {},
    [[1.0]],
    1e400,
    10**400,
    2**63,
    1e300,
    -1e300,
    1e150,
    1e-300,
    5e-324,
    [None, None],
    [1.0, "a"],
    "NaN",
    "float32",
    "float16",
]


@cache
def learned() -> Path:
    """Two models and the table they were learned from, made once."""
    folder = Path(tempfile.mkdtemp(prefix="hunt-"))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(40, 9, 80).round(2),
            "colour": rng.choice(["red", "blue"], 80),
            "fresh": rng.random(80) < 0.5,
            "seen": pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 700, 80), "D"),
        }
    )
    frame["price"] = (frame["size"] + 9 * (frame["colour"] == "red") + rng.normal(size=80)).round(2)
    frame["kind"] = np.where(frame["price"] > frame["price"].median(), "dear", "cheap")
    frame.loc[::9, "size"] = np.nan
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_parquet(folder / "table.parquet")
    for target, other in (("kind", "price"), ("price", "kind")):
        Model.fit(frame, target, n_rules=2, skip=[other], random_state=0).save(folder / f"{target}.json")
    frame[:20].to_csv(folder / "few.csv", index=False)
    frame[:20].to_parquet(folder / "few.parquet")
    return folder


def _about(what: str, error: Exception) -> Exception:
    error.args = (f"[{what}] {error}",)
    return error


def _places(data: Any, path: tuple = ()) -> list[tuple]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in items for found in [(*path, key), *_places(value, (*path, key))]]


def _damaged(data: Any, rng: Chance) -> tuple[Any, str]:
    """A document with something taken out, put in, or put elsewhere."""
    said = []
    for _ in range(int(rng.integers(1, 4))):
        places = _places(data)
        if not places:
            break
        *way, key = places[rng.integers(len(places))]
        inside = data
        for step in way:
            inside = inside[step]
        fault = int(rng.integers(4))
        if fault == 0:
            del inside[key]
            instead: Any = "deleted"
        elif fault == 1 and isinstance(inside, list):
            instead = json.loads(json.dumps(inside[key]))
            inside.append(instead)
        elif fault == 2:
            other = data
            for step in places[rng.integers(len(places))]:
                if not isinstance(other, (dict, list)) or (isinstance(other, list) and step >= len(other)):
                    break
                if isinstance(other, dict) and step not in other:
                    break
                other = other[step]
            instead = inside[key] = json.loads(json.dumps(other))
        else:
            instead = inside[key] = ODD[rng.integers(len(ODD))]
        said.append(f"{'.'.join(map(str, (*way, key)))} = {str(instead)[:40]!r}")
    return data, "; ".join(said)


def model_file(rng: Chance) -> str:
    """A model file, damaged: refused in a sentence, or a whole model that answers."""
    name = str(rng.choice(["kind", "price"]))
    text = (learned() / f"{name}.json").read_text()
    if rng.random() < 0.75:
        data, about = _damaged(json.loads(text), rng)
        raw = json.dumps(data).replace("Infinity", "1e999").encode()
    else:
        raw, about = _noise(text.encode(), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_bytes(raw)
        try:
            model = attempt(Model.load, path)
            _use(model, Path(folder))
        except Refused:
            raise
        except Exception as error:
            raise _about(about, error) from error
    return about


def _use(model: Model, folder: Path) -> None:
    """Whatever a model that was read may be asked."""
    str(model.rules), model.to_html()
    try:
        answers = model.predict(learned() / "table.csv")
    except ValueError as error:
        if not is_sentence(error):
            raise
        return
    refuse_odd_numbers("answers", answers)
    str(model.explain(learned() / "few.csv", 1))
    model.save(folder / "again.json")
    again = Model.load(folder / "again.json").predict(learned() / "table.csv")
    if not np.array_equal(again, answers):
        raise Broken("saved and read again, it answers otherwise")


def _noise(raw: bytes, rng: Chance) -> tuple[bytes, str]:
    """Bytes changed, cut out, doubled or cut off."""
    data = bytearray(raw)
    fault = str(rng.choice(["flip", "cut", "double", "end", "insert"], p=[0.5, 0.15, 0.1, 0.1, 0.15]))
    start = int(rng.integers(len(data)))
    length = int(rng.integers(1, 40))
    if fault == "flip":
        for place in rng.integers(0, len(data), int(rng.integers(1, 8))):
            data[place] = int(rng.integers(256))
    elif fault == "cut":
        del data[start : start + length]
    elif fault == "double":
        data[start:start] = data[start : start + length]
    elif fault == "end":
        del data[start:]
    else:
        data[start:start] = INSERTED[rng.integers(len(INSERTED))]
    return bytes(data), f"{fault} at {start}"


INSERTED = [
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\n",
    b"\r",
    b",",
    b";",
    b"\t",
    b"1e999",
    b"NaN",
    b"9" * 400,
]


def csv(rng: Chance) -> str:
    """A damaged CSV file, asked about on the command line; now and then learned from."""
    return _table(rng, "csv")


def parquet(rng: Chance) -> str:
    """The same of a Parquet file."""
    return _table(rng, "parquet")


def _table(rng: Chance, kind: str) -> str:
    raw, about = _noise((learned() / f"few.{kind}").read_bytes(), rng)
    model = learned() / f"{rng.choice(['kind', 'price'])}.json"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{kind}"
        path.write_bytes(raw)
        commands: list[list[Any]] = [
            ["predict", model, path, "--json"],
            ["predict", model, path, "--out", Path(folder) / "answers.csv"],
            ["explain", model, path, "--row", "2", "--json"],
            ["evaluate", model, path],
        ]
        if rng.random() < 0.1:
            commands = [["fit", path, "--target", "kind", "--rules", "2", "--out", Path(folder) / "new.json"]]
        command = commands[rng.integers(len(commands))]
        try:
            return _commanded([str(word) for word in command], f"{command[0]}, {about}")
        except Refused:
            raise
        except Exception as error:
            raise _about(f"{command[0]}, {about}", error) from error


def _commanded(command: list[str], about: str) -> str:
    """Run a command here; what it says must be answers, or one sentence on standard error."""
    said, aside = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(aside):
        try:
            code = main(command)
        except SystemExit as stop:
            code = stop.code
    if code == 0 and "--json" in command:
        json.loads(said.getvalue(), parse_constant=_no_number)
    if code not in (0, 2):
        raise Broken(f"exit code {code}")
    if code == 2:
        last = aside.getvalue().strip().splitlines()[-1:]
        if not last or len(last[0].split()) < 4 or "Traceback" in aside.getvalue():
            raise Broken(f"no sentence: {aside.getvalue()[-200:]!r}")
        raise Refused(last[0])
    return about


def _no_number(constant: str) -> None:
    raise Broken(f"{constant} in JSON")


@cache
def _estimator() -> bytes:
    from skops.io import dumps

    table = pd.read_csv(learned() / "table.csv")[["price"]]
    return dumps(TSKClassifier(n_rules=2, random_state=0).fit(table, np.arange(len(table)) % 2))


def skops_file(rng: Chance) -> str:
    """A damaged skops file: whatever skops says of it, nothing in it runs and no half an estimator answers."""
    from skops.io import loads

    raw, about = _noise(_estimator(), rng)
    try:
        model = loads(raw, trusted=trusted_types())
    except Exception as error:  # what is said is said by skops
        raise Refused(type(error).__name__) from error
    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):
        refuse_odd_numbers("answers", model.predict_proba(pd.DataFrame({"price": [30.0, 50.0]})))
    return about


KINDS: dict[str, Callable[[Chance], str]] = {
    "json": model_file,
    "csv": csv,
    "parquet": parquet,
    "skops": skops_file,
}
