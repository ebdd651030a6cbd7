"""Lab 02's line on two real ranks, with rates up to and beyond the largest stable one."""

from __future__ import annotations

import numpy as np

from coursekit import ranks

NUM_RANKS = 2
NUM_SAMPLES = 1200
NUM_STEPS = 100
RATES_OF_ONE = (0.1, 0.2, 0.3, 0.4, 0.45, 0.48, 0.49, 0.495, 0.505, 0.51, 0.52, 0.55)
DRAWN = (0.2, 0.4, 0.5, 0.52)  # whose paths are kept
START = (0.9, 0.6)  # slope and offset: the same in every run, so that paths can be compared


def make_data(num_samples, seed):
    """Return the samples of lab 02."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.5, 0.5, num_samples).astype(np.float32)
    return x, 2.0 * x + rng.uniform(-0.5, 0.5, num_samples).astype(np.float32)


def train(x, y, rates_of_one, num_steps, start):
    """Train once for each rate, scaled with the number of ranks; return the paths by rate of one rank."""
    import horovod.tensorflow as hvd  # noqa: PLC0415  # on ranks only
    import tensorflow as tf  # noqa: PLC0415  # as above

    hvd.init()
    shard_x, shard_y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    paths = {}
    for rate_of_one in rates_of_one:
        slope, offset = variables = [tf.Variable(value, dtype=tf.float32) for value in start]
        path = [list(start)]
        for _ in range(num_steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((slope * shard_x + offset - shard_y) ** 2)
            gradients = hvd.grouped_allreduce(tape.gradient(loss, variables), op=hvd.Average)
            for variable, gradient in zip(variables, gradients):
                variable.assign_sub(rate_of_one * hvd.size() * gradient)
            path.append([float(slope.numpy()), float(offset.numpy())])
        paths[rate_of_one] = path
    return paths


def record():
    """Return the limit in closed form, and where two ranks end with each rate."""
    x, y = make_data(NUM_SAMPLES, seed=1)
    rates = sorted({*RATES_OF_ONE, *DRAWN})
    paths = ranks.run(train, x, y, rates, NUM_STEPS, START, num_ranks=NUM_RANKS)[0]
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
    smallest, largest = np.linalg.eigvalsh(hessian)
    best_slope, best_offset = np.polyfit(x.astype(float), y.astype(float), 1)
    floor = float(np.mean((best_slope * x + best_offset - y) ** 2))

    def excess(path):
        """Return by how much the last loss is above the smallest there is."""
        slope, offset = np.array(path[-1]) - (best_slope, best_offset)
        return float(f"{np.mean((slope * x + offset) ** 2):.4g}")

    return {
        "num_ranks": NUM_RANKS,
        "num_steps": NUM_STEPS,
        "limit": round(float(2 / largest), 4),
        "eigenvalues": [round(float(smallest), 4), round(float(largest), 4)],
        "best": [round(float(best_slope), 4), round(float(best_offset), 4)],
        "moments": {name: round(float(value.mean()), 5) for name, value in moments(x, y).items()},
        "floor": round(floor, 5),
        "first_excess": excess([START]),
        "rates": [{"rate": round(rate * NUM_RANKS, 3), "excess": excess(paths[rate])} for rate in rates],
        "paths": [
            {"rate": round(rate * NUM_RANKS, 3), "path": np.round(paths[rate][:41], 4).tolist()} for rate in DRAWN
        ],
    }


def moments(x, y):
    """Return what the loss of any line follows from."""
    return {"x": x, "y": y, "xx": x * x, "xy": x * y, "yy": y * y}
