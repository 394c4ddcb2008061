"""scikit-learn's own checks, all of them, on every estimator; none is expected to fail."""

import re

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import sessc

ESTIMATORS = [
    sessc.FCM(),
    sessc.AWFCM(),
    sessc.SCAD(),
    sessc.SCAD(penalty="adaptive", delta=1.0),
    sessc.EWFCM(),
    sessc.KernelEWFCM(),
    sessc.ESSC(),
    sessc.SFP(),
    sessc.SESSC(),
    sessc.SoftSubspaceClustering(),
    sessc.SESSCClassifier(),
    sessc.SFPClassifier(),
    sessc.SESSCRegressor(),
    sessc.TSKClassifier(),
    sessc.TSKClassifier(order=1, class_weight="balanced"),
    sessc.TSKClassifier(refine=3),
    sessc.TSKRegressor(),
    sessc.TSKRegressor(refine=3),
    sessc.TSKRegressor(order=1),
    sessc.TSKClassifierCV(n_rules=3, refine=0, cv=3),
    sessc.TSKClassifierCV(n_rules=3, refine=3, cv=3),
    sessc.TSKRegressorCV(n_rules=3, refine=0, cv=3),
    sessc.TSKRegressorCV(n_rules=3, refine=3, cv=3),
]


@pytest.mark.filterwarnings("ignore::sessc.UselessModelWarning")  # many checks are of noise
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)


def test_no_estimator_was_forgotten():
    from sklearn.base import BaseEstimator

    public = {
        name
        for name in sessc.__all__
        if isinstance(getattr(sessc, name), type) and issubclass(getattr(sessc, name), BaseEstimator)
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}


@pytest.mark.parametrize("name", sessc.__all__)
def test_everything_public_is_documented(name):
    text = getattr(sessc, name).__doc__
    assert len(text) > 40
    assert not re.search(r"^ *\{\w+\}$", text, re.MULTILINE), "a place for shared documentation was left open"


def test_documentation_names_every_parameter():
    for estimator in ESTIMATORS:
        documented = set(re.findall(r"^    (\w+) : ", type(estimator).__doc__, re.MULTILINE))
        assert set(estimator.get_params(deep=False)) <= documented, type(estimator).__name__
