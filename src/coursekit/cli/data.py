"""The commands `coursekit data make` and `coursekit data check`."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from coursekit.imagenet.check import check_data
from coursekit.imagenet.make import make_data
from coursekit.imagenet.presets import PRESETS
from coursekit.ranks.environ import HIDE_GPUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coursekit.imagenet.check import Damage, SplitReport
    from coursekit.imagenet.presets import Preset

NUM_LINES = 10
NUM_DAMAGES_SHOWN = 20
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(epilog="Example: coursekit data make $SCRATCH/imagenet-small --preset small")
def data() -> None:
    """Make data in ImageNet's form, or check a folder of it."""
    # Reading and writing need no GPU, and TensorFlow would take all of its memory.
    os.environ.update(HIDE_GPUS)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


MAKE_HELP = """Make synthetic images as TFRecord files in DIR, with the names and keys of ImageNet's.

\b
{presets}

The same preset gives the same bytes everywhere.
When it was broken off, the same command goes on where it ended.
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
@click.option("--preset", type=click.Choice(list(PRESETS)), default="tiny", show_default=True, help="How much.")
def make(folder: Path, preset: str) -> None:
    """Make the data of a preset."""
    with shown_progress("images") as progress:
        make_data(folder, preset, progress)
    click.echo(f"{PRESETS[preset].num_images} images are in {folder}.")


@data.command(epilog="Example: coursekit data check $DSDIR/imagenet --quick")
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--quick", is_flag=True, help="Follow the headers of the records only, without reading the data.")
def check(folder: Path, quick: bool) -> None:
    """Check the TFRecord files in DIR, made or a centre's: files, records, labels, and what is damaged where.

    Every record is read with its checksums, its image must begin as a JPEG and its label be from 1 to 1000.
    When there is a manifest, the files must be as it states.
    The exit status is 1 when something is damaged or missing.
    """
    with shown_progress("files") as progress:
        reports = check_data(folder, quick=quick, progress=progress)
    Console().print(table(reports))
    for report in reports:
        if report.missing:
            click.echo(report.missing)
        show_damages(report.damages)
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
    """Print a line for each damage, of many the first."""
    for one in damages[:NUM_DAMAGES_SHOWN]:
        place = one.file if one.offset is None else f"{one.file}, byte {one.offset}"
        click.echo(f"{place}: {one.what}")
    if len(damages) > NUM_DAMAGES_SHOWN:
        click.echo(f"and {len(damages) - NUM_DAMAGES_SHOWN} more")


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
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("starting TensorFlow", total=None)
        yield lambda name, num_done, num_all: bar.update(
            task, description=escape(name), completed=num_done, total=num_all
        )
