"""What a fit changes in the process it runs in, and puts back: the threads of BLAS, and what the allocator keeps.

Both settings belong to the whole process, and so does what is here. Nothing happens at import.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from threading import Lock, get_ident
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["at_work", "cached_property", "keep_freed_memory"]

T = TypeVar("T")

SWITCH = "SESSC_KEEP_MEMORY"
"""The environment variable that, as 0, leaves the allocator alone."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Options of glibc's ``mallopt``, as malloc.h has them."""

WHILE_AT_WORK = {TRIM_THRESHOLD: 2**26, MMAP_THRESHOLD: 2**25}
"""Arrays of less than 32 MiB are kept when freed, up to 64 MiB of them."""


class cached_property(functools.cached_property[T]):
    """``functools.cached_property`` without the lock it has until Python 3.11, one for all objects of a class.

    Threads would wait for one another, and a process forked while one of them computes would wait for ever.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        super().__init__(compute)
        self.lock = nullcontext()


class _AtWork:
    """While anyone is inside, BLAS has one thread, and the allocator keeps what is freed if anyone asked for that.

    With fits in several threads, the first in sets it and the last out puts it back. A process that is forked
    meanwhile has none of the other threads, who would never come out.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._keeps = Lock(), Counter[int](), False
        self._knows_forks = False

    @cached_property
    def _blas(self) -> list[Any]:
        return ThreadpoolController().select(user_api="blas").lib_controllers

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside.total():
                self._heed_forks()
                self._before = [library.num_threads for library in self._blas]
                _set_threads(self._blas, [1] * len(self._blas))
            self._inside[get_ident()] += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._inside[get_ident()] -= 1
            if not self._inside.total():
                self._leave()

    def _leave(self) -> None:
        self._inside.clear()
        _set_threads(self._blas, self._before)
        if self._keeps:
            self._keeps = False
            _tell_allocator(_when_idle())
            ctypes.CDLL(None).malloc_trim(0)

    def _heed_forks(self) -> None:
        if hasattr(os, "register_at_fork") and not self._knows_forks:
            self._knows_forks = True
            # Nobody is halfway in or out while the process is copied, so that the copy can go on from there.
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._forked
            )

    def _forked(self) -> None:
        own, someone = self._inside[get_ident()], self._inside.total() > 0
        self._inside = Counter({get_ident(): own})
        if someone and not own:
            self._leave()
        self._lock.release()

    def keep_freed_memory(self) -> None:
        with self._lock:
            if self._inside.total() and not self._keeps and _has_switch_on() and _is_glibc():
                self._keeps = True
                _tell_allocator(WHILE_AT_WORK)


def _set_threads(libraries: list[Any], numbers: list[int]) -> None:
    # Since 3.7 threadpoolctl obeys the thread that set a number first for as long as it lives, and is silent to
    # others: the first in would be obeyed, and the last out not.
    for library, n_threads in zip(libraries, numbers, strict=True):
        getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


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
