"""The progress of a class: how far each student is with each lab, and what the class missed most."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from coursekit.course.progress.graded_notebooks import has_former_tests, read_graded
from coursekit.course.progress.members import Member, find_members
from coursekit.course.progress.missed import find_missed
from coursekit.course.progress.points import read_points
from coursekit.course.progress.signs_of_work import NewestHandIn, Sign, Signs, find_handed_in, find_signs
from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbformat import NotebookNode

    from coursekit.course.folder import Course
    from coursekit.course.progress.points import LabPoints, Points
    from coursekit.course.report.properties import Property
    from coursekit.labs.lab import Lab

STEPS = ("fetched", "run", "handed in", "graded")


@dataclass(frozen=True)
class StudentProgress:
    """How far one student is with one lab.

    Attributes:
        steps: For each of `STEPS` whether it was done; None where nothing tells.
        num_run: Code cells that carry the number of an execution, where that was seen.
        num_code: Code cells of that notebook.
        num_new: Versions in the exchange that were not collected yet.
        points: Points; None when not graded.
        waits: Whether cells wait for a person's points.
        has_feedback: Whether there is a page of feedback.
    """

    steps: tuple[bool | None, bool | None, bool, bool]
    num_run: int = 0
    num_code: int = 0
    num_new: int = 0
    points: float | None = None
    waits: bool = False
    has_feedback: bool = False


@dataclass(frozen=True)
class LabProgress:
    """One lab over the class.

    Attributes:
        is_released: Whether students find it in the exchange.
        max_points: Points of a perfect hand-in now; 0 when it was never released.
        progress: By id of a student.
        missed: The lab's graded cells, the one that most missed first.
        num_former: Hand-ins graded with tests or points that are no longer the lab's.
    """

    lab: Lab
    is_released: bool
    max_points: float
    progress: Mapping[str, StudentProgress]
    missed: tuple[Property, ...]
    num_former: int


@dataclass(frozen=True)
class ClassProgress:
    """A class.

    Attributes:
        course: nbgrader's id of the course.
        members: Everybody known; those on the roster first.
        labs: Labs in their order.
        homes: Pattern of the homes that were looked into; '' for none.
        num_dark: Members whose homes were looked for and could not be read.
        is_anonymous: Whether members carry numbers for names.
    """

    course: str
    members: tuple[Member, ...]
    labs: tuple[LabProgress, ...]
    homes: str = ""
    num_dark: int = 0
    has_roster: bool = True
    is_anonymous: bool = False

    @property
    def counted(self) -> tuple[Member, ...]:
        """The members that numbers are about."""
        return tuple(member for member in self.members if member.is_counted)


def read_class(course: Course, labs: Sequence[Lab], homes: str = "", *, anonymous: bool = False) -> ClassProgress:
    """Read where a class stands; `anonymous` gives numbers for names.

    `homes` is a pattern of students' homes with `{student}`; '' looks into none.

    Raises:
        CourseKitError: the roster is wrong, or the gradebook cannot be reached.
    """
    points = read_points(course)
    handed_in = find_handed_in(course, [lab.name for lab in labs])
    known = {*points.students, *(student for student, _ in (*handed_in, *points.graded))}
    members, has_roster = find_members(course, known, anonymous=anonymous)
    signs = {
        key: find_signs(*key, handed_in.get(key, NewestHandIn()), homes, course.settings.name)
        for key in product((member.id for member in members), (lab.name for lab in labs))
    }
    seen = {(student, sign.home.has_notebook) for (student, _), sign in signs.items() if sign.home}
    dark = {student for student, _ in seen} - {student for student, has_notebook in seen if has_notebook is not None}
    progress = tuple(_lab(course, lab, members, points, handed_in, signs) for lab in labs)
    found = ClassProgress(course.settings.name, members, progress, homes, len(dark), has_roster, anonymous)
    return _without_messages(found) if anonymous else found


def _without_messages(found: ClassProgress) -> ClassProgress:
    """Remove the messages of tests: a student's own error may hold a name or a path."""
    labs = (
        replace(lab, missed=tuple(replace(one, example="", num_alike=0) for one in lab.missed)) for lab in found.labs
    )
    return replace(found, labs=tuple(labs))


def _lab(  # noqa: PLR0913, PLR0917  # all that is known of a class
    course: Course,
    lab: Lab,
    members: Sequence[Member],
    points: Points,
    handed_in: Mapping[tuple[str, str], NewestHandIn],
    signs: Mapping[tuple[str, str], Signs],
) -> LabProgress:
    name = lab.name
    feedback = course.students_in("feedback", f"{name}/{name}.html")
    progress = {
        one.id: _progress(
            handed_in.get((one.id, name), NewestHandIn()),
            points.graded.get((one.id, name)),
            signs[one.id, name],
            has_feedback=one.id in feedback,
        )
        for one in members
    }
    counted = [one.id for one in members if one.is_counted and (one.id, name) in points.graded]
    notebooks = {student: read_graded(course.autograded(name, student), name) for student in counted}
    released: NotebookNode | None = None
    with suppress(CourseKitError):  # neither released nor built
        released = course.released(name)
    sources = {cell.id: cell.source for cell in released.cells} if released else {}
    cells = points.cells.get(name, [])
    return LabProgress(
        lab,
        course.outbound(name).is_dir(),
        sum(cell.max_points for cell in cells),
        progress,
        find_missed(cells, {student: points.graded[student, name] for student in counted}, notebooks, released),
        sum(has_former_tests(notebook, cells, sources) for notebook in notebooks.values()),
    )


def _progress(
    handed_in: NewestHandIn, graded: LabPoints | None, signs: Signs, *, has_feedback: bool
) -> StudentProgress:
    is_in = handed_in.folder is not None or graded is not None
    hand_in, home = signs.hand_in, signs.home or Sign()
    seen = max(home, hand_in, key=lambda one: one.num_run)
    has_run = home.has_run or hand_in.has_run
    if not has_run:  # whoever handed in without a sign of a run may have cleared the outputs
        has_run = None if is_in else home.has_run
    return StudentProgress(
        (True if is_in else home.has_notebook, has_run, is_in, graded is not None),
        seen.num_run,
        seen.num_code,
        handed_in.num_new,
        graded.total if graded else None,
        waits=bool(graded and graded.waits),
        has_feedback=has_feedback,
    )
