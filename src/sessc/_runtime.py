"""What a fit changes in the process it runs in, and puts back: the threads of BLAS, and what the allocator keeps.

Both settings belong to the whole process, and so does what is here. Nothing happens at import.
"""

from __future__ import annotations

import ctypes
import os
from functools import cached_property
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["at_work", "keep_freed_memory"]

SWITCH = "SESSC_KEEP_MEMORY"
"""The environment variable that, as 0, leaves the allocator alone."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Options of glibc's ``mallopt``, as malloc.h has them."""

WHILE_AT_WORK = {TRIM_THRESHOLD: 2**26, MMAP_THRESHOLD: 2**25}
"""Arrays of less than 32 MiB are kept when freed, up to 64 MiB of them."""


class _AtWork:
    """While anyone is inside, BLAS has one thread, and the allocator keeps what is freed if anyone asked for that.

    With fits in several threads, the first in sets it and the last out puts it back.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._keeps = Lock(), 0, False

    @cached_property
    def _controller(self) -> ThreadpoolController:
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()
                if self._keeps:
                    self._keeps = False
                    _tell_allocator(_when_idle())
                    ctypes.CDLL(None).malloc_trim(0)

    def keep_freed_memory(self) -> None:
        with self._lock:
            if self._inside and not self._keeps and _has_switch_on() and _is_glibc():
                self._keeps = True
                _tell_allocator(WHILE_AT_WORK)


at_work = _AtWork()
"""Hold BLAS to one thread: blocks are spread over threads instead, and results stay bitwise the same."""


def keep_freed_memory() -> None:
    """Let the allocator reuse a block's arrays for the next block, until nobody is at work any more.

    By default glibc gives much of them back to the system when they are freed, and every block pays for its pages
    again: more than half the time of a pass when measured, and two thirds in a Dask worker, which is told to give
    back even more.
    """
    at_work.keep_freed_memory()


def _has_switch_on() -> bool:
    return os.environ.get(SWITCH, "1") != "0"


def _is_glibc() -> bool:
    return (
        os.name == "posix" and hasattr(library := ctypes.CDLL(None), "mallopt") and hasattr(library, "malloc_trim")
    )


def _tell_allocator(options: dict[int, int]) -> None:
    for option, value in options.items():
        ctypes.CDLL(None).mallopt(option, value)


def _when_idle() -> dict[int, int]:
    """What the allocator should keep when nobody is at work: as the environment says, else about what it would.

    Left alone, glibc raises both thresholds by itself whenever a larger array is freed, and once told a number it
    no longer does. With those it begins with, 128 KiB, work on arrays of a MiB would take two to three times as
    long from then on, ours and the host's. So these are about what freeing a block raises them to.
    """
    told = {
        TRIM_THRESHOLD: os.environ.get("MALLOC_TRIM_THRESHOLD_", ""),
        MMAP_THRESHOLD: os.environ.get("MALLOC_MMAP_THRESHOLD_", ""),
    }
    if not any(map(str.isdigit, told.values())):
        return {TRIM_THRESHOLD: 2**23, MMAP_THRESHOLD: 2**22}
    return {option: int(value) if value.isdigit() else 2**17 for option, value in told.items()}
