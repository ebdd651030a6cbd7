"""Lock files, and write the kit's own files in such a way that nobody can read a half-written file."""

from __future__ import annotations

import fcntl
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError

OnWrite = Callable[[str, "Path"], None]
"""A function that is called for each file, with "written", "unchanged" or "removed", and the file's path."""


LONGEST_WRITE_S = 24 * 3600.0  # far longer than any write takes, and more than the clocks of two nodes ever differ


def no_report(_verdict: str, _path: Path) -> None:
    """Report nothing."""


def write_file(path: Path, data: bytes, mode: int | None = 0o600) -> None:
    """Write a file, whole or not at all; create its folder if that is missing.

    By default, only the owner may read or write the file; if `mode` is None, it gets the permissions of any new file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Random, because processes on two nodes of a shared file system, or in two containers, can have the same id.
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    except OSError as error:
        error.filename = str(path)  # on a full disk, the error names no file; otherwise, it names the unfinished one
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files that killed processes left below a folder more than a day ago.

    Newer files stay, because a process on another node may still be writing them.
    """
    for path in folder.rglob(".*.tmp"):
        with suppress(FileNotFoundError):  # it has just been finished, or another process removed it
            if path.is_file() and path.stat().st_mtime < time.time() - LONGEST_WRITE_S:
                path.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all; others may read it."""
    write_file(path, text.encode(), mode=None)


def write_json(path: Path, data: Any) -> None:
    """Write plain data as a JSON file, whole or not at all; others may read it."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def write_if_changed(path: Path, data: bytes, report: OnWrite = no_report) -> None:
    """Write a file that others may read; leave it alone if it already holds `data`."""
    if path.is_file() and path.read_bytes() == data:
        report("unchanged", path)
        return
    write_file(path, data, mode=None)
    report("written", path)


@contextmanager
def locked(path: Path, refusal: str = "") -> Iterator[None]:
    """Hold a lock on a file within the block; the file is created if it is missing, and is never removed.

    If the process is killed, the lock is released. Without `refusal`, wait until no other process holds the lock; if
    the file system cannot lock files, continue without a lock.

    Raises:
        CourseKitError: another process holds the lock; the message is `refusal`.
    """
    with path.open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if refusal else 0))
        except BlockingIOError:
            raise CourseKitError(refusal) from None
        except OSError:
            if refusal:
                raise
        yield
