"""The thread that servers start before they fork."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from coursekit.ranks import memory_logger

# On one core, a new thread does not run before the old one waits.
ASK = """
import os, pathlib, threading
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from coursekit.ranks.server import preload
failure = preload()
tasks = [task for task in pathlib.Path("/proc/self/task").iterdir() if task.name != str(threading.get_native_id())]
print(failure, [(task / "wchan").read_text() for task in tasks])
"""


def test_after_the_imports_every_other_thread_sleeps():
    """A rank that is forked while a thread of TensorFlow's begins would wait for ever for a lock of that thread's."""
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)

    has_logger = not version("tensorflow-cpu").startswith("2.15")
    assert done.stdout == f" {['hrtimer_nanosleep'] if has_logger else []}\n"


def test_a_thread_that_runs_is_waited_for(monkeypatch):
    """Two looks at the same sleep are needed: a thread that sleeps between two steps of its work has not ended it."""
    looks = iter([None, {"7": "3"}, {"7": "4"}, {"7": "4"}, pytest.fail])
    monkeypatch.setattr(memory_logger, "_switches", lambda: next(looks))

    memory_logger.wait_for_sleep()

    assert next(looks) is pytest.fail
