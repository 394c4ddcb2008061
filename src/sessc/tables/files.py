"""Models as files that people can read and that never run code: rules, columns and measures, as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .._writing import write
from ..rules.base import RuleBase
from ..rules.columns import Category, Column, Columns, Number
from ..rules.document import (
    FORMAT,
    VERSION,
    Damaged,
    evaluations_from_data,
    evaluations_to_data,
    from_data,
    read_array,
    read_list,
    read_object,
    read_one_of,
    read_text,
    read_texts,
    to_data,
)
from ..rules.evaluation import Evaluation

__all__ = ["Contents", "dumps", "load", "loads", "save"]


class Contents(NamedTuple):
    """What is in a file."""

    rules: RuleBase
    columns: Columns | None
    evaluations: dict[str, Evaluation]


def save(
    rules: RuleBase,
    path: str | os.PathLike,
    columns: Columns | None = None,
    evaluations: Mapping[str, Evaluation] | None = None,
) -> None:
    """Write rules to a file, with what belongs to them."""
    write(path, dumps(rules, columns, evaluations))


def load(path: str | os.PathLike) -> Contents:
    """Read a file that :func:`save` wrote."""
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; give a file of rules in it.")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a file of rules: it is not text.") from None
    return loads(text, str(path))


def dumps(
    rules: RuleBase, columns: Columns | None = None, evaluations: Mapping[str, Evaluation] | None = None
) -> str:
    """Rules as JSON text, with what belongs to them."""
    data = to_data(rules) | {
        "columns": None if columns is None else [_column(column) for column in columns.each],
        "evaluations": evaluations_to_data(evaluations or {}),
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _column(column: Column) -> dict[str, Any]:
    if isinstance(column, Number):
        return {"name": column.name, "kind": "number", "fill": column.fill}
    return {"name": column.name, "kind": "category", "values": list(column.values), "fill": column.fill}


def loads(text: str, name: str = "the text") -> Contents:
    """What JSON text says; a ValueError in one sentence for anything else."""
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not a file of rules, or a damaged one: {error}.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{name} is not a file of rules: it does not say that it is one.")
    if data.get("version") != VERSION:
        theirs = data.get("version")
        raise ValueError(
            f"{name} is of version {theirs!r} of the format, and this sessc reads version {VERSION}; "
            "try a newer one."
        )
    try:
        rules = from_data(data)
        columns = _read_columns(data.get("columns"), rules)
        return Contents(rules, columns, evaluations_from_data(read_list(data, "evaluations")))
    except Damaged as damage:
        raise ValueError(f"{name} is damaged: {damage}.") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _read_columns(data: Any, rules: RuleBase) -> Columns | None:
    if data is None:
        return None
    if not isinstance(data, list):
        raise Damaged("columns must be a list")
    columns = Columns(tuple(_read_column(read_object(item, "a column")) for item in data))
    if tuple(columns.features) != rules.feature_names or len(set(columns.names)) < len(columns.names):
        raise Damaged("columns do not give the features of the rules")
    return columns


def _read_column(data: dict[str, Any]) -> Column:
    name = read_text(data, "name")
    if read_one_of(data, "kind", ("number", "category")) == "number":
        return Number(name, float(read_array(data.get("fill"), "what missing cells count as", ())))
    values = read_texts(data, "values")
    if len(set(values)) < max(len(values), 2) or read_text(data, "fill") not in values:
        raise Damaged("categories must be different, and missing cells count as one of them")
    return Category(name, tuple(values), read_text(data, "fill"))
