"""Corrected time passes like wall-clock time for a thread that waits or computes alone, and slower in a queue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

from coursekit import corrected_time
from coursekit.corrected_time import CorrectedClock, Thread, held_up_s, longest_wall_s, threads_of, tree

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(3600)"
NUM_CHILDREN = 900  # their numbers need more than a page
FORK_MANY = f"import os, signal; [os.fork() or signal.pause() for _ in range({NUM_CHILDREN})]"
POLL = "import threading, time\ndef poll():\n    while True: time.sleep(1e-3)\n"
WITH_POLLING_THREAD = f"{POLL}threading.Thread(target=poll, daemon=True).start()\n"
WATCHED_S, START_TIMEOUT_S = 2.0, 300


@pytest.fixture
def start():
    """Start Python programs on one core, each when the one before has begun, and end them."""
    core = min(os.sched_getaffinity(0))
    started = []

    def begin(program):
        code = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\n{program}"
        started.append(subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE))
        started[-1].stdout.readline()
        return started[-1].pid

    yield begin
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


class Span(NamedTuple):
    """What a clock was asked about: from before it was made until after its last sample, and what lies within for sure.

    Between two lines of this process, a busy machine may let any time pass.
    """

    most_s: float
    least_s: float
    most_ran_s: float
    least_ran_s: float


def watched(pid):
    """Return the corrected time of a process and all below it over a while, and what it is to be compared with."""
    before_s, before_ran_s = time.monotonic(), _ran_s(pid)
    clock = CorrectedClock(lambda: tree(pid))
    begin_s, begin_ran_s = time.monotonic(), _ran_s(pid)
    time.sleep(WATCHED_S)
    end_ran_s, end_s = _ran_s(pid), time.monotonic()
    corrected_s = clock.tick()
    after_ran_s, after_s = _ran_s(pid), time.monotonic()
    return corrected_s, Span(after_s - before_s, end_s - begin_s, after_ran_s - before_ran_s, end_ran_s - begin_ran_s)


def _ran_s(pid):
    return sum(thread.ran_s for one in tree(pid) for thread in threads_of(one).values())


@pytest.mark.parametrize("program", [SLEEP, f"{WITH_POLLING_THREAD}time.sleep(3600)"], ids=["alone", "polling"])
def test_for_a_sleeping_process_corrected_time_is_wall_clock_time(start, program):
    """However busy its core is: it is in no queue, and a thread of it that only polls does not count."""
    sleeper = start(program)
    for _ in range(4):
        start(SPIN)
    time.sleep(1)  # by then it sleeps
    corrected_s, span = watched(sleeper)

    assert 0.9 * span.least_s < corrected_s <= span.most_s


@pytest.mark.parametrize("beside", ["", WITH_POLLING_THREAD], ids=["alone", "polling"])
def test_a_process_that_shares_a_core_has_a_share_of_the_time(start, beside):
    """A loop that shares its core with three others had a quarter of the time, as its processor time says.

    A thread of it that wakes each millisecond does not hide that it waits in the queue.
    """
    loop, *_ = [start(f"{beside}{SPIN}") for _ in range(4)]
    corrected_s, span = watched(loop)

    assert span.least_ran_s - 0.1 * span.most_s < corrected_s < span.most_ran_s + 0.1 * span.most_s
    assert corrected_s < 0.6 * span.most_s


def test_many_threads_cannot_stop_the_clock(start):
    """A process that holds itself up, with more threads than cores, has all the time that its core gives it."""
    crowd = start("import os\nfor _ in range(5): os.fork()\nwhile True: pass")
    try:
        wait_for_tree(crowd, 32)
        corrected_s, span = watched(crowd)

        assert corrected_s >= min(span.least_s, span.least_ran_s) - 0.1
        assert span.least_ran_s > 0
    finally:
        for pid in tree(crowd):
            os.kill(pid, signal.SIGKILL)


POLLING, SLEEPING, QUEUED_S = Thread(2e-3, 0.4, 100), Thread(0.0, 0.0, 0), 0.4


@pytest.mark.parametrize(
    ("threads", "held_s"),
    [
        pytest.param({}, 0, id="has ended"),
        pytest.param({1: SLEEPING, 2: POLLING}, 0, id="polls for nobody"),
        pytest.param({1: Thread(1e-3, 0.01, 2), 2: POLLING}, 0.2 * QUEUED_S, id="works in part"),
        pytest.param({1: Thread(1e-3, 0.01, 10), 2: POLLING}, QUEUED_S, id="works for another thread"),
        pytest.param({1: POLLING}, QUEUED_S, id="main thread"),
        pytest.param({1: SLEEPING, 2: Thread(0.4, 0.4, 100)}, QUEUED_S, id="computes"),
    ],
)
def test_the_queueing_of_a_polling_thread_counts_as_far_as_it_works(threads, held_s):
    """Where another thread has timeslices with it, as in an exchange of gradients, it counts whole."""
    assert held_up_s(1, threads) == pytest.approx(held_s)


def wait_for_tree(pid, num_processes):
    """Return a process and all below it, as soon as they are so many."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while len(found := tree(pid)) < num_processes:
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    return found


def test_a_tree_has_all_that_is_below(start, monkeypatch):
    """Children, more than the kernel lists at once, and one of theirs: the same as by a search of every process."""
    pid = start(f"import subprocess; subprocess.Popen(['sh', '-c', 'sleep 3600 & wait']); {FORK_MANY}; {SLEEP}")
    found = wait_for_tree(pid, NUM_CHILDREN + 3)
    monkeypatch.setattr(corrected_time, "LISTS_CHILDREN", False)
    by_all = tree(pid)
    for child in by_all[1:]:  # whatever is found: they would outlive their parent
        os.kill(child, signal.SIGKILL)

    assert len(by_all) == NUM_CHILDREN + 3
    assert found[0] == pid
    assert sorted(found) == sorted(by_all)


def test_the_last_resort_leaves_time():
    """A short deadline still has minutes of wall-clock time, a long one a multiple."""
    assert [longest_wall_s(timeout_s) for timeout_s in (3, 60)] == [300, 600]
