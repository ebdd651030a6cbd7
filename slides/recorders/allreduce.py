"""Horovod's allreduce on this machine: median seconds by size of the message, for 2, 3 and 4 ranks.

Over Gloo as labs start ranks, and over MPI for two ranks. Latency and bandwidth are fitted to two ranks over Gloo,
by the model of the lecture: a ring of two ranks makes two steps of half the array each.
Horovod looks for new tensors every 0.1 ms, not every millisecond: what is measured is then mostly the exchange.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SIZES = [4**exponent * 1024 for exponent in range(8)] + [32 * 1024**2]
SERIES = ((2, "Gloo"), (3, "Gloo"), (4, "Gloo"), (2, "MPI"))
BYTES_PER_SERIES = 512 * 1024**2  # so that large messages are sent less often than small ones
REPEATS = (7, 60)
TIMEOUT_S = 60
CYCLE = {"HOROVOD_CYCLE_TIME": "0.1"}  # milliseconds


def measure(sizes: list[int]) -> list[float]:
    """Return this rank's median seconds of an allreduce, for each size in bytes."""
    import time  # noqa: PLC0415  # the function travels to the ranks

    import horovod.tensorflow as hvd  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    hvd.init()
    medians = []
    for size in sizes:
        array = tf.ones([size // 4])
        repeats = min(max(BYTES_PER_SERIES // (64 * size), REPEATS[0]), REPEATS[1])
        seconds = []
        for _ in range(repeats + 3):
            start = time.perf_counter()
            total = hvd.allreduce(array, op=hvd.Sum, name=f"size_{size}")
            seconds.append(time.perf_counter() - start)
        if float(total[0]) != hvd.size():
            raise ValueError(f"the sum over {hvd.size()} ranks is {float(total[0])}")
        medians.append(statistics.median(seconds[3:]))
    hvd.shutdown()
    return medians


def over_mpi(num_ranks: int) -> list[float]:
    """Return rank 0's medians of ranks that `mpirun` starts: this script, as a program."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "medians.json"
        program = [sys.executable, __file__, str(file)]
        environ = {**os.environ, **CYCLE, "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = ["mpirun", *root, "-np", str(num_ranks), "--oversubscribe", "--bind-to", "none", *program]
        subprocess.run(command, check=True, env=environ, timeout=TIMEOUT_S, capture_output=True)
        medians: list[float] = json.loads(file.read_text(encoding="utf-8"))
    return medians


def record() -> dict[str, Any]:
    """Measure all series and fit the model to the first."""
    from coursekit import ranks  # noqa: PLC0415  # ranks of mpirun do without

    series = []
    for num_ranks, way in SERIES:
        if way == "MPI":
            medians = over_mpi(num_ranks)
        else:
            options = {"timeout_s": TIMEOUT_S, "show_output": False, "environ": CYCLE}
            medians = ranks.run(measure, SIZES, num_ranks=num_ranks, **options)[0]
        series.append({"num_ranks": num_ranks, "way": way, "seconds": [float(f"{one:.4g}") for one in medians]})
    alpha_s, beta_s = fit(np.array(SIZES), np.array(series[0]["seconds"]))
    return {
        "bytes": SIZES,
        "cycle_ms": float(CYCLE["HOROVOD_CYCLE_TIME"]),
        "series": series,
        "alpha_us": float(f"{alpha_s * 1e6:.4g}"),
        "beta_ns_per_byte": float(f"{beta_s * 1e9:.4g}"),
        "bandwidth_gb_per_s": float(f"{1e-9 / beta_s:.4g}"),
    }


def fit(num_bytes: Any, seconds: Any) -> tuple[float, float]:
    """Return alpha and beta of seconds = 2 alpha + bytes beta, by least squares of relative errors."""
    columns = np.stack([np.full(len(num_bytes), 2.0), num_bytes], axis=1) / seconds[:, None]
    alpha_s, beta_s = np.linalg.lstsq(columns, np.ones(len(seconds)), rcond=None)[0]
    return float(alpha_s), float(beta_s)


if __name__ == "__main__":
    everybody = measure(SIZES)
    if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
        Path(sys.argv[1]).write_text(json.dumps(everybody), encoding="utf-8")
