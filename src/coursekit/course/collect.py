"""Collect what students handed in: keep every version, and copy the best one to the folder that nbgrader grades."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from coursekit.course.arrivals import find_arrivals, take_arrivals
from coursekit.course.folder import Course, due_of
from coursekit.course.late_penalty import late_s
from coursekit.course.roster import canonical_usernames
from coursekit.course.versions import Version, install, keep, look_at, mark_of, read_versions, write_choice
from coursekit.grading.submission.student_folder import Submission, read_timestamp
from coursekit.grading.submission.students_files import RefusedFileError, read_contents
from coursekit.grading.verdict import Flag
from coursekit.times import duration, shown, utc

COPIED = "submitted/"


@dataclass(frozen=True)
class Collected:
    """The result of collecting one student's work on one lab.

    Attributes:
        changed: Whether a different version will now be graded.
        lines: One sentence for each thing that an instructor should know.
    """

    student: str
    lab: str
    changed: bool
    lines: tuple[str, ...]


def collect(course: Course, lab: str, *, late: bool = False) -> tuple[list[Collected], list[str]]:
    """Collect what all students handed in for one lab, and choose the version of each hand-in to grade.

    The newest version that can be graded is taken. A late version is taken only if none was on time, or if `late` is
    true.

    Returns:
        One entry per student, sorted by id, and one sentence for each thing that was not collected or looks wrong.
    """
    with course.gradebook() as gradebook:
        roster = {student.id for student in course.students(gradebook)}
        canonical = canonical_usernames((*roster, *(student.id for student in gradebook.students)))
    arrived, strays = find_arrivals(course, lab, canonical)
    strays += _take_over(course, lab, canonical)
    kept = {path.name for path in (course.folder / "hand-ins" / lab).glob("[!.]*") if read_versions(path)}
    strays += [
        f"{name}, {lab}: kept under another spelling of {canonical(name)}: move all of hand-ins/{lab}/{name} there"
        for name in sorted(kept)
        if canonical(name) != name
    ]
    there = {*arrived, *kept, *course.students_in("submitted", lab)}
    due = {name: due_of(course, lab, name) for name in there if canonical(name) == name}
    strays += take_arrivals(course, lab, arrived, due)
    collected, refused = _select_all(course, lab, due, late=late)
    strangers = sorted({entry.student for entry in collected} - roster)
    return collected, [*strays, *refused, *(f"{name} is not on the roster, but handed in {lab}" for name in strangers)]


def _take_over(course: Course, lab: str, canonical: Callable[[str], str]) -> list[str]:
    """Move hand-ins that nbgrader's own collect command stored under another spelling of an id to the right student.

    They are kept as versions. The result has one sentence for each folder that could not be moved.
    """
    strays = []
    for name in course.students_in("submitted", lab):
        if (student := canonical(name)) != name:
            submitted = course.submitted(lab, name)
            try:
                _keep_submitted(submitted, course.hand_ins(lab, student))
                shutil.rmtree(submitted)
            except (OSError, RefusedFileError) as error:
                strays.append(f"{name}, {lab}: not taken over for {student}, {error}")
    return strays


def _select_all(
    course: Course, lab: str, due: Mapping[str, datetime | None], *, late: bool
) -> tuple[list[Collected], list[str]]:
    """Choose a version for each student who has handed in; also return a message for each whose files were refused."""
    collected, refused = [], []
    for student in sorted(due):
        if course.submitted(lab, student).is_dir() or read_versions(course.hand_ins(lab, student)):
            try:
                collected.append(select_version(course, lab, student, due[student], late=late))
            except RefusedFileError as error:
                refused.append(f"{student}, {lab}: not collected, {error}")
    return collected, refused


def select_version(course: Course, lab: str, student: str, due: datetime | None, *, late: bool) -> Collected:
    """Choose the version of a student's hand-in to grade, and put it into the folder that nbgrader grades.

    It chooses among all kept versions, however they arrived, and the content of that folder; at least one of these must
    exist. `due` is the date that `due_of` returns. If `late` is true, the newest version is taken even if it is late.
    """
    folder, submitted = course.hand_ins(lab, student), course.submitted(lab, student)
    _keep_submitted(submitted, folder)
    looked_at = [(one, look_at(course, lab, student, one.folder, one)) for one in read_versions(folder)]
    looked_at = _without_earlier_looks(looked_at)
    (chosen, submission), lines = _choose(looked_at, due, late=late)
    changed = install(chosen, submitted)
    refused = (Flag("files", f"Not collected: {sentence}.") for sentence in chosen.refused)
    write_choice(folder, replace(chosen, notes=tuple(lines), flags=(*chosen.flags, *refused)))
    return Collected(student, lab, changed, (*lines, *submission.notes, *map(str, submission.jobs)))


def _without_earlier_looks(looked_at: Sequence[tuple[Version, Submission]]) -> list[tuple[Version, Submission]]:
    """Return only one version for each folder and hand-in time; a folder that changed was kept several times.

    Of these versions, the last one that can be graded is returned or, if none can be graded, the last one.
    """
    latest: dict[tuple[str, datetime], tuple[Version, Submission]] = {}
    for version, submission in looked_at:
        place = (version.received, version.timestamp)
        if place not in latest or submission.notebook or not latest[place][1].notebook:
            latest[place] = (version, submission)
    return list(latest.values())


def _choose(
    versions: Sequence[tuple[Version, Submission]], due: datetime | None, *, late: bool
) -> tuple[tuple[Version, Submission], list[str]]:
    """Return the version to grade, and a sentence for each unusual thing about it."""
    good = [pair for pair in versions if pair[1].notebook]
    in_time = [pair for pair in good if not late_s(pair[0].timestamp, due)]
    chosen = ((good if late else in_time) or good or versions)[-1]
    taken = chosen[0].timestamp
    lines = [*chosen[0].notes]
    if len(versions) > 1:
        lines.append(f"{len(versions)} versions were handed in; the one from {shown(taken)} is graded")
    for version, submission in versions[versions.index(chosen) + 1 :]:
        why = (
            "is late"
            if submission.notebook
            else "cannot be graded" + "".join(f" ({note})" for note in submission.notes[:1])
        )
        done = "not graded" if version.refused else "kept, not graded"  # refused files exist only in the exchange
        lines.append(f"the later one from {shown(version.timestamp)} {why}: {done}")
    if late_s(taken, due):
        lines.append(f"late by {duration(late_s(taken, due))}")
    return chosen, lines


def _keep_submitted(submitted: Path, folder: Path) -> None:
    """Make a version of the files in the folder that nbgrader grades, unless a kept version has the same files."""
    if not submitted.is_dir() or submitted.is_symlink():
        return
    if mark_of(submitted) not in {version.mark for version in read_versions(folder)}:
        contents = read_contents(submitted)
        timestamp = read_timestamp(contents.files) or utc(submitted.stat().st_mtime)
        keep(contents, COPIED, timestamp, (), folder)
