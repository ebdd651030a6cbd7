"""Read students' files and notebooks without following links, and with limits on their number and size.

Only plain data is taken from a notebook, such as the cells' source text and nbgrader's marks.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from coursekit.labs.notebook import MAX_NOTEBOOK_BYTES, joined, parse, table

MAX_NUM_FILES = 2000
MAX_DEPTH = 8
MAX_FILE_BYTES = 20_000_000
MAX_FOLDER_BYTES = 100_000_000
MAX_NAME_CHARACTERS = 200
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
FIRST = (".ipynb", "timestamp.txt", "submission_secret.txt")  # notebooks, and the files that nbgrader adds
SKIPPED = (".ipynb_checkpoints", "__pycache__", ".DS_Store", ".git")
COARSE_S = 20.0  # within this time, a slow file system may not show a change in file times
Stamp = tuple[tuple[str, int, int], ...]  # the name, size and last change of each file in a folder
T = TypeVar("T")


class RefusedFileError(Exception):
    """A file or folder is refused, for example because it is too big; the message gives the reason in a few words."""


@dataclass(frozen=True)
class Listing:
    """The names of the plain files in a student's folder, sorted, with their sizes in bytes.

    `refused` has a sentence for each entry of the folder that was refused.
    """

    files: dict[str, int]
    refused: tuple[str, ...]


@dataclass(frozen=True)
class Contents:
    """A student's folder as it was read.

    Attributes:
        files: The contents of the plain files, keyed by path within the folder.
        refused: One sentence for each entry that was not read, such as a link.
    """

    files: Mapping[str, bytes]
    refused: tuple[str, ...] = ()


def read_contents(folder: Path) -> Contents:
    """Read all plain files in a student's folder, and return their contents.

    Raises:
        RefusedFileError: `folder` is not a folder, or a file changes while it is read.
        OSError: the folder disappears, or cannot be read.
    """
    listing = list_folder(folder)
    return Contents({name: read_file(folder, name) for name in listing.files}, listing.refused)


def stamp_of(folder: Path) -> Stamp:
    """Return a value that changes whenever a file in the folder changes; the files themselves are not read.

    It consists of the files' names, sizes and change times (ctime, which users cannot set).

    Raises:
        RefusedFileError: `folder` is not a folder, or a file disappears.
    """
    listing = list_folder(folder)
    try:
        stats = {name: (folder / name).lstat() for name in listing.files}
    except FileNotFoundError:
        raise RefusedFileError("it changes while it is read") from None
    refused = ((sentence, 0, 0) for sentence in listing.refused)
    return (*((name, one.st_size, one.st_ctime_ns) for name, one in stats.items()), *refused)


def is_old(stamp: Stamp) -> bool:
    """Return whether every later change to the folder is certain to alter this stamp.

    This is certain if the last change was long enough ago, even on a file system with coarse times.
    """
    return time.time() - max((changed_ns for *_, changed_ns in stamp), default=0) / 1e9 > COARSE_S


class Unchanged(Generic[T]):
    """A cache of values made from folders, each valid until a file in its folder changes.

    `grade --watch` needs such values repeatedly.
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[object, T]] = {}

    def get(self, folder: Path, make: Callable[[], T], *depends_on: object) -> T:
        """Return the value that `make` makes from a folder.

        `make` is called again only if the folder or one of `depends_on` has changed.
        """
        stamp = stamp_of(folder)
        if self._known.get(folder, (None,))[0] != (stamp, depends_on):
            made = make()
            if not is_old(stamp):
                return made
            self._known[folder] = ((stamp, depends_on), made)
        return self._known[folder][1]


def list_folder(folder: Path) -> Listing:
    """List the plain files in a folder, within limits and without following any links.

    A `RefusedFileError` is raised if `folder` is not a folder.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise RefusedFileError("it is not a folder")
    files: dict[str, int] = {}
    refused: list[str] = []
    pending = [""]
    num_bytes = num_seen = 0
    while pending:
        inner = pending.pop()
        # Files that matter come first, so that a student's other files cannot use up the limits.
        for entry in sorted(os.scandir(folder / inner), key=lambda entry: (not entry.name.endswith(FIRST), entry.name)):
            name = f"{inner}/{entry.name}" if inner else entry.name
            shown = ascii(name)[1:-1][:200]
            num_seen += 1
            if num_seen > MAX_NUM_FILES:
                return Listing(files, (*refused, f"all files after the first {MAX_NUM_FILES}"))
            if entry.name in SKIPPED:
                continue
            status = entry.stat(follow_symlinks=False)
            if why := _why_refused(name, status, num_bytes):
                refused.append(f"{shown} {why}")
            elif stat.S_ISDIR(status.st_mode):
                pending.append(name)
            else:
                files[name] = status.st_size
                num_bytes += status.st_size
    return Listing(dict(sorted(files.items())), tuple(refused))


def _why_refused(name: str, status: os.stat_result, num_bytes: int) -> str:
    """Return why an entry of a folder is refused, or '' if it is not; `num_bytes` bytes were accepted before it."""
    if not is_plain(name.rpartition("/")[2]):
        return "has an odd name"
    if stat.S_ISDIR(status.st_mode) and name.count("/") < MAX_DEPTH:
        return ""
    if not stat.S_ISREG(status.st_mode):
        return f"is {_kind(status.st_mode)}"
    if status.st_size > _max_bytes(name):
        return f"is too big ({status.st_size / 1e6:.0f} MB)"
    return f"is beyond the {MAX_FOLDER_BYTES / 1e6:.0f} MB of a hand-in" * (
        num_bytes + status.st_size > MAX_FOLDER_BYTES
    )


def is_plain(name: str) -> bool:
    """Return whether the name of a file or folder is short and ordinary; it may be in any script."""
    is_short = 0 < len(name) <= MAX_NAME_CHARACTERS
    return is_short and name.isprintable() and name[0] not in "-.$~ " and "\\" not in name


def read_file(folder: Path, name: str, max_bytes: int | None = None) -> bytes:
    """Return the content of a plain file within a folder; no part of the path `name` may be a link.

    A `RefusedFileError` is raised if the file is missing, is not a plain file, or is bigger than `max_bytes`, which is
    by default the limit for that kind of file.
    """
    max_bytes = _max_bytes(name) if max_bytes is None else max_bytes
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with ExitStack() as opened:
        try:
            descriptor = os.open(folder, flags | os.O_DIRECTORY)
            opened.callback(os.close, descriptor)
            for part in name.split("/"):  # one by one, so that no folder in the path can be or become a link
                descriptor = os.open(part, flags, dir_fd=descriptor)
                opened.callback(os.close, descriptor)
            return _read(descriptor, max_bytes)
        except OSError as error:
            raise RefusedFileError(f"it cannot be opened ({error.strerror})") from None


def _read(descriptor: int, max_bytes: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise RefusedFileError(f"it is {_kind(status.st_mode)}")
    if status.st_size > max_bytes:
        raise RefusedFileError(f"it is too big: {status.st_size / 1e6:.0f} MB; the limit is {max_bytes / 1e6:.0f} MB")
    with open(descriptor, "rb", closefd=False) as file:  # a number, not a path
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise RefusedFileError("it grew while it was read")
    return content


def _max_bytes(name: str) -> int:
    return MAX_NOTEBOOK_BYTES if name.endswith(FIRST[0]) else MAX_FILE_BYTES


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder nested too deeply"), (stat.S_ISFIFO, "a pipe"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "a special file")


Pictures = Mapping[str, Mapping[str, str]]  # name: MIME type: content in base64, as in Jupyter


@dataclass(frozen=True)
class StudentCell:
    """One cell as it was handed in."""

    cell_type: str  # "code", "markdown" or "raw"
    source: str
    grade_id: str = ""  # nbgrader's name for the cell; empty if the metadata is lost
    cell_id: str = ""  # Jupyter's id of the cell; may be empty
    points: object = None  # the points in the metadata; None if there are none
    is_answer: bool | None = None  # whether the metadata marks it as an answer; None if it does not say
    pictures: Pictures = field(default_factory=dict)  # the pictures pasted into the cell


@dataclass(frozen=True)
class StudentNotebook:
    """A notebook's cells, and the kernel, language and origin named in its metadata."""

    cells: tuple[StudentCell, ...]
    kernel: str = ""
    language: str = ""
    made_from: str = ""


def parse_notebook(content: bytes) -> StudentNotebook:
    """Return the notebook in a file's content.

    Raises:
        DamagedNotebookError: the content is not a notebook of format 4, or exceeds the limits.
    """
    data = parse(content)
    metadata = data["metadata"]
    kernel, language = table(metadata, "kernelspec"), table(metadata, "language_info")
    return StudentNotebook(
        tuple(map(_cell, data["cells"])),
        kernel=_text(kernel, "name"),
        language=_text(language, "name") or _text(kernel, "language"),
        made_from=_text(table(metadata, "coursekit"), "generated_from"),
    )


def _cell(cell: Mapping[str, Any]) -> StudentCell:
    marks = table(cell["metadata"], "nbgrader")
    solution, points = marks.get("solution"), marks.get("points")
    return StudentCell(
        cell_type=_text(cell, "cell_type"),
        source=cell["source"],
        grade_id=_text(marks, "grade_id"),
        cell_id=_text(cell, "id"),
        points=points if isinstance(points, (str, int, float, type(None))) else type(points).__name__,
        is_answer=solution if isinstance(solution, bool) else None,
        pictures=_pictures(table(cell, "attachments")),
    )


def _pictures(attachments: Mapping[str, Any]) -> Pictures:
    """Return the pictures pasted into a cell, but only those of types that cannot contain a script."""
    found = {}
    for name in attachments:
        data = {kind: joined(table(attachments, name).get(kind)) for kind in PICTURES}
        found[name.encode("utf-8", "replace").decode()] = {
            kind: text for kind, text in data.items() if text and BASE64.fullmatch(text)
        }
    return {name: data for name, data in found.items() if data and len(name) <= MAX_NAME_CHARACTERS}


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) and len(value) <= MAX_NAME_CHARACTERS else ""
