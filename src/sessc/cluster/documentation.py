"""What the documentation of several estimators has in common, written once."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["documented"]


def documented(**parts: str) -> Callable[[type], type]:
    """Fill in the parts that a docstring names in braces, parts of parts included."""

    def fill(cls: type) -> type:
        assert cls.__doc__ is not None
        for name, text in parts.items():
            cls.__doc__ = cls.__doc__.replace("{" + name + "}", text)
        return cls

    return fill
