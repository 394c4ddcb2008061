"""The report page, in a real browser."""

import re
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from mixed import CATEGORIES, mixed_table, odd_rows, raw_row, sent
from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.rules.base import Cells
from sessc.rules.conditions import read_condition, seen_range
from sessc.rules.wording import amount, number

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
    before = page.locator("#why").inner_text()
    box = page.locator(f"#feature-{d}")
    for nonsense in ("", "1e200"):  # nothing is not a number, and the other cannot be squared
        box.fill(nonsense)
        assert box.get_attribute("aria-invalid") == "true"
        assert page.locator("#why").inner_text() == before
    page.locator(".feature", has=box).locator("input[type=range]").focus()
    page.keyboard.press("ArrowLeft")
    assert box.get_attribute("aria-invalid") == "false"


def test_keys_move_sliders(opened):
    page = opened(classifier(refine=50))
    slider = page.locator("#inputs input[type=range]").first
    slider.focus()
    before = page.locator("#answer").inner_text()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    assert page.locator("#answer").inner_text() != before
    assert float(slider.input_value()) == pytest.approx(
        float(page.locator("#inputs input[type=number]").first.input_value()), rel=1e-3
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
    counts = rules.asks.sum(axis=0)
    d = next(int(d) for d in np.argsort(counts) if 0 < counts[d] < rules.n_rules)
    page.locator("#filter").fill(rules.feature_names[d].upper())
    assert page.locator(".rule").count() == counts[d]
    assert page.locator("#shown").inner_text() == f"{counts[d]} of {rules.n_rules} rules"
    mostly = rules.classes[np.argmax(rules.consequents[:, 0], axis=1)]
    for label in rules.classes:
        page.locator("#filter").fill(label)
        assert page.locator(".rule").count() == np.sum(mostly == label) < rules.n_rules
    for live in ("now", "%", "counts", "fits"):
        page.locator("#filter").fill(live)
        assert page.locator(".rule").count() == 0


def test_examples_are_there_only_when_asked_for(opened):
    X, _ = load_wine(return_X_y=True, as_frame=True)
    rules = classifier()
    assert opened(rules).locator("#start option").all_inner_texts() == ["typical values"]
    page = opened(rules, examples=X.iloc[[3, 100]])
    assert page.locator("#start option").all_inner_texts() == ["typical values", "row 3", "row 100"]
    page.locator("#start").select_option("1")
    assert page.locator("#answer h3").inner_text() == rules(X.iloc[[100]])[0]
    with pytest.raises(ValueError, match="columns"):
        rules.to_html(examples=X.iloc[:, 1:])


def test_names_are_shown_and_never_run(opened):
    rules = RuleBase.by_hand(
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
    assert f"{evaluation.measures['balanced accuracy']:.4g}" in page.locator("#measures").inner_text()
    cells = [int(text) for text in page.locator("#confusion td").all_inner_texts()]
    assert cells == evaluation.confusion.ravel().tolist()
    assert opened(rules).locator("#evaluation").is_hidden()


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_page_finds_at_every_threshold_what_evaluate_finds(opened, class_weight):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rules = TSKClassifier(2, refine=20, random_state=0, class_weight=class_weight).fit(X[::2], y[::2]).rules_
    weight = np.random.default_rng(0).gamma(2.0, size=len(y[1::2]))
    measure = partial(rules.evaluate, X[1::2], y[1::2], weight, beside=(X[::2], y[::2]), resamples=20)
    page = opened(rules, evaluations={"rules": measure(threshold=0.3)})
    page.locator("#judged summary").click()
    shares = ["sensitivity", "specificity", "positive predictive value", "negative predictive value"]
    for k in (0, 7, 30, 50, 91, 100):
        at = measure(threshold=k / 100)
        for place, one in enumerate([at, at.beside["logistic regression"]]):
            shown = page.evaluate(f"sessc.foundAt(data.evaluations[{place}].cuts, {k})")
            expected = [one.measures.get(name) for name in shares]
            assert shown == [None if value is None else pytest.approx(value, abs=1e-9) for value in expected]
            ends = page.evaluate(f"data.evaluations[{place}].cuts.low['sensitivity'][{k}]")
            assert ends == pytest.approx(one.intervals["sensitivity"][0], abs=1e-9)
    drawn = page.evaluate("data.evaluations")
    for found, one in zip(drawn, [measure(threshold=0.3), *measure(threshold=0.3).beside.values()], strict=True):
        assert found["measures"] == pytest.approx(one.measures, abs=1e-9)
        assert found["calibration"]["found"] == pytest.approx(one.calibration.found.tolist(), abs=1e-9)
    assert page.locator("#cut").input_value() == "30"
    before = page.locator("#at-cut").inner_text()
    page.locator("#cut").fill("80")
    assert page.locator("#cut-now").inner_text() == "0.80"
    assert page.locator("#at-cut").inner_text() != before
    assert page.locator("#curves figure").count() == 2


def test_every_probability_on_the_page_has_its_prior_beside_it(opened):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rules = TSKClassifier(2, refine=5, random_state=0, class_weight="balanced").fit(X, y).rules_
    assert "as if all classes were equally common" in opened(rules).locator("#verdict").inner_text()
    asked = opened(rules.with_prior({0: 0.1, 1: 0.9})).locator("#verdict").inner_text()
    assert "hold where there are target=0 10 %, target=1 90 %" in asked


def test_rules_without_data_and_without_conditions_have_a_page(opened):
    rules = RuleBase.by_hand([({"x": (0.0, 1.0)}, 1.0), ({}, 2.0)])
    page = opened(rules)
    assert page.locator("#answer h3").inner_text() == f"y = {amount(rules, rules([[0.0]])[0])}"
    line = opened(replace(classifier(order=1, refine=10), summary=None))
    assert line.locator(".rule").count() == 4


@pytest.mark.parametrize("examples", [False, True])
def test_one_can_always_go_back_to_the_start(opened, examples):
    X, _ = load_wine(return_X_y=True, as_frame=True)
    page = opened(classifier(refine=50, conditions=4), examples=X.iloc[[3]] if examples else None)
    if examples:
        page.locator("#start").select_option("0")
    began = [box.input_value() for box in page.locator("input[type=number]").all()]
    why = page.locator("#why").inner_text()
    for box in page.locator("input[type=number]").all():
        box.fill("7")
    page.locator("#reset").click()
    assert [box.input_value() for box in page.locator("input[type=number]").all()] == began
    assert max(map(len, began)) <= 7  # and not all digits of a double
    assert page.locator("#why").inner_text() == why


MODELS = {
    "constant": lambda: classifier(refine=50, conditions=4),
    "least squares": lambda: classifier(),
    "linear": lambda: classifier(order=1, refine=20),
    "least squares, linear": lambda: classifier(order=1),
    "a number": lambda: regressor(),
    "a number, linear": lambda: regressor(order=1),
    "a table": lambda: of_a_table(TSKClassifier, conditions=4),
    "a table, least squares, linear": lambda: of_a_table(TSKClassifier, order=1, refine=0),
    "a table, a number, linear": lambda: of_a_table(TSKRegressor, order=1),
}


def regressor(**settings):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return TSKRegressor(3, random_state=0, refine=20, **settings).fit(X, y).rules_


def of_a_table(kind, refine=30, **settings):
    frame, y = mixed_table()
    y = y if kind is TSKRegressor else np.where(y > np.median(y), "much", "little")
    asked = {"categorical_features": CATEGORIES, "refine": refine, "random_state": 0}
    return kind(4, **asked, **settings).fit(frame, y).rules_


@pytest.fixture(scope="module", params=MODELS)
def rules(request):
    return MODELS[request.param]()


def rows_near(rules, n=8):
    """Cells that the data have, some of them missing."""
    rng = np.random.default_rng(1)
    for _ in range(n):
        x = np.array([rng.choice(values) for values in rules.summary.quantiles.T])
        for j, levels in enumerate(rules.layout.levels):
            x[j] = rng.integers(levels) if levels else x[j]
        yield np.where((rng.random(len(x)) < 0.2) & (rules.summary.missing > 0), np.nan, x)


def changed(rules, change):
    """A change as the page has it: the column, and a number or the place of a level."""
    levels = getattr(rules.columns[change.feature], "levels", None)
    value = change.value if levels is None else float(levels.index(change.value))
    return change.feature, round(value, 6)


def test_the_page_finds_the_changes_that_explain_finds(opened, rules):
    page = opened(rules)
    total = 0
    for x in rows_near(rules):
        wanted = {changed(rules, change): change.answer for change in rules.explain(raw_row(rules, x)).changes}
        found = page.evaluate("x => window.sessc.changes(x)", sent(x))
        answers = [c["answer"] if rules.classes is None else rules.classes[c["answer"]] for c in found]
        places = [(change["feature"], round(change["value"], 6)) for change in found]
        assert sorted(places) == sorted(wanted)
        for place, answer in zip(places, answers, strict=True):
            there = wanted[place]
            assert answer == there if isinstance(answer, str) else answer == pytest.approx(there, rel=1e-6)
        total += len(found)
    assert total > 5


def test_the_page_explains_in_the_words_of_explain(opened, rules):
    page = opened(rules)
    found = rules.explain(raw_row(rules, rules.typical))
    text = str(found)
    page.wait_for_selector("#changes > *")
    for line in page.locator("#changes li").all_inner_texts():
        assert f"\n  {line}" in text
    for row in page.locator("#why tr.heard").all():
        name, *cells = row.locator("th, td").all_inner_texts()
        title = next(line for line in text.splitlines() if line.startswith(" ".join(name.split()[:2]) + " counts"))
        assert f" counts {name.split(maxsplit=2)[2].replace(chr(160), ' ')} and adds" in title
        numbers = re.findall(r"[+-]?[\d.]+(?:e[+-]\d+)?(?=,|$)", title)
        assert [cell.replace("−", "-") for cell in cells] == numbers[: len(cells)]


def test_contributions_on_the_page_add_up(opened, rules):
    page = opened(rules)
    rows = {kind: page.locator(f"#why tr.{kind}").all() for kind in ("heard", "term", "total")}
    cells = {
        kind: np.asarray(
            [[float(c.replace("−", "-")) for c in row.locator("td").all_inner_texts()] for row in each]
        )
        for kind, each in rows.items()
    }
    slack = 0.05 if rules.classes is not None else 0.05 * np.abs(cells["heard"]).max()
    np.testing.assert_allclose(cells["heard"].sum(axis=0), cells["total"][0], atol=slack)
    if rules.order == 1:
        firing = rules.firing(Cells(rules.typical[None, :]))[0]
        spoken = [r for r in np.argsort(-firing) if firing[r] >= 0.1]
        np.testing.assert_allclose(
            cells["term"].sum(axis=0), cells["heard"][: len(spoken)].sum(axis=0), atol=slack
        )


def test_cards_say_how_well_each_condition_fits_now(opened, rules):
    page = opened(rules)
    grades = rules.explain(raw_row(rules, rules.typical)).grades
    page.evaluate("document.querySelectorAll('details.fold').forEach((one) => { one.open = true; })")
    for r, card in enumerate(page.locator(".rule").all()):
        assert ("THEN" if rules.n_conditions[r] else "OTHERWISE") in card.inner_text()
        assert card.locator(".counts").inner_text().split()[:2] == ["counts", "now"]
        for place in card.locator(".grade").all():
            said = f"fits {100 * grades[r, int(place.get_attribute('data-feature'))]:.0f}\u00a0%"
            assert place.inner_text() == said
        assert "(± " not in card.inner_text()


def test_linear_conclusions_are_there_in_full_on_demand(opened):
    rules = classifier(order=1, refine=10)
    page = opened(rules)
    card = page.locator(".rule").first
    assert card.locator("details table").count() == 0
    card.locator("details:not(.fold) summary").click()
    card.locator("details tr").first.wait_for()
    rows = card.locator("details tr").all_inner_texts()
    assert len(rows) == 2 + rules.n_features
    slope = rules.consequents[0, 1:, 0] / rules.scale
    hue = next(row for row in rows if row.startswith("hue"))
    assert float(hue.split("\t")[1]) == pytest.approx(slope[rules.feature_names.index("hue")], rel=1e-2)


def test_one_rule_that_always_holds_has_no_conditions_to_show(opened):
    page = opened(TSKClassifier(1, order=1, refine=20, random_state=0).fit(*load_wine(return_X_y=True)).rules_)
    assert "1 rule, which always holds" in page.locator("#about").inner_text()
    assert "ALWAYS" in page.locator(".rule").inner_text()
    assert not any(word in page.locator(".rule").inner_text() for word in ("IF", "THEN", "anything", "counts now"))
    assert page.locator("#controls").is_hidden()


def test_numbers_are_those_of_the_text(opened, rng):
    page = opened(classifier())
    values = rng.normal(size=300) * 10.0 ** rng.integers(-14, 21, size=300)
    resolutions = np.abs(values) * 10.0 ** rng.uniform(-6, 1, size=300)
    tiny = 1e-110 * rng.normal(size=100) * 10.0 ** rng.integers(-30, 30, size=100)
    values = [*values.tolist(), *tiny.tolist(), 0.0, 0.0, 5.0, 1e200, 1.0, 0.3, 0.0, 6e-113]
    resolutions = [*resolutions.tolist(), *np.abs(tiny / 50).tolist(), 0.1, 1e-9, 0.0, 3.0, *[1e-111] * 4]
    found = page.evaluate("([a, b]) => a.map((v, k) => window.sessc.number(v, b[k]))", [values, resolutions])
    assert found == [number(value, resolution) for value, resolution in zip(values, resolutions, strict=True)]
    assert max(map(len, found)) < 24


def test_columns_may_be_as_small_as_can_be_squared(opened, rng):
    X = rng.normal(size=(60, 1)) * 1e-110
    rules = TSKClassifier(2, refine=5, random_state=0).fit(X, np.where(X[:, 0] > 0, "up", "down")).rules_
    page = opened(rules)
    for value, answer in (("1e-110", "up"), ("-1e-110", "down"), ("1", rules([[1.0]])[0])):
        page.locator("#feature-0").fill(value)
        assert page.locator("#answer h3").inner_text() == answer


def test_measures_and_reasons_fit_a_phone(browser, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    data = load_wine(as_frame=True)
    for rules, rows, target in (
        (regressor(), X, y),
        (classifier(order=1), data.data, data.target_names[data.target]),
    ):
        evaluation = rules.evaluate(rows, target)
        measured = {"rules": evaluation, "logistic regression": evaluation}
        rules.to_html(tmp_path / "rules.html", evaluations=measured)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto((tmp_path / "rules.html").as_uri())
        for card in page.locator(".rule summary").all():
            card.click()
        wide = "[...document.querySelectorAll('.wide')].every((place) => place.scrollWidth <= place.clientWidth)"
        assert page.evaluate(wide)
        assert page.locator("#reasons").is_visible()
        assert page.locator("#reasons").evaluate("one => getComputedStyle(one).position") == "static"
        page.evaluate("window.scrollTo(0, 0)")
        verdict, inputs, reasons = (
            page.locator(one).bounding_box()["y"] for one in ("#verdict", "#inputs", "#reasons")
        )
        assert verdict < inputs < reasons
        page.close()


def test_the_page_is_small_and_fits_a_phone(browser, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(300, 36)), np.arange(300) % 6
    rules = TSKClassifier(30, random_state=0).fit(X, y).rules_
    rules.to_html(tmp_path / "rules.html")
    assert (tmp_path / "rules.html").stat().st_size < 400_000
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto((tmp_path / "rules.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


def test_levels_are_chosen_from_a_list_and_may_be_unknown(opened):
    rules = of_a_table(TSKClassifier)
    page = opened(rules)
    x = np.array(rules.typical)
    for name in CATEGORIES:
        j = rules.feature_names.index(name)
        options = page.get_by_label(name, exact=True).locator("option").all_inner_texts()
        assert options == [*rules.columns[j].labels, "unknown"]
        for code, label in [*enumerate(rules.columns[j].labels), (np.nan, "unknown")]:
            page.get_by_label(name, exact=True).select_option(label)
            x[j] = code
            assert page.locator("#answer h3").inner_text() == rules(Cells(x[None, :]))[0]
            odds = rules.probabilities(Cells(x[None, :]))[0]
            texts = page.locator("#answer .bar span:last-child").all_inner_texts()
            np.testing.assert_allclose([float(text) for text in texts], odds, atol=5.1e-4)


def test_a_number_may_be_unknown_where_cells_were_missing(opened):
    rules = of_a_table(TSKRegressor)
    page = opened(rules)
    lacking = [name for name, share in zip(rules.feature_names, rules.summary.missing, strict=True) if share > 0]
    assert lacking == ["size", "colour", "fresh"]
    unknown = page.get_by_label("unknown")
    assert unknown.count() == 1  # colour and fresh have a list
    was = page.locator("#answer h3").inner_text()
    unknown.check()
    x = np.array(rules.typical)
    x[0] = np.nan
    assert page.locator("#answer h3").inner_text() == f"y = {amount(rules, rules(Cells(x[None, :]))[0])}"
    box = page.locator("#feature-0")
    assert box.is_disabled()
    assert box.input_value() == ""
    page.wait_for_timeout(300)
    assert "instead of unknown" in page.locator("#changes").inner_text()
    unknown.uncheck()
    assert page.locator("#answer h3").inner_text() == was


def test_dates_are_dates(opened):
    rules = of_a_table(TSKRegressor, order=1)
    page, j = opened(rules), rules.feature_names.index("seen")
    box, x = page.locator(f"#feature-{j}"), np.array(rules.typical)
    assert box.get_attribute("type") == "date"
    box.fill("2021-09-01")
    x[j] = (np.datetime64("2021-09-01") - np.datetime64("1970-01-01")).astype(int)
    assert page.locator("#answer h3").inner_text() == f"y = {amount(rules, rules(Cells(x[None, :]))[0])}"
    slider = page.locator(".feature", has=box).locator("input[type=range]")
    assert float(slider.input_value()) == x[j]
    assert slider.get_attribute("aria-valuetext") == "2021-09-01"
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert box.input_value() == "2021-09-02"


def test_what_a_rule_asks_for_is_shaded(opened):
    rules = of_a_table(TSKClassifier, conditions=3)
    page = opened(rules)
    shaded = 0
    for r in range(rules.n_rules):
        page.locator("#shaded").select_option(str(r))
        for j in rules.layout.numbers[rules.used[rules.layout.numbers]]:
            read, row = read_condition(rules, r, j), page.locator(".feature", has=page.locator(f"#feature-{j}"))
            places = [row.locator(one).bounding_box() for one in (".band", "input[type=range]")]
            assert places[0] is None or places[0]["width"] <= places[1]["width"]
            if not rules.asks[r, j] or read.worst >= 0.5:
                assert row.locator(".band").evaluate("one => one.offsetWidth") == 0
                continue
            low, high = seen_range(rules, j)
            wanted = ((high if read.high is None else read.high) - (low if read.low is None else read.low)) / (
                high - low
            )
            assert places[0]["width"] == pytest.approx((places[1]["width"] - 16) * wanted, abs=1.5)
            assert (
                row.locator(".band").get_attribute("title").startswith(f"Rule {r + 1}: {rules.feature_names[j]}")
            )
            shaded += 1
    assert shaded


def test_rows_of_a_table_can_be_started_from(opened):
    rules, rows = of_a_table(TSKClassifier), odd_rows().iloc[:6]
    page = opened(rules, examples=rows)
    for k, said in enumerate(rules(rows)):
        page.locator("#start").select_option(str(k))
        assert page.locator("#answer h3").inner_text() == said


def test_a_table_fits_a_phone_and_paper(browser, tmp_path):
    of_a_table(TSKRegressor, order=1).to_html(tmp_path / "rules.html", examples=odd_rows().iloc[:3])
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto((tmp_path / "rules.html").as_uri())
    for card in page.locator(".rule summary").all():
        card.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.emulate_media(media="print")
    assert page.locator("#what-if").is_hidden()
    assert page.locator(".rule svg").first.is_visible()
    page.close()


def test_columns_may_be_called_anything(opened):
    names = ("__proto__", "constructor", "toString")
    rules = RuleBase.by_hand([(dict.fromkeys(names[:2], (0.0, 1.0)), 1.0), ({names[2]: (2.0, 1.0)}, 2.0)])
    page = opened(rules)
    found = page.evaluate("x => window.sessc.predict(x)", [0.5, 1.0, 2.0])
    np.testing.assert_allclose(found["outputs"], rules([[0.5, 1.0, 2.0]]), rtol=1e-12)


def test_one_begins_with_what_is_commonest(opened, rng):
    """Which of a category may be a missing cell."""
    pandas = pytest.importorskip("pandas")
    cells = rng.choice(["red", "blue"], 300).astype(object)
    X = pandas.DataFrame({"colour": cells, "size": rng.normal(size=300)})
    y = (X["size"] > 0) ^ (cells == "red")
    for share, value in ((0.1, "0"), (0.8, "")):
        cells[rng.random(300) < share] = None
        page = opened(TSKClassifier(2, refine=20, random_state=0).fit(X.assign(colour=cells), y).rules_)
        assert page.locator("#inputs select").first.input_value() == value
