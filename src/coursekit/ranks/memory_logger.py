"""A thread that TensorFlow starts at a process' first data set, started before ranks are forked."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import sys
import time
from pathlib import Path

LOGGER = logging.getLogger(__name__)

PAUSE_S = 0.01
MAX_NUM_PAUSES = 1000


def start() -> None:
    """Start tf.data's logger of memory here, so that no rank starts it: a process does so once, at its first data set.

    A rank with this thread, which sleeps for 30 s again and again, never looks as if all its threads wait for one
    another, so that no deadlock inside `fit` would be certain. That it was started survives a fork; it does not.
    The function is not a public interface: without it, such a deadlock ends at the deadline.
    """
    folder = sys.modules["tensorflow"].sysconfig.get_lib()
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(f"{folder}/libtensorflow_cc.so.2", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        library["_ZN10tensorflow4data33EnsureIteratorMemoryLoggerStartedEv"]()
    wait_for_sleep()


def wait_for_sleep() -> None:
    """Return when all other threads of this process have slept for 10 ms.

    A thread of TensorFlow's takes a lock when it begins. In a rank that is forked meanwhile nobody gives it back,
    and each thread of the rank waits for it: of 24 servers that started on a busy machine, three had such ranks.
    """
    before = None
    for _ in range(MAX_NUM_PAUSES):
        now = _switches()
        if now is not None and now == before:
            return
        before = now
        time.sleep(PAUSE_S)
    LOGGER.warning("A thread has run for %g s; ranks that start now may hang.", MAX_NUM_PAUSES * PAUSE_S)


def _switches() -> dict[str, str] | None:
    """Return how often each other thread has gone to sleep, by its number; None where one of them runs or ends."""
    switches = {}
    own = Path("/proc/thread-self").readlink().name  # in a sandbox, /proc may number threads as the world outside does
    for task in Path("/proc/self/task").iterdir():
        if task.name != own:
            try:
                lines = (task / "status").read_text().splitlines()
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                return None
            status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            if not status["State"].startswith("S"):
                return None
            switches[task.name] = status["voluntary_ctxt_switches"]
    return switches
