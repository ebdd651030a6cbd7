"""The points of a class as the gradebook has them: each student and lab, and each graded cell of a lab."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from coursekit.course.folder import Course


@dataclass(frozen=True)
class GradedCell:
    """One cell with points.

    Attributes:
        max_points: its points now; a hand-in may have been graded when they were others.
        is_manual: whether a person grades it.
        source: its text with hidden tests, as it was released last.
    """

    lab: str
    name: str
    max_points: float
    is_manual: bool
    source: str = ""


@dataclass
class LabPoints:
    """What a student has for one lab.

    Attributes:
        points: by name of a cell; None where neither tests nor a person gave any yet.
        waits: whether a cell asks for a person.
        penalty: points that are taken off as it was late.
        timestamp: when the graded version was handed in, UTC without an offset.
        extension: what formgrader's interface adds to the due date.
    """

    points: dict[str, float | None] = field(default_factory=dict)
    waits: bool = False
    penalty: float = 0.0
    timestamp: datetime | None = None
    extension: timedelta | None = None

    @property
    def total(self) -> float:
        """The points of the lab, as exports have them."""
        return max(0.0, sum(points or 0.0 for points in self.points.values()) - self.penalty)


@dataclass(frozen=True)
class Points:
    """The gradebook: ids of students; by lab its due date and cells with points; by student and lab what was graded."""

    students: tuple[str, ...]
    due: dict[str, datetime | None]
    cells: dict[str, list[GradedCell]]
    graded: dict[tuple[str, str], LabPoints]


def read_points(course: Course) -> Points:
    """Read the gradebook in a few queries: nbgrader's own objects take one for each grade.

    Raises:
        CourseKitError: the database cannot be reached.
    """
    with course.gradebook() as gradebook:
        by_id = _cells(gradebook)
        cells: dict[str, list[GradedCell]] = defaultdict(list)
        for cell in by_id.values():
            cells[cell.lab].append(cell)
        students = tuple(student.id for student in gradebook.students)
        due = {assignment.name: assignment.duedate for assignment in gradebook.assignments}
        return Points(students, due, dict(cells), _graded(gradebook.db, by_id))


def _cells(gradebook: Any) -> dict[str, GradedCell]:
    """Return by id of a cell what it is."""
    found = {}
    for assignment in gradebook.assignments:
        for notebook in assignment.notebooks:
            sources = {cell.name: cell.source or "" for cell in notebook.source_cells}
            manual = {cell.name for cell in (*notebook.solution_cells, *notebook.task_cells)}
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                source = sources.get(cell.name, "")
                found[cell.id] = GradedCell(assignment.name, cell.name, cell.max_score, cell.name in manual, source)
    return found


def _graded(session: Any, cells: dict[str, GradedCell]) -> dict[tuple[str, str], LabPoints]:
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
        entry.timestamp, entry.extension = submission.timestamp, submission.extension
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
            cell = cells[cell_id]
            entry = graded[student, cell.lab]
            entry.points[cell.name] = None if is_open else score
            entry.waits |= bool(waits)
    return dict(graded)
