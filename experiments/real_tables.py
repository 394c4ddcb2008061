"""Rules on the development sets, which have categories, and cells that are made to be missing, rare or wrong.

    python -m experiments.real_tables                          # two splits, on which choices are made
    python -m experiments.real_tables --models "ten rules" --changes whole --splits 5
    python -m experiments.real_tables --summary                # what is recorded, in pairs

A unit of work is one (set, split, change, model) of one version of the library, and a line of
``results/real_tables.csv``. An earlier version computes its own lines in an environment of its own:

    SESSC_COMMIT=01ae387 PYTHONPATH=<checkout of 01ae387>/src:. python -m experiments.real_tables
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

import sessc
from sessc.datasets import NAMES

from .development import CLASSES, VALUES, Split, load, losing, splits
from .protocol import prepared
from .provenance import commit
from .results import RESULTS, Results

PATH = RESULTS / "real_tables.csv"
SHARE_LOST = 0.1
TYPO = 1e6


@dataclass(frozen=True)
class Line:
    """How one model did on one split of one set; NaN where a measure has no meaning."""

    dataset: str
    split: int
    change: str
    model: str
    version: str
    commit: str
    bca: float
    accuracy: float
    auc: float
    log_loss: float
    r2: float
    mean_absolute_error: float
    rules: int
    conditions: float
    terms: float
    faithfulness: float
    agreement: float
    strongest: float
    parameters: str
    seconds: float

    @property
    def key(self) -> tuple:
        return self.dataset, self.split, self.change, self.model, self.version

    @classmethod
    def parse(cls, row: list[str]) -> Line:
        """A line from its cells; a ValueError if any of them is damaged."""
        if len(row) != len(fields(cls)):
            raise ValueError(f"{len(row)} cells instead of {len(fields(cls))}")
        kinds = {"int": int, "float": float, "str": str}
        line = cls(*(kinds[str(field.type)](cell) for field, cell in zip(fields(cls), row, strict=True)))
        json.loads(line.parameters)
        return line


def with_rare_columns(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Ten more columns, each zero but for one to three rows."""
    rng = np.random.default_rng(seed)
    rare = np.zeros((len(X), 10))
    for column in rare.T:
        column[rng.choice(len(X), rng.integers(1, 4), replace=False)] = 1.0
    return X.assign(**{f"rare{k}": column for k, column in enumerate(rare.T)})


def with_a_typo(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One cell of one column of numbers that is far too large; the table itself if it has no numbers."""
    rng = np.random.default_rng(seed)
    numbers = X.select_dtypes("number").columns
    if not len(numbers):
        return X
    X = X.copy()
    X.iloc[int(rng.integers(len(X))), X.columns.get_loc(numbers[int(rng.integers(len(numbers)))])] = TYPO
    return X


def with_another_cell(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The cell where the typo would be, with what another row has there: a change that nobody would notice."""
    rng = np.random.default_rng(seed)
    numbers = X.select_dtypes("number").columns
    if not len(numbers):
        return X
    X, row = X.copy(), int(rng.integers(len(X)))
    column = X.columns.get_loc(numbers[int(rng.integers(len(numbers)))])
    X.iloc[row, column] = X.iloc[int(rng.integers(len(X))), column]
    return X


def changed(split: Split, change: str, seed: int) -> Split:
    """A split to which something was done; rare values and typos to the training part alone."""
    if change.startswith("gaps "):
        how = change.removeprefix("gaps ")
        parts = (losing(part, SHARE_LOST, how, 2 * seed + k) for k, part in enumerate((split.X, split.X_test)))
        return Split(next(parts), split.y, next(parts), split.y_test)
    if change == "rare columns":
        X = with_rare_columns(split.X, seed)
        return Split(X, split.y, split.X_test.assign(**dict.fromkeys(X.columns[-10:], 0.0)), split.y_test)
    if change == "a typo":
        return Split(with_a_typo(split.X, seed), split.y, split.X_test, split.y_test)
    if change == "another cell":
        return Split(with_another_cell(split.X, seed), split.y, split.X_test, split.y_test)
    return split


CHANGES = ("whole", "gaps anywhere", "gaps by value", "rare columns", "a typo", "another cell")


def indicators(model: Any, *steps: Any) -> Any:
    """A model behind medians, which go through more steps, commonest categories and indicators."""
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), *steps)
    texts = make_pipeline(
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False),
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_include="category")),
    )
    return make_pipeline(columns, model)


def imputed(model: Any) -> Any:
    """A model behind medians and commonest categories, which stay categories."""
    numbers = SimpleImputer(strategy="median", keep_empty_features=True)
    texts = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_include="category")),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    return make_pipeline(columns, model)


def searching(classes: int, seed: int, **settings: Any) -> Any:
    """A search for refined rules, classes weighing the same."""
    if classes:
        return sessc.TSKClassifierCV(class_weight="balanced", random_state=seed, **settings)
    return sessc.TSKRegressorCV(random_state=seed, **settings)


def ten_rules(classes: int, seed: int, **settings: Any) -> Any:
    """A search for ten rules that conclude constants, or one for each class."""
    return searching(classes, seed, n_rules=max(10, classes), order=0, **settings)


def boosting(classes: int, seed: int) -> Any:
    """An explainable boosting machine as its authors have it, rows weighed so that classes weigh the same."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if classes else ExplainableBoostingRegressor
    return kind(random_state=seed, n_jobs=1)


TAKES_TABLES = sessc.__version__ != "0.1.0"
AS_IT_IS = make_pipeline if TAKES_TABLES else indicators
"""Version 0.1.0 takes numbers alone."""
ANY_LENGTH = {"conditions": None, "terms": None} if TAKES_TABLES else {}

MODELS: dict[str, Callable[[int, int], Any]] = {
    "ten rules": lambda *of: AS_IT_IS(ten_rules(*of, **ANY_LENGTH)),
    "default": lambda *of: AS_IT_IS(searching(*of)),
    "accurate": lambda *of: AS_IT_IS(searching(*of, parsimony=0)),
    "ten rules of five": lambda *of: AS_IT_IS(ten_rules(*of, conditions=5)),
    "ten rules of three": lambda *of: AS_IT_IS(ten_rules(*of, conditions=3)),
    "ten rules of five, the best": lambda *of: AS_IT_IS(ten_rules(*of, conditions=5, parsimony=0)),
    "ten rules, imputed": lambda *of: imputed(ten_rules(*of, **ANY_LENGTH)),
    "ten rules, not faithful": lambda *of: AS_IT_IS(ten_rules(*of, conditions=5, faithfulness=0)),
    "EBM": lambda *of: make_pipeline(boosting(*of)),
}
"""By name: what makes a model, from the number of classes, which is 0 for values, and a seed."""


def part_of(dataset: str, split: int) -> Split:
    """A development set in two, or one of the paper's as its protocol has it."""
    if dataset in NAMES:
        X, X_test, y, y_test = prepared(dataset, split)
        return Split(pd.DataFrame(X), y, pd.DataFrame(X_test), y_test)
    return splits(load(dataset), range(split, split + 1))[split]


def compute(dataset: str, split: int, change: str, model: str) -> Line:
    """One unit of work."""
    part = changed(part_of(dataset, split), change, split)
    n_classes = 0 if dataset in VALUES else len(np.unique(part.y))
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rare class in too few folds, a category that is new
        fitted = MODELS[model](n_classes, split)
        weights = balanced(fitted, part.y) if model == "EBM" and n_classes else {}
        fitted.fit(part.X, part.y, **weights)
        seconds = time.perf_counter() - started
        measures = (of_classes if n_classes else of_values)(fitted, part)
    rules = getattr(fitted[-1], "rules_", None)
    return Line(
        dataset=dataset,
        split=split,
        change=change,
        model=model,
        version=sessc.__version__,
        commit=commit(),
        rules=0 if rules is None else rules.n_rules,
        conditions=0.0 if rules is None else round(float(rules.n_conditions.mean()), 2),
        **_meaning(rules, fitted[:-1].transform(part.X_test) if len(fitted) > 1 else part.X_test, part.y_test),
        parameters=json.dumps({} if rules is None else fitted[-1].best_params_),
        seconds=round(seconds, 2),
        **{name: round(value, 6) for name, value in measures.items()},
    )


def _meaning(rules: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """How short conclusions are, and whether rules mean what they say on the test part."""
    if rules is None or not TAKES_TABLES:
        return dict.fromkeys(("terms", "faithfulness", "agreement", "strongest"), float("nan"))
    found = rules.observe(X, y)
    return {
        "terms": round(float(rules.n_terms.mean()), 2),
        "faithfulness": round(found.faithfulness, 4),
        "agreement": float("nan") if rules.classes is None else round(found.agreement, 4),
        "strongest": round(found.strongest, 4),
    }


def balanced(model: Any, y: np.ndarray) -> dict[str, np.ndarray]:
    """Weights with which classes weigh the same, for the last step of a pipeline."""
    return {f"{model.steps[-1][0]}__sample_weight": compute_sample_weight("balanced", y)}


MEASURES = ("bca", "accuracy", "auc", "log_loss", "r2", "mean_absolute_error")


def of_classes(model: Any, part: Split) -> dict[str, float]:
    """Every measure, those of values NaN."""
    odds, answers = model.predict_proba(part.X_test), model.predict(part.X_test)
    scores = odds[:, 1] if odds.shape[1] == 2 else odds
    return dict.fromkeys(MEASURES, float("nan")) | {
        "bca": 100 * balanced_accuracy_score(part.y_test, answers),
        "accuracy": 100 * accuracy_score(part.y_test, answers),
        "auc": roc_auc_score(part.y_test, scores, multi_class="ovr", labels=model.classes_),
        "log_loss": log_loss(part.y_test, odds, labels=model.classes_),
    }


def of_values(model: Any, part: Split) -> dict[str, float]:
    """Every measure, those of classes NaN."""
    answers = model.predict(part.X_test)
    return dict.fromkeys(MEASURES, float("nan")) | {
        "r2": r2_score(part.y_test, answers),
        "mean_absolute_error": mean_absolute_error(part.y_test, answers),
    }


def differences(lines: pd.DataFrame, one: dict[str, str], other: dict[str, str], measure: str) -> pd.Series:
    """By how much one kind of line is above another on the same splits, by data set."""
    found = []
    for kind in (one, other):
        own = lines[(lines[list(kind)] == pd.Series(kind)).all(axis=1)]
        found.append(own.set_index(["dataset", "split"])[measure].dropna())
    return (found[0] - found[1]).dropna().groupby("dataset").mean()


def summary() -> None:
    """What is recorded, in pairs: means over sets with their standard errors, and the sets that differ most."""
    lines = pd.read_csv(PATH)
    of_paper = lines["dataset"].isin(NAMES)
    print(lines[of_paper].groupby(["model", "dataset"])["bca"].mean().groupby("model").agg(["mean", "count"]))
    lines = lines[~of_paper]
    now = {"version": sessc.__version__, "model": "ten rules"}
    pairs = {"ten rules less version 0.1.0's": ({**now, "change": "whole"}, {"version": "0.1.0"})}
    pairs |= {f"{change} less whole": ({**now, "change": change}, {"change": "whole"}) for change in CHANGES[3:]}
    for change in CHANGES[1:3]:
        for model in ("ten rules, imputed", "EBM"):
            pairs[f"{change}: ten rules less {model}"] = {**now, "change": change}, {"model": model}
    for model in ("ten rules of five", "ten rules of three"):
        pairs[f"{model} less ten rules"] = {**now, "model": model, "change": "whole"}, {"model": "ten rules"}
    pairs["default less version 0.1.0's"] = {**now, "model": "default", "change": "whole"}, {"version": "0.1.0"}
    for name, (one, changed) in pairs.items():
        for measure, digits in (("bca", 2), ("auc", 3), ("r2", 3)):
            found = differences(lines, one, one | changed, measure)
            far = found[found.abs().nlargest(3).index].round(digits).to_dict()
            error = found.std() / len(found) ** 0.5 if len(found) else float("nan")
            print(f"{name}, {measure}: {found.mean():+.3f} ± {error:.3f} over {len(found)} sets; {far}")
    own = lines[(lines["version"] == sessc.__version__) & (lines["change"] == "whole") & (lines["rules"] > 0)]
    read = ["rules", "conditions", "terms", "faithfulness", "agreement", "strongest", "seconds"]
    print(own.groupby(["model", own["bca"].isna().map({True: "values", False: "classes"})])[read].mean().round(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    everything = (*CLASSES, *VALUES)
    parser.add_argument("--datasets", nargs="+", default=everything, choices=(*everything, *NAMES), metavar="NAME")
    parser.add_argument("--changes", nargs="+", default=CHANGES, choices=CHANGES, metavar="CHANGE")
    parser.add_argument(
        "--models", nargs="+", default=("ten rules", "default"), choices=tuple(MODELS), metavar="NAME"
    )
    parser.add_argument("--splits", type=int, default=2, help="number of splits (default: 2)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--summary", action="store_true", help="print what is recorded, and compute nothing")
    options = parser.parse_args()
    if options.summary:
        return summary()
    commit()  # as it is now, whatever is checked out later
    results = Results(PATH, Line)  # type: ignore[arg-type]
    todo = [
        unit
        for split in range(options.splits)
        for model in options.models
        for change in options.changes
        for unit in ((dataset, split, change, model) for dataset in options.datasets)
        if (*unit, sessc.__version__) not in results
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        for k, future in enumerate(as_completed([pool.submit(compute, *unit) for unit in todo]), 1):
            results.add(future.result())  # type: ignore[arg-type]
            print(f"\r{k} of {len(todo)}", end="", flush=True)


if __name__ == "__main__":
    main()
