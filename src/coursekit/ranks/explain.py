"""Explain how a run ended: its outcome, its exceptions, and a message that says which rank failed and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from coursekit.environ import host_name_fault
from coursekit.errors import Cause, ShownAsMessage, codes_in
from coursekit.processes import signal_name
from coursekit.ranks.protocol import Report
from coursekit.tracebacks import name_cells


class RankError(ShownAsMessage, RuntimeError):
    """A rank failed, and the other ranks were stopped."""

    def __init__(  # noqa: PLR0913  # all that is known about the rank is given by name
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
        # Below its first line, a message may quote code and other messages.
        self.code = next(iter(codes_in(message.partition("\n")[0])), self.code)
        self.rank = rank  # the rank that failed first, or None if no single rank is to blame
        self.error_type, self.error_text = error_type, error_text  # of the exception on that rank, such as "ValueError"
        self.place = place  # a description of the line in the student's code that raised it, or ''


class RankTimeoutError(RankError):
    """The deadline passed, or no rank could continue; the message says where each rank was, and what it waited for."""


class MachineTooSlowError(ShownAsMessage, RuntimeError):
    """The machine was too busy for a verdict, so the cell has to be run again.

    No rank is to blame, so this is not a `RankError`.
    """


# Parts of the messages of Horovod 0.28, with Gloo and with MPI, on a rank that has lost a peer.
PEER_LOST_SIGNS = ("Horovod has been shut down", "Connection closed by peer", "Connection reset by peer", "Read error")
# Why a run was stopped.
DEADLINE = "deadline"  # the ranks used up their time
DEADLOCK = "deadlock"  # no rank could continue, and this was found before the deadline
INTERRUPTED = "interrupted"  # the stop button or Ctrl-C
TOO_SLOW = "too slow"  # the machine gave the ranks so little time that there is no verdict


@dataclass
class RunOutcome:
    """Everything that is known about a run when it is no longer watched."""

    reports: dict[int, Report] = field(default_factory=dict)  # by rank, in the order of arrival
    exit_codes: dict[int, int] = field(default_factory=dict)  # by rank, negative if a signal ended it
    stopped: str = ""  # why it was stopped, if it was: `DEADLINE`, `DEADLOCK`, `INTERRUPTED` or `TOO_SLOW`
    stacks: list[str] = field(default_factory=list)  # if ranks were stopped: by rank, as faulthandler writes them
    busy_s: dict[int, float] = field(default_factory=dict)  # by rank, how long it had been computing at the end
    server_died: str = ""  # a description of the server that ran the ranks, if it was killed
    not_started: str = ""  # why ranks could not be isolated or joined through MPI; in that case, they ran no code

    def failed_ranks(self) -> list[int]:
        """Return the ranks that reported an exception: causes before consequences, otherwise in order of arrival."""
        failed = [rank for rank, report in self.reports.items() if report.error_type]
        return sorted(failed, key=lambda rank: lost_a_peer(self.reports[rank]))

    def lost_ranks(self) -> list[int]:
        """Return the ranks that ended without a report."""
        return sorted(rank for rank in self.exit_codes if rank not in self.reports)

    def is_lost_by(self, *signals: str) -> bool:
        """Return whether one of these signals killed the lowest rank that ended without a report."""
        return any(signal_name(-self.exit_codes[rank]) in signals for rank in self.lost_ranks()[:1])


def lost_a_peer(report: Report) -> bool:
    """Return whether a rank failed only because another rank had ended."""
    return any(sign in report.error_text for sign in PEER_LOST_SIGNS)


class Failure(NamedTuple):
    """A way in which a run can fail: `cause` is reported if `holds` is true for the run and the rank to blame."""

    holds: Callable[[RunOutcome, int], object]
    cause: Cause
    example: tuple[dict[int, Report], dict[int, int]]  # reports and exit codes of such a run; rank 1 is to blame


_RAISED, _DONE = Report(error_type="KeyError"), Report(value=b"")
_PEER_LOST = Report(error_type="HorovodInternalError", error_text=PEER_LOST_SIGNS[0])
# The first entry whose condition holds is reported; causes come before consequences.
FAILURES = (
    Failure(
        lambda outcome, rank: rank not in outcome.reports and outcome.exit_codes[rank] >= 0,
        Cause("rank {rank} ended without a result (exit status {status}).", "rank.ended"),
        ({0: _PEER_LOST}, {1: 3}),
    ),
    Failure(
        # Horovod 0.28 looks up the interface of the host name; the Horovod that `make env` compiles does not.
        lambda outcome, _: not outcome.reports and outcome.is_lost_by("SIGSEGV", "SIGABRT") and host_name_fault(),
        Cause(
            "rank {rank} ended without a result (killed by {signal}); a Horovod that `make env` did not compile fails "
            "like this if {host_name_fault}",
            "horovod.host-name",
        ),
        ({}, {1: -11}),
    ),
    Failure(
        lambda outcome, rank: rank not in outcome.reports and outcome.is_lost_by("SIGKILL"),
        Cause(
            "rank {rank} ended without a result (killed by {signal}, often a sign of too little memory).", "rank.killed"
        ),
        ({}, {1: -9}),
    ),
    Failure(
        lambda outcome, rank: rank not in outcome.reports,
        Cause("rank {rank} ended without a result (killed by {signal}).", "rank.crashed"),
        ({0: _PEER_LOST}, {1: -11}),
    ),
    Failure(
        lambda outcome, rank: not lost_a_peer(outcome.reports[rank]),
        Cause("rank {rank} raised {error_type}; {then}.", "rank.raised"),
        ({0: _PEER_LOST, 1: _RAISED}, {}),
    ),
    Failure(
        lambda outcome, _: any(not report.error_type for report in outcome.reports.values()),
        Cause(
            "rank {rank} failed in a collective: {finished} had already finished. Every rank must call the same "
            "collectives, the same number of times.",
            "collective.peer-finished",
        ),
        ({0: _DONE, 1: _PEER_LOST}, {}),
    ),
    Failure(
        lambda *_: True,
        Cause("rank {rank} failed in a collective: the connection to another rank was lost.", "collective.peer-lost"),
        ({1: _PEER_LOST}, {}),
    ),
)


def explain_failure(outcome: RunOutcome, then: str = "all ranks were stopped") -> tuple[str, int]:
    """Return the message for a run in which a rank failed, and that rank; `then` says what happened to all ranks."""
    failed, lost = outcome.failed_ranks(), outcome.lost_ranks()
    rank = lost[0] if lost and (not failed or lost_a_peer(outcome.reports[failed[0]])) else failed[0]
    cause = next(one.cause for one in FAILURES if one.holds(outcome, rank))
    report, exit_code = outcome.reports.get(rank, Report()), outcome.exit_codes.get(rank, 0)
    head = str(cause).format(
        rank=rank,
        then=then,
        error_type=report.error_type,
        status=exit_code,
        signal=signal_name(-exit_code),
        host_name_fault=host_name_fault() if cause.code == "horovod.host-name" else "",
        finished=named(one for one, report in outcome.reports.items() if not report.error_type),
    )
    others = [one for one in failed if one != rank] if rank in failed and not lost_a_peer(report) else []
    also = f"Also failed: {named(others)}." if others else ""
    return "\n\n".join(filter(None, (head, name_cells(report.traceback), also))), rank


def named(ranks: Iterable[int]) -> str:
    """Return "rank 3" for one rank, and "ranks 0, 1 and 3" for several."""
    *others, last = [str(rank) for rank in sorted(ranks)] or ["none"]
    return f"ranks {', '.join(others)} and {last}" if others else f"rank {last}"
