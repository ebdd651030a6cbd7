"""How a run on several ranks ended, as far as is known when watching ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coursekit.ranks.worker import Report

# What Horovod 0.28 says, with Gloo and with MPI, on a rank whose peer has gone.
PEER_LOST_SIGNS = ("Horovod has been shut down", "Connection closed by peer", "Connection reset by peer", "Read error")
# Why a run is stopped.
DEADLINE = "deadline"  # the ranks had their time, and did not end
DEADLOCK = "deadlock"  # nobody can go on, which is certain before the deadline
INTERRUPTED = "interrupted"  # somebody lost patience
TOO_SLOW = "too slow"  # the machine gave them so little time that nothing is known


@dataclass
class RunOutcome:
    """What is known of a run when watching ends.

    Attributes:
        reports: by rank, what the rank sent back, in the order of arrival.
        exit_codes: by rank, as in `subprocess`: negative when ended by a signal.
        stopped: why the run was stopped before its end: `DEADLINE`, `DEADLOCK`, `INTERRUPTED`, `TOO_SLOW`, or ''.
        stacks: by rank, its Python stacks as faulthandler writes them, where the ranks had to be stopped.
        server_died: whether what runs the ranks was killed.
        no_walls: why a rank could not be put behind walls, or ''; it has run nothing then.
    """

    reports: dict[int, Report] = field(default_factory=dict)
    exit_codes: dict[int, int] = field(default_factory=dict)
    stopped: str = ""
    stacks: list[str] = field(default_factory=list)
    server_died: bool = False
    no_walls: str = ""

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
