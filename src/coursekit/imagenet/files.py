"""Which files a data folder holds, how many images, and which of its files are damaged."""

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
Progress = Callable[[str, int, int], None]  # called with a file's name, what is done and what there is in all
NUM_QUICK = 4  # records of a file that a quick check looks at
ALL = -1


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
        raise CourseKitError(f"There is no split {split!r}: it is one of {' and '.join(SPLITS)}.", "split.unknown")
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
            f"{folder} holds no files {file_name(split, 0, 16)} and so on, nor does a folder {split}/ in it: "
            "name a folder with ImageNet's TFRecord files, or make one with `coursekit data make`.",
            "data.no-files",
        )
    totals = sorted({int(name.rpartition("-")[2]) for name in found})
    if len(totals) > 1:
        counts = " and ".join(map(str, totals))
        raise CourseKitError(
            f"{place} holds {split} files of sets of {counts}: leave one set in the folder.", "data.mixed-sets"
        )
    wanted = [file_name(split, number, totals[0]) for number in range(totals[0])]
    missing = [name for name in wanted if name not in found]
    if missing:
        named = first_few(missing)
        raise CourseKitError(
            f"{place} lacks {len(missing)} of {totals[0]} {split} files ({named}): copy or make them again.",
            "data.files-missing",
        )
    return [str(place / name) for name in wanted]


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
            raise CourseKitError(f"{file} cannot be read: {error.strerror}.", "data.unreadable") from error
        if not is_whole:
            damage = describe_damage(file, num_records)
            raise CourseKitError(f"{file} {damage.words}.", damage.code)
        num_images += num_records
    return num_images


@dataclass
class SplitReport:
    """What the files of one split hold."""

    name: str  # "train" or "validation"
    num_files: int = 0
    num_good: int = 0  # records that can be used
    labels: set[int] = field(default_factory=set)  # those of the records that were looked at
    # The first of each file that has one, by what is wrong: all places where it is, such as "train-00000-of-01024,
    # record 0".
    faults: dict[str, list[str]] = field(default_factory=dict)


def check_data(
    folder: str | os.PathLike[str], *, quick: bool = False, progress: Progress | None = None
) -> list[SplitReport]:
    """Check every record of both splits; a quick check follows the headers, and looks at a few records of each file.

    `progress` is called for each file when it is checked, with its name, the files done and the files in all.
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
    """Count the good records of a file, and return what is wrong with the file and where; '' for nothing."""
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
    # Reading ends at the first damaged record; a quick check knows no more than the headers.
    num_whole = num_read if num_looked_at == ALL else num_records
    report.num_good += num_whole - num_bad
    if not is_whole or num_whole < num_records:
        return f"it {describe_damage(path, num_whole)}", str(path)
    return fault, place


def _fault(record: bytes, labels: set[int]) -> Cause | None:
    """Return why no training can use a record, or None; a good record's label is added to the others."""
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
            f"it is not an example with one image/encoded (bytes) and one image/class/label (number), but has {named}",
            "example.wrong-features",
        )
    if not FIRST_LABEL <= label <= LAST_LABEL:
        hint = ": where labels begin at 0, add 1 to all and write them again" if label == 0 else ""
        return Cause(f"its label is {label}, not {FIRST_LABEL} to {LAST_LABEL}{hint}", "example.label-range")
    try:
        tf.io.extract_jpeg_shape(encoded)
    except tf.errors.InvalidArgumentError:
        return Cause("its image is not a JPEG", "example.no-jpeg")
    labels.add(int(label))
    return None
