"""nbgrader's exchange on disk: faults that let other accounts replace its contents."""

import stat
from collections.abc import Iterator
from pathlib import Path

from coursekit.errors import Cause


def close_inbound(inbound: Path) -> None:
    """Let only the owner of a hand-in move it away; in the folder that nbgrader creates, everybody could."""
    if inbound.is_dir():
        inbound.chmod(stat.S_IMODE(inbound.stat().st_mode) | stat.S_ISVTX)


def faults_of_exchange(exchange: Path, course: str) -> Iterator[Cause]:
    """Yield faults that let other accounts replace a course's exchange, or show that one did; at most one per folder.

    Every account may create files in the exchange; the owner of the folder that contains it owns the course.
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
