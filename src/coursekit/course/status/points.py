"""The points of a class as the gradebook has them: each student and lab, and each graded cell of a lab."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from coursekit.course.folder import Course


@dataclass
class LabPoints:
    """What a student has for one lab.

    Attributes:
        points: by name of a cell; None where neither tests nor a person gave any yet.
        waits: whether a cell asks for a person.
        penalty: points that are taken off as it was late.
        timestamp: when the graded version was handed in, UTC without an offset.
    """

    points: dict[str, float | None] = field(default_factory=dict)
    waits: bool = False
    penalty: float = 0.0
    timestamp: datetime | None = None

    @property
    def total(self) -> float:
        """The points of the lab, as exports have them."""
        return max(0.0, sum(points or 0.0 for points in self.points.values()) - self.penalty)


@dataclass(frozen=True)
class Points:
    """The gradebook.

    Attributes:
        students: Ids.
        due: By lab its due date, UTC without an offset.
        max_points: By lab the points of each of its cells now.
        graded: By student and lab what was graded.
    """

    students: tuple[str, ...]
    due: dict[str, datetime | None]
    max_points: dict[str, dict[str, float]]
    graded: dict[tuple[str, str], LabPoints]


def read_points(course: Course) -> Points:
    """Read the gradebook in a few queries: nbgrader's own objects take one for each grade.

    Raises:
        CourseKitError: the database cannot be reached.
    """
    with course.gradebook() as gradebook:
        cells = {}  # by id its lab and name
        max_points: dict[str, dict[str, float]] = defaultdict(dict)
        for assignment in gradebook.assignments:
            for notebook in assignment.notebooks:
                for cell in (*notebook.grade_cells, *notebook.task_cells):
                    cells[cell.id] = (assignment.name, cell.name)
                    max_points[assignment.name][cell.name] = cell.max_score
        students = tuple(student.id for student in gradebook.students)
        due = {assignment.name: assignment.duedate for assignment in gradebook.assignments}
        return Points(students, due, dict(max_points), _graded(gradebook.db, cells))


def _graded(session: Any, cells: dict[str, tuple[str, str]]) -> dict[tuple[str, str], LabPoints]:
    from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook  # heavy

    graded: dict[tuple[str, str], LabPoints] = defaultdict(LabPoints)
    notebooks = (
        session.query(SubmittedAssignment, Assignment.name, SubmittedNotebook.late_submission_penalty)
        .select_from(SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
    )
    for submission, lab, penalty in notebooks:
        entry = graded[submission.student_id, lab]
        entry.penalty += penalty or 0.0
        entry.timestamp = submission.timestamp
    grades = (
        session.query(
            SubmittedAssignment.student_id,
            Grade.cell_id,
            Grade.score,
            Grade.auto_score.is_(None) & Grade.manual_score.is_(None),
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    )
    for student, cell_id, score, is_open, waits in grades:
        if cell_id in cells:
            lab, name = cells[cell_id]
            entry = graded[student, lab]
            entry.points[name] = None if is_open else score
            entry.waits |= bool(waits)
    return dict(graded)
