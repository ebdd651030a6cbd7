"""What a fork server tells of its ranks while they run: the time they had, and who of them rests."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from coursekit.ranks.own_time import TICK_S, OwnTime, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

QUIET_SHARE = 0.25  # of a processor: Horovod's own thread, which asks for news every millisecond, takes less


class Mark(NamedTuple):
    """Where one rank stands, as far as the kernel sees it.

    Attributes:
        is_quiet: whether its main thread neither runs nor stands in a queue, and the others do next to nothing.
        num_turns: how many times main threads got a processor: while this stays the same, none of them has moved.
        num_other_turns: the same for all other threads, Horovod's among them.
    """

    is_quiet: bool
    num_turns: int
    num_other_turns: int


class Pulse(NamedTuple):
    """One look at the ranks of a server.

    Attributes:
        own_s: seconds that they had for themselves since they were started.
        marks: by rank.
    """

    own_s: float
    marks: Mapping[int, Mark]


class Pulses:
    """Looks at the ranks of a run again and again.

    Args:
        rank_of: the processes of the ranks; those that end are taken out by the caller.
    """

    def __init__(self, rank_of: Mapping[int, int]) -> None:
        self._rank_of = rank_of
        self._families = {pid: [pid] for pid in rank_of}
        self._clock = OwnTime(lambda: [one for family in self._families.values() for one in family])
        self._ran_s: dict[int, float] = {}
        self._taken_s = time.monotonic()

    def due_in_s(self) -> float:
        """Return how long to wait for the next one."""
        return max(0.0, self._taken_s + TICK_S - time.monotonic())

    def take(self) -> Pulse:
        """Look at every rank."""
        self._families = {pid: list(_family(pid)) for pid in self._rank_of}
        own_s = self._clock.tick()
        past_s, self._taken_s = time.monotonic() - self._taken_s, time.monotonic()
        return Pulse(own_s, {rank: self._mark(rank, pid, past_s) for pid, rank in self._rank_of.items()})

    def _mark(self, rank: int, pid: int, past_s: float) -> Mark:
        # Within walls a rank is a family of processes, all but one of which wait for it.
        threads = {one: self._clock.threads[one] for one in self._families[pid]}
        ran_s = sum(thread.ran_s for own in threads.values() for thread in own.values())
        used_s, self._ran_s[rank] = ran_s - self._ran_s.get(rank, 0.0), ran_s
        rests = all(_state(one) in "SD" for one in threads)
        main_turns = sum(own[one].num_turns for one, own in threads.items() if one in own)
        turns = sum(thread.num_turns for own in threads.values() for thread in own.values())
        return Mark(rests and used_s < QUIET_SHARE * past_s, main_turns, turns - main_turns)


def _family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants; it alone where the kernel does not list children."""
    yield pid
    with suppress(OSError):  # it has just ended
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # numbers, no paths
            with suppress(OSError):
                for child in read_file(f"/proc/{pid}/task/{thread}/children").split():
                    yield from _family(int(child))


def _state(pid: int) -> str:
    """Return the state of a process's main thread as `ps` shows it, "S" for asleep; "?" when it is gone."""
    with suppress(OSError):
        return chr(read_file(f"/proc/{pid}/stat").rpartition(b") ")[2][0])
    return "?"
