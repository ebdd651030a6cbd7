# ruff: noqa: INP001  # a program, and no package
"""Count the layers of well-known networks: `src/coursekit/scaling/networks.json`, which predictions read."""

import json
from dataclasses import astuple
from typing import Any

from coursekit.imagenet.networks import build_network
from coursekit.scaling.networks import RECORDED, Layer, Network

# At the size that each was made for, and as the recorder of slides/results/scaling.json trains them.
NETWORKS = (
    ("MobileNetV2", 224), ("DenseNet121", 224), ("InceptionV3", 299), ("ResNet50", 224), ("ResNet101", 224),
    ("ResNet152", 224), ("ResNet50V2", 224), ("ResNet101V2", 224), ("EfficientNetB0", 224), ("EfficientNetB4", 380),
    ("VGG16", 224), ("MobileNetV2", 96), ("VGG16", 32),
)  # fmt: skip
NUM_CLASSES = 1000
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
    for units in (4096, 4096, NUM_CLASSES):
        network.add(layers.Dense(units))
    return network


def count(name: str, image_size: int) -> Network:
    """Build a network and count its layers, which takes TensorFlow some seconds."""
    return count_layers(name, image_size, build_network(name, image_size, NUM_CLASSES))


def count_layers(name: str, image_size: int, model: Any) -> Network:
    """Return what a model of Keras is, layer by layer."""
    layers = [_count_layer(layer) for layer in _flat(model)]
    return Network(name, image_size, tuple(layer for layer in layers if layer.num_parameters))


def _flat(model: Any) -> list[Any]:
    """Return the layers of a model, and those of models in it."""
    return [inner for layer in model.layers for inner in (_flat(layer) if hasattr(layer, "layers") else [layer])]


def _count_layer(layer: Any) -> Layer:
    """Count each kernel once per place of the output: all that costs much in these networks is such a product."""
    sizes = tuple(int(weight.shape.num_elements()) for weight in layer.trainable_weights)
    shape = layer.output_shape if isinstance(layer.output_shape, tuple) else layer.output_shape[0]
    num_places = 1
    for length in shape[1:-1]:
        num_places *= length
    # Vectors are biases and the numbers of a normalisation; the larger tensors are what pictures are multiplied with.
    products = sum(size for size, weight in zip(sizes, layer.trainable_weights) if len(weight.shape) > 1)
    return Layer(float(f"{2e-9 * num_places * products:.4g}"), sizes)


def as_json(network: Network) -> str:
    """Return a line of `networks.json`."""
    content = {"name": network.name, "image_size": network.image_size, "layers": [astuple(x) for x in network.layers]}
    return json.dumps(content, separators=(",", ":"))


if __name__ == "__main__":
    counted = [count(*one) for one in NETWORKS]
    counted.append(count_layers("AlexNet", ALEXNET_SIDE, alexnet()))
    RECORDED.write_text("[\n" + ",\n".join(map(as_json, counted)) + "\n]\n", encoding="utf-8")
