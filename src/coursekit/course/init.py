"""Create a course folder, or add what is missing in an existing one; existing settings are never changed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from coursekit.course.exchange import close_inbound
from coursekit.course.folder import PRIVATE_MODE, Course, find_course, read_settings
from coursekit.course.follow_settings import follow
from coursekit.course.nbgrader_config import CONFIG, EXCHANGE, GRADEBOOK, TEMPLATE, student_config
from coursekit.course.roster import ROSTER, Student, merged, new_students, read_roster, username_key, write_roster
from coursekit.course.settings import SETTINGS, check_name, machine_zone
from coursekit.course.settings import TEMPLATE as SETTINGS_TEMPLATE
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.text import first_few

DEFAULT_NAME = "course"
FOLDER_MODE = 0o711  # students pass through the folder to reach the exchange
TIMEZONE_UNKNOWN = '# timezone = "Europe/Prague"'
STUDENT = "student"  # a folder that everybody may read; the configuration in it says where the exchange is
PRIVATE = ("release", "submitted", "autograded", "feedback", "hand-ins")


class Made(NamedTuple):
    """The result of `init_course`: the files written, the ids that were new, and how many students there are now.

    `new_students` are the ids that were new to the gradebook. `notes` has one sentence for each thing that an
    instructor should know.
    """

    course: Course
    written: tuple[str, ...]
    new_students: tuple[str, ...]
    num_students: int
    notes: tuple[str, ...]


def init_course(root: Path, folder: Path, name: str | None, roster: Path | None, *, update: bool = False) -> Made:
    """Create a course in `folder`, or add everything that is missing in an existing course.

    `name` is nbgrader's course id; if it is None, the course keeps its id or, if it is new, gets the default. `roster`
    is a CSV file with students to add; if it is None, only the course's own roster is used. If `update` is true, that
    file also corrects the data of students who are already on the course's roster.

    Raises:
        CourseKitError: something is wrong; errors in the roster and the settings are found before anything is written.
    """
    check_name(name or DEFAULT_NAME, "--name")
    if (folder / SETTINGS).is_file() and (there := read_settings(root, folder).name) != (name or there):
        raise CourseKitError(
            f"{folder / SETTINGS} says name = {there!r}, and is not changed: edit it there.", "settings.other-name"
        )
    own = folder / ROSTER
    old = read_roster(own) if own.is_file() else ()
    notes: list[str] = []
    listed = read_roster(roster, notes) if roster else ()
    known: set[str] = set()
    if (folder / SETTINGS).is_file() and (folder / CONFIG).is_file():
        with find_course(root, folder).gradebook() as gradebook:  # it also has students who are not on any roster
            known = {student.id for student in gradebook.students}
    new_students(known, old)
    students, differences = merged(old, listed, known, update=update)
    notes += _notes(old, listed, differences, update=update)

    written = _write_files(root, folder, name or DEFAULT_NAME)
    if students != old:
        write_roster(own, students)
        written += [] if old else [ROSTER]
    course = find_course(root, folder)
    own = course.inbound.parent
    if not own.exists():
        own.mkdir()  # now, before another account can create a folder with this name
        own.chmod(0o755)
    close_inbound(course.inbound)
    updated = {(student, name) for student, name, *_ in differences} if update else set()
    notes += [str(one) for one in follow(course) if (one.whose, one.what) not in updated]
    with course.gradebook() as gradebook:
        ids = [student.id for student in course.students(gradebook)]
    file = course.folder / GRADEBOOK
    if file.exists():
        file.chmod(0o600)  # it holds the hidden tests and everybody's grades
    return Made(course, tuple(written), tuple(one for one in ids if one not in known), len(ids), tuple(notes))


def _notes(
    old: Sequence[Student], listed: Sequence[Student], differences: Sequence[tuple[str, str, str, str]], *, update: bool
) -> Iterator[str]:
    """Yield a sentence for each difference between the list and the old roster, and one if the list has no names."""
    for student, name, here, there in differences:
        if update:
            yield f"{student}: the {name} is now {there}; it was {here or 'none'}"
        else:
            stays = f"{student}: the {name} stays {here or 'none'}"
            yield f"{stays}, but is {there} in the list: use --update to take that over [roster.differs]"
    in_list = {username_key(one.id) for one in listed}
    if listed and (absent := [one.id for one in old if username_key(one.id) not in in_list]):
        whose = f"not in the list: {first_few(absent)}"
        yield f"{whose}; to take students off the roster, delete their lines in {ROSTER} [roster.not-in-list]"
    if listed and not any(one.first_name or one.last_name for one in listed):
        yield "the list has no names: call its columns first_name and last_name [roster.no-names]"


def _write_files(root: Path, folder: Path, name: str) -> list[str]:
    """Write the files that are missing in the course folder, and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(FOLDER_MODE)
    for inner in PRIVATE:
        (folder / inner).mkdir(mode=PRIVATE_MODE, exist_ok=True)
    (folder / STUDENT).mkdir(mode=0o755, exist_ok=True)
    (folder / EXCHANGE).mkdir(exist_ok=True)
    (folder / EXCHANGE).chmod(0o1777)  # everybody may write, as nbgrader wants, but only owners may move their files
    resolved = folder.resolve()
    checkout = ".." if resolved.parent == root.resolve() else str(root.resolve())
    zone = machine_zone()
    settings = SETTINGS_TEMPLATE.format(name=name, timezone=f'timezone = "{zone}"' if zone else TIMEZONE_UNKNOWN)
    student = student_config(name, resolved / EXCHANGE)
    texts = {SETTINGS: settings, CONFIG: TEMPLATE.format(root=checkout), f"{STUDENT}/{CONFIG}": student}
    missing = [file for file in texts if not (folder / file).exists()]
    for file in missing:
        write_file(folder / file, texts[file].encode(), 0o644 if file.startswith(STUDENT) else 0o600)
    return missing
