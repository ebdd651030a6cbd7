"""The layout of `jobs/`, the folder of a checkout in which batch jobs leave their results.

    123456.json                     a submitted job, which `coursekit jobs` remembers
    01-sgd-123456/                  its results: result.json, and the executed notebook 01-sgd.ipynb
    01-sgd-123456-attempt-2/        its results after Slurm restarted it
    01-sgd.sbatch                   a script that was rendered for one submission
    submit-2026-11-20T17-00-00.log  the Slurm commands that `coursekit submit` ran

Students hand in the folders of their jobs together with their notebooks.
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
    """Make a new folder, named after this Slurm job's number or, outside a job, the local time.

    A job that Slurm restarts keeps its number, but gets another folder.
    """
    stem = prefix + (os.environ.get("SLURM_JOB_ID") or time_stamp())
    for attempt in count(1):
        folder = parent / (stem if attempt == 1 else f"{stem}{ATTEMPT}{attempt}")
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
    return folder


def last_attempt(first: Path) -> Path:
    """Return the folder of a job's last attempt, given the folder of the first; each attempt leaves its own result."""
    later = {
        int(path.name.rpartition("-")[2]): path for path in first.parent.glob(f"{escape(first.name)}{ATTEMPT}*[0-9]")
    }
    return later[max(later)] if later else first


def time_stamp() -> str:
    """Return the local time in a form that is safe in a file name."""
    return datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
