"""List the files of a data folder, count their images, and find damaged files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coursekit.errors import Cause, CourseKitError
from coursekit.imagenet.records import (
    FIRST_LABEL,
    LAST_LABEL,
    SKIP,
    count_records,
    describe_damage,
    parse_record,
    read_records,
)
from coursekit.text import first_few

SPLITS = ("train", "validation")
NAME = re.compile(r"[a-z]+-\d{5}-of-\d{5}")
Progress = Callable[[str, int, int], None]  # called with a file's name, how much is done, and the total
NUM_QUICK = 4  # number of records per file that a quick check reads
ALL = -1


def file_name(split: str, number: int, total: int) -> str:
    """Return the name of one file of a split, in ImageNet's style."""
    return f"{split}-{number:05d}-of-{total:05d}"


def list_files(folder: str | os.PathLike[str], split: str) -> list[str]:
    """Return the sorted paths of a split's TFRecord files, such as `train-00000-of-01024`.

    Args:
        folder: the folder that holds the files, or the parent folder of `train/` and `validation/`.
        split: "train" or "validation".

    Raises:
        CourseKitError: there are no files, some are missing, or there is no such split.
    """
    if split not in SPLITS:
        raise CourseKitError(f"There is no split {split!r}: the splits are {' and '.join(SPLITS)}.", "split.unknown")
    if not Path(folder).is_dir():
        raise CourseKitError(
            f"There is no data folder {folder}: make one with `coursekit data make {folder}`.", "data.no-folder"
        )
    for place in (Path(folder), Path(folder, split)):
        found = {path.name for path in place.glob(f"{split}-*") if NAME.fullmatch(path.name)}
        if found:
            break
    else:
        raise CourseKitError(
            f"Neither {folder} nor a folder {split}/ in it has files such as {file_name(split, 0, 16)}: "
            "choose a folder with ImageNet's TFRecord files, or make one with `coursekit data make`.",
            "data.no-files",
        )
    totals = sorted({int(name.rpartition("-")[2]) for name in found})
    if len(totals) > 1:
        counts = " and ".join(map(str, totals))
        raise CourseKitError(
            f"{place} has {split} files from sets of {counts} files: keep only one set there.", "data.mixed-sets"
        )
    wanted = [file_name(split, number, totals[0]) for number in range(totals[0])]
    missing = [name for name in wanted if name not in found]
    if missing:
        named = first_few(missing)
        raise CourseKitError(
            f"{place} lacks {len(missing)} of {totals[0]} {split} files ({named}): copy them or make them again.",
            "data.files-missing",
        )
    return [str(place / name) for name in wanted]


def count_images(files: Iterable[str | os.PathLike[str]]) -> int:
    """Return the number of images in files, for example in one rank's files; only the records' headers are read.

    Raises:
        CourseKitError: a file is missing, truncated or empty, or the header of a record is damaged.
    """
    num_images = 0
    for file in files:
        try:
            num_records, is_whole = count_records(file)
        except OSError as error:
            raise CourseKitError(f"{file} cannot be read: {error.strerror}.", "data.unreadable") from error
        if not is_whole:
            damage = describe_damage(file, num_records)
            raise CourseKitError(f"{file} {damage.words}.", damage.code)
        num_images += num_records
    return num_images


@dataclass
class SplitReport:
    """The contents of one split's files."""

    name: str  # "train" or "validation"
    num_files: int = 0
    num_good: int = 0  # records that can be used
    labels: set[int] = field(default_factory=set)  # of the records that were read
    # For each fault, the places where it is the first fault in its file, such as
    # "train-00000-of-01024, record 0".
    faults: dict[str, list[str]] = field(default_factory=dict)


def check_data(
    folder: str | os.PathLike[str], *, quick: bool = False, progress: Progress | None = None
) -> list[SplitReport]:
    """Check all records of both splits, and return a report on each split.

    A quick check reads all headers, but only a few whole records per file.

    `progress` is called after each file, with its name, the number of files done, and the total.
    """
    reports = []
    for split in SPLITS:
        report = SplitReport(split)
        reports.append(report)
        try:
            paths = [Path(file) for file in list_files(folder, split)]
        except CourseKitError as error:
            report.faults[str(error)] = []
            continue
        report.num_files = len(paths)
        for number, path in enumerate(paths, 1):
            what, place = _check_file(report, path, NUM_QUICK if quick else ALL)
            if what:
                report.faults.setdefault(what, []).append(place)
            if progress:
                progress(path.name, number, len(paths))
    return reports


def _check_file(report: SplitReport, path: Path, num_looked_at: int) -> tuple[str, str]:
    """Add a file's valid records to the report; return its first fault ('' if there is none) and where that is."""
    try:
        num_records, is_whole = count_records(path)
        num_read, num_bad, fault, place = 0, 0, "", str(path)
        for record in read_records(str(path), SKIP).take(num_looked_at).as_numpy_iterator():
            wrong = _fault(record, report.labels)
            if wrong and not fault:
                fault, place = str(wrong), f"{path}, record {num_read}"
            num_read, num_bad = num_read + 1, num_bad + bool(wrong)
    except OSError as error:
        return str(Cause(f"cannot be read: {error.strerror}", "data.unreadable")), str(path)
    # Reading ends at the first damaged record; a quick check counts the records by their headers only.
    num_whole = num_read if num_looked_at == ALL else num_records
    report.num_good += num_whole - num_bad
    if not is_whole or num_whole < num_records:
        return f"it {describe_damage(path, num_whole)}", str(path)
    return fault, place


def _fault(record: bytes, labels: set[int]) -> Cause | None:
    """Return why a record cannot be used for training; if it can be used, add its label to `labels` and return None."""
    import tensorflow as tf  # notebooks import this package before they need TensorFlow
    from google.protobuf.message import DecodeError  # as above

    try:
        encoded, label = (one.numpy() for one in parse_record(record))
    except tf.errors.InvalidArgumentError:
        try:
            features = sorted(tf.train.Example.FromString(record).features.feature)
        except DecodeError:
            features = []
        named = first_few(features) or "no features at all"
        return Cause(
            f"it is not an example with one image/encoded (bytes) and one image/class/label (number): it has {named}",
            "example.wrong-features",
        )
    if not FIRST_LABEL <= label <= LAST_LABEL:
        hint = ": if your labels begin at 0, add 1 to all and write the files again" if label == 0 else ""
        return Cause(f"its label is {label}, not one from {FIRST_LABEL} to {LAST_LABEL}{hint}", "example.label-range")
    try:
        tf.io.extract_jpeg_shape(encoded)
    except tf.errors.InvalidArgumentError:
        return Cause("its image is not a JPEG", "example.no-jpeg")
    labels.add(int(label))
    return None
