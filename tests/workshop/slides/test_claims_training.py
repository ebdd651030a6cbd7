"""What deck 07 says of the last layer and its loss."""

from __future__ import annotations

import warnings

import numpy as np
import pytest


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
