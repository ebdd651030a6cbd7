"""`coursekit course`: run a course, from roster to feedback; nbgrader's commands also work in the course folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console

from coursekit.cli.shared import COURSE, LABS, LATE, STUDENTS, counting_bar, print_notes
from coursekit.course.collect import collect as collect_lab
from coursekit.course.export import FORMATS, read_grades
from coursekit.course.export_answers import write_answers
from coursekit.course.folder import find_course
from coursekit.course.follow_settings import follow
from coursekit.course.init import init_course
from coursekit.course.release import give_all, graded_students, prepare_release
from coursekit.course.status.class_status import read_class
from coursekit.course.status.report import print_class, write_page
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.labs.lab import select_labs
from coursekit.labs.needs import lacking
from coursekit.paths import find_root
from coursekit.text import counted, first_few
from coursekit.times import shown

FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(epilog="Example: coursekit course release 01 02")
def course() -> None:
    """Create a course, release labs, collect hand-ins, give feedback and export points.

    The course folder is an nbgrader course, so nbgrader's own commands also work there.
    """


@course.command(epilog="Example: coursekit course init --name dl-2026 --roster roster.csv")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", metavar="NAME", help="nbgrader's course id.  [default: course]")
@click.option("--roster", metavar="FILE", type=FILE, help="CSV file with the students to add.")
@click.option(
    "--update", is_flag=True, help="With --roster: also update the entries of students who are already on the roster."
)
def init(folder: Path | None, name: str | None, roster: Path | None, *, update: bool) -> None:
    """Create the course folder DIR.

    DIR is course/ by default. It will hold the settings, the roster (roster.csv), the gradebook and the exchange.
    If you run the command again, it adds missing files and new students, but does not change existing entries.
    Instead, it reports where the roster differs from FILE; with --update, it corrects the roster to match FILE.
    Each call updates the gradebook to match the roster.
    """
    if update and not roster:
        raise click.UsageError("--update needs --roster, which names the file with the corrections.")
    root = find_root()
    made = init_course(root, folder or root / "course", name, roster, update=update)
    for file in made.written:
        print(f"written  {made.course.folder / file}")
    print(f"{counted(made.num_students, 'student')}, {len(made.new_students)} of them new")
    print_notes(made.notes)


@course.command(epilog="Example: coursekit course release 01 02")
@click.argument("names", metavar="LAB...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Release a new version of a lab that was released before.")
@COURSE
def release(names: tuple[str, ...], folder: Path | None, *, force: bool) -> None:
    """Release labs to the students.

    The command first checks that labs/ is up to date.
    """
    course = find_course(find_root(), folder)
    for prepared in [prepare_release(course, lab, force=force) for lab in select_labs(course.root, names)]:
        lab = prepared.lab
        due = f", due {shown(date)}" if (date := course.due(lab.name)) else ""
        print(f"{prepared.give()}: {lab.name}{due}", flush=True)
        if prepared.is_other and (num_graded := len(graded_students(course, lab.name))):
            before = counted(num_graded, "hand-in")
            print(f"  graded with the old version: {before}; `coursekit grade {lab.name[:2]}` regrades with this one")
        if sentence := lacking(lab):
            print(sentence)
    print_notes(follow(course))


@course.command(epilog="Example: coursekit course collect 02")
@LABS
@LATE
@COURSE
def collect(names: tuple[str, ...], folder: Path | None, *, late: bool) -> None:
    """Collect the hand-ins from the exchange.

    Without LAB, the hand-ins of all labs are collected. Every version is kept.
    The newest version that can be graded counts; a late version counts only if no version was on time.
    If the command reports that a hand-in is still being copied, run the command again half a minute later.
    """
    course = find_course(find_root(), folder)
    for lab in select_labs(course.root, names):
        collected, strays = collect_lab(course, lab.name, late=late)
        changed = sum(entry.changed for entry in collected)
        print(f"{lab.name}: {counted(len(collected), 'hand-in')}, {changed} new or changed", flush=True)
        for entry in collected:
            for line in entry.lines:
                print(f"  {entry.student}: {line}")
        for line in strays:
            print(f"  ! {line}")
    print_notes(follow(course))


@course.command(epilog="Example: coursekit course feedback 02 --student ada")
@LABS
@STUDENTS
@COURSE
def feedback(names: tuple[str, ...], students: tuple[str, ...], folder: Path | None) -> None:
    """Generate and release the feedback pages.

    The pages are released through the exchange, and kept as feedback/STUDENT/LAB/LAB.html in the course folder.
    A page is generated again only if its content has changed.
    Without LAB, pages are generated for all labs that have been graded.
    """
    course = find_course(find_root(), folder)
    console = Console()
    num_pages = 0
    for lab in select_labs(course.root, names):
        graded = graded_students(course, lab.name, students)
        with counting_bar(console) as progress:
            task = progress.add_task(lab.name, total=len(graded))
            made = []
            for one in give_all(course, lab.name, graded):
                made.append(one)
                progress.advance(task)
        if made:
            print(f"{lab.name}: {counted(len(made), 'page')}, {sum(one.is_new for one in made)} of them new or changed")
        if mailed := [one.student for one in made if not one.goes_back]:
            where = course.folder / "feedback" / "STUDENT" / lab.name
            print(f"  not released, because they did not use the exchange: {first_few(mailed)}; their pages: {where}")
        num_pages += len(made)
    if not num_pages:
        raise CourseKitError("none of this has been graded yet: run `coursekit grade` first.", "feedback.none-graded")


@course.command(epilog="Example: coursekit course export --format moodle -o grades.csv")
@click.option("--format", "name", type=click.Choice(tuple(FORMATS)), default="csv", show_default=True, help="Format.")
@click.option(
    *("-o", "--output"),
    metavar="FILE",
    type=FILE,
    help="File to write.  [default: grades-FORMAT.csv in the course folder]",
)
@COURSE
def export(name: str, output: Path | None, folder: Path | None) -> None:
    """Export the points of all students as a table that learning platforms can import."""
    course = find_course(find_root(), folder)
    table = read_grades(course)
    path = output or course.folder / f"grades-{name}.csv"
    # Spreadsheet programs recognise UTF-8 by the byte-order mark at the beginning of the file.
    with _writing(path, "-o"):
        write_file(path, FORMATS[name](table).encode("utf-8-sig" if name == "csv" else "utf-8"))
    print(f"{counted(len(table.students), 'student')}, {counted(len(table.max_points), 'lab')}: {path}")
    if table.left_out:
        print_notes([f"not on the roster, and left out: {first_few(table.left_out)} [export.left-out]"])
    if waiting := sum(student.num_waiting for student in table.students):
        whose = counted(waiting, "hand-in")
        print(f"waiting for manual points: {whose}; grade them in nbgrader's formgrader, and export again")


@course.command(epilog="Example: coursekit course answers 02")
@LABS
@COURSE
def answers(names: tuple[str, ...], folder: Path | None) -> None:
    """Write all students' answers as plain files, so that you can compare them.

    The files are answers/LAB/STUDENT.py in the course folder; answers/given/LAB holds the code that all students got.
    The instructor's guide explains how to use copydetect, which shows similar answers side by side for you to judge.
    """
    course = find_course(find_root(), folder)
    for lab in select_labs(course.root, names or [path.name for path in (course.folder / "release").glob("[!.]*")]):
        place, num_files = write_answers(course, lab)
        print(f"{lab.name}: {counted(num_files, 'file')}: {place}")


@course.command(epilog="Example: coursekit course status 02 --html class.html")
@LABS
@click.option("--html", "page", metavar="FILE", type=FILE, help="Also write the result as an HTML page.")
@click.option("--anonymous", is_flag=True, help="Leave out the students and their messages, for use in class.")
@COURSE
def status(names: tuple[str, ...], page: Path | None, folder: Path | None, *, anonymous: bool) -> None:
    """Show how far the class has got, and what to explain again.

    Without LAB, the result covers all labs that were released.
    The table shows counts and points for the students on the roster, based on the hand-ins that were collected.
    Problems that need attention are listed at the end.
    """
    course = find_course(find_root(), folder)
    seen, console = read_class(course, select_labs(course.root, names)), Console()
    print_class(seen, console, anonymous=anonymous)
    if page:
        with _writing(page, "--html"):
            write_page(page, seen, datetime.now().astimezone(), anonymous=anonymous)
        console.print(f"page: {page}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _writing(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CourseKitError(
            f"{path} cannot be written ({reason}): give another FILE for {option}.", "file.not-writable"
        ) from None
