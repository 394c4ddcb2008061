"""The page as a whole: what it shows of the model, on a phone, on paper, by keyboard, and as axe sees it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from mixed import CATEGORIES, mixed_table
from sessc import RuleBase, TSKClassifier, TSKRegressor
from sessc.rules.base import Cells

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")

AXE = Path(os.environ.get("AXE", Path(__file__).parents[1] / ".venv" / "axe.min.js"))
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
LONG = ("Chardonnay from the northern slopes", "Pinotnoirfromthesouthernvalleys", "A red of unknown origin, 1990")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open rules as a page of a size; afterwards nothing may have gone wrong."""
    complaints, contexts = [], []

    def look(rules, viewport=DESK, scheme="light", **settings):
        rules.to_html(tmp_path / "rules.html", **settings)
        # The page forbids scripts from elsewhere, and what checks it is one.
        context = browser.new_context(viewport=viewport, color_scheme=scheme, bypass_csp=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((tmp_path / "rules.html").as_uri())
        return page

    yield look
    for context in contexts:
        context.close()
    assert complaints == []


def wine(classes=None, n_rules=3, **settings):
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = y.to_numpy() if classes is None else np.asarray(classes)[y]
    settings = {"refine": 20, "random_state": 0} | settings
    rules = TSKClassifier(n_rules, **settings).fit(X, y).rules_
    return rules, {"rules": rules.evaluate(X, y, resamples=10)}


def table(kind=TSKClassifier, **settings):
    X, y = mixed_table()
    X["dose"] += 0.3 * X["size"].fillna(40.0)
    y = y if kind is TSKRegressor else np.where(y > np.median(y), "much", "little")
    settings = {"refine": 20, "random_state": 0, "categorical_features": CATEGORIES} | settings
    rules = kind(4, **settings).fit(X, y).rules_
    return rules, np.asarray(rules.cells(X), float)


@pytest.fixture(scope="module")
def large():
    """Thirty rules of twenty-four conditions, measured beside another model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 24))
    y = np.asarray(["no", "yes"])[(X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)]
    rules = TSKClassifier(30, random_state=0).fit(X, y).rules_
    assert rules.n_rules == 30
    assert np.all(rules.n_conditions == 24)
    return rules, {"rules": rules.evaluate(X, y, beside=(X, y), resamples=10)}


@pytest.mark.parametrize("kind", ["classes", "values"])
def test_curves_on_the_page_are_what_the_rules_answer(opened, kind):
    rules, cells = table() if kind == "classes" else table(TSKRegressor, order=1)
    page = opened(rules)
    whole = page.evaluate("sessc.whole")
    assert whole["lines"] == ([1] if kind == "classes" else [0])
    alone = [one for one in whole["curves"] if one["accumulated"] is None]
    assert len(alone) > 2
    assert len(alone) < len(whole["curves"])
    for one in alone:
        assert "mean answer if all rows had each value" in one["kind"]
        for k, cell in enumerate(one["cells"]):
            changed = cells.copy()
            changed[:, one["feature"]] = np.nan if cell is None else cell
            said = rules.probabilities(Cells(changed))[:, whole["lines"]].mean(axis=0)
            np.testing.assert_allclose([line[k] for line in one["answers"]], said, rtol=1e-9, atol=1e-9)
            fired = rules.firing(Cells(changed)).mean(axis=0)[one["rules"]]
            np.testing.assert_allclose([share[k] for share in one["shares"]], fired, rtol=0, atol=1e-9)
    for one in whole["curves"]:
        page.locator("#effect").select_option(label=rules.feature_names[one["feature"]])
        drawn = page.locator("#curve svg")
        assert one["kind"] in drawn.get_attribute("aria-label")
        assert page.locator("#curve .alone").count() > 0 or one["accumulated"] is None
        lacks, levels = None in one["cells"], rules.layout.levels[one["feature"]]
        assert ("unknown" in drawn.inner_html()) == lacks or levels
        assert page.locator("#curve rect.line").count() == (len(one["cells"]) if levels else 0)
    page.locator("#all-effects summary").click()
    page.locator("#all-effects figure").first.wait_for()
    assert page.locator("#all-effects figure").count() == len(whole["curves"])


def farthest_from_a_line(x, y):
    """How far the farthest point is from the line that is nearest to all."""
    sides = [np.stack([sign * x, np.full(len(x), sign), np.full(len(x), -1.0)], axis=1) for sign in (1.0, -1.0)]
    found = linprog([0.0, 0.0, 1.0], np.concatenate(sides), np.concatenate([y, -y]), bounds=(None, None))
    return found.x[2]


def test_a_drawn_curve_goes_through_its_numbers(opened):
    rules, _ = wine(n_rules=2)
    page = opened(rules)
    [one, *_] = page.evaluate("sessc.whole.curves")
    path = page.locator("#curve path.line-0:not(.alone)").first.get_attribute("d")
    points = np.asarray([[float(v) for v in point.split()] for point in re.split("[ML]", path)[1:]])
    cells, answers = np.asarray(one["cells"]), np.asarray(one["answers"][0])
    for drawn, known in zip(points.T, (cells, answers), strict=True):
        assert farthest_from_a_line(known, drawn) <= 0.05 + 1e-6  # for a tenth of a pixel is the last digit


def test_importances_and_overlaps_on_the_page_are_those_of_the_model(opened):
    rules, _ = wine(n_rules=4)
    page = opened(rules)
    whole, seen = page.evaluate("sessc.whole"), rules.summary.evidence
    found = dict(whole["importances"])
    importances = rules.summary.effects.importances
    np.testing.assert_allclose([found.get(j, 0.0) for j in range(rules.n_features)], importances, atol=1e-9)
    names = page.locator("#matters .bar span:first-child").all_text_contents()
    order = [rules.feature_names[j] for j in np.argsort(-importances, kind="stable") if importances[j] > 0]
    assert [name.replace("\u200b", "") for name in names] == order
    X, _ = load_wine(return_X_y=True, as_frame=True)
    fired = rules.firing(X)
    np.testing.assert_allclose(whole["overlaps"], fired.T @ fired / fired.sum(axis=0)[:, None], atol=1e-9)
    np.testing.assert_allclose(whole["governed"], np.bincount(fired.argmax(axis=1), minlength=4) / len(X))
    assert page.locator("#map rect.overlap").count() == 16
    assert seen.governed.sum() == len(X)


@pytest.mark.parametrize("kind", ["two classes", "three classes", "values", "levels"])
def test_a_single_linear_rule_is_a_chart_of_what_a_standard_deviation_adds(opened, kind):
    settings = {"order": 1, "refine": 20, "random_state": 0}
    if kind == "values":
        rules = TSKRegressor(1, **settings).fit(*load_diabetes(return_X_y=True, as_frame=True)).rules_
    elif kind == "levels":
        X, y = mixed_table()
        rules = TSKRegressor(1, categorical_features=CATEGORIES, **settings).fit(X, y).rules_
    else:
        load = load_breast_cancer if kind == "two classes" else load_wine
        rules = TSKClassifier(1, **settings).fit(*load(return_X_y=True, as_frame=True)).rules_
    page = opened(rules)
    shown = page.evaluate("sessc.whole.coefficients")
    rows, typical = {row["change"]: row for row in shown["rows"]}, np.array(rules.typical)
    for j in rules.layout.numbers:
        [row] = [row for name, row in rows.items() if name.startswith(f"{rules.feature_names[j][:23]}")]
        moved = np.repeat(typical[None, :], 2, axis=0)
        moved[1, j] += 1e-3 * rules.scale[j]
        before, after = rules.outputs(Cells(moved)) * 1e3
        more = after - before
        if kind == "two classes":
            more = [more[1] - more[0]]
        elif kind == "three classes":
            more = more - more.mean()
        np.testing.assert_allclose(row["adds"], more, rtol=1e-6, atol=1e-8)
        assert row["each"] == pytest.approx(1 / rules.scale[j])
    assert page.locator(".coefficient").count() == len(rows)
    largest = [max(map(abs, row["adds"])) for row in shown["rows"]]
    assert kind == "levels" or largest == sorted(largest, reverse=True)
    assert page.locator("#map").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_class_has_one_colour_in_every_picture(opened, scheme):
    rules, _ = wine(n_rules=1, order=1)
    page = opened(rules, scheme=scheme)

    def colours(places, side="background-color"):
        return page.locator(places).evaluate_all(f"all => all.map((one) => getComputedStyle(one)['{side}'])")

    one = colours("#coefficients p .swatch i")
    assert len(set(one)) == 3
    for places in (".coefficient .track i", ".coefficient small i"):
        found = colours(f"#coefficients > .bars {places}")
        assert found == one * (len(found) // 3)
    assert colours("#curve .swatch i:not(.alone)", "border-top-color") == one
    assert colours("#curve path.line:not(.alone)", "stroke") == one


def test_one_rule_has_no_picture_of_its_shares(opened):
    heights = {}
    for n_rules in (1, 2):
        rules, _ = wine(n_rules=n_rules, order=1)
        page = opened(rules)
        heights[n_rules] = page.locator("#curve svg").bounding_box()["height"]
        assert (page.locator("#curve [class^=area]").count() > 0) == (n_rules > 1)
    assert heights[1] < 0.9 * heights[2]


def test_columns_without_weight_have_no_row_of_nothing(opened):
    rules, _ = wine(n_rules=1, order=1, terms=5)
    slopes = rules.consequents[0, 1:, :]
    moving = int(np.count_nonzero(np.any(slopes != 0, axis=1)))
    assert 0 < moving < rules.n_features
    page = opened(rules)
    page.locator("#start").wait_for()
    rows = page.locator("#why .term").count()
    assert rows <= 1 + moving
    assert page.locator("#why .term", has_text="more term").count() == (moving > 6)
    page.locator(".rule details summary", has_text=f"All terms of {moving} columns").click()
    page.locator(".rule details tr").first.wait_for()
    assert page.locator(".rule details tr").count() == 2 + moving


def of_many_levels(model):
    """Rules about thirty levels with long names, and about four with short ones."""
    rng = np.random.default_rng(0)
    names = [f"wing {k} of the northern building" for k in range(30)]
    ward = np.repeat(np.arange(30), 20)
    X = pytest.importorskip("pandas").DataFrame(
        {"ward": [names[k] for k in ward], "bed": rng.choice(list("abcd"), len(ward))}
    )
    cost = 15000.0 + 100 * ward + 300 * (X["bed"] == "a") + rng.normal(size=len(ward))
    y = cost if model is TSKRegressor else cost > 16500
    return model(1, order=1, refine=10, random_state=0, categorical_features=["ward", "bed"]).fit(X, y).rules_


@pytest.mark.parametrize("model", [TSKClassifier, TSKRegressor])
def test_levels_are_bars_from_zero_or_marks(opened, model):
    page = opened(of_many_levels(model))
    page.locator("#effect").select_option(label="bed")
    sizes = page.locator("#curve rect.line").evaluate_all(
        "all => all.map((one) => [one.y.baseVal.value, one.height.baseVal.value])"
    )
    assert len(sizes) == 4
    if model is TSKRegressor:
        assert {height for _, height in sizes} == {4}
        ticks = page.locator("#curve text[text-anchor=end]").all_text_contents()
        assert 2 <= len(set(ticks)) == len(ticks) <= 5
        assert all(re.fullmatch(r"1\d(\.\d+)?K", tick) for tick in ticks)
    else:
        assert np.ptp([y + height for y, height in sizes]) < 1e-3


def test_names_of_many_levels_do_not_collide(opened):
    page = opened(of_many_levels(TSKRegressor))
    page.locator("#effect").select_option(label="ward")
    levels = page.locator("#curve text[transform]")
    assert levels.count() == page.locator("#curve rect.line").count() == 24
    assert re.search(r"\d+ rarer levels? not drawn", page.locator("#curve figcaption").inner_text())
    assert levels.first.locator("title").text_content().endswith("northern building")
    places = levels.evaluate_all("all => all.map((one) => Number(one.getAttribute('x')))")
    assert np.diff(places).min() * np.sin(np.pi / 3) > 10  # what the letters are high
    picture = page.locator("#curve svg").bounding_box()
    for box in (level.bounding_box() for level in levels.all()):
        assert box["x"] >= picture["x"] - 1
        assert box["y"] + box["height"] <= picture["y"] + picture["height"] + 1


def test_names_in_pictures_are_shown_and_never_run(opened):
    hostile = "<img src=x onerror='window.hacked = 1'>"
    rules = RuleBase.by_hand(
        [({hostile: (0.0, 1.0), "b": (0.0, 1.0)}, {hostile: 1.0}), ({"b": (1.0, 1.0)}, {"<b>no</b>": 1.0})]
    )
    page = opened(rules)
    page.locator("#all-effects summary").click()
    page.locator("#all-effects figure").first.wait_for()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#all-effects img").count() == 0
    assert "a typical row" in page.locator("#curve").inner_text()
    assert page.locator("#matters").is_hidden()
    assert page.locator("#map").is_hidden()


def test_a_large_model_is_three_screens_of_a_phone(opened, large):
    rules, evaluations = large
    page = opened(rules, PHONE, evaluations=evaluations)
    page.wait_for_selector("#changes > *")
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * PHONE["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    folded = page.locator(".rule .fold > summary").first
    assert folded.inner_text() == "22 weaker conditions"
    folded.click()
    assert page.locator(".rule").first.locator("li:visible").count() == 24
    page.locator("#more-rules > summary").click()
    assert page.locator(".rule:visible").count() == 30
    page.locator("#filter").fill("yes")
    assert 0 < page.locator(".rule").count() < 30


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_what_is_asked_of_a_category_has_room_and_two_lines_at_most(opened, viewport):
    rules, _ = table(order=1)
    page = opened(rules, viewport)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    seen = 0
    for r in range(rules.n_rules):
        page.locator("#shaded").select_option(str(r))
        for j in (j for j, levels in enumerate(rules.layout.levels) if levels):
            asked = page.locator(".feature", has=page.locator(f"#feature-{j}")).locator(".asked")
            if not asked.is_visible():
                continue
            box, said = asked.bounding_box(), asked.text_content()
            assert said.startswith(f"Rule {r + 1}: ")
            assert not said.startswith(f"Rule {r + 1}: {rules.feature_names[j]}")
            assert asked.get_attribute("title").startswith(f"Rule {r + 1}: {rules.feature_names[j]}")
            assert box["height"] < 36
            assert box["width"] == pytest.approx(page.locator(f"#feature-{j}").bounding_box()["width"], abs=1)
            seen += 1
    assert seen


def test_a_link_to_a_folded_rule_unfolds_it(opened, large):
    page = opened(large[0], PHONE)
    links = page.locator("#why a")
    targets = [link.get_attribute("href") for link in links.all()]
    [folded, *_] = [k for k, target in enumerate(targets) if page.locator(target).is_hidden()]
    links.nth(folded).click()
    assert page.locator(targets[folded]).is_visible()


def test_long_names_of_classes_leave_words_whole_on_a_phone(opened):
    rules, evaluations = wine(LONG)
    page = opened(rules, PHONE, evaluations=evaluations)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wide = "[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert page.evaluate(wide) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    confusion = page.locator("#confusion").inner_text()
    assert all(f"{letter}: {name}" in confusion for letter, name in zip("ABC", sorted(LONG), strict=True))
    assert page.locator("#confusion th[scope=col]").all_inner_texts() == ["A", "B", "C"]
    caption = page.locator("#why caption").inner_text()
    assert all(f"{letter}: {name}" in caption for letter, name in zip("ABC", sorted(LONG), strict=True))
    lines = (
        "(one) => { const text = document.createRange(); text.selectNodeContents(one); "
        "return new Set([...text.getClientRects()].map(({ top }) => top)).size; }"
    )
    heads = page.locator("#why th[scope=col], #confusion th[scope=col]").all()
    assert [head.evaluate(lines) for head in heads] == [1] * 6
    assert {name.evaluate(lines) for name in page.locator("#verdict .stacked span:first-child").all()} == {1}


def test_an_emptied_field_says_what_still_counts(opened):
    rules, _ = wine()
    page = opened(rules)
    box = page.locator("#inputs input[type=number]").first
    was, wrong = box.input_value(), page.locator(f"#{box.get_attribute('aria-describedby')}")
    assert wrong.inner_text() == ""
    box.fill("")
    assert wrong.inner_text() == f"No number: {was} still counts"
    box.fill("1e200")
    assert wrong.inner_text() == f"Too large: {was} still counts"
    box.fill("2")
    assert wrong.inner_text() == ""
    box.fill("")
    page.locator("#reset").click()
    assert (wrong.inner_text(), box.input_value()) == ("", was)


def test_everything_is_reached_and_used_by_keyboard_alone(opened):
    rules, evaluations = wine()
    page = opened(rules, evaluations=evaluations)
    everything = "a[href], button, input, select, summary, [tabindex='0']"
    is_reachable = "(one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled"
    wanted = page.locator(everything).evaluate_all(
        f"(all) => all.filter({is_reachable}).map((one) => one.outerHTML.slice(0, 80))"
    )
    found = []
    for _ in range(len(wanted)):
        page.keyboard.press("Tab")
        found.append(page.evaluate("document.activeElement.outerHTML.slice(0, 80)"))
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none", found[-1]  # where one is can be seen
    assert found == wanted  # in the order in which they stand
    page.locator("#effect").focus()
    before = page.locator("#curve").inner_html()
    page.keyboard.press("ArrowDown")
    assert page.locator("#curve").inner_html() != before
    page.locator("#all-effects summary").focus()
    page.keyboard.press("Enter")
    page.locator("#all-effects figure").first.wait_for()


@pytest.mark.parametrize("model", ["wine", "large"])
def test_paper_has_everything_unfolded(opened, large, model, tmp_path):
    rules, evaluations = large if model == "large" else wine()
    page = opened(rules, PHONE, scheme="dark", evaluations=evaluations)
    folded = page.locator("details.fold:not([open])").count()
    page.pdf(path=tmp_path / "page.pdf")
    assert page.locator("details.fold:not([open])").count() == folded  # as it was
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext here to read what was printed")
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    assert all(re.search(rf"^\s*Rule {r + 1}\b|\bRule {r + 1}\s", text, re.M) for r in range(rules.n_rules))
    assert text.count("AND") + text.count("IF ") >= rules.n_conditions.sum()
    assert "accumulated" in text or model == "large"
    assert "What if" not in text


def test_paper_opens_all_that_is_shut_and_prints_nothing_to_press(opened):
    rules, evaluations = wine(n_rules=2, order=1)
    page = opened(rules, evaluations=evaluations)
    shut = page.locator("details:not([open])").count()
    assert page.locator(".rule details table").count() == 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".rule details table tr").count() == rules.n_rules * (2 + rules.n_features)
    assert page.locator("#judged #curves svg").first.is_visible()
    assert not any(one.is_visible() for one in page.locator("select, input, button, .grade, #curve").all())
    named = page.locator("#all-effects figcaption b").all_inner_texts()
    assert len(named) == len(set(named)) > 3
    for heading in page.locator("h2, h3, figcaption").all():
        assert heading.evaluate("one => getComputedStyle(one).breakAfter") == "avoid"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == shut


@pytest.mark.skipif(not AXE.exists(), reason=f"no axe-core at {AXE} to check with; AXE may say where it is")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("model", ["classes", "line", "table"])
def test_axe_finds_nothing_serious(opened, model, viewport, scheme):
    if model == "table":
        (rules, _), evaluations = table(TSKRegressor), None
    else:
        rules, evaluations = wine(LONG) if model == "classes" else wine(n_rules=1, order=1)
    page = opened(rules, viewport, scheme, evaluations=evaluations)
    page.wait_for_selector("#changes > *")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for _ in range(2):
        found = page.evaluate("axe.run()")
        assert len(found["passes"]) > 10
        grave = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in grave] == []
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
