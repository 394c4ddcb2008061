"""Pictures show the numbers of the rules."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sessc import (
    FCM,
    AccuracySizeDisplay,
    BoundaryDisplay,
    CoefficientsDisplay,
    ConditionsDisplay,
    ConvergenceDisplay,
    EffectsDisplay,
    FiringDisplay,
    ImportancesDisplay,
    MembershipDisplay,
    OverlapDisplay,
    RuleBase,
    TSKClassifier,
    TSKRegressor,
)
from sessc.rules.base import Cells
from sessc.rules.conditions import grades, impacts

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed; pip install matplotlib")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def model(wine):
    return TSKClassifier(3, refine=30, conditions=4, random_state=0).fit(*wine)


def test_membership_curves_are_the_grades(model, wine):
    before = TSKClassifier(3, random_state=0).fit(*wine).rules_
    shown = MembershipDisplay.from_rules(model.rules_, before=before)
    assert len(shown.features) == 6
    for d, ax in zip(shown.features, shown.axes_, strict=True):
        assert ax.get_title() == model.rules_.feature_names[d]
        assert len(ax.lines) == model.n_rules_ + before.n_rules
        for r, line in enumerate(ax.lines[: model.n_rules_]):
            x, grade = line.get_data()
            np.testing.assert_array_equal(grade, grades(model.rules_, r, d, x))
            assert grade.max() == pytest.approx(1, abs=1e-3)
    one = MembershipDisplay.from_rules(model.rules_, ["hue"])
    assert one.features == [model.rules_.feature_names.index("hue")]
    with pytest.raises(ValueError, match="no feature 'beer'"):
        MembershipDisplay.from_rules(model.rules_, ["beer"])


def test_dashes_are_explained_and_no_two_rules_look_alike(wine):
    rules = TSKClassifier(20, random_state=0).fit(*wine).rules_
    plain, compared = MembershipDisplay.from_rules(rules), MembershipDisplay.from_rules(rules, before=rules)
    lines = plain.axes_[0].lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 20
    assert all(line.get_linestyle() != "--" for line in lines)
    texts = [[text.get_text() for text in shown.figure_.legends[0].texts] for shown in (plain, compared)]
    assert texts[1] == [*texts[0], "before"]


def test_every_picture_of_rules_takes_a_fitted_model(model, wine):
    X, y = wine
    scaled = make_pipeline(StandardScaler(), TSKClassifier(3, random_state=0)).fit(X, y)
    for one in (model, scaled):
        assert MembershipDisplay.from_rules(one).rules.feature_names == tuple(X.columns)
        assert ConditionsDisplay.from_rules(one).rules.n_rules == 3
        assert FiringDisplay.from_rules(one, X).firing.shape == (1, 3)
        assert BoundaryDisplay.from_rules(one, ("hue", "ash")).answers_.size
    for none in (TSKClassifier(3), 7):
        with pytest.raises(ValueError, match="has no rules"):
            MembershipDisplay.from_rules(none)


def test_nothing_to_draw_is_said():
    rules = RuleBase.by_hand([({"u": (0, 1)}, 1.0), ({}, 2.0)], features=["u", "v"])
    assert MembershipDisplay.from_rules(rules).features == [0]
    with pytest.raises(ValueError, match="name at least one feature"):
        MembershipDisplay.from_rules(rules, [])
    bare = rules.without_condition(1, "u")
    with pytest.raises(ValueError, match="no rule has a condition"):
        MembershipDisplay.from_rules(bare)
    assert MembershipDisplay.from_rules(bare, ["u"]).features == [0]
    shown = ConditionsDisplay.from_rules(bare)
    assert [text.get_text() for text in shown.ax_.texts] == ["no rule has a condition"]


def test_pictures_say_what_they_need(model, wine):
    X, y = wine
    with pytest.raises(ValueError, match="TSKClassifier or TSKRegressor, got Pipeline; of a pipeline"):
        AccuracySizeDisplay.from_estimator(make_pipeline(StandardScaler(), model), X, y)
    with pytest.raises(ValueError, match=r"\[178, 3\]"):
        FiringDisplay.from_rules(model.rules_, X, y[:3])
    for features in ("ash", ("ash",), ("ash", "hue", "alcohol")):
        with pytest.raises(ValueError, match="that of two features"):
            BoundaryDisplay.from_rules(model.rules_, features)
    shown = AccuracySizeDisplay.from_estimator(TSKClassifier(3, refine=10), X, y, conditions=2, cv=2)
    assert shown.scores.shape == (1, 2)


@pytest.fixture(scope="module")
def mixed():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    days = pandas.Timestamp("2019-01-01") + pandas.to_timedelta(rng.integers(0, 800, 200), "D")
    X = pandas.DataFrame({
        "kind": rng.choice(["u", "v", "rather long a name"], p=[0.2, 0.5, 0.3], size=200),
        "u": rng.normal(size=200), "v": rng.normal(size=200), "day": days,
    })  # fmt: skip
    amount = 2.0 * (X["kind"] == "v") + X["u"]
    X.loc[::9, "u"] = np.nan
    return X, amount, TSKRegressor(3, refine=20, random_state=0).fit(X, amount).rules_


def test_boundaries_are_among_rows_that_can_be(mixed):
    X, amount, rules = mixed
    shown = BoundaryDisplay.from_rules(rules, ("u", "day"), X, amount)
    row = np.array(rules.typical)
    assert rules.columns[0].levels[int(row[0])] == "v"  # the commonest
    (row[1], _), (row[3], _) = shown.ax_.get_xlim(), shown.ax_.get_ylim()
    assert shown.answers_[0, 0] == pytest.approx(rules(Cells(row[None, :]))[0])
    shown.figure_.canvas.draw()
    assert any(label.get_text().startswith("2019-") for label in shown.ax_.get_yticklabels())
    with pytest.raises(ValueError, match="'kind' is a category and has no axis"):
        BoundaryDisplay.from_rules(rules, ("kind", "u"))


def test_levels_are_bars_as_high_as_their_grades(mixed):
    X, amount, rules = mixed
    before = TSKRegressor(3, random_state=0).fit(X, amount).rules_
    shown = MembershipDisplay.from_rules(rules, ["kind", "u"], before=before)
    seen, *bars = shown.axes_[0].containers
    counts = X["kind"].value_counts().sort_index()
    np.testing.assert_allclose([bar.get_height() for bar in seen], counts / counts.max())
    for r, group in enumerate(bars):
        np.testing.assert_allclose([bar.get_height() for bar in group], grades(rules, r, 0, np.arange(3)))
    assert [label.get_text() for label in shown.axes_[0].get_xticklabels()] == ["rather long a n…", "u", "v"]
    assert FiringDisplay.from_rules(rules, X).firing.sum() == pytest.approx(1)
    assert "kind" in [label.get_text() for label in ConditionsDisplay.from_rules(rules).ax_.get_xticklabels()]


def test_strengths_are_shown_strongest_first(model):
    shown = ConditionsDisplay.from_rules(model.rules_)
    np.testing.assert_array_equal(shown.strength_, impacts(model.rules_)[:, shown.order_])
    assert np.all(np.diff((shown.strength_**2).sum(axis=0)) <= 0)
    labels = [label.get_text() for label in shown.ax_.get_xticklabels()]
    assert labels == [model.rules_.feature_names[d] for d in shown.order_]
    assert len(labels) == model.rules_.asks.any(axis=0).sum()


def test_firing_is_shared_by_classes(model, wine):
    X, y = wine
    shown = FiringDisplay.from_rules(model.rules_, X, y)
    assert shown.firing.sum() == pytest.approx(1)
    np.testing.assert_allclose(shown.firing.sum(axis=0), model.firing(X).mean(axis=0))
    np.testing.assert_allclose(shown.firing.sum(axis=1), np.bincount(y) / len(y))
    assert FiringDisplay.from_rules(model.rules_, X).groups == ["all rows"]


def test_histories(model, wine):
    X, _ = wine
    np.testing.assert_array_equal(ConvergenceDisplay.from_estimator(model).history, model.refine_history_)
    clusters = FCM(3, random_state=0).fit(X)
    shown = ConvergenceDisplay.from_estimator(clusters)
    np.testing.assert_array_equal(shown.ax_.lines[0].get_ydata(), clusters.objective_history_)
    with pytest.raises(ValueError, match="no history to draw"):
        ConvergenceDisplay.from_estimator(TSKClassifier(3, random_state=0).fit(*wine))


def test_boundaries_are_the_answers_at_medians(model, wine):
    X, y = wine
    names = ("flavanoids", "proline")
    shown = BoundaryDisplay.from_rules(model.rules_, names, X, y)
    row = np.array(model.rules_.summary.medians)
    a, b = (model.rules_.feature_names.index(name) for name in names)
    (row[a], _), (row[b], _) = shown.ax_.get_xlim(), shown.ax_.get_ylim()
    assert shown.answers_[0, 0] == model.rules_(row[None, :])[0]
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    numbers = TSKRegressor(3, random_state=0).fit(X, y).rules_
    drawn = BoundaryDisplay.from_rules(numbers, ("bmi", "bp"), X, y)
    assert drawn.answers_.shape == (200, 200)
    plain = BoundaryDisplay.from_rules(
        RuleBase.by_hand([({"u": (0, 1), "v": (0, 1)}, 1.0), ({}, 2.0)]), ("u", "v"), [[0, 0]]
    )
    assert plain.ax_.get_xlim() == (-3.0, 3.0)


def test_pictures_go_where_they_are_told(model, wine):
    X, y = wine
    _, axes = plt.subplots(2, 2)
    assert ConditionsDisplay.from_rules(model.rules_, ax=axes[0, 0]).ax_ is axes[0, 0]
    assert FiringDisplay.from_rules(model.rules_, X, y, ax=axes[0, 1]).ax_ is axes[0, 1]
    assert ConvergenceDisplay.from_estimator(model, ax=axes[1, 0]).ax_ is axes[1, 0]
    assert BoundaryDisplay.from_rules(model.rules_, ("hue", "ash"), ax=axes[1, 1]).ax_ is axes[1, 1]


def test_effects_are_drawn_as_they_are(model, wine):
    X, _ = wine
    shown = EffectsDisplay.from_rules(model, features=["proline", "hue"])
    effects = model.rules_.summary.effects
    by_name = {model.rules_.feature_names[one.column]: one for one in effects.curves}
    for k, name in enumerate(["proline", "hue"]):
        one, ax = by_name[name], shown.axes_[0, k]
        solid = [line for line in ax.lines if line.get_linestyle() == "-"]
        assert len(solid) == 3
        for c, line in enumerate(solid):
            np.testing.assert_array_equal(line.get_data(), (one.cells, one.answers[:, c]))
        dashed = [line.get_ydata() for line in ax.lines if line.get_linestyle() == "--"]
        assert len(dashed) == (0 if one.accumulated is None else 3)
        assert ax.get_title(loc="left").startswith(name)
        said = ax.texts[0].get_text()
        assert ("goes with" in said) == (one.partner is not None)
    frame = shown.frame()
    assert len(frame) == 3 * sum(len(by_name[name].cells) for name in ("proline", "hue"))
    proline = frame[(frame.feature == "proline") & (frame.output == "target=0")]
    np.testing.assert_array_equal(proline["answer"], by_name["proline"].answers[:, 0])
    assert EffectsDisplay.from_rules(model, X[:50]).effects.n_rows == 50
    with pytest.raises(ValueError, match="no feature 'beer'"):
        EffectsDisplay.from_rules(model, features=["beer"])


def test_effects_of_levels_are_bars_and_gaps_have_a_place(mixed):
    _, _, rules = mixed
    shown = EffectsDisplay.from_rules(rules, features=["kind", "u"])
    kind, u = shown.curves
    bars = [bar.get_height() for bar in shown.axes_[0, 0].patches]
    np.testing.assert_array_equal(bars, kind.answers[:, 0])
    assert np.isnan(u.cells[-1])
    assert shown.axes_[1, 1].get_xticklabels()[-1].get_text() == "unknown"
    [dot] = [line for line in shown.axes_[0, 1].lines if line.get_marker() == "o"]
    assert dot.get_ydata()[0] == u.answers[-1, 0]


def test_importances_are_bars(model):
    shown = ImportancesDisplay.from_rules(model, most=5)
    widths = [bar.get_width() for bar in shown.ax_.patches]
    np.testing.assert_allclose(widths, 100 * np.sort(model.feature_importances_)[::-1][:5])
    assert shown.frame()["importance"].sum() == pytest.approx(1)
    changed = model.rules_.without_rule(1)
    with pytest.raises(ValueError, match="found on rows; give X"):
        ImportancesDisplay.from_rules(changed)


def test_coefficients_are_bars_and_only_of_one_linear_rule(model, wine):
    X, y = wine
    line = TSKClassifier(1, order=1, refine=10, random_state=0).fit(X, y == 1)
    shown = CoefficientsDisplay.from_rules(line)
    frame, rules = shown.frame(), line.rules_
    adds = rules.consequents[0, 1:, 1] - rules.consequents[0, 1:, 0]
    order = np.argsort(-np.abs(adds), kind="stable")
    np.testing.assert_allclose(frame.iloc[:, 1], adds[order], rtol=1e-12)
    assert frame.columns[1] == "log-odds of target=True"
    np.testing.assert_allclose([bar.get_width() for bar in shown.ax_.patches], adds[order], rtol=1e-12)
    many = CoefficientsDisplay.from_rules(TSKClassifier(1, order=1, refine=10, random_state=0).fit(X, y))
    np.testing.assert_allclose(many.frame().iloc[:, 1:].sum(axis=1), 0, atol=1e-12)
    with pytest.raises(ValueError, match="only a single linear rule"):
        CoefficientsDisplay.from_rules(model)


def test_overlaps_are_a_map(model, wine):
    X, _ = wine
    known, asked = OverlapDisplay.from_rules(model), OverlapDisplay.from_rules(model, X)
    np.testing.assert_allclose(known.overlaps, asked.overlaps, atol=1e-9)
    np.testing.assert_allclose(known.governed, asked.governed)
    np.testing.assert_array_equal(known.axes_[1].images[0].get_array(), 100 * known.overlaps)
    assert known.frame().shape == (3, 4)
    with pytest.raises(ValueError, match="found on rows; give X"):
        OverlapDisplay.from_rules(model.rules_.without_rule(1))
    assert OverlapDisplay.from_rules(model.rules_.without_rule(1), X).overlaps.shape == (2, 2)


@pytest.mark.parametrize("display", [ConditionsDisplay, CoefficientsDisplay, EffectsDisplay])
def test_without_matplotlib_pictures_say_so(display, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    X, y = load_diabetes(return_X_y=True)
    rules = TSKRegressor(1, order=1, random_state=0).fit(X, y).rules_
    with pytest.raises(ImportError, match=r"^pictures need the matplotlib package; pip install matplotlib\.$"):
        display.from_rules(rules)
