"""The pictures of the README: python docs/pictures.py, with Chromium, playwright and matplotlib installed."""

import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split

from sessc import (
    AccuracySizeDisplay,
    BoundaryDisplay,
    ConditionsDisplay,
    EffectsDisplay,
    MembershipDisplay,
    Model,
    TSKClassifier,
    TSKClassifierCV,
    evaluate,
)

DOCS = Path(__file__).parent
OUT = DOCS / "pictures"
PLAIN = {"Software": None}  # no versions in the files, so that only a changed picture changes them


def main() -> None:
    report(Model.fit(DOCS / "patients.csv", target="diagnosis", n_rules=3, conditions=3))
    mpl.use("agg")
    mpl.rcParams.update({"figure.dpi": 110, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    wine = load_wine(as_frame=True)
    names = ["Barolo", "Grignolino", "Barbera"]
    X, y = wine.data, [names[k] for k in wine.target]
    rules = TSKClassifierCV(4, order=0, conditions=3, random_state=0).fit(X, y).rules_
    before = TSKClassifier(4, random_state=0).fit(X, y).rules_
    after = TSKClassifier(rules=before, refine=200, alpha=0.3).fit(X, y).rules_
    MembershipDisplay.from_rules(after, before=before).figure_.savefig(OUT / "memberships.png", metadata=PLAIN)
    ConditionsDisplay.from_rules(rules).figure_.savefig(OUT / "conditions.png", metadata=PLAIN)
    EffectsDisplay.from_rules(rules).figure_.savefig(OUT / "effects.png", metadata=PLAIN)
    plane = X[["flavanoids", "color_intensity"]]
    of_plane = TSKClassifierCV(4, order=0, random_state=0).fit(plane, y).rules_
    boundary = BoundaryDisplay.from_rules(of_plane, plane.columns, plane, y)
    boundary.figure_.savefig(OUT / "boundary.png", metadata=PLAIN)
    plain = TSKClassifier(3, refine=200, alpha=0.1, random_state=0)
    size = AccuracySizeDisplay.from_estimator(plain, X, y, conditions=(1, 2, 3, 4, 6))
    size.figure_.savefig(OUT / "size.png", metadata=PLAIN)
    evaluation()


def evaluation() -> None:
    """The picture that the page on evaluation makes."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, labels, test_size=0.3, stratify=labels, random_state=0)
    settings = {"refine": 100, "conditions": 3, "class_weight": "balanced", "random_state": 0}
    model = TSKClassifier(n_rules=3, **settings).fit(X, y)
    found = evaluate(model, X_test, y_test, beside=(X, y), positive="malignant", threshold=0.2)
    found.plot().figure_.savefig(OUT / "evaluation.png", metadata=PLAIN)


def report(model: Model) -> None:
    """The report page as a browser shows it, on a desk and on a phone."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    screens = {"report": {"width": 1100, "height": 1000}, "report-phone": {"width": 390, "height": 800}}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        model.to_html(path, title="Who falls ill")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, viewport in screens.items():
            page = browser.new_page(viewport=viewport, color_scheme="dark" if "phone" in name else "light")
            page.goto(path.as_uri())
            page.wait_for_selector("#changes > *")
            page.screenshot(path=OUT / f"{name}.png", full_page="phone" not in name)
        browser.close()


if __name__ == "__main__":
    main()
