"""What needs TensorFlow and Horovod imported, as a program of its own, for the doctor and `make env`.

A TensorFlow compiled for another processor ends its process: who asks has to survive that.
`python -m coursekit.slurm.probe` prints facts on TensorFlow, Keras and Horovod.
With `allreduce` behind it, it runs an allreduce on two ranks.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from importlib import import_module
from typing import Any

from coursekit import KERAS

NUM_RANKS = 2
NUM_REPEATS = 11
MESSAGE_MB = 1
LIMIT_S = 120


def tensorflow_facts() -> dict[str, Any]:
    """Return TensorFlow's version, whether it is one for GPUs, and the names of those that it sees."""
    import tensorflow as tf  # may not be there

    devices = tf.config.list_physical_devices("GPU")
    names = [tf.config.experimental.get_device_details(device).get("device_name", device.name) for device in devices]
    return {"version": tf.__version__, "gpus": names, "with_cuda": tf.test.is_built_with_cuda()}


def keras_facts() -> dict[str, Any]:
    """Return the version of the package that `tf.keras` is."""
    return {"version": import_module(KERAS).__version__}


def horovod_facts() -> dict[str, Any]:
    """Return Horovod's version and what it was built with."""
    import horovod
    import horovod.tensorflow as hvd

    return {
        "version": horovod.__version__,
        "controllers": [name for name, built in (("Gloo", hvd.gloo_built()), ("MPI", hvd.mpi_built())) if built],
        "gpu_operations": [name for name, built in (("NCCL", hvd.nccl_built()), ("CUDA", hvd.cuda_built())) if built],
    }


FACTS = {"TensorFlow": tensorflow_facts, "Keras": keras_facts, "Horovod": horovod_facts}


def print_facts() -> None:
    """Print one line of JSON for each package as soon as it is known, so that a crash costs only the rest."""
    for package, facts in FACTS.items():
        try:
            found = facts()
        except Exception as error:  # noqa: BLE001  # whatever a broken installation raises is what is asked for
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({package: found}), flush=True)


def measure() -> tuple[float, float]:
    """Return on every rank the sum of rank + 1 over all ranks, and the median milliseconds of a larger allreduce."""
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
    return total, 1000 * statistics.median(seconds)


def check_allreduce() -> str:
    """Return in words how long two ranks take for an allreduce.

    Raises:
        RuntimeError: a rank got another sum than 1 + 2, which neither can know alone.
    """
    from coursekit import ranks  # the fork server imports this module too

    started_s = time.perf_counter()
    sums, milliseconds = zip(*ranks.run(measure, num_ranks=NUM_RANKS, timeout_s=LIMIT_S))
    took_s = time.perf_counter() - started_s
    expected = NUM_RANKS * (NUM_RANKS + 1) / 2
    if set(sums) != {expected}:
        raise RuntimeError(f"the ranks got the sums {list(sums)}, not {expected}")
    return f"{max(milliseconds):.1f} ms for {MESSAGE_MB} MB; {took_s:.1f} s from cold start to results"


if __name__ == "__main__":
    if sys.argv[1:] == ["allreduce"]:
        print(check_allreduce())
    else:
        print_facts()
