"""Which files a data folder holds, and how many images."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from coursekit.errors import CourseKitError
from coursekit.imagenet import manifest
from coursekit.imagenet.headers import read_frame
from coursekit.imagenet.reading import SKIP, describe_damage

if TYPE_CHECKING:
    from collections.abc import Iterable

SPLITS = ("train", "validation")
NAME = re.compile(r"(?P<split>[a-z]+)-(?P<number>\d{5})-of-(?P<total>\d{5})")
NUM_NAMED = 3


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


def count_images(files: Iterable[str | os.PathLike[str]], damaged: str = "stop") -> int:
    """Return the number of images in files: from the manifest where it covers them, else from the records' headers.

    Args:
        files: the paths, of all ranks or of one.
        damaged: "stop" refuses a file with a damaged header, "skip" counts the rest of it.

    Raises:
        CourseKitError: when a file is not there, or has a damaged header and `damaged` is "stop".
    """
    return sum(_count(os.fspath(file), skip=damaged == SKIP) for file in files)


def _count(file: str, *, skip: bool) -> int:
    known = manifest.num_records(Path(file))
    if known is not None:
        return known
    try:
        frame = read_frame(file)
    except OSError as error:
        raise CourseKitError(f"{file} cannot be read: {error.strerror}.") from error
    if frame.broken and not skip:
        offset = min(frame.broken)
        raise CourseKitError(describe_damage(file, frame.offsets.index(offset), offset))
    return len(frame.offsets) - len(frame.broken)
