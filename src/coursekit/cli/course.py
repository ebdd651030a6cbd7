"""`coursekit course`: one event from roster to feedback, in a folder where nbgrader's own commands work too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Callable

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from coursekit.errors import CourseKitError
from coursekit.labs.lab import select_labs
from coursekit.paths import find_root
from coursekit.text import counted

if TYPE_CHECKING:
    from coursekit.course.folder import Course
    from coursekit.course.status import LabStatus

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
    students = counted(made.num_students, "student")
    print(f"{students}, {len(made.new_students)} of them new; {counted(made.num_labs, 'lab')}")
    for line in made.guesses:
        print(f"taken from {roster}: {line}")
    if made.differing:
        print(f"known already, and kept as they are in roster.csv: {', '.join(made.differing)}")


@course.command(epilog="Example: coursekit course release 01 02")
@click.argument("names", metavar="LAB...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Give out a new version of a lab that was released before.")
@click.option(
    "--undo", "undoes", is_flag=True, help="Take labs out of the exchange again; who has fetched them keeps them."
)
@FOLDER
def release(names: tuple[str, ...], folder: Path | None, *, force: bool, undoes: bool) -> None:
    """Let students fetch labs: what lies in labs/, after a check that it is fresh."""
    found = _find(folder)
    from coursekit.course.release import release as release_lab  # noqa: PLC0415 - as above
    from coursekit.course.release import take_back  # noqa: PLC0415 - as above
    from coursekit.grading.submission.times import shown  # noqa: PLC0415 - as above

    for lab in select_labs(found.root, names):
        if undoes:
            take_back(found, lab.name)
            print(f"taken back: {lab.name}; who has fetched it keeps it")
            continue
        due = f", due {shown(date)}" if (date := found.due(lab.name)) else ""
        print(f"{release_lab(found, lab, force=force)}: {lab.name}{due}", flush=True)


@course.command(epilog="Example: coursekit course extend 02 --days 2 --only ada")
@click.argument("name", metavar="LAB")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="So many days after the due date of now.")
@click.option("--until", metavar="DATE", help='A date and time, such as "2026-12-01 18:00".')
@ONLY
@FOLDER
def extend(name: str, days: float | None, until: str | None, students: tuple[str, ...], folder: Path | None) -> None:
    """Make LAB due later, for all or for single students; course.toml keeps it."""
    if (days is None) == (until is None):
        raise CourseKitError("say either --days N or --until DATE.")
    found = _find(folder)
    from coursekit.course.due import extend as extend_lab  # noqa: PLC0415 - as above
    from coursekit.course.due import sync_due_dates  # noqa: PLC0415 - as above
    from coursekit.grading.submission.times import shown  # noqa: PLC0415 - as above

    (lab,) = select_labs(found.root, [name])
    for student, due in extend_lab(found, lab.name, students, until=until or "", days=days or 0):
        print(f"{lab.name}, {student or 'all'}: due {shown(due)}")
    changed = _find(folder)
    with changed.gradebook() as gradebook:
        sync_due_dates(changed, gradebook)
    print(f"`coursekit course collect {name}` and `coursekit grade {name}` take it into account")


@course.command(epilog="Example: coursekit course settings")
@FOLDER
def settings(folder: Path | None) -> None:
    """Show what course.toml decides, and check it; exit status 1 when something in it is doubtful."""
    found = _find(folder)
    from coursekit.course.due import check_due_dates, due_lines  # noqa: PLC0415 - as above

    print(f"{found.folder / 'course.toml'}")
    print(f"name: {found.settings.name}")
    print(f"grades: {found.settings.database or 'gradebook.db in this folder'}")
    print(f"late hand-ins cost: {found.settings.late_penalty}")
    for line in due_lines(found):
        print(line)
    doubts = check_due_dates(found)
    for line in doubts:
        print(f"! {line}")
    sys.exit(1 if doubts else 0)


@course.command(epilog="Example: coursekit course collect 02")
@LABS
@click.option("--late", is_flag=True, help="Take the newest version even if it is late and another is in time.")
@click.option(
    "--undo", "undoes", is_flag=True, help="Take back the last collecting, of whatever labs, or `coursekit take`."
)
@FOLDER
def collect(names: tuple[str, ...], folder: Path | None, *, late: bool, undoes: bool) -> None:
    """Collect hand-ins of labs, or of all, from the exchange; every version is kept.

    Of all versions the newest one that can be graded counts, and a late one only if none came in time.
    """
    found = _find(folder)
    from coursekit.course.collect import collect as collect_lab  # noqa: PLC0415 - as above
    from coursekit.course.undo import one_call, undo  # noqa: PLC0415 - as above

    if undoes and names:
        raise CourseKitError("--undo takes the last call back as a whole: name no lab.")
    if undoes:
        for lab_name, student in undo(found):
            print(f"taken back: {student}, {lab_name}")
        return
    with one_call(found):
        for lab in select_labs(found.root, names):
            collected, strays = collect_lab(found, lab.name, late=late)
            changed = sum(entry.changed for entry in collected)
            print(f"{lab.name}: {counted(len(collected), 'hand-in')}, {changed} new or changed", flush=True)
            for entry in collected:
                for line in entry.lines:
                    print(f"  {entry.student}: {line}")
            for line in strays:
                print(f"  ! {line}")


@course.command(epilog="Example: coursekit course feedback 02 --only ada")
@LABS
@ONLY
@click.option(
    "--folder",
    "into",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Put all pages there too, with addresses.csv: to be mailed.",
)
@FOLDER
def feedback(names: tuple[str, ...], students: tuple[str, ...], into: Path | None, folder: Path | None) -> None:
    """Make the pages of feedback for graded labs, and release them through the exchange."""
    found = _find(folder)
    from coursekit.course.feedback import give_feedback, graded_students, write_folder  # noqa: PLC0415 - as above

    pages: list[tuple[str, Path]] = []
    for lab in select_labs(found.root, names):
        graded = graded_students(found, lab.name, students)
        for i, student in enumerate(graded, 1):
            page, goes_back = give_feedback(found, lab.name, student)
            pages.append((student, page))
            why = "" if goes_back or into else f" (not through the exchange, as it did not come that way: {page})"
            print(f"{lab.name}: {i}/{len(graded)} {student}{why}", flush=True)
    if not pages:
        raise CourseKitError("nothing of this was graded yet: run `coursekit grade` first.")
    if into:
        write_folder(found, pages, into)
        print(f"{counted(len(pages), 'page')} and addresses.csv: {into}")


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
    print(f"{counted(len(table.students), 'student')}, {counted(len(table.max_points), 'lab')}: {path}")
    waiting = sum(student.num_waiting for student in table.students)
    if waiting:
        whose = counted(waiting, "hand-in")
        print(f"waiting for manual points: {whose}; grade by hand in nbgrader's formgrader, and export again")


@course.command(epilog="Example: coursekit course status")
@FOLDER
def status(folder: Path | None) -> None:
    """Show where each lab stands."""
    found = _find(folder)
    from coursekit.course.progress.members import find_strangers  # noqa: PLC0415 - as above
    from coursekit.course.status import course_status  # noqa: PLC0415 - as above

    labs = course_status(found)
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for title in ("", *(lab.lab for lab in labs)):
        table.add_column(title, no_wrap=not title)
    for title, value in STATUS_ROWS.items():
        table.add_row(title, *(str(value(lab)) for lab in labs))
    Console().print(table)
    if strangers := find_strangers(found):
        print(f"Not on the roster, and counted here all the same: {', '.join(strangers)}.")


# A column for each lab, as so many counts beside one another fit no terminal of 80 columns.
STATUS_ROWS: dict[str, Callable[[LabStatus], object]] = {
    "released": lambda lab: "yes" if lab.is_released else "",
    "due (UTC)": lambda lab: f"{lab.due:%Y-%m-%d\n%H:%M}" if lab.due else "",
    "handed in": lambda lab: lab.num_collected,
    "  late": lambda lab: lab.num_late,
    "  damaged": lambda lab: lab.num_damaged,
    "missing": lambda lab: lab.num_missing,
    "graded": lambda lab: lab.num_graded,
    "needs a run": lambda lab: lab.num_to_run,
    "to do by hand": lambda lab: lab.num_waiting,
    "feedback": lambda lab: lab.num_feedback,
    "mean points": lambda lab: "" if lab.mean_points is None else f"{lab.mean_points:.1f} / {lab.max_points:g}",
}


def _find(folder: Path | None) -> Course:
    from coursekit.course.folder import find_course  # noqa: PLC0415 - as above

    return find_course(find_root(), folder)
