"""What a network computes and sends, layer by layer, as it was counted on the layers of Keras."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coursekit.errors import CourseKitError

RECORDED = Path(__file__).with_name("networks.json")  # made by tools/count_networks.py
BYTES_PER_NUMBER = 4  # of a gradient in 32 bits


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
    raise CourseKitError(
        f"{shown} is not among the recorded networks ({known}): tools/count_networks.py adds some.",
        "network.not-recorded",
    )


@cache
def recorded() -> tuple[Network, ...]:
    """Return all networks of `networks.json`."""
    return tuple(
        Network(one["name"], one["image_size"], tuple(Layer(gflop, tuple(sizes)) for gflop, sizes in one["layers"]))
        for one in json.loads(RECORDED.read_text(encoding="utf-8"))
    )
