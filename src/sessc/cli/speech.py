"""To whom the command line talks: whoever reads, whoever would rather not, and whoever is gone."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO

__all__ = ["aside", "mind_closed_ears", "quiet", "say", "speak_plainly", "stop_talking"]

PLAIN = {"±": "+/-", "–": "-", "²": "2"}
"""Letters that not every stream has."""


def speak_plainly() -> None:
    """Have streams that lack letters show something in their place."""
    codecs.register_error("sessc.plain", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sessc.plain")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """What such a stream shows."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    plain = "".join(PLAIN.get(letter, letter) for letter in lacking)
    return plain.encode("ascii", "backslashreplace").decode(), error.end


def say(text: str) -> None:
    """Tell whoever is reading; work goes on if nobody is."""
    try:
        print(_tame(text), flush=True)
    except BrokenPipeError:
        stop_talking(sys.stdout)


def aside(note: str) -> None:
    """What is worth knowing but no part of the answer; work goes on if nobody hears it."""
    try:
        print(_tame(note), file=sys.stderr, flush=True)
    except OSError:
        stop_talking(sys.stderr)


def _tame(text: str) -> str:
    """Text in which names of columns and files command no terminal."""
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text)


def quiet(*_: Any) -> None:
    """Say nothing."""


def stop_talking(stream: TextIO) -> None:
    """Nobody hears what is left to say there, so at exit nothing is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def mind_closed_ears() -> None:
    """Let notes go nowhere if standard error is closed: Python would print them among the answers."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open as long as the process runs)
