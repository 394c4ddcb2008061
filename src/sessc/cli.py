"""The command line: parsing and printing, no mathematics."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``sessc`` command; returns its exit code."""
    from . import __version__

    parser = argparse.ArgumentParser(prog="sessc", description="Fuzzy rule models that people can read.")
    parser.add_argument("--version", action="version", version=f"sessc {__version__}")
    commands = parser.add_subparsers(title="commands", required=True)
    demo = commands.add_parser("demo", help="learn rules for the breast cancer data inside scikit-learn")
    demo.add_argument("--rules", type=int, default=4, metavar="R", help="number of short rules (default: 4)")
    demo.set_defaults(run=_demo)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        parser.error(str(error))


def _demo(options: argparse.Namespace) -> int:
    from sklearn.base import clone
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from .tuning import TSKClassifierCV

    started = time.perf_counter()
    data = load_breast_cancer(as_frame=False)
    names = tuple(data.feature_names)
    X, X_test, y, y_test = train_test_split(
        data.data, data.target_names[data.target], test_size=0.3, stratify=data.target, random_state=0
    )
    chosen = TSKClassifierCV(class_weight="balanced", random_state=0).fit(X, y)
    short = clone(chosen).set_params(n_rules=options.rules, order=0, conditions=2).fit(X, y)
    line = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)).fit(X, y)

    print(f"Breast cancer (WDBC): {len(data.data)} tumours, {len(names)} measurements, benign or malignant?")
    print(f"How often models are right about {len(y_test)} tumours they have not seen:\n")
    print("                          raw (RCA)  balanced (BCA)")
    for name, model in (("rules as chosen", chosen), ("short rules", short), ("logistic regression", line)):
        answers = model.predict(X_test)
        raw, balanced = accuracy_score(y_test, answers), balanced_accuracy_score(y_test, answers)
        print(f"  {name:<22} {100 * raw:8.1f} %     {100 * balanced:8.1f} %")

    print("\n--- Rules as chosen: TSKClassifierCV() takes the simplest that predict as well as any\n")
    print(f"{replace(chosen.rules_, feature_names=names)}\n")
    settings = [f"{name.removeprefix('clusterer__')} = {value}" for name, value in chosen.best_params_.items()]
    print(f"Settings chosen by cross-validation: {', '.join(settings)}.")
    heaviest = sorted(zip(chosen.feature_importances_, names, strict=True), reverse=True)[:3]
    print("Features that move the answer most: " + ", ".join(name for _, name in heaviest) + ".")

    print(f"\n--- Short rules: TSKClassifierCV({options.rules}, order=0, conditions=2)")
    print("--- Rules that add nothing are dropped; 'about 5 (± 1)' is a bell curve of that centre and width\n")
    print(f"{replace(short.rules_, feature_names=names)}\n")
    print(f"All of this took {time.perf_counter() - started:.0f} s.")
    return 0
