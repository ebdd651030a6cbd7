"""The jobs that were submitted from a checkout: one small file each in its folder `jobs/`.

They outlive the notebook's kernel and need no accounting.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.run.results import write_json
from coursekit.slurm.jobs.states import JobState

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "jobs"
JOB_ID = re.compile(r"\d+")


@dataclass(frozen=True)
class SubmittedJob:
    """One job of the course; paths are relative to the checkout.

    Attributes:
        job_id: Slurm's number, as text.
        name: the job's name, which is that of its script.
        site: the name of the site's profile; '' for a script that belongs to none.
        submitted: when it was submitted, ISO 8601 with the offset from UTC.
        ending: how it ended, once that was seen: Slurm forgets, in minutes where accounting is off.
    """

    job_id: str
    name: str
    lab: str
    site: str
    script: str
    submitted: str
    ending: JobState | None = None

    @property
    def log(self) -> str:
        """The file to which Slurm writes what the job says."""
        return f"{self.name}-{self.job_id}.out"

    @property
    def folder(self) -> str:
        """The folder of the executed notebook and its result; a second start adds `-attempt-2`."""
        return f"{FOLDER}/{self.name}-{self.job_id}"


def remember(root: Path, job: SubmittedJob) -> None:
    """Write a job down, whole or not at all."""
    (root / FOLDER).mkdir(exist_ok=True)
    write_json(_file(root, job.job_id), asdict(job))


def recall(root: Path, job_id: str) -> SubmittedJob | None:
    """Return the job with this id, or None when it was not submitted from here."""
    # A file of another version or a broken disk tells nothing.
    with suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        fields = json.loads(_file(root, job_id).read_text(encoding="utf-8"))
        ending = fields.pop("ending")
        return SubmittedJob(**fields, ending=ending and JobState(**ending))
    return None


def recall_all(root: Path) -> list[SubmittedJob]:
    """Return all jobs that were submitted from this checkout, the oldest first."""
    ids = [path.stem for path in (root / FOLDER).glob("*.json") if JOB_ID.fullmatch(path.stem)]
    found = [recall(root, job_id) for job_id in ids]
    return sorted((job for job in found if job), key=lambda job: (job.submitted, int(job.job_id)))


def check_id(job_id: str) -> str:
    """Return a job's id as it was typed.

    Raises:
        CourseKitError: it is not a number.
    """
    if not JOB_ID.fullmatch(job_id):
        raise CourseKitError(f"{job_id!r} is not a job: give the number that `coursekit jobs` shows.")
    return job_id


def _file(root: Path, job_id: str) -> Path:
    return root / FOLDER / f"{job_id}.json"
