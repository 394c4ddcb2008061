"""One SESSC iteration against its own matrix products and against a Gaussian mixture, as ratios.

    make bench

Everything is timed in one run on one core, in turns, each contender in a process of its own so that none
inherits the memory settings of another; only ratios mean anything on another machine. "Products" are the
matrix products of one pass over the same blocks of rows, squares, costs and sums back, and nothing else, in the
faster of two arrangements.
"""

from __future__ import annotations

import os
import time
import tracemalloc
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from sessc import Entropy, LogLoss, Objective, Power
from sessc.frame import centered
from sessc.rows import ArrayRows, keep_freed_memory
from sessc.solver import alternate
from sessc.start import first_parameters

D, R, C = 36, 30, 6


def make_data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(C, size=n)
    return rng.normal(size=(C, D))[y] + rng.normal(size=(n, D)), y


def best_of(repetitions: int, fn) -> float:
    def once() -> float:
        start = time.perf_counter()
        fn()
        return time.perf_counter() - start

    return min(once() for _ in range(repetitions))


def per_iteration(repetitions: int, run) -> float:
    """Time of one iteration, free of what is done once: 6 iterations less 1, over 5."""
    return (best_of(repetitions, lambda: run(6)) - best_of(repetitions, lambda: run(1))) / 5


def sessc_iterations(X: np.ndarray, y: np.ndarray):
    rows, frame = centered(ArrayRows(X, y, n_classes=C))
    gamma = len(X) / 100  # competes with a sum over rows
    objective = Objective(Power(35 / 33), Entropy(gamma), 0.1, LogLoss(1.0))
    start = first_parameters(objective, X[:R] - rows.center, frame, np.full(C, 1 / C))
    return lambda n: alternate(objective, rows, start, scale=frame.scale, max_iter=n, tol=0.0)


def mixture_iterations(X: np.ndarray):
    def run(n: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            GaussianMixture(
                R,
                covariance_type="diag",
                max_iter=n,
                tol=0.0,
                means_init=X[:R],
                init_params="random_from_data",
                random_state=0,
            ).fit(X)

    return run


def products_apart(X: np.ndarray, Y: np.ndarray, blocks: list[slice], M: np.ndarray) -> None:
    A, B, L = M[:, :D], M[:, D : 2 * D], M[:, 2 * D : 2 * D + C]
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


def time_sessc(n: int, repetitions: int) -> float:
    return per_iteration(repetitions, sessc_iterations(*make_data(n)))


def time_products(n: int, repetitions: int) -> float:
    X, y = make_data(n)
    Y, M = np.eye(C)[y], np.random.default_rng(1).random((R, 2 * D + 1 + C))
    keep_freed_memory()
    return min(
        best_of(repetitions, partial(arrangement, X, Y, ArrayRows(X)._slices, M))
        for arrangement in (products_apart, products_together)
    )


def time_mixture(n: int, repetitions: int) -> float:
    return per_iteration(max(2, repetitions // 4), mixture_iterations(make_data(n)[0]))


def peak_mib(n: int) -> float:
    run = sessc_iterations(*make_data(n))
    run(1)
    tracemalloc.start()
    run(3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    threadpool_limits(1)


def own_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=one_core)


def interleaved(n: int, repetitions: int, rounds: int) -> np.ndarray:
    """Times (rounds, contenders): a slow moment of the machine then meets all contenders of a round alike."""
    with own_process() as ours, own_process() as products, own_process() as mixture:
        work = ((ours, time_sessc), (products, time_products), (mixture, time_mixture))
        return np.asarray([[pool.submit(fn, n, repetitions).result() for pool, fn in work] for _ in range(rounds)])


def main() -> None:
    print(f"One iteration, D = {D}, R = {R}, C = {C}, float64, one core; medians over rounds:\n")
    print("        N     SESSC  products   mixture  SESSC/products  mixture/SESSC")
    for n, repetitions, rounds in ((6_435, 20, 9), (200_000, 3, 5)):
        times = interleaved(n, repetitions, rounds)
        over, under = np.median(times[:, 0] / times[:, 1]), np.median(times[:, 2] / times[:, 0])
        cells = "".join(f"{1e3 * t:7.1f} ms" for t in np.median(times, axis=0))
        print(f"{n:9,}{cells}{over:16.2f}{under:15.2f}")

    print("\nMemory beyond the data, at its peak over three iterations:\n")
    for n in (6_435, 50_000, 200_000, 800_000):
        with own_process() as pool:
            print(f"  N = {n:9,}: {pool.submit(peak_mib, n).result():6.1f} MiB")


if __name__ == "__main__":
    main()
