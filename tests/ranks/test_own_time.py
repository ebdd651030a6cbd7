"""Own time passes as on the wall for who waits or computes alone, and slower for who stands in a queue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from coursekit.ranks import own_time
from coursekit.ranks.own_time import OwnTime, longest_wall_s, threads_of, tree

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(60)"
NUM_CHILDREN = 900  # their numbers need more than a page
FORK_MANY = f"import os, signal; [os.fork() or signal.pause() for _ in range({NUM_CHILDREN})]"
WATCHED_S = 2.0


@pytest.fixture
def start():
    """Start Python programs on one core, and end them."""
    core = min(os.sched_getaffinity(0))
    started = []

    def begin(program):
        started.append(subprocess.Popen([sys.executable, "-S", "-c", program]))
        os.sched_setaffinity(started[-1].pid, {core})
        return started[-1].pid

    yield begin
    for process in started:
        process.kill()
        process.wait()


def watched(pid):
    """Return the own time of a process over a while as a share of the time on the wall."""
    clock, started_s = OwnTime(lambda: [pid]), time.monotonic()
    time.sleep(WATCHED_S)
    return clock.tick() / (time.monotonic() - started_s)


def test_for_who_sleeps_time_passes_as_on_the_wall(start):
    """A sleeping process stands in no queue, however busy its core is."""
    sleeper = start(SLEEP)
    for _ in range(4):
        start(SPIN)
    time.sleep(0.5)  # until Python has started

    assert watched(sleeper) > 0.9


def test_who_shares_a_core_has_a_share_of_the_time(start):
    """A loop that shares its core with three others had a quarter of the time, as its processor time says."""
    loop, *_ = [start(SPIN) for _ in range(4)]
    time.sleep(0.5)
    before_s = time.monotonic(), sum(thread.ran_s for thread in threads_of(loop).values())
    share = watched(loop)
    past_s = time.monotonic() - before_s[0]
    ran = (sum(thread.ran_s for thread in threads_of(loop).values()) - before_s[1]) / past_s

    assert share == pytest.approx(ran, abs=0.1)
    assert share < 0.6


def test_many_threads_cannot_stop_the_clock(start):
    """A process that holds itself up, with more threads than cores, has all the time that its core gives it."""
    crowd = start("import os\nfor _ in range(5): os.fork()\nwhile True: pass")
    time.sleep(0.5)
    clock = OwnTime(lambda: tree(crowd))
    started_s, ran_before_s = time.monotonic(), _ran_s(crowd)
    time.sleep(WATCHED_S)
    past_s, ran_s = time.monotonic() - started_s, _ran_s(crowd) - ran_before_s
    own_s = clock.tick()

    try:
        assert own_s >= min(past_s, ran_s) - 0.1
        assert ran_s > 0
    finally:
        for pid in tree(crowd):
            os.kill(pid, 9)


def _ran_s(pid):
    return sum(thread.ran_s for one in tree(pid) for thread in threads_of(one).values())


def test_a_process_that_has_ended_has_no_threads(start):
    """No error, and the clock goes on as on the wall."""
    pid = start("pass")
    os.waitpid(pid, 0)

    assert threads_of(pid) == {}
    assert watched(pid) == pytest.approx(1, abs=0.05)


def test_a_tree_has_all_that_is_below(start, monkeypatch):
    """Children, more than the kernel lists at once, and one of theirs: the same as by a look at every process."""
    pid = start(f"import subprocess; subprocess.Popen(['sh', '-c', 'sleep 60 & wait']); {FORK_MANY}; {SLEEP}")
    deadline_s = time.monotonic() + 30
    while len(found := tree(pid)) < NUM_CHILDREN + 3 and time.monotonic() < deadline_s:
        time.sleep(0.05)
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
