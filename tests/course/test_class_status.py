"""Where a class stands: what was handed in and graded, what the class missed, and what needs attention."""

import random
import shutil
import sqlite3

import nbformat
import pytest

from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.status.class_status import State, StudentStatus, read_class
from coursekit.course.status.missed import Property, find_missed, read_messages, wordings
from coursekit.course.status.points import LabPoints
from coursekit.course.versions import read_submission
from coursekit.errors import codes_in
from coursekit.labs.lab import find_labs
from coursekit.paths import find_root

from .conftest import NAME, edit, later, verdict

OTHER = "02-other"
DISJOINT = "AssertionError: rank {} has the samples of rank 0"


def read(course):
    """Return where the class stands now, as the files say."""
    return read_class(find_course(course.root, course.folder), find_labs(course.root))


def numbers(found):
    """Return what the rows say of the small lab, but for blanks."""
    return {title.strip(): texts[0] for title, texts in found.rows.items()}


def test_every_state_is_told(course, enrol, hand_in, graded):
    """From nothing to points; a lab that was never released misses nobody."""
    enrol("cyd", "dan", "eve")
    graded("ada", (2, 0), ("", "AssertionError: the mean"))
    graded("cyd", manual=3)
    hand_in("bob")
    hand_in("eve", notebook="{ damaged")
    collect(course, NAME)
    shutil.rmtree(course.outbound(OTHER))
    small, other = read(course).labs
    assert small.students == {
        "ada": StudentStatus(State.GRADED, points=2, waits=True),
        "bob": StudentStatus(State.TO_GRADE, needs_run=True),
        "cyd": StudentStatus(State.GRADED, points=6),
        "dan": StudentStatus(State.MISSING),
        "eve": StudentStatus(State.DAMAGED),
    }
    assert set(other.students.values()) == {StudentStatus(State.NOT_RELEASED)}


def test_the_rows_count_what_happened(course, hand_in, call):
    """Late, damaged, missing and not yet graded as it is now; 80 columns hold the whole due date of every lab."""
    hand_in("ada", at=later(5))
    collect(edit(course, f'{NAME} = "2026-11-16T13:00:00+00:00"\n'), NAME)
    expected = {"collected": "1", "late": "1", "damaged": "0", "missing": "1", "graded": "0", "needs a run": "1"}
    assert expected.items() <= numbers(read(course)).items()
    assert [read(course).rows[title][1] for title in ("missing", "needs a run")] == ["2", "0"]

    record(course, verdict(), read_submission(course, NAME, "ada"))
    assert numbers(read(course))["needs a run"] == "0"
    hand_in("ada", at=later(6))
    hand_in("bob", notebook="{ damaged")
    collect(course, NAME, late=True)
    expected = {"damaged": "1", "missing": "0", "graded": "1", "needs a run": "1"}
    assert expected.items() <= numbers(read(course)).items()
    assert read(course).labs[0].students["ada"].marks == ("late", "by hand", "run again")

    lines = [line for line in call("course", "status", COLUMNS="80")[1] if not line.startswith("! ")]
    assert max(map(len, lines)) <= 80
    assert ["due", "(UTC)", "2026-11-16"] in [line.split() for line in lines]


def test_numbers_are_those_of_the_gradebook(course, enrol, graded):
    """Points per property, means and counts over a random class are what SQL says of the gradebook's tables."""
    students = ["ada", "bob", *(f"student-{i}" for i in range(5))]
    enrol(*students[2:], "absent")
    rng = random.Random(6)  # noqa: S311  # no secret
    for i, student in enumerate(students):
        points = (rng.choice((0, 2)), rng.choice((0, 1)))
        manual = rng.choice((0, 1.5, 4)) if i % 3 else None
        graded(student, points, tuple("" if point else "AssertionError: no" for point in points), manual=manual)
    found = read(course)
    database = sqlite3.connect(course.folder / "gradebook.db")
    rows = database.execute("""
        SELECT base_cell.name, COUNT(points), SUM(points < max_score), SUM(points IS NULL), TOTAL(points), max_score
        FROM (SELECT cell_id, COALESCE(manual_score, auto_score) AS points FROM grade)
        JOIN grade_cells ON cell_id = grade_cells.id JOIN base_cell ON cell_id = base_cell.id
        GROUP BY cell_id ORDER BY SUM(points < max_score) * 1.0 / COUNT(points) DESC
    """).fetchall()
    database.close()
    mean, num_waiting = sum(row[4] for row in rows) / len(students), sum(row[3] for row in rows)
    one = [
        (one.name, one.num_graded, one.num_missed, one.num_waiting, one.points, one.max_points)
        for one in found.labs[0].missed
    ]
    assert sorted(one) == sorted(rows)
    assert [row[2] / row[1] for row in one] == [row[2] / row[1] for row in rows]
    assert 0 < num_waiting < len(students)
    expected = {"graded": "7", "missing": "1", "to do by hand": str(num_waiting), "mean points": f"{mean:.1f} / 7"}
    assert expected.items() <= numbers(found).items()


def test_who_is_not_on_the_roster_is_shown_and_not_counted(course, graded):
    """A stranger's hand-in, and that of somebody who left: at the end, named, and in no number."""
    graded("ada", (2, 1))
    graded("eve", (0, 0), ("AssertionError: a", "AssertionError: b"))
    found = read(course)
    assert (found.roster, found.others) == (("ada", "bob"), ("eve",))
    assert found.labs[0].students["eve"].state is State.GRADED
    assert {"graded": "1", "mean points": "3.0 / 7"}.items() <= numbers(found).items()
    assert [one.num_missed for one in found.labs[0].missed if one.name.endswith("-tests")] == [0, 0]
    assert [(codes_in(note), "eve" in note) for note in found.notes] == [(["roster.strangers"], True)]


def test_a_course_without_anybody(course):
    """An empty course, without roster or release, says what to do next; nothing is counted."""
    labs = find_labs(course.root)
    with course.gradebook() as gradebook:
        for student in ("ada", "bob"):
            gradebook.remove_student(student)
        for lab in labs:
            gradebook.remove_assignment(lab.name)
    (course.folder / "roster.csv").unlink()
    shutil.rmtree(course.folder / "exchange" / "dl")
    found = read(course)
    assert (found.roster, found.others) == ((), ())
    assert [lab.missed for lab in found.labs] == [(), ()]
    assert set(numbers(found).values()) == {"0", ""}
    assert [codes_in(note) for note in found.notes] == [["roster.none"]]


def test_a_course_without_a_roster(course, graded):
    """Whom gradebook and hand-ins name are the class, and that is said."""
    (course.folder / "roster.csv").unlink()
    graded("eve")
    found = read(course)
    assert (found.roster, found.others) == (("ada", "bob", "eve"), ())
    assert ["roster.none"] in map(codes_in, found.notes)


def test_a_date_that_helps_nobody_is_named(course):
    """An extension of somebody who is not on the roster."""
    edit(course, f'[extensions.{NAME}]\nada = "2026-11-18 12:00"\nzoe = "2026-11-18 12:00"\n')
    ((note),) = read(course).notes
    assert (codes_in(note), "zoe" in note, NAME in note) == (["extension.stranger"], True, True)


def test_wordings_of_the_labs():
    """A check's own name and its section's heading; every test cell of the real labs has both."""
    root = find_root()
    path = root / "labs" / "02-horovod-sgd" / "02-horovod-sgd.ipynb"
    words = wordings(nbformat.read(path, as_version=4))
    assert words["shard-tests"] == ("shards", "3. Shard the data")
    assert words["horovod-average-tests"] == ("averaged gradients (train_horovod)", "5. Average the gradients")
    for lab in find_labs(root):
        released = nbformat.read(root / "labs" / lab.name / f"{lab.name}.ipynb", as_version=4)
        words = wordings(released)
        tests = [
            words[cell.metadata.nbgrader.grade_id]
            for cell in released.cells
            if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
        ]
        assert tests
        assert all(section[0].isdigit() and not title.endswith("-tests") for title, section in tests), tests


def test_the_most_missed_stands_first():
    """By the part of those graded, then as the lab has them; who waits is not graded; too many points count as all."""
    max_points = {"b": 2, "a": 1, "essay": 4}
    released = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", id=name) for name in max_points])
    graded = {
        "ada": LabPoints({"b": 2.0, "a": 0.0, "essay": None}, waits=True),
        "bob": LabPoints({"b": 3.0, "a": 0.0, "essay": 1.5}),
        "cyd": LabPoints({"b": 0.0, "a": 1.0, "essay": 4.0}),
    }
    messages = {"ada": {"a": DISJOINT.format(1)}, "bob": {"a": DISJOINT.format(2)}, "cyd": {"b": "no"}}
    assert find_missed(max_points, graded, messages, released) == (
        Property("a", "a", "", 1, 3, 2, 1.0, example=DISJOINT.format(1), num_alike=2),
        Property("essay", "essay", "", 4, 2, 1, 5.5, num_waiting=1),
        Property("b", "b", "", 2, 3, 1, 4.0, example="no", num_alike=1),
    )


def test_messages_come_from_graded_notebooks(course, graded):
    """What most of those who missed a test were told, as they saw it."""
    graded("ada", (0, 1), (DISJOINT.format(1), ""))
    graded("bob", (0, 0), (DISJOINT.format(3), "no"))
    found = {one.name: (one.num_missed, one.example, one.num_alike) for one in read(course).labs[0].missed}
    assert found["shard-tests"] == (2, DISJOINT.format(1), 2)
    assert found["mean-tests"] == (1, "no", 1)


@pytest.mark.parametrize("text", [None, "", "[1]", '{"cells": [{"metadata": {"nbgrader": {"grade": true}}}]}'])
def test_a_graded_notebook_that_is_damaged_tells_nothing(tmp_path, text):
    """Points come from the gradebook; a message that is lost costs nothing else."""
    if text is not None:
        (tmp_path / f"{NAME}.ipynb").write_text(text)
    assert read_messages(tmp_path, NAME) == {}
