"""Protect nbgrader's exchange from other accounts, and find faults that let them replace its contents."""

import stat
from collections.abc import Iterator
from pathlib import Path

from coursekit.errors import Cause


def close_inbound(inbound: Path) -> None:
    """Set the sticky bit on this folder, so that only the owner of a hand-in can move it away.

    nbgrader creates the folder without this bit, so everybody could move any hand-in away.
    """
    if inbound.is_dir():
        inbound.chmod(stat.S_IMODE(inbound.stat().st_mode) | stat.S_ISVTX)


def faults_of_exchange(exchange: Path, course: str) -> Iterator[Cause]:
    """Yield each fault that lets another account replace a course's exchange, or shows that another account did.

    There is at most one fault per folder. Every account may create files in the exchange, so the owner of the folder
    that contains the exchange counts as the owner of the course.
    """
    owner = exchange.parent.stat().st_uid
    for folder in (exchange, *(exchange / course / name for name in ("", "inbound", "outbound", "feedback"))):
        if not folder.exists():
            continue
        found = folder.stat() if folder == exchange else folder.lstat()
        name = folder.relative_to(exchange.parent)
        if not stat.S_ISDIR(found.st_mode):
            yield Cause(f"{name} is not a real folder", "exchange.no-folder")
        elif found.st_uid not in {owner, 0}:
            yield Cause(
                f"{name} belongs to account {found.st_uid}, but the course belongs to {owner}", "exchange.other-owner"
            )
        elif found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            yield Cause(
                f"{name} has no sticky bit, so any account can move away files that others have in it",
                "exchange.no-sticky-bit",
            )
