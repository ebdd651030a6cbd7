"""The course folder: made once, completed later, never changed."""

import os
import re
import shutil
import stat
import subprocess
import sys

import pytest
from click.testing import CliRunner

from coursekit.cli.course import course as command
from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.init import init_course
from coursekit.course.nbgrader_config import course_config
from coursekit.course.status.class_status import read_class
from coursekit.errors import codes_in

from .conftest import ROSTER, edit, refused, tree


def students(course):
    """Return what the gradebook knows of students."""
    names = ("id", "first_name", "last_name", "email", "lms_user_id")
    with course.gradebook() as gradebook:
        return sorted(tuple(getattr(student, name) for name in names) for student in gradebook.students)


def test_the_gradebook_holds_roster_and_labs(course):
    """Empty values of the roster are none, and every lab of the checkout is an assignment."""
    assert students(course) == [
        ("ada", "Ada", "Lovelace", "ada@example.org", "1001"),
        ("bob", "Bob", "Builder", None, "1002"),
    ]
    with course.gradebook() as gradebook:
        assert sorted(assignment.name for assignment in gradebook.assignments) == ["01-small", "02-other"]


def test_a_second_call_adds_students_and_changes_nothing(course, tmp_path):
    """A new student is added to roster and gradebook; one who left or has another name now stays as before."""
    before = tree(course.folder)
    roster = tmp_path / "new.csv"
    roster.write_text("login,first name\nbob,Robert\neve,Eve\n")

    made = init_course(course.root, course.folder, None, roster)

    assert (made.written, made.new_students, made.num_students) == ((), ("eve",), 3)
    assert [row[:2] for row in students(course)] == [("ada", "Ada"), ("bob", "Bob"), ("eve", "Eve")]
    after = tree(course.folder)
    assert after.pop("roster.csv").decode() == ROSTER + "eve,Eve,,,\n"
    assert {name for name in after if after[name] != before[name]} == {"gradebook.db"}


CORRECTED = """id;first_name;last_name;email;lms_user_id
ADA;Ada;King;ada.king@example.org;9001
;Eve;Without;eve@example.org;
new;New;Student;;9003
"""


def test_a_corrected_list_is_reported_and_taken_over_when_asked(course, tmp_path, call):
    """Values that differ are named; with `update` roster, gradebook and export have them; ids stay as spelled."""
    roster = tmp_path / "corrected.csv"
    roster.write_text(CORRECTED)
    notes = init_course(course.root, course.folder, None, roster).notes
    assert [code for note in notes for code in codes_in(note)] == [
        "roster.no-id",
        *["roster.differs"] * 3,
        "roster.not-in-list",
    ]
    facts = ("corrected.csv:3: ", "ada", "ada", "ada", "bob")
    assert [fact in note for fact, note in zip(facts, notes, strict=True)] == [True] * 5
    ada = ("ada", "Ada", "Lovelace", "ada@example.org", "1001")
    rest = [("bob", "Bob", "Builder", None, "1002"), ("new", "New", "Student", None, "9003")]
    assert students(course) == [ada, *rest]

    notes = init_course(course.root, course.folder, None, roster, update=True).notes
    assert ["King" in note for note in notes] == [False, True, False, False, False]
    ada = ("ada", "Ada", "King", "ada.king@example.org", "9001")
    assert students(course) == [ada, *rest]
    call("course", "export", "--format", "moodle")
    assert "Ada,King,ada,9001,ada.king@example.org,," in (course.folder / "grades-moodle.csv").read_text().splitlines()
    assert len(init_course(course.root, course.folder, None, roster, update=True).notes) == 2


def test_the_gradebook_follows_a_roster_that_was_edited(course, call):
    """All read `roster.csv`, at once; what the gradebook has otherwise is told until it follows, and when it does."""
    (course.folder / "roster.csv").write_text("id,last_name,email\nada,King,\nzoe,Zorn,z@example.org\n")

    def notes():
        return [note.partition(" is ")[0] for note in read_class(course, ()).notes]

    expected = [f"ada: the {name}" for name in ("first_name", "last_name", "email", "lms_user_id")]
    *differing, (others,) = [codes_in(note) for note in read_class(course, ()).notes]
    assert (differing, others) == ([["gradebook.differs"]] * 4, "roster.strangers")
    assert notes()[:4] == expected
    _, said = call("course", "export")
    assert [(codes_in(line), "bob" in line) for line in said[1:]] == [(["export.left-out"], True)]
    table = (course.folder / "grades-csv.csv").read_text().splitlines()[1:]
    assert [row.split(",")[:5] for row in table] == [
        ["ada", "King", "", "", ""],
        ["zoe", "Zorn", "", "z@example.org", ""],
    ]
    said = call("course", "collect", "01")[1]
    assert [line.partition(" is ")[0] for line in said[1:]] == [f"! {one}" for one in expected]
    assert students(course)[::2] == [("ada", None, "King", None, None), ("zoe", None, "Zorn", "z@example.org", None)]
    assert [codes_in(note) for note in read_class(course, ()).notes] == [[others]]


def test_students_reach_the_exchange_and_nothing_else(course):
    """The folder lets others through, not look; the gradebook with its hidden tests is the owner's alone."""
    modes = {name: stat.S_IMODE((course.folder / name).stat().st_mode) for name in (".", "exchange", "gradebook.db")}
    assert modes == {".": 0o711, "exchange": 0o1777, "gradebook.db": 0o600}
    for name in ("release", "submitted", "autograded", "feedback", "hand-ins"):
        assert stat.S_IMODE((course.folder / name).stat().st_mode) == 0o700, name


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another account")
def test_another_account_cannot_move_what_is_in_the_exchange(course):
    """Neither the course nor a hand-in; where the sticky bit is missing, it can, and each look names the folder."""
    exchange, hand_in = course.folder / "exchange", course.inbound / "ada+01-small+2026"
    hand_in.mkdir()
    for folder in [one for one in course.folder.parents if one.stat().st_mode & 0o1 == 0]:
        folder.chmod(folder.stat().st_mode | 0o711)
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    def moves(path):
        target = path.with_name("away")
        return subprocess.run([*other, "mv", path, target], check=False, stderr=subprocess.DEVNULL).returncode == 0

    assert [moves(course.inbound.parent), moves(hand_in), course.faults_of_exchange()] == [False, False, ()]

    exchange.chmod(0o777)
    assert [fault.words.split()[0] for fault in course.faults_of_exchange()] == ["exchange"]
    init_course(course.root, course.folder, None, None)
    assert course.faults_of_exchange() == ()

    exchange.chmod(0o777)
    assert moves(course.inbound.parent)
    subprocess.run([*other, "mkdir", "-p", course.inbound], check=True)
    found = [fault.words.split()[0] for fault in course.faults_of_exchange()]
    assert found == ["exchange", "exchange/dl", "exchange/dl/inbound"]
    with refused("exchange/dl", "65534"):
        collect(course, "01-small")


def test_due_dates_reach_the_gradebook(course):
    """They are in UTC there, whatever offset the file has."""
    edit(course, '01-small = "2026-11-30T18:00:00+01:00"\n')
    made = init_course(course.root, course.folder, None, None)
    with course.gradebook() as gradebook:
        due = {assignment.name: str(assignment.duedate) for assignment in gradebook.assignments}
    assert (due, made.notes) == ({"01-small": "2026-11-30 17:00:00", "02-other": "None"}, ())


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ('01-small = "tomorrow"', ["[due]: 01-small", "'tomorrow'"]),
        ("01-small = 3", ["[due]: 01-small", "3"]),
        ("[other]", ["'other'", "toml.unknown-key"]),
    ],
)
def test_mistakes_in_the_settings_are_named(course, line, parts):
    """Each is one sentence with file and key."""
    with refused("course.toml", *parts):
        edit(course, line)


@pytest.mark.parametrize(
    ("option", "parts"),
    [
        (("--name", "a b"), ["'a b'"]),
        (("--roster", "nowhere.csv"), ["nowhere.csv", "roster.not-readable"]),
    ],
)
def test_nothing_is_made_when_an_option_is_wrong(checkout, tmp_path, monkeypatch, option, parts):
    """A wrong option is one sentence, and leaves no folder behind."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout))
    with refused(*parts):
        CliRunner().invoke(command, ["init", str(tmp_path / "new"), *option], catch_exceptions=False)
    assert not (tmp_path / "new").exists()


def test_a_lost_configuration_is_written_again(course, tmp_path):
    """What a second call adds includes files that somebody removed; the settings are the instructor's."""
    with refused(str(tmp_path), "`coursekit course init`"):
        find_course(course.root, tmp_path)
    with refused("course.toml", "'dl'", "settings.other-name"):
        init_course(course.root, course.folder, "other", None)
    (course.folder / "nbgrader_config.py").unlink()
    with refused("nbgrader_config.py", "`coursekit course init"):
        find_course(course.root, course.folder)
    made = init_course(course.root, course.folder, None, None)
    assert made.written == ("nbgrader_config.py",)


def test_a_moved_course_finds_everything(course, tmp_path):
    """No file but the students' holds the folder's own path."""
    moved = tmp_path / "elsewhere"
    shutil.move(course.folder, moved)
    config = course_config(moved, course.root)
    assert config.CourseDirectory.db_url == f"sqlite:///{moved}/gradebook.db"
    assert config.Exchange.root == f"{moved}/exchange"


def test_the_verb_finds_nbgraders_helpers_by_itself(checkout, tmp_path):
    """Started by its path, without an activated environment: nbgrader starts alembic by its bare name."""
    roster = tmp_path / "roster.csv"
    roster.write_text(ROSTER)
    words = ["course", "init", str(tmp_path / "event"), "--name", "dl", "--roster", str(roster)]
    done = subprocess.run(
        [sys.executable, "-m", "coursekit", *words],
        env={"PATH": "/usr/bin:/bin", "COURSEKIT_ROOT": str(checkout), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    names = ("course.toml", "nbgrader_config.py", "student/nbgrader_config.py", "roster.csv")
    *written, counts = done.stdout.splitlines()
    assert written == [f"written  {tmp_path}/event/{name}" for name in names]
    assert re.findall(r"\d", counts) == ["2", "2"]
