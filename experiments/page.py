"""The page "The paper, reproduced": docs/paper.md, written from the recorded results alone.

python -m experiments.page
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .protocol import METHODS, N_SPLITS
from .results import Results
from .statistics import paired
from .tables import (
    FAR,
    Scores,
    collect,
    comparison,
    dunn_table,
    markdown,
    means,
    paired_table,
    printed_means,
    printed_p_values,
    rank_table,
)
from .variants import VARIANTS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
SIZES = {
    "wpbc": (198, 32, 2), "wdbc": (569, 30, 2), "vehicle": (846, 18, 4), "biodeg": (1055, 41, 2),
    "drd": (1151, 19, 2), "steel": (1941, 27, 7), "segment": (2310, 19, 7), "waveform21": (5000, 21, 3),
    "satellite": (6435, 36, 6),
}  # fmt: skip
"""Samples, features and classes, ours and the paper's alike (``tests/test_experiments.py`` compares them)."""
ORDERS = ("Zero-order", "First-order")
HOURS = (3, 6)
"""What each order's protocol may take on two cores."""


class Evidence:
    """Everything that was recorded, and the questions the page asks of it."""

    def __init__(self, folder: Path = RESULTS):
        self.protocol = Results(folder / "protocol.csv")
        self.variants = Results(folder / "variants.csv")

    def scores(self, order: int, measure: str) -> Scores:
        return collect(self.protocol, order, measure)

    def variant(self, name: str, order: int, measure: str) -> Scores:
        """A variant's scores, under the name of the data set it is compared on."""
        scores: Scores = {}
        for result in self.variants:
            if (result.method, result.order) == (name, order):
                dataset = result.dataset.removesuffix("_with_time")
                by_split = scores.setdefault(dataset, {}).setdefault(name, {})
                by_split[result.split] = getattr(result, measure.lower())
        return scores

    def splits(self, order: int) -> int:
        """Splits that are complete for every data set and method."""
        names = [name for name, method in METHODS.items() if order in method.orders]
        return next(
            split
            for split in range(N_SPLITS + 1)
            if not all((dataset, split, order, name) in self.protocol for dataset in SIZES for name in names)
        )

    def minutes(self, order: int) -> float:
        """Time of the whole protocol on two cores, from what each unit took."""
        return sum(result.seconds for result in self.protocol if result.order == order) / 60 / 2


def data_sets() -> str:
    rows = [[name, *(f"{number:,}" for number in SIZES[name])] for name in SIZES]
    return markdown(["data set", "samples", "features", "classes"], rows)


def results(evidence: Evidence, order: int) -> str:
    """The tables of one order."""
    parts = []
    for measure in ("RCA", "BCA"):
        scores, theirs = evidence.scores(order, measure), printed_means(order, measure)
        paper = list(next(iter(theirs.values())))
        scores = {d: cells for d, cells in scores.items() if all(m in cells for m in paper)}
        if len(scores) < len(SIZES):
            return f"The {ORDERS[order].lower()} protocol has not been run on every data set yet."
        linear = {d: {"LR": cells["LR"]} for d, cells in evidence.scores(0, measure).items() if "LR" in cells}
        scores = {d: linear.get(d, {}) | cells for d, cells in scores.items()}
        ours = means(scores, [*paper, "LR"])
        others = [method for method in (*paper, "LR") if method != "SESSC-LSE"]
        parts += [
            f"### {ORDERS[order]} {measure}",
            comparison(ours, theirs),
            f"Average ranks over the nine data sets, by {measure}:",
            rank_table(ours, theirs),
            f"Dunn's test on {measure}, all data sets and splits pooled, corrected for the false discovery rate:",
            dunn_table(scores, printed_p_values(order, measure)),
            f"SESSC-LSE's {measure} less each other method's: mean over paired splits ± its standard error, starred "
            "where Wilcoxon's signed-rank test has p < 0.05:",
            paired_table(scores, "SESSC-LSE", others),
        ]
    return "\n\n".join(parts)


def far_cells(evidence: Evidence) -> list[tuple[int, str, str, str, float, float]]:
    """(order, measure, method, dataset, ours, paper's) of every cell that needs an explanation."""
    found = []
    for order in (0, 1):
        for measure in ("RCA", "BCA"):
            theirs = printed_means(order, measure)
            methods = list(next(iter(theirs.values())))
            for method in methods:
                ours = means(evidence.scores(order, measure), [method])
                for dataset in ours:
                    mine, printed = ours[dataset][method], theirs[dataset][method]
                    if abs(mine - printed) > FAR:
                        found.append((order, measure, method, dataset, mine, printed))
    return found


def far_table(evidence: Evidence, method: str) -> str:
    """Every far cell of a method, beside what its variants give there on their own splits."""
    cells = [cell for cell in far_cells(evidence) if cell[2] == method]
    names = [name for name in VARIANTS if name.startswith(f"{method}, ")]
    columns = {
        (name, order, measure): evidence.variant(name, order, measure)
        for name in names
        for order, measure in {(cell[0], cell[1]) for cell in cells}
    }
    names = [
        name
        for name in names
        if any(dataset in columns[name, order, measure] for order, measure, _, dataset, _, _ in cells)
    ]
    rows = []
    for order, measure, _, dataset, mine, printed in cells:
        row = [f"{ORDERS[order].lower()} {measure}", dataset, f"{printed:.2f}", f"{mine:.2f}"]
        for name in names:
            by_split = columns[name, order, measure].get(dataset, {}).get(name)
            row.append(f"{np.mean(list(by_split.values())):.2f}" if by_split else "")
        rows.append(row)
    short = [name.removeprefix(f"{method}, ") for name in names]
    return markdown(["", "data set", "paper", "ours", *short], rows)


def variant_table(evidence: Evidence, method: str, order: int = 0) -> str:
    """BCA of each variant of a method less the method's own, on the same splits of each data set."""
    rows = []
    for name in VARIANTS:
        if not name.startswith(f"{method}, ") or not (scores := evidence.variant(name, order, "BCA")):
            continue
        base = evidence.scores(order, "BCA")
        row = [name.removeprefix(f"{method}, ")]
        for dataset in SIZES:
            theirs, ours = scores.get(dataset, {}).get(name, {}), base.get(dataset, {}).get(method, {})
            splits = sorted(set(theirs) & set(ours))
            if len(splits) < 2:
                row.append("")
                continue
            mean, error, _ = paired(np.asarray([theirs[s] for s in splits]), np.asarray([ours[s] for s in splits]))
            row.append(f"{mean:+.1f} ± {error:.1f}")
        rows.append(row)
    return markdown([f"{method} with", *SIZES], rows)
