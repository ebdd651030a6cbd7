"""Files of our own: written in one step, so that nobody ever reads half of one, and locks on them."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Callable

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Report = Callable[[str, "Path"], None]
"""Called with "written", "unchanged" or "removed" for each file."""


def no_report(_verdict: str, _path: Path) -> None:
    """Tell nobody."""


def write_file(path: Path, data: bytes, mode: int | None = 0o600) -> None:
    """Write a whole file or nothing, in a folder that is made if it is missing.

    Args:
        path: the file.
        data: all that it will hold.
        mode: its permissions, by default for its owner alone; None for what the process gives to every new file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(data)
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text that others may read, whole or not at all."""
    write_file(path, text.encode(), mode=None)


def write_if_changed(path: Path, data: bytes, report: Report = no_report) -> None:
    """Write a file that others may read; leave it alone when it holds `data` already."""
    if path.is_file() and path.read_bytes() == data:
        report("unchanged", path)
        return
    write_file(path, data, mode=None)
    report("written", path)


@contextmanager
def locked(path: Path, refusal: str = "") -> Iterator[None]:
    """Hold a lock file; the lock ends with the process, however it ends.

    Args:
        path: the file, which is made and stays.
        refusal: what to say when another process holds it; '' to wait for that process, and to go on without a lock
            where files cannot be locked.

    Raises:
        CourseKitError: another process holds it, and there is a refusal.
    """
    with path.open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if refusal else 0))
        except OSError as error:
            if isinstance(error, BlockingIOError):
                raise CourseKitError(refusal) from None
            if refusal:
                raise
        yield
