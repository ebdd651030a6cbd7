"""How a run ended: its exceptions, and in words which rank failed, or which rank waits in which collective."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from coursekit.environ import host_name_fault
from coursekit.errors import ShownAsMessage
from coursekit.processes import signal_name
from coursekit.ranks.stacks import StackFrame, in_compiled_step, outermost_collective, parse_stacks
from coursekit.ranks.worker import Report
from coursekit.tracebacks import describe_place, is_library, name_cells


class RankError(ShownAsMessage, RuntimeError):
    """A rank failed; the others were stopped."""

    def __init__(  # noqa: PLR0913  # what is known of the rank is given by name
        self,
        message: str,
        code: str = "",
        *,
        rank: int | None = None,
        error_type: str = "",
        error_text: str = "",
        place: str = "",
    ) -> None:
        super().__init__(message, code)
        self.rank = rank  # the rank that failed first, or None when no single rank is to blame
        self.error_type, self.error_text = error_type, error_text  # of the exception on that rank, such as "ValueError"
        self.place = place  # the student's line in which it was raised, in words, or ''


class RankTimeoutError(RankError):
    """The deadline passed, or no rank can continue; the message shows where each rank was, and what it waits for."""


class MachineTooSlowError(ShownAsMessage, RuntimeError):
    """The machine was too busy for a verdict: this is no rank's fault, so it is no `RankError`; run the cell again."""


# What Horovod 0.28 says, with Gloo and with MPI, on a rank whose peer has gone.
PEER_LOST_SIGNS = ("Horovod has been shut down", "Connection closed by peer", "Connection reset by peer", "Read error")
# Why a run is stopped.
DEADLINE = "deadline"  # the ranks used up their time
DEADLOCK = "deadlock"  # no rank can continue; found before the deadline
INTERRUPTED = "interrupted"  # the stop button or Ctrl-C
TOO_SLOW = "too slow"  # the machine gave them so little time that nothing is known


@dataclass
class RunOutcome:
    """What is known of a run when watching ends."""

    reports: dict[int, Report] = field(default_factory=dict)  # by rank, in the order of arrival
    exit_codes: dict[int, int] = field(default_factory=dict)  # by rank, negative when ended by a signal
    stopped: str = ""  # why, if before the end: `DEADLINE`, `DEADLOCK`, `INTERRUPTED` or `TOO_SLOW`
    stacks: list[str] = field(default_factory=list)  # by rank, as faulthandler writes them, where ranks were stopped
    busy_s: dict[int, float] = field(default_factory=dict)  # by rank, how long it had kept a processor busy by then
    server_died: bool = False  # whether what runs the ranks was killed
    not_started: str = ""  # why ranks could not be isolated, or not be joined by MPI; they have run nothing then

    def failed_ranks(self) -> list[int]:
        """Ranks that reported an exception, causes before consequences, else in the order of arrival."""
        failed = [rank for rank, report in self.reports.items() if report.error_type]
        return sorted(failed, key=lambda rank: lost_a_peer(self.reports[rank]))

    def lost_ranks(self) -> list[int]:
        """Ranks that ended without a report."""
        return sorted(rank for rank in self.exit_codes if rank not in self.reports)


def lost_a_peer(report: Report) -> bool:
    """Whether this failure is only the consequence of another rank's end."""
    return any(sign in report.error_text for sign in PEER_LOST_SIGNS)


NOWHERE = "is not in a collective"
LONG = 0.5  # of the deadline: a rank that computed for so long may be in an endless loop
RULE = "  A collective completes only when every rank calls it:"


def position(frames: list[StackFrame]) -> str:
    """Say in words where a rank is: in a collective, in a compiled step, or in plain code."""
    if not frames:
        return "has not entered your function yet, or has returned from it"
    own = _own_frame(frames)
    place = f" ({describe_place(*own)})" if own else ""
    if collective := outermost_collective(frames):
        return f"waits in {collective}{place}"
    if any(frame.function == "_engine_run_backward" for frame in frames):
        return f"is inside backward(), where DDP exchanges gradients{place}"
    if in_compiled_step(frames):
        return f"is inside a compiled TensorFlow step, where gradients or variables may be exchanged{place}"
    return f"{NOWHERE}{place}"


def _own_frame(frames: list[StackFrame]) -> StackFrame | None:
    """Return the innermost frame of the student's own code, if there is one."""
    return next((frame for frame in frames if not is_library(frame.file)), None)


def explain_stop(outcome: RunOutcome, timeout_s: float) -> str:
    """Say why the run was stopped, which ranks wait where, then show every rank's Python stack."""
    reasons = {DEADLINE: f"the deadline of {timeout_s:g} s passed", INTERRUPTED: "you stopped this cell"}
    why = reasons.get(outcome.stopped, "deadlock: no rank can continue")
    lines = [f"{why}; all ranks were stopped. Where each rank was:"]
    stacks = {rank: parse_stacks(dump) for rank, dump in enumerate(outcome.stacks)}
    waiting: list[int] = []
    elsewhere: list[int] = []
    for rank, frames in stacks.items():
        words = "has finished" if rank in outcome.reports else position(frames)
        if outcome.stopped == DEADLINE and rank not in outcome.reports and words.startswith(NOWHERE):
            busy_s = outcome.busy_s.get(rank, 0.0)
            words += f", and has computed for {busy_s:.0f} s: an endless loop?" if busy_s > LONG * timeout_s else ""
        lines.append(f"  rank {rank} {words}")
        waits = rank not in outcome.reports and (outermost_collective(frames) or in_compiled_step(frames))
        (waiting if waits else elsewhere).append(rank)
    if waiting and elsewhere:
        lines.append(f"{RULE} {_ranks(waiting)} wait{'s' * (len(waiting) == 1)} for {_ranks(elsewhere)}.")
    elif outcome.stopped == DEADLOCK:
        lines.append(f"{RULE} these ranks wait in different collectives.")
        those = [stacks[rank] for rank in waiting]
        # The same line of a student's code runs a step on some ranks, and something between steps on others.
        if len({*map(_own_frame, those)}) == 1 and {*map(in_compiled_step, those)} == {False, True}:
            lines.append("  Do all ranks make the same number of steps, with the same callbacks?")
    for rank, frames in stacks.items():
        if rank not in outcome.reports:
            lines += ["", f"Python stack of rank {rank} (innermost call last):", *_stack_lines(frames)]
    return "\n".join(lines)


def _stack_lines(frames: list[StackFrame]) -> list[str]:
    """Show the student's frames with their code, and fold runs of library frames into one line each."""
    lines: list[str] = []
    for of_library, group in groupby(reversed(frames), lambda frame: is_library(frame.file)):
        run = list(group)
        if of_library:
            last = f", the last one {run[-1].function} in {Path(run[-1].file).name}" if run[-1] is frames[0] else ""
            lines.append(f"    … {len(run)} frames of libraries{last}")
        else:
            lines += [f"    {describe_place(*frame)}" for frame in run]
    return lines or ["    (none)"]


def explain_failure(outcome: RunOutcome, then: str = "all ranks were stopped") -> tuple[str, int]:
    """Return the message for a run in which a rank failed, and that rank; causes come before consequences.

    `then` says what became of the ranks.
    """
    failed, lost = outcome.failed_ranks(), outcome.lost_ranks()
    if lost and (not failed or lost_a_peer(outcome.reports[failed[0]])):
        return f"rank {lost[0]} ended without a result ({_why_lost(outcome, outcome.exit_codes[lost[0]])}", lost[0]
    rank = failed[0]
    report = outcome.reports[rank]
    told = name_cells(report.traceback)
    if not lost_a_peer(report):
        others = f"\n\nAlso failed: {_ranks(failed[1:])}." if failed[1:] else ""
        return f"rank {rank} raised {report.error_type}; {then}.\n\n{told}{others}", rank
    finished = [rank for rank, report in outcome.reports.items() if not report.error_type]
    reason = (
        f"{_ranks(finished)} had already finished. Every rank must call the same collectives, the same number of times"
        if finished
        else "the connection to another rank was lost"
    )
    return f"rank {rank} failed in a collective: {reason}.\n\n{told}", rank


def _why_lost(outcome: RunOutcome, exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit status {exit_code})."
    name = signal_name(-exit_code)
    # Horovod 0.28 looks for the interface of the host's name; the one that `make env` compiles does not.
    if not outcome.reports and name in {"SIGSEGV", "SIGABRT"} and (fault := host_name_fault()):
        return f"killed by {name}); a Horovod that `make env` did not compile fails like this where {fault}"
    return f"killed by {name}{', often a sign of too little memory' * (name == 'SIGKILL')})."


def _ranks(ranks: list[int]) -> str:
    words = [str(rank) for rank in sorted(ranks)]
    if len(words) == 1:
        return f"rank {words[0]}"
    return f"ranks {', '.join(words[:-1])} and {words[-1]}"
