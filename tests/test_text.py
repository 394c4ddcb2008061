from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.rules.links import Proportions
from sessc.rules.wording import number


@pytest.fixture
def rules():
    return RuleBase(
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
        "  IF   dose is about 0.0100 (± 0.0050)\n"
        "  AND  height is about 100 (± 10)\n"
        "  THEN well 0.90, ill 0.10\n"
        "\n"
        "Rule 2\n"
        "  IF   anything\n"
        "  THEN ill 0.80, well 0.20"
    )


def test_weaker_conditions_are_counted(rules):
    text = rules.to_text(max_conditions=1)
    assert "AND  1 weaker condition\n" in text
    assert "The 1 strongest" in text
    assert "strongest" not in rules.to_text()


def test_linear_outputs_of_classes(rules):
    linear = replace(rules, consequents=np.asarray([[[0.5, 0.5], [0.2, -0.2], [0.0, 0.0]]] * 2))
    assert "THEN well: 0.500 + 0.02 (height - 100) + 0 (dose - 0.0100)\n       ill: 0.500 - 0.02" in str(linear)


def test_regression_and_slopes_are_in_the_users_units(rules):
    linear = replace(
        rules, consequents=np.asarray([[[5.0], [20.0], [-3.0]]] * 2), classes=None, target_name="price"
    )
    # at the centre (100, 0.01), which is (0, 1) in standard units: 5 + 20 * 0 - 3 * 1
    assert "price = 2.0 + 2 (height - 100) - 300 (dose - 0.0100)" in str(linear)
    assert "price = 48.0 + 2 (height - 120) - 300 (dose + 0.010)" in str(linear)  # the second, at (120, -0.01)
    assert linear.outputs([[100.0, 0.01]])[0, 0] == pytest.approx(2.0)


def test_large_offsets_keep_the_digits_that_differ(rules):
    far = replace(rules, mean=np.asarray([1.7e9, 0.0]), scale=np.asarray([86400.0, 0.01]))
    assert "height is about 1700000000 (± 86000)" in str(far)
    prices = replace(rules, consequents=np.asarray([[[1e9 + 3.0]], [[1e9 + 8.0]]]), classes=None)
    assert "y = 1000000003.00" in str(prices)


def test_classes_that_are_numbers_say_of_what(rules):
    assert "THEN grade=1 0.90, grade=7 0.10" in str(
        replace(rules, classes=np.asarray([1, 7]), target_name="grade")
    )


def test_names_stay_on_one_line(rules):
    text = str(replace(rules, feature_names=("a\nb", "c\t d"), classes=np.asarray(["x\ny", "z"])))
    assert "a b is about" in text
    assert "THEN x y 0.90" in text


def test_counts_are_grammatical(rules):
    one = replace(
        rules, centers=np.zeros((1, 1)), widths=np.ones((1, 1)), mean=np.zeros(1), scale=np.ones(1),
        consequents=np.asarray([[[1.0, 0.0]]]), feature_names=("x",),
    )  # fmt: skip
    assert str(one).startswith("1 rule for classification by 1 feature,")


def test_there_is_no_negative_zero(rules):
    text = str(replace(rules, consequents=np.asarray([[[1.0, -0.001]]] * 2)))
    assert "ill 0.00" in text
    assert "-0.00" not in text


def test_names_of_features_and_classes_are_used():
    iris = load_iris()
    model = TSKClassifier(3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    assert "x2 is medium, about" in str(model.rules_)
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
    assert "benign" not in str(linear.rules_)


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
