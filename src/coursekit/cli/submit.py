"""`coursekit submit`."""

from __future__ import annotations

from pathlib import Path

import click

from coursekit.cli.jobs import exit_after
from coursekit.paths import find_root
from coursekit.slurm.jobs.submit import SubmitOptions, said_of, submit_lab


@click.command(epilog="Example: coursekit submit 02 --site karolina --nodes 2 --ranks-per-node 1 --follow")
@click.argument("lab")
@click.option("--site", required=True, metavar="NAME", help="The machine, as `coursekit sites` lists it.")
@click.option("--nodes", "num_nodes", type=int, metavar="N", help="Nodes to ask for, with all their GPUs.")
@click.option("--ranks-per-node", type=int, metavar="N", help="Ranks on each node, one GPU for each.")
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
    ranks_per_node: int | None,
    partition: str | None,
    train: bool,
    event: Path | None,
    values: tuple[tuple[str, str], ...],
    follow: bool,
) -> None:
    """Submit a LAB of yours as a job: checks that its answers are there, then calls sbatch.

    Without options that change it, the script of slurm/jobs/SITE/ is submitted as it is: the smallest piece of the
    machine with two ranks, and a training on whole nodes. Its first lines say what it costs, as does
    coursekit sites show SITE.
    """
    options = SubmitOptions(lab, site, num_nodes, ranks_per_node, partition, train, dict(values), event)
    job = submit_lab(find_root(), options)
    click.echo(said_of(job))
    if follow:
        exit_after(job.job_id)
