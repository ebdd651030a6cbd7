"""A small trained network on three real ranks with unequal shards: three ways to say how good it is."""

from __future__ import annotations

import numpy as np

from coursekit import ranks
from coursekit.imagenet.patterns import draw

NUM_RANKS = 3
BATCH_SIZE = 64
NUM_TRAIN, NUM_CLASSES, IMAGE_SIZE = 1600, 20, 24
NUM_EPOCHS = 4
# Written class by class, cut into files of different length, as many data sets are.
SHARD_SIZES = (400, 300, 100)


def make_pictures(num_pictures, seed):
    """Return pictures as those of labs 03 and 04, but smaller and of 20 classes, sorted by their labels."""
    rng = np.random.default_rng(seed)
    labels = np.sort(np.arange(num_pictures) % NUM_CLASSES)
    pictures = np.stack([draw(rng, int(label), IMAGE_SIZE, IMAGE_SIZE, noise=60) for label in labels])
    return pictures.astype(np.float32) / 127.5 - 1, labels


def validate(data, validation, shard_sizes):
    """Train on all ranks together, then validate on this rank's shard; return what this rank knows."""
    import horovod.tensorflow.keras as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # as above

    hvd.init()
    tf.keras.utils.set_random_seed(1)
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
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.02, momentum=0.9))
    network.compile(optimizer, loss_of, metrics=["accuracy"])
    # Dealt out after mixing, and as many on every rank: the training is not what goes wrong here.
    mixed = np.random.default_rng(1).permutation(len(data[1]) // hvd.size() * hvd.size())[hvd.rank() :: hvd.size()]
    broadcast = hvd.callbacks.BroadcastGlobalVariablesCallback(0)
    network.fit(
        data[0][mixed],
        data[1][mixed],
        batch_size=16,
        epochs=NUM_EPOCHS,
        shuffle=False,
        callbacks=[broadcast],
        verbose=0,
    )
    first = sum(shard_sizes[: hvd.rank()])
    own = slice(first, first + shard_sizes[hvd.rank()])
    pictures, labels = validation[0][own], validation[1][own]

    whole = network.predict(validation[0], verbose=0)

    # Batch by batch, as a loop of one's own would.
    batches = [slice(n, n + BATCH_SIZE) for n in range(0, len(labels), BATCH_SIZE)]
    logits = [network(pictures[batch], training=False).numpy() for batch in batches]
    right = [int(np.sum(np.argmax(part, axis=1) == labels[batch])) for part, batch in zip(logits, batches)]
    sizes = [len(part) for part in logits]
    losses = [float(loss_of(labels[batch], part)) for part, batch in zip(logits, batches)]
    sums = tf.constant([np.dot(losses, sizes), sum(right), sum(sizes)], tf.float32)
    sums = hvd.allreduce(sums, op=hvd.Sum)

    # With the callback: a fit that changes nothing, for the validation at its end.
    network.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.0)), loss_of, metrics=["accuracy"])
    average = hvd.callbacks.MetricAverageCallback()
    few = (data[0][mixed][:16], data[1][mixed][:16])
    history = network.fit(*few, validation_data=(pictures, labels), callbacks=[average], verbose=0).history

    full = [n for n, size in enumerate(sizes) if size == BATCH_SIZE]
    return {
        "rank": {
            "num_pictures": len(labels),
            "num_classes": len(np.unique(labels)),
            "num_right": sum(right),
            "accuracy": round(sum(right) / sum(sizes), 5),
            "mean_of_batches": round(float(np.mean(np.divide(right, sizes))), 5),
            "batch_sizes": sizes,
            "loss": round(float(np.dot(losses, sizes) / sum(sizes)), 5),
            "num_kept": sum(sizes[n] for n in full),
            "num_right_kept": sum(right[n] for n in full),
        },
        "weighted": {"loss": round(float(sums[0] / sums[2]), 5), "accuracy": round(float(sums[1] / sums[2]), 5)},
        "callback": {
            "loss": round(float(history["val_loss"][-1]), 5),
            "accuracy": round(float(history["val_accuracy"][-1]), 5),
        },
        "serial": {
            "loss": round(float(loss_of(validation[1], whole)), 5),
            "accuracy": round(float(np.mean(np.argmax(whole, axis=1) == validation[1])), 5),
        },
    }


def record():
    """Return what each rank found on its shard, and what three ways make of it."""
    data, validation = make_pictures(NUM_TRAIN, seed=1), make_pictures(sum(SHARD_SIZES), seed=2)
    found = ranks.run(validate, data, validation, SHARD_SIZES, num_ranks=NUM_RANKS, timeout_s=120)
    own = [one["rank"] for one in found]
    kept = sum(rank["num_kept"] for rank in own)
    return {
        "num_ranks": NUM_RANKS,
        "batch_size": BATCH_SIZE,
        "num_pictures": sum(SHARD_SIZES),
        "ranks": own,
        "plain": {
            "loss": round(float(np.mean([rank["loss"] for rank in own])), 5),
            "accuracy": round(float(np.mean([rank["accuracy"] for rank in own])), 5),
        },
        "weighted": found[0]["weighted"],
        "callback": found[0]["callback"],
        "serial": found[0]["serial"],
        "dropped": {
            "num_pictures": sum(SHARD_SIZES) - kept,
            "accuracy": round(sum(rank["num_right_kept"] for rank in own) / kept, 5),
        },
    }
