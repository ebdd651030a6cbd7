"""What a rank finds when a check runs it: a private value, a private folder, and a folder for all ranks.

In grading, each rank sees only its own value and folder, so a correct joint result proves that ranks communicated.
"""

import contextlib
import itertools
import os
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Place:
    """What one rank finds; both folders are empty at first."""

    private: Any  # this rank's own value, or None if the check gives none
    own: Path  # a folder that no other rank should know
    shared: Path  # a folder that is the same for all ranks of this launch


OWN = "rank-{}"  # a rank's own folder within the notebook's
MAX_NUM_FILES = 200
MAX_FILE_BYTES, MAX_BYTES = 1 << 20, 4 << 20  # of one file, and of all files, whose content is read

# The time after which Horovod's background thread asks all other ranks again whether there is anything to send. The
# default is one millisecond; before version 0.21, it was the one below. Ranks that share a few cores need them for
# other work.
CYCLE_TIME_MS = 5

_places: list[Place] = []


def settle(place: Place) -> None:
    """Set this rank's place, and prepare the rank for a few small steps; called once, before a driver runs."""
    _places[:] = [place]
    os.environ["HOROVOD_CYCLE_TIME"] = str(CYCLE_TIME_MS)
    # Gloo's thread polls a lock until it is free, and should not preempt the thread that holds it.
    with contextlib.suppress(OSError):  # a container may forbid it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if "tensorflow" in sys.modules:
        # Optimising a graph takes longer than it saves in so few steps.
        sys.modules["tensorflow"].config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def here() -> Place:
    """Return what this rank finds."""
    return _places[0]


def private() -> Any:
    """Return this rank's own value, or None if no check gives one."""
    return here().private if _places else None


def left_in(folder: Path) -> dict[str, bytes | None]:
    """Return the contents of all files in a rank's own folder, whichever process left them there, keyed by path.

    The content of a file that is too long or cannot be read is None. Links are not followed, and no more than
    `MAX_NUM_FILES` files are looked at.
    """
    left: dict[str, bytes | None] = {}
    num_left = MAX_BYTES
    paths = (Path(parent, name) for parent, _, names in os.walk(folder) for name in sorted(names))
    for path in itertools.islice(paths, MAX_NUM_FILES):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode):
            content = None
            with contextlib.suppress(PermissionError):  # a rank may lock what it leaves
                content = path.read_bytes() if status.st_size <= min(MAX_FILE_BYTES, num_left) else None
            left[path.relative_to(folder).as_posix()] = content
            num_left -= len(content or b"")
    return left


def settle_and_call(parent: str, private: Sequence[Any] | None, wrapper: Callable[..., Any], *args: Any) -> Any:
    """On a rank of a notebook, settle in a folder of the notebook and call the wrapper.

    The wrapper, for example `with_horovod`, calls the driver, which is the first of `args`.

    Logs of libraries are hidden, so that the answer's own output can be seen.
    """
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    rank = int(os.environ["HOROVOD_RANK"])
    own, shared = Path(parent, OWN.format(rank)), Path(parent, "shared")
    for folder in (own, shared):
        folder.mkdir(exist_ok=True)
    settle(Place(None if private is None else private[rank], own, shared))
    return wrapper(*args)
