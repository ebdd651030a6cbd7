"""When something was handed in: what a student's folder says, never trusted to be a time at all."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from coursekit.grading.submission.students_files import RefusedFileError, read_file

if TYPE_CHECKING:
    from pathlib import Path

TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
MAX_TIMESTAMP_BYTES = 100
# As nbgrader's exchange writes it; a time zone is a name such as UTC or an offset such as +0100.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?( [A-Z]{2,5}| [+-]\d{4})?")


def parse_moment(text: str) -> datetime | None:
    """Return a time as nbgrader understands it, UTC without an offset; None if the text is not a time."""
    from nbgrader.utils import parse_utc  # noqa: PLC0415 - heavy

    if not MOMENT.fullmatch(text.strip()):
        return None
    try:
        moment: datetime = parse_utc(text.strip())
    except (ValueError, OverflowError):
        return None
    return moment


def read_timestamp(folder: Path) -> datetime | None:
    """Return what a hand-in's own file says about its time; None if the file is missing or holds no time."""
    try:
        text = read_file(folder, TIMESTAMP, MAX_TIMESTAMP_BYTES).decode("ascii", "replace")
    except RefusedFileError:
        return None
    return parse_moment(text)


def timestamp_text(moment: datetime) -> str:
    """Return a time as nbgrader writes it."""
    return f"{moment.isoformat(sep=' ', timespec='microseconds')} UTC"  # with four digits of the year, also of year 1


def utc(seconds: float) -> datetime:
    """Return a time of the file system, UTC without an offset."""
    return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None)


def shown(moment: datetime | None) -> str:
    """Return a time for people."""
    return f"{moment.isoformat(sep=' ', timespec='seconds')} UTC" if moment else "an unknown time"


def duration(seconds: float) -> str:
    """Return how long something is, roughly: "3 h 05 min"."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if days else f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
