"""Progress through scikit-learn's callbacks, where they exist (1.9 and newer), or counted where people see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import Any, Self, TextIO

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin of this name."""

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "Muttering", "Passes", "Progress", "count_on", "with_callbacks"]

SILENCE = 30.0
"""Seconds after which people begin to think that a program hangs."""


def count_on(estimator: Any, terminal: TextIO) -> None:
    """Have an estimator count its steps on a line of a terminal, which is empty again in the end."""
    estimator._count_steps = partial(_count, terminal)


def _count(terminal: TextIO, done: int | None, n_steps: int, task: str) -> None:
    line = "" if done is None else f"{task} {done} of at most {n_steps}"
    terminal.write(f"\r{line:<60}" + "\r" * (not line))
    terminal.flush()


class Muttering:
    """Says how far an estimator is, a line every so many seconds, and in long steps that it is still at work."""

    def __init__(self, say: Callable[[str], Any], seconds: float):
        self._say, self._seconds = say, seconds
        self._started = self._last = monotonic()
        self._where, self._ended = "", Event()
        self._thread = Thread(target=self._break_silence, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def listen_to(self, estimator: Any) -> None:
        """Hear of each of its steps, and pass on few."""
        estimator._count_steps = self._heard

    def _heard(self, done: int | None, n_steps: int, task: str) -> None:
        if done is None:
            return
        self._where = f"{task} {done} of at most {n_steps}"
        if monotonic() - self._last >= self._seconds:
            self._tell(self._where)

    def _break_silence(self) -> None:
        while not self._ended.wait(1.0):
            if self._where and monotonic() - self._last >= SILENCE:
                self._tell(f"still at work, {self._where} done")

    def _tell(self, where: str) -> None:
        self._last = monotonic()
        self._say(f"{where}, after {self._last - self._started:.0f} s")


class Progress:
    """Tells an estimator's callbacks or counter, if it has any, about each step of at most ``n_steps``."""

    def __init__(self, estimator: Any, n_steps: int, task: str):
        self._estimator, self._task, self._context = estimator, task, None
        self._n_steps, self._done = n_steps, 0
        self._count = getattr(estimator, "_count_steps", None)
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=n_steps)
            self._context.call_on_fit_task_begin(estimator=estimator)

    def step(self) -> bool:
        """One step is done; true if a callback asks to stop."""
        self._done += 1
        if self._count is not None:
            self._count(self._done, self._n_steps, self._task)
        if self._context is None:
            return False
        context = self._context.subcontext(task_name=self._task)
        context.call_on_fit_task_begin(estimator=self._estimator)
        return bool(context.call_on_fit_task_end(estimator=self._estimator))

    def finish(self) -> None:
        if self._count is not None:
            self._count(None, self._n_steps, self._task)
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)


class Passes:
    """Tells an estimator's counter, if it has one, how far each pass over rows in blocks is."""

    def __init__(self, estimator: Any, n_rows: int):
        self._count = getattr(estimator, "_count_steps", None)
        self._n_rows, self._begun = n_rows, 0

    def over(self, blocks: Iterable[tuple[Any, int]]) -> Iterator[Any]:
        """Blocks that come with how many rows each has, without that."""
        if self._count is None:
            yield from (block for block, _ in blocks)
            return
        done, number = 0, None
        for block, n_rows in blocks:
            yield block
            number = number or self._next()  # whoever only looks at the first block makes no pass
            done += n_rows
            self._count(done, self._n_rows, f"pass {number}, row")

    def _next(self) -> int:
        self._begun += 1
        return self._begun

    def finish(self) -> None:
        if self._count is not None:
            self._count(None, self._n_rows, "pass")
