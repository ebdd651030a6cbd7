# ruff: noqa: INP001  # a program, and no package
"""Count the layers of well-known networks: `src/coursekit/scaling/networks.json`, which predictions read."""

from __future__ import annotations

import json
from typing import Any

from coursekit.scaling import networks

# At the size that each was made for, and as the recorder of slides/results/scaling.json trains them.
NETWORKS = (
    ("MobileNetV2", 224), ("DenseNet121", 224), ("InceptionV3", 299), ("ResNet50", 224), ("ResNet101", 224),
    ("ResNet152", 224), ("ResNet50V2", 224), ("ResNet101V2", 224), ("EfficientNetB0", 224), ("EfficientNetB4", 380),
    ("VGG16", 224), ("MobileNetV2", 96), ("VGG16", 32),
)  # fmt: skip
ALEXNET_SIDE = 227  # pixels; tf_cnn_benchmarks adds three to the 224
CONVOLUTIONS = (  # filters, side, stride, padding, whether a pooling follows
    (64, 11, 4, "valid", True), (192, 5, 1, "same", True), (384, 3, 1, "same", False), (384, 3, 1, "same", False),
    (256, 3, 1, "same", True),
)  # fmt: skip


def alexnet() -> Any:
    """Return AlexNet as TensorFlow's benchmarks of 2017 train it, which Keras does not have."""
    import tensorflow as tf  # takes seconds

    layers = tf.keras.layers
    network = tf.keras.Sequential([tf.keras.Input((ALEXNET_SIDE, ALEXNET_SIDE, 3))])
    for filters, side, stride, padding, pool in CONVOLUTIONS:
        network.add(layers.Conv2D(filters, side, stride, padding, activation="relu"))
        if pool:
            network.add(layers.MaxPool2D(3, 2))
    network.add(layers.Flatten())
    for units in (4096, 4096, networks.NUM_CLASSES):
        network.add(layers.Dense(units))
    return network


if __name__ == "__main__":
    counted = [networks.count(*one) for one in NETWORKS]
    counted.append(networks.count_layers("AlexNet", ALEXNET_SIDE, alexnet()))
    lines = (json.dumps(networks.as_json(one), separators=(",", ":")) for one in counted)
    networks.RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
