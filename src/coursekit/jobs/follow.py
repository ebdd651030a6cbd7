"""Follow a job: why it waits, what it says, and how it ended. It may be stopped and taken up again at any time."""

from __future__ import annotations

import codecs
import time
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - used by dataclasses at run time
from typing import TYPE_CHECKING

from coursekit.jobs.ending import show_ending
from coursekit.jobs.listing import find_job
from coursekit.jobs.pending import explain_pending
from coursekit.jobs.slurm_cli import SlurmError
from coursekit.jobs.states import PENDING, UNKNOWN, JobState, look
from coursekit.paths import find_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from coursekit.jobs.remembered import SubmittedJob

READ_S = 1.0  # between looks at the log
FIRST_ASK_S, LAST_ASK_S = 2.0, 20.0  # between questions to Slurm, which serves everybody: ever longer
PATIENCE_S = 600.0  # how long Slurm may be out of reach
LATE_S = 20.0  # how late files of another node may appear on a parallel file system


@dataclass
class LogReader:
    """What is new in a log, also when it appears late, is cut off in mid-letter, or begins again after a requeue."""

    path: Path
    position: int = 0
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    def read(self) -> str:
        """Return what was written since the last call; '' while there is no log."""
        try:
            with self.path.open("rb") as log:
                if self.path.stat().st_size < self.position:
                    self.position = 0
                log.seek(self.position)
                new = log.read()
        except OSError:
            return ""
        self.position += len(new)
        return self.decoder.decode(new)


def follow(job_id: str | int) -> bool | None:
    """Follow a job to its end and return whether it went well; interrupt it as you like, the job goes on.

    Returns:
        None when it was interrupted.

    Raises:
        CourseKitError: the job was not submitted from this checkout.
    """
    root = find_root()
    return follow_to_end(root, find_job(root, str(job_id)), _write)


def follow_to_end(root: Path, job: SubmittedJob, write: Callable[[str], None]) -> bool | None:
    """Show a job's waiting, its log and its ending, and return whether it went well; None after Ctrl-C.

    Args:
        root: the course checkout.
        job: the job.
        write: takes pieces of text as they come.

    Raises:
        SlurmError: Slurm was out of reach for too long.
    """
    log = LogReader(root / job.log)
    try:
        state = _until_end(job, log, write)
        _read_late(log, state, write)
        return show_ending(root, job, state, write, LATE_S)
    except KeyboardInterrupt:
        write(
            f"\nNo longer following; job {job.job_id} goes on. "
            f"`coursekit jobs {job.job_id} --follow` takes it up again, `coursekit cancel {job.job_id}` ends it.\n"
        )
        return None


def _until_end(job: SubmittedJob, log: LogReader, write: Callable[[str], None]) -> JobState:
    """Show what there is to see until the job has ended, and return its last state."""
    said, next_ask, ask_s = "", 0.0, FIRST_ASK_S
    state = JobState(PENDING)
    silent_since: float | None = None
    while True:
        if time.monotonic() >= next_ask:
            try:
                state, silent_since = look([job.job_id])[job.job_id], None
            except SlurmError as error:
                silent_since = silent_since or time.monotonic()
                if time.monotonic() - silent_since > PATIENCE_S:
                    raise
                said = _say_once(f"{error}", said, write)
            else:
                said = _say_once(_sentence(job, state), said, write)
            ask_s = min(ask_s * 1.5, LAST_ASK_S)
            next_ask = time.monotonic() + ask_s
        if state.state != PENDING:
            write(log.read())
        if state.ended or state.state == UNKNOWN:
            return state
        time.sleep(READ_S)


def _sentence(job: SubmittedJob, state: JobState) -> str:
    """Return what to say of a state; each sentence is said when it changes."""
    if state.state == PENDING:
        return explain_pending(job.job_id, state.reason, state.start)
    if state.ended or state.state == UNKNOWN:
        return ""
    where = f" on {state.nodes}" if state.nodes else ""
    return f"Job {job.job_id} is {state.state.lower()}{where}; its log is {job.log}."


def _say_once(sentence: str, said: str, write: Callable[[str], None]) -> str:
    if sentence and sentence != said:
        write(f"{sentence}\n")
    return sentence or said


def _read_late(log: LogReader, state: JobState, write: Callable[[str], None]) -> None:
    """Show what still arrives of a log after the end: wait for its first line, and for a second of silence."""
    deadline = time.monotonic() + (LATE_S if state.ever_ran else 0)
    while time.monotonic() < deadline:
        new = log.read()
        write(new)
        if log.position and not new:
            return
        time.sleep(READ_S)


def _write(text: str) -> None:
    print(text, end="", flush=True)
