"""The protocol of a run: all messages between the client, the servers that start ranks, and the ranks.

The client is the notebook's process; there is one server on each node. Messages are pickled, but for a `Report`.

    client → server    LaunchRequest, SendSamples, WriteStacks, Interrupt, Stop
    server → client    Ready, Joined, NotStarted, Sample, Ended, Gone
    rank → client      Report, once for each call; what it prints, and its stacks, by pipes of their own
    client → rank      the call of the next cell, by `pickling.dumps`, if the rank is persistent
    job step → client  Hello, on each connection; on one machine all channels are files that are handed over
    stub → server      the environment that MPI's launcher gave to it (`mpi_stub`)

Example, of two ranks of which the second one fails:

    server → client    Ready()                                       TensorFlow is imported
    client → server    LaunchRequest(RunSpec(…), ranks=(0, 1), …)    and three files for each rank
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
INPUT_VARIABLE = "COURSEKIT_INPUT"  # the number of the file with what one rank alone may read
# Where a task of a job step connects, and how it proves that it belongs to the step: host, port and key, as "…:…:…".
STEP_VARIABLE = "COURSEKIT_STEP"
LENGTH = struct.Struct("!i")  # before a message of a `Connection`


@dataclass(frozen=True)
class RunSpec:
    """One run: the pickled call, and the settings that are the same on every rank."""

    call: bytes  # (function, args, kwargs), by `pickling.dumps`; b"" for persistent ranks: it comes later
    num_ranks: int
    seed: int | None = None  # None to draw other random numbers each time
    num_threads: int = 1
    bind_cores: bool = False
    folder: str = field(default_factory=os.getcwd)
    search_path: tuple[str, ...] = field(default_factory=lambda: tuple(sys.path))
    sources: dict[str, Any] = field(default_factory=dict)  # linecache entries of the notebook's cells
    returns_bytes: bool = False  # sends the function's result as it is, to a receiver that must not unpickle it
    persists: bool = False  # obeys one cell after the other (`forked_rank.serve_cells`), and ends when it is ended
    entropy: int = field(default_factory=lambda: secrets.randbits(64))  # for a seed, where there is none


@dataclass(frozen=True)
class LaunchRequest:
    """Start these ranks."""

    spec: RunSpec
    environ: dict[str, str]  # without Horovod's part
    ranks_on_nodes: tuple[int, ...]  # how many each node has; ranks are numbered node by node
    ranks: tuple[int, ...]  # those to start here
    rendezvous: tuple[str, int] | None = None  # host and port of a store that serves; None to start one on loopback
    stub_address: str = ""  # the name under which the stubs of a job step's MPI find this server (see `mpi`)
    interface: str | None = "lo"  # for Gloo; None leaves it to Horovod, which takes that of the host's name
    has_inputs: bool = False  # whether each rank has a fourth file, for it alone: its number is in `INPUT_VARIABLE`
    # Called in each new process before it becomes a rank, to isolate it; with None in the one that becomes a launcher.
    enter: Callable[[int | None], None] | None = None

    @property
    def num_files_per_rank(self) -> int:
        """How many files come with each rank."""
        return len(FILES) + self.has_inputs


@dataclass(frozen=True)
class SendSamples:
    """Begin to send samples of the ranks, the first one at once, or end it."""

    are_wanted: bool


@dataclass(frozen=True)
class WriteStacks:
    """Let ranks write their Python stacks."""

    all_threads: bool = False  # or of the main one, which harms nobody
    only_asleep: bool = False  # those ranks of which each thread sleeps


@dataclass(frozen=True)
class Interrupt:
    """Interrupt the ranks as Ctrl-C does."""


@dataclass(frozen=True)
class Stop:
    """End the ranks and all that they have started."""


@dataclass(frozen=True)
class Ready:
    """The server has imported what ranks need, or says why no rank can start."""

    failure: str = ""
    joins_by_mpi: bool = False


@dataclass(frozen=True)
class Joined:
    """Each rank of this server has its context in MPI's world."""


@dataclass(frozen=True)
class NotStarted:
    """Ranks could not be isolated, or not be joined by MPI; they have run nothing."""

    reason: str


class Activity(Enum):
    """What a rank does, as far as the kernel sees it."""

    COMPUTES = "computes"  # a thread runs, or its main one waits for a processor
    QUIET = "quiet"  # its main thread sleeps, and no other does more than poll
    # Quiet, and since the sample before each thread only waits for another one of its process, but for polling threads
    # of Horovod and one that sleeps, as TensorFlow's logger of memory: one that reads is not blocked.
    BLOCKED = "blocked"


@dataclass(frozen=True)
class RankSample:
    """What one rank does at the moment of a sample, and how often it got a processor since its start."""

    activity: Activity
    for_s: float  # of corrected time, how long it has been so
    num_timeslices: int  # of its main thread: while this stays the same, it has not moved
    num_other_timeslices: int  # of all other threads, Horovod's among them


@dataclass(frozen=True)
class Sample:
    """A server's ranks that have not ended, and their corrected time since their start (`coursekit.corrected_time`)."""

    corrected_s: float
    ranks: Mapping[int, RankSample]


@dataclass(frozen=True)
class Ended:
    """A rank's process has ended; the exit code is negative if a signal ended it."""

    rank: int
    exit_code: int


@dataclass(frozen=True)
class Gone:
    """Nothing of the run is left on this server."""


@dataclass(frozen=True)
class Hello:
    """The first message on a connection of a job step: who connects, and what for."""

    number: int  # of a task, or of a rank
    purpose: str  # "requests", or one of `FILES`


@dataclass(frozen=True)
class Report:
    """What a rank sends back of a call: its result, or its error, never both or neither."""

    value: bytes | None = None  # cloudpickle of the function's result
    error_type: str = ""
    error_text: str = ""
    traceback: str = ""

    def dumps(self) -> bytes:
        """Return the report as bytes that are safe to read, from any writer: JSON, a line feed, the value."""
        words = [self.value is not None, self.error_type, self.error_text, self.traceback]
        return json.dumps(words).encode() + b"\n" + (self.value or b"")

    @classmethod
    def loads(cls, data: bytes) -> Report:
        """Read what `dumps` wrote; a `ValueError` says that these bytes are not a report."""
        head, _, value = data.partition(b"\n")
        words: object = None
        with suppress(RecursionError):
            words = json.loads(head)
        match words:
            case [bool(has_value), str(error_type), str(text), str(trace)] if has_value is not bool(error_type):
                return cls(value if has_value else None, error_type, text, trace)
        raise ValueError("no report of a rank")


def take_message(received: bytearray, max_bytes: int | None) -> bytes | None:
    """Take what a `Connection` at the other end sent first out of these bytes; None while part of it is missing."""
    if len(received) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(received)
    if length < 0 or (max_bytes is not None and length > max_bytes):
        raise ValueError("a message that is too long")
    end = LENGTH.size + length
    if len(received) < end:
        return None
    message = bytes(received[LENGTH.size : end])
    del received[:end]
    return message
