"""Two Horovod ranks, each on a core of its own, both on one core, and wherever the system puts them; in turns."""

from __future__ import annotations

import os

import numpy as np

from coursekit import ranks

NUM_TURNS, STEPS_PER_TURN = 10, 5
IMAGE_SIZE, BATCH_SIZE, NUM_CLASSES = 128, 32, 100


def train(num_turns, steps_per_turn, image_size, batch_size, num_classes):
    """Train in turns with each placing; return by placing the median seconds per step of each turn."""
    import time  # noqa: PLC0415  # travels with the function
    from pathlib import Path  # noqa: PLC0415  # as above

    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # as above

    from coursekit.imagenet.networks import build_network  # noqa: PLC0415  # as above

    hvd.init()
    cores = sorted(os.sched_getaffinity(0))
    placings = {
        "a core each": {cores[hvd.local_rank() % len(cores)]},
        "not pinned": set(cores),
        "one core": {cores[0]},
    }
    model, optimizer = build_network("SmallCNN", image_size, num_classes), tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)
    pictures = tf.random.stateless_normal((batch_size, image_size, image_size, 3), (1, hvd.rank()))
    labels = tf.range(batch_size)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(pictures, training=True))
            loss = tf.reduce_mean(losses)
        gradients = hvd.grouped_allreduce(tape.gradient(loss, model.trainable_variables), op=hvd.Average)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    def place(allowed):
        """Move all threads of this process, those of TensorFlow and Horovod too."""
        for task in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(task.name), allowed)

    seconds = {name: [] for name in placings}
    for turn in range(-1, num_turns):  # the first is to warm up
        for name, allowed in placings.items():
            place(allowed)
            hvd.allreduce(tf.constant(0.0), name="ready")
            taken = []
            for _ in range(steps_per_turn):
                start = time.perf_counter()
                train_step().numpy()
                taken.append(time.perf_counter() - start)
            if turn >= 0:
                seconds[name].append(sorted(taken)[len(taken) // 2])
    place(set(cores))
    return seconds


def record():
    """Return the milliseconds per step of rank 0 with each placing."""
    settings = (NUM_TURNS, STEPS_PER_TURN, IMAGE_SIZE, BATCH_SIZE, NUM_CLASSES)
    found = ranks.run(train, *settings, num_ranks=2, num_threads=1, seed=1, timeout_s=180)[0]
    return {
        "num_ranks": 2,
        "num_cores": min(2, len(os.sched_getaffinity(0))),
        "image_size": IMAGE_SIZE,
        "batch_size": BATCH_SIZE,
        "step_ms": {name: float(f"{1000 * np.median(turns):.4g}") for name, turns in found.items()},
        "turns_ms": {name: [float(f"{1000 * turn:.4g}") for turn in turns] for name, turns in found.items()},
    }
