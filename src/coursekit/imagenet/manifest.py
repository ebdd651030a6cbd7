"""The manifest of made data: what each file must hold, so that damage shows and an interrupted run can go on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

from coursekit.errors import CourseKitError

NAME = "manifest.json"
FORMAT_VERSION = 1
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class FileFacts:
    """What one file holds: its number of records, its size in bytes, and the SHA-256 of its content."""

    num_records: int
    num_bytes: int
    sha256: str


@dataclass
class DataManifest:
    """What a folder of made data holds, by the names of its files."""

    preset: str
    seed: int
    format_version: int = FORMAT_VERSION
    files: dict[str, FileFacts] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write this manifest into a folder; it is replaced as a whole."""
        part = folder / f"{NAME}.part"
        part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        part.replace(folder / NAME)


def read(folder: Path) -> DataManifest | None:
    """Return the manifest of a folder, or None if the folder has none.

    Raises:
        CourseKitError: when it cannot be read as one.
    """
    path = folder / NAME
    try:
        status = path.stat()
    except OSError:
        return None
    return _read(str(path), status.st_size, status.st_mtime_ns)


# Counting the images of a thousand files asks a thousand times.
@lru_cache(maxsize=16)
def _read(path: str, num_bytes: int, mtime_ns: int) -> DataManifest:
    del num_bytes, mtime_ns
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        files = {name: FileFacts(**facts) for name, facts in content.pop("files").items()}
        return DataManifest(**content, files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CourseKitError(f"{path} is not a manifest of made data ({error}): make the data again.") from error


def num_records(file: Path) -> int | None:
    """Return the number of records that the manifest beside a file states, when the file has the size stated there."""
    content = read(file.parent)
    facts = content.files.get(file.name) if content else None
    return facts.num_records if facts and file.is_file() and file.stat().st_size == facts.num_bytes else None


def is_as_stated(file: Path, facts: FileFacts | None) -> bool:
    """Say whether a file is there with the size and the checksum that its manifest states, if it states any."""
    if facts is None or not file.is_file() or file.stat().st_size != facts.num_bytes:
        return False
    return checksum(file) == facts.sha256


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
