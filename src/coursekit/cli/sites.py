"""`coursekit sites`: the machines that courses run on."""

from __future__ import annotations

import click
from rich.console import Console

from coursekit.paths import find_root
from coursekit.slurm.jobs.cost import CLASS_SIZE, class_costs
from coursekit.slurm.sites.load import FOLDER, load_site, load_sites
from coursekit.slurm.sites.show import show_list, show_site
from coursekit.text import counted


@click.group(invoke_without_command=True, epilog="Example: coursekit sites show jean-zay")
@click.pass_context
def sites(context: click.Context) -> None:
    """List the machines that have job scripts.

    Each machine has one file in slurm/sites/.
    """
    if context.invoked_subcommand is None:
        show_list(Console(), load_sites(find_root()))


@sites.command(epilog="Example: coursekit sites show karolina")
@click.argument("name")
@click.option(
    "--class-size",
    "num_students",
    type=click.IntRange(1),
    metavar="N",
    default=CLASS_SIZE,
    show_default=True,
    help="Size of the class.",
)
def show(name: str, num_students: int) -> None:
    """Show how to use the machine NAME, and what jobs cost there.

    The output has access, costs, partitions, software, storage and JupyterLab.
    A mark such as ?2 means "not confirmed": the note with that number says which command on the machine confirms it.
    """
    root = find_root()
    site = load_site(root, name)
    show_site(Console(), site, class_costs(root, site, num_students))


@sites.command(epilog="Example: coursekit sites check my-cluster")
@click.argument("name", required=False)
def check(name: str | None) -> None:
    """Check the file of the machine NAME, or of all machines.

    The command finds unknown and missing keys, and values that contradict each other.
    """
    root = find_root()
    for site in [load_site(root, name)] if name else load_sites(root):
        doubts = f"{len(site.confirm) or 'nothing'} to be confirmed on the machine"
        click.echo(f"{FOLDER}/{site.name}.toml: {counted(len(site.partitions), 'partition')}, {doubts}")
