"""`coursekit run --site NAME`: the same run in a job on a machine's GPU nodes, followed from the login node."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.labs.run.folders import save_request
from coursekit.labs.run.report import HTML
from coursekit.slurm.jobs.follow import follow_to_end
from coursekit.slurm.jobs.render import JOBS, SUFFIX
from coursekit.slurm.jobs.submit import submit_script
from coursekit.slurm.sites.load import load_site

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.labs.run.folders import Request

PATTERN = "solutions"
INTERRUPTED_STATUS = 130


def run_on_site(root: Path, name: str, folder: Path, request: Request) -> int:
    """Submit a site's script for all solutions, follow it to its report in `folder`, and return the exit status.

    Raises:
        CourseKitError: there is no such site or no Slurm, or Slurm refuses; the message says what to do.
    """
    site = load_site(root, name)
    if shutil.which("sbatch") is None:
        raise CourseKitError(f"there is no sbatch here: use --site on a login node of {site.title}.")
    save_request(folder, request)
    if request.num_ranks is not None:
        os.environ["COURSEKIT_NUM_RANKS"] = str(request.num_ranks)  # the job's environment is ours
    script = root / JOBS / site.name / f"{PATTERN}{SUFFIX}"
    job = submit_script(root, site, script, ["--run", folder.name], lab=PATTERN)
    print(f"Job {job.job_id} runs the labs; coursekit jobs {job.job_id} --follow takes it up again.", flush=True)
    passed = follow_to_end(root, job)
    if passed is None:
        return INTERRUPTED_STATUS
    for sentence in site.references:
        print(f"To compare with: {sentence}")
    print(f"The report is {(folder / HTML).relative_to(root)}.")
    return 0 if passed else 1
