"""Where a class stands: what was handed in and graded, what the class missed, and what needs attention."""

from __future__ import annotations

import random
import shutil
import sqlite3

import nbformat
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.release import give_feedback, release
from coursekit.course.status.class_status import State, StudentStatus, read_class
from coursekit.course.status.missed import GradedNotebook, Property, find_missed, read_graded, wordings
from coursekit.course.status.points import GradedCell, LabPoints
from coursekit.course.versions import read_hand_in
from coursekit.labs.build.build import build_release
from coursekit.labs.lab import find_labs
from coursekit.paths import find_root

from .conftest import NAME, edit, later, refused, verdict

pytestmark = [
    # nbgrader leaves a file open when it releases feedback.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
OTHER = "02-other"
DISJOINT = "AssertionError: rank {} has the samples of rank 0"


def read(course, **how):
    """Return where the class stands now, as the files say."""
    return read_class(find_course(course.root, course.folder), find_labs(course.root), **how)


def states(found):
    """Return the state of each student in the small lab."""
    return {student: one.state for student, one in found.labs[0].students.items()}


def numbers(found):
    """Return what the rows say of the small lab, but for blanks."""
    return {title.strip(): texts[0] for title, texts in found.rows.items()}


def test_every_state_is_told(course, enrol, hand_in, graded):
    """From nothing to feedback."""
    enrol("cyd", "dan", "eve")
    graded("ada", (2, 0), ("", "AssertionError: the mean"))
    give_feedback(course, NAME, "ada")
    graded("cyd", manual=3)
    hand_in("bob")
    hand_in("eve", notebook="{ damaged")
    small, other = read(course).labs
    assert small.students == {
        "ada": StudentStatus(State.GRADED, is_in=True, points=2, waits=True, has_feedback=True),
        "bob": StudentStatus(State.TO_COLLECT, num_new=1),
        "cyd": StudentStatus(State.GRADED, is_in=True, points=6),
        "dan": StudentStatus(State.MISSING),
        "eve": StudentStatus(State.TO_COLLECT, num_new=1),
    }
    assert set(other.students.values()) == {StudentStatus(State.MISSING)}
    assert any(
        f"2 students lie in the exchange: `coursekit course collect {NAME[:2]}`" in one for one in read(course).notes
    )
    collect(course, NAME)
    assert states(read(course)) == {
        **dict.fromkeys(["ada", "cyd"], State.GRADED),
        "bob": State.TO_GRADE,
        "dan": State.MISSING,
        "eve": State.DAMAGED,
    }


def test_the_rows_count_what_happened(course, hand_in, call):
    """Late, damaged, missing and not yet graded as it is now; 80 columns hold the whole due date of every lab."""
    hand_in("ada", at=later(5))
    collect(edit(course, f'{NAME} = "2026-11-16T13:00:00+00:00"\n'), NAME)
    expected = {"handed in": "1", "late": "1", "damaged": "0", "missing": "1", "graded": "0", "needs a run": "1"}
    assert expected.items() <= numbers(read(course)).items()
    assert [read(course).rows[title][1] for title in ("missing", "needs a run")] == ["2", "0"]

    record(course, verdict(), read_hand_in(course, NAME, "ada"))
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
    mean, num_waiting = database.execute("""
        SELECT SUM(points) / COUNT(DISTINCT notebook_id), SUM(waits) FROM (
            SELECT notebook_id, TOTAL(COALESCE(manual_score, auto_score, 0)) AS points,
            MAX(needs_manual_grade) AS waits FROM grade GROUP BY notebook_id)
    """).fetchone()
    database.close()
    one = [
        (one.name, one.num_graded, one.num_missed, one.num_waiting, one.points, one.max_points)
        for one in found.labs[0].missed
    ]
    assert sorted(one) == sorted(rows)
    assert [row[2] / row[1] for row in one] == [row[2] / row[1] for row in rows]
    assert 0 < num_waiting < len(students)
    expected = {"graded": "7", "missing": "1", "to do by hand": str(num_waiting), "mean points": f"{mean:.1f} / 7"}
    assert expected.items() <= numbers(found).items()


def test_a_late_penalty_is_taken_off(course, graded):
    """The points are those that exports show."""
    graded("ada")
    with course.gradebook() as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "ada").late_submission_penalty = 2.5
        gradebook.db.commit()
    assert read(course).labs[0].students["ada"].points == 0.5


def test_queries_do_not_grow_with_the_class(course, enrol, graded):
    """Nbgrader's objects ask the database once for each grade; 60 students would wait."""

    def num_queries():
        asked = []

        def note(*args):
            asked.append(args[2])

        event.listen(Engine, "before_cursor_execute", note)
        try:
            read(course)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        return len(asked)

    graded("ada")
    before = num_queries()
    enrol("cyd", "dan", "eve")
    for student in ("bob", "cyd", "dan"):
        graded(student)
    assert num_queries() == before > 0


def test_who_is_not_on_the_roster_is_shown_and_not_counted(course, graded):
    """A stranger's hand-in, and that of somebody who left: at the end, named, and in no number."""
    graded("ada", (2, 1))
    graded("eve", (0, 0), ("AssertionError: a", "AssertionError: b"))
    found = read(course)
    assert (found.roster, found.others) == (("ada", "bob"), ("eve",))
    assert states(found)["eve"] is State.GRADED
    assert {"graded": "1", "mean points": "3.0 / 7"}.items() <= numbers(found).items()
    assert [one.num_missed for one in found.labs[0].missed if one.name.endswith("-tests")] == [0, 0]
    assert any("roster" in note and "eve" in note for note in found.notes)


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
    for words in ("course init --roster", "course release 01", "course release 02"):
        assert any(f"`coursekit {words}" in note for note in found.notes)


def test_a_course_without_a_roster(course, graded):
    """Whom gradebook and hand-ins name are the class, and that is said."""
    (course.folder / "roster.csv").unlink()
    graded("eve")
    found = read(course)
    assert (found.roster, found.others) == (("ada", "bob", "eve"), ())
    assert any("no roster" in note for note in found.notes)


def test_dates_that_help_nobody_are_named(course):
    """An extension of a stranger, one that is no later than for all, and a date of what is no lab."""
    dates = '"ada" = "2026-11-18 12:00"\n"zoe" = "2026-11-18 12:00"\n"bob" = "2026-11-01 12:00"\n'
    edit(course, f'{NAME} = "2026-11-16 12:00"\n[extensions.{NAME}]\n{dates}')
    assert [note.split()[0] for note in read(course).notes if "extension" in note] == ["zoe", "bob"]
    edit(course, replaced=("[due]", '[due]\n01-smal = "2026-11-18 12:00"'))
    assert any("01-smal," in note and OTHER in note for note in read(course).notes)


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
    cells = [GradedCell("lab", name, points, name == "essay") for name, points in (("b", 2), ("a", 1), ("essay", 4))]
    released = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", id=name) for name in ("b", "a", "essay")])
    graded = {
        "ada": LabPoints({"b": 2.0, "a": 0.0, "essay": None}, waits=True),
        "bob": LabPoints({"b": 3.0, "a": 0.0, "essay": 1.5}),
        "cyd": LabPoints({"b": 0.0, "a": 1.0, "essay": 4.0}),
    }
    messages = {"ada": {"a": DISJOINT.format(1)}, "bob": {"a": DISJOINT.format(2)}, "cyd": {"b": "no"}}
    notebooks = {student: GradedNotebook(told) for student, told in messages.items()}
    found = find_missed(cells, graded, notebooks, released)
    assert found == (
        Property("lab", "a", "a", "", 1, 3, 2, 1.0, example=DISJOINT.format(1), num_alike=2),
        Property("lab", "essay", "essay", "", 4, 2, 1, 5.5, num_waiting=1),
        Property("lab", "b", "b", "", 2, 3, 1, 4.0, example="no", num_alike=1),
    )
    assert [(one.share, one.mean_points) for one in found] == [(2 / 3, 1 / 3), (1 / 2, 2.75), (1 / 3, 4 / 3)]


def test_messages_come_from_graded_notebooks(course, graded):
    """What most of those who missed a test were told, as they saw it; not for the projector."""
    graded("ada", (0, 1), (DISJOINT.format(1), ""))
    graded("bob", (0, 0), (DISJOINT.format(3), "no"))
    found = {one.name: (one.num_missed, one.example, one.num_alike) for one in read(course).labs[0].missed}
    assert found["shard-tests"] == (2, DISJOINT.format(1), 2)
    assert found["mean-tests"] == (1, "no", 1)
    anonymous = read(course, anonymous=True).labs[0].missed
    assert {(one.example, one.num_alike) for one in anonymous} == {("", 0)}


@pytest.mark.parametrize("text", [None, "", "[1]", '{"cells": [{"metadata": {"nbgrader": {"grade": true}}}]}'])
def test_a_graded_notebook_that_is_damaged_tells_nothing(tmp_path, text):
    """Points come from the gradebook; a message that is lost costs nothing else."""
    if text is not None:
        (tmp_path / f"{NAME}.ipynb").write_text(text)
    assert read_graded(tmp_path, NAME) == GradedNotebook()


@pytest.mark.parametrize(
    ("old", "new"), [("points=2", "points=5"), ("half of the samples belong", "one half of the samples belongs")]
)
def test_tests_that_changed_are_told(course, graded, tmp_path, old, new):
    """A lab released again with other tests or points: what was graded before counts as it was, and needs a run."""
    graded("ada")
    assert numbers(read(course))["needs a run"] == "0"
    root = tmp_path / "checkout"
    shutil.copytree(course.root, root)
    source = root / "solutions" / NAME / f"{NAME}.py"
    source.write_text(source.read_text().replace(old, new))
    config = course.folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(course.root), str(root)))
    build_release(root, find_labs(root))
    changed = find_course(root, course.folder)
    release(changed, find_labs(root)[0], force=True)
    found = read(changed)
    assert (numbers(found)["graded"], numbers(found)["needs a run"]) == ("1", "1")
    assert found.labs[0].max_points == (10 if old == "points=2" else 7)
    assert found.labs[0].students["ada"].points == 3
    assert any("coursekit grade 01" in note for note in found.notes)


@pytest.mark.parametrize(
    ("words", "parts"),
    [(["--html", "/proc/no/class.html"], ["/proc/no/class.html", "--html"]), (["07"], ["07"])],
)
def test_mistakes_are_one_sentence(call, words, parts):
    """What was wrong, and what to do."""
    with refused(*parts):
        call("course", "status", *words)
