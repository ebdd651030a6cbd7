"""CPU-contention-corrected time: a clock that stops while processes wait for a processor on a busy machine.

Deadlines count it, so that no verdict depends on speed.
Linux counts for every thread how long it ran, and how long it was ready and waited in the queue for a processor
(`/proc/<pid>/task/<tid>/schedstat`, in nanoseconds; the kernel's documentation calls it "sched-stats").
A thread that sleeps, or waits for a message, is in no queue: for it corrected time passes like wall-clock time.

Some threads only poll: Horovod's own one wakes each millisecond, runs for 20 microseconds, and sleeps again.
Beside three busy loops it is in the queue for 80 % of the time, with nothing to do: if all that counted, a
deadline of 8 s for a rank that waits for ever would come after 40 s. So the queueing of a polling thread counts in
part: what it does for others is followed by timeslices of other threads, and 10 polls count for each of these.
Of 100 polls that queued for 0.4 s in all, 0 s count if no other thread had a timeslice, 0.08 s if they had 2,
and all of it if they had 10, as when ranks exchange gradients.
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

TICK_S = 0.5  # how often a waiting process should look at the clock
# A polling thread takes a processor often, and gives it back sooner than the kernel would take it away.
MIN_NUM_POLLS, POLL_S = 10, 0.5e-3
POLLS_PER_TIMESLICE = 10  # an exchange takes Horovod's thread and Gloo's a few polls on each of the ranks
# The last resort, in wall-clock time: after so many times the deadline, and at least so many seconds, all is ended.
# Who shares a core with nine others comes to the deadline before it, and who waits for more cannot tell it from a hang.
SLOWEST = 10
LEAST_WALL_S = 300.0
NANO = 1e-9
PAGE_BYTES = 4096  # what the kernel hands out at once
LISTS_CHILDREN = Path("/proc/thread-self/children").exists()  # CONFIG_PROC_CHILDREN


class Thread(NamedTuple):
    """What the kernel has counted for one thread."""

    ran_s: float  # on a processor
    queued_s: float  # ready to run, without one
    num_timeslices: int  # how many times it got a processor


NOTHING = Thread(0.0, 0.0, 0)


def threads_of(pid: int) -> dict[int, Thread]:
    """Return the threads of a process by their numbers; none where it has ended, or the kernel does not count."""
    found = {}
    with suppress(OSError, ValueError):  # it, or one of its threads, ends while we read
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # numbers, no paths
            with suppress(OSError):
                ran, queued, num_turns = read_file(f"/proc/{pid}/task/{name}/schedstat").split()
                found[int(name)] = Thread(int(ran) * NANO, int(queued) * NANO, int(num_turns))
    return found


def tree(pid: int) -> list[int]:
    """Return a process and all below it."""
    if not LISTS_CHILDREN:
        return [pid, *(process.pid for process in below(pid))]
    found = [pid]
    for parent in found:  # it grows meanwhile
        with suppress(OSError):  # it has just ended
            for thread in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208  # numbers, no paths
                with suppress(OSError):
                    found += map(int, read_file(f"/proc/{parent}/task/{thread}/children").split())
    return found


def read_file(path: str) -> bytes:
    """Return what a small file in /proc says, in a third of the time of Python's own files: it is asked often."""
    file = os.open(path, os.O_RDONLY)
    try:
        content = os.read(file, PAGE_BYTES)
        while len(content) > PAGE_BYTES // 2 and (more := os.read(file, PAGE_BYTES)):  # long ones come in parts
            content += more
        return content
    finally:
        os.close(file)


class CorrectedClock:
    """Corrected seconds of some processes since the clock was made; `pids` returns these processes.

    A second in which a thread was in the queue counts as much less as it was there. It never counts less than the
    processes used their processors together: a process that keeps one busy all the time is not held up.
    """

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self.corrected_s = 0.0  # until the last sample
        self._pids = pids
        self.threads = self._sample()  # by process, what was counted then
        self._sampled_s = time.monotonic()

    def tick(self) -> float:
        """Sample the processes again, and return the seconds so far."""
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
    """Return what was counted for each thread since an earlier sample."""
    return {number: Thread(*map(sub, now, before.get(number, NOTHING))) for number, now in threads.items()}


def polling_threads(pid: int, threads: Mapping[int, Thread]) -> dict[int, Thread]:
    """Return the threads of a process that only poll; the main one, which has the process's number, never counts.

    Example: one with 100 timeslices of 20 us each polls; one with 100 of 4 ms computes, and one with 3 sleeps.
    """
    return {
        number: thread
        for number, thread in threads.items()
        if number != pid and thread.num_timeslices >= MIN_NUM_POLLS and thread.ran_s < POLL_S * thread.num_timeslices
    }


def held_up_s(pid: int, threads: Mapping[int, Thread]) -> float:
    """Return how long a process may have been held up: the longest queueing of its threads, of polling ones in part."""
    polling = polling_threads(pid, threads)
    others = [thread for number, thread in threads.items() if number not in polling]
    num_polls = POLLS_PER_TIMESLICE * sum(thread.num_timeslices for thread in others)  # so many count
    shares = [min(1.0, num_polls / thread.num_timeslices) * thread.queued_s for thread in polling.values()]
    return max([0.0, *shares, *(thread.queued_s for thread in others)])


def by_thread(threads: dict[int, dict[int, Thread]]) -> dict[int, Thread]:
    """Return the threads of all processes by their own numbers."""
    return {number: thread for own in threads.values() for number, thread in own.items()}


def longest_wall_s(timeout_s: float) -> float:
    """Return how long to wait, in wall-clock time, for a deadline in corrected time; then the machine is too slow."""
    return max(LEAST_WALL_S, SLOWEST * timeout_s)


class TooSlowError(CourseKitError):
    """The last resort in wall-clock time has passed, the deadline has not: what was waited for needs another run."""


class Deadline:
    """A deadline that no busy machine brings nearer: `timeout_s` from now of the time that `corrected_s` returns.

    That is corrected time, as from `CorrectedClock.tick`: slower than wall-clock time, never faster.
    """

    def __init__(self, timeout_s: float, corrected_s: Callable[[], float]) -> None:
        self._timeout_s = timeout_s
        self._corrected_s = corrected_s
        self._end_s = corrected_s() + timeout_s
        self._started_s = time.monotonic()
        self._sample_s = self._started_s + min(timeout_s, TICK_S)

    def left_s(self) -> float:
        """Return how long to wait before the next sample, in wall-clock seconds; 0 when the deadline has passed.

        A `TooSlowError` says that the machine gave the processes next to no time.
        """
        now_s = time.monotonic()
        if now_s < self._sample_s:  # callers ask often, and a sample is expensive
            return self._sample_s - now_s
        left_s = self._end_s - self._corrected_s()
        if left_s <= 0:
            return 0.0
        longest_s = longest_wall_s(self._timeout_s)
        if now_s - self._started_s > longest_s:
            raise TooSlowError(
                f"the machine was too slow or too busy: in {longest_s:.0f} s its processes could run for "
                f"less than {self._timeout_s:g} s",
                "machine.too-slow",
            )
        self._sample_s = now_s + min(left_s, TICK_S)
        return min(left_s, TICK_S)


def start_up(timeout_s: float, pid: int | None = None) -> Deadline:
    """Return a deadline in the corrected time of a process, by default this one, and of all below it."""
    return Deadline(timeout_s, CorrectedClock(lambda: tree(pid or os.getpid())).tick)
