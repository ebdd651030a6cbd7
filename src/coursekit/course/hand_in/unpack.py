"""Define and read the file that students hand in if there is no exchange: a zip with a manifest, `hand-in.json`.

The zip is not trusted: it is unpacked within limits, and it is refused if it holds files that `coursekit hand-in` does
not pack.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone

from coursekit import __version__
from coursekit.course.hand_in.names import ASK, NotImportedError, refuse_odd_name
from coursekit.grading.submission.student_folder import ID, MANIFEST
from coursekit.grading.submission.students_files import MAX_FOLDER_BYTES
from coursekit.labs.lab import NAME

SCHEMA = 1
SUFFIX = ".zip"
MAX_NUM_FILES = 100
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # with other methods, one byte may unpack to gigabytes
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00")


@dataclass(frozen=True)
class HandInManifest:
    """The manifest of a packed hand-in; everything in it is only the student's claim.

    Attributes:
        user: Name of the account that packed the hand-in.
        time: When the hand-in was packed, in UTC without an offset.
    """

    lab: str
    user: str
    time: datetime

    def to_bytes(self) -> bytes:
        """Return the manifest as the content of the file `hand-in.json`."""
        moment = self.time.replace(tzinfo=timezone.utc).isoformat()
        record = {**asdict(self), "time": moment, "coursekit": __version__, "schema": SCHEMA}
        return (json.dumps(record, indent=1) + "\n").encode()

    @property
    def file_name(self) -> str:
        """The name of the packed file, without its suffix."""
        return f"{self.lab}--{self.user}--{self.time:%Y-%m-%dT%H-%M-%SZ}"


def read_zip(data: bytes) -> tuple[HandInManifest, dict[str, bytes]]:
    """Return a packed hand-in's manifest, and the contents of all its files, including the manifest, keyed by path.

    Nothing is written to disk, and no more data is unpacked than a hand-in may hold.

    Raises:
        NotImportedError: the file differs in any way from what `coursekit hand-in` makes.
    """
    contents = {entry.filename: content for entry, content in read_entries(data, MAX_NUM_FILES, MAX_FOLDER_BYTES)}
    manifest = _read_manifest(contents.get(MANIFEST, b""))
    if manifest is None:
        raise NotImportedError(
            f"it contains no {MANIFEST} that this version of coursekit can read: {ASK}", "zip.no-manifest"
        )
    for name in contents.keys() - {MANIFEST}:
        refuse_odd_name(name, manifest.lab)
    return manifest, contents


def read_entries(
    data: bytes, max_num_files: int, max_bytes: int, remedy: str = ASK
) -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
    """Yield each file of a zip with its content, the oldest file first; `remedy` says what to do if the zip is refused.

    Raises:
        NotImportedError: the zip is damaged, or exceeds these limits; files read before that have been yielded.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            yield from _entries(packed, max_num_files, max_bytes, remedy)
    except NotImportedError:
        raise
    except Exception:  # noqa: BLE001  # forged bytes can raise anything; go on to others' files
        raise NotImportedError(f"it is damaged, or not a zip: download it again, or {ASK}", "zip.damaged") from None


def _entries(
    packed: zipfile.ZipFile, max_num_files: int, num_left: int, remedy: str
) -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
    max_mb = num_left // 10**6
    entries = [entry for entry in packed.infolist() if not entry.is_dir()]
    if len(entries) > max_num_files:
        raise NotImportedError(f"it contains more than {max_num_files} files: {remedy}", "zip.too-many-files")
    if any(entry.compress_type not in METHODS for entry in entries):
        raise NotImportedError(f"it is compressed, but not with deflate: {remedy}", "zip.compression")
    for entry in sorted(entries, key=lambda entry: entry.date_time):
        with packed.open(entry) as file:  # the size in an entry is also only a claim
            content = file.read(num_left + 1)
        num_left -= len(content)
        if num_left < 0:
            raise NotImportedError(f"it unpacks to more than {max_mb} MB: {remedy}", "zip.too-big")
        yield entry, content


def is_of_others(data: bytes) -> bool:
    """Return whether this is a zip made by a program other than `coursekit hand-in`."""
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as packed:
        return MANIFEST not in packed.namelist()
    return False


def _read_manifest(data: bytes) -> HandInManifest | None:
    """Return the manifest, which must not be trusted; None if the data is not a valid manifest."""
    with suppress(KeyError, TypeError, ValueError, RecursionError):
        record = json.loads(data)
        texts = {"lab": NAME, "user": ID, "time": TIME}
        if record["schema"] == SCHEMA and all(pattern.fullmatch(record[key]) for key, pattern in texts.items()):
            moment = datetime.fromisoformat(record["time"]).replace(tzinfo=None)
            return HandInManifest(record["lab"], record["user"], moment)
    return None
