"""Collect what students handed in: every version is kept, and the best one goes to where nbgrader grades."""

import os
import pwd
import re
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coursekit.course.folder import Course, due_of, late_s
from coursekit.course.roster import folded, speller
from coursekit.course.versions import (
    Choice,
    Version,
    folder_digest,
    install,
    keep,
    look_at,
    read_versions,
    write_choice,
)
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import (
    ID,
    HandIn,
    duration,
    parse_moment,
    read_timestamp,
    shown,
    utc,
)
from coursekit.grading.submission.students_files import RefusedFileError
from coursekit.grading.verdict import Flag

# <student>+<lab>+<time>+<random>, as nbgrader's submit names it.
INBOUND = re.compile(r"(?P<student>.+)\+(?P<lab>[^+]+)\+(?P<time>\d{4}-[^+]+?)(\+(?P<random>[^+]*))?")
COPIED = "submitted/"


@dataclass(frozen=True)
class Collected:
    """What collecting did for one student and lab.

    Attributes:
        changed: Whether another version is graded now.
        lines: What there is to say, one sentence each.
    """

    student: str
    lab: str
    changed: bool
    lines: tuple[str, ...]


def collect(course: Course, lab: str, *, late: bool = False) -> tuple[list[Collected], list[str]]:
    """Collect one lab.

    The newest version that can be graded is taken; a late one only if there is none in time, or with `late`.

    Returns:
        One entry per student, sorted, and one sentence for each thing in the exchange that belongs to nobody.
    """
    with course.gradebook() as gradebook:
        roster = {student.id for student in course.students(gradebook)}
        spelled = speller((*roster, *(student.id for student in gradebook.students)))
    arrived, strays = _arrived(course, lab, spelled)
    for name in course.students_in("submitted", lab):
        if (student := spelled(name)) != name:  # nbgrader's own collect names folders as accounts are spelled
            submitted = course.submitted(lab, name)
            try:
                _keep_submitted(submitted, course.hand_ins(lab, student))
                shutil.rmtree(submitted)
            except (OSError, RefusedFileError) as error:
                strays.append(f"{name}, {lab}: not taken over for {student}, {error}")
    kept = {path.name for path in (course.folder / "hand-ins" / lab).glob("[!.]*") if read_versions(path)}
    strays += [
        f"{name}, {lab}: kept under another spelling of {spelled(name)}: move what is in hand-ins/{lab}/{name} there"
        for name in sorted(kept)
        if spelled(name) != name
    ]
    there = {*arrived, *kept, *course.students_in("submitted", lab)}
    students = {name for name in there if spelled(name) == name}
    due = {name: due_of(course, lab, name) for name in students}
    collected = []
    for student in sorted(due):
        try:
            collected.append(_collect_one(course, lab, student, arrived.get(student, []), due[student], late=late))
        except RefusedFileError as error:  # noqa: PERF203  # one student's unreadable folder stops nobody else
            strays.append(f"{student}, {lab}: not collected, {error}")
    strangers = sorted({entry.student for entry in collected} - roster)
    strays += [f"{name} is not on the roster, and handed in {lab}" for name in strangers]
    return collected, strays


def _arrived(course: Course, lab: str, spelled: Callable[[str], str]) -> tuple[dict[str, list[Path]], list[str]]:
    """Return the folders of each student in the exchange, and a sentence for each folder that is not a hand-in."""
    if faults := [fault for fault in course.faults_of_exchange() if "belongs" in fault]:
        raise CourseKitError(
            f"{faults[0]}: what is there was not released by this course; look for the course's own folder, "
            "which another account may have moved, and put it back."
        )
    if not course.inbound.is_dir():
        raise CourseKitError("no lab was released yet, so nobody can have handed in: run `coursekit course release`.")
    arrived: dict[str, list[Path]] = {}
    strays = []
    for path in sorted(course.inbound.iterdir()):
        found = INBOUND.fullmatch(unicodedata.normalize("NFC", path.name))
        if not found or not ID.fullmatch(found["student"]):
            strays.append(f"{ascii(path.name)[1:-1][:100]} in the exchange is not a hand-in: it was left there")
        elif not (course.root / "solutions" / found["lab"]).is_dir():
            strays.append(f"{found['student']} handed in {found['lab']!a}, which is not a lab: it was left there")
        elif found["lab"] == lab:
            arrived.setdefault(spelled(found["student"]), []).append(path)
    return arrived, strays


def _collect_one(  # noqa: PLR0913 - what `collect` found out about one student
    course: Course, lab: str, student: str, paths: Sequence[Path], due: datetime | None, *, late: bool
) -> Collected:
    folder = course.hand_ins(lab, student)
    known = {version.received for version in read_versions(folder)}
    check_owner = bool(course.config.get("ExchangeCollect", {}).get("check_owner", True))
    for path in paths:
        if path.name not in known:
            timestamp, flags = _time_of(path, student, due, check_owner=check_owner)
            keep(path, path.name, timestamp, flags, folder)
    return settle(course, lab, student, due, late=late)


def settle(course: Course, lab: str, student: str, due: datetime | None, *, late: bool) -> Collected:
    """Let the best of all versions that were kept, however they came in, be the one that is graded.

    A version of the student was kept, or lies where nbgrader grades; `due` is as `due_of` knows it.
    With `late` the newest is taken even if it is late.
    """
    folder, submitted = course.hand_ins(lab, student), course.submitted(lab, student)
    _keep_submitted(submitted, folder)
    versions = read_versions(folder)
    looked_at = [(version, look_at(course, lab, student, version.folder)) for version in versions]
    (chosen, hand_in), lines = _choose(looked_at, due, late=late)
    changed = install(chosen, submitted)
    refused = tuple(Flag("files", f"Not collected: {sentence}.") for sentence in chosen.refused)
    write_choice(
        folder, Choice(chosen.folder.name, chosen.timestamp.isoformat(), tuple(lines), (*chosen.flags, *refused))
    )
    return Collected(student, lab, changed, (*lines, *hand_in.notes, *map(str, hand_in.jobs)))


def _choose(
    versions: Sequence[tuple[Version, HandIn]], due: datetime | None, *, late: bool
) -> tuple[tuple[Version, HandIn], list[str]]:
    """Return the version to grade, and a sentence for each unusual thing about it."""
    good = [pair for pair in versions if pair[1].notebook]
    in_time = [pair for pair in good if not late_s(pair[0].timestamp, due)]
    chosen = ((good if late else in_time) or good or versions)[-1]
    taken = chosen[0].timestamp
    lines = []
    if len(versions) > 1:
        lines.append(f"{len(versions)} versions were handed in; the one of {shown(taken)} is graded")
    for version, hand_in in versions[versions.index(chosen) + 1 :]:
        why = "is late" if hand_in.notebook else "cannot be graded"
        lines.append(f"the later one of {shown(version.timestamp)} {why}: kept, not graded")
    if late_s(taken, due):
        lines.append(f"late by {duration(late_s(taken, due))}")
    return chosen, lines


def _keep_submitted(submitted: Path, folder: Path) -> None:
    """Keep the folder that nbgrader grades as a version, if somebody else put it there."""
    if not submitted.is_dir() or submitted.is_symlink():
        return
    marks = {version.folder.name.rpartition("-")[2] for version in read_versions(folder)}
    if folder_digest(submitted) not in marks:
        timestamp = read_timestamp(submitted) or utc(submitted.stat().st_mtime)
        keep(submitted, COPIED, timestamp, (), folder)


def _time_of(path: Path, student: str, due: datetime | None, *, check_owner: bool) -> tuple[datetime, tuple[Flag, ...]]:
    """Return when a folder of the exchange claims to be handed in, and flags for what contradicts it.

    Students name that folder themselves, but not the time at which the file system last saw it change.
    """
    status = os.lstat(path)
    seen = utc(status.st_ctime)
    found = INBOUND.fullmatch(path.name)
    claimed = parse_moment(found["time"]) if found else None
    flags = []
    if claimed is None:
        flags.append(Flag("time", f"The name {path.name!a} tells no time: the file system's is taken."))
    elif not late_s(claimed, due) and late_s(seen, due):
        flags.append(Flag("time", f"It claims to be in time, of {shown(claimed)}; it was written at {shown(seen)}."))
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = f"account {status.st_uid}"
    if check_owner and folded(owner) != folded(student):
        flags.append(Flag("owner", f"It claims to come from {student} and belongs to {owner}."))
    return claimed or seen, tuple(flags)
