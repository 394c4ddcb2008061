"""Which code computed a line: the commit of the checkout, taken once when a run begins."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

__all__ = ["commit"]

ROOT = Path(__file__).parents[1]
CODE = ("src", "experiments/*.py")


@cache
def commit() -> str:
    """The short name of the commit that is checked out, with a plus if the code is not as it was committed.

    ``SESSC_COMMIT`` names it where there is no checkout.
    """
    named = os.environ.get("SESSC_COMMIT")
    if named:
        return named
    changed = _git("status", "--porcelain", "--", *CODE)
    return _git("rev-parse", "--short=7", "HEAD").strip() + ("+" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
