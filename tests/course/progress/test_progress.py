"""Who is where: every step from a sign that lies somewhere, and "not known" where nothing does."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from coursekit.course.collect import collect
from coursekit.course.feedback import give_feedback
from coursekit.course.progress.progress import StudentProgress, read_class
from coursekit.course.progress.summary import Count, counts, mean_points, notes

from .conftest import NAME, OTHER, job_result, steps

pytestmark = [
    # nbgrader leaves a file open when it releases feedback.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NUM_CODE = 5  # code cells of the small lab


def test_every_step_is_told(  # noqa: PLR0913, PLR0917  # fixtures
    course, labs, enrol, hand_in, grade, executed
):
    """From nothing to feedback; what was handed in was fetched, and what carries numbers was run."""
    enrol("cyd", "dan")
    grade("ada", (2, 0), ("", "AssertionError: the mean"), notebook=executed(NUM_CODE))
    give_feedback(course, NAME, "ada")
    grade("cyd", manual=3)
    hand_in("bob", notebook=executed(2))
    small, other = read_class(course, labs).labs
    assert small.progress == {
        "ada": StudentProgress((True, True, True, True), NUM_CODE, NUM_CODE, points=2, waits=True, has_feedback=True),
        "bob": StudentProgress((True, True, True, False), 2, NUM_CODE, num_new=1),
        "cyd": StudentProgress((True, None, True, True), points=6),
        "dan": StudentProgress((None, None, False, False)),
    }
    assert set(other.progress.values()) == {StudentProgress((None, None, False, False))}


def test_a_run_is_told_by_cells_or_by_a_job(course, labs, enrol, hand_in, executed):
    """Without executed cells a record of a job tells of a run; without that, nothing does; it need not be collected."""
    enrol("cyd")
    hand_in("ada", notebook=executed(0), files={"jobs/7/result.json": job_result()})
    hand_in("bob", notebook=executed(0), files={"jobs/7/result.json": job_result(OTHER)})
    hand_in("cyd", notebook="{damaged")
    before = read_class(course, labs)
    assert [steps(before, student) for student in ("ada", "bob", "cyd")] == ["yyyn", "y?yn", "y?yn"]
    assert "new hand-ins of 3 students lie in the exchange" in "".join(notes(before))
    collect(course, NAME)
    after = read_class(course, labs)
    assert [steps(after, student) for student in ("ada", "bob", "cyd")] == ["yyyn", "y?yn", "y?yn"]
    assert "exchange" not in "".join(notes(after))


def test_numbers_are_those_of_the_gradebook(course, labs, enrol, grade):
    """Points per property, means and counts over a random class are what SQL says of the gradebook's tables."""
    students = ["ada", "bob", *(f"student-{i}" for i in range(5))]
    enrol(*students[2:], "absent")
    rng = random.Random(6)  # noqa: S311  # no secret
    for i, student in enumerate(students):
        points = (rng.choice((0, 2)), rng.choice((0, 1)))
        manual = rng.choice((0, 1.5, 4)) if i % 3 else None
        grade(student, points, tuple("" if point else "AssertionError: no" for point in points), manual=manual)
    found = read_class(course, labs)
    (small, _) = found.labs
    database = sqlite3.connect(course.folder / "gradebook.db")
    rows = database.execute("""
        SELECT base_cell.name, COUNT(points), SUM(points < max_score), SUM(points IS NULL), TOTAL(points), max_score
        FROM (SELECT cell_id, COALESCE(manual_score, auto_score) AS points FROM grade)
        JOIN grade_cells ON cell_id = grade_cells.id JOIN base_cell ON cell_id = base_cell.id
        GROUP BY cell_id ORDER BY SUM(points < max_score) * 1.0 / COUNT(points) DESC
    """).fetchall()
    mean, num_waiting = database.execute("""
        SELECT SUM(points) / COUNT(DISTINCT notebook_id), SUM(waits) FROM (
            SELECT notebook_id, TOTAL(COALESCE(manual_score, auto_score, 0)) AS points,
            MAX(needs_manual_grade) AS waits FROM grade GROUP BY notebook_id)
    """).fetchone()
    database.close()
    one = [
        (one.name, one.num_graded, one.num_missed, one.num_waiting, one.points, one.max_points) for one in small.missed
    ]
    assert sorted(one) == sorted(rows)
    assert [row[2] / row[1] for row in one] == [row[2] / row[1] for row in rows]
    assert 0 < num_waiting < len(students)
    assert mean_points(found, small) == pytest.approx(mean)
    assert counts(found, small) == {
        "fetched": Count(7, 1),
        "run": Count(0, 8),
        "handed in": Count(7),
        "graded": Count(7),
        "to do by hand": Count(num_waiting),
        "feedback": Count(0),
    }


def test_a_late_penalty_is_taken_off(course, labs, grade):
    """The points are those that exports and `coursekit course status` show."""
    grade("ada")
    with course.gradebook() as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "ada").late_submission_penalty = 2.5
        gradebook.db.commit()
    assert read_class(course, labs).labs[0].progress["ada"].points == 0.5


def test_queries_do_not_grow_with_the_class(course, labs, enrol, grade):
    """Nbgrader's objects ask the database once for each grade; 60 students would wait."""

    def num_queries():
        asked = []

        def note(*args):
            asked.append(args[2])

        event.listen(Engine, "before_cursor_execute", note)
        try:
            read_class(course, labs)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        return len(asked)

    grade("ada")
    before = num_queries()
    enrol("cyd", "dan", "eve")
    for student in ("bob", "cyd", "dan"):
        grade(student)
    assert num_queries() == before > 0


def test_who_is_not_on_the_roster_is_shown_and_not_counted(course, labs, grade):
    """A stranger's hand-in, and that of somebody who left: at the end, named, and in no number."""
    grade("ada", (2, 1))
    grade("eve", (0, 0), ("AssertionError: a", "AssertionError: b"))
    found = read_class(course, labs)
    assert [(member.id, member.is_counted) for member in found.members] == [
        ("ada", True),
        ("bob", True),
        ("eve", False),
    ]
    assert steps(found, "eve") == "y?yy"
    small = found.labs[0]
    assert counts(found, small)["graded"] == Count(1)
    assert mean_points(found, small) == 3
    assert [one.num_missed for one in small.missed if one.name.endswith("-tests")] == [0, 0]
    assert "Not on the roster, shown at the end and not counted: eve." in notes(found)


def test_a_course_without_anybody(course, labs):
    """An empty course, without roster or release, says what to do next; nothing is counted."""
    with course.gradebook() as gradebook:
        for student in ("ada", "bob"):
            gradebook.remove_student(student)
        for lab in labs:
            gradebook.remove_assignment(lab.name)
    (course.folder / "roster.csv").unlink()
    shutil.rmtree(course.folder / "exchange" / "dl")
    found = read_class(course, labs, "/nowhere/{student}")
    assert (found.members, found.has_roster) == ((), False)
    assert [lab.missed for lab in found.labs] == [(), ()]
    assert mean_points(found, found.labs[0]) is None
    assert set(counts(found, found.labs[0]).values()) == {Count(0)}
    assert notes(found) == (
        "Nobody is known yet: `coursekit course init --roster FILE` puts students onto the roster.",
        f"{NAME} was never released: `coursekit course release 01`.",
        f"{OTHER} was never released: `coursekit course release 02`.",
    )


def test_a_course_without_a_roster(course, labs, grade):
    """Whom gradebook and hand-ins name are the class, and that is said."""
    (course.folder / "roster.csv").unlink()
    grade("eve")
    found = read_class(course, labs)
    assert [(member.id, member.is_counted) for member in found.members] == [("ada", True), ("bob", True), ("eve", True)]
    assert any(note.startswith("The course has no roster") for note in notes(found))
