"""The contenders of the benchmarks, and how one of them is measured in a process of its own.

    python -m benchmarks.contenders FCM folder 30 1    # the data's folder, clusters, seconds to repeat for

A contender is a function of samples, labels and starting centres to a function that runs a number of iterations,
never fewer because of convergence, and returns the centres. This module runs under the interpreter of whichever
environment has the contender's package, so beyond the standard library and NumPy it imports only inside functions.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FEW, MANY = 2, 7
"""An iteration is MANY iterations less FEW, so free of what is done once; scikit-pytsk does no fewer than two."""
LIMIT_SECONDS, LIMIT_GIB = 120, 8
"""For MANY iterations, and for the process; a contender that needs more is left out."""

Run = Callable[[int], Any]


def fcm(X: np.ndarray, y: np.ndarray, start: np.ndarray, n_jobs: int | None = None) -> Run:
    from sessc import FCM

    return partial(ours, lambda n: FCM(len(start), m=2.0, init=start, max_iter=n, tol=0.0, n_jobs=n_jobs).fit(X))


def sessc(X: np.ndarray, y: np.ndarray, start: np.ndarray, n_jobs: int | None = None) -> Run:
    from sessc import SESSC

    return partial(ours, lambda n: SESSC(len(start), init=start, max_iter=n, tol=0.0, n_jobs=n_jobs).fit(X, y))


def ours(fit: Callable[[int], Any], n: int) -> np.ndarray:
    model = fit(n)
    return exactly(n, model.n_iter_, model.cluster_centers_)


def products(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    """The bare matrix products of a SESSC iteration over its own blocks: squares, costs, sums back; nothing else.

    In the faster of two arrangements.
    """
    from sessc._runtime import at_work, keep_freed_memory
    from sessc.rows.base import BLOCK_ELEMENTS

    step = BLOCK_ELEMENTS // (2 * X.shape[1] + 32)
    Y, blocks = np.eye(y.max() + 1)[y], [slice(i, i + step) for i in range(0, len(X), step)]
    M = np.random.default_rng(1).random((len(start), 1 + 2 * X.shape[1] + Y.shape[1]))
    passes = [partial(arrangement, X, Y, blocks, M) for arrangement in (products_apart, products_together)]

    def run(one: Callable[[], None], n: int) -> None:
        with at_work:
            keep_freed_memory()
            for _ in range(n):
                one()

    fastest = min(passes, key=lambda one: min(clocked(run, one, 1)[0] for _ in range(3)))
    return partial(run, fastest)


def products_apart(X: np.ndarray, Y: np.ndarray, blocks: list[slice], M: np.ndarray) -> None:
    A, B, L = np.split(M[:, 1:], [X.shape[1], 2 * X.shape[1]], axis=1)
    sums = [np.zeros_like(A), np.zeros_like(B), np.zeros_like(L)]
    for part in blocks:
        x, y = X[part], Y[part]
        squares = x * x
        cost = A @ squares.T
        cost += B @ x.T
        cost += L @ y.T
        for total, columns in zip(sums, (squares, x, y), strict=True):
            total += cost @ columns


def products_together(X: np.ndarray, Y: np.ndarray, blocks: list[slice], M: np.ndarray) -> None:
    sums = np.zeros_like(M)
    for part in blocks:
        x = X[part]
        columns = np.concatenate([np.ones((len(x), 1)), x, x * x, Y[part]], axis=1)
        sums += (M @ columns.T) @ columns


def k_means(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    from sklearn.cluster import KMeans

    def run(n: int) -> np.ndarray:
        model = KMeans(len(start), init=start, n_init=1, max_iter=n, tol=0.0, algorithm="lloyd").fit(X)
        return exactly(n, model.n_iter_, model.cluster_centers_)

    return run


def mixture(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    first = {
        "means_init": start,
        "precisions_init": np.ones_like(start),
        "weights_init": np.full(len(start), 1 / len(start)),
        "init_params": "random_from_data",  # the cheapest; what is given above replaces it
    }

    def run(n: int) -> np.ndarray:
        model = GaussianMixture(len(start), covariance_type="diag", max_iter=n, tol=0.0, random_state=0, **first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return exactly(n, model.fit(X).n_iter_, model.means_)

    return run


def scikit_fuzzy(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    from skfuzzy.cluster import cmeans

    U = memberships(X, start)

    def run(n: int) -> np.ndarray:
        centers, *_, done, _ = cmeans(X.T, len(start), 2.0, error=0.0, maxiter=n, init=U)
        return exactly(n, done, centers)

    return run


def fuzzy_c_means(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    from fcmeans import FCM

    class Started(FCM):  # it takes no starting centres, so its seeding hands out ours
        def _seed_centers(self, X: np.ndarray) -> np.ndarray:
            return start

    def run(n: int) -> np.ndarray:
        model = Started(n_clusters=len(start), m=2.0, max_iter=n, error=1e-9, init="k-means++")
        model.fit(X)
        return model.centers

    return run


def soft_clustering(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    from soft_clustering import _fcm

    _fcm._init_centers_kpp = lambda X, K, rng: start  # it takes no starting centres either

    def run(n: int) -> np.ndarray:
        model = _fcm.FuzzyCMeans(m=2.0, max_iter=n, tol=0.0)
        model.fit_predict(X, len(start))
        return exactly(n, len(model.objective_trajectory_), model.centers_)

    return run


def scikit_pytsk(X: np.ndarray, y: np.ndarray, start: np.ndarray) -> Run:
    from pytsk.cluster import FuzzyCMeans

    class Unlike(np.ndarray):
        def __eq__(self, other: object) -> bool:  # it asks `if init == "random"`, which NumPy >= 1.25 refuses
            return False

    U = memberships(X, start).view(Unlike)

    def run(n: int) -> np.ndarray:
        model = FuzzyCMeans(len(start), 2.0, init=U, tol_iter=n, error=0.0)
        model.fit(X)
        return exactly(n, model.iter_cnt, model.cluster_centers_)

    return run


def memberships(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Memberships (R, N) with m = 2, for those that start from them."""
    U = np.empty((len(centers), len(X)))
    for part in (slice(i, i + 256) for i in range(0, len(X), 256)):
        distance = ((X[part, None] - centers) ** 2).sum(axis=2)
        near = 1 / np.maximum(distance, np.finfo(float).tiny)
        U[:, part] = (near / near.sum(axis=1, keepdims=True)).T
    return U


def exactly(n: int, done: int, centers: np.ndarray) -> np.ndarray:
    if done != n:
        raise Skip(f"it did {done} iterations instead of {n}")
    return centers


class Contender(NamedTuple):
    """Who takes part: the package it is from, what prepares its run, and the cores it may use."""

    package: str
    prepare: Callable[..., Run]
    cores: int = 1


CONTENDERS = {
    "FCM": Contender("sessc", fcm),
    "SESSC": Contender("sessc", sessc),
    "KMeans": Contender("scikit-learn", k_means),
    "GaussianMixture": Contender("scikit-learn", mixture),
    "scikit-fuzzy": Contender("scikit-fuzzy", scikit_fuzzy),
    "fuzzy-c-means": Contender("fuzzy-c-means", fuzzy_c_means),
    "soft-clustering": Contender("soft-clustering", soft_clustering),
    "scikit-pytsk": Contender("scikit-pytsk", scikit_pytsk),
    "products": Contender("sessc", products),
    "FCM, two cores": Contender("sessc", partial(fcm, n_jobs=2), cores=2),
    "SESSC, two cores": Contender("sessc", partial(sessc, n_jobs=2), cores=2),
}


class Skip(Exception):
    """Why a contender is left out."""


def clocked(fn: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = fn(*arguments)
    return time.perf_counter() - start, result


def per_iteration(run: Run, seconds: float) -> tuple[float, Any]:
    """Time of one iteration, the best of as many as fit into ``seconds`` but at least one; and the centres."""
    warm, _ = clocked(run, FEW)
    if warm * MANY / FEW > LIMIT_SECONDS:
        raise Skip(f"{MANY} iterations would take more than {LIMIT_SECONDS} s")
    few, many, begin = np.inf, np.inf, time.perf_counter()
    while many <= few or time.perf_counter() - begin < seconds:
        few = min(few, clocked(run, FEW)[0])
        took, centers = clocked(run, MANY)
        many = min(many, took)
    return (many - few) / (MANY - FEW), centers


def resident(which: str) -> float:
    """MiB this process has in memory now (VmRSS), or had at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


def restrict(cores: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_GIB * 2**30, LIMIT_GIB * 2**30))


def measure(name: str, folder: Path, n_clusters: int, seconds: float) -> dict[str, Any]:
    """What one contender takes for the data in a folder; memory is what comes on top of the data and the code."""
    contender = CONTENDERS[name]
    said = {"version": version(contender.package), "numpy": np.__version__}
    restrict(contender.cores)
    try:
        rng = np.random.default_rng(0)
        contender.prepare(rng.normal(size=(50, 3)), np.arange(50) % 2, rng.normal(size=(2, 3)))(FEW)  # all imports
        X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
        before = resident("VmRSS")
        took, centers = per_iteration(contender.prepare(X, y, X[:n_clusters].copy()), seconds)
    except MemoryError:
        return said | {"skipped": f"it needs more than {LIMIT_GIB} GiB"}
    except Skip as reason:
        return said | {"skipped": str(reason)}
    found = [] if centers is None else np.asarray(centers).tolist()
    return said | {"seconds": took, "mebibytes": resident("VmHWM") - before, "centers": found}


if __name__ == "__main__":
    name, folder, n_clusters, seconds = sys.argv[1:]
    print("\n" + json.dumps(measure(name, Path(folder), int(n_clusters), float(seconds))))
