"""When labs are due, for all and for one student: `course.toml` says it, and the gradebook follows."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from typing import Any

from coursekit.course.folder import Course
from coursekit.course.roster import folded
from coursekit.course.settings import GRACE_S, SETTINGS
from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs


def sync_due_dates(course: Course, gradebook: Any) -> None:
    """Add every lab to the gradebook, with its due date if `course.toml` has one.

    Raises:
        CourseKitError: `course.toml` has a date for what is no lab.
    """
    labs = [lab.name for lab in find_labs(course.root)]
    unknown = sorted({*course.settings.due, *course.settings.extensions} - set(labs))
    if unknown:
        raise CourseKitError(f"{SETTINGS} names {', '.join(unknown)}, which is no lab; the labs are {', '.join(labs)}.")
    for lab in labs:
        date = course.due(lab)
        # Without a date here, one that was set in formgrader stays.
        gradebook.update_or_create_assignment(lab, **({"duedate": date} if date else {}))


def due_of(course: Course, gradebook: Any, lab: str, student: str) -> datetime | None:
    """Return when a student's lab is due, UTC without an offset: by `course.toml`, else as formgrader has it."""
    from nbgrader.api import MissingEntry

    duedate = None
    with suppress(MissingEntry):
        duedate = gradebook.find_assignment(lab).duedate
    return effective_due(course, lab, student, duedate)


def effective_due(course: Course, lab: str, student: str, duedate: datetime | None) -> datetime | None:
    """Return when a student's lab is due; with an extension, the later of both dates. `duedate` is the gradebook's."""
    dates = (course.due(lab) or duedate, course.extension(lab, student))
    return max((date for date in dates if date), default=None)


def late_s(handed_in: datetime | None, due: datetime | None) -> float:
    """Return by how many seconds a hand-in is late, 0 for one in time or within the grace."""
    seconds = (handed_in - due).total_seconds() if handed_in and due else 0.0
    return seconds if seconds > GRACE_S else 0.0


def unknown_extensions(course: Course, students: Collection[str]) -> list[str]:
    """Return a sentence for each extension of somebody who is none of these students."""
    known = {folded(student) for student in students}
    return [
        f"{student} has an extension of {lab} and is not on the roster"
        for lab, dates in course.settings.extensions.items()
        for student in dates
        if folded(student) not in known
    ]
