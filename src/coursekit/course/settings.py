"""What an instructor decides for one event: `course/course.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - the strict loader evaluates annotations
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated

from coursekit import toml_files
from coursekit.errors import CourseKitError
from coursekit.toml_files import MAY_BE_EMPTY

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "course.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
DATABASES = ("sqlite://", "postgresql://", "postgresql+psycopg://")
LATE_PENALTIES = ("none", "zero")

TEMPLATE = """\
# One event of the course. `coursekit course init` made this file once; it is yours to edit.

# nbgrader's course id: the name of the folder in the exchange.
name = "{name}"

# Where the grades are kept. Empty: the file gradebook.db in this folder.
# A server: "postgresql://user@host/database"; its password belongs into ~/.pgpass.
database = "{database}"

# What a late hand-in costs: "none", or "zero" for all its points.
late_penalty = "none"

# When labs are due; without an offset it is this machine's time. Example:
# 02-horovod-sgd = "2026-11-30 18:00"
[due]
"""


@dataclass(frozen=True)
class Settings:
    """The content of `course.toml`.

    Attributes:
        name: nbgrader's course id.
        database: URL of the gradebook's database; empty for SQLite in the course folder.
        late_penalty: "none" or "zero", as nbgrader's plugin has it.
        due: Lab to when it is due, as text.
    """

    name: str
    database: Annotated[str, MAY_BE_EMPTY] = ""
    late_penalty: str = "none"
    # A mapping has no hash, and the rest tells courses apart.
    due: Annotated[Mapping[str, str], MAY_BE_EMPTY] = field(default_factory=dict, hash=False)


def load_settings(folder: Path) -> Settings:
    """Read the settings of the course in `folder`.

    Raises:
        CourseKitError: the file is missing or wrong; the message names file and key.
    """
    path = folder / SETTINGS
    settings = toml_files.load(Settings, path, f"{folder.name}/{SETTINGS}")
    check_name(settings.name, f"{folder.name}/{SETTINGS}: name")
    check_database(settings.database, f"{folder.name}/{SETTINGS}: database")
    if settings.late_penalty not in LATE_PENALTIES:
        raise CourseKitError(
            f"{folder.name}/{SETTINGS}: late_penalty must be one of {', '.join(LATE_PENALTIES)}, "
            f"not {settings.late_penalty!r}."
        )
    for lab, text in settings.due.items():
        due_date(text, f"{folder.name}/{SETTINGS} [due]: {lab}")
    return settings


def due_date(text: str, where: str) -> datetime:
    """Return when a lab is due, in UTC and without an offset, as nbgrader keeps it.

    Raises:
        CourseKitError: the text is not a date and time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CourseKitError(
            f'{where} must be a date and time such as "2026-11-30 18:00" or "2026-11-30T18:00:00+01:00", not {text!r}.'
        ) from None
    return moment.astimezone(timezone.utc).replace(tzinfo=None)


def check_name(name: str, where: str) -> None:
    """Refuse a name that cannot be a folder of the exchange."""
    if not NAME.fullmatch(name):
        raise CourseKitError(f"{where} must consist of letters, digits, - and _, such as dl-2026, not {name!r}.")


def check_database(url: str, where: str) -> None:
    """Refuse a database that is not one of those that are tested."""
    if url and not url.startswith(DATABASES):
        raise CourseKitError(f"{where} must be empty or begin with {' or '.join(DATABASES[:2])}, not {url!r}.")
