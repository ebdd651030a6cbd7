"""What the checks of lab 02's pieces do on a rank, where Horovod is initialised already (`calls.with_horovod`)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.drivers import places

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


def pin_with_pretended_gpus(pin_gpu: Callable[[], Any], num_gpus: int) -> list[int] | None:
    """Call the answer where TensorFlow reports GPUs, and return the numbers of those that it makes visible.

    The one place where the kit pretends: a machine without GPUs cannot show this fault.
    """
    from unittest import mock  # noqa: PLC0415  # on ranks only

    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    gpus = [tf.config.PhysicalDevice(f"/physical_device:GPU:{number}", "GPU") for number in range(num_gpus)]
    chosen: list[list[Any]] = []
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)

    def list_devices(device_type: str | None = None) -> list[Any]:
        return gpus if device_type in {None, "GPU"} else []

    def set_visible(devices: Any, device_type: str | None = None) -> None:
        del device_type
        # A device is a named tuple, so a tuple alone does not make a list of devices.
        chosen.append([devices] if isinstance(devices, tf.config.PhysicalDevice) else list(devices))

    pretended = {
        "list_physical_devices": list_devices,
        "set_visible_devices": set_visible,
        "set_memory_growth": lambda *_, **__: None,
    }
    with contextlib.ExitStack() as stack:
        for name, function in pretended.items():
            for module in (tf.config, tf.config.experimental):
                stack.enter_context(mock.patch.object(module, name, function, create=True))
        pin_gpu()
    if chosen:
        return [gpus.index(device) for device in chosen[-1]]
    by_variable = os.environ.get("CUDA_VISIBLE_DEVICES")
    return None if by_variable is None else [int(number) for number in by_variable.split(",") if number.strip()]


def shard(answer: Callable[..., Any], x: Array, y: Array) -> list[Array]:
    """Return this rank's share of both arrays."""
    a, b = answer(x, y)
    return [np.array(a), np.array(b)]


def broadcast(broadcast_start: Callable[..., Any]) -> list[float]:
    """Start from this rank's own values; return those after the broadcast."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    variables = [tf.Variable(value, dtype=tf.float32) for value in places.private()]
    broadcast_start(variables)
    return [float(variable.numpy()) for variable in variables]


def average(answer: Callable[..., Any]) -> list[Array]:
    """Hand over this rank's own gradients; return what the answer makes of them."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    return [np.array(gradient) for gradient in answer([tf.constant(gradient) for gradient in places.private()])]


def scaled(scale_rate: Callable[[float], Any], base: float) -> float:
    """Return the scaled learning rate; the answer may give a tensor."""
    return float(scale_rate(base))


def save(save_history: Callable[..., Any]) -> None:
    """Let the answer save this rank's own history in this rank's own folder."""
    here = places.here()
    save_history(np.array(here.private), here.own)
