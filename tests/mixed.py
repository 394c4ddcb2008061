"""A table with everything in it that tables have: for tests of what rules are made into."""

import numpy as np
import pytest

CATEGORIES = ["colour", "fresh", "ward"]
"""Of text, of truth values, and of numbers that are only names."""


def mixed_table(n=300, seed=0):
    """Numbers, an edge, a date, three kinds of categories, rare levels and gaps; and a number to predict."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(40.0, 9.0, size=n),
            "colour": rng.choice(["red", "blue", "green"], n, p=[0.5, 0.25, 0.25]),
            "dose": rng.exponential(2.0, size=n),
            "fresh": rng.random(n) < 0.5,
            "ward": rng.choice([3, 7, 12], n),
            "seen": pandas.Timestamp("2021-03-01") + pandas.to_timedelta(rng.integers(0, 700, n), "D"),
        }
    )
    frame.loc[5::100, "colour"], frame.loc[9::100, "colour"] = "pink", "gold"
    effect = {"red": 9.0, "blue": 0.0, "green": -3.0, "pink": 5.0, "gold": 4.0}
    y = frame["size"] + frame["colour"].map(effect) - 4.0 * frame["fresh"] + 3.0 * (frame["dose"] > 3)
    frame["fresh"] = frame["fresh"].astype(object)
    for name, share in {"size": 0.1, "colour": 0.08, "fresh": 0.05}.items():
        frame.loc[rng.random(n) < share, name] = None
    return frame, y.to_numpy() + rng.normal(size=n)


def odd_rows(seed=1):
    """Rows of such a table, with levels that were never seen, cells far outside and more gaps."""
    frame, _ = mixed_table(120, seed)
    rng = np.random.default_rng(seed)
    frame["size"] *= rng.choice([0.1, 1.0, 1.0, 20.0], size=len(frame))
    for name, share in {"dose": 0.1, "ward": 0.1, "seen": 0.1, "colour": 0.2}.items():
        frame.loc[rng.random(len(frame)) < share, name] = None
    frame.loc[::7, "colour"] = "violet"
    frame.loc[::11, "ward"] = 99
    return frame


def graph_inputs(rules, frame):
    """What the ONNX graph of some rules takes, from a frame."""
    numbers = rules.cells(frame)
    given = {}
    for j, (column, name) in enumerate(zip(rules.columns, frame, strict=True)):
        levels = getattr(column, "levels", ())
        if any(isinstance(level, str) for level in levels):
            cells = [[cell if isinstance(cell, str) else ""] for cell in frame[name]]
            given[name] = np.asarray(cells, object)
        elif levels:
            given[name] = np.asarray([[np.nan if cell is None else float(cell)] for cell in frame[name]])
        else:
            given[name] = numbers[:, j : j + 1]
    return given


def raw_row(rules, cells):
    """A row of cells as people have it: numbers, levels, and None for what is missing."""
    found = {}
    for column, cell in zip(rules.columns, cells, strict=True):
        levels = getattr(column, "levels", None)
        if cell is None or np.isnan(cell):
            found[column.name] = None
        else:
            found[column.name] = float(cell) if levels is None else [*levels, *(column.pool or ())][int(cell)]
    return found


def sent(cells):
    """Cells as the page takes them."""
    return [None if np.isnan(cell) else float(cell) for cell in cells]
