"""Collect what students handed in: every version is kept, and the best one goes to where nbgrader grades."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coursekit.course.arrivals import find_arrivals, take_arrivals
from coursekit.course.folder import Course, due_of, late_s
from coursekit.course.roster import speller
from coursekit.course.versions import (
    Choice,
    Version,
    digest,
    install,
    keep,
    look_at,
    read_contents,
    read_versions,
    write_choice,
)
from coursekit.grading.submission.student_folder import (
    HandIn,
    duration,
    read_timestamp,
    shown,
    utc,
)
from coursekit.grading.submission.students_files import RefusedFileError
from coursekit.grading.verdict import Flag

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
    arrived, strays = find_arrivals(course, lab, spelled)
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
    strays += take_arrivals(course, lab, arrived, due)
    collected = []
    for student in sorted(due):
        if not (course.submitted(lab, student).is_dir() or read_versions(course.hand_ins(lab, student))):
            continue  # all is still arriving
        try:
            collected.append(settle(course, lab, student, due[student], late=late))
        except RefusedFileError as error:
            strays.append(f"{student}, {lab}: not collected, {error}")
    strangers = sorted({entry.student for entry in collected} - roster)
    strays += [f"{name} is not on the roster, and handed in {lab}" for name in strangers]
    return collected, strays


def settle(course: Course, lab: str, student: str, due: datetime | None, *, late: bool) -> Collected:
    """Let the best of all versions that were kept, however they came in, be the one that is graded.

    A version of the student was kept, or lies where nbgrader grades; `due` is as `due_of` knows it.
    With `late` the newest is taken even if it is late.
    """
    folder, submitted = course.hand_ins(lab, student), course.submitted(lab, student)
    _keep_submitted(submitted, folder)
    versions = read_versions(folder)
    looked_at = [(version, look_at(course, lab, student, version.folder, version.refused)) for version in versions]
    looked_at = _without_earlier_looks(looked_at)
    (chosen, hand_in), lines = _choose(looked_at, due, late=late)
    changed = install(chosen, submitted)
    refused = tuple(Flag("files", f"Not collected: {sentence}.") for sentence in chosen.refused)
    time, flags = chosen.timestamp.isoformat(), (*chosen.flags, *refused)
    write_choice(folder, Choice(chosen.folder.name, time, tuple(lines), flags, chosen.refused))
    return Collected(student, lab, changed, (*lines, *hand_in.notes, *map(str, hand_in.jobs)))


def _without_earlier_looks(looked_at: Sequence[tuple[Version, HandIn]]) -> list[tuple[Version, HandIn]]:
    """Return of each folder that came in, as it was at one time or another, what can be graded and was kept last."""
    latest: dict[tuple[str, datetime], tuple[Version, HandIn]] = {}
    for version, hand_in in looked_at:
        place = (version.received, version.timestamp)
        if place not in latest or hand_in.notebook or not latest[place][1].notebook:
            latest[place] = (version, hand_in)
    return list(latest.values())


def _choose(
    versions: Sequence[tuple[Version, HandIn]], due: datetime | None, *, late: bool
) -> tuple[tuple[Version, HandIn], list[str]]:
    """Return the version to grade, and a sentence for each unusual thing about it."""
    good = [pair for pair in versions if pair[1].notebook]
    in_time = [pair for pair in good if not late_s(pair[0].timestamp, due)]
    chosen = ((good if late else in_time) or good or versions)[-1]
    taken = chosen[0].timestamp
    lines = [*chosen[0].notes]
    if len(versions) > 1:
        lines.append(f"{len(versions)} versions were handed in; the one of {shown(taken)} is graded")
    for version, hand_in in versions[versions.index(chosen) + 1 :]:
        why = (
            "is late" if hand_in.notebook else "cannot be graded" + "".join(f" ({note})" for note in hand_in.notes[:1])
        )
        done = "not graded" if version.refused else "kept, not graded"  # what was refused is in the exchange alone
        lines.append(f"the later one of {shown(version.timestamp)} {why}: {done}")
    if late_s(taken, due):
        lines.append(f"late by {duration(late_s(taken, due))}")
    return chosen, lines


def _keep_submitted(submitted: Path, folder: Path) -> None:
    """Keep the folder that nbgrader grades as a version, if somebody else put it there."""
    if not submitted.is_dir() or submitted.is_symlink():
        return
    contents = read_contents(submitted)
    if digest(contents.files) not in {version.mark for version in read_versions(folder)}:
        timestamp = read_timestamp(submitted) or utc(submitted.stat().st_mtime)
        keep(contents, COPIED, timestamp, (), folder)
