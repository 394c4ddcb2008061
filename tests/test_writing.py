"""Files are written whole or not at all: with other writers, full disks, kills and texts that are none."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sessc import Model, RuleBase
from sessc.cli.main import main


def rules(name="x", n_rules=2):
    answers = [({name: (float(r), 1.0)}, {"a": 1.0} if r % 2 else {"b": 1.0}) for r in range(n_rules)]
    return RuleBase.by_hand(answers)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


WRITERS = {
    "RuleBase.save": lambda rules, path: rules.save(path),
    "Model.save": lambda rules, path: Model(rules).save(path),
    "to_html": lambda rules, path: rules.to_html(path),
}


@pytest.fixture(params=WRITERS)
def write(request):
    return WRITERS[request.param]


def test_two_writers_never_mix(tmp_path):
    path, models = tmp_path / "m.json", [rules("x", 300), rules("y", 200)]
    models[0].save(path)
    stop = threading.Event()

    def keep_saving(model):
        while not stop.is_set():
            model.save(path)

    writers = [threading.Thread(target=keep_saving, args=(model,)) for model in models]
    for writer in writers:
        writer.start()
    try:
        found = {RuleBase.load(path).n_rules for _ in range(100)}
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert found <= {300, 200}
    assert names(tmp_path) == ["m.json"]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_text_that_is_none_leaves_the_old_file(write, tmp_path):
    path = tmp_path / "file"
    write(rules(), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"file cannot be written: '\\ud800' .* is no letter; rename"):
        write(rules("half \ud800"), path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["file"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a small file system cannot be mounted here: {error}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_model(small_disk):
    path = small_disk / "m.json"
    rules("x", 2).save(path)
    before = path.read_bytes()
    with pytest.raises(OSError, match="No space left on device") as full:
        rules("x", 1000).save(path)
    assert path.read_bytes() == before
    assert full.value.filename == str(path)
    assert names(small_disk) == ["m.json"]


def test_a_full_disk_leaves_the_old_answers(small_disk, tmp_path, capsys):
    rules().save(tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 10_000)
    out = small_disk / "answers.csv"
    out.write_text("old\n")
    given = ["predict", str(tmp_path / "m.json"), str(tmp_path / "t.csv"), "--out", str(out)]
    for json in ([], ["--json"]):
        assert main([*given, *json]) == 2
        assert out.read_text() == "old\n"
        assert capsys.readouterr().err == f"sessc: No space left on device: {out}\n"
        assert names(small_disk) == ["answers.csv"]


KILLED = """
import os, random, signal, sys, time
from sessc import RuleBase
from sessc.tables import files

path = sys.argv[1]
rules = RuleBase.by_hand([({"x": (float(r), 1.0)}, {"a": 1.0} if r % 2 else {"b": 1.0}) for r in range(2000)])
text = files.dumps(rules)
files.dumps = lambda *_: text  # so that it is mostly writing that is killed
rules.save(path)
for _ in range(30):
    child = os.fork()
    while not child:
        rules.save(path)
    time.sleep(random.uniform(0.005, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(path) as file:
        assert file.read() == text, "half a file is left"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_killed_writer_leaves_the_old_file(tmp_path):
    given = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path / "m.json")]
    found = subprocess.run(given, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_permissions_are_kept_and_new_files_have_the_usual_ones(write, tmp_path):
    path = tmp_path / "file"
    umask = os.umask(0o027)
    try:
        write(rules(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write(rules(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(umask)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_must_not_be_written_is_not_replaced(tmp_path):
    path = tmp_path / "m.json"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        rules().save(path)
    assert path.read_text() == "old"


def test_links_stay_links(write, tmp_path):
    (tmp_path / "there").mkdir()
    for target in (tmp_path / "there" / "old", tmp_path / "there" / "new"):
        link = tmp_path / f"to {target.name}"
        link.symlink_to(target)
        if target.name == "old":
            target.write_text("old")
        write(rules(), link)
        assert link.is_symlink()
        assert len(target.read_bytes()) > 100
    assert names(tmp_path / "there") == ["new", "old"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_pipes_are_written_into(tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    rules().save(pipe)
    reader.join()
    rules().save(tmp_path / "m.json")
    assert heard == [(tmp_path / "m.json").read_text(encoding="utf-8")]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_standard_output_may_be_named(tmp_path):
    rules().save(tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("x\n1\n")
    given = ["predict", str(tmp_path / "m.json"), str(tmp_path / "t.csv"), "--out", "/dev/stdout"]
    code = "import sys; from sessc.cli.main import main; raise SystemExit(main(sys.argv[1:]))"
    found = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("y,p(")
    with (tmp_path / "out").open("w") as out:
        kept = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", code, *given], stdout=out, check=True)
    assert (tmp_path / "out").stat().st_ino == kept
    assert (tmp_path / "out").read_text() == found.stdout


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    rules("old").save(path)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rules("new").save(path)
    assert RuleBase.load(path).feature_names == ("old",)
    assert names(tmp_path) == ["m.json"]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "m.json"):
        with pytest.raises(OSError, match="directory") as error:
            rules().save(path)
        assert error.value.filename == str(path)
    assert names(tmp_path) == []


def test_names_as_long_as_the_system_allows_are_written(tmp_path):
    path = tmp_path / ("m" * 250 + ".json")
    rules().save(path)
    assert names(tmp_path) == [path.name]


def test_onnx_files_are_written_whole(small_disk, tmp_path, capsys):
    pytest.importorskip("onnx")
    rules("x", 400).save(tmp_path / "m.json")
    out = small_disk / "m.onnx"
    out.write_text("old")
    (small_disk / "filling").write_bytes(bytes(50_000))
    assert main(["export", str(tmp_path / "m.json"), "--onnx", str(out)]) == 2
    assert out.read_text() == "old"
    assert capsys.readouterr().err == f"sessc: No space left on device: {out}\n"
    assert names(small_disk) == ["filling", "m.onnx"]
