"""The layout of `jobs/`, the folder of a checkout in which batch jobs leave their results.

    123456.json                     a job that was submitted, as `coursekit jobs` remembers it
    01-sgd-123456/                  its results: result.json, and the executed notebook 01-sgd.ipynb
    01-sgd-123456-attempt-2/        its results after Slurm had started it again
    01-sgd.sbatch                   a script that was rendered for one submission
    submit-2026-11-20T17-00-00.log  what `coursekit submit` asked Slurm

Students hand in the folders of their jobs with their notebooks.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import datetime
from glob import escape
from itertools import count
from pathlib import Path

JOBS_FOLDER, RESULT = "jobs", "result.json"
RECORD = rf"{JOBS_FOLDER}/(?P<job>[^/]+)/{re.escape(RESULT)}"
ATTEMPT = "-attempt-"


def new_folder(parent: Path, prefix: str = "") -> Path:
    """Make a new folder, named after this Slurm job's number or the local time.

    A job that Slurm starts again keeps its number, but gets a separate folder.
    """
    stem = prefix + (os.environ.get("SLURM_JOB_ID") or time_stamp())
    for attempt in count(1):
        folder = parent / (stem if attempt == 1 else f"{stem}{ATTEMPT}{attempt}")
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
    return folder


def last_attempt(first: Path) -> Path:
    """Return the folder of a job's last start, given the folder of its first; each start has a separate result."""
    later = {
        int(path.name.rpartition("-")[2]): path for path in first.parent.glob(f"{escape(first.name)}{ATTEMPT}*[0-9]")
    }
    return later[max(later)] if later else first


def time_stamp() -> str:
    """Return the local time in a form that fits into a file name."""
    return datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
