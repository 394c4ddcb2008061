"""What ``sessc fit`` takes for a Parquet file of many rows: time, and memory beside the size of the file.

    python -m benchmarks.large_table --folder /somewhere/with/1/GB

Makes Parquet files of six columns, four of numbers with gaps, a text and the answer; runs ``sessc fit`` on each in
a process of its own; and prints how long it took, the most memory the process held, and how good its rules are.
What was made is removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from .libraries import machine

ROWS_A_GROUP = 2**18
SHOPS = np.asarray(["north", "east", "south", "west", "online"])
FIT = "import sys; from sessc.cli.main import main; sys.exit(main(sys.argv[1:]))"


def make(path: Path, n: int) -> None:
    """Rows of two classes, group by group: what matters are two numbers and the text."""
    with parquet.ParquetWriter(path, part(np.random.default_rng(0), 1).schema) as writer:
        for number, start in enumerate(range(0, n, ROWS_A_GROUP)):
            writer.write_table(part(np.random.default_rng(number), min(ROWS_A_GROUP, n - start)))


def part(rng: np.random.Generator, n: int) -> pyarrow.Table:
    X, shop = rng.normal(size=(n, 4)), rng.choice(len(SHOPS), size=n, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    odds = 2 * X[:, 0] * (shop < 2) + 3 * np.abs(X[:, 1]) - 2
    answer = np.where(odds + rng.logistic(scale=0.5, size=n) > 0, "yes", "no")
    columns = {f"x{j}": pyarrow.array(X[:, j], mask=rng.random(n) < 0.02) for j in range(4)}
    columns["shop"] = pyarrow.array(SHOPS[shop], mask=rng.random(n) < 0.03)
    return pyarrow.table(columns | {"answer": pyarrow.array(answer)})


def fitted(path: Path) -> tuple[float, float, dict]:
    """Seconds and MiB that ``sessc fit`` takes, and what it says."""
    command = [sys.executable, "-c", FIT, "fit", str(path), "--target", "answer", "--json"]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"sessc fit ended with {status}.")
    return time.perf_counter() - started, usage.ru_maxrss / 1024, json.loads(said)


def report(folder: Path, n: int) -> None:
    path = folder / "table.parquet"
    make(path, n)
    size = path.stat().st_size / 2**20
    seconds, memory, said = fitted(path)
    own = said["evaluations"]["rules"]
    print(f"{n:12,} rows, {size:6.0f} MiB of Parquet: {seconds:5.0f} s, at most {memory:5.0f} MiB", flush=True)
    print(f"{said['n_rules']:12} rules; AUC {own['AUC']:.4f} on {own['n_rows']:,} rows held out", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--folder", type=Path, help="where files are made for a while (default: a temporary place)"
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 20_000_000])
    options = parser.parse_args()
    print(f"{machine()}; sessc fit on 6 columns with a text and gaps", flush=True)
    for n in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            report(Path(folder), n)


if __name__ == "__main__":
    main()
