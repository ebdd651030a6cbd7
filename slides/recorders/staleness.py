"""Lab 01's line with gradients that are some steps old: the loss step by step, and the largest stable rate."""

from __future__ import annotations

import numpy as np

NUM_SAMPLES, SEED = 1000, 1
START = (0.5, 0.8)
RATE = 0.2
NUM_STEPS = 120
DELAYS = (0, 2, 4, 8)  # whose losses are kept
LIMIT_DELAYS = (0, 1, 2, 3, 4, 6, 8, 12, 16)
HIGHEST = 1e6  # a loss above it is cut off


def make_data():
    """Return the samples of lab 01."""
    rng = np.random.default_rng(SEED)
    x = rng.uniform(-0.5, 0.5, NUM_SAMPLES)
    return x, 2.0 * x + rng.uniform(-0.5, 0.5, NUM_SAMPLES)


def descend(x, y, rate, delay, num_steps):
    """Return the path of gradient descent in which every gradient was computed `delay` steps before it is used."""
    path = [np.array(START)]
    for step in range(num_steps):
        slope, offset = path[max(0, step - delay)]  # until there is an older one: the start
        errors = slope * x + offset - y
        path.append(path[-1] - rate * np.array([np.mean(2 * errors * x), np.mean(2 * errors)]))
        if not np.all(np.abs(path[-1]) < HIGHEST):
            break
    return np.array(path)


def largest_rate(x, y, delay):
    """Return the largest rate with which the distance to the best parameters does not grow, by bisection."""
    best = np.polyfit(x, y, 1)
    low, high = 0.0, 2.0
    for _ in range(12):
        rate = (low + high) / 2
        distances = np.hypot(*(descend(x, y, rate, delay, 600) - best).T)
        settles = distances[-100:].max() < distances[:100].max() / 2
        low, high = (rate, high) if settles else (low, rate)
    return (low + high) / 2


def record():
    """Return losses by delay, the largest stable rates by trial, and those of the closed form."""
    x, y = make_data()
    best = np.polyfit(x, y, 1)
    floor = np.mean((best[0] * x + best[1] - y) ** 2)
    curvature = np.linalg.eigvalsh(2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]]))[1]
    runs = []
    for delay in DELAYS:
        path = descend(x, y, RATE, delay, NUM_STEPS)
        losses = [float(f"{np.mean((m * x + n - y) ** 2):.5g}") for m, n in path]
        runs.append({"delay": delay, "losses": losses, "path": np.round(path[:60], 3).tolist()})
    return {
        "rate": RATE,
        "num_steps": NUM_STEPS,
        "floor": round(float(floor), 5),
        "best": np.round(best, 4).tolist(),
        "curvature": round(float(curvature), 4),
        "runs": runs,
        "limits": [
            {
                "delay": delay,
                "found": round(largest_rate(x, y, delay), 4),
                # The roots of z^(d+1) - z^d + rate * curvature leave the unit circle there.
                "formula": round(float(2 / curvature * np.sin(np.pi / (2 * (2 * delay + 1)))), 4),
            }
            for delay in LIMIT_DELAYS
        ],
    }
