"""The file that a student hands in without an exchange: a zip with a manifest, `hand-in.json`, and how it is read.

It is a stranger's zip: it is unpacked within bounds, and only files that `coursekit hand-in` packs are taken.
"""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from coursekit import __version__
from coursekit.errors import CourseKitError
from coursekit.grading.submission.student_folder import ID, MANIFEST
from coursekit.grading.submission.students_files import MAX_FOLDER_BYTES, is_plain
from coursekit.labs.lab import NAME

SCHEMA = 1
SUFFIX = ".zip"
MAX_NUM_FILES = 100
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00")
ENTRY = b"PK\x01\x02"
IS_ENCRYPTED = 0x1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of the others one byte may ask for gigabytes
AGAIN = "ask the student for a new one, made by `coursekit hand-in`"


class NotTakenError(CourseKitError):
    """A file is not taken; the message says why, and what to do."""


@dataclass(frozen=True)
class HandInManifest:
    """What a packed hand-in says of itself, all of it the student's claim.

    Attributes:
        user: Name of the account that packed it.
        time: When it was packed, UTC without an offset.
        files: Paths of all that was packed.
    """

    lab: str
    user: str
    time: datetime
    files: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Return the manifest as it is packed."""
        moment = self.time.replace(tzinfo=timezone.utc).isoformat()
        record = {**asdict(self), "time": moment, "coursekit": __version__, "schema": SCHEMA}
        return (json.dumps(record, indent=1) + "\n").encode()

    @property
    def file_name(self) -> str:
        """The name of the packed file, without its suffix."""
        return f"{self.lab}--{self.user}--{self.time:%Y-%m-%dT%H-%M-%SZ}"


def read_zip(data: bytes) -> tuple[HandInManifest, dict[str, bytes]]:
    """Return what a packed hand-in holds: its manifest, and path to content, the manifest among them.

    Nothing is written, no name is used as a path, and no more is unpacked than a hand-in may hold.

    Raises:
        NotTakenError: anything about it is not as `coursekit hand-in` makes it.
    """
    # Python reads the whole list of entries before anybody could count them.
    if data.count(ENTRY) > MAX_NUM_FILES:
        raise _refused(f"it holds more than {MAX_NUM_FILES} files")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            contents = _contents(packed)
    except NotTakenError:
        raise
    except Exception:  # noqa: BLE001  # zipfile raises nearly anything on made-up bytes, and the others' files come next
        raise _refused("it is damaged, or no zip") from None
    if MANIFEST not in contents:
        raise _refused(f"it holds no {MANIFEST}")
    manifest = _read_manifest(contents[MANIFEST])
    there = contents.keys() - {MANIFEST}
    for name in sorted(there.symmetric_difference(manifest.files)):
        why = "is not in its manifest" if name in there else "is missing"
        raise _refused(f"{ascii(name)[1:-1][:100]} {why}")
    for name in sorted(there):
        if not _may_be_packed(name, manifest.lab):
            raise _refused(f"{name} is nothing that `coursekit hand-in` packs")
    return manifest, contents


def _contents(packed: zipfile.ZipFile) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    seen: set[str] = set()
    num_left = MAX_FOLDER_BYTES + 1_000_000  # the manifest comes on top
    for entry in packed.infolist():
        shown = ascii(entry.filename)[1:-1][:100]
        _check(entry, shown)
        if entry.filename.casefold() in seen:
            raise _refused(f"it holds {shown} twice")
        seen.add(entry.filename.casefold())
        if entry.is_dir():
            continue
        with packed.open(entry) as file:  # what an entry says of its size is a claim, too
            content = file.read(num_left + 1)
        num_left -= len(content)
        if num_left < 0:
            raise _refused(f"it unpacks to more than {MAX_FOLDER_BYTES / 1e6:.0f} MB")
        contents[entry.filename] = content
    return contents


def _check(entry: zipfile.ZipInfo, shown: str) -> None:
    """Refuse an entry that is not a plain file or folder of a plain path."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    path = entry.filename[:-1] if entry.is_dir() else entry.filename
    # zipfile itself cuts a name at its first NUL and turns backslashes only on Windows.
    if entry.orig_filename != entry.filename or not all(map(is_plain, path.split("/"))):
        raise _refused(f"it holds {shown}, which is not a plain path within it")
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _refused(f"{shown} in it is {'a link' if kind == stat.S_IFLNK else 'a special file'}")
    if path.lower().endswith(SUFFIX):
        raise _refused(f"it holds another zip, {shown}")
    if entry.flag_bits & IS_ENCRYPTED:
        raise _refused(f"{shown} in it is encrypted")
    if entry.compress_type not in METHODS:
        raise _refused(f"{shown} in it is compressed in another way than by deflate")


def _may_be_packed(name: str, lab: str) -> bool:
    parts = name.split("/")
    of_job = len(parts) == 3 and parts[0] == "jobs" and parts[2] in {"result.json", f"{lab}.ipynb"}  # noqa: PLR2004
    return of_job or name == f"{lab}.ipynb"


def _read_manifest(data: bytes) -> HandInManifest:
    """Read a manifest from data that may be anything."""
    broken = f"its {MANIFEST} cannot be read"
    try:
        record: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise _refused(f"{broken}: it is not valid JSON") from None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise _refused(f"{broken}: it is not of schema {SCHEMA}, which this version of coursekit reads")
    for key, pattern in (("lab", NAME), ("user", ID), ("time", TIME)):
        value = record.get(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise _refused(f"{broken}: its {key} is not valid")
    files = record.get("files")
    if not isinstance(files, (list, dict)) or not all(isinstance(name, str) for name in files):  # once with checksums
        raise _refused(f"{broken}: it has no list of files")
    try:
        moment = datetime.fromisoformat(record["time"]).replace(tzinfo=None)
    except ValueError:
        raise _refused(f"{broken}: its time is not valid") from None
    return HandInManifest(record["lab"], record["user"], moment, tuple(files))


def _refused(why: str) -> NotTakenError:
    return NotTakenError(f"{why}: {AGAIN}")
