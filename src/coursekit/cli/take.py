"""`coursekit take`: import the files that students sent by e-mail or through a learning platform."""

import sys
from pathlib import Path

import click

from coursekit.cli.shared import COURSE, LATE, print_notes
from coursekit.course.folder import find_course
from coursekit.course.follow_settings import follow
from coursekit.course.hand_in.import_ import NOT_IMPORTED, import_all
from coursekit.errors import CourseKitError
from coursekit.paths import find_root
from coursekit.text import printable
from coursekit.times import shown


@click.command(epilog="Example: coursekit take ~/Downloads/lab-02")
@click.argument("source", metavar="DIR", type=click.Path(exists=True, path_type=Path))
@LATE
@COURSE
def take(source: Path, folder: Path | None, *, late: bool) -> None:
    """Import hand-ins that came by e-mail or through a learning platform.

    DIR is the folder with the downloaded files, or a single file.
    The files may have any names, and there may be a folder for each student.
    The command imports files from `coursekit hand-in`, plain notebooks, and zip archives that contain such files, for
    example the archive of all submissions that you download from Moodle, Canvas or Blackboard.
    It recognises the student by the id or name in the path of the file, or else by the id in the file itself.
    Every version is kept; importing a file again changes nothing.
    The list of files shows when each file was packed, according to the file itself, and when it was last modified.
    A time in the future or long before the course does not count; the list then says which time counts.
    Exit status: 1 if a file was not imported, else 0.
    """
    course = find_course(find_root(), folder)
    try:
        imported, settled = import_all(course, source, late=late)
    except OSError as error:
        where, why = error.filename or course.folder, error.strerror or type(error).__name__
        raise CourseKitError(
            f"{where}: {why}: fix that, then run the command again; files imported so far are kept.", "import.stopped"
        ) from None
    for one in imported:
        packed = f"packed {shown(one.packed)}, " if one.packed else ""
        whose = " ".join(filter(None, (one.student, one.lab)))
        whose = f"{whose}, " if whose else ""
        print(printable(f"{one.outcome}: {one.file}: {whose}{packed}written {shown(one.written)}"))
        for line in one.lines:
            print(printable(f"  ! {line}"))
    for entry in settled:
        for line in entry.lines:
            print(printable(f"{entry.student}, {entry.lab}: {line}"))
    print_notes(follow(course))
    num_left = sum(one.outcome == NOT_IMPORTED for one in imported)
    num_changed = sum(entry.changed for entry in settled)
    print(f"files: {len(imported)}, not imported: {num_left}; new or changed, to be graded: {num_changed}")
    sys.exit(1 if num_left else 0)
