import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.rows.columns import Number
from sessc.rules.conditions import additions, grades, impacts, origin, read_condition, seen_range, shown_range, top
from sessc.rules.links import Proportions
from sessc.rules.summary import summarize
from sessc.rules.wording import condition, number


@pytest.fixture
def rules():
    return RuleBase.bells(
        centers=np.asarray([[0.0, 1.0], [2.0, -1.0]]),
        widths=np.asarray([[1.0, 0.5], [np.inf, np.inf]]),
        consequents=np.asarray([[[0.9, 0.1]], [[0.2, 0.8]]]),
        mean=np.asarray([100.0, 0.0]),
        scale=np.asarray([10.0, 0.01]),
        link=Proportions(),
        feature_names=("height", "dose"),
        classes=np.asarray(["well", "ill"]),
    )


def test_rules_read_like_sentences(rules):
    assert str(rules) == (
        "2 rules for classification by 2 features, with constant outputs.\n"
        "A rule has 1.0 conditions on average.\n"
        "\n"
        "Rule 1\n"
        "  IF   dose is between 0.0041 and 0.0159\n"
        "  AND  height is between 88.2 and 111.8\n"
        "  THEN well 0.90, ill 0.10\n"
        "\n"
        "Rule 2\n"
        "  OTHERWISE ill 0.80, well 0.20"
    )


def test_weaker_conditions_are_counted(rules):
    text = rules.to_text(max_conditions=1)
    assert "AND  1 weaker condition\n" in text
    assert "The 1 strongest" in text
    assert "strongest" not in rules.to_text()


def test_linear_outputs_of_classes(rules):
    """A term that is nothing is not written."""
    linear = replace(rules, consequents=np.asarray([[[0.5, 0.5], [0.2, -0.2], [0.0, 0.0]]] * 2))
    assert "THEN well: 0.500 + 0.02 (height - 100)\n       ill: 0.500 - 0.02 (height - 100)\n" in str(linear)


def test_regression_and_slopes_are_in_the_users_units(rules):
    linear = replace(
        rules, consequents=np.asarray([[[5.0], [20.0], [-3.0]]] * 2), classes=None, target_name="price"
    )
    # at the centre (100, 0.01), which is (0, 1) in standard units: 5 + 20 * 0 - 3 * 1
    assert "price = 2.0 + 2 (height - 100) - 300 (dose - 0.010)" in str(linear)
    assert "price = 5.0 + 2 (height - 100) - 300 (dose - 0.000)" in str(
        linear
    )  # the second has none, so at the mean
    assert linear.outputs([[100.0, 0.01]])[0, 0] == pytest.approx(2.0)


def test_large_offsets_keep_the_digits_that_differ(rules):
    far = replace(rules, mean=np.asarray([1.7e9, 0.0]), scale=np.asarray([86400.0, 0.01]))
    assert "height is between 1699898000 and 1700102000" in str(far)
    prices = replace(rules, consequents=np.asarray([[[1e9 + 3.0]], [[1e9 + 8.0]]]), classes=None)
    assert "y = 1000000003.00" in str(prices)


def test_classes_that_are_numbers_say_of_what(rules):
    assert "THEN grade=1 0.90, grade=7 0.10" in str(
        replace(rules, classes=np.asarray([1, 7]), target_name="grade")
    )


def test_names_stay_on_one_line(rules):
    columns = tuple(map(Number, ("a\nb", "c\t d")))
    text = str(replace(rules, columns=columns, classes=np.asarray(["x\ny", "z"])))
    assert "a b is between " in text
    assert "THEN x y 0.90" in text


def test_counts_are_grammatical(rules):
    one = RuleBase.bells(
        np.zeros((1, 1)), np.ones((1, 1)), np.asarray([[[1.0, 0.0]]]), np.zeros(1), np.ones(1), Proportions(),
        feature_names=("x",),
        classes=np.asarray(["well", "ill"]),
    )  # fmt: skip
    assert str(one).startswith("1 rule for classification by 1 feature,")


def test_there_is_no_negative_zero(rules):
    text = str(replace(rules, consequents=np.asarray([[[1.0, -0.001]]] * 2)))
    assert "ill 0.00" in text
    assert "-0.00" not in text


def test_names_of_features_and_classes_are_used():
    iris = load_iris()
    model = TSKClassifier(3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    assert "x2 is between " in str(model.rules_)
    assert "virginica" in str(model.rules_)
    assert "y = " in str(TSKRegressor(3, random_state=0).fit(iris.data, iris.data[:, 0]).rules_)


@pytest.mark.parametrize(
    ("value", "resolution", "text"),
    [
        (17.46, 2.14, "17.5"),
        (1234.5, 310.0, "1230"),
        (0.01234, 0.00051, "0.01234"),
        (1.7e9 + 12345, 2.7e5, "1700010000"),
        (1e-12, 3e-13, "1.00e-12"),
        (3e-13, 3e-13, "3.0e-13"),
        (1e18, 1e16, "1.000e+18"),
        (5.0, 0.0, "5"),
        (-0.0001, 0.1, "0.00"),
        (0.0, 3e-13, "0e+00"),
    ],
)
def test_numbers_have_the_digits_they_deserve(value, resolution, text):
    assert number(value, resolution) == text


def test_refined_rules_speak_of_probabilities_and_odds():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    constant = TSKClassifier(2, refine=30, random_state=0).fit(X, y).rules_
    for r, line in enumerate(line for line in str(constant).splitlines() if "THEN" in line):
        says = np.exp(constant.consequents[r, 0])
        assert f"{constant.classes[says.argmax()]} {max(says) / sum(says):.2f}" in line
    linear = TSKClassifier(2, order=1, refine=30, random_state=0).fit(X, y)
    assert "THEN log-odds of malignant: " in str(linear.rules_)
    assert "benign" not in "".join(line for line in str(linear.rules_).splitlines() if "SEEN" not in line)


def test_linear_conclusions_can_be_read_in_full():
    X, y = load_wine(return_X_y=True, as_frame=True)
    for refine in (0, 20):
        rules = TSKClassifier(2, order=1, refine=refine, random_state=0).fit(X, y).rules_
        assert str(rules).count(" + 9 smaller terms") == 6
        assert "largest terms of each conclusion are shown; to_text() shows all" in str(rules)
        full = rules.to_text()
        assert "smaller term" not in full
        assert "largest terms" not in full
        for name in X.columns:
            assert full.count(f" ({name} ") == 6  # two rules, three classes
        for table in (rules.to_markdown, rules.to_latex):
            assert "smaller term" not in table()
            assert table(max_terms=2).count("11 smaller terms") == 6
        line = next(line for line in full.splitlines() if "THEN" in line)
        assert line.startswith(f"  THEN {'score of ' if refine else ''}target=0: ")
        assert ("Scores are log-odds" in full) == bool(refine)


@pytest.mark.parametrize("order", [0, 1])
def test_one_rule_that_always_holds_is_not_put_as_a_condition(order):
    X, y = load_wine(return_X_y=True, as_frame=True)
    rules = TSKRegressor(1, order=order, random_state=0).fit(X, y).rules_
    text = str(rules)
    assert text.startswith("1 rule, which always holds, for regression by 13 features")
    assert "  ALWAYS target = " in text
    assert not any(word in text for word in ("IF", "THEN", "anything", "on average", "100 %"))
    assert "| 1 | always | target = " in rules.to_markdown()
    assert "0.0 conditions" not in rules.to_html()


@pytest.mark.parametrize("most", [-1, 2.5, "3", True])
def test_how_much_to_show_is_a_count(rules, most):
    for form in (rules.to_text, rules.to_markdown, rules.to_latex):
        for name in ("max_conditions", "max_terms"):
            with pytest.raises(
                ValueError, match=f"{name} must be a whole number of zero or more, or None for all"
            ):
                form(**{name: most})


def frame(rng, n=400):
    """Numbers, a category, truth values and dates, with cells missing; and what hangs on them."""
    pandas = pytest.importorskip("pandas")
    colours = ["red", "blue", "green, dark", "white"]
    X = pandas.DataFrame({
        "age": rng.integers(18, 90, n).astype(float),
        "colour": rng.choice(colours, n, p=[0.4, 0.3, 0.2, 0.1]),
        "smoker": rng.random(n) < 0.3,
        "admitted": pandas.Timestamp("2019-01-01") + pandas.to_timedelta(rng.integers(0, 800, n), "D"),
        "dose": rng.exponential(1, n),
    })  # fmt: skip
    y = np.where((X["age"] > 50) & (X["colour"] != "red") | (X["dose"] > 1.5) & X["smoker"], "ill", "well")
    X.loc[rng.random(n) < 0.15, "age"] = np.nan
    X.loc[rng.random(n) < 0.1, "colour"] = None
    return X, y


@pytest.mark.parametrize("settings", [{}, {"refine": 60}, {"refine": 60, "conditions": 2}], ids=str)
def test_what_is_read_has_the_grade_one_half(rng, settings):
    """At the ends of what a sentence says a condition is met by a half, inside better, and outside worse."""
    for X, y in (frame(rng), load_wine(return_X_y=True, as_frame=True)):
        rules = TSKClassifier(4, random_state=0, **settings).fit(X, y).rules_
        for r, column in np.argwhere(rules.asks):
            read = read_condition(rules, r, column)
            ends = np.asarray([end for end in (read.low, read.high) if end is not None])
            np.testing.assert_allclose(grades(rules, r, column, ends), 0.5, rtol=1e-6)
            cells = rules.cells(X)[:, column]
            met = grades(rules, r, column, cells) >= 0.5 - 1e-8
            if read.kind == "set":
                said = np.isin(cells, read.levels)
            else:
                near = 1e-9 * rules.scale[column]  # the row that an end is read from is at the end
                low, high = -np.inf if read.low is None else read.low, np.inf if read.high is None else read.high
                said = (cells >= low - near) & (cells <= high + near)
            few = rules.summary.quantiles[[1, -2], column] if read.kind != "set" else (0, 99)
            there = (cells >= few[0]) & (cells <= few[1])  # but for a few at each end
            np.testing.assert_array_equal(met[there], said[there])
            assert np.all(met[np.isnan(cells)] == (read.unknown >= 0.5 - 1e-8))


def test_conditions_of_every_kind_are_sentences(rng):
    X, y = frame(rng)
    rules = TSKClassifier(3, refine=60, random_state=0).fit(X, y).rules_
    written = rules.with_condition(1, "age", between=(30, 52.5)).with_condition(1, "dose", at_most=1.3)
    written = written.with_condition(1, "colour", among=["green, dark", "red"], unknown=True)
    written = written.with_condition(1, "admitted", at_least="2020-03-01").with_condition(
        1, "smoker", among=[True]
    )
    text = written.to_text(words=False).split("Rule 2")[0]
    assert "age is between 30 and 52.5\n" in text
    assert "dose is at most 1.3\n" in text
    assert 'colour is "green, dark" or red, or unknown\n' in text
    assert "admitted since 2020-03-01\n" in text
    assert "smoker is True\n" in text
    assert "dose is at most 1.3 (not high)\n" in written.to_text()
    known = written.with_condition(1, "age", between=(30, 52.5), unknown=False)
    assert "age is between 30 and 52.5\n" in known.to_text(words=False)


@pytest.mark.parametrize(
    ("adds", "unknown", "text"),
    [
        ([0, -3, -3, -3, -3], -1, "tag is a"),
        ([0, -0.1, -3, -3, -3], -1, "tag is a or b"),
        ([-0.1, 0, -0.2, -3, -3], -1, "tag is b, a or c"),
        ([-1e-3, 0, -0.2, -0.3, -3], -1, "tag is not e"),
        ([0, -0.1, -0.2, -0.3, -0.4], -0.2, "tag is rather a, b or c"),
        ([0, -0.5, -0.5, -0.5, -0.5], -0.4, "tag is rather a"),
        ([0, -3, -3, -3, -3], -0.1, "tag is a, or unknown"),
        ([0, -3, -3, -3, -3], 2, "tag is unknown, or else a"),
        ([0, 0, 0, 0, 0], -2, "tag is known"),
        ([0, 0, 0, 0, 0], 2, "tag is unknown"),
        ([0, -0.1, 0, 0, 0], 2, "tag is unknown"),
        ([0, 0, 0, 0, 0], 0.1, "tag is rather unknown"),
    ],
)
def test_sets_are_told_by_their_levels(rng, adds, unknown, text):
    tags = np.where(rng.random(300) < 0.2, None, rng.choice(list("abcde"), 300))
    X = pytest.importorskip("pandas").DataFrame({"tag": tags, "x": rng.normal(size=300)})
    rules = TSKClassifier(2, random_state=0).fit(X, rng.integers(2, size=300)).rules_
    linear, missing = np.array(rules.linear), np.array(rules.unknown)
    linear[0, 1:], missing[0, 0] = adds, unknown
    heard = replace(rules.summary, reach=None)  # which rows rules counted most for before they were changed
    asked = replace(rules, linear=linear, unknown=missing, summary=heard).to_text().split("\n\n")[1]
    assert text in [line[7:] for line in asked.splitlines()]


def test_a_linear_conclusion_is_its_constant_and_its_terms(rng):
    """What is printed, computed: categories by their levels, missing cells as the average."""
    X, _ = frame(rng)
    X = X.drop(columns="admitted")
    rules = TSKRegressor(1, order=1, random_state=0).fit(X, 3.0 * (X["colour"] == "red") + X["dose"]).rules_
    said = next(line for line in rules.to_text().splitlines() if "ALWAYS" in line).partition("= ")[2]
    values = X.fillna({"age": rules.mean[0]})
    for k in range(0, 40, 3):
        row, text = values.iloc[k], said
        for name, levels in (("colour", rules.columns[1].labels), ("smoker", rules.columns[2].labels)):
            for label in levels:
                quoted = f'"{label}"' if "," in label else label
                text = text.replace(f" if {name} is {quoted}", f" * {int(str(row[name]) == label)}")
        text = text.replace(" (", " * (").replace("age", str(row["age"])).replace("dose", str(row["dose"]))
        assert eval(text) == pytest.approx(rules(X.iloc[[k]])[0], abs=0.05)


def test_many_levels_are_counted_where_not_all_is_shown(rng):
    tags = rng.choice([f"t{k}" for k in range(12)], 600)
    X = pytest.importorskip("pandas").DataFrame({"x0": tags})
    rules = TSKClassifier(2, random_state=0).fit(X, rng.integers(2, size=600)).rules_
    asked = rules.with_condition(1, "x0", among=[f"t{k}" for k in range(7)])
    assert "x0 is t0, t1, t2, t3, t4, t5 or t6\n" in asked.to_text()
    assert "x0 is t0, t1, t2, t3 or one of 3 others\n" in str(asked)
    most = asked.with_condition(1, "x0", among=[f"t{k}" for k in (*range(8), 10, 11)])
    assert "x0 is neither t8 nor t9\n" in str(most)


def places_of_many(rng):
    """A table whose rules incline to some of many places without asking for them."""
    pd = pytest.importorskip("pandas")
    n = 900
    places, steps = np.asarray([f"place {k}" for k in range(30)]), rng.normal(size=30)
    place, size, cars = rng.integers(30, size=n), rng.normal(size=n), rng.poisson(1.2, size=n)
    X = pd.DataFrame(
        {"place": places[place], "size": size, "cars": cars, "gone": np.where(size > 1, np.nan, cars)}
    )
    return X, (size + 0.5 * steps[place] - 0.3 * cars + 0.7 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_most_rows_that_a_rule_counts_most_for_are_as_it_is_read(rng, seed):
    """By how much it counts: nine of ten of them about numbers, and half about levels."""
    X, y = places_of_many(rng)
    rules = TSKClassifier(6, refine=100, conditions=3, random_state=seed).fit(X, y).rules_
    firing = rules.firing(X)
    own = np.where(firing == firing.max(axis=1, keepdims=True), firing, 0.0)
    cells = rules.cells(X)
    for r, column in zip(*np.nonzero(rules.asks), strict=True):
        met = np.average(grades(rules, r, column, cells[:, column]) >= 0.5, weights=own[:, r])
        assert met >= (0.5 if rules.layout.levels[column] else 0.9)


def test_what_is_never_missing_is_never_called_unknown(rng):
    X, y = places_of_many(rng)
    rules = TSKClassifier(3, refine=20, random_state=0).fit(X[["size", "cars"]], y).rules_
    far_down = replace(rules.summary, reach=np.full((3, 2), -50.0))
    for r in range(3):
        told = condition(replace(rules, summary=far_down), r, 0)
        assert "rather" in told
        assert "known" not in told


def test_an_unknown_cell_that_half_of_the_rows_have_is_named(rng):
    """However the half is rounded."""
    X, y = places_of_many(rng)
    rules = TSKClassifier(2, refine=20, random_state=0).fit(X[["gone", "size"]], y).rules_
    unknown, linear, precisions = (np.array(part) for part in (rules.unknown, rules.linear, rules.precisions))
    linear[0, 0], precisions[0, 0] = -3.0, 0.0
    for below in rng.uniform(0.1, 4.0, size=200):
        unknown[0, 0] = -below
        reach = np.array([[-below, np.inf]] * 2)
        asked = replace(rules, unknown=unknown, linear=linear, precisions=precisions)
        told = condition(replace(asked, summary=replace(rules.summary, reach=reach)), 0, 0)
        assert told.endswith(", or unknown")


@pytest.mark.parametrize(("at_least", "text"), [(0.02, "cars is at least 1"), (2.0, "cars is at least 2")])
def test_a_limit_says_more_than_what_everybody_has(rng, at_least, text):
    X, y = places_of_many(rng)
    rules = TSKClassifier(2, refine=20, random_state=0).fit(X[["size", "cars"]], y).rules_
    asked = rules.with_condition(1, "cars", at_least=at_least)
    assert condition(asked, 0, 1, words=False) == text


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ({"at_most": 2.44}, "cars is at most 2"),
        ({"at_least": 1.1}, "cars is at least 2"),
        ({"at_most": 0.99}, "cars is at most 0"),
        ({"between": (1.11, 3.5)}, "cars is between 2 and 3"),
        ({"between": (1.5, 2.5)}, "cars is 2"),
        ({"between": (2.2, 2.8)}, "cars is between 2.2 and 2.8"),
    ],
)
def test_limits_of_whole_numbers_are_whole_if_there_are_any_between(rng, wish, text):
    X, y = places_of_many(rng)
    rules = TSKClassifier(2, refine=20, random_state=0).fit(X[["size", "cars"]], y).rules_
    asked = rules.with_condition(1, "cars", **wish)
    assert condition(asked, 0, 1, words=False) == text
    met = grades(asked, 0, 1, np.asarray(X["cars"])) >= 0.5
    numbers = [float(part) for part in text.split() if part[0].isdigit()]
    low = numbers[0] if "least" in text or "between" in text else -np.inf
    high = np.inf if "least" in text else numbers[-1]
    low = numbers[0] if text == "cars is 2" else low
    np.testing.assert_array_equal(met, X["cars"].between(low, high))


def test_a_whole_number_to_which_a_rule_inclines_is_whole(rng):
    X, y = places_of_many(rng)
    rules = TSKClassifier(2, refine=20, random_state=0).fit(X[["size", "cars"]], y).rules_
    linear, precisions = np.array(rules.linear), np.array(rules.precisions)
    linear[0, 1], precisions[0, 1] = 0.05, 0.1
    heard = replace(rules.summary, reach=None)
    told = condition(replace(rules, linear=linear, precisions=precisions, summary=heard), 0, 1)
    assert told == "cars is rather about 2"


@pytest.mark.parametrize("center", [-2.99, -0.013, 0.0, 0.017, 2.99])
def test_a_bell_is_measured_from_its_top_wherever_that_is(rules, center):
    """Between two of the places where conditions are looked at, too, and before it leaves the data."""
    moved = replace(rules, linear=center * rules.precisions)
    np.testing.assert_allclose(top(moved, 0, 0), additions(moved, 0, 0, np.asarray([100.0 + 10.0 * center]))[0])


def test_all_numbers_lie_in_what_is_seen_and_most_in_what_is_shown(rng):
    X = rng.exponential(size=(400, 2)) * [1.0, 1e-9] + [0.0, 7.0]
    rules = TSKRegressor(2, random_state=0).fit(X, X[:, 0]).rules_
    rules = replace(rules, limits=None)
    for d in range(2):
        low, high = shown_range(rules, d)
        assert 0.9 <= np.mean((X[:, d] >= low) & (X[:, d] <= high)) < 1
        assert seen_range(rules, d) == (X[:, d].min(), X[:, d].max())
        narrow = replace(rules, limits=np.asarray([[0.5 * low + 0.5 * high] * 2, [high] * 2]))
        assert seen_range(narrow, d) == (0.5 * low + 0.5 * high, high)


def test_a_conclusion_is_measured_from_a_bell_at_the_very_end_of_the_data(rules):
    for center, at in ((-3.0, -3.0), (3.0, 3.0), (3.1, 0.0)):
        moved = replace(rules, linear=center * rules.precisions)
        assert shown_range(moved, 0) == (70.0, 130.0)
        np.testing.assert_allclose(origin(moved, 0), at)


def test_impacts_take_most_of_a_tail_to_lie_at_its_inner_end(rules, rng):
    """And else the middle of each of forty parts of the data."""
    X = rng.exponential(size=(500, 2))
    linear = replace(rules, linear=np.ones((2, 2)), precisions=np.zeros((2, 2)), summary=summarize(X, np.ones(2)))
    for d, q in enumerate(linear.summary.quantiles.T):
        middles = [0.5 * (low + high) for low, high in itertools.pairwise(q)]
        middles[0], middles[-1] = 0.75 * q[1] + 0.25 * q[0], 0.75 * q[-2] + 0.25 * q[-1]
        np.testing.assert_allclose(impacts(linear)[:, d], np.std(middles) / rules.scale[d], rtol=1e-9)


def test_of_a_number_that_hardly_varies_all_that_few_rows_have_is_shown(rng):
    X = np.column_stack(
        [np.where(np.arange(400) % 100, 7.0, rng.normal(9.0, 0.1, size=400)), rng.normal(size=400)]
    )
    rules = TSKRegressor(2, random_state=0).fit(X, X[:, 1]).rules_
    assert shown_range(rules, 0) == (7.0, X[:, 0].max())


def test_a_missing_cell_meets_a_condition_in_full_where_the_top_is_lowered_for_rows_far_from_it(rules, rng):
    """And more than that only if no cell that is there adds as much."""
    summary = replace(
        summarize(rng.normal(size=(99, 2)) * [10, 0.01] + [100, 0], np.ones(2)), reach=np.full((2, 2), -3.0)
    )
    for adds, grade in ((-4.0, np.exp(-4.0 - top(replace(rules, summary=summary), 0, 0))), (-0.5, 1.0)):
        some = replace(rules, unknown=np.full((2, 2), adds), summary=summary)
        assert top(some, 0, 0) < -2
        assert read_condition(some, 0, 0).unknown == pytest.approx(grade)
    best = replace(rules, unknown=np.full((2, 2), 1.0), summary=summary)
    assert read_condition(best, 0, 0).unknown == pytest.approx(np.e, rel=0.01)
