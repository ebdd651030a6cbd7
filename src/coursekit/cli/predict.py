"""`coursekit predict`: predict how training scales to more nodes, from published speeds or your own."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from coursekit.cli.shared import LAB, PARAMETERS, PARTITION, SITE
from coursekit.errors import CourseKitError
from coursekit.framework import TORCH
from coursekit.labs.lab import select_labs
from coursekit.labs.run.plan import given_values, read_defaults
from coursekit.paths import find_root
from coursekit.scaling.forecast import NOISE_ELSEWHERE, Forecast, Training, forecast
from coursekit.scaling.machine import Gpu, Machine, Speed, find_gpu, find_speed, machine_of
from coursekit.scaling.memory import find_need, gpu_gb
from coursekit.scaling.networks import find_network
from coursekit.scaling.posterior import NOISE
from coursekit.scaling.sharding import WAYS
from coursekit.scaling.step import Settings
from coursekit.slurm.sites.load import load_site
from coursekit.slurm.sites.profile import Partition, Site
from coursekit.text import counted

MILLISECONDS = 1000
MINUTES_PER_HOUR = 60
WIDEST = 1000  # characters in a table
# Typical values for training at a computing centre; the labs' own defaults are for laptops.
DEFAULTS: dict[str, Any] = {
    "model": "ResNet50",
    "batch_size": 0,  # 0 means the batch size of the published speed
    "global_batch_size": 0,
    "precision": "float32",
    "compression": "none",
    "images_per_s": 0,  # measured on one GPU of that kind; 0 means the published speed
}
TORCH_DEFAULTS: dict[str, Any] = {**DEFAULTS, "sharding": "ddp"}
CHOICES = {
    "sharding": tuple(WAYS),
    "precision": ("float32", "mixed_float16", "mixed_bfloat16"),
    "compression": ("none", "fp16"),
}


@click.command(epilog="Example: coursekit predict 03 --site karolina --nodes 1,2,4,8 -p batch_size 128")
@LAB
@SITE
@PARTITION
@click.option("--nodes", default="1,2,4,8", show_default=True, metavar="N,N", help="Numbers of nodes to predict for.")
@click.option(
    "--measured",
    type=(click.IntRange(min=1), click.FloatRange(min=0, min_open=True)),
    multiple=True,
    metavar="NODES IMAGES_PER_S",
    help="Speed of your own run on that many nodes, in images/s of all GPUs together. May be repeated.",
)
@PARAMETERS
def predict(  # noqa: PLR0913  # the options of the command
    *,
    lab: str,
    site: str,
    partition: str | None,
    nodes: str,
    measured: tuple[tuple[int, float], ...],
    given: tuple[tuple[str, str], ...],
) -> None:
    """Predict how fast the training in LAB runs on several nodes, and what it costs.

    For each number of nodes, a table shows the speed with its uncertainty, the parts of a training step, and the cost.
    By default, the predictions are for ResNet50, and start from the speed published for the machine's GPU.
    A batch that does not fit into the memory of that GPU is rejected.

    The parameters are model, batch_size, global_batch_size (for strong scaling), precision, compression,
    and images_per_s, which is the speed of a single GPU in your own run.
    For PyTorch labs, there is also sharding (ddp, zero or fsdp). With all three, ranks exchange gradients as with
    Horovod; with zero and fsdp, they also send weights.
    Add --measured, which needs images_per_s, to get much better predictions for more nodes; docs/scaling.md says how
    much better.
    """
    root = find_root()
    chosen = select_labs(root, [lab])[0]
    name, is_torch = chosen.name, chosen.framework == TORCH
    if not is_torch and not {"model", "batch_size"} <= read_defaults(root / "labs" / name / f"{name}.ipynb").keys():
        raise CourseKitError(
            f"{name} trains no network with a known speed: predict lab 03 or 04.", "forecast.no-network"
        )
    profile = load_site(root, site)
    values = read_values(dict(given), TORCH_DEFAULTS if is_torch else DEFAULTS)
    if measured and not values["images_per_s"]:
        raise CourseKitError(
            "--measured is compared with a single GPU in the same training: give -p images_per_s, too.",
            "forecast.no-baseline",
        )
    plan = make_plan(profile, profile.partition(partition), values)
    rows = forecast(plan.training, plan.machine, _numbers(nodes), measured)
    last = rows[-1]
    table, console = _table(plan.title, rows), Console()
    # No cell may be cut off, even if the terminal is narrower than the table or there is no terminal.
    whole = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
    console.width = max(console.width, whole)
    console.print(table)
    click.echo("A step: computing, waiting for the slowest rank, exchanging gradients. An epoch: ImageNet, once.")
    click.echo(f"Speed: {plan.speed_from}.")
    if is_torch:
        gb = [WAYS[values["sharding"]].held_gb(plan.training.network, num_ranks) for num_ranks in (1, last.num_ranks)]
        held = f"{gb[0]:.3g} GB on 1 GPU, {gb[1]:.3g} GB on each of {last.num_ranks}"
        click.echo(
            f"Weights, gradients and Adam's state in FP32 with {values['sharding']}: {held}; activations come on top."
        )
    on_nodes = counted(last.num_nodes, "node")
    if last.num_nodes > 1 and all(num_nodes == 1 for num_nodes, _ in measured):
        # Speeds within a node say nothing about the links between nodes.
        low, high = (speed / last.images_per_s for speed in (last.low, last.high))
        band = f"expect {low:.2f} to {high:.2f} times that speed"
        click.echo(f"Beyond one node, nothing was measured here: on {on_nodes}, {band}.")
    click.echo(f"On {on_nodes}, a step is bound by {last.bound}.")


class Plan(NamedTuple):
    """A training run on a machine, with its title in the table and a sentence on the source of its speed."""

    title: str
    training: Training
    machine: Machine
    speed_from: str


def read_values(texts: Mapping[str, str], defaults: Mapping[str, Any] = DEFAULTS) -> dict[str, Any]:
    """Return the value of each parameter: the value that the user gave, or else the default.

    Raises:
        CourseKitError: a parameter does not affect the speed, or its value has the wrong type.
    """
    if unknown := texts.keys() - defaults.keys():
        raise CourseKitError(
            f"-p: predictions have no parameter {min(unknown)}: they have {', '.join(defaults)}.",
            "forecast.unknown-parameter",
        )
    values = {**defaults, **given_values(texts, defaults)}
    for name, allowed in CHOICES.items():
        if name in values and values[name] not in allowed:
            raise CourseKitError(
                f"-p: {name} must be one of {', '.join(allowed)}, not {values[name]!r}.", "forecast.bad-value"
            )
    return values


def make_plan(site: Site, partition: Partition, values: Mapping[str, Any]) -> Plan:
    """Return the plan for a prediction, made from the values that `read_values` returned.

    Raises:
        CourseKitError: the machine has no GPUs, or a speed, a bandwidth or the network is unknown.
    """
    if not partition.has_gpus:
        raise CourseKitError(
            f"{site.name} has no GPUs in its profile: predictions need nodes with GPUs.", "forecast.no-gpus"
        )
    gpu = find_gpu(partition.gpu)
    if not partition.fabric_gbit_per_s:
        raise CourseKitError(
            f"the bandwidth of a node of {site.name} is not known: "
            f"give fabric_gbit_per_s in slurm/sites/{site.name}.toml.",
            "forecast.no-fabric",
        )
    network = find_network(values["model"])
    speed = _find_speed(gpu, partition.gpu.partition(",")[0], values)
    batch_size, is_own = values["batch_size"] or speed.batch_size, bool(values["images_per_s"])
    need, gb = find_need(network.name, network.image_size, values["precision"]), gpu_gb(partition.gpu)
    largest_batch = need.largest_batch(gb) if need and gb else None
    if largest_batch is not None and is_own:  # the user has measured this batch, so it fits
        largest_batch = max(largest_batch, batch_size)
    speed_from = f"{speed.images_per_s:g} images/s on a GPU with batch {speed.batch_size}, {speed.software}"
    speed_from += f": {speed.source}" if speed.source else ""
    if batch_size != speed.batch_size or values["global_batch_size"]:
        speed_from += ". For other batches, the same time per image is assumed, which favours small ones"
        speed_from += ", and whether they fit into memory was not checked" if largest_batch is None else ""
    traffic = WAYS[values.get("sharding", "ddp")].traffic
    settings = Settings(traffic=traffic, bytes_per_number=2 if values["compression"] == "fp16" else 4)
    noise = NOISE if is_own else NOISE_ELSEWHERE
    training = Training(
        network, batch_size, speed.images_per_s, noise, values["global_batch_size"], settings, largest_batch
    )
    machine = machine_of(gpu, partition.num_gpus_per_node, partition.fabric_gbit_per_s)
    batch = f"{training.global_batch_size} images in a step of all GPUs"
    if not training.global_batch_size:
        batch = f"batch {batch_size} per GPU"
    title = f"{network.name} on {site.title.partition(',')[0]}, {network.image_size} pixels, {batch}"
    return Plan(f"{title}, {values['precision']}", training, machine, speed_from)


def _find_speed(gpu: Gpu, gpu_name: str, values: Mapping[str, Any]) -> Speed:
    """Return the speed of one GPU: the user's own speed or, if none was given, a published speed."""
    model, batch_size, precision = (values[name] for name in ("model", "batch_size", "precision"))
    if values["images_per_s"]:
        if not batch_size:
            raise CourseKitError("images_per_s depends on the batch size: give batch_size, too.", "forecast.no-batch")
        return Speed(model, batch_size, values["images_per_s"], "as you gave it", source="")
    speed = find_speed(gpu, model, batch_size, precision)
    if not speed:
        raise CourseKitError(
            f"this course knows no published speed at which one {gpu_name} trains {model} in {precision}: "
            "run the lab there on one GPU and give its speed with -p images_per_s.",
            "forecast.no-speed",
        )
    return speed


def _numbers(text: str) -> list[int]:
    """Return the numbers of nodes in a text such as "1,2,4", sorted and without duplicates."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise CourseKitError(
            f"--nodes must be whole numbers above 0 separated by commas, not {text!r}.", "forecast.nodes"
        )
    return sorted({int(part) for part in parts})


def _table(title: str, rows: Sequence[Forecast]) -> Table:
    """Return a table with a row for each number of nodes; a step's time is shown as compute + waiting + exchange."""
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
