"""Downloads go over real connections to a server on this machine, which has what UCI's would have."""

import csv
import errno
import hashlib
import os
import shutil
import subprocess
import threading
import tracemalloc
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from sessc.datasets import load
from sessc.datasets import loading as datasets
from sessc.datasets import uci as _uci
from sessc.datasets.uci import CELLS, SOURCES, shortest, uncompress

TABLES = Path(os.environ.get("SESSC_DATA") or Path(__file__).parents[2] / "shared" / "data")

WPBC, VEHICLE, SEGMENT = "/breast-cancer-wisconsin/wpbc.data", "/statlog/vehicle/xa{}.dat", "/image/segmentation."
SATELLITE, WAVEFORM, STEEL = "/statlog/satimage/sat.", "/waveform/waveform.data.Z", "/00198/Faults.NNA"
BIODEG, DRD = "/00254/biodeg.csv", "/00329/messidor_features.arff"

SEGMENT_HEADER = ";;; -*- Mode:Common-Lisp; Base:10 -*-\n;;; Last-edit\n\n" + ",".join(["HUE-MEAN"] * 19) + "\n\n"
ARFF_HEADER = "@relation dr\n\n" + "".join(f"@attribute {n} numeric\n" for n in range(20)) + "\n@data\n"


def compress(data, widest=16, forgetful=False):
    """Packs as the Unix command does; a forgetful one starts again whenever it can learn no more."""
    codes, known, runs, string = {}, 257, [(9, [])], b""

    def write(code):
        nonlocal known
        width, run = runs[-1]
        known += bool(run or width > 9) and known < 1 << widest  # the reader learns nothing from a first code
        run.append(code)
        if known == 1 << width and width < widest:
            runs.append((width + 1, []))

    for byte in data:
        longer = string + bytes([byte])
        if len(longer) == 1 or longer in codes:
            string = longer
            continue
        write(codes.get(string, string[0]))
        string = longer[-1:]
        if 257 + len(codes) < 1 << widest:
            codes[longer] = 257 + len(codes)
        elif forgetful:
            write(256)
            codes, known = {}, 257
            runs.append((9, []))
    if string:
        write(codes.get(string, string[0]))
    octets = [(width, run[at : at + 8]) for width, run in runs for at in range(0, len(run), 8)]
    body = b"".join(
        sum(code << width * place for place, code in enumerate(octet)).to_bytes(width, "little")
        for width, octet in octets
    )
    padding = (8 - len(octets[-1][1])) * octets[-1][0] // 8 if octets else 0
    return b"\x1f\x9d" + bytes([128 | widest]) + body[: len(body) - padding]


class Repository(ThreadingHTTPServer):
    """A server of ``files``, bytes by path or a function of the request, that notes what it was ``asked``."""

    class RequestHandlerClass(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            answer = self.server.files.get(self.path)
            if callable(answer):
                answer(self)
            elif answer is None:
                self.send_error(404)
            else:
                self.send(answer, len(answer))

        def send(self, content, length):
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.RequestHandlerClass)
        self.files, self.asked = {}, []


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """No folder of the machine is looked at."""
    monkeypatch.delenv("SESSC_DATA", raising=False)
    monkeypatch.setenv("SESSC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache"


@pytest.fixture
def repository(monkeypatch):
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("SESSC_UCI", f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def vehicles(repository, monkeypatch):
    """A repository that has vehicles, one in each file, and the table made of them."""
    lines = [" ".join(map(str, range(first, first + 18))) for first in range(9)]
    repository.files |= {
        VEHICLE.format(letter): f"{line} bus \r\n".encode()
        for letter, line in zip("abcdefghi", lines, strict=True)
    }
    table = table_of("vehicle", [line.replace(" ", ",") + ",bus" for line in lines])
    expect(monkeypatch, "vehicle", table)
    return table


def table_of(name, lines):
    return "\n".join([SOURCES[name].features.replace(" ", ",") + ",target", *lines, ""]).encode()


def expect(monkeypatch, name, table):
    monkeypatch.setitem(datasets.HASHES, name, hashlib.sha256(table).hexdigest())


# What the repository has, and the lines of the table it should become. Numbers are made up.
SMALL = {
    "wpbc": (
        {WPBC: f"101,N,31,{'1.50,' * 30}5.0,?\n102,R,7,{'0.25,' * 30}2,10\n"},
        ["1.5," * 30 + "5,,N", "0.25," * 30 + "2,10,R"],
    ),
    "wpbc_with_time": (
        {WPBC: f"101,N,31,{'1.50,' * 30}5.0,?\n102,R,7,{'0.25,' * 30}2,10\n"},
        ["31," + "1.5," * 30 + "5,,N", "7," + "0.25," * 30 + "2,10,R"],
    ),
    "vehicle": (
        {VEHICLE.format(letter): f"{n} " * 18 + "van \r\n" for n, letter in enumerate("abcdefghi")}
        | {VEHICLE.format("b"): "  7" * 18 + "  saab\n" + "8\t" * 18 + "opel \n\n"},
        ["0," * 18 + "van", "7," * 18 + "saab", "8," * 18 + "opel", *[f"{n}," * 18 + "van" for n in range(2, 9)]],
    ),
    "biodeg": (
        {BIODEG: "3.919;" * 41 + "RB\n" + "-0.2;" * 41 + "NRB\n"},
        ["3.919," * 41 + "RB", "-0.2," * 41 + "NRB"],
    ),
    "drd": (
        {DRD: ARFF_HEADER + "1," * 19 + "0\n" + "0.018632," * 19 + "1"},
        ["1," * 19 + "0", "0.018632," * 19 + "1"],
    ),
    "steel": (
        {
            STEEL: "42\t" * 14
            + "0.4706\t" * 12
            + "1.0000\t1\t0\t0\t0\t0\t0\t0\n"
            + "3\t" * 27
            + "0\t0\t1\t0\t0\t0\t0\n"
        },
        ["42," * 14 + "0.4706," * 12 + "1,Pastry", "3," * 27 + "K_Scratch"],
    ),
    "segment": (
        {
            SEGMENT + "data": SEGMENT_HEADER + "BRICKFACE" + ",140.0" * 19 + "\n",
            SEGMENT + "test": SEGMENT_HEADER + "SKY" + ",-1.5894573e-8" * 19 + "\n",
        },
        ["140.0," * 19 + "brickface", "-1.5894573e-8," * 19 + "sky"],
    ),
    "waveform21": (
        {WAVEFORM: "-0.00," * 21 + "2\n" + "0.60," * 21 + "0\n"},
        ["-0.00," * 21 + "2", "0.60," * 21 + "0"],
    ),
    "satellite": (
        {SATELLITE + "trn": "92 " * 36 + "3 \n", SATELLITE + "tst": "80 " * 36 + "7\n"},
        ["92," * 36 + "3", "80," * 36 + "7"],
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_formats(name, repository, monkeypatch, cache):
    files, lines = SMALL[name]
    repository.files = {
        path: compress(text.encode()) if path.endswith(".Z") else text.encode() for path, text in files.items()
    }
    table = table_of(name, lines)
    expect(monkeypatch, name, table)
    bunch = load(name)
    assert (cache / f"{name}.csv").read_bytes() == table
    assert bunch.feature_names == SOURCES[name].features.split()
    assert bunch.target.tolist() == [line.split(",")[-1] for line in lines]
    assert bunch.data.shape == (len(lines), len(bunch.feature_names))


def test_every_table_but_wdbc_has_a_source():
    assert set(SOURCES) == set(SMALL) == set(datasets.HASHES) - {"wdbc"}
    assert len(CELLS) == 30


def raw(name, rows):
    """The repository's files, written back from the rows of a table."""
    numbers, labels = [row[:-1] for row in rows], [row[-1] for row in rows]
    pairs = list(zip(numbers, labels, strict=True))
    if name.startswith("wpbc"):
        times = [line.pop(0) if name.endswith("time") else "0" for line in numbers]
        cells = [",".join(value or "?" for value in line) for line in numbers]
        return {WPBC: [f"9{n},{labels[n]},{times[n]},{cells[n]}\n" for n in range(len(rows))]}
    if name == "vehicle":
        lines = [f"{' '.join(line)} {label:4}\r\n" for line, label in pairs]
        return {VEHICLE.format(letter): lines[94 * n : 94 * n + 94] for n, letter in enumerate("abcdefghi")}
    if name == "biodeg":
        return {BIODEG: [";".join(row) + "\n" for row in rows]}
    if name == "drd":
        return {DRD: [ARFF_HEADER, *(",".join(row) + "\n" for row in rows)]}
    if name == "steel":
        lines = [[*line[:14], *(f"{float(value):.4f}" for value in line[14:])] for line in numbers]
        marks = [["1" if fault == label else "0" for fault in _uci.FAULTS] for label in labels]
        return {STEEL: ["\t".join(line + mark) + "\n" for line, mark in zip(lines, marks, strict=True)]}
    if name == "segment":
        lines = [",".join([label.upper(), *line]) + "\n" for line, label in pairs]
        return {
            SEGMENT + "data": [SEGMENT_HEADER, *lines[:210]],
            SEGMENT + "test": [SEGMENT_HEADER, *lines[210:]],
        }
    if name == "satellite":
        lines = [" ".join(row) + " \n" for row in rows]
        return {SATELLITE + "trn": lines[:4435], SATELLITE + "tst": lines[4435:]}
    return {WAVEFORM: [",".join(row) + "\n" for row in rows]}


@pytest.mark.parametrize("name", SOURCES)
def test_whole_tables_come_back_to_the_byte(name, repository, cache):
    if not (TABLES / f"{name}.csv").exists():
        pytest.skip(f"{name}.csv is not in {TABLES}; name a folder that has it in SESSC_DATA")
    table = (TABLES / f"{name}.csv").read_bytes()
    _, *rows = csv.reader(table.decode().splitlines())
    files = {path: "".join(lines).encode() for path, lines in raw(name, rows).items()}
    repository.files = {path: compress(data) if path.endswith(".Z") else data for path, data in files.items()}
    load(name)
    assert (cache / f"{name}.csv").read_bytes() == table


def test_what_was_downloaded_is_kept(repository, vehicles, cache):
    first = load("vehicle")
    assert repository.asked == [VEHICLE.format(letter) for letter in "abcdefghi"]
    second = load("vehicle")
    assert len(repository.asked) == 9
    np.testing.assert_array_equal(first.data, second.data)
    assert [path.name for path in cache.iterdir()] == ["vehicle.csv"]


def test_a_folder_named_by_the_user_comes_first(repository, vehicles, cache, monkeypatch, tmp_path):
    (tmp_path / "vehicle.csv").write_bytes(vehicles)
    monkeypatch.setenv("SESSC_DATA", str(tmp_path))
    assert load("vehicle").data.shape == (9, 18)
    assert not repository.asked
    assert not cache.exists()


def test_a_folder_without_the_table_is_no_obstacle(repository, vehicles, monkeypatch, tmp_path):
    monkeypatch.setenv("SESSC_DATA", str(tmp_path))
    assert load("vehicle").data.shape == (9, 18)


def test_wdbc_is_never_downloaded(repository):
    assert load("wdbc").data.shape == (569, 30)
    assert not repository.asked


def test_a_mirror_may_be_a_folder(repository, vehicles, monkeypatch, tmp_path):
    for path, content in repository.files.items():
        (tmp_path / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path[1:]).write_bytes(content)
    monkeypatch.setenv("SESSC_UCI", tmp_path.as_uri())
    assert load("vehicle").data.shape == (9, 18)
    assert not repository.asked


def refused(name="vehicle", error=FileNotFoundError):
    """The sentence with which a table is refused, which leaves nothing behind."""
    with pytest.raises(error) as info:
        load(name)
    assert not list(Path(os.environ["SESSC_CACHE"]).glob("*"))
    sentence = str(info.value)
    assert sentence.endswith(
        f"put {name}.csv in a folder and name that folder in the environment variable SESSC_DATA."
    )
    assert "\n" not in sentence
    return sentence


def test_a_changed_file_is_refused(repository, vehicles):
    repository.files[VEHICLE.format("e")] = b"1 " * 18 + b"bus\n"
    assert "xae.dat, xaf.dat" in refused(error=ValueError)


@pytest.mark.parametrize(
    ("name", "path"), [("vehicle", VEHICLE.format("c")), ("waveform21", WAVEFORM), ("steel", STEEL)]
)
@pytest.mark.parametrize("content", [b"", b"\x1f\x9d", b"<html>Log in</html>", b"a " * 18 + b"bus", b"0\t" * 34])
def test_what_is_no_table_is_refused(name, path, content, repository, vehicles):
    repository.files[path] = content
    assert "hash differs" in refused(name, ValueError)


def test_a_missing_file_is_named(repository, vehicles):
    del repository.files[VEHICLE.format("d")]
    assert f"{VEHICLE.format('d')} could not be read (HTTP Error 404: Not Found)" in refused()


def test_a_server_that_is_not_there(repository, vehicles, monkeypatch):
    with Repository() as closed:
        port = closed.server_port
    monkeypatch.setenv("SESSC_UCI", f"http://127.0.0.1:{port}")
    assert "refused" in refused()


def test_a_server_that_dies_halfway(repository, vehicles):
    repository.files[VEHICLE.format("b")] = lambda request: request.send(b"1 2 3", 1000)
    assert "995 more expected" in refused()
    repository.files[VEHICLE.format("b")] = lambda request: None
    assert "closed connection without response" in refused()


def test_a_server_that_falls_silent(repository, vehicles, monkeypatch):
    monkeypatch.setattr(_uci, "TIMEOUT", 0.1)
    over = threading.Event()
    repository.files[VEHICLE.format("b")] = lambda request: over.wait(10)
    assert "timed out" in refused()
    over.set()


@pytest.mark.parametrize("head", [b"", b"HTTP/1.0 200 OK\r\n\r\n"], ids=["headers", "content"])
def test_a_server_that_never_ends(head, repository, vehicles, monkeypatch):
    """A byte now and then is no silence, and would be waited for as long as the server likes."""
    monkeypatch.setattr(_uci, "PATIENCE", 0.5)
    over = threading.Event()

    def drip(request):
        request.wfile.write(head)
        with suppress(OSError):
            while not over.wait(0.05):
                request.wfile.write(b"a")

    repository.files[VEHICLE.format("b")] = drip
    assert "it took more than 0.5 seconds" in refused()
    over.set()


@pytest.mark.parametrize("length", [None, 2**40])
def test_a_server_that_sends_too_much(length, repository, vehicles, monkeypatch):
    monkeypatch.setattr(_uci, "MOST", 2**20)
    sent = []

    def flood(request):
        request.send_response(200)
        if length:
            request.send_header("Content-Length", str(length))
        request.end_headers()
        with suppress(OSError):  # nobody listens any more
            while len(sent) < 200:
                request.wfile.write(b"1 " * 2**19)
                sent.append(1)

    repository.files[VEHICLE.format("b")] = flood
    assert "it has more than 1 MiB" in refused()
    assert len(sent) < 50  # the others wait in vain in between


@pytest.mark.parametrize("address", ["nonsense", "http://a b", "gopher://127.0.0.1"])
def test_an_address_that_is_none(address, monkeypatch):
    monkeypatch.setenv("SESSC_UCI", address)
    assert f"{address}/statlog/vehicle/xaa.dat could not be read" in refused()


def test_a_cache_that_cannot_be_written(repository, vehicles, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SESSC_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(
        OSError, match=r"vehicle\.csv cannot be written.*; name another folder in .* SESSC_CACHE\.$"
    ):
        load("vehicle")


def test_a_write_cut_short_leaves_nothing(repository, vehicles, cache, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        load("vehicle")
    assert not list(cache.iterdir())


def test_shortest():
    assert [shortest(text) for text in ("1.0000", "0.6000", "-0.2", "12987692", "?", "0")] == (
        ["1", "0.6", "-0.2", "12987692", "", "0"]
    )


def texts():
    random = np.random.default_rng(0)
    numbers = ",".join(f"{value:.2f}" for value in random.normal(size=30_000)).encode()
    return {
        "nothing": b"",
        "letter": b"a",
        "repeats": b"a" * 5000,
        "numbers": numbers,
        "noise": random.bytes(9000),
    }


@pytest.mark.parametrize("text", texts())
@pytest.mark.parametrize(("widest", "forgetful"), [(16, False), (12, False), (12, True), (10, True)])
def test_uncompress_undoes_compress(text, widest, forgetful):
    data = texts()[text]
    packed = compress(data, widest, forgetful)
    assert uncompress(packed) == data
    if shutil.which("gzip") and data:  # which also reads this format: the encoder above is the real one
        assert subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True).stdout == data


def test_a_small_file_that_unpacks_to_much_takes_little_memory():
    """Strings of one letter grow by one each, so that all of them together grow as the square of the output."""
    packed = compress(b"a" * 2_000_000)
    assert len(packed) < 4000
    tracemalloc.start()
    assert uncompress(packed) == b"a" * 2_000_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20


@pytest.mark.parametrize("mark", [b"\x1f\x9d\x1f", b"\x1f\x9d\x83", b"\x1f\x9e\x90"])
def test_what_compress_never_wrote_is_refused(mark):
    with pytest.raises(ValueError, match="not packed by compress"):
        uncompress(mark + b"\0" * 100)


def test_a_file_that_unpacks_to_more_than_any_has_is_refused(repository, vehicles, monkeypatch):
    monkeypatch.setattr(_uci, "MOST", 2**16)
    repository.files[WAVEFORM] = compress(b"a" * 2**20)
    assert "hash differs" in refused("waveform21", ValueError)
    with pytest.raises(ValueError, match="unpacks to more than 0 MiB"):
        uncompress(compress(b"a" * 2**20))
