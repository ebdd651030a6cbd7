"""Follow a job: report why it is waiting, what it prints, and how it ends; you can stop and resume at any time."""

from __future__ import annotations

import codecs
import time
from functools import partial
from pathlib import Path

from coursekit.labs.run.results import FAILED, PASSED, LabResult, format_points, format_time
from coursekit.paths import find_root
from coursekit.slurm.jobs.explain import explain, explain_pending, read_tail
from coursekit.slurm.jobs.remembered import SubmittedJob, executed_notebook, find_job, note, read_result
from coursekit.slurm.jobs.slurm_cli import COMPLETED, PENDING, UNKNOWN, JobState, look
from coursekit.text import counted
from coursekit.waiting import Attempts

READ_S = 1.0  # between looks at the log
FIRST_PAUSE_S, LAST_PAUSE_S = 2.0, 15.0  # between requests to Slurm; pauses get longer, because Slurm serves everybody
LATE_S = 20.0  # on a parallel file system, files from another node may appear this late
_write = partial(print, end="", flush=True)


def follow_job(job_id: str | int) -> bool | None:
    """Show why a job waits, its log, and how it ended; if you interrupt this, the job continues.

    Returns:
        Whether the job succeeded; None if you interrupted this.

    Raises:
        CourseKitError: the job was not submitted from this checkout.
    """
    root = find_root()
    job = find_job(root, str(job_id))
    log = LogReader(root / job.log)
    try:
        state = job.ending or _until_end(root, job, log)
        job = note(root, job, state)
        log.path = root / job.log
        _read_late(log, state)
        return _show_ending(root, job, state)
    except KeyboardInterrupt:
        _write(
            f"\nNo longer following; job {job.job_id} continues. "
            f"`coursekit jobs {job.job_id} --follow` follows it again, `scancel {job.job_id}` cancels it.\n"
        )
        return None


def _until_end(root: Path, job: SubmittedJob, log: LogReader) -> JobState:
    """Show the job's state and its log until it has ended, and return its last state.

    Slurm is asked less and less often, and its answer is shown only if it has changed.
    """
    state, shown, pause_s = JobState(PENDING), ("", ""), FIRST_PAUSE_S
    attempts, next_ask = Attempts(lambda sentence: _write(f"{sentence}\n")), time.monotonic()
    while True:
        now = time.monotonic()
        if now >= next_ask:
            if found := attempts.attempt(partial(look, [job.job_id])):
                state = found[job.job_id]
                job = note(root, job, state)
                log.path = root / job.log
                # The estimated start changes all the time, so it is shown only together with a new state or reason.
                if (state.state, state.reason) != shown:
                    shown, pause_s = (state.state, state.reason), FIRST_PAUSE_S  # another change often follows soon
                    _write(_sentence(job, state))
            pause_s = min(pause_s * 1.5, LAST_PAUSE_S)
            next_ask = now + pause_s
        if state.state != PENDING:
            _write(log.read())
        if state.ended or state.state == UNKNOWN:
            return state
        time.sleep(READ_S)


class LogReader:
    """Reads the new part of a log, even if the log appears late or ends in the middle of a character."""

    def __init__(self, path: Path) -> None:
        self.path, self.position = path, 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def read(self) -> str:
        """Return what has been written since the last call; '' while there is no log."""
        try:
            with self.path.open("rb") as log:
                log.seek(self.position)
                new = log.read()
        except OSError:
            return ""
        self.position += len(new)
        return self._decoder.decode(new)


def _sentence(job: SubmittedJob, state: JobState) -> str:
    """Return a line that describes a job's state; '' for a final state, which is shown later."""
    if state.state == PENDING:
        return f"{explain_pending(job.job_id, state.reason, state.start)}\n"
    if state.ended or state.state == UNKNOWN:
        return ""
    where = f" on {state.nodes}" if state.nodes else ""
    return f"Job {job.job_id} is {state.state.lower()}{where}; its log is {job.log}.\n"


def _read_late(log: LogReader, state: JobState) -> None:
    """Show what arrives in a log after a job's end: wait for the first output, and stop after a second without more."""
    deadline = time.monotonic() + (LATE_S if state.ever_ran else 0)
    while time.monotonic() < deadline:
        new = log.read()
        _write(new)
        if log.position and not new:
            return
        time.sleep(READ_S)


def _show_ending(root: Path, job: SubmittedJob, state: JobState) -> bool:
    """Show how a job ended, and return whether it succeeded; if it completed, wait for its files."""
    leaves_result = job.name == job.lab and (root / "labs" / job.lab).is_dir()
    deadline = time.monotonic() + (LATE_S if state.state == COMPLETED and leaves_result else 0)
    while (result := read_result(root, job)) is None and time.monotonic() < deadline:
        time.sleep(READ_S)
    if state.state == UNKNOWN:
        lines = [f"Slurm no longer knows job {job.job_id} ({job.name}); this is what it left:"]
    else:
        after = f" after {state.elapsed}" if state.ever_ran else " without having started"
        lines = [f"Job {job.job_id} ({job.name}) ended as {state.state}{after}."]
    lines += [describe_result(result)] if result else []
    passed = result.verdict == PASSED if result else state.state == COMPLETED
    if not passed:
        said = read_tail(root / job.log) + (result.failed_cell.error if result and result.failed_cell else "")
        lines += [str(explanation) for explanation in explain(state, said)]
        lines += [f"The whole log is {job.log}."] if (root / job.log).exists() else []
    notebook = executed_notebook(root, job)
    lines += [f"The executed notebook is {notebook.relative_to(root)}."] if notebook else []
    _write("\n" + "\n".join(lines) + "\n")
    return passed


def describe_result(result: LabResult) -> str:
    """Return a lab's result in a few lines: verdict, points, time, and why it did not pass."""
    head = f"{result.lab}: {result.verdict}"
    if result.scores:
        head += f", {format_points(result)} points"
    lines = [f"{head}, in {format_time(result.time_s)} on {counted(result.num_ranks, 'rank')}."]
    if result.verdict != PASSED and result.reason:
        lines.append(f"It did not pass: {result.reason}.")
    if result.verdict == FAILED and result.failed_cell and result.failed_cell.error:
        lines.append(result.failed_cell.error)
    return "\n".join(lines)
