"""Remember your own jobs for the course, which were submitted from this checkout with `coursekit submit` or `sbatch`.

Each job has a small file in the checkout's folder `jobs/`. The file outlives the notebook's kernel, so the kit
remembers the job even if Slurm's accounting is off.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from coursekit.errors import CourseKitError
from coursekit.files import write_json
from coursekit.labs.run.jobs_folder import JOBS_FOLDER, RESULT, last_attempt
from coursekit.labs.run.results import LabResult, format_points
from coursekit.slurm.jobs.explain import explain_pending, read_tail
from coursekit.slurm.jobs.job_script import LAUNCH_PATTERNS
from coursekit.slurm.jobs.slurm_cli import FAILED, PENDING, UNKNOWN, JobState, SlurmError, look, read_queue
from coursekit.slurm.sites.profile import JOB_SCRIPTS
from coursekit.text import first_few

NUMBER = re.compile(r"\d+")
JOB_ID = re.compile(r"\d+(?:[_+]\d+)?")  # 7, task 7_1 of an array, or part 7+1 of a job with two kinds of nodes


@dataclass(frozen=True)
class SubmittedJob:
    """One job of the course; paths are relative to the checkout.

    Attributes:
        job_id: the id that Slurm gave to the job, as `squeue` shows it.
        name: the job's name, which is also the name of its script.
        site: the name of the site's profile; '' if its script belongs to no site.
        submitted: when it was submitted, in ISO 8601 with the offset from UTC.
        ending: how it ended, once this is known; Slurm itself forgets this, within minutes if accounting is off.
        number: its `JobState.number`, once this is known; '' means `job_id`.
    """

    job_id: str
    name: str
    lab: str
    site: str
    script: str
    submitted: str
    ending: JobState | None = None
    number: str = ""

    @property
    def log(self) -> str:
        """The file to which Slurm writes the job's output."""
        return f"{self.name}-{self.number or self.job_id}.out"

    @property
    def folder(self) -> str:
        """The folder of the executed notebook and its result; a restart adds `-attempt-2`."""
        return f"{JOBS_FOLDER}/{self.name}-{self.number or self.job_id}"


class ListedJob(NamedTuple):
    """One job, its state, and a few words about its result or its progress."""

    job: SubmittedJob
    state: JobState
    words: str


def remember(root: Path, job: SubmittedJob) -> None:
    """Write the file that remembers a job, whole or not at all."""
    (root / JOBS_FOLDER).mkdir(exist_ok=True)
    write_json(root / JOBS_FOLDER / f"{job.job_id}.json", asdict(job))


def recall(root: Path, job_id: str) -> SubmittedJob | None:
    """Return the job with this id, or None if it was not submitted from this checkout."""
    # A file that another version wrote or that is damaged is ignored.
    with suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        fields = json.loads((root / JOBS_FOLDER / f"{job_id}.json").read_text(encoding="utf-8"))
        ending = fields.pop("ending")
        return SubmittedJob(**fields, ending=ending and JobState(**ending))
    return None


def recall_all(root: Path) -> list[SubmittedJob]:
    """Return all jobs that were submitted from this checkout, oldest first."""
    ids = [path.stem for path in (root / JOBS_FOLDER).glob("*.json") if JOB_ID.fullmatch(path.stem)]
    found = [recall(root, job_id) for job_id in ids]
    return sorted(
        (job for job in found if job), key=lambda job: (job.submitted, [*map(int, NUMBER.findall(job.job_id))])
    )


def find_jobs(root: Path, job_id: str) -> list[SubmittedJob]:
    """Return the job of this checkout with this number, or all tasks of the array with this number.

    Raises:
        CourseKitError: this is not a job number, or no job has this number.
    """
    if not JOB_ID.fullmatch(job_id):
        raise CourseKitError(f"{job_id!r} is not a job number: give one that `coursekit jobs` shows.", "job.no-number")
    with suppress(SlurmError):
        adopt(root, read_queue())
    found = [job for job in recall_all(root) if job_id in {job.job_id, NUMBER.findall(job.job_id)[0]}]
    if not found:
        raise CourseKitError(
            f"no job {job_id} was submitted from {root}: `coursekit jobs` lists those that were.", "job.unknown"
        )
    return found


def find_job(root: Path, job_id: str) -> SubmittedJob:
    """Return one job of this checkout.

    Raises:
        CourseKitError: no job or more than one job has this number.
    """
    job, *others = find_jobs(root, job_id)
    if others:
        tasks = first_few([one.job_id for one in (job, *others)])
        raise CourseKitError(f"{job_id} is more than one job: give one of {tasks}.", "job.ambiguous")
    return job


def list_jobs(root: Path) -> list[ListedJob]:
    """Return all jobs of this checkout, oldest first; if Slurm does not answer, take their states from their files."""
    states: dict[str, JobState] = {}
    try:
        queue = read_queue()
        adopt(root, queue)
        # A job that had ended may have been put back into the queue.
        active = {job_id for job_id, state in queue.items() if not state.ended}
        states = look([job.job_id for job in recall_all(root) if not job.ending or job.job_id in active], queue)
    except SlurmError as error:
        print(f"{error} This is what the files of your jobs say:", file=sys.stderr, flush=True)
    jobs = [note(root, job, states.get(job.job_id)) for job in recall_all(root)]
    return [_listed(root, job, states.get(job.job_id) or job.ending or JobState(UNKNOWN)) for job in jobs]


def note(root: Path, job: SubmittedJob, state: JobState | None) -> SubmittedJob:
    """Add a job's number and how it ended to its file, if they are new, and return the updated job."""
    if state is None:
        return job
    newest = replace(job, number=state.number or job.number, ending=state if state.ended else job.ending)
    if newest != job:
        remember(root, newest)
    return newest


def adopt(root: Path, queue: Mapping[str, JobState]) -> None:
    """Remember the jobs in the queue that were submitted from this checkout with plain `sbatch`."""
    for job_id, state in queue.items():
        is_here = state.folder != "" and Path(state.folder).resolve() == root.resolve()
        was_refused = state.state == FAILED and not state.nodes  # Slurm forgets it at once
        if JOB_ID.fullmatch(job_id) and is_here and not was_refused and not recall(root, job_id):
            # Slurm joins a script's path and arguments with spaces; only the checkout's path may contain spaces itself.
            script = Path((state.command.removeprefix(f"{state.folder}/") or state.name).split(" ")[0])
            site = script.parent.name if script.parts[:-2] == Path(JOB_SCRIPTS).parts else ""
            lab = state.name.removesuffix(LAUNCH_PATTERNS["train"].suffix)
            submitted = datetime.fromisoformat(state.submitted).astimezone().isoformat()
            remember(root, SubmittedJob(job_id, state.name, lab, site, str(script), submitted))


def read_result(root: Path, job: SubmittedJob) -> LabResult | None:
    """Return the result that a job has left, or None if there is none yet."""
    with suppress(OSError, ValueError, TypeError, LookupError):
        return LabResult.from_json(json.loads((last_attempt(root / job.folder) / RESULT).read_text(encoding="utf-8")))
    return None


def executed_notebook(root: Path, job: SubmittedJob) -> Path | None:
    """Return the path of the executed notebook, or None if it has not been written yet."""
    path = last_attempt(root / job.folder) / f"{job.lab}.ipynb"
    return path if path.is_file() else None


def _listed(root: Path, job: SubmittedJob, state: JobState) -> ListedJob:
    if state.state == PENDING:
        return ListedJob(job, state, explain_pending(job.job_id, state.reason, state.start).partition(" waits: ")[2])
    # While a job is running, any result comes from an earlier start.
    result = read_result(root, job) if state.ended or state.state == UNKNOWN else None
    if result:
        points = f", {format_points(result)} points" if result.scores else ""
        return ListedJob(job, state, f"{result.verdict}{points}")
    # The last line that a job script prints says how the job went.
    lines = [line.strip() for line in read_tail(root / job.log).splitlines() if line.strip()]
    return ListedJob(job, state, lines[-1].removeprefix(f"{job.name}: ") if lines else "")
