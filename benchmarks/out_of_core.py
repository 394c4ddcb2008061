"""Clusters and rules of a file larger than memory is allowed to be.

    python -m benchmarks.out_of_core --folder /somewhere/with/7/GB

Makes 100 million rows of 16 columns, 6.4 GB in float32, clusters them, fits a rule classifier to the same file,
and prints how long each took and how much memory of its own the process ever held. Pages of the file itself are
not counted: the system takes them back when it needs them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from sessc import FCM, TSKClassifier

from .libraries import machine

D, R, C = 16, 10, 3


def make(folder: Path, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten clusters of three classes in a file, made part by part; taken as it is if it is there already."""
    paths = folder / f"X-{n}.npy", folder / f"y-{n}.npy"
    if not all(path.exists() for path in paths):
        rng = np.random.default_rng(0)
        centers = 3 * rng.normal(size=(R, D)).astype(np.float32)
        X = open_memmap(paths[0], mode="w+", dtype=np.float32, shape=(n, D))
        y = open_memmap(paths[1], mode="w+", dtype=np.uint8, shape=(n,))
        for start in range(0, n, 2**20):
            cluster = rng.integers(R, size=min(2**20, n - start))
            X[start : start + 2**20] = centers[cluster] + rng.standard_normal((len(cluster), D), dtype=np.float32)
            y[start : start + 2**20] = cluster % C
    X, y = (np.load(path, mmap_mode="r") for path in paths)
    return X, y


def own_memory() -> float:
    """Mebibytes of memory that belong to the process alone, not to a file."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print how long a block of code took and the most memory of its own the process held in it."""
    peak, done = [own_memory()], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak.append(own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        done.set()
        watcher.join()
    print(f"{what:50} {seconds:7.0f} s, at most {max(peak):5.0f} MiB of its own", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, help="where the file is made and kept (default: a temporary one)")
    parser.add_argument("--rows", type=int, default=100_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        X, y = make(folder, options.rows)
        print(f"{machine()}; {len(X):,} rows × {D} columns, {X.nbytes / 1e9:.1f} GB of float32")
        settings = {"init": "random", "max_iter": 20, "tol": 0.0, "random_state": 0, "n_jobs": os.cpu_count()}
        with measured(f"FCM, {R} clusters, 20 iterations"):
            clusters = FCM(R, m=2.0, **settings).fit(X)
        with measured(f"TSKClassifier, {R} rules from 20 iterations"):
            model = TSKClassifier(R, clusterer=FCM(m=2.0, **settings), n_jobs=os.cpu_count()).fit(X, y)
        with measured("predict"):
            right = np.mean(model.predict(X) == y)
        print(f"{right:.1%} of the classes right; clusters of {np.bincount(clusters.labels_).tolist()} rows")


if __name__ == "__main__":
    main()
