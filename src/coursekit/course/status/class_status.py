"""Find out where a class stands: which labs were handed in and graded, and which points were missed."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from nbformat import NotebookNode

from coursekit.course.folder import Course, due_of
from coursekit.course.follow_settings import differences
from coursekit.course.late_penalty import late_s
from coursekit.course.roster import ROSTER, username_key
from coursekit.course.settings import SETTINGS, machine_zone
from coursekit.course.status.missed import Property, find_missed, read_messages
from coursekit.course.status.points import LabPoints, Points, count_for_teams, read_points
from coursekit.course.versions import find_submissions
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import Submission
from coursekit.labs.lab import Lab
from coursekit.text import first_few


class State(Enum):
    """A student's progress with one lab; the value is the text that is shown."""

    NOT_RELEASED = ""
    MISSING = "missing"
    DAMAGED = "damaged"
    TO_GRADE = "to grade"
    GRADED = "graded"


@dataclass(frozen=True)
class StudentStatus:
    """A student's progress with one lab, in detail.

    Attributes:
        is_late: Whether the version that counts was handed in after the student's due date.
        needs_run: Whether that version can be graded but has not been graded, or has changed since it was graded.
        points: The student's points; None if nothing was graded.
        waits: Whether some cells still wait for manual points.
    """

    state: State
    is_late: bool = False
    needs_run: bool = False
    points: float | None = None
    waits: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """Further remarks, each of which begins with a different letter (tables show only the letter)."""
        words = {
            "late": self.is_late,
            "by hand": self.waits,
            "run again": self.needs_run and self.state is State.GRADED,
        }
        return tuple(word for word, is_so in words.items() if is_so)


@dataclass(frozen=True)
class LabStatus:
    """The state of one lab across the class.

    Attributes:
        is_released: Whether the lab is in the exchange, where students find it.
        due: The due date without extensions, in UTC without an offset; None if the lab has no due date.
        max_points: The points that a perfect hand-in gets at present; 0 if the lab was never released.
        students: The status of each student, by id.
        missed: The lab's graded cells, beginning with the cell that the most students missed.
    """

    lab: Lab
    is_released: bool
    due: datetime | None
    max_points: float
    students: Mapping[str, StudentStatus]
    missed: tuple[Property, ...]

    @property
    def has_begun(self) -> bool:
        """Whether the lab was released, or anybody has handed it in."""
        return self.is_released or any(one.state is not State.NOT_RELEASED for one in self.students.values())


@dataclass(frozen=True)
class ClassStatus:
    """The state of a class.

    Attributes:
        course: nbgrader's id of the course.
        roster: Ids of the students who are included in the counts.
        others: Ids of students who handed in something or are in the gradebook, but are not on the roster.
        notes: One sentence for each thing that an instructor should do, or should know about these numbers.
    """

    course: str
    roster: tuple[str, ...]
    others: tuple[str, ...]
    labs: tuple[LabStatus, ...]
    notes: tuple[str, ...]

    @property
    def rows(self) -> dict[str, list[str]]:
        """The rows of a table with a column for each lab: a mapping from each row's title to its texts."""
        rows: dict[str, list[str]] = {}
        for lab in self.labs:
            those = [lab.students[student] for student in self.roster]
            points = [one.points for one in those if one.points is not None]
            num_missing = sum(one.state in {State.MISSING, State.NOT_RELEASED} for one in those)
            column = {
                "released": "yes" if lab.is_released else "",
                "due (UTC)": f"{lab.due:%Y-%m-%d\n%H:%M}" if lab.due else "",
                "collected": len(those) - num_missing,
                "  late": sum(one.is_late for one in those),
                "  damaged": sum(one.state is State.DAMAGED for one in those),
                "missing": num_missing if lab.is_released else 0,
                "graded": len(points),
                "needs a run": sum(one.needs_run for one in those),
                "to do by hand": sum(one.waits for one in those),
                "mean points": f"{sum(points) / len(points):.1f} / {lab.max_points:g}" if points else "",
            }
            for title, value in column.items():
                rows.setdefault(title, []).append(str(value))
        return rows


def read_class(course: Course, labs: Sequence[Lab], submissions: Sequence[Submission] = ()) -> ClassStatus:
    """Read the state of a class from the course's files and gradebook; `submissions` were read before and are reused.

    Raises:
        CourseKitError: the roster is wrong, or the gradebook cannot be reached.
    """
    points = read_points(course)
    found = find_submissions(course, [lab.name for lab in labs], known=submissions)
    hand_ins = {(one.student, one.lab): one for one in found}
    known = {*points.students, *(student for student, _ in (*hand_ins, *points.graded))}
    students = {student.id for student in points.roster}
    roster = tuple(sorted(students, key=str.casefold))
    others = tuple(sorted(known - students, key=str.casefold))
    hand_ins = count_for_teams(course, hand_ins)
    states = tuple(_lab(course, lab, roster, others, points, hand_ins) for lab in labs)
    return ClassStatus(course.settings.name, roster, others, states, tuple(_notes(course, roster, others)))


def _lab(  # noqa: PLR0913, PLR0917  # all that is known about a class
    course: Course,
    lab: Lab,
    roster: Sequence[str],
    others: Sequence[str],
    points: Points,
    hand_ins: Mapping[tuple[str, str], Submission],
) -> LabStatus:
    name = lab.name
    max_points = points.max_points.get(name, {})
    graded = {one: points.graded[one, name] for one in (*roster, *others) if (one, name) in points.graded}
    messages = {student: read_messages(course.autograded(name, student), name) for student in graded}
    released: NotebookNode | None = None
    with suppress(CourseKitError):  # the lab is neither released nor built
        released = course.released(name)
    is_released = course.outbound(name).is_dir()
    empty = State.MISSING if is_released else State.NOT_RELEASED
    students = {}
    for one in (*roster, *others):
        students[one] = _student(hand_ins.get((one, name)), graded.get(one), due_of(course, name, one), empty)
    return LabStatus(
        lab=lab,
        is_released=is_released,
        due=course.due(name),
        max_points=sum(max_points.values()),
        students=students,
        missed=find_missed(max_points, {one: graded[one] for one in roster if one in graded}, messages, released),
    )


def _student(hand_in: Submission | None, graded: LabPoints | None, due: datetime | None, empty: State) -> StudentStatus:
    can_run = bool(hand_in and hand_in.notebook)
    if graded:
        state = State.GRADED
    elif hand_in:
        state = State.TO_GRADE if can_run else State.DAMAGED
    else:
        state = empty
    counts = hand_in or graded
    return StudentStatus(
        state=state,
        is_late=late_s(counts.timestamp if counts else None, due) > 0,
        needs_run=hand_in is not None and can_run and (not graded or graded.timestamp != hand_in.timestamp),
        points=graded.total if graded else None,
        waits=bool(graded and graded.waits),
    )


def _notes(course: Course, roster: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    if not (course.folder / ROSTER).is_file():
        yield (
            "The course has no roster, so students who never handed in are missing here: "
            "`coursekit course init --roster FILE` adds them. [roster.none]"
        )
    if not course.settings.timezone and (course.settings.due or course.settings.extensions):
        zone = machine_zone() or "Europe/Prague"
        yield (
            f"{SETTINGS} names no time zone, so due dates without an offset and late days follow this machine's: "
            f'a line `timezone = "{zone}"` above [due] makes them the same everywhere. [settings.no-timezone]'
        )
    with course.gradebook() as gradebook:
        yield from map(str, differences(course, gradebook))
    if others:
        yield f"Not on the roster, shown at the end and not counted: {first_few(others)}. [roster.strangers]"
    for fault in course.faults_of_exchange():
        remedy = "`coursekit course init` sets a sticky bit; a folder that belongs to another account is not yours"
        yield f"{fault.words}: {remedy}. [{fault.code}]"
    known = set(map(username_key, (*roster, *others)))
    for lab, dates in course.settings.extensions.items():
        for student in dates:
            if username_key(student) not in known:
                yield f"{student} has an extension for {lab} but is not on the roster. [extension.stranger]"
