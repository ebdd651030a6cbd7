"""What a rank finds when a check runs it: a value of its own, a folder of its own, and a folder for all ranks.

In grading, each rank sees only its own value and its own folder; a right joint result then proves communication.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Place:
    """What one rank finds.

    Attributes:
        private: this rank's own value, or None when the check gives none.
        own: a folder that is empty at first and that no other rank should know.
        shared: a folder that is empty at first and the same for all ranks of this launch.
    """

    private: Any
    own: Path
    shared: Path


_places: list[Place] = []


def settle(place: Place) -> None:
    """Say what this process finds; called once, before a driver runs."""
    _places[:] = [place]


def here() -> Place:
    """Return what this rank finds."""
    return _places[0]


def private() -> Any:
    """Return this rank's own value; None where no check gives one."""
    return here().private if _places else None


def settle_and_call(parent: str, private: Sequence[Any] | None, driver: Callable[..., Any], *args: Any) -> Any:
    """On a rank of a notebook: find place in a folder of the notebook's, and call the driver."""
    rank = int(os.environ["HOROVOD_RANK"])
    own, shared = Path(parent) / f"rank-{rank}", Path(parent) / "shared"
    for folder in (own, shared):
        folder.mkdir(exist_ok=True)
    settle(Place(None if private is None else private[rank], own, shared))
    return driver(*args)
