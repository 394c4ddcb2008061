"""Clusters as predictors: they vote with their outputs, by membership."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from .._array import Array, array_namespace
from .._progress import with_callbacks
from ..rows.base import Rows
from ..rows.clean import refuse_classes
from ..rows.read import read_rows
from ..rows.target import Classes, Measurements, Target, class_of
from ..terms.losses import Loss, SquaredLoss
from ..terms.objective import Expansion, Objective
from .base import COMMON, SoftSubspace, votes
from .documentation import documented
from .named import SESSCCost, SFPCost, SupervisedSESSCCost
from .ranges import check_parameters

__all__ = ["SESSCClassifier", "SESSCRegressor", "SFPClassifier"]


class Predictor(SoftSubspace):
    """Fitting to labels, which must be there."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters that agree with the labels.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Classes, as numbers or text; for a regressor real targets.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_parameters(self)
        target, rows = self._learn_target(read_rows(self, X, y, sample_weight, reset=True, supervised=True))
        self._fit(rows, target)
        return self


class ClassifierByClusters(ClassifierMixin, Predictor):
    """What makes it a classifier."""

    def _learn_target(self, rows: Rows, classes: Any = None) -> tuple[Target, Rows]:
        return Classes.several(rows, classes)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class: the outputs of the clusters, weighted by membership."""
        return self._each_row(self._read(X), partial(_probabilities, self.rule_outputs_))

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        return self._each_row(self._read(X), partial(_classes, self.rule_outputs_, self.classes_))


def _probabilities(outputs: Array, objective: Objective, coefficients: Array, columns: Expansion) -> Array:
    said = votes(outputs, objective, coefficients, columns)
    said /= array_namespace(said).sum(said, axis=1, keepdims=True)
    return said


def _classes(outputs: Array, classes: np.ndarray, *seen: Any) -> Array:
    return class_of(votes(outputs, *seen), classes)


@documented(**COMMON)
class SFPClassifier(ClassifierByClusters, SFPCost):
    r"""Supervised fuzzy partition as a classifier: clusters vote with their outputs, by membership.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    gamma : float, default=0.11
        Entropy of the memberships: large is fuzzier.
    alpha : float, default=1.22
        Weight of the label term.
    lam : float or "auto", default="auto"
        Entropy of the feature weights, as ``gamma`` of :class:`EWFCM`.
    loss : {"log", "squared"}, default="log"
        Label term.
    {parameters}

    Attributes
    ----------
    lam_ : float
        The entropy of the feature weights used.
    classes_ : array of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.
    {attributes}
    {supervised}

    See Also
    --------
    SFP : The clustering, with its cost and reference.
    """


@documented(**COMMON)
class SESSCClassifier(ClassifierByClusters, SupervisedSESSCCost):
    r"""SESSC as a classifier: clusters vote with their outputs, by membership.

    For a new sample, memberships come from the cost without its label term, and

    .. math:: \hat y = \sum_r u_r z_r.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index; see :class:`FCM`.
    gamma : float or "auto", default="auto"
        Entropy of the feature weights; see :class:`EWFCM`.
    eta : float, default=0.1
        Reward for separation, in [0, 1).
    beta : float, default=1.0
        Weight of the label term; with 0 the clusters are those of :class:`ESSC`.
    loss : {"log", "squared"}, default="log"
        Label term: :math:`-\sum_c y_c \ln z_c`, or :math:`\|y - z\|^2`.
    {parameters}

    Attributes
    ----------
    m_, gamma_ : float
        The fuzzy index and the entropy of the feature weights used.
    classes_ : array of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.
    {attributes}
    {supervised}

    See Also
    --------
    SESSC : The clustering, with its cost.
    TSKClassifier : Rules from the same clusters, with outputs fitted by least squares.

    References
    ----------
    Y. Cui, H. Wang and D. Wu, "Supervised Enhanced Soft Subspace Clustering (SESSC) for TSK Fuzzy
    Classifiers".
    """


@documented(**COMMON)
class SESSCRegressor(RegressorMixin, Predictor, SESSCCost):
    r"""SESSC with the squared loss as a regressor: clusters vote with their outputs, by membership.

    Targets are standardised inside, so that ``beta`` means the same whatever their units.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index; see :class:`FCM`.
    gamma : float or "auto", default="auto"
        Entropy of the feature weights; see :class:`EWFCM`.
    eta : float, default=0.1
        Reward for separation, in [0, 1).
    beta : float, default=1.0
        Weight of the label term; with 0 the clusters are those of :class:`ESSC`.
    {parameters}

    Attributes
    ----------
    m_, gamma_ : float
        The fuzzy index and the entropy of the feature weights used.
    {attributes}
    {supervised}

    See Also
    --------
    SESSC : The clustering, with its cost.
    """

    def _loss(self) -> Loss | None:
        return SquaredLoss(self.beta)

    def _learn_target(self, rows: Rows, classes: Any = None) -> tuple[Target, Rows]:
        refuse_classes(classes)
        return Measurements.of(rows, standardize=True)

    def predict(self, X: Any) -> Any:
        """The outputs of the clusters, weighted by membership."""
        return self._each_row(self._read(X), partial(votes, self.rule_outputs_))[:, 0]
