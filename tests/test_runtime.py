"""What a fit does to the process it runs in, seen from processes of their own."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about glibc")

HOST = """
import ctypes
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sessc import FCM, Blocks, _runtime

told, library = [], ctypes.CDLL(None)


def mallopt(option, value):
    told.append((option, value))
    return library.mallopt(option, value)


_runtime.ctypes = SimpleNamespace(
    CDLL=lambda name: SimpleNamespace(mallopt=mallopt, malloc_trim=library.malloc_trim)
)


def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def fit(n, as_rows=lambda X: X):
    X = np.random.default_rng(0).normal(size=(n, 8))
    FCM(3, init=X[:3], max_iter=3, tol=0.0).fit(as_rows(X))


def left_behind():
    before = resident()
    arrays = [np.ones(3 * 2**20) for _ in range(30)]
    assert resident() - before > 700
    small = np.ones(10)  # above them on the heap, if they were there
    del arrays
    return resident() - before
"""


def in_a_process(code, **environment):
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "SESSC_"))}
    ended = subprocess.run(
        [sys.executable, "-c", HOST + code], env=known | environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr


def test_a_small_fit_leaves_the_allocator_alone():
    in_a_process("fit(20); fit(100_000); fit(100_000, lambda X: Blocks([X])); assert told == []")


@pytest.mark.parametrize("rows", ["lambda X: X", "lambda X: Blocks([X[:5000], X[5000:]])"])
def test_a_large_fit_puts_back_what_it_changed(rows):
    in_a_process(
        f"fit(200_000, {rows});"
        "assert told[:2] == [(-1, 2**26), (-3, 2**25)], told;"
        "assert told[-2:] == [(-1, 2**23), (-3, 2**22)], told;"
        "assert left_behind() < 50, left_behind()"
    )


def test_the_switch_leaves_the_allocator_alone():
    in_a_process("fit(200_000); assert told == []", SESSC_KEEP_MEMORY="0")


def test_what_the_environment_says_is_put_back():
    in_a_process(
        "fit(200_000); assert told[-2:] == [(-1, 65536), (-3, 2**17)], told", MALLOC_TRIM_THRESHOLD_="65536"
    )


def test_the_last_one_out_puts_things_back():
    in_a_process(
        "from sessc._runtime import at_work, keep_freed_memory\n"
        "keep_freed_memory()\n"
        "assert told == []  # nobody is at work\n"
        "with at_work:\n"
        "    fit(200_000)\n"
        "    assert len(told) == 2\n"
        "assert len(told) == 4\n"
    )


FORKS = """
import os, signal, threading, time
from threadpoolctl import threadpool_info
from sessc import _runtime

def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

def in_a_fork(work):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            work()
        except BaseException as error:
            print(error, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]

X = np.random.default_rng(0).normal(size=(300, 4))
before = blas()
assert max(before) > 1, before
"""


def test_a_fork_while_others_fit_neither_hangs_nor_keeps_one_thread_of_blas():
    in_a_process(
        FORKS
        + """
done = threading.Event()

def busy():
    while not done.is_set():
        FCM(3, init=X[:3], max_iter=2, tol=0.0).fit(X)

def work():
    assert blas() == before, blas()
    FCM(3, init=X[:3], max_iter=2).fit(X)
    assert blas() == before, blas()

threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    ends = [in_a_fork(work) for _ in range(60)]
finally:
    done.set()
for thread in threads:
    thread.join()
assert ends == [0] * 60, ends
assert blas() == before, blas()
""",
        OPENBLAS_NUM_THREADS="2",
        PYTHONWARNINGS="ignore",
    )


def test_a_fork_from_within_a_fit_is_still_within_it():
    in_a_process(
        FORKS
        + """
def work():
    assert blas() == [1] * len(before), blas()
    _runtime.at_work.__exit__(None, None, None)
    assert blas() == before, blas()

with _runtime.at_work:
    assert in_a_fork(work) == 0
    assert blas() == [1] * len(before)
assert blas() == before
""",
        OPENBLAS_NUM_THREADS="2",
        PYTHONWARNINGS="ignore",
    )


def test_the_last_out_puts_the_threads_of_blas_back_whoever_was_the_first_in():
    in_a_process(
        FORKS
        + """
inside, leave, gone, stay = (threading.Event() for _ in range(4))

def first():
    with _runtime.at_work:
        inside.set()
        leave.wait()
    gone.set()
    stay.wait()

thread = threading.Thread(target=first)
thread.start()
inside.wait()
with _runtime.at_work:
    leave.set()
    gone.wait()
    assert blas() == [1] * len(before), blas()
assert blas() == before, blas()
with _runtime.at_work:  # and a thread that was in before has no say in it
    assert blas() == [1] * len(before), blas()
stay.set()
thread.join()
assert blas() == before, blas()
""",
        OPENBLAS_NUM_THREADS="2",
        PYTHONWARNINGS="ignore",
    )
