"""Recording verdicts: one transaction per hand-in, as often as one likes, and manual points stay."""

import nbformat
import pytest
from nbgrader.utils import determine_grade

from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.record import foresee, record
from coursekit.course.versions import read_submission
from coursekit.grading.verdict import Flag

from .conftest import MONDAY, NAME, RIGHT, filled, later, tree, verdict

MESSAGE = "AssertionError: the shards of two ranks must be disjoint <b>"


@pytest.fixture
def handed_in(course, hand_in):
    """Return a function that hands in, collects and returns the hand-in."""

    def put(student="ada", **what):
        hand_in(student, **what)
        collect(course, NAME, late=True)
        return read_submission(course, NAME, student)

    return put


def grades(course, student="ada"):
    """Return each cell's automatic and manual points and whether it asks for a person."""
    with course.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        return {one.name: (one.auto_score, one.manual_score, one.needs_manual_grade) for one in notebook.grades}


def totals(course, student="ada"):
    """Return points, late penalty and time of a submission."""
    with course.gradebook() as gradebook:
        submission = gradebook.find_submission(NAME, student)
        return submission.score, submission.late_submission_penalty, submission.timestamp


def comments(course, student="ada"):
    """Return nbgrader's own comment on each answer."""
    with course.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        return {comment.name: comment.auto_comment for comment in notebook.comments}


def grade_by_hand(course, points, student="ada"):
    """Do what formgrader does when a person grades the manual cell."""
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("explain", NAME, NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def graded_notebook(course, student="ada"):
    """Return what formgrader shows."""
    return nbformat.read(course.autograded(NAME, student) / f"{NAME}.ipynb", as_version=4)


def test_points_reach_the_gradebook(course, handed_in):
    """Tests have their points, the written answer waits for a person, the time is that of the hand-in."""
    record(course, verdict(points=(0, 1), messages=(MESSAGE, "")), handed_in())
    assert grades(course) == {
        "shard-tests": (0, None, False),
        "mean-tests": (1, None, False),
        "explain": (None, None, True),
    }
    assert totals(course) == (1, 0, MONDAY)
    assert comments(course) == {"shard": None, "mean": None, "explain": None}


def test_what_was_left_blank_has_no_response(course, handed_in):
    """As with nbgrader: an untouched written answer is worth nothing without a person's look."""
    record(course, verdict(points=(0, 0), messages=(MESSAGE, MESSAGE)), handed_in(answers={}))
    assert grades(course)["explain"] == (0, None, False)
    assert comments(course) == dict.fromkeys(["shard", "mean", "explain"], "No response.")


def test_recording_again_changes_nothing(course, handed_in):
    """Gradebook and files are as before, byte by byte."""
    hand_in = handed_in()
    record(course, verdict(), hand_in)
    before = tree(course.folder)
    record(course, verdict(), hand_in)
    assert tree(course.folder) == before


def test_manual_points_survive(course, handed_in):
    """Recorded again they stay graded; after new work they stay and the cell asks for another look."""
    hand_in = handed_in()
    record(course, verdict(), hand_in)
    grade_by_hand(course, 3.5)
    record(course, verdict(), hand_in)
    assert grades(course)["explain"] == (None, 3.5, False)
    assert totals(course)[0] == 6.5

    again = handed_in(answers={**RIGHT, "explain": "Something else."}, at=later(1))
    record(course, verdict(points=(2, 0), messages=("", MESSAGE)), again)
    assert grades(course)["explain"] == (None, 3.5, True)
    assert totals(course) == (5.5, 0, later(1))


@pytest.mark.parametrize(
    ("terms", "late", "moved"),
    [
        ("none", (False, False), {"mean-tests": -1}),
        ("10 % a day", (False, True), {"mean-tests": -1, "late penalty": -0.1 * (2 + 3.5)}),
        ("10 % a day", (True, True), {"mean-tests": -1, "late penalty": 0.1}),
        ("10 % a day", (True, False), {"mean-tests": -1, "late penalty": 0.1 * (3 + 3.5)}),
    ],
)
def test_what_is_foreseen_is_what_recording_does(course, handed_in, terms, late, moved):
    """By cell and for lateness, with points that a person gave; foreseeing leaves every file as it was."""

    def with_due(is_late):
        due = "2026-11-16T11:00:00Z" if is_late else "2026-11-16T13:00:00Z"
        settings = f'name = "dl"\nlate_penalty = "{terms}"\n[due]\n{NAME} = "{due}"\n'
        (course.folder / "course.toml").write_text(settings)
        return find_course(course.root, course.folder)

    was_late, is_late = late
    hand_in, now = handed_in(), with_due(was_late)
    first = {"shard-tests": 2, "mean-tests": 1, **({"late penalty": -0.3} if was_late else {})}
    assert foresee(now, verdict(), hand_in) == (recorded := record(now, verdict(), hand_in))
    assert (recorded.points, recorded.is_first) == (pytest.approx(first), True)
    grade_by_hand(course, 3.5)
    assert record(now, verdict(), hand_in).points == pytest.approx({"late penalty": -0.35} if was_late else {})

    now, worse = with_due(is_late), verdict(points=(2, 0), messages=("", MESSAGE))
    points, lost, _ = totals(course)
    before = tree(course.folder)
    assert foresee(now, worse, hand_in).points == pytest.approx(moved)
    assert tree(course.folder) == before
    recorded = record(now, worse, hand_in)
    assert (recorded.points, recorded.is_first) == (pytest.approx(moved), False)
    after, lost_after, _ = totals(course)
    assert (after - lost_after) - (points - lost) == pytest.approx(sum(moved.values()))
    assert foresee(now, worse, hand_in).points == {}


def test_a_lost_file_is_written_again_and_nobody_is_asked_twice(course, handed_in):
    """Killed between gradebook and notebook: the next call writes the notebook and leaves manual points graded."""
    hand_in = handed_in()
    record(course, verdict(), hand_in)
    grade_by_hand(course, 4)
    before = tree(course.autograded(NAME, "ada"))
    (course.autograded(NAME, "ada") / f"{NAME}.ipynb").unlink()
    record(course, verdict(), hand_in)
    assert tree(course.autograded(NAME, "ada")) == before
    assert grades(course)["explain"] == (None, 4, False)


def test_the_graded_notebook_is_what_formgrader_shows(course, handed_in):
    """The released notebook with the student's answers and added cells, messages below tests, flags out of sight."""
    notebook = filled(course, NAME, RIGHT)
    notebook.cells.insert(3, nbformat.v4.new_code_cell("import math"))
    mean_tests = next(cell for cell in notebook.cells if cell.id == "mean-tests")
    mean_tests.source = "pass"
    hand_in = handed_in(notebook=nbformat.writes(notebook))
    flags = (*hand_in.flags, Flag("network", "It asked for an address."))
    record(course, verdict(points=(0, 1), messages=(MESSAGE, ""), flags=flags, outputs={"mean": "raw"}), hand_in)

    written = graded_notebook(course)
    released = course.released(NAME)
    sources = {cell.id: cell.source for cell in written.cells}
    assert sources.pop("added-1") == "import math"
    assert [cell.id for cell in written.cells][2:5] == ["shard", "added-1", "mean"]
    assert sources == {cell.id: RIGHT.get(cell.id, cell.source) for cell in released.cells}
    tests = {cell.id: cell for cell in written.cells if cell.id.endswith("-tests")}
    assert [output.evalue for output in tests["shard-tests"].outputs] == [MESSAGE.partition(": ")[2]]
    assert tests["mean-tests"].outputs == []
    kinds = [flag["kind"] for flag in tests["shard-tests"].metadata.coursekit.flags]
    assert kinds == ["owner", "changed test", "network"]
    # nbgrader's own rule reads the same points off this notebook.
    assert {name: determine_grade(cell)[0] for name, cell in tests.items()} == {"shard-tests": 0, "mean-tests": 1}
