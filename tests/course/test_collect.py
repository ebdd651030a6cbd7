"""Collecting: nothing is lost, and nothing overwrites a better one."""

import getpass
import os
import re
import shutil

import nbformat

from coursekit.course.collect import collect
from coursekit.course.versions import find_submissions, read_submission, read_versions
from coursekit.errors import codes_in
from coursekit.grading.verdict import Flag

from .conftest import MONDAY, NAME, answer, edit, filled, later, refused, to_be_graded, tree

OWNER = Flag("owner", f"It claims to come from ada and belongs to {getpass.getuser()}.")
DUE = f'{NAME} = "{later(1)}+00:00"\n'


def lines(course, student="ada", **options):
    """Collect the lab and return what was said of a student."""
    return next(entry.lines for entry in collect(course, NAME, **options)[0] if entry.student == student)


def told(course, **options):
    """Collect the lab; return the first two words and the time of each line on ada's versions."""
    words = [(" ".join(line.split()[:2]), re.search(r"\d\d:\d\d:\d\d", line)) for line in lines(course, **options)]
    return [(first, time[0]) for first, time in words if time]


def test_an_ordinary_hand_in(course, hand_in):
    """It lies where nbgrader grades, as it came, and a second call finds nothing new."""
    folder = hand_in(files={"history.csv": "1"})
    first, strays = collect(course, NAME)
    assert [(entry.student, entry.changed) for entry in first] == [("ada", True)]
    assert len(read_versions(course.hand_ins(NAME, "ada"))) == 1
    assert strays == []
    assert tree(course.submitted(NAME, "ada")) == tree(folder)

    second, _ = collect(course, NAME)
    assert [entry.changed for entry in second] == [False]
    assert len(read_versions(course.hand_ins(NAME, "ada"))) == 1
    (found,) = find_submissions(course, [NAME, "02-other"])
    assert (found.student, found.lab, found.timestamp) == ("ada", NAME, MONDAY)


def test_what_the_kit_released_is_not_worth_a_note(course, hand_in):
    """A folder as students fetched it comes back whole; only what they put there themselves is named."""
    released = {name: data.decode() for name, data in tree(course.folder / "release" / NAME).items()}
    assert sorted(released) == [f"{NAME}.ipynb", "AGENTS.md"]
    hand_in(files=released)
    assert lines(course) == ()
    hand_in(files={**released, "inner/AGENTS.md": ""}, at=later(2))
    assert lines(course)[-1].endswith(": inner/AGENTS.md [files.ignored]")


def test_a_repeated_hand_in_counts_and_the_first_is_kept(course, hand_in):
    """The newest is graded; every version is there untouched."""
    folders = [hand_in(answers=answer(i), at=later(i)) for i in range(3)]
    assert told(course) == [("3 versions", "14:00:00")]
    assert to_be_graded(course) == "2"
    assert [tree(version.folder) for version in read_versions(course.hand_ins(NAME, "ada"))] == list(map(tree, folders))


def test_a_damaged_one_does_not_replace_a_good_one(course, hand_in):
    """The report says which is graded; as soon as there is one that can be graded, it is."""
    hand_in(notebook="{", at=later(1))
    collect(course, NAME)
    assert read_submission(course, NAME, "ada").notebook == ""
    hand_in(answers=answer(1))
    assert told(course) == [("2 versions", "12:00:00"), ("the later", "13:00:00")]
    assert to_be_graded(course) == "1"
    assert read_submission(course, NAME, "ada").notes == lines(course)


def test_a_late_one_does_not_replace_one_in_time(course, hand_in):
    """Unless the instructor says so; a hand-in that is only late is graded and says how late it is."""
    course = edit(course, DUE)
    hand_in(answers=answer(1))
    hand_in(answers=answer(2), at=later(4))
    hand_in("bob", at=later(4.1))
    hand_in("bob", notebook="{", at=later(5))
    assert told(course)[1] == ("the later", "16:00:00")
    assert to_be_graded(course) == "1"
    assert lines(course, "bob")[2:] == ("late by 3 h 06 min",)

    assert lines(course, late=True)[1] == "late by 3 h 00 min"
    assert to_be_graded(course) == "2"


def test_times_and_owners_are_claims(course, hand_in):
    """A folder that claims to be in time and was written later is flagged, as is one of another account.

    The time that counts is that of the folder, and not of the file in it.
    """
    course = edit(course, DUE)
    (hand_in() / "timestamp.txt").write_text("1999-01-01 00:00:00 UTC")
    collect(course, NAME)
    found = read_submission(course, NAME, "ada")
    assert found.timestamp == MONDAY
    assert OWNER in found.flags
    assert ["2026-11-16 12:00:00" in flag.text for flag in found.flags if flag.kind == "time"] == [True]


def test_links_are_not_followed_into_the_course(course, hand_in, tmp_path):
    """A link to somebody's file is named, and nothing of that file arrives."""
    (tmp_path / "grades.txt").write_text("everybody's grades")
    folder = hand_in()
    (folder / "data.txt").symlink_to(tmp_path / "grades.txt")
    (folder / "up").symlink_to("..")
    collect(course, NAME)
    texts = [flag.text for flag in read_submission(course, NAME, "ada").flags if flag.kind == "files"]
    assert texts == ["Not collected: data.txt is a link.", "Not collected: up is a link."]
    everything = {**tree(course.folder / "submitted"), **tree(course.folder / "hand-ins")}
    assert not any(isinstance(content, str) or b"everybody" in content for content in everything.values())


def test_a_notebook_that_is_refused_is_named_with_what_to_do(course, hand_in, tmp_path):
    """Too big, a link, nested too deeply, or behind too many files: nobody is told that there was none."""
    with (hand_in(notebook="") / f"{NAME}.ipynb").open("wb") as file:
        file.truncate(90_000_000)
    (hand_in("bob", notebook="") / f"{NAME}.ipynb").symlink_to(tmp_path / "x.ipynb")
    deep = hand_in("cyd", notebook="") / "/".join("abcdefghij")
    deep.mkdir(parents=True)
    (deep / f"{NAME}.ipynb").write_text("{}")
    folder = "/".join("abcdefghi")
    said = {entry.student: entry.lines for entry in collect(course, NAME)[0]}
    for student, fact, codes in (
        ("ada", f"{NAME}.ipynb is too big (90 MB)", ["notebook.refused"]),
        ("bob", f"{NAME}.ipynb is a link", ["notebook.refused"]),
        ("cyd", folder, ["notebook.not-in-rest", "notebook.refused"]),
    ):
        assert (fact in said[student][0], codes_in(" ".join(said[student]))) == (True, codes)
    assert {name: read_submission(course, NAME, name).notes for name in said} == said

    hand_in("ada", at=later(-1))
    assert [part in lines(course)[1] for part in ("2026-11-16 12:00:00 UTC", "90 MB")] == [True, True]


def test_a_notebook_comes_before_what_is_beside_it(course, hand_in):
    """Whatever its name: other files, by number or size, do not use up what a hand-in may have."""
    data = {f"0-{number:04}.txt": "" for number in range(2001)}
    hand_in(name="z.ipynb", files=data)
    folder = hand_in("bob", name="z.ipynb")
    for number in range(6):
        with (folder / f"0-{number}.bin").open("wb") as file:
            file.truncate(19_000_000)
    collect(course, NAME)
    assert [to_be_graded(course, student) for student in ("ada", "bob")] == ["sum(x) / len(x)"] * 2
    texts = [flag.text for flag in read_submission(course, NAME, "bob").flags if flag.kind == "files"]
    assert texts == ["Not collected: 0-5.bin is beyond the 100 MB of a hand-in."]


def test_what_belongs_to_nobody_is_named(course, hand_in):
    """Odd names in the exchange stay there; a student who is not on the roster is collected and named."""
    hand_in("mallory")
    hand_in(lab=NAME).rename(course.folder / "exchange/dl/inbound/ada+99-nothing+2026-11-16 12:00:00 UTC")
    for name in ("rubbish", f"..+{NAME}+2026-11-16 12:00:00 UTC", f"a+b+{NAME}+2026-11-16 12:00:00 UTC"):
        (course.folder / "exchange/dl/inbound" / name).mkdir()
    collected, strays = collect(course, NAME)
    assert [entry.student for entry in collected] == ["mallory"]
    assert [stray.split()[0] for stray in strays] == [
        f"..+{NAME}+2026-11-16",
        f"a+b+{NAME}+2026-11-16",
        "ada",
        "rubbish",
        "mallory",
    ]
    assert "'99-nothing'" in strays[2]


def test_what_nbgrader_collected_is_kept_too(course, hand_in):
    """Its own command puts the newest one there; ours keeps that as well, and takes the best."""
    hand_in(answers=answer(1))
    collect(course, NAME)
    hand_in(notebook="{", at=later(1))
    outcome = course.api().collect(NAME)
    assert outcome["success"], outcome
    assert read_submission(course, NAME, "ada").notebook == ""

    assert told(course)[0] == ("2 versions", "12:00:00")
    assert to_be_graded(course) == "1"


def test_what_somebody_copied_by_hand_is_kept(course):
    """A notebook that came by e-mail, put under submitted/ without a time, is a version like any other."""
    folder = course.submitted(NAME, "bob")
    folder.mkdir(parents=True)
    nbformat.write(filled(course, NAME, answer(7)), folder / f"{NAME}.ipynb")
    before = tree(folder)
    os.utime(folder, (MONDAY.timestamp(),) * 2)
    for _ in range(2):
        collected, _ = collect(course, NAME)
    assert [entry.student for entry in collected] == ["bob"]
    (version,) = read_versions(course.hand_ins(NAME, "bob"))
    assert tree(version.folder).items() >= before.items()
    assert to_be_graded(course, "bob") == "7"


def test_a_kill_between_two_steps_is_mended(course, hand_in):
    """Remains of a collecting that was cut short are replaced: what is graded is whole."""
    hand_in()
    collect(course, NAME)
    wanted = tree(course.submitted(NAME, "ada"))
    course.submitted(NAME, "ada").rename(course.folder / "submitted" / "ada" / f".{NAME}.former")
    (course.folder / "submitted" / "ada" / f".{NAME}.new").mkdir()
    collect(course, NAME)
    assert tree(course.folder / "submitted" / "ada") == {f"{NAME}/{name}": data for name, data in wanted.items()}


def test_nothing_released_is_one_sentence(course):
    """Without an exchange there is nothing to collect."""
    (course.folder / "exchange/dl/inbound").rmdir()
    with refused("[exchange.missing]"):
        collect(course, NAME)


def test_a_version_can_be_taken_out_by_hand(course, hand_in):
    """As the instructor's guide says; what was graded before is there again, or nothing of the student."""
    hand_in("ada", answers=answer(1))
    collect(course, NAME)
    before = tree(course.folder / "submitted")
    hand_in("ada", answers=answer(2), at=later(1))
    hand_in("bob")
    collect(course, NAME)
    for student in ("ada", "bob"):
        newest = read_versions(course.hand_ins(NAME, student))[-1]
        (course.inbound / newest.received).rename(course.root / newest.received)
        newest.folder.rename(course.root / student)
        newest.folder.with_suffix(".json").unlink()
        shutil.rmtree(course.submitted(NAME, student))
    assert [(one.student, one.changed) for one in collect(course, NAME)[0]] == [("ada", True)]
    assert tree(course.folder / "submitted") == before
