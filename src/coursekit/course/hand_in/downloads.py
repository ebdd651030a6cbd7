"""The instructor's folder of downloads: which files lie there, and what each of them says of itself."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from coursekit.course.hand_in.manifest import MAX_TOTAL_BYTES, SUFFIX
from coursekit.course.hand_in.owner import NotTakenError
from coursekit.course.hand_in.unpack import read_zip
from coursekit.errors import CourseKitError
from coursekit.grading.submission.cells import num_known
from coursekit.grading.submission.notebook import DamagedNotebookError, read_notebook
from coursekit.grading.submission.student_folder import NOTEBOOK
from coursekit.grading.submission.students_files import RefusedFileError, read_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from nbformat import NotebookNode

    from coursekit.course.folder import Course

MAX_ZIP_BYTES = MAX_TOTAL_BYTES + 1_000_000  # what cannot be made smaller grows a little
LITTER = ("__MACOSX", "Thumbs.db", "desktop.ini")  # beside everything that begins with a dot
OWN = ("hand-ins", "submitted", "autograded", "exchange", "release", "feedback")


@dataclass(frozen=True)
class Arrival:
    """What a file says of itself; its student could have made up all of it.

    Attributes:
        lab: Name of a lab of the course.
        contents: Path within the hand-in to content.
        user: The account that packed it; empty for a plain notebook.
        packed: When it was packed, UTC without an offset; None for a plain notebook.
    """

    lab: str
    contents: Mapping[str, bytes]
    user: str = ""
    packed: datetime | None = None


def list_files(folder: Path) -> tuple[list[str], list[str]]:
    """Return the files below a folder, the oldest first, and what is not a file or cannot be read; follow no link."""
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


def read_arrival(folder: Path, name: str, released: Mapping[str, NotebookNode]) -> Arrival:
    """Read one file of the instructor's folder, by its path within it; `released` holds the labs that students got.

    Raises:
        NotTakenError: it is not a hand-in of this course.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in {SUFFIX, NOTEBOOK}:
        raise NotTakenError(f"it is neither a hand-in ({SUFFIX}) nor a notebook ({NOTEBOOK}): put it elsewhere")
    try:
        data = read_file(folder, name, MAX_ZIP_BYTES if suffix == SUFFIX else MAX_TOTAL_BYTES)
    except RefusedFileError as error:
        raise NotTakenError(f"{error}: look at what it is") from None
    if suffix == NOTEBOOK:
        lab = _lab_of(folder, name, released)
        return Arrival(lab, {f"{lab}{NOTEBOOK}": data})
    manifest, contents = read_zip(data)
    _check_lab(manifest.lab, released)
    return Arrival(manifest.lab, contents, manifest.user, manifest.time)


def _lab_of(folder: Path, name: str, released: Mapping[str, NotebookNode]) -> str:
    """Return the lab of a notebook, which may be called anything."""
    try:
        notebook = read_notebook(folder, name)
    except DamagedNotebookError as error:
        raise NotTakenError(f"the notebook is damaged, {error}: ask the student for it again") from None
    made_from = notebook.made_from.split("/")[1:2]
    if made_from:
        _check_lab(made_from[0], released)
        return made_from[0]
    known = {lab: num_known(notebook, notebook_of_lab) for lab, notebook_of_lab in released.items()}
    most = max(known.values(), default=0)
    best = [lab for lab, num in known.items() if num == most and num]
    if len(best) != 1:
        which = f"holds answers of {', '.join(best)}" if best else "holds no answer of any lab of this course"
        raise NotTakenError(f"the notebook {which}: ask the student for the right one")
    return best[0]


def _check_lab(lab: str, released: Mapping[str, NotebookNode]) -> None:
    if lab not in released:
        raise NotTakenError(
            f"{ascii(lab)[1:-1][:100]} was not released in this course (only {', '.join(released) or 'nothing'} was): "
            "release it with `coursekit course release`, or ask the student for the right lab"
        )
