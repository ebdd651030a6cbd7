"""nbgrader's exchange on disk: what lets other accounts replace what is in it."""

import stat
from collections.abc import Iterator
from pathlib import Path

from coursekit.errors import Cause


def close_inbound(inbound: Path) -> None:
    """Let nobody but its owner move a hand-in away; nbgrader makes the folder so that everybody can."""
    if inbound.is_dir():
        inbound.chmod(stat.S_IMODE(inbound.stat().st_mode) | stat.S_ISVTX)


def faults_of_exchange(exchange: Path, course: str) -> Iterator[Cause]:
    """Yield what lets other accounts replace the exchange of a course, or has done so: a clause for each folder.

    Every account may make files in the exchange; who owns the folder around it owns the course.
    """
    owner = exchange.parent.stat().st_uid
    for folder in (exchange, *(exchange / course / name for name in ("", "inbound", "outbound", "feedback"))):
        if not folder.exists():
            continue
        found = folder.stat() if folder == exchange else folder.lstat()
        name = folder.relative_to(exchange.parent)
        if not stat.S_ISDIR(found.st_mode):
            yield Cause(f"{name} is no folder", "exchange.no-folder")
        elif found.st_uid not in {owner, 0}:
            yield Cause(
                f"{name} belongs to the account {found.st_uid}, and the course to {owner}", "exchange.other-owner"
            )
        elif found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            yield Cause(
                f"{name} has no sticky bit, so that every account can move away what others have in it",
                "exchange.no-sticky-bit",
            )
