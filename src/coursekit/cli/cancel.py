"""`coursekit cancel`."""

from __future__ import annotations

import click

from coursekit.slurm.jobs import listing


@click.command(epilog="Example: coursekit cancel 123456")
@click.argument("job_id", metavar="JOB")
def cancel(job_id: str) -> None:
    """Cancel a JOB of yours that was submitted from this course folder."""
    click.echo(listing.cancel(job_id))
