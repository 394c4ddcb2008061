"""What is shipped: built twice with the same hash, and at work in an empty environment without any extra.

python -m hunt.dist
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).parents[1]
EPOCH = "1750000000"
"""A moment that all files in a build are said to be of."""
TABLE = "a,b,y\n" + "".join(f"{k},{(k * 7) % 5},{'yes' if k > 30 else 'no'}\n" for k in range(60))
LACKING = {
    "export model.json --onnx model.onnx": "onnx",
    "predict model.json table.parquet": "pyarrow",
}
"""Commands that need an extra, and what must be named in the sentence about it."""
LACKING_IN_PYTHON = {
    "from sessc import RuleBase; RuleBase.load('model.json').to_onnx()": "onnx",
    "from sessc import *; ConditionsDisplay.from_rules(RuleBase.load('model.json'))": "matplotlib",
    "from sessc import Model; Model.load('model.json').to_onnx()": "onnx",
}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        builder = _environment(place / "builder", "hatchling>=1.24")
        wheel = _built_twice(builder, place)
        _works(_environment(place / "empty", str(wheel)), place)
    return 0


def _environment(path: Path, *packages: str) -> Path:
    """The Python of a new environment with nothing but these."""
    venv.create(path, with_pip=True)
    python = path / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def _built_twice(python: Path, place: Path) -> Path:
    """The wheel, if it and the source archive come out the same twice."""
    hashes = []
    for name in ("once", "twice"):
        environment = os.environ | {"SOURCE_DATE_EPOCH": EPOCH}
        command = [python, "-m", "hatchling", "build", "-d", place / name]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        files = sorted((place / name).iterdir())
        hashes.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
    once, twice = hashes
    if once != twice or len(once) != 2:
        raise SystemExit(f"two builds differ: {once} and {twice}")
    for name, found in once.items():
        print(f"{name}: sha256 {found}, twice")
    return next((place / "twice").glob("*.whl"))


def _works(python: Path, place: Path) -> None:
    """Help, a fit and answers without extras, and a sentence for whatever needs one."""
    (place / "table.csv").write_text(TABLE)
    (place / "table.parquet").write_bytes(b"PAR1")
    sessc = python.with_name("sessc")
    for words in ("--help", "fit table.csv --target y --rules 2 --out model.json", "predict model.json table.csv"):
        done = _run([sessc, *words.split()], place)
        if done.returncode:
            raise SystemExit(f"sessc {words}: {done.stderr}")
        print(f"sessc {words}: works")
    for words, extra in LACKING.items():
        _say(f"sessc {words}", _run([sessc, *words.split()], place), extra)
    for code, extra in LACKING_IN_PYTHON.items():
        done = _run([python, "-c", code], place)
        _say(code, done, extra, done.stderr.strip().splitlines()[-1])


def _run(command: list, place: Path) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=300)


def _say(what: str, done: subprocess.CompletedProcess, extra: str, last: str | None = None) -> None:
    said = done.stderr.strip() if last is None else last
    if not done.returncode or extra not in said or "\n" in said or "install" not in said:
        raise SystemExit(f"{what}, without {extra}: {done.stderr}")
    print(f"{what}: {said}")


if __name__ == "__main__":
    sys.exit(main())
