"""The page "Speed and memory": docs/benchmarks.md and its pictures, from the recorded measurements alone.

python -m benchmarks.page
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import matplotlib.pyplot as plt
import numpy as np
from experiments import figures  # noqa: F401  (how our figures look)
from experiments.page import Page
from experiments.results import Results
from experiments.tables import markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import answers
from .answers import Answer, Task
from .contenders import CONTENDERS, FEW, LIMIT_GIB, LIMIT_SECONDS, MANY
from .libraries import CURVES, FCMS, HEADLINE, ONLY_HEADLINE, PATH, ROOT, ROUNDS, Measurement, Size

PICTURES = ROOT / "docs" / "benchmarks"
COMPARED = [name for name in CONTENDERS if name not in ONLY_HEADLINE]
OTHERS = [name for name in COMPARED if CONTENDERS[name].package != "sessc"]
SYMBOLS = {"n": "samples N", "d": "features D", "r": "clusters R"}
# Okabe and Ito's colours, told apart by every reader; ours in the strongest.
COLORS = {
    "FCM": "#D55E00", "SESSC": "#E69F00", "KMeans": "#0072B2", "GaussianMixture": "#56B4E9",
    "scikit-fuzzy": "#000000", "fuzzy-c-means": "#009E73", "soft-clustering": "#CC79A7", "scikit-pytsk": "#999999",
}  # fmt: skip
MARKERS = dict(zip(COLORS, "oosDv^Ps", strict=True))
WHOLE_COLORS = ("#0072B2", "#D55E00", "#E69F00", "#009E73")


class Measured:
    """The recorded lines of one machine and of the newest versions: medians over rounds, ratios within them."""

    def __init__(self, results: Iterable[Measurement]):
        lines = list(results)
        self.machine = lines[-1].machine
        self.versions = {line.contender: line.version for line in lines if line.machine == self.machine}
        self.lines = [
            line for line in lines if (line.machine, line.version) == (self.machine, self.versions[line.contender])
        ]

    def rounds(self, name: str, size: Size, what: str) -> dict[int, float]:
        own = [line for line in self.lines if (line.contender, line.size) == (name, size) and not line.skipped]
        return {line.round: getattr(line, what) for line in own}

    def median(self, name: str, size: Size, what: str) -> float:
        return float(np.median(list(self.rounds(name, size, what).values()) or [np.nan]))

    def ratio(self, name: str, size: Size, to: str = "FCM", what: str = "seconds") -> float:
        """How many times as much as another, in the rounds that both have."""
        mine, other = self.rounds(name, size, what), self.rounds(to, size, what)
        return float(np.median([mine[r] / other[r] for r in mine if r in other] or [np.nan]))

    def skipped(self, name: str, size: Size) -> str:
        own = [line.skipped for line in self.lines if (line.contender, line.size) == (name, size)]
        return next(filter(None, own), "")

    @property
    def sizes(self) -> list[Size]:
        return [size for size in sorted(ROUNDS) if any(line.size == size for line in self.lines)]


class Answered:
    """Recorded times to an answer on the newest machine: medians over rounds, ratios within them."""

    def __init__(self, results: Iterable[Answer]):
        lines = list(results)
        self.lines = [line for line in lines if line.machine == lines[-1].machine]

    def tasks(self, kind: str) -> list[Task]:
        return [task for task in answers.TASKS if task.kind == kind and self._seconds(task, None)]

    def _seconds(self, task: Task, contender: str | None) -> dict[int, float]:
        """By round; of any contender if none is named."""
        own = [line for line in self.lines if line.task == task]
        return {line.round: line.seconds for line in own if contender in (None, line.contender)}

    def median(self, task: Task, contender: str) -> float:
        return float(np.median(list(self._seconds(task, contender).values()) or [np.nan]))

    def ratio(self, task: Task, contender: str, to: str) -> float:
        mine, other = self._seconds(task, contender), self._seconds(task, to)
        return float(np.median([mine[r] / other[r] for r in mine if r in other] or [np.nan]))


class BenchmarkPage(Page):
    """What ``benchmarks.md`` asks."""

    def __init__(self, measured: Measured, answered: Answered):
        self.measured, self.answered = measured, answered

    def commits(self) -> str:
        return ", ".join(sorted({line.commit for line in self.answered.lines}))

    def answer_load(self) -> str:
        return f"{np.median([line.load for line in self.answered.lines]):.1f}"

    def answer_rounds(self) -> str:
        n = 1 + max(line.round for line in self.answered.lines)
        return "one round" if n == 1 else f"{n} rounds"

    def answers(self, kind: str) -> str:
        """Seconds of whole fits."""
        names = list(answers.CONTENDERS[kind])
        rows = []
        for task in self.answered.tasks(kind):
            cells = (number(self.answered.median(task, name), "{:.2f}") for name in names)
            rows.append([task.data.replace("_", " "), f"{task.n:,}", *cells])
        return markdown(["", "rows", *names], rows)

    def times(self, contender: str, to: str, data: str, rows: int) -> str:
        """How many times as long one takes as another."""
        [task] = [one for one in answers.TASKS if (one.data, one.n) == (data, rows)]
        return number(self.answered.ratio(task, contender, to), "{:.1f}")

    def times_on_small(self) -> str:
        """The same of the search and the grid, the geometric mean over the sets of scikit-learn."""
        small = [one for one in self.answered.tasks("search") if one.data != "table"]
        ratios = [self.answered.ratio(one, "default search", "SVM grid") for one in small]
        return f"{np.exp(np.mean(np.log(ratios))):.1f}"

    def machine(self) -> str:
        return self.measured.machine

    def dates(self) -> str:
        days = sorted({line.date for line in self.measured.lines})
        return " to ".join(dict.fromkeys((days[0], days[-1])))

    def versions(self) -> str:
        numpy = {CONTENDERS[line.contender].package: line.numpy for line in self.measured.lines if line.numpy}
        versions = {CONTENDERS[name].package: number for name, number in self.measured.versions.items()}
        return ", ".join(f"{package} {versions[package]} (NumPy {numpy[package]})" for package in numpy)

    def load(self) -> str:
        return f"{np.median([line.load for line in self.measured.lines]):.1f}"

    def rounds(self) -> str:
        known = {len(self.measured.rounds("FCM", size, "seconds")) for size in self.measured.sizes}
        return " to ".join(str(number) for number in dict.fromkeys((min(known), max(known))))

    def iterations(self) -> str:
        return f"{MANY} iterations less {FEW}, over {MANY - FEW}"

    def limits(self) -> str:
        return f"{LIMIT_SECONDS} s for {MANY} iterations, or more than {LIMIT_GIB} GiB"

    def ratio(self, name: str, to: str) -> str:
        return number(self.measured.ratio(name, HEADLINE, to), "{:.2f}")

    def peak(self, name: str, n: int) -> str:
        return number(self.measured.median(name, Size(n, HEADLINE.d, HEADLINE.r), "mebibytes"), "{:.0f} MiB")

    def headline(self) -> str:
        """Everything measured at one size."""
        rows = []
        for name in COMPARED:
            seconds, memory = (self.measured.median(name, HEADLINE, what) for what in ("seconds", "mebibytes"))
            worse = self.measured.ratio(name, HEADLINE, what="objective") - 1
            cells = [number(1e3 * seconds, "{:.0f}"), number(self.measured.ratio(name, HEADLINE), "{:.2f}")]
            rows.append([name, *cells, number(memory, "{:.0f}"), number(worse, "{:+.0e}")])
        return markdown(["", "ms", "times FCM's", "peak, MiB", "objective less FCM's, relative"], rows)

    def ratios(self) -> str:
        return self._by_size(lambda name, size: number(self.measured.ratio(name, size), "{:.2f}"))

    def memory(self) -> str:
        return self._by_size(lambda name, size: number(self.measured.median(name, size, "mebibytes"), "{:.0f}"))

    def _by_size(self, cell: Callable[[str, Size], str]) -> str:
        rows = [
            [f"{size.n:,}", str(size.d), str(size.r), *(cell(name, size) for name in COMPARED)]
            for size in self.measured.sizes
        ]
        return markdown(["N", "D", "R", *COMPARED], rows)

    def left_out(self) -> str:
        found = [
            f"* {name}, N = {size.n:,}, D = {size.d}, R = {size.r}: {reason}."
            for size in self.measured.sizes
            for name in COMPARED
            if (reason := self.measured.skipped(name, size))
        ]
        return "\n".join(found) or "Nobody was left out."

    def losses(self) -> str:
        """Where another is faster, or needs less memory, than our FCM."""
        return "\n".join(
            [
                self._loss("seconds", "faster", [name for name in OTHERS if name in FCMS], "No other FCM is"),
                self._loss("seconds", "faster", [name for name in OTHERS if name not in FCMS], "Nothing else is"),
                self._loss("mebibytes", "smaller in memory", OTHERS, "Nothing is"),
            ]
        )

    def _loss(self, what: str, how: str, names: list[str], none: str) -> str:
        found = []
        for name in names:
            ratios = {size: self.measured.ratio("FCM", size, name, what) for size in self.measured.sizes}
            lost = [ratio for ratio in ratios.values() if ratio > 1]
            if lost:
                often = f"at {len(lost)} of {np.isfinite(list(ratios.values())).sum()} sizes"
                found.append(f"* {name} is {how} than our FCM {often}, up to {max(lost):.2f} times.")
        return "\n".join(found) or f"* {none} {how} than our FCM at any size."


def number(value: float, form: str) -> str:
    return "–" if np.isnan(value) else form.format(value)


def growth(measured: Measured) -> Figure:
    """Time of an iteration against N, D and R."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), sharey=True, width_ratios=(1.5, 1, 1))
    for axis, letter in zip(axes, CURVES, strict=True):
        draw(axis, measured, letter, "seconds", 1e3)
    fixed = "D = 36, R = 30", "N = 50,000, R = 30", "N = 50,000, D = 36"
    for axis, title in zip(axes, fixed, strict=True):
        axis.set_title(title)
    axes[0].set_ylabel("one iteration on one core, ms")
    name_lines(axes[2], measured, "r", "seconds", 1e3)
    return figure


def memory(measured: Measured) -> Figure:
    """Peak memory beyond the data against N."""
    figure, axis = plt.subplots(figsize=(6.5, 4.2))
    draw(axis, measured, "n", "mebibytes")
    axis.set_ylabel("peak memory beyond the data, MiB")
    name_lines(axis, measured, "n", "mebibytes")
    return figure


def draw(axis: Axes, measured: Measured, letter: str, what: str, unit: float = 1.0) -> None:
    ticks = [getattr(size, letter) for size in CURVES[letter]]
    drawn: list[np.ndarray] = []
    for name in COMPARED:
        values = np.asarray([unit * measured.median(name, size, what) for size in CURVES[letter]])
        bold = CONTENDERS[name].package == "sessc"
        beneath = sum(_hides(values, other) for other in drawn)
        # On top of another, a line is dashed and its markers are larger and hollow, so that both are seen.
        look = {"ms": 4 + 4 * beneath, "mfc": "none" if beneath else COLORS[name], "marker": MARKERS[name]}
        look |= {"lw": 2.2 if bold else 1.2, "zorder": 3 if bold else 2, "ls": (0, (5, 5)) if beneath else "-"}
        axis.plot(ticks, values, color=COLORS[name], **look)
        drawn.append(values)
    axis.set(xscale="log", yscale="log", xlabel=SYMBOLS[letter])
    axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axis.set_xticks([], minor=True)
    axis.yaxis.set_major_formatter("{x:,g}")


def _hides(line: np.ndarray, other: np.ndarray) -> bool:
    """Whether a line would lie on another wherever both are known."""
    apart = np.abs(np.log(line / other))[1:]
    return bool(np.nanmax(apart, initial=-np.inf) < 0.05) and not np.all(np.isnan(apart))


def name_lines(axis: Axes, measured: Measured, letter: str, what: str, unit: float = 1.0) -> None:
    """A name and a marker at the end of each line, moved up where two would overlap."""
    ends = {}
    for name in COMPARED:
        known = [measured.median(name, size, what) for size in CURVES[letter]]
        if not np.all(np.isnan(known)):
            ends[name] = unit * np.asarray(known)[~np.isnan(known)][-1]
    low, high = np.log(axis.get_ylim())
    beside = axis.get_yaxis_transform()
    last = -np.inf
    for name, value in sorted(ends.items(), key=lambda item: item[1]):
        last = max(np.log(value), last + 0.05 * (high - low))
        place = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 8}
        axis.plot(1.03, np.exp(last), MARKERS[name], ms=4, color=COLORS[name], transform=beside, clip_on=False)
        axis.annotate(name, (1.05, np.exp(last)), color=COLORS[name], annotation_clip=False, **place)


FIGURES = {"growth": growth, "memory": memory}


def whole(answered: Answered) -> Figure:
    """Time of searches and of clusterings against the number of rows."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2))
    titles = {"search": "a search, 25 features", "clusters": "30 clusters, 36 features"}
    for axis, (kind, title) in zip(axes, titles.items(), strict=True):
        tasks = [task for task in answered.tasks(kind) if task.data in ("table", "clouds")]
        for name, color in zip(
            answers.CONTENDERS[kind], ("#0072B2", "#D55E00", "#009E73", "#999999"), strict=True
        ):
            seconds = np.asarray([answered.median(task, name) for task in tasks])
            if not np.all(np.isnan(seconds)):
                axis.plot([task.n for task in tasks], seconds, color=color, marker="o", label=name)
        axis.set(xscale="log", yscale="log", xlabel="rows", ylabel="whole fit on one core, s", title=title)
        axis.xaxis.set_major_formatter("{x:,g}")
        axis.yaxis.set_major_formatter("{x:,g}")
        axis.legend(frameon=False)
    return figure


def main() -> None:
    measured, answered = Measured(Results(PATH, Measurement)), Answered(Results(answers.PATH, Answer))
    PICTURES.mkdir(exist_ok=True)
    for name, figure in FIGURES.items():
        figure(measured).savefig(PICTURES / f"{name}.png", metadata={"Software": None})
    whole(answered).savefig(PICTURES / "whole.png", metadata={"Software": None})
    template = (ROOT / "benchmarks" / "benchmarks.md").read_text(encoding="utf-8")
    page = ROOT / "docs" / "benchmarks.md"
    page.write_text(BenchmarkPage(measured, answered).filled(template), encoding="utf-8")
    print(f"wrote {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
