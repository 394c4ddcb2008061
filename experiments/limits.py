"""The page "When not to use it": docs/when-not.md, from what is recorded of accuracy and of time.

python -m experiments.limits
"""

from __future__ import annotations

import numpy as np
from benchmarks import answers

from .comparison import PATH, Compared
from .page import ROOT
from .refined import Comparison, RefinedPage
from .results import Results

__all__ = ["LimitsPage", "recorded"]

DEFAULT = "default"


class LimitsPage(RefinedPage):
    """What ``limits.md`` asks."""

    def __init__(self, comparison: Comparison, times: list[answers.Answer]):
        super().__init__(comparison)
        self.times = times

    def ahead(self, other: str, dataset: str) -> str:
        """How many points of BCA another model is ahead of the default on a data set."""
        return f"{-self.comparison.difference(DEFAULT, other)[dataset].mean():.1f}"

    def ties(self, other: str) -> str:
        """How many data sets have the default ahead by less than half a point, or behind."""
        found = self.comparison.difference(DEFAULT, other)
        return str(sum(values.mean() < 0.5 for values in found.values()))

    def seconds(self, contender: str, rows: int) -> str:
        """Of the processor, for a whole fit of the table made for it; the median of what was recorded."""
        found = [t.seconds for t in self.times if (t.contender, t.data, t.n) == (contender, "table", rows)]
        return f"{np.median(found):.1f}" if np.median(found) < 10 else f"{np.median(found):.0f}"


def recorded() -> LimitsPage:
    return LimitsPage(Comparison(Results(PATH, Compared)), list(Results(answers.PATH, answers.Answer)))


if __name__ == "__main__":
    recorded().written("limits.md", ROOT / "docs" / "when-not.md")
