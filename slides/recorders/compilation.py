"""One training step run eagerly, as a graph, and compiled by XLA: the first step, and the steps after it."""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf

NUM_FEATURES, WIDTH, NUM_LAYERS, BATCH_SIZE = 64, 64, 12, 64
NUM_TURNS, STEPS_PER_TURN = 15, 20
NUM_CALLS = 12  # with another rate each, for the trap


def make_step(way):
    """Return a function that trains one step on a batch, with a network and an Adam of its own."""
    tf.keras.utils.set_random_seed(1)
    hidden = [tf.keras.layers.Dense(WIDTH, activation="gelu") for _ in range(NUM_LAYERS)]
    model = tf.keras.Sequential([tf.keras.Input((NUM_FEATURES,)), *hidden, tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(jit_compile=False)
    optimizer.build(model.trainable_variables)

    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    if way == "eager":
        return train_step
    return tf.function(train_step, jit_compile=way == "XLA")


def time_steps(train_step, batch, num_steps):
    """Return the seconds per step; a step is over when its loss is here."""
    start = time.perf_counter()
    for _ in range(num_steps):
        train_step(*batch).numpy()
    return (time.perf_counter() - start) / num_steps


def spring_trap(convert):
    """Call a graph with rates that differ; return how often it was traced, and the seconds of all calls."""
    num_traces = 0

    @tf.function
    def update(weights, rate):
        nonlocal num_traces
        num_traces += 1
        for _ in range(20):
            weights = weights - rate * tf.tanh(weights)
        return weights

    weights = tf.ones(100)
    start = time.perf_counter()
    for call in range(NUM_CALLS):
        weights = update(weights, convert(0.1 / (1 + call)))
    return {"num_traces": num_traces, "seconds": float(f"{time.perf_counter() - start:.4g}")}


def record():
    """Time the first step of each way, then all in turns, and count traces."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((BATCH_SIZE, NUM_FEATURES)).astype(np.float32)
    batch = tf.constant(x), tf.constant(np.sin(x.sum(axis=1, keepdims=True)).astype(np.float32))
    steps = {way: make_step(way) for way in ("eager", "graph", "XLA")}
    first = {way: time_steps(step, batch, num_steps=1) for way, step in steps.items()}
    later = {way: [] for way in steps}
    for _ in range(NUM_TURNS):
        for way, step in steps.items():
            later[way].append(time_steps(step, batch, STEPS_PER_TURN))
    return {
        "num_layers": NUM_LAYERS,
        "width": WIDTH,
        "first_s": {way: float(f"{seconds:.4g}") for way, seconds in first.items()},
        "step_ms": {way: float(f"{1000 * np.median(seconds):.4g}") for way, seconds in later.items()},
        "num_calls": NUM_CALLS,
        "trap": {"numbers": spring_trap(float), "tensors": spring_trap(tf.constant)},
    }
