"""The protocol of a run: all messages between the client, the servers that start ranks, and the ranks.

The client is the notebook's process; there is one server on each node. All messages except `Report` are pickled.

    client → server    LaunchRequest, SendSamples, WriteStacks, Interrupt, Stop
    server → client    Ready, Joined, NotStarted, Sample, Ended, Gone
    rank → client      Report after each call; its output and its stacks, through separate pipes
    client → rank      the call of the next cell, packed by `pickling.dumps`, if the rank is persistent
    job step → client  Hello, on each connection; on one machine, all channels are files passed to the server
    stub → server      the environment that MPI's launcher gave to the stub (`mpi_stub`)

Example with two ranks, the second of which fails:

    server → client    Ready()                                       TensorFlow is imported
    client → server    LaunchRequest(RunSpec(…), ranks=(0, 1), …)    with three files for each rank
    client → server    SendSamples(True)
    server → client    Sample(0.5, {0: …, 1: …})                     twice a second
    rank 1 → client    Report(error_type="ValueError", …)
    client → server    Stop()
    server → client    Gone()
"""

from __future__ import annotations

import json
import os
import secrets
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

FILES = ("output", "reports", "stacks")  # of each rank
MAX_NUM_FILES = 253  # the kernel's limit for one message (SCM_MAX_FD)
MAX_NUM_RANKS = MAX_NUM_FILES // len(FILES)
INPUT_VARIABLE = "COURSEKIT_INPUT"  # holds the number of the file that only this rank may read
# Tells a task of a job step where to connect, and how to prove that it belongs to the step, as "host:port:key".
STEP_VARIABLE = "COURSEKIT_STEP"
LENGTH = struct.Struct("!i")  # comes before each message of a `Connection`


@dataclass(frozen=True)
class RunSpec:
    """One run: the pickled call, and the settings that all ranks share."""

    call: bytes  # (function, args, kwargs), packed by `pickling.dumps`; b"" for persistent ranks, which get calls later
    num_ranks: int
    seed: int | None = None  # None for new random numbers in each run
    num_threads: int = 1
    bind_cores: bool = False
    folder: str = field(default_factory=os.getcwd)
    search_path: tuple[str, ...] = field(default_factory=lambda: tuple(sys.path))
    sources: dict[str, Any] = field(default_factory=dict)  # linecache entries of the notebook's cells
    returns_bytes: bool = False  # whether the function returns bytes, which are sent unchanged and not unpickled
    persists: bool = False  # whether ranks run cell after cell (`forked_rank.serve_cells`) until they are ended
    entropy: int = field(default_factory=lambda: secrets.randbits(64))  # used if there is no seed


@dataclass(frozen=True)
class LaunchRequest:
    """Asks a server to start some or all ranks of a run."""

    spec: RunSpec
    environ: dict[str, str]  # without Horovod's variables
    ranks_on_nodes: tuple[int, ...]  # the number of ranks on each node; ranks are numbered node by node
    ranks: tuple[int, ...]  # the ranks that this server starts
    rendezvous: tuple[str, int] | None = None  # host and port of a running store; None to start one on loopback
    stub_address: str = ""  # in a job step, the name under which MPI stubs find this server (see `mpi`)
    interface: str | None = "lo"  # for Gloo; None lets Horovod use the interface that the host name belongs to
    has_inputs: bool = False  # whether each rank has a fourth, private file, whose number is in `INPUT_VARIABLE`
    # Isolates each new process before it becomes a rank; it gets the rank, or None in the process of MPI's launcher.
    enter: Callable[[int | None], None] | None = None

    @property
    def num_files_per_rank(self) -> int:
        """The number of files that are sent for each rank."""
        return len(FILES) + self.has_inputs


@dataclass(frozen=True)
class SendSamples:
    """Tells a server to start or stop sending samples of its ranks; it sends the first sample at once."""

    are_wanted: bool


@dataclass(frozen=True)
class WriteStacks:
    """Tells a server to make its ranks write their Python stacks."""

    all_threads: bool = False  # False for only the main thread, which does no harm
    only_asleep: bool = False  # only ranks in which every thread is asleep


@dataclass(frozen=True)
class Interrupt:
    """Tells a server to interrupt its ranks, as Ctrl-C does."""


@dataclass(frozen=True)
class Stop:
    """Tells a server to end its ranks and every process that they have started."""


@dataclass(frozen=True)
class Ready:
    """The server has imported the framework, or `failure` says why no rank can start."""

    failure: str = ""
    joins_by_mpi: bool = False


@dataclass(frozen=True)
class Joined:
    """Each rank of this server has its context in MPI's world."""


@dataclass(frozen=True)
class NotStarted:
    """Ranks could not be isolated or joined through MPI; they have not run any code."""

    reason: str


class Activity(Enum):
    """What a rank is doing, as far as the kernel can tell."""

    COMPUTES = "computes"  # a thread is running, or the main thread waits for a processor
    QUIET = "quiet"  # the main thread is asleep, and no other thread does more than poll
    # Quiet, and since the last sample every thread has only waited for another thread of its process. Exceptions are
    # Horovod's polling threads and one thread that sleeps, such as TensorFlow's memory logger; no thread may read.
    BLOCKED = "blocked"


@dataclass(frozen=True)
class RankSample:
    """What one rank was doing when it was sampled, and how many times it has been given a processor since its start."""

    activity: Activity
    for_s: float  # how long it has been doing this, in corrected time
    num_timeslices: int  # of the main thread, which has not moved while this stays the same
    num_other_timeslices: int  # of all other threads, including Horovod's


@dataclass(frozen=True)
class Sample:
    """Samples of a server's ranks that have not ended, and the corrected time since they started (`corrected_time`)."""

    corrected_s: float
    ranks: Mapping[int, RankSample]


@dataclass(frozen=True)
class Ended:
    """A rank's process has ended; the exit code is negative if a signal ended it."""

    rank: int
    exit_code: int


@dataclass(frozen=True)
class Gone:
    """No process of the run is left on this server's node."""


@dataclass(frozen=True)
class Hello:
    """The first message on a connection from a job step: who is connecting, and for what purpose."""

    number: int  # of a task, or of a rank
    purpose: str  # "requests", or one of `FILES`


@dataclass(frozen=True)
class Report:
    """A rank's message after a call: either its result or its error."""

    value: bytes | None = None  # cloudpickle of the function's result
    error_type: str = ""
    error_text: str = ""
    traceback: str = ""

    def dumps(self) -> bytes:
        """Return the report as bytes that are safe to read from any writer: JSON, a line feed, and the value."""
        words = [self.value is not None, self.error_type, self.error_text, self.traceback]
        return json.dumps(words).encode() + b"\n" + (self.value or b"")

    @classmethod
    def loads(cls, data: bytes) -> Report:
        """Return the report that `dumps` wrote; raise a `ValueError` if these bytes are not a report."""
        head, _, value = data.partition(b"\n")
        words: object = None
        with suppress(RecursionError):
            words = json.loads(head)
        match words:
            case [bool(has_value), str(error_type), str(text), str(trace)] if has_value is not bool(error_type):
                return cls(value if has_value else None, error_type, text, trace)
        raise ValueError("these bytes are not a rank's report")


def take_message(received: bytearray, max_bytes: int | None) -> bytes | None:
    """Remove the first message of a `Connection` from `received`, and return it; return None while it is incomplete."""
    if len(received) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(received)
    if length < 0 or (max_bytes is not None and length > max_bytes):
        raise ValueError("a message is too long")
    end = LENGTH.size + length
    if len(received) < end:
        return None
    message = bytes(received[LENGTH.size : end])
    del received[:end]
    return message
