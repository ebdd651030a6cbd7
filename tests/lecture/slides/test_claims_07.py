"""What deck 07 claims, against sums and chances that were worked out without TensorFlow."""

from __future__ import annotations

import warnings
from math import comb
from pathlib import Path

import numpy as np
import pytest

from coursekit.lecture.slides.results import load

ROOT = Path(__file__).parents[3]


def pairwise(values):
    """Return neighbours; Python 3.9 has no such function."""
    return list(zip(values, values[1:]))


@pytest.fixture(scope="module")
def alexnet():
    """Give what was recorded of AlexNet."""
    return load(ROOT, "alexnet").data


@pytest.fixture(scope="module")
def pipeline():
    """Give what was recorded of pipelines."""
    return load(ROOT, "pipeline").data


def test_alexnet_has_the_parameters_of_its_layers(alexnet):
    """Kernels and biases added up by hand, for both ways to build it, and four bytes each on the way."""
    channels = [3, 64, 192, 384, 256, 256]
    sides = [11, 5, 3, 3, 3]
    units = [6 * 6 * 256, 4096, 4096, 1000]
    convolutions = sum(side**2 * before * after + after for side, (before, after) in zip(sides, pairwise(channels)))
    dense = sum(before * after + after for before, after in pairwise(units))
    assert alexnet["num_parameters"] == alexnet["num_parameters_functional"] == convolutions + dense == 61_100_840
    assert alexnet["share_of_parameters_dense"] == pytest.approx(dense / (convolutions + dense), abs=1e-4)
    assert alexnet["gradient_mb"] == pytest.approx(4 * (convolutions + dense) / 1e6, abs=0.1)
    assert alexnet["largest_difference"] == 0


def test_alexnet_multiplies_kernel_by_places(alexnet):
    """A convolution's kernel is applied at each place of its output."""
    found = [layer["num_multiplications"] for layer in alexnet["layers"] if layer["kind"] == "Conv2D"]
    kernels = [11**2 * 3 * 64, 5**2 * 64 * 192, 3**2 * 192 * 384, 3**2 * 384 * 256, 3**2 * 256 * 256]
    assert found == [kernel * side**2 for kernel, side in zip(kernels, (56, 27, 13, 13, 13))]


def test_shards_overlap_as_chance_has_it(pipeline):
    """Each of four ranks reads a sample with a chance of a quarter; sharded first, each is read once."""
    shards = pipeline["shards"]
    num_elements, num_ranks = shards["elements"], shards["ranks"]
    assert shards["shard, shuffle"] == [0, num_elements, 0, 0, 0]
    assert sum(shards["shuffle, shard"]) == num_elements
    for times, count in enumerate(shards["shuffle, shard"]):
        chance = comb(num_ranks, times) * 0.25**times * 0.75 ** (num_ranks - times)
        assert count == pytest.approx(chance * num_elements, abs=60)


def test_shuffled_batches_stay_together(pipeline):
    """Shuffled first, two samples of a batch of 16 of 1024 meet again by chance, 15 in 1023."""
    assert pipeline["mates"]["wrong"] == 1
    assert pipeline["mates"]["right"] == pytest.approx(15 / 1023, abs=0.005)


def test_what_is_cached_is_frozen(pipeline):
    """Order and windows stay those of the first epoch when the cache comes after them, and only then."""
    right, wrong = (pipeline["frozen_order"][name] for name in ("right", "wrong"))
    assert [sorted(epoch) for epoch in right + wrong] == [list(range(16))] * 4
    assert wrong[0] == wrong[1]
    assert right[0] != right[1]
    windows = pipeline["frozen_pictures"]
    assert (windows["wrong"], windows["seeded"]) == (1, 1)
    assert windows["right"] == windows["seeded_repeat"] == windows["epochs"]


def test_sharding_files_reads_a_share_and_sharding_records_all(pipeline):
    """Of 16 files and all records, a rank of four opens four files, or all."""
    reads = pipeline["reads"]
    assert reads["shard records"] == {"opened": 16, "read": 192, "used": 48}
    assert reads["shard files"]["opened"] == reads["files"] // reads["ranks"]
    assert reads["shard files"]["read"] == reads["shard files"]["used"]


@pytest.mark.filterwarnings(
    "ignore:non-integer arguments:DeprecationWarning"
)  # Keras draws its seeds in a way that Python has deprecated
@pytest.mark.parametrize(
    ("last", "from_logits", "learns", "warns"),
    [
        ("softmax", False, True, False),
        ("softmax", True, True, True),
        (None, True, True, False),
        (None, False, False, False),
    ],
)
def test_logits_that_are_not_called_so_learn_nothing(last, from_logits, learns, warns):
    """Of four ways to join the last layer and the loss, one fails without a word, and a doubled softmax is noticed."""
    import tensorflow as tf

    rng = np.random.default_rng(0)
    samples = rng.normal(size=(512, 10)).astype(np.float32)
    classes = (samples @ rng.normal(size=(10, 5))).argmax(1)
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Dense(32, "relu", input_shape=(10,)), tf.keras.layers.Dense(5, last)]
    network = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    network.compile(tf.keras.optimizers.SGD(0.1), loss, metrics=["accuracy"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        accuracy = network.fit(samples, classes, epochs=20, verbose=0).history["accuracy"][-1]

    assert (accuracy > 0.9, accuracy < 0.4) == (learns, not learns)
    assert any("from_logits=True" in str(one.message) for one in told) == warns
