"""One job as it was found, and mended in three steps: eight ranks that wait where others read and compute.

A step waits for its batch, sleeps as long as a rank computes, waits for the last rank, and averages its gradients.
Three things are wrong with it: no batch is made ahead, each gradient is a message of its own, and one rank is slow.
Reading and computing are sleeps, so that two cores suffice for eight ranks; the messages are Horovod's own.
"""

from __future__ import annotations

import statistics
from typing import Any

NUM_RANKS = 8
NUM_GRADIENTS, GRADIENT_BYTES = 30, 16 * 1024
READ_S, COMPUTE_S = 0.12, 0.20
SLOW_RANK, SLOWDOWN = 5, 1.5
BATCH_SIZE = 32  # images of a rank's step: for the count of images alone
NUM_STEPS, NUM_WARM = 15, 3
# What is mended, one after the other, in the order of the sessions.
MENDED = ("nothing", "messages", "straggler", "input")
TIMEOUT_S = 180


def train(mended: tuple[str, ...], options: dict[str, Any]) -> list[list[float]]:
    """Return for each step the moments at which its phases begin, and when it ends, on a clock that ranks share."""
    import time  # noqa: PLC0415  # the function travels to the ranks
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    hvd.init()
    slow = hvd.rank() == options["slow_rank"] and "straggler" not in mended
    compute_s = options["compute_s"] * (options["slowdown"] if slow else 1)
    gradients = [tf.ones([options["num_bytes"] // 4]) for _ in range(options["num_gradients"])]
    moments = []
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(time.sleep, options["read_s"])
        for _ in range(options["num_steps"]):
            begin = time.monotonic()
            if "input" in mended:
                ahead.result()
                ahead = reader.submit(time.sleep, options["read_s"])
            else:
                time.sleep(options["read_s"])
            has_batch = time.monotonic()
            time.sleep(compute_s)
            ready = time.monotonic()
            hvd.allreduce(tf.zeros(1), name="meet")  # so that waiting and sending can be told apart
            all_ready = time.monotonic()
            if "messages" in mended:
                hvd.grouped_allreduce(gradients, name="all")
            else:
                for number, one in enumerate(gradients):
                    hvd.allreduce(one, name=f"gradient_{number}")
            moments.append([begin, has_batch, ready, all_ready, time.monotonic()])
    hvd.shutdown()
    return moments


def record() -> dict[str, Any]:
    """Run the job as it was found, then with one thing more mended each time, and once on one rank alone."""
    from coursekit import ranks  # noqa: PLC0415  # as for the others

    options = {
        "slow_rank": SLOW_RANK,
        "slowdown": SLOWDOWN,
        "compute_s": COMPUTE_S,
        "read_s": READ_S,
        "num_bytes": GRADIENT_BYTES,
        "num_gradients": NUM_GRADIENTS,
        "num_steps": NUM_STEPS,
    }
    runs = []
    for number, name in enumerate(MENDED, start=1):
        of_ranks = ranks.run(
            train, MENDED[1:number], options, num_ranks=NUM_RANKS, timeout_s=TIMEOUT_S, show_output=False
        )
        ends = [max(one[step][-1] for one in of_ranks) for step in range(NUM_STEPS)]
        lengths = [later - earlier for earlier, later in zip(ends, ends[1:])]
        middle = sorted(range(NUM_WARM, len(lengths)), key=lengths.__getitem__)[(len(lengths) - NUM_WARM) // 2] + 1
        start = min(one[middle][0] for one in of_ranks)
        step_s = statistics.median(lengths[NUM_WARM:])
        runs.append(
            {
                "mended": name,
                "step_ms": float(f"{1e3 * step_s:.3g}"),
                "images_per_s": float(f"{NUM_RANKS * BATCH_SIZE / step_s:.3g}"),
                "ranks_ms": [[float(f"{1e3 * (one - start):.4g}") for one in rank[middle]] for rank in of_ranks],
            }
        )
    return {
        "num_ranks": NUM_RANKS,
        "slow_rank": SLOW_RANK,
        "num_gradients": NUM_GRADIENTS,
        "read_ms": 1e3 * READ_S,
        "compute_ms": 1e3 * COMPUTE_S,
        "slowdown": SLOWDOWN,
        "alone_images_per_s": float(f"{BATCH_SIZE / COMPUTE_S:.3g}"),
        "runs": runs,
    }
