"""Write, read and parse ImageNet's records, each of which is one image in a TFRecord file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursekit.errors import Cause, CourseKitError

Array = np.ndarray[Any, Any]

FIRST_LABEL, LAST_LABEL = 1, 1000
PART_SUFFIX = ".part"
STOP, SKIP = "stop", "skip"
LENGTH_BYTES, HEADER_BYTES = 8, 12
FRAME_BYTES = HEADER_BYTES + 4


class LabelledImage(NamedTuple):
    """One image, and the other contents of its record."""

    pixels: Array  # RGB, uint8, shape (height, width, 3)
    label: int  # from 1 to 1000, because 0 is ImageNet's background
    synset: str = ""  # the number of the class, such as n01440764
    text: str = ""  # the class in words
    filename: str = ""  # the name of the image's file


def serialize(image: LabelledImage, quality: int) -> bytes:
    """Return an image as a serialised example, as in ImageNet's TFRecord files; the JPEG quality is from 1 to 100."""
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    height, width, num_channels = image.pixels.shape
    numbers = {
        "image/height": height,
        "image/width": width,
        "image/channels": num_channels,
        "image/class/label": image.label,
    }
    texts = {
        "image/colorspace": b"RGB",
        "image/format": b"JPEG",
        "image/class/synset": image.synset.encode(),
        "image/class/text": image.text.encode(),
        "image/filename": image.filename.encode(),
        "image/encoded": tf.io.encode_jpeg(image.pixels, quality=quality).numpy(),
    }
    features = {key: tf.train.Feature(int64_list=tf.train.Int64List(value=[value])) for key, value in numbers.items()}
    features |= {key: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text])) for key, text in texts.items()}
    # Protocol buffers may write a map in any order, but the same image must always give the same bytes.
    example = tf.train.Example(features=tf.train.Features(feature=features))
    return bytes(example.SerializePartialToString(deterministic=True))


def write_images(path: str | os.PathLike[str], images: Iterable[LabelledImage], quality: int = 95) -> Path:
    """Write images to one TFRecord file with all of ImageNet's standard keys; the file appears whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    path = Path(path)
    # Another process may write the same file at the same time, so each writes to a separate part file.
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART_SUFFIX}")
    try:
        with tf.io.TFRecordWriter(str(part)) as writer:
            for image in images:
                writer.write(serialize(image, quality))
        part.replace(path)
    except tf.errors.OpError as error:
        # TensorFlow's errors begin with the path and end with the system's message.
        raise OSError(error.message.rpartition("; ")[2]) from error
    finally:
        part.unlink(missing_ok=True)
    return path


def parse_record(serialized: Any) -> tuple[Any, Any]:
    """Return the encoded JPEG (a scalar string) and the label (a scalar int32) from a serialised example.

    Labels run from 1 to 1000, as in ImageNet's files; 0 stands for the background, and no image has this label.
    """
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    features = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }
    example = tf.io.parse_single_example(serialized, features)
    return example["image/encoded"], tf.cast(example["image/class/label"], tf.int32)


def read_records(file: Any, damaged: str = STOP) -> Any:
    """Return the records of one file, in order, as a `tf.data.Dataset` of serialised examples (scalar strings).

    With `damaged="stop"`, iterating over the dataset raises a `tf.errors.DataLossError` at a damaged record.
    With `damaged="skip"`, TensorFlow warns and leaves out the damaged record and the rest of the file, because it
    cannot know where the next record begins.
    Either way, a file that is empty or ends within the header of a record raises no error, but `count_images` and
    `coursekit data check` report such files.

    Args:
        file: the path as text or a scalar string tensor, as in `files.interleave(read_records)`.
        damaged: "stop" or "skip".

    Raises:
        CourseKitError: `damaged` is neither "stop" nor "skip".
    """
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    if damaged not in {STOP, SKIP}:
        raise CourseKitError(
            f'damaged={damaged!r} is neither "stop" nor "skip": choose one of the two.',
            "records.unknown-mode",
        )
    if damaged == STOP:
        return tf.data.TFRecordDataset(file)
    # If the file were missing, ignore_errors would retry for ever.
    with tf.control_dependencies([tf.numpy_function(_open_once, [file], [])]):
        return tf.data.TFRecordDataset(tf.identity(file)).ignore_errors(log_warning=True)


def _open_once(file: bytes | Array) -> None:
    Path(os.fsdecode(np.asarray(file).item())).open("rb").close()


def count_records(file: str | os.PathLike[str]) -> tuple[int, bool]:
    """Return how many records a TFRecord file has, and whether the last record ends exactly at the end of the file.

    Only the records' headers are read.
    A record consists of its length (8 bytes, little-endian), a checksum of the length (4 bytes), the data, and a
    checksum of the data (4 bytes). Checksums are not compared, because a wrong length is noticed without them: no
    header is at the expected place, so the last record does not end where the file ends.

    Raises:
        OSError: the file cannot be read.
    """
    num_records, begin = 0, 0
    with Path(file).open("rb", buffering=0) as stream:
        num_bytes = os.fstat(stream.fileno()).st_size
        while begin + FRAME_BYTES <= num_bytes:
            stream.seek(begin)
            header = stream.read(HEADER_BYTES)
            end = begin + FRAME_BYTES + int.from_bytes(header[:LENGTH_BYTES], "little")
            # No checksum is 0, so zeros are no header: an interrupted copy may have left them.
            if end > num_bytes or not any(header):
                break
            num_records, begin = num_records + 1, end
    return num_records, 0 < begin == num_bytes


def describe_damage(file: str | os.PathLike[str], num_whole: int) -> Cause:
    """Return what is wrong with a file in which only the first `num_whole` records are intact, and a remedy."""
    if not Path(file).stat().st_size:
        return Cause("is empty: copy it again", "records.empty")
    if not num_whole:
        return Cause(
            "holds no whole record (cut, compressed or not a TFRecord file): copy it again, unpacked", "records.none"
        )
    return Cause(f"is cut or damaged from record {num_whole} on (the first is 0): copy it again", "records.cut")
