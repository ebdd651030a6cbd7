"""Kernels forked from a server that has TensorFlow imported: like fresh ones, and gone with what started them."""

from __future__ import annotations

import json
import re
import time

import nbformat
import psutil
import pytest

from coursekit.labs.run.preloaded import PreloadedKernels

# Everything that a process can have of its past, after the imports of a lab and a first launch of ranks.
PROBE = """
import importlib, json, logging, os, random, re, resource, signal, sys, threading
from pathlib import Path
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # as every lab does
import matplotlib.pyplot as plt
import numpy as np
from coursekit import ranks
tf = importlib.import_module("tensor" + "flow")
importlib.import_module("horovod.tensor" + "flow.keras")

def rank():
    print("a rank says this")
    return Path("/proc/self/cmdline").read_text().split(chr(0)), len(logging.getLogger("tensor" + "flow").handlers)

[[rank_words, rank_handlers]] = ranks.run(rank, num_ranks=1)
stat = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
# But for standard input, which is empty in one way or another.
files = [file.readlink() for file in Path("/proc/self/fd").iterdir() if file.name != "0" and file.is_symlink()]
kinds = [re.sub("[0-9]+", "N", str(file).replace(os.getcwd(), ".")) for file in files]
logger = tf.get_logger()
print(json.dumps({
    "environ": {**os.environ, "JPY_PARENT_PID": os.environ["JPY_PARENT_PID"] == str(os.getppid())},
    "words": [sys.argv, sys.path, sys.executable, list(sys.flags), sys.orig_argv[:1]],
    "main": [__name__, sys.modules["__main__"].__dict__ is globals(), sorted(globals())],
    "streams": [str(type(stream)) for stream in (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__)],
    "place": [os.getcwd(), os.getpgid(0) == os.getpid() == os.getsid(0), os.read(0, 1).decode()],
    "signals": [[str(signal.getsignal(one)) for one in signal.valid_signals()], stat["SigBlk"], stat["SigIgn"]],
    "threads": sorted(type(thread).__name__ for thread in threading.enumerate()),
    "files": sorted(kinds),
    "limits": [resource.getrlimit(one) for one in range(resource.RLIMIT_NOFILE + 1)],
    "logger": [logger.level, [one.stream is sys.stdout for one in logger.handlers], rank_handlers],
    "backend": plt.get_backend(),
    "drawn": [random.random(), np.random.rand()],
    "rank": rank_words,
}, default=str))
"""
PICTURE = "_ = plt.plot([1, 2])"
# Away from its parent and its session; the system does not show that it has the folder's mark.
ESCAPE = """
import os, time
from pathlib import Path
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        Path("escaping").write_text(str(os.getpid()))
        Path("escaping").rename("escaped")
        time.sleep(3600)
    os._exit(0)
while not Path("escaped").exists():
    time.sleep(0.01)
"""
SLOW = f"""
# %% role="tests" id="slow-tests" points=1
assert "tensorflow"
{ESCAPE}
time.sleep(3600)
"""


def probe(execute_sources, kernels, folder, mark):
    """Execute `PROBE`; return what it has found, in words that hold for any folder, and the outputs of both cells."""
    result, _ = execute_sources(kernels, folder, PROBE + mark, PICTURE, time_limit_s=600)
    assert result.reason == ""
    shown = [cell.outputs for cell in nbformat.read(folder / "work" / "lab.ipynb", as_version=4).cells]
    *said, found = "".join(output.pop("text") for output in shown[0]).splitlines()
    found = re.sub(r"kernel-\w+", "kernel-X", found.replace(str(folder), "FOLDER"))
    return json.loads(found), said, shown


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A server that outlives each test."""
    with PreloadedKernels(tmp_path_factory.mktemp("server")) as kernels:
        yield kernels


@pytest.fixture(scope="module")
def fresh(kernels, execute_sources, tmp_path_factory):
    """What a kernel in a process of its own finds."""
    return probe(execute_sources, kernels, tmp_path_factory.mktemp("fresh"), "")


@pytest.fixture(scope="module")
def forked(kernels, execute_sources, tmp_path_factory):
    """What two kernels find that were forked one after the other."""
    return [probe(execute_sources, kernels, tmp_path_factory.mktemp("forked"), "# tensorflow") for _ in range(2)]


def test_a_forked_kernel_is_like_a_fresh_one(fresh, forked):
    """Environment, words, streams, signals, files, limits, loggers and outputs are the same, but not random numbers."""
    (expected, *shown), ((found, *_), (again, *shown_again)) = fresh, forked
    drawn = [kernel.pop("drawn") for kernel in (expected, found, again)]
    assert len({number for numbers in drawn for number in numbers}) == 6
    ranks = [kernel.pop("rank") for kernel in (expected, found, again)]
    assert ["kernel_server" in words[2] for words in ranks] == [False, True, True]
    assert found == again == expected
    assert shown_again == shown


def test_what_a_kernel_left_behind_is_ended_with_it(kernels, forked, execute_sources, tmp_path):
    """Also a fork that went away from its parent and its session, of which the system shows no mark."""
    del forked
    result, _ = execute_sources(kernels, tmp_path, f"{ESCAPE}# tensorflow")
    assert result.verdict == "passed"
    assert not psutil.pid_exists(int((tmp_path / "work" / "escaped").read_text()))


def test_without_tensorflow_the_notebook_says_what_is_wrong(execute_sources, tmp_path, monkeypatch):
    """The server cannot import it; the kernel then comes without, and its cell shows the error."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "tensorflow.py").write_text("raise ImportError('libcudart is missing')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    with PreloadedKernels(tmp_path) as kernels:
        result, _ = execute_sources(kernels, tmp_path, "import tensorflow")
    assert result.reason == "stopped by an error in cell 1 (last-tests)"
    assert result.failed_cell.error.splitlines()[-1] == "ImportError: libcudart is missing"


def test_with_a_killed_run_end_its_server_and_all_kernels(course):
    """They do not wait for a next run to tidy up."""
    course.add("01-slow", SLOW)
    process = course.start()
    while not (escaped := next(course.runs.glob("2*/01-slow/escaped"), None)):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    found = {psutil.Process(int(escaped.read_text())), *course.processes()}
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(found, timeout=300)
    assert alive == []
