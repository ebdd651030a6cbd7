"""Later due dates, for all and for one student, and what a late hand-in costs: `course.toml` says it."""

import time
import zoneinfo
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from coursekit.course.collect import collect
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.init import init_course
from coursekit.course.late_penalty import days_late, penalty
from coursekit.course.record import record
from coursekit.course.settings import due_date, machine_zone
from coursekit.course.status.class_status import read_class
from coursekit.course.versions import read_submission
from coursekit.labs.lab import find_labs

from .conftest import NAME, edit, later, refused, verdict

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


@pytest.fixture(params=["of the course", "of the machine"])
def named(request, in_zone):
    """Return a function that gives a course this zone, the process another; or the process it, and the course none."""

    def choose(zone):
        is_own = request.param == "of the course"
        in_zone("Pacific/Auckland" if is_own else zone)
        return ZoneInfo(zone) if is_own else None

    return choose


def grade(course, student):
    """Collect, record full points, and return what the gradebook then has."""
    now = find_course(course.root, course.folder)
    collect(now, NAME)
    record(now, verdict(student), read_submission(now, NAME, student))
    return {one.id: one.points.get(NAME) for one in read_grades(now).students}[student]


def test_a_date_that_was_removed_is_gone(course, hand_in, call):
    """`course.toml` alone says when a lab is due; what else the gradebook had is told before and when it goes."""

    def told():
        now = find_course(course.root, course.folder)
        found = read_class(now, find_labs(now.root))
        with course.gradebook() as gradebook:
            return found.labs[0].due, gradebook.find_assignment(NAME).duedate, len(found.notes)

    hand_in("ada", at=later(30))
    edit(course, MONDAY_13, replaced=('"none"', '"10 % a day"'))
    assert grade(course, "ada") == pytest.approx(3 * 0.8)
    call("course", "collect", "1")
    assert told() == (later(1), later(1), 0)
    edit(course, replaced=("2026-11-16T13", "2026-11-16T14"))
    assert told() == (later(2), later(1), 1)
    assert "2026-11-16 13:00:00 UTC" in call("course", "collect", "1")[1][-1]
    assert told() == (later(2), later(2), 0)

    edit(course, replaced=(MONDAY_13.replace("T13", "T14"), ""))
    assert told() == (None, later(2), 1)
    assert grade(course, "ada") == 3
    assert "2026-11-16 14:00:00 UTC" in call("course", "release", "1")[1][-1]
    assert told() == (None, None, 0)

    with course.gradebook() as gradebook:  # as formgrader sets one
        gradebook.update_or_create_assignment(NAME, duedate=f"{later(3)} UTC")
    assert told() == (None, later(3), 1)
    assert grade(course, "ada") == 3
    (note,) = init_course(course.root, course.folder, None, None).notes
    assert f"{later(3)} UTC" in note


def test_a_release_says_when_it_is_due(course, call):
    """The date of course.toml, in UTC."""
    edit(course, MONDAY_13)
    assert call("course", "release", "1") == (0, [f"unchanged: {NAME}, due 2026-11-16 13:00:00 UTC"])


@pytest.mark.parametrize(
    ("terms", "num_days", "lost"),
    [
        ("none", 1, 0),
        ("100 % a day", 1, 10),
        ("10 % a day", 0, 0),
        ("10 % a day", 2, 2),
        ("10% a day, at most 50%", 30, 5),
        ("10 % a day", 30, 10),
    ],
)
def test_what_a_late_one_costs(terms, num_days, lost):
    """A share for each day that has begun, up to a most; never more than all."""
    assert penalty(terms, 10, num_days) == pytest.approx(lost)


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
    chosen = read_submission(now, NAME, "ada")
    assert chosen.timestamp == (later(1) if is_late else later(1 + late_s / 3600))
    students = read_class(now, find_labs(now.root)).labs[0].students
    assert [students[name].is_late for name in ("ada", "bob")] == [False, is_late]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Prague", "America/Los_Angeles"])
def test_a_date_alone_is_the_end_of_that_day(zone, named):
    """In the course's zone, else the machine's: who hands in on that day is in time; offsets and times are as given."""
    own = named(zone)
    end = datetime(2026, 11, 30, 23, 59, 59, tzinfo=ZoneInfo(zone)).astimezone(timezone.utc).replace(tzinfo=None)
    assert due_date("2026-11-30", "x", own) == end
    assert due_date("2026-11-30 00:00", "x", own) == end - timedelta(hours=24) + timedelta(seconds=1)
    assert due_date("2026-11-30T00:00:00+00:00", "x", own) == datetime(2026, 11, 30)  # noqa: DTZ001 - as it is kept


# What clocks show in each zone, with the offset where they show it twice, and what is right by the calendar on the
# wall: the days for "a day ends at the same time of the next day", with five minutes of grace.
@pytest.mark.parametrize(
    ("zone", "due", "handed_in", "num_days"),
    [
        ("Europe/Prague", "2026-10-24 18:00", "2026-10-24 18:05", 0),
        ("Europe/Prague", "2026-10-24 18:00", "2026-10-24 18:05:01", 1),
        ("Europe/Prague", "2026-10-24 18:00", "2026-10-25 17:30", 1),  # 24.5 hours
        ("Europe/Prague", "2026-10-24 18:00", "2026-10-25 18:05:01", 2),
        ("Europe/Prague", "2026-03-28 18:00", "2026-03-29 18:05", 1),
        ("Europe/Prague", "2026-03-28 18:00", "2026-03-29 18:30", 2),  # 23.5 hours
        ("Europe/Prague", "2026-10-23 18:00", "2026-10-26 17:59", 3),  # a night of 25 hours among others
        ("Europe/Prague", "2026-10-24 02:30", "2026-10-25T02:40:00+02:00", 1),  # 02:30 comes again
        ("Europe/Prague", "2026-10-24 02:30", "2026-10-25T02:36:00+01:00", 2),
        ("Europe/Prague", "2026-03-28 02:30", "2026-03-29 03:35", 1),  # 02:30 never comes: it is 03:30
        ("Europe/Prague", "2026-03-28 02:30", "2026-03-29 03:36", 2),
        ("America/Los_Angeles", "2026-10-24 18:00", "2026-10-25 18:30", 2),  # Europe's night is not theirs
        ("Asia/Kolkata", "2026-10-24 18:00", "2026-10-25 18:06", 2),
        ("Africa/Cairo", "2026-10-29", "2026-10-29T23:30:00+02:00", 0),  # 23:00 to 24:00 comes twice
        ("Europe/Prague", "2026-10-24 18:00", "9999-12-30 00:00", 100),  # as dear as 101
    ],
)
def test_late_days_are_those_of_the_calendar(zone, due, handed_in, num_days, named):
    """In the zone of the course, whatever that of the machine is; in the machine's where the course names none."""
    own = named(zone)
    times = [due_date(text, "x", own) for text in (handed_in, due)]
    assert days_late(*times, own) == num_days


def test_times_that_clocks_show_twice_or_never_are_the_later_ones(named):
    """02:30 as winter time when it comes twice, 03:30 when clocks skip it."""
    own = named("Europe/Prague")
    twice, never = (due_date(text, "x", own) for text in ("2026-10-25 02:30", "2026-03-29 02:30"))
    assert [f"{twice}", f"{never}"] == ["2026-10-25 01:30:00", "2026-03-29 01:30:00"]


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
def test_points_do_not_depend_on_the_graders_machine(course, hand_in, in_zone, zone):
    """The zone of course.toml decides what is in time and how many days it is late, whatever that of the process."""
    in_zone(zone)
    settings = course.folder / "course.toml"
    known = f'timezone = "{course.settings.timezone}"'
    edit(course, f'{NAME} = "2026-10-24 18:00"\n', replaced=(known, 'timezone = "Europe/Prague"'))
    edit(course, replaced=('"none"', '"10 % a day"'))
    hand_in("ada", at=datetime(2026, 10, 24, 16, 4))  # noqa: DTZ001 - 18:04 in Prague
    hand_in("bob", at=datetime(2026, 10, 25, 16, 30))  # noqa: DTZ001 - 17:30 there, after 24.5 hours
    assert [grade(course, student) for student in ("ada", "bob")] == [3, pytest.approx(3 * 0.9)]
    assert not any("time zone" in note for note in read_class(find_course(course.root, course.folder), ()).notes)

    settings.write_text(settings.read_text().replace('timezone = "Europe/Prague"', ""))
    (note,) = read_class(find_course(course.root, course.folder), ()).notes
    assert f'`timezone = "{zone}"`' in note


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        ("Europe/Prague", "Europe/Prague"),
        ("", "UTC"),
        (":/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ("CET-1CEST", ""),
    ],
)
def test_a_new_course_names_the_zone_of_its_machine(checkout, tmp_path, in_zone, zone, name):
    """It travels with the folder; a zone without a name leaves a comment that shows how one is written."""
    in_zone(zone)
    made = init_course(checkout, tmp_path / "new", None, None).course
    assert (machine_zone(), made.settings.timezone) == (name, name)
    assert ('# timezone = "' in (made.folder / "course.toml").read_text()) == (not name)


def test_zones_are_known_on_a_machine_without_any():
    """The environment brings its own, for a container that has none."""
    zoneinfo.reset_tzpath(to=())
    try:
        assert ZoneInfo.no_cache("Europe/Prague").utcoffset(later(0)) == timedelta(hours=1)
    finally:
        zoneinfo.reset_tzpath()


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        *((f'timezone = "{zone}"', (repr(zone), "[timezone.unknown]")) for zone in ("Europe/Prag", "../etc", "+01:00")),
        ('late_penalty = "a bit"', ("'a bit'", "[penalty.not-understood]")),
        ('[due]\n01-smal = "2026-11-18 12:00"', ("01-smal,", "01-small, 02-other", "[settings.unknown-lab]")),
    ],
)
def test_settings_that_are_not_understood_are_named(course, line, facts):
    """By every command, status among them."""
    (course.folder / "course.toml").write_text(f'name = "dl"\n{line}\n')
    with refused(*facts):
        find_course(course.root, course.folder)
