"""`coursekit course`: one event from roster to feedback, in a folder where nbgrader's own commands work too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from coursekit.errors import CourseKitError
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root

if TYPE_CHECKING:
    from coursekit.course.folder import Course

FOLDER = click.option(
    "--course",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The course folder.  [default: course/]",
)
LABS = click.argument("names", metavar="[LAB]...", nargs=-1)
ONLY = click.option("--only", "students", metavar="STUDENT", multiple=True, help="Only this student; may be repeated.")
FORMAT_NAMES = ("csv", "moodle", "canvas", "blackboard")


@click.group(epilog="Example: coursekit course release 01 02")
def course() -> None:
    """Release labs, collect hand-ins, give feedback and export grades, on top of nbgrader."""


@course.command(epilog="Example: coursekit course init --name dl-2026 --roster roster.csv")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", help="nbgrader's course id.  [default: course]")
@click.option("--roster", type=click.Path(dir_okay=False, path_type=Path), help="CSV file with the students to add.")
@click.option("--database", metavar="URL", help="postgresql://user@host/database  [default: a SQLite file]")
def init(folder: Path | None, name: str | None, roster: Path | None, database: str | None) -> None:
    """Make the course folder DIR (course/ by default): settings, roster, gradebook, exchange.

    A second call adds what is missing and the students that are new; it changes nothing and drops nobody.
    """
    root = find_root()
    from coursekit.course.init import init_course  # noqa: PLC0415 - nbgrader takes a second to import

    made = init_course(root, folder or root / "course", name, roster, database)
    for file in made.written:
        print(f"written  {made.course.folder / file}")
    print(f"{made.num_students} students, {len(made.new_students)} of them new; {made.num_labs} labs")
    if made.differing:
        print(f"known already, and kept as they are in roster.csv: {', '.join(made.differing)}")


@course.command(epilog="Example: coursekit course release 01 02")
@click.argument("names", metavar="LAB...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Give out a new version of a lab that was released before.")
@FOLDER
def release(names: tuple[str, ...], folder: Path | None, *, force: bool) -> None:
    """Let students fetch labs: what lies in labs/, after a check that it is fresh."""
    found = _find(folder)
    from coursekit.course.release import release as release_lab  # noqa: PLC0415 - as above

    for lab in select_labs(found.root, names):
        print(f"{release_lab(found, lab, force=force)}: {lab.name}", flush=True)


@course.command(epilog="Example: coursekit course collect 02")
@LABS
@click.option("--late", is_flag=True, help="Take the newest version even if it is late and another is in time.")
@FOLDER
def collect(names: tuple[str, ...], folder: Path | None, *, late: bool) -> None:
    """Collect hand-ins of labs, or of all: every version is kept, and the best one is graded."""
    found = _find(folder)
    from coursekit.course.collect import collect as collect_lab  # noqa: PLC0415 - as above

    for lab in select_labs(found.root, names):
        collected, strays = collect_lab(found, lab.name, late=late)
        changed = sum(entry.changed for entry in collected)
        print(f"{lab.name}: {len(collected)} hand-ins, {changed} new or changed", flush=True)
        for entry in collected:
            for line in entry.lines:
                print(f"  {entry.student}: {line}")
        for line in strays:
            print(f"  ! {line}")


@course.command(epilog="Example: coursekit course feedback 02 --only ada")
@LABS
@ONLY
@FOLDER
def feedback(names: tuple[str, ...], students: tuple[str, ...], folder: Path | None) -> None:
    """Make the pages of feedback for graded labs, and release them through the exchange."""
    found = _find(folder)
    from coursekit.course.feedback import give_feedback, graded_students  # noqa: PLC0415 - as above

    num_pages = 0
    for lab in select_labs(found.root, names):
        graded = graded_students(found, lab.name, students)
        for i, student in enumerate(graded, 1):
            page, goes_back = give_feedback(found, lab.name, student)
            why = "" if goes_back else f" (not through the exchange, as it did not come that way: {page})"
            print(f"{lab.name}: {i}/{len(graded)} {student}{why}", flush=True)
        num_pages += len(graded)
    if not num_pages:
        raise CourseKitError("nothing of this was graded yet: run `coursekit grade` first.")


@course.command(epilog="Example: coursekit course export --format moodle -o grades.csv")
@click.option("--format", "name", type=click.Choice(FORMAT_NAMES), default="csv", show_default=True, help="Platform.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="[default: course/grades-….csv]")
@FOLDER
def export(name: str, output: Path | None, folder: Path | None) -> None:
    """Write the points of all students as a table for a learning platform."""
    found = _find(folder)
    from coursekit.course.export import FORMATS, read_grades  # noqa: PLC0415 - as above
    from coursekit.files import write_file  # noqa: PLC0415 - as above

    table = read_grades(found)
    path = output or found.folder / f"grades-{name}.csv"
    write_file(path, FORMATS[name](table).encode())
    print(f"{len(table.students)} students, {len(table.max_points)} labs: {path}")
    waiting = sum(student.num_waiting for student in table.students)
    if waiting:
        print(f"{waiting} hand-ins still wait for manual points: grade them in nbgrader's formgrader and export again")


@course.command(epilog="Example: coursekit course status")
@FOLDER
def status(folder: Path | None) -> None:
    """Show where each lab stands."""
    found = _find(folder)
    from coursekit.course.status import course_status  # noqa: PLC0415 - as above
    from coursekit.grading.submission.times import shown  # noqa: PLC0415 - as above

    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for title in ("lab", "released", "due", "handed in", "graded", "to do by hand", "feedback", "mean"):
        table.add_column(title, no_wrap=title != "due" and " by " not in title)
    for lab in course_status(found):
        mean = "" if lab.mean_points is None else f"{lab.mean_points:.1f} / {lab.max_points:g}"
        counts = (lab.num_collected, lab.num_graded, lab.num_waiting, lab.num_feedback)
        due = shown(lab.due).replace(":00 UTC", " UTC") if lab.due else ""
        table.add_row(lab.lab, "yes" if lab.is_released else "", due, *map(str, counts), mean)
    Console().print(table)


def _find(folder: Path | None) -> Course:
    from coursekit.course.folder import find_course  # noqa: PLC0415 - as above

    return find_course(find_root(), folder)
