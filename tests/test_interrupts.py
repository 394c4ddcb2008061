"""Ctrl-C ends the command quietly at any moment: real processes, real signals."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

SCRIPT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "scripts"
]["sessc"]
MODULE, _, FUNCTION = SCRIPT.partition(":")
COMMAND = f"""
import signal, sys
signal.signal(signal.SIGINT, getattr(signal, sys.argv.pop(1)))  # whatever these tests themselves were started with
print("started", flush=True)
from {MODULE} import {FUNCTION}
sys.exit({FUNCTION}())
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="this system has no SIGINT to send")


def started(*arguments, on_interrupt="default_int_handler"):
    given = [sys.executable, "-c", COMMAND, on_interrupt, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(given, **pipes)
    assert running.stdout.readline() == "started\n"
    return running


@pytest.fixture
def table(tmp_path):
    """One that takes long to learn from."""
    rows = [f"{k * 37 % 1009},{k * 91 % 997},{k % 3}" for k in range(5000)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    return tmp_path / "t.csv"


@pytest.mark.parametrize("seconds", [0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0])
def test_an_interruption_is_quiet_at_any_moment(table, seconds):
    running = started("fit", table, "--target", "y")
    time.sleep(seconds)
    running.send_signal(signal.SIGINT)
    _, complaints = running.communicate(timeout=60)
    assert (running.returncode, complaints) == (130, "")
    assert [path.name for path in table.parent.iterdir()] == ["t.csv"]


def test_an_interruption_that_is_to_be_ignored_is():
    """As the shell asks of what runs in the background."""
    running = started("--version", on_interrupt="SIG_IGN")
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    said, complaints = running.communicate(timeout=60)
    assert (running.returncode, complaints) == (0, "")
    assert said.startswith("sessc ")


def test_exit_codes_are_those_of_the_command(tmp_path):
    running = started("info", tmp_path / "nothing.json")
    _, complaints = running.communicate(timeout=60)
    assert running.returncode == 2
    assert complaints.startswith("sessc: there is no file ")
