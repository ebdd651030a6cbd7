"""One's own jobs of the course: those that were submitted from this checkout, by `coursekit submit` or by `sbatch`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.labs.run.results import format_points
from coursekit.slurm.jobs.explain import read_tail
from coursekit.slurm.jobs.job_script import LAUNCH_PATTERNS
from coursekit.slurm.jobs.pending import explain_pending
from coursekit.slurm.jobs.remembered import (
    CLOCK_TOLERANCE_S,
    JOB_ID,
    SubmittedJob,
    read_result,
    recall,
    recall_all,
    remember,
)
from coursekit.slurm.jobs.render import JOBS
from coursekit.slurm.jobs.slurm_cli import PENDING, UNKNOWN, JobState, SlurmError, look, read_queue


@dataclass(frozen=True)
class ListedJob:
    """One job, and what is known of it in words."""

    job: SubmittedJob
    state: str
    elapsed: str
    words: str


def list_jobs(root: Path) -> list[ListedJob]:
    """Return all jobs of this checkout, the oldest first.

    Raises:
        SlurmError: Slurm does not answer; `list_without_slurm` still does.
    """
    queue = read_queue()
    adopt(root, queue)
    jobs = recall_all(root)
    active = {job_id for job_id, state in queue.items() if not state.ended}
    states = look([job.job_id for job in jobs if not job.ending or job.job_id in active], queue)
    for job in jobs:
        note_ending(root, job, states.get(job.job_id))
    return [_listed(root, job, states.get(job.job_id) or job.ending or JobState(UNKNOWN)) for job in jobs]


def list_without_slurm(root: Path) -> list[ListedJob]:
    """Return all jobs of this checkout, as far as their files tell."""
    return [_listed(root, job, job.ending or JobState(UNKNOWN)) for job in recall_all(root)]


def note_ending(root: Path, job: SubmittedJob, state: JobState | None) -> None:
    """Write down how a job ended, if it did."""
    if state and state.ended and state != job.ending:
        remember(root, replace(job, ending=state))


def find_job(root: Path, job_id: str) -> SubmittedJob:
    """Return a job of this checkout.

    Raises:
        CourseKitError: no job has this number.
    """
    if not JOB_ID.fullmatch(job_id):
        raise CourseKitError(f"{job_id!r} is not a job: give the number that `coursekit jobs` shows.")
    with suppress(SlurmError):
        adopt(root, read_queue())
    job = recall(root, job_id)
    if not job:
        raise CourseKitError(f"no job {job_id} was submitted from {root}: `coursekit jobs` lists those that were.")
    return job


def adopt(root: Path, queue: Mapping[str, JobState]) -> None:
    """Remember jobs that plain `sbatch` submitted from this checkout, except arrays, before Slurm forgets them."""
    for job_id, state in queue.items():
        if JOB_ID.fullmatch(job_id) and _is_ours(root, state):
            seen = adopted(root, job_id, state)
            if _is_another(recall(root, job_id), seen):
                remember(root, seen)


def adopted(root: Path, job_id: str, state: JobState) -> SubmittedJob:
    """Return the record of a job that plain `sbatch` submitted."""
    # Slurm joins a script's path and words by spaces; there may be some in the path, but not within a checkout.
    place = f"{state.folder}/" if state.command.startswith(f"{state.folder}/") else ""
    script = Path(place + state.command[len(place) :].split()[0]) if state.command else Path(state.name)
    shown = script.relative_to(root) if root in script.parents else script
    site = shown.parent.name if shown.parts[:-2] == Path(JOBS).parts else ""
    submitted = datetime.fromisoformat(state.submitted).astimezone().isoformat()
    return SubmittedJob(
        job_id, state.name, state.name.removesuffix(LAUNCH_PATTERNS["train"].suffix), site, str(shown), submitted
    )


def _is_another(known: SubmittedJob | None, seen: SubmittedJob) -> bool:
    """Whether a job only has the number of a known one: numbers start again with a new installation of Slurm."""
    if known is None or known.name != seen.name:
        return True
    later = datetime.fromisoformat(seen.submitted) - datetime.fromisoformat(known.submitted)
    return known.ending is not None and later.total_seconds() > CLOCK_TOLERANCE_S


def _is_ours(root: Path, state: JobState) -> bool:
    """Whether a job works in this checkout; what Slurm refused outright has no node and does not count."""
    refused = state.state == "FAILED" and not state.nodes
    return not refused and state.folder != "" and Path(state.folder).resolve() == root.resolve()


def _listed(root: Path, job: SubmittedJob, state: JobState) -> ListedJob:
    if state.state == PENDING:
        words = explain_pending(job.job_id, state.reason, state.start).partition(" waits: ")[2]
    else:
        is_over = state.ended or state.state == UNKNOWN  # else a result is that of an earlier start
        words = (_verdict(root, job) if is_over else "") or _last_line(root, job)
    return ListedJob(job, state.state, state.elapsed, words)


def _verdict(root: Path, job: SubmittedJob) -> str:
    result = read_result(root, job)
    if result is None:
        return ""
    return f"{result.verdict}, {format_points(result)} points" if result.scores else result.verdict


def _last_line(root: Path, job: SubmittedJob) -> str:
    """Return the log's last line, in which job scripts say how it went."""
    lines = [line for line in read_tail(root / job.log).splitlines() if line.strip()]
    return lines[-1].strip().removeprefix(f"{job.name}: ") if lines else ""
