"""`coursekit submit`: submit labs as Slurm jobs."""

import click

from coursekit.cli.jobs import exit_after
from coursekit.cli.shared import PARAMETERS, PARTITION, SITE
from coursekit.labs.run.jobs_folder import JOBS_FOLDER, time_stamp
from coursekit.log import log_to
from coursekit.paths import find_root
from coursekit.slurm.jobs.submit import submit as submit_labs


@click.command(epilog="Example: coursekit submit 02 --site karolina --nodes 2 --ranks-per-node 1 --follow")
@click.argument("labs", metavar="LAB...", nargs=-1, required=True)
@SITE
@click.option(
    "--nodes",
    "num_nodes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of nodes. On each node, the job uses all GPUs, or only as many as --ranks-per-node says.",
)
@click.option("--ranks-per-node", type=click.IntRange(min=1), metavar="N", help="Ranks per node, each with one GPU.")
@PARTITION
@click.option("--train", is_flag=True, help="Run the lab's training script, not the notebook, with one rank per GPU.")
@PARAMETERS
@click.option("--follow", is_flag=True, help="Follow the job until it ends. Ctrl-C does not stop the job.")
def submit(  # noqa: PLR0913, PLR0917  # one for each option
    labs: tuple[str, ...],
    site: str,
    num_nodes: int | None,
    ranks_per_node: int | None,
    partition: str | None,
    train: bool,
    given: tuple[tuple[str, str], ...],
    follow: bool,
) -> None:
    """Submit your notebook for LAB as a Slurm job; several labs become separate jobs.

    The command first checks that no answer is missing in any of these labs, then calls sbatch.
    Without --nodes, --ranks-per-node and --partition, it submits the script in slurm/jobs/SITE/ unchanged.
    A notebook then gets the smallest part of the machine that can run 2 ranks; a training script gets whole nodes.
    The first lines of the script, and `coursekit sites show SITE`, say what the job costs.
    """
    if len(labs) > 1 and (follow or given):
        raise click.UsageError("-p and --follow need a single LAB; `coursekit jobs` shows the state of all jobs.")
    with log_to(find_root() / JOBS_FOLDER / f"submit-{time_stamp()}.log"):
        *_, last = submit_labs(
            *(labs, site),
            nodes=num_nodes,
            ranks_per_node=ranks_per_node,
            partition=partition,
            train=train,
            values=dict(given),
        )
    if follow:
        exit_after(last.job_id)
