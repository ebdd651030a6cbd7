"""Whose a file is: what a platform wrote outranks what the file says, and disagreement is never silent."""

from __future__ import annotations

import re
import unicodedata

import pytest

from coursekit.course.hand_in.owner import find_owner
from coursekit.course.hand_in.packed import NotTakenError
from coursekit.course.roster import Student

from .conftest import refused

ADA = Student("ada", "Ada", "Lovelace", "ada@example.org", "1001")
BOB = Student("bob", "Bob", "Builder", "", "1002")
ANA = Student("ada-l", "Ana", "Müller", "", "1003")
BARE = Student("xy12")
ROSTER = (ADA, BOB, ANA, BARE)
# Names that platforms shorten, and accounts that end alike.
CLASS = (
    Student("soc", "Sinéad", "O'Connor", "soc@example.org", "2001"),
    Student("amo", "Anne-Marie", "Ortiz Gómez"),
    Student("li_wang", "Li", "Wang", "", "2003"),
    Student("wang", "Xiu", "Wang"),
    Student("x_li_wang", "Wei", "Wang_Ho"),
    Student("1002", "Grace Brewster", "Murray Hopper"),
    Student("davis", "Robert", "Davis Jr.", "robert.davis@example.org"),
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
        ("ada_01-small", "ada"),
        ("ada-l-01-small", "ada-l"),
        ("bob/whatever", "bob"),
        ("lab 1/bob/ada_2/x", "bob"),
        ("ada@example.org/x", "ada"),
        ("Lovelace, Ada/x", "ada"),
        ("ana mu\u0308ller/x", "ada-l"),  # as a Mac writes it
        ("Ada Lovelace_1002_assignsubmission_file_/x", "ada"),  # Moodle's number is none of the student's
        ("Ada Lovelace_77_assignsubmission_file_bob", "ada"),
        ("xy12_77_assignsubmission_file_x", "xy12"),
        ("lovelaceada_1001_88_bob", "ada"),
        ("lovelaceada_LATE_1001_88_x", "ada"),
        ("somebody_1002_88_x", "bob"),
        ("Lab 1_bob_attempt_2026-11-16-12-00-00_ada", "bob"),
    ],
)
def test_what_a_path_says(path, student):
    """Folders per student and the names that Moodle, Canvas, Blackboard and browsers give; the outermost counts."""
    assert find_owner(path.split("/"), "", ROSTER).student == student


def by_moodle(first, last):
    """Return a folder's name by `download_submissions` of Moodle's mod/assign and its cleaning of file names."""
    name = f"{first} {last}".strip().replace("_", " ")
    return re.sub(r"""[\x00-\x1f&<>"`|':\\/]""", "", f"{name}_4711_assignsubmission_file")


def by_canvas(first, last):
    """Return a file's name by `get_filename` of Canvas's content_zipper.rb, from "Last, First" or one name."""
    name = re.sub(r"\W", "", f"{last}, {first}".strip(", ").lower() + "_LATE_99")
    return f"{name}_345_x"


def by_blackboard(account):
    """Return a file's name as Blackboard's help shows it."""
    return f"Lab 1_{account}_attempt_2026-11-16-12-00-00_x"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("student", CLASS, ids=lambda one: one.id)
def test_what_platforms_make_of_a_name(student, form):
    """By each platform's own rule, composed or not, whatever else the student's own name for the file says."""
    first, last = student.first_name, student.last_name
    given, suffix = ("Robert Jr.", "Davis") if student.id == "davis" else (first, last)
    accounts = {student.id, student.id.upper(), student.email} - {""}
    names = [
        by_moodle(first, last),
        by_moodle(last, first),
        by_canvas(first, last),
        by_canvas(given, suffix),
        *map(by_blackboard, accounts),
    ]
    for name in names:
        path = [unicodedata.normalize(form, name), "x"]
        assert find_owner(path, "", CLASS).student == student.id


@pytest.mark.parametrize(
    ("path", "fitting"),
    [
        (by_moodle("Sinead", "O'Connor"), []),
        (by_moodle("Participant", ""), []),
        (by_moodle("Teilnehmer/in", ""), []),
        ("Participant 4711_assignsubmission_file_", []),
        (by_moodle("Grace", "Hopper"), []),  # of Grace Brewster Murray Hopper
        (by_moodle("Group 1-Xiu", "Wang"), []),
        (by_canvas("Wang", "Wang"), []),
        ("anon_Ab12C_345_x", []),
        ("anon_77777_345_x", []),
        ("wang_12_345_x", []),  # Canvas writes no accounts
        ("Wang_12_assignsubmission_file", []),
        (by_blackboard("zhang"), []),
        (by_blackboard("twang"), []),
        (by_blackboard("Li Wang"), []),
        (by_moodle("Li", "Wang"), ["li_wang", "twin"]),
        (by_canvas("Li", "Wang"), ["li_wang", "twin"]),
        (by_moodle("Sinéad", "OConnor"), ["oc", "soc"]),
        (by_canvas("iWang", "L"), ["li_wang", "twin"]),
        # The student's own name for a file says it came from another platform.
        ("wangxiu_12_345_li_wang_attempt_2026-11-16-12-00-00_x", ["li_wang", "wang"]),
    ],
)
def test_whom_nobody_or_two_fit_is_nobody(path, fitting):
    """Nobody is credited, and the message names all whom it fits; several students may be called alike."""
    roster = (
        *CLASS,
        Student("twin", "Wang", "Li"),
        Student("oc", "Sinéad", "OConnor"),
        Student("n", "", "", "", "77777"),
    )
    with pytest.raises(NotTakenError) as raised:
        find_owner([path, "x"], "wang", roster)
    assert [one.id for one in roster if re.search(rf"fits .*\b{one.id}\b", str(raised.value))] == sorted(
        fitting, key=[one.id for one in roster].index
    )


def test_the_number_of_canvas_tells_namesakes_apart():
    """Where the roster has it; else two fit."""
    roster = (*CLASS, Student("twin", "Li", "Wang", "", "2004"))
    assert [find_owner([f"wangli_{number}_88_x"], "", roster).student for number in (2003, 2004)] == ["li_wang", "twin"]


def test_an_account_that_ends_as_another_is_told():
    """The longest is taken, with a flag that names the others; an assignment with _ in its name is remarked."""
    owner = find_owner([by_blackboard("li_wang")], "", CLASS)
    assert (owner.student, owner.remarks) == ("li_wang", ())
    assert [re.findall(r"names (\w+) too", flag.text) for flag in owner.flags] == [["wang"]]
    owner = find_owner(["Lab_1_soc_attempt_2026-11-16-12-00-00_x"], "", CLASS)
    assert (owner.student, owner.flags) == ("soc", ())
    assert ["'Lab_1'" in remark for remark in owner.remarks] == [True]


@pytest.mark.parametrize(
    ("path", "claim", "parts"),
    [
        ("x", "", ["folder", "id", "roster"]),
        ("Ada_Smith", "", ["folder"]),
        ("adam/x", "", ["near are ada:"]),
        ("01-small_bobb", "", ["near are bob:"]),
        ("x", "lovelace-ada", ["lovelace-ada", "near are ada:"]),
        (OWN.format("bob"), "", ["folder"]),
        ("x", "eve", ["eve", "`coursekit course init --roster`"]),
        ("Eve Stranger_7_assignsubmission_file_/x", "ada", ["'Eve Stranger'"]),
        ("Eve Stranger_7_assignsubmission_file_/x", "", ["'Eve Stranger'"]),
        ("evestranger_7_8_x", "ada", ["'evestranger, 7'", "manifest says ada"]),
        ("lovelaceada_1002_8_x", "ada", ["'lovelaceada, 1002' fits ada, bob"]),
    ],
)
def test_what_is_not_clear_is_not_guessed(path, claim, parts):
    """The reason and what to do; a claim does not help whom a platform calls by another name."""
    with refused(*parts):
        find_owner(path.split("/"), claim, ROSTER)


@pytest.mark.parametrize(
    ("path", "claim", "student", "named"),
    [
        (OWN.format("ada"), "ada", "ada", []),
        ("ada (1)", "bob", "ada", ["bob"]),
        ("bob/ada", "ada", "bob", ["ada"]),
        ("bob/" + OWN.format("ada"), "bob", "bob", ["ada"]),
        (OWN.format("ada"), "bob", "bob", ["ada"]),
    ],
)
def test_disagreement_is_flagged(path, claim, student, named):
    """The path counts, and every other student who is named is named to the instructor."""
    owner = find_owner(path.split("/"), claim, ROSTER)
    assert owner.student == student
    assert [flag.text for flag in owner.flags] == [
        f"{path!a} is taken for {student}'s, and names {other} too." for other in named
    ]


def test_another_account_is_no_offence():
    """Accounts of a cluster are called otherwise than ids of a course: said when collecting, no flag."""
    owner = find_owner(["ada", "x"], "it4i-ada", ROSTER)
    assert (owner.student, owner.flags) == ("ada", ())
    assert owner.remarks == ("taken for ada, as 'ada' says; it was packed by it4i-ada",)


def test_a_loose_file_that_names_its_student_is_remarked():
    """Anybody can write a name into a manifest, and into the name of a file."""
    for parts in (["work"], [OWN.format("ada")]):
        owner = find_owner(parts, "ada", ROSTER)
        assert (owner.student, owner.flags) == ("ada", ())
        assert owner.remarks == ("taken for ada, as the file itself says, and nothing else does",)


def test_a_roster_without_names_cannot_contradict():
    """Then the claim is taken, and flagged."""
    owner = find_owner(["Xenia Young_7_assignsubmission_file_", "x"], "xy12", ROSTER)
    assert owner.student == "xy12"
    assert [flag.text for flag in owner.flags] == ["It came from 'Xenia Young' and names xy12."]
