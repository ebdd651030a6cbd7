"""The file that a student hands in without an exchange: a zip with a manifest, `hand-in.json`."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from coursekit import __version__
from coursekit.course.roster import ID
from coursekit.labs.lab import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1
SUFFIX = ".zip"
MAX_TOTAL_BYTES = 20_000_000  # of all files together, before they are packed
MAX_NUM_FILES = 100
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00")
CHECKSUM = re.compile(r"[0-9a-f]{64}")
# <lab>--<user>--<time>, and whatever a second file of the same name got.
FILE_NAME = re.compile(r"(?P<lab>[a-z0-9-]+?)--(?P<user>.+?)--\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ.*")


class ManifestError(Exception):
    """A manifest cannot be read; the message says why in a few words."""


@dataclass(frozen=True)
class HandInManifest:
    """What a packed hand-in says of itself: all of it is the student's claim.

    Attributes:
        user: Name of the account that packed it.
        time: When it was packed, UTC without an offset.
        files: Path of each file to the SHA-256 of its content.
        coursekit: Version that packed it.
        schema: Version of this form.
    """

    lab: str
    user: str
    time: datetime
    files: Mapping[str, str]
    coursekit: str = __version__
    schema: int = SCHEMA

    def to_bytes(self) -> bytes:
        """Return the manifest as it is packed."""
        moment = self.time.replace(tzinfo=timezone.utc).isoformat()
        return (json.dumps({**asdict(self), "time": moment}, indent=1) + "\n").encode()

    @property
    def file_name(self) -> str:
        """The name of the packed file, without its suffix."""
        return f"{self.lab}--{self.user}--{self.time:%Y-%m-%dT%H-%M-%SZ}"


def checksum(data: bytes) -> str:
    """Return what a manifest says of a file's content."""
    return hashlib.sha256(data).hexdigest()


def may_be_packed(name: str, lab: str) -> bool:
    """Say whether `coursekit hand-in` packs files of this path."""
    parts = name.split("/")
    of_job = len(parts) == 3 and parts[0] == "jobs" and parts[2] in {"result.json", f"{lab}.ipynb"}  # noqa: PLR2004
    return of_job or name == f"{lab}.ipynb"


def read_manifest(data: bytes) -> HandInManifest:
    """Read a manifest from data that may be anything.

    Raises:
        ManifestError: the data are not a manifest.
    """
    try:
        record: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise ManifestError("it is not valid JSON") from None
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ManifestError(f"it is not of schema {SCHEMA}, which this version of coursekit reads")
    files = record.get("files")
    if not isinstance(files, dict) or not all(_fits(CHECKSUM, value) for value in files.values()):
        raise ManifestError("it has no list of files with their checksums")
    for key, pattern in (("lab", NAME), ("user", ID), ("time", TIME)):
        if not _fits(pattern, record.get(key)):
            raise ManifestError(f"its {key} is not valid")
    try:
        moment = datetime.fromisoformat(record["time"]).replace(tzinfo=None)
    except ValueError:
        raise ManifestError("its time is not valid") from None
    return HandInManifest(record["lab"], record["user"], moment, files, str(record.get("coursekit"))[:40])


def _fits(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
