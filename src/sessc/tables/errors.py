"""What is wrong with a table, told to whoever can do something about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["TableError"]


def _in_python(parameter: str, value: Any) -> str:
    return f"{parameter}={value!r}"


class TableError(ValueError):
    """A table that could be meant in several ways, and the parameters that would say in which.

    Parameters
    ----------
    what : str
        What is wrong, and what could be done about the table itself.
    ways : pairs of a parameter and its value
        Any of them would do.
    verb : str, optional
        What to do with them, if it is not simply to give them.
    rest : str
        The end of the sentence.
    """

    def __init__(self, what: str, *ways: tuple[str, Any], verb: str | None = None, rest: str = ""):
        self.what, self.ways, self.verb, self.rest = what, ways, verb, rest
        super().__init__(self.said(_in_python, "pass"))

    def said(self, way: Callable[[str, Any], str], give: str) -> str:
        """The sentence for somebody who gives parameters in this way, and calls that so."""
        ways = " or ".join(way(parameter, value) for parameter, value in self.ways)
        return f"{self.what}, or {self.verb or give} {ways}{self.rest}."
