"""The gradebook on a PostgreSQL server: Debian's, started here on a socket and ended here."""

from __future__ import annotations

import shutil

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.init import init_course
from coursekit.course.record import record
from coursekit.course.release import release
from coursekit.course.versions import read_hand_in
from coursekit.errors import CourseKitError
from coursekit.labs.lab import select_labs

from .conftest import NAME, ROSTER, later, verdict
from .pg_server import running_server

PROGRAMS = ("initdb", "pg_ctl")
pytestmark = [
    pytest.mark.needs(*PROGRAMS),
    # nbgrader's own habits with its database.
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


@pytest.fixture(scope="module")
def server():
    """The URL of a server of our own."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'coursekit[postgresql]'")
    with running_server() as running:
        yield running.url


@pytest.fixture(scope="module")
def on_server(checkout, server, tmp_path_factory):
    """A course whose gradebook is on the server, with one lab released."""
    folder = tmp_path_factory.mktemp("event") / "course"
    roster = folder.parent / "roster.csv"
    roster.write_text(ROSTER)
    made = init_course(checkout, folder, "dl", roster, server)
    release(made.course, select_labs(checkout, ["01"])[0])
    return made.course


@pytest.fixture
def course(on_server):
    """The course that `hand_in` hands in to."""
    return on_server


def test_grades_are_kept_on_the_server(course, hand_in):
    """Roster, release, collecting, recording twice, a re-grade and a transaction that fails: as on SQLite."""
    assert not (course.folder / "gradebook.db").exists()
    hand_in("ada")
    collect(course, NAME)
    hand_in_of_ada = read_hand_in(course, NAME, "ada")
    assert record(course, verdict(), hand_in_of_ada) is True
    assert record(course, verdict(), hand_in_of_ada) is False
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("explain", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 3.5, False
        gradebook.db.commit()
        gradebook.update_or_create_assignment(NAME, duedate=later(1))

    hand_in("ada", at=later(2))
    assert "late by 1 h 00 min" in collect(course, NAME, late=True)[0][0].lines
    assert record(course, verdict(points=(2, 0), messages=("", "x")), read_hand_in(course, NAME, "ada")) is True
    grades = {one.id: (dict(one.points), one.num_waiting) for one in read_grades(course).students}
    assert grades == {"ada": ({NAME: 5.5}, 1), "bob": ({}, 0)}


def test_a_server_that_is_gone_is_one_sentence(course, tmp_path):
    """The message names the setting to look at, and no password."""
    folder = tmp_path / "course"
    shutil.copytree(course.folder, folder)
    settings = folder / "course.toml"
    settings.write_text(
        settings.read_text().replace(course.settings.database, "postgresql://u:pw@/course?host=/nowhere")
    )
    gone = find_course(course.root, folder)
    with pytest.raises(CourseKitError, match="the gradebook cannot be opened") as caught, gone.gradebook():
        pass
    assert str(caught.value).endswith("start its server, or correct `database` in course/course.toml.")
    assert "pw" not in str(caught.value)
