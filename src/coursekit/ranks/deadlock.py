"""Certain deadlocks: when nobody can go on, that is known at once, and not only at the deadline.

Every rank has returned, or waits in a collective, and they are not all in one of the same kind: a collective ends only
when all ranks call it, so none of them will. Never a false alarm:

- only a rank whose main thread has not moved for a while is asked where it stands, by its Python stack;
- a rank that computes, reads, sleeps or traces is in no collective that a stack shows, and one with a second Python
  thread might still be helped by that: with such ranks nothing is certain;
- inside a compiled step no stack shows what a rank does. It waits for others where each of its threads only waits for
  another one of them, for a while: none reads, sleeps, computes, or waits for another process;
- two ranks in collectives of the same kind may be in the same one, and so may two inside compiled steps;
- between finding and telling, no main thread has moved, while Horovod's own thread of each had many turns. It looks in
  every turn whether all ranks have come, so a collective that had just ended would have woken its rank by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coursekit.ranks.explain import in_compiled_step, kind_of_collective, num_python_threads, parse_stacks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from coursekit.ranks.explain import StackFrame
    from coursekit.ranks.pulse import RankMark
    from coursekit.ranks.running_ranks import RunningRanks

CONFIRM_S = 0.4  # of own time between finding and telling
STEP_CONFIRM_S = 1.5  # the same with ranks inside compiled steps, whose threads were still all the time
NUM_ROUNDS = 50  # turns of Horovod's thread meanwhile; it has one in each cycle, a millisecond by default
# A rank may have moved between writing its stack and coming to rest: so long after a look in vain comes another one,
# and the next after twice as long.
AGAIN_S = 1.0
MAX_NUM_LOOKS = 4  # for stacks that were asked for
INIT = "init"  # whose main thread asks again and again whether the others have come
STEP = "compiled step"  # in which gradients, variables or metrics are exchanged


@dataclass
class DeadlockWatch:
    """Looks for a certain deadlock of running ranks, pulse by pulse."""

    running: RunningRanks
    _num_looks: int = 0  # for stacks that were asked for; 0 while none are
    _kinds: dict[int, str] = field(default_factory=dict)  # of collective, by rank, once a deadlock was found
    _seen_s: float = 0.0  # own time of the last stacks
    _pause_s: float = 0.0  # of own time until the next look, where nobody moves
    _seen: Mapping[int, RankMark] = field(default_factory=dict)  # the marks of the ranks that waited then
    _still_since_s: dict[int, float] = field(default_factory=dict)  # own time, by rank, while it is still

    def is_certain(self, own_s: float, marks: Mapping[int, RankMark], returned: Collection[int]) -> bool:
        """Return whether nobody can go on, from the ranks' own time and the marks of those that have not ended."""
        waiting = {rank: mark for rank, mark in marks.items() if rank not in returned}
        still = [rank for rank, mark in waiting.items() if mark.is_still]
        self._still_since_s = {rank: self._still_since_s.get(rank, own_s) for rank in still}
        if not waiting or not all(mark.is_quiet for mark in waiting.values()):
            self._num_looks, self._kinds = 0, {}
        elif self._num_looks:
            return self._look(own_s, waiting, someone_returned=bool(returned))
        elif self._kinds:
            return self._is_confirmed(own_s, waiting)
        elif not self._same_as_seen(waiting):
            self._pause_s = 0.0
            self._ask()
        elif own_s - self._seen_s >= self._pause_s:
            self._ask()
        return False

    def _ask(self) -> None:
        self.running.ask_for_stacks(at_rest=True)
        self._num_looks = 1

    def _look(self, own_s: float, waiting: Mapping[int, RankMark], *, someone_returned: bool) -> bool:
        """See where the ranks stand, once all have written it; return whether they stand there for the second time."""
        dumps = self.running.new_stacks()
        stacks = {rank: parse_stacks(dumps[rank]) for rank in waiting}
        if not all(stacks.values()):
            self._num_looks = (self._num_looks + 1) % MAX_NUM_LOOKS
            return False
        kinds = {rank: _kind(frames) for rank, frames in stacks.items()}
        is_alone = all(num_python_threads(dumps[rank]) == 1 for rank in waiting)
        nobody_comes = all(kinds.values()) and (someone_returned or len(set(kinds.values())) > 1)
        was_found, self._kinds = self._kinds, kinds if is_alone and nobody_comes else {}
        self._num_looks, self._seen_s, self._seen = 0, own_s, waiting
        self._pause_s = max(AGAIN_S, 2 * self._pause_s)
        return bool(was_found) and was_found == self._kinds

    def _is_confirmed(self, own_s: float, waiting: Mapping[int, RankMark]) -> bool:
        """Return whether enough has happened since, and nobody has moved; ask self-moving ranks again."""
        if not self._same_as_seen(waiting):
            self._kinds = {}
            return False
        fixed = [rank for rank in waiting if self._kinds[rank] != INIT]
        num_rounds = [waiting[rank].num_other_turns - self._seen[rank].num_other_turns for rank in fixed]
        if own_s - self._seen_s < CONFIRM_S or any(num < NUM_ROUNDS for num in num_rounds):
            return False
        in_steps = [rank for rank in waiting if self._kinds[rank] == STEP]
        if any(own_s - self._still_since_s.get(rank, own_s) < STEP_CONFIRM_S for rank in in_steps):
            return False
        if len(fixed) < len(waiting):
            self._ask()
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
