"""What a network computes and sends, layer by layer: counted on the layers of Keras, nothing is run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.imagenet.networks import build_network

RECORDED = Path(__file__).with_name("networks.json")  # made by tools/count_networks.py
BYTES_PER_NUMBER = 4  # of a gradient in 32 bits
NUM_CLASSES = 1000


@dataclass(frozen=True)
class Layer:
    """A layer with trained parameters."""

    gflop: float  # 10^9 operations of the forward pass of one image; a multiplication and an addition are two
    num_parameters: tuple[int, ...]  # the sizes of its gradients' tensors


@dataclass(frozen=True)
class Network:
    """A network for images of one size, as `tf.keras.applications` names it; its layers in the order of computing."""

    name: str
    image_size: int
    layers: tuple[Layer, ...]


def find_network(name: str, image_size: int = 0) -> Network:
    """Return a recorded network.

    Args:
        name: as in `tf.keras.applications`.
        image_size: pixels; 0 for the first size that was recorded.

    Raises:
        CourseKitError: it is not recorded.
    """
    for network in recorded():
        if network.name == name and image_size in {0, network.image_size}:
            return network
    known = ", ".join(dict.fromkeys(network.name for network in recorded()))
    shown = f"{name} for {image_size} pixels" if image_size else name
    raise CourseKitError(f"{shown} is not among the recorded networks ({known}): tools/count_networks.py adds some.")


@cache
def recorded() -> tuple[Network, ...]:
    """Return all networks of `networks.json`."""
    return tuple(from_json(content) for content in json.loads(RECORDED.read_text(encoding="utf-8")))


def from_json(content: Mapping[str, Any]) -> Network:
    """Return what `as_json` made."""
    layers = tuple(Layer(gflop, tuple(sizes)) for gflop, sizes in content["layers"])
    return Network(content["name"], content["image_size"], layers)


def as_json(network: Network) -> dict[str, Any]:
    """Return a network as JSON knows it."""
    layers = [[layer.gflop, list(layer.num_parameters)] for layer in network.layers]
    return {"name": network.name, "image_size": network.image_size, "layers": layers}


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
