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


def addresses(folder, rank, num_ranks):
    """Return an address of each worker; they tell each other by files."""
    import socket  # noqa: PLC0415  # travels with the function
    import time  # noqa: PLC0415  # as above
    from pathlib import Path  # noqa: PLC0415  # as above

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


def make_model(settings):
    """Return a small CNN, the same on every process, and its optimiser."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    tf.keras.utils.set_random_seed(1)
    options = {"strides": 2, "padding": "same", "activation": "relu"}
    convolutions = [tf.keras.layers.Conv2D(num_filters, 3, **options) for num_filters in (16, 32, 64)]
    start = tf.keras.Input((settings["image_size"], settings["image_size"], 3))
    end = tf.keras.layers.Dense(settings["num_classes"])
    model = tf.keras.Sequential([start, *convolutions, tf.keras.layers.Flatten(), end])
    return model, tf.keras.optimizers.SGD(settings["rate"])


def own_batches(rank, num_ranks, settings):
    """Return this rank's part of eight batches."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    rng = np.random.default_rng(2)
    shape = (settings["batch_size"], settings["image_size"], settings["image_size"], 3)
    pictures = rng.standard_normal((8, *shape)).astype(np.float32)
    labels = rng.integers(settings["num_classes"], size=(8, settings["batch_size"]))
    return [(tf.constant(p[rank::num_ranks]), tf.constant(k[rank::num_ranks])) for p, k in zip(pictures, labels)]


def make_step_of_strategy(hosts, rank, settings):
    """Return the model and a training step with MultiWorkerMirroredStrategy."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": rank}})
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model, optimizer = make_model(settings)
    step = make_step(model, optimizer, settings, average=list)  # the optimiser adds up over the replicas itself
    return model, lambda batch: strategy.run(step, args=(batch,))


def make_step_of_horovod(settings):
    """Return the model and a training step with Horovod."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only

    hvd.init()
    model, optimizer = make_model(settings)
    hvd.broadcast_variables(model.variables, root_rank=0)
    return model, make_step(model, optimizer, settings, lambda parts: hvd.grouped_allreduce(parts, op=hvd.Sum))


def make_step(model, optimizer, settings, average):
    """Return a step on a batch of this rank; its loss is a part of the mean over all ranks, so gradients are added."""
    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    def step(batch):
        pictures, labels = batch
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(pictures, training=True))
            loss = tf.reduce_sum(losses) / settings["batch_size"]
        gradients = average(tape.gradient(loss, model.trainable_variables))
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    return step


def train(way, folder, settings):
    """Train with Horovod or with the strategy; return this rank's weights and its seconds per step."""
    import time  # noqa: PLC0415  # travels with the function

    import tensorflow as tf  # noqa: PLC0415  # on ranks only

    rank, num_ranks = int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"])
    if way == "strategy":
        model, step = make_step_of_strategy(addresses(folder, rank, num_ranks), rank, settings)
    else:
        model, step = make_step_of_horovod(settings)
    step = tf.function(step, autograph=False)  # nothing in it is Python's own control flow
    own = own_batches(rank, num_ranks, settings)
    seconds, weights = [], None
    for number in range(settings["num_steps"] + settings["num_timed"]):
        start = time.perf_counter()
        step(own[number % len(own)])
        model.trainable_variables[-1].numpy()
        seconds.append(time.perf_counter() - start)
        if number + 1 == settings["num_steps"]:
            weights = [variable.numpy() for variable in model.trainable_variables]
    return {"weights": weights, "seconds": seconds[settings["num_steps"] :], "first": seconds[0]}


def train_together(way, num_ranks, **changes):
    """Return what each of the ranks has."""
    with tempfile.TemporaryDirectory() as folder:
        return ranks.run(train, way, folder, {**SETTINGS, **changes}, num_ranks=num_ranks, seed=1, timeout_s=60)


def distance(one, other):
    """Return the largest difference of any weight, as a share of the largest weight."""
    largest = max(np.abs(part).max() for part in one)
    return float(f"{max(np.abs(a - b).max() for a, b in zip(one, other)) / largest:.3g}")


def record():
    """Run both ways in turns on two processes; compare their weights with those of one process."""
    found = {"Horovod": [], "strategy": []}
    for _ in range(NUM_ROUNDS):
        for way, runs in found.items():
            runs.append(train_together(way, 2))
    alone = train_together("Horovod", 1, num_timed=0)[0]["weights"]
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
