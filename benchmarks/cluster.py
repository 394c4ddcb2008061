"""A fit on a Dask cluster of two workers: what it costs, what it finds, and what happens when a worker dies.

python -m benchmarks.cluster
"""

from __future__ import annotations

import os
import signal
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from sessc import FCM, TSKClassifier

from .libraries import machine

BLOCKS = 64


def table(n: int) -> da.Array:
    return da.random.default_rng(0).normal(size=(n, 16), chunks=(n // BLOCKS, 16)).persist()


def seconds(X: da.Array | np.ndarray, n_iter: int) -> float:
    start = time.perf_counter()
    FCM(10, init="random", max_iter=n_iter, tol=0.0, random_state=0).fit(X)
    return time.perf_counter() - start


def per_iteration(X: da.Array | np.ndarray) -> float:
    return min((seconds(X, 31) - seconds(X, 1)) / 30 for _ in range(3))


def main() -> None:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        print(f"{machine()}; two workers, {BLOCKS} blocks, FCM with 10 clusters of 16 features")
        few = table(BLOCKS * 10)
        overhead = per_iteration(few) - per_iteration(few.compute())
        print(f"{len(few):9,} rows: an iteration costs {1000 * overhead:.0f} ms more than in one process")
        many = table(BLOCKS * 2**15)
        here = many.compute()
        print(
            f"{len(many):9,} rows: an iteration takes {1000 * per_iteration(many):.0f} ms, "
            f"and {1000 * per_iteration(here):.0f} ms on one core"
        )
        y = (many[:, 0] * many[:, 1] > 0).astype(int)
        model = TSKClassifier(10, refine=5, random_state=0)
        undisturbed = model.fit(many, y).rules_
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(5.0, os.kill, (victim, signal.SIGKILL))
        killer.start()
        start = time.perf_counter()
        rules = model.fit(many, y).rules_
        killer.join()
        apart = np.abs(rules.centers - undisturbed.centers).max()
        print(
            f"{len(many):9,} rows: rules fitted in {time.perf_counter() - start:.0f} s, a worker killed after 5; "
            f"their centres differ from undisturbed ones by {apart:.0e}"
        )


if __name__ == "__main__":
    main()
