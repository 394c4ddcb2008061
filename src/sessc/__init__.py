"""Fuzzy rule models for scikit-learn."""

from ._version import __version__
from .cluster.base import SoftSubspaceClustering
from .cluster.named import AWFCM, ESSC, EWFCM, FCM, SCAD, SESSC, SFP, KernelEWFCM
from .cluster.predictors import SESSCClassifier, SESSCRegressor, SFPClassifier
from .cluster.validity import fukuyama_sugeno, partition_coefficient, partition_entropy, xie_beni
from .report.plots import (
    AccuracySizeDisplay,
    BoundaryDisplay,
    ConditionsDisplay,
    ConvergenceDisplay,
    FiringDisplay,
    MembershipDisplay,
)
from .rows.blocks import Blocks
from .rules.base import RuleBase
from .rules.explanation import Explanation
from .rules.pipelines import rules_of
from .tables.model import Model
from .terms.losses import LogLoss, Loss, SquaredLoss
from .terms.objective import Objective
from .terms.sharing import Entropy, Linear, Power, Quadratic, Sharing, Uniform
from .tsk.estimators import TSKClassifier, TSKRegressor
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
    "ConditionsDisplay",
    "ConvergenceDisplay",
    "Entropy",
    "Explanation",
    "FiringDisplay",
    "KernelEWFCM",
    "Linear",
    "LogLoss",
    "Loss",
    "MembershipDisplay",
    "Model",
    "Objective",
    "Power",
    "Quadratic",
    "RuleBase",
    "SESSCClassifier",
    "SESSCRegressor",
    "SFPClassifier",
    "Sharing",
    "SoftSubspaceClustering",
    "SquaredLoss",
    "TSKClassifier",
    "TSKClassifierCV",
    "TSKRegressor",
    "TSKRegressorCV",
    "Uniform",
    "__version__",
    "fukuyama_sugeno",
    "partition_coefficient",
    "partition_entropy",
    "rules_of",
    "xie_beni",
]
