"""One small network with a small batch, and with one eight times as large at four rates, on made pictures.

The large batch is that of two real ranks together. Nothing was tuned: the rates of the small batch are two that it
trains with, a careful one and a bold one.
"""

from __future__ import annotations

import numpy as np

from coursekit import ranks
from coursekit.imagenet.patterns import draw

NUM_RANKS = 2
SMALL_BATCH = 8
FACTOR = 8  # the large batch is so many times as large
NUM_TRAIN, NUM_VALIDATION, NUM_CLASSES, IMAGE_SIZE = 1600, 800, 20, 24
NUM_EPOCHS, NUM_WARMUP_EPOCHS = 10, 3
MOMENTUM = 0.9
RATES = (0.005, 0.02)
SEEDS = (1, 2, 3)
# By what the rate is multiplied, and over how many epochs it is raised to that.
ALONE = {"small": (1, 0)}
TOGETHER = {
    "unscaled": (1, 0),
    "root": (FACTOR**0.5, 0),
    "linear": (FACTOR, 0),
    "warm-up": (FACTOR, NUM_WARMUP_EPOCHS),
}


def make_pictures(num_pictures, seed):
    """Return pictures as those of labs 03 and 04, but smaller and of 20 classes, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(num_pictures) % NUM_CLASSES)
    pictures = np.stack([draw(rng, int(label), IMAGE_SIZE, IMAGE_SIZE, noise=60) for label in labels])
    return pictures.astype(np.float32) / 127.5 - 1, labels


def batches_of(num_pictures, batch_size, seed):
    """Return for every epoch the numbers of the pictures of each full batch."""
    rng = np.random.default_rng(seed)
    num_steps = num_pictures // batch_size
    for _ in range(NUM_EPOCHS):
        yield rng.permutation(num_pictures)[: num_steps * batch_size].reshape(num_steps, batch_size)


def train(jobs, batch_size, data, validation, *, together):
    """Train once for each job; return the loss and the accuracy on the validation set after every epoch.

    Args:
        jobs: by any key: learning rate, its factor, warm-up epochs, and seed.
        batch_size: that of all ranks together.
        data: pictures and labels.
        validation: as above.
        together: whether the ranks train one network together; otherwise each does its own jobs.
    """
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # as above

    hvd.init()
    rank, size = (hvd.rank(), hvd.size()) if together else (0, 1)
    layers = tf.keras.layers
    network = tf.keras.Sequential(
        [
            tf.keras.Input((IMAGE_SIZE, IMAGE_SIZE, 3)),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(NUM_CLASSES),
        ]
    )
    weights = network.trainable_variables
    velocities = [tf.Variable(tf.zeros_like(weight)) for weight in weights]
    rate = tf.Variable(0.0)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = tape.gradient(loss, weights)
        if together:
            gradients = hvd.grouped_allreduce(gradients, op=hvd.Average)
        for gradient, velocity, weight in zip(gradients, velocities, weights):
            velocity.assign(MOMENTUM * velocity + gradient)
            weight.assign_sub(rate * velocity)

    found = {}
    for number, (key, (learning_rate, factor, num_warmup_epochs, seed)) in enumerate(jobs.items()):
        if not together and number % hvd.size() != hvd.rank():
            continue
        # The same seed on all ranks: that stands for the broadcast.
        for weight, velocity in zip(weights, velocities):
            glorot = tf.keras.initializers.GlorotUniform(seed)
            weight.assign(glorot(weight.shape) if len(weight.shape) > 1 else tf.zeros_like(weight))
            velocity.assign(tf.zeros_like(velocity))
        losses, accuracies = [], []
        for epoch, batches in enumerate(batches_of(len(data[1]), batch_size, seed)):
            for number_of_step, batch in enumerate(batches):
                done = (epoch + number_of_step / len(batches)) / num_warmup_epochs if num_warmup_epochs else 1
                rate.assign(learning_rate * (1 + (factor - 1) * min(done, 1)))
                step(data[0][batch[rank::size]], data[1][batch[rank::size]])
            logits = network(validation[0]).numpy()
            losses.append(float(f"{loss_of(validation[1], logits):.4g}"))
            accuracies.append(round(float(np.mean(np.argmax(logits, axis=1) == validation[1])), 4))
        found[key] = {"losses": losses, "accuracies": accuracies}
    return found


def jobs_of(ways):
    """Return a job for each way, rate and seed."""
    return {
        (way, rate, seed): (rate, factor, num_epochs, seed)
        for seed in SEEDS
        for rate in RATES
        for way, (factor, num_epochs) in ways.items()
    }


def record():
    """Return loss and accuracy after every epoch, by rate of the small batch, way and seed."""
    data, validation = make_pictures(NUM_TRAIN, seed=1), make_pictures(NUM_VALIDATION, seed=2)
    alone = ranks.run(
        train, jobs_of(ALONE), SMALL_BATCH, data, validation, together=False, num_ranks=NUM_RANKS, timeout_s=300
    )
    together = ranks.run(
        train,
        jobs_of(TOGETHER),
        SMALL_BATCH * FACTOR,
        data,
        validation,
        together=True,
        num_ranks=NUM_RANKS,
        timeout_s=300,
    )[0]
    found = {key: curves for part in (*alone, together) for key, curves in part.items()}
    return {
        "small_batch": SMALL_BATCH,
        "large_batch": SMALL_BATCH * FACTOR,
        "factor": FACTOR,
        "num_ranks": NUM_RANKS,
        "num_epochs": NUM_EPOCHS,
        "num_warmup_epochs": NUM_WARMUP_EPOCHS,
        "num_classes": NUM_CLASSES,
        "num_seeds": len(SEEDS),
        "num_train": NUM_TRAIN,
        "steps": {"small": NUM_TRAIN // SMALL_BATCH, "large": NUM_TRAIN // (SMALL_BATCH * FACTOR)},
        "runs": [
            {
                "rate": rate,
                "ways": {
                    way: {
                        "factor": round(factor, 3),
                        "accuracies": [found[way, rate, seed]["accuracies"] for seed in SEEDS],
                        "losses": [found[way, rate, seed]["losses"] for seed in SEEDS],
                        "last": round(float(np.mean([found[way, rate, seed]["accuracies"][-1] for seed in SEEDS])), 4),
                    }
                    for way, (factor, _) in {**ALONE, **TOGETHER}.items()
                },
            }
            for rate in RATES
        ],
    }
