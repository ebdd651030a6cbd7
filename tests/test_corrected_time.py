"""Own time passes like wall-clock time for a thread that waits or computes alone, and slower in a queue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import cloudpickle
import pytest

from coursekit import corrected_time, ranks
from coursekit.corrected_time import CorrectedClock, Thread, held_up_s, longest_wall_s, since_then, threads_of, tree
from coursekit.files import write_text

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(3600)"
NUM_CHILDREN = 900  # their numbers need more than a page
FORK_MANY = f"import os, signal; [os.fork() or signal.pause() for _ in range({NUM_CHILDREN})]"
LOOK = "import threading, time\ndef look():\n    while True: time.sleep(1e-3)\n"
WITH_LOOKER = f"{LOOK}threading.Thread(target=look, daemon=True).start()\n"
WATCHED_S, START_TIMEOUT_S = 2.0, 300
MANY_LOOKS = 100


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


def watched(pid, wait=lambda: time.sleep(WATCHED_S)):
    """Return the own time of a process and all below it over a while, and what it is to be compared with."""
    before_s, before_ran_s = time.monotonic(), _ran_s(pid)
    clock = CorrectedClock(lambda: tree(pid))
    begin_s, begin_ran_s = time.monotonic(), _ran_s(pid)
    wait()
    end_ran_s, end_s = _ran_s(pid), time.monotonic()
    own_s = clock.tick()
    after_ran_s, after_s = _ran_s(pid), time.monotonic()
    return own_s, Span(after_s - before_s, end_s - begin_s, after_ran_s - before_ran_s, end_ran_s - begin_ran_s)


def test_for_a_sleeping_thread_own_time_is_wall_clock_time(start):
    """A sleeping process stands in no queue, however busy its core is."""
    sleeper = start(SLEEP)
    for _ in range(4):
        start(SPIN)
    own_s, span = watched(sleeper)

    assert 0.9 * span.least_s < own_s <= span.most_s


@pytest.mark.parametrize("beside", ["", WITH_LOOKER], ids=["alone", "with a looker"])
def test_who_shares_a_core_has_a_share_of_the_time(start, beside):
    """A loop that shares its core with three others had a quarter of the time, as its processor time says.

    A thread of it that wakes each millisecond does not hide that it waits in the queue.
    """
    loop, *_ = [start(f"{beside}{SPIN}") for _ in range(4)]
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


def test_an_idle_looker_does_not_hold_up_the_deadline(start):
    """A process that sleeps, with a thread that wakes each millisecond, comes to its deadline beside busy loops."""
    sleeper = start(f"{WITH_LOOKER}time.sleep(3600)")
    for _ in range(4):
        start(SPIN)
    while_it_waits(sleeper)  # by then it sleeps
    own_s, span = watched(sleeper, lambda: while_it_waits(sleeper))

    assert span.least_s <= own_s <= span.most_s


def wait_for_the_other(folder):
    """Wait in a collective on rank 0; the other rank comes when it is told to."""
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    if hvd.rank() == 0:
        write_text(folder / "waits", str(os.getpid()))
    while hvd.rank() == 1 and not (folder / "come").exists():
        time.sleep(0.01)
    hvd.allreduce(tf.ones(2))


def test_threads_of_horovod_are_known_for_lookers(tmp_path):
    """While a rank waits in a collective, they could stand in the queue all the time, and not half of it counts.

    So it comes to its deadline on a busy machine. How often they run is measured, that they stand there is made up.
    """
    with ThreadPoolExecutor() as pool:
        watching = pool.submit(watch_who_waits, tmp_path)
        ranks.run(wait_for_the_other, tmp_path)
        pid, threads = watching.result()
    queued = {
        number: thread._replace(queued_s=1.0) for number, thread in threads.items() if thread.num_turns >= MANY_LOOKS
    }

    assert queued
    assert held_up_s(pid, {**threads, **queued}) < 0.5


def watch_who_waits(folder):
    """Return the number of rank 0's process, and what its threads did while it waited; then call the other rank."""
    try:
        wait_until((folder / "waits").exists)
        pid = int((folder / "waits").read_text())
        return pid, while_it_waits(pid)
    finally:
        (folder / "come").touch()


def while_it_waits(pid):
    """Return what the threads of a process did while its main one had no turn and another one had `MANY_LOOKS`."""
    begin, since = threads_of(pid), {}

    def has_waited():
        nonlocal begin, since
        since = since_then(now := threads_of(pid), begin)
        begin = now if since[pid].num_turns else begin
        return begin is not now and max(thread.num_turns for thread in since.values()) >= MANY_LOOKS

    wait_until(has_waited)
    return since


def wait_until(is_so):
    """Return when something is so.

    Raises:
        AssertionError: it is not, after minutes.
    """
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def test_a_looker_that_works_for_others_counts():
    """Where another thread moves with it, as in an exchange of gradients, a looker's queue counts whole."""
    looker = Thread(2e-3, 0.4, 100)

    assert held_up_s(1, {1: Thread(0.0, 0.0, 0), 2: looker}) == 0
    assert held_up_s(1, {1: Thread(1e-3, 0.01, 2), 2: looker}) == pytest.approx(0.08)
    assert held_up_s(1, {1: Thread(1e-3, 0.01, 10), 2: looker}) == pytest.approx(0.4)
    assert held_up_s(1, {1: looker}) == pytest.approx(0.4)


def wait_for_tree(pid, num_processes):
    """Return a process and all below it, as soon as they are so many."""
    wait_until(lambda: len(tree(pid)) >= num_processes)
    return tree(pid)


def _ran_s(pid):
    return sum(thread.ran_s for one in tree(pid) for thread in threads_of(one).values())


def test_a_tree_has_all_that_is_below(start, monkeypatch):
    """Children, more than the kernel lists at once, and one of theirs: the same as by a look at every process."""
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
    assert longest_wall_s(3) == 300
    assert longest_wall_s(60) == 600
