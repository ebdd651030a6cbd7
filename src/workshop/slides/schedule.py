"""The timetable of a course of one, two and three days, from the minutes of decks and labs: `docs/schedule.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.files import Report, no_report, write_if_changed
from coursekit.labs.lab import Lab, find_labs
from coursekit.text import markdown_table
from workshop.slides.deck import Deck, find_decks

PAGE = "docs/schedule.md"
START_MIN = 8 * 60 + 30  # of the day, here and below
EARLIEST_LUNCH_MIN = 11 * 60 + 30  # from then on a break is lunch
LATEST_LUNCH_MIN = 13 * 60  # nothing before lunch ends later
LUNCH_MIN = 60
COFFEE_MIN = 15
LONGEST_STRETCH_MIN = 120  # without a break, unless one piece alone is longer

INTRODUCTION = """\
# The course, to the minute

Made by `workshop schedule` from the headers of [the decks](../slides/README.md) and the `lab.toml` of the labs.
Every lab comes after the lectures that its `lab.toml` names; nobody sits longer than {longest} minutes without a break.
"""


@dataclass(frozen=True)
class Item:
    """One line of a timetable: what, as Markdown, and its minutes."""

    what: str
    minutes: int


Session = tuple[Item, ...]
"""What stays on one day: a deck, and the labs that follow it."""


def write_schedule(root: Path, report: Report = no_report) -> None:
    """Write `docs/schedule.md`, in a checkout that has decks.

    Raises:
        CourseKitError: a lab names a deck that does not exist, or a header is wrong.
    """
    decks = find_decks(root)
    if decks:
        write_if_changed(root / PAGE, page(decks, find_labs(root)).encode(), report)


def page(decks: Sequence[Deck], labs: Sequence[Lab]) -> str:
    """Return the page with all courses."""
    _refuse_unknown_decks(decks, labs)
    text = INTRODUCTION.format(longest=LONGEST_STRETCH_MIN)
    for name, days in courses(decks, labs).items():
        text += f"\n## {name}\n\n{_summary(days)}\n"
        for number, sessions in enumerate(days, 1):
            text += f"\n### {'The day' if len(days) == 1 else f'Day {number}'}\n\n"
            rows = (_row(start, item) for start, item in timetable(sessions))
            text += markdown_table(("from", "to", "min", "what"), rows, "rrr")
    return text


def courses(decks: Sequence[Deck], labs: Sequence[Lab]) -> dict[str, list[list[Session]]]:
    """Return the days of a course of one, two and three days; one day has the labs whose lectures it has."""
    found = {}
    for num_days, name in ((1, "One day"), (2, "Two days"), (3, "Three days")):
        taken = [deck for deck in decks if deck.one_day or num_days > 1]
        given = [lab for lab in labs if _lectures(lab, decks) <= set(taken)]
        found[name] = split(sessions_of(taken, given), num_days)
    return found


def split(sessions: Sequence[Session], num_days: int) -> list[list[Session]]:
    """Part sessions, in their order, into so many days: the longest as short as can be, then the next longest."""
    ways = combinations(range(1, len(sessions)), num_days - 1)
    parted = ([list(sessions[a:b]) for a, b in zip((0, *cuts), (*cuts, len(sessions)))] for cuts in ways)
    return min(parted, key=lambda days: sorted(map(_minutes, days), reverse=True), default=[list(sessions)])


def timetable(sessions: Sequence[Session]) -> Iterator[tuple[int, Item]]:
    """Yield the start of each item of a day, in minutes since midnight, breaks among them.

    Coffee comes before an item that would make the stretch too long; around noon such a break is lunch, which also
    comes before an item that would end too late for it.
    """
    now, stretch, had_lunch = START_MIN, 0, False
    for item in (item for session in sessions for item in session):
        is_tired = stretch and stretch + item.minutes > LONGEST_STRETCH_MIN
        is_late = not had_lunch and now + item.minutes > LATEST_LUNCH_MIN
        if is_tired or is_late:
            is_lunch = not had_lunch and now >= EARLIEST_LUNCH_MIN
            had_lunch |= is_lunch
            pause = Item("Lunch", LUNCH_MIN) if is_lunch else Item("Coffee", COFFEE_MIN)
            yield now, pause
            now, stretch = now + pause.minutes, 0
        yield now, item
        now, stretch = now + item.minutes, stretch + item.minutes


def sessions_of(decks: Sequence[Deck], labs: Sequence[Lab]) -> list[Session]:
    """Return a session for each deck: its lecture, and the labs for which it is the last that they need."""
    last = {lab.name: max(_lectures(lab, decks), key=decks.index) for lab in labs}
    return [(_lecture(deck), *(_lab(lab) for lab in labs if last[lab.name] == deck)) for deck in decks]


def _lectures(lab: Lab, decks: Sequence[Deck]) -> set[Deck]:
    """Return the decks that come before a lab: all of them when it names none."""
    return {deck for deck in decks if not lab.lectures or deck.name in lab.lectures}


def _refuse_unknown_decks(decks: Sequence[Deck], labs: Sequence[Lab]) -> None:
    names = [deck.name for deck in decks]
    for lab in labs:
        for name in set(lab.lectures) - set(names):
            raise CourseKitError(
                f"solutions/{lab.name}/lab.toml: there is no deck {name!r}; there are {', '.join(names)}."
            )


def _lecture(deck: Deck) -> Item:
    return Item(f"[{deck.title}](../slides/{deck.path.name})", deck.minutes)


def _lab(lab: Lab) -> Item:
    return Item(f"**Lab {lab.name[:2]}:** [{lab.title}](../labs/{lab.name}/{lab.name}.ipynb)", lab.minutes)


def _minutes(sessions: Sequence[Session]) -> int:
    return sum(item.minutes for session in sessions for item in session)


def _summary(days: Sequence[Sequence[Session]]) -> str:
    lecture = sum(session[0].minutes for day in days for session in day)
    labs = sum(map(_minutes, days)) - lecture
    return f"{_hours(lecture)} of lecture, {_hours(labs)} of labs."


def _hours(minutes: int) -> str:
    return f"{minutes // 60} h {minutes % 60:02} min"


def _row(start_min: int, item: Item) -> tuple[str, ...]:
    return _clock(start_min), _clock(start_min + item.minutes), str(item.minutes), item.what


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
