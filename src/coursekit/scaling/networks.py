"""How much each layer of a network computes and sends, as counted for the network's layers in Keras."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coursekit.errors import CourseKitError

RECORDED = Path(__file__).with_name("networks.json")  # made by tools/count_networks.py
BYTES_PER_NUMBER = 4  # in a 32-bit gradient


@dataclass(frozen=True)
class Layer:
    """A layer with trained parameters."""

    gflop: float  # 10^9 operations in the forward pass of one image; a multiplication and an addition count as two
    num_parameters: tuple[int, ...]  # the sizes of its gradient tensors


@dataclass(frozen=True)
class Network:
    """A network for images of a given size, named as in `tf.keras.applications`, with its layers in forward order."""

    name: str
    image_size: int
    layers: tuple[Layer, ...]


def find_network(name: str, image_size: int = 0) -> Network:
    """Return a recorded network.

    Args:
        name: as in `tf.keras.applications`.
        image_size: in pixels; 0 for the first recorded size.

    Raises:
        CourseKitError: the network is not recorded.
    """
    for network in recorded():
        if network.name == name and image_size in {0, network.image_size}:
            return network
    known = ", ".join(dict.fromkeys(network.name for network in recorded()))
    shown = f"{name} for {image_size} pixels" if image_size else name
    raise CourseKitError(
        f"{shown} is not among the recorded networks ({known}): add it in tools/count_networks.py.",
        "network.not-recorded",
    )


@cache
def recorded() -> tuple[Network, ...]:
    """Return all networks in `networks.json`."""
    return tuple(
        Network(one["name"], one["image_size"], tuple(Layer(gflop, tuple(sizes)) for gflop, sizes in one["layers"]))
        for one in json.loads(RECORDED.read_text(encoding="utf-8"))
    )
