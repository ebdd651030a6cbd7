"""`coursekit take DIR`: files of e-mails and platforms become hand-ins, once, in any order."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import timezone

import nbformat
import pytest
from click.testing import CliRunner

from coursekit.cli import cli
from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.hand_in.pack import find_work, pack
from coursekit.course.hand_in.take import KNOWN, NOT_TAKEN, TAKEN, take_all
from coursekit.course.submitted import read_hand_in
from coursekit.course.versions import read_versions
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import staged_cells

from .conftest import MONDAY, NAME, RIGHT, filled, job_record, later, tree


@pytest.fixture
def inbox(course, tmp_path):
    """The instructor's folder of downloads, and functions that put files there."""
    return Inbox(course, tmp_path / "downloads", tmp_path / "desk")


class Inbox:
    """A folder of downloads."""

    def __init__(self, course, folder, desk):
        self.course, self.folder, self.desk = course, folder, desk
        folder.mkdir()

    def packed(self, name=None, user="ada", mean="sum(x) / len(x)", at=MONDAY, written=None):
        """Put a packed hand-in there under a name of the platform's."""
        shutil.rmtree(self.desk, ignore_errors=True)
        job = self.desk / "jobs" / f"{NAME}-4711"
        job.mkdir(parents=True)
        (job / "result.json").write_text(job_record())
        nbformat.write(filled(self.course, NAME, answer(mean)), self.desk / f"{NAME}.ipynb")
        made = pack(find_work("01", self.desk), user, self.desk, at)
        return self._put(made.read_bytes(), name or made.name, written or at)

    def notebook(self, name, mean="sum(x) / len(x)", written=MONDAY, lab=NAME):
        """Put a plain notebook there."""
        return self._put(nbformat.writes(filled(self.course, lab, answer(mean))).encode(), name, written)

    def _put(self, data, name, written):
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


def answer(text):
    """Return answers of which `mean` returns this."""
    return {**RIGHT, "mean": f"def mean(x):\n    return {text}"}


def graded(course, student="ada"):
    """Return what the answer `mean` that would be graded returns."""
    cells = staged_cells(read_hand_in(course, NAME, student), course.released(NAME))
    return cells.answers["mean"].partition("return ")[2]


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
        assert graded(course) == str(max(order[:done]))
    assert [version.timestamp for version in read_versions(course.hand_ins(NAME, "ada"))] == [
        later(i) for i in range(3)
    ]


@pytest.mark.parametrize(
    ("year", "shown", "when"),
    [(2999, "2999", "in the future"), (1, "0001", "before any course")],
    ids=["future", "past"],
)
def test_a_time_that_cannot_be_counts_for_nothing(course, inbox, year, shown, when):
    """The file's own time counts, and the instructor is told, now and when grading."""
    inbox.packed("ada/1.zip", mean="0", at=MONDAY.replace(year=year), written=later(-1))
    inbox.packed("ada/2.zip", mean="1", written=later(4))
    taken = inbox.take()
    said = (
        f"It claims to be of {shown}-11-16 12:00:00 UTC, {when}: 2026-11-16 11:00:00 UTC counts, "
        "when the file was written."
    )
    assert (taken["ada/1.zip"].outcome, taken["ada/1.zip"].lines) == (TAKEN, (said,))
    assert graded(course) == "1"
    first, second = read_versions(course.hand_ins(NAME, "ada"))
    assert ([flag.text for flag in first.flags], second.flags) == ([said], ())


def test_late_files(course, inbox):
    """A late one does not replace one in time; a claim that the file's own time does not bear out is named."""
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=later(1))
    inbox.packed("ada/1.zip", mean="0")
    inbox.packed("ada/2.zip", mean="1", at=later(3))
    inbox.packed("bob/1.zip", "bob", written=later(30))
    taken = inbox.take()
    assert graded(course) == "0"
    assert taken["bob/1.zip"].lines == (
        "It claims to be in time; the file was written at 2026-11-17 18:00:00 UTC: see what the platform says.",
    )
    assert (taken["ada/1.zip"].lines, taken["ada/2.zip"].lines) == ((), ())
    inbox.take(late=True)
    assert graded(course) == "1"


def test_a_claim_does_not_win_over_the_platform(course, inbox):
    """Bob's upload that names ada is bob's, and flagged wherever he is graded."""
    inbox.packed("Bob Builder_12_assignsubmission_file_/ada.zip", "ada")
    assert list(inbox.outcomes().values()) == [(TAKEN, "bob")]
    (flag,) = read_hand_in(course, NAME, "bob").flags
    said = "'Bob Builder_12_assignsubmission_file_/ada' is taken for bob's, and names ada too."
    assert (flag.kind, flag.text) == ("owner", said)
    assert not course.hand_ins(NAME, "ada").exists()


def stranger(inbox):
    """Of somebody who is not on the roster."""
    return inbox.packed(user="mallory")


def of_nobody(inbox):
    """A notebook of any name."""
    return inbox.notebook("x.ipynb")


def of_no_lab(inbox):
    """A notebook that was made from another course."""
    path = inbox.notebook("ada/x.ipynb")
    path.write_text(path.read_text().replace(f"solutions/{NAME}/", "solutions/09-none/"))
    return path


def damaged(inbox):
    """Half a notebook."""
    path = inbox.notebook("ada/x.ipynb")
    path.write_text("{")
    return path


def broken_zip(inbox):
    """A download that was cut short."""
    path = inbox.packed("ada.zip")
    path.write_bytes(path.read_bytes()[:-9])
    return path


def link(inbox):
    """A link to a notebook."""
    path = inbox.folder / "ada.ipynb"
    path.symlink_to(inbox.course.root / "labs" / NAME / f"{NAME}.ipynb")
    return path


def huge(inbox):
    """More than a hand-in may be."""
    path = inbox.packed("ada.zip")
    os.truncate(path, 30_000_000)
    return path


def text(inbox):
    """No notebook at all."""
    path = inbox.folder / "ada.txt"
    path.write_text("my answers")
    return path


def wrong_notebook(inbox):
    """A hand-in whose notebook is another lab's, well packed."""
    shutil.rmtree(inbox.desk, ignore_errors=True)
    inbox.desk.mkdir()
    nbformat.write(filled(inbox.course, NAME, RIGHT), inbox.desk / f"{NAME}.ipynb")
    work = find_work("01", inbox.desk)
    other = nbformat.writes(inbox.course.released("02-other")).encode()
    work.contents[f"{NAME}.ipynb"] = other
    return pack(work, "ada", inbox.folder, MONDAY)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (stranger, "mallory is not on the roster: add them with `coursekit course init --roster`"),
        (of_nobody, "nothing says whose it is: put the file into a folder"),
        (of_no_lab, "09-none was not released in this course (only 01-small, 02-other was)"),
        (damaged, "the notebook is damaged, it is not valid JSON (line 1): ask the student for it again."),
        (broken_zip, "it is damaged, or no zip: ask the student"),
        (link, "it is a link, no file, or a closed folder: put the file itself there."),
        (huge, "it is too big: 30 MB, at most 21 MB: look at what it is."),
        (text, "it is neither a hand-in (.zip) nor a notebook (.ipynb): put it elsewhere."),
        (wrong_notebook, "01-small.ipynb is the notebook of 02-other: the wrong lab; nothing can be graded: ask the"),
    ],
)
def test_what_is_not_taken(course, inbox, make, said):
    """One line, with what to do; nothing of it is in the course, and the others are taken all the same."""
    path = make(inbox)
    inbox.packed("bob/1.zip", "bob")
    taken = inbox.take()
    one = taken[path.relative_to(inbox.folder).as_posix()]
    assert one.outcome == NOT_TAKEN
    assert said in one.lines[0], one.lines
    assert taken["bob/1.zip"].outcome == TAKEN
    assert [path.name for path in (course.folder / "submitted").iterdir()] == ["bob"]
    assert [path.name for path in (course.folder / "hand-ins").glob("*/*")] == ["bob"]


def test_the_command(course, inbox):
    """A row for each file, a sentence for what is odd, exit status 1 while anything is left; DIR may be a link."""
    inbox.packed("ada (1).zip")
    inbox.packed("[red]x[/].zip", "eve", at=later(1), written=later(26))
    words = ["take", str(inbox.folder), "--course", str(course.folder)]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 1
    rows = [line.split() for line in result.output.splitlines()]
    assert ["ada", "(1).zip", "ada", "01", "2026-11-16", "12:00", "2026-11-16", "12:00", "taken"] in rows
    assert ["[red]x[/].zip", "01", "2026-11-16", "13:00", "2026-11-17", "14:00", "not", "taken"] in rows
    assert "  ! [red]x[/].zip: eve is not on the roster: add them with" in result.output
    assert result.output.endswith("files: 2, not taken: 1; new or changed, to be graded: 1\n")

    (inbox.folder / "[red]x[/].zip").unlink()
    (inbox.folder.parent / "link").symlink_to(inbox.folder)
    words[1] = str(inbox.folder.parent / "link")
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.output.endswith("files: 1, not taken: 0; new or changed, to be graded: 0\n")


def test_the_course_itself_is_no_download(course, inbox):
    """What lies in it would be taken again."""
    for folder in (course.folder, course.folder.parent, course.folder / "hand-ins", course.folder / "submitted"):
        with pytest.raises(CourseKitError, match="holds the course itself or is a part of it: name the folder"):
            take_all(course, folder)
    assert inbox.take() == {}


def test_two_at_a_time(course, inbox):
    """The second is told to wait."""
    inbox.packed()
    with (course.folder / "hand-ins" / ".taking.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CourseKitError, match=r"another `coursekit take` is at work in .*: wait for it"):
            inbox.take()
    assert inbox.outcomes()


def test_killed_at_any_moment(course, inbox):
    """Killed again and again on the way, the last call leaves what one call would have left."""
    for i in range(12):
        inbox.packed(f"{('ada', 'bob')[i % 2]}/{i}.zip", mean=str(i), at=later(i))
    words = [sys.executable, "-m", "coursekit", "take", str(inbox.folder), "--course", str(course.folder)]
    kept = course.folder / "hand-ins" / NAME
    for num_kept in (1, 6):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        try:
            deadline_s = time.monotonic() + 300
            while len(list(kept.glob("*/*.json"))) < num_kept and process.poll() is None:
                assert time.monotonic() < deadline_s
                time.sleep(0.001)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=900)
    inbox.take()
    for student, last in (("ada", 10), ("bob", 11)):
        assert [version.timestamp for version in read_versions(course.hand_ins(NAME, student))] == [
            later(i) for i in range(last % 2, 12, 2)
        ]
        assert len([path for path in (kept / student).iterdir() if path.is_dir()]) == 6
        assert graded(course, student) == str(last)
    assert {path.name for path in (course.folder / "hand-ins").iterdir()} == {NAME, ".taking.lock"}


def test_killed_between_a_version_and_its_record(course, inbox):
    """A version without its record, and what was being unpacked, are as if they were not there."""
    inbox.packed("ada/1.zip", mean="0")
    inbox.packed("ada/2.zip", mean="1", at=later(1))
    inbox.take()
    before = tree(course.folder)
    (course.hand_ins(NAME, "ada") / f"{read_versions(course.hand_ins(NAME, 'ada'))[1].folder.name}.json").unlink()
    (course.folder / "hand-ins" / ".taking" / "jobs").mkdir(parents=True)
    assert inbox.outcomes() == {"ada/1.zip": (KNOWN, "ada"), "ada/2.zip": (TAKEN, "ada")}
    assert tree(course.folder) == before


@pytest.mark.needs("bwrap")
def test_from_packing_to_points(course, inbox):
    """What `hand-in` packed and `collect` took is graded: full points, with the job's record beside them."""
    inbox.packed("ada.zip")
    inbox.take()
    words = ["grade", "01", "--only", "ada", "--course", str(course.folder)]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    report = json.loads(max((course.folder / "reports").glob("*.json")).read_bytes())
    (row,) = report["hand_ins"]
    assert (row["points"], row["flags"], [(job["job"], job["nodes"]) for job in row["jobs"]]) == (
        3,
        [],
        [("4711", "acn[01-02]")],
    )
    (page,) = (course.folder / "reports").glob("*.html")
    assert "job 4711 on acn[01-02]: 2 ranks" in page.read_text()
    (ada,) = [one for one in read_grades(course).students if one.id == "ada"]
    assert (dict(ada.points), ada.num_waiting) == ({NAME: 3}, 1)


def test_a_disk_that_refuses_is_one_sentence(course, inbox):
    """What stands in the way is named; once that is fixed, the same call goes on."""
    inbox.packed()
    obstacle = course.folder / "hand-ins" / NAME
    obstacle.write_text("")
    words = ["take", str(inbox.folder), "--course", str(course.folder)]
    result = CliRunner().invoke(cli, words)
    assert isinstance(result.exception, CourseKitError), result.exception
    assert "fix that, and call again; what was taken until then is kept" in str(result.exception)
    obstacle.unlink()
    assert CliRunner().invoke(cli, words).exit_code == 0
