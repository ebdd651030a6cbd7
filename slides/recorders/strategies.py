"""The same training on two processes with Horovod and with MultiWorkerMirroredStrategy: weights, and time per step."""

from __future__ import annotations

import json
import os
import tempfile

import numpy as np

from coursekit import ranks

NUM_ROUNDS = 3  # runs of each way, in turns
NUM_STEPS, NUM_TIMED = 20, 40  # steps after which weights are compared, and steps that are timed after those
SETTINGS = {
    "num_steps": NUM_STEPS,
    "num_timed": NUM_TIMED,
    "image_size": 32,
    "batch_size": 32,  # of all ranks
    "num_classes": 10,
    "rate": 0.05,
}


def train(way, folder, num_steps, num_timed, image_size, batch_size, num_classes, rate):
    """Train with Horovod or with the strategy; return this rank's weights and its seconds per step."""
    import socket  # noqa: PLC0415  # travels with the function
    import time  # noqa: PLC0415  # as above
    from pathlib import Path  # noqa: PLC0415  # as above

    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    rank, num_ranks = int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"])

    def addresses():
        """Return an address of each worker; they tell each other by files."""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            own = f"127.0.0.1:{one.getsockname()[1]}"
        part = Path(folder) / f"{rank}.part"
        part.write_text(own)
        part.rename(part.with_suffix(""))
        paths = [Path(folder) / str(number) for number in range(num_ranks)]
        while not all(path.exists() for path in paths):
            time.sleep(0.01)
        return [path.read_text() for path in paths]

    def make_model():
        tf.keras.utils.set_random_seed(1)
        layers = [tf.keras.Input((image_size, image_size, 3))]
        for num_filters in (16, 32, 64):
            layers.append(tf.keras.layers.Conv2D(num_filters, 3, strides=2, padding="same", activation="relu"))
        return tf.keras.Sequential([*layers, tf.keras.layers.Flatten(), tf.keras.layers.Dense(num_classes)])

    def loss_of(model, batch):
        pictures, labels = batch
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(pictures, training=True))
        return tf.reduce_sum(losses) / batch_size  # the mean over all ranks: gradients are to be added

    if way == "strategy":
        task = {"type": "worker", "index": rank}
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": addresses()}, "task": task})
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model, optimizer = make_model(), tf.keras.optimizers.SGD(rate)
    else:
        import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only

        hvd.init()
        model, optimizer = make_model(), tf.keras.optimizers.SGD(rate)
        hvd.broadcast_variables(model.variables, root_rank=0)

    def step_here(batch):
        with tf.GradientTape() as tape:
            loss = loss_of(model, batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        if way == "Horovod":
            gradients = hvd.grouped_allreduce(gradients, op=hvd.Sum)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    @tf.function
    def train_step(batch):
        if way == "strategy":
            strategy.run(step_here, args=(batch,))
        else:
            step_here(batch)

    rng = np.random.default_rng(2)
    shape = (batch_size, image_size, image_size, 3)
    pictures = rng.standard_normal((8, *shape)).astype(np.float32)
    labels = rng.integers(num_classes, size=(8, batch_size))
    own = [(tf.constant(p[rank::num_ranks]), tf.constant(k[rank::num_ranks])) for p, k in zip(pictures, labels)]

    seconds, weights = [], None
    for step in range(num_steps + num_timed):
        start = time.perf_counter()
        train_step(own[step % len(own)])
        model.trainable_variables[-1].numpy()
        seconds.append(time.perf_counter() - start)
        if step + 1 == num_steps:
            weights = [variable.numpy() for variable in model.trainable_variables]
    return {"weights": weights, "seconds": seconds[num_steps:], "first": seconds[0]}


def train_alone(num_steps, image_size, batch_size, **others):
    """Return the weights of one process that sees all samples: the oracle."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**others, "num_steps": num_steps, "image_size": image_size, "batch_size": batch_size}
        return ranks.run(train, "Horovod", folder, **{**settings, "num_timed": 0}, num_ranks=1, seed=1)[0]["weights"]


def distance(one, other):
    """Return the largest difference of any weight, as a share of the largest weight."""
    largest = max(np.abs(part).max() for part in one)
    return float(f"{max(np.abs(a - b).max() for a, b in zip(one, other)) / largest:.3g}")


def record():
    """Run both ways in turns on two processes; compare their weights with those of one process."""
    found = {"Horovod": [], "strategy": []}
    for _ in range(NUM_ROUNDS):
        for way, runs in found.items():
            with tempfile.TemporaryDirectory() as folder:
                runs.append(ranks.run(train, way, folder, **SETTINGS, num_ranks=2, seed=1, timeout_s=60))
    alone = train_alone(**SETTINGS)
    weights = {way: [one["weights"] for one in runs[0]] for way, runs in found.items()}

    def milliseconds(runs):
        """Return the median step of rank 0 in each run."""
        return [float(f"{1000 * np.median(run[0]['seconds']):.4g}") for run in runs]

    return {
        "num_ranks": 2,
        "num_steps": NUM_STEPS,
        "batch_size": SETTINGS["batch_size"],
        "num_parameters": int(sum(part.size for part in alone)),
        "between_ranks": {way: distance(*pair) for way, pair in weights.items()},
        "to_one_process": {way: distance(alone, pair[0]) for way, pair in weights.items()},
        "between_ways": distance(weights["Horovod"][0], weights["strategy"][0]),
        "runs_ms": {way: milliseconds(runs) for way, runs in found.items()},
        "step_ms": {way: float(f"{np.median(milliseconds(runs)):.4g}") for way, runs in found.items()},
        "first_s": {way: float(f"{np.median([run[0]['first'] for run in runs]):.3g}") for way, runs in found.items()},
    }
