"""`coursekit predict`: what a training will do on more nodes."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from coursekit.cli.shared import LAB, PARAMETERS, PARTITION, SITE
from coursekit.errors import CourseKitError
from coursekit.labs.lab import select_labs
from coursekit.labs.run.plan import read_defaults
from coursekit.paths import find_root
from coursekit.scaling.forecast import Forecast, forecast
from coursekit.slurm.jobs.predict import make_plan, read_values
from coursekit.slurm.sites.load import load_site
from coursekit.text import counted

MILLISECONDS = 1000
MINUTES_PER_HOUR = 60
WIDEST = 1000  # characters of a table


@click.command(epilog="Example: coursekit predict 03 --site karolina --nodes 1,2,4,8 -p batch_size 128")
@LAB
@SITE
@PARTITION
@click.option("--nodes", default="1,2,4,8", show_default=True, metavar="N,N", help="Numbers of nodes to predict for.")
@PARAMETERS
def predict(lab: str, site: str, partition: str | None, nodes: str, given: tuple[tuple[str, str], ...]) -> None:
    """Predict how fast the training of LAB runs on several nodes, and what it costs.

    For each number of nodes, the table has the speed with its uncertainty, the parts of a training step, and the cost.
    By default the network is ResNet50, at the speed that was published for the machine's GPU.

    Parameters: model, batch_size, global_batch_size (for strong scaling), precision, compression,
    and images_per_s, the speed of one GPU alone in a run of your own.
    """
    root = find_root()
    name = select_labs(root, [lab])[0].name
    if not {"model", "batch_size"} <= read_defaults(root / "labs" / name / f"{name}.ipynb").keys():
        raise CourseKitError(f"{name} trains no network whose speed is known: predict lab 03 or 04.")
    profile = load_site(root, site)
    kind = profile.kind(partition)
    plan = make_plan(profile, kind, read_values(dict(given)))
    rows = forecast(plan.training, plan.machine, _numbers(nodes))
    last = rows[-1]
    print_whole(Console(), _table(plan.title, rows))
    click.echo("A step: computing, waiting for the slowest rank, the gradients' way. An epoch: ImageNet.")
    click.echo(f"Speed: {plan.speed_from}.")
    on_nodes = counted(last.num_nodes, "node")
    if last.num_nodes > 1:  # speeds of one GPU tell nothing of the links between nodes
        low, high = (speed / last.images_per_s for speed in (last.low, last.high))
        band = f"expect {low:.2f} to {high:.2f} times that speed"
        click.echo(f"Beyond one node nothing is measured here: on {on_nodes}, {band}.")
    click.echo(f"On {on_nodes}, a step is bound by {last.bound}.")


def _numbers(text: str) -> list[int]:
    """Return numbers of nodes from "1,2,4"."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise CourseKitError(f"--nodes must be whole numbers above 0 with commas between them, not {text!r}.")
    return sorted({int(part) for part in parts})


def _table(title: str, rows: Sequence[Forecast]) -> Table:
    """Return a row for each number of nodes; a step is the sum of computing, the slowest rank and the gradients."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("nodes", "GPUs", "images/s", "9 of 10", "efficiency", "step, ms", "epoch, min", "GPU h"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        parts = (row.step.compute_s, row.step.waiting_s, row.step.exposed_s)
        table.add_row(
            str(row.num_nodes), str(row.num_ranks), f"{row.images_per_s:.0f}", f"{row.low:.0f}-{row.high:.0f}",
            f"{row.efficiency:.0%}", "+".join(f"{MILLISECONDS * seconds:.0f}" for seconds in parts),
            f"{MINUTES_PER_HOUR * row.epoch_h:.3g}", f"{row.gpu_hours:.3g}",
        )  # fmt: skip
    return table


def print_whole(console: Console, table: Table) -> None:
    """Print a table without cutting its cells, also where a terminal is narrower, or where there is none."""
    needed = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
    console.width = max(console.width, needed)
    console.print(table)
