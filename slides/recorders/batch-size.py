"""A small network on made images with batches of 1 to all: updates, epochs and seconds to one loss, each at its rate.

For every batch size the rate is the one, of many a factor of two apart, with which the loss is reached in the fewest
updates. Seconds are those updates times the median time of one; times of all sizes are taken in turns.
"""

from __future__ import annotations

import os
import time

import numpy as np

from workshop.slides.small_network import SmallNetwork, make_samples

NUM_SAMPLES, NUM_CLASSES, IMAGE_SIZE, NOISE, NUM_HIDDEN = 1024, 20, 12, 60, 64
BATCH_SIZES = (1, 4, 16, 64, 256, 1024)
RATES = tuple(0.0125 * 2**power for power in range(8))
TARGET = 0.5  # over all samples
MOST_EPOCHS = 400
SEEDS = (1, 2, 3)
NUM_ROUNDS, NUM_IN_A_ROUND = 12, 8  # of timing; a lone update after another size would find a cold cache

NETWORK = SmallNetwork(IMAGE_SIZE * IMAGE_SIZE * 3, NUM_HIDDEN, NUM_CLASSES)


def updates_to_target(data, batch_size, rate, seed, most):
    """Return after how many updates the loss over all samples is down to the target; `most` if it is not."""
    x, labels = data
    rng = np.random.default_rng(seed)
    weights = NETWORK.start(seed)
    every = max(1, NUM_SAMPLES // batch_size // 8)  # updates between two looks at the loss
    done = 0
    while done < most:
        order = rng.permutation(NUM_SAMPLES)
        for first in range(0, NUM_SAMPLES, batch_size):
            batch = order[first : first + batch_size]
            _, gradient = NETWORK.loss_and_gradient(weights, x[batch], labels[batch])
            weights = weights - rate * gradient
            done += 1
            if done % every:
                continue
            loss = NETWORK.loss(weights, x, labels)
            if loss <= TARGET:
                return done
            if done >= most or not loss < 100:  # it ran away
                return most
    return most


def find_best(data, batch_size):
    """Return the rate with the fewest updates to the target, and these updates for each seed."""
    most = MOST_EPOCHS * NUM_SAMPLES // batch_size
    fewest = most
    best = RATES[0]
    for rate in reversed(RATES):
        needed = updates_to_target(data, batch_size, rate, SEEDS[0], fewest)
        if needed < fewest:
            fewest, best = needed, rate
    return best, [updates_to_target(data, batch_size, best, seed, most) for seed in SEEDS]


def time_updates(data):
    """Return the median seconds of an update by batch size."""
    x, labels = data
    weights = NETWORK.start(1)
    seconds = {size: [] for size in BATCH_SIZES}
    for number in range(NUM_ROUNDS):
        for size in BATCH_SIZES:
            for repetition in range(NUM_IN_A_ROUND):
                first = (number * NUM_IN_A_ROUND + repetition) * size % (NUM_SAMPLES - size + 1)
                batch = slice(first, first + size)
                begin = time.perf_counter()
                _, gradient = NETWORK.loss_and_gradient(weights, x[batch], labels[batch])
                weights = weights - 1e-6 * gradient
                seconds[size].append(time.perf_counter() - begin)
    return {size: float(np.median(times)) for size, times in seconds.items()}


def record():
    """Return for every batch size its rate, updates, epochs, and seconds to the target."""
    data = make_samples(NUM_SAMPLES, NUM_CLASSES, IMAGE_SIZE, seed=1, noise=NOISE)
    times = time_updates(data)
    sizes = []
    for size in BATCH_SIZES:
        rate, needed = find_best(data, size)
        updates = float(np.median(needed))
        sizes.append(
            {
                "batch_size": size,
                "rate": rate,
                "updates": updates,
                "updates_by_seed": needed,
                "epochs": float(f"{updates * size / NUM_SAMPLES:.4g}"),
                "seconds_per_update": float(f"{times[size]:.4g}"),
                "seconds": float(f"{updates * times[size]:.4g}"),
            }
        )
    return {
        "target": TARGET,
        "num_samples": NUM_SAMPLES,
        "num_classes": NUM_CLASSES,
        "num_seeds": len(SEEDS),
        "num_rates": len(RATES),
        "num_cores": os.cpu_count(),
        "sizes": sizes,
        "fewest_epochs": min(size["epochs"] for size in sizes),
        "quickest": min(sizes, key=lambda size: size["seconds"])["batch_size"],
    }
