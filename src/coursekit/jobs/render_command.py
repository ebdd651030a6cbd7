"""`coursekit render`: job scripts for all sites, or for one event."""

from __future__ import annotations

from pathlib import Path

import click

from coursekit.building.generated import write_if_changed
from coursekit.jobs.event import NO_EVENT, load_event
from coursekit.jobs.render import JOBS, SUFFIX, render_all
from coursekit.paths import find_root
from coursekit.sites.load import load_site, site_names


@click.command(epilog="Example: coursekit render karolina --event event.toml --output my-jobs")
@click.argument("sites", nargs=-1, metavar="[SITE]...")
@click.option("--event", type=click.Path(path_type=Path), help="A file with account, reservation and qos.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the scripts of an event: the committed ones in slurm/jobs/ hold none.",
)
def render(sites: tuple[str, ...], event: Path | None, output: Path | None) -> None:
    """Render the job scripts of all sites, or of those named, from slurm/sites/ and slurm/templates/.

    Scripts of sites and labs that are no longer there are removed from slurm/jobs/.
    An EVENT file may hold account, reservation and qos; those scripts go to --output.
    """
    if event and not output:
        raise click.UsageError("--event needs --output: the scripts in slurm/jobs/ belong to every event.")
    root = find_root()
    parent = output or root / JOBS
    occasion = load_event(event) if event else NO_EVENT
    for name in sites or site_names(root):
        scripts = render_all(root, load_site(root, name), occasion)
        for file, text in scripts.items():
            write_if_changed(parent / name / file, text.encode(), _tell)
        for old in sorted((parent / name).glob(f"*{SUFFIX}")):
            if not output and old.name not in scripts:
                old.unlink()
                _tell("removed", old)
    if not sites and not output:
        _remove_former_sites(parent, set(site_names(root)))


def _remove_former_sites(parent: Path, names: set[str]) -> None:
    for old in sorted(parent.glob(f"*/*{SUFFIX}")):
        if old.parent.name not in names:
            old.unlink()
            _tell("removed", old)


def _tell(verdict: str, path: Path) -> None:
    if verdict != "unchanged":
        click.echo(f"{verdict} {path}")
