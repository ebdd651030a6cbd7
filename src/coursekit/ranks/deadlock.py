"""Certain deadlocks: when no rank can continue, that is known at once, and not only at the deadline.

Every rank has returned, or waits in a collective, and they are not all in one of the same kind: a collective completes
only when all ranks call it, so none of them will. Never a false alarm:

- only a rank whose main thread has not moved for a while is asked where it stands, by its Python stack;
- a rank that computes, reads, sleeps or traces is in no collective that a stack shows, and one with a second Python
  thread might still be helped by that: with such ranks nothing is certain. The threads that write events for
  TensorBoard and watch progress bars of tqdm help nobody (`stacks.SERVICE_THREADS`);
- inside a compiled step no stack shows what a rank does. It waits for others where each of its threads only waits for
  another one of them, for a while: none reads, sleeps, computes, or waits for another process. A rank with a GPU has
  two threads of its driver that always poll, so that such a deadlock is told at the deadline (docs/gpus.md). So is one
  of ranks that MPI joins, as its threads wait in other ways than for one another;
- two ranks in collectives of the same kind may be in the same one, and so may two inside compiled steps;
- all are asked twice: first for the stack of the main thread, which harms nobody, then for those of all threads, which
  ends a rank whose other threads run Python just then. In between no main thread has moved, while Horovod's own thread
  of each had many turns. It looks in every turn whether all ranks have come, so a collective that had just ended would
  have woken its rank by then.

Example: at 1.0 s of own time rank 0 rests in a broadcast and rank 1 in an allreduce: they are asked. At 1.5 s both have
written where they stand, in collectives of two kinds. At 2.0 s neither main thread has had a turn since, and Horovod's
threads had 400 each: they are asked again, and at 2.5 s it is certain, of a run whose deadline is 60 s.

The first half of this module runs on the fork server's side, which looks at its ranks twice a second (`Pulses`);
the second half decides on the notebook's side (`DeadlockWatch`).
"""

from __future__ import annotations

import platform
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from coursekit.corrected_time import TICK_S, CorrectedClock, Thread, by_thread, read_file, since_then, threads_of, tree
from coursekit.ranks.request import DUMP_ALL_AT_REST, DUMP_AT_REST, RunningRanks
from coursekit.ranks.stacks import in_compiled_step, kind_of_collective, num_python_threads, parse_stacks

# Of the time that a thread has for itself: one that runs for less does next to nothing. Horovod's own thread, which
# looks for news every millisecond, takes a quarter of a processor on some virtual machines.
QUIET_SHARE = 0.5
NUM_POLLERS = 1  # of a rank that MPI joins: Horovod's own thread, which asks MPI without a pause
NUM_TRIES = 10  # to find all threads of a rank asleep
# A thread that looks for news: Horovod's own one, a thousand times in a second, and Gloo's, a hundred times.
MIN_NUM_LOOKS, MAX_NUM_LOOKERS = 10, 2
# The system call, by processor, that waits for another thread; elsewhere no rank is ever seen as still.
FUTEX = {"x86_64": b"202", "aarch64": b"98"}.get(platform.machine(), b"")
FUTEX_PRIVATE = 128  # the other thread is one of the same process


class RankMark(NamedTuple):
    """Where one rank stands, as far as the kernel sees it."""

    is_quiet: bool  # its main thread neither runs nor stands in a queue, and no other does more than look for news
    num_turns: int  # how many times its main thread got a processor: while this stays the same, it has not moved
    num_other_turns: int  # the same for all other threads, Horovod's among them
    # Since the look before, each thread did nothing but wait for another one of its process, apart from those of
    # Horovod that look for news. A rank that reads or sleeps is not still.
    is_still: bool


class Pulse(NamedTuple):
    """One look at a server's ranks: seconds that they had for themselves since their start, and a mark of each."""

    own_s: float
    marks: Mapping[int, RankMark]


class Pulses:
    """Looks at the ranks of a run, given by process, again and again; the caller takes out those that end.

    Of each rank so many threads may run all the time, and it is quiet all the same (`NUM_POLLERS`).
    """

    def __init__(self, rank_of: Mapping[int, int], num_pollers: int = 0) -> None:
        self._rank_of = rank_of
        self._num_pollers = num_pollers
        self._families = {pid: [pid] for pid in rank_of}
        self._clock = CorrectedClock(lambda: [one for family in self._families.values() for one in family])
        self._before: Mapping[int, Thread] = {}
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
        since = since_then(by_thread(threads), self._before)
        busy = [one for one, own in since.items() if own.ran_s > QUIET_SHARE * (past_s - own.queued_s)]
        computes = len(busy) > self._num_pollers or any(one in threads for one in busy)
        main_turns = sum(own[one].num_turns for one, own in threads.items() if one in own)
        turns = sum(thread.num_turns for own in threads.values() for thread in own.values())
        is_quiet = rests and not computes
        return RankMark(is_quiet, main_turns, turns - main_turns, is_quiet and self._is_still(threads))

    def _is_still(self, threads: dict[int, dict[int, Thread]]) -> bool:
        # Horovod gives a rank a second thread. A process with only one wraps the rank, or is a child: to wait
        # for a child is another system call.
        of_rank = by_thread({pid: own for pid, own in threads.items() if len(own) > 1})
        num_turns = {one: since.num_turns for one, since in since_then(of_rank, self._before).items()}
        others = [one for one, num in num_turns.items() if num < MIN_NUM_LOOKS or one in threads]  # main ones, too
        num_lookers = len(num_turns) - len(others)
        return (
            0 < num_lookers <= MAX_NUM_LOOKERS
            and not any(num_turns[one] for one in others)
            and all(map(_waits_for_a_thread, others))
        )


def is_at_rest(pid: int, num_pollers: int = 0) -> bool:
    """Whether all threads of a rank but pollers sleep at one moment of the next 10 ms; Horovod's wakes in each."""
    for _ in range(NUM_TRIES):
        main = tree(pid)
        others = [thread for one in main for thread in threads_of(one) if thread != one]
        if not any(map(_runs, main)) and sum(map(_runs, others)) <= num_pollers:
            return True
        time.sleep(1e-3)
    return False


def _state(thread: int) -> str:
    """Return the state of a thread (or a process's main one) as `ps` shows it, "S" for asleep; "?" when it is gone."""
    with suppress(OSError):
        return chr(read_file(f"/proc/{thread}/stat").rpartition(b") ")[2][0])
    return "?"


def _runs(thread: int) -> bool:
    return _state(thread) not in {"S", "D"}


def _waits_for_a_thread(thread: int) -> bool:
    """Return whether a thread waits for another one of its process; not where the kernel does not tell."""
    with suppress(OSError, ValueError):
        call, *arguments = read_file(f"/proc/{thread}/syscall").split()
        return call == FUTEX and bool(int(arguments[1], 16) & FUTEX_PRIVATE)
    return False


CONFIRM_S = 0.4  # of own time between the first stacks and the second
STEP_CONFIRM_S = 1.5  # the same with ranks inside compiled steps, whose threads were still all the time
NUM_ROUNDS = 50  # turns of Horovod's thread meanwhile; it has one in each cycle, a millisecond by default
# A rank may have moved between writing its stack and coming to rest: so long after a look in vain comes another one,
# and the next after twice as long.
AGAIN_S = 1.0
MAX_NUM_LOOKS = 3  # for stacks that were asked for
INIT = "init"  # whose main thread asks again and again whether the others have come
STEP = "compiled step"  # in which gradients, variables or metrics are exchanged


@dataclass
class DeadlockWatch:
    """Looks for a certain deadlock of running ranks, pulse by pulse."""

    running: RunningRanks
    _is_asked: bool = False  # whether stacks are on their way
    _num_looks: int = 0  # for these
    _kinds: dict[int, str] = field(default_factory=dict)  # of collectives, by rank, if nobody comes by the last stacks
    _seen: Mapping[int, RankMark] = field(default_factory=dict)  # the marks of the ranks that waited then
    _seen_s: float = 0.0  # own time then
    _pause_s: float = 0.0  # of own time until the next look, where nobody moves
    _still_since_s: dict[int, float] = field(default_factory=dict)  # own time, by rank, while it is still

    def is_certain(self, own_s: float, marks: Mapping[int, RankMark], returned: Collection[int]) -> bool:
        """Return whether no rank can continue, from the ranks' own time and the marks of those that have not ended."""
        waiting = {rank: mark for rank, mark in marks.items() if rank not in returned}
        still = [rank for rank, mark in waiting.items() if mark.is_still]
        self._still_since_s = {rank: self._still_since_s.get(rank, own_s) for rank in still}
        if not waiting or not all(mark.is_quiet for mark in waiting.values()):
            self._is_asked, self._kinds = False, {}
            return False
        if self._is_asked:
            return self._look(own_s, waiting, someone_returned=bool(returned))
        if not self._same_as_seen(waiting):
            self._pause_s, self._kinds = 0.0, {}
        self._is_asked = self._may_confirm(own_s, waiting) if self._kinds else own_s - self._seen_s >= self._pause_s
        if self._is_asked:
            self.running.ask_for_stacks(DUMP_ALL_AT_REST if self._kinds else DUMP_AT_REST)
            self._num_looks = 0
        return False

    def _look(self, own_s: float, waiting: Mapping[int, RankMark], *, someone_returned: bool) -> bool:
        """See where the ranks stand, once all have written it; return whether they stand there for the second time."""
        dumps = self.running.new_stacks()
        stacks = {rank: parse_stacks(dumps[rank]) for rank in waiting}
        self._num_looks += 1
        are_missing = not all(stacks.values())
        if are_missing and self._num_looks < MAX_NUM_LOOKS:
            return False
        self._is_asked = False
        self._seen_s, self._seen, self._pause_s = own_s, waiting, max(AGAIN_S, 2 * self._pause_s)
        # What kind of exchange each rank waits in, or may wait in; '' where it waits in none.
        steps = {rank: STEP if in_compiled_step(frames) else "" for rank, frames in stacks.items()}
        kinds = {rank: kind_of_collective(frames) or steps[rank] for rank, frames in stacks.items()}
        is_alone = all(num_python_threads(dumps[rank]) == 1 for rank in waiting)
        nobody_comes = all(kinds.values()) and (someone_returned or len(set(kinds.values())) > 1)
        before, self._kinds = self._kinds, kinds if nobody_comes and is_alone and not are_missing else {}
        return bool(before) and before == self._kinds

    def _may_confirm(self, own_s: float, waiting: Mapping[int, RankMark]) -> bool:
        """Return whether enough has happened since the last stacks to ask for them again."""
        fixed = [rank for rank in waiting if self._kinds[rank] != INIT]
        num_rounds = [waiting[rank].num_other_turns - self._seen[rank].num_other_turns for rank in fixed]
        if own_s - self._seen_s < CONFIRM_S or any(num < NUM_ROUNDS for num in num_rounds):
            return False
        in_steps = [rank for rank in waiting if self._kinds[rank] == STEP]
        return all(own_s - self._still_since_s.get(rank, own_s) >= STEP_CONFIRM_S for rank in in_steps)

    def _same_as_seen(self, waiting: Mapping[int, RankMark]) -> bool:
        """Whether no main thread has moved since the last stacks, but for those that wait for the others to start."""
        return waiting.keys() == self._seen.keys() and all(
            self._kinds.get(rank) == INIT or mark.num_turns == self._seen[rank].num_turns
            for rank, mark in waiting.items()
        )
