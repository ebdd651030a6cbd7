"""What a fork server tells of its ranks while they run: the time they had, and which of them rest."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from coursekit.ranks.own_time import NOTHING, TICK_S, OwnTime, Thread, by_thread, read_file, threads_of, tree

QUIET_SHARE = 0.25  # of the time that a thread has for itself: one that runs for less does next to nothing
# A thread that takes more, but goes back to sleep sooner than this, only looks for news. So does Horovod's own thread,
# every millisecond; on some virtual machines that costs a quarter of a processor. A thread that computes rests seldom.
QUIET_TURN_S = 0.5e-3
NUM_TRIES = 10  # to find all threads of a rank asleep
# A thread that looks for news: Horovod's own one, a thousand times in a second, and Gloo's, a hundred times.
MIN_NUM_LOOKS, MAX_NUM_LOOKERS = 10, 2
# The system call, by processor, that waits for another thread; elsewhere no rank is ever seen as still.
FUTEX = {"x86_64": b"202", "aarch64": b"98"}.get(platform.machine(), b"")
FUTEX_PRIVATE = 128  # the other thread is one of the same process
RESTS = re.compile(rb"^voluntary_ctxt_switches:\s*(\d+)", re.MULTILINE)


class RankMark(NamedTuple):
    """Where one rank stands, as far as the kernel sees it.

    Attributes:
        is_quiet: whether its main thread neither runs nor stands in a queue, and no other does more than look for news.
        num_turns: how many times main threads got a processor: while this stays the same, none of them has moved.
        num_other_turns: the same for all other threads, Horovod's among them.
        is_still: whether, since the look before, each thread did nothing but wait for another one of its process, apart
            from those of Horovod that look for news. A rank that reads or sleeps is not still.
    """

    is_quiet: bool
    num_turns: int
    num_other_turns: int
    is_still: bool


class Pulse(NamedTuple):
    """One look at a server's ranks: seconds that they had for themselves since their start, and a mark of each."""

    own_s: float
    marks: Mapping[int, RankMark]


class Pulses:
    """Looks at the ranks of a run, given by process, again and again; the caller takes out those that end."""

    def __init__(self, rank_of: Mapping[int, int]) -> None:
        self._rank_of = rank_of
        self._families = {pid: [pid] for pid in rank_of}
        self._clock = OwnTime(lambda: [one for family in self._families.values() for one in family])
        self._before: Mapping[int, Thread] = {}
        self._num_rests: dict[int, int] = {}  # of threads that did more than next to nothing, at the last look
        self._taken_s = time.monotonic()

    def due_in_s(self) -> float:
        """Return how long to wait for the next one."""
        return max(0.0, self._taken_s + TICK_S - time.monotonic())

    def take(self) -> Pulse:
        """Look at every rank."""
        self._families = {pid: tree(pid) for pid in self._rank_of}
        self._before = by_thread(self._clock.threads)
        own_s = self._clock.tick()
        past_s, self._taken_s = time.monotonic() - self._taken_s, time.monotonic()
        return Pulse(own_s, {rank: self._mark(pid, past_s) for pid, rank in self._rank_of.items()})

    def _mark(self, pid: int, past_s: float) -> RankMark:
        # In a sandbox a rank is a family of processes, all but one of which wait for it.
        threads = {one: self._clock.threads[one] for one in self._families[pid]}
        rests = all(_state(one) in "SD" for one in threads)
        computes = any(
            self._computes(number, thread, self._before.get(number, NOTHING), past_s)
            for number, thread in by_thread(threads).items()
        )
        main_turns = sum(own[one].num_turns for one, own in threads.items() if one in own)
        turns = sum(thread.num_turns for own in threads.values() for thread in own.values())
        is_quiet = rests and not computes
        return RankMark(is_quiet, main_turns, turns - main_turns, is_quiet and self._is_still(threads))

    def _is_still(self, threads: dict[int, dict[int, Thread]]) -> bool:
        # Horovod gives a rank a second thread. A process with only one wraps the rank, or is a child: to wait
        # for a child is another system call.
        of_rank = by_thread({pid: own for pid, own in threads.items() if len(own) > 1})
        num_turns = {one: now.num_turns - self._before.get(one, NOTHING).num_turns for one, now in of_rank.items()}
        others = [one for one, num in num_turns.items() if num < MIN_NUM_LOOKS or one in threads]  # main ones, too
        num_lookers = len(num_turns) - len(others)
        return (
            0 < num_lookers <= MAX_NUM_LOOKERS
            and not any(num_turns[one] for one in others)
            and all(map(_waits_for_a_thread, others))
        )

    def _computes(self, number: int, now: Thread, before: Thread, past_s: float) -> bool:
        used_s, queued_s, _ = (new - old for new, old in zip(now, before))
        if used_s <= QUIET_SHARE * (past_s - queued_s):
            self._num_rests.pop(number, None)
            return False
        then, self._num_rests[number] = self._num_rests.get(number), _num_rests(number)
        return then is None or used_s > QUIET_TURN_S * (self._num_rests[number] - then)


def is_at_rest(pid: int) -> bool:
    """Whether all threads of a rank sleep at one moment of the next few milliseconds; Horovod's wakes in each."""
    for _ in range(NUM_TRIES):
        if all(_state(thread) in "SD" for one in tree(pid) for thread in (one, *threads_of(one))):
            return True
        time.sleep(1e-3)
    return False


def _state(thread: int) -> str:
    """Return the state of a thread (or a process's main one) as `ps` shows it, "S" for asleep; "?" when it is gone."""
    with suppress(OSError):
        return chr(read_file(f"/proc/{thread}/stat").rpartition(b") ")[2][0])
    return "?"


def _waits_for_a_thread(thread: int) -> bool:
    """Return whether a thread waits for another one of its process; not where the kernel does not tell."""
    with suppress(OSError, ValueError):
        call, *arguments = read_file(f"/proc/{thread}/syscall").split()
        return call == FUTEX and bool(int(arguments[1], 16) & FUTEX_PRIVATE)
    return False


def _num_rests(thread: int) -> int:
    """Return how many times a thread gave its processor back by itself; 0 when it is gone."""
    with suppress(OSError):
        return int(RESTS.findall(read_file(f"/proc/{thread}/status"))[-1])
    return 0
