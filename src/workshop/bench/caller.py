"""A process that starts ranks in one way, on demand, and says how long each call took.

Every way has a caller of its own, as it would have in a notebook: it keeps what it has imported between calls.
Without arguments this program is what `horovodrun` starts: one rank of the call.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

NUM_RANKS = 2
TIMEOUT_S = 120.0  # of a launch by mpirun; the benchmark has a longer one for each call
EXPECTED = [3.0] * NUM_RANKS


def one_allreduce() -> float:
    """Return the sum over all ranks of rank + 1, which for two ranks is 3."""
    import horovod.tensorflow as hvd  # its import is a part of what is measured

    hvd.init()
    total = float(hvd.allreduce(np.array([hvd.rank() + 1.0]), op=hvd.Sum)[0])
    hvd.shutdown()
    return total


def through_ranks_run() -> list[float]:
    """Call the function as labs do."""
    from coursekit import ranks  # each caller imports only its own way

    return ranks.run(one_allreduce, num_ranks=NUM_RANKS)


def through_mpirun() -> list[float]:
    """Start the function as a program with Open MPI's launcher."""
    from workshop.mpirun import run_by_mpirun  # as above

    options, program = ("--bind-to", "none", "--tag-output"), [sys.executable, "-m", "workshop.bench.caller"]
    with tempfile.TemporaryDirectory() as folder:
        said = run_by_mpirun(program, NUM_RANKS, Path(folder), options=options, timeout_s=TIMEOUT_S)
    # Lines read `[1,1]<stdout>:3.0`: job and rank, in any order.
    lines = re.findall(r"^\[\d+,(\d+)\]<stdout>: *(\S+)$", said, flags=re.MULTILINE)
    return [float(result) for _, result in sorted(lines)]


def through_horovod_run() -> list[float]:
    """Call the function through Horovod's Python interface."""
    import horovod  # as above

    results = horovod.run(one_allreduce, num_proc=NUM_RANKS, use_gloo=True, network_interfaces=["lo"])
    return [float(result) for result in results]


def through_horovodrun() -> list[float]:
    """Start the function as a program with Horovod's launcher."""
    launcher = Path(sys.executable).with_name("horovodrun")
    options = ["-np", str(NUM_RANKS), "--gloo", "--network-interfaces", "lo"]
    program = [sys.executable, "-m", "workshop.bench.caller"]
    done = subprocess.run([str(launcher), *options, *program], capture_output=True, text=True, check=True)
    # Lines read `[1]<stdout>: 3.0`, in any order.
    lines = re.findall(r"^\[(\d+)\]<stdout>: *(\S+)$", done.stdout, flags=re.MULTILINE)
    return [float(result) for _, result in sorted(lines)]


WAYS: dict[str, Callable[[], list[float]]] = {
    "ranks.run, Gloo": through_ranks_run,
    "ranks.run, MPI": through_ranks_run,
    "horovod.run": through_horovod_run,
    "horovodrun": through_horovodrun,
    "mpirun": through_mpirun,
}


def answer(channel: Connection, call: Callable[[], list[float]]) -> None:
    """Make one call per request and send its seconds, or the traceback of what went wrong."""
    with contextlib.suppress(EOFError):
        while True:
            channel.recv()
            begin = time.perf_counter()
            try:
                results = call()
            except Exception:  # noqa: BLE001  # whatever it is, the benchmark reports it
                channel.send(traceback.format_exc())
                continue
            seconds = time.perf_counter() - begin
            channel.send(seconds if results == EXPECTED else f"expected {EXPECTED} from the ranks, got {results}")


if __name__ == "__main__":
    if sys.argv[1:]:
        answer(Connection(int(sys.argv[2])), WAYS[sys.argv[1]])
    else:
        print(one_allreduce())
