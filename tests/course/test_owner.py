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
        ("lab 1/bob/x (1).ipynb.txt", "bob"),
        ("lab 1/bob/Bob Builder/bob.ipynb", "bob"),
        ("bob (2).ipynb.download", "bob"),
        ("ada@example.org/x", "ada"),
        ("Lovelace, Ada/x", "ada"),
        ("ju\u0308rgen weiß-groß/x", "sz"),  # as a Mac writes it
        ("Ada Lovelace_1002_assignsubmission_file_/x", "ada"),  # Moodle's number is none of the student's
        ("Ada Lovelace_77_assignsubmission_file_bob", "ada"),
        ("xy12_77_assignsubmission_file_x", "xy12"),
        ("lovelaceada_1001_88_bob", "ada"),
        ("lovelaceada_LATE_1001_88_x", "ada"),
        ("somebody_1002_88_x", "bob"),
        ("Team 1-Ada Lovelace_77_assignsubmission_file_/x", "ada"),
        ("Team 1-Anne-Marie Ortiz Gómez_77_assignsubmission_file_/x", "amo"),
        ("Lab 1_ada_attempt_2026-11-16-12-00-00_bob.ipynb", "ada"),
        ("Lab 1_li_wang_attempt_2026-11-16-12-00-00_x", "li_wang"),
        ("Lab_li_wang_attempt_2026-11-16-12-00-00", "li_wang"),
        ("lab 1_wang_attempt_2026-11-16-12-00-00_x", "wang"),
        # What a student called a file or put into a zip does not make it another student's.
        ("Ada Lovelace_77_assignsubmission_file_/bob.ipynb", "ada"),
        ("Ada Lovelace_77_assignsubmission_file_x.zip/bob.ipynb", "ada"),
        # An id counts more than a name, which may be a tutor's, wherever they are.
        ("Xiu Wang/ada/x", "ada"),
        ("Xiu Wang/Ada Lovelace_77_assignsubmission_file_/x", "ada"),
        ("ada/Xiu Wang.ipynb", "ada"),
        # A date is nothing that a platform writes.
        ("lab1_2026_11_28/ada/x", "ada"),
        ("lab1_2026_11_28_evening/ada/x", "ada"),
        # Who follows the advice is understood.
        ("lab_1_2_x/ada/x", "ada"),
        ("bob/Participant_4711_assignsubmission_file_/x", "bob"),
        ("li_wang/Wang Li_12_assignsubmission_file_x", "li_wang"),
    ],
)
def test_what_a_path_says(path, student):
    """Folders per student, and the names that Moodle, Canvas, Blackboard and browsers give."""
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
        ("x", "", ["owner.unnamed"]),
        ("x", "eve", ["owner.not-on-roster", "eve"]),
        (OWN.format("bob"), "", ["owner.unnamed"]),
        (by_moodle("Participant", ""), "wang", ["owner.unknown", "'Participant_4711_assignsubmission_file'"]),
        (by_moodle("Grace", "Hopper"), "wang", ["owner.unknown"]),
        ("wang_12_345_x", "wang", ["owner.unknown"]),  # Canvas writes no accounts
        (by_moodle("Li", "Wang"), "wang", ["owner.ambiguous", "li_wang, twin"]),
        (by_canvas("Li", "Wang"), "wang", ["owner.ambiguous", "li_wang, twin"]),
        ("lovelaceada_1002_8_x", "ada", ["owner.ambiguous", "ada, bob"]),
        ("ada/bob", "", ["owner.contradictory", "'ada' (ada) and 'bob' (bob)"]),
        (
            "ada/ada/Bob Builder_12_assignsubmission_file_",
            "",
            ["owner.contradictory", "'ada' (ada)", "'Bob Builder_12_"],
        ),
        ("Xiu Wang/Ada Lovelace", "", ["owner.contradictory", "'Xiu Wang' (wang)", "'Ada Lovelace' (ada)"]),
        ("Lab 1_eve_attempt_2026-11-16-12-00-00_x", "ada", ["owner.unknown"]),
    ],
)
def test_what_is_not_clear_is_not_guessed(path, claim, parts):
    """The reason and what to do; a claim does not help whom a platform calls by another name, or two alike."""
    roster = (*CLASS, Student("twin", "Wang", "Li", "", "2004"))
    with refused(*parts):
        find_owner([*path.split("/"), "x"], claim, roster)


def test_the_number_of_canvas_tells_namesakes_apart():
    """Where the roster has it; an anonymous download names nobody."""
    roster = (*CLASS, Student("twin", "Li", "Wang", "", "2004"), Student("n", "", "", "", "77777"))
    assert [find_owner([f"wangli_{number}_88_x"], "", roster).student for number in (2003, 2004)] == ["li_wang", "twin"]
    assert find_owner(["anon_77777_345_x"], "ada", roster).student == "ada"


def test_disagreement_is_flagged():
    """The path counts, and the other student who packed the file is named to the instructor."""
    owner = find_owner(["ada (1)"], "bob", CLASS)
    assert owner.student == "ada"
    assert [(flag.kind, "bob" in flag.text) for flag in owner.flags] == [("owner", True)]
    assert find_owner(["ada"], "ADA", CLASS).flags == ()


def test_another_name_in_the_path_is_remarked():
    """Nothing goes to another student in silence: a tutor's name is said, and a platform's stranger flagged."""
    owner = find_owner(["Xiu Wang", "ada", "x"], "", CLASS)
    assert (owner.flags, "'Xiu Wang' names wang" in owner.remark) == ((), True)
    owner = find_owner(["Participant_4711_assignsubmission_file_", "ada", "x"], "", CLASS)
    assert ["'Participant_4711_assignsubmission_file_'" in flag.text for flag in owner.flags] == [True]
    assert owner.remark == ""


def test_another_account_is_no_offence():
    """Accounts of a cluster are called otherwise than ids of a course: said when collecting, no flag."""
    owner = find_owner(["ada", "x"], "it4i-ada", CLASS)
    assert (owner.student, owner.flags) == ("ada", ())
    assert "it4i-ada" in owner.remark


def test_a_loose_file_that_names_its_student_is_remarked():
    """Anybody can write a name into a manifest, and into the name of a file."""
    for parts in (["work"], [OWN.format("ada")]):
        owner = find_owner(parts, "ada", CLASS)
        assert (owner.student, owner.flags) == ("ada", ())
        assert "ada" in owner.remark


def test_a_roster_without_names_cannot_contradict():
    """Then the claim is taken, and flagged."""
    owner = find_owner(["Xenia Young_7_assignsubmission_file_", "x"], "xy12", CLASS)
    assert owner.student == "xy12"
    assert ["'Xenia Young_7_assignsubmission_file_'" in flag.text for flag in owner.flags] == [True]
