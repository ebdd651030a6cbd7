"""Whose a file is: what a platform wrote outranks what the file says, and disagreement is never silent."""

from __future__ import annotations

import pytest

from coursekit.course.hand_in.owner import NotTakenError, find_owner
from coursekit.course.roster import Student

ADA = Student("ada", "Ada", "Lovelace", "ada@example.org", "1001")
BOB = Student("bob", "Bob", "Builder", "", "1002")
ANA = Student("ada-l", "Ana", "Müller", "", "1003")
BARE = Student("xy12")
ROSTER = (ADA, BOB, ANA, BARE)
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


@pytest.mark.parametrize(
    ("path", "claim", "said"),
    [
        ("x", "", "nothing says whose it is: put the file into a folder that is named by the student's id"),
        ("Ada_Smith", "", "nothing says whose it is"),
        ("adam/x", "", "nothing says whose it is; the ids that come near are ada: put the file"),
        ("01-small_bobb", "", "nothing says whose it is; the ids that come near are bob: put the file"),
        ("x", "lovelace-ada", "lovelace-ada is not on the roster; the ids that come near are ada: add them"),
        (OWN.format("bob"), "", "nothing says whose it is"),
        ("x", "eve", "eve is not on the roster: add them with `coursekit course init --roster`"),
        (
            "Eve Stranger_7_assignsubmission_file_/x",
            "ada",
            "it came from 'Eve Stranger', whom the roster does not know",
        ),
        ("Eve Stranger_7_assignsubmission_file_/x", "", "it came from 'Eve Stranger'"),
        ("evestranger_7_8_x", "ada", "it came from 'evestranger, 7', .* by that name, and its manifest says ada"),
        ("lovelaceada_1002_8_x", "ada", "'lovelaceada, 1002' fits ada, bob"),
    ],
)
def test_what_is_not_clear_is_not_guessed(path, claim, said):
    """The reason and what to do; a claim does not help whom a platform calls by another name."""
    with pytest.raises(NotTakenError, match=said):
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
