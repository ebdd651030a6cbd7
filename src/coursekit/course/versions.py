"""Every version that a student handed in, kept untouched: `hand-ins/<lab>/<student>/<time>-<digest>/`."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from coursekit.files import write_file
from coursekit.grading.submission.students_files import list_folder, read_file
from coursekit.grading.submission.times import TIMESTAMP, timestamp_text
from coursekit.grading.verdict import Flag

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GRADED = "graded.json"
NUM_DIGITS = 12


@dataclass(frozen=True)
class Version:
    """One version and what was known when it was kept.

    Attributes:
        folder: Where its files lie.
        received: Name of the folder in the exchange that it came in.
        timestamp: When it was handed in, UTC without an offset.
        refused: One sentence for each thing that was not copied, such as links.
        flags: What an instructor should look at.
    """

    folder: Path
    received: str
    timestamp: datetime
    refused: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Which version is graded, when it was handed in, and what there is to say about that."""

    version: str = ""
    timestamp: str = ""
    notes: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()


def keep(source: Path, received: str, timestamp: datetime, flags: tuple[Flag, ...], into: Path) -> Version:
    """Copy a version's plain files, with its time if that was lost; equal versions are kept once.

    The `source` stays as it is; `received` is its name where it came in, `into` is `hand-ins/<lab>/<student>`.

    Raises:
        RefusedFileError: `source` is not a folder, or a file changes while it is read.
    """
    listing = list_folder(source)
    contents = {name: read_file(source, name) for name in listing.files}
    contents.setdefault(TIMESTAMP, timestamp_text(timestamp).encode())
    name = f"{timestamp.isoformat(timespec='seconds').replace(':', '-')}-{digest(contents)}"
    version = Version(into / name, received, timestamp, listing.refused, flags)
    if not version.folder.is_dir():
        unfinished = into / f".{name}.tmp"
        shutil.rmtree(unfinished, ignore_errors=True)
        write_files(unfinished, contents)
        unfinished.rename(version.folder)
    record = {**asdict(version), "folder": name, "timestamp": timestamp.isoformat()}
    write_file(into / f"{name}.json", json.dumps(record, indent=1).encode())
    return version


def read_versions(folder: Path) -> tuple[Version, ...]:
    """Return all versions kept in `hand-ins/<lab>/<student>`, the oldest first."""
    records = [json.loads(path.read_bytes()) for path in folder.glob("*.json") if path.name != GRADED]
    versions = [
        Version(
            folder / record["folder"],
            record["received"],
            datetime.fromisoformat(record["timestamp"]),
            tuple(record["refused"]),
            tuple(Flag(**flag) for flag in record["flags"]),
        )
        for record in records
    ]
    return tuple(sorted(versions, key=lambda version: (version.timestamp, version.folder.name)))


def install(version: Version, submitted: Path) -> bool:
    """Let `submitted/<student>/<lab>` hold this version; return whether it did not yet.

    What lay there must have been kept before.
    """
    files = [path for path in version.folder.rglob("*") if path.is_file()]
    contents = {path.relative_to(version.folder).as_posix(): path.read_bytes() for path in files}
    if submitted.is_dir() and folder_digest(submitted) == digest(contents):
        return False
    unfinished, former = (submitted.with_name(f".{submitted.name}.{kind}") for kind in ("new", "former"))
    for leftover in (unfinished, former):
        shutil.rmtree(leftover, ignore_errors=True)
    write_files(unfinished, contents)
    if submitted.exists() or submitted.is_symlink():
        submitted.rename(former)
    unfinished.rename(submitted)
    if former.is_symlink():
        former.unlink()
    shutil.rmtree(former, ignore_errors=True)
    return True


def folder_digest(folder: Path) -> str:
    """Return the fingerprint of the plain files in a folder of a student.

    Raises:
        RefusedFileError: it is not a folder, or a file changes while it is read.
    """
    return digest({name: read_file(folder, name) for name in list_folder(folder).files})


def digest(contents: Mapping[str, bytes]) -> str:
    """Return a short fingerprint of files."""
    parts = [f"{name} {hashlib.sha256(data).hexdigest()}" for name, data in sorted(contents.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:NUM_DIGITS]


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a new folder of our own."""
    folder.mkdir(parents=True)
    for name, data in contents.items():
        write_file(folder / name, data)


def read_choice(folder: Path) -> Choice:
    """Return which version of those in `hand-ins/<lab>/<student>` is graded."""
    path = folder / GRADED
    if not path.is_file():
        return Choice()
    record = json.loads(path.read_bytes())
    flags = tuple(Flag(**flag) for flag in record["flags"])
    return Choice(record["version"], record["timestamp"], tuple(record["notes"]), flags)


def write_choice(folder: Path, choice: Choice) -> None:
    """Remember which version is graded."""
    data = json.dumps(asdict(choice), indent=1).encode()
    path = folder / GRADED
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data)
