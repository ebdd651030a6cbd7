"""Read ranks' Python stacks, as faulthandler writes them: where the student's function is, and what else runs."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

# Functions of Horovod and PyTorch that students call and that wait for other ranks, each with its kind of exchange.
COLLECTIVES = {
    **{name: name for name in ("init", "shutdown", "join", "barrier", "alltoall")},
    **dict.fromkeys(("allreduce", "grouped_allreduce"), "allreduce"),
    **dict.fromkeys(("reducescatter", "grouped_reducescatter"), "reducescatter"),
    **dict.fromkeys(("allgather", "allgather_object", "grouped_allgather"), "allgather"),
    **dict.fromkeys(("broadcast", "broadcast_", "broadcast_variables"), "broadcast"),
    **dict.fromkeys(("broadcast_object", "broadcast_global_variables"), "broadcast"),
    "init_process_group": "init",
    "all_reduce": "allreduce",
    "broadcast_object_list": "broadcast",
    **dict.fromkeys(("all_gather", "all_gather_into_tensor", "all_gather_object"), "allgather"),
    "reduce_scatter_tensor": "reducescatter",
}
# The names under which students import the modules with these functions, by a part of the path of their files.
MODULES = {"horovod": "hvd", "torch/distributed": "dist"}
# Files whose threads call no collective: an Estimator's thread, which writes events, and the monitor of tqdm's bars.
SERVICE_THREADS = ("tensorflow/python/summary/writer/event_file_writer.py", "tqdm/_monitor.py")
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
_THREAD = re.compile(r"^(Current thread 0x|Thread 0x|Stack \()")  # "Stack" if only one thread is written


class StackFrame(NamedTuple):
    """One frame of a Python stack; lists of frames begin with the innermost frame."""

    file: str
    line: int
    function: str


def parse_stacks(dump: str) -> list[StackFrame]:
    """Return the frames of the student's function, innermost first; [] if no thread in the dump is running it."""
    worker = str(Path(__file__).with_name("rank_process.py"))
    for frames in _threads(dump):
        if any(frame.file == worker for frame in frames):
            return list(takewhile(lambda frame: frame.file != worker, frames))
    return []


def num_python_threads(dump: str) -> int:
    """Return how many threads in a rank's stacks are running Python code that might call a collective."""
    return sum(not any(frame.file.endswith(SERVICE_THREADS) for frame in frames) for frames in _threads(dump))


def _threads(dump: str) -> list[list[StackFrame]]:
    threads: list[list[StackFrame]] = []
    for line in dump.splitlines():
        if _THREAD.match(line):
            threads.append([])
        elif (match := _FRAME.match(line)) and threads:
            threads[-1].append(StackFrame(match["file"], int(match["line"]), match["function"]))
    return threads


def outermost_collective(frames: list[StackFrame]) -> str:
    """Return the outermost function in a stack that waits for other ranks, as a student calls it; '' if none does."""
    if waiting := _waiting(frames):
        return f"{_module(waiting[-1])}.{waiting[-1].function}"
    horovod = [frame for frame in frames if "horovod" in frame.file]
    if any(frame.function == "after_create_session" for frame in horovod):
        return "hvd.BroadcastGlobalVariablesHook"
    return "hvd.callbacks" if any("callbacks" in frame.file for frame in horovod) else ""


def kind_of_collective(frames: list[StackFrame]) -> str:
    """Return the kind of exchange in which a rank waits, or '' if its stack shows none.

    The innermost function decides, because an outer function, such as a Keras callback, may call several collectives.
    """
    return next((COLLECTIVES[frame.function] for frame in _waiting(frames)), "")


def _waiting(frames: list[StackFrame]) -> list[StackFrame]:
    return [frame for frame in frames if frame.function in COLLECTIVES and _module(frame)]


def _module(frame: StackFrame) -> str:
    return next((module for part, module in MODULES.items() if part in frame.file), "")


def in_compiled_step(frames: list[StackFrame]) -> bool:
    """Return whether TensorFlow is running a graph: a `tf.function`, or a step of an Estimator's session."""
    return any(frame.function in {"quick_execute", "_call_tf_sessionrun"} for frame in frames)
