"""Fuzzy rule models for scikit-learn. What is exported here is public, and documented; everything else is not."""

from . import datasets
from ._version import __version__
from .cluster.base import SoftSubspaceClustering
from .cluster.named import AWFCM, ESSC, EWFCM, FCM, SCAD, SESSC, SFP, KernelEWFCM
from .cluster.predictors import SESSCClassifier, SESSCRegressor, SFPClassifier
from .cluster.validity import fukuyama_sugeno, partition_coefficient, partition_entropy, xie_beni
from .report.evaluation import EvaluationDisplay
from .report.plots import (
    BoundaryDisplay,
    ConditionsDisplay,
    ConvergenceDisplay,
    FiringDisplay,
    MembershipDisplay,
)
from .report.whole import CoefficientsDisplay, EffectsDisplay, ImportancesDisplay, OverlapDisplay
from .rows.blocks import Blocks
from .rows.columns import Category, Number
from .rules.base import RuleBase
from .rules.effects import Effect, Effects
from .rules.evaluation import Comparison, Evaluation, evaluate
from .rules.evidence import Evidence
from .rules.explanation import Change, Explanation
from .rules.links import Identity, Link, Proportions, Softmax
from .rules.pipelines import rules_of
from .rules.summary import Summary
from .tables.model import Model
from .tables.trusted import trusted_types
from .terms.losses import LogLoss, Loss, SquaredLoss
from .terms.objective import Objective
from .terms.sharing import Entropy, Linear, Power, Quadratic, Sharing, Uniform
from .tsk.estimators import TSKClassifier, TSKRegressor
from .tsk.lengths import AccuracySizeDisplay
from .tsk.recipe import UselessModelWarning
from .tsk.tuning import TSKClassifierCV, TSKRegressorCV

__all__ = [
    "AWFCM",
    "ESSC",
    "EWFCM",
    "FCM",
    "SCAD",
    "SESSC",
    "SFP",
    "AccuracySizeDisplay",
    "Blocks",
    "BoundaryDisplay",
    "Category",
    "Change",
    "CoefficientsDisplay",
    "Comparison",
    "ConditionsDisplay",
    "ConvergenceDisplay",
    "Effect",
    "Effects",
    "EffectsDisplay",
    "Entropy",
    "Evaluation",
    "EvaluationDisplay",
    "Evidence",
    "Explanation",
    "FiringDisplay",
    "Identity",
    "ImportancesDisplay",
    "KernelEWFCM",
    "Linear",
    "Link",
    "LogLoss",
    "Loss",
    "MembershipDisplay",
    "Model",
    "Number",
    "Objective",
    "OverlapDisplay",
    "Power",
    "Proportions",
    "Quadratic",
    "RuleBase",
    "SESSCClassifier",
    "SESSCRegressor",
    "SFPClassifier",
    "Sharing",
    "SoftSubspaceClustering",
    "Softmax",
    "SquaredLoss",
    "Summary",
    "TSKClassifier",
    "TSKClassifierCV",
    "TSKRegressor",
    "TSKRegressorCV",
    "Uniform",
    "UselessModelWarning",
    "__version__",
    "datasets",
    "evaluate",
    "fukuyama_sugeno",
    "partition_coefficient",
    "partition_entropy",
    "rules_of",
    "trusted_types",
    "xie_beni",
]
