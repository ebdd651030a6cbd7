"""A small network with a small and a large batch, down to one loss: how sharp the minima are, and what they are worth.

The large batch is trained twice, with the rate of the small one and with one that is four times as large.
Nothing but batch and rate differs: the start is the same.
"""

from __future__ import annotations

import numpy as np

from workshop.slides.small_network import SmallNetwork, make_samples

NUM_SAMPLES, NUM_TEST = 512, 4096
NUM_CLASSES, IMAGE_SIZE, NOISE, NUM_HIDDEN = 20, 12, 60, 64
TARGET = 0.03  # the training loss at which all of them stop
RUNS = {"small": (8, 0.1), "large": (512, 0.1), "bold": (512, 0.4)}  # batch size and rate
SEEDS = (1, 2, 3)
MOST_EPOCHS = 4000
RESCALING = 4.0
DISTANCES = np.round(np.linspace(-0.4, 0.4, 33), 4)  # along the steepest direction
SHARES = np.round(np.linspace(-1, 2, 49), 4)  # of the way from the small batch's minimum to the large one's

NETWORK = SmallNetwork(IMAGE_SIZE * IMAGE_SIZE * 3, NUM_HIDDEN, NUM_CLASSES)


def train(data, batch_size, rate, seed):
    """Return the weights at which the training loss is down to the target, and how many updates that took."""
    x, labels = data
    rng = np.random.default_rng(seed)
    weights = NETWORK.start(seed)
    for done in range(MOST_EPOCHS):
        order = rng.permutation(NUM_SAMPLES)
        for first in range(0, NUM_SAMPLES, batch_size):
            batch = order[first : first + batch_size]
            _, gradient = NETWORK.loss_and_gradient(weights, x[batch], labels[batch])
            weights = weights - rate * gradient
        if done % max(1, batch_size // 64) == 0 and NETWORK.loss(weights, x, labels) <= TARGET:
            return weights, (done + 1) * -(-NUM_SAMPLES // batch_size)
    raise RuntimeError(f"a batch of {batch_size} did not come down to a loss of {TARGET}")


def describe(weights, num_updates, data, test):
    """Return losses, test accuracy and sharpness of a network."""
    return {
        "updates": num_updates,
        "loss": float(f"{NETWORK.loss(weights, *data):.4g}"),
        "test_loss": float(f"{NETWORK.loss(weights, *test):.4g}"),
        "test_accuracy": round(NETWORK.accuracy(weights, *test), 4),
        "sharpness": float(f"{NETWORK.steepest(weights, *data)[0]:.4g}"),
    }


def valley(weights, data):
    """Return the training loss along the steepest direction through a network."""
    _, direction = NETWORK.steepest(weights, *data)
    return [float(f"{NETWORK.loss(weights + distance * direction, *data):.4g}") for distance in DISTANCES]


def record():
    """Return all networks by way and seed, losses along the line through two of them, and one that was rescaled."""
    data = make_samples(NUM_SAMPLES, NUM_CLASSES, IMAGE_SIZE, seed=1, noise=NOISE)
    test = make_samples(NUM_TEST, NUM_CLASSES, IMAGE_SIZE, seed=2, noise=NOISE)
    trained = {(way, seed): train(data, *RUNS[way], seed) for seed in SEEDS for way in RUNS}
    found = {key: describe(*one, data, test) for key, one in trained.items()}
    small, large = trained["small", SEEDS[0]][0], trained["large", SEEDS[0]][0]
    between = [small + share * (large - small) for share in SHARES.astype(np.float32)]
    # The same function of its inputs, at another place of the loss surface.
    rescaled = NETWORK.rescaled(small, RESCALING)
    return {
        "num_samples": NUM_SAMPLES,
        "num_test": NUM_TEST,
        "num_classes": NUM_CLASSES,
        "num_weights": len(small),
        "num_seeds": len(SEEDS),
        "target": TARGET,
        "ways": {
            way: {"batch_size": size, "rate": rate, "runs": [found[way, seed] for seed in SEEDS], **means(found, way)}
            for way, (size, rate) in RUNS.items()
        },
        "distances": DISTANCES.tolist(),
        "valleys": {way: valley(trained[way, SEEDS[0]][0], data) for way in RUNS},
        "rescaled_valley": valley(rescaled, data),
        "shares": SHARES.tolist(),
        "losses": [float(f"{NETWORK.loss(weights, *data):.4g}") for weights in between],
        "test_losses": [float(f"{NETWORK.loss(weights, *test):.4g}") for weights in between],
        "distance": float(f"{np.linalg.norm(large - small) / np.linalg.norm(small):.4g}"),
        "rescaling": RESCALING,
        "rescaled": describe(rescaled, 0, data, test),
    }


def means(found, way):
    """Return the means over the seeds, and the least and the most accurate."""
    runs = [found[way, seed] for seed in SEEDS]
    accuracies = [run["test_accuracy"] for run in runs]
    return {
        "sharpness": float(f"{np.mean([run['sharpness'] for run in runs]):.4g}"),
        "updates": float(np.mean([run["updates"] for run in runs])),
        "accuracy": round(float(np.mean(accuracies)), 4),
        "accuracies": [min(accuracies), max(accuracies)],
    }
