"""Steps of 2, 4 and 8 ranks that wait where others compute, so that two cores suffice: for docs/scaling.md.

A step sleeps through its forward pass and through the backward pass of one layer after the other.
A thread hands each layer's gradient to Horovod when its layer has slept, so that it may travel while others sleep.
The link is measured on the same ranks: they share the cores, so that each number of ranks has its own.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

SIZES = [4**exponent * 1024 for exponent in range(2, 8)]  # bytes of an allreduce
NUM_LAYERS = 6
STEPS = ((0.24, 2**18), (0.24, 2**22), (0.06, 2**22))  # seconds that a step sleeps, bytes of each layer's gradient
NUM_RANKS = (2, 4, 8)
NUM_REPEATS, NUM_WARM = 12, 3
CYCLE_MS = 1.0
TIMEOUT_S = 120


def measure() -> tuple[list[float], list[float]]:
    """Return this rank's median seconds of an allreduce for each size, and of each kind of step."""
    import time  # noqa: PLC0415  # the function travels to the ranks
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    hvd.init()

    def median(action: Any) -> float:
        seconds = []
        for _ in range(NUM_WARM + NUM_REPEATS):
            hvd.allreduce(tf.zeros(1), name="together")
            begin = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds[NUM_WARM:])

    links = []
    for size in SIZES:
        array = tf.ones([size // 4])
        links.append(median(lambda array=array, size=size: hvd.allreduce(array, op=hvd.Sum, name=f"size_{size}")))

    # A graph for each layer: eager calls of several threads would share one operation, and so its name.
    reductions = [
        tf.function(lambda array, name=f"layer_{layer}": hvd.allreduce(array, op=hvd.Sum, name=name))
        for layer in range(NUM_LAYERS)
    ]

    def step(pool: Any, sleep_s: float, gradient: Any) -> None:
        time.sleep(sleep_s / 3)
        sent = []
        for reduction in reductions:
            time.sleep(sleep_s * 2 / 3 / NUM_LAYERS)
            sent.append(pool.submit(reduction, gradient))
        for one in sent:
            one.result()

    steps = []
    with ThreadPoolExecutor(NUM_LAYERS) as pool:
        for sleep_s, num_bytes in STEPS:
            gradient = tf.ones([num_bytes // 4])
            steps.append(median(lambda sleep_s=sleep_s, gradient=gradient: step(pool, sleep_s, gradient)))
    hvd.shutdown()
    return links, steps


def record() -> dict[str, Any]:
    """Measure each number of ranks, and fit latency and bandwidth to its allreduces."""
    from coursekit import ranks  # noqa: PLC0415  # as for the others

    runs = []
    for num_ranks in NUM_RANKS:
        options = {"timeout_s": TIMEOUT_S, "show_output": False, "environ": {"HOROVOD_CYCLE_TIME": str(CYCLE_MS)}}
        measured = ranks.run(measure, num_ranks=num_ranks, **options)
        links, steps = (np.max([one[part] for one in measured], axis=0) for part in (0, 1))
        alpha_s, beta_s = fit(num_ranks, np.array(SIZES), links)
        runs.append(
            {
                "num_ranks": num_ranks,
                "allreduce_s": [float(f"{one:.4g}") for one in links],
                "alpha_us": float(f"{1e6 * alpha_s:.4g}"),
                "bandwidth_gb_per_s": float(f"{1e-9 / beta_s:.4g}"),
                "step_s": [float(f"{one:.4g}") for one in steps],
            }
        )
    kinds = [{"sleep_s": sleep_s, "layer_bytes": num_bytes} for sleep_s, num_bytes in STEPS]
    return {"bytes": SIZES, "num_layers": NUM_LAYERS, "cycle_ms": CYCLE_MS, "steps": kinds, "runs": runs}


def fit(num_ranks: int, num_bytes: Any, seconds: Any) -> tuple[float, float]:
    """Return alpha and beta of a ring, by least squares of relative errors."""
    num_steps = 2 * (num_ranks - 1)
    columns = np.stack([np.full(len(num_bytes), num_steps), num_steps / num_ranks * num_bytes], axis=1)
    alpha_s, beta_s = np.linalg.lstsq(columns / seconds[:, None], np.ones(len(seconds)), rcond=None)[0]
    return float(alpha_s), float(beta_s)
