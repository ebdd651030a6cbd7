"""What an instructor decides for one event: `course/course.toml`."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone
from math import ceil
from pathlib import Path
from typing import Annotated

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.toml_files import MAY_BE_EMPTY

SETTINGS = "course.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
LATE_PENALTY = re.compile(r"(\d{1,3}) ?% a day(?:, at most (\d{1,3}) ?%)?")
DAY_S = 86400.0
GRACE_S = 300  # clocks differ, and handing in takes a while: nothing is late by less

TEMPLATE = """\
# One event of the course. `coursekit course init` made this file once; it is yours to edit.

# nbgrader's course id: the name of the folder in the exchange.
name = "{name}"

# Of all versions the newest one that can be graded counts, and a late one only if none came in time.
# Five minutes after the due date are still in time.
# What a late one costs: "none", or a part of its points for each day that has begun: "10 % a day, at most 50 %".
late_penalty = "none"

# Some students work in a copy ("-Copy1") and hand in the untouched notebook beside it. With `true`, the notebook with
# the most answers is graded; with `false`, the one that has the lab's name, and the report says which holds more.
worked_copies = false

# When labs are due: without an offset in this machine's time, without a time at the end of that day. Example:
# 02-horovod-sgd = "2026-11-30 18:00"
[due]

# Later dates for single students, by their ids:
# [extensions.02-horovod-sgd]
# ada = "2026-12-02 18:00"
"""


@dataclass(frozen=True)
class Settings:
    """The content of `course.toml`.

    Attributes:
        name: nbgrader's course id.
        late_penalty: "none", or what a day costs.
        worked_copies: Whether the notebook with the most answers is graded, whatever its name.
        due: Lab to when it is due, as text.
        extensions: Lab to student to when it is due for them.
    """

    name: str
    late_penalty: str = "none"
    worked_copies: bool = False
    # A mapping has no hash, and the rest tells courses apart.
    due: Annotated[Mapping[str, str], MAY_BE_EMPTY] = field(default_factory=dict, hash=False)
    extensions: Annotated[Mapping[str, Annotated[Mapping[str, str], MAY_BE_EMPTY]], MAY_BE_EMPTY] = field(
        default_factory=dict, hash=False
    )


def penalty(late_penalty: str, points: float, late_s: float) -> float:
    """Return the points that a hand-in loses which is late by so many seconds.

    Each day counts that has begun after the grace.

    Raises:
        CourseKitError: `late_penalty` is not one that `course.toml` may have.
    """
    if late_penalty == "none":
        return 0.0
    found = LATE_PENALTY.fullmatch(late_penalty)
    if not found:
        raise CourseKitError(
            f'{SETTINGS}: late_penalty must be "none", or such as "10 % a day, at most 50 %", not {late_penalty!r}.'
        )
    num_days = ceil(max(0.0, late_s - GRACE_S) / DAY_S)
    return points * min(num_days * int(found[1]), int(found[2] or 100), 100) / 100


def load_settings(folder: Path) -> Settings:
    """Read the settings of the course in `folder`.

    Raises:
        CourseKitError: the file is missing or wrong; the message names file and key.
    """
    path = folder / SETTINGS
    settings = toml_files.load(Settings, path, f"{folder.name}/{SETTINGS}")
    check_name(settings.name, f"{folder.name}/{SETTINGS}: name")
    penalty(settings.late_penalty, 0, 0)
    for lab, text in settings.due.items():
        due_date(text, f"{folder.name}/{SETTINGS} [due]: {lab}")
    for lab, dates in settings.extensions.items():
        for student, text in dates.items():
            due_date(text, f"{folder.name}/{SETTINGS} [extensions.{lab}]: {student}")
    return settings


def due_date(text: str, where: str) -> datetime:
    """Return when a lab is due, in UTC and without an offset, as nbgrader keeps it.

    A date alone is the end of that day: its last second.

    Raises:
        CourseKitError: the text is not a date, with or without a time.
    """
    with suppress(ValueError):
        text = datetime.combine(date.fromisoformat(text.strip()), time(23, 59, 59)).isoformat()
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise CourseKitError(
            f'{where} must be a date and time such as "2026-11-30 18:00" or "2026-11-30T18:00:00+01:00", not {text!r}.'
        ) from None
    return moment.astimezone(timezone.utc).replace(tzinfo=None)


def check_name(name: str, where: str) -> None:
    """Refuse a name that cannot be a folder of the exchange."""
    if not NAME.fullmatch(name):
        raise CourseKitError(f"{where} must consist of letters, digits, - and _, such as dl-2026, not {name!r}.")
