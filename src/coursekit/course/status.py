"""Where a course stands, lab by lab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.course.due import due_of, late_s
from coursekit.course.export import points_of
from coursekit.course.feedback import graded_students
from coursekit.course.submitted import find_hand_ins
from coursekit.labs.lab import find_labs

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from coursekit.course.folder import Course


@dataclass(frozen=True)
class LabStatus:
    """The state of one lab; counts are of students.

    Attributes:
        is_released: Whether students can fetch it.
        due: When it is due, in UTC; None if `course.toml` does not say.
        num_collected: Students who have handed in.
        num_late: Those of them whose version that counts came after it was due for them.
        num_damaged: Those in whose version nothing can be graded.
        num_missing: Students of the gradebook who have handed in nothing of a released lab.
        num_graded: Hand-ins in the gradebook.
        num_to_run: Hand-ins that can be graded and were not, or not as they are now.
        num_waiting: Graded ones with cells that still wait for a person's points.
        num_feedback: Pages of feedback.
        mean_points: Mean of the graded hand-ins; None if there are none.
        max_points: Points of a perfect hand-in; 0 when it was never released.
    """

    lab: str
    is_released: bool
    due: datetime | None
    num_collected: int
    num_late: int
    num_damaged: int
    num_missing: int
    num_graded: int
    num_to_run: int
    num_waiting: int
    num_feedback: int
    mean_points: float | None
    max_points: float


def course_status(course: Course) -> tuple[LabStatus, ...]:
    """Return the state of every lab of the checkout."""
    with course.gradebook() as gradebook:
        assignments = {assignment.name: assignment for assignment in gradebook.assignments}
        return tuple(_status(course, lab.name, assignments.get(lab.name), gradebook) for lab in find_labs(course.root))


def _status(course: Course, lab: str, assignment: Any, gradebook: Any) -> LabStatus:
    submissions = list(assignment.submissions) if assignment else []
    points = [points_of(entry) for entry in submissions]
    hand_ins = find_hand_ins(course, [lab])
    whole = [one for one in hand_ins if one.notebook]
    due = {one.student: due_of(course, gradebook, lab, one.student) for one in hand_ins}
    graded = {entry.student_id: entry.timestamp for entry in submissions}
    return LabStatus(
        lab,
        course.outbound(lab).is_dir(),
        course.due(lab) or (assignment.duedate if assignment else None),
        len(hand_ins),
        sum(late_s(one.timestamp, due[one.student]) > 0 for one in hand_ins),
        len(hand_ins) - len(whole),
        len({student.id for student in gradebook.students} - due.keys()) if course.outbound(lab).is_dir() else 0,
        len(graded_students(course, lab)),
        sum(one.student not in graded or graded[one.student] != one.timestamp for one in whole),
        sum(bool(entry.needs_manual_grade) for entry in submissions),
        len(course.students_in("feedback", f"{lab}/{lab}.html")),
        sum(points) / len(points) if points else None,
        float(assignment.max_score or 0) if assignment else 0.0,
    )
