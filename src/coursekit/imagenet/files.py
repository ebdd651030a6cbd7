"""Which files a data folder holds, and how many images.

Synthetic data has a manifest: what each file must hold, so that damage shows and an interrupted run can go on.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.files import write_json
from coursekit.imagenet.records import describe_damage, follow_headers

SPLITS = ("train", "validation")
NAME = re.compile(r"(?P<split>[a-z]+)-(?P<number>\d{5})-of-(?P<total>\d{5})")
NUM_NAMED = 3
MANIFEST = "manifest.json"
FORMAT_VERSION = 1


def file_name(split: str, number: int, total: int) -> str:
    """Return the name of one file of a split, as ImageNet's are called."""
    return f"{split}-{number:05d}-of-{total:05d}"


def list_files(folder: str | os.PathLike[str], split: str) -> list[str]:
    """Return the paths of a split's TFRecord files, sorted, such as `train-00000-of-01024`.

    Args:
        folder: where they are, or the folder above `train/` and `validation/`.
        split: "train" or "validation".

    Raises:
        CourseKitError: there are no files, some are missing, or the split is neither of the two.
    """
    if split not in SPLITS:
        raise CourseKitError(f"There is no split {split!r}: it is one of {' and '.join(SPLITS)}.")
    place = Path(folder)
    if not place.is_dir():
        raise CourseKitError(f"There is no data folder {place}: make one with `coursekit data make {place}`.")
    found = _find(place, split) or _find(place / split, split)
    if not found:
        raise CourseKitError(
            f"{place} holds no files {file_name(split, 0, 16)} and so on, nor does a folder {split}/ in it: "
            "name a folder with ImageNet's TFRecord files, or make one with `coursekit data make`."
        )
    if len(found) > 1:
        totals = " and ".join(str(total) for total in sorted(found))
        raise CourseKitError(f"{place} holds {split} files of sets of {totals}: leave one set in the folder.")
    ((total, paths),) = found.items()
    missing = [file_name(split, number, total) for number in range(total) if number not in paths]
    if missing:
        named = ", ".join(missing[:NUM_NAMED]) + (" and more" if len(missing) > NUM_NAMED else "")
        raise CourseKitError(
            f"{place} lacks {len(missing)} of {total} {split} files ({named}): copy or make them again."
        )
    return [str(paths[number]) for number in sorted(paths)]


def _find(place: Path, split: str) -> dict[int, dict[int, Path]]:
    """Return the files of a split in one folder by the size of their set and their number in it."""
    found: dict[int, dict[int, Path]] = defaultdict(dict)
    for path in place.glob(f"{split}-*"):
        match = NAME.fullmatch(path.name)
        if match:
            found[int(match["total"])][int(match["number"])] = path
    return found


def count_images(files: Iterable[str | os.PathLike[str]]) -> int:
    """Return the number of images in files: from the manifest where it covers them, else from the records' headers.

    Args:
        files: the paths, of all ranks or of one.

    Raises:
        CourseKitError: when a file is not there, cut or empty, or the header of a record is damaged.
    """
    return sum(map(_count, files))


def _count(file: str | os.PathLike[str]) -> int:
    known = stated_records(Path(file))
    if known is not None:
        return known
    try:
        offsets, is_whole = follow_headers(file)
    except OSError as error:
        raise CourseKitError(f"{file} cannot be read: {error.strerror}.") from error
    if not is_whole:
        raise CourseKitError(f"{file} {describe_damage(file, len(offsets))}.")
    return len(offsets)


@dataclass(frozen=True)
class FileFacts:
    """What one file holds: its number of records, and its size in bytes; each record has a checksum of its own."""

    num_records: int
    num_bytes: int


@dataclass
class DataManifest:
    """What a folder of synthetic data holds, by the names of its files."""

    preset: str
    seed: int
    format_version: int = FORMAT_VERSION
    files: dict[str, FileFacts] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write this manifest into a folder; it is replaced as a whole."""
        write_json(folder / MANIFEST, asdict(self))


def read_manifest(folder: Path) -> DataManifest | None:
    """Return the manifest of a folder, or None if the folder has none.

    Raises:
        CourseKitError: when it cannot be read as one.
    """
    path = folder / MANIFEST
    try:
        status = path.stat()
    except OSError:
        return None
    return _read_manifest(str(path), status.st_size, status.st_mtime_ns)


# Counting the images of a thousand files asks a thousand times.
@lru_cache(maxsize=16)
def _read_manifest(path: str, num_bytes: int, mtime_ns: int) -> DataManifest:
    del num_bytes, mtime_ns
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        known = content.pop("files").items()  # of an earlier version, also with checksums
        files = {name: FileFacts(facts["num_records"], facts["num_bytes"]) for name, facts in known}
        return DataManifest(**content, files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CourseKitError(f"{path} is not a manifest of synthetic data ({error}): make the data again.") from error


def stated_records(file: Path) -> int | None:
    """Return the number of records that the manifest beside a file states, when the file has the size stated there."""
    content = read_manifest(file.parent)
    facts = content.files.get(file.name) if content else None
    return facts.num_records if facts and file.is_file() and file.stat().st_size == facts.num_bytes else None
