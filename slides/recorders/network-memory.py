"""What networks of labs 03 and 04 hold and hand on: numbers of parameters and of outputs, counted from their layers."""

from __future__ import annotations

import tensorflow as tf

IMAGE_SIZE = 224
BYTES = 4  # of a number in FP32
GB, MB = 1e9, 1e6
NAMES = ("ResNet50", "MobileNetV2", "VGG16")
CUT = "conv3_block4_out"  # where ResNet50 is cut in two for model parallelism: after the second of its four stages


def num_values(shape):
    """Return how many values one sample has in an output of this shape, whose first axis is the batch."""
    count = 1
    for length in shape[1:]:
        count *= length
    return count


def count(name):
    """Return parameters of a network, and the outputs of its layers for one picture."""
    network = getattr(tf.keras.applications, name)(weights=None, input_shape=(IMAGE_SIZE, IMAGE_SIZE, 3))
    outputs = sum(num_values(layer.output_shape) for layer in network.layers[1:])
    counted = {
        "parameters_millions": round(network.count_params() / 1e6, 2),
        "parameters_mb": round(network.count_params() * BYTES / MB, 1),
        "activations_mb": round(outputs * BYTES / MB, 1),
    }
    if name == "ResNet50":
        counted["cut_mb"] = round(num_values(network.get_layer(CUT).output_shape) * BYTES / MB, 3)
    return counted


def record():
    """Return the counts by network, in FP32."""
    return {"image_size": IMAGE_SIZE, "networks": {name: count(name) for name in NAMES}}
