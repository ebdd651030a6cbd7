"""A program that imports and checks TensorFlow and Horovod for the doctor and `make env`; also how to call it.

A TensorFlow that was compiled for another processor kills its process, and the caller must survive this.
`python -m coursekit.slurm.probe` prints facts about TensorFlow, Keras and Horovod.
With the argument `allreduce`, it runs an allreduce on two ranks.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from coursekit import KERAS
from coursekit.environ import scrubbed
from coursekit.errors import ShownAsMessage
from coursekit.processes import signal_name
from coursekit.ranks.horovod_build import controllers

NUM_RANKS = 2
NUM_REPEATS = 11
MESSAGE_MB = 1
LIMIT_S = 120
PROBE_LIMIT_S = 600  # on a cold file system, or a busy machine


def tensorflow_facts() -> dict[str, Any]:
    """Return TensorFlow's version, whether it is built for GPUs, and the names of the GPUs that it sees."""
    import tensorflow as tf  # may not be installed

    devices = tf.config.list_physical_devices("GPU")
    names = [tf.config.experimental.get_device_details(device).get("device_name", device.name) for device in devices]
    return {"version": tf.__version__, "gpus": names, "with_cuda": tf.test.is_built_with_cuda()}


def keras_facts() -> dict[str, Any]:
    """Return the version of the package behind `tf.keras`."""
    return {"version": import_module(KERAS).__version__}


def horovod_facts() -> dict[str, Any]:
    """Return Horovod's version, and the controllers and GPU libraries with which it was built."""
    import horovod
    import horovod.tensorflow as hvd

    return {
        "version": horovod.__version__,
        "controllers": controllers(),
        "gpu_operations": [name for name, built in (("NCCL", hvd.nccl_built()), ("CUDA", hvd.cuda_built())) if built],
    }


FACTS = {"TensorFlow": tensorflow_facts, "Keras": keras_facts, "Horovod": horovod_facts}


def print_facts() -> None:
    """Print a line of JSON for each package as soon as its facts are known, so that a crash loses only later facts."""
    for package, facts in FACTS.items():
        try:
            found = facts()
        except Exception as error:  # noqa: BLE001  # whatever a broken installation raises, we want to know
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({package: found}), flush=True)


def measure() -> tuple[float, float]:
    """On each rank, return the sum of rank + 1 over all ranks, and the median time of a larger allreduce in ms."""
    import horovod.tensorflow as hvd  # only ranks import it
    import tensorflow as tf

    hvd.init()
    if gpus := tf.config.list_physical_devices("GPU"):
        mine = gpus[hvd.local_rank() % len(gpus)]
        tf.config.set_visible_devices(mine, "GPU")
        tf.config.experimental.set_memory_growth(mine, True)  # both ranks may share a GPU
    total = float(hvd.allreduce(tf.constant(hvd.rank() + 1.0), op=hvd.Sum, name="sum"))
    message = tf.zeros(MESSAGE_MB * 2**20 // 4, tf.float32)
    seconds = []
    for _ in range(NUM_REPEATS):
        started_s = time.perf_counter()
        hvd.allreduce(message, op=hvd.Sum, name="message").numpy()
        seconds.append(time.perf_counter() - started_s)
    return total, 1000 * statistics.median(seconds)


def check_allreduce() -> str:
    """Return a text that says how long an allreduce takes on two ranks.

    Raises:
        RuntimeError: a rank did not get the sum 1 + 2, which neither rank could get without the other.
    """
    from coursekit import ranks  # the fork server also imports this module

    started_s = time.perf_counter()
    sums, milliseconds = zip(*ranks.run(measure, num_ranks=NUM_RANKS, timeout_s=LIMIT_S))
    took_s = time.perf_counter() - started_s
    expected = NUM_RANKS * (NUM_RANKS + 1) / 2
    if set(sums) != {expected}:
        raise RuntimeError(f"the ranks got the sums {list(sums)}, not {expected}")
    return f"{max(milliseconds):.1f} ms for {MESSAGE_MB} MB; {took_s:.1f} s from cold start to results"


class ProgramAnswer(NamedTuple):
    """A program's exit status or None, its output (stripped), and its last line on stderr or, if none, how it ended."""

    status: int | None
    output: str
    complaint: str


def ask(command: Sequence[str], limit_s: float, environ: Mapping[str, str] | None = None) -> ProgramAnswer:
    """Run a program with a time limit and a clean environment; never raise, and leave no process behind."""
    try:
        process = subprocess.Popen(
            command,
            env={**(scrubbed() if environ is None else environ), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        return ProgramAnswer(None, "", str(error))
    with process:
        try:
            output, complaints = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return ProgramAnswer(None, "", f"no answer within {limit_s:g} s")
        finally:
            # The program has its own session, so this also ends any processes that it has left running.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    status = process.returncode
    how = f"ended by {signal_name(-status)}" if status < 0 else f"exit status {status}"
    lines = complaints.strip().splitlines()
    return ProgramAnswer(status, output.strip(), lines[-1].strip() if lines and status >= 0 else how)


@cache
def probed() -> dict[str, dict[str, Any]]:
    """Return this program's facts about TensorFlow, Keras and Horovod; `{"error": …}` for a package that is broken."""
    answer = ask([sys.executable, "-m", "coursekit.slurm.probe"], PROBE_LIMIT_S)
    facts = {package: {"error": answer.complaint} for package in FACTS}
    for line in answer.output.splitlines():
        if line.startswith("{"):
            facts |= json.loads(line)
    return facts


if __name__ == "__main__":
    if sys.argv[1:] == ["allreduce"]:
        try:
            print(check_allreduce())
        except ShownAsMessage as error:
            sys.exit(str(error))
    else:
        print_facts()
