"""Fuzzy rule models for scikit-learn."""

from .blocks import Blocks
from .cluster import (
    AWFCM,
    ESSC,
    EWFCM,
    FCM,
    SCAD,
    SESSC,
    SFP,
    KernelEWFCM,
    SESSCClassifier,
    SESSCRegressor,
    SFPClassifier,
)
from .explain import Explanation
from .losses import LogLoss, Loss, SquaredLoss
from .model import Model
from .objective import Objective
from .pipelines import rules_of
from .report.plots import (
    AccuracySizeDisplay,
    BoundaryDisplay,
    ConditionsDisplay,
    ConvergenceDisplay,
    FiringDisplay,
    MembershipDisplay,
)
from .rules import RuleBase
from .simplex import Entropy, Linear, Power, Quadratic, Sharing, Uniform
from .soft_subspace import SoftSubspaceClustering
from .tsk import TSKClassifier, TSKRegressor
from .tuning import TSKClassifierCV, TSKRegressorCV
from .validity import fukuyama_sugeno, partition_coefficient, partition_entropy, xie_beni

__version__ = "0.1.0"

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
    "fukuyama_sugeno",
    "partition_coefficient",
    "partition_entropy",
    "rules_of",
    "xie_beni",
]
