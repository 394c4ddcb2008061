"""The page "The paper, reproduced": docs/paper.md, written from the recorded results alone.

python -m experiments.page
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np

from . import claims
from .figures import read
from .protocol import METHODS, N_SPLITS
from .results import RESULTS, Results
from .statistics import average_ranks, paired
from .studies import NUMBERS_OF_RULES
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
    signed_rank_table,
)
from .variants import VARIANTS

HERE = Path(__file__).parent
ROOT = HERE.parent
SIZES = {
    "wpbc": (198, 32, 2), "wdbc": (569, 30, 2), "vehicle": (846, 18, 4), "biodeg": (1055, 41, 2),
    "drd": (1151, 19, 2), "steel": (1941, 27, 7), "segment": (2310, 19, 7), "waveform21": (5000, 21, 3),
    "satellite": (6435, 36, 6),
}  # fmt: skip
"""Samples, features and classes, ours and the paper's alike (``tests/test_experiments.py`` compares them)."""
ORDERS = ("Zero-order", "First-order")
BESIDE = "SFP, wider range"
"""A variant that has a column of its own, and all splits."""


class Evidence:
    """Everything that was recorded, and the questions the page asks of it."""

    def __init__(self, protocol: Path = RESULTS / "protocol.csv"):
        self.protocol = Results(protocol)
        self.variants = Results(RESULTS / "variants.csv")

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

    def beside(self, order: int, measure: str) -> Scores:
        """Methods the paper does not have: logistic regression, say, for both orders, and SFP's best case."""
        known, more = self.scores(0, measure), set(METHODS) - set(printed_means(0, measure)["wdbc"])
        found: Scores = {d: {m: cells[m] for m in more if m in cells} for d, cells in known.items()}
        for dataset, cells in {} if order else self.variant(BESIDE, 0, measure).items():
            kept = {s: v for s, v in cells[BESIDE].items() if s in known[dataset].get("SFP", {})}
            found[dataset][BESIDE] = kept
        return found

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
        scores = {d: evidence.beside(order, measure).get(d, {}) | cells for d, cells in scores.items()}
        more = [name for name in (*METHODS, BESIDE) if name not in paper]
        methods = [*paper, *(m for m in more if all(m in cells for cells in scores.values()))]
        ours = means(scores, methods)
        others = [method for method in methods if method != "SESSC-LSE"]
        parts += [
            f"### {ORDERS[order]} {measure}",
            comparison(ours, theirs),
            f"Ranks by {measure}, the paper's in brackets:",
            rank_table(ours, theirs),
            f"Dunn's test on {measure}, all data sets and splits pooled, corrected for the false discovery rate:",
            dunn_table(scores, printed_p_values(order, measure)),
            f"Wilcoxon's signed-rank test on the nine data sets' mean {measure}:",
            signed_rank_table(ours, theirs, "SESSC-LSE", others),
            f"SESSC-LSE's {measure} less each other method's: mean over paired splits ± its standard error, with "
            "a star where Nadeau and Bengio's test for overlapping splits has p < 0.05:",
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
                    if abs(round(mine - printed, 2)) > FAR:
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
        base = evidence.scores(order, measure)[dataset][method]
        row = [f"{ORDERS[order].lower()} {measure}", dataset, f"{printed:.2f}", f"{mine:.2f}"]
        row += [_change(base, columns[name, order, measure].get(dataset, {}).get(name, {})) for name in names]
        rows.append(row)
    short = [name.removeprefix(f"{method}, ") for name in names]
    return markdown(["", "data set", "paper", "ours", *short], rows)


def _change(base: dict[int, float], varied: dict[int, float]) -> str:
    """From a method's mean to its variant's, both on the splits that the variant has."""
    splits = sorted(set(base) & set(varied))
    if not splits:
        return ""
    before, after = (np.mean([scores[split] for split in splits]) for scores in (base, varied))
    return f"{before:.1f} → {after:.1f}<br><sub>{len(splits)} splits</sub>"


def variant_table(evidence: Evidence, method: str, order: int = 0) -> str:
    """BCA of each variant of a method less the method's own, on the same splits of each data set."""
    rows = []
    for name in VARIANTS:
        if not name.startswith(f"{method}, ") or not (scores := evidence.variant(name, order, "BCA")):
            continue
        counts = sorted({len(by_method[name]) for by_method in scores.values()})
        base = evidence.scores(order, "BCA")
        row = [name.removeprefix(f"{method}, "), "–".join(map(str, dict.fromkeys((counts[0], counts[-1]))))]
        for dataset in SIZES:
            theirs, ours = scores.get(dataset, {}).get(name, {}), base.get(dataset, {}).get(method, {})
            splits = sorted(set(theirs) & set(ours))
            if len(splits) < 2:
                row.append("")
                continue
            mean, error, _ = paired(np.asarray([theirs[s] for s in splits]), np.asarray([ours[s] for s in splits]))
            row.append(f"{mean:+.1f} ± {error:.1f}")
        rows.append(row)
    return markdown([f"{method} with", "splits", *SIZES], rows)


def defaults_table() -> str:
    """Mean BCA over data sets and splits of settings that are the same for all, best SESSC-LSE first."""
    rows = read("defaults")
    rules = list(dict.fromkeys(row["rules"] for row in rows))
    settings = list(dict.fromkeys((row["gamma"], row["eta"], row["beta"]) for row in rows))

    def score(setting: tuple, rule: str) -> float:
        own = [row for row in rows if (row["gamma"], row["eta"], row["beta"], row["rules"]) == (*setting, rule)]
        return float(np.mean([row["bca"] for row in own]))

    table = {setting: [score(setting, rule) for rule in rules] for setting in settings}
    ordered = sorted(settings, key=lambda setting: -max(table[setting][1:]))
    return markdown(
        ["gamma", "eta", "beta", "SESSC alone", *(f"SESSC-LSE, {rule}" for rule in rules[1:])],
        [
            [f"{g:g}" if isinstance(g, float) else g, f"{e:g}", f"{b:g}", *(f"{v:.1f}" for v in table[g, e, b])]
            for g, e, b in ordered
        ],
    )


class Page:
    """A text in which ``<<name: argument; argument>>`` stands for what a method here answers."""

    def filled(self, template: str) -> str:
        return re.sub(r"<<([^>]+)>>", self._answer, template)

    def _answer(self, match: re.Match[str]) -> str:
        name, _, arguments = " ".join(match[1].split()).partition(": ")
        answer = getattr(self, name.replace(" ", "_"))
        return answer(*(int(part) if part.isdigit() else part for part in arguments.split("; ") if part))

    def written(self, template: str, path: Path) -> None:
        """Fill in a template of this folder and write it into the documentation."""
        path.write_text(self.filled((HERE / template).read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


class PaperPage(Page):
    """What ``paper.md`` asks."""

    def __init__(self, evidence: Evidence):
        self.evidence = evidence

    def data_sets(self) -> str:
        return data_sets()

    def minutes(self, order: int) -> str:
        return f"{self.evidence.minutes(order):.0f}"

    def splits(self, order: int) -> str:
        return str(self.evidence.splits(order))

    def results(self, order: int) -> str:
        return results(self.evidence, order)

    def mean(self, order: int, measure: str, method: str) -> str:
        cells = means(self.evidence.scores(order, measure), [method])
        return f"{np.mean([by_method[method] for by_method in cells.values()]):.2f}"

    def printed(self, order: int, measure: str, method: str) -> str:
        return f"{np.mean([cells[method] for cells in printed_means(order, measure).values()]):.2f}"

    def same_splits(self, name: str, order: int, measure: str, dataset: str) -> str:
        """A method's own mean on the splits that a variant of it has."""
        method = name.partition(", ")[0]
        splits = self.evidence.variant(name, order, measure)[dataset][name]
        own = self.evidence.scores(order, measure)[dataset][method]
        return f"{np.mean([own[split] for split in splits if split in own]):.2f}"

    def variant_mean(self, name: str, order: int, measure: str) -> str:
        """The mean of a variant's means over the data sets."""
        scores = self.evidence.variant(name, order, measure)
        return f"{np.mean([np.mean(list(by_method[name].values())) for by_method in scores.values()]):.2f}"

    def first(self, splits: int, order: int, measure: str, method: str) -> str:
        """A method's mean over the data sets on the first splits."""
        scores = self.evidence.scores(order, measure).values()
        return f"{np.mean([[by_method[method][s] for s in range(splits)] for by_method in scores]):.2f}"

    def cell(self, order: int, measure: str, method: str, dataset: str) -> str:
        scores = list(self.evidence.scores(order, measure)[dataset][method].values())
        return f"{np.mean(scores):.2f} ± {np.std(scores, ddof=1) / np.sqrt(len(scores)):.2f}"

    def cell_printed(self, order: int, measure: str, method: str, dataset: str) -> str:
        return f"{printed_means(order, measure)[dataset][method]:.2f}"

    def variant(self, name: str, order: int, measure: str, dataset: str) -> str:
        return f"{np.mean(list(self.evidence.variant(name, order, measure)[dataset][name].values())):.2f}"

    def best(self, order: int, measure: str, method: str) -> str:
        """On how many data sets a method is the best of the paper's, and in print."""
        table = printed_means(order, measure)
        return str(claims.times_best(means(self.evidence.scores(order, measure), table["wdbc"]), method))

    def best_printed(self, order: int, measure: str, method: str) -> str:
        return str(claims.times_best(printed_means(order, measure), method))

    def rank(self, order: int, measure: str, method: str) -> str:
        """A method's rank on average over the data sets."""
        table = printed_means(order, measure)
        return f"{average_ranks(means(self.evidence.scores(order, measure), table['wdbc']))[method]:.1f}"

    def rank_printed(self, order: int, measure: str, method: str) -> str:
        return f"{average_ranks(printed_means(order, measure))[method]:.1f}"

    def dunn(self, order: int, measure: str, method: str, *others: str) -> str:
        """The range of one-sided p-values of a method against these, or against all."""
        methods = list(printed_means(order, measure)["wdbc"])
        p = claims.dunn_p(self.evidence.scores(order, measure), methods)
        return _range([p[pair] for pair in p if method in pair and (not others or set(pair) & set(others))])

    def dunn_printed(self, order: int, measure: str, method: str, *others: str) -> str:
        p = printed_p_values(order, measure)
        return _range([p[pair] for pair in p if method in pair and (not others or set(pair) & set(others))])

    def dunn_with_wider_range(self, measure: str) -> str:
        """SESSC-LSE against SFP as it is over the wider range, in place of the protocol's."""
        wide = self.evidence.variant(BESIDE, 0, measure)
        scores = {d: cells | {"SFP": wide[d][BESIDE]} for d, cells in self.evidence.scores(0, measure).items()}
        p = claims.dunn_p(scores, list(printed_means(0, measure)["wdbc"]))
        return f"{p['SESSC-LSE', 'SFP']:.4f}"

    def wilcoxon(self, order: int, measure: str, method: str, *others: str) -> str:
        """The range of p-values over data-set means."""
        table = means(self.evidence.scores(order, measure), [method, *others])
        return _range([claims.over_data_sets(table, method, other)[2] for other in others], 3)

    def range_of(self, parameter: str, method: str, splits: int, *datasets: str) -> str:
        """How far mean BCA moves with a parameter, on the first splits of each data set."""
        return " / ".join(f"{claims.moved(dataset, method, parameter, splits):.1f}" for dataset in datasets)

    def curve(self, setting: str, measure: str, n_rules: int, method: str) -> str:
        return f"{claims.curves(setting, measure.lower())[method][n_rules]:.1f}"

    def best_with(self, setting: str, measure: str, method: str) -> str:
        """With which numbers of rules a method is the best on Vehicle."""
        found = claims.best_with(setting, measure.lower(), method)
        return "none" if not found else f"{len(found)} of {len(NUMBERS_OF_RULES)}"

    def usual(self, method: str) -> str:
        """The h and lambda that a method's searches took most often on Vehicle, and in how many splits."""
        taken = Counter(
            (chosen["width_scale"], chosen["alpha"])
            for chosen in (
                json.loads(self.evidence.protocol["vehicle", split, 0, method].parameters)
                for split in range(N_SPLITS)
            )
        )
        [((h, lam), times)] = taken.most_common(1)
        return f"h = {h:g}, lambda = {lam:g} in {times} of {N_SPLITS}"

    def sooner(self, iterations: int) -> str:
        return f"{100 * claims.sooner(iterations):.0f}"

    def synthetic(self, problem: str) -> str:
        """Accuracies of SESSC and SESSC-LSE on a synthetic problem, by the number of rules."""
        found = {n: pair for (name, n), pair in claims.accuracies().items() if name == problem}
        return ", ".join(f"{alone:g} to {fitted:g} % with {n}" for n, (alone, fitted) in found.items())

    def change(self, name: str, order: int, measure: str, dataset: str) -> str:
        """A variant less its method, on the variant's splits, with the error."""
        method = name.partition(", ")[0]
        theirs = self.evidence.variant(name, order, measure)[dataset][name]
        ours = self.evidence.scores(order, measure)[dataset][method]
        splits = sorted(set(theirs) & set(ours))
        mean, error, _ = paired(np.asarray([theirs[s] for s in splits]), np.asarray([ours[s] for s in splits]))
        return f"{mean:+.1f} ± {error:.1f}"

    def n_splits(self, name: str, order: int) -> str:
        """How many splits a variant has, from the fewest of a data set to the most."""
        counts = [len(cells[name]) for cells in self.evidence.variant(name, order, "BCA").values()]
        return "–".join(map(str, sorted({min(counts), max(counts)})))

    def variant_mean_of_method(self, name: str, order: int, measure: str) -> str:
        """The mean of the method itself over the same splits of the same data sets as a variant's."""
        method, scores = name.partition(", ")[0], self.evidence.variant(name, order, measure)
        own = self.evidence.scores(order, measure)
        cells = [np.mean([own[d][method][s] for s in by_method[name]]) for d, by_method in scores.items()]
        return f"{np.mean(cells):.2f}"

    def far(self, method: str) -> str:
        return far_table(self.evidence, method)

    def variants(self, method: str, order: int = 0) -> str:
        return variant_table(self.evidence, method, order)

    def untuned(self, dataset: str, *setting: str | int) -> str:
        """Mean BCA of SESSC by itself with the same gamma, eta and beta on five splits."""
        rows = [row for row in read("defaults") if (row["dataset"], row["rules"]) == (dataset, "alone")]
        values = [
            [f"{v:g}" if isinstance(v, float) else v for v in (r["gamma"], r["eta"], r["beta"])] for r in rows
        ]
        wanted = [str(part) for part in setting]
        return f"{np.mean([row['bca'] for row, own in zip(rows, values, strict=True) if own == wanted]):.1f}"

    def again(self) -> str:
        """What came of computing recorded lines again."""
        lines = read("again")
        same, methods = sum(line["same"] == "yes" for line in lines), len({line["method"] for line in lines})
        return (
            f"Of {len(lines)} recorded lines of {methods} methods, drawn at random and computed again with "
            f"{lines[0]['by']}, {same} came back to the last digit."
        )

    def defaults(self) -> str:
        return defaults_table()


def _range(values: list[float], digits: int = 4) -> str:
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}–{high}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the tables of a quick run alone, beside its results")
    if not parser.parse_args().quick:
        PaperPage(Evidence()).written("paper.md", ROOT / "docs" / "paper.md")
        return
    evidence, path = Evidence(RESULTS / "quick.csv"), RESULTS / "quick.md"
    page = "\n\n".join(f"# {name} rules\n\n{results(evidence, order)}" for order, name in enumerate(ORDERS))
    path.write_text(page, encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
