"""`coursekit sites`: the machines that courses run on."""

import click
from rich.console import Console

from coursekit.paths import find_root
from coursekit.slurm.jobs.job_script import all_jobs, cost
from coursekit.slurm.sites.load import load_site, load_sites
from coursekit.slurm.sites.show import show_list, show_site


@click.group(invoke_without_command=True, epilog="Example: coursekit sites show jean-zay")
@click.pass_context
def sites(context: click.Context) -> None:
    """List the machines that have job scripts.

    Each machine has one file in slurm/sites/.
    The command also checks all these files for unknown keys, missing keys, and values that contradict each other.
    """
    if context.invoked_subcommand is None:
        show_list(Console(), load_sites(find_root()))


@sites.command(epilog="Example: coursekit sites show karolina")
@click.argument("name")
def show(name: str) -> None:
    """Show how to use the machine NAME, and what jobs cost there.

    The output covers access, costs, partitions, software, storage and JupyterLab.
    It ends with the facts that are not confirmed, each with the command that settles it on the machine.
    """
    root = find_root()
    site = load_site(root, name)
    show_site(Console(), site, [f"{job.name}: {cost(job)}" for job in all_jobs(root, site)])
