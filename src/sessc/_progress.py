"""Progress through scikit-learn's callbacks, where they exist (1.9 and newer), or counted on a terminal."""

from __future__ import annotations

from functools import partial
from typing import Any, TextIO

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin of this name."""

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "Progress", "count_on", "with_callbacks"]


def count_on(estimator: Any, terminal: TextIO) -> None:
    """Have an estimator count its steps on a line of a terminal, which is empty again in the end."""
    estimator._count_steps = partial(_count, terminal)


def _count(terminal: TextIO, done: int | None, n_steps: int, task: str) -> None:
    line = "" if done is None else f"{task} {done} of at most {n_steps}"
    terminal.write(f"\r{line:<40}" + "\r" * (not line))
    terminal.flush()


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
