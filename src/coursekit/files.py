"""Files of our own: written in one step, so that nobody ever reads half of one, and a kill leaves the old one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
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


def write_if_changed(path: Path, data: bytes, report: Report = no_report) -> None:
    """Write a file that others may read; leave it alone when it holds `data` already."""
    if path.is_file() and path.read_bytes() == data:
        report("unchanged", path)
        return
    write_file(path, data, mode=None)
    report("written", path)
