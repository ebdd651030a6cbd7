"""`coursekit take`: take the files that students sent by e-mail or through a learning platform."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from coursekit.cli.shared import COURSE, LATE
from coursekit.course.folder import find_course
from coursekit.course.hand_in.take import NOT_TAKEN, Taken, take_all
from coursekit.errors import CourseKitError
from coursekit.paths import find_root
from coursekit.text import printable


@click.command(epilog="Example: coursekit take ~/Downloads/lab-02")
@click.argument("source", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@LATE
@COURSE
def take(source: Path, folder: Path | None, *, late: bool) -> None:
    """Import hand-ins that came by e-mail or through a learning platform.

    DIR is the folder with the downloaded files. They may have any name, and there may be a folder for each student.
    The command imports the files of `coursekit hand-in`, and plain notebooks.
    Every version is kept, and a file that was imported before changes nothing.
    Of all versions the newest one that can be graded counts, and a late one only if none came in time.
    Exit status: 1 when a file was not imported.
    """
    root = find_root()
    course = find_course(root, folder)
    try:
        taken, settled = take_all(course, source, late=late)
    except OSError as error:
        where, why = error.filename or course.folder, error.strerror or type(error).__name__
        raise CourseKitError(f"{where}: {why}: fix that, and call again; what was taken until then is kept.") from None
    console = Console(highlight=False)
    if taken:
        console.print(_table(taken))
    for one in taken:
        for line in one.lines:
            _say(console, f"{one.file}: {line}", is_bad=True)
    for entry in settled:
        for line in entry.lines:
            _say(console, f"{entry.student}, {entry.lab}: {line}")
    num_left = sum(one.outcome == NOT_TAKEN for one in taken)
    num_changed = sum(entry.changed for entry in settled)
    print(f"files: {len(taken)}, not taken: {num_left}; new or changed, to be graded: {num_changed}")
    sys.exit(1 if num_left else 0)


def _table(taken: Sequence[Taken]) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("file", overflow="fold")
    for title in ("student", "lab", "packed (UTC)", "written (UTC)", "outcome"):
        table.add_column(title, no_wrap=True, overflow="fold")
    for one in taken:
        words = (one.file, one.student, one.lab[:2], _shown(one.packed), _shown(one.written), one.outcome)
        table.add_row(*(Text(printable(word)) for word in words))
    return table


def _shown(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def _say(console: Console, line: str, *, is_bad: bool = False) -> None:
    console.print(Text(printable(f"  {'! ' if is_bad else ''}{line}")), soft_wrap=True)
