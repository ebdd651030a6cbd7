"""Unpack a hand-in, which is a stranger's zip: within bounds, and only the files that its manifest names."""

from __future__ import annotations

import io
import stat
import zipfile
from typing import TYPE_CHECKING

from coursekit.course.hand_in.manifest import (
    MAX_NUM_FILES,
    MAX_TOTAL_BYTES,
    SUFFIX,
    HandInManifest,
    ManifestError,
    checksum,
    may_be_packed,
    read_manifest,
)
from coursekit.course.hand_in.owner import NotTakenError
from coursekit.grading.submission.student_folder import MANIFEST
from coursekit.grading.submission.students_files import PLAIN_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

ENTRY = b"PK\x01\x02"
IS_ENCRYPTED = 0x1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of the others one byte may ask for gigabytes
AGAIN = "ask the student for a new one, made by `coursekit hand-in`"


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
    try:
        manifest = read_manifest(contents[MANIFEST])
    except ManifestError as error:
        raise _refused(f"its {MANIFEST} cannot be read: {error}") from None
    _compare(manifest, contents)
    return manifest, contents


def _contents(packed: zipfile.ZipFile) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    seen: set[str] = set()
    num_left = MAX_TOTAL_BYTES + 1_000_000  # the manifest comes on top
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
            raise _refused(f"it unpacks to more than {MAX_TOTAL_BYTES / 1e6:.0f} MB")
        contents[entry.filename] = content
    return contents


def _check(entry: zipfile.ZipInfo, shown: str) -> None:
    """Refuse an entry that is not a plain file or folder of a plain path."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    path = entry.filename[:-1] if entry.is_dir() else entry.filename
    # zipfile itself cuts a name at its first NUL and turns backslashes only on Windows.
    if entry.orig_filename != entry.filename or not all(map(PLAIN_NAME.fullmatch, path.split("/"))):
        raise _refused(f"it holds {shown}, which is not a plain path within it")
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        raise _refused(f"{shown} in it is {'a link' if kind == stat.S_IFLNK else 'a special file'}")
    if path.lower().endswith(SUFFIX):
        raise _refused(f"it holds another zip, {shown}")
    if entry.flag_bits & IS_ENCRYPTED:
        raise _refused(f"{shown} in it is encrypted")
    if entry.compress_type not in METHODS:
        raise _refused(f"{shown} in it is compressed in another way than by deflate")


def _compare(manifest: HandInManifest, contents: Mapping[str, bytes]) -> None:
    """Hold the files against the manifest."""
    there, named = contents.keys() - {MANIFEST}, manifest.files.keys()
    problems = [
        *(f"{ascii(name)[1:-1][:100]} is missing" for name in sorted(named - there)),
        *(f"{name} is not in its manifest" for name in sorted(there - named)),
        *(
            f"{name} is nothing that `coursekit hand-in` packs"
            for name in sorted(there)
            if not may_be_packed(name, manifest.lab)
        ),
        *(
            f"{name} is not as its manifest says (SHA-256)"
            for name in sorted(there & named)
            if checksum(contents[name]) != manifest.files[name]
        ),
    ]
    if problems:
        raise _refused(problems[0])


def _refused(why: str) -> NotTakenError:
    return NotTakenError(f"{why}: {AGAIN}")
