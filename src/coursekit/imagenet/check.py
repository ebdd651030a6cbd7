"""Read a whole data folder and report its content, and which files or records cannot be used."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from google.protobuf.message import DecodeError

from coursekit.errors import CourseKitError
from coursekit.imagenet.files import SPLITS, list_files, read_manifest
from coursekit.imagenet.records import (
    FIRST_LABEL,
    HEADER_BYTES,
    LAST_LABEL,
    LENGTH_BYTES,
    SKIP,
    describe_damage,
    follow_headers,
    parse_record,
    read_records,
)

Progress = Callable[[str, int, int], None]
NUM_QUICK = 4096  # records that a quick check looks at: of 1000 classes it misses one in 60 times
NUM_FEATURES_NAMED = 5
IMAGE_KEY, LABEL_KEY = "image/encoded", "image/class/label"
NO_LABEL = -1
FROM_ZERO = f"its label is 0: these labels begin at 0, ImageNet's at {FIRST_LABEL}: add 1 to all and write them again"


@dataclass(frozen=True)
class Damage:
    """Something wrong in a file.

    Attributes:
        file: its path.
        record: its number, from 0 on, unless it is the file as a whole.
        what: is wrong.
        kind: the same for all that one sentence can tell, "" for damage that has to be mended place by place.
    """

    file: str
    record: int | None
    what: str
    kind: str = ""


@dataclass
class SplitReport:
    """What the files of one split hold.

    Attributes:
        name: "train" or "validation".
        num_files: of the split.
        num_records: records that can be used.
        labels: how often each label occurs; empty after a quick check, which does not read the data.
        damages: by file and place.
        missing: why there are no files to look at, or "".
    """

    name: str
    num_files: int = 0
    num_records: int = 0
    labels: Counter[int] = field(default_factory=Counter)
    damages: list[Damage] = field(default_factory=list)
    missing: str = ""


def check_data(
    folder: str | os.PathLike[str], *, quick: bool = False, progress: Progress | None = None
) -> list[SplitReport]:
    """Check every record of a folder, and every file against the manifest when there is one.

    Args:
        folder: any with ImageNet's TFRecord files, made or a centre's.
        quick: follow the headers of the records, and look at the data of some only.
        progress: called for each file when it is checked, with its name, the files done and the files in all.

    Returns:
        A report for each split.
    """
    reports, files = [], []
    for split in SPLITS:
        report = SplitReport(split)
        reports.append(report)
        try:
            paths = [Path(file) for file in list_files(folder, split)]
        except CourseKitError as error:
            report.missing = str(error)
            continue
        report.num_files = len(paths)
        files += [(report, path) for path in paths]
    num_quick = NUM_QUICK // max(len(files), 1) + 1 if quick else 0
    labels: set[int] = set()
    for number, (report, path) in enumerate(files, 1):
        try:
            labels |= _check_file(report, path, num_quick)
        except OSError as error:
            report.damages.append(Damage(str(path), None, f"cannot be read: {error.strerror}"))
        if progress:
            progress(path.name, number, len(files))
    if 0 in labels and max(labels) < LAST_LABEL:
        for report in reports:
            report.damages = [replace(one, what=FROM_ZERO) if one.kind == "label 0" else one for one in report.damages]
    for report in reports:
        report.damages.sort(key=lambda one: (one.file, one.record is None, one.record or 0))
    return reports


def _check_file(report: SplitReport, path: Path, num_quick: int) -> set[int]:
    """Look at all records of a file as a training reads them, or at so many over all of it; return their labels."""
    offsets, is_whole = follow_headers(path)
    labels, num_whole = set(), len(offsets) if num_quick else 0
    # What looks like the last record before a damage may have a wrong length.
    known = offsets if is_whole else offsets[:-1]
    for number, record in _some_records(path, known, num_quick) if num_quick else _all_records(path):
        num_whole = max(num_whole, number + 1)
        label, fault = _look_at(record)
        labels.add(label)
        if fault:
            report.damages.append(Damage(str(path), number, *fault))
        elif not num_quick:
            report.num_records += 1
            report.labels[label] += 1
    if num_quick:
        report.num_records += num_whole
    if not is_whole or num_whole < len(offsets):
        what = f"it {describe_damage(path, num_whole)}"
        report.damages.append(Damage(str(path), None, what, "" if num_whole else what))
    report.damages += _differences(path)
    return labels - {NO_LABEL}


def _all_records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a file with their numbers, up to the first that is damaged."""
    return enumerate(read_records(str(path), SKIP).as_numpy_iterator())


def _some_records(path: Path, offsets: Sequence[int], num_some: int) -> Iterator[tuple[int, bytes]]:
    """Yield so many records of a file with their numbers; their checksums are not compared."""
    with path.open("rb") as stream:
        for number in range(0, len(offsets), max(1, -(-len(offsets) // num_some))):
            stream.seek(offsets[number])
            length = int.from_bytes(stream.read(HEADER_BYTES)[:LENGTH_BYTES], "little")
            yield number, stream.read(length)


def _look_at(record: bytes) -> tuple[int, tuple[str, str] | None]:
    """Return the label of a record, NO_LABEL without one, and what is wrong with it and of which kind."""
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    try:
        encoded, label = (one.numpy() for one in parse_record(record))
    except tf.errors.InvalidArgumentError:
        what = _other_features(record)
        return NO_LABEL, (what, what)
    if label == 0:
        return 0, (f"its label is 0, not {FIRST_LABEL} to {LAST_LABEL}", "label 0")
    if not FIRST_LABEL <= label <= LAST_LABEL:
        return int(label), (f"its label is {label}, not {FIRST_LABEL} to {LAST_LABEL}", "label outside")
    try:
        tf.io.extract_jpeg_shape(encoded)
    except tf.errors.InvalidArgumentError:
        what = "its image is not a JPEG"
        return int(label), (what, what)
    return int(label), None


def _other_features(record: bytes) -> str:
    """Return why a record does not parse as an image with a label."""
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    wanted = {IMAGE_KEY: "bytes_list", LABEL_KEY: "int64_list"}
    try:
        features = tf.train.Example.FromString(record).features.feature
    except DecodeError:
        return f"it is not an example with one {IMAGE_KEY} and one {LABEL_KEY}"
    for key, form in wanted.items():
        if key not in features:
            named = sorted(features)[:NUM_FEATURES_NAMED]
            return f"it has no {key}, but " + (", ".join(named) if named else "no features at all")
        found = features[key].WhichOneof("kind")
        if found != form:
            return f"its {key} is a {found or 'feature without values'}, not an {form}"
    return f"it is not an example with one {IMAGE_KEY} and one {LABEL_KEY}"


def _differences(path: Path) -> Iterator[Damage]:
    """Yield how a file differs from what the manifest beside it states."""
    stated = read_manifest(path.parent)
    if stated is None:
        return
    facts = stated.files.get(path.name)
    if facts is None:
        yield Damage(str(path), None, "the manifest does not name it")
    elif path.stat().st_size != facts.num_bytes:
        yield Damage(str(path), None, f"{path.stat().st_size} bytes, the manifest says {facts.num_bytes}")
