"""Read an instructor's settings for one event of the course from `course/course.toml`."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from coursekit import toml_files
from coursekit.course.late_penalty import penalty, to_utc
from coursekit.errors import CourseKitError
from coursekit.toml_files import MAY_BE_EMPTY

SETTINGS = "course.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
LOCALTIME = "/etc/localtime"

TEMPLATE = """\
# One event of the course. `coursekit course init` created this file; edit it as you need.

# nbgrader's course id: the name of the folder in the exchange.
name = "{name}"

# The time zone of due dates and late days, whichever machine grades.
{timezone}

# The newest version that can be graded counts; a late one counts only if none was on time.
# A hand-in up to five minutes after the due date is still on time.
# The cost of lateness: "none", or a share of its points per day or part of a day, as in "10 % a day, at most 50 %".
# A day ends at the same time on the next day, even if the clocks change in between.
late_penalty = "none"

# Some students work in a copy ("-Copy1") and hand it in together with the untouched one. With `true`, the notebook
# with the most answers is graded; with `false`, the one with the lab's name, and the report says which holds more.
worked_copies = false

# Due dates: in the time zone above if there is no offset, and at the end of the day if there is no time. Example:
# 02-horovod-sgd = "2026-11-30 18:00"
[due]

# Later dates for individual students, by id:
# [extensions.02-horovod-sgd]
# ada = "2026-12-02 18:00"
"""


@dataclass(frozen=True)
class Settings:
    """The content of `course.toml`.

    Attributes:
        name: nbgrader's course id.
        timezone: The IANA name of the time zone for due dates and late days; '' means this machine's time zone.
        late_penalty: "none", or the share of the points that each late day costs.
        worked_copies: Whether the notebook with the most answers is graded, whatever its name.
        due: The due date of each lab, as text.
        extensions: Due dates of individual students, keyed by lab, then by student.
    """

    name: str
    timezone: str = ""
    late_penalty: str = "none"
    worked_copies: bool = False
    # A mapping cannot be hashed, and the other fields are enough to tell courses apart.
    due: Annotated[Mapping[str, str], MAY_BE_EMPTY] = field(default_factory=dict, hash=False)
    extensions: Annotated[Mapping[str, Annotated[Mapping[str, str], MAY_BE_EMPTY]], MAY_BE_EMPTY] = field(
        default_factory=dict, hash=False
    )

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone for due dates and late days; None means this machine's time zone."""
        return ZoneInfo(self.timezone) if self.timezone else None


def machine_zone() -> str:
    """Return the IANA name of this machine's time zone; '' if it is unknown."""
    name = os.environ.get("TZ", LOCALTIME).removeprefix(":") or "UTC"  # the C library also reads an empty TZ as UTC
    with suppress(OSError):
        name = str(Path(LOCALTIME).readlink()) if name == LOCALTIME else name
    name = name.rpartition("zoneinfo/")[2]
    return name if is_zone(name) else ""


def is_zone(name: str) -> bool:
    """Return whether this is the IANA name of a time zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # For example, the name is a path that leads out of the folder of zones, or it names a folder in it.
        return False
    return True


def load_settings(folder: Path) -> Settings:
    """Read the settings of the course in `folder`.

    Raises:
        CourseKitError: the file is missing or wrong; the message names the file and the key.
    """
    path = folder / SETTINGS
    settings = toml_files.load(Settings, path, f"{folder.name}/{SETTINGS}")
    check_name(settings.name, f"{folder.name}/{SETTINGS}: name")
    if settings.timezone and not is_zone(settings.timezone):
        raise CourseKitError(
            f'{folder.name}/{SETTINGS}: timezone must be the IANA name of a time zone such as "Europe/Prague", '
            f"not {settings.timezone!r}.",
            "timezone.unknown",
        )
    penalty(settings.late_penalty, 0, 0)
    for lab, text in settings.due.items():
        due_date(text, f"{folder.name}/{SETTINGS} [due]: {lab}", settings.zone)
    for lab, dates in settings.extensions.items():
        for student, text in dates.items():
            due_date(text, f"{folder.name}/{SETTINGS} [extensions.{lab}]: {student}", settings.zone)
    return settings


def due_date(text: str, where: str, zone: ZoneInfo | None = None) -> datetime:
    """Return the due date in a text, in UTC without an offset, as nbgrader stores due dates.

    If the text has no offset, it gives a local time in `zone`, or in this machine's time zone if `zone` is None. A date
    without a time means the last second of that day. `where` says, in an error message, where the text is.

    Raises:
        CourseKitError: the text is not a date, with or without a time.
    """
    with suppress(ValueError):
        text = datetime.combine(date.fromisoformat(text.strip()), time(23, 59, 59)).isoformat()
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(timezone.utc).replace(tzinfo=None) if moment.tzinfo else to_utc(moment, zone)
    except (ValueError, OverflowError):
        raise CourseKitError(
            f'{where} must be a date and time such as "2026-11-30 18:00" or "2026-11-30T18:00:00+01:00", not {text!r}.',
            "due-date.not-a-date",
        ) from None


def check_name(name: str, where: str) -> None:
    """Raise an error if this name cannot be the name of a folder in the exchange.

    `where` says, in the error message, where the name is.
    """
    if not NAME.fullmatch(name):
        raise CourseKitError(
            f"{where} must consist of letters, digits, - and _, such as dl-2026, not {name!r}.", "course.odd-name"
        )
