"""Fits on a real cluster of processes, which may lose workers on the way."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone

from sessc import FCM, SESSC, Blocks, SESSCRegressor, TSKClassifier, TSKClassifierCV, TSKRegressor

da = pytest.importorskip("dask.array")
import dask  # noqa: E402

distributed = pytest.importorskip("distributed")

from sessc.rows import dask as dask_rows  # noqa: E402
from test_scale import assert_same, learned  # noqa: E402

MODELS = [
    FCM(3, random_state=0),
    SESSC(3, random_state=0),
    SESSCRegressor(3, random_state=0),
    TSKClassifier(3, order=1, refine=20, class_weight="balanced", random_state=0),
    TSKRegressor(4, refine=10, random_state=0),
]


class Cluster:
    """A scheduler and its workers as processes of their own, found through a file and joined over TCP."""

    def __init__(self, folder, n_workers):
        self.contact = folder / "scheduler.json"
        self.start("scheduler", "--port", "0", "--no-dashboard")
        self.workers = [self.start_worker() for _ in range(n_workers)]

    def start(self, role, *options):
        command = [
            sys.executable,
            "-m",
            "dask",
            role,
            "--scheduler-file",
            str(self.contact),
            "--host",
            "127.0.0.1",
        ]
        process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes = [*getattr(self, "processes", []), process]
        return process

    def start_worker(self):
        return self.start("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0")

    def kill(self, process):
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path, 2)
    try:
        deadline = time.monotonic() + 60
        while not cluster.contact.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(cluster.contact), set_as_default=True) as client:
            client.wait_for_workers(2, timeout=60)
            yield cluster
    finally:
        cluster.close()


def partitioned(*arrays, rows=30):
    return [da.from_array(array, chunks=(rows, *array.shape[1:])) for array in arrays]


def test_a_cluster_finds_what_one_process_finds(cluster, blobs, rng):
    X, y = blobs
    weight = rng.random(len(X)).round(1)
    for model in MODELS:
        found = clone(model).fit(*partitioned(X, y), sample_weight=partitioned(weight)[0])
        expected = clone(model).fit(X, y, sample_weight=weight)
        assert_same(found, expected)
        assert all(type(part) is np.ndarray for part in learned(found))
        answers = found.predict(partitioned(X)[0])
        assert isinstance(answers, da.Array)  # computed when asked for
        np.testing.assert_allclose(answers.compute(), expected.predict(X), rtol=1e-7)


def test_a_search_on_a_cluster_chooses_what_one_process_chooses(cluster, blobs):
    X, y = blobs
    model = TSKClassifierCV(n_rules=[2, 3], order=0, alphas=[0.1, 1.0], refine=20, random_state=0)
    found, expected = clone(model).fit(*partitioned(X, y)), clone(model).fit(Blocks([(X[::-1], y[::-1])]))
    assert found.best_params_ == expected.best_params_
    assert_same(found, expected, 1e-6)


def test_a_killed_worker_is_made_up_for(cluster, blobs, monkeypatch):
    X, y = blobs
    model = TSKClassifier(3, refine=20, random_state=0)
    undisturbed = clone(model).fit(*partitioned(X, y))
    passes, sum_rows = [], dask_rows.DaskRows.sum

    def sum_and_kill(rows, fn):
        passes.append(fn)
        if len(passes) == 6:
            cluster.kill(cluster.workers[0])
        return sum_rows(rows, fn)

    monkeypatch.setattr(dask_rows.DaskRows, "sum", sum_and_kill)
    assert_same(clone(model).fit(*partitioned(X, y)), undisturbed, 1e-10)
    assert len(passes) > 6


@pytest.mark.parametrize("also_the_scheduler", [False, True])
def test_a_fit_without_workers_ends(cluster, blobs, monkeypatch, also_the_scheduler):
    X, _ = blobs
    monkeypatch.setattr(dask_rows, "PATIENCE", 2.0)
    monkeypatch.setattr(dask_rows, "GLANCE", 0.5)
    passes, sum_rows = [], dask_rows.DaskRows.sum

    def sum_and_kill(rows, fn):
        passes.append(fn)
        if len(passes) == 5:
            for process in cluster.processes[0 if also_the_scheduler else 1 :]:
                cluster.kill(process)
        return sum_rows(rows, fn)

    monkeypatch.setattr(dask_rows.DaskRows, "sum", sum_and_kill)
    started = time.monotonic()
    with pytest.raises(RuntimeError, match=r"Dask cluster .*; start .* again"):
        FCM(3, random_state=0).fit(*partitioned(X))
    assert time.monotonic() - started < 30


def test_threads_of_this_process_will_do(blobs):
    X, y = blobs
    for model in MODELS[1:4]:
        assert_same(clone(model).fit(*partitioned(X, y)), clone(model).fit(X, y))


def test_a_typo_in_a_partition_is_no_value(blobs):
    X, y = blobs
    typo, without = X.copy(), X.copy()
    typo[7, 1], without[7, 1] = 1e6, np.nan
    rules = [
        TSKClassifier(3, refine=20, random_state=0).fit(da.from_array(Z, chunks=(50, -1)), da.from_array(y)).rules_
        for Z in (typo, without)
    ]
    np.testing.assert_allclose(rules[0].outputs(X), rules[1].outputs(X), atol=1e-9)


def test_frames_keep_their_names_and_labels(blobs):
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = blobs
    frame = pandas.DataFrame(X, columns=list("abcde")).assign(kind=np.asarray(["no", "yes", "perhaps"])[y])
    table = dd.from_pandas(frame, npartitions=4)
    model = TSKClassifier(3, random_state=0)
    found = clone(model).fit(table[list("abcde")], table["kind"])
    expected = clone(model).fit(frame[list("abcde")], frame["kind"])
    assert_same(found, expected)
    assert list(found.feature_names_in_) == list("abcde")
    np.testing.assert_array_equal(
        found.predict(table[list("abcde")]).compute(), expected.predict(frame[list("abcde")])
    )
    with pytest.raises(ValueError, match="fitted to"):
        found.predict(table[list("bacde")])


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, which Dask uses
def test_parquet_keeps_its_partitions(blobs, rng, tmp_path):
    """Dask joins those of which few columns are read, and X, y and weights would not go together."""
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, y = blobs
    frame = pandas.DataFrame(X, columns=list("abcde")).assign(kind=np.asarray(["no", "yes", "perhaps"])[y])
    frame["a"], frame["count"] = np.where(X[:, 0] > 0, "high", "low"), rng.integers(1, 3, size=len(X))
    for number, part in enumerate(np.array_split(np.arange(len(X)), 8)):
        frame.iloc[part].to_parquet(tmp_path / f"part-{number}.parquet", index=False)
    table, model = dd.read_parquet(tmp_path), TSKClassifier(3, random_state=0)
    for columns in (list("abcde"), list("bc")):
        found = clone(model).fit(table[columns], table["kind"], sample_weight=table["count"])
        assert_same(found, clone(model).fit(frame[columns], frame["kind"], sample_weight=frame["count"]))
        assert found.predict(table[columns]).numblocks == (8,)


def test_collections_say_what_is_wrong(blobs, rng):
    X, y = blobs
    table, labels = partitioned(X, y)
    broken = X.copy()
    broken[70, 1] = np.inf
    wrong = {
        r"Partition 2 of X contains an infinite value \(inf\) in row 10, column 1": lambda: FCM(2).fit(
            *partitioned(broken)
        ),
        "table of rows and features": lambda: FCM(2).fit(labels),
        r"y has the shape \(100,\) and X has 240 rows": lambda: TSKClassifier(2).fit(table, labels[:100]),
        "requires y": lambda: TSKClassifier(2).fit(table),
        "or as long as X": lambda: TSKClassifier(2).fit(table, y[:5]),
        "encode them as numbers": lambda: FCM(2).fit(da.from_array(np.asarray([["a"], ["b"]]))),
    }
    for message, attempt in wrong.items():
        with pytest.raises(ValueError, match=message):
            attempt()
    TSKClassifier(2, random_state=0).fit(table, y)  # labels of the right length may stay at home


def narrower(X, width, rows=30):
    """A collection that says that all of its partitions are as wide as X, and one of them is not."""
    parts = [X[:rows], X[rows : 2 * rows, :width], X[2 * rows :]]
    return da.concatenate([da.from_delayed(dask.delayed(part), (len(part), X.shape[1]), float) for part in parts])


@pytest.mark.parametrize("width", [1, 2])
def test_partitions_of_unlike_width_are_refused(blobs, width):
    X, y = blobs
    assert X.shape[1] > width
    table, words = narrower(X, width), f"has {width} columns, and X says it has {X.shape[1]}"
    for model in (FCM(3, random_state=0), FCM(3, init=X[:3]), TSKClassifier(3, random_state=0)):
        with pytest.raises(ValueError, match=f"Partition 1 of X {words}"):
            clone(model).fit(table, y)
        with pytest.raises(ValueError, match=f"A partition of X {words}"):
            clone(model).fit(X, y).predict(table).compute()


@pytest.mark.parametrize("labels", [[1, "a"], [1.5, "a", 2]])
@pytest.mark.parametrize("dtype", [object, None])
def test_labels_of_several_kinds_are_a_sentence(blobs, labels, dtype):
    X = blobs[0][:90]
    parts = [np.full(30, labels[k % len(labels)], dtype=dtype) for k in range(3)]
    places = [slice(0, 30), slice(30, 60), slice(60, 90)]
    collection = da.concatenate([da.from_delayed(dask.delayed(part), (30,), part.dtype) for part in parts])
    blocks = Blocks([(X[place], part) for place, part in zip(places, parts, strict=True)])
    # Dask itself makes text of numbers beside text, unless all are objects.
    for given in ((blocks,), *([(da.from_array(X, chunks=(30, -1)), collection)] if dtype else [])):
        with pytest.raises(ValueError, match=r"y holds labels of several kinds, (float|int)"):
            TSKClassifier(3, random_state=0).fit(*given)


@pytest.mark.parametrize("kind", ["FutureCancelledError", "FuturesCancelledError"])
def test_whatever_a_lost_scheduler_is_called_it_is_a_sentence(monkeypatch, kind):
    error = getattr(distributed.client, kind)
    lost = error(*{"FutureCancelledError": ["x", "lost"], "FuturesCancelledError": [[]]}[kind])

    class Client:
        def compute(self, tasks):
            return tasks

        def gather(self, futures, asynchronous):
            raise lost

        def sync(self, fn, callback_timeout):
            return fn()

    monkeypatch.setattr(dask_rows, "_client", Client)
    with pytest.raises(RuntimeError, match="lost its scheduler; start one and fit again"):
        dask_rows._computed([])


def test_a_stream_of_collections(blobs):
    X, y = blobs
    for model in (FCM(3, random_state=0), TSKClassifier(3, random_state=0)):
        here, there = clone(model), clone(model)
        for part in (slice(0, 120), slice(120, 240)):
            here.partial_fit(X[part], y[part])
            there.partial_fit(*partitioned(X[part], y[part]))
        assert_same(there, here)


def test_empty_partitions_do_no_harm(blobs):
    X, y = blobs
    table, labels = da.from_array(X, chunks=((0, 100, 0, 140), 5)), da.from_array(y, chunks=((0, 100, 0, 140),))
    found = SESSC(3, random_state=0).fit(table, labels)
    assert_same(found, SESSC(3, random_state=0).fit(Blocks([(X[:100], y[:100]), (X[100:], y[100:])])))
    assert found.predict(table).compute().shape == (240,)
