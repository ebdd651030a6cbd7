"""Take files that students sent by e-mail or through a platform into the course, beside those of the exchange."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from coursekit.course.collect import TOLERANCE_S, settle
from coursekit.course.due import due_of, sync_due_dates
from coursekit.course.folder import PRIVATE_MODE
from coursekit.course.hand_in.downloads import check_folder, list_files, read_arrival
from coursekit.course.hand_in.owner import NotTakenError, find_owner
from coursekit.course.roster import Student, columns_of
from coursekit.course.versions import digest, keep, read_versions, write_files
from coursekit.files import locked
from coursekit.grading.submission.student_folder import classify
from coursekit.grading.submission.times import TIMESTAMP, shown, timestamp_text, utc
from coursekit.grading.verdict import Flag
from coursekit.labs.lab import find_labs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nbformat import NotebookNode

    from coursekit.course.collect import Collected
    from coursekit.course.folder import Course
    from coursekit.course.hand_in.downloads import Arrival

TAKEN, KNOWN, NOT_TAKEN = "taken", "known", "not taken"
RECEIVED = "file"  # so a version says how it came in, followed by what it is known by
UNFINISHED = ".taking"
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


def take_all(course: Course, folder: Path, *, late: bool = False) -> tuple[list[Taken], list[Collected]]:
    """Take every file below a folder, and let the best version of each hand-in be the one that is graded.

    The files stay where they are. Killed at any moment, a second call goes on: what was kept is known by its content.

    Returns:
        One entry per file, sorted by path, and one for each student and lab that has any of them.

    Raises:
        CourseKitError: the folder is part of the course, or another call is at work.
    """
    folder = folder.resolve()
    check_folder(course, folder)
    files, others = list_files(folder)
    taken = [
        Taken(name, NOT_TAKEN, lines=("it is a link, no file, or a closed folder: put the file itself there.",))
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
            _check_notebook(unpacked, owner.student, arrival.lab, released[arrival.lab])
            keep(unpacked, received, moment, flags, into)
    except NotTakenError as error:
        return replace(taken, lines=(f"{error}.",))
    return replace(taken, outcome=TAKEN, lines=(*(flag.text for flag in flags), *owner.remarks))


def _check_notebook(folder: Path, student: str, lab: str, released: NotebookNode) -> None:
    hand_in = classify(folder, student, lab, released)
    if hand_in.notebook is None:
        raise NotTakenError(f"{'; '.join(hand_in.notes)}: ask the student for the right notebook")


def _time_of(taken: Taken, now: datetime) -> tuple[datetime, tuple[Flag, ...]]:
    """Return when a file counts as handed in.

    Nothing is of the future, or no later version would ever count, nor of a time before all courses.
    """
    written = taken.written or now
    claimed = taken.packed or written
    in_future = (claimed - now).total_seconds() > TOLERANCE_S
    if not in_future and claimed >= OLDEST:
        return claimed, ()
    counted = min(written, now)
    when = "in the future" if in_future else "before any course"
    text = f"It claims to be of {shown(claimed)}, {when}: {shown(counted)} counts, when the file was written."
    return counted, (Flag("time", text),)


def _looked_at_time(taken: Taken, due: datetime | None) -> Taken:
    """Say when a file that claims to be in time was written after the lab was due, perhaps by downloading it."""
    if not due or not taken.packed or not taken.written or taken.outcome == NOT_TAKEN:
        return taken
    if taken.packed > due or (taken.written - due).total_seconds() <= TOLERANCE_S:
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
