"""To whom the command line talks: whoever reads, whoever would rather not, and whoever is gone."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any

__all__ = ["aside", "quiet", "say", "speak_plainly", "stop_talking"]

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
        print(text, flush=True)
    except BrokenPipeError:
        stop_talking()


def aside(note: str) -> None:
    """What is worth knowing but no part of the answer."""
    print(note, file=sys.stderr)


def quiet(*_: Any) -> None:
    """Say nothing."""


def stop_talking() -> None:
    """Nobody hears what is left to say, so at exit nothing is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
