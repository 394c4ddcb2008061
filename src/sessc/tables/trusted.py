"""What skops may create when it reads a file of a fitted model."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from ..cluster import named, predictors
from ..cluster.base import SoftSubspaceClustering
from ..rows.blocks import Blocks
from ..rows.columns import Category, Number
from ..rows.extent import Extent
from ..rows.layout import Layout, Space
from ..rows.target import Classes, Measurements
from ..rules import links
from ..rules.base import RuleBase
from ..rules.effects import Effect, Effects
from ..rules.evidence import Evidence
from ..rules.summary import Summary
from ..solve.memory import Memory
from ..terms import losses, sharing
from ..terms.objective import Objective, Parameters, Statistics
from ..tsk.consequents import Gram
from ..tsk.estimators import Stream, TSKClassifier, TSKRegressor
from ..tsk.recipe import Names
from ..tsk.tuning import TSKClassifierCV, TSKRegressorCV

__all__ = ["trusted_types"]

FAMILIES = (named, predictors, sharing, losses, links)
"""Modules all of whose public types are estimators, terms or links."""
MODELS = (SoftSubspaceClustering, TSKClassifier, TSKClassifierCV, TSKRegressor, TSKRegressorCV)
SEEN = (Effect, Effects, Evidence, Summary)
"""What rules remember of their data."""
PARTS = (Blocks, Category, Layout, Number, Objective, Parameters, RuleBase, Space)
TO_GO_ON = (Extent, Gram, Classes, Measurements, Memory, Names, Statistics, Stream)
"""What a model needs to go on learning."""


def trusted_types() -> list[str]:
    """The types of this library that a skops file of a fitted model may hold: give them to ``skops.io.load``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import sessc
    >>> "sessc.rules.base.RuleBase" in sessc.trusted_types()
    True
    """
    families = (getattr(module, name) for module in FAMILIES for name in module.__all__)
    kinds = {
        kind for kind in (*families, *MODELS, *PARTS, *SEEN, *TO_GO_ON) if isinstance(kind, type) and _can_be(kind)
    }
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)


def _can_be(kind: type) -> bool:
    """Whether there are objects of just this type: a cost that estimators share is none of them."""
    return hasattr(kind, "fit") or not issubclass(kind, BaseEstimator)
