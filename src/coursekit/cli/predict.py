"""`coursekit predict`: what a training will do on more nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from coursekit.scaling.forecast import Forecast, forecast, would_help
from coursekit.slurm.jobs.predict import make_plan, read_values, too_many_nodes
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
@click.option(
    "--from",
    "measured",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder in jobs/ of your own job on one node.",
)
def predict(  # noqa: PLR0913, PLR0917  # click hands the options over by name
    lab: str,
    site: str,
    partition: str | None,
    nodes: str,
    given: tuple[tuple[str, str], ...],
    measured: Path | None,
) -> None:
    """Predict how fast the training of LAB runs on several nodes, and what it costs.

    For each number of nodes, the table has the speed with its uncertainty, the parts of a training step, and the cost.
    By default the network is ResNet50, at the speed that was published for the machine's GPU.
    With --from, the speed is that of your own job on one node.

    Parameters of the lab: model, image_size, batch_size, global_batch_size (for strong scaling), precision, compression
    and num_groups (here 0 by default).
    Further parameters: backward_passes_per_step is the number of batches whose gradients are added up before an
    allreduce; input_images_per_s is the speed of the input pipeline of one rank.
    """
    console = Console()
    root = find_root()
    name = select_labs(root, [lab])[0].name
    if not {"model", "batch_size"} <= read_defaults(root / "labs" / name / f"{name}.ipynb").keys():
        raise CourseKitError(f"{name} trains no network whose speed is known: predict lab 03 or 04.")
    profile = load_site(root, site)
    kind = profile.kind(partition)
    plan = make_plan(profile, kind, read_values(dict(given)), measured)
    rows = forecast(plan.training, plan.machine, _numbers(nodes))
    print_whole(console, _table(plan.title, rows))
    images = ", waiting for images" if any(row.step.starving_s for row in rows) else ""
    console.print(
        f"A step: computing, waiting for the slowest rank, the gradients' way{images}. An epoch: ImageNet.",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"Speed: {plan.speed_from}.", soft_wrap=True, markup=False, highlight=False)
    beyond = too_many_nodes(profile, kind, rows[-1].num_nodes)
    if beyond:
        console.print(beyond, soft_wrap=True, markup=False, highlight=False)
    last = rows[-1]
    if last.num_nodes > 1:
        console.print(_not_measured(last), highlight=False, soft_wrap=True)
    console.print(f"On {counted(last.num_nodes, 'node')}, a step is bound by {last.bound}.", highlight=False)
    for change, gain in would_help(plan.training, plan.machine, last.num_nodes):
        console.print(f"- {change}: {gain - 1:+.0%}", highlight=False)


def _numbers(text: str) -> list[int]:
    """Return numbers of nodes from "1,2,4"."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise CourseKitError(f"--nodes must be whole numbers above 0 with commas between them, not {text!r}.")
    return sorted({int(part) for part in parts})


def _not_measured(row: Forecast) -> str:
    """Say how wide the band is: published speeds and one's own job on one node tell nothing of the links between."""
    low, high = (speed / row.images_per_s for speed in (row.low, row.high))
    nodes = counted(row.num_nodes, "node")
    return f"Beyond one node nothing is measured here: on {nodes}, expect {low:.2f} to {high:.2f} times that speed."


def _table(title: str, rows: Sequence[Forecast]) -> Table:
    """Return a row for each number of nodes; a step is the sum of computing, the slowest rank and the gradients."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("nodes", "GPUs", "images/s", "9 of 10", "efficiency", "step, ms", "epoch, min", "GPU h"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        parts = [row.step.compute_s, row.step.waiting_s, row.step.exposed_s]
        parts += [row.step.starving_s] if row.step.starving_s else []
        table.add_row(
            str(row.num_nodes), str(row.num_ranks), f"{row.images_per_s:.0f}", f"{row.low:.0f}-{row.high:.0f}",
            f"{row.efficiency:.0%}", "+".join(f"{MILLISECONDS * seconds:.0f}" for seconds in parts),
            f"{MINUTES_PER_HOUR * row.epoch_h:.3g}", f"{row.gpu_hours:.3g}",
        )  # fmt: skip
    return table


def print_whole(console: Console, table: Table) -> None:
    """Print a table without cutting its cells, also where a terminal is narrower, or where there is none."""
    needed = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
    width, console.width = console.width, max(console.width, needed)
    console.print(table)
    console.width = width
