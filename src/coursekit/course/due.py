"""When labs are due, for all and for one student: `course.toml` says it, and the gradebook follows."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from coursekit.course.settings import SETTINGS, due_date, set_key
from coursekit.errors import CourseKitError
from coursekit.grading.submission.times import shown
from coursekit.labs.lab import find_labs

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from typing import Any

    from coursekit.course.folder import Course


def sync_due_dates(course: Course, gradebook: Any) -> set[str]:
    """Add every lab to the gradebook, with its due date if `course.toml` has one; return the labs whose date is new.

    Raises:
        CourseKitError: `course.toml` has a date for what is no lab.
    """
    labs = [lab.name for lab in find_labs(course.root)]
    unknown = sorted({*course.settings.due, *course.settings.extensions} - set(labs))
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
    from nbgrader.api import MissingEntry  # noqa: PLC0415 - heavy

    due, own = course.due(lab), course.extension(lab, student)
    with suppress(MissingEntry):
        due = due or gradebook.find_assignment(lab).duedate
        if due and not own:  # formgrader's interface knows extensions, too
            due += gradebook.find_submission(lab, student).extension or timedelta()
    return max(due or own, own) if own else due


def late_s(handed_in: datetime | None, due: datetime | None) -> float:
    """Return by how many seconds a hand-in is late, 0 for one in time."""
    return max(0.0, (handed_in - due).total_seconds()) if handed_in and due else 0.0


def extend(
    course: Course, lab: str, students: Collection[str], *, until: str = "", days: float = 0
) -> list[tuple[str, datetime]]:
    """Write later due dates into `course.toml`: of these students, or with none of all.

    `until` is a date as `course.toml` has it; without one, `days` are added to what is due now.

    Returns:
        Each student ('' for all) with the new date, UTC without an offset.

    Raises:
        CourseKitError: a student is not known, or there is no date to extend.
    """
    with course.gradebook() as gradebook:
        unknown = sorted(set(students) - {student.id for student in gradebook.students})
        if unknown:
            raise CourseKitError(f"not on the roster: {', '.join(unknown)}: nothing was changed.")
        former = {student: due_of(course, gradebook, lab, student) for student in students or [""]}
    given = due_date(until, "--until") if until else None
    new: dict[str, datetime] = {}
    for student, due in former.items():
        date = given if student == "" else due and given
        date = date or (due and due + timedelta(days=days))
        if date is None:
            first = f"coursekit course extend {lab[:2]} --until DATE"
            raise CourseKitError(f"{lab} has no due date: give it one for all first, with `{first}`.")
        new[student] = date
    for student, date in new.items():
        table, key = (f"extensions.{lab}", student) if student else ("due", lab)
        set_key(course.folder, table, key, local(date))
    return sorted(new.items())


def due_lines(course: Course) -> list[str]:
    """Return a line on when each lab is due, for all and for single students."""
    lines = []
    for lab in find_labs(course.root):
        due = course.due(lab.name)
        lines.append(f"{lab.name}: due {shown(due)}, {local(due)} here" if due else f"{lab.name}: no due date")
        students = sorted(course.settings.extensions.get(lab.name, {}))
        lines += [f"  {student}: due {shown(course.extension(lab.name, student))}" for student in students]
    return lines


def check_due_dates(course: Course) -> list[str]:
    """Return one sentence for each extension that helps nobody.

    Raises:
        CourseKitError: `course.toml` has a date for what is no lab.
    """
    with course.gradebook() as gradebook:
        sync_due_dates(course, gradebook)
        known = {student.id for student in gradebook.students}
    doubts = []
    for lab, dates in course.settings.extensions.items():
        for student in dates:
            own, due = course.extension(lab, student), course.due(lab)
            if student not in known:
                doubts.append(f"{student} has an extension of {lab} and is not on the roster")
            elif own and due and own <= due:
                doubts.append(f"{student} has an extension of {lab} that is no later than for all")
    return doubts


def local(moment: datetime) -> str:
    """Return a time as `course.toml` has it: of this machine, with its offset."""
    return moment.replace(tzinfo=timezone.utc).astimezone().isoformat(sep=" ")
