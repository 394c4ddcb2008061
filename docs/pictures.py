"""The pictures of the README and the guide: python docs/pictures.py [choice settings ...].

It needs matplotlib, and for the report page Chromium and playwright.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from sessc import (
    FCM,
    SESSC,
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


COLORS = ("#0072B2", "#D55E00", "#009E73")
KINDS = ("Barolo", "Grignolino", "Barbera")


def main() -> None:
    mpl.use("agg")
    mpl.rcParams.update({"figure.dpi": 110, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()


def kept(figure: Figure, name: str) -> None:
    figure.savefig(OUT / f"{name}.png", metadata=PLAIN)
    plt.close(figure)


def wines() -> tuple:
    wine = load_wine(as_frame=True)
    return wine.data, np.asarray(KINDS)[wine.target]


def displays() -> None:
    """What the displays draw of wine."""
    X, y = wines()
    rules = TSKClassifierCV(4, order=0, conditions=3, random_state=0).fit(X, y).rules_
    before = TSKClassifier(4, random_state=0).fit(X, y).rules_
    after = TSKClassifier(rules=before, refine=200, alpha=0.3).fit(X, y).rules_
    kept(MembershipDisplay.from_rules(after, before=before).figure_, "memberships")
    kept(ConditionsDisplay.from_rules(rules).figure_, "conditions")
    kept(EffectsDisplay.from_rules(rules).figure_, "effects")
    plane = X[["flavanoids", "color_intensity"]]
    of_plane = TSKClassifierCV(4, order=0, random_state=0).fit(plane, y).rules_
    kept(BoundaryDisplay.from_rules(of_plane, plane.columns, plane, y).figure_, "boundary")
    plain = TSKClassifier(3, refine=200, alpha=0.1, random_state=0)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    size = AccuracySizeDisplay.from_estimator(plain, X, y, conditions=(1, 2, 3, 4, 6), cv=folds)
    kept(size.figure_, "size")


def choice() -> None:
    """Clusters without labels, clusters that labels guide, and rules, on one plane."""
    X, y = wines()
    plane = X[["proline", "malic_acid"]]
    Z = StandardScaler().fit_transform(plane)
    free, guided = FCM(3, m=2, random_state=0).fit(Z), SESSC(3, random_state=0).fit(Z, y)
    model = TSKClassifier(3, refine=200, alpha=0.3, random_state=0).fit(Z, y)
    panels = {
        "FCM: clusters, no labels": (free.transform, free.cluster_centers_),
        "SESSC: clusters, labels guide": (guided.transform, guided.cluster_centers_),
        "TSKClassifier: rules that answer": (model.predict_proba, np.empty((0, 2))),
    }
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained", sharex=True, sharey=True)
    for ax, (title, (shares, centers)) in zip(axes, panels.items(), strict=True):
        shaded(ax, Z, shares, y)
        for kind, color in zip(KINDS, COLORS, strict=True):
            ax.scatter(*Z[y == kind].T, s=10, color=color, label=kind, edgecolor="white", linewidth=0.3)
        ax.plot(*centers.T, "kX", ms=9, mec="white")
        ax.set(title=title, xlabel="proline", xticks=[], yticks=[])
    axes[0].set_ylabel("malic acid")
    axes[2].legend(frameon=False, fontsize=8, loc="upper right")
    kept(figure, "choice")


def shaded(ax: Axes, Z: np.ndarray, shares: Callable, y: np.ndarray) -> None:
    """The plane in the colours of the kinds that the largest share of each place has most of."""
    low, high = Z.min(axis=0) - 0.3, Z.max(axis=0) + 0.3
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 300).T), axis=-1)
    place = np.argmax(shares(grid.reshape(-1, 2)), axis=1).reshape(300, 300)
    mine = np.argmax(shares(Z), axis=1)
    kinds = [max(KINDS, key=lambda kind: np.mean(y[mine == k] == kind)) for k in range(3)]
    colors = np.asarray([mpl.colors.to_rgb(COLORS[KINDS.index(kind)]) for kind in kinds])
    ax.imshow(
        0.82 + 0.18 * colors[place], extent=(low[0], high[0], low[1], high[1]), origin="lower", aspect="auto"
    )
    ax.contour(grid[..., 0], grid[..., 1], place, levels=[0.5, 1.5], colors="white", linewidths=1.5)


def settings() -> None:
    """What happens to three clusters of wine, and to three rules, as each of the five grows."""
    X, y = wines()
    Z = StandardScaler().fit_transform(X)

    def attention(gamma: float) -> float:
        return np.mean(1 / np.sum(SESSC(3, gamma=gamma, random_state=0).fit(Z, y).feature_weights_ ** 2, axis=1))

    def distance(eta: float) -> float:
        return np.mean(np.linalg.norm(SESSC(3, eta=eta, random_state=0).fit(Z, y).cluster_centers_, axis=1))

    def purity(beta: float) -> float:
        return 100 * np.mean(np.max(SESSC(3, beta=beta, random_state=0).fit(Z, y).rule_outputs_, axis=1))

    def sharpness(h: float) -> float:
        return 100 * np.mean(np.max(TSKClassifier(3, width_scale=h, random_state=0).fit(Z, y).firing(Z), axis=1))

    def certainty(lam: float) -> float:
        return 100 * np.mean(
            np.max(TSKClassifier(3, alpha=lam, random_state=0).fit(Z, y).predict_proba(Z), axis=1)
        )

    panels = {
        "γ  gamma": ("features a cluster looks at", attention, np.logspace(-0.5, 2.5, 16)),
        "η  eta": ("how far centres are\nfrom the middle", distance, np.linspace(0, 0.5, 11)),
        "β  beta": ("% of one class\nin a cluster", purity, np.logspace(-3, 1, 13)),
        "h  width_scale": ("% that the strongest\nrule counts", sharpness, np.logspace(-1, 2.5, 15)),
        "λ  alpha": ("% that the likeliest\nclass has", certainty, np.logspace(-2, 3, 16)),
    }
    figure, grid = plt.subplots(2, 3, figsize=(7, 4.6), layout="constrained")
    axes = grid.ravel()[:5]
    grid[1, 2].axis("off")
    for ax, (name, (title, measured, values)) in zip(axes, panels.items(), strict=True):
        ax.plot(values, [measured(value) for value in values], color=COLORS[0], lw=2)
        ax.set(title=title, xlabel=name, xscale="linear" if name.split()[1] == "eta" else "log", ylim=(0, None))
    axes[2].set_ylim(90, 100.5)
    kept(figure, "settings")


def rule() -> None:
    """A rule as it is printed, with what each part says."""
    parts = [
        ("Rule 1 (counts most for 100 of 240 rows)", "it has the largest share of 100 training rows"),
        (
            "  IF   temperature is at least 36.7 (not low)",
            "met by a half at 36.7, better above; most of the data are there",
        ),
        ("  AND  age is at least 48 (not low), or unknown", "a missing age will do as well"),
        ("  THEN ill 0.98, well 0.02", "what it says where it speaks alone: the model computes with this"),
        ("  SEEN ill 90 % (83 to 94), well 10 %;", "what became of its 100 rows, with a 95 % interval"),
        ("       answered ill 0.92", "what the model, all rules together, answers for them"),
    ]
    figure, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
    for row, (text, meaning) in enumerate(parts):
        ax.text(0, -row, text, family="monospace", fontsize=11, va="center")
        ax.text(0.11, -row - 0.42, meaning, fontsize=10, va="center", color=COLORS[0])
    ax.set(xlim=(0, 1), ylim=(0.2 - len(parts), 0.4))
    ax.axis("off")
    kept(figure, "rule")


def why() -> None:
    """How well one wine meets the conditions, and what each rule adds."""
    wine = load_wine(as_frame=True)
    X, y = wine.data, wine.target_names[wine.target]
    model = TSKClassifier(n_rules=3, refine=200, conditions=3, alpha=0.3, random_state=0).fit(X, y)
    told = model.explain(X.iloc[70]).to_data()
    added = np.asarray(told["contributions"])
    added -= added.mean(axis=1, keepdims=True)
    counting = [rule for rule in np.argsort(told["firing"])[::-1] if told["firing"][rule] >= 0.01]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 2.9), layout="constrained")
    grades = [
        (rule, *met) for rule in counting for met in sorted(told["grades"][rule].items(), key=lambda m: m[1])
    ]
    for row, (rule, _, grade) in enumerate(grades):
        left.barh(-row, 100 * grade, color=COLORS[rule % 3], height=0.6)
    left.set_yticks([-row for row in range(len(grades))], [f"rule {rule + 1}: {name}" for rule, name, _ in grades])
    left.set(title="how well the wine meets each condition, %", xlim=(0, 105))
    for place, rule in enumerate(counting):
        label = f"rule {rule + 1}, which counts {100 * told['firing'][rule]:.0f} %"
        heights = np.arange(3) - 0.2 + 0.4 * place
        right.barh(-heights, added[rule], height=0.36, color=COLORS[rule % 3], label=label)
    right.axvline(0, color="black", lw=0.8)
    right.set_yticks([0, -1, -2], told["classes"])
    right.set(title="what each rule adds to each class, in log-odds")
    right.legend(frameon=False, fontsize=8, loc="upper right")
    kept(figure, "why")


def ship() -> None:
    """From a table to a model, and from the model to those who use it."""
    boxes = {
        "table.csv": (0, 0, "your data"),
        "ill.rules.json": (3.4, 0, "the model"),
        "predict": (7, 1.1, "answers for new rows, in Python\nor on the command line"),
        "ill.html": (7, 0, "a page for people,\nwhich needs only a browser"),
        "ill.onnx": (7, -1.1, "answers in other programs,\nwhich need an ONNX runtime"),
    }
    arrows = {
        "sessc fit": (0, 3.4, 0),
        "": (3.4, 7, 1.1),
        "sessc report": (3.4, 7, 0),
        "sessc export": (3.4, 7, -1.1),
    }
    figure, ax = plt.subplots(figsize=(10, 2.8), layout="constrained")
    for words, (start, end, height) in arrows.items():
        shape = {"arrowstyle": "-|>", "color": "#777777", "lw": 1.4}
        ax.annotate("", (end - 0.75, height), (start + 0.85, 0), arrowprops=shape)
        over = {"fc": "white", "ec": "none", "pad": 2}
        ax.text(
            (start + end) / 2 + 0.3, height * 0.58, words, ha="center", va="center", family="monospace", bbox=over
        )
    for name, (x, y, what) in boxes.items():
        face = {"boxstyle": "round,pad=0.5", "fc": "#eaf2f8", "ec": COLORS[0]}
        ax.text(x, y, name, ha="center", va="center", family="monospace", bbox=face)
        aside = x == 7
        ax.text(
            x + 0.85 if aside else x, y if aside else y - 0.5, what, ha="left" if aside else "center", va="center"
        )
    ax.set(xlim=(-0.8, 10.6), ylim=(-1.6, 1.6))
    ax.axis("off")
    kept(figure, "ship")


def evaluation() -> None:
    """The picture that the page on evaluation makes."""
    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    X, X_test, y, y_test = train_test_split(data.data, labels, test_size=0.3, stratify=labels, random_state=0)
    settings = {"refine": 100, "conditions": 3, "class_weight": "balanced", "random_state": 0}
    model = TSKClassifier(n_rules=3, **settings).fit(X, y)
    found = evaluate(model, X_test, y_test, beside=(X, y), positive="malignant", threshold=0.2)
    kept(found.plot().figure_, "evaluation")


def report() -> None:
    """The report page as a browser shows it, on a desk and on a phone."""
    model = Model.fit(DOCS / "patients.csv", target="diagnosis", n_rules=3, conditions=3)
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


PICTURES: dict[str, Callable[[], None]] = {
    draw.__name__: draw for draw in (report, displays, choice, settings, rule, why, ship, evaluation)
}

if __name__ == "__main__":
    main()
