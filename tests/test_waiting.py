"""What waits tries again, says so once, and ends where no waiting helps."""

import errno

import pytest

from coursekit.errors import CourseKitError
from coursekit.waiting import Attempts, AwayError


def test_an_absence_is_told_once_and_its_end_once():
    """Whatever goes wrong meanwhile; a second absence is told again."""
    said = []
    stale = OSError(errno.ESTALE, "Stale file handle", "exchange/dl")
    course = [1, AwayError("Slurm is busy."), stale, 2, 3, stale, FileNotFoundError(), 4]

    def step():
        found = course.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    attempts = Attempts(said.append)
    assert [attempts.attempt(step) for _ in range(len(course))] == [1, None, None, 2, 3, None, None, 4]
    away, again, also_away, once_more = said
    assert ("Slurm is busy." in away, "exchange/dl" in also_away, again == once_more) == (True, True, True)


def test_what_no_waiting_mends_ends_it():
    """Such as an exchange of another account."""

    def step():
        raise CourseKitError("exchange/dl is of another account")

    with pytest.raises(CourseKitError, match="another account"):
        Attempts(print).attempt(step)
