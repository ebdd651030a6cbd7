"""A measured allreduce between two ranks, as a program of its own: `python -m coursekit.slurm.doctor.allreduce`.

`make env` and `coursekit doctor` run it in a process apart, so that a Horovod that crashes or hangs costs them nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

NUM_RANKS = 2
NUM_REPEATS = 11
MESSAGE_MB = 1
LIMIT_S = 120


def expected_sum() -> int:
    """Return the sum of rank + 1 over all ranks."""
    return NUM_RANKS * (NUM_RANKS + 1) // 2


def measure() -> dict[str, float]:
    """Run on every rank: check a sum that only both ranks together can make, then time larger allreduces.

    Returns:
        `sum` of rank + 1 over the ranks, and `allreduce_ms`, the median time of one allreduce of `MESSAGE_MB` MB.
    """
    import horovod.tensorflow as hvd  # belongs to the ranks only
    import tensorflow as tf

    hvd.init()
    if gpus := tf.config.list_physical_devices("GPU"):
        mine = gpus[hvd.local_rank() % len(gpus)]
        tf.config.set_visible_devices(mine, "GPU")
        tf.config.experimental.set_memory_growth(mine, True)  # both ranks may have the same one
    total = float(hvd.allreduce(tf.constant(hvd.rank() + 1.0), op=hvd.Sum, name="sum"))
    message = tf.zeros(MESSAGE_MB * 2**20 // 4, tf.float32)
    seconds = []
    for _ in range(NUM_REPEATS):
        started_s = time.perf_counter()
        hvd.allreduce(message, op=hvd.Sum, name="message").numpy()
        seconds.append(time.perf_counter() - started_s)
    return {"sum": total, "allreduce_ms": 1000 * statistics.median(seconds)}


def main() -> int:
    """Print what was measured as one line of JSON; the exit status says whether the sums were right."""
    from coursekit import ranks  # the fork server imports this module too

    started_s = time.perf_counter()
    results = ranks.run(measure, num_ranks=NUM_RANKS, timeout_s=LIMIT_S)
    measured = {"ranks": results, "launch_s": time.perf_counter() - started_s}
    print(json.dumps(measured))
    return 0 if [result["sum"] for result in results] == [expected_sum()] * NUM_RANKS else 1


if __name__ == "__main__":
    sys.exit(main())
