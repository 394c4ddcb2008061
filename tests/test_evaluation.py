"""What evaluate measures is what scikit-learn measures, and its intervals are those of a bootstrap."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sessc import Evaluation, EvaluationDisplay, TSKClassifier, TSKRegressor, evaluate
from sessc.rules.evaluation import verdict
from sessc.rules.observe import wilson

EXACT = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(scope="module")
def two():
    """Rules for two classes that are not equally common, and rows of which some are alike."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :2].round(0)
    y = np.where(y == 1, "benign", "malignant")
    model = TSKClassifier(3, refine=10, class_weight="balanced", random_state=0).fit(X[::2], y[::2])
    return model.rules_, X[1::2], y[1::2]


@pytest.fixture(scope="module")
def three():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :2]
    return TSKClassifier(3, refine=10, random_state=0).fit(X[::2], y[::2]).rules_, X[1::2], y[1::2].to_numpy()


@pytest.fixture(scope="module")
def values():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return TSKRegressor(2, refine=10, random_state=0).fit(X[::2], y[::2]).rules_, X[1::2], y[1::2].to_numpy()


def weights(n, kind):
    rng = np.random.default_rng(1)
    return {"none": None, "real": rng.gamma(1.0, size=n), "some": rng.integers(0, 3, size=n).astype(float)}[kind]


def of_two(truth, p, threshold, weight):
    """What scikit-learn finds of the class True."""
    called, score = p >= threshold, partial(precision_score, sample_weight=weight)
    return {
        "AUC": roc_auc_score(truth, p, sample_weight=weight),
        "average precision": average_precision_score(truth, p, sample_weight=weight),
        "accuracy": accuracy_score(truth, called, sample_weight=weight),
        "balanced accuracy": balanced_accuracy_score(truth, called, sample_weight=weight),
        "sensitivity": recall_score(truth, called, sample_weight=weight),
        "specificity": recall_score(~truth, ~called, sample_weight=weight),
        "positive predictive value": score(truth, called),
        "negative predictive value": score(~truth, ~called),
        "log-loss": log_loss(truth, p, sample_weight=weight),
        "Brier score": brier_score_loss(truth, p, sample_weight=weight),
    }


def of_values(truth, said, weight):
    return {
        "R²": r2_score(truth, said, sample_weight=weight),
        "root mean square error": np.sqrt(mean_squared_error(truth, said, sample_weight=weight)),
        "mean absolute error": mean_absolute_error(truth, said, sample_weight=weight),
        "mean residual": np.average(truth - said, weights=weight),
    }


def assert_measured(found, expected):
    assert found.keys() >= expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, **EXACT, err_msg=name)


@pytest.mark.parametrize("kind", ["none", "real", "some"])
@pytest.mark.parametrize("threshold", [None, 0.2, 0.7])
def test_measures_of_two_classes_are_those_of_scikit_learn(two, kind, threshold):
    rules, X, y = two
    weight = weights(len(y), kind)
    found = evaluate(rules, X, y, weight, threshold=threshold, beside=None, resamples=0)
    assert found.positive == "malignant"  # the rarer one
    truth, p = y == "malignant", rules.probabilities(X)[:, rules.classes.tolist().index("malignant")]
    assert len(np.unique(p)) < len(p)  # ties are among them
    assert_measured(found.measures, of_two(truth, p, 0.5 if threshold is None else threshold, weight))
    answers = np.where(p >= (threshold or 0.5), "malignant", "benign")
    np.testing.assert_allclose(found.confusion, confusion_matrix(y, answers, sample_weight=weight), **EXACT)
    assert found.n_rows == (len(y) if weight is None else np.count_nonzero(weight))


@pytest.mark.parametrize("kind", ["none", "real", "some"])
def test_measures_of_several_classes_are_those_of_scikit_learn(three, kind):
    rules, X, y = three
    weight, P = weights(len(y), kind), rules.probabilities(X)
    found = evaluate(rules, X, y, weight, beside=None, resamples=0)
    truths = y[:, None] == rules.classes
    assert found.positive is None
    assert_measured(
        found.measures,
        {
            "AUC": roc_auc_score(y, P, multi_class="ovr", sample_weight=weight),
            "average precision": average_precision_score(truths, P, sample_weight=weight),
            "accuracy": accuracy_score(y, rules(X), sample_weight=weight),
            "balanced accuracy": balanced_accuracy_score(y, rules(X), sample_weight=weight),
            "log-loss": log_loss(y, P, sample_weight=weight),
            "Brier score": np.average(np.sum((P - truths) ** 2, axis=1), weights=weight),
        },
    )
    one = evaluate(rules, X, y, weight, positive=1, threshold=0.4, beside=None, resamples=0).measures
    expected = of_two(y == 1, P[:, 1], 0.4, weight)
    shares = ("AUC", "average precision", "sensitivity", "specificity", "positive predictive value")
    assert_measured(one, {name: expected[name] for name in shares})


@pytest.mark.parametrize("kind", ["none", "real", "some"])
def test_measures_of_values_are_those_of_scikit_learn(values, kind):
    rules, X, y = values
    weight = weights(len(y), kind)
    found = evaluate(rules, X, y, weight, beside=None, resamples=0).measures
    assert_measured(found, of_values(y, rules(X), weight))
    counted = np.ones(len(y)) if weight is None else weight
    for name, share in (
        ("5 % of residuals below", 0.05),
        ("median residual", 0.5),
        ("95 % of residuals below", 0.95),
    ):
        expected = np.quantile(y - rules(X), share, method="inverted_cdf", weights=counted)
        np.testing.assert_allclose(found[name], expected, **EXACT)


def bootstrap(measure, n_units, units, number, seed):
    """Units drawn again and again, with all of their rows, and the middle 95 % of what is measured then."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(number):
        drawn = rng.integers(0, n_units, n_units)
        found.append(measure(np.concatenate([np.flatnonzero(units == unit) for unit in drawn])))
    return {name: np.quantile([one[name] for one in found], [0.025, 0.975]) for name in found[0]}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["none", "real"])
def test_intervals_of_classes_are_those_of_a_bootstrap(two, kind, grouped):
    rules, X, y = two
    weight = weights(len(y), kind)
    groups = np.random.default_rng(2).integers(0, 40, size=len(y)) if grouped else None
    found = evaluate(rules, X, y, weight, groups=groups, threshold=0.4, beside=None, resamples=60, random_state=5)
    truth, p = y == "malignant", rules.probabilities(X)[:, 1]

    def measure(rows):
        return of_two(truth[rows], p[rows], 0.4, None if weight is None else weight[rows])

    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    assert_measured(found.intervals, bootstrap(measure, units.max() + 1, units, 60, 5))
    assert found.resamples == 60


def test_intervals_of_values_are_those_of_a_bootstrap(values):
    rules, X, y = values
    found = evaluate(rules, X, y, beside=None, resamples=60, random_state=5)
    said = rules(X)
    expected = bootstrap(lambda rows: of_values(y[rows], said[rows], None), len(y), np.arange(len(y)), 60, 5)
    assert_measured(found.intervals, expected)


def test_weights_are_repetitions(two):
    rules, X, y = two
    weight = weights(len(y), "some")
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    one = evaluate(rules, X, y, weight, beside=None, resamples=0)
    many = evaluate(rules, X.iloc[rows], y[rows], beside=None, resamples=0)
    assert one.measures == pytest.approx(many.measures, rel=1e-12)
    np.testing.assert_array_equal(one.confusion, many.confusion)
    np.testing.assert_allclose(one.cuts.hits, many.cuts.hits)


def test_a_share_that_is_all_of_its_rows_is_not_certain(two):
    rules, X, y = two
    right = np.flatnonzero(rules(X) == y)[:30]
    found = evaluate(rules, X.iloc[right], y[right], beside=None, resamples=50)
    assert found.measures["accuracy"] == 1
    assert found.intervals["accuracy"] == pytest.approx(
        [float(end) for end in wilson(np.array(1.0), np.array(30.0))]
    )
    assert found.intervals["accuracy"][0] < 0.9


def test_what_is_found_at_each_threshold_is_what_that_threshold_finds(two):
    rules, X, y = two
    weight = weights(len(y), "real")
    measure = partial(evaluate, rules, X, y, weight, beside=None, resamples=30)
    cuts = measure().cuts
    for k in (10, 20, 50, 90):
        at = measure(threshold=k / 100)
        assert cuts.hits[k] / cuts.hits[0] == pytest.approx(at.measures["sensitivity"], rel=1e-12)
        assert 1 - cuts.alarms[k] / cuts.alarms[0] == pytest.approx(at.measures["specificity"], rel=1e-12)
        for name in ("sensitivity", "specificity", "positive predictive value"):
            assert (cuts.low[name][k], cuts.high[name][k]) == pytest.approx(at.intervals[name], rel=1e-12)
    np.testing.assert_allclose(cuts.roc[:, [0, -1]], [[0, 1], [0, 1]], atol=1e-12)
    shown = {(round(a, 9), round(b, 9)) for a, b in cuts.roc.T}
    every = roc_curve(
        y == "malignant", rules.probabilities(X)[:, 1], sample_weight=weight, drop_intermediate=False
    )
    assert shown <= {(round(a, 9), round(b, 9)) for a, b in zip(*every[:2], strict=True)}


def test_the_calibration_curve_is_counted_in_tenths(two):
    rules, X, y = two
    weight = weights(len(y), "real")
    curve = evaluate(rules, X, y, weight, beside=None, resamples=0).calibration
    p, so = rules.probabilities(X)[:, 1], y == "malignant"
    edges = np.quantile(p, np.arange(1, 10) / 10)
    tenth = np.array([sum(edge < one for edge in edges) for one in p])
    parts = [tenth == k for k in range(10) if np.any(tenth == k)]
    np.testing.assert_allclose(curve.said, [np.average(p[one], weights=weight[one]) for one in parts], **EXACT)
    np.testing.assert_allclose(curve.found, [np.average(so[one], weights=weight[one]) for one in parts], **EXACT)
    np.testing.assert_allclose(curve.weight.sum(), weight.sum())


def test_beside_stands_the_linear_model_that_learned_from_the_same_rows():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rules = TSKClassifier(2, refine=5, random_state=0).fit(X[::2], y[::2]).rules_
    found = evaluate(rules, X[1::2], y[1::2], beside=(X[::2], y[::2]), resamples=0)
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000)).fit(X[::2], y[::2])
    p = line.predict_proba(X[1::2])[:, 0]
    assert found.positive == 0
    own = found.beside["logistic regression"].measures
    assert own["AUC"] == pytest.approx(roc_auc_score(y[1::2] == 0, p), rel=1e-9)
    assert own["log-loss"] == pytest.approx(log_loss(y[1::2] == 0, p), rel=1e-6)


@pytest.mark.filterwarnings("ignore::sessc.UselessModelWarning")
def test_the_line_beside_never_saw_the_rows_that_it_answers_for(rng):
    """With a column for every row a line that did would be right about all of them."""
    X, y = np.eye(80), rng.integers(0, 2, size=80)
    rules = TSKClassifier(2, refine=20, random_state=0).fit(X, y).rules_
    for groups in (None, np.repeat(np.arange(20), 4)):
        found = evaluate(rules, X, y, groups=groups, resamples=0)
        assert found.beside["logistic regression, cross-validated"].measures["accuracy"] < 0.75


def test_few_rows_and_one_class_are_measured_as_far_as_that_goes(two):
    rules, X, y = two
    sick = np.flatnonzero(y == "malignant")
    for rows in (sick[:1], sick[:3], sick[:20]):
        found = evaluate(rules, X.iloc[rows], y[rows], resamples=20)
        assert "AUC" not in found.measures
        assert "specificity" not in found.measures
        assert "accuracy" in found.measures
        assert str(found)


def test_any_model_can_be_measured_and_stand_beside(two):
    rules, X, y = two
    line = LogisticRegression(max_iter=10_000).fit(X, y)
    both = evaluate(rules, X, y, beside={"line": line}, resamples=0)
    alone = evaluate(line, X, y, positive="malignant", beside={"guess": DummyClassifier().fit(X, y)}, resamples=0)
    assert both.beside["line"].measures == pytest.approx(alone.measures)
    assert alone.beside["guess"].measures["AUC"] == 0.5
    ridge, targets = Ridge().fit(X, X.iloc[:, 0]), X.iloc[:, 0].to_numpy()
    assert evaluate(ridge, X, targets, resamples=0).measures["R²"] == pytest.approx(ridge.score(X, targets))


def test_probabilities_are_judged_under_the_prior_that_is_asked_for(two):
    rules, X, y = two
    as_learned = evaluate(rules, X, y, beside=None, resamples=0)
    asked = evaluate(rules, X, y, prior="data", beside=None, resamples=0)
    np.testing.assert_allclose(as_learned.prior, [0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(asked.prior, rules.summary.shares)
    p = rules.with_prior("data").probabilities(X)
    assert asked.measures["log-loss"] == pytest.approx(log_loss(y, p), rel=1e-12)
    assert asked.measures["AUC"] == pytest.approx(as_learned.measures["AUC"], abs=1e-3)
    assert "as if all classes were equally common, which these rows are not" in str(as_learned)
    assert "hold where there are benign" in str(asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"positive": "sick"}, "positive must be a class, got 'sick'; the classes are benign, malignant"),
        ({"threshold": 2}, "threshold must be from 0 to 1, got 2"),
        ({"resamples": -1}, "resamples must be zero or more, got -1"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(two, asked, message):
    with pytest.raises(ValueError, match=message):
        evaluate(*two, **asked)


def test_what_is_asked_of_classes_is_asked_of_classes(three, values):
    with pytest.raises(ValueError, match="threshold is about one class; say which with positive"):
        evaluate(*three, threshold=0.3)
    with pytest.raises(ValueError, match="values have no classes"):
        evaluate(*values, positive="ill")


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return same(vars(one), vars(other)) if hasattr(one, "__dict__") else one == other


@pytest.mark.parametrize("kind", ["two", "three", "values"])
def test_a_file_keeps_every_digit(kind, request, tmp_path):
    found = evaluate(*request.getfixturevalue(kind), resamples=20)
    found.save(tmp_path / "found.json")
    read = Evaluation.load(tmp_path / "found.json")
    kept = {name: part for name, part in vars(found).items() if name not in ("evidence", "beside")}
    assert all(same(part, getattr(read, name)) for name, part in kept.items())
    assert read.beside.keys() == found.beside.keys()
    assert str(read) == str(found)
    text = (tmp_path / "found.json").read_text(encoding="utf-8")
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text(encoding="utf-8") == text
    no_count = text.replace('"resamples": 20', '"resamples": -1e300')
    for broken in (text[: len(text) // 2], text.replace('"sessc evaluation"', '"other"'), no_count, "[]"):
        (tmp_path / "broken.json").write_text(broken, encoding="utf-8")
        with pytest.raises(ValueError, match=r"broken\.json is"):
            Evaluation.load(tmp_path / "broken.json")


def test_what_is_printed_has_intervals_and_the_model_beside(two):
    found = evaluate(*two, resamples=30)
    head, names, *lines = str(found).splitlines()
    assert head.startswith("On 284 rows (benign ")
    assert head.endswith("with 95 % intervals from 30 resamples:")
    assert "model" in names
    assert "logistic regression, cross-validated" in names
    low, high = found.intervals["AUC"]
    assert any(f"{found.measures['AUC']:.4g} ({low:.3g} to {high:.3g})" in line for line in lines)
    assert "a row is called so where it is the likeliest" in str(found)


@pytest.mark.parametrize(("kind", "panels"), [("two", 3), ("three", 2), ("values", 2)])
def test_pictures_show_what_was_measured(kind, panels, request):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    display = EvaluationDisplay.from_estimator(*request.getfixturevalue(kind), resamples=20)
    assert len(display.axes_) == panels
    found = display.evaluation
    frame = display.frame()
    assert isinstance(frame, pd.DataFrame)
    own = frame[frame["model"] == "model"].set_index("measure")
    assert own["value"].to_dict() == found.measures
    assert own["low"].to_dict() == {name: found.intervals[name][0] for name in found.measures}
    curve = display.axes_[-1].lines[1]
    np.testing.assert_allclose(curve.get_xydata(), np.stack([found.calibration.said, found.calibration.found], 1))
    plt.close(display.figure_)


def test_rules_for_rare_classes_are_not_called_useless_for_never_answering_them():
    """Under the prior of the data balanced accuracy may be that of guessing where ranks are good."""
    prior, confusion = np.array([0.98, 0.02]), np.array([[98, 0], [2, 0]])
    rare = Evaluation(100, {"balanced accuracy": 0.5, "AUC": 0.8}, confusion, prior=prior)
    assert verdict({"rules": rare}) == ""
    assert "no better than guessing (AUC 0.45)" in verdict(
        {"rules": Evaluation(100, {"balanced accuracy": 0.6, "AUC": 0.45}, confusion, prior=prior)}
    )


def test_rules_are_not_useless_for_what_chance_may_have_done():
    """Of few rows held out a line that looks better need not be."""
    line = Evaluation(80, {"R²": 0.56})
    sure = verdict({"rules": Evaluation(80, {"R²": 0.5}), "ridge": line})
    assert sure.startswith("Do not use these rules: a ridge is much better")
    for high, is_said in ((0.7, False), (0.53, True)):
        own = Evaluation(80, {"R²": 0.5}, intervals={"R²": (0.3, high)})
        assert bool(verdict({"rules": own, "ridge": line})) is is_said


def test_it_is_said_that_rules_cannot_be_told_from_guessing():
    """Of few rows held out they may look better than they are."""
    for low, is_said in ((0.47, True), (0.5, True), (0.51, False)):
        own = Evaluation(80, {"balanced accuracy": 0.6}, np.eye(2), intervals={"balanced accuracy": (low, 0.7)})
        found = verdict({"rules": own})
        assert (
            found.endswith(f"do not tell them from guessing (balanced accuracy 0.60, {low:.2f} to 0.70).")
            == is_said
        )
        assert bool(found) == is_said
    line = Evaluation(80, {"balanced accuracy": 0.9}, np.eye(2))
    assert verdict({"rules": own, "line": line}).startswith("Do not use these rules: a line is much better")


def test_classes_that_are_numbers_are_called_classes():
    """Of "0 55 %, 1 45 %" nobody knows which is an amount."""
    named = {"classes": np.array([0, 1]), "prior": np.array([0.1, 0.9]), "positive": 1}
    text = str(Evaluation(80, {"AUC": 0.9}, np.array([[40, 4], [6, 30]]), **named))
    assert "80 rows (class 0 55 %, class 1 45 %):" in text
    assert "are of class 1: a row" in text
    assert "hold where there are class 0 10 %, class 1 90 %" in text


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        (1036.4, (933.2, 1151.0), "1036 (933 to 1150)"),
        (12345678.0, (-1.2e6, 1e14), "12350000 (-1200000 to 100000000000000)"),
        (2e16, (0.000012, 3e20), "2e+16 (1.2e-05 to 3e+20)"),
        (0.8234, (0.7, 0.9), "0.8234 (0.7 to 0.9)"),
    ],
)
def test_measures_in_thousands_are_written_as_people_do(value, ends, text):
    name = "mean residual"
    assert str(Evaluation(80, {name: value}, intervals={name: ends})).endswith(text)


def test_rules_that_are_not_faithful_are_not_to_be_taken_at_their_word():
    assert Evaluation(80, {"R²": 0.5}, faithfulness=0.4).faithful.endswith("0.4 standard deviations on average.")
    assert Evaluation(80, {"R²": 0.5}, faithfulness=1.1).faithful.endswith("but SEEN.")
    classes = {"confusion": np.eye(2, dtype=int)}
    assert "do not read THEN" in Evaluation(80, {"AUC": 0.5}, faithfulness=0.4, **classes).faithful
    assert "do not read THEN" not in Evaluation(80, {"AUC": 0.5}, faithfulness=0.2, **classes).faithful
