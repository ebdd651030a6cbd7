"""`coursekit render`: job scripts for one event, with its account and reservation in them."""

from __future__ import annotations

from pathlib import Path

import click

from coursekit.files import write_if_changed
from coursekit.paths import find_root
from coursekit.slurm.jobs.directives import load_event
from coursekit.slurm.jobs.render import render_all
from coursekit.slurm.sites.load import load_site


@click.command(epilog="Example: coursekit render karolina --event event.toml --output my-jobs")
@click.argument("site")
@click.option("--event", required=True, type=click.Path(path_type=Path), help="A file with account, reservation, qos.")
@click.option("--output", required=True, type=click.Path(path_type=Path), help="A folder for the scripts.")
def render(site: str, event: Path, output: Path) -> None:
    """Render the job scripts of a SITE for one event, with its account, reservation and QOS in them.

    The committed scripts in slurm/jobs/ hold none of these: SBATCH_ACCOUNT, SBATCH_RESERVATION and SBATCH_QOS
    do the same without rendering anything.
    """
    root = find_root()
    for file, text in render_all(root, load_site(root, site), load_event(event)).items():
        write_if_changed(output / file, text.encode(), lambda verdict, path: click.echo(f"{verdict} {path}"))
