"""One image as a record: the keys of ImageNet's TFRecord files."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

FIRST_LABEL, LAST_LABEL = 1, 1000


class LabelledImage(NamedTuple):
    """One image and what its record says about it.

    Attributes:
        pixels: RGB, uint8, shape (height, width, 3).
        label: 1 to 1000; 0 is ImageNet's background, which no image has.
        synset: the class as ImageNet numbers it, such as n01440764.
        text: the class in words.
        filename: the name the image had as a file.
    """

    pixels: Array
    label: int
    synset: str
    text: str
    filename: str


def serialize(image: LabelledImage, quality: int) -> bytes:
    """Return the serialised example of an image, with the keys of ImageNet's TFRecord files."""
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

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
    # Protocol buffers write a map in any order; the same image shall give the same bytes.
    example = tf.train.Example(features=tf.train.Features(feature=features))
    return bytes(example.SerializePartialToString(deterministic=True))


def parse_record(serialized: Any) -> tuple[Any, Any]:
    """Return what a serialised example holds: the encoded JPEG (scalar string) and the label (scalar int32).

    Labels run from 1 to 1000, as in ImageNet's files; 0 is the background, which no image has.
    """
    import tensorflow as tf  # noqa: PLC0415  # notebooks import this package before they need TensorFlow

    features = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
    }
    example = tf.io.parse_single_example(serialized, features)
    return example["image/encoded"], tf.cast(example["image/class/label"], tf.int32)
