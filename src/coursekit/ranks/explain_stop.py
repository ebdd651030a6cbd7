"""Make the message for a stopped run: it says in which collective each rank waits, and what follows from that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from coursekit.errors import Cause
from coursekit.ranks.explain import DEADLINE, DEADLOCK, INTERRUPTED, RunOutcome, named
from coursekit.ranks.stacks import StackFrame, in_compiled_step, outermost_collective, parse_stacks
from coursekit.tracebacks import describe_place, is_library


class Position(NamedTuple):
    """Where a rank is, according to its stack; the first entry in `POSITIONS` whose condition holds is reported."""

    holds: Callable[[list[StackFrame]], object]
    words: str
    example: tuple[tuple[str, str], ...]  # files and functions in such a stack, the innermost first


POSITIONS = (
    Position(lambda frames: not frames, "has not entered your function yet, or has returned from it", ()),
    Position(
        outermost_collective,
        "waits in {collective}",
        (("horovod/mpi_ops.py", "broadcast"), ("horovod/functions.py", "broadcast_variables"), ("lab.py", "train")),
    ),
    Position(
        lambda frames: any(frame.function == "_engine_run_backward" for frame in frames),
        "is inside backward(), where DDP exchanges gradients",
        (("torch/autograd/graph.py", "_engine_run_backward"), ("lab.py", "train")),
    ),
    Position(
        in_compiled_step,
        "is inside a compiled TensorFlow step, where gradients or variables may be exchanged",
        (("tensorflow/execute.py", "quick_execute"), ("lab.py", "train")),
    ),
    Position(lambda _: True, "is not in a collective", (("lab.py", "train"),)),
)
LONG = 0.5  # share of the deadline; a rank that has been computing for longer may be in an endless loop


def position(frames: list[StackFrame]) -> str:
    """Return a description of where a rank is: in a collective, in a compiled step, or in plain code."""
    found, own = _place_of(frames), _own_frame(frames)
    place = f" ({describe_place(*own)})" if own else ""
    return found.words.format(collective=outermost_collective(frames)) + place


def _place_of(frames: list[StackFrame]) -> Position:
    return next(one for one in POSITIONS if one.holds(frames))


def _own_frame(frames: list[StackFrame]) -> StackFrame | None:
    """Return the innermost frame of the student's code, if there is one."""
    return next((frame for frame in frames if not is_library(frame.file)), None)


STOPS = {
    # Rank 1 sleeps, and rank 0 waits for it in an allreduce.
    DEADLINE: Cause("the deadline of {timeout_s:g} s passed; all ranks were stopped", "ranks.deadline"),
    # Rank 0 waits in a broadcast and rank 1 in an allreduce.
    DEADLOCK: Cause("deadlock: no rank can continue; all ranks were stopped", "ranks.deadlock"),
    INTERRUPTED: Cause("you stopped this cell; all ranks were stopped", "ranks.interrupted"),
}


@dataclass(frozen=True)
class _Stopped:
    """A stopped run: why it was stopped, the stacks of the ranks that waited for others, and the remaining ranks."""

    why: str
    waiting: dict[int, list[StackFrame]]
    elsewhere: list[int]

    def are_on_one_line(self) -> bool:
        """Return whether all waiting ranks are on one line of the student's code, with only some in a compiled step."""
        stacks = self.waiting.values()
        return len({*map(_own_frame, stacks)}) == 1 and {*map(in_compiled_step, stacks)} == {False, True}


RULE = "  A collective completes only when every rank calls it:"
DIFFERENT = f"{RULE} these ranks wait in different collectives."
# What follows from the ranks' positions; the first entry whose condition holds is reported.
CONCLUSIONS: tuple[tuple[Callable[[_Stopped], object], str], ...] = (
    # Rank 0 is in hvd.allreduce, and rank 1 sleeps or has returned.
    (lambda stopped: stopped.waiting and stopped.elsewhere, f"{RULE} {{waiting}} for {{elsewhere}}."),
    # Rank 0 takes one more step of `fit`, while a callback on rank 1 averages metrics: both are on the line of `fit`.
    (
        lambda stopped: stopped.why == DEADLOCK and stopped.are_on_one_line(),
        f"{DIFFERENT}\n  Do all ranks take the same number of steps, with the same callbacks?",
    ),
    # Rank 0 is in hvd.broadcast, and rank 1 is in hvd.allreduce.
    (lambda stopped: stopped.why == DEADLOCK, DIFFERENT),
)


def explain_stop(outcome: RunOutcome, timeout_s: float) -> str:
    """Return why the run was stopped, where each rank was, and the Python stack of every rank that has not finished."""
    lines = [f"{STOPS[outcome.stopped]}. Where each rank was:".format(timeout_s=timeout_s)]
    stacks = {rank: parse_stacks(dump) for rank, dump in enumerate(outcome.stacks)}
    for rank, frames in stacks.items():
        words = "has finished" if rank in outcome.reports else position(frames)
        busy_s = outcome.busy_s.get(rank, 0.0)
        is_at_work = outcome.stopped == DEADLINE and rank not in outcome.reports and _place_of(frames) is POSITIONS[-1]
        words += f", and has computed for {busy_s:.0f} s: an endless loop?" * (is_at_work and busy_s > LONG * timeout_s)
        lines.append(f"  rank {rank} {words}")
    waiting = {rank: frames for rank, frames in stacks.items() if rank not in outcome.reports and _waits(frames)}
    stopped = _Stopped(outcome.stopped, waiting, [rank for rank in stacks if rank not in waiting])
    if words := next((words for holds, words in CONCLUSIONS if holds(stopped)), ""):
        they_wait = f"{named(waiting)} wait{'s' * (len(waiting) == 1)}"
        lines.append(words.format(waiting=they_wait, elsewhere=named(stopped.elsewhere)))
    for rank, frames in stacks.items():
        if rank not in outcome.reports:
            lines += ["", f"Python stack of rank {rank} (innermost call last):", *_stack_lines(frames)]
    return "\n".join(lines)


def _waits(frames: list[StackFrame]) -> bool:
    return bool(outermost_collective(frames)) or in_compiled_step(frames)


def _stack_lines(frames: list[StackFrame]) -> list[str]:
    """Return the student's frames with their code, and a single line for each series of library frames."""
    lines: list[str] = []
    for of_library, group in groupby(reversed(frames), lambda frame: is_library(frame.file)):
        run = list(group)
        if of_library:
            last = f", the last one {run[-1].function} in {Path(run[-1].file).name}" if run[-1] is frames[0] else ""
            lines.append(f"    … {len(run)} library frames{last}")
        else:
            lines += [f"    {describe_place(*frame)}" for frame in run]
    return lines or ["    (none)"]
