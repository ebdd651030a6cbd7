"""What is late, by how many days, and what that costs: the grace, the calendar, and the terms of `course.toml`.

Where the numbers come from: a due date from `due_of` in `folder.py`, the time of a hand-in from `arrivals.py` (by mail:
from `hand_in/import_.py`); `record.py` takes the penalty off.
"""

import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from coursekit.errors import CourseKitError

LATE_PENALTY = re.compile(r"(\d{1,3}) ?% a day(?:, at most (\d{1,3}) ?%)?")
GRACE_S = 300  # clocks differ, and handing in takes a while: nothing is late by less
MAX_NUM_DAYS = 100  # each costs a percent or more, so later is not dearer; a submission may claim the year 9999


def late_s(handed_in: datetime | None, due: datetime | None) -> float:
    """Return by how many seconds a hand-in is late, 0 for one in time or within the grace."""
    seconds = (handed_in - due).total_seconds() if handed_in and due else 0.0
    return seconds if seconds > GRACE_S else 0.0


def days_late(handed_in: datetime | None, due: datetime | None, zone: ZoneInfo | None) -> int:
    """Return how many late days have begun when a lab is handed in, 0 in time or within the grace.

    Both times are UTC without an offset. The days are those of the zone's calendar: what was due at 18:00 is one day
    late until 18:00 of the next day, which is 23 or 25 hours later where clocks change in between.
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
    """Return the points that a hand-in loses when so many late days have begun.

    Raises:
        CourseKitError: `late_penalty` is not one that `course.toml` may have.
    """
    if late_penalty == "none":
        return 0.0
    found = LATE_PENALTY.fullmatch(late_penalty)
    if not found:
        raise CourseKitError(
            f'course.toml: late_penalty must be "none", or such as "10 % a day, at most 50 %", not {late_penalty!r}.',
            "penalty.not-understood",
        )
    return points * min(num_days * int(found[1]), int(found[2] or 100), 100) / 100


def to_utc(on_the_clock: datetime, zone: ZoneInfo | None) -> datetime:
    """Return the UTC of what clocks show; the later one of what they show twice or, when they go forward, never."""
    times = [on_the_clock.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1)]
    return max(times).replace(tzinfo=None)
