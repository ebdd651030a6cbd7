"""Own time passes as on the wall for who waits or computes alone, and slower for who stands in a queue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

from coursekit.ranks import own_time
from coursekit.ranks.own_time import OwnTime, longest_wall_s, threads_of, tree

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(3600)"
NUM_CHILDREN = 900  # their numbers need more than a page
FORK_MANY = f"import os, signal; [os.fork() or signal.pause() for _ in range({NUM_CHILDREN})]"
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
    """What a clock was asked about: from before it was made until after its last look, and what lies within for sure.

    Between two lines of this process, a busy machine may let any time pass.
    """

    most_s: float
    least_s: float
    most_ran_s: float
    least_ran_s: float


def watched(pid):
    """Return the own time of a process and all below it over a while, and what it is to be compared with."""
    before_s, before_ran_s = time.monotonic(), _ran_s(pid)
    clock = OwnTime(lambda: tree(pid))
    begin_s, begin_ran_s = time.monotonic(), _ran_s(pid)
    time.sleep(WATCHED_S)
    end_ran_s, end_s = _ran_s(pid), time.monotonic()
    own_s = clock.tick()
    after_ran_s, after_s = _ran_s(pid), time.monotonic()
    return own_s, Span(after_s - before_s, end_s - begin_s, after_ran_s - before_ran_s, end_ran_s - begin_ran_s)


def test_for_who_sleeps_time_passes_as_on_the_wall(start):
    """A sleeping process stands in no queue, however busy its core is."""
    sleeper = start(SLEEP)
    for _ in range(4):
        start(SPIN)
    own_s, span = watched(sleeper)

    assert 0.9 * span.least_s < own_s <= span.most_s


def test_who_shares_a_core_has_a_share_of_the_time(start):
    """A loop that shares its core with three others had a quarter of the time, as its processor time says."""
    loop, *_ = [start(SPIN) for _ in range(4)]
    own_s, span = watched(loop)

    assert span.least_ran_s - 0.1 * span.most_s < own_s < span.most_ran_s + 0.1 * span.most_s
    assert own_s < 0.6 * span.most_s


def test_many_threads_cannot_stop_the_clock(start):
    """A process that holds itself up, with more threads than cores, has all the time that its core gives it."""
    crowd = start("import os\nfor _ in range(5): os.fork()\nwhile True: pass")
    try:
        wait_for_tree(crowd, 32)
        own_s, span = watched(crowd)

        assert own_s >= min(span.least_s, span.least_ran_s) - 0.1
        assert span.least_ran_s > 0
    finally:
        for pid in tree(crowd):
            os.kill(pid, signal.SIGKILL)


def wait_for_tree(pid, num_processes):
    """Return a process and all below it, as soon as they are so many, or after some minutes."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while len(found := tree(pid)) < num_processes and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return found


def _ran_s(pid):
    return sum(thread.ran_s for one in tree(pid) for thread in threads_of(one).values())


def test_a_process_that_has_ended_has_no_threads(start):
    """No error, and the clock goes on as on the wall."""
    pid = start("pass")
    os.waitpid(pid, 0)
    own_s, span = watched(pid)

    assert threads_of(pid) == {}
    assert span.least_s <= own_s <= span.most_s


def test_a_tree_has_all_that_is_below(start, monkeypatch):
    """Children, more than the kernel lists at once, and one of theirs: the same as by a look at every process."""
    pid = start(f"import subprocess; subprocess.Popen(['sh', '-c', 'sleep 3600 & wait']); {FORK_MANY}; {SLEEP}")
    found = wait_for_tree(pid, NUM_CHILDREN + 3)
    monkeypatch.setattr(own_time, "LISTS_CHILDREN", False)
    by_all = tree(pid)
    for child in by_all[1:]:  # whatever is found: they would outlive their parent
        os.kill(child, signal.SIGKILL)

    assert len(by_all) == NUM_CHILDREN + 3
    assert found[0] == pid
    assert sorted(found) == sorted(by_all)


def test_the_last_resort_leaves_time():
    """A short deadline still has minutes on the wall, a long one a multiple."""
    assert longest_wall_s(3) == 300
    assert longest_wall_s(60) == 1800
