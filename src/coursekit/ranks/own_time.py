"""A clock for deadlines that stands still while a busy machine keeps processes waiting: no verdict depends on speed.

Linux counts for every thread how long it ran and how long it stood ready in the queue for a processor
(`/proc/<pid>/task/<tid>/schedstat`, in nanoseconds; the kernel's documentation calls it "sched-stats").
A thread that sleeps, or waits for a message, stands in no queue: for it time passes as it does on the wall.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TICK_S = 0.5  # how often a waiting process should look at the clock
# The last resort: so many times a deadline on the wall, and at least so many seconds, say that the machine is too slow.
SLOWEST = 30
LEAST_WALL_S = 300.0
NANO = 1e-9
PAGE_BYTES = 4096  # what the kernel hands out at once
LISTS_CHILDREN = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()  # CONFIG_PROC_CHILDREN


class Thread(NamedTuple):
    """What the kernel has counted for one thread.

    Attributes:
        ran_s: seconds on a processor.
        queued_s: seconds ready to run, without one.
        num_turns: how many times it got a processor.
    """

    ran_s: float
    queued_s: float
    num_turns: int


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
    """Return a process and all below it.

    Where the kernel lists children, the time this takes does not grow with what else runs on the machine.
    """
    if not LISTS_CHILDREN:
        with suppress(psutil.NoSuchProcess):
            return [pid, *(process.pid for process in psutil.Process(pid).children(recursive=True))]
        return [pid]
    found = [pid]
    for parent in found:  # it grows meanwhile
        with suppress(OSError):  # it has just ended
            for thread in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208  # numbers, no paths
                with suppress(OSError):
                    found += map(int, read_file(f"/proc/{parent}/task/{thread}/children").split())
    return found


def read_file(path: str) -> bytes:
    """Return what a small file in /proc says, in a third of the time that Python's own files take: it is asked often.

    Raises:
        OSError: it is gone.
    """
    file = os.open(path, os.O_RDONLY)
    try:
        content = os.read(file, PAGE_BYTES)
        while len(content) > PAGE_BYTES // 2 and (more := os.read(file, PAGE_BYTES)):  # long ones come in parts
            content += more
        return content
    finally:
        os.close(file)


class OwnTime:
    """Seconds that some processes had for themselves since the clock was made.

    A second in which a thread stood in the queue counts as much less as it stood there. It never counts less than the
    processes used their processors together: a process that keeps one busy all the time is not held up.

    Attributes:
        own_s: the seconds until the last look.
        threads: by process, what was seen then.

    Args:
        pids: returns the processes of interest, which may change.
    """

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self.own_s = 0.0
        self._pids = pids
        self.threads = self._look()
        self._looked_s = time.monotonic()

    def tick(self) -> float:
        """Look at the processes again, and return the seconds so far."""
        before, now_s = by_thread(self.threads), time.monotonic()
        self.threads = self._look()
        past_s, self._looked_s = now_s - self._looked_s, now_s
        pairs = [(thread, before.get(number, NOTHING)) for number, thread in by_thread(self.threads).items()]
        ran_s = sum(now.ran_s - then.ran_s for now, then in pairs)
        queued_s = max((now.queued_s - then.queued_s for now, then in pairs), default=0.0)
        self.own_s += min(past_s, max(ran_s, past_s - queued_s))
        return self.own_s

    def _look(self) -> dict[int, dict[int, Thread]]:
        return {pid: threads_of(pid) for pid in self._pids()}


def by_thread(threads: dict[int, dict[int, Thread]]) -> dict[int, Thread]:
    """Return the threads of all processes by their own numbers."""
    return {number: thread for own in threads.values() for number, thread in own.items()}


def longest_wall_s(own_s: float) -> float:
    """Return how long to wait on the wall for a deadline in own time before the machine counts as too slow."""
    return max(LEAST_WALL_S, SLOWEST * own_s)
