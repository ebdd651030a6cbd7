"""Files of students, read so that no link is followed and nothing is read without a bound."""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_NUM_FILES = 2000
MAX_DEPTH = 8
MAX_FILE_BYTES = 20_000_000
MAX_FOLDER_BYTES = 100_000_000
PLAIN_NAME = re.compile(r"[\w(][\w .,()+=@-]{0,199}")
SKIPPED = (".ipynb_checkpoints", "__pycache__", ".DS_Store", ".git")


class RefusedFileError(Exception):
    """A file is not a plain file of a bounded size; the message says why in a few words."""


class MissingFileError(RefusedFileError):
    """A file is not there at all."""


@dataclass(frozen=True)
class Listing:
    """What lies in a folder of a student.

    Attributes:
        files: Path within the folder to size in bytes, plain files only, sorted.
        refused: One sentence for each thing that is not a plain file, or is too much.
    """

    files: dict[str, int]
    refused: tuple[str, ...]


def list_folder(folder: Path) -> Listing:
    """List a folder without following a link out of it, and no further than the bounds.

    Raises:
        RefusedFileError: `folder` itself is a link or no folder.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise RefusedFileError("it is not a folder")
    files: dict[str, int] = {}
    refused: list[str] = []
    pending = [""]
    num_bytes = num_seen = 0
    while pending:
        inner = pending.pop()
        for entry in sorted(os.scandir(folder / inner), key=lambda entry: entry.name):
            name = f"{inner}/{entry.name}" if inner else entry.name
            shown = ascii(name)[1:-1][:200]
            num_seen += 1
            if num_seen > MAX_NUM_FILES:
                return Listing(files, (*refused, f"there are more than {MAX_NUM_FILES} files: the others are left out"))
            if entry.name in SKIPPED:
                continue
            status = entry.stat(follow_symlinks=False)
            if not PLAIN_NAME.fullmatch(entry.name):
                refused.append(f"{shown} has an odd name")
            elif stat.S_ISDIR(status.st_mode) and name.count("/") < MAX_DEPTH:
                pending.append(name)
            elif not stat.S_ISREG(status.st_mode):
                refused.append(f"{shown} is {_kind(status.st_mode)}")
            elif status.st_size > MAX_FILE_BYTES or num_bytes + status.st_size > MAX_FOLDER_BYTES:
                refused.append(f"{shown} is too big ({status.st_size / 1e6:.0f} MB)")
            else:
                files[name] = status.st_size
                num_bytes += status.st_size
    return Listing(dict(sorted(files.items())), tuple(refused))


def read_file(folder: Path, name: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Read a plain file within a folder; no part of `name` may be a link.

    Raises:
        RefusedFileError: it is not there, no plain file, or bigger than `max_bytes`.
    """
    with _opened(folder, name) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedFileError(f"it is {_kind(status.st_mode)}")
        if status.st_size > max_bytes:
            raise RefusedFileError(f"it is too big: {status.st_size / 1e6:.0f} MB, at most {max_bytes / 1e6:.0f} MB")
        chunks: list[bytes] = []
        num_left = max_bytes + 1  # a file may grow while it is read
        while num_left and (chunk := os.read(descriptor, min(num_left, 1 << 20))):
            chunks.append(chunk)
            num_left -= len(chunk)
        if not num_left:
            raise RefusedFileError("it grows while it is read")
        return b"".join(chunks)


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[int]:
    """Open a file part by part, so that no folder on the way can be a link, or become one."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = -1
    try:
        descriptor = os.open(folder, flags | os.O_DIRECTORY)
        for part in name.split("/"):
            inner = os.open(part, flags, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    except FileNotFoundError as error:
        raise MissingFileError(f"it cannot be opened ({error.strerror})") from None
    except OSError as error:
        raise RefusedFileError(f"it cannot be opened ({error.strerror})") from None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder too deep"), (stat.S_ISFIFO, "a pipe"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "a special file")
