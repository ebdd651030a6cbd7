"""Teams of the roster: one hand-in counts for all of them, in status, export and feedback, with one due date."""

import re
import shutil

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.roster import Student, write_roster
from coursekit.course.status.class_status import State, StudentStatus, read_class
from coursekit.course.versions import read_submission
from coursekit.labs.lab import find_labs

from .conftest import NAME, edit, later, verdict

# nbgrader leaves files open when it releases feedback.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def of_two(course, enrol):
    """The course with ada and bob in a team, and cyd alone."""
    enrol("cyd")
    write_roster(course.folder / "roster.csv", (Student("ada", team="x"), Student("bob", team="x"), Student("cyd")))
    return find_course(course.root, course.folder)


@pytest.fixture
def points_of(course):
    """Return a function that records these points for students' newest hand-ins, and returns what the export has."""

    def grade(given=()):
        now = find_course(course.root, course.folder)
        for student, points in dict(given).items():
            record(now, verdict(student, points), read_submission(now, NAME, student))
        return {one.id: one.points.get(NAME) for one in read_grades(now).students}

    return grade


def test_the_newest_of_a_team_counts_for_all(course, of_two, hand_in, points_of, call):
    """Points, state and feedback of the team are those of what it handed in last; nobody else's change."""
    hand_in("ada")
    hand_in("cyd")
    collect(of_two, NAME)
    (small, _) = read_class(of_two, find_labs(course.root)).labs
    assert small.students == dict.fromkeys(("ada", "bob", "cyd"), StudentStatus(State.TO_GRADE, needs_run=True))
    assert points_of({"ada": (2, 0), "cyd": (0, 0)}) == {"ada": 2, "bob": 2, "cyd": 0}

    hand_in("bob", at=later(1))
    collect(of_two, NAME)
    (small, _) = read_class(of_two, find_labs(course.root)).labs
    assert [one.needs_run for one in small.students.values()] == [True, True, False]
    assert points_of({"bob": (2, 1)}) == {"ada": 3, "bob": 3, "cyd": 0}
    (small, _) = read_class(of_two, find_labs(course.root)).labs
    assert small.students["ada"] == StudentStatus(State.GRADED, points=3, waits=True)

    _, said = call("course", "feedback", "01")
    assert [re.findall(r"\d+", line.removeprefix(NAME)) for line in said] == [["2", "2"]]
    assert sorted(path.parts[-3] for path in course.folder.glob(f"feedback/*/{NAME}/*.html")) == ["bob", "cyd"]
    assert call("course", "feedback", "01", "--student", "ada")[1][0].startswith(f"{NAME}: 1 page, 0 of them")


@pytest.mark.usefixtures("of_two")
def test_one_due_date_of_a_team(course, hand_in, points_of):
    """In time counts before late; an extension of one member is the team's, and costs nobody anything."""
    edit(course, f'{NAME} = "2026-11-16T13:00:00+00:00"\n', replaced=('"none"', '"50 % a day"'))
    hand_in("ada")
    hand_in("bob", at=later(5))
    hand_in("cyd", at=later(5))
    collect(find_course(course.root, course.folder), NAME)
    given = {"ada": (0, 1), "bob": (2, 1), "cyd": (2, 1)}
    assert points_of(given) == {"ada": 1, "bob": 1, "cyd": 1.5}
    edit(course, f'[extensions.{NAME}]\nada = "2026-11-17"\n')
    assert points_of(given) == {"ada": 3, "bob": 3, "cyd": 1.5}


@pytest.mark.usefixtures("of_two")
def test_what_cannot_be_graded_counts_for_nobody(course, hand_in, points_of):
    """A damaged file of one does not stand in the way of another's work."""
    hand_in("ada")
    hand_in("bob", at=later(1), notebook="{ damaged")
    collect(find_course(course.root, course.folder), NAME)
    assert points_of({"ada": (2, 1)}) == {"ada": 3, "bob": 3, "cyd": None}
    (small, _) = read_class(find_course(course.root, course.folder), find_labs(course.root)).labs
    assert small.students["bob"] == StudentStatus(State.GRADED, points=3, waits=True)


@pytest.mark.usefixtures("of_two")
def test_a_team_goes_back_to_another_member_s_work(course, hand_in, points_of):
    """A version that is moved away, as docs/instructor.md says, counts for nobody of the team any more."""
    hand_in("ada")
    arrived = hand_in("bob", at=later(1))
    collect(find_course(course.root, course.folder), NAME)
    assert points_of({"ada": (2, 1), "bob": (0, 1)}) == {"ada": 1, "bob": 1, "cyd": None}
    for path in (arrived, course.hand_ins(NAME, "bob")):
        path.rename(course.folder.parent / path.name)
    shutil.rmtree(course.submitted(NAME, "bob"))
    collect(find_course(course.root, course.folder), NAME)
    assert points_of() == {"ada": 3, "bob": 3, "cyd": None}
