"""What the whole model does, beside the same written plainly, by asking the rules."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixed import CATEGORIES, mixed_table
from sessc import RuleBase, TSKClassifier, TSKRegressor, rules_of
from sessc.rules.base import Cells
from sessc.rules.overview import ASKED_ROWS, CORRELATED, CURVES, RULES


def wine(**settings):
    X, y = load_wine(return_X_y=True, as_frame=True)
    return TSKClassifier(3, refine=20, random_state=0, **settings).fit(X, y), X


def diabetes(**settings):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return TSKRegressor(3, refine=20, random_state=0, **settings).fit(X, y), X


def table(kind=TSKClassifier, **settings):
    X, y = mixed_table()
    X["dose"] += 0.3 * X["size"].fillna(40.0)  # two that go together
    y = y if kind is TSKRegressor else np.where(y > np.median(y), "much", "little")
    asked = {"refine": 20, "random_state": 0, "categorical_features": CATEGORIES} | settings
    return kind(4, **asked).fit(X, y), X


MODELS = {
    "constant": wine,
    "linear": lambda: wine(order=1),
    "one linear rule": lambda: diabetes(order=1),
    "values": diabetes,
    "table": table,
    "table, least squares": lambda: table(refine=0, order=1),
    "table, values": lambda: table(TSKRegressor, order=1),
}


@pytest.fixture(scope="module", params=MODELS)
def asked(request):
    model, X = MODELS[request.param]()
    return model.rules_, np.asarray(model.rules_.cells(X), float)


def answers(rules, cells):
    return rules.probabilities(Cells(cells)), rules.firing(Cells(cells))


def with_cell(cells, j, cell):
    changed = cells.copy()
    changed[:, j] = cell
    return changed


def test_the_mean_answer_is_that_of_all_rows_with_each_value(asked):
    rules, cells = asked
    alone = [one for one in rules.summary.effects.curves if one.partner is None]
    assert alone
    for one in alone:
        for cell, said, shares in zip(one.cells, one.answers, one.shares, strict=True):
            found, fired = answers(rules, with_cell(cells, one.column, cell))
            np.testing.assert_allclose(said, found.mean(axis=0), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(shares, fired.mean(axis=0)[one.rules], rtol=0, atol=1e-9)


def test_what_goes_together_is_accumulated_between_neighbours(asked):
    rules, cells = asked
    pairs = [one for one in rules.summary.effects.curves if one.partner is not None]
    mean = answers(rules, cells)[0].mean(axis=0)
    for one in pairs:
        known, j = one.cells[~np.isnan(one.cells)], one.column
        there = cells[~np.isnan(cells[:, j])]
        heights, masses = [np.zeros(len(mean))], []
        about = [([], []) for _ in known]
        for k in range(len(known) - 1):
            inside = (there[:, j] <= known[k + 1]) & ((there[:, j] > known[k]) | (k == 0))
            low, high = (answers(rules, with_cell(there[inside], j, end)) for end in known[k : k + 2])
            heights.append(heights[-1] + (high[0] - low[0]).mean(axis=0))
            masses.append(inside.sum())
            for place, found in ((k, low), (k + 1, high)):
                about[place][0].append(found[0])
                about[place][1].append(found[1])
        middle = sum(m * (a + b) / 2 for m, a, b in zip(masses, heights, heights[1:], strict=False)) / sum(masses)
        n = len(known)
        np.testing.assert_allclose(one.accumulated[:n], heights - middle + mean, rtol=1e-9, atol=1e-9)
        for k, (said, fired) in enumerate(about):
            np.testing.assert_allclose(one.answers[k], np.concatenate(said).mean(axis=0), rtol=1e-9, atol=1e-9)
            shares = np.concatenate(fired).mean(axis=0)
            np.testing.assert_allclose(one.shares[k], shares[one.rules], rtol=0, atol=1e-9)
        if len(one.cells) > n:
            hidden = answers(rules, with_cell(cells, j, np.nan))[0]
            np.testing.assert_allclose(one.accumulated[n], hidden.mean(axis=0), rtol=1e-9, atol=1e-9)
            lacking = answers(rules, cells[np.isnan(cells[:, j])])[0]
            np.testing.assert_allclose(one.answers[n], lacking.mean(axis=0), rtol=1e-9, atol=1e-9)


def test_pairs_are_those_that_numpy_finds(asked):
    rules, cells = asked
    held = cells if rules.limits is None else np.clip(cells, *rules.limits)
    numbers = [j for j in rules.layout.numbers if rules.used[j]]
    for one in rules.summary.effects.curves:
        if one.column not in numbers:
            assert one.partner is None
            continue
        filled = np.where(np.isnan(held), np.nanmean(held, axis=0), held)
        others = [j for j in numbers if j != one.column]
        close = [abs(np.corrcoef(filled[:, one.column], filled[:, j])[0, 1]) for j in others]
        if one.partner is None:
            assert max(close, default=0.0) < CORRELATED
        elif one.partner in numbers:
            assert one.partner == others[int(np.argmax(close))]
            assert one.correlation == pytest.approx(max(close), abs=1e-9)


def test_a_level_that_goes_with_a_number_is_seen(rng):
    pandas = pytest.importorskip("pandas")
    kind = rng.choice(["a", "b", "c"], 300)
    size = pandas.Series(kind).map({"a": 0.0, "b": 4.0, "c": 1.0}) + rng.normal(size=300)
    X = pandas.DataFrame({"kind": kind, "size": size})
    rules = TSKRegressor(3, refine=30, random_state=0).fit(X, size**2 + (kind == "a")).rules_
    [found] = [one for one in rules.summary.effects.curves if one.column == 1]
    assert found.partner == 0
    means = size.groupby(kind).transform("mean")
    assert found.correlation == pytest.approx(np.std(means) / np.std(size), abs=1e-9)


def test_importances_are_those_of_the_model():
    for model, X in (wine(), table()):
        effects = model.rules_.summary.effects
        np.testing.assert_array_equal(effects.importances, model.feature_importances_)
        again = model.rules_.effects(X)
        np.testing.assert_allclose(again.importances, effects.importances, atol=1e-9)
        assert [one.column for one in effects.curves] == np.argsort(-effects.importances, kind="stable")[
            : len(effects.curves)
        ].tolist()


def test_categories_and_gaps_have_places():
    model, X = table()
    by_column = {model.rules_.columns[one.column].name: one for one in model.rules_.summary.effects.curves}
    colour = by_column["colour"]
    assert np.isnan(colour.cells[-1])
    assert colour.cells[:-1].tolist() == list(range(model.rules_.layout.levels[X.columns.get_loc("colour")]))
    assert colour.accumulated is None
    assert by_column["size"].partner == X.columns.get_loc("dose")
    assert np.isnan(by_column["size"].cells[-1])
    assert not np.isnan(by_column["dose"].cells).any()


def test_few_rows_few_columns_and_few_rules_are_kept(rng):
    X, y = rng.normal(size=(1300, 30)), rng.integers(3, size=1300)
    rules = TSKClassifier(9, random_state=0).fit(X, y).rules_
    effects = rules.summary.effects
    assert effects.n_rows == 434 <= ASKED_ROWS
    assert len(effects.curves) == CURVES
    assert {one.shares.shape for one in effects.curves} == {(21, RULES)}
    third = rules.effects(X[::3])
    np.testing.assert_allclose(effects.curves[0].answers, third.curves[0].answers, atol=1e-12)
    parted = rules.effects(X, np.arange(1300) % 3 == 0)  # of rows without weight there are none
    np.testing.assert_array_equal(third.curves[0].answers, parted.curves[0].answers)


def test_weights_are_repetitions(rng):
    X, y, weight = rng.normal(size=(90, 3)), rng.normal(size=90), rng.integers(0, 4, size=90)
    rules = TSKRegressor(3, refine=20, random_state=0).fit(X, y + X[:, 0]).rules_
    weighed, repeated = rules.effects(X, weight), rules.effects(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighed.importances, repeated.importances, rtol=1e-12)
    for one, other in zip(weighed.curves, repeated.curves, strict=True):
        np.testing.assert_array_equal(one.cells, other.cells)
        np.testing.assert_allclose(one.answers, other.answers, rtol=1e-9)


def test_a_row_that_weighs_next_to_nothing_may_lie_beyond_all_others(rng):
    X = rng.normal(size=(80, 1)) + 0.1 * rng.normal(size=(80, 2))
    y, weight = X.sum(axis=1), np.ones(80)
    X[3], weight[3] = 50.0, 1e-30
    make = TSKRegressor(3, refine=5, random_state=0)
    found = make.fit(X, y, sample_weight=weight).rules_.effects().curves
    assert all(one.accumulated is not None and one.cells[-1] < 50 for one in found)
    others = np.arange(80) != 3
    for one, other in zip(found, make.fit(X[others], y[others]).rules_.effects().curves, strict=True):
        np.testing.assert_allclose(one.accumulated, other.accumulated, rtol=1e-6, atol=1e-6)


def test_rules_that_were_changed_ask_a_typical_row_or_yours():
    model, X = wine()
    name = model.rules_.feature_names[model.rules_.summary.effects.curves[0].column]
    changed = model.rules_.with_condition(1, name, at_least=float(X[name].median()))
    assert changed.summary.effects is None
    typical, asked = changed.effects(), changed.effects(X)
    assert (typical.n_rows, asked.n_rows) == (0, len(X))
    assert typical.importances is None
    for one in typical.curves:
        rows = np.repeat(changed.typical[None, :], len(one.cells), axis=0)
        rows[:, one.column] = one.cells
        np.testing.assert_allclose(one.answers, changed.probabilities(Cells(rows)), atol=1e-9)
    assert model.rules_.with_prior({0: 0.2, 1: 0.2, 2: 0.6}).summary.effects is None
    written = RuleBase.by_hand([({"x": (0.0, 1.0)}, 1.0), ({}, 2.0)]).effects()
    assert (written.n_rows, len(written.curves), len(written.curves[0].cells)) == (0, 1, 21)
    nothing = RuleBase.by_hand([({}, 1.0)], features=["x"]).effects()
    assert nothing.curves == ()


def test_effects_are_saved_with_the_rules(tmp_path):
    for model, _ in (wine(), table(TSKRegressor, order=1)):
        model.rules_.save(tmp_path / "rules.json")
        again = RuleBase.load(tmp_path / "rules.json").summary
        effects = model.rules_.summary.effects
        np.testing.assert_array_equal(again.effects.importances, effects.importances)
        assert len(again.effects.curves) == len(effects.curves) > 0
        for one, other in zip(again.effects.curves, effects.curves, strict=True):
            for field in vars(other):
                np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
        np.testing.assert_array_equal(again.evidence.together, model.rules_.summary.evidence.together)
        bare = replace(model.rules_, summary=replace(model.rules_.summary, effects=None))
        bare.save(tmp_path / "rules.json")
        assert RuleBase.load(tmp_path / "rules.json").summary.effects is None


@pytest.mark.parametrize(
    ("part", "value", "complaint"),
    [
        ("column", "beer", "about the columns"),
        ("partner", "beer", "about the columns"),
        ("rules", [99], "rules that there are"),
        ("answers", [[1.0]], "answers must be"),
        ("shares", [[-1.0]], "shares must be"),
        ("cells", [None], "answers must be"),
        ("accumulated", 7, "accumulated must be"),
    ],
)
def test_damaged_effects_are_refused(tmp_path, part, value, complaint):
    import json

    model, _ = wine()
    path = tmp_path / "rules.json"
    model.rules_.save(path)
    data = json.loads(path.read_text())
    data["summary"]["effects"]["curves"][0][part] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=complaint):
        RuleBase.load(path)


def test_overlaps_are_mean_products_of_firing():
    model, X = wine()
    evidence, fired = model.rules_.summary.evidence, model.firing(X)
    np.testing.assert_allclose(evidence.together, fired.T @ fired / len(X), atol=1e-9)
    np.testing.assert_allclose(evidence.together.sum(axis=1), evidence.support, atol=1e-9)
    np.testing.assert_allclose(evidence.overlaps.sum(axis=1), 1.0)
    np.testing.assert_allclose(evidence.overlaps[1], fired[:, 1] @ fired / fired[:, 1].sum(), atol=1e-9)
    assert replace(evidence, together=None).overlaps is None


def test_rules_behind_a_scaler_have_effects_in_units_of_the_table():
    X, y = load_wine(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler(), TSKClassifier(3, refine=20, random_state=0)).fit(X, y)
    rules = rules_of(pipe)
    found, asked = rules.summary.effects, rules.effects(X)
    np.testing.assert_allclose(found.importances, asked.importances, atol=1e-9)
    for one, other in zip(found.curves, asked.curves, strict=True):
        assert (one.column, one.partner) == (other.column, other.partner)
        np.testing.assert_allclose(one.cells, other.cells, rtol=1e-9)
        np.testing.assert_allclose(one.answers, other.answers, atol=1e-9)
