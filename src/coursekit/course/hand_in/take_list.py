"""What lies in the instructor's folder of downloads."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError

if TYPE_CHECKING:
    from pathlib import Path

    from coursekit.course.folder import Course

LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")  # beside everything that begins with a dot
OWN = ("hand-ins", "submitted", "autograded", "exchange", "release", "feedback")


def list_files(folder: Path) -> tuple[list[str], list[str]]:
    """Return all files below a folder, the oldest first, and what is none, or cannot be read; no link is followed."""
    files: list[tuple[float, str]] = []
    others: list[str] = []

    def closed(error: OSError) -> None:
        others.append(os.path.relpath(error.filename, folder))

    for inner, folders, names in os.walk(folder, onerror=closed):
        folders[:] = [name for name in folders if not _is_litter(name)]
        for entry in [*folders, *names]:
            path = os.path.join(inner, entry)  # noqa: PTH118 - as os.walk gives it
            name, mode = os.path.relpath(path, folder), os.lstat(path).st_mode
            if stat.S_ISREG(mode) and not _is_litter(entry):
                files.append((os.lstat(path).st_mtime, name))
            elif not stat.S_ISDIR(mode) and not _is_litter(entry):
                others.append(name)
    return [name for _, name in sorted(files)], others


def _is_litter(name: str) -> bool:
    return name.startswith(".") or name in LITTER


def check_folder(course: Course, folder: Path) -> None:
    """Refuse what lies in the course already: it would be taken a second time."""
    given = folder.resolve()
    own = [course.folder / name for name in OWN]
    if given in {course.folder, *course.folder.parents} or any(path in {given, *given.parents} for path in own):
        raise CourseKitError(
            f"{folder} holds the course itself or is a part of it: name the folder with the files that students sent."
        )
