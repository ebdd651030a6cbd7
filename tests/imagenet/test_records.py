"""Records: written in ImageNet's form, read as TensorFlow reads them, parsed, and found by their lengths alone."""

import io
from itertools import accumulate

import numpy as np
import PIL.Image
import pytest

from coursekit.errors import CourseKitError
from coursekit.imagenet import LabelledImage, read_records, write_images
from coursekit.imagenet.records import count_records


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
    images = [
        LabelledImage(pixels, label, f"n{label:08d}", f"class {label}", f"{label}.JPEG")
        for pixels, label in zip(flat(*colours), [1, 1000])
    ]
    found = examples(write_images(tmp_path / "train-00000-of-00001", images, quality=100))
    for example, colour, label in zip(found, colours, [1, 1000]):
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
            "image/filename": f"{label}.JPEG".encode(),
        }
    assert len(found) == 2


def begins(records):
    """Return where each record begins, and where the last one ends."""
    return list(accumulate((len(record) + 16 for record in records), initial=0))


def read(path, damaged="stop"):
    """Return the records of a file, read inside of `interleave` as a pipeline does."""
    import tensorflow as tf

    files = tf.data.Dataset.from_tensor_slices([str(path)])
    return list(files.interleave(lambda file: read_records(file, damaged)).as_numpy_iterator())


@pytest.mark.parametrize("damaged", ["stop", "skip"])
def test_a_whole_file_is_read_as_it_was_written(plain_file, records, damaged):
    """Every record is delivered once, in order, and nothing else."""
    assert read(plain_file, damaged) == records
    assert list(read_records(str(plain_file), damaged).as_numpy_iterator()) == records
    assert count_records(plain_file) == (len(records), True)


# The byte that is damaged, counted from where record 4 begins, or from its end.
DAMAGES = {"length": 0, "high byte of the length": 7, "checksum of the length": 9, "data": 12, "their checksum": -1}


@pytest.mark.parametrize("place", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_byte_costs_the_rest_of_its_file(plain_file, records, flip, place):
    """Skipping goes on with the next file, stopping ends the reading; a wrong length leads no further."""
    import tensorflow as tf

    offsets = begins(records)
    flip(plain_file, offsets[4] + place if place >= 0 else offsets[5] + place)
    assert read(plain_file, "skip") == records[:4]
    with pytest.raises(tf.errors.DataLossError):
        read(plain_file)
    num_found, is_whole = count_records(plain_file)
    assert num_found >= 4
    assert is_whole is (place not in {0, 7})


@pytest.mark.parametrize("num_left", [5, 12, 14, 400])
def test_a_cut_or_zeroed_file_ends_with_its_last_whole_record(plain_file, records, num_left):
    """Cut in a header, behind it or in the data; some copies that broke off have zeros from there on."""
    offsets, content = begins(records), plain_file.read_bytes()
    for rest in (b"", bytes(1600)):
        plain_file.write_bytes(content[: offsets[4] + (0 if rest else num_left)] + rest)
        assert read(plain_file, "skip") == records[:4]
        assert count_records(plain_file) == (4, False)


@pytest.mark.parametrize("damaged", ["stop", "skip"])
def test_a_missing_file_is_no_damage(tmp_path, damaged):
    """A path that leads nowhere is a mistake in the program, which no choice hides."""
    import tensorflow as tf

    path = tmp_path / "train-00000-of-00001"
    with pytest.raises(tf.errors.OpError, match=f"{path}"):
        read(path, damaged)


def test_an_unknown_choice_is_refused_at_once(plain_file):
    """Misspelling `damaged` is one sentence before anything is read."""
    with pytest.raises(CourseKitError, match=r"'ignore'.*records.unknown-mode"):
        read_records(str(plain_file), damaged="ignore")


@pytest.mark.parametrize("damaged", ["stop", "skip"])
def test_reading_works_in_a_graph(plain_file, records, damaged):
    """An Estimator builds its pipeline in a graph of TensorFlow 1."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        files = tf.data.Dataset.from_tensor_slices([str(plain_file)])
        iterator = tf.compat.v1.data.make_initializable_iterator(
            files.interleave(lambda file: read_records(file, damaged))
        )
        following = iterator.get_next()
        session.run(iterator.initializer)
        got = [session.run(following) for _ in records]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
    assert got == records
