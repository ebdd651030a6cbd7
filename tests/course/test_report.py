"""The class as a page and in the terminal, with what a call of grading adds: nothing a student wrote acts there."""

import io
import re
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from bs4 import BeautifulSoup
from rich.console import Console

from coursekit.course.grade import Graded
from coursekit.course.status.class_status import State, StudentStatus, read_class
from coursekit.course.status.report import headline, print_call, print_class, write_page
from coursekit.grading.submission.job_records import JobRecord
from coursekit.grading.submission.student_folder import Submission
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.lab import find_labs

from .conftest import MONDAY, NAME, verdict

NASTY = "<script>alert(1)</script>\x1b[31m\u202e [bold red]x[/] & 'quoted'"
SHOWN = "<script>alert(1)</script>\ufffd[31m\ufffd [bold red]x[/] & 'quoted'"
SHOWN_MESSAGE = SHOWN.replace("\ufffd[31m", "")  # out of a notebook, where messages lose their colours
NOW = datetime(2026, 11, 20, 18, 30, tzinfo=timezone.utc)
DISJOINT = "AssertionError: rank {} has the samples of rank 0"
JOB = JobRecord("4711", "acn[01-02]", 2, 12.5, 3.0, "2026-11-16T11:00:00+00:00")


@pytest.fixture
def hand_ins():
    """Five hand-ins of a call: right, wrong twice in the same way, a fault, and nothing to grade."""

    def one(student, what, jobs=(), notes=(), **more):
        return Graded(Submission(student, NAME, timestamp=MONDAY, jobs=jobs, notes=notes), what, **more)

    wrong = verdict("bob", (0, 1), (DISJOINT.format(1), ""), seconds=9.5, peak_memory_gb=0.41)
    flags = (Flag("network", f"It asked for {NASTY}."),)
    return [
        one("ada", verdict("ada", seconds=1.25, outputs={"shard": NASTY * 200}), is_cached=True),
        one("bob", wrong, (JOB,), notes=("2 versions were handed in",)),
        one("cyd", verdict("cyd", (0, 0), (DISJOINT.format(3), NASTY), seconds=2.5, flags=flags)),
        one("dan", Verdict(NAME, "dan", (), fault="the sandbox broke down (EOFError)")),
        one("eve", Verdict(NAME, "eve", ()), notes=("the folder is empty",)),
    ]


@pytest.fixture
def found(course, enrol, graded):
    """A small class: right, wrong with nasty words, absent, and a stranger."""
    enrol("cyd", "dan")
    graded("ada", manual=4)
    graded("bob", (0, 1), (NASTY, ""))
    graded("eve", (0, 0), ("AssertionError: eve", ""))
    return read_class(course, find_labs(course.root))


@pytest.fixture
def page(tmp_path):
    """Return a function that writes the page and reads it."""

    def write(*args):
        write_page(tmp_path / "page.html", *args)
        assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o600
        return BeautifulSoup((tmp_path / "page.html").read_bytes(), "html.parser")

    return write


def words_of(page):
    """Return all text of a page, with single spaces."""
    return " ".join(page.get_text(" ").split())


def terminal(show, *args, width=100):
    """Return what a function prints, with single spaces."""
    out = io.StringIO()
    show(*args, Console(file=out, width=width))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_the_page_says_everything_and_obeys_nothing(found, hand_ins, page):
    """Text of students is text: no element, no attribute and no control character comes from it."""
    seen = page(found, NOW, hand_ins)
    assert seen.find_all(["script", "iframe", "link", "object", "img", "a"]) == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", seen.get_text())
    for words in (
        headline(hand_ins),
        "dan, 01-small : needs another run",
        "the sandbox broke down (EOFError)",
        "the folder is empty",
        "missing 2 4",
        f"shard-tests A small lab 1 of 2 1.0 / 2 {SHOWN_MESSAGE}",
        "explain A small lab 0 of 1 1 wait 4.0 / 4",
        "ada 7 / 7 missing bob 1 / 7 by hand missing cyd missing missing dan missing missing",
        "eve not on the roster 0 / 7 by hand missing",
        f"network : It asked for {SHOWN}.",
        "2 versions were handed in",
        "job 4711 on acn[01-02]: 2 ranks, 12.5 s, 3 points",
        f"shard, the first 2000 of {200 * len(NASTY)} characters",
    ):
        assert words in words_of(seen), words
    before = words_of(page(found, NOW))
    assert "Class of 4 students" in before
    assert "Hand-in by hand-in" not in before


def test_what_came_of_a_call_is_printed(hand_ins):
    """How many, and which have no points; nothing acts as markup."""
    fault = replace(hand_ins[3].verdict, student=NASTY)
    hand_ins[3] = replace(hand_ins[3], verdict=fault, submission=Submission(NASTY, NAME))
    assert re.findall(r"\d+", headline(hand_ins)) == ["5", "5", "3", "1", "1"]
    assert terminal(print_call, hand_ins) == [
        headline(hand_ins),
        f"needs another run: {SHOWN} 01-small",
        "nothing to grade: eve 01-small",
    ]


def test_the_terminal_shows_the_class(found):
    """Numbers, a row for each student, what to explain; it fits 80 columns."""
    lines = terminal(print_class, found, width=80)
    for line in (
        "dl: 4 students",
        "missing 2 4",
        "graded 2 0",
        "mean points 4.0 / 7",
        "ada 7/7 missing",
        "bob 1/7 b missing",
        "eve 0/7 b missing",
        "1 of 2 shard-tests A small lab",
    ):
        assert line in lines


def test_of_a_large_class_the_exceptions_are_printed(found):
    """A class of 300 fits a screen: who has nothing to note is counted."""
    usual = [f"student-{number}" for number in range(300)]
    late = StudentStatus(State.GRADED, is_late=True, points=1)
    labs = [replace(lab, students={**dict.fromkeys(usual, lab.students["ada"]), "tardy": late}) for lab in found.labs]
    lines = terminal(print_class, replace(found, roster=(*usual, "tardy"), others=(), labs=labs))
    assert [line.split()[0] for line in lines if line.startswith(("student-", "tardy ", "300 "))] == ["tardy", "300"]


def test_names_of_labs_stay_whole(found):
    """Each table has as many labs as fit beside each other; one that was not released has no column."""
    small, other = found.labs
    names = (
        "01-sgd 02-horovod-sgd 03-keras-cnn 04-estimator-cnn 05-feed-the-ranks 06-between-ranks 07-predict-then-book"
    )
    labs = [replace(small, lab=replace(small.lab, name=name)) for name in names.split()]
    idle = replace(other, is_released=False, students=dict.fromkeys(other.students, StudentStatus(State.NOT_RELEASED)))
    for width, heads in ((80, (4, 3)), (120, (6, 1)), (200, (7,))):
        lines = terminal(print_class, replace(found, labs=(*labs, idle)), width=width)
        assert lines[1] == "not released: 02-other"
        assert [len(line.split()) - 1 for line in lines if line.startswith("released ")] == list(heads)
        students = [line.split()[1:] for line in lines if line.startswith("student ")]
        assert [len(row) for row in students] == list(heads)
        assert [name for row in students for name in row] == names.split()


def test_markup_in_names_is_text(found, page):
    """A name that looks like markup of the terminal or of a page is shown as it is."""
    labs = [replace(lab, students={NASTY: lab.students["ada"]}) for lab in found.labs]
    seen = replace(found, roster=(NASTY,), others=(), labs=labs)
    assert any(line.startswith(SHOWN) for line in terminal(print_class, seen))
    assert f"{SHOWN} 7 / 7" in words_of(page(seen, NOW))


@pytest.mark.usefixtures("found")
def test_no_name_is_given_away(call, tmp_path):
    """For the projector: no student, and no words of students."""
    page = tmp_path / "class.html"
    _, lines = call("course", "status", "01", "--anonymous", "--html", page)
    shown = "\n".join(lines).replace(str(page), "") + page.read_text()
    assert "shard-tests" in shown
    assert not re.search(r"\b(ada|bob|cyd|dan|eve)\b|alert|02-other", shown)
