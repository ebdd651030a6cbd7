"""The timetable of `docs/schedule.md` fits decks and labs: minutes, order, breaks, and time for questions and jobs."""

import re
from pathlib import Path

import pytest

from coursekit.framework import HOROVOD
from coursekit.labs.lab import find_labs
from workshop.slides.deck import find_decks

ROOT = Path(__file__).parents[3]
LABS = {f"{lab.name}.ipynb": lab for lab in find_labs(ROOT)}
DECKS = {deck.path.name: deck for deck in find_decks(ROOT)}
ROW = re.compile(r"^\| (\d\d):(\d\d) \| (\d\d):(\d\d) \| (\d+) \| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"/([\w.-]+\.(?:md|ipynb))\)")  # of a deck or a notebook
BREAKS = {"Coffee", "Lunch"}
LONGEST_STRETCH_MIN = 120
QUESTIONS_SHARE = 10 / 90  # of the time of decks and labs, without a day's last ten minutes of them
COURSES = ONE, TWO, THREE, PYTORCH = (ROOT / "docs/schedule.md").read_text().split("\n## ")[1:]
ALL = THREE.partition("\n### Day 3")[0] + PYTORCH  # which has a third day of its own
USUAL = [name[:2] for name, lab in LABS.items() if lab.framework == HOROVOD]
DAYS = [day for course in COURSES for day in course.split("\n### ")[1:]]


def rows_of(text):
    """Return for each line of a timetable its start and end, in minutes since midnight, its minutes, and what it is."""
    return [(60 * int(a) + int(b), 60 * int(c) + int(d), int(num), what) for a, b, c, d, num, what in ROW.findall(text)]


@pytest.mark.parametrize("day", DAYS)
def test_a_day_adds_up_and_has_breaks(day):
    """Each line begins where the one above ends; decks and labs have their minutes; no stretch is too long."""
    rows = rows_of(day)
    stretch = 0

    assert [start for start, *_ in rows] == [8 * 60 + 30, *(end for _, end, *_ in rows[:-1])]
    for start, end, minutes, what in rows:
        name = LINK.search(what)
        stretch = 0 if what in BREAKS else stretch + minutes * bool(name)
        assert end - start == minutes
        assert name is None or minutes == (LABS | DECKS)[name[1]].minutes
        assert stretch <= LONGEST_STRETCH_MIN


@pytest.mark.parametrize("day", DAYS)
def test_a_day_has_time_for_questions(day):
    """Ten minutes for each ninety of lecture and lab."""
    rows = rows_of(day)
    taught = sum(minutes for *_, minutes, what in rows if LINK.search(what))

    assert sum(minutes for *_, minutes, what in rows if what == "Questions") >= QUESTIONS_SHARE * (taught - 10)


@pytest.mark.parametrize(
    ("course", "labs"),
    [
        (ONE, ["01", "02"]),
        (TWO, ["01", "02", "03", "07"]),
        (THREE, USUAL),
        (ALL, [name[:2] for name in LABS if name[:2] != "06"]),
    ],
)
def test_a_lecture_comes_before_the_lab_that_needs_it(course, labs):
    """Each lab follows the decks that it names, the last of them on its own day; the longest has all; jobs are sent."""
    given = LINK.findall(course)
    days = {name: number for number, day in enumerate(course.split("\n### ")) for name in LINK.findall(day)}

    assert [name[:2] for name in given if name in LABS] == labs
    assert course != ALL or set(given) >= DECKS.keys()
    assert "**By sbatch:**" in course
    for name in (name for name in given if name in LABS):
        decks = [f"{deck}.md" for deck in LABS[name].lectures]
        assert all(given.index(deck) < given.index(name) for deck in decks)
        assert max(days[deck] for deck in decks) == days[name]


def test_the_welcome_tells_the_same_days():
    """The table of the first deck has the labs of each day, and when the day ends."""
    table = (ROOT / "slides/00-welcome.md").read_text()
    found = [
        (tuple(labs.split(", ")), 60 * int(hour) + int(minute))
        for labs, hour, minute in re.findall(r"^\|.*\| \d \| ([\d, ]+) \| (\d\d):(\d\d) \|$", table, re.MULTILINE)
    ]

    assert found == [
        (tuple(name[:2] for name in LINK.findall(day) if name in LABS), max(end for _, end, *_ in rows_of(day)))
        for day in DAYS
    ]
