"""What this process has skipped while reading: the list that `skipped()` shows."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Skipped:
    """A stretch of a file that was skipped.

    Attributes:
        file: the path as it was given.
        offset: where the damage begins, in bytes.
        num_records: how many records are lost, at least: what a cut took away is not in the file to be counted.
    """

    file: str
    offset: int
    num_records: int


_skipped: list[Skipped] = []
_lock = threading.Lock()


def note(file: str, offset: int, num_records: int) -> None:
    """Add what was skipped."""
    with _lock:
        _skipped.append(Skipped(file, offset, num_records))


def skipped() -> list[Skipped]:
    """Return what this process has skipped since it began, in the order of reading; each epoch counts again."""
    with _lock:
        return list(_skipped)


def forget_skipped() -> None:
    """Empty the list of what was skipped."""
    with _lock:
        _skipped.clear()
