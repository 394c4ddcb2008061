"""Hostile tables, targets and weights."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["NAMES", "column", "hostile", "targets", "weights"]

Chance = np.random.Generator
Cells = Callable[[Chance, int], Any]

NAMES = [
    "a",
    "b",
    "",
    " ",
    "größe",
    "体温",
    "🌡",
    "e\u0301",
    "\u202egip",
    "a\nb",
    "a\tb",
    "</script><script>alert(1)</script>",
    "=1+1",
    "x" * 300,
    "a'\"b",
    "\x1b[31m",
    "$\\alpha_{1}$",
    "a,b;c",
    "None",
    "nan",
    "__proto__",
    "{0}",
    "%s",
    "\ud800",
    0,
    1,
    ("a", 1),
    None,
    3.5,
]


def _numbers(scale: float, place: float = 0.0) -> Cells:
    return lambda rng, n: place + scale * rng.normal(size=n)


def _holed(cells: Cells, hole: Any, share: float = 0.3) -> Cells:
    def made(rng: Chance, n: int) -> Any:
        found = np.asarray(cells(rng, n))
        found = found.astype(object) if hole is None or hole is pd.NA else found
        found[rng.random(n) < share] = hole
        return found

    return made


def _chosen(*values: Any, kind: Any = object) -> Cells:
    def made(rng: Chance, n: int) -> np.ndarray:
        cells = np.empty(n, object)
        cells[:] = [values[k] for k in rng.integers(len(values), size=n)]
        return cells.astype(kind)

    return made


def _dates(unit: str) -> Cells:
    return lambda rng, n: (np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("m8[D]")).astype(
        f"M8[{unit}]"
    )


NUMBERS: dict[str, Cells] = {
    "normal": _numbers(1.0),
    "integers": lambda rng, n: rng.integers(-5, 6, n),
    "far": _numbers(1.0, 1e9),
    "too far": _numbers(1e-3, 1e16),
    "large": _numbers(1e100),
    "larger": _numbers(1e140),
    "beyond squares": _numbers(1e160),
    "largest": _numbers(1e307),
    "small": _numbers(1e-100),
    "smaller": _numbers(1e-160),
    "denormal": _numbers(1e-310),
    "wide": lambda rng, n: 10.0 ** rng.uniform(-150, 150, n),
    "outlier": lambda rng, n: np.where(np.arange(n) == n // 2, 1e10, rng.normal(size=n)),
    "far outlier": lambda rng, n: np.where(np.arange(n) == n // 2, 1e140, rng.normal(size=n)),
    "constant": lambda rng, n: np.full(n, 7.1),
    "zero": lambda rng, n: np.zeros(n),
    "minus zero": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
    "gaps": _holed(_numbers(1.0), np.nan),
    "all gaps": lambda rng, n: np.full(n, np.nan),
    "one cell": lambda rng, n: np.where(np.arange(n) == 0, 1.0, np.nan),
    "infinite": _holed(_numbers(1.0), np.inf, 0.1),
    "twins": lambda rng, n: np.repeat(rng.normal(size=n // 2 + 1), 2)[:n],
    "nearly constant": lambda rng, n: 1 + 1e-15 * rng.integers(0, 3, n),
    "single precision": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "half precision": lambda rng, n: (100 * rng.normal(size=n)).astype(np.float16),
    "long": lambda rng, n: rng.normal(size=n).astype(np.longdouble),
    "bytes": lambda rng, n: rng.integers(0, 255, n).astype(np.uint8),
    "largest integers": lambda rng, n: rng.choice([2**63 - 1, -(2**63), 0], n),
    "unsigned": lambda rng, n: rng.choice(np.asarray([2**64 - 1, 0, 5], np.uint64), n),
    "flags": lambda rng, n: rng.random(n) < 0.5,
}
OTHERS: dict[str, Cells] = {
    "text": _chosen("red", "green", "blue"),
    "text with gaps": _chosen("red", "green", None, np.nan),
    "ids": lambda rng, n: np.asarray([f"id{k}" for k in range(n)], object),
    "odd text": _chosen("", " ", "\ud800", "a\nb", "</script>", "nan", "=1", "\x00", "体温"),
    "fixed text": lambda rng, n: rng.choice(["a", "bb"], n),
    "raw bytes": lambda rng, n: rng.choice([b"a", b"b"], n),
    "spelled numbers": _chosen("1", "2.5", "1e5", "1_0", "inf"),
    "mixed": _chosen(1, "a", None, 2.5, True),
    "decimals": _chosen(decimal.Decimal("1.5"), decimal.Decimal("2"), decimal.Decimal("NaN")),
    "huge integers": _chosen(10**400, 1, 2),
    "nothing": _chosen(None),
    "lists": _chosen([1], [1, 2]),
    "objects": _chosen(object, {1}, {}),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "dates": _dates("D"),
    "moments": _dates("ns"),
    "dates with gaps": _holed(_dates("s"), np.datetime64("NaT")),
    "days": _chosen(datetime.date(2020, 1, 1), datetime.date(9999, 12, 31), None),
    "lengths": lambda rng, n: rng.integers(0, 9, n).astype("m8[D]"),
    "nullable": lambda rng, n: pd.array(rng.choice([1, 2, None], n), "Int64"),
    "nullable flags": lambda rng, n: pd.array(rng.choice([True, False, None], n), "boolean"),
    "categories": lambda rng, n: pd.Categorical(rng.choice(["x", "y"], n), categories=["z", "x", "y"]),
    "categories of numbers": lambda rng, n: pd.Categorical(rng.choice([1, 2], n), categories=[2, 1], ordered=True),
    "periods": lambda rng, n: pd.period_range("2020", periods=n, freq="M"),
    "zoned": lambda rng, n: pd.date_range("2020", periods=n, freq="D", tz="Europe/Berlin"),
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
}


def column(rng: Chance, n: int, hostile: float = 0.7) -> tuple[str, Any]:
    """A column of some kind and its name; the plain one if it is not to be hostile."""
    if rng.random() > hostile:
        return "normal", NUMBERS["normal"](rng, n)
    kinds = NUMBERS if rng.random() < 0.6 else OTHERS
    kind = str(rng.choice(list(kinds)))
    return kind, (NUMBERS | OTHERS)[kind](rng, n)


def hostile(rng: Chance, n: int | None = None) -> tuple[str, Any, int]:
    """A table in some form, what is in it, and how many rows it was to have."""
    n = int(
        rng.choice([0, 1, 2, 3, 5, 20, 40, 60], p=[0.02, 0.04, 0.04, 0.05, 0.1, 0.25, 0.25, 0.25])
        if n is None
        else n
    )
    n_columns = int(rng.choice([0, 1, 2, 3, 5], p=[0.02, 0.18, 0.3, 0.3, 0.2]))
    kinds, cells = zip(*(column(rng, n) for _ in range(n_columns)), strict=True) if n_columns else ((), ())
    form = str(rng.choice(list(FORMS)))
    return f"{form} of {n} rows: {', '.join(kinds)}", FORMS[form](rng, cells, n), n


def _frame(rng: Chance, cells: tuple, n: int) -> pd.DataFrame:
    series = [
        pd.Series(one, dtype=object if type(one) is np.ndarray and one.dtype.kind == "O" else None)
        for one in cells
    ]
    frame = pd.concat(series, axis=1) if cells else pd.DataFrame(index=range(n))
    names: list[Any] = [f"c{k}" for k in range(len(cells))]
    if rng.random() < 0.4:
        for k in range(len(cells)):
            names[k] = NAMES[rng.integers(len(NAMES))]
    frame.columns = pd.Index(names, dtype=object)
    return frame


def _plain(rng: Chance, cells: tuple, n: int) -> np.ndarray:
    """An array as NumPy makes it of columns."""
    arrays = [np.asarray(one) for one in cells]
    if not arrays:
        return np.empty((n, 0))
    if len({array.dtype.kind if array.dtype.kind in "Mm" else "" for array in arrays}) > 1 or any(
        array.ndim > 1 for array in arrays
    ):
        found = np.empty((n, len(arrays)), object)  # of dates and numbers there is no other array
        for k, array in enumerate(arrays):
            found[:, k] = array.tolist()
        return found
    return np.column_stack(arrays)


def _masked(rng: Chance, cells: tuple, n: int) -> np.ndarray:
    array = _plain(rng, cells, n)
    array = array if array.dtype.kind in "fiubMO" else array.astype(object)
    return np.ma.masked_array(array, rng.random(array.shape) < 0.2)


def _odd_memory(rng: Chance, cells: tuple, n: int) -> np.ndarray:
    array = np.asfortranarray(np.repeat(_plain(rng, cells, n), 2, axis=0)[::2])
    array.setflags(write=False)
    return array[::-1]


def _lists(rng: Chance, cells: tuple, n: int) -> list:
    return [list(row) for row in zip(*cells, strict=True)]


def _columns(rng: Chance, cells: tuple, n: int) -> dict:
    return {f"c{k}": one for k, one in enumerate(cells)}


def _polars(rng: Chance, cells: tuple, n: int) -> Any:
    import polars

    try:
        return polars.DataFrame({f"c{k}": one for k, one in enumerate(cells)})
    except Exception:  # not every column can be one there
        return _frame(rng, cells, n)


def _arrow(rng: Chance, cells: tuple, n: int) -> Any:
    import pyarrow

    try:
        return pyarrow.Table.from_pandas(pd.DataFrame({f"c{k}": one for k, one in enumerate(cells)}))
    except Exception:  # nor here
        return _columns(rng, cells, n)


FORMS: dict[str, Callable[[Chance, tuple, int], Any]] = {
    "frame": _frame,
    "array": _plain,
    "masked array": _masked,
    "view": _odd_memory,
    "list": _lists,
    "dict": _columns,
    "Polars frame": _polars,
    "Arrow table": _arrow,
}

LABELS: dict[str, Cells] = {
    "classes": lambda rng, n: rng.integers(0, 3, n),
    "two": lambda rng, n: np.arange(n) % 2,
    "texts": _chosen("yes", "no"),
    "fixed texts": lambda rng, n: rng.choice(["yes", "no"], n),
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "halves": lambda rng, n: rng.integers(0, 3, n) * 1.0,
    "one class": lambda rng, n: np.zeros(n, int),
    "rare": lambda rng, n: (np.arange(n) == 0).astype(int),
    "different": lambda rng, n: np.arange(n),
    "texts and gaps": _chosen("yes", "no", None),
    "mixed": _chosen(1, "a"),
    "nothing": lambda rng, n: None,
    "categories": lambda rng, n: pd.Series(pd.Categorical(rng.choice(["u", "v"], n), categories=["v", "u", "w"])),
    "nullable": lambda rng, n: pd.Series(pd.array(rng.choice([0, 1, None], n), "Int64")),
    "dates": _dates("D"),
    "too long": lambda rng, n: np.arange(n + 1) % 2,
    "wide": lambda rng, n: rng.integers(0, 2, (n, 2)),
    "odd text": _chosen("\ud800", "", "</script>"),
    "list": lambda rng, n: [int(k) for k in rng.integers(0, 2, n)],
    "masked": lambda rng, n: np.ma.masked_array(np.arange(n) % 2, rng.random(n) < 0.1),
}


def targets(rng: Chance, n: int) -> tuple[str, Any]:
    """Labels or numbers to learn, often plain ones."""
    if rng.random() < 0.4:
        return "two", LABELS["two"](rng, n)
    if rng.random() < 0.3:
        return "normal", NUMBERS["normal"](rng, n)
    kinds = LABELS | NUMBERS
    kind = str(rng.choice(list(kinds)))
    return kind, kinds[kind](rng, n)


WEIGHTS: dict[str, Cells] = {
    "ones": lambda rng, n: np.ones(n),
    "uneven": lambda rng, n: rng.random(n),
    "repetitions": lambda rng, n: rng.integers(0, 4, n),
    "zero": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: rng.normal(size=n),
    "gaps": _holed(lambda rng, n: rng.random(n), np.nan),
    "infinite": _holed(lambda rng, n: rng.random(n), np.inf),
    "denormal": lambda rng, n: np.full(n, 1e-310),
    "small": lambda rng, n: np.full(n, 1e-140),
    "large": lambda rng, n: np.full(n, 1e140),
    "largest": lambda rng, n: np.full(n, 1e307),
    "one row": lambda rng, n: (np.arange(n) == 0).astype(float),
    "too short": lambda rng, n: np.ones(max(n - 1, 0)),
    "text": _chosen("1", "2"),
    "a number": lambda rng, n: 2.0,
    "wide": lambda rng, n: np.ones((n, 2)),
    "unlike": lambda rng, n: 10.0 ** rng.uniform(-100, 100, n),
}


def weights(rng: Chance, n: int) -> tuple[str, Any]:
    """Sample weights, mostly none."""
    if rng.random() < 0.7:
        return "none", None
    kind = str(rng.choice(list(WEIGHTS)))
    return kind, WEIGHTS[kind](rng, n)
