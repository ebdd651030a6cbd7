"""What decks 05, 07 and 08 say of their recorded runs, against sums and chances worked out without TensorFlow."""

from __future__ import annotations

import warnings
from math import comb
from pathlib import Path

import numpy as np
import pytest

from workshop.slides.results import load

ROOT = Path(__file__).parents[3]


def result(name):
    """Return the data of a recorded result."""
    return load(ROOT, name).data


def test_the_stability_limit_is_where_theory_has_it():
    """Below 2 / lambda the loss has fallen; above it has grown; the eigenvalue is that of the recorded moments."""
    data = result("stability-limit")
    mean = data["moments"]
    largest = np.linalg.eigvalsh(2 * np.array([[mean["xx"], mean["x"]], [mean["x"], 1]]))[-1]
    assert data["limit"] == pytest.approx(2 / largest, abs=1e-3)
    for one in data["rates"]:
        if abs(one["rate"] - data["limit"]) > 0.001:
            assert (one["excess"] < data["first_excess"]) == (one["rate"] < data["limit"])


def test_a_careful_rate_may_be_scaled_and_a_bold_one_may_not():
    """Scaled, the large batch comes up with the small one; with a bold rate the root does better than the rule."""
    careful, bold = (one["ways"] for one in result("rate-scaling")["runs"])
    assert careful["unscaled"]["last"] < careful["root"]["last"] < careful["linear"]["last"]
    assert abs(careful["linear"]["last"] - careful["small"]["last"]) < 0.05
    assert careful["small"]["last"] - careful["unscaled"]["last"] > 0.05
    assert bold["linear"]["last"] < bold["warm-up"]["last"] < bold["root"]["last"]


def test_the_callback_takes_the_plain_mean_and_the_bias_is_a_covariance():
    """Sums by allreduce give what one process gives; the mean is off by -cov(size, accuracy) / mean size."""
    data = result("validation-bias")
    sizes = [rank["num_pictures"] for rank in data["ranks"]]
    accuracies = [rank["num_right"] / rank["num_pictures"] for rank in data["ranks"]]
    assert data["callback"]["accuracy"] == pytest.approx(np.mean(accuracies), abs=1e-4)
    assert data["weighted"]["accuracy"] == pytest.approx(data["serial"]["accuracy"], abs=1e-4)
    assert data["weighted"]["loss"] == pytest.approx(data["serial"]["loss"], abs=1e-3)
    bias = -np.cov(sizes, accuracies, bias=True)[0, 1] / np.mean(sizes)
    assert data["plain"]["accuracy"] - data["serial"]["accuracy"] == pytest.approx(bias, abs=1e-4)


def test_alexnet_has_the_parameters_and_multiplications_of_its_layers():
    """Kernels and biases added up by hand, for both ways to build it; a kernel is applied at each place."""
    alexnet = result("alexnet")
    channels, sides, units = [3, 64, 192, 384, 256, 256], [11, 5, 3, 3, 3], [6 * 6 * 256, 4096, 4096, 1000]
    kernels = [side**2 * before * after for side, before, after in zip(sides, channels, channels[1:])]
    convolutions = sum(kernels) + sum(channels[1:])
    dense = sum(before * after + after for before, after in zip(units, units[1:]))
    assert alexnet["num_parameters"] == alexnet["num_parameters_functional"] == convolutions + dense == 61_100_840
    assert alexnet["share_of_parameters_dense"] == pytest.approx(dense / (convolutions + dense), abs=1e-4)
    assert alexnet["gradient_mb"] == pytest.approx(4 * (convolutions + dense) / 1e6, abs=0.1)
    assert alexnet["largest_difference"] == 0
    found = [layer["num_multiplications"] for layer in alexnet["layers"] if layer["kind"] == "Conv2D"]
    assert found == [kernel * side**2 for kernel, side in zip(kernels, (56, 27, 13, 13, 13))]


def test_shards_overlap_and_batches_meet_as_chance_has_it():
    """Shuffled first, each of four ranks reads a sample with a chance of a quarter; sharded first, each is read once.

    Two samples of a batch of 16 of 1024 meet again in 15 of 1023 cases, or always.
    """
    pipeline = result("pipeline")
    shards = pipeline["shards"]
    num_elements, num_ranks = shards["elements"], shards["ranks"]
    assert shards["shard, shuffle"] == [0, num_elements, 0, 0, 0]
    assert sum(shards["shuffle, shard"]) == num_elements
    for times, count in enumerate(shards["shuffle, shard"]):
        chance = comb(num_ranks, times) * 0.25**times * 0.75 ** (num_ranks - times)
        assert count == pytest.approx(chance * num_elements, abs=60)
    assert pipeline["mates"]["wrong"] == 1
    assert pipeline["mates"]["right"] == pytest.approx(15 / 1023, abs=0.005)


def test_what_is_cached_is_frozen_and_sharded_files_are_read_once():
    """Order and windows stay those of the first epoch when the cache comes after them, and only then."""
    pipeline = result("pipeline")
    right, wrong = (pipeline["frozen_order"][name] for name in ("right", "wrong"))
    assert [sorted(epoch) for epoch in right + wrong] == [list(range(16))] * 4
    assert (wrong[0] == wrong[1], right[0] == right[1]) == (True, False)
    windows = pipeline["frozen_pictures"]
    assert (windows["wrong"], windows["seeded"]) == (1, 1)
    assert windows["right"] == windows["seeded_repeat"] == windows["epochs"]
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
