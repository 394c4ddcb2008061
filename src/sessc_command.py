"""The ``sessc`` command while the library is being imported, which takes seconds; so it stands outside it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""The exit code, as shells say of what was interrupted."""


def main() -> int:
    """Run the ``sessc`` command; returns its exit code."""
    _on_interruption(_leave)
    from sessc.cli.main import main as run

    try:
        _on_interruption(signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        _on_interruption(_leave)


def _on_interruption(act: Callable[..., Any]) -> None:
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _leave):  # nohup has it ignored, for one
        signal.signal(signal.SIGINT, act)


def _leave(*_: Any) -> None:
    # An exception could be caught, or reported and ignored, by whatever is being imported or taken down.
    os._exit(INTERRUPTED)
