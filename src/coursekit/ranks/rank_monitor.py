"""Sample ranks twice a second, on their server: measure corrected time, and find out what each rank is doing."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from contextlib import suppress

from coursekit.corrected_time import (
    MIN_NUM_POLLS,
    TICK_S,
    CorrectedClock,
    Thread,
    by_thread,
    read_file,
    since_then,
    threads_of,
    tree,
)
from coursekit.ranks.protocol import Activity, RankSample, Sample

# A thread is busy if it runs for more than this share of its time, not counting waits for a processor.
# On some virtual machines, Horovod's own thread, which polls every millisecond, takes a quarter of a processor.
QUIET_SHARE = 0.5
NUM_RUNNING = 1  # in a rank that joins through MPI: Horovod's own thread, which polls MPI without a pause
NUM_TRIES = 10  # how often to try to find all threads of a rank asleep
MAX_NUM_POLLING = 2  # Horovod's own thread polls a thousand times a second, and Gloo's a hundred times
# The system call that waits for another thread, by processor; on other processors, no rank ever counts as blocked.
FUTEX = {"x86_64": b"202", "aarch64": b"98"}.get(platform.machine(), b"")
FUTEX_PRIVATE = 128  # the other thread belongs to the same process
# System calls in which C++ code sleeps, in glibc before 2.31 and in later versions; Python uses other calls.
# With its first dataset, TensorFlow starts a thread that logs memory every 30 s and never wakes another thread.
SLEEPS = {"x86_64": (b"35 ", b"230 0x0 0x0 "), "aarch64": (b"101 ", b"115 0x0 0x0 ")}.get(platform.machine(), ())


class RankMonitor:
    """Samples the ranks of a run; `rank_of` maps process numbers to ranks, and the caller removes ranks that end.

    A rank counts as quiet even if `num_running` of its threads run all the time.
    """

    def __init__(self, rank_of: Mapping[int, int], num_running: int = 0) -> None:
        self._rank_of = rank_of
        self._num_running = num_running
        self._families = {pid: [pid] for pid in rank_of}
        self._clock = CorrectedClock(lambda: [one for family in self._families.values() for one in family])
        self._before: Mapping[int, Thread] = {}
        self._since: dict[int, tuple[Activity, float]] = {}  # by process: what it is doing, and since when
        self._taken_s = time.monotonic()

    def due_in_s(self) -> float:
        """Return how many seconds to wait before the next sample."""
        return max(0.0, self._taken_s + TICK_S - time.monotonic())

    def take(self) -> Sample:
        """Take a sample of every rank, and return it."""
        self._families = {pid: tree(pid) for pid in self._rank_of}
        self._before = by_thread(self._clock.threads)
        self._clock.tick()
        past_s, self._taken_s = time.monotonic() - self._taken_s, time.monotonic()
        return Sample(self._clock.corrected_s, {rank: self._sample(pid, past_s) for pid, rank in self._rank_of.items()})

    def _sample(self, pid: int, past_s: float) -> RankSample:
        # In a sandbox, a rank has several processes: one is the rank itself, and the others wait for it.
        threads = {one: self._clock.threads[one] for one in self._families[pid]}
        activity = self._activity(threads, past_s)
        before, since_s = self._since.get(pid, (activity, self._clock.corrected_s))
        self._since[pid] = activity, since_s if before is activity else self._clock.corrected_s
        num_main = sum(own[one].num_timeslices for one, own in threads.items() if one in own)
        num_all = sum(thread.num_timeslices for own in threads.values() for thread in own.values())
        for_s = self._clock.corrected_s - self._since[pid][1]
        return RankSample(activity, for_s, num_main, num_all - num_main)

    def _activity(self, threads: dict[int, dict[int, Thread]], past_s: float) -> Activity:
        since = since_then(by_thread(threads), self._before)
        busy = [one for one, own in since.items() if own.ran_s > QUIET_SHARE * (past_s - own.queued_s)]
        rests = all(_state(one) in "SD" for one in threads)
        if not rests or len(busy) > self._num_running or any(one in threads for one in busy):
            return Activity.COMPUTES
        return Activity.BLOCKED if self._is_blocked(threads) else Activity.QUIET

    def _is_blocked(self, threads: dict[int, dict[int, Thread]]) -> bool:
        # Horovod adds a thread to a rank, so a process with only one thread wraps the rank or is a child of the rank.
        # A rank that waits for a child does so in another system call.
        of_rank = by_thread({pid: own for pid, own in threads.items() if len(own) > 1})
        num_timeslices = {one: since.num_timeslices for one, since in since_then(of_rank, self._before).items()}
        # The threads that do not poll; main threads always count among them.
        others = [one for one, num in num_timeslices.items() if num < MIN_NUM_POLLS or one in threads]
        not_waiting = [one for one in others if not _waits_for_a_thread(one)]
        return (
            0 < len(num_timeslices) - len(others) <= MAX_NUM_POLLING
            and not any(num_timeslices[one] for one in others)
            and len(not_waiting) <= 1
            and all(one not in threads and _system_call(one).startswith(SLEEPS) for one in not_waiting)
        )


def is_asleep(pid: int, num_running: int = 0) -> bool:
    """Return whether, at some moment in the next 10 ms, at most `num_running` of a rank's threads are awake.

    The main thread must be asleep in any case.
    """
    for _ in range(NUM_TRIES):
        main = tree(pid)
        others = [thread for one in main for thread in threads_of(one) if thread != one]
        if not any(map(_runs, main)) and sum(map(_runs, others)) <= num_running:
            return True
        time.sleep(1e-3)
    return False


def _state(thread: int) -> str:
    """Return the state of a thread, or of a process's main thread, as in `ps`: "S" if asleep, "?" if it has ended."""
    with suppress(OSError):
        return chr(read_file(f"/proc/{thread}/stat").rpartition(b") ")[2][0])
    return "?"


def _runs(thread: int) -> bool:
    return _state(thread) not in {"S", "D"}


def _system_call(thread: int) -> bytes:
    """Return the system call in which a thread waits, with its arguments; b"" if the kernel does not reveal it."""
    with suppress(OSError):
        return read_file(f"/proc/{thread}/syscall")
    return b""


def _waits_for_a_thread(thread: int) -> bool:
    """Return whether a thread waits for another thread of its process."""
    number, *arguments = [*_system_call(thread).split(), b"0", b"0", b"0"][:3]
    return number == FUTEX and bool(int(arguments[1], 16) & FUTEX_PRIVATE)
