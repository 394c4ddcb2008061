from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.report.text import _pair
from sessc.rules import Proportions


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
    assert "AND  1 weaker condition\n" in rules.to_text(max_conditions=1)


def test_regression_and_slopes_are_in_the_users_units(rules):
    linear = replace(
        rules, consequents=np.asarray([[[5.0], [20.0], [-3.0]]] * 2), classes=None, target_name="price"
    )
    # 5 + 20 (height - 100) / 10 - 3 dose / 0.01
    assert "price = -195 + 2 height - 300 dose" in str(linear)


def test_there_is_no_negative_zero(rules):
    text = str(replace(rules, consequents=np.asarray([[[1.0, -0.001]]] * 2)))
    assert "ill 0.00" in text
    assert "-0.00" not in text


def test_names_of_features_and_classes_are_used():
    iris = load_iris()
    model = TSKClassifier(3, random_state=0).fit(iris.data, iris.target_names[iris.target])
    assert "x2 is about" in str(model.rules_)
    assert "virginica" in str(model.rules_)
    assert "y = " in str(TSKRegressor(3, random_state=0).fit(iris.data, iris.data[:, 0]).rules_)


@pytest.mark.parametrize(
    ("center", "width", "text"),
    [
        (17.46, 2.14, "17.5 (± 2.1)"),
        (1234.5, 310.0, "1234 (± 310)"),
        (0.01234, 0.00051, "0.01234 (± 0.00051)"),
        (1e9, 1e7, "1e+09 (± 1e+07)"),
        (1e-12, 3e-13, "1e-12 (± 3e-13)"),
        (5.0, 0.0, "5 (± 0)"),
    ],
)
def test_numbers_have_the_digits_they_deserve(center, width, text):
    assert _pair(center, width) == text
