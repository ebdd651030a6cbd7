"""Follow a job: why it waits, what it says, and how it ended. It may be stopped and taken up again at any time."""

from __future__ import annotations

import codecs
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coursekit.paths import find_root
from coursekit.slurm.jobs.ending import show_ending
from coursekit.slurm.jobs.listing import find_job, note_ending
from coursekit.slurm.jobs.pending import explain_pending
from coursekit.slurm.jobs.slurm_cli import SlurmError
from coursekit.slurm.jobs.states import PENDING, UNKNOWN, JobState, look

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.slurm.jobs.remembered import SubmittedJob

READ_S = 1.0  # between looks at the log
FIRST_PAUSE_S, LAST_PAUSE_S = 2.0, 15.0  # between questions to Slurm, which serves everybody: ever longer
PATIENCE_S = 600.0  # how long Slurm may be out of reach
LATE_S = 20.0  # how late files of another node may appear on a parallel file system


def follow(job_id: str | int) -> bool | None:
    """Follow a job to its end and return whether it went well; interrupt it as you like, the job goes on.

    Returns:
        None when it was interrupted.

    Raises:
        CourseKitError: the job was not submitted from this checkout.
    """
    root = find_root()
    return follow_to_end(root, find_job(root, str(job_id)))


def follow_to_end(root: Path, job: SubmittedJob) -> bool | None:
    """Show a job's waiting, its log and its ending, and return whether it went well; None after Ctrl-C.

    Raises:
        SlurmError: Slurm was out of reach for too long.
    """
    log = LogReader(root / job.log)
    try:
        state = job.ending or _until_end(job, log)
        note_ending(root, job, state)
        _read_late(log, state)
        return show_ending(root, job, state, _write, LATE_S)
    except KeyboardInterrupt:
        _write(
            f"\nNo longer following; job {job.job_id} goes on. "
            f"`coursekit jobs {job.job_id} --follow` takes it up again, `coursekit cancel {job.job_id}` ends it.\n"
        )
        return None


def _until_end(job: SubmittedJob, log: LogReader) -> JobState:
    """Show what there is to see until the job has ended, and return its last state."""
    poller = StatePoller(job)
    while True:
        state = poller.state()
        if state.state != PENDING:
            _write(log.read())
        if state.ended or state.state == UNKNOWN:
            return state
        time.sleep(READ_S)


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


class StatePoller:
    """What Slurm says of one job, asked for ever more rarely, and told when it changes."""

    def __init__(self, job: SubmittedJob) -> None:
        self._job = job
        self._state = JobState(PENDING)
        self._told: tuple[str, ...] = ()
        self._next_ask, self._pause_s = time.monotonic(), FIRST_PAUSE_S
        self._answered = time.monotonic()

    def state(self) -> JobState:
        """Return the state as it was when Slurm was last asked, which may be now.

        Raises:
            SlurmError: Slurm was out of reach for too long.
        """
        now = time.monotonic()
        if now < self._next_ask:
            return self._state
        try:
            self._state = look([self._job.job_id])[self._job.job_id]
        except SlurmError as error:
            if now - self._answered > PATIENCE_S:
                raise
            self._tell((str(error),), f"{error} Still trying.")
        else:
            self._answered = now
            # An estimated start moves all the time: it is told with the reason, not each time that it moves.
            self._tell((self._state.state, self._state.reason), _sentence(self._job, self._state))
        self._pause_s = min(self._pause_s * 1.5, LAST_PAUSE_S)
        self._next_ask = time.monotonic() + self._pause_s
        return self._state

    def _tell(self, what: tuple[str, ...], sentence: str) -> None:
        if what != self._told:
            self._pause_s = FIRST_PAUSE_S  # one change is often followed by the next
            if sentence:
                _write(f"{sentence}\n")
        self._told = what


def _sentence(job: SubmittedJob, state: JobState) -> str:
    """Return what to say of a state; '' for one that is told at the end."""
    if state.state == PENDING:
        return explain_pending(job.job_id, state.reason, state.start)
    if state.ended or state.state == UNKNOWN:
        return ""
    where = f" on {state.nodes}" if state.nodes else ""
    return f"Job {job.job_id} is {state.state.lower()}{where}; its log is {job.log}."


def _read_late(log: LogReader, state: JobState) -> None:
    """Show what still arrives of a log after the end: wait for its first line, and for a second of silence."""
    deadline = time.monotonic() + (LATE_S if state.ever_ran else 0)
    while time.monotonic() < deadline:
        new = log.read()
        _write(new)
        if log.position and not new:
            return
        time.sleep(READ_S)


def _write(text: str) -> None:
    print(text, end="", flush=True)
