"""What Slurm knows about jobs: from the queue while it remembers them, then from accounting, where that is on."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coursekit.slurm.jobs.slurm_cli import SlurmError, call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PENDING, COMPLETED, CANCELLED, OUT_OF_MEMORY = "PENDING", "COMPLETED", "CANCELLED", "OUT_OF_MEMORY"
UNKNOWN = "UNKNOWN"  # our word for a job that Slurm has forgotten
ENDED = frozenset(
    {
        *(COMPLETED, CANCELLED, OUT_OF_MEMORY, "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"),
        *("PREEMPTED", "REVOKED", "SPECIAL_EXIT"),
    }
)
QUEUE_FORMAT = "%i|%T|%M|%S|%N|%j|%V|%Z|%r|%o"
ACCOUNTING_FORMAT = "JobID,State,Elapsed,Start,NodeList,ExitCode"
NO_VALUES = {"N/A", "Unknown", "None", "None assigned", "(null)"}
NOT_STARTED = {"", "0:00", "00:00:00"}


@dataclass(frozen=True)
class JobState:
    """One job as Slurm sees it; texts are '' where it says nothing.

    Attributes:
        state: Slurm's word, such as `PENDING`; `UNKNOWN` for a job it has forgotten.
        reason: why it waits or ended, as Slurm writes it.
        start: when it started, or will by Slurm's estimate, `2026-11-20T17:30:00` in the machine's time.
        elapsed: how long it has run, `[days-]hours:minutes:seconds` or shorter.
        nodes: its nodes, as Slurm folds them: `n[1-2]`.
        exit_code: `status:signal` of its script.
        cancelled_by: the number of the user who cancelled it.
        submitted: when it was submitted, as `start`.
        folder: its working folder.
        command: its script with the words behind it.
    """

    state: str
    reason: str = ""
    start: str = ""
    elapsed: str = ""
    nodes: str = ""
    exit_code: str = ""
    cancelled_by: str = ""
    name: str = ""
    submitted: str = ""
    folder: str = ""
    command: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ENDED

    @property
    def ever_ran(self) -> bool:
        """Whether it got as far as its first line."""
        return self.elapsed not in NOT_STARTED


def look(job_ids: Iterable[str], queue: Mapping[str, JobState] | None = None) -> dict[str, JobState]:
    """Return the state of each job; `queue` is what `read_queue` has just returned, to ask only once.

    Raises:
        SlurmError: Slurm does not answer.
    """
    queue = read_queue() if queue is None else queue
    wanted = list(job_ids)
    gone = [job_id for job_id in wanted if job_id not in queue or queue[job_id].ended]
    accounts = read_accounting(gone) if gone else {}
    return {job_id: _merge(job_id, queue.get(job_id), accounts.get(job_id)) for job_id in wanted}


def read_queue() -> dict[str, JobState]:
    """Return one's own jobs that the controller still remembers: all that wait or run, and those of the last minutes.

    Raises:
        SlurmError: Slurm does not answer.
    """
    text = call("squeue", f"--user={os.getuid()}", "--states=all", "--array", "--noheader", f"--format={QUEUE_FORMAT}")
    return parse_queue(text)


def parse_queue(text: str) -> dict[str, JobState]:
    """Return the jobs of squeue's lines in `QUEUE_FORMAT`."""
    return dict(_parse_queue_line(line) for line in text.splitlines() if line.count("|") >= QUEUE_FORMAT.count("|"))


def read_accounting(job_ids: Iterable[str]) -> dict[str, JobState]:
    """Return what accounting says about jobs; nothing where it is off or does not answer."""
    with suppress(SlurmError):
        jobs = ",".join(job_ids)
        text = call("sacct", "--parsable2", "--noheader", f"--jobs={jobs}", f"--format={ACCOUNTING_FORMAT}")
        return parse_accounting(text)
    return {}


def parse_accounting(text: str) -> dict[str, JobState]:
    """Return the jobs of sacct's lines; a step that ran out of memory tells why its job failed."""
    jobs: dict[str, JobState] = {}
    for line in text.splitlines():
        job_id, state, elapsed, start, nodes, exit_code = (_value(word) for word in line.split("|"))
        first, _, by = state.partition(" by ")
        job_id, _, step = job_id.partition(".")
        if not step:
            jobs[job_id] = JobState(first, "", start, elapsed, nodes, exit_code, cancelled_by=by)
        elif first == OUT_OF_MEMORY and jobs[job_id].state == "FAILED":
            jobs[job_id] = replace(jobs[job_id], state=OUT_OF_MEMORY)
    return jobs


def _parse_queue_line(line: str) -> tuple[str, JobState]:
    words = line.split("|", QUEUE_FORMAT.count("|"))
    job_id, state, elapsed, start, nodes, name, submitted, folder, reason, command = (_value(word) for word in words)
    return job_id, JobState(state, reason, start, elapsed, nodes, "", "", name, submitted, folder, command)


def _merge(job_id: str, queued: JobState | None, accounted: JobState | None) -> JobState:
    """Return the newest: accounting lags behind by seconds, but then says more."""
    if accounted and (accounted.ended or not queued):
        return accounted
    if queued and queued.ended:
        return replace(queued, exit_code=_exit_code(job_id))
    return queued or JobState(UNKNOWN)


def _exit_code(job_id: str) -> str:
    """Return the exit code as the controller remembers it, for sites without accounting."""
    with suppress(SlurmError):
        words = call("scontrol", "--oneliner", "show", "job", job_id).split()
        return next((word.partition("=")[2] for word in words if word.startswith("ExitCode=")), "")
    return ""


def _value(word: str) -> str:
    return "" if word in NO_VALUES else word
