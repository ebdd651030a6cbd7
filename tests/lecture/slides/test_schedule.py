"""The timetable adds up: breaks where people need them, nothing lost, days of about one length."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs
from coursekit.lecture.slides.deck import Deck, find_decks
from coursekit.lecture.slides.schedule import PAGE, Item, page, split, timetable

ROOT = Path(__file__).parents[3]


def item(name, minutes):
    """Return a session of one item."""
    return (Item(name, minutes),)


def test_a_day_has_its_breaks():
    """Half past eight, a break before a stretch gets longer than two hours, around noon it is lunch."""
    sessions = [item("a", 70), item("b", 60), item("c", 45), item("d", 30), item("e", 100), item("f", 30)]

    assert [(f"{start // 60}:{start % 60:02}", one.what) for start, one in timetable(sessions)] == [
        *(("8:30", "a"), ("9:40", "Coffee"), ("9:55", "b"), ("10:55", "c"), ("11:40", "Lunch"), ("12:40", "d")),
        *(("13:10", "Coffee"), ("13:25", "e"), ("15:05", "Coffee"), ("15:20", "f")),
    ]


def test_days_are_parted_evenly():
    """Of all ways to part the sessions in their order, the one with the shortest longest day."""
    sessions = [item(name, minutes) for name, minutes in zip("abcd", (50, 20, 40, 60))]

    assert split(sessions, 2) == [sessions[:2], sessions[2:]]
    assert split(sessions, 1) == [sessions]


def test_a_lab_that_does_not_exist_is_named():
    """A deck that sends people to no lab is refused."""
    deck = Deck("01-a", Path("01-a.md"), "", "A", 10, one_day=True, lab="09-none")

    with pytest.raises(CourseKitError, match=r"slides/01-a.md: there is no lab '09-none'; there are 01-sgd"):
        page([deck], find_labs(ROOT))


def test_the_committed_timetable_is_that_of_decks_and_labs():
    """`docs/schedule.md` is what `coursekit build` writes; every lab is in the course of two days, once."""
    labs, decks = find_labs(ROOT), find_decks(ROOT)
    text = (ROOT / PAGE).read_text()
    two_days = text.partition("## Two days")[2]

    assert text == page(decks, labs)
    assert [two_days.count(f"({link}") for link in (f"../labs/{lab.name}/{lab.name}.ipynb" for lab in labs)] == [1] * 4
    assert all(two_days.count(f"../slides/{deck.path.name})") == 1 for deck in decks)
