"""Many small gradients: one step's allreduces of two ranks with tensor fusion and without."""

from __future__ import annotations

import statistics
from typing import Any

from coursekit import ranks

NUM_TENSORS = 160
TENSOR_BYTES = 16 * 1024
NUM_STEPS = 15
TURNS = 3
SETTINGS = {"on": {}, "off": {"HOROVOD_FUSION_THRESHOLD": "0"}}


def train(num_tensors: int, num_bytes: int, num_steps: int) -> list[float]:
    """Return the seconds of each step, in which all tensors are handed to Horovod at once, as after a backward pass."""
    import time  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    hvd.init()

    @tf.function
    def exchange(gradients: Any) -> Any:
        return [hvd.allreduce(one, name=f"gradient_{number}") for number, one in enumerate(gradients)]

    gradients = [tf.ones([num_bytes // 4]) for _ in range(num_tensors)]
    seconds = []
    for _ in range(num_steps):
        start = time.perf_counter()
        exchange(gradients)[-1].numpy()
        seconds.append(time.perf_counter() - start)
    hvd.shutdown()
    return seconds


def record() -> dict[str, Any]:
    """Measure both settings in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for _ in range(TURNS):
        for name, environ in SETTINGS.items():
            results = ranks.run(
                train, NUM_TENSORS, TENSOR_BYTES, NUM_STEPS, environ=environ, timeout_s=60, show_output=False
            )
            seconds[name] += results[0][3:]  # the first steps trace the graph and fill Horovod's cache
    medians = {name: statistics.median(many) for name, many in seconds.items()}
    return {
        "num_tensors": NUM_TENSORS,
        "tensor_kib": TENSOR_BYTES // 1024,
        "total_mib": NUM_TENSORS * TENSOR_BYTES / 1024**2,
        "median_ms": {name: float(f"{1e3 * one:.4g}") for name, one in medians.items()},
        "ms": {name: [float(f"{1e3 * one:.4g}") for one in many] for name, many in seconds.items()},
        "ratio": float(f"{medians['off'] / medians['on']:.4g}"),
    }
