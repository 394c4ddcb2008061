"""The named algorithms: each is a name, a documented cost, and one row of the table in ``docs/objective.md``."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..rows.extent import Extent
from ..terms.adaptive import AdaptiveObjective
from ..terms.kernel import KernelObjective
from ..terms.losses import LogLoss, Loss, SquaredLoss
from ..terms.objective import Objective
from ..terms.sharing import Entropy, Linear, Power, Quadratic, Sharing
from .base import COMMON, ETA, Clusterer, SoftSubspace, breadth, evenness, fuzziness
from .documentation import documented
from .ranges import NOT_NEGATIVE, POSITIVE, Range, one_of, or_auto

__all__ = [
    "AWFCM",
    "ESSC",
    "EWFCM",
    "FCM",
    "SCAD",
    "SESSC",
    "SFP",
    "KernelEWFCM",
    "SESSCCost",
    "SFPCost",
    "SupervisedSESSCCost",
]

_FUZZY_INDEX = or_auto(Range(Real, lambda v: 1 < v < np.inf, "a number above 1"))
_EXPONENT = Range(Real, lambda v: 1 <= v < np.inf, "a number of 1 or more")
_LOSS = one_of("log", "squared")
_LOSSES = {"log": LogLoss, "squared": SquaredLoss}


@documented(**COMMON)
class FCM(Clusterer):
    r"""Fuzzy c-means.

    Every sample belongs to every cluster by a degree:

    .. math:: J = \sum_{n,r} u_{nr}^m \|x_n - v_r\|^2.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index, above 1; nearer to 1 is crisper. "auto" is the paper's choice,
        :math:`k/(k-2)` with :math:`k = \min(N, D-1)` if that exceeds 2, else 2; the number used is ``m_``.
    {parameters}

    Attributes
    ----------
    m_ : float
        The fuzzy index used.
    {attributes}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most; not after a fit to ``Blocks`` or a Dask collection.

    References
    ----------
    J. C. Bezdek, R. Ehrlich and W. Full, "FCM: The fuzzy c-means clustering algorithm", Computers &
    Geosciences 10 (1984).

    Examples
    --------
    >>> from sessc import FCM
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 8.0], [9.0, 9.0]]
    >>> FCM(n_clusters=2, random_state=0).fit(X).transform(X).round(2)
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """

    _ranges = Clusterer._ranges | {"m": _FUZZY_INDEX}
    _automatic = {"m": fuzziness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m

    def make_objective(self) -> Objective:
        return Objective(membership=Power(self.m_))


@documented(**COMMON)
class AWFCM(Clusterer):
    r"""Attribute weighting fuzzy c-means.

    Each cluster measures distance with its own feature weights, which sum to one:

    .. math:: J = \sum_{n,r} u_{nr}^m \sum_d w_{rd}^t (x_{nd} - v_{rd})^2.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index; see :class:`FCM`.
    t : float, default=2.0
        Exponent of the feature weights. ``t=1`` is the cost as the SESSC paper prints it, where all
        weight goes to the one feature with the least scatter.
    {parameters}

    Attributes
    ----------
    m_ : float
        The fuzzy index used.
    {attributes}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most; not after a fit to ``Blocks`` or a Dask collection.

    References
    ----------
    A. Keller and F. Klawonn, "Fuzzy clustering with weighting of data variables", International Journal
    of Uncertainty, Fuzziness and Knowledge-Based Systems 8 (2000).
    """

    _ranges = Clusterer._ranges | {"m": _FUZZY_INDEX, "t": _EXPONENT}
    _automatic = {"m": fuzziness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        t: float = 2.0,
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m
        self.t = t

    def make_objective(self) -> Objective:
        return Objective(membership=Power(self.m_), weighting=_power_or_linear(self.t))


@documented(**COMMON)
class SCAD(Clusterer):
    r"""Simultaneous clustering and attribute discrimination.

    With ``penalty="power"`` the cost is

    .. math:: J = \sum_{n,r} u_{nr}^m \sum_d w_{rd}^t (x_{nd} - v_{rd})^2,

    and with ``penalty="l2"`` weights count as they are and are kept from extremes by their squares, which
    leaves costly features with exactly no weight:

    .. math:: J = \sum_{n,r} u_{nr}^m \sum_d w_{rd} (x_{nd} - v_{rd})^2 + \delta \sum_{r,d} w_{rd}^2.

    Its authors let the strength follow each cluster, so that the penalty stays in proportion to what the cluster's
    samples cost: ``penalty="adaptive"``. The penalty then changes on the way, and ``objective_history_`` may rise.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index; see :class:`FCM`.
    penalty : {"power", "l2", "adaptive"}, default="power"
        How feature weights are kept from going all to one feature.
    t : float, default=2.0
        Exponent of the feature weights with ``penalty="power"``.
    delta : float, default=10.0
        Strength of ``penalty="l2"``. It competes with a sum over samples: twice the rows want twice the
        value. With ``penalty="adaptive"``, the penalty of a cluster over the cost of its samples, whatever their
        number; there 0.1 picks few features and 10 treats all alike.
    {parameters}

    Attributes
    ----------
    m_ : float
        The fuzzy index used.
    {attributes}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most; not after a fit to ``Blocks`` or a Dask collection.

    References
    ----------
    H. Frigui and O. Nasraoui, "Unsupervised learning of prototypes and attribute weights", Pattern
    Recognition 37 (2004).
    """

    _ranges = Clusterer._ranges | {
        "m": _FUZZY_INDEX,
        "t": _EXPONENT,
        "penalty": one_of("power", "l2", "adaptive"),
        "delta": POSITIVE,
    }
    _automatic = {"m": fuzziness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        penalty: str = "power",
        t: float = 2.0,
        delta: float = 10.0,
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m
        self.penalty = penalty
        self.t = t
        self.delta = delta

    def make_objective(self) -> Objective:
        weighting = _power_or_linear(self.t) if self.penalty == "power" else Quadratic(self.delta)
        kind = AdaptiveObjective if self.penalty == "adaptive" else Objective
        return kind(membership=Power(self.m_), weighting=weighting)


@documented(**COMMON)
class EWFCM(Clusterer):
    r"""Entropy weighting fuzzy c-means.

    .. math::
        J = \sum_{n,r} u_{nr}^m \sum_d w_{rd} (x_{nd} - v_{rd})^2 + \gamma \sum_{r,d} w_{rd} \ln w_{rd}.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index; see :class:`FCM`.
    gamma : float or "auto", default="auto"
        Entropy of the feature weights: small picks few features, large treats all alike. It competes with
        a sum of squared distances over samples, so twice the rows want twice the value. "auto" is a tenth of
        the total scatter of an average feature, N / 10 for z-scores.
    {parameters}

    Attributes
    ----------
    m_, gamma_ : float
        The fuzzy index and the entropy of the feature weights used.
    {attributes}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most; not after a fit to ``Blocks`` or a Dask collection.

    References
    ----------
    J. Zhou, L. Chen, C. L. P. Chen, Y. Zhang and H.-X. Li, "Fuzzy clustering with the entropy of attribute
    weights", Neurocomputing 198 (2016).
    """

    _ranges = Clusterer._ranges | {"m": _FUZZY_INDEX, "gamma": or_auto(POSITIVE)}
    _automatic = {"m": fuzziness, "gamma": evenness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        gamma: Any = "auto",
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m
        self.gamma = gamma

    def make_objective(self) -> Objective:
        return Objective(membership=Power(self.m_), weighting=Entropy(self.gamma_))


@documented(**COMMON)
class KernelEWFCM(Clusterer):
    r"""Entropy weighting fuzzy c-means through a kernel, feature by feature.

    .. math::
        J = \sum_{n,r} u_{nr}^m \sum_d 2 w_{rd} \left(1 - e^{-(x_{nd} - v_{rd})^2 / s^2}\right)
            + \gamma \sum_{r,d} w_{rd} \ln w_{rd}.

    A distance along a feature ends at 2, so samples far away pull a centre no more. As the width s grows this
    becomes :class:`EWFCM` with :math:`\gamma s^2 / 2`.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters R.
    m : float or "auto", default="auto"
        Fuzzy index; see :class:`FCM`.
    gamma : float or "auto", default="auto"
        Entropy of the feature weights; see :class:`EWFCM`. "auto" is what it is there, times :math:`2 / s^2`.
    width : float or "auto", default="auto"
        Width s of the kernel, in units of the data. "auto" is twice the standard deviation of an average feature.
    {parameters}

    Attributes
    ----------
    m_, gamma_, width_ : float
        The fuzzy index, the entropy of the feature weights and the width used.
    {attributes}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most; not after a fit to ``Blocks`` or a Dask collection.

    References
    ----------
    J. Zhou, L. Chen, C. L. P. Chen, Y. Zhang and H.-X. Li, "Fuzzy clustering with the entropy of attribute
    weights", Neurocomputing 198 (2016).

    Examples
    --------
    A row far away does not move the centres:

    >>> from sessc import KernelEWFCM
    >>> X = [[0.0], [1.0], [8.0], [9.0], [1000.0]]
    >>> model = KernelEWFCM(n_clusters=2, width=3.0, init=[[0.0], [9.0]]).fit(X)
    >>> model.cluster_centers_.round(1).tolist()
    [[0.5], [8.5]]
    """

    _ranges = EWFCM._ranges | {"width": or_auto(POSITIVE)}
    _automatic = EWFCM._automatic | {"width": breadth}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        gamma: Any = "auto",
        width: Any = "auto",
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m
        self.gamma = gamma
        self.width = width

    def _settle(self, extent: Extent) -> None:
        super()._settle(extent)
        if self.gamma == "auto":
            self.gamma_ *= 2 / self.width_**2

    def make_objective(self) -> Objective:
        return KernelObjective(Power(self.m_), Entropy(self.gamma_), width=self.width_)


@documented(**COMMON)
class ESSC(Clusterer):
    r"""Enhanced soft subspace clustering.

    Clusters are compact in their own weighting of the features and far from the centre of the data:

    .. math::
        J = \sum_{n,r} u_{nr}^m \left( \|x_n - v_r\|_{w_r}^2 - \eta \|v_r - v_0\|_{w_r}^2 \right)
            + \gamma \sum_{r,d} w_{rd} \ln w_{rd}.

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
    {parameters}

    Attributes
    ----------
    m_, gamma_ : float
        The fuzzy index and the entropy of the feature weights used.
    {attributes}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most; not after a fit to ``Blocks`` or a Dask collection.

    References
    ----------
    Z. Deng, K.-S. Choi, F.-L. Chung and S. Wang, "Enhanced soft subspace clustering integrating
    within-cluster and between-cluster information", Pattern Recognition 43 (2010).
    """

    _ranges = Clusterer._ranges | {"m": _FUZZY_INDEX, "gamma": or_auto(POSITIVE), "eta": ETA}
    _automatic = {"m": fuzziness, "gamma": evenness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        gamma: Any = "auto",
        eta: float = 0.1,
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m
        self.gamma = gamma
        self.eta = eta

    def make_objective(self) -> Objective:
        return Objective(membership=Power(self.m_), weighting=Entropy(self.gamma_), eta=self.eta)


class SFPCost(SoftSubspace):
    """Parameters and cost of SFP, for whatever is made of its clusters."""

    _ranges = SoftSubspace._ranges | {
        "gamma": POSITIVE,
        "alpha": NOT_NEGATIVE,
        "lam": or_auto(POSITIVE),
        "loss": _LOSS,
    }
    _automatic = {"lam": evenness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        gamma: float = 0.11,
        alpha: float = 1.22,
        lam: Any = "auto",
        loss: str = "log",
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.gamma = gamma
        self.alpha = alpha
        self.lam = lam
        self.loss = loss

    def _loss(self) -> Loss | None:
        return _LOSSES[self.loss](self.alpha)

    def make_objective(self) -> Objective:
        return Objective(membership=Entropy(self.gamma), weighting=Entropy(self.lam_), loss=self._loss())


@documented(**COMMON)
class SFP(Clusterer, SFPCost):
    r"""Supervised fuzzy partition.

    Memberships are kept fuzzy by their entropy, and clusters are asked to agree with the labels:

    .. math::
        J = \sum_{n,r} u_{nr} \left( \|x_n - v_r\|_{w_r}^2 + \alpha\, \ell(y_n, z_r) \right)
            + \gamma \sum_{n,r} u_{nr} \ln u_{nr} + \lambda \sum_{r,d} w_{rd} \ln w_{rd}.

    The SESSC paper searches :math:`\gamma' = 1/(1+\gamma)` and likewise for the others; the defaults are
    its :math:`\gamma'=0.9, \alpha'=0.45`.

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
    {attributes}
    {supervised}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most, labels left out; not after a fit to ``Blocks`` or a
        Dask collection.

    References
    ----------
    P. Ashtari, F. N. Haredasht and H. Beigy, "Supervised fuzzy partitioning", Pattern Recognition 97 (2020).
    """


class SESSCCost(SoftSubspace):
    """Parameters and cost of SESSC, for whatever is made of its clusters; a subclass says which label loss."""

    _ranges = SoftSubspace._ranges | {
        "m": _FUZZY_INDEX,
        "gamma": or_auto(POSITIVE),
        "eta": ETA,
        "beta": NOT_NEGATIVE,
    }
    _automatic = {"m": fuzziness, "gamma": evenness}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        gamma: Any = "auto",
        eta: float = 0.1,
        beta: float = 1.0,
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters, init, n_init, max_iter, tol, random_state, n_jobs, warm_start, categorical_features
        )
        self.m = m
        self.gamma = gamma
        self.eta = eta
        self.beta = beta

    def make_objective(self) -> Objective:
        return Objective(
            membership=Power(self.m_), weighting=Entropy(self.gamma_), eta=self.eta, loss=self._loss()
        )


class SupervisedSESSCCost(SESSCCost):
    """The same, with either loss."""

    _ranges = SESSCCost._ranges | {"loss": _LOSS}

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: Any = "auto",
        gamma: Any = "auto",
        eta: float = 0.1,
        beta: float = 1.0,
        loss: str = "log",
        init: Any = "k-means",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        super().__init__(
            n_clusters,
            m=m,
            gamma=gamma,
            eta=eta,
            beta=beta,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            categorical_features=categorical_features,
        )
        self.loss = loss

    def _loss(self) -> Loss | None:
        return _LOSSES[self.loss](self.beta)


@documented(**COMMON)
class SESSC(Clusterer, SupervisedSESSCCost):
    r"""Supervised enhanced soft subspace clustering.

    Clusters are compact in their own weighting of the features, far from the centre of the data, and of
    one mind about the label:

    .. math::
        J = \sum_{n,r} u_{nr}^m \left( \|x_n - v_r\|_{w_r}^2 - \eta \|v_r - v_0\|_{w_r}^2
            + \beta\, \ell(y_n, z_r) \right) + \gamma \sum_{r,d} w_{rd} \ln w_{rd}.

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
        Weight of the label term; with 0, or without labels, this is :class:`ESSC`.
    loss : {"log", "squared"}, default="log"
        Label term: :math:`-\sum_c y_c \ln z_c`, or :math:`\|y - z\|^2`, which also takes real targets.
        Targets that are all whole numbers count as classes; :class:`SESSCRegressor` takes any number for real.
    {parameters}

    Attributes
    ----------
    m_, gamma_ : float
        The fuzzy index and the entropy of the feature weights used.
    {attributes}
    {supervised}
    labels_ : array of shape (n_samples,)
        The cluster each training row belongs to most, labels left out; not after a fit to ``Blocks`` or a
        Dask collection.

    References
    ----------
    Y. Cui, H. Wang and D. Wu, "Supervised Enhanced Soft Subspace Clustering (SESSC) for TSK Fuzzy
    Classifiers".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sessc import SESSC
    >>> X, y = load_iris(return_X_y=True)
    >>> SESSC(n_clusters=3, random_state=0).fit(X, y).rule_outputs_.round(2)
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]])
    """


def _power_or_linear(t: float) -> Sharing:
    return Power(t) if t > 1 else Linear()
