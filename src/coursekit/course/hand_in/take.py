"""Take files that students sent by e-mail or through a platform into the course, beside those of the exchange."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from coursekit.course.collect import Collected, settle
from coursekit.course.due import due_of, late_s, sync_due_dates
from coursekit.course.folder import PRIVATE_MODE, Course
from coursekit.course.hand_in.owner import find_owner
from coursekit.course.hand_in.packed import SUFFIX, NotTakenError, read_zip
from coursekit.course.roster import Student, columns_of
from coursekit.course.versions import digest, keep, read_versions, write_files
from coursekit.errors import CourseKitError
from coursekit.files import locked
from coursekit.grading.submission.cells import find_answers
from coursekit.grading.submission.student_folder import NOTEBOOK, TIMESTAMP, classify, shown, timestamp_text, utc
from coursekit.grading.submission.students_files import (
    MAX_FOLDER_BYTES,
    DamagedNotebookError,
    RefusedFileError,
    read_file,
    read_notebook,
)
from coursekit.grading.verdict import Flag
from coursekit.labs.lab import find_labs

TAKEN, KNOWN, NOT_TAKEN = "taken", "known", "not taken"
RECEIVED = "file"  # so a version says how it came in, followed by what it is known by
UNFINISHED = ".taking"
MAX_ZIP_BYTES = MAX_FOLDER_BYTES + 1_000_000  # what cannot be made smaller grows a little
LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")  # beside everything that begins with a dot
OWN = ("hand-ins", "submitted", "autograded", "exchange", "release", "feedback")
OLDEST = datetime(2000, 1, 1)  # noqa: DTZ001  # UTC without an offset, as all times here


@dataclass(frozen=True)
class Taken:
    """One file and what became of it.

    Attributes:
        file: Its path within the instructor's folder.
        outcome: `TAKEN`, `KNOWN` when it was taken before, or `NOT_TAKEN`.
        student: Whose it is; empty when that is not known.
        lab: Name of the lab; empty when that is not known.
        packed: When it claims to have been packed, UTC without an offset; None when it claims nothing.
        written: When the file itself last changed, likewise; None when it cannot be read.
        lines: What there is to say, one sentence each.
    """

    file: str
    outcome: str
    student: str = ""
    lab: str = ""
    packed: datetime | None = None
    written: datetime | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arrival:
    """What a file says of itself; its student could have made up all of it.

    Attributes:
        lab: Name of a lab of the course.
        contents: Path within the hand-in to content.
        user: The account that packed it; empty for a plain notebook.
        packed: When it was packed, UTC without an offset; None for a plain notebook.
    """

    lab: str
    contents: Mapping[str, bytes]
    user: str = ""
    packed: datetime | None = None


def take_all(course: Course, folder: Path, *, late: bool = False) -> tuple[list[Taken], list[Collected]]:
    """Take every file below a folder, and let the best version of each hand-in be the one that is graded.

    The files stay where they are. Killed at any moment, a second call goes on: what was kept is known by its content.

    Returns:
        One entry per file, sorted by path, and one for each student and lab that has any of them.

    Raises:
        CourseKitError: the folder is part of the course, or another call is at work.
    """
    folder = folder.resolve()
    own = {course.folder / name for name in OWN}  # what is in them would be taken a second time
    if folder in {course.folder, *course.folder.parents} or own & {folder, *folder.parents}:
        raise CourseKitError(
            f"{folder} holds the course itself or is a part of it: name the folder with the files that students sent."
        )
    files, others = list_files(folder)
    taken = [
        Taken(name, NOT_TAKEN, lines=("it is a link, no regular file, or an unreadable folder: copy the file here.",))
        for name in others
    ]
    hand_ins = course.folder / "hand-ins"
    hand_ins.mkdir(mode=PRIVATE_MODE, exist_ok=True)
    busy = f"another `coursekit take` is at work in {course.folder}: wait for it, and call again."
    with locked(hand_ins / f"{UNFINISHED}.lock", busy):
        with course.gradebook() as gradebook:
            roster = tuple(Student(**columns_of(one)) for one in gradebook.students)
        labs = [lab.name for lab in find_labs(course.root) if (course.folder / "release" / lab.name).is_dir()]
        released = {lab: course.released(lab) for lab in labs}
        taken += [_take(course, folder, name, roster, released) for name in files]
        pairs = sorted({(one.lab, one.student) for one in taken if one.outcome != NOT_TAKEN})
        with course.gradebook() as gradebook:
            sync_due_dates(course, gradebook)
            due = {pair: due_of(course, gradebook, *pair) for pair in pairs}
        settled = [settle(course, *pair, due[pair], late=late) for pair in pairs]
    seen = [_looked_at_time(one, due.get((one.lab, one.student))) for one in taken]
    return sorted(seen, key=lambda one: one.file), settled


def _take(
    course: Course, folder: Path, name: str, roster: Sequence[Student], released: Mapping[str, NotebookNode]
) -> Taken:
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    taken = Taken(name, NOT_TAKEN, written=utc(os.lstat(folder / name).st_mtime))
    try:
        arrival = read_arrival(folder, name, released)
        taken = replace(taken, lab=arrival.lab, packed=arrival.packed)
        owner = find_owner(PurePosixPath(name).with_suffix("").parts, arrival.user, roster)
        taken = replace(taken, student=owner.student)
        into = course.hand_ins(arrival.lab, owner.student)
        received = f"{RECEIVED} {digest(arrival.contents)}"
        if received in {version.received for version in read_versions(into)}:
            return replace(taken, outcome=KNOWN)
        moment, time_flags = _time_of(taken, now)
        flags = (*owner.flags, *time_flags)
        with _unpacked(course, arrival, moment) as unpacked:
            hand_in = classify(unpacked, owner.student, arrival.lab, released[arrival.lab])
            if hand_in.notebook is None:
                return replace(taken, lines=(f"{'; '.join(hand_in.notes)}: ask the student for the right notebook.",))
            keep(unpacked, received, moment, flags, into)
    except NotTakenError as error:
        return replace(taken, lines=(f"{error}.",))
    return replace(taken, outcome=TAKEN, lines=(*(flag.text for flag in flags), *owner.remarks))


def _time_of(taken: Taken, now: datetime) -> tuple[datetime, tuple[Flag, ...]]:
    """Return when a file counts as handed in.

    Nothing is of the future, or no later version would ever count, nor of a time before all courses.
    """
    written = taken.written or now
    claimed = taken.packed or written
    in_future = late_s(claimed, now) > 0
    if not in_future and claimed >= OLDEST:
        return claimed, ()
    counted = min(written, now)
    when = "in the future" if in_future else "before any course"
    text = f"It claims to be of {shown(claimed)}, {when}: {shown(counted)} counts, when the file was written."
    return counted, (Flag("time", text),)


def _looked_at_time(taken: Taken, due: datetime | None) -> Taken:
    """Say when a file that claims to be in time was written after the lab was due, perhaps by downloading it."""
    if not taken.packed or not taken.written or taken.outcome == NOT_TAKEN:
        return taken
    if late_s(taken.packed, due) or not late_s(taken.written, due):
        return taken
    line = f"It claims to be in time; the file was written at {shown(taken.written)}: see what the platform says."
    return replace(taken, lines=(*taken.lines, line))


@contextmanager
def _unpacked(course: Course, arrival: Arrival, moment: datetime) -> Iterator[Path]:
    """Put a hand-in's files into a folder of our own, with the time that counts."""
    folder = course.folder / "hand-ins" / UNFINISHED
    shutil.rmtree(folder, ignore_errors=True)  # of a call that was killed
    try:
        write_files(folder, {**arrival.contents, TIMESTAMP: timestamp_text(moment).encode()})
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def list_files(folder: Path) -> tuple[list[str], list[str]]:
    """Return the files below a folder, the oldest first, and what is not a file or cannot be read; follow no link."""
    files: list[tuple[float, str]] = []
    others: list[str] = []

    def closed(error: OSError) -> None:
        others.append(os.path.relpath(error.filename, folder))

    for inner, folders, names in os.walk(folder, onerror=closed):
        folders[:] = [name for name in folders if not _is_litter(name)]
        for entry in [*folders, *names]:
            path = os.path.join(inner, entry)  # noqa: PTH118 - as os.walk gives it
            name, mode = os.path.relpath(path, folder), os.lstat(path).st_mode
            if stat.S_ISREG(mode) and not _is_litter(entry):
                files.append((os.lstat(path).st_mtime, name))
            elif not stat.S_ISDIR(mode) and not _is_litter(entry):
                others.append(name)
    return [name for _, name in sorted(files)], others


def _is_litter(name: str) -> bool:
    return name.startswith(".") or name in LITTER


def read_arrival(folder: Path, name: str, released: Mapping[str, NotebookNode]) -> Arrival:
    """Read one file of the instructor's folder, by its path within it; `released` holds the labs that students got.

    Raises:
        NotTakenError: it is not a hand-in of this course.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in {SUFFIX, NOTEBOOK}:
        raise NotTakenError(f"it is neither a hand-in ({SUFFIX}) nor a notebook ({NOTEBOOK}): put it elsewhere")
    try:
        data = read_file(folder, name, MAX_ZIP_BYTES if suffix == SUFFIX else None)
    except RefusedFileError as error:
        raise NotTakenError(f"{error}: look at what it is") from None
    if suffix == NOTEBOOK:
        lab = _lab_of(folder, name, released)
        return Arrival(lab, {f"{lab}{NOTEBOOK}": data})
    manifest, contents = read_zip(data)
    _check_lab(manifest.lab, released)
    return Arrival(manifest.lab, contents, manifest.user, manifest.time)


def _lab_of(folder: Path, name: str, released: Mapping[str, NotebookNode]) -> str:
    """Return the lab of a notebook, which may be called anything."""
    try:
        notebook = read_notebook(folder, name)
    except DamagedNotebookError as error:
        raise NotTakenError(f"the notebook is damaged, {error}: ask the student for it again") from None
    made_from = notebook.made_from.split("/")[1:2]
    if made_from:
        _check_lab(made_from[0], released)
        return made_from[0]
    known = {lab: len(find_answers(notebook, one).answers) for lab, one in released.items()}
    most = max(known.values(), default=0)
    best = [lab for lab, num in known.items() if num == most and num]
    if len(best) != 1:
        which = f"holds answers of {', '.join(best)}" if best else "holds no answer of any lab of this course"
        raise NotTakenError(f"the notebook {which}: ask the student for the right one")
    return best[0]


def _check_lab(lab: str, released: Mapping[str, NotebookNode]) -> None:
    if lab not in released:
        raise NotTakenError(
            f"{ascii(lab)[1:-1][:100]} was not released in this course (only {', '.join(released) or 'nothing'} was): "
            "release it with `coursekit course release`, or ask the student for the right lab"
        )
