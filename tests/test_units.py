"""Units do not matter to rule models: columns times powers of two, which rounds nothing, change no last bit.

Clusterers see columns as they are, and units are a part of what they cluster.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sessc import FCM, Blocks, TSKClassifier, TSKClassifierCV, TSKRegressor, TSKRegressorCV
from sessc.rows import sample as drawing
from sessc.rows.read import read_rows
from sessc.rows.robust import robust

MODELS = {
    "constant": TSKClassifier(n_rules=4),
    "linear": TSKClassifier(n_rules=3, order=1),
    "refined": TSKClassifier(n_rules=3, refine=20),
    "short": TSKClassifier(n_rules=3, refine=20, conditions=2),
    "random": TSKClassifier(n_rules=3, clusterer=FCM(3, init="random", n_init=2)),
    "measured": TSKRegressor(n_rules=3, order=1),
    "refined measured": TSKRegressor(n_rules=3, refine=20),
}


@pytest.fixture(params=[0, 1, 2])
def table(request):
    """Columns of unlike spread and place, some cells missing, and what to multiply them by."""
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(120, 4)) * [1, 3, 0.1, 20] + [0, 5, 100, -3]
    y = (X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=120) > 1).astype(int) + (X[:, 3] > 5)
    return X, y, 2.0 ** rng.integers(-40, 40, size=4)


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_units_of_columns_change_no_bit(name, gaps, table):
    X, y, units = table
    if gaps:
        X = np.where(np.random.default_rng(9).random(X.shape) < 0.1, np.nan, X)
    make = lambda: clone(MODELS[name]).set_params(random_state=3)  # noqa: E731
    plain, scaled = make().fit(X, y), make().fit(X * units, y)
    np.testing.assert_array_equal(answers(plain, X), answers(scaled, X * units))


@pytest.mark.parametrize("model", [TSKClassifierCV, TSKRegressorCV])
def test_units_change_no_search(model, table):
    X, y, units = table
    make = lambda: model(n_rules=(1, 2), order=0, refine=5, random_state=0)  # noqa: E731
    plain, scaled = make().fit(X, y), make().fit(X * units, y)
    assert plain.best_params_ == scaled.best_params_
    np.testing.assert_array_equal(answers(plain, X), answers(scaled, X * units))


def test_units_change_nothing_in_blocks_and_single_precision(table):
    X, y, units = table
    X = X.astype(np.float32)
    units = units.astype(np.float32)
    cut = lambda X: Blocks(lambda: ((X[k : k + 50], y[k : k + 50]) for k in range(0, 120, 50)))  # noqa: E731
    plain, scaled = (TSKClassifier(n_rules=3, random_state=1).fit(cut(Z)) for Z in (X, X * units))
    np.testing.assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X * units))


@pytest.mark.filterwarnings("ignore::sessc.UselessModelWarning")  # so short a descent may end there
def test_units_change_nothing_where_rows_are_drawn(table, monkeypatch):
    """More rows than quantiles, refinement and the search look at."""
    X, y, units = table
    monkeypatch.setattr("sessc.rows.robust.SIZE", 60)
    monkeypatch.setattr("sessc.tsk.recipe.DRAWN_ROWS", 80)
    monkeypatch.setattr("sessc.tsk.tuning.SEARCHED_ROWS", 100)
    for model in (TSKClassifier(n_rules=3, refine=10), TSKClassifierCV(n_rules=[2], order=0, refine=5)):
        plain, scaled = (clone(model).set_params(random_state=2).fit(Z, y) for Z in (X, X * units))
        np.testing.assert_array_equal(answers(plain, X), answers(scaled, X * units))


def test_units_change_no_sample(table):
    """What is drawn of many rows, levels beside numbers included."""
    X, y, units = table
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=y.astype(str))
    drawn = []
    for unit in (np.ones(4), units):
        table = frame.assign(**{name: frame[name] * u for name, u in zip("abcd", unit, strict=True)})
        rows = drawing.by_size(read_rows(FCM(), table, reset=True))
        drawn.append(drawing.sample(rows, 20, seed=4).X / np.r_[unit, 1.0])
    np.testing.assert_array_equal(*drawn)
    rows = drawing.by_size(read_rows(FCM(), frame, reset=True))
    assert not np.array_equal(drawn[0], drawing.sample(rows, 20, seed=5).X)


def test_scores_are_drawn_as_they_are(table):
    """A unit of about one is none, so that what the paper's experiments draw stays what it was."""
    rows = read_rows(FCM(), table[0], reset=True)
    about_one = rows.standardized(np.zeros(4), np.array([0.8, 0.99, 1.01, 1.3]))
    np.testing.assert_array_equal(drawing.sample(rows, 20, seed=4).X, drawing.sample(about_one, 20, seed=4).X)


@pytest.mark.parametrize("far", [1e6, -1e6])
def test_one_cell_far_out_leaves_the_draws_of_all_other_rows(far):
    """Limits and quantiles may move with it, but no row is another for that."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    Z = X.copy()
    Z[7, 1] = far
    drawn = []
    for table in (X, Z):
        rows, _ = robust(read_rows(FCM(), table, reset=True), True)
        drawn.append({tuple(row) for row in drawing.sample(rows, 40, seed=3).X.tolist() if row[0] != X[7, 0]})
    assert len(drawn[0] & drawn[1]) >= 39
