"""The commands `coursekit data make` and `coursekit data check`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import TextColumn, TimeRemainingColumn
from rich.table import Table

from coursekit.cli.shared import counting_bar
from coursekit.environ import HIDE_GPUS
from coursekit.imagenet.files import check_data
from coursekit.imagenet.make import PRESETS, make_data

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(epilog="Example: coursekit data make $SCRATCH/imagenet-small --preset small")
def data() -> None:
    """Generate synthetic data in ImageNet's format, or check a folder with data in this format."""
    # Reading and writing need no GPU, but TensorFlow would take all the memory of every GPU that it sees.
    os.environ.update(HIDE_GPUS)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@data.command(epilog="Example: coursekit data make $SCRATCH/imagenet-small --preset small")
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--preset", type=click.Choice(list(PRESETS)), default="tiny", show_default=True, help="Amount of data.")
def make(folder: Path, preset: str) -> None:
    """Generate synthetic images as TFRecord files in DIR.

    Files have the same names, and records the same keys, as in ImageNet. The presets are:

    \b
    tiny    1224 images of  8 classes, at most 128 px, about 6 MB
    small  11000 images of 50 classes, at most 160 px, about 80 MB
    bench   4608 images of 50 classes, at most 500 px, about 500 MB

    The same preset produces the same bytes on every machine.
    If the command is interrupted, run it again: it continues where it stopped.
    """  # noqa: D301 - click reads \b as "keep these lines"
    with shown_progress("images") as progress:
        make_data(folder, preset, progress)
    click.echo(f"{PRESETS[preset].num_images} images are in {folder}.")


@data.command(epilog="Example: coursekit data check $DSDIR/imagenet --quick")
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--quick", is_flag=True, help="Check the lengths of all records, but read only a few records per file.")
def check(folder: Path, quick: bool) -> None:
    """Check the TFRecord files in DIR, which may be synthetic or the real ImageNet files.

    The report shows the number of files, the number of valid records, the range of labels, and the errors found.
    The checksums of each record are verified.
    Each image must have a valid JPEG header, and each label must be from 1 to 1000.
    Exit status: 1 if something is damaged or missing, else 0.
    """
    with shown_progress("files") as progress:
        reports = check_data(folder, quick=quick, progress=progress)
    table = Table("split", "files", "good records", "labels", box=box.SIMPLE_HEAD)
    for report in reports:
        labels = f"{min(report.labels)} to {max(report.labels)}" if report.labels else "-"
        table.add_row(report.name, str(report.num_files), str(report.num_good), labels)
    Console().print(table)
    for report in reports:
        for what, places in report.faults.items():
            first = f"{places[0]}: " if places else ""
            click.echo(f"{first}{what}" + (f" (the first of {len(places)} files)" if len(places) > 1 else ""))
    sys.exit(any(report.faults for report in reports))


@contextmanager
def shown_progress(unit: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on a terminal, and yield the function that updates it."""
    with counting_bar(Console(stderr=True), TextColumn(unit), TimeRemainingColumn()) as bar:
        task = bar.add_task("starting TensorFlow", total=None)
        yield lambda name, num_done, num_all: bar.update(
            task, description=escape(name), completed=num_done, total=num_all
        )
