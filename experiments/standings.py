"""The page "The scoreboard": docs/scoreboard.md and its pictures, from the recorded lines alone.

python -m experiments.standings
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from sessc.datasets import NAMES

from .contenders import CONTENDERS, OURS
from .development import CLASSES, VALUES
from .leads import FEW, KINDS, MEASURES, SCORES, Lead, Standings, critical_difference, number, recorded, typical
from .page import ROOT, Page
from .podium import pictures
from .scoreboard import LATER, OF_CLASSES, OF_VALUES, OWN, SPLITS
from .tables import markdown

OUT = ROOT / "docs" / "scoreboard"
NOTHING = "no set that all have yet"


def listed(names: Iterable[str], none: str = "none") -> str:
    """Names with commas and an "and"."""
    names = list(names)
    return ", ".join(filter(None, [", ".join(names[:-2]), " and ".join(names[-2:])])) or none


def form(value: float, digits: int, sign: str = "") -> str:
    return "" if math.isnan(value) else f"{value:{sign},.{digits}f}"


def told(lead: Lead | None, digits: int) -> str:
    """A difference, its error over sets, and how many sets were won and lost."""
    if lead is None:
        return ""
    error = "" if math.isnan(lead.error) else f" ± {lead.error:.{digits}f}"
    counts = f"{lead.wins} won, {lead.losses} lost of {lead.sets}"
    return f"{form(lead.mean, digits, '+')}{error}<br><sub>{counts}</sub>"


def amount(leads: list[Lead | None]) -> str:
    """On how many splits of each set differences stand."""
    known = [lead for lead in leads if lead is not None]
    low, high = min(one.splits[0] for one in known), max(one.splits[1] for one in known)
    return f"{low}" if low == high else f"{low} to {high}"


class ScoreboardPage(Page):
    """What ``scoreboard.md`` asks."""

    def __init__(self, standings: Standings):
        self.standings = standings

    def n_sets(self, kind: str) -> str:
        return str(len(KINDS[kind]))

    def names(self, which: str) -> str:
        """Sets by where they come from."""
        return ", ".join({"classes": CLASSES, "values": VALUES, "paper": NAMES, "own": OWN}[which])

    def splits(self, which: str) -> str:
        """The splits that are meant to be reported, those of the paper's sets, and those that lines are of."""
        numbers = {"meant": SPLITS, "paper": [LATER + n for n in SPLITS], "recorded": self.standings.splits}[which]
        return listed(map(str, numbers))

    def few(self) -> str:
        return str(FEW)

    def n_lines(self) -> str:
        return f"{len(self.standings.lines):,}"

    def of_common(self, kind: str) -> str:
        """What means and ranks are over."""
        shared = self.standings.common(kind)
        if not shared:
            return NOTHING
        counts = [len(splits) for splits in shared.values()]
        each = str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        return f"{len(shared)} sets, {each} split{'' if each == '1' else 's'} of each"

    def unranked(self, kind: str) -> str:
        """Who has too few sets to stand in means and ranks."""
        sets = {model: len(self.standings.cells(model, SCORES[kind])) for model in CONTENDERS}
        few = [model for model, n in sets.items() if n and model not in self.standings.ranked(kind)]
        none = [model for model, n in sets.items() if not n]
        return f"{listed(f'{m} ({sets[m]} of them)' for m in few)}; with no line at all: {listed(none)}"

    def means(self, kind: str) -> str:
        """Every measure of who is ranked, best first."""
        if not self.standings.common(kind):
            return NOTHING
        ranks = self.standings.ranks(kind)
        names = [name for name, measure in MEASURES.items() if measure.kind == kind]
        rows = []
        for model in sorted(ranks, key=lambda model: ranks[model]):
            values = [self.standings.means(model, name, kind) for name in names]
            cells = [form(float(v.mean()), MEASURES[n].digits) for n, v in zip(names, values, strict=True)]
            rows.append([bold(model), form(ranks[model], 1), *cells])
        return markdown(["model", "mean rank", *(MEASURES[name].title for name in names)], rows)

    def middle(self, kind: str) -> str:
        """The score of the middle set, which a single bad set does not move."""
        if not self.standings.common(kind):
            return NOTHING
        score = SCORES[kind]
        values = {m: np.median(self.standings.means(m, score, kind)) for m in self.standings.ranked(kind)}
        ordered = sorted(values, key=lambda model: -values[model])
        return listed(f"{model} {values[model]:.{MEASURES[score].digits}f}" for model in ordered)

    def friedman(self, kind: str) -> str:
        """Whether ranks differ at all, and how far apart they must be."""
        if not self.standings.common(kind):
            return NOTHING
        table = self.standings.table(kind)
        if table.shape[1] < 3:
            return "too few models to be tested"
        p = stats.friedmanchisquare(*table.T).pvalue
        width = critical_difference(table.shape[1], len(table))
        said = f"p = {p:.2g}" if p >= 1e-6 else "p below one in a million"
        return f"that all are alike has {said}, and {width:.2f} ranks tell two of them apart"

    def level(self, kind: str) -> str:
        """Who is not told apart from the best."""
        if not self.standings.common(kind):
            return NOTHING
        ranks = self.standings.ranks(kind)
        width = critical_difference(len(ranks), len(self.standings.common(kind)))
        best = min(ranks, key=lambda model: ranks[model])
        near = [m for m in sorted(ranks, key=lambda m: ranks[m]) if m != best and ranks[m] - ranks[best] <= width]
        return f"The best mean rank is {ranks[best]:.1f}, of {best}; not told apart from it: {listed(near)}"

    def in_short(self) -> str:
        """Ours less every other, the three measures that matter most."""
        return "\n\n".join(self.less(ours, "bca", "auc", "r2") for ours in OURS if ours in self.standings.models)

    def others(self, ours: str) -> str:
        """Ours less every other, the measures that are not in the summary."""
        return self.less(ours, "accuracy", "log_loss", "calibration", "relative_error")

    def less(self, ours: str, *measures: str) -> str:
        rows = []
        for other in self.standings.models:
            leads = [self.standings.lead(ours, other, measure) for measure in measures]
            if other == ours or not any(leads):
                continue
            cells = [told(lead, MEASURES[m].digits) for lead, m in zip(leads, measures, strict=True)]
            rows.append([bold(other), *cells, amount(leads)])
        if not rows:
            return f"There is no line to set beside one of {ours} yet."
        return markdown([f"{ours} less", *(MEASURES[m].title for m in measures), "splits of a set"], rows)

    def verdict(self, ours: str) -> str:
        """Who is ahead, who is behind, and who is neither, in one sentence for each measure."""
        said = [self._sentence(ours, measure) for measure in ("bca", "auc", "r2")]
        return " ".join(filter(None, said)) or "It has no line yet."

    def _sentence(self, ours: str, measure: str) -> str:
        others = [model for model in self.standings.models if model not in OURS]
        leads = {model: self.standings.lead(ours, model, measure) for model in others}
        known = {model: lead for model, lead in leads.items() if lead is not None}
        title, digits, *_ = MEASURES[measure]
        parts: dict[str, list[str]] = {"behind": [], "ahead of": [], "undecided beside": []}
        for model, lead in sorted(known.items(), key=lambda item: item[1].mean):
            where = ("behind" if lead.mean < 0 else "ahead of") if lead.is_far else "undecided beside"
            parts[where].append(f"{model} ({form(lead.mean, digits, '+')})")
        said = "; ".join(f"{where} {listed(models, 'nobody')}" for where, models in parts.items())
        return f"{title}: {said}." if known else ""

    def losses(self, ours: str) -> str:
        """A sentence for each set where another is ahead by more than two standard errors over splits."""
        sets = {d: len(by) for m in SCORES.values() for d, by in self.standings.cells(ours, m).items()}
        known = [dataset for dataset, n in sets.items() if n > 1]
        if not known:
            return "Nothing can be said of single sets: none has two splits, and so there is no error over splits."
        found = {dataset: self.standings.lost(ours, dataset) for dataset in known}
        lines = [f"* {self._loss(ours, dataset, ahead)}" for dataset, ahead in found.items() if ahead]
        rest = len(sets) - len(known)
        single = f" Nothing can be said of {rest} more, which have one split." if rest else ""
        counted = f"On {len(lines)} of {len(known)} sets another model is ahead.{single}"
        return "\n".join([counted, "", *lines]) if lines else counted

    def farthest(self, ours: str, *counts: int) -> str:
        """Where the best of the others is ahead by most, sure or not."""
        said = []
        for kind, most in zip(KINDS, counts or (8, 4), strict=True):
            behind = sorted(self._behind(ours, SCORES[kind]).items(), key=lambda item: -item[1][1])[:most]
            title, digits, *_ = MEASURES[SCORES[kind]]
            names = [f"{d} ({other} by {gap:.{digits}f})" for d, (other, gap) in behind if gap > 0]
            said.append(f"in {title} {listed(names)}")
        return f"Farthest behind the best of others, sure or not: {'; '.join(said)}."

    def _behind(self, ours: str, measure: str) -> dict[str, tuple[str, float]]:
        """The best of the others on each set that it shares with ours, and by how much."""
        found: dict[str, tuple[str, float]] = {}
        for other in (model for model in self.standings.models if model not in OURS):
            for dataset, values in self.standings.difference(other, ours, measure).items():
                if dataset not in found or values.mean() > found[dataset][1]:
                    found[dataset] = other, float(values.mean())
        return found

    def _loss(self, ours: str, dataset: str, ahead: list[tuple[str, float, float, int]]) -> str:
        measure = SCORES["values" if dataset in OF_VALUES else "classes"]
        digits = MEASURES[measure].digits
        own = np.mean(list(self.standings.cells(ours, measure)[dataset].values()))
        by = listed(f"{other} by {mean:.{digits}f} ± {error:.{digits}f}" for other, mean, error, _ in ahead)
        n = {count for *_, count in ahead}
        counts = " to ".join(map(str, sorted({min(n), max(n)})))
        return f"**{dataset}** ({MEASURES[measure].title} {own:.{digits}f}, {counts} splits): ahead are {by}."

    def reading(self, kind: str) -> str:
        """What of each model there is to read, and what a fit takes."""
        if not self.standings.common(kind):
            return NOTHING
        rows = []
        for model in self.standings.ranked(kind):
            parts = [self.standings.means(model, part, kind) for part in ("rules", "conditions", "terms", "read")]
            times = [self.standings.means(model, part, kind) for part in ("seconds", "predict_seconds")]
            middle = [form(float(np.median(v)), 0) for v in parts]
            rows.append([bold(model), *middle, form(typical(times[0]), 1), form(1000 * typical(times[1]), 1)])
        head = ["model", "rules", "conditions", "coefficients", "together", "fit, s", "predict, ms"]
        return markdown(head, rows)

    def every_set(self, kind: str) -> str:
        """The score of every model on every set, over its own splits, the best of each set in bold."""
        score = SCORES[kind]
        models = [model for model in self.standings.models if self.standings.cells(model, score)]
        rows = []
        for dataset in KINDS[kind]:
            found = {m: self.standings.cells(m, score).get(dataset) for m in models}
            means = {m: float(np.mean(list(by.values()))) for m, by in found.items() if by}
            if not means:
                continue
            digits, best = MEASURES[score].digits - 1, max(means.values())
            texts = {m: f"{v:.{digits}f}" for m, v in means.items()}
            texts |= {m: f"**{texts[m]}**" for m, v in means.items() if texts[m] == f"{best:.{digits}f}"}
            rows.append([dataset, *(texts.get(m, "") for m in models)])
        return markdown(["set", *models], rows)

    def failures(self) -> str:
        """What models failed on, with their own words."""
        failed = [line for line in self.standings.lines.values() if line.failure]
        by_reason: dict[tuple[str, str], list[str]] = {}
        for line in sorted(failed, key=lambda one: (list(CONTENDERS).index(one.model), one.dataset, one.split)):
            by_reason.setdefault((line.model, line.failure), []).append(f"{line.dataset} {number(line)}")
        if not failed:
            return "No recorded unit failed."
        rows = [[m, ", ".join(units), reason.replace("|", "\\|")] for (m, reason), units in by_reason.items()]
        return markdown(["model", "set and split", "what it said"], rows)

    def missing(self) -> str:
        """Units without a line on the splits that any model has."""
        every = (*OF_CLASSES, *OF_VALUES)
        known = {(line.model, line.dataset, number(line)) for line in self.standings.lines.values()}
        rows = []
        for model in CONTENDERS:
            gone = {d: tuple(s for s in self.standings.splits if (model, d, s) not in known) for d in every}
            by_splits: dict[tuple[int, ...], list[str]] = {}
            for dataset, splits in gone.items():
                by_splits.setdefault(splits, []).append(dataset)
            said = [_absent(s, sets, every) for s, sets in sorted(by_splits.items()) if s]
            n = sum(map(len, gone.values()))
            rows += [[model, str(n), "; ".join(said)]] if n else []
        return markdown(["model", "units", "sets: splits"], rows) if rows else "No unit is without a line."

    def machines(self) -> str:
        """Whether seconds may stand side by side."""
        found = sorted({line.machine for line in self.standings.lines.values() if not line.failure})
        if len(found) == 1:
            return f"All lines are of one kind of machine ({found[0]})."
        return f"Lines are of {len(found)} kinds of machine ({'; '.join(found)}), and the last table says which."

    def provenance(self) -> str:
        """Which code and which machines lines are of."""
        found = Counter((one.model, one.version, one.commit, one.machine) for one in self.standings.lines.values())
        ordered = sorted(found, key=lambda key: (list(CONTENDERS).index(key[0]), key[1:]))
        rows = [
            [model, version, f"`{commit}`", machine, str(found[model, version, commit, machine])]
            for model, version, commit, machine in ordered
        ]
        return markdown(["model", "library", "commit of these experiments", "machine", "lines"], rows)


def _absent(splits: tuple[int, ...], sets: list[str], every: tuple[str, ...]) -> str:
    names = "all" if len(sets) == len(every) else ", ".join(sets)
    if 0 < len(rest := [name for name in every if name not in sets]) <= len(every) / 3:
        names = f"all but {', '.join(rest)}"
    return f"{names}: {', '.join(map(str, splits))}"


def bold(model: str) -> str:
    """Ours in bold."""
    return f"**{model}**" if model in OURS else model


def main() -> None:
    standings = recorded()
    OUT.mkdir(parents=True, exist_ok=True)
    for name, figure in pictures(standings):
        figure.savefig(OUT / f"{name}.png", metadata={"Software": None})
        plt.close(figure)
    ScoreboardPage(standings).written("scoreboard.md", ROOT / "docs" / "scoreboard.md")


if __name__ == "__main__":
    main()
