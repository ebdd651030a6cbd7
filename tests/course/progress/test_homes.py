"""Students' homes: a notebook there tells of fetch and run; nothing in there leads elsewhere or stops anything."""

from __future__ import annotations

import os

import pytest

from coursekit.course.progress.progress import read_class
from coursekit.course.progress.signs_of_work import Sign, check_homes, sign_in_home
from coursekit.course.progress.summary import notes
from coursekit.errors import CourseKitError

from .conftest import NAME, steps

NOTEBOOK = f"{NAME}/{NAME}.ipynb"
NOT_THERE, UNKNOWN = Sign(has_notebook=False, has_run=False), Sign()


@pytest.fixture
def home(tmp_path):
    """A student's home."""
    folder = tmp_path / "homes" / "ada"
    folder.mkdir(parents=True)
    return folder


def look(home):
    """Return what a home tells."""
    return sign_in_home(f"{home.parent}/{{student}}", home.name, NAME, "dl")


@pytest.mark.parametrize("place", ["", "dl/", "labs/"])
def test_a_notebook_tells_of_fetch_and_run(home, executed, place):
    """Where nbgrader puts it, with and without the course's folder, and in a checkout's labs/."""
    assert look(home) == NOT_THERE
    path = home / place / NOTEBOOK
    path.parent.mkdir(parents=True)
    path.write_text(executed(0))
    assert look(home) == Sign(has_notebook=True, has_run=False, num_run=0, num_code=5)
    path.write_text(executed(3))
    assert look(home) == Sign(has_notebook=True, has_run=True, num_run=3, num_code=5)


def test_links_pipes_and_masses_tell_nothing(home, executed):
    """A link to another's notebook is not followed, a pipe is not waited for, and a huge file is not read."""
    other = home.parent / "bob"
    (other / NAME).mkdir(parents=True)
    (other / NOTEBOOK).write_text(executed(3))
    (home / NAME).symlink_to(other / NAME)
    assert look(home) == UNKNOWN
    (home / NAME).unlink()
    (home / NAME).mkdir()
    path = home / NOTEBOOK
    path.symlink_to(other / NOTEBOOK)
    assert look(home) == UNKNOWN
    path.unlink()
    os.mkfifo(path)
    assert look(home) == UNKNOWN
    path.unlink()
    with path.open("wb") as file:
        file.truncate(10**9)
    assert look(home) == UNKNOWN


@pytest.mark.parametrize(
    "text", ["", "[" * 100_000, '{"cells": 3}', '{"cells": [{"execution_count": ' + "9" * 99 + "}]}"]
)
def test_a_damaged_notebook_was_fetched(home, text):
    """It lies there; whether it was run is not known."""
    (home / NAME).mkdir()
    (home / NOTEBOOK).write_text(text)
    assert look(home) == Sign(has_notebook=True)


def test_a_home_that_is_not_there_tells_nothing(home, tmp_path):
    """Nor does that of an account that does not exist, or a name that leads elsewhere."""
    (tmp_path / NAME).mkdir()
    assert sign_in_home(f"{home.parent}/{{student}}", "..", NAME, "dl") == UNKNOWN
    assert sign_in_home(f"{home.parent}/{{student}}", "cyd", NAME, "dl") == UNKNOWN
    assert sign_in_home("~{student}", "no-such-account-here", NAME, "dl") == UNKNOWN


def test_homes_complete_what_the_course_knows(  # noqa: PLR0913, PLR0917  # fixtures
    course, labs, enrol, hand_in, home, executed
):
    """Known from a home: ada fetched, bob not yet; of cyd, without a home, nothing; a hand-in outweighs a home."""
    enrol("cyd", "dan")
    (home / NAME).mkdir()
    (home / NOTEBOOK).write_text(executed(1))
    for name in ("bob", "dan"):
        (home.parent / name).mkdir()
    hand_in("dan", notebook=executed(0))
    found = read_class(course, labs, f"{home.parent}/{{student}}")
    assert [steps(found, student) for student in ("ada", "bob", "cyd", "dan")] == ["yynn", "nnnn", "??nn", "y?yn"]
    (note,) = (note for note in notes(found) if "home" in note)
    assert note.startswith(f"1 of 4 students have no home in {home.parent}/{{student}} that may be read")


@pytest.mark.parametrize("pattern", ["/home/ada", "{student}", "home/{student}", "/home/{name}"])
def test_a_pattern_that_names_no_home_is_refused(pattern):
    """One sentence with an example."""
    with pytest.raises(CourseKitError, match=r"^--homes is a path with \{student\} in it, such as /home/\{student\}"):
        check_homes(pattern)
