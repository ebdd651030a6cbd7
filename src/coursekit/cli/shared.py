"""Arguments and options that several commands share, a function that prints notes, and a progress bar."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coursekit.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn


LAB = click.argument("lab")
LABS = click.argument("names", metavar="[LAB]...", nargs=-1)
COURSE = click.option(
    "--course",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The course folder.  [default: course/]",
)
STUDENTS = click.option(
    "--student", "students", metavar="ID", multiple=True, help="Include only this student. May be repeated."
)
LATE = click.option(
    "--late", is_flag=True, help="Take the newest version, even if it is late and an earlier version was on time."
)
RANKS = click.option("--ranks", "num_ranks", type=int, metavar="N", help="Number of ranks, in labs that use ranks.")
PARAMETERS = click.option(
    "-p",
    "--parameter",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Set a parameter of the lab. May be repeated.",
)
SITE = click.option("--site", required=True, metavar="NAME", help="The machine; `coursekit sites` lists all machines.")
JSON_FILE = click.option(
    "--json",
    "json_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write the result as JSON.",
)
PARTITION = click.option("--partition", metavar="NAME", help="Partition.  [default: the machine's default partition]")


def print_notes(sentences: Iterable[object]) -> None:
    """Print notes for the instructor, each sentence on a separate line."""
    for sentence in sentences:
        print(printable(f"! {sentence}"))


def counting_bar(console: Console, *further: ProgressColumn) -> Progress:
    """Return a progress bar that shows the number of finished items and the total, and disappears at the end."""
    from rich import progress  # not at the top, because `coursekit hand-in` does not need it

    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn())
    return progress.Progress(*columns, *further, console=console, transient=True, disable=not console.is_terminal)
