"""A command that refuses has changed nothing: no file of the course, and no row of its gradebook."""

import shutil
import sqlite3

import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.course.export import canvas, read_grades
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.status.class_status import read_class
from coursekit.course.versions import find_submissions
from coursekit.errors import CourseKitError
from coursekit.grading.verdict import Verdict
from coursekit.labs.build.build import build_release
from coursekit.labs.cells import CellScore
from coursekit.labs.lab import find_labs, select_labs

from .conftest import NAME, tree

NEW_CELL = '\n# %% role="tests" id="new-tests" points=1\nassert shard([1], 0, 1) == [1], "one is all"\n'


def state(folder):
    """Return every file of a course, but for its gradebook every row of that."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        rows = list(database.iterdump())
    database.close()
    return {**tree(folder), "gradebook.db": rows}


def other_text(root, *replaced):
    """Change the first lab's text and build its notebooks."""
    (lab,) = select_labs(root, ["01"])
    lab.source.write_text(lab.source.read_text().replace(*replaced) if replaced else lab.source.read_text() + NEW_CELL)
    build_release(root, [lab])


def other_points(root):
    """Change the points of a cell."""
    other_text(root, "points=2", "points=4")


def stale(root):
    """Remove a file of the second lab that students get."""
    (root / "labs" / "02-other" / "train.py").unlink()


def date_of_no_lab(root):
    """Write a date under the number of a lab, which is not its name."""
    settings = root / "course" / "course.toml"
    settings.write_text(settings.read_text().replace("[due]", '[due]\n01 = "2026-11-18 12:00"'))


def no_configuration(root):
    """The same where nbgrader's configuration is missing, which `course init` writes again."""
    date_of_no_lab(root)
    (root / "course" / "nbgrader_config.py").unlink()


def no_exchange(root):
    """Remove the exchange."""
    shutil.rmtree(root / "course" / "exchange" / "dl")


def nothing(_):
    """Leave all as it is."""


@pytest.mark.parametrize(
    ("change", "words", "part"),
    [
        (other_points, "course release 01", "release.other-version"),
        (other_points, "course release 02 01", "release.other-version"),
        (stale, "course release 01 02 --force", "labs.stale"),
        (other_text, "course release 01 --force", "new-tests"),
        (other_text, "grade 01", "new-tests"),
        (other_points, "grade 01 --student ada", "shard-tests"),
        (date_of_no_lab, "course collect", "settings.unknown-lab"),
        (date_of_no_lab, "course release 01", "settings.unknown-lab"),
        (date_of_no_lab, "course status", "settings.unknown-lab"),
        (date_of_no_lab, "course init", "settings.unknown-lab"),
        (no_configuration, "course init", "settings.unknown-lab"),
        (date_of_no_lab, "grade 01", "settings.unknown-lab"),
        (date_of_no_lab, "take {tmp}", "settings.unknown-lab"),
        (no_exchange, "course collect", "exchange.missing"),
        (nothing, "course init --roster /dev/null", "roster.no-id-column"),
        (nothing, "course init --name other", "settings.other-name"),
        (nothing, "take {tmp}/own/course", "folder.is-course"),
        (nothing, "grade 02", "grading.nothing"),
        (nothing, "grade 07", "lab.unknown"),
        (nothing, "course feedback 02", "feedback.none-graded"),
        (nothing, "course answers 07", "lab.unknown"),
        (nothing, "course export -o /proc/no/file", "file.not-writable"),
        (nothing, "course status --html /proc/no/file", "file.not-writable"),
    ],
)
def test_nothing_has_changed(graded_checkout, tmp_path, change, words, part):
    """After one sentence the course folder and the gradebook are as they were."""
    change(graded_checkout)
    before = state(graded_checkout / "course")
    with pytest.raises(CourseKitError, match=part):
        CliRunner().invoke(cli, words.format(tmp=tmp_path).split(), catch_exceptions=False)
    assert state(graded_checkout / "course") == before


def test_one_maximum(graded_checkout):
    """Points that changed after a release are those of the solutions once it is graded by them, and nowhere before."""

    def maxima():
        course = find_course(graded_checkout)
        (small, _) = read_class(course, find_labs(graded_checkout)).labs
        row = canvas(read_grades(course)).splitlines()[1]
        return small.students["ada"].points, small.max_points, float(row.split(",")[5])

    assert maxima() == (3, 7, 7)
    other_points(graded_checkout)
    assert maxima() == (3, 7, 7)
    course = find_course(graded_checkout)
    scores = tuple(CellScore(name, points, points, "") for name, points in (("shard-tests", 4.0), ("mean-tests", 1.0)))
    (found,) = find_submissions(course, [NAME])
    record(course, Verdict(NAME, "ada", scores), found)
    assert maxima() == (5, 9, 9)


def test_a_forced_release_after_grading_says_what_is_left_to_do(graded_checkout):
    """Those who were graded by other points are to be graded again; until then the maximum is theirs."""
    other_points(graded_checkout)
    result = CliRunner().invoke(cli, ["course", "release", "01", "--force"], catch_exceptions=False)
    first, second = result.output.splitlines()
    assert (first, "`coursekit grade 01`" in second) == (f"released again: {NAME}", True)
    (small, other) = read_class(find_course(graded_checkout), find_labs(graded_checkout)).labs
    assert (small.max_points, other.max_points) == (7, 1)
