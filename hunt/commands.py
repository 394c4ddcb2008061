"""``sessc fit`` killed or interrupted at any moment, two writers on one path, full disks, closed folders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sessc import Model

from .files import learned
from .judging import Broken

__all__ = ["command"]

Chance = np.random.Generator
COMMAND = [sys.executable, "-c", "import sys; from sessc_command import main; sys.exit(main())"]
LONGEST = 6.0
"""Seconds within which a command is stopped: importing takes two, learning some."""


def command(rng: Chance) -> str:
    """One command that goes wrong."""
    name = str(rng.choice(list(TROUBLES)))
    with tempfile.TemporaryDirectory() as folder:
        return f"{name}: {TROUBLES[name](rng, Path(folder))}"


def _fit(out: Path, **settings: object) -> subprocess.Popen:
    table = learned() / "table.csv"
    words = ["fit", str(table), "--target", "kind", "--rules", "2", "--out", str(out)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    call = [*COMMAND, *words]
    return subprocess.Popen(
        call, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **settings
    )  # type: ignore[call-overload]


def _stopped(rng: Chance, folder: Path, how: signal.Signals) -> str:
    """A command stopped at a random moment leaves the old model or the new one, whole, and nothing beside it."""
    out = folder / "model.json"
    old = (learned() / "kind.json").read_bytes()
    out.write_bytes(old)
    moment = float(rng.uniform(0, LONGEST))
    process = _fit(out)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(how)
    _, said = process.communicate(timeout=120)
    # Before main begins and after it ends the interpreter ends itself by the signal, which shells show as 130 too.
    ended = (0, 130, -signal.SIGINT)
    if how == signal.SIGINT and (process.returncode not in ended or "Traceback" in said):
        raise Broken(f"exit code {process.returncode} after {moment:.2f} s: {said[-300:]}")
    if out.read_bytes() != old:
        Model.load(out)
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith(".sessc-"))
    if left and how == signal.SIGINT:
        raise Broken(f"{left} are left after {moment:.2f} s")
    return f"{how.name} after {moment:.2f} s, exit code {process.returncode}"


def _killed(rng: Chance, folder: Path) -> str:
    return _stopped(rng, folder, signal.SIGKILL)


def _interrupted(rng: Chance, folder: Path) -> str:
    return _stopped(rng, folder, signal.SIGINT)


def _two_writers(rng: Chance, folder: Path) -> str:
    """Two processes save two models on one path, and a third reads it all the while."""
    path = folder / "model.json"
    texts = [(learned() / f"{name}.json").read_text() for name in ("kind", "price")]
    path.write_text(texts[0])
    code = (
        "import sys; from sessc import Model; m = Model.load(sys.argv[1]); "
        "[m.save(sys.argv[2]) for _ in range(40)]"
    )
    sources = [folder / "kind.json", folder / "price.json"]
    for source, text in zip(sources, texts, strict=True):
        source.write_text(text)
    writers = [subprocess.Popen([sys.executable, "-c", code, str(source), str(path)]) for source in sources]
    read = 0
    try:
        while any(writer.poll() is None for writer in writers):
            found = path.read_text()
            if found not in texts:
                raise Broken("a file of neither writer")
            read += 1
            time.sleep(0.001 * float(rng.random()))
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    if any(writer.returncode for writer in writers):
        raise Broken("a writer failed")
    return f"{read} times read"


def _full_disk(rng: Chance, folder: Path) -> str:
    """``/dev/full`` stands for a disk on which nothing more fits: a sentence, and the rules on screen."""
    process = _fit(Path("/dev/full"))
    said, aside = process.communicate(timeout=120)
    if process.returncode != 2 or "Traceback" in aside or "No space" not in aside:
        raise Broken(f"exit code {process.returncode}: {aside[-300:]}")
    return f"{len(said)} letters were printed all the same"


def _closed_folder(rng: Chance, folder: Path) -> str:
    """A folder in which nothing may be written, which root may: then one that is not there."""
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    out = closed / "model.json" if os.geteuid() else folder / "nowhere" / "model.json"
    process = _fit(out)
    said, aside = process.communicate(timeout=120)
    if process.returncode != 2 or "Traceback" in aside or said:
        raise Broken(f"exit code {process.returncode}: {aside[-300:]}")
    return aside.strip()[-80:]


def _closed_ears(rng: Chance, folder: Path) -> str:
    """Nobody hears what is said; the model is there all the same."""
    with open("/dev/full", "w") as full:
        table = learned() / "table.csv"
        words = ["fit", str(table), "--target", "kind", "--rules", "2", "--out", str(folder / "model.json")]
        done = subprocess.run([*COMMAND, *words], stderr=full, stdout=subprocess.DEVNULL, timeout=120)
    Model.load(folder / "model.json")
    return f"exit code {done.returncode}"


TROUBLES: dict[str, Callable[[Chance, Path], str]] = {
    "kill": _killed,
    "interrupt": _interrupted,
    "two writers": _two_writers,
    "full disk": _full_disk,
    "closed folder": _closed_folder,
    "closed ears": _closed_ears,
}
