"""One student is one, however a hub, a platform, an instructor or a Mac spells the id of the roster."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
import zipfile

import nbformat
import pytest

from coursekit.course.collect import collect, settle
from coursekit.course.export import plain, read_grades
from coursekit.course.folder import find_course
from coursekit.course.hand_in.owner import find_owner
from coursekit.course.hand_in.packed import HandInManifest
from coursekit.course.hand_in.take import take_all
from coursekit.course.init import init_course
from coursekit.course.record import record
from coursekit.course.release import graded_students
from coursekit.course.roster import Student, read_roster
from coursekit.course.status.class_status import read_class
from coursekit.course.versions import find_hand_ins, read_hand_in, read_versions
from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs

from .conftest import MONDAY, NAME, RIGHT, filled, later, verdict

GRACE, RENEE = "Grace.Hopper", unicodedata.normalize("NFC", "Renée")
OTHERS = {GRACE: "grace.hopper", RENEE: unicodedata.normalize("NFD", "renée")}


@pytest.fixture
def enrolled(course, tmp_path):
    """The course with two students more."""
    roster = tmp_path / "more.csv"
    roster.write_text(f"id,last_name\n{GRACE},Hopper\n{RENEE},Née\n")
    init_course(course.root, course.folder, None, roster)
    return course


def points(course):
    """Return what the exported table says: id to points of the lab, '' for nothing handed in."""
    return {row["id"]: row[NAME] for row in csv.DictReader(io.StringIO(plain(read_grades(course))))}


@pytest.mark.parametrize("student", [GRACE, RENEE])
def test_from_the_exchange_to_the_table(enrolled, hand_in, student):
    """Versions under both spellings are one student's; collecting, grading, the class and the table say it alike."""
    hand_in(student)
    hand_in(OTHERS[student], at=later(1))
    (collected,), strays = collect(enrolled, NAME)
    assert (collected.student, collected.lines[0][:1], strays) == (student, "2", [])
    flags = {flag.text for flag in read_hand_in(enrolled, NAME, student).flags}
    assert len(flags) == 1
    (found,) = find_hand_ins(enrolled, [NAME], [OTHERS[student]])
    record(enrolled, verdict(found.student), found)
    assert points(enrolled) == {"ada": "", "bob": "", GRACE: "", RENEE: "", student: "3"}
    assert graded_students(enrolled, NAME, [OTHERS[student]]) == (student,)
    hand_in(OTHERS[student], at=later(2))
    members = read_class(enrolled, find_labs(enrolled.root)).labs[0].students
    assert {name: one.num_new for name, one in members.items()} == {"ada": 0, "bob": 0, GRACE: 0, RENEE: 0, student: 1}


def test_what_nbgrader_collected_under_another_spelling_is_taken_over(enrolled, hand_in):
    """Its own commands name the folder as the account; the next collecting leaves one student."""
    folder = hand_in(OTHERS[GRACE])
    other = enrolled.submitted(NAME, OTHERS[GRACE])
    other.parent.mkdir()
    folder.rename(other)
    with pytest.raises(CourseKitError, match=rf"{OTHERS[GRACE]} and {GRACE} .*coursekit course collect 01"):
        record(enrolled, verdict(OTHERS[GRACE]), read_hand_in(enrolled, NAME, OTHERS[GRACE]))
    # As a version of the kit did that knew of one spelling at a time.
    settle(enrolled, NAME, OTHERS[GRACE], None, late=False)
    (collected,), _ = collect(enrolled, NAME)
    assert (collected.student, collected.changed, other.exists()) == (GRACE, True, False)
    assert not enrolled.hand_ins(NAME, OTHERS[GRACE]).exists()
    assert [version.timestamp for version in read_versions(enrolled.hand_ins(NAME, GRACE))] == [MONDAY]
    assert [one.student for one in find_hand_ins(enrolled, [NAME])] == [GRACE]


def test_who_is_on_no_roster_is_told_with_ids_that_come_near(enrolled, hand_in):
    """As by `coursekit take`."""
    hand_in("grace.hoper")
    _, (stray,) = collect(enrolled, NAME)
    assert "grace.hoper is not on the roster" in stray
    assert GRACE in stray


@pytest.mark.parametrize("student", [GRACE, RENEE])
def test_a_packed_file(enrolled, tmp_path, student):
    """The account in the manifest is no stranger."""
    data = nbformat.writes(filled(enrolled, NAME, RIGHT)).encode()
    manifest = HandInManifest(NAME, OTHERS[GRACE], MONDAY, (f"{NAME}.ipynb",))
    folder = tmp_path / "mails"
    folder.mkdir()
    with zipfile.ZipFile(folder / f"{manifest.file_name}.zip", "w") as packed:
        packed.writestr("hand-in.json", json.dumps(json.loads(manifest.to_bytes())))
        packed.writestr(f"{NAME}.ipynb", data)
    assert [one.student for one in take_all(enrolled, folder)[0]] == [GRACE]
    owner = find_owner([OTHERS[student], "x"], OTHERS[student], (Student(GRACE), Student(RENEE)))
    assert (owner.student, owner.flags, owner.remarks) == (student, (), ())


@pytest.mark.parametrize("student", [GRACE, RENEE])
def test_later_dates(enrolled, call, student):
    """`extend --student`, and what an instructor writes into course.toml."""
    for words in (["--until", "2026-11-16T13:00:00+00:00"], ["--days", "1", "--student", OTHERS[student]]):
        assert call("course", "extend", "1", *words)[0] == 0
    file = enrolled.folder / "course.toml"
    assert find_course(enrolled.root, enrolled.folder).extension(NAME, student) == later(25)
    file.write_text(file.read_text().replace(student, OTHERS[student]))
    assert find_course(enrolled.root, enrolled.folder).extension(NAME, student) == later(25)
    found = read_class(find_course(enrolled.root, enrolled.folder), ())
    assert not [note for note in found.notes if "extension" in note]


@pytest.mark.parametrize("student", [GRACE, RENEE])
def test_a_second_spelling_is_refused(enrolled, hand_in, tmp_path, student):
    """Within a roster, beside the roster of the course, and beside a stranger whose work was graded."""
    roster = tmp_path / "roster.csv"
    roster.write_text(f"id\n{student}\n{OTHERS[student]}\n")
    with pytest.raises(CourseKitError, match=r"roster.csv:3: "):
        read_roster(roster)
    hand_in("Eve")
    collect(enrolled, NAME)
    record(enrolled, verdict("Eve"), read_hand_in(enrolled, NAME, "Eve"))
    before = (enrolled.folder / "roster.csv").read_bytes()
    for name, there in ((student.swapcase(), student), ("eve", "Eve")):
        roster.write_text(f"id\n{name}\n")
        with pytest.raises(CourseKitError, match=f"'{name}'.*'{there}'"):
            init_course(enrolled.root, enrolled.folder, None, roster)
    assert (enrolled.folder / "roster.csv").read_bytes() == before
