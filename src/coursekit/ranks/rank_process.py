"""The work inside one rank: prepare the process, call the student's function, and send back its result or error."""

from __future__ import annotations

import contextlib
import linecache
import logging
import os
import pickle
import random
import re
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
import numpy as np

from coursekit import hiding
from coursekit.ranks.protocol import Report, RunSpec
from coursekit.tracebacks import short_cause, students_traceback, text_of

NO_GPU = re.compile(rb".*failed call to cuInit: .*\n")
# The first signal asks a rank for the stack of its main thread, and the second for the stacks of all threads. The
# second sometimes kills a rank, because other threads may run while their frames are written.
STACK_SIGNAL, ALL_STACKS_SIGNAL = signal.SIGUSR1, signal.SIGUSR2
PLAIN = "return numbers, text, NumPy arrays, or lists of them"


def run_rank(spec: RunSpec, rank: int, reports: Connection) -> None:
    """Prepare this process as one rank, call the function, and send a `Report`."""

    def prepare_and_call() -> Report:
        prepare(spec, rank)
        return call(spec.call, returns_bytes=spec.returns_bytes)

    report = report_of(prepare_and_call)
    flush_output()
    # Peers that lose a rank log a wall of text. The report is sent first, so that the cause is known before that.
    with contextlib.suppress(BrokenPipeError):
        reports.send_bytes(report.dumps())
    if report.error_type:
        flush_output()
        while True:  # until the notebook ends the run: if this rank ended, its peers would also fail and log text
            signal.pause()
    horovod = sys.modules.get("horovod.tensorflow")
    if horovod is not None and horovod.is_initialized():
        horovod.shutdown()  # without this, its peers would log that the connection was closed
    flush_output()


def report_of(function: Callable[..., Report], *args: Any) -> Report:
    """Return the report that the function returns, or a report of any exception that it raises."""
    try:
        return function(*args)
    except BaseException as error:  # noqa: BLE001  # whatever ends a rank, the notebook must learn about it
        return Report(error_type=type(error).__name__, error_text=text_of(error), traceback=students_traceback(error))


def prepare(spec: RunSpec, rank: int) -> None:
    """Prepare this process as one rank of the run: set its folder, import path, cores, threads and seeds."""
    os.chdir(spec.folder)
    sys.path[:] = spec.search_path
    linecache.cache.update(spec.sources)
    if spec.bind_cores:
        _bind_cores()
    _prepare_tensorflow(spec.num_threads)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(spec.num_threads or len(os.sched_getaffinity(0)))
    # Otherwise all forked processes would draw the same random numbers.
    entropy = spec.entropy if spec.seed is None else spec.seed
    seed_all(int(np.random.SeedSequence([entropy, rank]).generate_state(1)[0]))


def flush_output() -> None:
    """Flush standard output and standard error; ignore a closed pipe."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _bind_cores() -> None:
    """Bind this rank to its own cores before it starts any thread, so that no thread moves to another rank's cores."""
    cores = sorted(os.sched_getaffinity(0))
    share = len(cores) // int(os.environ["HOROVOD_LOCAL_SIZE"])
    if share > 0:
        first = share * int(os.environ["HOROVOD_LOCAL_RANK"])
        os.sched_setaffinity(0, cores[first : first + share])


def _prepare_tensorflow(num_threads: int) -> None:
    if "tensorflow" in sys.modules and num_threads > 0:
        threading = sys.modules["tensorflow"].config.threading
        threading.set_intra_op_parallelism_threads(num_threads)
        threading.set_inter_op_parallelism_threads(num_threads)
    look_for_hidden_gpus()
    # Hide Keras's remark on slow callbacks: with tiny batches, even a right answer causes it now and then by chance.
    logging.getLogger("tensorflow").addFilter(
        lambda record: "is slow compared to the batch time" not in record.getMessage()
    )


def look_for_hidden_gpus() -> None:
    """If GPUs are hidden, let TensorFlow look for GPUs now, and suppress its error message that there are none.

    A TensorFlow that is built for GPUs looks for them once per process, when it first needs a device.
    """
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") == "-1" and os.environ.get("TF_CPP_MIN_LOG_LEVEL") != "0"
    tensorflow = sys.modules.get("tensorflow")
    if hidden and tensorflow is not None and tensorflow.test.is_built_with_cuda():
        with hiding(NO_GPU):
            tensorflow.config.list_physical_devices("GPU")


def seed_all(seed: int) -> None:
    """Seed the global generators of Python, NumPy and, if imported, TensorFlow and PyTorch; `seed` has 32 bits."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # the global generator is the one that lab code uses
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].keras.utils.set_random_seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def call(pickled: bytes, *first: Any, returns_bytes: bool = False) -> Report:
    """Call a function that `pickling.dumps` packed, with `first` before its own arguments; return a report."""
    function, args, kwargs = pickle.loads(pickled)  # noqa: S301  # from our own notebook
    value = function(*first, *args, **kwargs)
    if returns_bytes:
        return Report(value=value)
    try:
        return Report(value=cloudpickle.dumps(value))
    except Exception as error:  # noqa: BLE001  # pickling can fail in any way
        kind = type(value).__name__
        cause = f"{type(error).__name__}: {short_cause(text_of(error))}"
        raise TypeError(f"the result, a {kind}, cannot be sent back: {PLAIN} ({cause})") from None
