"""What the README shows must work as shown."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_python_blocks_run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn.callback")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    assert names["model"].best_params_
    shown = re.search(r"```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)
    assert shown in capsys.readouterr().out


def test_every_public_name_is_in_the_table():
    import sessc

    text = README.read_text(encoding="utf-8")
    table = text[text.index("## What is in it") :]
    missing = [name for name in sessc.__all__ if f"`{name}`" not in table]
    assert missing == ["RuleBase"]  # shown as model.rules_
