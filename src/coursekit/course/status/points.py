"""Read the points of a class from the gradebook."""

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from coursekit.course.folder import Course, due_of
from coursekit.course.late_penalty import late_s
from coursekit.course.roster import Student
from coursekit.grading.submission.student_folder import Submission

HandedIn = TypeVar("HandedIn", "LabPoints", Submission)


@dataclass
class LabPoints:
    """A student's points for one lab.

    Attributes:
        points: the points of each cell, keyed by its name; None for a cell to which neither a test nor a person has
            given any points yet.
        waits: whether some cell waits for manual points.
        penalty: the points that lateness costs.
        timestamp: when the graded version was handed in, in UTC without an offset.
        student: the id of the student who handed it in.
    """

    points: dict[str, float | None] = field(default_factory=dict)
    waits: bool = False
    penalty: float = 0.0
    timestamp: datetime | None = None
    student: str = ""

    @property
    def total(self) -> float:
        """The total for the lab after the penalty, at least 0, as exports show it."""
        return max(0.0, sum(points or 0.0 for points in self.points.values()) - self.penalty)


@dataclass(frozen=True)
class Points:
    """The content of the gradebook.

    Attributes:
        roster: The class, as `Course.students` returns it.
        students: Ids of all students in the gradebook.
        max_points: For each lab, the maximum points of each cell at present.
        graded: The points, keyed by student and lab; each member of a team has the points that count for the team.
    """

    roster: tuple[Student, ...]
    students: tuple[str, ...]
    max_points: dict[str, dict[str, float]]
    graded: dict[tuple[str, str], LabPoints]


def read_points(course: Course) -> Points:
    """Read the gradebook in a few queries; with nbgrader's own objects, each grade would need a separate query.

    Raises:
        CourseKitError: the database cannot be reached.
    """
    with course.gradebook() as gradebook:
        cells = {}  # the cell's lab and name, by its id
        max_points: dict[str, dict[str, float]] = defaultdict(dict)
        for assignment in gradebook.assignments:
            for notebook in assignment.notebooks:
                for cell in (*notebook.grade_cells, *notebook.task_cells):
                    cells[cell.id] = (assignment.name, cell.name)
                    max_points[assignment.name][cell.name] = cell.max_score
        students = tuple(student.id for student in gradebook.students)
        graded = count_for_teams(course, _graded(gradebook.db, cells))
        return Points(course.students(gradebook), students, dict(max_points), graded)


def count_for_teams(course: Course, found: Mapping[tuple[str, str], HandedIn]) -> dict[tuple[str, str], HandedIn]:
    """Return hand-ins or points by student and lab; all members of a team get the entry that counts for the team.

    As with the versions of one student, the newest hand-in that can be graded counts, but a late hand-in counts only if
    none was on time. A hand-in whose folder in `submitted/` was removed is considered only if no member of the team has
    such a folder.
    """
    counting = dict(found)
    for team in set(course.teams.values()):
        for lab in {lab for _, lab in found}:
            day = due_of(course, lab, team[0])
            members = [one for one in team if (one, lab) in found]
            there = [one for one in members if course.submitted(lab, one).is_dir()]  # not excluded by hand
            if those := [found[one, lab] for one in there or members]:
                best = max(those, key=functools.partial(_rank, day))
                counting |= dict.fromkeys(((one, lab) for one in team), best)
    return counting


def _rank(due: datetime | None, one: "LabPoints | Submission") -> tuple[bool, bool, datetime]:
    can_run = not isinstance(one, Submission) or bool(one.notebook)
    return can_run, not late_s(one.timestamp, due), one.timestamp or datetime.min  # noqa: DTZ901  # as all times here


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
        entry.student = submission.student_id
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
