"""Write TFRecord files in the form of ImageNet's."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.imagenet.example import FIRST_LABEL, LAST_LABEL, Array, LabelledImage, serialize

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

NUM_CHANNELS = 3
PART_SUFFIX = ".part"


def write_file(
    path: str | os.PathLike[str], images: Sequence[Array] | Array, labels: Sequence[int] | Array, quality: int = 95
) -> Path:
    """Write images as one TFRecord file with all of ImageNet's standard keys; the file appears whole or not at all.

    Args:
        path: the file to write; its folder must exist.
        images: RGB, uint8, each of shape (height, width, 3).
        labels: of the same number, each from 1 to 1000.
        quality: of the JPEGs, 1 to 100.

    Returns:
        The path of the file.

    Raises:
        CourseKitError: when images and labels do not go together, or a value is out of range.
    """
    if len(images) != len(labels):
        raise CourseKitError(f"{path}: {len(images)} images and {len(labels)} labels: give one label for each image.")
    stem = Path(path).name
    labelled = (
        LabelledImage(np.asarray(pixels), label, f"n{label:08d}", f"class {label}", f"{stem}_{number}.JPEG")
        for number, (pixels, label) in enumerate(zip(images, map(int, labels)))
    )
    return write_images(path, labelled, quality)


def write_images(path: str | os.PathLike[str], images: Iterable[LabelledImage], quality: int) -> Path:
    """Write images as one TFRecord file; it appears whole or not at all.

    Raises:
        CourseKitError: when an image's pixels or label are not as `LabelledImage` says.
        OSError: when the file cannot be written.
    """
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    path = Path(path)
    # Another process may write the same file at the same time, so each has a part of its own.
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART_SUFFIX}")
    try:
        with tf.io.TFRecordWriter(str(part)) as writer:
            for number, image in enumerate(images):
                _refuse_unfit(image, f"{path}, image {number}")
                writer.write(serialize(image, quality))
        part.replace(path)
    except tf.errors.OpError as error:
        # TensorFlow's own errors begin with the path and end as the system says it.
        raise OSError(error.message.rpartition("; ")[2]) from error
    finally:
        part.unlink(missing_ok=True)
    return path


def _refuse_unfit(image: LabelledImage, where: str) -> None:
    pixels = image.pixels
    if pixels.dtype != np.uint8 or pixels.ndim != NUM_CHANNELS or pixels.shape[-1] != NUM_CHANNELS or not pixels.size:
        raise CourseKitError(f"{where} is {pixels.dtype} of shape {pixels.shape}: give uint8 of (height, width, 3).")
    if not FIRST_LABEL <= image.label <= LAST_LABEL:
        raise CourseKitError(f"{where} has the label {image.label}: labels run from {FIRST_LABEL} to {LAST_LABEL}.")
