"""`coursekit run --site NAME`: the same run in a job on a machine's GPU nodes, followed from the login node."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.jobs.follow import follow_to_end
from coursekit.jobs.refusals import explain_refusal
from coursekit.jobs.remembered import SubmittedJob, remember
from coursekit.jobs.render import JOBS, SUFFIX
from coursekit.jobs.slurm_cli import SlurmError, sbatch
from coursekit.running.folders import save_request
from coursekit.running.report import HTML
from coursekit.sites.load import load_site

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.running.folders import Request
    from coursekit.sites.profile import Site

PATTERN = "solutions"
INTERRUPTED_STATUS = 130


def run_on_site(root: Path, name: str, folder: Path, request: Request) -> int:
    """Submit the site's script for all solutions, follow it to its report, and return the exit status.

    Args:
        root: the course checkout.
        name: the site's name.
        folder: the run's folder; the job finds there what was asked for.
        request: what was asked for.

    Raises:
        CourseKitError: there is no such site or no Slurm, or Slurm refuses; the message says what to do.
    """
    site = load_site(root, name)
    if shutil.which("sbatch") is None:
        raise CourseKitError(f"there is no sbatch here: use --site on a login node of {site.title}.")
    save_request(folder, request)
    job = _submit(root, site, folder, request)
    print(f"Job {job.job_id} runs the labs; coursekit jobs {job.job_id} --follow takes it up again.", flush=True)
    passed = follow_to_end(root, job, lambda text: print(text, end="", flush=True))
    if passed is None:
        return INTERRUPTED_STATUS
    for sentence in site.references:
        print(f"To compare with: {sentence}")
    print(f"The report is {(folder / HTML).relative_to(root)}.")
    return 0 if passed else 1


def _submit(root: Path, site: Site, folder: Path, request: Request) -> SubmittedJob:
    script = root / JOBS / site.name / f"{PATTERN}{SUFFIX}"
    if request.num_ranks is not None:
        os.environ["COURSEKIT_NUM_RANKS"] = str(request.num_ranks)  # the job's environment is ours
    try:
        job_id = sbatch(script, root, ["--run", folder.name])
    except SlurmError as error:
        if not error.words:
            raise
        raise CourseKitError(explain_refusal(error.words, site, site.default_partition)) from None
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    job = SubmittedJob(job_id, PATTERN, PATTERN, site.name, str(script.relative_to(root)), now)
    remember(root, job)
    return job
