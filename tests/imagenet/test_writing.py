"""Writing files in ImageNet's form."""

from __future__ import annotations

import io

import numpy as np
import PIL.Image
import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import write_file


def flat(*colours, size=(8, 10)):
    """Return images of one colour each."""
    return np.array([np.full((*size, 3), colour, np.uint8) for colour in colours])


def examples(path):
    """Return the examples of a file as dictionaries, read by TensorFlow's own reader and protocol buffers."""
    import tensorflow as tf

    found = []
    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        features = tf.train.Example.FromString(record).features.feature
        found.append({key: (one.int64_list.value or one.bytes_list.value)[0] for key, one in features.items()})
    return found


def test_a_record_has_all_standard_keys(tmp_path):
    """A file holds what ImageNet's hold, and Pillow sees the colours that were written."""
    colours = [(250, 30, 10), (20, 40, 200)]
    path = write_file(tmp_path / "train-00000-of-00001", flat(*colours), [1, 1000], quality=100)
    found = examples(path)
    for number, (example, colour, label) in enumerate(zip(found, colours, [1, 1000])):
        image = np.asarray(PIL.Image.open(io.BytesIO(example.pop("image/encoded"))))
        np.testing.assert_allclose(image, flat(colour)[0], atol=3)
        assert example == {
            "image/height": 8,
            "image/width": 10,
            "image/channels": 3,
            "image/colorspace": b"RGB",
            "image/format": b"JPEG",
            "image/class/label": label,
            "image/class/synset": f"n{label:08d}".encode(),
            "image/class/text": f"class {label}".encode(),
            "image/filename": f"train-00000-of-00001_{number}.JPEG".encode(),
        }
    assert len(found) == 2


def test_images_of_different_sizes_and_no_images(tmp_path):
    """A list may hold images of any size, and may be empty."""
    images = [flat((1, 2, 3), size=size)[0] for size in [(5, 7), (9, 3)]]
    sizes = [(one["image/height"], one["image/width"]) for one in examples(write_file(tmp_path / "a", images, [5, 6]))]
    assert sizes == [(5, 7), (9, 3)]
    assert examples(write_file(tmp_path / "b", [], [])) == []


def test_the_same_images_give_the_same_bytes(tmp_path):
    """A checksum of a file says whether it holds the same."""
    images = flat((200, 100, 50), (10, 20, 30))
    one, other = (write_file(tmp_path / "file", images, [3, 4]).read_bytes() for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("images", "labels", "sentence"),
    [
        (flat((1, 2, 3)), [1, 2], "1 images and 2 labels"),
        (flat((1, 2, 3), (4, 5, 6)), [1, 0], "image 1 has the label 0: labels run from 1 to 1000"),
        (flat((1, 2, 3)), [1001], "image 0 has the label 1001"),
        (flat((1, 2, 3)) / 255, [1], r"image 0 is float64 of shape \(8, 10, 3\): give uint8"),
        (flat((1, 2, 3))[..., 0], [1], r"image 0 is uint8 of shape \(8, 10\)"),
    ],
    ids=["unequal numbers", "background", "label too large", "floats", "grey"],
)
def test_unfit_input_is_one_sentence_and_changes_nothing(tmp_path, images, labels, sentence):
    """The file that was there stays as it was, and no part of another is left."""
    path = tmp_path / "train-00000-of-00001"
    path.write_bytes(b"before")
    with pytest.raises(CourseKitError, match=sentence):
        write_file(path, images, labels)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {path.name: b"before"}
