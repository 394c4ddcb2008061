import subprocess
import sys

import pytest

from sessc import __version__
from sessc.cli import main


def test_demo_shows_scores_and_rules(capsys):
    assert main(["demo", "--rules", "3"]) == 0
    shown = capsys.readouterr().out
    for words in ("logistic regression", "short rules", "Rule 3", "malignant", "worst radius", "Settings"):
        assert words in shown


def test_mistakes_are_one_line(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--rules", "0"])
    assert stop.value.code == 2
    assert "n_rules must be a positive integer, got 0." in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert __version__ in capsys.readouterr().out


def test_importing_is_light():
    """Heavy optional packages are imported by the functions that need them."""
    heavy = [
        "torch",
        "matplotlib",
        "dask",
        "onnx",
        "polars",
        "jinja2",
    ]  # scikit-learn itself brings pandas and rich
    code = f"import sys, sessc; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
