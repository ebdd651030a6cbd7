"""Read the records of ImageNet's TFRecord files; damaged ones stop the reading, or are skipped and counted."""

from __future__ import annotations

import errno
import threading
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.imagenet.headers import read_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

BUFFER_BYTES = 256 * 1024
GROUP_SIZE = 16
STOP, SKIP = "stop", "skip"


@dataclass(frozen=True)
class Skipped:
    """A stretch of a file that was skipped.

    Attributes:
        file: the path as it was given.
        offset: where the damage begins, in bytes.
        num_records: how many records are lost, at least: what a cut took away is not in the file to be counted.
    """

    file: str
    offset: int
    num_records: int


_readings: dict[int, _Reading] = {}
_numbers = count()
_skipped: list[Skipped] = []  # by this process
_lock = threading.Lock()


def skipped() -> list[Skipped]:
    """Return what this process has skipped since it began, in the order of reading; each epoch counts again."""
    with _lock:
        return list(_skipped)


def forget_skipped() -> None:
    """Empty the list of what was skipped."""
    with _lock:
        _skipped.clear()


def read_records(file: Any, damaged: str = STOP) -> Any:
    """Return the records of one file, in order, as a `tf.data.Dataset` of serialised examples (scalar strings).

    With `damaged="stop"`, iterating ends at a damaged record with a `tf.errors.UnknownError` that names the file,
    the record and its place.
    With `damaged="skip"`, the reading goes on at the next record with an intact header, and `skipped()` tells what
    was left out: one record for a damaged byte, the rest of the file for a cut.

    TensorFlow reads and checks every record; that none is missing is known when the end of the file is reached, so
    a pipeline that stops earlier, say by `take`, does not see what comes later.

    Args:
        file: the path as text or a scalar string tensor, as in `files.interleave(read_records)`.
        damaged: "stop" or "skip".

    Raises:
        CourseKitError: when `damaged` is neither.
    """
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    if damaged not in {STOP, SKIP}:
        raise CourseKitError(f'damaged={damaged!r} is neither "stop" nor "skip": choose what a damaged record does.')
    # AutoGraph would translate all that for each pipeline; nothing in it has to be.
    untranslated = tf.autograph.experimental.do_not_convert(_records_of)
    return untranslated(tf.convert_to_tensor(file, tf.string), skip=damaged == SKIP)


def _records_of(path: Any, *, skip: bool) -> Any:
    """Return the records of the file at `path`, a scalar string tensor."""
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    def read_from(reading: Any, offset: Any) -> Any:
        """Return the records from an offset to the next damage."""
        records = tf.data.experimental.from_variant(
            tf.raw_ops.TFRecordDatasetV2(
                filenames=[path], compression_type="", buffer_size=BUFFER_BYTES, byte_offsets=[offset]
            ),
            tf.TensorSpec([], tf.string),
        )
        return _tell_number_at_end(records.ignore_errors(), lambda number: _ended(reading, number))

    starts = tf.data.Dataset.from_generator(
        lambda name: _Reading(name.decode(), skip=skip).starts(),
        args=(path,),
        output_signature=(tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64)),
    )
    return starts.flat_map(read_from)


def _tell_number_at_end(records: Any, tell: Any) -> Any:
    """Return the same records; after the last, `tell` is called with their number."""
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    def number(num_before: Any, group: Any) -> Any:
        num_here = tf.size(group, tf.int64)
        told = tf.cond(num_here > 0, lambda: False, lambda: tell(num_before))
        with tf.control_dependencies([told]):
            return num_before + num_here, tf.identity(group)

    # Counted in groups: one by one, counting would cost more than reading. The empty group marks the end.
    end = tf.data.Dataset.from_tensors(tf.zeros([0], tf.string))
    groups = records.batch(GROUP_SIZE).concatenate(end)
    return groups.scan(tf.constant(0, tf.int64), number).unbatch()


def _ended(reading: Any, num_records: Any) -> Any:
    """Return a tensor that tells the reading how many records a pass has delivered; its value is False."""
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    told = tf.numpy_function(lambda key, num: _readings[int(key)].ended(int(num)), [reading, num_records], tf.bool)
    return tf.ensure_shape(told, [])


class _Reading:
    """One reading of one file: passes of TensorFlow, each up to the next damage."""

    def __init__(self, file: str, *, skip: bool) -> None:
        self._file = file
        self._skip = skip
        self._num_done = 0
        self._next: int | None = 0

    def starts(self) -> Iterator[tuple[int, int]]:
        """Yield for each pass the key of this reading and the byte where the pass begins."""
        if not Path(self._file).is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such data file", self._file)
        key = next(_numbers)
        _readings[key] = self
        try:
            while self._next is not None:
                start, self._next = self._next, None
                yield key, start
        finally:
            del _readings[key]

    def ended(self, num_records: int) -> bool:
        """Compare a pass with the headers; record where the next one begins. Always return False."""
        frame = read_frame(self._file)
        damaged = self._num_done + num_records
        if damaged >= len(frame.offsets):
            return False
        offset = frame.offsets[damaged]
        if not self._skip:
            raise CourseKitError(describe_damage(self._file, damaged, offset))
        with _lock:
            _skipped.append(Skipped(self._file, offset, num_records=1))
        self._num_done = damaged + 1
        if self._num_done < len(frame.offsets):
            self._next = frame.offsets[self._num_done]
        return False


def describe_damage(file: str, number: int, offset: int) -> str:
    """Return the sentence for a damaged record."""
    frame = read_frame(file)
    if frame.num_bytes == 0:
        return f"{file} is empty: copy it again."
    if frame.broken and number == 0 and len(frame.offsets) == 1:
        what = "holds no whole record: it is cut, or no TFRecord file"
    elif offset in frame.broken:
        what = f"is cut or has a damaged header at record {number} (the first is 0), byte {offset}"
    else:
        what = f"has damaged data in record {number} (the first is 0), byte {offset}"
    return f'{file} {what}: copy it again, or leave such records out with damaged="skip".'
