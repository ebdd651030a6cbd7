"""The timetable of `docs/schedule.md` fits decks and labs: minutes, order, breaks, and nothing left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coursekit.labs.lab import find_labs
from workshop.slides.deck import find_decks

ROOT = Path(__file__).parents[3]
LABS = {f"{lab.name}.ipynb": lab for lab in find_labs(ROOT)}
DECKS = {deck.path.name: deck for deck in find_decks(ROOT)}
ROW = re.compile(r"^\| (\d\d):(\d\d) \| (\d\d):(\d\d) \| (\d+) \| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"/([\w.-]+\.(?:md|ipynb))\)")  # of a deck or a notebook
LONGEST_STRETCH_MIN = 120
ONE, TWO, THREE = (ROOT / "docs/schedule.md").read_text().split("\n## ")[1:]


@pytest.mark.parametrize("day", [day for course in (ONE, TWO, THREE) for day in course.split("\n### ")[1:]])
def test_a_day_adds_up_and_has_breaks(day):
    """Each line begins where the one above ends; decks and labs have their minutes; no stretch is too long."""
    found = ROW.findall(day)  # start and end become minutes since midnight
    rows = [(60 * int(a) + int(b), 60 * int(c) + int(d), int(num), what) for a, b, c, d, num, what in found]
    stretch = 0

    assert [start for start, *_ in rows] == [8 * 60 + 30, *(end for _, end, *_ in rows[:-1])]
    for start, end, minutes, what in rows:
        name = LINK.search(what)
        stretch = stretch + minutes if name else 0
        assert end - start == minutes == (LABS | DECKS)[name[1]].minutes if name else what in {"Coffee", "Lunch"}
        assert stretch <= LONGEST_STRETCH_MIN


@pytest.mark.parametrize(("course", "num_labs"), [(ONE, 3), (TWO, len(LABS)), (THREE, len(LABS))])
def test_a_lecture_comes_before_the_lab_that_needs_it(course, num_labs):
    """One day has labs 01 to 03, the others have all labs and decks; each lab follows the decks that it names."""
    given = LINK.findall(course)

    assert [name for name in given if name in LABS] == [*LABS][:num_labs]
    assert num_labs < len(LABS) or set(given) == {*LABS, *DECKS}
    for name in [*LABS][:num_labs]:
        assert all(given.index(f"{deck}.md") < given.index(name) for deck in LABS[name].lectures)
