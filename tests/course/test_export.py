"""Grades as tables for platforms, and where a course stands."""

import codecs
import csv
import io
import re

from click.testing import CliRunner

from coursekit.cli.course import course as command
from coursekit.course.export import FORMATS, Grades, GradeTable, canvas, moodle, plain, read_grades
from coursekit.course.init import init_course
from coursekit.course.status.class_status import read_class

from .conftest import NAME

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


def test_from_the_gradebook_to_a_file(course, graded, call):
    """Points, the late penalty taken off, and a word on what still waits for a person."""
    for student in ("ada", "bob"):
        graded(student, (2, 0), ("", "x"))
    with course.gradebook() as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "bob").late_submission_penalty = 0.5
        gradebook.db.commit()

    assert [(one.id, dict(one.points), one.num_waiting) for one in read_grades(course).students] == [
        ("bob", {NAME: 1.5}, 1),
        ("ada", {NAME: 2.0}, 1),
    ]
    _, (counts, waiting) = call("course", "export", "--format", "moodle")
    assert counts == f"2 students, 2 labs: {course.folder}/grades-moodle.csv"
    assert re.findall(r"\d+", waiting) == ["2"]
    assert (course.folder / "grades-moodle.csv").read_text().splitlines()[1] == "Bob,Builder,bob,1002,,1.5,"
    call("course", "export")
    # By this mark a spreadsheet knows UTF-8; platforms get none.
    tables = [(course.folder / f"grades-{name}.csv").read_bytes() for name in ("csv", "moodle")]
    assert [table.startswith(codecs.BOM_UTF8) for table in tables] == [True, False]
    assert tables[0].decode("utf-8-sig") == plain(read_grades(course))


def test_who_is_not_on_the_roster_is_named_and_left_out(course, graded, call):
    """An account without a name that handed in, and somebody who left: export and status count the same students."""
    graded("ada")
    graded("eve")
    (course.folder / "roster.csv").write_text("id,last_name\nada,Lovelace\ncyd,Cid\n")
    found, table = read_class(course, ()), read_grades(course)
    assert [one.id for one in table.students] == ["cyd", "ada"] == [*found.roster][::-1]
    assert table.left_out == found.others == ("bob", "eve")
    assert re.search(r"bob, eve \[export\.left-out\]$", call("course", "export")[1][1])
    (course.folder / "roster.csv").unlink()
    found, table = read_class(course, ()), read_grades(course)
    assert sorted(one.id for one in table.students) == [*found.roster] == ["ada", "bob", "eve"]


def test_points_before_any_release_are_a_sentence(checkout, tmp_path, monkeypatch):
    """An export of nothing is no table of nothing."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout))
    folder = init_course(checkout, tmp_path / "new", None, None).course.folder
    result = CliRunner().invoke(command, ["export", "--course", str(folder)])
    assert result.exception.code == "labs.none-released"
