"""A default search over a table that is not in memory: block by block here, and on a cluster of two workers.

    python -m benchmarks.search --folder /somewhere/with/1/GB

Makes a folder of Parquet files, ten million rows of ten numbers, with gaps, and a category; searches them through
``Blocks.from_parquet`` and as a Dask data frame; and prints how long each took, how much memory this process held,
whether both chose the same, and how far their answers are apart. What was made is removed at the end.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from dask import dataframe
from distributed import Client, LocalCluster

from sessc import Blocks, TSKClassifierCV

from .libraries import machine
from .out_of_core import measured, own_memory

D, ROWS_A_FILE = 10, 2**20
LEVELS = np.asarray(["north", "east", "south", "west"])


def make(folder: Path, n: int) -> None:
    """Rows of two classes, file by file: what matters are three numbers and the category."""
    for number, start in enumerate(range(0, n, ROWS_A_FILE)):
        part(np.random.default_rng(number), min(ROWS_A_FILE, n - start)).to_parquet(
            folder / f"part-{number:03}.parquet", index=False, row_group_size=2**16
        )


def part(rng: np.random.Generator, n: int) -> pd.DataFrame:
    X = rng.standard_normal((n, D), dtype=np.float32)
    level = rng.choice(len(LEVELS), size=n, p=[0.4, 0.3, 0.2, 0.1])
    odds = 2 * X[:, 0] * (level < 2) + 3 * np.abs(X[:, 1]) - 2 * (X[:, 2] > 0.5) - 2
    y = np.where(odds + rng.logistic(scale=0.5, size=n) > 0, "yes", "no")
    X[rng.random((n, D), dtype=np.float32) < 0.02] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    return frame.assign(region=pd.Categorical.from_codes(level, LEVELS), y=y)


def searched_here(folder: Path) -> TSKClassifierCV:
    with measured("Blocks.from_parquet, one process"):
        return TSKClassifierCV(random_state=0).fit(Blocks.from_parquet(folder, target="y"))


def searched_there(folder: Path) -> TSKClassifierCV:
    """On two workers, which hold the table between them."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        frame = dataframe.read_parquet(folder)
        with measured("a Dask data frame, two workers"):
            return TSKClassifierCV(random_state=0).fit(frame.drop(columns="y"), frame["y"])


def report(here: TSKClassifierCV, there: TSKClassifierCV, test: pd.DataFrame) -> None:
    X, y = test.drop(columns="y"), test["y"]
    same = "the same" if here.best_params_ == there.best_params_ else f"not the same: {there.best_params_}"
    print(f"chosen here: {here.best_params_}; there: {same}")
    apart = np.abs(here.predict_proba(X) - there.predict_proba(X)).max()
    print(
        f"their probabilities differ by at most {apart:.0e}; {here.score(X, y):.1%} of {len(X):,} new rows right"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--folder", type=Path, help="where files are made for a while (default: a temporary place)"
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary)
        make(folder, options.rows)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{machine()}; {options.rows:,} rows × {D + 1} columns, {size / 1e9:.1f} GB of Parquet")
        print(f"the loaded code takes {own_memory():.0f} MiB", flush=True)
        here, there = searched_here(folder), searched_there(folder)
        report(here, there, part(np.random.default_rng(2**20), 100_000))


if __name__ == "__main__":
    main()
