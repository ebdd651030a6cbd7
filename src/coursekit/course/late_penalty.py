"""Compute how late a hand-in is, and how many points it loses by the rule in `course.toml`.

Due dates come from `due_of` in `folder.py`. The times of hand-ins come from `arrivals.py` or, for files sent by mail,
from `hand_in/import_.py`. `record.py` subtracts the penalty.
"""

import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from coursekit.errors import CourseKitError

LATE_PENALTY = re.compile(r"(\d{1,3}) ?% a day(?:, at most (\d{1,3}) ?%)?")
GRACE_S = 300  # a shorter delay is not late, because clocks differ and handing in takes a while
MAX_NUM_DAYS = 100  # at a percent a day, all points are lost by then; a submission may claim to be from the year 9999


def late_s(handed_in: datetime | None, due: datetime | None) -> float:
    """Return how many seconds late a hand-in is; 0 if it is on time or within the grace period."""
    seconds = (handed_in - due).total_seconds() if handed_in and due else 0.0
    return seconds if seconds > GRACE_S else 0.0


def days_late(handed_in: datetime | None, due: datetime | None, zone: ZoneInfo | None) -> int:
    """Return how many late days had begun when a lab was handed in; 0 if it was on time or within the grace period.

    Both times are in UTC without an offset. Days follow the calendar of `zone`: a lab that was due at 18:00 is one day
    late until 18:00 on the next day, which is 23 or 25 hours later if the clocks change in between.
    """
    if not handed_in or not due or (late := handed_in - due - timedelta(seconds=GRACE_S)) <= timedelta():
        return 0
    late = min(late, timedelta(MAX_NUM_DAYS))
    on_the_clock = due.replace(tzinfo=timezone.utc).astimezone(zone).replace(tzinfo=None)
    num_days = max(1, late.days)
    while due + late > to_utc(on_the_clock + timedelta(num_days), zone):
        num_days += 1
    return num_days


def penalty(late_penalty: str, points: float, num_days: int) -> float:
    """Return the points that a hand-in loses once this number of late days has begun.

    Raises:
        CourseKitError: `late_penalty` has none of the forms that `course.toml` allows.
    """
    if late_penalty == "none":
        return 0.0
    found = LATE_PENALTY.fullmatch(late_penalty)
    if not found:
        raise CourseKitError(
            f'course.toml: late_penalty must be "none", or like "10 % a day, at most 50 %", not {late_penalty!r}.',
            "penalty.not-understood",
        )
    return points * min(num_days * int(found[1]), int(found[2] or 100), 100) / 100


def to_utc(on_the_clock: datetime, zone: ZoneInfo | None) -> datetime:
    """Return a local time in UTC, without an offset.

    When clocks are set back, they show some times twice; when they are set forward, they skip some. Such a local time
    can mean two times in UTC, and the later one is returned.
    """
    times = [on_the_clock.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1)]
    return max(times).replace(tzinfo=None)
