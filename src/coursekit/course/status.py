"""Where a course stands, lab by lab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit.course.export import points_of
from coursekit.course.feedback import graded_students
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
        num_collected: Hand-ins that can be graded or were.
        num_graded: Hand-ins in the gradebook.
        num_waiting: Graded ones with cells that still wait for a person's points.
        num_feedback: Pages of feedback.
        mean_points: Mean of the graded hand-ins; None if there are none.
        max_points: Points of a perfect hand-in; 0 when it was never released.
    """

    lab: str
    is_released: bool
    due: datetime | None
    num_collected: int
    num_graded: int
    num_waiting: int
    num_feedback: int
    mean_points: float | None
    max_points: float


def course_status(course: Course) -> tuple[LabStatus, ...]:
    """Return the state of every lab of the checkout."""
    with course.gradebook() as gradebook:
        assignments = {assignment.name: assignment for assignment in gradebook.assignments}
        return tuple(_status(course, lab.name, assignments.get(lab.name)) for lab in find_labs(course.root))


def _status(course: Course, lab: str, assignment: Any) -> LabStatus:
    submissions = list(assignment.submissions) if assignment else []
    points = [points_of(entry) for entry in submissions]
    return LabStatus(
        lab,
        course.outbound(lab).is_dir(),
        assignment.duedate if assignment else None,
        len(course.students_in("submitted", lab)),
        len(graded_students(course, lab)),
        sum(bool(entry.needs_manual_grade) for entry in submissions),
        len(course.students_in("feedback", f"{lab}/{lab}.html")),
        sum(points) / len(points) if points else None,
        float(assignment.max_score or 0) if assignment else 0.0,
    )
