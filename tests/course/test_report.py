"""The class as a page and in the terminal, with what a call of grading adds: nothing a student wrote acts there."""

from __future__ import annotations

import io
import json
import re
from datetime import datetime, timezone
from html.parser import HTMLParser

import pytest
from rich.console import Console

from coursekit.course.grade import GradedHandIn
from coursekit.course.status.class_status import read_class
from coursekit.course.status.report import print_call, print_class, render, to_json, write_page, write_report
from coursekit.grading.submission.student_folder import HandIn, JobRecord
from coursekit.grading.verdict import Flag, Verdict
from coursekit.labs.lab import find_labs

from ..labs.conftest import chromium
from .conftest import MONDAY, NAME, verdict

NASTY = "<script>alert(1)</script>\x1b[31m\u202e [bold red]x[/] & 'quoted'"
SHOWN = "<script>alert(1)</script>\ufffd[31m\ufffd [bold red]x[/] & 'quoted'"
# Messages that come out of a notebook lose their colours.
MESSAGE, SHOWN_MESSAGE = NASTY.replace("\x1b[31m", ""), SHOWN.replace("\ufffd[31m", "")
NOW = datetime(2026, 11, 20, 18, 30, tzinfo=timezone.utc)
DISJOINT = "AssertionError: rank {} has the samples of rank 0"
JOB = JobRecord("4711", "acn[01-02]", 2, 12.5, 3.0, "2026-11-16T11:00:00+00:00")
SIZES = {"wide": (1280, 1), "zoomed to 200 %": (640, 2)}
# How far the page runs out of the window, its ground, and the colours of all text that stands in it.
SEEN = """() => {
    const colour = (element, name) => getComputedStyle(element)[name].match(/[0-9.]+/g).map(Number).slice(0, 3);
    return {
        overflows: document.documentElement.scrollWidth - innerWidth,
        page: colour(document.body, 'backgroundColor'),
        texts: [...document.querySelectorAll('main *')].map(element => colour(element, 'color')),
    };
}"""


@pytest.fixture
def hand_ins(course):
    """Five hand-ins of a call: right, wrong twice in the same way, a fault, and nothing to grade."""

    def one(student, what, jobs=(), **more):
        hand_in = HandIn(student, NAME, course.submitted(NAME, student), None, MONDAY, jobs=jobs)
        return GradedHandIn(hand_in, what, **more)

    wrong = verdict("bob", (0, 1), (DISJOINT.format(1), ""), seconds=9.5, peak_memory_gb=0.41)
    flags = (Flag("network", f"It asked for {NASTY}."),)
    return [
        one("ada", verdict("ada", seconds=1.25, outputs={"shard": NASTY * 200}), is_cached=True),
        one("bob", wrong, (JOB,), notes=("2 versions were handed in",)),
        one("cyd", verdict("cyd", (0, 0), (DISJOINT.format(3), NASTY), seconds=2.5, flags=flags)),
        one("dan", Verdict(NAME, "dan", (), fault="the sandbox broke down (EOFError)")),
        one("eve", Verdict(NAME, "eve", ()), notes=("no notebook was handed in",)),
    ]


@pytest.fixture
def found(course, enrol, graded, hand_in):
    """A small class: right, wrong with nasty words, to be collected, absent, and a stranger."""
    enrol("cyd", "dan")
    graded("ada", manual=4)
    graded("bob", (0, 1), (NASTY, ""))
    graded("eve", (0, 0), ("AssertionError: eve", ""))
    hand_in("cyd")

    def read(**how):
        return read_class(course, find_labs(course.root), **how)

    return read


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


def terminal(show, *args, width=100):
    """Return what a function prints, with single spaces."""
    out = io.StringIO()
    show(*args, Console(file=out, width=width))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_the_page_says_everything_and_obeys_nothing(found, hand_ins):
    """Text of students is text: no element, no attribute and no control character comes from it."""
    page = Page(render(found(), NOW, hand_ins))
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "iframe", "link", "object", "img", "a"})
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", "".join(page.words))
    for words in (
        "5 hand-ins of 5 students: 3 graded, 1 needs another run, 1 with nothing to grade",
        "needs another run : dan, 01-small : the sandbox broke down (EOFError)",
        "nothing to grade : eve, 01-small : no notebook was handed in",
        "missing 1 4",
        f"shard-tests A small lab 1 of 2 1.0 / 2 {SHOWN_MESSAGE}",
        "explain A small lab 0 of 1 1 wait 4.0 / 4",
        "ada 7 / 7 missing bob 1 / 7 by hand missing cyd to collect missing dan missing missing",
        "eve not on the roster 0 / 7 by hand missing",
        f"network : It asked for {SHOWN}.",
        "2 versions were handed in",
        "job 4711 on acn[01-02]: 2 ranks, 12.5 s, 3 points",
        f"shard, the first 2000 of {200 * len(NASTY)} characters",
    ):
        assert words in page.text, words
    before = Page(render(found(), NOW)).text
    assert before.startswith("Class of 4 students")
    assert "Hand-in by hand-in" not in before


def test_page_and_record_are_written_for_their_owner(course, found, hand_ins):
    """Both files, whole, and for nobody else on the machine; the record holds all but what cells printed."""
    page = write_report(course, found(), hand_ins)
    record = page.with_suffix(".json")
    assert sorted(page.parent.iterdir()) == [page, record]
    assert [path.stat().st_mode & 0o777 for path in (page.parent, page, record)] == [0o700, 0o600, 0o600]
    written = json.loads(record.read_bytes())
    now = datetime.fromisoformat(written["written"])
    assert written == json.loads(json.dumps(to_json(found(), hand_ins, now)))
    (shard,) = [one for one in written["properties"] if one["name"] == "shard-tests"]
    assert (shard["num_graded"], shard["num_missed"], shard["example"]) == (2, 1, MESSAGE)
    bob = written["hand_ins"][1]
    assert (bob["jobs"][0]["job"], bob["scores"][0]["message"]) == ("4711", DISJOINT.format(1))
    told = {"outcome": "judged", "points": 1, "seconds": 9.5, "peak_memory_gb": 0.41}
    assert {**told, "notes": ["2 versions were handed in"], "handed_in": "2026-11-16T12:00:00"}.items() <= bob.items()


def test_what_came_of_a_call_is_printed(hand_ins):
    """What needs somebody's attention; nothing acts as markup, and one cause stands in one line."""
    hand_ins[3].verdict.__dict__["fault"] = f"{NASTY}\nno word within 300 s"
    hand_ins[2].verdict.__dict__["fault"] = f"{NASTY}\nno word within 301 s"
    assert terminal(print_call, hand_ins) == [
        "5 hand-ins of 5 students: 2 graded, 2 need another run, 1 with nothing to grade",
        f"needs another run: cyd 01-small, dan 01-small: {SHOWN} no word within 301 s",
        "nothing to grade: eve 01-small: no notebook was handed in",
    ]


def test_the_terminal_shows_the_class(found):
    """Numbers, a row for each student, what to explain; it fits 80 columns."""
    lines = terminal(print_class, found(), width=80)
    for line in (
        "dl: 4 students",
        "missing 1 4",
        "graded 2 0",
        "mean points 4.0 / 7",
        "ada 7/7 missing",
        "bob 1/7 b missing",
        "cyd to collect missing",
        "eve 0/7 b missing",
        "1 of 2 ██████░░░░░░ shard-tests A small lab",
    ):
        assert line in lines


def test_markup_in_names_is_text(found):
    """A name that looks like markup of the terminal or of a page is shown as it is."""
    seen = found()
    for lab in seen.labs:
        lab.students[NASTY] = lab.students["ada"]
    seen.__dict__["roster"] = (NASTY,)
    assert any(line.startswith(SHOWN) for line in terminal(print_class, seen))
    assert f"{SHOWN} 7 / 7" in Page(render(seen, NOW)).text


def test_no_name_is_given_away(found, call, tmp_path):
    """For the projector: no student, and no words of students."""
    found()
    page = tmp_path / "class.html"
    _, lines = call("course", "status", "01", "--anonymous", "--html", page)
    assert page.stat().st_mode & 0o777 == 0o600
    shown = "\n".join(lines).replace(str(page), "") + page.read_text()
    assert "shard-tests" in shown
    assert not re.search(r"\b(ada|bob|cyd|dan|eve)\b|alert|02-other", shown)


@pytest.mark.needs("chromium")
def test_a_browser_shows_the_page_at_any_size_in_light_and_dark(found, hand_ins, tmp_path):
    """Nothing runs out of the page, all text stands out from the ground by 4.5 to 1, and nothing is complained of."""
    page = tmp_path / "class.html"
    write_page(page, found(), NOW, hand_ins)
    grounds = set()
    with chromium() as browser:
        for scheme in ("light", "dark"):
            for width, scale in SIZES.values():
                view = browser.new_page(
                    color_scheme=scheme, viewport={"width": width, "height": 800}, device_scale_factor=scale
                )
                view.set_default_timeout(300_000)
                complaints = []
                view.on("console", lambda message: complaints.append(message.text))  # noqa: B023  # used in this turn
                view.goto(page.as_uri())
                seen = view.evaluate(SEEN)
                assert complaints == []
                assert seen["overflows"] <= 0
                assert min(_contrast(color, seen["page"]) for color in seen["texts"]) >= 4.5
                grounds.add(tuple(seen["page"]))
    assert len(grounds) == 2


def _contrast(color, ground):
    """Return WCAG's contrast of two colours."""
    light, dark = sorted((_luminance(color), _luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color):
    linear = [value / 3294.6 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in color]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear))
