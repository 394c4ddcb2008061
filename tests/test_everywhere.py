"""One model, many forms, the same answers: estimator, rules, JSON, skops, ONNX Runtime, and a page in Chromium."""

import shutil
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from mixed import CATEGORIES, graph_inputs, mixed_table, odd_rows, sent
from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.tables.files import dumps, loads
from sessc.tables.trusted import trusted_types

NUMBERS = {"two classes": load_breast_cancer, "three classes": load_wine, "a number": load_diabetes}
TABLES = ("classes of a table", "a number of a table")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module", params=list(product((*NUMBERS, *TABLES), (0, 1), (0, 20))), ids=str)
def fitted(request):
    """A model and rows, among its data and far outside."""
    problem, order, refine = request.param
    X, y, rows, asked = (_table if problem in TABLES else _numbers)(problem)
    kind = TSKRegressor if problem.startswith("a number") else TSKClassifier
    return kind(4, order=order, refine=refine, random_state=0, **asked).fit(X, y), rows


def _numbers(problem):
    data = NUMBERS[problem](as_frame=True)
    y = data.target if problem == "a number" else np.asarray(data.target_names)[data.target]
    rng = np.random.default_rng(0)
    spread = rng.choice([0.3, 1.0, 6.0], size=(150, 1)) * data.data.std().to_numpy()
    rows = data.data.mean().to_numpy() + spread * rng.normal(size=(150, data.data.shape[1]))
    rows = np.concatenate([data.data.to_numpy()[::10], rows])
    return data.data, y, type(data.data)(rows, columns=data.data.columns), {}


def _table(problem):
    frame, y = mixed_table()
    y = y if problem.startswith("a number") else np.where(y > np.median(y), "ill", "well")
    return frame, y, odd_rows(), {"categorical_features": CATEGORIES}


def expected(model, X):
    """What the estimator says: answers, and for classes their probabilities."""
    return model.predict(X), model.predict_proba(X) if hasattr(model, "predict_proba") else None


def agree(found, model, X, tolerance):
    answers, odds = found
    theirs, their_odds = expected(model, X)
    if their_odds is None:
        np.testing.assert_allclose(answers, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())
    else:
        assert list(answers) == theirs.tolist()
        np.testing.assert_allclose(odds, their_odds, rtol=0, atol=tolerance)


def says(rules, X):
    return rules(X), None if rules.classes is None else rules.probabilities(X)


def test_tables_have_everything_that_tables_have(fitted):
    model, X = fitted
    rules, cells = model.rules_, model.rules_.cells(X)
    if rules.layout.n_numbers < rules.n_features:
        pools = [column.pool for column in rules.columns if getattr(column, "pool", None)]
        assert pools
        assert np.isnan(cells).sum(axis=0).all()
        assert np.any(X["colour"].isin(pools[0]))
        assert rules.limits is None if not model.refine else np.any(X["size"] > rules.limits[1, 0])


def test_the_rule_base(fitted):
    model, X = fitted
    agree(says(model.rules_, X), model, X, 1e-12)


def test_json(fitted):
    model, X = fitted
    agree(says(loads(dumps(model.rules_)).rules, X), model, X, 1e-12)


def test_skops(fitted):
    skops = pytest.importorskip("skops.io", reason="skops is not installed; pip install skops")
    model, X = fitted
    for one in (model, model.rules_):
        packed = skops.dumps(one)
        assert set(skops.get_untrusted_types(data=packed)) <= set(trusted_types())
        again = skops.loads(packed, trusted=trusted_types())
        agree(says(again, X) if isinstance(again, RuleBase) else expected(again, X), model, X, 1e-12)


def test_onnx_runtime(fitted):
    pytest.importorskip("onnx", reason="onnx is not installed; pip install onnx")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model, X = fitted
    made = model.rules_.to_onnx().SerializeToString()
    session = runtime.InferenceSession(made, providers=["CPUExecutionProvider"])
    plain = [one.name for one in session.get_inputs()] == ["X"]
    given = {"X": X.to_numpy()} if plain else graph_inputs(model.rules_, X)
    found = dict(zip([output.name for output in session.get_outputs()], session.run(None, given), strict=True))
    agree((found.get("label", found.get("value")), found.get("probabilities")), model, X, 1e-10)
    np.testing.assert_allclose(found["firing"], model.rules_.firing(X), rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium here to open the page in")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def test_the_page_in_chromium(fitted, browser, tmp_path):
    model, X = fitted
    model.rules_.to_html(tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    rows = [sent(row) for row in model.rules_.cells(X)]
    found = page.evaluate("rows => rows.map(x => window.sessc.predict(x))", rows)
    page.close()
    classes = model.rules_.classes
    if classes is None:
        answers = [one["outputs"][0] for one in found]
    else:
        answers = [classes[one["answer"]] for one in found]
    agree((answers, [one["probabilities"] for one in found]), model, X, 1e-9)
    np.testing.assert_allclose([one["firing"] for one in found], model.rules_.firing(X), rtol=0, atol=1e-9)
