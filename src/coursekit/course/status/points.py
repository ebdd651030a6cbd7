"""The points of a class as the gradebook has them, and what it missed, in the lab's own words."""

import functools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode

from coursekit.course.folder import Course, due_of
from coursekit.course.late_penalty import late_s
from coursekit.course.roster import Student
from coursekit.grading.submission.student_folder import Submission, shown
from coursekit.grading.submission.students_files import RefusedFileError, read_file
from coursekit.labs.cells import cell_name, error_in

NUM_CHARACTERS = 300  # of a message
CHECK = re.compile(r"""\bcheck\(\s*(["'])(?P<title>.+?)\1,\s*section=(["'])(?P<section>.+?)\3""")
HEADING = re.compile(r"^#{1,2} (?P<text>.+?)(?: \(\d+ minutes?\))?$", re.MULTILINE)
SECTION_NUMBER = re.compile(r"(?P<number>[\w.]+)\. ")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
HandedIn = TypeVar("HandedIn", "LabPoints", Submission)


@dataclass
class LabPoints:
    """What a student has for one lab.

    Attributes:
        points: by name of a cell; None where neither tests nor a person gave any yet.
        waits: whether a cell asks for a person.
        penalty: points that are taken off as it was late.
        timestamp: when the graded version was handed in, UTC without an offset.
        student: who handed it in.
    """

    points: dict[str, float | None] = field(default_factory=dict)
    waits: bool = False
    penalty: float = 0.0
    timestamp: datetime | None = None
    student: str = ""

    @property
    def total(self) -> float:
        """The points of the lab, as exports have them."""
        return max(0.0, sum(points or 0.0 for points in self.points.values()) - self.penalty)


@dataclass(frozen=True)
class Points:
    """The gradebook.

    Attributes:
        roster: The class, as `Course.students` knows it.
        students: Ids of all who are in the gradebook.
        max_points: By lab the points of each of its cells now.
        graded: By student and lab what was graded; for all of a team what counts of theirs.
    """

    roster: tuple[Student, ...]
    students: tuple[str, ...]
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
        graded = count_for_teams(course, _graded(gradebook.db, cells))
        return Points(course.students(gradebook), students, dict(max_points), graded)


def count_for_teams(course: Course, found: Mapping[tuple[str, str], HandedIn]) -> dict[tuple[str, str], HandedIn]:
    """Give every member of a team, by student and lab, the one of theirs that counts.

    As among versions of one student, that is the newest that can be graded, and a late one only if none came in time.
    Whose folder in `submitted/` was removed, counts only if nobody of the team has one.
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


def lost_points(before: Points, now: Points) -> tuple[str, ...]:
    """Return a sentence for each student, or team, who has fewer points of a lab than before."""
    those: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (student, lab), one in sorted(now.graded.items()):
        former = before.graded.get((student, lab), one)
        if one.total < former.total:
            why = ""
            if (one.student, one.timestamp) != (former.student, former.timestamp):
                why = (
                    f": what {one.student} handed in at {shown(one.timestamp)} counts now, in place of what "
                    f"{former.student} handed in at {shown(former.timestamp)}; docs/instructor.md says under "
                    "“Which version counts” how to exclude a version"
                )
            those[lab, f"points fell from {former.total:g} to {one.total:g}{why}"].append(student)
    return tuple(f"{', '.join(students)}, {lab}: {what}." for (lab, what), students in those.items())


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


@dataclass(frozen=True)
class Property:
    """One graded cell of a lab over the class.

    Attributes:
        name: The cell's.
        title: The property's name; the cell's own where no check names one.
        section: Heading of the lab's section that explains it; '' if no section does.
        max_points: Its points now.
        num_graded: Students who have points for it, be it 0.
        num_missed: Those of them who have less than all points.
        points: Points of all who are graded, each at most the cell's.
        num_waiting: Students whose answer waits for a person.
        example: A message that most of those share who missed a test, apart from numbers.
        num_alike: How many share it.
    """

    name: str
    title: str
    section: str
    max_points: float
    num_graded: int
    num_missed: int
    points: float
    num_waiting: int = 0
    example: str = ""
    num_alike: int = 0


def find_missed(
    max_points: Mapping[str, float],
    graded: Mapping[str, LabPoints],
    messages: Mapping[str, Mapping[str, str]],
    released: NotebookNode | None,
) -> tuple[Property, ...]:
    """Return every cell with points, the one that most students missed first, then as the lab has them.

    All is of one lab: points by cell, what was graded by student, what its tests said by student and cell; and the
    lab as students get it, for names and sections, None when it was never built.
    """
    words = wordings(released) if released else {}
    order = {name: i for i, name in enumerate(words)}
    found = []
    for name, most in max_points.items():
        if not most:
            continue
        given = {student: one.points[name] for student, one in graded.items() if name in one.points}
        known = {student: max(0.0, min(value, most)) for student, value in given.items() if value is not None}
        missed = [student for student, value in known.items() if value < most]
        example, num_alike = _most_common([messages[student].get(name, "") for student in missed])
        title, section = words.get(name, (name, ""))
        one = Property(
            name=name,
            title=title,
            section=section,
            max_points=most,
            num_graded=len(known),
            num_missed=len(missed),
            points=sum(known.values()),
            num_waiting=len(given) - len(known),
            example=example,
            num_alike=num_alike,
        )
        found.append(one)
    return tuple(
        sorted(found, key=lambda one: (-one.num_missed / max(one.num_graded, 1), order.get(one.name, len(order))))
    )


def _most_common(messages: Sequence[str]) -> tuple[str, int]:
    """Return a message that most share, and how many do; numbers differ from run to run, as inputs are random."""
    messages = [message for message in messages if message]
    if not messages:
        return "", 0
    shapes = [NUMBER.sub("#", message) for message in messages]
    shape, num_alike = Counter(shapes).most_common(1)[0]
    return messages[shapes.index(shape)], num_alike


def wordings(notebook: NotebookNode) -> Mapping[str, tuple[str, str]]:
    """Return by name of a cell its title and section, for every cell of a released notebook that nbgrader knows."""
    headings = [found["text"].strip() for cell in notebook.cells for found in _headings(cell)]
    numbered = {found["number"]: heading for heading in headings if (found := SECTION_NUMBER.match(heading))}
    words, last = {}, ""
    for cell in notebook.cells:
        last = next((found["text"].strip() for found in reversed(_headings(cell))), last)
        checks = list(CHECK.finditer(cell.source)) if cell.cell_type == "code" else []
        title = ", ".join(dict.fromkeys(check["title"] for check in checks)) or cell_name(cell)
        section = numbered.get(checks[0]["section"], f"section {checks[0]['section']}") if checks else last
        words[cell_name(cell)] = (title, section)
    return words


def _headings(cell: NotebookNode) -> list[re.Match[str]]:
    return list(HEADING.finditer(cell.source)) if cell.cell_type == "markdown" else []


def read_messages(folder: Path, lab: str) -> dict[str, str]:
    """Return by cell what the tests said in `autograded/<student>/<lab>`; nothing if that cannot be read."""
    try:
        cells = json.loads(read_file(folder, f"{lab}.ipynb"))["cells"]
        marks = [(cell, cell["metadata"].get("nbgrader", {})) for cell in cells]
        return {mark["grade_id"]: error_in(cell)[:NUM_CHARACTERS] for cell, mark in marks if mark.get("grade")}
    except (RefusedFileError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
