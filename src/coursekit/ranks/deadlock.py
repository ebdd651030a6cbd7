"""Certain deadlocks: when no rank can continue, that is known at once, and not only at the deadline.

Every rank has returned, or waits in a collective, and they are not all in one of the same kind: a collective completes
only when all ranks call it, so none of them will. Never a false alarm:

- only a rank whose main thread has not moved for a while is asked where it stands, by its Python stack;
- a rank that computes, reads, sleeps or traces is in no collective that a stack shows, and one with a second Python
  thread might still be helped by that: with such ranks nothing is certain;
- inside a compiled step no stack shows what a rank does. It waits for others where each of its threads only waits for
  another one of them, for a while: none reads, sleeps, computes, or waits for another process;
- two ranks in collectives of the same kind may be in the same one, and so may two inside compiled steps;
- between finding and telling, no main thread has moved, while Horovod's own thread of each had many turns. It looks in
  every turn whether all ranks have come, so a collective that had just ended would have woken its rank by then.

What is known of the ranks, from pulse to pulse (`Knowledge`); whenever a main thread runs, all begins again:

    WATCHED      they rest, and have moved since their last stacks, or a pause is over   ask: ASKED
    ASKED        some stacks are missing, for `MAX_NUM_LOOKS` pulses                     WATCHED, and a longer pause
                 by their stacks somebody may come                                       WATCHED, and a longer pause
                 by their stacks nobody comes                                            FOUND
    FOUND        somebody has moved since                                                WATCHED
                 time and turns enough have passed                                       certain
                 the same, but main threads in `hvd.init` move by themselves             ask: ASKED_AGAIN
    ASKED_AGAIN  they stand in the same collectives                                      certain
                 anything else                                                           as ASKED

Example: at 1.0 s of own time rank 0 rests in a broadcast and rank 1 in an allreduce: they are asked. At 1.1 s both have
written where they stand, in collectives of two kinds: found. At 1.5 s neither main thread has had a turn since, and
Horovod's threads had 400 each: certain, of a run whose deadline is 60 s.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from coursekit.ranks.explain import StackFrame, in_compiled_step, kind_of_collective, num_python_threads, parse_stacks
from coursekit.ranks.pulse import RankMark
from coursekit.ranks.request import RunningRanks

CONFIRM_S = 0.4  # of own time between finding and telling
STEP_CONFIRM_S = 1.5  # the same with ranks inside compiled steps, whose threads were still all the time
NUM_ROUNDS = 50  # turns of Horovod's thread meanwhile; it has one in each cycle, a millisecond by default
# A rank may have moved between writing its stack and coming to rest: so long after a look in vain comes another one,
# and the next after twice as long.
AGAIN_S = 1.0
MAX_NUM_LOOKS = 3  # for stacks that were asked for
INIT = "init"  # whose main thread asks again and again whether the others have come
STEP = "compiled step"  # in which gradients, variables or metrics are exchanged


class Knowledge(Enum):
    """What is known of the ranks; the module's docstring says how one comes from the other."""

    WATCHED = auto()
    ASKED = auto()
    FOUND = auto()
    ASKED_AGAIN = auto()


@dataclass
class DeadlockWatch:
    """Looks for a certain deadlock of running ranks, pulse by pulse."""

    running: RunningRanks
    _known: Knowledge = Knowledge.WATCHED
    _num_looks: int = 0  # for the stacks that were asked for last
    _kinds: dict[int, str] = field(default_factory=dict)  # of collective, by rank, since a deadlock was found
    _seen_s: float = 0.0  # own time of the last stacks
    _pause_s: float = 0.0  # of own time until the next look, where nobody moves
    _seen: Mapping[int, RankMark] = field(default_factory=dict)  # the marks of the ranks that waited then
    _still_since_s: dict[int, float] = field(default_factory=dict)  # own time, by rank, while it is still

    def is_certain(self, own_s: float, marks: Mapping[int, RankMark], returned: Collection[int]) -> bool:
        """Return whether no rank can continue, from the ranks' own time and the marks of those that have not ended."""
        waiting = {rank: mark for rank, mark in marks.items() if rank not in returned}
        still = [rank for rank, mark in waiting.items() if mark.is_still]
        self._still_since_s = {rank: self._still_since_s.get(rank, own_s) for rank in still}
        if not waiting or not all(mark.is_quiet for mark in waiting.values()):
            self._watch_on()
        elif self._known is Knowledge.WATCHED:
            has_moved = not self._same_as_seen(waiting)
            self._pause_s = 0.0 if has_moved else self._pause_s
            if has_moved or own_s - self._seen_s >= self._pause_s:
                self._ask(Knowledge.ASKED)
        elif self._known is Knowledge.FOUND:
            return self._is_confirmed(own_s, waiting)
        else:
            return self._look(own_s, waiting, someone_returned=bool(returned))
        return False

    def _watch_on(self) -> None:
        self._known, self._kinds = Knowledge.WATCHED, {}

    def _ask(self, known: Knowledge) -> None:
        self.running.ask_for_stacks(at_rest=True)
        self._known, self._num_looks = known, 0

    def _look(self, own_s: float, waiting: Mapping[int, RankMark], *, someone_returned: bool) -> bool:
        """See where the ranks stand, once all have written it; return whether they stand there for the second time."""
        dumps = self.running.new_stacks()
        stacks = {rank: parse_stacks(dumps[rank]) for rank in waiting}
        self._num_looks += 1
        are_missing = not all(stacks.values())
        if are_missing and self._num_looks < MAX_NUM_LOOKS:
            return False
        self._seen_s, self._seen, self._pause_s = own_s, waiting, max(AGAIN_S, 2 * self._pause_s)
        kinds = {rank: _kind(frames) for rank, frames in stacks.items()}
        is_alone = all(num_python_threads(dumps[rank]) == 1 for rank in waiting)
        nobody_comes = all(kinds.values()) and (someone_returned or len(set(kinds.values())) > 1)
        if are_missing or not is_alone or not nobody_comes:
            self._watch_on()
            return False
        stand_as_before = self._known is Knowledge.ASKED_AGAIN and kinds == self._kinds
        self._known, self._kinds = Knowledge.FOUND, kinds
        return stand_as_before

    def _is_confirmed(self, own_s: float, waiting: Mapping[int, RankMark]) -> bool:
        """Return whether enough has happened since, and nobody has moved; ask self-moving ranks again."""
        if not self._same_as_seen(waiting):
            self._watch_on()
            return False
        fixed = [rank for rank in waiting if self._kinds[rank] != INIT]
        num_rounds = [waiting[rank].num_other_turns - self._seen[rank].num_other_turns for rank in fixed]
        if own_s - self._seen_s < CONFIRM_S or any(num < NUM_ROUNDS for num in num_rounds):
            return False
        in_steps = [rank for rank in waiting if self._kinds[rank] == STEP]
        if any(own_s - self._still_since_s.get(rank, own_s) < STEP_CONFIRM_S for rank in in_steps):
            return False
        if len(fixed) < len(waiting):
            self._ask(Knowledge.ASKED_AGAIN)
        return len(fixed) == len(waiting)

    def _same_as_seen(self, waiting: Mapping[int, RankMark]) -> bool:
        """Whether no main thread has moved since the last stacks, but for those that wait for the others to start."""
        return waiting.keys() == self._seen.keys() and all(
            self._kinds.get(rank) == INIT or mark.num_turns == self._seen[rank].num_turns
            for rank, mark in waiting.items()
        )


def _kind(frames: list[StackFrame]) -> str:
    """Return what kind of exchange a rank waits in, or may wait in; '' where it waits in none."""
    return kind_of_collective(frames) or (STEP if in_compiled_step(frames) else "")
