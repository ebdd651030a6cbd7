"""Signals that ask a run to stop, those for a main thread, the names of all, and memory in huge pages."""

import os
import re
import select
import signal
import subprocess
import sys

import psutil
import pytest

from coursekit.processes import STOPPING, StopSignals, signal_main_thread, signal_name


@pytest.mark.parametrize("number", STOPPING, ids=lambda number: number.name)
def test_the_first_signal_interrupts_and_the_next_do_not(number):
    """Tidying up after the first one is not cut short, and the first one is remembered."""
    stop = StopSignals()
    with stop.handled():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
    assert (stop.received, stop.status) == (number, 128 + number)


def test_interrupts_count_also_in_the_background():
    """A script's shell switches SIGINT off in what it starts with `&`: it ends a run all the same."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with StopSignals().handled(), pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_are_put_back():
    """SIGHUP that was switched off stays off meanwhile, as under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        handlers = [signal.getsignal(number) for number in STOPPING]
        with StopSignals().handled():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
        assert [signal.getsignal(number) for number in STOPPING] == handlers
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_has_a_name():
    """Also a real-time one, as shells call it; others have their number."""
    assert [signal_name(number) for number in (9, 32, 40, 100)] == ["SIGKILL", "signal 32", "SIGRTMIN+6", "signal 100"]


# Threads that the kernel could take, and an end by itself: nothing is left where the test fails.
SLEEPER = """
import faulthandler, os, signal, threading, time
faulthandler.register(signal.SIGUSR1, file=open(os.devnull, "w"), all_threads=False)
for _ in range(4):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
while True:
    try:
        print("asleep", flush=True)
        time.sleep(60)
        os._exit(1)
    except KeyboardInterrupt:
        pass
"""


def test_two_signals_at_once_both_reach_the_main_thread():
    """An interrupt right after a request for stacks wakes a sleeping main thread each time (`os.kill`: in 3 of 4)."""
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, bufsize=0) as sleeper:
        try:
            assert sleeper.stdout.readline() == b"asleep\n"
            for _ in range(100):
                while psutil.Process(sleeper.pid).status() != psutil.STATUS_SLEEPING:  # it has said so before
                    pass
                signal_main_thread(sleeper.pid, signal.SIGUSR1)
                signal_main_thread(sleeper.pid, signal.SIGINT)
                assert select.select([sleeper.stdout], [], [], 10)[0]
                sleeper.stdout.readline()
        finally:
            sleeper.kill()
    with pytest.raises(ProcessLookupError):
        signal_main_thread(sleeper.pid, signal.SIGUSR1)


SINCE = (6, 1)  # version of the kernel
USES_HUGE_PAGES = """
import re
from pathlib import Path
from coursekit.processes import use_huge_pages

def huge_kb():
    return int(re.search(r"AnonHugePages: +(\\d+) kB", Path("/proc/self/smaps_rollup").read_text())[1])

numbers = bytes(range(256)) * (64 << 12)
use_huge_pages()
print(huge_kb(), numbers == bytes(range(256)) * (64 << 12))
"""


@pytest.mark.skipif(
    tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < SINCE, reason=f"needs Linux {SINCE[0]}.{SINCE[1]}"
)
def test_memory_is_in_huge_pages():
    """Of 64 MiB at least 62, as the first and the last page may be incomplete; what they hold stays."""
    done = subprocess.run([sys.executable, "-c", USES_HUGE_PAGES], capture_output=True, text=True, check=True)

    huge_kb, is_same = done.stdout.split()
    assert (int(huge_kb) >= 62 << 10, is_same) == (True, "True")
