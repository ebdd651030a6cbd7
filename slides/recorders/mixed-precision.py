"""The same small training in FP32, in FP16 alone, and in mixed precision with and without a loss scale."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from coursekit.imagenet import patterns

NUM_CLASSES = 10
NUM_PICTURES, NUM_HELD_OUT = 1024, 256
IMAGE_SIZE = 16
BATCH_SIZE = 32
NUM_STEPS = 120
EVERY = 5  # steps between two recorded losses
RATE = 0.001
FILTERS = ((16, 1), (32, 2), (32, 2))  # and strides of the convolutions
# By name: the policy of the layers, and whether the optimiser scales the loss.
WAYS = {
    "float32": ("float32", False),
    "float16": ("float16", False),
    "mixed, no scale": ("mixed_float16", False),
    "mixed, scaled": ("mixed_float16", True),
}
STEP_SIZE, NUM_ADDITIONS = 0.0003, 1000  # of the sums that begin at one


def make_data():
    """Return pictures, shape (samples, side, side, 3), pixels from -1 to 1, and their classes."""
    rng = np.random.default_rng(3)
    labels = rng.integers(NUM_CLASSES, size=NUM_PICTURES + NUM_HELD_OUT)
    pictures = [patterns.draw(rng, int(label), IMAGE_SIZE, IMAGE_SIZE, noise=30) for label in labels]
    return np.stack(pictures).astype(np.float32) / 127.5 - 1, labels


def make_model(policy):
    """Return the network under a policy of precision; the same seed gives the same weights, up to rounding."""
    tf.keras.mixed_precision.set_global_policy(policy)
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.Input((IMAGE_SIZE, IMAGE_SIZE, 3))]
    for num_filters, strides in FILTERS:
        layers.append(tf.keras.layers.Conv2D(num_filters, 3, strides=strides, padding="same", activation="relu"))
    last = "float16" if policy == "float16" else "float32"
    layers += [tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(NUM_CLASSES, dtype=last)]
    model = tf.keras.Sequential(layers)
    tf.keras.mixed_precision.set_global_policy("float32")
    return model


def train(policy, scaled, pictures, labels):
    """Train once; return losses, the held-out accuracy, the loss scales and the shares of unmoved weights."""
    model = make_model(policy)
    optimizer = tf.keras.optimizers.Adam(RATE)
    if scaled:
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)

    @tf.function
    def train_step(batch, classes):
        with tf.GradientTape() as tape:
            logits = model(batch, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(classes, logits))
            target = optimizer.get_scaled_loss(loss) if scaled else loss
        gradients = tape.gradient(target, model.trainable_variables)
        if scaled:
            gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    rng = np.random.default_rng(4)
    losses, scales = [], []
    for _ in range(NUM_STEPS):
        chosen = rng.integers(NUM_PICTURES, size=BATCH_SIZE)
        losses.append(float(train_step(pictures[chosen], labels[chosen])))
        scales.append(float(optimizer.loss_scale) if scaled else 1.0)
    answers = np.argmax(model(pictures[NUM_PICTURES:]), axis=1)
    means = np.asarray(losses, np.float64).reshape(-1, EVERY).mean(axis=1)
    return {
        "first_bad_step": next((step for step, loss in enumerate(losses, 1) if not np.isfinite(loss)), 0),
        "losses": [None if not np.isfinite(loss) else round(float(loss), 4) for loss in means],
        "accuracy": round(float(np.mean(answers == labels[NUM_PICTURES:])), 4),
        "first_scale": scales[0],
        "last_scale": scales[-1],
    }


def add_up(dtype):
    """Return the sums of one and many small steps, in numbers of this kind."""
    sums = [dtype(1)]
    for _ in range(NUM_ADDITIONS):
        sums.append(sums[-1] + dtype(STEP_SIZE))
    return [float(f"{one:.5g}") for one in sums[:: NUM_ADDITIONS // 20]]


def record():
    """Train in each way, and add small steps to one in FP16 and in FP32."""
    pictures, labels = make_data()
    return {
        "num_steps": NUM_STEPS,
        "every": EVERY,
        "num_parameters": int(make_model("float32").count_params()),
        "step_size": STEP_SIZE,
        "sums": {"float32": add_up(np.float32), "float16": add_up(np.float16)},
        "ways": {name: train(*way, pictures, labels) for name, way in WAYS.items()},
    }
