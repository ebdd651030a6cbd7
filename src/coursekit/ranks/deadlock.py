"""Find definite deadlocks: if no rank can continue, the run ends at once instead of at the deadline.

A deadlock is definite if every rank waits in a collective or has returned, and not all ranks wait in collectives of the
same kind. A collective completes only when all ranks call it, so none of these collectives will ever complete. There
are no false alarms:

- A rank is asked for its Python stack only once its main thread has not moved for a while.
- If a rank computes, reads, sleeps or traces, its stack shows no collective. If a rank has a second Python thread, that
  thread might still wake it. In both cases, there is no definite deadlock. Threads that write events for TensorBoard or
  watch tqdm's progress bars do not count, because they wake nobody (`stacks.SERVICE_THREADS`).
- Inside a compiled step, no stack shows what a rank is doing. The rank counts as waiting if it is blocked for a while:
  each thread waits for another thread of the same process (one thread may sleep, as TensorFlow's memory logger does),
  and no thread reads, computes or waits for another process. On a rank with a GPU, two threads of the driver always
  poll, so such a deadlock is found only at the deadline (docs/gpus.md). If MPI joins the ranks, it is also found only
  then, because MPI's threads wait in other ways.
- Two ranks in collectives of the same kind may be in the same collective, and so may two ranks inside compiled steps.
  In both cases, there is no definite deadlock.
- All ranks are asked twice: first for the stack of the main thread, which does no harm, and then for the stacks of all
  threads, which can kill a rank if another of its threads is running Python at that moment. Between the two requests,
  no main thread has moved, but each rank's Horovod thread has had many timeslices. In each timeslice, that thread
  checks whether all ranks have joined, so if a collective had just ended, its ranks would be awake by then.

Example: rank 0 waits in a broadcast, rank 1 in an allreduce, and the deadline is 60 s of corrected time:

    at     state        sample                                      then
    0.5 s  WATCHING     rank 1 computes                             stay
    1.0 s  WATCHING     both are quiet                              ask for stacks of main threads: ASKED
    1.5 s  ASKED        both stacks show collectives, of two kinds  SUSPECTED
    2.0 s  SUSPECTED    since then, no main thread had a timeslice, ask for stacks of all threads: ASKED_AGAIN
                        and Horovod's threads had 400 each
    2.5 s  ASKED_AGAIN  both stacks show the same kinds again       CERTAIN

If a rank computes, every state leads back to WATCHING. SUSPECTED also leads back if a rank has moved, and ASKED and
ASKED_AGAIN lead back if stacks are missing or prove nothing. Each time the stacks prove nothing, the pause before the
next request grows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

from coursekit.ranks.protocol import Activity, RankSample, Sample, WriteStacks
from coursekit.ranks.server_handle import RunningRanks
from coursekit.ranks.stacks import in_compiled_step, kind_of_collective, num_python_threads, parse_stacks

# All times are corrected time.
CONFIRM_S = 0.4  # between the first stacks and the second
STEP_CONFIRM_S = 1.5  # the same for ranks inside compiled steps, which must be blocked all this time
STACKS_S = 1.5  # how long to wait for stacks
# A rank may move after it has written its stack, and come to rest only later. So if the stacks prove nothing, all ranks
# are asked again after this pause, and then after twice this pause, and so on.
AGAIN_S = 1.0
NUM_POLLS = 50  # of Horovod's thread before the second stacks; it polls once per cycle, by default every millisecond
INIT = "init"  # in it, the main thread polls until the other ranks have joined
STEP = "compiled step"  # in it, gradients, variables or metrics are exchanged


class State(Enum):
    """What is known about a deadlock; the example above shows the transitions."""

    WATCHING = "watching"  # nothing
    ASKED = "asked"  # stacks of the main threads are on their way
    SUSPECTED = "suspected"  # the stacks show that no rank can continue, unless one was just about to move
    ASKED_AGAIN = "asked again"  # stacks of all threads are on their way
    CERTAIN = "certain"  # no rank can continue


@dataclass
class DeadlockWatch:
    """Looks for a definite deadlock among running ranks, sample by sample."""

    running: RunningRanks
    state: State = State.WATCHING
    _asked_s: float = 0.0  # when stacks were last requested
    _read_s: float = 0.0  # when stacks were last read
    _pause_s: float = 0.0  # from then until the next request, if no rank moves
    _then: Mapping[int, RankSample] = field(default_factory=dict)  # the samples of the ranks that waited then
    _kinds: Mapping[int, str] = field(default_factory=dict)  # by rank, the kind of exchange that it was in then, or ''

    def step(self, sample: Sample, returned: Collection[int]) -> State:
        """Return the new state, given a sample of all ranks that have not ended, and the ranks that have returned."""
        waiting = {rank: one for rank, one in sample.ranks.items() if rank not in returned}
        if not waiting or any(one.activity is Activity.COMPUTES for one in waiting.values()):
            self.state = State.WATCHING
        elif self.state in {State.ASKED, State.ASKED_AGAIN}:
            self.state = self._read_stacks(sample.corrected_s, waiting, someone_returned=bool(returned))
        else:
            if self._has_moved(waiting):
                self.state, self._pause_s = State.WATCHING, 0.0
            if self.state is State.SUSPECTED and self._may_confirm(sample.corrected_s, waiting):
                self.state = self._ask(sample.corrected_s, State.ASKED_AGAIN)
            elif self.state is State.WATCHING and sample.corrected_s - self._read_s >= self._pause_s:
                self.state = self._ask(sample.corrected_s, State.ASKED)
        return self.state

    def _ask(self, corrected_s: float, state: State) -> State:
        self.running.ask_for_stacks(WriteStacks(all_threads=state is State.ASKED_AGAIN, only_asleep=True))
        self._asked_s = corrected_s
        return state

    def _read_stacks(self, corrected_s: float, waiting: Mapping[int, RankSample], *, someone_returned: bool) -> State:
        dumps = self.running.new_stacks()
        stacks = {rank: parse_stacks(dumps[rank]) for rank in waiting}
        are_there = all(stacks.values())
        if not are_there and corrected_s - self._asked_s < STACKS_S:
            return self.state
        before = self._kinds
        self._kinds = {
            rank: kind_of_collective(frames) or (STEP if in_compiled_step(frames) else "")
            for rank, frames in stacks.items()
        }
        self._read_s, self._then, self._pause_s = corrected_s, waiting, max(AGAIN_S, 2 * self._pause_s)
        nobody_comes = all(self._kinds.values()) and (someone_returned or len({*self._kinds.values()}) > 1)
        if not (are_there and nobody_comes and all(num_python_threads(dumps[rank]) == 1 for rank in waiting)):
            return State.WATCHING
        return State.CERTAIN if self.state is State.ASKED_AGAIN and self._kinds == before else State.SUSPECTED

    def _has_moved(self, waiting: Mapping[int, RankSample]) -> bool:
        """Return whether a main thread has moved since stacks were last read.

        Ranks that wait for other ranks to start do not count.
        """
        return waiting.keys() != self._then.keys() or any(
            self._kinds[rank] != INIT and one.num_timeslices != self._then[rank].num_timeslices
            for rank, one in waiting.items()
        )

    def _may_confirm(self, corrected_s: float, waiting: Mapping[int, RankSample]) -> bool:
        """Return whether enough has happened since stacks were last read to request them again."""
        return corrected_s - self._read_s >= CONFIRM_S and all(
            (self._kinds[rank] == INIT or one.num_other_timeslices - self._then[rank].num_other_timeslices >= NUM_POLLS)
            and (self._kinds[rank] != STEP or (one.activity is Activity.BLOCKED and one.for_s >= STEP_CONFIRM_S))
            for rank, one in waiting.items()
        )
