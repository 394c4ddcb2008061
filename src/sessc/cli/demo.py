"""What rules look like, on the breast cancer data inside scikit-learn."""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

from ..tables.model import Model
from ..tsk.estimators import TSKClassifier
from .commands import check_rules
from .speech import say

__all__ = ["demo"]

AT_ONCE = 3
"""Rules that are shown before any search."""


def demo(options: argparse.Namespace) -> None:
    """Show rules at once, then rules as they are chosen and short ones, beside a logistic regression."""
    from sklearn.datasets import load_breast_cancer

    check_rules(options.rules)
    started = time.perf_counter()
    data = load_breast_cancer()
    names = data.feature_names.tolist()
    table = dict(zip(names, data.data.T.tolist(), strict=True)) | {"kind": data.target_names[data.target].tolist()}
    _show_at_once(table)
    estimators: list[Any] = []
    learn = partial(Model.fit, table, "kind", held_out=0.3, watch=estimators.append)
    chosen, short = learn(), learn(n_rules=options.rules, conditions=2)
    _show_measures(len(data.data), len(names), chosen, short)

    print("\n--- Rules as chosen: TSKClassifierCV() takes what is read fastest of those about as good\n")
    print(f"{chosen.rules}\n")
    settings = estimators[0].best_params_.items()
    shown = [f"{name.removeprefix('clusterer__')} = {value}" for name, value in settings]
    print(f"Settings chosen by cross-validation: {', '.join(shown)}.")
    heaviest = sorted(zip(estimators[0].feature_importances_, names, strict=True), reverse=True)[:3]
    print("Features that move the answer most: " + ", ".join(name for _, name in heaviest) + ".")

    print(f"\n--- Short rules: TSKClassifierCV({options.rules}, order=0, conditions=2)")
    print("--- Rules that add nothing are dropped; limits are soft: a row just beyond one fits a little less\n")
    print(f"{short.rules}\n")
    print(f"All of this took {time.perf_counter() - started:.0f} s.")


def _show_at_once(table: dict[str, list[Any]]) -> None:
    """Rules of settings that were given, which take a second; whoever waits has something to read."""
    X = {name: column for name, column in table.items() if name != "kind"}
    model = TSKClassifier(AT_ONCE, refine=200, alpha=0.1, conditions=2, class_weight="balanced", random_state=0)
    model.fit(X, table["kind"])
    say(f"--- At once: TSKClassifier({AT_ONCE}, refine=200, alpha=0.1, conditions=2), learned from all rows\n")
    say(f"{model.rules_}\n")
    say("Now rules that choose their settings by cross-validation, measured on rows held out ...\n")


def _show_measures(n_rows: int, n_features: int, chosen: Model, short: Model) -> None:
    line = "logistic regression"
    found = {
        "rules as chosen": chosen.evaluations["rules"],
        "short rules": short.evaluations["rules"],
        line: chosen.evaluations[line],
    }
    print(f"Breast cancer (WDBC): {n_rows} tumours, {n_features} measurements, benign or malignant?")
    print(f"How often models are right about {found[line].n_rows} tumours they have not seen:\n")
    print("                          raw (RCA)  balanced (BCA)")
    for name, one in found.items():
        raw, balanced = one.measures["accuracy"], one.measures["balanced accuracy"]
        print(f"  {name:<22} {100 * raw:8.1f} %     {100 * balanced:8.1f} %")
