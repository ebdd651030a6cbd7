"""Later due dates, for all and for one student, and what a late hand-in costs: `course.toml` says it."""

import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.settings import due_date, penalty
from coursekit.course.status.class_status import read_class
from coursekit.course.versions import read_hand_in
from coursekit.labs.lab import find_labs

from .conftest import NAME, edit, later, refused, verdict

DAY_S = 86400
MONDAY_13 = f'{NAME} = "2026-11-16T13:00:00+00:00"\n'


@pytest.fixture
def in_zone(monkeypatch):
    """Return a function that lets this machine be in a time zone."""

    def move(zone):
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def grade(course, student):
    """Collect, record full points, and return what the gradebook then has."""
    now = find_course(course.root, course.folder)
    collect(now, NAME)
    record(now, verdict(student), read_hand_in(now, NAME, student))
    return {one.id: one.points.get(NAME) for one in read_grades(now).students}[student]


def test_a_date_of_no_lab_is_refused(course):
    """The message names the labs."""
    changed = edit(course, replaced=("[due]", '[due]\n01-smal = "2026-11-18 12:00"'))
    with refused("course.toml names 01-smal, which is no lab; the labs are 01-small, 02-other."):
        collect(changed, NAME)


def test_a_release_says_when_it_is_due(course, call):
    """The date of course.toml, in UTC."""
    edit(course, MONDAY_13)
    assert call("course", "release", "1") == (0, [f"unchanged: {NAME}, due 2026-11-16 13:00:00 UTC"])


def test_a_later_date_after_grading_gives_the_points_back(course, hand_in):
    """What a late hand-in costs follows date and terms, also when nothing is judged anew; the later date counts."""
    edit(course, MONDAY_13, replaced=('"none"', '"10 % a day, at most 25 %"'))
    hand_in("ada", at=later(30))
    assert grade(course, "ada") == pytest.approx(3 * 0.8)
    edit(course, f'[extensions.{NAME}]\nada = "2026-11-17T13:00:00+00:00"\n')
    assert grade(course, "ada") == pytest.approx(3 * 0.9)
    edit(course, replaced=("2026-11-16T13", "2026-11-19T13"))
    assert grade(course, "ada") == 3


@pytest.mark.parametrize(
    ("terms", "late_s", "lost"),
    [
        ("none", DAY_S, 0),
        ("100 % a day", 301, 10),
        ("10 % a day", 1, 0),
        ("10 % a day", 300, 0),
        ("10 % a day", 301, 1),
        ("10 % a day", DAY_S + 300, 1),
        ("10 % a day", DAY_S + 301, 2),
        ("10% a day, at most 50%", 30 * DAY_S, 5),
        ("10 % a day", 30 * DAY_S, 10),
    ],
)
def test_what_a_late_one_costs(terms, late_s, lost):
    """A share for each day that has begun after five minutes of grace, up to a most; never more than all."""
    assert penalty(terms, 10, late_s) == pytest.approx(lost)


@pytest.mark.parametrize("late_s", [1, 300, 301])
def test_one_grace_holds_everywhere(course, hand_in, late_s):
    """What it covers is in time: when a version is chosen, when points are taken off, and when lateness is counted."""
    edit(course, MONDAY_13, replaced=('"none"', '"100 % a day"'))
    is_late = late_s > 300
    hand_in("ada", answers={}, at=later(1))
    hand_in("ada", at=later(1 + late_s / 3600))
    hand_in("bob", at=later(1 + late_s / 3600))
    assert grade(course, "bob") == (0 if is_late else 3)
    now = find_course(course.root, course.folder)
    chosen = read_hand_in(now, NAME, "ada")
    assert chosen.timestamp == (later(1) if is_late else later(1 + late_s / 3600))
    students = read_class(now, find_labs(now.root)).labs[0].students
    assert [students[name].is_late for name in ("ada", "bob")] == [False, is_late]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Prague", "America/Los_Angeles"])
def test_a_date_alone_is_the_end_of_that_day(zone, in_zone):
    """In this machine's time, so that whoever hands in on that day is in time; offsets and times are as given."""
    in_zone(zone)
    end = datetime(2026, 11, 30, 23, 59, 59, tzinfo=ZoneInfo(zone)).astimezone(timezone.utc).replace(tzinfo=None)
    assert due_date("2026-11-30", "x") == end
    assert due_date("2026-11-30 00:00", "x") == end - timedelta(seconds=DAY_S - 1)
    assert due_date("2026-11-30T00:00:00+00:00", "x") == datetime(2026, 11, 30)  # noqa: DTZ001 - as it is kept


def test_terms_that_are_not_understood_are_named(course):
    """The message shows how they are written."""
    with refused("course.toml", "late_penalty", '"none", or such as "10 % a day'):
        edit(course, replaced=('"none"', '"a bit"'))
