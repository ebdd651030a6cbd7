"""Later due dates, for all and for one student, and what a late hand-in costs: `course.toml` says it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from coursekit.cli.course import course as command
from coursekit.course.collect import collect
from coursekit.course.due import due_of
from coursekit.course.export import read_grades
from coursekit.course.folder import find_course
from coursekit.course.record import record
from coursekit.course.settings import penalty
from coursekit.course.submitted import read_hand_in
from coursekit.errors import CourseKitError

from .conftest import NAME, later, verdict

DAY_S = 86400


@pytest.fixture
def run(course):
    """Return a function that calls a verb of `coursekit course`, and returns exit status and lines."""

    def call(*words):
        result = CliRunner().invoke(command, [*words, "--course", str(course.folder)])
        if isinstance(result.exception, CourseKitError):
            return 1, [str(result.exception)]
        return result.exit_code, result.output.splitlines()

    return call


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
        assert run("extend", "1", "--days", "2", "--only", "ada")[1][0] == f"{NAME}, ada: due {hour}"
    assert (due(course, "ada"), due(course, "bob")) == (later(97), later(1))
    settings = (course.folder / "course.toml").read_text()
    assert [line for line in before.splitlines() if line not in settings.splitlines()] == []
    assert run("extend", "1", "--days", "1", "--only", "zoe") == (1, ["not on the roster: zoe: nothing was changed."])
    assert run("extend", "1", "--until", "soon")[1][0].startswith("--until must be a date and time such as")
    assert run("extend", "1") == (1, ["say either --days N or --until DATE."])
    assert (course.folder / "course.toml").read_text() == settings


def test_the_settings_are_shown_and_checked(course, run):
    """Dates for all and for one; who is not on the roster and what is no lab is named, with status 1."""
    run("extend", "1", "--until", "2026-11-16T13:00:00+00:00")
    run("extend", "1", "--days", "1", "--only", "ada")
    status, lines = run("settings")
    assert (status, lines[1:4]) == (0, ["name: dl", "grades: gradebook.db in this folder", "late hand-ins cost: none"])
    assert lines[4].startswith(f"{NAME}: due 2026-11-16 13:00:00 UTC, ")
    assert lines[5:] == ["  ada: due 2026-11-17 13:00:00 UTC", "02-other: no due date"]

    file = course.folder / "course.toml"
    text = file.read_text()
    file.write_text(text + '"zoe" = "2026-11-18 12:00"\n"bob" = "2026-11-01 12:00"\n')
    status, lines = run("settings")
    assert (status, lines[-2:]) == (
        1,
        [
            f"! zoe has an extension of {NAME} and is not on the roster",
            f"! bob has an extension of {NAME} that is no later than for all",
        ],
    )
    file.write_text(text.replace("[due]", '[due]\n01-smal = "2026-11-18 12:00"'))
    message = "course.toml names 01-smal, which is no lab; the labs are 01-small, 02-other."
    assert run("settings") == run("collect", "1") == (1, [message])


def test_a_release_says_when_it_is_due(course, run):
    """A date that changed is not told as nothing."""
    assert run("release", "1") == (0, [f"unchanged: {NAME}"])
    file = course.folder / "course.toml"
    file.write_text(file.read_text() + f'{NAME} = "2026-11-16T13:00:00+00:00"\n')
    words = f"{NAME}, due 2026-11-16 13:00:00 UTC"
    assert run("release", "1") == (0, [f"unchanged but for its due date: {words}"])
    assert run("release", "1") == (0, [f"unchanged: {words}"])


def test_an_extension_after_grading_gives_the_points_back(course, hand_in, run):
    """What a late hand-in costs follows date and terms, also when nothing is judged anew."""
    file = course.folder / "course.toml"
    file.write_text(file.read_text().replace('"none"', '"10 % a day, at most 25 %"'))
    run("extend", "1", "--until", "2026-11-16T13:00:00+00:00")
    hand_in("ada", at=later(30))
    assert grade(course, "ada") == pytest.approx(3 * 0.8)
    run("extend", "1", "--days", "1", "--only", "ada")
    assert grade(course, "ada") == pytest.approx(3 * 0.9)
    run("extend", "1", "--days", "3")
    run("extend", "1", "--days", "1", "--only", "ada")
    assert grade(course, "ada") == 3


@pytest.mark.parametrize(
    ("terms", "late_s", "lost"),
    [
        ("none", DAY_S, 0),
        ("zero", 1, 10),
        ("10 % a day", 1, 1),
        ("10 % a day", DAY_S, 1),
        ("10 % a day", DAY_S + 1, 2),
        ("10% a day, at most 50%", 30 * DAY_S, 5),
        ("1 % an hour", 2.5 * 3600, 0.3),
        ("10 % a day", 30 * DAY_S, 10),
    ],
)
def test_what_a_late_one_costs(terms, late_s, lost):
    """A share for each period that has begun, up to a most; never more than all."""
    assert penalty(terms, 10, late_s) == pytest.approx(lost)


def test_terms_that_are_not_understood_are_named(course):
    """The message shows how they are written."""
    file = course.folder / "course.toml"
    file.write_text(file.read_text().replace('"none"', '"a bit"'))
    with pytest.raises(
        CourseKitError, match=r'course.toml: late_penalty must be "none", "zero", or such as "10 % a day'
    ):
        find_course(course.root, course.folder)
