"""The hand-ins in a course's `submitted/`, one of each student and lab, with the notes of collecting."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from coursekit.course.versions import folder_digest, read_choice
from coursekit.grading.submission.student_folder import HandIn, classify
from coursekit.grading.submission.students_files import RefusedFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from coursekit.course.folder import Course


def find_hand_ins(course: Course, labs: Iterable[str], students: Collection[str] = ()) -> tuple[HandIn, ...]:
    """Return the hand-ins of these labs, of these students or of all, sorted by student and lab."""
    names = sorted(path.name for path in (course.folder / "submitted").glob("[!.]*") if path.is_dir())
    pairs = [(name, lab) for name in names for lab in labs if not students or name in students]
    return tuple(read_hand_in(course, lab, name) for name, lab in pairs if course.submitted(lab, name).is_dir())


def read_hand_in(course: Course, lab: str, student: str) -> HandIn:
    """Return a student's hand-in from `submitted/`, with the notes and flags of collecting."""
    folder = course.folder / "release" / lab
    public = tuple(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    hand_in = classify(course.submitted(lab, student), student, lab, course.released(lab), public)
    choice = read_choice(course.hand_ins(lab, student))
    try:
        collected = choice.version.endswith(f"-{folder_digest(hand_in.folder)}")
    except RefusedFileError:
        collected = False
    if not collected:  # nbgrader's own collect put something else there
        return hand_in
    return replace(
        hand_in,
        timestamp=datetime.fromisoformat(choice.timestamp),
        notes=(*choice.notes, *hand_in.notes),
        flags=(*choice.flags, *hand_in.flags),
    )
