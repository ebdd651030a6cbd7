"""Who rests and who computes, as a fork server sees it from the kernel's counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from coursekit.ranks.own_time import threads_of
from coursekit.ranks.pulse import QUIET_SHARE, Pulses, is_at_rest

NUM_PULSES, MAX_NUM_PULSES = 4, 40
# The main thread waits for a second one, which again and again is busy for so many seconds and sleeps for so many.
PROGRAM = """
import sys, threading, time

def work(busy_s, idle_s):
    print(flush=True)
    while True:
        end_s = time.perf_counter() + busy_s
        while time.perf_counter() < end_s:
            pass
        time.sleep(idle_s)

thread = threading.Thread(target=work, args=map(float, sys.argv[1:]))
thread.start()
thread.join()
"""

# What Horovod's thread does.
LOOKER = """
def look():
    while True:
        time.sleep(0.002)

threading.Thread(target=look).start()
"""


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "is_quiet"),
    [
        pytest.param("0.0001", "0.00005", True, id="looks-for-news-all-the-time"),
        pytest.param("1000", "0", False, id="computes"),
        pytest.param("0.1", "1000", True, id="has-computed"),
    ],
)
def test_who_only_looks_for_news_rests(busy_s, idle_s, is_quiet):
    """A thread may use most of a processor and yet do nothing: what counts is how often it rests.

    Where the machine lets it rest for a whole look, it seems to do nothing, and the next look is in doubt: in doubt it
    computes. So one looks until it is seen as what it is; while it has a processor, it is never seen otherwise.
    """
    with subprocess.Popen([sys.executable, "-c", PROGRAM, busy_s, idle_s], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            pulses, marks, shares = Pulses({process.pid: 0}), [], []
            while len(marks) < NUM_PULSES or (marks[-1].is_quiet is not is_quiet and len(marks) < MAX_NUM_PULSES):
                before_s, ran_s = time.monotonic(), ran(process)
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(pulses.due_in_s())
                marks.append(pulses.take().marks[0])
                shares.append((ran(process) - ran_s) / (time.monotonic() - before_s))
        finally:
            process.kill()

    assert marks[-1].is_quiet is is_quiet
    assert is_quiet or not any(mark.is_quiet for mark, share in zip(marks[2:], shares[2:]) if share > QUIET_SHARE)
    assert marks[-1].num_turns == marks[-2].num_turns


def ran(process):
    """Return the processor time that a process has used, in seconds."""
    return sum(thread.ran_s for thread in threads_of(process.pid).values())


@pytest.mark.parametrize(
    ("busy_s", "idle_s", "rests"),
    [pytest.param("1000", "0", False, id="computes"), pytest.param("0", "1000", True, id="sleeps")],
)
def test_only_who_sleeps_as_a_whole_is_at_rest(busy_s, idle_s, rests):
    """A second thread that runs counts, too: what it is just making would be written with the first one's frames."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM, busy_s, idle_s], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            if rests:
                while not is_at_rest(process.pid):
                    time.sleep(0.1)
            assert [is_at_rest(process.pid) for _ in range(20)] == [rests] * 20
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("wait", "is_still"),
    [
        pytest.param("queue.Queue().get", True, id="waits-for-a-thread"),
        pytest.param("lambda: queue.Queue().get(timeout=1000)", True, id="waits-for-a-thread-for-so-long"),
        pytest.param("lambda: subprocess.run(['sleep', '1000'])", False, id="waits-for-a-child"),
        pytest.param("lambda: time.sleep(1000)", False, id="sleeps"),
        pytest.param("lambda: os.read(os.pipe()[0], 1)", False, id="reads"),
        pytest.param("multiprocessing.Semaphore(0).acquire", False, id="waits-for-a-process"),
    ],
)
def test_who_waits_for_a_thread_of_its_own_is_still(wait, is_still):
    """Nobody can wake such a rank but itself; whatever comes from elsewhere may go on. One thread looks for news."""
    imports = "import multiprocessing, os, queue, subprocess, threading, time"
    program = "\n".join([imports, LOOKER, f"wait = {wait}", "print(flush=True)", "wait()"])
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            process.stdout.readline()
            pulses, seen = Pulses({process.pid: 0}), []
            pulses.take()  # it may just have come to rest
            while len(seen) < NUM_PULSES or (is_still and not any(seen) and len(seen) < MAX_NUM_PULSES):
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(pulses.due_in_s())
                seen.append(pulses.take().marks[0].is_still)
        finally:
            os.killpg(process.pid, signal.SIGKILL)

    assert any(seen) is is_still
