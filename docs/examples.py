"""Puts into the README and the guide what their examples print now: python docs/examples.py [reading editing ...].

Of a page, blocks of Python run one after the other, and a block of text shows what was printed since the last one.
Commands of consoles run after them.
"""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import matplotlib as mpl

from sessc.cli.main import main as sessc

DOCS = Path(__file__).resolve().parent
GUIDE = (
    *("choose", "settings", "reading", "why", "ship", "coming-from"),
    *("evaluation", "report", "command-line", "editing", "files"),
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n(?:(?!\$ ).*\n)*", re.MULTILINE)


def main() -> None:
    mpl.use("agg")
    for name in sys.argv[1:] or ("README", *GUIDE):
        path = DOCS.parent / "README.md" if name == "README" else DOCS / f"{name}.md"
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for table in DOCS.glob("*.csv"):
                shutil.copy(table, folder)
            script = partial(with_printed, {"__name__": "__main__"}, io.StringIO())
            page = BLOCK.sub(script, path.read_text(encoding="utf-8"))
            page = BLOCK.sub(with_answers, page)
        path.write_text(page, encoding="utf-8")


def with_printed(names: dict, printed: io.StringIO, block: re.Match) -> str:
    """A block of Python, which is run, or of text with what was printed."""
    language, body = block.groups()
    if language == "python":
        with contextlib.redirect_stdout(printed):
            exec(body, names)
    shown = printed.getvalue().rstrip()
    if language != "text" or not shown:
        return block[0]
    printed.seek(0)
    printed.truncate()
    return f"```text\n{shown}\n```"


def with_answers(block: re.Match) -> str:
    """A block of commands with what they print."""
    language, body = block.groups()
    if language != "console":
        return block[0]
    answered = COMMAND.sub(lambda command: f"$ {command[1]}\n{printed_by(command[1])}", body)
    return f"```console\n{answered}```"


def printed_by(command: str) -> str:
    name, *arguments = shlex.split(command)
    if name != "sessc":
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        sessc(arguments)
    return err.getvalue() + out.getvalue()


if __name__ == "__main__":
    main()
