"""The report page, in a real browser."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from sessc import RuleBase, TSKClassifier
from sessc.choices import Choice

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "{data}",
    "a & b \u2028 'c' \"d\"",
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a rule base as a page; afterwards nothing may have gone wrong or been asked of a network."""
    complaints = []
    context = browser.new_context()

    def look(rules, **settings):
        rules.to_html(tmp_path / "rules.html", **settings)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
        page.goto((tmp_path / "rules.html").as_uri())
        return page

    yield look
    context.close()
    assert complaints == []


def classifier(**settings):
    data = load_wine(as_frame=True)
    return TSKClassifier(4, random_state=0, **settings).fit(data.data, data.target_names[data.target]).rules_


def test_typing_a_value_changes_everything(opened):
    rules = classifier(refine=50, conditions=4)
    page = opened(rules)
    x = np.array(rules.summary.medians)
    shown = page.locator("#answer h3")
    assert shown.inner_text() == rules(x[None, :])[0]
    name = rules.feature_names[int(np.argmin(rules.widths.min(axis=0)))]
    d = rules.feature_names.index(name)
    seen = set()
    for value in (rules.summary.quantiles[0, d], rules.summary.quantiles[-1, d]):
        page.locator(f"#feature-{d}").fill(repr(float(value)))
        x[d] = value
        assert shown.inner_text() == rules(x[None, :])[0]
        odds = rules.probabilities(x[None, :])[0]
        texts = page.locator("#answer .bar span:last-child").all_inner_texts()
        np.testing.assert_allclose([float(text) for text in texts], odds, atol=5e-4)
        seen.add(tuple(texts))
    assert len(seen) == 2
    before = page.locator("#answer").inner_text()
    page.locator(f"#feature-{d}").fill("")
    assert page.locator(f"#feature-{d}").get_attribute("aria-invalid") == "true"
    assert page.locator("#answer").inner_text() == before  # nothing is not a number


def test_keys_move_sliders(opened):
    page = opened(classifier(refine=50))
    slider = page.locator("input[type=range]").first
    slider.focus()
    before = page.locator("#answer").inner_text()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert page.locator("#answer").inner_text() != before
    assert float(slider.input_value()) == pytest.approx(
        float(page.locator("input[type=number]").first.input_value()), rel=1e-3
    )


def test_rules_are_filtered_and_sorted(opened):
    rules = classifier(refine=50, conditions=3)
    page = opened(rules)
    names = page.locator(".rule h3").all_inner_texts()
    assert [name.split()[1] for name in names] == [str(r + 1) for r in range(rules.n_rules)]
    page.locator("#order").select_option("support")
    order = np.argsort(-rules.summary.support, kind="stable")
    names = page.locator(".rule h3").all_inner_texts()
    assert [int(name.split()[1]) for name in names] == (order + 1).tolist()
    counts = np.isfinite(rules.widths).sum(axis=0)
    d = next(int(d) for d in np.argsort(counts) if 0 < counts[d] < rules.n_rules)
    page.locator("#filter").fill(rules.feature_names[d].upper())
    assert page.locator(".rule").count() == counts[d]
    assert page.locator("#shown").inner_text() == f"{counts[d]} of {rules.n_rules} rules"


def test_examples_are_there_only_when_asked_for(opened):
    X, _ = load_wine(return_X_y=True, as_frame=True)
    rules = classifier()
    assert opened(rules).locator("#start option").all_inner_texts() == ["typical values"]
    page = opened(rules, examples=X.iloc[[3, 100]])
    assert page.locator("#start option").all_inner_texts() == ["typical values", "row 3", "row 100"]
    page.locator("#start").select_option("1")
    assert page.locator("#answer h3").inner_text() == rules(X.iloc[[100]])[0]
    with pytest.raises(ValueError, match="columns"):
        rules.to_html(examples=X.iloc[:, ::-1])


def test_names_are_shown_and_never_run(opened):
    rules = RuleBase.write(
        [
            (dict.fromkeys(HOSTILE, (0.0, 1.0)), {"<b>bold</b>": 1.0}),
            ({HOSTILE[0]: (2.0, 1.0)}, {HOSTILE[1]: 1.0}),
        ],
        target_name="<i>y</i>",
    )
    assert rules.to_html().count('"sessc rules"') == 1  # a feature called {data} stands for nothing else
    page = opened(rules, title="</title><script>window.hacked = 1</script>")
    assert page.evaluate("window.hacked") is None
    body = page.locator("body").inner_text()
    for name in HOSTILE[:3]:
        assert name in body
    assert "<b>bold</b>" in body
    assert page.locator("h1").inner_text() == "</title><script>window.hacked = 1</script>"
    assert page.locator("b", has_text="bold").count() == 0


def test_measures_and_confusions_are_shown(opened):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rules = TSKClassifier(3, random_state=0).fit(X[::2], y[::2]).rules_
    evaluation = rules.evaluate(X[1::2], y[1::2])
    page = opened(rules, evaluations={"these rules": evaluation})
    assert f"{evaluation.measures['balanced accuracy']:.3f}" in page.locator("#measures").inner_text()
    cells = [int(text) for text in page.locator("#confusion td").all_inner_texts()]
    assert cells == evaluation.confusion.ravel().tolist()
    assert opened(rules).locator("#evaluation").is_hidden()


def test_rules_without_data_and_without_conditions_have_a_page(opened):
    rules = RuleBase.write([({"x": (0.0, 1.0)}, 1.0), ({}, 2.0)])
    page = opened(rules)
    assert page.locator("#answer h3").inner_text() == f"y = {float(rules([[0.0]])[0]):.5g}"
    line = opened(replace(classifier(order=1, refine=10), summary=None))
    assert line.locator(".rule").count() == 4


def test_the_page_is_small_and_fits_a_phone(browser, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(300, 36)), np.arange(300) % 6
    rules = TSKClassifier(30, random_state=0).fit(X, y).rules_
    rules.to_html(tmp_path / "rules.html")
    assert (tmp_path / "rules.html").stat().st_size < 400_000
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto((tmp_path / "rules.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


def test_the_values_of_a_choice_are_chosen_together(opened, rng):
    kinds, asked = rng.choice(["u", "v", "w"], p=[0.2, 0.5, 0.3], size=200), rng.random(200) < 0.4
    X = np.column_stack([*((kinds == k) for k in "uvw"), asked, rng.normal(size=200)]).astype(float)
    rules = (
        TSKClassifier(3, refine=50, random_state=0).fit(X, np.where((kinds == "w") ^ asked, "yes", "no")).rules_
    )
    assert opened(rules).locator("#what-if select").count() == 1  # where to start from; features are independent
    choices = (Choice("kind", (0, 1, 2), ("u", "v", "w")), Choice("asked=?", (3,), ("yes",), "no"))
    page = opened(replace(rules, choices=choices))
    assert page.get_by_label("kind", exact=True).evaluate("one => one.selectedOptions[0].textContent") == "v"
    assert page.locator("input[type=range]").count() == 1
    for kind in "uvw":
        for said in ("yes", "no"):
            page.get_by_label("kind", exact=True).select_option(kind)
            page.get_by_label("asked=?").select_option(said)
            row = [*(float(k == kind) for k in "uvw"), float(said == "yes"), float(rules.summary.medians[4])]
            assert page.locator("#answer h3").inner_text() == rules([row])[0]
