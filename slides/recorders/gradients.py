"""The magnitudes of a CNN's gradients throughout a training in FP32, and what a cast to FP16 leaves of them."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from coursekit.imagenet import patterns

NUM_CLASSES = 10
NUM_PICTURES = 1280
IMAGE_SIZE = 32
BATCH_SIZE = 64
NUM_STEPS = 300
EVERY = 20  # steps between two looks at the gradients
RATE, MOMENTUM = 0.05, 0.9
FILTERS = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1))  # and strides of the convolutions
EXPONENTS = range(-60, 10)
SCALES = range(0, 33, 2)  # exponents of the loss scales
LARGEST_SUBNORMAL = 2.0**-14  # magnitudes of FP16 below it have fewer digits


def make_data():
    """Return pictures, shape (samples, side, side, 3), pixels from -1 to 1, and their classes."""
    rng = np.random.default_rng(3)
    labels = rng.integers(NUM_CLASSES, size=NUM_PICTURES)
    pictures = [patterns.draw(rng, int(label), IMAGE_SIZE, IMAGE_SIZE, noise=30) for label in labels]
    return np.stack(pictures).astype(np.float32) / 127.5 - 1, labels


def make_layers():
    """Return the network's layers, from pictures to logits."""
    layers = []
    for num_filters, strides in FILTERS:
        layers.append(tf.keras.layers.Conv2D(num_filters, 3, strides=strides, padding="same", activation="relu"))
    return [*layers, tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(NUM_CLASSES)]


class Tally:
    """Counts magnitudes by their exponents, and what becomes of them in FP16 with each loss scale."""

    def __init__(self):
        """Begin with nothing counted."""
        self.num_values = self.num_zeros = 0
        self.by_exponent = dict.fromkeys(EXPONENTS, 0)
        self.lost, self.subnormal, self.overflowing = (dict.fromkeys(SCALES, 0) for _ in range(3))

    def add(self, gradient):
        """Count the values of one gradient, an array of FP32."""
        values = np.abs(gradient[gradient != 0])
        self.num_values += gradient.size
        self.num_zeros += gradient.size - values.size
        exponents, counts = np.unique(np.frexp(values)[1] - 1, return_counts=True)
        for exponent, count in zip(exponents, counts):
            self.by_exponent[int(np.clip(exponent, min(EXPONENTS), max(EXPONENTS)))] += int(count)
        for scale in SCALES:
            # A loss times a power of two gives gradients times that power, digit by digit.
            with np.errstate(over="ignore"):
                halves = (values * np.float32(2.0**scale)).astype(np.float16)
            self.lost[scale] += int(np.sum(halves == 0))
            self.subnormal[scale] += int(np.sum((halves > 0) & (halves < LARGEST_SUBNORMAL)))
            self.overflowing[scale] += int(np.sum(np.isinf(halves)))

    def shares(self):
        """Return the counts as shares: zeros of all values, the rest of those that are not zero."""
        num_others = self.num_values - self.num_zeros

        def of_others(counts):
            return {str(key): float(f"{count / num_others:.4g}") for key, count in counts.items()}

        return {
            "num_values": self.num_values,
            "zeros": round(self.num_zeros / self.num_values, 4),
            "by_exponent": {key: share for key, share in of_others(self.by_exponent).items() if share},
            "lost": of_others(self.lost),
            "subnormal": of_others(self.subnormal),
            "overflowing": of_others(self.overflowing),
        }


def record():
    """Train in FP32, and count the gradients of activations and of weights every few steps."""
    tf.keras.utils.set_random_seed(1)
    pictures, labels = make_data()
    layers, optimizer = make_layers(), tf.keras.optimizers.SGD(RATE, MOMENTUM)
    tallies = {"activations": Tally(), "weights": Tally()}
    unmoved = num_updates = 0
    rng = np.random.default_rng(4)

    @tf.function
    def gradients_of(batch, classes):
        with tf.GradientTape() as tape:
            outputs = [batch]
            for layer in layers:
                outputs.append(layer(outputs[-1]))
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(classes, outputs[-1])
            loss = tf.reduce_mean(losses)
        weights = [weight for layer in layers for weight in layer.trainable_variables]
        return loss, *tape.gradient(loss, (outputs[1:], weights))

    losses = []
    for step in range(NUM_STEPS):
        chosen = rng.integers(NUM_PICTURES, size=BATCH_SIZE)
        loss, of_activations, of_weights = gradients_of(pictures[chosen], labels[chosen])
        weights = [weight for layer in layers for weight in layer.trainable_variables]
        before = [weight.numpy() for weight in weights]
        optimizer.apply_gradients(zip(of_weights, weights))
        losses.append(float(loss))
        if step % EVERY:
            continue
        for kind, gradients in (("activations", of_activations), ("weights", of_weights)):
            for gradient in gradients:
                tallies[kind].add(gradient.numpy())
        for old, weight in zip(before, weights):
            change = weight.numpy() - old
            half = old.astype(np.float16)
            unmoved += int(np.sum((half + change.astype(np.float16) == half) & (change != 0)))
            num_updates += int(np.sum(change != 0))
    return {
        "num_steps": NUM_STEPS,
        "batch_size": BATCH_SIZE,
        "first_loss": round(losses[0], 3),
        "last_loss": round(float(np.mean(losses[-20:])), 3),
        "num_layers": len(FILTERS) + 1,
        "unmoved": round(unmoved / num_updates, 4),
        **{kind: tally.shares() for kind, tally in tallies.items()},
    }
