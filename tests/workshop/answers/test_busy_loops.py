"""Busy loops run beside answers, and end with what started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil

from workshop.answers.busy import LOOP, busy


def _loops(pid):
    loops = []
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):  # it ended between two questions, or is a zombie
            while not (line := child.cmdline()):  # so it is for a moment after its start
                time.sleep(0.01)
            loops += [child] * (LOOP in line)
    return loops


def test_busy_loops_end_with_the_command():
    """They run while it does; none is left when it is killed."""
    with busy(3):
        assert len(_loops(os.getpid())) == 3
    assert _loops(os.getpid()) == []
    program = "import time\nfrom workshop.answers.busy import busy\nwith busy(3): print(flush=True); time.sleep(3600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        loops = _loops(process.pid)
        process.send_signal(signal.SIGKILL)
    assert len(loops) == 3
    assert psutil.wait_procs(loops, timeout=900)[1] == []
