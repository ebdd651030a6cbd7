"""Write grades as tables that learning platforms can import.

The formats follow the platforms' manuals.
Moodle finds columns by their headers, and students by e-mail address or ID number (docs.moodle.org, "Grade import").
Canvas expects the columns Student, ID, SIS User ID, SIS Login ID and Section before the columns of the assignments
("Import grades" in its guides).
"""

import csv
import io
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from coursekit.course.folder import Course
from coursekit.course.roster import Student
from coursekit.course.status.points import read_points
from coursekit.errors import CourseKitError

FORMULA = ("=", "+", "-", "@")  # characters that begin a formula in some spreadsheets


@dataclass(frozen=True)
class Grades(Student):
    """A student and the student's points.

    Attributes:
        points: The points for each lab, after the late penalty; labs that were not handed in are missing.
        num_waiting: Number of hand-ins with cells that still wait for manual points.
    """

    points: Mapping[str, float] = field(default_factory=dict)
    num_waiting: int = 0


@dataclass(frozen=True)
class GradeTable:
    """All grades of a course: the maximum points of each lab, and the students in the class, sorted by name.

    Attributes:
        left_out: Ids of students who are in the gradebook but not on the roster.
    """

    max_points: Mapping[str, float]
    students: tuple[Grades, ...]
    left_out: tuple[str, ...] = ()


def read_grades(course: Course) -> GradeTable:
    """Read all students' points from the gradebook; labs that were never released are left out.

    Raises:
        CourseKitError: no lab was released.
    """
    points = read_points(course)
    maxima = {lab: most for lab, cells in sorted(points.max_points.items()) if (most := sum(cells.values()))}
    if not maxima:
        raise CourseKitError(
            "no lab has been released yet, so nobody has points: run `coursekit course release`.", "labs.none-released"
        )
    students = []
    for student in sorted(points.roster, key=lambda one: (one.last_name, one.first_name, one.id)):
        graded = {lab: points.graded[student.id, lab] for lab in maxima if (student.id, lab) in points.graded}
        totals = {lab: one.total for lab, one in graded.items()}
        num_waiting = sum(one.waits for one in graded.values())
        students.append(Grades(**vars(student), points=totals, num_waiting=num_waiting))
    left_out = {*points.students} - {student.id for student in students}
    return GradeTable(maxima, tuple(students), tuple(sorted(left_out)))


def plain(table: GradeTable) -> str:
    """Return the table as CSV for spreadsheets.

    It also has each student's total, and the number of the student's hand-ins that still wait for manual points.
    """
    columns = ("id", "last_name", "first_name", "email", "lms_user_id")
    rows = [
        [*attrgetter(*columns)(one), *_points(one, table), _number(sum(one.points.values())), one.num_waiting]
        for one in table.students
    ]
    return to_csv([[*columns, *table.max_points, "total", "waiting_for_manual_points"], *rows])


def moodle(table: GradeTable) -> str:
    """Return the table as CSV for Moodle's "Import grades from CSV", which maps columns by their headers."""
    header = ["First name", "Last name", "Username", "ID number", "Email address", *table.max_points]
    rows = [
        [one.first_name, one.last_name, one.id, one.lms_user_id, one.email, *_points(one, table)]
        for one in table.students
    ]
    return to_csv([header, *rows])


def canvas(table: GradeTable) -> str:
    """Return the table as CSV for Canvas's gradebook; the second line holds the maximum points."""
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *table.max_points]
    maxima = ["    Points Possible", "", "", "", "", *map(_number, table.max_points.values())]
    rows = []
    for one in table.students:
        name = ", ".join(filter(None, (one.last_name, one.first_name)))
        rows.append([name, one.lms_user_id, "", one.id, "", *_points(one, table)])
    return to_csv([header, maxima, *rows])


FORMATS: Mapping[str, Callable[[GradeTable], str]] = {"csv": plain, "moodle": moodle, "canvas": canvas}


def _points(student: Grades, table: GradeTable) -> list[str]:
    return [_number(student.points[lab]) if lab in student.points else "" for lab in table.max_points]


def _number(value: float) -> str:
    return f"{round(value, 4):g}"


def to_csv(rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV, with every value changed so that no spreadsheet reads it as a formula."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([_harmless(value) for value in row] for row in rows)
    return text.getvalue()


def _harmless(value: object) -> str:
    """Return a value as text that no spreadsheet reads as a formula; names in a gradebook may contain anything."""
    text = "".join(one for one in str(value) if unicodedata.category(one) != "Cc")
    return f"'{text}" if text.startswith(FORMULA) else text
