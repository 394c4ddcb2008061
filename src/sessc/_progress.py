"""Progress through scikit-learn's callbacks, where they exist (1.9 and newer); elsewhere nothing happens."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin of this name."""

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]


class Progress:
    """Tells an estimator's callbacks, if it has any, about each step of at most ``n_steps``."""

    def __init__(self, estimator: Any, n_steps: int, task: str):
        self._estimator, self._task, self._context = estimator, task, None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=n_steps)
            self._context.call_on_fit_task_begin(estimator=estimator)

    def step(self) -> bool:
        """One step is done; true if a callback asks to stop."""
        if self._context is None:
            return False
        context = self._context.subcontext(task_name=self._task)
        context.call_on_fit_task_begin(estimator=self._estimator)
        return bool(context.call_on_fit_task_end(estimator=self._estimator))

    def finish(self) -> None:
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)
