"""Later due dates, for all and for one student, and what a late hand-in costs: `course.toml` says it."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from coursekit import toml_files
from coursekit.course.collect import collect
from coursekit.course.due import due_of
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.settings import due_date, penalty
from coursekit.course.status.class_status import read_class
from coursekit.course.versions import read_hand_in
from coursekit.errors import CourseKitError
from coursekit.labs.lab import find_labs

from .conftest import NAME, edit, later, refused, verdict

DAY_S = 86400


@pytest.fixture
def run(call):
    """Return a function that calls a verb of `coursekit course`, and returns exit status and lines."""

    def verb(*words):
        try:
            return call("course", *words)
        except CourseKitError as error:
            return 1, [str(error)]

    return verb


@pytest.fixture
def in_zone(monkeypatch):
    """Return a function that lets this machine be in a time zone."""

    def move(zone):
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def due(course, student):
    """Return when the small lab is due for a student, as the files say now."""
    now = find_course(course.root, course.folder)
    with now.gradebook() as gradebook:
        return due_of(now, gradebook, NAME, student)


def grade(course, student):
    """Collect, record full points, and return what the gradebook then has."""
    now = find_course(course.root, course.folder)
    collect(now, NAME)
    record(now, verdict(student), read_hand_in(now, NAME, student))
    return {one.id: one.points.get(NAME) for one in read_grades(now).students}[student]


def test_all_or_one_get_later_dates(course, run):
    """The file keeps what else is in it; further days follow a student's own date, and mistakes change nothing."""
    assert run("extend", "1", "--days", "1") == (
        1,
        [f"{NAME} has no due date: give it one for all first, with `coursekit course extend 01 --until DATE`."],
    )
    before = (course.folder / "course.toml").read_text()
    assert (
        run("extend", "1", "--until", "2026-11-16T13:00:00+00:00")[1][0] == f"{NAME}, all: due 2026-11-16 13:00:00 UTC"
    )
    for hour in ("2026-11-18 13:00:00 UTC", "2026-11-20 13:00:00 UTC"):
        assert run("extend", "1", "--days", "2", "--student", "ada")[1][0] == f"{NAME}, ada: due {hour}"
    assert (due(course, "ada"), due(course, "bob")) == (later(97), later(1))
    settings = (course.folder / "course.toml").read_text()
    assert [line for line in before.splitlines() if line not in settings.splitlines()] == []
    assert run("extend", "1", "--days", "1", "--student", "zoe") == (
        1,
        ["not on the roster: zoe: nothing was changed."],
    )
    assert run("extend", "1", "--until", "soon")[1][0].startswith("--until must be a date and time such as")
    assert run("extend", "1") == (1, ["say either --days N or --until DATE."])
    assert (course.folder / "course.toml").read_text() == settings


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        f"""name = "dl"  # the exchange

[extensions."{NAME}"]  # asked for
# ada was ill
ada = "2026-11-17 13:00"   # till she is well
Bob = "2026-11-18 13:00"
[due]
# a comment

{NAME} = "2026-11-16 13:00"  # as on the slides
""",
        f"""name = "dl"
due = {{ "{NAME}" = "2026-11-16 13:00" }} # all of them
extensions.{NAME}.ada = '2026-11-17 13:00'
extensions.{NAME}."Bob" = "2026-11-18 13:00"
""",
        f"""name = "dl"
due."{NAME}" = "2026-11-16 13:00"
[extensions]
"{NAME}" = {{ada = "2026-11-17 13:00", Bob = "2026-11-18 13:00"}} # two
""",
        f"""name = "dl"
[extensions.{NAME}]
ada = "2026-11-17 13:00"
Bob = "2026-11-18 13:00"
[due]  # between two
{NAME} = "2026-11-16 13:00"
[extensions.02-other]
ada = "2026-11-24 13:00"
""",
    ],
)
def test_every_form_of_toml_is_edited_and_every_comment_kept(course, run, text, newline):
    """What changes are values alone, as another reader of TOML sees it, and nothing else in the file."""
    file = course.folder / "course.toml"
    file.write_bytes(text.replace("\n", newline).encode())
    for words in (["--until", "2026-11-20"], ["--days", "1", "--student", "ada"], ["--days", "1", "--student", "bob"]):
        assert run("extend", "1", *words)[0] == 0
    after = file.read_bytes().decode()
    was, got = toml_files.tomllib.loads(text), toml_files.tomllib.loads(after)
    dates = [got["due"][NAME], got["extensions"][NAME]["ada"], got["extensions"][NAME]["Bob"]]
    assert [date[:19] for date in dates] == ["2026-11-20 23:59:59", "2026-11-21 23:59:59", "2026-11-21 23:59:59"]
    assert got["extensions"].keys() == was["extensions"].keys()
    assert got["extensions"][NAME].keys() == was["extensions"][NAME].keys()
    blank = re.compile(r"""["']2026-11-\d\d [^"']*["']""")
    assert blank.sub("", after) == blank.sub("", text.replace("\n", newline))


def test_a_first_extension_is_kept_wherever_others_stand(course, run):
    """Tables may stand in any order; a form in which something would be lost is refused, and the file stays."""
    file = course.folder / "course.toml"
    head, tail = f'name = "dl"\ndue.{NAME} = "2026-11-16"\n', 'extensions.02-other.ada = "2026-12-01"\n'
    file.write_text(f'name = "dl"\n[extensions.02-other]\nada = "2026-12-01"\n[due]\n{NAME} = "2026-11-16"\n')
    assert run("extend", "1", "--days", "1", "--student", "ada")[0] == 0
    extensions = toml_files.tomllib.loads(file.read_text())["extensions"]
    assert {lab: dates["ada"][:10] for lab, dates in extensions.items()} == {
        "02-other": "2026-12-01",
        NAME: "2026-11-17",
    }
    file.write_text(f'{head}{tail}due.02-other = "2026-12-02"\n')
    status, (message,) = run("extend", "1", "--days", "1", "--student", "ada")
    assert (status, file.read_text()) == (1, f'{head}{tail}due.02-other = "2026-12-02"\n')
    assert all(fact in message for fact in ("course.toml", f"extensions.{NAME}.ada", "'2026-11-17 23:59:59"))


def test_a_date_of_no_lab_is_refused(course, run):
    """The message names the labs."""
    edit(course, replaced=("[due]", '[due]\n01-smal = "2026-11-18 12:00"'))
    message = "course.toml names 01-smal, which is no lab; the labs are 01-small, 02-other."
    assert run("collect", "1") == (1, [message])


def test_a_release_says_when_it_is_due(course, run):
    """A date that changed is not told as nothing."""
    assert run("release", "1") == (0, [f"unchanged: {NAME}"])
    edit(course, f'{NAME} = "2026-11-16T13:00:00+00:00"\n')
    words = f"{NAME}, due 2026-11-16 13:00:00 UTC"
    assert run("release", "1") == (0, [f"unchanged but for its due date: {words}"])
    assert run("release", "1") == (0, [f"unchanged: {words}"])


def test_an_extension_after_grading_gives_the_points_back(course, hand_in, run):
    """What a late hand-in costs follows date and terms, also when nothing is judged anew."""
    edit(course, replaced=('"none"', '"10 % a day, at most 25 %"'))
    run("extend", "1", "--until", "2026-11-16T13:00:00+00:00")
    hand_in("ada", at=later(30))
    assert grade(course, "ada") == pytest.approx(3 * 0.8)
    run("extend", "1", "--days", "1", "--student", "ada")
    assert grade(course, "ada") == pytest.approx(3 * 0.9)
    run("extend", "1", "--days", "3")
    run("extend", "1", "--days", "1", "--student", "ada")
    assert grade(course, "ada") == 3


@pytest.mark.parametrize(
    ("terms", "late_s", "lost"),
    [
        ("none", DAY_S, 0),
        ("zero", 300, 0),
        ("zero", 301, 10),
        ("10 % a day", 1, 0),
        ("10 % a day", 300, 0),
        ("10 % a day", 301, 1),
        ("10 % a day", DAY_S + 300, 1),
        ("10 % a day", DAY_S + 301, 2),
        ("10% a day, at most 50%", 30 * DAY_S, 5),
        ("1 % an hour", 2.5 * 3600, 0.3),
        ("10 % a day", 30 * DAY_S, 10),
    ],
)
def test_what_a_late_one_costs(terms, late_s, lost):
    """A share for each period that has begun after five minutes of grace, up to a most; never more than all."""
    assert penalty(terms, 10, late_s) == pytest.approx(lost)


@pytest.mark.parametrize("late_s", [1, 300, 301])
def test_one_grace_holds_everywhere(course, hand_in, run, late_s):
    """What it covers is in time: when a version is chosen, when points are taken off, and when lateness is counted."""
    edit(course, replaced=('"none"', '"zero"'))
    run("extend", "1", "--until", "2026-11-16T13:00:00+00:00")
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


def test_days_more_end_at_the_same_time_of_day(course, run, in_zone):
    """Also when summer time ends in between."""
    in_zone("Europe/Prague")
    run("extend", "1", "--until", "2026-10-20 18:00")
    run("extend", "1", "--days", "7")
    assert find_course(course.root, course.folder).settings.due[NAME] == "2026-10-27 18:00:00+01:00"


def test_terms_that_are_not_understood_are_named(course):
    """The message shows how they are written."""
    with refused("course.toml", "late_penalty", '"none", "zero", or such as "10 % a day'):
        edit(course, replaced=('"none"', '"a bit"'))
