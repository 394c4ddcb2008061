"""The nine data sets of the paper, from local copies or from the UCI repository."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._writing import write
from .uci import CELLS, SOURCES

__all__ = ["NAMES", "load"]

HASHES = {
    "wpbc": "575a913fe52ee906c9686e17f928f54c368d596ccf55e014d26280572bf4de3b",
    "wdbc": "ffee633c9259edf5a992d8b0ddafd49fc45f17bfed2da428e83c2d7fbf84142a",
    "vehicle": "112752d0b1b80772feb706c1004c5a3022458ec8857cb87e2dd6a0771efd1f17",
    "biodeg": "84c76495a7faa3290b197fb4bbd57a4f9ca3a6e34c84e6976b777577c28c4f30",
    "drd": "7d0ec125133b6aee1d26b4ca54b506795f40efa5b5466de6c1ae902bed6ece6a",
    "steel": "60909abf368f213b30cc5e67225496fa4bff9741451943e348c2e46f6c3c7fe7",
    "segment": "f3f2f3ffc8d0da400df48f9866ba90e624b3c366b2cdca75de50f611a4f049a4",
    "waveform21": "7d34fe9775df3ae839d1522b8d7e51d56c0bdf946315d0fa3bfade866e3d67a7",
    "satellite": "76360898118926275d3a007d5ce06427c803b02d92c8686ca405f981de106d08",
    "wpbc_with_time": "e02c260376cea5d22a34425bfbcbaaeefaa8bf9424ad60ec363575cc69f77780",
}
"""SHA-256 of each set's canonical table: CSV with a header, rows in UCI's order, numbers as UCI prints them."""

NAMES = tuple(HASHES)[:9]
"""The nine sets of the paper, in its order."""


def load(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """One of the nine UCI data sets of the paper.

    The table ``<name>.csv`` is looked for in the folder named by the environment variable ``SESSC_DATA``, and
    then in the cache folder (``~/.cache/sessc``, or ``SESSC_CACHE``). If neither has it, it is made of the
    files of the UCI repository (or of the copy whose address is in ``SESSC_UCI``) and kept in the cache folder.
    Its content is checked against a hash. ``wdbc`` needs no file: scikit-learn has it.

    Parameters
    ----------
    name : str
        One of ``sessc.datasets.NAMES``, or ``"wpbc_with_time"``, which keeps the follow-up time that leaks the
        outcome.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give data as a pandas DataFrame and the target as a Series.

    Returns
    -------
    Bunch
        With ``data`` (missing values are NaN), ``target`` (class labels as text), ``feature_names`` and
        ``target_names``.

    Examples
    --------
    >>> from sessc.datasets import load
    >>> load("wdbc").data.shape
    (569, 30)
    """
    if name not in HASHES:
        raise ValueError(f"name must be one of {', '.join(HASHES)}, got {name!r}.")
    header, data, target = _read(name)
    bunch = Bunch(data=data, target=target, feature_names=header, target_names=np.unique(target), name=name)
    if as_frame:
        import pandas as pd

        bunch.update(data=pd.DataFrame(data, columns=header), target=pd.Series(target, name="target"))
    return (bunch.data, bunch.target) if return_X_y else bunch


def _read(name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    given = os.environ.get("SESSC_DATA")
    if given and not Path(given).is_dir():
        raise FileNotFoundError(f"The folder {given!r}, named in SESSC_DATA, does not exist; correct or unset it.")
    for folder in [Path(given or _cache()), _cache()]:
        path = folder / f"{name}.csv"
        if path.exists():
            return _parse(_verified(name, path.read_bytes(), str(path), "replace or remove it"))
    return _wdbc() if name == "wdbc" else _parse(_downloaded(name))


def _cache() -> Path:
    return Path(os.environ.get("SESSC_CACHE") or Path.home() / ".cache" / "sessc")


def _downloaded(name: str) -> str:
    source = SOURCES[name]
    remedy = f"put {name}.csv in a folder and name that folder in the environment variable SESSC_DATA"
    try:
        files = source.fetch()
    except OSError as error:
        raise FileNotFoundError(
            f"No copy of {name!r} was found and {error}; connect to the network, or {remedy}."
        ) from error
    try:
        text = source.table(files)
    except (ValueError, IndexError):
        text = ""  # nothing like the table, as the hash will tell
    origin = f"What {source.address} has as {', '.join(source.files)}"
    _keep(_verified(name, text.encode(), origin, remedy), _cache() / f"{name}.csv")
    return text


def _keep(text: str, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text)
    except OSError as error:
        raise OSError(
            f"{path} cannot be written ({error}); name another folder in the environment variable SESSC_CACHE."
        ) from error


def _verified(name: str, content: bytes, origin: str, remedy: str) -> str:
    if hashlib.sha256(content).hexdigest() != HASHES[name]:
        raise ValueError(f"{origin} is not the table expected for {name!r} (its hash differs); {remedy}.")
    return content.decode("utf-8")


def _parse(text: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    header, *rows = csv.reader(io.StringIO(text))
    data = np.asarray([[float(value or "nan") for value in row[:-1]] for row in rows])
    return header[:-1], data, np.asarray([row[-1] for row in rows])


def _wdbc() -> tuple[list[str], np.ndarray, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return list(CELLS), data.data, np.where(data.target == 1, "B", "M")
