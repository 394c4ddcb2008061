"""Parquet files too large to be read whole: block by block the same is learned from them.

Here no file is large; it is the limit that is lowered.
"""

import json
import sys
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest

from sessc import Model
from sessc.cli.main import main
from sessc.tables import sides
from sessc.tables.columns import CATEGORIES, DATES, NUMBERS, typed
from sessc.tables.errors import ParameterError, TableError
from sessc.tables.holding import Holding
from sessc.tables.large import cells_in, large_table
from sessc.tables.reading import MISSING, emptied, gaps_of, table_of
from sessc.tables.sides import HELD, LEARNED, LEFT_OUT, Splitter

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
from pyarrow import parquet  # noqa: E402

N, SHORT = 800, {"n_rules": 2, "conditions": 2}
DAYS = np.datetime64("2020-01-01") + np.arange(1000)


def visits(n=N, seed=0):
    """A table with everything that tables have: gaps, texts, dates, groups, weights and rows without an answer."""
    rng = np.random.default_rng(seed)
    X, place = rng.normal(size=(n, 2)), rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    score = 2 * X[:, 0] * (place < 2) + np.abs(X[:, 1]) + rng.normal(scale=0.5, size=n)
    where = np.asarray(["north", "east", "south", "NA"])[place]
    return pyarrow.table(
        {
            "name": [f"P{k}" for k in range(n)],
            "a": pyarrow.array(X[:, 0], mask=rng.random(n) < 0.1),
            "b": X[:, 1].round(2).astype(np.float32),
            "where": pyarrow.array(where, mask=rng.random(n) < 0.05),
            "day": pyarrow.array(np.sort(rng.choice(DAYS, n))),
            "n": rng.integers(1, 4, n),
            "patient": rng.integers(0, n // 5, n),
            "score": score,
            "state": pyarrow.array(np.where(score > 1, "ill", "well"), mask=rng.random(n) < 0.02),
        }
    )


def written(table, path, **settings):
    parquet.write_table(table if isinstance(table, pyarrow.Table) else pyarrow.table(table), path, **settings)
    return path


@pytest.fixture
def whole(tmp_path):
    return written(visits(), tmp_path / "visits.parquet", row_group_size=400)


@pytest.fixture
def streams(monkeypatch):
    """Switches between files being read whole and block by block."""

    def switch(on=True):
        monkeypatch.setattr("sessc.tables.large.STREAMED_CELLS", 0 if on else 10**9)

    switch()
    monkeypatch.setattr("sessc.rows.blocks.BATCH_ROWS", 128)
    return switch


def both(streams, *args, **asked):
    """Models of a file that is read whole, and block by block."""
    models = []
    for on in (False, True):
        streams(on)
        models.append(Model.fit(*args, **asked))
    return models


def sides_of(path, target="state", seed=0, **asked):
    """On which side each row of a file is."""
    table, gaps = large_table(path), gaps_of(MISSING)
    return Splitter(table, table.schema.names, target, gaps, gaps, Holding(**asked), seed)()


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("state", {"skip": ["score", "patient"], "prior": "data"}),
        ("state", {"skip": ["score", "name"], "weight": "n", "group": "patient", "class_weight": None}),
        ("score", {"skip": ["state"], "weight": "n", "categorical": ["n"][:0], "conditions": None, "n_rules": 2}),
    ],
)
def test_the_same_rows_give_the_same_rules(whole, streams, tmp_path, monkeypatch, target, asked):
    monkeypatch.setattr("sessc.tsk.tuning.SEARCHED_ROWS", 300)
    monkeypatch.setattr("sessc.tables.streaming.SEARCHED_ROWS", 10_000)
    test = written(visits(300, seed=1), tmp_path / "test.parquet")
    streams(False)
    here, there = both(streams, whole, target, test=table_of(test), **SHORT | asked)
    if target == "state":
        assert np.abs(here.predict_proba(test) - there.predict_proba(test)).max() < 1e-9
        np.testing.assert_allclose(
            here.rules.summary.evidence.outcomes, there.rules.summary.evidence.outcomes, atol=1e-9
        )
        np.testing.assert_allclose(here.rules.summary.evidence.weight, there.rules.summary.evidence.weight)
    else:
        assert np.abs(here.predict(test) - there.predict(test)).max() < 1e-9
    assert here.rules.columns == there.rules.columns
    assert sorted(here.notes) == sorted(there.notes)
    assert here.evaluations.keys() == there.evaluations.keys()
    for name, one in here.evaluations.items():
        assert one.measures == pytest.approx(there.evaluations[name].measures, abs=1e-9)


COLUMNS = {
    "whole": (NUMBERS, pyarrow.array([1, None, -99, 2**53 + 1], pyarrow.int64())),
    "small": (NUMBERS, pyarrow.array([1, None, -99, 3], pyarrow.int8())),
    "single": (NUMBERS, pyarrow.array([0.1, None, np.nan, -99], pyarrow.float32())),
    "double": (NUMBERS, pyarrow.array([0.1, None, -99.0, 1e-300])),
    "decimal": (NUMBERS, pyarrow.array([Decimal("1.50"), None, Decimal("-99"), Decimal("2.25")])),
    "typed": (NUMBERS, pyarrow.array(["1", " 2.5 ", "", "na", "-99.0", ".", None, "none"])),
    "days": (DATES, pyarrow.array([date(2020, 1, 31), None, date(1950, 3, 1)])),
    "moments": (DATES, pyarrow.array(np.asarray(["2020-01-31T18:30:00.25", "NaT"], "datetime64[ns]"))),
    "zoned": (DATES, pyarrow.array([datetime(2020, 1, 31, 18, tzinfo=UTC), None])),
    "spelled": (DATES, pyarrow.array(["2020-01-31", "2020-01-31 18:30", "--", None])),
    "texts": (CATEGORIES, pyarrow.array(["x", " x", "NA", "", None, ".", "y,z"])),
    "coded": (CATEGORIES, pyarrow.array(["x", None, "?", "y"]).dictionary_encode()),
    "codes": (CATEGORIES, pyarrow.array(["007", "7", "7.0", "-99"])),
    "numbers": (CATEGORIES, pyarrow.array([1.0, 2.5, None, -99.0])),
    "truths": (CATEGORIES, pyarrow.array([True, None, False])),
    "lists": (CATEGORIES, pyarrow.array([[1, 2], None, [3]])),
    "nothing": (CATEGORIES, pyarrow.array([None, None], pyarrow.string())),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_cell_says_what_its_text_says(name, tmp_path):
    kind, column = COLUMNS[name]
    missing, heard = ("NA", "?", "-99"), []
    path = written({"c": column}, tmp_path / "t.parquet")
    table = emptied(table_of(path, missing=()), heard.append, missing)
    own = [None if cell in (".", "--", "none") and kind is not CATEGORIES else cell for cell in table["c"]]
    [expected] = typed({"c": own}, {"c": kind}).values()
    [stored] = parquet.read_table(path).column("c").chunks
    found = cells_in(stored, kind, gaps_of(missing))
    values = np.asarray(found.values.to_pylist(), object) if kind is CATEGORIES else found.values
    np.testing.assert_array_equal(values, expected)
    assert found.odd == []
    assert found.known.tolist() == [cell is not None for cell in own]
    assert found.own_gaps.total() == sum(cell is not None for cell in table["c"]) - sum(found.known)
    assert found.gaps.total() == sum(cell is not None for cell in table_of(path, missing=())["c"]) - sum(
        cell is not None for cell in table["c"]
    )


def test_what_is_of_another_kind_is_odd():
    assert cells_in(pyarrow.array(["1", "high", "high"]), NUMBERS, frozenset()).odd == [(1, "high"), (2, "high")]
    assert cells_in(pyarrow.array([1.0, np.inf, np.nan]), NUMBERS, frozenset()).odd == [(1, "inf")]
    assert cells_in(pyarrow.array(["2020-02-30"]), DATES, frozenset()).odd == [(0, "2020-02-30")]


def test_rows_are_held_out_by_a_hash_of_their_number(tmp_path, streams):
    n = 20_000
    path = written({"a": np.zeros(n), "y": np.arange(n) % 2}, tmp_path / "t.parquet", row_group_size=777)
    found = sides_of(path, "y", share=0.2)
    assert 0.18 < np.mean(found.side == HELD) < 0.22
    assert found.count(LEARNED) + found.count(HELD) == found.n_rows == n
    again = written({"a": np.ones(n), "y": np.arange(n) % 2}, tmp_path / "other.parquet", row_group_size=5000)
    np.testing.assert_array_equal(sides_of(again, "y", share=0.2).side, found.side)
    other = sides_of(path, "y", share=0.2, seed=1).side
    assert 0.02 < np.mean((other == HELD) & (found.side == HELD)) < 0.06


def test_rows_are_drawn_from_one_side_by_chance(tmp_path, streams, monkeypatch):
    monkeypatch.setattr(sides, "CHUNK", 1000)
    found = sides_of(written({"y": np.arange(10_000) % 2}, tmp_path / "t.parquet"), "y")
    few = found.drawn(LEARNED, 300, 0)
    assert len({*few.tolist()}) == 300
    assert few.tolist() == sorted(few.tolist())
    assert (found.side[few - 1] == LEARNED).all()
    assert 4000 < few.mean() < 6000
    assert {*few.tolist()} <= {*found.drawn(LEARNED, 600, 0).tolist()}
    assert len(found.drawn(HELD, 10**6, 0)) == found.count(HELD)


@pytest.mark.parametrize("spelling", ["numbers", "texts"])
@pytest.mark.parametrize("most", [1_000_000, 100])
def test_no_group_is_on_both_sides(tmp_path, streams, monkeypatch, spelling, most):
    monkeypatch.setattr(sides, "MOST_GROUPS", most)
    table = visits()
    patient = table["patient"].to_numpy()
    if spelling == "texts":
        table = table.set_column(6, "patient", pyarrow.array([f"P{one}" for one in patient]))
    found = sides_of(written(table, tmp_path / "t.parquet"), "score", group="patient", share=0.25)
    held, learned = ({*patient[found.side == side].tolist()} for side in (HELD, LEARNED))
    assert not held & learned
    n = len(held | learned)
    if most > n:
        assert found.groups == (str(n), len(held))
        assert len(held) == round(0.25 * n)
    assert 0.15 < found.count(HELD) / found.n_rows < 0.35


def test_rows_without_a_group_are_groups_by_themselves(tmp_path, streams):
    path = written(
        {"g": pyarrow.array([None] * 200, pyarrow.string()), "y": np.arange(200) % 2}, tmp_path / "t.parquet"
    )
    assert sides_of(path, "y", group="g").groups == ("200", 50)


@pytest.mark.parametrize("grouped", [False, True])
def test_time_goes_one_way(whole, streams, grouped):
    asked = {"by": "day", "after": "2022-01-01", "group": "patient" if grouped else None}
    found = sides_of(whole, "score", **asked).side
    table = table_of(whole)
    late = np.asarray([cell >= "2022-01-01" for cell in table["day"]])
    patient = np.asarray(table["patient"])
    seen = np.isin(patient, patient[late]) if grouped else late
    np.testing.assert_array_equal(found, np.where(late, HELD, np.where(seen, LEFT_OUT, LEARNED)))


def test_what_only_some_rows_were_asked_is_said(whole, streams, monkeypatch):
    monkeypatch.setattr("sessc.tables.streaming.DRAWN_ROWS", 100)
    heard = []
    model = Model.fit(whole, "state", skip=["score", "patient", "name"], say=heard.append, **SHORT)
    n_learned, n_held = sides_of(whole).count(LEARNED), sides_of(whole).count(HELD)
    assert {one.n_rows for one in model.evaluations.values()} == {100}
    assert f"measures are those of 100 of the {n_held:,} rows held out, drawn likewise" in model.notes
    [judged] = [note for note in model.notes if "judged" in note]
    assert f"100 of the {n_learned:,} rows" in judged
    assert heard[-1] == (
        f"Learning from {n_learned:,} rows and 5 columns; {n_held:,} rows are held out, of which 100 drawn by a "
        "hash are tested on ..."
    )
    assert model.rules.summary.evidence.weight == n_learned
    absent = sum(cell is None for cell, y in zip(table_of(whole)["a"], table_of(whole)["state"], strict=True) if y)
    assert f"a: {absent} missing cells" in model.notes


def test_texts_that_only_rows_held_out_have(tmp_path, streams):
    table = visits()
    side = sides_of(written(table, tmp_path / "t.parquet")).side
    where = table["where"].to_pylist()
    for row in np.flatnonzero(side == HELD)[:3]:
        where[row] = "nowhere"
    path = written(table.set_column(3, "where", pyarrow.array(where)), tmp_path / "t.parquet")
    model = Model.fit(path, "state", skip=["score", "patient", "name"], **SHORT)
    assert "where: nowhere is only in rows held out, and counts as missing" in model.notes
    assert model.rules.columns[2].levels == ("east", "north", "south")


def rare(path, column, value, monkeypatch, row=300):
    """A file with one cell that no drawn row has, and the number of its row."""
    monkeypatch.setattr("sessc.tables.streaming.DRAWN_ROWS", 100)
    table = visits()
    cells = [None if cell is None else str(cell) for cell in table[column].to_pylist()]
    drawn = np.union1d(*(sides_of(written(table, path), column).drawn(side, 100, 0) for side in (LEARNED, HELD)))
    row = next(k for k in range(row, N) if k + 1 not in drawn)
    cells[row] = value
    written(table.set_column(table.column_names.index(column), column, pyarrow.array(cells)), path)
    return row + 1


def test_a_slip_is_found_wherever_it_is(tmp_path, streams, monkeypatch):
    path = tmp_path / "t.parquet"
    row = rare(path, "a", "high", monkeypatch)
    with pytest.raises(TableError, match=f"column 'a' holds numbers, but 'high' in row {row};"):
        Model.fit(path, "state", skip=["patient"], **SHORT)
    row = rare(path, "score", "high", monkeypatch)
    with pytest.raises(TableError, match=f"cells that are no numbers, 'high' in row {row};"):
        Model.fit(path, "score", task="number", skip=["patient"], **SHORT)


def test_texts_for_what_is_missing_among_numbers(tmp_path, streams, monkeypatch):
    path = tmp_path / "t.parquet"
    rare(path, "a", ".", monkeypatch)
    model = Model.fit(path, "state", skip=["score", "name", "patient"], **SHORT)
    assert "1 cell '.' of a counts as missing" in model.notes
    rare(path, "score", "-", monkeypatch)
    model = Model.fit(path, "score", skip=["state", "name", "patient"], **SHORT)
    assert "1 cell '-' of score counts as missing" in model.notes
    assert "1 row without score is left out" in model.notes


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("stat", {}),
        ("state", {"task": "numbers"}),
        ("state", {"random_state": -1}),
        ("state", {"weight": "wait"}),
        ("state", {"weight": "score"}),
        ("state", {"group": "sort"}),
        ("state", {"by": "day", "after": "soon"}),
        ("state", {"by": "day", "after": "2030-01-01"}),
        ("state", {"by": "day", "after": "2010-01-01"}),
        ("state", {"by": "where", "after": "2010-01-01"}),
        ("state", {"by": "day", "after": "2021-01-01", "group": "sort"}),
        ("state", {"positive": "sick"}),
        ("state", {"threshold": 2, "positive": "ill"}),
        ("state", {"prior": {"ill": 1}}),
        ("state", {"skip": ["nowhere"]}),
        ("score", {"positive": "ill"}),
        ("state", {"task": "number"}),
        ("empty", {}),
        ("sort", {}),
        ("once", {}),
    ],
)
def test_complaints_are_the_same(tmp_path, streams, target, asked):
    n, table = N, visits()
    table = table.append_column("empty", pyarrow.nulls(n, pyarrow.string()))
    table = table.append_column("sort", pyarrow.array(["a"] * n))
    path = written(table.append_column("once", pyarrow.array(["a"] * (n - 1) + ["b"])), tmp_path / "t.parquet")
    said = []
    for on in (False, True):
        streams(on)
        with pytest.raises((ValueError, ParameterError)) as error:
            Model.fit(path, target, **SHORT | asked)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_what_hashes_leave_empty_is_a_sentence(tmp_path, streams):
    path = written({"a": np.arange(20) % 7, "y": np.arange(20) % 2}, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"holding out 0.0001 of 20 rows leaves none to test on; hold out more"):
        Model.fit(path, "y", held_out=0.0001)
    path = written({"a": np.arange(20) % 7, "y": [f"c{k}" for k in range(20)]}, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="has one row only"):
        Model.fit(path, "y")


def test_too_many_classes_are_a_sentence(tmp_path, streams, monkeypatch):
    monkeypatch.setattr("sessc.tables.sides.MOST_LABELS", 10)
    monkeypatch.setattr("sessc.tables.streaming.MOST_LABELS", 10)
    path = written({"a": np.arange(300) % 7, "y": [f"c{k % 150}" for k in range(300)]}, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'y' has more than 10 different texts, which"):
        Model.fit(path, "y")


def test_a_folder_of_files_is_a_table(tmp_path, whole, streams):
    folder = tmp_path / "many"
    folder.mkdir()
    for number, start in enumerate(range(0, N, 300)):
        written(visits()[start : start + 300], folder / f"part-{number}.parquet")
    asked = {"skip": ["score", "patient", "name"], **SHORT}
    one, many = Model.fit(whole, "state", **asked), Model.fit(folder, "state", **asked)
    np.testing.assert_array_equal(one.predict_proba(whole), many.predict_proba(whole))
    assert one.notes == many.notes


def run(capsys, *command):
    code = main(list(map(str, command)))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


SKIPPED = ["--skip", "score", "--skip", "patient", "--skip", "name"]
FIT = ["--target", "state", *SKIPPED, "--rules", "2", "--conditions", "2"]


def test_the_command_line_says_how_far_it_is(whole, streams, capsys, monkeypatch):
    monkeypatch.setattr("sessc.cli.commands.OFTEN", 0.0)
    code, out, err = run(capsys, "fit", whole, *FIT, "--json")
    assert code == 0
    assert json.loads(out)["evaluations"]["rules"]["n_rows"] == sides_of(whole).count(HELD)
    n = sides_of(whole).count(LEARNED)
    assert f"row {n} of at most {n}, after " in err
    assert "fold 1 of at most " in err


def test_a_terminal_counts(whole, streams, capsys, monkeypatch):
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True)
    code, out, err = run(capsys, "fit", whole, *FIT)
    n = sides_of(whole).count(LEARNED)
    assert code == 0
    assert f"\rpass 3, row {n} of at most {n}" in err
    assert err.rpartition("\r")[2] == ""
    assert "rows are held out" in out


def test_who_interrupts_is_let_go(whole, streams, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sessc.tables.streaming.LargeLesson._targets", interrupted)
    assert run(capsys, "fit", whole, *FIT)[0] == 130
    assert not whole.with_suffix(".rules.json").exists()


def test_a_damaged_file_is_a_sentence(tmp_path, streams, capsys):
    path = written(visits(), tmp_path / "t.parquet", compression="none", row_group_size=400)
    data = bytearray(path.read_bytes())
    place = len(data) // 2
    data[place : place + 3000] = b"\xff" * 3000
    path.write_bytes(data)
    code, _, err = run(capsys, "fit", path, *FIT)
    assert code == 2
    assert err.startswith("sessc: ")
    assert err.count("\n") == 1


def test_what_is_read_whole_is_refused_if_it_is_too_large(tmp_path, monkeypatch):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(2):
        written({"x": np.arange(50.0), "y": ["a"] * 50}, folder / f"part-{number}.parquet")
    assert len(table_of(folder)["x"]) == 100
    monkeypatch.setattr("sessc.tables.reading.MOST_CELLS", 100)
    assert list(table_of(folder, wanted=["x"])) == ["x"]
    with pytest.raises(
        ValueError, match=r"100 rows of 2 columns, which is more than .* take some of the rows at a time"
    ):
        table_of(folder)
