"""`coursekit submit`."""

from datetime import datetime

import click

from coursekit.cli.jobs import exit_after
from coursekit.cli.shared import LAB, PARAMETERS, PARTITION, SITE
from coursekit.log import log_to
from coursekit.paths import find_root
from coursekit.slurm.jobs.remembered import FOLDER
from coursekit.slurm.jobs.submit import submit as submit_job


@click.command(epilog="Example: coursekit submit 02 --site karolina --nodes 2 --ranks-per-node 1 --follow")
@LAB
@SITE
@click.option(
    "--nodes",
    "num_nodes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of nodes, with all their GPUs, or as many as --ranks-per-node says.",
)
@click.option("--ranks-per-node", type=click.IntRange(min=1), metavar="N", help="Ranks on each node, one GPU for each.")
@PARTITION
@click.option("--train", is_flag=True, help="Run the lab's training script, one rank per GPU, not the notebook.")
@PARAMETERS
@click.option("--follow", is_flag=True, help="Follow the job until it ends. Ctrl-C does not stop the job.")
def submit(  # noqa: PLR0913, PLR0917  # one for each option
    lab: str,
    site: str,
    num_nodes: int | None,
    ranks_per_node: int | None,
    partition: str | None,
    train: bool,
    given: tuple[tuple[str, str], ...],
    follow: bool,
) -> None:
    """Submit your notebook of LAB as a Slurm job.

    The command checks that your answers are there, then calls sbatch.
    Without further options it submits the script in slurm/jobs/SITE/ unchanged.
    A notebook gets the smallest part of the machine that has 2 ranks; a training gets whole nodes.
    The first lines of the script say what the job costs, and so does `coursekit sites show SITE`.
    """
    log = find_root() / FOLDER / f"submit-{datetime.now().astimezone():%Y-%m-%dT%H-%M-%S}.log"
    with log_to(log):
        job = submit_job(
            *(lab, site),
            nodes=num_nodes,
            ranks_per_node=ranks_per_node,
            partition=partition,
            train=train,
            values=dict(given),
        )
    if follow:
        exit_after(job.job_id)
