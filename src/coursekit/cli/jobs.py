"""`coursekit jobs`: show your jobs; this module does not import anything that is needed only for submitting."""

import sys
from typing import NoReturn

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coursekit.paths import find_root
from coursekit.processes import INTERRUPTED_STATUS
from coursekit.slurm.jobs.follow import follow_job
from coursekit.slurm.jobs.remembered import find_jobs, list_jobs
from coursekit.text import printable


@click.command(epilog="Example: coursekit jobs, then coursekit jobs 123456 --follow")
@click.argument("job_id", required=False, metavar="[JOB]")
@click.option("--follow", is_flag=True, help="Follow JOB until it ends; if it has already ended, show how it ended.")
def jobs(job_id: str | None, follow: bool) -> None:
    """List the jobs that you submitted from this course folder, or show one JOB.

    For each job, a sentence says why it is waiting, what it is doing, or why it failed.
    """
    if follow:
        if not job_id:
            raise click.UsageError("--follow needs a job number.")
        exit_after(job_id)
    root = find_root()
    rows = list_jobs(root)
    if job_id:
        wanted = {job.job_id for job in find_jobs(root, job_id)}
        rows = [row for row in rows if row.job.job_id in wanted]
    if not rows:
        click.echo("No jobs have been submitted from here yet: run coursekit submit LAB --site NAME.")
        return
    table = Table("job", "name", "site", "state", "time", "in words")
    for job, state, words in rows:
        cells = (job.job_id, job.name, job.site, state.state, state.elapsed, words)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    Console().print(table)


def exit_after(job_id: str) -> NoReturn:
    """Follow a job until it ends, then exit with status 0 if it went well, 1 if it did not, or 130 after Ctrl-C."""
    went_well = follow_job(job_id)
    sys.exit(INTERRUPTED_STATUS if went_well is None else 0 if went_well else 1)
