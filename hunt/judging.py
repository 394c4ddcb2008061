"""When a case is a fault: the law of the hunt."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import sessc

from .ledger import Case, Outcome

__all__ = ["Broken", "Refused", "attempt", "generator", "is_sentence", "judged", "refuse_odd_numbers"]

PACKAGE = Path(sessc.__file__).parent
AS_SCIKIT_LEARN_SAYS = "The feature names should match those that were passed during fit."
"""The one message of several lines: scikit-learn's checks of estimators ask for it."""
SECONDS = 600
"""After so long a case hangs, on the busiest machine: tables have sixty rows."""


class Broken(Exception):
    """A law that does not hold."""


class Refused(Exception):
    """What was handed in is no good, and that was said as promised."""


def generator(case: Case) -> np.random.Generator:
    """The chance of a case, which is its own."""
    return np.random.default_rng([case.seed, case.number, *case.kind.encode()])


def judged(case: Case, run: Callable[[np.random.Generator], str | None]) -> Outcome:
    """Run a case; what it returns says what it was about."""
    try:
        with _no_warnings(), _in_time():
            about = run(generator(case))
    except Refused as refusal:
        return Outcome(case.kind, case.seed, case.number, "sentence", str(refusal)[:60])
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {error}"
        return Outcome(case.kind, case.seed, case.number, "FAULT", said[:600])
    return Outcome(case.kind, case.seed, case.number, "works", about or "")


def attempt(fn: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a function returns; if it refuses in one sentence, that ends the case."""
    try:
        return fn(*given, **named)
    except (ValueError, TypeError) as error:
        if is_sentence(error):
            raise Refused(str(error)) from error
        raise


def is_sentence(error: BaseException) -> bool:
    """Whether an error is one line that this package, or scikit-learn where it checks tables, wrote for people."""
    words = str(error)
    if words.startswith(AS_SCIKIT_LEARN_SAYS):
        return True
    if "\n" in words.strip() or len(words.split()) < 3 or len(words) > 1000:
        return False
    frames = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    return bool(frames) and (PACKAGE in frames[-1].parents or _checks(frames[-1]))


def _checks(path: Path) -> bool:
    return "sklearn" in path.parts and ("utils" in path.parts or path.name in ("base.py", "_split.py"))


def refuse_odd_numbers(what: str, *found: Any) -> None:
    """A law: answers are finite."""
    for numbers in found:
        numbers = np.asarray(numbers)
        if numbers.dtype.kind in "fc" and not np.all(np.isfinite(numbers)):
            raise Broken(f"{what} are not finite: {numbers.ravel()[~np.isfinite(numbers.ravel())][:3]}")


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Arithmetic that warns was not thought of; notes to users are as they should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in (RuntimeWarning, DeprecationWarning, FutureWarning):
            warnings.simplefilter("error", kind)
        # Of pandas and joblib, about how they are called by others.
        warnings.filterwarnings("ignore", module=r"(pandas|joblib|polars|skops)\b.*")
        yield


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
