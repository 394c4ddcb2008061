"""The lowest versions that ``pyproject.toml`` declares, as requirements.

python -m hunt.floors pyproject.toml
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

__all__ = ["floors"]

NEEDED = ("hypothesis", "jsonschema", "matplotlib", "pandas", "polars", "pyarrow", "pytest", "rich")
"""Of what tests need, what the tests of floors need."""


OF_THEN = ("pyparsing<3.3",)
"""What those call by names that have been deprecated since."""


def floors(text: str) -> list[str]:
    """Each dependency at its floor: those of the library, and of the tests those of what is run."""
    project = tomllib.loads(text)["project"]
    wanted = {re.split(r"[\[>]", one)[0]: one for one in project["optional-dependencies"]["dev"]}
    lines = [*project["dependencies"], *(wanted[name] for name in NEEDED)]
    return [*(line.replace(">=", "==") for line in lines), *OF_THEN]


if __name__ == "__main__":
    print("\n".join(floors(Path(sys.argv[1]).read_text())))
