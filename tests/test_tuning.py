"""Cross-validated rule models against a plain exhaustive search."""

import importlib
import re
import warnings
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import balanced_accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sessc import (
    FCM,
    SESSC,
    SFP,
    SESSCClassifier,
    TSKClassifier,
    TSKClassifierCV,
    TSKRegressor,
    TSKRegressorCV,
    UselessModelWarning,
)
from sessc.rules.links import Softmax
from sessc.tsk.search import ALIKE, SCREEN, Fold, Trial, sharpest, simplest
from sessc.tsk.simplify import Limit
from sessc.tsk.tuning import LENGTHS, PULLS, REFINED_ALPHAS

GRID = {"gamma": (0.1, 10.0, 100.0), "beta": (0.1, 1.0)}
WIDTHS = (0.3, "auto", 30.0)
ALPHAS = (0.001, 0.1, 10.0)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X[:, :6], y


def first_best(scores):
    return int(np.argmax(np.mean(scores, axis=1)))


@pytest.mark.parametrize("order", [0, 1])
def test_a_staged_search_is_two_exhaustive_searches(wine, order):
    X, y = wine
    found = TSKClassifierCV(
        4,
        refine=0,
        order=order,
        clusterer=SESSC(),
        clusterer_grid=GRID,
        width_scales=WIDTHS,
        alphas=ALPHAS,
        cv=FOLDS,
        class_weight=None,
        random_state=5,
    ).fit(X, y)
    seed = int(np.random.RandomState(5).randint(2**31))  # what a TSKClassifier gives its clusterer
    candidates = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    first = [
        cross_val_score(
            make_pipeline(StandardScaler(), SESSCClassifier(4, random_state=seed, **candidate)),
            X,
            y,
            cv=FOLDS,
            scoring="balanced_accuracy",
        )
        for candidate in candidates
    ]
    best = candidates[first_best(first)]
    second = {
        (h, a): cross_val_score(
            TSKClassifier(4, order=order, clusterer=SESSC(**best), width_scale=h, alpha=a, random_state=5),
            X,
            y,
            cv=FOLDS,
            scoring="balanced_accuracy",
        )
        for h, a in product(WIDTHS, ALPHAS)
    }
    h, a = list(second)[first_best(list(second.values()))]
    assert found.best_params_ == {
        "clusterer__gamma": best["gamma"],
        "clusterer__beta": best["beta"],
        "width_scale": h,
        "alpha": a,
    }
    results = found.cv_results_
    scores = np.stack([results[f"split{k}_test_score"] for k in range(4)], axis=1)
    np.testing.assert_allclose(scores[results["stage"] == 2], list(second.values()), atol=1e-12)
    assert found.best_score_ == pytest.approx(np.mean(second[h, a]))
    plain = TSKClassifier(4, order=order, clusterer=SESSC(), random_state=5).set_params(**found.best_params_)
    np.testing.assert_array_equal(found.predict_proba(X), plain.fit(X, y).predict_proba(X))


def test_the_first_stage_is_an_exhaustive_search_too(wine):
    """Scores of the first stage, from starts that do not depend on the units of the features."""
    X, y = wine
    X = StandardScaler().fit_transform(X)
    start = X[[0, 60, 120, 170]]
    found = TSKClassifierCV(
        4,
        refine=0,
        clusterer=SESSC(init=start),
        clusterer_grid=GRID,
        width_scales=(1.0,),
        alphas=(1.0,),
        cv=FOLDS,
        standardize=False,
    ).fit(X, y)
    for k, candidate in enumerate(product(*GRID.values())):
        model = SESSCClassifier(4, init=start, **dict(zip(GRID, candidate, strict=True)))
        scores = cross_val_score(model, X, y, cv=FOLDS, scoring="balanced_accuracy")
        assert found.cv_results_["mean_test_score"][k] == pytest.approx(scores.mean())


@pytest.mark.parametrize(("clusterer", "grid"), [(FCM(), {"m": (1.2, 2.0)}), (SESSC(), GRID)])
def test_a_joint_search_is_one_exhaustive_search(wine, clusterer, grid, rng):
    X, y = wine
    weight = rng.random(len(X))
    found = TSKClassifierCV(
        4,
        refine=0,
        clusterer=clusterer,
        clusterer_grid=grid,
        width_scales=WIDTHS,
        alphas=ALPHAS,
        cv=FOLDS,
        search="joint",
        scoring="accuracy",
        class_weight=None,
        random_state=0,
    ).fit(X, y, sample_weight=weight)
    scores, params = [], []
    for values in product(*grid.values(), WIDTHS, ALPHAS):
        *inner, h, a = values
        settings = {f"clusterer__{name}": value for name, value in zip(grid, inner, strict=True)}
        settings |= {"width_scale": h, "alpha": a}
        model = TSKClassifier(4, clusterer=clusterer, random_state=0).set_params(**settings)
        row = []
        for train, test in FOLDS.split(X, y):
            model.fit(X[train], y[train], sample_weight=weight[train])
            row.append(model.score(X[test], y[test], sample_weight=weight[test]))
        scores.append(row)
        params.append(settings)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], np.mean(scores, axis=1), atol=1e-12)
    assert found.best_params_ == params[first_best(scores)]
    assert found.cv_results_["params"] == params


def test_a_list_of_grids_ties_parameters_together(wine):
    X, y = wine
    grids = [{"gamma": (g,), "alpha": (2 * g,)} for g in (0.1, 0.5)]
    found = TSKClassifierCV(3, refine=0, clusterer=SFP(), clusterer_grid=grids, cv=3, random_state=0).fit(X, y)
    first = [
        p for p, stage in zip(found.cv_results_["params"], found.cv_results_["stage"], strict=True) if stage == 1
    ]
    assert first == [{"clusterer__gamma": g, "clusterer__alpha": 2 * g} for g in (0.1, 0.5)]


def test_ties_go_to_the_first(wine):
    X, y = wine
    found = TSKClassifierCV(
        2,
        order=0,
        refine=0,
        clusterer=SESSC(),
        clusterer_grid={"n_jobs": (None, 1)},
        width_scales=(1.0, 1.0),
        alphas=(1.0, 1.0),
        cv=3,
        random_state=0,
    ).fit(X, y)
    assert found.best_params_["clusterer__n_jobs"] is None
    assert set(found.cv_results_["rank_test_score"][found.cv_results_["stage"] == 2]) == {1}


@pytest.mark.parametrize("settings", [{}, {"n_rules": 10, "order": 1, "scoring": "neg_log_loss"}])
def test_processes_change_nothing(wine, settings):
    X, y = wine
    alone = TSKClassifierCV(**({"n_rules": 4, "refine": 0} | settings), random_state=0).fit(X, y)
    shared = TSKClassifierCV(**({"n_rules": 4, "refine": 0} | settings), random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.cv_results_["mean_test_score"], shared.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(alone.predict_proba(X), shared.predict_proba(X))


def test_regression(rng):
    X, y = load_diabetes(return_X_y=True)
    found = TSKRegressorCV(4, refine=0, order=1, alphas=(1.0, 100.0), width_scales=("auto",), random_state=0).fit(
        X, y
    )
    assert found.best_score_ > 0.4
    plain = TSKRegressor(4, order=1, clusterer=SESSC(loss="squared"), random_state=0)
    plain.set_params(**found.best_params_).fit(X, y)
    np.testing.assert_allclose(found.predict(X), plain.predict(X))


def test_scoring_may_be_callable_and_cv_an_iterable(wine):
    X, y = wine
    folds = list(FOLDS.split(X, y))

    def score(model, X, y):
        return balanced_accuracy_score(y, model.predict(X))

    ours = TSKClassifierCV(3, refine=0, cv=folds, scoring=score, random_state=0).fit(X, y)
    default = TSKClassifierCV(3, refine=0, cv=FOLDS, random_state=0).fit(X, y)
    assert ours.best_params_ == default.best_params_
    probabilistic = TSKClassifierCV(3, refine=0, scoring="neg_log_loss", random_state=0).fit(X, y)
    assert probabilistic.best_score_ < 0
    assert get_scorer("neg_log_loss")(probabilistic, X, y) < 0


def test_scorers_may_ask_about_any_rows(wine):
    X, y = wine

    def backwards(model, X, y):
        return balanced_accuracy_score(y[::-1], model.predict(X[::-1]))

    asked = TSKClassifierCV(3, refine=0, scoring=backwards, random_state=0).fit(X, y)
    known = TSKClassifierCV(3, refine=0, random_state=0).fit(X, y)
    np.testing.assert_allclose(asked.cv_results_["mean_test_score"], known.cv_results_["mean_test_score"])


def test_weights_go_only_where_they_are_welcome(wine, rng):
    X, y = wine
    for scoring in (lambda model, X, y: model.score(X, y), make_scorer(lambda a, b: np.mean(a == b))):
        TSKClassifierCV(3, refine=0, scoring=scoring, cv=3, random_state=0).fit(
            X, y, sample_weight=rng.random(len(X))
        )


def test_rows_of_weight_zero_are_in_no_fold(wine):
    X, y = wine
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    kept = weight > 0
    weighted = TSKClassifierCV(3, refine=0, cv=3, random_state=0).fit(X, y, sample_weight=weight)
    without = TSKClassifierCV(3, refine=0, cv=3, random_state=0).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"])
    np.testing.assert_allclose(weighted.predict_proba(X), without.predict_proba(X), atol=1e-9)
    given = TSKClassifierCV(3, refine=0, cv=list(FOLDS.split(X, y)), random_state=0).fit(
        X, y, sample_weight=weight
    )
    assert given.best_score_ > 0.5


def test_a_candidate_without_a_score_is_never_chosen(wine):
    X, y = wine
    calls = []

    def moody(model, X, y):
        calls.append(1)
        return np.nan if len(calls) <= 5 else balanced_accuracy_score(y, model.predict(X))

    assert np.isfinite(TSKClassifierCV(3, refine=0, scoring=moody, random_state=0).fit(X, y).best_score_)
    with pytest.raises(ValueError, match="NaN for every candidate"):
        TSKClassifierCV(3, refine=0, scoring=lambda *_: np.nan, random_state=0).fit(X, y)


def test_names_survive(wine):
    pandas = pytest.importorskip("pandas")
    X, y = wine
    frame = pandas.DataFrame(X, columns=[f"f{d}" for d in range(6)])
    found = TSKClassifierCV(3, refine=0, random_state=0).fit(frame, pandas.Series(y, name="kind"))
    assert found.rules_.feature_names == tuple(frame.columns)
    assert found.rules_.target_name == "kind"
    np.testing.assert_array_equal(found.predict(frame), found.rules_(frame))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": "greedy"}, "search must be"),
        ({"search": "staged", "clusterer": FCM()}, "FCM does not"),
        ({"clusterer_grid": {"init": ["random"]}}, "'init'"),
        ({"clusterer_grid": [{"gamma": [1.0]}, {"init": ["random"]}]}, "'init'"),
        ({"clusterer_grid": {"gamma": [0.0]}}, "gamma must be"),
        ({"clusterer_grid": {"clusterer__gamma": [1.0]}}, "without __"),
        ({"clusterer_grid": {"gamma": 1.0}}, "clusterer_grid.'gamma'. must be a list"),
        ({"clusterer_grid": []}, "clusterer_grid must"),
        ({"alphas": [-1.0]}, "alphas must"),
        ({"width_scales": []}, "width_scales must"),
    ],
)
def test_mistakes_are_named(wine, settings, message):
    with pytest.raises(ValueError, match=message):
        TSKClassifierCV(3, refine=0, **settings).fit(*wine)


@pytest.mark.filterwarnings("ignore::sessc.UselessModelWarning")  # one constant rule is among what is tried
def test_a_refined_search_is_one_exhaustive_search(wine):
    X, y = wine
    settings = {"refine": 15, "pull": 0.5, "class_weight": "balanced", "random_state": 5}
    found = TSKClassifierCV((1, 3), alphas=(0.1, 10.0), conditions=(None, 2), cv=FOLDS, **settings).fit(X, y)
    rows = found.cv_results_
    assert len(rows["params"]) == 2 * 2 * 2 * 2
    for params, score in zip(rows["params"], rows["mean_test_score"], strict=True):
        plain = TSKClassifier(**settings).set_params(**params)
        assert score == pytest.approx(cross_val_score(plain, X, y, cv=FOLDS, scoring="balanced_accuracy").mean())
    best = TSKClassifier(**settings).set_params(**found.best_params_).fit(X, y)
    np.testing.assert_array_equal(best.predict_proba(X), found.predict_proba(X))
    np.testing.assert_array_equal(found.refine_history_, best.refine_history_)


def test_of_models_that_predict_equally_well_the_simplest_is_chosen(wine):
    X, y = wine
    settings = {"n_rules": (1, 3), "alphas": (0.1, 10.0), "conditions": (None, 2), "cv": FOLDS, "random_state": 5}

    def search(parsimony):
        return TSKClassifierCV(refine=15, parsimony=parsimony, **settings).fit(X, y)

    best = search(0)
    place, sizes = best.cv_results_["params"].index, best.cv_results_["mean_size"]
    scores = np.stack([best.cv_results_[f"split{k}_test_score"] for k in range(4)], axis=1)
    assert best.best_score_ == scores.mean(axis=1).max()
    simple = search(1)
    lost = scores[place(best.best_params_)] - scores[place(simple.best_params_)]
    assert 0 <= lost.mean() <= np.sqrt(lost.var(ddof=1) * (1 / 4 + 1 / 3)) + 1e-12  # a fold is a third of its rest
    assert sizes[place(simple.best_params_)] <= ALIKE * sizes[place(best.best_params_)]
    with pytest.warns(UselessModelWarning):  # anything goes, and nothing is shorter than one constant
        least = search(1e9)
    assert (least.n_rules_, least.rules_.order, least.rules_.size) == (1, 0, 1)


def test_by_default_order_and_number_of_rules_are_searched(wine):
    X, y = wine
    found = TSKClassifierCV(refine=5, alphas=(1.0,), cv=3, random_state=0).fit(X, y)
    rows = list(zip(found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True))
    whole = [(params, score) for params, score in rows if not params.keys() & {"conditions", "terms"}]
    for order, numbers in ((1, [1, 2, 4, 8]), (0, [5, 10, 20, 30])):
        tried = [params["n_rules"] for params, _ in whole if params["order"] == order]
        scores = [score for params, score in whole if params["order"] == order]
        assert tried == numbers[: len(tried)]
        assert np.all(np.diff(scores[:-1]) > 0)  # more rules only as long as they help
        assert len(tried) == 4 or scores[-1] <= max(scores[:-1])
        only = TSKClassifierCV(refine=5, order=order, alphas=(1.0,), cv=3, random_state=0).fit(X, y)
        assert list(dict.fromkeys(params["n_rules"] for params in only.cv_results_["params"])) == tried
        assert only.rules_.order == order
    paper = TSKClassifierCV(refine=0, width_scales=(1.0,), alphas=(1.0,), cv=3, random_state=0).fit(X, y)
    assert (paper.n_rules_, paper.rules_.order) == (30, 0)


OVERLAP = 0.25
"""Of five folds: what is judged, to what is learned from."""


def trial(mean, size, sharpness=0.0, apart=0.02, name="one"):
    """A candidate by hand, with scores of five folds that differ by so much from one to the next."""
    scores = mean + apart * np.asarray([-1.0, 0.5, 0.0, -0.5, 1.0])
    return Trial(1, {"name": name}, scores, np.full(5, sharpness), np.full(5, float(size)))


def errors(short, long):
    """By how many standard errors one loses to the other."""
    loss, error = short.loses_to(long, OVERLAP)
    return loss / error


def test_the_standard_error_is_that_of_nadeau_and_bengio():
    short, long = trial(0.8, 10, apart=0.01), trial(0.85, 100)
    lost = long.scores - short.scores
    loss, error = short.loses_to(long, OVERLAP)
    assert loss == pytest.approx(0.05)
    assert error == pytest.approx(np.sqrt(lost.var(ddof=1) * (1 / 5 + OVERLAP)))


def test_without_parsimony_the_best_mean_is_taken_whatever_there_is_to_read():
    trials = [trial(0.8, 5, 1.0), trial(0.9, 500), trial(0.89, 8, 1.0, apart=0.3), trial(np.nan, 1, 1.0)]
    assert simplest(trials, 0.0, OVERLAP) is trials[1]


def test_of_those_about_as_good_the_shortest_is_taken():
    best, near, far = trial(0.9, 50), trial(0.895, 20, apart=0.01), trial(0.8, 5, apart=0.01)
    assert errors(near, best) < 1 < 2 < errors(far, best)
    assert simplest([best, near, far], 1.0, OVERLAP) is near
    assert simplest([best, near, far], 100.0, OVERLAP) is far
    for parsimony in np.linspace(0, 20, 41):  # who pays more never gets more to read
        chosen = [simplest([best, near, far], p, OVERLAP).size for p in (parsimony, parsimony + 0.5)]
        assert chosen[1] <= chosen[0]


def test_of_those_about_as_long_the_sharpest_is_taken():
    short, sharp = trial(0.9, 20, -0.3), trial(0.9, 20 * ALIKE, -0.1)
    longer = trial(0.9, 20 * ALIKE + 1, 0.0)
    assert simplest([short, sharp, longer], 1.0, OVERLAP) is sharp
    assert sharpest([short, sharp, longer], OVERLAP) is longer  # which minds no length
    assert sharpest([longer, trial(0.99, 5, -1.0, apart=0.01)], OVERLAP).size == 5  # and minds accuracy


@pytest.mark.parametrize("sharpness", [0.0, 1.0])
@pytest.mark.parametrize("times", [0.0, 0.5, 1.5, 1.9, 2.1, 5.0])
def test_what_does_not_fit_on_a_screen_has_to_be_better_by_two_standard_errors(times, sharpness):
    short = trial(0.85, SCREEN, apart=0.01)
    _, error = short.loses_to(trial(0.85, SCREEN + 1), OVERLAP)
    long = trial(0.85 + times * error, SCREEN + 1, sharpness)
    assert simplest([short, long], 1.0, OVERLAP) is (long if times > 2 else short)


def test_what_nobody_would_notice_counts_for_nothing_however_sure_it_is():
    best, near, far = trial(0.9, 50), trial(0.898, 20, apart=0.0201), trial(0.896, 5, apart=0.0201)
    assert errors(near, best) > 2
    assert simplest([best, near, far], 1.0, OVERLAP) is near
    assert simplest([best, near, far], 0.0, OVERLAP) is best


def test_if_nothing_fits_on_a_screen_the_shortest_is_taken_all_the_same():
    best, near = trial(0.9, 500), trial(0.899, 100, apart=0.01)
    assert simplest([best, near], 1.0, OVERLAP) is near


def test_there_is_to_read_what_is_printed(wine):
    """Rules, conditions, and for every line of a conclusion its terms, which have two numbers each.

    One rule has no conditions to read.
    """
    X, y = wine
    for order, n_rules in ((0, 4), (1, 1), (1, 4)):
        settings = {"order": order, "refine": 20, "conditions": 3, "terms": 2, "random_state": 0}
        for labels in (y, (y > 0).astype(int)):
            rules = TSKClassifier(n_rules, **settings).fit(X, labels).rules_
            said = "\n".join(rules.to_text().split("\n\n")[1:])
            n_terms = len(re.findall(r"[+-] [\d.e-]+ \(", said))
            n_conditions = len(re.findall(r"^  (?:IF|AND)", said, re.MULTILINE))
            assert rules.size == rules.n_rules + n_conditions + 2 * n_terms


@pytest.fixture(scope="module")
def long():
    """Two classes that only many columns together tell apart, each with a curve of its own."""
    X = np.random.default_rng(0).normal(size=(300, 16))
    return X, (np.sum(X * X, axis=1) > 16).astype(int)


def test_what_would_be_chosen_and_is_longer_than_a_screen_is_tried_shorter(long):
    settings = {"n_rules": (2, 3), "order": 1, "refine": 20, "alphas": (1.0,), "cv": 3, "random_state": 0}
    found = TSKClassifierCV(**settings).fit(*long).cv_results_
    short = [params for params in found["params"] if params.get("terms") == 5]
    assert {params["conditions"] for params in short} == {5}
    best = TSKClassifierCV(**settings, parsimony=0).fit(*long).cv_results_
    assert not any(params.get("terms") for params in best["params"])  # who wants the best gets what is best
    asked = TSKClassifierCV(**settings, conditions=None).fit(*long).cv_results_
    assert "param_terms" not in asked


def test_no_length_is_tried_that_cannot_fit_on_a_screen(long):
    settings = {"n_rules": (4, 5), "order": 1, "refine": 20, "alphas": (1.0,), "cv": 3, "random_state": 0}
    found = TSKClassifierCV(**settings).fit(*long).cv_results_
    assert 4 * Limit(5, 5).size > SCREEN
    assert not any(params.get("terms") for params in found["params"])


@pytest.mark.parametrize("parsimony", [0.0, 1.0])
def test_further_shapes_try_the_best_penalty_before_and_its_neighbours(wine, parsimony):
    found = TSKClassifierCV(order=0, refine=10, pull=1.0, parsimony=parsimony, random_state=0).fit(*wine)
    rows = pd.DataFrame(found.cv_results_["params"]).assign(score=found.cv_results_["mean_test_score"])
    if "conditions" in rows:
        rows = rows[rows["conditions"].isna()]
    by_shape = [part for _, part in rows.groupby("n_rules")]
    assert by_shape[0]["alpha"].tolist() == list(REFINED_ALPHAS)
    for before, after in pairwise(by_shape):
        best = REFINED_ALPHAS.index(before["alpha"].iloc[before["score"].argmax()])
        assert after["alpha"].tolist() == list(REFINED_ALPHAS[max(best - 1, 0) : best + 2])
    gains = np.diff([part["score"].max() for part in by_shape])
    least = 0.003 * by_shape[0]["score"].max() if parsimony else 0.0
    assert np.all(gains[:-1] > 0.9 * least)  # the last number of rules tried is the first that does not help


def test_sizes_are_in_the_table_of_results_and_short_rules_are_tried(wine):
    X, y = wine
    found = TSKClassifierCV(5, order=0, refine=10, alphas=(0.1, 1.0), cv=3, random_state=0).fit(X, y)
    rows = found.cv_results_
    assert rows["mean_size"].shape == rows["mean_test_score"].shape
    limits = [limit.conditions for limit in LENGTHS[0]]
    short = rows["params"][2:]
    alphas = sorted({params["alpha"] for params in short})  # that of the best without a limit, and the next below
    assert [(params["alpha"], params["conditions"]) for params in short] == list(product(alphas, limits))
    for params, size in zip(short, rows["mean_size"][2:], strict=True):
        assert size <= 5 * (1 + params["conditions"])
    # Rules of several lengths share their way down, and the best that was met: alone they may be others.
    alone = TSKClassifierCV(5, order=0, refine=10, alphas=(0.1, 1.0), conditions=5, cv=3, random_state=0).fit(X, y)
    tried = [*zip(rows["params"][:2], rows["mean_test_score"][:2], strict=True)]
    tried += zip(alone.cv_results_["params"], alone.cv_results_["mean_test_score"], strict=True)
    for params, score in tried:
        plain = TSKClassifier(5, refine=10, class_weight="balanced", random_state=0)
        plain.set_params(faithfulness=found.faithfulness, **params)
        assert score == pytest.approx(cross_val_score(plain, X, y, cv=3, scoring="balanced_accuracy").mean())
    fixed = TSKClassifierCV(5, order=0, refine=10, conditions=None, cv=3, random_state=0).fit(X, y)
    assert "param_conditions" not in fixed.cv_results_


def judged(odds, y, weight):
    """How a fold judges probabilities of three classes that it learned."""
    learned = SimpleNamespace(target=SimpleNamespace(labels=np.arange(3)))
    known = np.log(odds)
    return Fold(learned, np.empty((len(y), 1)), y, weight).judge(lambda X: known, known, Softmax())


def test_sharpness_is_the_brier_score_of_classes_that_weigh_the_same(rng):
    odds = rng.dirichlet(np.ones(3), size=50)
    y, weight = rng.integers(3, size=50), rng.random(50)
    off = np.sum((odds - np.eye(3)[y]) ** 2, axis=1)
    expected = np.mean([np.average(off[y == c], weights=weight[y == c]) for c in range(3)])
    assert judged(odds, y, weight).sharpness == pytest.approx(-expected)
    assert judged(odds[y < 2], y[y < 2], None).sharpness == pytest.approx(
        -np.mean([off[y == c].mean() for c in range(2)])
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "classes", [range(3), range(2), range(4)], ids=["all", "one missing", "one never learned"]
)
def test_folds_are_judged_by_balanced_accuracy_as_scikit_learn_has_it(rng, classes, weighted):
    odds, y = rng.dirichlet(np.ones(3), size=60), rng.choice(list(classes), size=60)
    weight = rng.random(60) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = balanced_accuracy_score(y, odds.argmax(axis=1), sample_weight=weight)
    assert judged(odds, y, weight).score == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n_rules", ["many", 0, (), (3, 0), 2.5])
def test_impossible_numbers_of_rules(wine, n_rules):
    with pytest.raises(ValueError, match="n_rules must"):
        TSKClassifierCV(n_rules).fit(*wine)


def test_rows_are_read_once_for_each_fold_whatever_the_number_of_shapes(monkeypatch):
    read = []
    for module in ("estimators", "tuning"):
        pose = importlib.import_module(f"sessc.tsk.{module}").pose

        def counted(*args, pose=pose, **settings):
            read.append(args)
            return pose(*args, **settings)

        monkeypatch.setattr(f"sessc.tsk.{module}.pose", counted)
    model = TSKClassifierCV(refine=2, random_state=0).fit(*load_wine(return_X_y=True))
    n_folds = sum(name.startswith("split") for name in model.cv_results_)
    assert n_folds == 5
    assert len(set(zip(model.cv_results_["param_order"], model.cv_results_["param_n_rules"], strict=True))) > 2
    assert len(read) == 1 + n_folds + 1  # a look at the whole, the folds, and the fit with what was chosen


def test_a_changed_cell_moves_few_rows_between_folds():
    """Otherwise every typo would be judged on other folds, and the choice would follow chance."""
    X, y = load_wine(return_X_y=True)
    changed = X.copy()
    changed[20, 3] += 0.1
    model = TSKClassifierCV(random_state=0)
    tested = []
    for table in (X, changed):
        _, folds = model._folds(table, y, None, 0)
        tested.append([{tuple(row) for row in fold.X} for fold in folds])
    moved = sum(len(before - after) for before, after in zip(*tested, strict=True))
    assert 1 <= moved <= 2 * 5


def test_a_search_ends_with_the_best_so_far(wine):
    X, y = wine
    settings = {"refine": 20, "random_state": 0}
    hurried = TSKClassifierCV([2, 3, 5], order=0, minutes=1e-9, **settings).fit(X, y)
    assert hurried.untried_ == [{"order": 0, "n_rules": 3}, {"order": 0, "n_rules": 5}]
    assert {params["n_rules"] for params in hurried.cv_results_["params"]} == {2}
    alone = TSKClassifierCV(2, order=0, **settings).fit(X, y)
    np.testing.assert_array_equal(hurried.predict_proba(X), alone.predict_proba(X))
    slow = TSKClassifierCV([2, 3], order=0, minutes=60, **settings).fit(X, y)
    assert slow.untried_ == []
    plain = TSKClassifierCV([2, 3], order=0, **settings).fit(X, y)
    np.testing.assert_array_equal(slow.predict_proba(X), plain.predict_proba(X))


def test_the_best_is_held_otherwise_as_long_as_that_helps(wine):
    """And what is said of it is what the plain model does, on the same folds."""
    X, y = wine
    settings = {"order": 0, "parsimony": 0, "cv": FOLDS, "random_state": 0, "refine": 40}
    held, found = (TSKClassifierCV([2, 4], pull=pull, **settings).fit(X, y) for pull in (1.0, "auto"))
    before, rows = len(held.cv_results_["params"]), found.cv_results_
    assert rows["params"][:before] == held.cv_results_["params"]
    pulled = zip(rows["params"], rows["mean_test_score"], strict=True)
    tried = {params["pull"]: score for params, score in pulled if "pull" in params}
    expected, reached = [], held.best_score_
    for pulls in PULLS:
        for pull in pulls:
            expected.append(pull)
            if tried[pull] <= reached:
                break
            reached = tried[pull]
        if reached > held.best_score_:
            break
        reached = held.best_score_
    assert list(tried) == expected
    assert found.best_score_ == max(held.best_score_, *tried.values())
    for k in range(before, len(rows["params"])):
        plain = TSKClassifier(refine=40, class_weight="balanced", faithfulness=found.faithfulness, random_state=0)
        plain.set_params(**rows["params"][k])
        scores = cross_val_score(plain, X, y, cv=FOLDS, scoring="balanced_accuracy")
        np.testing.assert_allclose([rows[f"split{f}_test_score"][k] for f in range(4)], scores, atol=1e-12)
