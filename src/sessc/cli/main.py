"""The ``sessc`` command: from what was typed to an exit code."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from sessc_command import INTERRUPTED

from ..tables.errors import ParameterError, TableError
from .parser import parser
from .speech import aside, mind_closed_ears, speak_plainly, stop_talking

__all__ = ["main"]

WRONG = 2
"""The exit code of whatever had to be complained about."""
OTHERWISE_CALLED = {"random_state": "--seed", "n_rules": "--rules"}
"""Parameters whose options have names of their own."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``sessc`` command; returns its exit code."""
    mind_closed_ears()
    if sys.stdout is None:  # closed by whoever started it
        aside("sessc: standard output is closed, so nothing could be said; open it or send it to a file.")
        return WRONG
    speak_plainly()
    options = parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()  # at exit it would be too late to say what went wrong
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError as error:
        if error.filename is not None:  # the reader of a pipe that was named left, and has not all of it
            aside(f"sessc: {_of_system(error)}")
            return WRONG
        stop_talking(sys.stdout)
        return 0
    except (ValueError, OSError, ImportError) as error:
        aside(f"sessc: {_said(error)}")
        try:
            sys.stdout.flush()
        except OSError:
            stop_talking(sys.stdout)
        return WRONG


def _said(error: Exception) -> str:
    """What is wrong, and what to type about it."""
    if isinstance(error, TableError):
        return error.said(_option, "add")
    if isinstance(error, ParameterError):
        return error.said(_name)
    return (_of_system(error) if isinstance(error, OSError) else None) or str(error)


def _option(parameter: str, value: Any) -> str:
    """A parameter as it is typed; the first of several values, since an option takes one."""
    return f"{_name(parameter)} {shlex.quote(value[0] if isinstance(value, list) else value)}"


def _name(parameter: str) -> str:
    """What a parameter is called on the command line."""
    return OTHERWISE_CALLED.get(parameter) or f"--{parameter.replace('_', '-')}"


def _of_system(error: OSError) -> str | None:
    """What the system complains about, in words."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {error.filename}."
    return error.strerror and (f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror}.")
