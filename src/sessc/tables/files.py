"""Models as files that people can read and that never run code: rules and measures, as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from .._version import __version__
from .._writing import write
from ..rules import document, version1
from ..rules.base import RuleBase
from ..rules.document import (
    FORMAT,
    VERSION,
    Damaged,
    evaluations_from_data,
    evaluations_to_data,
    read_list,
    read_texts,
)
from ..rules.evaluation import Evaluation

__all__ = ["Contents", "dumps", "load", "load_evaluation", "loads", "save", "save_evaluation"]

MEASURES = "sessc evaluation"
"""What a file of measures alone says it is."""
READERS = {1: version1.from_data, VERSION: document.from_data}
"""What makes rules of each version of the format."""


class Contents(NamedTuple):
    """What is in a file."""

    rules: RuleBase
    evaluations: dict[str, Evaluation]
    missing: tuple[str, ...] | None
    """Texts that stand for a missing cell; None in files of rules alone."""


def save(
    rules: RuleBase,
    path: str | os.PathLike,
    evaluations: Mapping[str, Evaluation] | None = None,
    missing: Sequence[str] | None = None,
) -> None:
    """Write rules to a file, with what was measured of them and how raw tables spell a missing cell."""
    write(path, dumps(rules, evaluations, missing))


def load(path: str | os.PathLike) -> Contents:
    """Read a file that :func:`save` wrote."""
    return loads(_text(path), str(path))


def _text(path: str | os.PathLike) -> str:
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give a file of rules in it.")
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a file of rules: it is not text.") from None


def save_evaluation(found: Evaluation, path: str | os.PathLike, name: str = "model") -> None:
    """Write measures to a file, with those of models beside."""
    data = {"format": MEASURES, "version": 1, "made_by": f"sessc {__version__}"}
    write(path, _written(data | {"evaluations": evaluations_to_data({name: found})}) + "\n")


def load_evaluation(path: str | os.PathLike) -> Evaluation:
    """Read a file that :func:`save_evaluation` wrote."""
    data = _json(_text(path), str(path))
    if data.get("format") != MEASURES or data.get("version") != 1:
        raise ValueError(f"{path} is not a file of measures: it does not say that it is one.")
    try:
        (_, own), *beside = evaluations_from_data(read_list(data, "evaluations")).items()
    except Damaged as damage:
        raise ValueError(f"{path} is damaged: {damage}.") from None
    except ValueError:
        raise ValueError(f"{path} is damaged: it has no measures.") from None
    return replace(own, beside=dict(beside))


def dumps(
    rules: RuleBase,
    evaluations: Mapping[str, Evaluation] | None = None,
    missing: Sequence[str] | None = None,
) -> str:
    """Rules as JSON text, with what was measured of them and how raw tables spell a missing cell."""
    spelled = {} if missing is None else {"missing": list(missing)}
    data = document.to_data(rules) | spelled | {"evaluations": evaluations_to_data(evaluations or {})}
    return _written(data) + "\n"


def _written(value: Any, indent: str = "") -> str:
    """Plain data as JSON, a line for each list of numbers, so that a condition is a line and not six."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(part, (dict, list)) for part in parts):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    within = f"{indent} "
    lines = [_written(part, within) for part in parts]
    if isinstance(value, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {line}" for key, line in zip(value, lines, strict=True)]
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    return f"{opens}\n{within}" + f",\n{within}".join(lines) + f"\n{indent}{closes}"


def loads(text: str, name: str = "the text") -> Contents:
    """What JSON text says; a ValueError in one sentence for anything else."""
    data = _json(text, name)
    if data.get("format") != FORMAT:
        raise ValueError(f"{name} is not a file of rules: it does not say that it is one.")
    version = data.get("version")
    if type(version) is not int or version not in READERS:
        raise ValueError(
            f"{name} is of version {version!r} of the format, and this sessc reads versions 1 to {VERSION}; "
            "try a newer one."
        )
    try:
        missing = tuple(read_texts(data, "missing")) if "missing" in data else None
        return Contents(READERS[version](data), evaluations_from_data(read_list(data, "evaluations")), missing)
    except Damaged as damage:
        raise ValueError(f"{name} is damaged: {damage}.") from None


def _json(text: str, name: str) -> dict[str, Any]:
    """What JSON text holds; nothing, if that is no object."""
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not a file of rules, or a damaged one: {error}.") from None
    return data if isinstance(data, dict) else {}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
