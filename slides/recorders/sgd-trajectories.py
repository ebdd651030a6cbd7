"""Lab 01's line by gradient descent, mini-batches and single samples; one update in detail; the largest stable rate."""

from __future__ import annotations

import numpy as np

NUM_SAMPLES, SEED = 1000, 1
START = (0.5, 0.8)  # slope and offset, as in the lab
RATE = 0.5
NUM_EPOCHS = 100
BATCH_SIZES = (1000, 1, 100)  # in the order in which they are told
NUM_DRAWN = 200  # steps that are kept of the longest path
NOISE_SIZES, NUM_DRAWS = (1, 10, 100), 40
RATES = np.round(np.linspace(0.1, 1.1, 41), 3)
NUM_STEPS = 100  # with each of the rates


def make_data():
    """Return the samples of lab 01."""
    rng = np.random.default_rng(SEED)
    x = rng.uniform(-0.5, 0.5, NUM_SAMPLES)
    return x, 2.0 * x + rng.uniform(-0.5, 0.5, NUM_SAMPLES)


def loss(point, x, y):
    """Return the mean squared error of a line."""
    return float(np.mean((point[0] * x + point[1] - y) ** 2))


def gradient(point, x, y):
    """Return the derivatives of the loss with respect to slope and offset."""
    errors = point[0] * x + point[1] - y
    return np.array([np.mean(2 * errors * x), np.mean(2 * errors)])


def train(x, y, batch_size):
    """Return the path of so many epochs, or of ten if there is an update for each sample."""
    rng = np.random.default_rng(SEED)
    path = [np.array(START)]
    for _ in range(NUM_EPOCHS if batch_size > 1 else 10):
        order = rng.permutation(len(x))
        for first in range(0, len(x), batch_size):
            picked = order[first : first + batch_size]
            path.append(path[-1] - RATE * gradient(path[-1], x[picked], y[picked]))
    return np.array(path)


def record():
    """Return data, moments, paths and losses, the noise of gradients, and the loss after training by rate."""
    x, y = make_data()
    best = np.polyfit(x, y, 1)
    paths = {size: train(x, y, size) for size in BATCH_SIZES}
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
    smallest, largest = np.linalg.eigvalsh(hessian)
    return {
        "num_samples": NUM_SAMPLES,
        "rate": RATE,
        "num_epochs": NUM_EPOCHS,
        "x": rounded(x, 2),
        "y": rounded(y, 2),
        "start": list(START),
        "best": rounded(best),
        "floor": round(loss(best, x, y), 5),
        "first_loss": round(loss(START, x, y), 4),
        "first_gradient": rounded(gradient(START, x, y)),
        "moments": {name: round(float(value.mean()), 6) for name, value in moments(x, y).items()},
        "runs": [
            {
                "batch_size": size,
                "num_updates": len(path) - 1,
                "path": rounded(path[: NUM_DRAWN + 1], 3),
                "end": rounded(path[-1]),
                "spread": rounded(path[len(path) // 2 :].std(axis=0)),
                "losses": [[int(step), round(loss(path[step], x, y), 5)] for step in picked(len(path))],
            }
            for size, path in paths.items()
        ],
        "noise": [noise(x, y, size) for size in NOISE_SIZES],
        "eigenvalues": rounded([smallest, largest]),
        "limit": round(float(2 / largest), 4),
        "num_steps": NUM_STEPS,
        "rates": [[float(rate), float(f"{loss(descend(x, y, rate), x, y):.4g}")] for rate in RATES],
    }


def noise(x, y, batch_size):
    """Return gradients at the start, each of another batch, and how far they lie from that of all samples."""
    rng = np.random.default_rng(SEED)
    full = gradient(START, x, y)
    drawn = []
    for _ in range(1000):
        batch = rng.choice(len(x), batch_size, replace=False)
        drawn.append(gradient(START, x[batch], y[batch]))
    distances = np.hypot(*(np.array(drawn) - full).T)
    return {
        "batch_size": batch_size,
        "gradients": rounded(drawn[:NUM_DRAWS], 3),
        "error": round(float(np.sqrt(np.mean(distances**2)) / np.hypot(*full)), 4),
    }


def descend(x, y, rate):
    """Return where gradient descent on all samples ends."""
    point = np.array(START)
    for _ in range(NUM_STEPS):
        point = point - rate * gradient(point, x, y)
    return point


def picked(length):
    """Return steps to be drawn: all of a short path, of a long one evenly on a logarithmic axis."""
    return np.unique(np.geomspace(1, length, 90).astype(int)) - 1


def moments(x, y):
    """Return what the loss of any line follows from."""
    return {"x": x, "y": y, "xx": x * x, "xy": x * y, "yy": y * y}


def rounded(values, digits=4):
    """Return plain numbers."""
    return np.round(np.asarray(values, dtype=float), digits).tolist()
