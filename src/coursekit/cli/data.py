"""The commands `coursekit data make` and `coursekit data check`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import TextColumn, TimeRemainingColumn
from rich.table import Table

from coursekit.cli.shared import counting_bar
from coursekit.imagenet.check import Damage, SplitReport, check_data
from coursekit.imagenet.make import PRESETS, Preset, make_data
from coursekit.ranks.environ import HIDE_GPUS

NUM_LINES = 10
NUM_DAMAGES_SHOWN = 20
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(epilog="Example: coursekit data make $SCRATCH/imagenet-small --preset small")
def data() -> None:
    """Generate synthetic data in ImageNet's format, or check a folder with such data."""
    # Reading and writing need no GPU, and TensorFlow would take all of its memory.
    os.environ.update(HIDE_GPUS)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


MAKE_HELP = """Generate synthetic images as TFRecord files in DIR.

Files and records have the same names and keys as those of ImageNet. The presets are:

\b
{presets}

The same preset gives the same bytes on every machine.
After an interruption, the same command continues where it ended.
"""


def describe(preset: Preset) -> str:
    """Return a line of help for a preset."""
    side = max(max(size) for size in preset.sizes)
    return (
        f"{preset.name:5}  {preset.num_images:5} images of {preset.num_classes:2} classes, at most {side} px, "
        f"about {preset.num_bytes / 1e6:.0f} MB"
    )


@data.command(
    help=MAKE_HELP.format(presets="\n".join(describe(preset) for preset in PRESETS.values())),
    epilog="Example: coursekit data make $SCRATCH/imagenet-small --preset small",
)
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--preset", type=click.Choice(list(PRESETS)), default="tiny", show_default=True, help="Amount of data.")
def make(folder: Path, preset: str) -> None:
    """Make the data of a preset."""
    with shown_progress("images") as progress:
        make_data(folder, preset, progress)
    click.echo(f"{PRESETS[preset].num_images} images are in {folder}.")


@data.command(epilog="Example: coursekit data check $DSDIR/imagenet --quick")
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--quick", is_flag=True, help="Check the lengths of all records, but read only some of them.")
def check(folder: Path, quick: bool) -> None:
    """Check the TFRecord files in DIR, synthetic ones or ImageNet's.

    The report has files, records, labels and damage.
    Every record is read with its checksums. Its image must begin as a JPEG, and its label must be from 1 to 1000.
    If there is a manifest, the files must match it.
    Exit status: 1 when something is damaged or missing, else 0.
    """
    with shown_progress("files") as progress:
        reports = check_data(folder, quick=quick, progress=progress)
    Console().print(table(reports))
    show_damages([one for report in reports for one in report.damages])
    for report in reports:
        if report.missing:
            click.echo(report.missing)
    sys.exit(any(report.missing or report.damages for report in reports))


def table(reports: Sequence[SplitReport]) -> Table:
    """Return the splits as a table."""
    result = Table(box=box.SIMPLE_HEAD)
    result.add_column("split", no_wrap=True)
    for heading in ("files", "records", "labels", "classes", "damaged"):
        result.add_column(heading, justify="right", no_wrap=True)
    for report in reports:
        labels = f"{min(report.labels)} to {max(report.labels)}" if report.labels else "-"
        classes = str(len(report.labels)) if report.labels else "-"
        damaged = f"[bold red]{len(report.damages)}[/]" if report.damages else "0"
        result.add_row(report.name, str(report.num_files), str(report.num_records), labels, classes, damaged)
    return result


def show_damages(damages: Sequence[Damage]) -> None:
    """Print a line for each kind of fault, and for each damage that is of no kind, of many the first."""
    alike: dict[object, list[Damage]] = {}
    for one in damages:
        alike.setdefault(one.kind or one, []).append(one)
    for first, *others in list(alike.values())[:NUM_DAMAGES_SHOWN]:
        place = first.file if first.record is None else f"{first.file}, record {first.record}"
        files = {one.file for one in (first, *others)}
        places = (
            f"{len(others) + 1} records of {len(files)} files" if first.record is not None else f"{len(files)} files"
        )
        click.echo(f"{place}: {first.what}" + (f" (the first of {places})" if others else ""))
    if len(alike) > NUM_DAMAGES_SHOWN:
        click.echo(f"and {len(alike) - NUM_DAMAGES_SHOWN} more")


@contextmanager
def shown_progress(unit: str) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows how far the work is: a bar on a terminal, some lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        num_said = 0

        def say(name: str, num_done: int, num_all: int) -> None:
            nonlocal num_said
            if num_done * NUM_LINES // num_all > num_said:
                num_said = num_done * NUM_LINES // num_all
                click.echo(f"{num_done} of {num_all} {unit}, last {name}", err=True)

        yield say
        return
    with counting_bar(console, TextColumn(unit), TimeRemainingColumn()) as bar:
        task = bar.add_task("starting TensorFlow", total=None)
        yield lambda name, num_done, num_all: bar.update(
            task, description=escape(name), completed=num_done, total=num_all
        )
