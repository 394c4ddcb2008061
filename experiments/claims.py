"""What the paper concludes, asked of the recorded results: how often a method is best, how sure, how stable."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .figures import gathered, read
from .statistics import adjusted, dunn, ranks, signed_rank
from .tables import Scores

__all__ = ["accuracies", "best_with", "dunn_p", "moved", "over_data_sets", "sooner", "times_best"]

Means = Mapping[str, Mapping[str, float]]


def times_best(table: Means, method: str) -> int:
    """On how many data sets a method has the highest mean of those in the table."""
    return sum(ranks(cells)[method] == 1 for cells in table.values())


def dunn_p(scores: Scores, methods: list[str], one_sided: bool = True) -> dict[tuple[str, str], float]:
    """P-values of Dunn's test for each pair, on pooled results, corrected for the false discovery rate."""
    pooled = {m: np.asarray([v for cells in scores.values() for v in cells[m].values()]) for m in methods}
    return adjusted({pair: p / (2 if one_sided else 1) for pair, p in dunn(pooled).items()})


def over_data_sets(table: Means, ours: str, theirs: str) -> tuple[float, int, float]:
    """A method's mean less another's on average, the number of data sets it wins, and Wilcoxon's p-value."""
    difference = np.asarray([cells[ours] - cells[theirs] for cells in table.values()])
    return float(difference.mean()), int(np.sum(difference > 0)), signed_rank(difference)


def curves(setting: str, measure: str) -> dict[str, dict[int, float]]:
    """Mean accuracy on Vehicle by method and number of rules."""
    rows = [row for row in read("rules") if row["setting"] == setting]
    return {
        method: {
            int(n): float(v.mean())
            for n, v in gathered([r for r in rows if r["method"] == method], "n_rules", measure).items()
        }
        for method in dict.fromkeys(row["method"] for row in rows)
    }


def best_with(setting: str, measure: str, method: str) -> list[int]:
    """The numbers of rules with which a method is the best on Vehicle."""
    table = curves(setting, measure)
    return [n for n in table[method] if ranks({m: curve[n] for m, curve in table.items()})[method] == 1]


def moved(dataset: str, method: str, parameter: str, splits: int | None = None) -> float:
    """The range of mean BCA while one parameter is moved."""
    case = (dataset, method, parameter)
    rows = [row for row in read("sensitivity") if (row["dataset"], row["method"], row["parameter"]) == case]
    scores = [v[:splits].mean() for v in gathered(rows, "value", "bca").values()]
    return float(max(scores) - min(scores))


def sooner(iterations: int) -> float:
    """The least share of all that the cost falls by, from the first iteration on, that comes with so many."""
    rows = read("convergence")
    shares = []
    for n_rules in dict.fromkeys(row["n_rules"] for row in rows):
        costs = gathered([row for row in rows if row["n_rules"] == n_rules], "iteration", "cost")
        medians = [float(np.median(v)) for v in costs.values()]
        shares.append((medians[0] - medians[iterations - 1]) / (medians[0] - medians[-1]))
    return min(shares)


def accuracies() -> dict[tuple[str, int], tuple[float, float]]:
    """Accuracy of SESSC and of SESSC-LSE on the synthetic problems, by problem and number of rules."""
    found = {(row["problem"], int(row["n_rules"]), row["method"]): row["accuracy"] for row in read("boundaries")}
    return {
        (problem, n): (found[problem, n, "SESSC"], found[problem, n, "SESSC-LSE"])
        for problem, n, method in found
        if method == "SESSC"
    }
