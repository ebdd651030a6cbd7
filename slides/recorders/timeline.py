"""Horovod's own timeline of two ranks that train a small network, one of them slower: one step of it, as intervals."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from coursekit import ranks

WIDTHS = (512, 512, 512, 10)
NUM_INPUTS = 784
BATCH_SIZE = 256
NUM_STEPS = 8
SLOW_RANK = 1
EXTRA_S = 0.03  # what the slower rank needs more for a step, such as for a longer batch


def train(widths: tuple[int, ...], num_inputs: int, batch_size: int, num_steps: int, extra_s: float) -> None:
    """Train on made data; the timeline is written by Horovod on rank 0."""
    import time  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    hvd.init()
    layers = [tf.keras.layers.Dense(width, name=f"dense_{width}_{k}") for k, width in enumerate(widths)]
    model = tf.keras.Sequential(layers)
    optimizer = tf.keras.optimizers.SGD(0.01)
    x, y = tf.random.normal([batch_size, num_inputs]), tf.zeros([batch_size], tf.int64)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step() -> None:
        with tf.GradientTape() as tape:
            value = loss(y, model(x))
        tape = hvd.DistributedGradientTape(tape)
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))

    for _ in range(num_steps):
        time.sleep(extra_s * (hvd.rank() == 1))  # SLOW_RANK
        step()
    hvd.shutdown()


def record() -> dict[str, Any]:
    """Train with a timeline, and keep the last step."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "timeline.json"
        # Without the cache of earlier answers every step is negotiated in full, and the timeline has each rank's word.
        environ = {"HOROVOD_TIMELINE": str(file), "HOROVOD_CACHE_CAPACITY": "0"}
        settings = (WIDTHS, NUM_INPUTS, BATCH_SIZE, NUM_STEPS, EXTRA_S)
        ranks.run(train, *settings, environ=environ, timeout_s=60, show_output=False)
        events = json.loads(file.read_text(encoding="utf-8"))
    tensors = [reduce_to_last_step(events, event) for event in events if "name" in event.get("args", {})]
    start = min(one["negotiate"][0] for one in tensors)
    for one in tensors:
        for key in ("negotiate", "said", "allreduce", "moved"):
            one[key] = [round((microseconds - start) / 1000, 3) for microseconds in one[key]]
    tensors.sort(key=lambda one: (one["allreduce"][0], -one["layer"], one["kind"]))
    return {"extra_ms": round(1000 * EXTRA_S), "slow_rank": SLOW_RANK, "tensors": tensors}


def reduce_to_last_step(events: list[dict[str, Any]], named: dict[str, Any]) -> dict[str, Any]:
    """Return the intervals of one tensor in its last step, in microseconds as the timeline has them."""
    layer, kind = re.findall(r"dense_\d+_(\d)_(MatMul|BiasAdd)", named["args"]["name"])[0]
    kept: dict[str, Any] = {}
    open_ones: list[str] = []
    for event in events:
        if event["pid"] != named["pid"] or event["ph"] == "M":
            continue
        if event["ph"] == "B":
            open_ones.append(event["name"])
            kept[event["name"]] = [event["ts"]]
            if event["name"].startswith("NEGOTIATE"):
                kept["said"] = {}
        elif event["ph"] == "E":
            kept[open_ones.pop()].append(event["ts"])
        else:
            kept["said"][event["name"]] = event["ts"]
    return {
        "layer": int(layer) + 1,
        "kind": "weights" if kind == "MatMul" else "biases",
        "negotiate": kept["NEGOTIATE_ALLREDUCE"],
        "said": [kept["said"][str(rank)] for rank in range(2)],
        "allreduce": kept["ALLREDUCE"],
        "moved": kept["GLOO_ALLREDUCE"],
    }
