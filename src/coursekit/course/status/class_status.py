"""Where a class stands: what each student handed in of each lab, what was graded, and what the class missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from nbformat import NotebookNode

from coursekit.course.collect import read_inbound
from coursekit.course.due import doubts_of_dates, effective_due, late_s
from coursekit.course.folder import Course
from coursekit.course.roster import ROSTER, read_roster, speller
from coursekit.course.status.missed import Property, find_missed, has_former_tests, read_graded
from coursekit.course.status.points import LabPoints, Points, read_points
from coursekit.course.versions import find_hand_ins, read_versions
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import HandIn
from coursekit.labs.lab import Lab
from coursekit.text import counted, first_few

WEAK = 0.5  # of the points: who has less needs help


class State(Enum):
    """How far a student is with a lab; the value is what is shown."""

    NOT_RELEASED = ""
    MISSING = "missing"
    TO_COLLECT = "to collect"
    DAMAGED = "damaged"
    TO_GRADE = "to grade"
    GRADED = "graded"


@dataclass(frozen=True)
class StudentStatus:
    """How far one student is with one lab.

    Attributes:
        is_in: Whether a version was collected.
        num_new: Versions in the exchange that were not collected yet.
        is_late: Whether the version that counts came after it was due for them.
        is_damaged: Whether nothing in that version can be graded.
        needs_run: Whether it was not graded, or not as it or the lab's tests are now.
        points: Points; None when not graded.
        waits: Whether cells wait for a person's points.
        has_feedback: Whether there is a page of feedback.
    """

    state: State
    is_in: bool = False
    num_new: int = 0
    is_late: bool = False
    is_damaged: bool = False
    needs_run: bool = False
    points: float | None = None
    waits: bool = False
    has_feedback: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """What else there is to say, in words that begin with letters of their own."""
        words = {
            "late": self.is_late,
            "by hand": self.waits,
            "run again": self.needs_run and self.state is State.GRADED,
            "new version": self.num_new and self.state is not State.TO_COLLECT,
            "feedback": self.has_feedback,
        }
        return tuple(word for word, is_so in words.items() if is_so)


@dataclass(frozen=True)
class LabStatus:
    """One lab over the class.

    Attributes:
        is_released: Whether students find it in the exchange.
        due: When it is due for all, UTC without an offset; None if nothing says so.
        max_points: Points of a perfect hand-in now; 0 when it was never released.
        students: By id.
        missed: The lab's graded cells, the one that most missed first.
    """

    lab: Lab
    is_released: bool
    due: datetime | None
    max_points: float
    students: Mapping[str, StudentStatus]
    missed: tuple[Property, ...]


@dataclass(frozen=True)
class ClassStatus:
    """A class.

    Attributes:
        course: nbgrader's id of the course.
        roster: Ids of the students whom numbers are about.
        others: Ids of those who handed in or are in the gradebook, and are not on the roster.
        notes: One sentence for each thing that an instructor should know about these numbers, or do.
        is_anonymous: Whether it is shown without students, and without the messages that they got.
    """

    course: str
    roster: tuple[str, ...]
    others: tuple[str, ...]
    labs: tuple[LabStatus, ...]
    notes: tuple[str, ...]
    is_anonymous: bool = False

    @property
    def rows(self) -> dict[str, list[str]]:
        """A row for each thing that is said of every lab: its title, and a text for each lab."""
        rows: dict[str, list[str]] = {}
        for lab in self.labs:
            those = [lab.students[student] for student in self.roster]
            points = [one.points for one in those if one.points is not None]
            column = {
                "released": "yes" if lab.is_released else "",
                "due (UTC)": f"{lab.due:%Y-%m-%d\n%H:%M}" if lab.due else "",
                "handed in": sum(one.is_in for one in those),
                "  late": sum(one.is_late for one in those),
                "  damaged": sum(one.is_damaged for one in those),
                "missing": sum(one.state is State.MISSING for one in those),
                "graded": len(points),
                "needs a run": sum(one.needs_run for one in those),
                "to do by hand": sum(one.waits for one in those),
                "feedback": sum(one.has_feedback for one in those),
                "mean points": f"{sum(points) / len(points):.1f} / {lab.max_points:g}" if points else "",
            }
            for title, value in column.items():
                rows.setdefault(title, []).append(str(value))
        return rows


def read_class(course: Course, labs: Sequence[Lab], *, anonymous: bool = False) -> ClassStatus:
    """Read where a class stands.

    Raises:
        CourseKitError: the roster is wrong, or the gradebook cannot be reached.
    """
    points = read_points(course)
    names = [lab.name for lab in labs]
    hand_ins = {(one.student, one.lab): one for one in find_hand_ins(course, names)}
    new = _new_versions(course, names, points.students)
    path = course.folder / ROSTER
    known = {*points.students, *(student for student, _ in (*hand_ins, *new, *points.graded))}
    roster = {student.id for student in read_roster(path)} if path.is_file() else known
    counted_ones = tuple(sorted(roster, key=str.casefold))
    others = tuple(sorted(known - roster, key=str.casefold))
    states = tuple(_lab(course, lab, counted_ones, others, points, hand_ins, new) for lab in labs)
    found = ClassStatus(course.settings.name, counted_ones, others, states, (), anonymous)
    if anonymous:
        found = replace(found, labs=tuple(map(_without_messages, states)))
    return replace(found, notes=tuple(_notes(course, found, has_roster=path.is_file())))


def _new_versions(course: Course, labs: Collection[str], ids: Iterable[str]) -> Counter[tuple[str, str]]:
    """Return by student and lab how many versions in the exchange were not collected yet."""
    spelled = speller(ids)
    new: Counter[tuple[str, str]] = Counter()
    received: dict[tuple[str, str], set[str]] = {}
    for path in sorted(course.inbound.iterdir()) if course.inbound.is_dir() else ():
        name = read_inbound(path)
        if name and name["lab"] in labs:
            key = spelled(name["student"]), name["lab"]
            if key not in received:
                received[key] = {version.received for version in read_versions(course.hand_ins(key[1], key[0]))}
            new[key] += path.name not in received[key]
    return new


def _lab(  # noqa: PLR0913, PLR0917  # all that is known of a class
    course: Course,
    lab: Lab,
    roster: Sequence[str],
    others: Sequence[str],
    points: Points,
    hand_ins: Mapping[tuple[str, str], HandIn],
    new: Mapping[tuple[str, str], int],
) -> LabStatus:
    name = lab.name
    cells = points.cells.get(name, [])
    graded = {one: points.graded[one, name] for one in (*roster, *others) if (one, name) in points.graded}
    notebooks = {student: read_graded(course.autograded(name, student), name) for student in graded}
    released: NotebookNode | None = None
    with suppress(CourseKitError):  # neither released nor built
        released = course.released(name)
    sources = {cell.id: cell.source for cell in released.cells} if released else {}
    former = {one for one, notebook in notebooks.items() if has_former_tests(notebook, cells, sources)}
    is_released = course.outbound(name).is_dir()
    feedback = course.students_in("feedback", f"{name}/{name}.html")
    students = {}
    for one in (*roster, *others):
        own = graded.get(one)
        due = effective_due(course, name, one, points.due.get(name), own.extension if own else None)
        state = _student(hand_ins.get((one, name)), own, due, new.get((one, name), 0), is_former=one in former)
        if state.state is State.MISSING and not is_released:
            state = replace(state, state=State.NOT_RELEASED)
        students[one] = replace(state, has_feedback=one in feedback)
    return LabStatus(
        lab=lab,
        is_released=is_released,
        due=course.due(name) or points.due.get(name),
        max_points=sum(cell.max_points for cell in cells),
        students=students,
        missed=find_missed(cells, {one: graded[one] for one in roster if one in graded}, notebooks, released),
    )


def _student(
    hand_in: HandIn | None, graded: LabPoints | None, due: datetime | None, num_new: int, *, is_former: bool
) -> StudentStatus:
    is_damaged, needs_run = False, False
    if hand_in:
        is_damaged = hand_in.notebook is None
        needs_run = not is_damaged and (not graded or graded.timestamp != hand_in.timestamp or is_former)
    if graded:
        state = State.GRADED
    elif hand_in:
        state = State.DAMAGED if is_damaged else State.TO_GRADE
    else:
        state = State.TO_COLLECT if num_new else State.MISSING
    return StudentStatus(
        state=state,
        is_in=bool(hand_in or graded),
        num_new=num_new,
        is_late=late_s(hand_in.timestamp if hand_in else graded.timestamp if graded else None, due) > 0,
        is_damaged=is_damaged,
        needs_run=needs_run,
        points=graded.total if graded else None,
        waits=bool(graded and graded.waits),
    )


def _without_messages(lab: LabStatus) -> LabStatus:
    """Remove the messages of tests: a student's own error may hold a name or a path."""
    return replace(lab, missed=tuple(replace(one, example="", num_alike=0) for one in lab.missed))


def _notes(course: Course, found: ClassStatus, *, has_roster: bool) -> Iterator[str]:
    if not found.roster:
        yield "Nobody is known yet: `coursekit course init --roster FILE` puts students onto the roster."
    elif not has_roster:
        yield "The course has no roster: who never handed in and is not in the gradebook is missing here."
    if found.others and not found.is_anonymous:
        yield f"Not on the roster, shown at the end and not counted: {first_few(found.others)}."
    for lab in found.labs:
        yield from _notes_of_lab(lab, names_students=not found.is_anonymous)
    for fault in course.faults_of_exchange():
        yield f"{fault}: a sticky bit is set by `coursekit course init`; a folder of another account is not yours."
    if not found.is_anonymous:
        yield from (f"{doubt}." for doubt in doubts_of_dates(course, (*found.roster, *found.others)))


def _notes_of_lab(lab: LabStatus, *, names_students: bool) -> Iterator[str]:
    name, students = lab.lab.name, lab.students
    if not lab.is_released:
        yield f"{name} was never released: `coursekit course release {name[:2]}`."
    if num_new := sum(one.num_new > 0 for one in students.values()):
        whose = counted(num_new, "student")
        yield f"{name}: new hand-ins of {whose} lie in the exchange: `coursekit course collect {name[:2]}`."
    if num_changed := sum("run again" in one.marks for one in students.values()):
        whose = counted(num_changed, "student")
        yield f"{name}: hand-ins or tests of {whose} changed after grading: `coursekit grade {name[:2]}`."
    graded = {student: one.points for student, one in students.items() if one.points is not None and not one.waits}
    weak = [student for student, points in graded.items() if points < WEAK * lab.max_points]
    if weak and names_students:
        yield f"{name}: less than half of the points: {first_few(weak)}."
