"""The timetable adds up: breaks where people need them, nothing lost, days of about one length."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from workshop.slides.deck import Deck, find_decks
from workshop.slides.schedule import (
    PAGE,
    Item,
    page,
    split,
    timetable,
)

ROOT = Path(__file__).parents[3]
LINK = re.compile(r"/([\w.-]+\.(?:md|ipynb))\)")  # of a deck or a notebook


def item(name, minutes):
    """Return a session of one item."""
    return (Item(name, minutes),)


def deck(name, *, one_day=True):
    """Return a deck of ten minutes."""
    return Deck(name, Path(f"{name}.md"), "", name, 10, one_day=one_day)


def lab(name, *lectures):
    """Return a lab that comes after these lectures."""
    return replace(find_labs(ROOT)[0], name=name, lectures=lectures)


def test_a_day_has_its_breaks():
    """Half past eight, a break before a stretch gets longer than two hours, around noon it is lunch."""
    sessions = [item("a", 70), item("b", 60), item("c", 45), item("d", 30), item("e", 100), item("f", 30)]

    assert [(f"{start // 60}:{start % 60:02}", one.what) for start, one in timetable(sessions)] == [
        *(("8:30", "a"), ("9:40", "Coffee"), ("9:55", "b"), ("10:55", "c"), ("11:40", "Lunch"), ("12:40", "d")),
        *(("13:10", "Coffee"), ("13:25", "e"), ("15:05", "Coffee"), ("15:20", "f")),
    ]


def test_days_are_parted_evenly():
    """Of all ways to part the sessions in their order, that with the shortest longest day, then the next longest."""
    sessions = [item(name, minutes) for name, minutes in zip("abcd", (50, 20, 40, 60))]

    assert split(sessions, 2) == [sessions[:2], sessions[2:]]
    assert split(sessions, 1) == [sessions]
    assert split([*sessions, item("e", 200)], 3) == [sessions[:2], sessions[2:], [item("e", 200)]]


def test_a_deck_that_does_not_exist_is_named():
    """A lab that names a lecture which nobody gives is refused."""
    with pytest.raises(CourseKitError, match=r"solutions/01-sgd/lab.toml: there is no deck '01-gr.*'; there are 01-a"):
        page([deck("01-a")], find_labs(ROOT)[:1])


def test_a_lab_follows_the_last_lecture_that_it_names():
    """Whatever the numbers of both; a lab that names none comes last, and is in no course that leaves a deck out."""
    decks = [deck("01-a"), deck("02-b", one_day=False), deck("03-c")]
    labs = [lab("01-x", "03-c", "01-a"), lab("02-y"), lab("03-z", "01-a"), lab("04-w", "02-b")]
    told = page(decks, labs)
    order = ["01-a.md", "03-z.ipynb", "02-b.md", "04-w.ipynb", "03-c.md", "01-x.ipynb", "02-y.ipynb"]
    one, two, three = (course.partition("\n## ")[0] for course in told.split("\n## ")[1:])

    assert LINK.findall(one) == ["01-a.md", "03-z.ipynb", "03-c.md", "01-x.ipynb"]
    assert LINK.findall(two) == LINK.findall(three) == order


@pytest.mark.parametrize("num_days", [1, 2, 3])
def test_a_lecture_comes_before_the_lab_that_needs_it(num_days):
    """In each course of ours; one day has labs 01 to 03, the others have all."""
    labs, decks = find_labs(ROOT), find_decks(ROOT)
    given = LINK.findall((ROOT / PAGE).read_text().split("\n## ")[num_days])
    known = [lab for lab in labs if f"{lab.name}.ipynb" in given]

    assert [lab.name[:2] for lab in known] == [lab.name[:2] for lab in labs][: 3 if num_days == 1 else None]
    assert all(given.index(f"{name}.md") < given.index(f"{lab.name}.ipynb") for lab in known for name in lab.lectures)
    assert num_days == 1 or sorted(given) == sorted(
        [*(f"{lab.name}.ipynb" for lab in labs), *(deck.path.name for deck in decks)]
    )


def test_the_committed_timetable_is_that_of_decks_and_labs():
    """`docs/schedule.md` is what `coursekit build` writes."""
    assert (ROOT / PAGE).read_text() == page(find_decks(ROOT), find_labs(ROOT))
