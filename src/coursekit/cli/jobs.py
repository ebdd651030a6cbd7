"""`coursekit jobs`, without what only a submission needs to import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.paths import find_root
from coursekit.processes import INTERRUPTED_STATUS
from coursekit.slurm.jobs import listing
from coursekit.slurm.jobs.follow import follow as follow_job
from coursekit.slurm.jobs.predict import compare
from coursekit.slurm.jobs.remembered import SubmittedJob, read_result
from coursekit.slurm.jobs.slurm_cli import SlurmError
from coursekit.slurm.sites.load import load_site, site_names


@click.command(epilog="Example: coursekit jobs, then coursekit jobs 123456 --follow")
@click.argument("job_id", required=False, metavar="[JOB]")
@click.option("--follow", is_flag=True, help="Follow JOB until it ends; if it has ended, show how.")
def jobs(job_id: str | None, follow: bool) -> None:
    """List the jobs that you submitted from this course folder, or show one JOB.

    For each job, a sentence says why it waits, how it runs, or why it failed.
    """
    if follow and not job_id:
        raise click.UsageError("--follow needs the number of a job.")
    if job_id and follow:
        exit_after(job_id)
        return
    root = find_root()
    try:
        rows = listing.list_jobs(root)
    except SlurmError as error:
        click.echo(f"{error} This is what the files of your jobs tell:", err=True)
        rows = listing.list_without_slurm(root)
    if job_id:
        wanted = listing.find_job(root, job_id).job_id
        rows = [row for row in rows if row.job.job_id == wanted]
    if not rows:
        click.echo("No job was submitted from here yet: coursekit submit LAB --site NAME.")
        return
    table = Table("job", "name", "site", "state", "time", "in words")
    for row in rows:
        cells = (row.job.job_id, row.job.name, row.job.site, row.state, row.elapsed, row.words)
        table.add_row(*(escape(cell) for cell in cells))
    Console().print(table)
    if job_id:
        _compare(root, rows[0].job)


def _compare(root: Path, job: SubmittedJob) -> None:
    """Show what the job measured beside what was to be expected, where it measured a speed."""
    result = read_result(root, job)
    if result and job.site in site_names(root):
        click.echo(compare(load_site(root, job.site), job, result), nl=bool(result.images_per_s))


def exit_after(job_id: str) -> NoReturn:
    """Follow a job; exit status 0 when it went well, 1 when not, 130 after Ctrl-C."""
    went_well = follow_job(job_id)
    sys.exit(INTERRUPTED_STATUS if went_well is None else 0 if went_well else 1)
