"""What changes with the event and neither with the machine nor with the lesson: account, reservation, QOS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from coursekit import toml_files
from coursekit.toml_files import MAY_BE_EMPTY

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Event:
    """Directives of one workshop; '' leaves a directive out.

    Committed job scripts have none of them: `SBATCH_ACCOUNT`, `SBATCH_RESERVATION` and `SBATCH_QOS` do the same.
    """

    account: Annotated[str, MAY_BE_EMPTY] = ""
    reservation: Annotated[str, MAY_BE_EMPTY] = ""
    qos: Annotated[str, MAY_BE_EMPTY] = ""


NO_EVENT = Event()


def load_event(path: Path) -> Event:
    """Read an event's file, strictly."""
    return toml_files.load(Event, path)
