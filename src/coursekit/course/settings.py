"""What an instructor decides for one event: `course/course.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone
from math import ceil
from pathlib import Path
from typing import Annotated, Any

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.files import write_file
from coursekit.toml_files import MAY_BE_EMPTY

SETTINGS = "course.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
LATE_PENALTIES = {"none": (0.0, 1.0, 1.0), "zero": (1.0, 1.0, 1.0)}
GRADUATED = re.compile(r"(\d{1,3}) ?% an? (day|hour)(?:, at most (\d{1,3}) ?%)?")
PERIODS_S = {"day": 86400.0, "hour": 3600.0}
GRACE_S = 300  # clocks differ, and handing in takes a while: nothing is late by less

TEMPLATE = """\
# One event of the course. `coursekit course init` made this file once; it is yours to edit.

# nbgrader's course id: the name of the folder in the exchange.
name = "{name}"

# Of all versions the newest one that can be graded counts, and a late one only if none came in time.
# Five minutes after the due date are still in time.
# What a late one costs: "none", "zero" for all its points, or for each day or hour that has begun a part of its points,
# such as "10 % a day, at most 50 %".
late_penalty = "none"

# When labs are due: without an offset in this machine's time, without a time at the end of that day. Example:
# 02-horovod-sgd = "2026-11-30 18:00"
# `coursekit course extend` writes later dates into this file, for all or for single students.
[due]
"""


@dataclass(frozen=True)
class Settings:
    """The content of `course.toml`.

    Attributes:
        name: nbgrader's course id.
        late_penalty: "none", "zero", or what a day or an hour costs.
        due: Lab to when it is due, as text.
        extensions: Lab to student to when it is due for them.
    """

    name: str
    late_penalty: str = "none"
    # A mapping has no hash, and the rest tells courses apart.
    due: Annotated[Mapping[str, str], MAY_BE_EMPTY] = field(default_factory=dict, hash=False)
    extensions: Annotated[Mapping[str, Annotated[Mapping[str, str], MAY_BE_EMPTY]], MAY_BE_EMPTY] = field(
        default_factory=dict, hash=False
    )


def penalty(late_penalty: str, points: float, late_s: float) -> float:
    """Return the points that a hand-in loses which is late by so many seconds.

    Each period counts that has begun after the grace.

    Raises:
        CourseKitError: `late_penalty` is not one that `course.toml` may have.
    """
    found = GRADUATED.fullmatch(late_penalty)
    if late_penalty in LATE_PENALTIES:
        share, period_s, most = LATE_PENALTIES[late_penalty]
    elif found:
        share, period_s, most = int(found[1]) / 100, PERIODS_S[found[2]], int(found[3] or 100) / 100
    else:
        raise CourseKitError(
            f'late_penalty must be "none", "zero", or such as "10 % a day, at most 50 %", not {late_penalty!r}.'
        )
    return points * min(share * ceil(max(0.0, late_s - GRACE_S) / period_s), most, 1.0)


def load_settings(folder: Path) -> Settings:
    """Read the settings of the course in `folder`.

    Raises:
        CourseKitError: the file is missing or wrong; the message names file and key.
    """
    path = folder / SETTINGS
    settings = toml_files.load(Settings, path, f"{folder.name}/{SETTINGS}")
    check_name(settings.name, f"{folder.name}/{SETTINGS}: name")
    try:
        penalty(settings.late_penalty, 0, 0)
    except CourseKitError as error:
        raise CourseKitError(f"{folder.name}/{SETTINGS}: {error}") from None
    for lab, text in settings.due.items():
        due_date(text, f"{folder.name}/{SETTINGS} [due]: {lab}")
    for lab, dates in settings.extensions.items():
        for student, text in dates.items():
            due_date(text, f"{folder.name}/{SETTINGS} [extensions.{lab}]: {student}")
    return settings


def set_key(folder: Path, keys: Sequence[str], value: str) -> None:
    """Write one value into the settings, by the names of its tables and its key; all else stays as it is.

    Raises:
        CourseKitError: the file has a form that cannot be edited; it stays as it was.
    """
    import tomlkit  # seldom needed

    path = folder / SETTINGS
    document = tomlkit.parse(path.read_bytes())
    expected = document.unwrap()
    _put(document, keys, value)
    _put(expected, keys, value)
    text = tomlkit.dumps(document)
    with suppress(tomlkit.exceptions.TOMLKitError):
        if tomlkit.parse(text).unwrap() == expected:
            write_file(path, text.encode())
            return
    raise CourseKitError(f"{path} cannot be edited as it is: set {'.'.join(keys)} to {value!r} there, and call again.")


def _put(table: Any, keys: Sequence[str], value: object) -> None:
    """Set a value within tables, making those that are missing."""
    first, *rest = keys
    if rest and first in table:
        _put(table[first], rest, value)
        return
    for name in reversed(rest):
        value = {name: value}
    table[first] = value


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
