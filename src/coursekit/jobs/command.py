"""`coursekit submit`, `coursekit jobs` and `coursekit cancel`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coursekit.jobs import listing
from coursekit.jobs.follow import follow as follow_job
from coursekit.jobs.slurm_cli import SlurmError
from coursekit.jobs.submit import Wish, said_of, submit_wish
from coursekit.paths import find_root

INTERRUPTED_STATUS = 130  # what a shell reports after Ctrl-C


@click.command(epilog="Example: coursekit submit 02 --site karolina --nodes 2 -p num_epochs 50 --follow")
@click.argument("lab")
@click.option("--site", required=True, metavar="NAME", help="The machine, as `coursekit sites` lists it.")
@click.option("--nodes", "num_nodes", type=int, metavar="N", help="Nodes to ask for.")
@click.option("--partition", metavar="P", help="A partition of the site's profile.")
@click.option("--train", is_flag=True, help="Run the lab's script on one rank per GPU in place of its notebook.")
@click.option("--event", type=click.Path(path_type=Path), help="A file with account, reservation and qos.")
@click.option(
    "-p", "--parameter", "values", nargs=2, multiple=True, metavar="NAME VALUE", help="Value for a parameter."
)
@click.option("--follow", is_flag=True, help="Show why it waits, its log, and how it ends. Ctrl-C stops only that.")
def submit(  # noqa: PLR0913, PLR0917  # one for each option
    lab: str,
    site: str,
    num_nodes: int | None,
    partition: str | None,
    train: bool,
    event: Path | None,
    values: tuple[tuple[str, str], ...],
    follow: bool,
) -> None:
    """Submit a LAB of yours as a job: checks that its answers are there, then calls sbatch.

    Without options that change it, the script of slurm/jobs/SITE/ is submitted as it is.
    """
    wish = Wish(lab, site, num_nodes, partition, train, dict(values), event)
    job = submit_wish(find_root(), wish)
    click.echo(said_of(job))
    if follow:
        _follow(job.job_id)


@click.command(epilog="Example: coursekit jobs, then coursekit jobs 123456 --follow")
@click.argument("job_id", required=False, metavar="[JOB]")
@click.option("--follow", is_flag=True, help="Follow the job, or see again how it ended.")
def jobs(job_id: str | None, follow: bool) -> None:
    """List your jobs of this course folder, or one JOB: its state, and in words how it goes."""
    if follow and not job_id:
        raise click.UsageError("--follow needs the number of a job.")
    if job_id and follow:
        _follow(job_id)
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


@click.command(epilog="Example: coursekit cancel 123456")
@click.argument("job_id", metavar="JOB")
def cancel(job_id: str) -> None:
    """Cancel a JOB of yours that was submitted from this course folder."""
    click.echo(listing.cancel(job_id))


def _follow(job_id: str) -> None:
    """Follow a job; exit status 0 when it went well, 1 when not, 130 after Ctrl-C."""
    went_well = follow_job(job_id)
    sys.exit(INTERRUPTED_STATUS if went_well is None else 0 if went_well else 1)
