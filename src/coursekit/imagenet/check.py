"""Read a whole data folder and report its content, and what is damaged and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from coursekit.errors import CourseKitError
from coursekit.imagenet import manifest
from coursekit.imagenet.example import FIRST_LABEL, LAST_LABEL, parse_record
from coursekit.imagenet.files import SPLITS, list_files
from coursekit.imagenet.headers import read_frame
from coursekit.imagenet.reading import SKIP, read_records, skipped

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Damage:
    """Something wrong in a file: where it begins, in bytes, unless it is the file as a whole; and what."""

    file: str
    offset: int | None
    what: str


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
        quick: follow the headers of the records only, without reading the data.
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
    for number, (report, path) in enumerate(files, 1):
        try:
            (_check_headers if quick else _check_records)(report, path)
            report.damages += _differences(path, quick=quick)
        except OSError as error:
            report.damages.append(Damage(str(path), None, f"cannot be read: {error.strerror}"))
        if progress:
            progress(path.name, number, len(files))
    for report in reports:
        report.damages.sort(key=lambda one: (one.file, one.offset is None, one.offset or 0))
    return reports


def _check_headers(report: SplitReport, path: Path) -> None:
    frame = read_frame(path)
    report.num_records += len(frame.offsets) - len(frame.broken)
    report.damages += [Damage(str(path), offset, _describe(path, offset)) for offset in sorted(frame.broken)]


def _check_records(report: SplitReport, path: Path) -> None:
    """Read a file as a training does, and look at each record."""
    frame, num_before = read_frame(path), len(skipped())
    found = [_look_at(record) for record in read_records(str(path), SKIP).as_numpy_iterator()]
    lost = [one.offset for one in skipped()[num_before:]]
    damages = {offset: _describe(path, offset) for offset in lost}
    for offset, (label, problem) in zip((offset for offset in frame.offsets if offset not in damages), found):
        if problem:
            report.damages.append(Damage(str(path), offset, problem))
        else:
            report.num_records += 1
            report.labels[label] += 1
    report.damages += [Damage(str(path), offset, what) for offset, what in damages.items()]


def _describe(path: Path, offset: int) -> str:
    frame = read_frame(path)
    if not frame.num_bytes:
        return "the file is empty"
    return "cut, or its header is damaged" if offset in frame.broken else "its data is damaged"


def _look_at(record: bytes) -> tuple[int, str]:
    """Return the label of a record and what is wrong with it, or ""."""
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    try:
        encoded, label = parse_record(record)
    except tf.errors.InvalidArgumentError:
        return 0, "it is not an example with one image/encoded and one image/class/label"
    if not FIRST_LABEL <= label <= LAST_LABEL:
        return int(label), f"its label is {label}, not {FIRST_LABEL} to {LAST_LABEL}"
    try:
        tf.io.extract_jpeg_shape(encoded)
    except tf.errors.InvalidArgumentError:
        return int(label), "its image is not a JPEG"
    return int(label), ""


def _differences(path: Path, *, quick: bool) -> Iterator[Damage]:
    """Yield how a file differs from what the manifest beside it states; a quick check compares sizes only."""
    stated = manifest.read(path.parent)
    if stated is None:
        return
    facts = stated.files.get(path.name)
    if facts is None:
        yield Damage(str(path), None, "the manifest does not name it")
    elif path.stat().st_size != facts.num_bytes:
        yield Damage(str(path), None, f"{path.stat().st_size} bytes, the manifest says {facts.num_bytes}")
    elif not quick and manifest.checksum(path) != facts.sha256:
        yield Damage(str(path), None, "its checksum is not the manifest's")
