"""One SESSC iteration on a GPU, and whether it finds what a processor finds.

    python benchmarks/gpu.py

Needs a GPU that PyTorch knows, with 20 GB of memory; with less, say --rows.
"""

from __future__ import annotations

import argparse
import datetime
import os
import time
from contextlib import contextmanager

import numpy as np
import torch

from sessc import SESSC, Entropy, LogLoss, Objective, Power, TSKClassifier
from sessc.rows.arrays import ArrayRows
from sessc.rows.robust import centered
from sessc.solve import alternate as solver
from sessc.solve.alternate import alternate
from sessc.solve.start import first_parameters

D, R, C = 32, 30, 7


def make_data(n: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """A cluster for each rule, drawn where they will be used."""
    generator = torch.Generator(device).manual_seed(0)
    centers = 2 * torch.randn((R, D), generator=generator, device=device)
    cluster = torch.randint(R, (n,), generator=generator, device=device)
    X = centers[cluster]
    X += torch.randn((n, D), generator=generator, device=device)
    return X, cluster % C


def milliseconds(fn, repetitions: int = 5) -> float:
    """Median time on the device, after one call to warm up."""
    times = []
    for _ in range(repetitions + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        fn()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times[1:]))


@contextmanager
def array_by_array():
    """Without the fused kernel, as where Triton is not installed."""
    find_spec, solver.find_spec = solver.find_spec, lambda name: None
    try:
        yield
    finally:
        solver.find_spec = find_spec


def iteration(X: torch.Tensor, y: torch.Tensor) -> float:
    rows, extent = centered(ArrayRows(X, y, n_classes=C))
    objective = Objective(Power(31 / 29), Entropy(len(X) / 100), 0.1, LogLoss(1.0))
    start = first_parameters(objective, X[:R] - rows.center, extent, np.full(C, 1 / C))

    def run(n: int) -> float:
        return milliseconds(lambda: alternate(objective, rows, start, scale=extent.scale, max_iter=n, tol=0.0))

    return (run(11) - run(1)) / 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2**25)
    parser.add_argument(
        "--rows-beside", type=int, default=2**18, help="rows for the comparison with the processor"
    )
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {datetime.date.today()}")
    X, y = make_data(options.rows, "cuda")
    print(f"N = {len(X):,}, D = {D}, R = {R}, C = {C}, float32")
    print(f"  reading X once            {milliseconds(lambda: X.sum()):6.1f} ms")
    print(f"  one iteration, fused      {iteration(X, y):6.1f} ms")
    with array_by_array():
        print(f"  one iteration, by arrays  {iteration(X, y):6.1f} ms")
    start = time.perf_counter()
    SESSC(R, max_iter=20, tol=0.0, random_state=0).fit(X, y)
    print(f"  SESSC().fit, 20 iterations after k-means and all else  {time.perf_counter() - start:6.1f} s")

    n = min(options.rows_beside, len(X))
    X, y = X[:n].clone(), y[:n].clone()
    there, labels = X.cpu().numpy(), y.cpu().numpy()
    print(f"N = {n:,}: fit and predict on the GPU, and on {os.cpu_count()} processor cores, until centres rest")
    # To rest: halfway there, two centres that share a cluster are anywhere in it.
    settings = {"max_iter": 1000, "random_state": 0, "n_jobs": -1}
    for name, model in {
        "SESSC": SESSC(R, **settings),
        "TSKClassifier": TSKClassifier(R, clusterer=SESSC(**settings), n_jobs=-1),
        "TSKClassifier, refined": TSKClassifier(
            10, refine=20, clusterer=SESSC(**settings), class_weight="balanced", n_jobs=-1
        ),
    }.items():
        start = time.perf_counter()
        centers = _centers(model.fit(X, y))
        answers = model.predict(X).cpu().numpy()
        on_gpu = time.perf_counter() - start
        start = time.perf_counter()
        expected = _centers(model.fit(there, labels))
        same = np.mean(model.predict(there) == answers)
        on_cpu = time.perf_counter() - start
        apart = np.abs(centers - expected).max() / np.abs(expected).max()
        times = f"{on_gpu:5.1f} s, {on_cpu:5.1f} s"
        print(f"  {name:24} {times}; centres differ by {apart:.1e}, answers agree {same:.4%}")


def _centers(model) -> np.ndarray:
    if hasattr(model, "rules_"):
        return model.rules_.centers_in_units
    return torch.as_tensor(model.cluster_centers_).cpu().numpy()


if __name__ == "__main__":
    main()
