"""The jobs that were submitted from a checkout, and what they left: one small file for each in its folder `jobs/`.

They outlive the notebook's kernel and need no accounting.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from coursekit.files import write_json
from coursekit.labs.run.results import LabResult
from coursekit.slurm.jobs.slurm_cli import JobState

FOLDER = "jobs"
JOB_ID = re.compile(r"\d+")
# Job numbers begin again with a new controller: what is older than the submission belongs to another job.
CLOCK_TOLERANCE_S = 120


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


def read_result(root: Path, job: SubmittedJob) -> LabResult | None:
    """Return the result that a job left, or None if it has left none yet."""
    path = _newest(root, job, "result.json")
    with suppress(OSError, ValueError, TypeError, LookupError):
        return LabResult.from_json(json.loads(path.read_text(encoding="utf-8"))) if path else None
    return None


def executed_notebook(root: Path, job: SubmittedJob) -> Path | None:
    """Return where the executed notebook is, or None before it is written."""
    return _newest(root, job, f"{job.lab}.ipynb")


def _newest(root: Path, job: SubmittedJob, name: str) -> Path | None:
    """Return a file of the job's last start; Slurm may start a job again, and earlier starts had ends of their own."""
    first = root / job.folder
    starts = {int(path.name.rpartition("-")[2]): path for path in first.parent.glob(f"{first.name}-attempt-*[0-9]")}
    path = (starts[max(starts)] if starts else first) / name
    oldest = datetime.fromisoformat(job.submitted).timestamp() - CLOCK_TOLERANCE_S
    return path if path.is_file() and path.stat().st_mtime > oldest else None


def _file(root: Path, job_id: str) -> Path:
    return root / FOLDER / f"{job_id}.json"
