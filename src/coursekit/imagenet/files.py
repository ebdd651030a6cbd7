"""Which files a data folder holds, and how many images."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from coursekit.errors import CourseKitError
from coursekit.imagenet.records import count_records, describe_damage

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
    found = _names(place, split)
    if not found:
        place = place / split
        found = _names(place, split)
    if not found:
        raise CourseKitError(
            f"{folder} holds no files {file_name(split, 0, 16)} and so on, nor does a folder {split}/ in it: "
            "name a folder with ImageNet's TFRecord files, or make one with `coursekit data make`."
        )
    totals = sorted({int(name.rpartition("-")[2]) for name in found})
    if len(totals) > 1:
        counts = " and ".join(map(str, totals))
        raise CourseKitError(f"{place} holds {split} files of sets of {counts}: leave one set in the folder.")
    wanted = [file_name(split, number, totals[0]) for number in range(totals[0])]
    missing = [name for name in wanted if name not in found]
    if missing:
        named = ", ".join(missing[:NUM_NAMED]) + (" and more" if len(missing) > NUM_NAMED else "")
        raise CourseKitError(
            f"{place} lacks {len(missing)} of {totals[0]} {split} files ({named}): copy or make them again."
        )
    return [str(place / name) for name in wanted]


def _names(place: Path, split: str) -> set[str]:
    return {path.name for path in place.glob(f"{split}-*") if NAME.fullmatch(path.name)}


def count_images(files: Iterable[str | os.PathLike[str]]) -> int:
    """Return the number of images in files, of all ranks or of one, from the headers of their records.

    Raises:
        CourseKitError: when a file is not there, cut or empty, or the header of a record is damaged.
    """
    num_images = 0
    for file in files:
        try:
            num_records, is_whole = count_records(file)
        except OSError as error:
            raise CourseKitError(f"{file} cannot be read: {error.strerror}.") from error
        if not is_whole:
            raise CourseKitError(f"{file} {describe_damage(file, num_records)}.")
        num_images += num_records
    return num_images
