"""The report of grading: what it shows of a class, and that nothing a student wrote acts in it."""

from __future__ import annotations

import io
import json
import re
from datetime import datetime, timezone
from html.parser import HTMLParser

import pytest
from rich.console import Console

from coursekit.course.grade import GradedHandIn
from coursekit.course.report.grade_report import print_report, render, to_json, write_report
from coursekit.course.report.properties import Property, Wording, describe, properties
from coursekit.grading.submission.job_records import JobRecord
from coursekit.grading.submission.student_folder import HandIn
from coursekit.grading.verdict import Flag, Verdict

from ..conftest import MONDAY, NAME, verdict

NASTY = "<script>alert(1)</script>\x1b[31m\u202e & 'quoted'"
NOW = datetime(2026, 11, 20, 18, 30, tzinfo=timezone.utc)
DISJOINT = "AssertionError: rank {} has the samples of rank 0"


@pytest.fixture
def graded(course):
    """Five hand-ins: right, wrong twice in the same way, a fault, and nothing to grade."""

    def one(student, what, **more):
        return GradedHandIn(
            HandIn(student, NAME, course.submitted(NAME, student), None, MONDAY, jobs=JOBS[student]), what, **more
        )

    wrong = verdict("bob", (0, 1), (DISJOINT.format(1), ""), seconds=9.5, peak_memory_gb=0.41, sandbox="bwrap")
    flags = (Flag("network", f"It asked for {NASTY}."),)
    return [
        one("ada", verdict("ada", seconds=1.25, sandbox="bwrap", outputs={"shard": NASTY * 200}), is_cached=True),
        one("bob", wrong, notes=("2 versions were handed in",)),
        one("cyd", verdict("cyd", (0, 0), (DISJOINT.format(3), NASTY), seconds=2.5, sandbox="none", flags=flags)),
        one("dan", Verdict(NAME, "dan", (), fault="the sandbox broke down (EOFError)", sandbox="bwrap")),
        one("eve", Verdict(NAME, "eve", (), sandbox="bwrap"), notes=("no notebook was handed in",)),
    ]


JOBS = {
    **dict.fromkeys(["ada", "cyd", "dan", "eve"], ()),
    "bob": (JobRecord("4711", "acn[01-02]", 2, 12.5, 3.0, "2026-11-16T11:00:00+00:00"),),
}


class Page(HTMLParser):
    """The elements of a page, each with its attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        """Keep text."""
        self.words.append(data)

    @property
    def text(self):
        """All text, with single spaces."""
        return " ".join(" ".join(self.words).split())


def test_properties_over_the_class(graded):
    """Hand-ins that were not judged do not count; the example is what most were told, apart from numbers."""
    shard, mean = properties(graded)
    assert shard == Property(NAME, "shard-tests", 2, Wording("shard-tests"), 3, 2, 2.0, 0, DISJOINT.format(1), 2)
    assert mean == Property(NAME, "mean-tests", 1, Wording("mean-tests"), 3, 1, 2.0, 0, NASTY, 1)
    assert (shard.mean_points, mean.mean_points) == (2 / 3, 2 / 3)
    assert describe((shard, mean)) == (
        f"Bars of the hand-ins that passed and failed each test of {NAME}; most often failed: shard-tests. "
        "Passed: shard-tests 1 of 3, mean-tests 2 of 3."
    )


def test_the_page_says_everything_and_obeys_nothing(course, graded):
    """Text of students is text: no element, no attribute and no control character comes from it."""
    page = Page(render(course, graded, NOW))
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "iframe", "link", "object"})
    addresses = [attributes[key] for _, attributes in page.elements for key in ("href", "src") if key in attributes]
    assert all(address.startswith("#student-") for address in addresses)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", "".join(page.words))
    for words in (
        "5 hand-ins of 5 students: 3 graded, 1 needs another run, 1 with nothing to grade",
        "Who needs help",
        "bob, 01-small : 1 of 3 points; failed: shard-tests",
        "There was no sandbox",
        "ada 3 / 3",
        "bob 1 / 3",
        "cyd 0 / 3 1 flag: network",
        "dan needs another run",
        "eve nothing to grade",
        "needs another run : dan, 01-small : the sandbox broke down (EOFError)",
        "nothing to grade : eve, 01-small : no notebook was handed in",
        "shard-tests 2 of 3 0.7 / 2 2 times AssertionError: rank 1 has the samples of rank 0",
        "network : It asked for <script>alert(1)</script>\ufffd[31m\ufffd & 'quoted'.",
        "bob, 01-small: 9.5 s, at most 0.41 GB",
        "2 versions were handed in",
        "The student's own claim, which nothing here has checked: job 4711 on acn[01-02]: 2 ranks, 12.5 s, 3 points",
        f"shard, the first 2000 of {200 * len(NASTY)} characters",
    ):
        assert words in page.text
    spread, picture = (attributes["aria-label"] for _, attributes in page.elements if attributes.get("role") == "img")
    assert "1 with 0 to 20 % of the points, 1 with 20 to 40 % of the points, 0 with 40" in spread
    assert picture == describe(properties(graded))
    red = [attributes for tag, attributes in page.elements if attributes.get("class") == "banner bad"]
    assert len(red) == 1


def test_page_and_record_are_written_for_their_owner(course, graded):
    """Both files, whole, and for nobody else on the machine; the record holds all but what cells printed."""
    page = write_report(course, graded)
    record = page.with_suffix(".json")
    assert sorted(page.parent.iterdir()) == [page, record]
    assert [path.stat().st_mode & 0o777 for path in (page.parent, page, record)] == [0o700, 0o600, 0o600]
    written = json.loads(record.read_bytes())
    now = datetime.fromisoformat(written["written"])
    assert written == json.loads(json.dumps(to_json(course, graded, now)))
    assert written["properties"][0] == {
        "lab": NAME,
        "name": "shard-tests",
        "max_points": 2,
        "num_passed": 1,
        "num_failed": 2,
        "example": DISJOINT.format(1),
        "num_alike": 2,
    }
    bob = written["hand_ins"][1]
    assert bob.pop("jobs")[0]["job"] == "4711"
    assert bob.pop("scores")[0]["message"] == DISJOINT.format(1)
    assert bob == {
        "student": "bob",
        "lab": NAME,
        "outcome": "judged",
        "points": 1,
        "max_points": 3,
        "flags": [],
        "fault": "",
        "seconds": 9.5,
        "peak_memory_gb": 0.41,
        "sandbox": "bwrap",
        "key": "",
        "notes": ["2 versions were handed in"],
        "handed_in": "2026-11-16T12:00:00",
    }


def test_the_terminal_shows_the_same(graded):
    """A row for each student, what needs somebody's attention, and what took longest; nothing acts as markup."""
    out = io.StringIO()
    graded[3].verdict.__dict__["fault"] = f"[bold]{NASTY}\nbroke"
    print_report(graded, Console(file=out, width=100))
    lines = [" ".join(line.replace("│", " ").split()) for line in out.getvalue().splitlines()]
    rows = [line for line in lines if line[:4] in {"ada ", "bob ", "cyd ", "dan ", "eve "}]
    assert rows == [
        "ada 3/3 1.2 s",
        "bob 1/3 9.5 s",
        "cyd 0/3 1 flag: network 2.5 s",
        "dan needs another run",
        "eve nothing to grade",
    ]
    assert lines[0] == "5 hand-ins of 5 students: 3 graded, 1 needs another run, 1 with nothing to grade"
    assert lines[-6:] == [
        "needs another run: dan 01-small: [bold]<script>alert(1)</script>\ufffd[31m\ufffd & 'quoted' broke",
        "nothing to grade: eve 01-small: no notebook was handed in",
        "there was NO SANDBOX: what was handed in ran with your rights.",
        "less than half of the points: cyd 01-small 0/3, bob 01-small 1/3",
        "slowest: bob 01-small 9.5 s, cyd 01-small 2.5 s",
        "most often failed: shard-tests of 01-small, 2 of 3",
    ]


def test_what_kept_several_from_being_graded_is_said_once(graded):
    """Hand-ins with one cause stand in one line, also when its numbers differ; other causes have lines of their own."""
    for one, fault in zip(graded, ("no word within 300 s", "no word within 301 s", "it ended")):
        one.verdict.__dict__["fault"] = fault
    out = io.StringIO()
    print_report(graded[:3], Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert lines[0] == "3 hand-ins of 3 students: 0 graded, 3 need another run"
    assert [line for line in lines if line.startswith("needs another run")] == [
        "needs another run: ada 01-small, bob 01-small: no word within 300 s",
        "needs another run: cyd 01-small: it ended",
    ]
