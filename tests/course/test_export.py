"""Grades as tables for platforms, and where a course stands."""

from __future__ import annotations

import csv
import io

from click.testing import CliRunner

from coursekit.cli.course import FORMAT_NAMES
from coursekit.cli.course import course as command
from coursekit.course.collect import collect
from coursekit.course.export import FORMATS, Grades, GradeTable, blackboard, canvas, moodle, plain, read_grades
from coursekit.course.folder import find_course
from coursekit.course.init import init_course
from coursekit.course.record import record
from coursekit.course.status import LabStatus, course_status
from coursekit.course.submitted import read_hand_in

from .conftest import NAME, later, verdict

TABLE = GradeTable(
    {"01-small": 7.0, "02-other": 1.0},
    (
        Grades("ada", "Ada", "Lovelace", "ada@example.org", "1001", {"01-small": 2.5, "02-other": 1.0}, 1),
        Grades("bob", 'B. "Bob"', "Builder, Jr.", "", "", {"01-small": 0.1 + 0.2}),
    ),
)


def test_the_plain_table():
    """One line per student with a sum; what was not handed in is empty and no zero."""
    assert plain(TABLE) == (
        "id,last_name,first_name,email,lms_user_id,01-small,02-other,total,waiting_for_manual_points\n"
        "ada,Lovelace,Ada,ada@example.org,1001,2.5,1,3.5,1\n"
        'bob,"Builder, Jr.","B. ""Bob""",,,0.3,,0.3,0\n'
    )


def test_no_name_becomes_a_formula():
    """A gradebook that others have filled may hold anything; points stay numbers."""
    names = ("=1+1", "+1", "-1", "@x", "\t=1", "a\x1bb")
    table = GradeTable({"01": 2.0}, tuple(Grades("ada", name, "", "", "", {"01": 0.5}) for name in names))
    for write in FORMATS.values():
        rows = list(csv.reader(io.StringIO(write(table))))
        found = {name for row in rows[-len(names) :] for name in row if name not in {"", "ada", "0.5", "0"}}
        assert found == {"'=1+1", "'+1", "'-1", "'@x", "'=1", "ab"}


def test_the_table_for_moodle():
    """Students are known by user name, ID number or e-mail address."""
    assert moodle(TABLE).splitlines()[:2] == [
        "First name,Last name,Username,ID number,Email address,01-small,02-other",
        "Ada,Lovelace,ada,1001,ada@example.org,2.5,1",
    ]


def test_the_table_for_canvas():
    """The columns that it demands, and the maxima in the second line."""
    assert canvas(TABLE).splitlines() == [
        "Student,ID,SIS User ID,SIS Login ID,Section,01-small,02-other",
        "    Points Possible,,,,,7,1",
        '"Lovelace, Ada",1001,,ada,,2.5,1',
        '"Builder, Jr., B. ""Bob""",,,bob,,0.3,',
    ]


def test_the_table_for_blackboard():
    """Every value stands in quotes; the column's name carries its maximum."""
    columns = '"Last Name","First Name","Username","Student ID"'
    assert blackboard(TABLE).splitlines()[:2] == [
        f'{columns},"01-small [Total Pts: 7 Score]","02-other [Total Pts: 1 Score]"',
        '"Lovelace","Ada","ada","1001","2.5","1"',
    ]


def test_the_verb_offers_every_format():
    """The names stand twice, as the verb should answer `--help` without nbgrader."""
    assert tuple(FORMATS) == FORMAT_NAMES


def test_from_the_gradebook_to_a_file(course, hand_in):
    """Points, the late penalty taken off, and a word on what still waits for a person."""
    hand_in("ada")
    hand_in("bob", at=later(1))
    collect(course, NAME)
    for student in ("ada", "bob"):
        record(course, verdict(student, points=(2, 0), messages=("", "x")), read_hand_in(course, NAME, student))
    with course.gradebook() as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "bob").late_submission_penalty = 0.5
        gradebook.db.commit()

    assert [(one.id, dict(one.points), one.num_waiting) for one in read_grades(course).students] == [
        ("bob", {NAME: 1.5}, 1),
        ("ada", {NAME: 2.0}, 1),
    ]
    words = ["export", "--format", "moodle", "--course", str(course.folder)]
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.output.splitlines() == [
        f"2 students, 2 labs: {course.folder}/grades-moodle.csv",
        "waiting for manual points: 2 hand-ins; grade by hand in nbgrader's formgrader, and export again",
    ]
    assert (course.folder / "grades-moodle.csv").read_text().splitlines()[1] == "Bob,Builder,bob,1002,,1.5,"

    assert course_status(course) == (
        LabStatus(NAME, True, None, 2, 0, 0, 0, 2, 0, 2, 0, 1.75, 7.0),
        LabStatus("02-other", True, None, 0, 0, 0, 2, 0, 0, 0, 0, None, 1.0),
    )


def test_the_status_counts_what_happened(course, hand_in):
    """Late, damaged, missing and not yet graded as it is now; 80 columns hold the whole due date of every lab."""
    settings = course.folder / "course.toml"
    settings.write_text(settings.read_text() + f'{NAME} = "2026-11-16T13:00:00+00:00"\n')
    hand_in("ada", at=later(5))
    collect(find_course(course.root, course.folder), NAME)
    (small, other) = course_status(find_course(course.root, course.folder))
    counts = (small.num_collected, small.num_late, small.num_damaged, small.num_missing, small.num_graded)
    assert (*counts, small.num_to_run) == (1, 1, 0, 1, 0, 1)
    assert (other.num_missing, other.num_to_run) == (2, 0)

    record(course, verdict(), read_hand_in(course, NAME, "ada"))
    assert course_status(course)[0].num_to_run == 0
    hand_in("ada", at=later(6))
    hand_in("bob", notebook="{ damaged")
    collect(course, NAME, late=True)
    small = course_status(course)[0]
    assert (small.num_damaged, small.num_missing, small.num_graded, small.num_to_run) == (1, 0, 1, 1)

    result = CliRunner().invoke(command, ["status", "--course", str(course.folder)], env={"COLUMNS": "80"})
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    words = [line.split() for line in lines if line.strip()]
    assert ["due", "(UTC)", "2026-11-16"] in words
    assert {"late": "1", "damaged": "1", "missing": "0"}.items() <= {one[0]: one[1] for one in words if one[1:]}.items()
    assert "roster" not in result.output

    (course.folder / "roster.csv").write_text("id\nada\n")
    result = CliRunner().invoke(command, ["status", "--course", str(course.folder)])
    assert result.output.splitlines()[-1] == "Not on the roster, and counted here all the same: bob."


def test_points_before_any_release_are_a_sentence(checkout, tmp_path, monkeypatch):
    """An export of nothing is no table of nothing."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout))
    folder = init_course(checkout, tmp_path / "new", None, None, None).course.folder
    result = CliRunner().invoke(command, ["export", "--course", str(folder)])
    assert str(result.exception).startswith("no lab was released yet, so nobody has points")
