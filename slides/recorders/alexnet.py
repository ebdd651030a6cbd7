"""AlexNet built with both of Keras's ways of building: shapes, parameters, multiplications, and whether they agree."""

from __future__ import annotations

import os

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

SIDE = 224
CONVOLUTIONS = [(64, 11, 4, True), (192, 5, 1, True), (384, 3, 1, False), (256, 3, 1, False), (256, 3, 1, True)]
DENSE = (4096, 4096)
NUM_CLASSES = 1000


def sequential():
    """Return AlexNet as a row of layers."""
    import tensorflow as tf  # noqa: PLC0415  # only who records needs it

    layers = tf.keras.layers
    network = tf.keras.Sequential([tf.keras.Input((SIDE, SIDE, 3))])
    for filters, side, stride, pool in CONVOLUTIONS:
        network.add(layers.Conv2D(filters, side, stride, "same", activation="relu"))
        if pool:
            network.add(layers.MaxPool2D(3, 2))
    network.add(layers.Flatten())
    for units in DENSE:
        network.add(layers.Dropout(0.5))
        network.add(layers.Dense(units, "relu"))
    network.add(layers.Dense(NUM_CLASSES))
    return network


def functional():
    """Return AlexNet as a chain of calls."""
    import tensorflow as tf  # noqa: PLC0415  # as above

    layers = tf.keras.layers
    x = pictures = tf.keras.Input((SIDE, SIDE, 3))
    for filters, side, stride, pool in CONVOLUTIONS:
        x = layers.Conv2D(filters, side, stride, "same", activation="relu")(x)
        if pool:
            x = layers.MaxPool2D(3, 2)(x)
    x = layers.Flatten()(x)
    for units in DENSE:
        x = layers.Dense(units, "relu")(layers.Dropout(0.5)(x))
    return tf.keras.Model(pictures, layers.Dense(NUM_CLASSES)(x))


def mlp():
    """Return the small network of the course's demonstration: 28 x 28 pixels, one hidden layer."""
    import tensorflow as tf  # noqa: PLC0415  # as above

    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((28, 28, 1)),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )


def num_multiplications(layer):
    """Return the multiplications of a layer for one picture."""
    kernel = layer.get_weights()[0].size if layer.get_weights() else 0
    places = int(np.prod(layer.output_shape[1:-1])) if layer.__class__.__name__ == "Conv2D" else 1
    return kernel * places


def rows(network):
    """Return kind, output shape, parameters and multiplications of each layer."""
    return [
        {
            "kind": layer.__class__.__name__,
            "shape": list(layer.output_shape[1:]),
            "num_parameters": layer.count_params(),
            "num_multiplications": num_multiplications(layer),
        }
        for layer in network.layers
    ]


def record():
    """Build both, give them the same weights and the same pictures, and compare what they say."""
    import tensorflow as tf  # noqa: PLC0415  # as above

    tf.keras.utils.set_random_seed(1)
    one, other = sequential(), functional()
    other.set_weights(one.get_weights())
    pictures = np.random.default_rng(1).uniform(-1, 1, (4, SIDE, SIDE, 3)).astype("float32")
    said, also_said = (network(pictures, training=False).numpy() for network in (one, other))
    layers = rows(one)
    dense = sum(layer["num_parameters"] for layer in layers if layer["kind"] == "Dense")
    multiplied = sum(layer["num_multiplications"] for layer in layers)
    convolved = sum(layer["num_multiplications"] for layer in layers if layer["kind"] == "Conv2D")
    return {
        "layers": layers,
        "num_parameters": one.count_params(),
        "num_parameters_functional": other.count_params(),
        "largest_difference": float(np.abs(said - also_said).max()),
        "largest_output": float(np.abs(said).max()),
        "share_of_parameters_dense": round(dense / one.count_params(), 4),
        "share_of_multiplications_convolution": round(convolved / multiplied, 4),
        "num_multiplications": multiplied,
        "gradient_mb": round(4 * one.count_params() / 1e6, 1),
        "mlp": rows(mlp()),
    }
