"""Files of our own: written in one step, so that nobody ever reads half of one, and locks on them."""

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
"""Called with "written", "unchanged" or "removed" for each file."""


LONGEST_WRITE_S = 24 * 3600.0  # far longer than a write takes, and than two nodes' clocks differ


def no_report(_verdict: str, _path: Path) -> None:
    """Tell nobody."""


def write_file(path: Path, data: bytes, mode: int | None = 0o600) -> None:
    """Write a whole file or nothing, in a folder that is made if it is missing.

    Its permissions are by default for its owner alone; with None those that the process gives to every new file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # By chance: on two nodes of a shared file system, or in two containers, processes can have the same id.
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    except OSError as error:
        error.filename = str(path)  # a full disk names no file, and others the unfinished one
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes have left below a folder: old ones only, as another node may write just now."""
    for path in folder.rglob(".*.tmp"):
        with suppress(FileNotFoundError):  # it is finished now, or another one was quicker
            if path.is_file() and path.stat().st_mtime < time.time() - LONGEST_WRITE_S:
                path.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text that others may read, whole or not at all."""
    write_file(path, text.encode(), mode=None)


def write_json(path: Path, data: Any) -> None:
    """Write plain data as JSON that others may read, whole or not at all."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def write_if_changed(path: Path, data: bytes, report: OnWrite = no_report) -> None:
    """Write a file that others may read; leave it alone when it holds `data` already."""
    if path.is_file() and path.read_bytes() == data:
        report("unchanged", path)
        return
    write_file(path, data, mode=None)
    report("written", path)


@contextmanager
def locked(path: Path, refusal: str = "") -> Iterator[None]:
    """Hold a lock file, which is made and stays; the lock ends with the process, however it ends.

    Without `refusal` it waits for who holds it, and goes on without a lock where files cannot be locked.

    Raises:
        CourseKitError: the refusal, as another process holds it.
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
