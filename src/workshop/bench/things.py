"""Things to time in a separate process that has imported nothing yet; `times` of `programs` starts it.

With only the name of a folder as its argument, the program is one rank that `horovodrun` or `mpirun` has started, and
writes its result there. Results are not read from the output, because Open MPI may merge the lines of two ranks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from coursekit.errors import CourseKitError
from coursekit.processes import end_with_parent

NUM_RANKS = 2
TIMEOUT_S = 120.0  # of one call
PROGRAM = [sys.executable, "-m", "workshop.bench.things"]
SECONDS = dict[str, list[float]]


def one_allreduce() -> float:
    """Return the sum of rank + 1 over all ranks, which is 3 for two ranks."""
    import horovod.tensorflow as hvd  # its import is part of what is measured

    hvd.init()
    total = float(hvd.allreduce(np.array([hvd.rank() + 1.0]), op=hvd.Sum)[0])
    hvd.shutdown()
    return total


def write_result(folder: str) -> None:
    """Act as a rank that a launcher has started: write the sum into a separate file."""
    Path(folder, str(os.getpid())).write_text(str(one_allreduce()), encoding="utf-8")


def through_ranks_run(num_ranks: int = NUM_RANKS) -> list[float]:
    """Call the function as labs do."""
    from coursekit import ranks  # each way imports only what it needs

    return ranks.run(one_allreduce, num_ranks=num_ranks, timeout_s=TIMEOUT_S)


def through_mpirun() -> list[float]:
    """Start the function as a program with Open MPI's launcher."""
    from workshop.mpirun import run_by_mpirun  # as above

    with tempfile.TemporaryDirectory() as folder:
        run_by_mpirun([*PROGRAM, folder], NUM_RANKS, Path(folder), timeout_s=TIMEOUT_S)
        return _results(folder)


def through_horovod_run() -> list[float]:
    """Call the function through Horovod's Python interface."""
    import horovod  # as above

    results = horovod.run(one_allreduce, num_proc=NUM_RANKS, use_gloo=True, network_interfaces=["lo"])
    return [float(result) for result in results]


def through_horovodrun() -> list[float]:
    """Start the function as a program with Horovod's launcher."""
    launcher = Path(sys.executable).with_name("horovodrun")
    options = ["-np", str(NUM_RANKS), "--gloo", "--network-interfaces", "lo"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(launcher), *options, *PROGRAM, folder], capture_output=True, check=True)
        return _results(folder)


def _results(folder: str) -> list[float]:
    """Return what a launcher's ranks have written, in any order, because it is the same on all."""
    return [float(file.read_text(encoding="utf-8")) for file in Path(folder).iterdir()]


WAYS: dict[str, Callable[[], list[float]]] = {
    "ranks.run, Gloo": through_ranks_run,
    "ranks.run, MPI": through_ranks_run,
    "horovod.run": through_horovod_run,
    "horovodrun": through_horovodrun,
    "mpirun": through_mpirun,
}


def call_s(call: Callable[[], list[float]], num_ranks: int = NUM_RANKS) -> float:
    """Return the seconds of one call, and raise an error if its result is wrong."""
    begin = time.perf_counter()
    results = call()
    seconds = time.perf_counter() - begin
    expected = [num_ranks * (num_ranks + 1) / 2] * num_ranks
    if results != expected:
        raise CourseKitError(f"expected {expected} from the ranks, got {results}", "bench.wrong-sum")
    return seconds


def calls_s(way: str, num_calls: str) -> SECONDS:
    """Start ranks for one allreduce, once and then this many times more."""
    return {way: [call_s(WAYS[way]) for _ in range(1 + int(num_calls))]}


def import_s() -> SECONDS:
    """Time the import of what a rank imports."""
    begin = time.perf_counter()
    import horovod.tensorflow.keras  # noqa: F401  # what is measured

    return {"import": [time.perf_counter() - begin]}


def steps_s(case: str, setting: str) -> SECONDS:
    """Train on two ranks with and without communication; both arguments are JSON texts."""
    from workshop.bench import steps  # not in the process that measures the import

    return steps.on_two_ranks(steps.Case(**json.loads(case)), steps.Setting(**json.loads(setting)))


THINGS: dict[str, Callable[..., SECONDS]] = {"import": import_s, "calls": calls_s, "steps": steps_s}

if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    if name in THINGS:
        end_with_parent()
        print(json.dumps(THINGS[name](*arguments)))
    else:
        write_result(name)
