"""Import hand-ins that students sent as files, by e-mail or through a platform, instead of through the exchange."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from coursekit.course.collect import Collected, select_version
from coursekit.course.folder import Course, due_of
from coursekit.course.hand_in.names import NotImportedError
from coursekit.course.hand_in.owner import find_owner
from coursekit.course.hand_in.sent_files import SentFile, find_sent_files, read_sent_file
from coursekit.course.late_penalty import late_s
from coursekit.course.nbgrader_config import CONFIG
from coursekit.course.roster import Student
from coursekit.course.settings import SETTINGS
from coursekit.course.versions import digest, keep, read_versions, write_files
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import NOTEBOOK, to_submission
from coursekit.grading.submission.students_files import read_contents
from coursekit.grading.verdict import Flag
from coursekit.labs.lab import find_labs
from coursekit.times import shown, utc

IMPORTED, KNOWN, NOT_IMPORTED = "imported", "known", "not imported"
RECEIVED = "file"  # marks a version that arrived as a file; the file's digest follows
TERM = timedelta(days=183)


@dataclass(frozen=True)
class Imported:
    """The result of importing one file.

    Attributes:
        file: The file's path within the instructor's folder.
        outcome: `IMPORTED`, `KNOWN` if it was imported before, or `NOT_IMPORTED`.
        written: When the file last changed, in UTC without an offset.
        student: The student's id; empty if it is unknown.
        lab: The lab's name; empty if it is unknown.
        packed: When the file was packed, according to the file itself, in UTC without an offset; None if the file does
            not say.
        lines: One sentence for each thing that an instructor should know.
    """

    file: str
    outcome: str
    written: datetime
    student: str = ""
    lab: str = ""
    packed: datetime | None = None
    lines: tuple[str, ...] = ()


def import_all(course: Course, source: Path, *, late: bool = False) -> tuple[list[Imported], list[Collected]]:
    """Import a file, or every file below a folder, and choose the best version of each hand-in for grading.

    The files stay where they are. If a call is killed, the next call continues where it stopped, because it compares
    contents to recognise files that were kept before.

    Returns:
        One entry per file, sorted by path, and one entry for each student and lab that these files belong to.

    Raises:
        CourseKitError: the folder is part of the course folder, or contains it.
    """
    source = source.resolve()
    if source in {course.folder, *course.folder.parents} or course.folder in source.parents:
        raise CourseKitError(
            f"{source} contains the course itself or is part of it: name the folder with the files that students sent.",
            "folder.is-course",
        )
    with course.gradebook() as gradebook:
        roster = course.students(gradebook)
    labs = [lab.name for lab in find_labs(course.root) if (course.folder / "release" / lab.name).is_dir()]
    released = {lab: course.released(lab) for lab in labs}
    known = {PurePosixPath(path).name for lab in labs for path in course.public(lab) if not path.endswith(NOTEBOOK)}
    earliest = _earliest(course)
    sent_files = find_sent_files(source, earliest, known, course.settings.zone)
    imported = [_import(course, sent, roster, released, earliest) for sent in sent_files]
    pairs = sorted({(one.lab, one.student) for one in imported if one.outcome != NOT_IMPORTED})
    settled = [select_version(course, *pair, due_of(course, *pair), late=late) for pair in pairs]
    return sorted(imported, key=lambda one: one.file), settled


def _import(
    course: Course,
    sent: SentFile,
    roster: Sequence[Student],
    released: Mapping[str, NotebookNode],
    earliest: datetime,
) -> Imported:
    one = Imported(sent.name, NOT_IMPORTED, sent.written)
    parts = PurePosixPath(sent.name).with_suffix("").parts
    try:
        lab, contents, manifest = read_sent_file(sent, released)
        one = replace(one, lab=lab, packed=manifest.time if manifest else None)
        owner = find_owner(parts, manifest.user if manifest else "", roster)
    except NotImportedError as error:
        with suppress(NotImportedError):
            one = replace(one, student=find_owner(parts, "", roster).student)
        return replace(one, lines=(f"{error}.",))
    one = replace(one, student=owner.student)
    into = course.hand_ins(lab, owner.student)
    received = f"{RECEIVED} {digest(contents)}"
    if received in {version.received for version in read_versions(into)}:
        return replace(one, outcome=KNOWN)
    moment, time_flags = _time_of(one, earliest)
    flags = (*owner.flags, *time_flags)
    # Kept files will be read again from a folder, so they must also pass the limits of the function that does so.
    with tempfile.TemporaryDirectory(prefix="coursekit-take-") as place:
        write_files(Path(place, "hand-in"), contents)
        unpacked = read_contents(Path(place, "hand-in"))
    found = to_submission(unpacked, owner.student, lab, released[lab])
    if not found.notebook:
        return replace(one, lines=(f"{'; '.join(found.notes)}: ask the student for the right notebook.",))
    keep(unpacked, received, moment, flags, into)
    remarks = (owner.remark,) if owner.remark else ()
    return replace(one, outcome=IMPORTED, lines=(*(flag.text for flag in flags), *remarks))


def _earliest(course: Course) -> datetime:
    """Return a time before any hand-in: half a year before the course folder was created or the first lab was due.

    Some instructors create the folder only after the first hand-ins have arrived.
    """
    made = [utc((course.folder / name).stat().st_mtime) for name in (SETTINGS, CONFIG)]
    due = [date for lab in course.settings.due if (date := course.due(lab))]
    return min(*made, *due) - TERM


def _time_of(one: Imported, earliest: datetime) -> tuple[datetime, tuple[Flag, ...]]:
    """Return when a file counts as handed in, and a flag if its own time is in the future or long before the course.

    If a time in the future counted, no later version would ever count. Files in a zip without times are dated 1980.
    """
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    claimed = one.packed or one.written
    if earliest <= claimed and not late_s(claimed, now):
        return claimed, ()
    counted, why = one.written, "when the file was written"
    if not earliest <= counted <= now:
        counted, why = now, "when it was imported"
    when = "in the future" if claimed > now else "long before the course"
    text = f"It claims to be from {shown(claimed)}, {when}: {shown(counted)} counts, {why}."
    return counted, (Flag("time", text),)
