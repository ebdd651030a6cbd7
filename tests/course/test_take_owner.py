"""Whose a file is: what a platform wrote outranks what the file says, and what is not clear is not guessed."""

import re
import unicodedata

import pytest

from coursekit.course.hand_in.owner import find_owner
from coursekit.course.roster import Student

from .conftest import refused

ADA = Student("ada", "Ada", "Lovelace", "ada@example.org", "1001")
BOB = Student("bob", "Bob", "Builder", "", "1002")
BARE = Student("xy12")
# Names that platforms shorten.
CLASS = (
    ADA,
    BOB,
    BARE,
    Student("soc", "Sinéad", "O'Connor", "soc@example.org", "2001"),
    Student("amo", "Anne-Marie", "Ortiz Gómez"),
    Student("li_wang", "Li", "Wang", "", "2003"),
    Student("wang", "Xiu", "Wang"),
    Student("sz", "Jürgen", "Weiß-Groß", "", "2010"),
    Student("mono", "", "Suharto"),
)
OWN = "01-small--{}--2026-11-16T12-00-00Z"


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ada", "ada"),
        ("ada (1)", "ada"),
        ("ADA", "ada"),
        ("bob/whatever", "bob"),
        ("lab 1/bob/ada/x", "bob"),
        ("ada@example.org/x", "ada"),
        ("Lovelace, Ada/x", "ada"),
        ("ju\u0308rgen weiß-groß/x", "sz"),  # as a Mac writes it
        ("Ada Lovelace_1002_assignsubmission_file_/x", "ada"),  # Moodle's number is none of the student's
        ("Ada Lovelace_77_assignsubmission_file_bob", "ada"),
        ("xy12_77_assignsubmission_file_x", "xy12"),
        ("lovelaceada_1001_88_bob", "ada"),
        ("lovelaceada_LATE_1001_88_x", "ada"),
        ("somebody_1002_88_x", "bob"),
    ],
)
def test_what_a_path_says(path, student):
    """Folders per student and the names that Moodle, Canvas and browsers give; the outermost counts."""
    assert find_owner(path.split("/"), "", CLASS).student == student


def by_moodle(first, last):
    """Return a folder's name by `download_submissions` of Moodle's mod/assign and its cleaning of file names."""
    name = f"{first} {last}".strip().replace("_", " ")
    return re.sub(r"""[\x00-\x1f&<>"`|':\\/]""", "", f"{name}_4711_assignsubmission_file")


def by_canvas(first, last):
    """Return a file's name by `get_filename` of Canvas's content_zipper.rb, from "Last, First" or one name."""
    name = re.sub(r"\W", "", f"{last}, {first}".strip(", ").lower() + "_LATE_99")
    return f"{name}_345_x"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("student", CLASS[3:], ids=lambda one: one.id)
def test_what_platforms_make_of_a_name(student, form):
    """By each platform's own rule, composed or not."""
    first, last = student.first_name, student.last_name
    for name in (by_moodle(first, last), by_moodle(last, first), by_canvas(first, last)):
        path = [unicodedata.normalize(form, name), "x"]
        assert find_owner(path, "", CLASS).student == student.id


@pytest.mark.parametrize(
    ("path", "claim", "parts"),
    [
        ("x", "", ["folder", "id", "roster"]),
        ("x", "eve", ["eve", "`coursekit course init --roster`"]),
        (OWN.format("bob"), "", ["folder"]),
        (by_moodle("Participant", ""), "wang", ["'Participant_4711_assignsubmission_file'", "blind"]),
        (by_moodle("Grace", "Hopper"), "wang", ["nobody"]),
        ("wang_12_345_x", "wang", ["nobody"]),  # Canvas writes no accounts
        (by_moodle("Li", "Wang"), "wang", ["fits li_wang, twin"]),
        (by_canvas("Li", "Wang"), "wang", ["fits li_wang, twin"]),
        ("lovelaceada_1002_8_x", "ada", ["fits ada, bob"]),
    ],
)
def test_what_is_not_clear_is_not_guessed(path, claim, parts):
    """The reason and what to do; a claim does not help whom a platform calls by another name, or two alike."""
    roster = (*CLASS, Student("twin", "Wang", "Li", "", "2004"))
    with refused(*parts):
        find_owner([path, "x"], claim, roster)


def test_the_number_of_canvas_tells_namesakes_apart():
    """Where the roster has it; an anonymous download names nobody."""
    roster = (*CLASS, Student("twin", "Li", "Wang", "", "2004"), Student("n", "", "", "", "77777"))
    assert [find_owner([f"wangli_{number}_88_x"], "", roster).student for number in (2003, 2004)] == ["li_wang", "twin"]
    assert find_owner(["anon_77777_345_x"], "ada", roster).student == "ada"


def test_disagreement_is_flagged():
    """The path counts, and the other student who packed the file is named to the instructor."""
    owner = find_owner(["ada (1)"], "bob", CLASS)
    assert owner.student == "ada"
    assert [flag.text for flag in owner.flags] == ["'ada (1)' names ada, but bob packed it."]
    assert find_owner(["ada"], "ADA", CLASS).flags == ()


def test_another_account_is_no_offence():
    """Accounts of a cluster are called otherwise than ids of a course: said when collecting, no flag."""
    owner = find_owner(["ada", "x"], "it4i-ada", CLASS)
    assert (owner.student, owner.flags) == ("ada", ())
    assert owner.remark == "taken for ada, as 'ada' says; it was packed by it4i-ada"


def test_a_loose_file_that_names_its_student_is_remarked():
    """Anybody can write a name into a manifest, and into the name of a file."""
    for parts in (["work"], [OWN.format("ada")]):
        owner = find_owner(parts, "ada", CLASS)
        assert (owner.student, owner.flags) == ("ada", ())
        assert owner.remark == "taken for ada, as the file itself says, and nothing else does"


def test_a_roster_without_names_cannot_contradict():
    """Then the claim is taken, and flagged."""
    owner = find_owner(["Xenia Young_7_assignsubmission_file_", "x"], "xy12", CLASS)
    assert owner.student == "xy12"
    assert ["'Xenia Young_7_assignsubmission_file_'" in flag.text for flag in owner.flags] == [True]
