"""Categories and gaps in rules: written by hand, read back, asked, explained."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulas import weights
from sessc import RuleBase, TSKClassifier
from sessc.rows.columns import Category, Number
from sessc.rules.base import Cells
from sessc.rules.conditions import (
    COMMON,
    Reading,
    additions,
    asks,
    beyond,
    grades,
    impacts,
    places,
    reach_of,
    read_condition,
)
from sessc.rules.summary import summarize
from sessc.rules.wording import condition, listed, quoted


@pytest.fixture
def rules():
    return RuleBase.by_hand(
        [
            ({"kind": {"among": ["u", "v"]}, "x": {"at_least": 2.0}}, {"a": 1.0}),
            ({"kind": {"among": ["w"], "unknown": True}, "x": {"between": (0, 3)}}, {"b": 1.0}),
            ({"asked": {"among": [True]}}, {"a": 0.5, "b": 0.5}),
        ],
        features=["kind", "x", "asked"],
    )


def test_columns_are_what_is_asked_of_them(rules):
    assert rules.columns == (Category("kind", ("u", "v", "w"), ()), Number("x"), Category("asked", (True,), ()))
    assert rules.n_conditions.tolist() == [2, 2, 1]
    np.testing.assert_allclose(weights(rules), 0.0, atol=1e-12)


def test_what_is_written_is_read(rules):
    assert "IF   kind is u or v\n  AND  x is at least 2\n" in rules.to_text().replace(
        "IF   x is at least 2\n  AND  kind is u or v\n", "IF   kind is u or v\n  AND  x is at least 2\n"
    )
    assert condition(rules, 1, 0) == "kind is w"
    assert condition(rules, 1, 1) == "x is between 0 and 3"
    assert condition(rules, 2, 2) == "asked is True"


def test_levels_that_nobody_named_and_missing_cells_count_as_other(rules):
    table = {"kind": ["w", "z", None], "x": [1.5] * 3, "asked": [False] * 3}
    cells = rules.cells(table)
    np.testing.assert_array_equal(cells[:, 0], [2, np.nan, np.nan])
    np.testing.assert_allclose(grades(rules, 0, 0, cells[:, 0]), 0.05)
    np.testing.assert_allclose(grades(rules, 1, 0, cells[:, 0]), 1.0)  # as was asked for
    assert grades(rules, 0, 0, np.asarray([3.0]))[0] == pytest.approx(0.05)


def test_edges_by_hand_stay_met_however_far(rules):
    far = rules.firing({"kind": ["u"] * 3, "x": [4.0, 400.0, 1e6], "asked": [False] * 3})
    np.testing.assert_allclose(far[1], far[2])
    assert far[2, 0] > 0.9


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"kind": {"among": []}}, "one or more levels of 'kind'"),
        ({"kind": {"among": "u"}}, "among takes a list of levels of 'kind', got 'u'"),
        ({"kind": {"among": [None]}}, "text or numbers"),
        ({"kind": {"beyond": 3}}, "a number and a width above 0, or a dict such as"),
        ({"x": {"at_least": "much"}}, "at_least must be a number"),
        ({"x": {"between": 3}}, "between takes two numbers"),
        ({"x": {"between": (3, 1)}}, "'x' cannot be at least 3 and at most 1"),
        (
            {"x": {"at_least": 3, "about": 1}},
            "written with about and width, at_least and at_most, or between",
        ),
        ({"x": {"at_least": 3, "unknown": 1}}, "unknown is True, False or None"),
    ],
)
def test_mistakes_are_named(written, message):
    with pytest.raises(ValueError, match=message):
        RuleBase.by_hand([(written, 1.0), ({}, 2.0)])


def test_a_column_is_one_thing_or_another():
    with pytest.raises(ValueError, match="a column is one or the other"):
        RuleBase.by_hand([({"x": {"among": ["a"]}}, 1.0), ({"x": (0, 1)}, 2.0)])


def test_edits_of_categories(rules):
    changed = rules.with_condition(1, "kind", among=["w", "other"])
    assert changed.edits == ("rule 1: kind is w or other instead of u or v",)
    assert read_condition(changed, 0, 0).levels == (2, 3)
    np.testing.assert_allclose(weights(changed), weights(rules), atol=1e-12)
    back = changed.with_condition(1, "kind", among=["u", "v"], unknown=False)
    np.testing.assert_allclose(back.linear, rules.linear)
    np.testing.assert_allclose(back.unknown, rules.unknown)
    assert rules.without_condition(1, "kind").edits == ("rule 1: kind may be anything",)
    for wish, message in (
        ({"about": 3.0}, "'kind' is a category; say which of its levels with among"),
        ({"among": ["q"]}, "'q' is no level of 'kind', which is u, v, w or other"),
        ({"among": ["u", "v", "w", "other"]}, "these are all levels of 'kind'"),
    ):
        with pytest.raises(ValueError, match=message):
            rules.with_condition(1, "kind", **wish)
    with pytest.raises(ValueError, match="'x' is a number; write about and width"):
        rules.with_condition(1, "x", among=["u"])


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6, unique=True))
def test_levels_are_told_apart_whatever_they_are_called(labels):
    """Between the levels of a list stand commas and "or", and inside none do unless in quotes."""
    text = listed(labels)
    assert "\n" not in text
    for label in labels:
        assert quoted(label) in text
        assert quoted(label).startswith('"') or not {",", " or "} & set(quoted(label))


def test_rare_levels_do_not_decide_what_others_are_measured_from(rng):
    tags = np.where(np.arange(2000) % 160, rng.choice(["a", "b", "c"], 2000), "rare")
    X = pytest.importorskip("pandas").DataFrame({"tag": tags, "x": rng.normal(size=2000)})
    rules = TSKClassifier(2, random_state=0).fit(X, rng.integers(2, size=2000)).rules_
    assert 0.005 < rules.summary.levels[0][3] < COMMON
    linear = np.array(rules.linear)
    linear[0, 1:] = [0.0, -2.0, -2.0, 5.0]
    odd = replace(rules, linear=linear)
    assert places(odd, 0).tolist() == [0, 1, 2]
    np.testing.assert_allclose(grades(odd, 0, 0, np.arange(4)), [1, np.exp(-2), np.exp(-2), 1])
    assert condition(odd, 0, 0) == "tag is a or rare"


def test_many_levels_are_measured_from_all_of_them(rng):
    """However common the one is that stands for those of few rows."""
    tags = [f"place {k}" for k in range(180)] * 8 + [f"hamlet {k}" for k in range(30)]
    X = pytest.importorskip("pandas").DataFrame({"tag": tags, "x": rng.normal(size=len(tags))})
    rules = TSKClassifier(2, random_state=0).fit(X, rng.integers(2, size=len(tags))).rules_
    shares = rules.summary.levels[0]
    assert np.flatnonzero(shares >= COMMON).tolist() == [180]
    linear, unknown = np.array(rules.linear), np.array(rules.unknown)
    linear[0, 1:], unknown[0, 0] = np.where(np.arange(181) < 2, 0.0, -5.0), -5.0
    asked = replace(rules, linear=linear, unknown=unknown)
    assert len(places(asked, 0)) == 181
    assert condition(asked, 0, 0) == "tag is place 0 or place 1"


def test_numbers_that_hardly_vary_are_read_where_few_rows_have_them(rng):
    x = np.where(np.arange(400) % 100, 7.0, 9.0)
    X = np.column_stack([x, rng.normal(size=400)])
    rules = TSKClassifier(2, random_state=0).fit(X, rng.integers(2, size=400)).rules_
    linear, precisions = np.array(rules.linear), np.array(rules.precisions)
    linear[0, 0], precisions[0, 0] = 3.0, 0.0
    odd = replace(rules, linear=linear, precisions=precisions)
    assert condition(odd, 0, 0) == "x0 is 9"
    assert np.all(np.isfinite(impacts(odd)))


def test_impacts_are_standard_deviations_over_the_data(rng):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"tag": rng.choice(["a", "b"], 4000), "x": rng.normal(size=4000)})
    X.loc[::5, "x"] = np.nan
    rules = TSKClassifier(3, refine=10, random_state=0).fit(X, rng.integers(2, size=4000)).rules_
    cells = rules.cells(X)
    for r in range(3):
        exact = [np.std(additions(rules, r, j, cells[:, j])) for j in range(2)]
        np.testing.assert_allclose(impacts(rules)[r], exact, rtol=0.1)
    np.testing.assert_array_equal(impacts(rules, 1)[0], impacts(rules)[1])


def test_evaluation_takes_tables_as_they_are(rules):
    table = {"kind": ["u", "w", None], "x": [3.0, 1.0, None], "asked": [False, True, None]}
    assert rules.evaluate(table, ["a", "b", "b"]).n_rows == 3
    changed = rules.without_rule(3)
    effect = changed.compare(rules, table, ["a", "b", "b"])
    assert effect.n_changed == np.sum(rules(table) != changed(table))
    assert rules(Cells(rules.cells(table))).tolist() == rules(table).tolist()


def test_written_rules_are_a_start_whatever_levels_the_table_has(rng):
    """Conditions mean the same of the same cells; levels that nobody named are others."""
    X = pytest.importorskip("pandas").DataFrame({"x": rng.normal(size=300), "kind": rng.choice(list("vuwz"), 300)})
    X.loc[::10, "kind"] = None
    y = np.where((X["kind"] == "u") | (X["x"] > 1), "a", "b")
    written = [({"kind": {"among": ["u", "q"]}}, {"a": 1.0}), ({"x": (0, 1)}, {"b": 1.0})]
    rules = RuleBase.by_hand(written, features=["x", "kind"])
    fitted = TSKClassifier(rules=rules).fit(X, y).rules_
    np.testing.assert_allclose(fitted.firing(X), rules.firing(X), rtol=1e-9)
    assert condition(fitted, 0, 1) == "kind is u"
    refined = TSKClassifier(rules=rules, refine=50).fit(X, y)
    assert refined.rules_.asks.tolist() == [[False, True], [True, False]]
    assert refined.score(X, y) > 0.8
    plain = RuleBase.by_hand([({"x": (0, 1)}, {"a": 1.0}), ({}, {"b": 1.0})], features=["x", "kind"])
    assert TSKClassifier(rules=plain).fit(X, y).rules_.columns[1].n_levels == 4
    wrong = RuleBase.by_hand([({"kind": (0, 1)}, {"a": 1.0}), ({}, {"b": 1.0})], features=["x", "kind"])
    with pytest.raises(ValueError, match="'kind' holds categories, and the rules ask for numbers"):
        TSKClassifier(rules=wrong).fit(X, y)


def test_only_numbers_outside_all_that_were_seen_are_beyond(rng):
    X = np.column_stack([rng.integers(3, size=60), rng.normal(size=60)])
    summary = summarize(X, np.ones(2), levels=(3, 0))
    rules = RuleBase.by_hand([({"kind": {"among": ["u", "v", "w"]}, "x": (0, 1)}, 1.0), ({}, 2.0)])
    low, high = X[:, 1].min(), X[:, 1].max()
    cells = np.asarray([[2.0, low], [0.0, high], [np.nan, np.nan], [1.0, low - 0.1], [7.0, high + 0.1]])
    outside = [[False, False]] * 3 + [[False, True]] * 2
    np.testing.assert_array_equal(beyond(replace(rules, summary=summary), cells), outside)
    assert not beyond(rules, cells).any()  # of which nobody has seen any


def test_a_column_of_gaps_alone_changes_no_answer(rules):
    summary = summarize(np.full((9, 3), np.nan), np.ones(3), levels=rules.layout.levels)
    np.testing.assert_array_equal(impacts(replace(rules, summary=summary))[:, [0, 2]], 0.0)


@pytest.mark.parametrize("part", ["linear", "precisions", "unknown"])
def test_each_part_of_a_condition_asks_for_something(rules, part):
    names = ("linear", "precisions", "unknown")
    nothing = {name: np.zeros_like(getattr(rules, name)) for name in names}
    for place in np.ndindex(nothing[part].shape):
        some = nothing[part].copy()
        some[place] = 0.3
        r, feature = place
        column = feature if part == "unknown" else rules.layout.group[feature]
        one = replace(rules, **(nothing | {part: some}))
        assert np.argwhere(one.asks).tolist() == [[r, column]]
        assert [(q, j) for q in range(3) for j in range(3) if asks(one, q, j)] == [(r, column)]


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_most_of_a_rules_own_rows_reach_each_condition(unit):
    """Nine tenths of where it counts most, or half about levels; of all rows, if it nowhere counts most."""
    X = pytest.importorskip("pandas").DataFrame({"x": np.arange(11.0), "kind": list("uvuvuvuvuvw")})
    written = [({"x": (2, 3), "kind": {"among": ["u"]}}, 1.0), ({"x": (8, 5)}, 2.0), ({"x": (5, 3)}, 3.0)]
    rules = RuleBase.by_hand(written, features=["x", "kind"])
    rules = replace(rules, constants=rules.constants - [0.0, 0.0, 50.0])
    cells, weight = rules.cells(X), unit * np.linspace(1.0, 2.0, 11)
    fires, found = rules.firing(X) * weight[:, None], reach_of(rules, cells, weight)
    for r, column in np.ndindex(found.shape):
        if not rules.asks[r, column]:
            assert found[r, column] == np.inf
            continue
        own = fires[:, r] * (fires[:, r] == fires.max(axis=1)) if r < 2 else fires[:, r]
        adds = additions(rules, r, column, cells[:, column])
        most = 0.5 if rules.layout.levels[column] else 0.9
        assert own[adds >= found[r, column]].sum() >= most * own.sum() * (1 - 1e-12)
        assert own[adds > found[r, column]].sum() < most * own.sum()


def test_what_is_asked_of_missing_cells_alone_lets_any_number_be(rules):
    nothing = {name: np.zeros_like(getattr(rules, name)) for name in ("linear", "precisions")}
    one = replace(rules, **nothing, unknown=np.asarray([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    for r, grade in enumerate((np.exp(-1), np.exp(1))):
        assert read_condition(one, r, 1) == Reading("any", worst=1.0, unknown=pytest.approx(grade))
    nothing = read_condition(one, 2, 1)
    assert nothing == Reading("any")
    assert (nothing.worst, nothing.unknown) == (1.0, 1.0)


@pytest.mark.parametrize("n_rules", [1, 3])
def test_columns_that_are_asked_about_or_concluded_from_are_used(rules, n_rules):
    names = ("constants", "linear", "precisions", "unknown", "consequents")
    few = replace(rules, **{name: getattr(rules, name)[:n_rules] for name in names})
    assert few.used.tolist() == [n_rules > 1] * 3  # a single rule fires whatever is there
    nothing = {name: np.zeros_like(getattr(few, name)) for name in names[1:4]}
    for feature, column in enumerate(few.layout.group):
        B = np.zeros((n_rules, 1 + few.layout.n_features, 2))
        B[-1, 1 + feature, 1] = 1.0
        used = replace(few, consequents=B, **nothing).used
        assert np.flatnonzero(used).tolist() == [column]


def test_lists_of_rows_are_tables(rules):
    """In which numbers beside text are no text."""
    rows = [["u", 2.5, True], ["w", -1.0, False], [None, None, None]]
    columns = dict(zip(rules.feature_names, map(list, zip(*rows, strict=True)), strict=True))
    np.testing.assert_array_equal(rules.cells(rows), [[0, 2.5, 0], [2, -1, np.nan], [np.nan] * 3])
    np.testing.assert_array_equal(rules.cells(rows), rules.cells(columns))
    np.testing.assert_array_equal(rules(rows), rules(columns))
    np.testing.assert_array_equal(rules.cells(rows[:2]), rules.cells(rows)[:2])


@pytest.mark.parametrize(("common", "n_places"), [(0.4, 101), (0.6, 1)])
def test_common_levels_decide_if_most_rows_have_one(common, n_places):
    names = [f"level {k}" for k in range(100)]  # and others
    rules = RuleBase.by_hand([({"kind": {"among": names}}, 1.0), ({}, 2.0)])
    summary = summarize(np.zeros((4, 1)), np.ones(2), levels=(101,))
    shares = np.append(common, np.full(100, (1 - common) / 100))
    assert len(places(replace(rules, summary=replace(summary, levels=(shares,))), 0)) == n_places
