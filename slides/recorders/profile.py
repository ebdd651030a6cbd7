"""One step of a small convolutional network on two ranks, as TensorFlow's profiler saw it on rank 0."""

from __future__ import annotations

import re
import tempfile
from typing import Any

from coursekit import ranks
from coursekit.pictures.tensorboard import BACKWARD, OPERATION, read_trace, steps_of

NUM_RANKS = 2
SIDE_PX, BATCH_SIZE = 64, 64
NUM_STEPS = 20
TIMEOUT_S = 120
SHORTEST_MS = 0.1  # nothing shorter is seen on a slide
MS = 1e3
LAYER = re.compile(r"sequential/(\w+)/")  # in an operation's name
KINDS = {"Conv2DBackpropInput": "input", "Conv2DBackpropFilter": "weights"}  # whose gradient an operation computes
POOL = "tf_data_private_threadpool"  # threads that run the functions of a pipeline's maps


def train(folder: str, num_steps: int, batch_size: int, side_px: int) -> None:
    """Fit for some steps on drawn images; rank 0 has a profile written."""
    import contextlib  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow.keras as hvd  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    hvd.init()
    layers = tf.keras.layers
    network = tf.keras.Sequential(
        [
            tf.keras.Input((side_px, side_px, 3)),
            layers.Conv2D(16, 3, activation="relu", name="convolution_1"),
            layers.MaxPool2D(name="pooling"),
            layers.Conv2D(32, 3, activation="relu", name="convolution_2"),
            layers.GlobalAveragePooling2D(name="mean"),
            layers.Dense(10, name="dense"),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.01 * hvd.size())), loss)

    def drawn(number: Any) -> tuple[Any, Any]:
        image = tf.random.stateless_uniform((side_px, side_px, 3), (0, tf.cast(number, tf.int32)))
        return tf.image.random_flip_left_right(tf.image.adjust_contrast(image, 0.5)), number % 10

    data = tf.data.Dataset.range(num_steps * batch_size)
    data = data.map(drawn, num_parallel_calls=1).batch(batch_size, drop_remainder=True).prefetch(1)
    network.fit(data, epochs=1, verbose=0)  # traces the step
    profile = tf.profiler.experimental.Profile(folder) if hvd.rank() == 0 else contextlib.nullcontext()
    with profile:
        network.fit(data, epochs=1, verbose=0)


def merged(intervals: list[list[float]]) -> list[list[float]]:
    """Return intervals in their order, with those that nearly touch as one."""
    found: list[list[float]] = []
    for begin, end in sorted(intervals):
        if found and begin - found[-1][1] < SHORTEST_MS:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def record() -> dict[str, Any]:
    """Train with a profile, and keep the step of middle length: what each part did, in ms since the step began."""
    with tempfile.TemporaryDirectory() as folder:
        settings = (folder, NUM_STEPS, BATCH_SIZE, SIDE_PX)
        ranks.run(train, *settings, num_ranks=NUM_RANKS, timeout_s=TIMEOUT_S, show_output=False)
        trace = read_trace(folder)
    steps = sorted(steps_of(trace), key=lambda step: step.end_s - step.begin_s)
    step = steps[len(steps) // 2]

    def since(begin_s: float, end_s: float) -> list[float]:
        return [round(MS * (moment - step.begin_s), 2) for moment in (begin_s, end_s)]

    within = [one for one in trace if step.begin_s <= one.begin_s <= one.end_s <= step.end_s]
    pipeline = [since(one.begin_s, one.end_s) for one in within if one.thread.startswith(POOL)]
    operations = [
        {"layer": layer[1], "backward": one.name.startswith(BACKWARD), "to": KINDS.get(kind, ""), "ms": ms}
        for one in within
        if OPERATION.fullmatch(one.name) and (layer := LAYER.search(one.name))
        for kind in [one.name.split(":")[0].rpartition("/")[2]]
        for ms in [since(one.begin_s, one.end_s)]
        if ms[1] - ms[0] > SHORTEST_MS
    ]
    return {
        "num_ranks": NUM_RANKS,
        "num_steps": NUM_STEPS,
        "batch_size": BATCH_SIZE,
        "side_px": SIDE_PX,
        "step_ms": since(step.begin_s, step.end_s)[1],
        "operations": operations,
        "input": [since(*one) for one in step.parts["input"]],
        "allreduce": [since(*one) for one in step.parts["allreduce"]],
        "pipeline": merged(pipeline),
    }
