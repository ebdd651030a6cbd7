"""One student is one, however a hub, a platform, an instructor or a Mac spells the id of the roster."""

import csv
import io
import unicodedata

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import plain, read_grades
from coursekit.course.hand_in.owner import find_owner
from coursekit.course.init import init_course
from coursekit.course.record import record
from coursekit.course.release import graded_students
from coursekit.course.roster import Student, read_roster
from coursekit.course.versions import find_submissions, read_submission, read_versions

from .conftest import MONDAY, NAME, edit, later, refused, verdict

GRACE, RENEE = "Grace.Hopper", unicodedata.normalize("NFC", "Renée")
OTHERS = {GRACE: "grace.hopper", RENEE: unicodedata.normalize("NFD", "renée")}
pytestmark = pytest.mark.parametrize("student", [GRACE, RENEE])


@pytest.fixture
def enrolled(course, enrol):
    """The course with two students more."""
    enrol(GRACE, RENEE)
    return course


def points(course):
    """Return what the exported table says: id to points of the lab, '' for nothing handed in."""
    return {row["id"]: row[NAME] for row in csv.DictReader(io.StringIO(plain(read_grades(course))))}


def test_from_the_exchange_to_the_table(enrolled, hand_in, student):
    """Versions under both spellings are one student's; collecting, grading, feedback and the table say it alike."""
    hand_in(student)
    hand_in(OTHERS[student], at=later(1))
    (collected,), strays = collect(enrolled, NAME)
    assert (collected.student, collected.lines[0][:1], strays) == (student, "2", [])
    (found,) = find_submissions(enrolled, [NAME], [OTHERS[student]])
    record(enrolled, verdict(found.student), found)
    assert points(enrolled) == {"ada": "", "bob": "", GRACE: "", RENEE: "", student: "3"}
    assert graded_students(enrolled, NAME, [OTHERS[student]]) == (student,)


def test_what_nbgrader_collected_under_another_spelling_is_taken_over(enrolled, hand_in, student):
    """Its own commands name the folder as the account; the next collecting leaves one student."""
    folder = hand_in(OTHERS[student])
    other = enrolled.submitted(NAME, OTHERS[student])
    other.parent.mkdir()
    folder.rename(other)
    (collected,), _ = collect(enrolled, NAME)
    assert (collected.student, collected.changed, other.exists()) == (student, True, False)
    assert [version.timestamp for version in read_versions(enrolled.hand_ins(NAME, student))] == [MONDAY]
    assert [one.student for one in find_submissions(enrolled, [NAME])] == [student]


def test_what_cannot_be_taken_over_stays_and_is_told(enrolled, hand_in, tmp_path, student):
    """A link under another spelling stops nobody, nor do versions that lie under one: a sentence names each."""
    hand_in("ada")
    hand_in(OTHERS[student])
    collect(enrolled, NAME)
    kept, other = enrolled.hand_ins(NAME, student), enrolled.hand_ins(NAME, OTHERS[student])
    kept.rename(other)
    link = enrolled.submitted(NAME, OTHERS[student])
    link.parent.mkdir()
    link.symlink_to(tmp_path)
    collected, strays = collect(enrolled, NAME)
    assert "ada" in {one.student for one in collected}
    assert [stray.partition(":")[0] for stray in strays] == [f"{OTHERS[student]}, {NAME}"] * 2
    assert (link.is_symlink(), len(read_versions(other)) > 0) == (True, True)


def test_files_and_later_dates(enrolled, student):
    """A folder, the account in a manifest, and what an instructor writes into course.toml are no stranger's."""
    owner = find_owner([OTHERS[student], "x"], OTHERS[student], (Student(GRACE), Student(RENEE)))
    assert (owner.student, owner.flags, owner.remark) == (student, (), "")
    changed = edit(enrolled, f'[extensions.{NAME}]\n"{OTHERS[student]}" = "2026-11-17T13:00:00+00:00"\n')
    assert changed.extension(NAME, student) == later(25)


def test_a_second_spelling_makes_no_second_student(enrolled, hand_in, tmp_path, student):
    """A roster has one; a list may spell those of the course, and strangers whose work was graded, as it likes."""
    roster = tmp_path / "roster.csv"
    roster.write_text(f"id\n{student}\n{OTHERS[student]}\n")
    with refused("roster.csv:3: "):
        read_roster(roster)
    hand_in("Eve")
    collect(enrolled, NAME)
    record(enrolled, verdict("Eve"), read_submission(enrolled, NAME, "Eve"))
    own = enrolled.folder / "roster.csv"
    before = own.read_text()
    roster.write_text(f"id\n{student.swapcase()}\neve\n")
    init_course(enrolled.root, enrolled.folder, None, roster)
    assert own.read_text() == f"{before}Eve,,,,\n"
    own.write_text(before.replace(student, student.swapcase()))
    for command in (lambda: collect(enrolled, NAME), lambda: read_grades(enrolled)):
        with refused(repr(student.swapcase()), repr(student)):
            command()
