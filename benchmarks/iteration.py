"""A quick look: one SESSC iteration against its own matrix products and against a Gaussian mixture.

    python -m benchmarks.iteration

Everything is timed in one run on one core, in turns, each contender in a process of its own so that none
inherits the memory settings of another; only ratios mean anything on another machine. The products are those of
one pass over the same blocks of rows, squares, costs and sums back, and nothing else. Nothing is recorded.
"""

from __future__ import annotations

import numpy as np

from .libraries import Size, measured, stored

NAMES = ("SESSC", "products", "GaussianMixture")


def main() -> None:
    print("One iteration, D = 36, R = 30, 6 classes, float64, one core; medians over rounds:\n")
    print("        N     SESSC  products   mixture  SESSC/products  mixture/SESSC  SESSC beyond the data")
    for n, rounds in ((6_435, 9), (50_000, 5), (200_000, 5), (1_000_000, 1)):
        size = Size(n, 36, 30)
        with stored(size) as folder:
            turns = [[measured(name, folder, size) for name in NAMES] for _ in range(rounds)]
        times = np.asarray([[turn.seconds for turn in round] for round in turns])
        over, under = np.median(times[:, 0] / times[:, 1]), np.median(times[:, 2] / times[:, 0])
        cells = "".join(f"{1e3 * t:7.1f} ms" for t in np.median(times, axis=0))
        peak = np.median([round[0].mebibytes for round in turns])
        print(f"{n:9,}{cells}{over:16.2f}{under:15.2f}{peak:19.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
