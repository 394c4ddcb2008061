"""Block tables and what is made of them."""

import numpy as np
import pytest

from sessc import Category, Model, Number, RuleBase
from sessc.tables.cells import listed, moment_in, number_in
from sessc.tables.columns import CATEGORIES, DATES, NUMBERS, asked, remarks, settled, typed
from sessc.tables.columns import learn as learn_by_column
from sessc.tables.reading import read


def learn(table, **settings):
    """What columns are, and all notes, one after the other."""
    kinds, notes = learn_by_column(table, **settings)
    return kinds, [note for each in notes.values() for note in each]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".txt", "\t")])
def test_tables_are_read_with_their_missing_cells(tmp_path, suffix, separator):
    lines = ["\ufeffage|name|note", '31|"a, b; c"|x', "NA| |?", "nan|null|N/A"]
    table = read(write(tmp_path / f"t{suffix}", "\n".join(lines).replace("|", separator)))
    assert table == {"age": ["31", None, None], "name": ["a, b; c", None, None], "note": ["x", None, None]}


def test_texts_for_missing_cells_are_counted_and_chosen(tmp_path):
    path, heard = write(tmp_path / "t.csv", "airbag,age\nnone,NA\nairbag,na\n?,-99\n,-99.0\n"), []
    assert read(path, heard.append) == {
        "airbag": ["none", "airbag", None, None],
        "age": [None, None, "-99", "-99.0"],
    }
    assert heard == ["1 cell '?', 1 cell 'NA' and 1 cell 'na' count as missing"]
    heard = []
    chosen = read(path, heard.append, ["NONE", "-99"])
    assert chosen == {"airbag": [None, "airbag", "?", None], "age": ["NA", "na", None, None]}
    assert heard == ["1 cell 'none', 1 cell '-99' and 1 cell '-99.0' count as missing"]


def test_what_stands_for_no_number_is_missing_among_numbers_and_dates_alone():
    table = {
        "age": ["31", ".", "-", "None"],
        "visit": ["2020-01-31", "--", "2021-02-01", None],
        "airbag": ["none", "airbag", ".", "none"],
        "empty": [".", ".", None, "."],
        "ward": ["1", "none", "2", "none"],
    }
    heard = []
    found = settled(table, heard.append, ["ward"])
    assert found == table | {"age": ["31", None, None, None], "visit": ["2020-01-31", None, "2021-02-01", None]}
    assert heard == [
        "1 cell '.', 1 cell '-' and 1 cell 'None' of age count as missing",
        "1 cell '--' of visit counts as missing",
    ]
    columns = (Number("age"), Number("visit", is_date=True), Category("airbag", ("airbag", "none")))
    asked_for = asked(table, columns, [True] * 3)
    np.testing.assert_array_equal(asked_for["age"], [31.0, np.nan, np.nan, np.nan])
    assert asked_for["airbag"].tolist() == ["none", "airbag", ".", "none"]
    assert remarks(table, columns, [True, False, False]) == ["age: 3 missing cells count as unknown"]


def test_a_cell_may_hold_a_line_break(tmp_path):
    assert read(write(tmp_path / "t.csv", 'a,b\n"1\n2",3\n')) == {"a": ["1\n2"], "b": ["3"]}


def test_parquet_is_read_as_the_same_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    from pyarrow import parquet

    parquet.write_table(
        pyarrow.table({"a": [1.5, None], "b": ["x", None], "c": [True, False]}), tmp_path / "t.parquet"
    )
    assert read(tmp_path / "t.parquet") == {"a": ["1.5", None], "b": ["x", None], "c": ["True", "False"]}
    with pytest.raises(ValueError, match="not a Parquet file"):
        read(write(tmp_path / "broken.parquet", "no"))


def test_the_index_of_a_data_frame_is_no_column(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    pandas = pytest.importorskip("pandas")
    said = []
    for index, name in (([5, 7], "__index_level_0__"), (pandas.Index(["p", "q"], name="who"), "who")):
        pandas.DataFrame({"a": [1.5, 2.5]}, index=index).to_parquet(tmp_path / "t.parquet")
        assert read(tmp_path / "t.parquet", said.append) == {"a": ["1.5", "2.5"]}
        assert said.pop() == f"the index of the data frame, {name}, is no column and is left out"
    pandas.DataFrame({"a": [1.5, 2.5]}).to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", said.append) == {"a": ["1.5", "2.5"]}
    assert said == []


def test_two_parquet_columns_of_one_name_are_called_that(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table([[1], [2]], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet has two columns called 'a'; rename one\."):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows below its header"),
        ("a,b\n", "no rows below its header"),
        ("a,a\n1,2\n", "two columns called 'a'"),
        ("a,b\n1,2\n3\n", "row 2 of .* has 1 cell and the header 2"),
        ("a,c,y\n1,2\n1,2,3\n4,5,6\n", "row 1 of .* has 2 cells and the header 3"),
        ("a;c;y\n1,5;2\n", "row 1 of .* has 2 cells and the header 3"),
    ],
)
def test_tables_that_are_none(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path / "t.csv", text))
    (tmp_path / "latin.csv").write_bytes(b"a\n\xe9\xff\n")
    with pytest.raises(ValueError, match="UTF-8"):
        read(tmp_path / "latin.csv")
    with pytest.raises(ValueError, match="there is no file"):
        read(tmp_path / "nothing.csv")


TABLE = {
    "age": ["10", "20", None, "40"] * 4,
    "smoker": ["yes", "no", None, "no"] * 4,
    "sex": ["f", "m", "m", "f"] * 4,
    "zip": ["8000", "8000", "3000", "3000"] * 4,
    "id": [f"id {k}" for k in range(16)],
    "empty": [None] * 16,
    "same": ["x"] * 16,
    "y": ["1", "0", "1", "0"] * 4,
}


def test_columns_are_learned_and_what_is_left_out_is_said():
    kinds, notes = learn(TABLE, skip=["y"], categorical=["zip"])
    assert kinds == {"age": NUMBERS, "smoker": CATEGORIES, "sex": CATEGORIES, "zip": CATEGORIES}
    assert notes == [
        "smoker: 2 categories (no, yes)",
        "sex: 2 categories (f, m)",
        "zip: 2 categories (3000, 8000)",
        "id: left out, it has 16 different texts in 16 rows",
        "empty: left out, it is empty",
        "same: left out, it is always 'x' where rules are learned",
    ]
    columns = typed(TABLE, kinds)
    np.testing.assert_array_equal(columns["age"], [10.0, 20.0, np.nan, 40.0] * 4)
    assert columns["smoker"].tolist() == ["yes", "no", None, "no"] * 4
    assert columns["zip"].tolist() == ["8000", "8000", "3000", "3000"] * 4


def test_rare_categories_are_said_to_count_as_one():
    colours = ["red"] * 40 + ["blue"] * 40 + ["teal", "pink", "gold"] * 2
    assert learn({"colour": colours})[1] == [
        "colour: 5 categories, of which 3 that few rows have count as one, 'other'"
    ]


def test_categories_of_too_few_rows_are_said_to_count_as_missing():
    table = {"sex": ["f"] * 50 + ["m"] * 50 + ["x"], "ill": ["no"] * 100 + ["so"]}
    assert learn(table)[1] == [
        "sex: 3 categories, of which 1 that few rows have counts as missing",
        "ill: left out, all but a few rows have 'no'",
    ]


def test_many_texts_are_left_out_unless_they_are_called_categories():
    towns = [f"town {k}" for k in range(60) for _ in range(1 + 10 * (k < 3))]
    with pytest.raises(ValueError, match=r"town: left out, it has 60 different texts in 90 rows\."):
        learn({"town": towns})
    kinds, [note] = learn({"town": towns}, categorical=["town"])
    assert kinds == {"town": CATEGORIES}
    assert note == "town: 60 categories, of which 57 that few rows have count as one, 'other'"
    with pytest.raises(ValueError, match="name: left out, few rows have any of its 90 texts"):
        learn({"name": [f"n{k}" for k in range(90)]}, categorical=["name"])


def test_categories_may_be_many_if_most_rows_have_a_common_one():
    """As the states of a country, which were left out for being 51."""
    kinds, [note] = learn({"state": [f"state {k}" for k in range(51)] * 20})
    assert kinds == {"state": CATEGORIES}
    assert note.startswith("state: 51 categories (")
    rare = [f"street {k // 2}" for k in range(120)] + ["main street"] * 30 + ["high street"] * 30
    with pytest.raises(ValueError, match=r"street: left out, most rows have one of 60 texts that are rare\."):
        learn({"street": rare})
    assert learn({"street": rare}, categorical=["street"])[0] == {"street": CATEGORIES}


def test_numbers_that_may_only_name_rows_are_asked_about(rng):
    asks = "id: a different whole number in every row; does it only name them? Then skip it"
    numbers = [str(k) for k in 1000 + rng.permutation(40)]
    assert learn({"id": numbers}) == ({"id": NUMBERS}, [asks])
    assert learn({"id": [f"{k}.0" for k in numbers]})[1] == [asks]
    assert learn({"id": [*numbers[1:], numbers[1]]})[1] == []
    assert learn({"id": numbers[:19]})[1] == []
    assert learn({"id": [f"{k}.5" for k in numbers]})[1] == []


@pytest.mark.parametrize("name", ["column 1", "Unnamed: 0"])
def test_numbers_of_rows_without_a_name_are_left_out(tmp_path, rng, name):
    """As R and pandas write them; rows drawn from a table keep theirs."""
    numbers = [str(k) for k in 1000 + rng.permutation(40)]
    header = "" if name == "column 1" else name
    lines = [f"{header},age", *(f"{number},{k % 7}" for k, number in enumerate(numbers))]
    table = read(write(tmp_path / "t.csv", "\n".join(lines)))
    left_out = f"{name}: left out, it has no name and a different whole number in every row"
    assert learn(table) == ({"age": NUMBERS}, [left_out])
    measured = table | {name: [f"{k}.5" for k in numbers]}
    assert learn(measured) == ({name: NUMBERS, "age": NUMBERS}, [])


COLUMNS = (
    Number("age"),
    Number("visit", is_date=True),
    Category("sex", ("f", "m")),
    Category("ward", (1, 2.5), (7,)),
    Category("flag", (False, True)),
)


def rows_of(**cells):
    table = {"age": ["31"], "visit": ["2020-01-31"], "sex": ["f"], "ward": ["1"], "flag": ["True"]}
    return {name: list(column) for name, column in (table | cells).items()}


def test_only_columns_that_rules_use_are_asked_for():
    every = [True] * 5
    with pytest.raises(ValueError, match=r"^the table has no column 'age'; it has visit, sex, ward, flag\.$"):
        asked({name: cells for name, cells in rows_of().items() if name != "age"}, COLUMNS, every)
    with pytest.raises(ValueError, match=r"^the table has no column 'age', 'visit' or 'ward'; it has sex, "):
        asked({"sex": ["f"], "flag": ["True"]}, COLUMNS, every)
    found = asked({"sex": ["f", None], "note": ["x", "y"]}, COLUMNS, [False, False, True, False, False])
    assert list(found) == [column.name for column in COLUMNS]
    assert found["sex"].tolist() == ["f", None]
    assert np.isnan(found["age"]).all()
    assert np.isnat(found["visit"]).all()
    junk = asked(rows_of(age=["old"]), COLUMNS, [False, *every[1:]])
    assert np.isnan(junk["age"]).all()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"age": ["old"]}, "^row 7 has 'old' in column 'age', which holds numbers; correct the cell, or empty"),
        ({"visit": ["2020-02-31"]}, "^row 7 has '2020-02-31' in column 'visit', which holds dates; correct"),
    ],
)
def test_cells_of_another_kind_are_named(cells, message):
    with pytest.raises(ValueError, match=message):
        asked(rows_of(**cells), COLUMNS, [True] * 5, first=7)


@pytest.mark.parametrize(
    ("name", "text", "level"),
    [
        ("ward", "1", 1),
        ("ward", "1.0", 1),
        ("ward", "2.50", 2.5),
        ("ward", "7.0", 7),
        ("flag", "true", True),
        ("flag", "False", False),
        ("flag", "0", False),
        ("sex", "x", "x"),
        ("ward", "3", "3"),
    ],
)
def test_texts_stand_for_levels_of_any_type(name, text, level):
    [found] = asked(rows_of(**{name: [text]}), COLUMNS, [True] * 5)[name].tolist()
    assert (found, type(found)) == (level, type(level))


def test_what_counts_as_unknown_is_said_once_for_a_column():
    table = {"age": ["1", None, "3"], "sex": ["x", "f", "x"], "ward": ["3", "4", "5"], "flag": ["no", "5", "6"]}
    used = [True, False, True, True, False]
    assert remarks(table, COLUMNS, used) == [
        "age: 1 missing cell counts as unknown",
        "2 cells of sex hold 'x', which the model has never seen; they count as unknown",
        "3 cells of ward hold '3', '4' or '5', which the model has never seen; they count as unknown",
    ]
    many = {"sex": ["a", "b", "c", "d", "e", "a"]}
    [said] = remarks(many, COLUMNS[2:3], [True])
    assert said.startswith("6 cells of sex hold 'a', 'b', 'c' or 2 other texts, which")
    assert remarks({"sex": ["a"]}, COLUMNS[2:3], [True])[0].startswith("1 cell of sex holds 'a', which the model")
    assert remarks(rows_of(), COLUMNS, [True] * 5) == []


def test_tables_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="no column 'nope'"):
        learn(TABLE, skip=["nope"])
    with pytest.raises(ValueError, match="no column is left to learn from: same: left out, it is always 'x'"):
        learn({"same": ["x", "x"]})
    with pytest.raises(ValueError, match=r"no column is left to learn from: all are skipped\."):
        learn({"same": ["x", "x"]}, skip=["same"])
    with pytest.raises(ValueError, match=r"no column is left to learn from: there is no other\."):
        learn({})


@pytest.mark.parametrize(
    ("cell", "moment"),
    [
        ("2020-01-31", "2020-01-31"),
        ("2020/01/31", "2020-01-31"),
        ("2020-01-31 12:30", "2020-01-31T12:30"),
        ("2020/01/31 12:30", "2020-01-31T12:30"),
        ("2020-01-31T12:30:15.250", "2020-01-31T12:30:15.250"),
        ("2020-01-31T12:30:15.123456789", "2020-01-31T12:30:15.123456"),
        ("2020-01-31T12:30:00Z", "2020-01-31T12:30"),
        ("2020-01-31 12:30:00+01:00", "2020-01-31T12:30"),
    ],
)
def test_dates_are_read(cell, moment):
    assert moment_in(cell) == np.datetime64(moment, "us")


@pytest.mark.parametrize(
    "cell", ["2020", "2020-1-5", "2020/01-05", "2020-02-31", "31.01.2020", "2020-01-31 x", "0123-45-67", ""]
)
def test_what_is_not_written_as_a_date_is_none(cell):
    assert moment_in(cell) is None


def test_a_column_of_dates_is_one():
    days = ["2020-03-01", "2019-12-24 18:00", None, "2021-01-01T00:00:00"]
    kinds, notes = learn({"day": days})
    assert kinds == {"day": DATES}
    assert notes == ["day: dates from 2019-12-24 to 2021-01-01"]
    assert learn({"day": [*days, "2019/12/25", "2022/01/01"]})[1] == ["day: dates from 2019-12-24 to 2022-01-01"]
    columns = typed({"day": days}, kinds)
    assert columns["day"].tolist()[2] is None
    assert columns["day"][0] == np.datetime64("2020-03-01")
    assert learn({"day": days}, categorical=["day"])[0] == {"day": CATEGORIES}
    with pytest.raises(ValueError, match="'day' holds dates, but 'soon' in row 5; correct the cell or leave it"):
        learn({"day": [*days, "soon"]})
    with pytest.raises(ValueError, match="'2020-2-3' in row 5; write dates as 2020-01-31 or leave the cells"):
        learn({"day": [*days, "2020-2-3"]})
    assert learn({"phone": ["0123-45-67", "0123-45-68"] * 4})[0] == {"phone": CATEGORIES}


@pytest.mark.parametrize("day", ["{:02d}/12/2019", "{}.12.19", "12/{}/2019 18:30"])
def test_dates_that_are_not_read_are_told_apart_from_texts(day):
    """They are left out, or categories, and it is said how to write them."""
    days = [day.format(k) for k in range(1, 30)]
    write_them = "; write dates as 2020-01-31 to have them read as such"
    with pytest.raises(ValueError, match=f"day: left out, it has 29 different texts in 29 rows{write_them}"):
        learn({"day": days})
    kinds, [note] = learn({"day": days[:5] * 9})
    assert kinds == {"day": CATEGORIES}
    assert note.endswith(write_them)
    assert write_them not in learn({"day": days[:5] * 9}, categorical=["day"])[1][0]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["5.1", "unknown", "4.9", None], "'unknown' in row 2; correct the cell or leave it empty, or pass"),
        (["inf", "-inf", "1", "1"], "'inf' in row 1, '-inf' in row 2; correct these cells"),
        (["1", "2", "3,5", "4"], "'3,5' in row 3; write decimals with a point"),
        (
            ["1,234", "2,000.5", "3,500", "1'000"],
            "'2,000.5' in row 2, '3,500' in row 3 and 1 more; write decimals",
        ),
    ],
)
def test_one_slip_does_not_make_categories_of_numbers(cells, message):
    table = {"a": cells, "b": ["1", "3", "3", "2"]}
    with pytest.raises(
        ValueError, match=r"column 'a' holds numbers, but .*or pass categorical=\['a'\] or skip=\['a'\]\."
    ) as slip:
        learn(table)
    assert message in str(slip.value)
    assert learn(table, categorical=["a"])[0]["a"] is CATEGORIES
    assert list(learn(table, skip=["a"])[0]) == ["b"]


def test_slips_are_found_by_the_rows_of_the_file():
    slips = {"a": ["1", "x", "3"], "b": ["1", "2", "y"]}
    with pytest.raises(ValueError, match=r"'x' in row 12; .*; 'b' likewise\."):
        learn(slips, rows=[11, 12, 13])


def test_words_with_a_few_numbers_among_them_are_categories():
    assert learn({"a": ["low", "1", "high", "low"]})[0] == {"a": CATEGORIES}


def test_commas_are_decimal_points_between_semicolons(tmp_path):
    said = []
    table = read(write(tmp_path / "t.csv", "size;name\n3,5;a\n-,25;b, c\n4;d\n"), said.append)
    assert table == {"size": ["3.5", "-.25", "4"], "name": ["a", "b, c", "d"]}
    assert said == ["commas are read as decimal points: 3,5 is 3.5"]
    assert read(write(tmp_path / "t.csv", 'size,name\n"3,5",a\n'), said.append) == {"size": ["3,5"], "name": ["a"]}
    assert len(said) == 1


def test_one_and_one_point_zero_are_one_category():
    wards = {"ward": ["1.0", "2", "1", "2.00", "07"]}
    kinds, notes = learn(wards, categorical=["ward"])
    assert notes == ["ward: 3 categories (07, 1, 2)"]
    assert typed(wards, kinds)["ward"].tolist() == ["1", "2", "1", "2", "07"]


def test_separators_are_found_behind_quotes_and_blank_lines(tmp_path):
    table = read(write(tmp_path / "t.csv", '\n"a,mm";"b,mm"\n\n1;2\n  \n3;4\n\n'))
    assert table == {"a,mm": ["1", "3"], "b,mm": ["2", "4"]}
    assert read(write(tmp_path / "t.csv", "note\na, b\nc\n")) == {"note": ["a, b", "c"]}


def test_a_blank_line_of_one_column_is_a_missing_cell(tmp_path):
    assert read(write(tmp_path / "t.csv", "a\n1\n\n3\n")) == {"a": ["1", None, "3"]}


def test_columns_without_a_name_and_quotes_without_an_end(tmp_path):
    assert list(read(write(tmp_path / "t.csv", ",a\n0,1\n1,5\n"))) == ["column 1", "a"]
    with pytest.raises(ValueError, match=r"cannot be read as a table: .*; is a quote left open"):
        read(write(tmp_path / "open.csv", 'a,b\n"' + "x" * 200_000 + ",1\n"))


def test_a_column_that_counts_rows_says_nothing():
    kinds, notes = learn({"index": ["0", "1", "2", "3"], "a": ["1", "5", "2", "2"]})
    assert list(kinds) == ["a"]
    assert notes == ["index: left out, it only counts the rows"]


def test_categories_with_commas_are_quoted():
    _, [note] = learn({"town": ["Zürich, CH", "Łódź", "Zürich, CH", "Łódź"]})
    assert note == "town: 2 categories ('Zürich, CH', Łódź)"


def test_categories_are_named_whole_or_counted():
    wards = [f"ward of the {k}th floor" for k in range(4)]
    assert listed(wards) == ", ".join(wards)
    assert listed(wards, 60) == "ward of the 0th floor, ward of the 1th floor and 2 others"
    assert listed(wards[:3], 60) == "ward of the 0th floor, ward of the 1th floor and 1 other"
    assert listed(wards, 5) == "ward of the 0th floor and 3 others"
    note = "Nest never seen with eggs. Not sampled, for want of blood."
    assert listed([note, "none\nat all"]) == "'Nest never seen with eggs. Not sample...', none at all"
    assert learn({"note": [note, "x" * 99] * 8})[1] == [
        "note: 2 categories ('Nest never seen with eggs. Not sample...' and 1 other)"
    ]
    with pytest.raises(ValueError, match=r"'x{37}\.\.\.' in row 4"):
        learn({"age": ["1", "2", "3", "x" * 99]})


@pytest.mark.parametrize("cell", ["1", "+1", "-1.50", "1.", ".5", "1e5", "1E-5", "007", "-0.0"])
def test_what_is_written_as_a_number_is_one(cell):
    assert number_in(cell) == float(cell)


@pytest.mark.parametrize(
    "cell", ["1_0", "1_0.5", "inf", "Infinity", "nan", "1e400", "١٢", "１２", " 1", "0x1", "1e", "."]
)
def test_what_is_not_written_as_a_number_is_none(cell):
    assert number_in(cell) is None


def test_codes_with_underscores_are_texts():
    kinds, notes = learn({"code": ["10_0", "11_1"] * 8})
    assert kinds == {"code": CATEGORIES}
    assert notes == ["code: 2 categories (10_0, 11_1)"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("007", "7"), ("00", "0"), ("-07", "-7"), ("007", "07"), ("9007199254740993", "9007199254740992")],
)
def test_codes_that_would_become_one_number_are_texts(one, other):
    table = {"code": [one, other, "12"] * 5}
    kinds, notes = learn(table)
    assert typed(table, kinds)["code"].tolist() == table["code"]
    assert notes[0] == f"code: a column of texts, for {one!r} and {other!r} would be the same number"


@pytest.mark.parametrize(
    "cells", [["1.0", "1", "1e0", "+1", "2"], ["1.50", "1.5", ".5", "0.5"], ["007", "012", "7.5"]]
)
def test_numbers_may_be_spelled_in_different_ways(cells):
    kinds, notes = learn({"size": cells * 4})
    assert kinds == {"size": NUMBERS}
    assert notes == []


def test_rules_about_numbers_read_them_alike():
    rules = RuleBase.by_hand([({"x": (1.0, 1.0)}, {"a": 1.0}), ({}, {"b": 1.0})])
    with pytest.raises(ValueError, match="row 1 has '1_0' in column 'x', which holds numbers"):
        Model(rules).predict({"x": ["1_0"]})
    assert Model(rules).predict({"x": ["1.0", 1]}).tolist() == ["a", "a"]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("date32", 2**31 - 1),
        ("date32", -(2**31)),
        ("timestamp", 2**62),
        ("duration", 2**62),
        ("timestamp", -(2**62)),
    ],
)
def test_absurd_dates_are_a_sentence(tmp_path, kind, value):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    from pyarrow import parquet

    unit = [] if kind == "date32" else ["us"] if kind == "timestamp" else ["ms"]
    days = pyarrow.array([1, value], getattr(pyarrow, kind)(*unit))
    parquet.write_table(pyarrow.table({"x": [1, 2], "day": days}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'day' of .*t\.parquet cannot be read: .*; correct it, or save"):
        read(tmp_path / "t.parquet")


def test_damaged_parquet_is_a_sentence_wherever_the_damage_is(tmp_path, rng):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    from pyarrow import parquet

    texts, days = pyarrow.array(["x", "yy", "z"] * 40), pyarrow.array([1, 2, 3] * 40, pyarrow.date32())
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"d": texts.dictionary_encode(), "s": texts, "day": days}), path)
    whole, complaints = path.read_bytes(), []
    for _ in range(1500):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            read(path)
        except ValueError as error:
            complaints.append(str(error))
    assert len(complaints) > 500
    assert [said for said in complaints if str(path) not in said or "\n" in said] == []


def test_commas_stay_where_points_would_make_two_texts_one(tmp_path):
    rows = [f"{k},5;{text}" for k, text in enumerate(["1,5", "1.5", "2,5"] * 5)]
    (tmp_path / "t.csv").write_text("\n".join(["size;kind", *rows]) + "\n")
    table = read(tmp_path / "t.csv")
    assert table["size"][:2] == ["0.5", "1.5"]
    assert table["kind"][:3] == ["1,5", "1.5", "2,5"]


def test_parquet_that_unpacks_to_more_than_memory_is_a_sentence(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"x": [1.0] * 2000, "y": ["a"] * 2000, "z": ["b" * 100] * 2000})
    parquet.write_table(table, tmp_path / "t.parquet")
    monkeypatch.setattr("sessc.tables.reading.MOST_CELLS", 4000)
    with pytest.raises(ValueError, match=r"has 2,000 rows of 3 columns, which is more than the 4,000 cells"):
        read(tmp_path / "t.parquet")
    assert set(read(tmp_path / "t.parquet", wanted=["x", "y"])) == {"x", "y"}
    with pytest.raises(ValueError, match="2,000 rows of 3 columns"):
        read(tmp_path / "t.parquet", wanted=["x", "nowhere"])


def test_a_model_reads_of_parquet_what_its_rules_use(tmp_path, rng, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; pip install pyarrow")
    table = pandas.DataFrame({"x": rng.normal(size=80), "waste": ["w" * 10] * 80})
    table["y"] = np.where(table["x"] > 0, "a", "b")
    model = Model.fit(table, "y", n_rules=2, conditions=1)
    assert model.used == ["x"]
    table.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("sessc.tables.reading.MOST_CELLS", 80)
    np.testing.assert_array_equal(model.predict(tmp_path / "t.parquet"), model.predict(table))
