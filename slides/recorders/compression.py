"""The allreduce of a network's gradients on two ranks, as they are and cast to FP16 on the way, in turns."""

from __future__ import annotations

import numpy as np

from coursekit import ranks

NUM_TENSORS, NUM_VALUES = 40, 87_500  # 3.5 million parameters: as many as MobileNetV2 has
NUM_TURNS, CALLS_PER_TURN = 12, 5


def average(num_tensors, num_values, num_turns, calls_per_turn):
    """Return by name the median seconds of an allreduce in each turn, and the largest error of a value."""
    import time  # noqa: PLC0415  # travels with the function

    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # as above

    hvd.init()
    rng = np.random.default_rng(hvd.rank())
    gradients = [tf.constant(rng.normal(0, 1e-3, num_values).astype(np.float32)) for _ in range(num_tensors)]
    ways = {"FP32": hvd.Compression.none, "FP16": hvd.Compression.fp16}

    def make(compression):
        return tf.function(lambda parts: hvd.grouped_allreduce(parts, compression=compression, op=hvd.Average))

    calls = {name: make(compression) for name, compression in ways.items()}
    seconds = {name: [] for name in ways}
    for turn in range(-1, num_turns):  # the first is to warm up
        for name, call in calls.items():
            taken = []
            for _ in range(calls_per_turn):
                start = time.perf_counter()
                call(gradients)[-1].numpy()
                taken.append(time.perf_counter() - start)
            if turn >= 0:
                seconds[name].append(sorted(taken)[len(taken) // 2])
    exact, rounded = (calls[name](gradients)[0].numpy() for name in ways)
    return seconds, float(np.max(np.abs(exact - rounded)) / np.max(np.abs(exact)))


def record():
    """Return the milliseconds of an allreduce on rank 0."""
    settings = (NUM_TENSORS, NUM_VALUES, NUM_TURNS, CALLS_PER_TURN)
    seconds, error = ranks.run(average, *settings, num_ranks=2, num_threads=1, bind_cores=True, seed=1)[0]
    return {
        "num_parameters": NUM_TENSORS * NUM_VALUES,
        "ms": {name: float(f"{1000 * np.median(turns):.4g}") for name, turns in seconds.items()},
        "turns_ms": {name: [float(f"{1000 * turn:.4g}") for turn in turns] for name, turns in seconds.items()},
        "largest_error": float(f"{error:.3g}"),
    }
