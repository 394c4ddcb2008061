"""The paper's tables beside ours, as Markdown, built from the recorded results alone."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from sessc.datasets import NAMES

from .results import Result
from .statistics import adjusted, average_ranks, dunn, paired, ranks, signed_rank, unordered

__all__ = [
    "collect",
    "comparison",
    "dunn_table",
    "paired_table",
    "printed_means",
    "printed_p_values",
    "rank_table",
    "signed_rank_table",
]

HERE = Path(__file__).parent
FAR = 2.0
"""Points of difference from the paper that need an explanation."""
Scores = dict[str, dict[str, dict[int, float]]]
"""dataset -> method -> split -> score."""


def collect(results: Iterable[Result], order: int, measure: str) -> Scores:
    """Scores of one order and measure, in the order of the paper's data sets."""
    scores: Scores = {name: {} for name in NAMES}
    for result in results:
        if result.order == order and result.dataset in scores:
            scores[result.dataset].setdefault(result.method, {})[result.split] = getattr(result, measure.lower())
    return {dataset: methods for dataset, methods in scores.items() if methods}


def means(scores: Scores, methods: Iterable[str]) -> dict[str, dict[str, float]]:
    """Mean over splits of each cell, for the data sets where every method has a result."""
    methods = list(methods)
    return {
        dataset: {method: float(np.mean(list(by_method[method].values()))) for method in methods}
        for dataset, by_method in scores.items()
        if all(method in by_method for method in methods)
    }


def printed_means(order: int, measure: str) -> dict[str, dict[str, float]]:
    """The paper's own table of means, without its row of averages."""
    table: dict[str, dict[str, float]] = {}
    with (HERE / "paper" / "tables.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["statistic"], row["order"], row["measure"]) == ("mean", str(order), measure):
                table.setdefault(row["dataset"], {})[row["method"]] = float(row["value"])
    table.pop("average")
    return table


def printed_p_values(order: int, measure: str) -> dict[tuple[str, str], float]:
    """The paper's own table of Dunn p-values."""
    with (HERE / "paper" / "pvalues.csv").open(newline="") as file:
        return {
            (row["method_a"], row["method_b"]): float(row["p_value"])
            for row in csv.DictReader(file)
            if (row["order"], row["measure"]) == (str(order), measure)
        }


def comparison(ours: Mapping[str, Mapping[str, float]], theirs: Mapping[str, Mapping[str, float]]) -> str:
    """Each cell as ours, below it the paper's and the difference, and averages over the data sets."""
    methods = list(next(iter(ours.values())))
    rows = [[dataset, *(_beside(ours, theirs, [dataset], method) for method in methods)] for dataset in ours]
    rows.append(["**average**", *(_beside(ours, theirs, list(ours), method) for method in methods)])
    return markdown(["data set", *methods], rows)


def _beside(ours: Mapping, theirs: Mapping, datasets: list[str], method: str) -> str:
    mine = float(np.mean([ours[dataset][method] for dataset in datasets]))
    if method not in theirs[datasets[0]]:
        return f"{mine:.2f}"
    printed = float(np.mean([theirs[dataset][method] for dataset in datasets]))
    difference = round(mine - printed, 2) + 0.0  # no "-0.00"
    mark = "**" if abs(difference) > FAR else ""
    return f"{mine:.2f}<br><sub>{printed:.2f} {mark}({difference:+.2f}){mark}</sub>"


def rank_table(ours: Mapping[str, Mapping[str, float]], theirs: Mapping[str, Mapping[str, float]]) -> str:
    """Ranks of the paper's methods, the paper's in brackets, and their averages."""
    methods = list(next(iter(theirs.values())))
    kept = {dataset: {method: cells[method] for method in methods} for dataset, cells in ours.items()}
    rows = [
        [dataset, *(f"{ranks(kept[dataset])[m]} ({ranks(theirs[dataset])[m]})" for m in methods)]
        for dataset in kept
    ]
    mine, printed = average_ranks(kept), average_ranks(theirs)
    rows.append(["**average**", *(f"{mine[m]:.1f} ({printed[m]:.1f})" for m in methods)])
    return markdown(["rank", *methods], rows)


def dunn_table(scores: Scores, printed: Mapping[tuple[str, str], float]) -> str:
    """Dunn's test on results pooled over data sets and splits: two-sided, one-sided, and beside the paper's."""
    methods = list(dict.fromkeys(name for pair in printed for name in reversed(pair)))
    scores = {dataset: cells for dataset, cells in scores.items() if all(method in cells for method in methods)}
    pooled = {
        method: np.asarray([v for by_method in scores.values() for v in by_method[method].values()])
        for method in methods
    }
    two_sided = dunn(pooled)
    one_sided = {pair: value / 2 for pair, value in two_sided.items()}
    two, one, plain = adjusted(two_sided), adjusted(one_sided), unordered(one_sided)
    rows = []
    for (a, b), p in printed.items():
        pair = (a, b) if (a, b) in two else (b, a)
        values = (two[pair], one[pair], plain[pair], p)
        rows.append([f"{a} against {b}", *(f"{value:.4f}" for value in values), f"{plain[pair] - p:+.4f}"])
    return markdown(["pair", "two-sided", "one-sided", "one-sided, p m / rank", "paper", "difference"], rows)


def paired_table(scores: Scores, ours: str, others: Iterable[str]) -> str:
    """Mean difference over splits between one method and each other, data set by data set."""
    others = list(others)
    rows = []
    for dataset, by_method in scores.items():
        cells = []
        for other in others:
            splits = sorted(set(by_method[ours]) & set(by_method[other]))
            mean, error, p = paired(
                np.asarray([by_method[ours][s] for s in splits]), np.asarray([by_method[other][s] for s in splits])
            )
            cells.append(f"{mean:+.2f} ± {error:.2f}{' *' if p < 0.05 else ''}")
        rows.append([dataset, *cells])
    return markdown(["data set", *(f"against {other}" for other in others)], rows)


def signed_rank_table(ours: Mapping, theirs: Mapping, method: str, others: Iterable[str]) -> str:
    """Wilcoxon's test over the means of data sets: one method against each other, ours beside the paper's."""

    def cells(table: Mapping, other: str) -> list[str]:
        if other not in next(iter(table.values())):
            return [""] * 3
        difference = np.asarray([row[method] - row[other] for row in table.values()])
        wins = f"{np.sum(difference > 0)} of {len(difference)}"
        return [f"{difference.mean():+.2f}", wins, f"{signed_rank(difference):.3f}"]

    rows = [[f"{method} against {other}", *cells(ours, other), *cells(theirs, other)] for other in others]
    header = ["pair", "difference", "better on", "p", "paper's difference", "better on", "p"]
    return markdown(header, rows)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    line = "| " + " | ".join(header) + " |"
    rule = "|" + "---|" * len(header)
    return "\n".join([line, rule, *("| " + " | ".join(row) + " |" for row in rows)])
