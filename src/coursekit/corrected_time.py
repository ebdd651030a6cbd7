"""CPU-contention-corrected time: a clock that stops while processes wait for a processor on a busy machine.

Deadlines use it, so that no verdict depends on the speed of the machine.
For each thread, Linux counts how long it ran, and how long it was ready but queued for a processor
(`/proc/<pid>/task/<tid>/schedstat`, in nanoseconds; the kernel's documentation calls it "sched-stats").
A thread that sleeps or waits for a message is not queued: for it, corrected time passes like wall-clock time.

Some threads only poll: Horovod's background thread wakes every millisecond, runs for 20 microseconds, and sleeps again.
Next to three busy loops, such a thread is queued for 80 % of the time although it has nothing to do. If all of that
time counted, a deadline of 8 s for a rank that waits forever would come after 40 s. So only part of the time counts.
A poll that finds work wakes other threads, which then get timeslices; for each of these timeslices, the queued time of
10 polls counts. Suppose that 100 polls queued for 0.4 s in total. If the other threads got no timeslices, 0 s of this
counts; if they got 2, 0.08 s counts; and if they got 10, as when ranks exchange gradients, the whole 0.4 s counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import sub
from pathlib import Path
from typing import NamedTuple

from coursekit.errors import CourseKitError
from coursekit.processes import below

TICK_S = 0.5  # how often a waiting process should check the clock
# A polling thread gets a processor often, but gives it back long before its timeslice ends.
MIN_NUM_POLLS, POLL_S = 10, 0.5e-3
POLLS_PER_TIMESLICE = 10  # for one exchange, Horovod's and Gloo's threads poll a few times on each rank
# The last resort, in wall-clock time: all waiting ends after this multiple of the deadline, but not before this many
# seconds. A process that shares a core with nine others still reaches its deadline; a slower process looks hung.
SLOWEST = 10
LEAST_WALL_S = 300.0
NANO = 1e-9
PAGE_BYTES = 4096  # how much the kernel returns at once
LISTS_CHILDREN = Path("/proc/thread-self/children").exists()  # the kernel was built with CONFIG_PROC_CHILDREN


class Thread(NamedTuple):
    """The kernel's counts for one thread."""

    ran_s: float  # time on a processor
    queued_s: float  # time when it was ready to run, but had no processor
    num_timeslices: int  # how many times it got a processor


NOTHING = Thread(0.0, 0.0, 0)


def threads_of(pid: int) -> dict[int, Thread]:
    """Return a process's counts by thread number; {} if the process has ended or the kernel keeps no counts."""
    found = {}
    with suppress(OSError, ValueError):  # the process or one of its threads may end while we read
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # numbers, not paths
            with suppress(OSError):
                ran, queued, num_turns = read_file(f"/proc/{pid}/task/{name}/schedstat").split()
                found[int(name)] = Thread(int(ran) * NANO, int(queued) * NANO, int(num_turns))
    return found


def tree(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    if not LISTS_CHILDREN:
        return [pid, *(process.pid for process in below(pid))]
    found = [pid]
    for parent in found:  # the list grows during this loop
        with suppress(OSError):  # it has just ended
            for thread in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208  # numbers, not paths
                with suppress(OSError):
                    found += map(int, read_file(f"/proc/{parent}/task/{thread}/children").split())
    return found


def read_file(path: str) -> bytes:
    """Return the content of a small file in /proc; this is three times as fast as reading it with `open`."""
    file = os.open(path, os.O_RDONLY)
    try:
        content = os.read(file, PAGE_BYTES)
        while len(content) > PAGE_BYTES // 2 and (more := os.read(file, PAGE_BYTES)):  # long files come in parts
            content += more
        return content
    finally:
        os.close(file)


class CorrectedClock:
    """Counts the corrected seconds since the clock was created; `pids` returns the ids of the processes to watch.

    From the wall-clock time between two samples, the clock subtracts the longest time for which a thread was queued.
    But it never counts less than the processor time that all processes used together, because a process that keeps a
    processor busy all the time is not held up.
    """

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self.corrected_s = 0.0  # up to the last sample
        self._pids = pids
        self.threads = self._sample()  # the counts in that sample, by process
        self._sampled_s = time.monotonic()

    def tick(self) -> float:
        """Sample the processes again, and return the corrected seconds so far."""
        before, now_s = by_thread(self.threads), time.monotonic()
        self.threads = self._sample()
        past_s, self._sampled_s = now_s - self._sampled_s, now_s
        since = {pid: since_then(threads, before) for pid, threads in self.threads.items()}
        ran_s = sum(thread.ran_s for threads in since.values() for thread in threads.values())
        queued_s = max((held_up_s(pid, threads) for pid, threads in since.items()), default=0.0)
        self.corrected_s += min(past_s, max(ran_s, past_s - queued_s))
        return self.corrected_s

    def _sample(self) -> dict[int, dict[int, Thread]]:
        return {pid: threads_of(pid) for pid in self._pids()}


def since_then(threads: dict[int, Thread], before: Mapping[int, Thread]) -> dict[int, Thread]:
    """Return each thread's counts since an earlier sample."""
    return {number: Thread(*map(sub, now, before.get(number, NOTHING))) for number, now in threads.items()}


def polling_threads(pid: int, threads: Mapping[int, Thread]) -> dict[int, Thread]:
    """Return those threads of a process that only poll; the main thread, whose number is `pid`, is left out.

    Example: a thread that had 100 timeslices of 20 us each polls. A thread that had 100 timeslices of 4 ms each
    computes; a thread that had only 3 timeslices sleeps.
    """
    return {
        number: thread
        for number, thread in threads.items()
        if number != pid and thread.num_timeslices >= MIN_NUM_POLLS and thread.ran_s < POLL_S * thread.num_timeslices
    }


def held_up_s(pid: int, threads: Mapping[int, Thread]) -> float:
    """Return for how many seconds a process may have been held up: the longest time that one of its threads queued.

    Only part of the time for which a polling thread queued may count (see the beginning of this file).
    """
    polling = polling_threads(pid, threads)
    others = [thread for number, thread in threads.items() if number not in polling]
    num_polls = POLLS_PER_TIMESLICE * sum(thread.num_timeslices for thread in others)  # this many count
    shares = [min(1.0, num_polls / thread.num_timeslices) * thread.queued_s for thread in polling.values()]
    return max([0.0, *shares, *(thread.queued_s for thread in others)])


def by_thread(threads: dict[int, dict[int, Thread]]) -> dict[int, Thread]:
    """Return the threads of all processes in one dict, keyed by thread number."""
    return {number: thread for own in threads.values() for number, thread in own.items()}


def longest_wall_s(timeout_s: float) -> float:
    """Return after how many wall-clock seconds a machine counts as too slow to reach a deadline in corrected time."""
    return max(LEAST_WALL_S, SLOWEST * timeout_s)


class TooSlowError(CourseKitError):
    """The wall-clock limit passed before the corrected deadline, so the work has to be run again."""


class Deadline:
    """A deadline that allows for a busy machine: it comes after `timeout_s` seconds of corrected time.

    `corrected_s` returns the corrected time so far, as `CorrectedClock.tick` does; corrected time never passes faster
    than wall-clock time.
    """

    def __init__(self, timeout_s: float, corrected_s: Callable[[], float]) -> None:
        self._timeout_s = timeout_s
        self._corrected_s = corrected_s
        self._end_s = corrected_s() + timeout_s
        self._started_s = time.monotonic()
        self._sample_s = self._started_s + min(timeout_s, TICK_S)

    def left_s(self) -> float:
        """Return how many wall-clock seconds to wait before the next sample; 0 once the deadline has passed.

        Raise a `TooSlowError` if the machine has given the processes hardly any processor time.
        """
        now_s = time.monotonic()
        if now_s < self._sample_s:  # callers ask often, but a sample is expensive
            return self._sample_s - now_s
        left_s = self._end_s - self._corrected_s()
        if left_s <= 0:
            return 0.0
        longest_s = longest_wall_s(self._timeout_s)
        if now_s - self._started_s > longest_s:
            raise TooSlowError(
                f"the machine was too slow or too busy: in {longest_s:.0f} s, its processes could run for "
                f"less than {self._timeout_s:g} s",
                "machine.too-slow",
            )
        self._sample_s = now_s + min(left_s, TICK_S)
        return min(left_s, TICK_S)


def start_up(timeout_s: float, pid: int | None = None) -> Deadline:
    """Return a deadline in the corrected time of a process, by default this process, and of all its descendants."""
    return Deadline(timeout_s, CorrectedClock(lambda: tree(pid or os.getpid())).tick)
