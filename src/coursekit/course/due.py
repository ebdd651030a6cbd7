"""When labs are due, for all and for one student: `course.toml` says it, and the gradebook follows."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any

from coursekit.course.folder import Course
from coursekit.course.roster import folded, speller
from coursekit.course.settings import GRACE_S, SETTINGS, due_date, set_key
from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs


def sync_due_dates(course: Course, gradebook: Any) -> set[str]:
    """Add every lab to the gradebook, with its due date if `course.toml` has one; return the labs whose date is new.

    Raises:
        CourseKitError: `course.toml` has a date for what is no lab.
    """
    unknown, labs = _unknown_labs(course)
    if unknown:
        raise CourseKitError(f"{SETTINGS} names {', '.join(unknown)}, which is no lab; the labs are {', '.join(labs)}.")
    former = {assignment.name: assignment.duedate for assignment in gradebook.assignments}
    due = {lab: course.due(lab) for lab in labs}
    for lab, date in due.items():
        # Without a date here, one that was set in formgrader stays.
        gradebook.update_or_create_assignment(lab, **({"duedate": date} if date else {}))
    return {lab for lab, date in due.items() if date and date != former.get(lab)}


def due_of(course: Course, gradebook: Any, lab: str, student: str) -> datetime | None:
    """Return when a student's lab is due, UTC without an offset: by `course.toml`, else as the gradebook has it.

    With an extension of their own it is the later of both dates.
    """
    from nbgrader.api import MissingEntry

    duedate, extension = None, None
    with suppress(MissingEntry):
        duedate = gradebook.find_assignment(lab).duedate
        extension = gradebook.find_submission(lab, student).extension
    return effective_due(course, lab, student, duedate, extension)


def effective_due(
    course: Course, lab: str, student: str, duedate: datetime | None, extension: timedelta | None
) -> datetime | None:
    """Return when a student's lab is due; `duedate` and `extension` are the gradebook's, as formgrader sets them."""
    due, own = course.due(lab) or duedate, course.extension(lab, student)
    if own:
        return max(due or own, own)
    return due + (extension or timedelta()) if due else None


def late_s(handed_in: datetime | None, due: datetime | None) -> float:
    """Return by how many seconds a hand-in is late, 0 for one in time or within the grace."""
    seconds = (handed_in - due).total_seconds() if handed_in and due else 0.0
    return seconds if seconds > GRACE_S else 0.0


def extend(
    course: Course, lab: str, students: Collection[str], *, until: str = "", days: float = 0
) -> list[tuple[str, datetime]]:
    """Write later due dates into `course.toml`, with this machine's offset: of these students, or with none of all.

    `until` is a date as `course.toml` has it; without one, `days` are added to what is due now.

    Returns:
        Each student ('' for all) with the new date, UTC without an offset.

    Raises:
        CourseKitError: a student is not known, or there is no date to extend.
    """
    with course.gradebook() as gradebook:
        known = {student.id for student in gradebook.students}
        students = [speller(known)(student) for student in students]
        unknown = sorted(set(students) - known)
        if unknown:
            raise CourseKitError(f"not on the roster: {', '.join(unknown)}: nothing was changed.")
        former = {student: due_of(course, gradebook, lab, student) for student in students or [""]}
    given = due_date(until, "--until") if until else None
    new: dict[str, datetime] = {}
    for student, due in former.items():
        date = given if student == "" else due and given
        date = date or (due and _days_later(due, days))
        if date is None:
            first = f"coursekit course extend {lab[:2]} --until DATE"
            raise CourseKitError(f"{lab} has no due date: give it one for all first, with `{first}`.")
        new[student] = date
    for student, date in new.items():
        # course.toml may spell an id otherwise
        spelled = speller(course.settings.extensions.get(lab, {}))
        keys = ("extensions", lab, spelled(student)) if student else ("due", lab)
        set_key(course.folder, keys, date.replace(tzinfo=timezone.utc).astimezone().isoformat(sep=" "))
    return sorted(new.items())


def _days_later(due: datetime, days: float) -> datetime:
    """Return the same time of day on this machine's clock, also where summer time begins or ends in between."""
    wall = due.replace(tzinfo=timezone.utc).astimezone().replace(tzinfo=None) + timedelta(days=days)
    return wall.astimezone(timezone.utc).replace(tzinfo=None)


def doubts_of_dates(course: Course, students: Collection[str]) -> list[str]:
    """Return one sentence for each date of `course.toml` that is of no lab, or helps none of these students."""
    unknown, labs = _unknown_labs(course)
    doubts = [f"{SETTINGS} names {name}, which is no lab; the labs are {', '.join(labs)}" for name in unknown]
    known = {folded(student) for student in students}
    for lab, dates in course.settings.extensions.items():
        for student in dates:
            own, due = course.extension(lab, student), course.due(lab)
            if folded(student) not in known:
                doubts.append(f"{student} has an extension of {lab} and is not on the roster")
            elif own and due and own <= due:
                doubts.append(f"{student} has an extension of {lab} that is no later than for all")
    return doubts


def _unknown_labs(course: Course) -> tuple[list[str], list[str]]:
    """Return the names in `course.toml` that are no labs, and the labs."""
    labs = [lab.name for lab in find_labs(course.root)]
    return sorted({*course.settings.due, *course.settings.extensions} - set(labs)), labs
