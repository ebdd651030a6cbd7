"""The page and the terminal: what they show, that nothing of a student's acts there, and that no name is given away."""

from __future__ import annotations

import io
import re
from datetime import datetime, timezone

import pytest
from rich.console import Console

from coursekit.course.progress.members import find_members
from coursekit.course.progress.missed import describe
from coursekit.course.progress.page import render, write_page
from coursekit.course.progress.progress import read_class
from coursekit.course.progress.terminal import print_class
from coursekit.course.report.bars import Bar, bars_as_svg
from coursekit.pictures import COLORS

from ..report.test_grade_report import Page
from .conftest import NAME, NASTY

NOW = datetime(2026, 11, 20, 18, 30, tzinfo=timezone.utc)
SIZES = {"wide": (1280, 1), "zoomed to 200 %": (640, 2)}
SEEN = """() => {
    const colour = (element, name) => getComputedStyle(element)[name].match(/[0-9.]+/g).map(Number).slice(0, 3);
    const picture = document.querySelector('svg[role=img]');
    const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.right, b.width]; };
    return {
        overflows: document.documentElement.scrollWidth - innerWidth,
        page: colour(document.body, 'backgroundColor'),
        texts: [...picture.querySelectorAll('text, tspan')].map(text => colour(text, 'fill')),
        rows: [...picture.querySelectorAll(':scope > svg')].map(row => ({
            bars: [...row.querySelectorAll('rect')].map(box), texts: [...row.querySelectorAll('text')].map(box),
        })),
        font: parseFloat(getComputedStyle(picture.querySelector('text')).fontSize),
    };
}"""


@pytest.fixture
def found(course, labs, enrol, grade, hand_in, executed):  # noqa: PLR0913, PLR0917  # fixtures
    """A small class: right, wrong with nasty words, to be collected, absent, and a stranger."""
    enrol("cyd", "dan")
    grade("ada", manual=4)
    grade("bob", (0, 1), (NASTY, ""), notebook=executed(3))
    grade("eve", (0, 0), ("AssertionError: eve", ""))
    hand_in("cyd", notebook=executed(2))

    def read(**how):
        return read_class(course, labs, **how)

    return read


def terminal(found, width=100):
    """Return what the terminal shows, with single spaces."""
    out = io.StringIO()
    print_class(found, Console(file=out, width=width))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_the_page_says_everything_and_obeys_nothing(found):
    """Steps in words for those who hear them, points, what waits; text of students is text."""
    seen = found()
    page = Page(render(seen, NOW))
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "iframe", "link", "object", "img", "a"})
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", "".join(page.words))
    for words in (
        "Progress of 4 students",
        "01-small yes 3 + 1 not known 2 + 2 not known 3 2 1 0 4.0 / 7",
        "02-other yes 0 + 4 not known 0 + 4 not known 0 0 0 0",
        "What to explain again",
        "shard-tests A small lab 1 of 2 1.0 / 2 <script>alert(1)</script>",
        "explain A small lab 0 of 1 1 wait 4.0 / 4",
        "ada ✓ fetched: yes. ? run: not known. ✓ handed in: yes. ✓ graded: yes. 7 / 7",
        "bob ✓ fetched: yes. ✓ run: yes. ✓ handed in: yes. ✓ graded: yes. 1 / 7 waits for points by hand",
        "cyd ✓ fetched: yes. ✓ run: yes. ✓ handed in: yes. · graded: not yet. 2 of 5 cells run 1 to collect",
        "dan ? fetched: not known. ? run: not known. · handed in: not yet. · graded: not yet.",
        "eve not on the roster ✓",
    ):
        assert words in page.text
    (picture,) = (attributes for tag, attributes in page.elements if attributes.get("role") == "img")
    assert picture["aria-label"] == describe(NAME, seen.labs[0].missed)


def test_the_page_is_for_its_owner(found, tmp_path):
    """Nobody else on the machine can read it; one that is watched loads itself again."""
    page = tmp_path / "class.html"
    write_page(page, found(), NOW)
    assert page.stat().st_mode & 0o777 == 0o600
    assert 'http-equiv="refresh"' not in page.read_text()
    write_page(page, found(), NOW, refresh_s=10)
    assert '<meta http-equiv="refresh" content="10">' in page.read_text()


def test_the_terminal_shows_the_same(found):
    """Numbers, a row for each student, what to explain; it fits 80 columns."""
    lines = terminal(found(), width=80)
    for line in (
        "dl: 4 students",
        "01-small 3 + 1? 2 + 2? 3 2 1 0 4.0/7",
        "ada F?HG 7/7 ??··",
        "bob FRHG 1/7 m ??··",
        "cyd FRH· 2/5 cells ??··",
        "dan ??·· ??··",
        "eve F?HG 0/7 m ??··",
        "01-small, to explain again",
        "1 of 2 ██████░░░░░░ shard-tests A small lab",
        "! Not on the roster, shown at the end and not counted: eve.",
        "! 01-small: new hand-ins of 1 student lie in the exchange: `coursekit course collect 01`.",
    ):
        assert line in lines


def test_markup_in_names_is_text(found):
    """A name that looks like markup of the terminal or of a page is shown as it is."""
    seen = found()
    member = seen.members[0]
    member.__dict__["label"] = NASTY
    shown = "<script>alert(1)</script>\ufffd[31m\ufffd [bold red]x[/]"
    assert any(line.startswith(shown) for line in terminal(seen))
    assert f"{shown} ✓" in Page(render(seen, NOW)).text


def test_no_name_is_given_away(course, found):
    """For the projector: numbers in an order that stays, that only this course knows, and no words of students."""
    seen = found(anonymous=True)
    assert [member.label for member in seen.members] == [f"student {i}" for i in range(1, 6)]
    assert seen.members[-1].id == "eve"
    assert found(anonymous=True).members == seen.members
    shown = "\n".join(terminal(seen)) + render(seen, NOW)
    assert not re.search(r"\b(ada|bob|cyd|dan|eve)\b|alert", shown)
    key = course.folder / ".anonymous-order"
    assert key.stat().st_mode & 0o777 == 0o600
    orders = set()
    for i in range(20):
        key.write_bytes(bytes([i]) * 32)
        orders.add(tuple(member.id for member in find_members(course, (), anonymous=True)[0]))
    assert len(orders) > 5


def test_bars_share_the_colours_of_all_pictures():
    """The first two of the palette; a bar of nothing has no width."""
    picture = bars_as_svg("one", [Bar("<b>", 0, 0, "none"), Bar("half", 1, 1, "1 of 2")], 'says "it"')
    assert all(color in picture for color in COLORS[:2])
    assert "&lt;b&gt;" in picture
    assert 'aria-label="says &#34;it&#34;"' in picture
    shares = re.findall(r"width: calc\(.*? \* ([\d.]+)\)", picture)
    assert shares == ["0", "0", "0.5", "0.5"]


@pytest.mark.needs("chromium")
def test_a_browser_shows_the_bars_at_any_size_in_light_and_dark(found, tmp_path):
    """Nothing runs out of the page or over another; text is 16 pixels and stands out from the ground by 4.5 to 1."""
    from playwright.sync_api import sync_playwright

    page = tmp_path / "class.html"
    write_page(page, found(), NOW)
    grounds = set()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"], timeout=300_000
        )
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
                assert seen["font"] == 16
                assert min(_contrast(color, seen["page"]) for color in seen["texts"]) >= 4.5
                for row in seen["rows"]:
                    (good, missed), (label, number) = row["bars"], row["texts"]
                    assert good[1] == pytest.approx(missed[0])
                    assert missed[1] <= number[0]
                    assert max(label[1], number[1]) <= width
                assert [row["bars"][1][2] == 0 for row in seen["rows"]] == [False, True, True]
                first = seen["rows"][0]["bars"]
                assert first[0][2] == pytest.approx(first[1][2], abs=0.1)  # 2 of 4 points of the most missed one
                grounds.add(tuple(seen["page"]))
        browser.close()
    assert len(grounds) == 2


def _contrast(color, ground):
    """Return WCAG's contrast of two colours."""
    light, dark = sorted((_luminance(color), _luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color):
    linear = [value / 3294.6 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in color]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear))
