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
    demo.add_argument("--rules", type=int, metavar="R", help="number of rules (default: chosen from the data)")
    demo.set_defaults(run=_demo)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ValueError as error:
        parser.error(str(error))


def _demo(options: argparse.Namespace) -> int:
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_validate
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from .tuning import TSKClassifierCV

    started = time.perf_counter()
    data = load_breast_cancer(as_frame=False)
    X, y = data.data, data.target_names[data.target]
    n_rules = "auto" if options.rules is None else options.rules
    rules = TSKClassifierCV(n_rules, class_weight="balanced", random_state=0)
    line = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))

    print(f"Breast cancer (WDBC): {X.shape[0]} tumours, {X.shape[1]} measurements, benign or malignant?")
    print("Accuracy on rows not seen, by 5-fold cross-validation; rules are tuned inside each fold:\n")
    print("                          raw (RCA)  balanced (BCA)")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, model in (("fuzzy rules", rules), ("logistic regression", line)):
        scores = cross_validate(
            model, X, y, cv=folds, scoring=("accuracy", "balanced_accuracy"), error_score="raise"
        )
        raw, balanced = scores["test_accuracy"].mean(), scores["test_balanced_accuracy"].mean()
        print(f"  {name:<22} {100 * raw:8.1f} %     {100 * balanced:8.1f} %")

    model = rules.fit(X, y)
    found = replace(model.rules_, feature_names=tuple(data.feature_names))
    share = model.firing(X).mean(axis=0)
    print("\nThe rules, learned from all rows. 'About 5 (± 1)' is a bell curve of that centre and width.\n")
    print(f"{found}\n")
    print("How much of the data each rule speaks for: " + ", ".join(f"{100 * s:.0f} %" for s in share) + ".")
    heaviest = sorted(zip(model.feature_importances_, data.feature_names, strict=True), reverse=True)[:3]
    print("Features that move the answer most: " + ", ".join(name for _, name in heaviest) + ".")
    settings = [f"{name.removeprefix('clusterer__')} = {value}" for name, value in model.best_params_.items()]
    print(f"Settings chosen by cross-validation: {', '.join(settings)}.")
    print(f"All of this took {time.perf_counter() - started:.0f} s.")
    return 0
