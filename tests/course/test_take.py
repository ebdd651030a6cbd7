"""`coursekit take DIR`: files of e-mails and platforms become hand-ins, once, in any order."""

import io
import itertools
import os
import shutil
import zipfile
from datetime import timezone

import nbformat
import pytest

from coursekit.course.collect import collect
from coursekit.course.hand_in.packed import HandInManifest
from coursekit.course.hand_in.take import KNOWN, NOT_TAKEN, TAKEN, take_all
from coursekit.course.versions import read_hand_in, read_versions

from .conftest import MONDAY, NAME, RIGHT, answer, filled, job_record, later, refused, to_be_graded, tree


@pytest.fixture
def inbox(course, tmp_path):
    """The instructor's folder of downloads, and functions that put files there."""
    return Inbox(course, tmp_path / "downloads")


class Inbox:
    """A folder of downloads."""

    def __init__(self, course, folder):
        self.course, self.folder = course, folder
        folder.mkdir()

    def packed(self, name=None, user="ada", mean="sum(x) / len(x)", at=MONDAY, written=None, lab=NAME):  # noqa: PLR0913, PLR0917  # all that may be odd
        """Put a packed hand-in there under a name of the platform's."""
        manifest = HandInManifest(NAME, user, at)
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as packed:
            packed.writestr("hand-in.json", manifest.to_bytes())
            packed.writestr(f"{NAME}.ipynb", nbformat.writes(filled(self.course, lab, answer(mean))))
            packed.writestr(f"jobs/{NAME}-4711/result.json", job_record())
        return self.put(data.getvalue(), name or f"{manifest.file_name}.zip", written or at)

    def notebook(self, name, written=MONDAY):
        """Put a plain notebook there."""
        return self.put(nbformat.writes(filled(self.course, NAME, RIGHT)).encode(), name, written)

    def put(self, data, name, written):
        """Put a file there, last changed at this time."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (written.replace(tzinfo=timezone.utc).timestamp(),) * 2)
        return path

    def take(self, **options):
        """Take everything, and return what became of each file."""
        return {one.file: one for one in take_all(self.course, self.folder, **options)[0]}

    def outcomes(self):
        """Take everything, and return outcome and student of each file."""
        return {file: (one.outcome, one.student) for file, one in self.take().items()}


def test_an_ordinary_download(course, inbox):
    """Files of any name and depth reach their students, whole, and stay where they are."""
    inbox.packed()
    inbox.notebook("Bob Builder_12_assignsubmission_file_/Untitled (3).ipynb")
    (inbox.folder / ".DS_Store").write_text("")
    before = tree(inbox.folder)
    own = f"{NAME}--ada--2026-11-16T12-00-00Z.zip"
    other = "Bob Builder_12_assignsubmission_file_/Untitled (3).ipynb"
    assert inbox.outcomes() == {own: (TAKEN, "ada"), other: (TAKEN, "bob")}
    assert tree(inbox.folder) == before
    assert tree(course.submitted(NAME, "ada")).keys() == {
        "hand-in.json",
        "timestamp.txt",
        f"{NAME}.ipynb",
        f"jobs/{NAME}-4711/result.json",
    }
    hand_in = read_hand_in(course, NAME, "ada")
    assert (hand_in.timestamp, hand_in.notes, hand_in.flags) == (MONDAY, (), ())
    assert [job.job for job in hand_in.jobs] == ["4711"]
    assert read_hand_in(course, NAME, "bob").timestamp == MONDAY


def test_the_same_file_twice_changes_nothing(course, inbox):
    """Also under another name and of another time of the file: nothing in the course folder changes."""
    path = inbox.packed("ada.zip")
    inbox.notebook("bob/x.ipynb")
    inbox.take()
    before = tree(course.folder)
    shutil.copyfile(path, inbox.folder / "ada (1).zip")
    inbox.notebook("bob/y.ipynb", written=later(5))
    assert inbox.outcomes() == {
        "ada.zip": (KNOWN, "ada"),
        "ada (1).zip": (KNOWN, "ada"),
        "bob/x.ipynb": (KNOWN, "bob"),
        "bob/y.ipynb": (KNOWN, "bob"),
    }
    assert tree(course.folder) == before


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_newest_is_graded_in_whichever_order_they_arrive(course, inbox, hand_in, order):
    """Two files and one of the exchange: the newest counts, whatever comes first, and all are kept."""
    steps = [
        lambda: (inbox.packed(mean="0"), inbox.take()),
        lambda: (hand_in(answers=answer("1"), at=later(1)), collect(course, NAME)),
        lambda: (inbox.packed(mean="2", at=later(2), written=later(-9)), inbox.take()),
    ]
    for done, step in enumerate(order, 1):
        steps[step]()
        assert to_be_graded(course) == str(max(order[:done]))
    assert [version.timestamp for version in read_versions(course.hand_ins(NAME, "ada"))] == [
        later(i) for i in range(3)
    ]


def test_a_time_in_the_future_counts_for_nothing(course, inbox):
    """The file's own time counts, and the instructor is told, now and when grading."""
    inbox.packed("ada/1.zip", mean="0", at=MONDAY.replace(year=2999), written=later(-1))
    inbox.packed("ada/2.zip", mean="1", written=later(4))
    taken = inbox.take()
    said = (
        "It claims to be of 2999-11-16 12:00:00 UTC, in the future: 2026-11-16 11:00:00 UTC counts, "
        "when the file was written."
    )
    assert (taken["ada/1.zip"].outcome, taken["ada/1.zip"].lines) == (TAKEN, (said,))
    assert to_be_graded(course) == "1"
    first, second = read_versions(course.hand_ins(NAME, "ada"))
    assert ([flag.text for flag in first.flags], second.flags) == ([said], ())


def test_late_files(course, inbox):
    """A late one does not replace one in time, unless the instructor says so."""
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=later(1))
    inbox.packed("ada/1.zip", mean="0")
    inbox.packed("ada/2.zip", mean="1", at=later(3))
    inbox.take()
    assert to_be_graded(course) == "0"
    inbox.take(late=True)
    assert to_be_graded(course) == "1"


def changed(path, change):
    """Change the bytes of a file."""
    path.write_bytes(change(path.read_bytes()))
    return path


def link(inbox):
    """Put a link to a notebook there."""
    path = inbox.folder / "ada.ipynb"
    path.symlink_to(inbox.course.root / "labs" / NAME / f"{NAME}.ipynb")
    return path


UNKNOWN = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
MADE_FROM = f"solutions/{NAME}/".encode()


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda inbox: inbox.packed(user="mallory"), ["mallory", "roster", "coursekit course init --roster"]),
        (lambda inbox: inbox.notebook("x.ipynb"), ["folder", "id", "roster"]),
        (
            lambda inbox: changed(
                inbox.notebook("ada/x.ipynb"), lambda data: data.replace(MADE_FROM, b"solutions/09-none/")
            ),
            ["09-none", "01-small, 02-other"],
        ),
        (lambda inbox: inbox.put(UNKNOWN, "ada/x.ipynb", MONDAY), ["no answer of any lab"]),
        (lambda inbox: inbox.put(b"{", "ada/x.ipynb", MONDAY), ["damaged", "JSON (line 1)"]),
        (lambda inbox: changed(inbox.packed("ada.zip"), lambda data: data[:-9]), ["damaged", "ask the student"]),
        (link, ["link"]),
        (lambda inbox: changed(inbox.packed("ada.zip"), lambda data: data.ljust(130_000_000)), ["130 MB", "101 MB"]),
        (lambda inbox: inbox.put(b"my answers", "ada.txt", MONDAY), [".zip", ".ipynb"]),
        (lambda inbox: inbox.packed(lab="02-other"), ["01-small.ipynb", "02-other", "wrong lab"]),
    ],
    ids=["stranger", "of nobody", "of no lab", "unknown", "damaged", "broken zip", "link", "huge", "text", "wrong lab"],
)
def test_what_is_not_taken(course, inbox, make, parts):
    """One line, with what to do; nothing of it is in the course, and the others are taken all the same."""
    path = make(inbox)
    inbox.packed("bob/1.zip", "bob")
    taken = inbox.take()
    one = taken[path.relative_to(inbox.folder).as_posix()]
    assert one.outcome == NOT_TAKEN
    assert all(part in one.lines[0] for part in parts), one.lines
    assert taken["bob/1.zip"].outcome == TAKEN
    assert [path.name for path in (course.folder / "submitted").iterdir()] == ["bob"]
    assert [path.name for path in (course.folder / "hand-ins").glob("*/*")] == ["bob"]


def test_the_command(inbox, call):
    """A line for each file, a sentence for what is odd, exit status 1 while anything is left; DIR may be a link."""
    inbox.packed("ada (1).zip")
    inbox.packed("x\x1b.zip", "eve", at=later(1), written=later(26))
    status, lines = call("take", inbox.folder)
    assert status == 1
    packed = f"ada {NAME}, packed 2026-11-16 12:00:00 UTC, written 2026-11-16 12:00:00 UTC"
    assert f"taken: ada (1).zip: {packed}" in lines
    assert any(line.startswith(f"not taken: x\ufffd.zip: {NAME}, packed 2026-11-16 13:00:00 UTC, ") for line in lines)
    assert any(line.startswith("  ! eve is not on the roster") for line in lines)
    assert lines[-1] == "files: 2, not taken: 1; new or changed, to be graded: 1"

    (inbox.folder / "x\x1b.zip").unlink()
    (inbox.folder.parent / "link").symlink_to(inbox.folder)
    status, lines = call("take", inbox.folder.parent / "link")
    assert (status, lines[-1]) == (0, "files: 1, not taken: 0; new or changed, to be graded: 0")


def test_the_course_itself_is_no_download(course, inbox):
    """What lies in it would be taken again."""
    for folder in (course.folder, course.folder.parent, course.folder / "hand-ins", course.folder / "submitted"):
        with refused("the course itself"):
            take_all(course, folder)
    assert inbox.take() == {}


def test_killed_between_a_version_and_its_record(course, inbox):
    """A version without its record is as if it were not there."""
    inbox.packed("ada/1.zip", mean="0")
    inbox.packed("ada/2.zip", mean="1", at=later(1))
    inbox.take()
    before = tree(course.folder)
    (course.hand_ins(NAME, "ada") / f"{read_versions(course.hand_ins(NAME, 'ada'))[1].folder.name}.json").unlink()
    assert inbox.outcomes() == {"ada/1.zip": (KNOWN, "ada"), "ada/2.zip": (TAKEN, "ada")}
    assert tree(course.folder) == before


def test_a_disk_that_refuses_is_one_sentence(course, inbox, call):
    """What stands in the way is named; once that is fixed, the same call goes on."""
    inbox.packed()
    obstacle = course.folder / "hand-ins" / NAME
    obstacle.write_text("")
    with refused(str(obstacle.parent.name), "call again"):
        call("take", inbox.folder)
    obstacle.unlink()
    assert call("take", inbox.folder)[0] == 0
