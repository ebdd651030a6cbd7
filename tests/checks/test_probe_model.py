"""The probe network knows every sample by its colour, in any precision.

That it writes down each batch with its weights, and that the updates computed from them are TensorFlow's, every
solution of labs 03 and 04 holds: their checks compare the two.
"""

from pathlib import Path

import numpy as np
import pytest

from coursekit.checks import steps
from coursekit.drivers import probe_model


def flat_pictures(numbers):
    """Return images of these samples with pixels from -1 to 1, shape (num_images, 6, 4, 3)."""
    colors = probe_model.colors(numbers)[:, np.newaxis, np.newaxis]
    return (np.broadcast_to(colors, (len(numbers), 6, 4, 3)) / 127.5 - 1).astype(np.float32)


def test_no_two_samples_have_one_colour():
    """The colours of all samples differ, from each other by 43 levels or more in some channel."""
    colors = probe_model.colors(range(probe_model.MAX_NUM_SAMPLES)).astype(int)
    gaps = np.abs(colors[:, np.newaxis] - colors[np.newaxis]).max(axis=2)

    assert gaps[~np.eye(len(colors), dtype=bool)].min() == 43


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16"])
def test_every_sample_is_known_by_its_colour(kind):
    """All 216 samples are read back from their images, also from half precision and the 8 bits of bfloat16."""
    import tensorflow as tf

    numbers = np.arange(probe_model.MAX_NUM_SAMPLES)
    rounded = tf.cast(tf.cast(flat_pictures(numbers), kind), tf.float32)

    assert probe_model.sample_numbers(rounded.numpy()).tolist() == numbers.tolist()


def test_files_have_the_same_sizes_whatever_they_hold(tmp_path, monkeypatch):
    """Ranks whose files hold other samples, with labels of one or two bytes, find files of the same sizes."""
    monkeypatch.chdir(tmp_path)
    sizes = []
    for numbers in (range(8), (215, 130, 3, 77, 126, 127, 128, 60)):
        held = {"counts": (3, 1, 4), "numbers": numbers, "labels": np.add(numbers, 1)}
        monkeypatch.setattr(
            probe_model.places, "_places", [probe_model.places.Place({"files": {"train": held}}, tmp_path, tmp_path)]
        )
        sizes.append([Path(file).stat().st_size for file in probe_model.own_files()])

    assert sizes[0] == sizes[1]
    assert [size / sizes[0][1] for size in sizes[0]] == [3, 1, 4]


def test_loss_of_large_logits_is_finite():
    """Logits of hundreds do not overflow: the loss is then the gap between them."""
    bias = np.array([0.0, 900.0, 100.0])

    assert steps.loss(bias, np.array([1])) == pytest.approx(800.0)
    assert steps.gradient(bias, np.array([1])) == pytest.approx(np.array([0.0, 1.0, -1.0]))
