"""A request for ranks, the files that travel with it, and the ranks of a run as the process that asked sees them."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import IO

from coursekit.ranks.worker import Task

NUM_FILES_PER_RANK = 3  # output, reports, stacks
INPUT_VARIABLE = "COURSEKIT_INPUT"
MAX_NUM_FILES = 253  # the kernel's limit for one message (SCM_MAX_FD)


@dataclass(frozen=True)
class LaunchRequest:
    """A request: start these ranks.

    Attributes:
        task: what every rank does.
        environ: their environment, without Horovod's part.
        ranks_on_nodes: how many ranks each node has; ranks are numbered node by node.
        ranks: those to start here.
        rendezvous: host and port of a store that serves; None to start one on loopback.
        interface: the network interface for Gloo; None leaves it to Horovod, which takes that of the host's name.
        by_mpi: whether MPI joins the ranks, as srun has prepared it in the environment, and not Gloo.
        has_inputs: whether each rank comes with a file for it alone, whose number it finds in `INPUT_VARIABLE`.
        enter: called with the rank in each new process before it becomes that rank, to isolate it.
    """

    task: Task
    environ: dict[str, str]
    ranks_on_nodes: tuple[int, ...]
    ranks: tuple[int, ...]
    rendezvous: tuple[str, int] | None = None
    interface: str | None = "lo"
    by_mpi: bool = False
    has_inputs: bool = False
    enter: Callable[[int], None] | None = None

    @property
    def num_files_per_rank(self) -> int:
        """How many files come with each rank."""
        return NUM_FILES_PER_RANK + self.has_inputs


def receive_over_socket(channel: Connection, request: LaunchRequest) -> tuple[LaunchRequest, list[int]]:
    """Receive the files that the notebook's process on this machine sends along with a request."""
    num_files = len(request.ranks) * request.num_files_per_rank
    with socket.socket(fileno=os.dup(channel.fileno())) as files_socket:
        _, files, _, _ = socket.recv_fds(files_socket, 1, MAX_NUM_FILES)
    if len(files) != num_files:
        raise EOFError(f"expected {num_files} files, got {len(files)}: the notebook's process has ended")
    return request, files


MAX_STACK_BYTES = 1 << 20  # of one rank, each time that it is asked


@dataclass
class RunningRanks:
    """The ranks of one run as the notebook sees them: file ends to read from, and a channel to each server.

    Attributes:
        controls: one connection per server that runs ranks.
        outputs: by rank, the file number from which to read what the rank prints.
        reports: by rank, the connection over which its `Report` comes.
        stacks: by rank, where it writes its Python stacks when asked to.
        server: what runs the ranks, in words.
    """

    controls: list[Connection]
    outputs: list[int] = field(default_factory=list)
    reports: list[Connection] = field(default_factory=list)
    stacks: list[IO[bytes]] = field(default_factory=list)
    server: str = "the fork server"
    _running: list[Connection] = field(init=False)
    _dumps: list[bytearray] = field(default_factory=list)
    _num_read: dict[IO[bytes], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._running = list(self.controls)

    @property
    def gone(self) -> bool:
        """Whether every server has said that its part of the run has ended and nothing of it is left."""
        return not self._running

    @property
    def num_running(self) -> int:
        """How many servers still have ranks."""
        return len(self._running)

    def ask_for_stacks(self, *, at_rest: bool = False) -> None:
        """Ask every rank for its Python stacks, and forget those of before.

        With `at_rest` only ranks are asked whose threads all sleep. A rank that runs Python just then may die of it:
        what it writes are its frames, and half-made ones lead anywhere.
        """
        self.new_stacks()
        self._dumps = [bytearray() for _ in self.stacks]
        self.tell("dump at rest" if at_rest else "dump")

    def tell(self, command: str) -> None:
        """Send a command to every server that still has ranks: "interrupt", or for persistent ranks "watch", "rest"."""
        for control in self._running:
            with contextlib.suppress(OSError):  # it has died: the next read from it raises
                control.send(command)

    def new_stacks(self) -> list[str]:
        """Return by rank what it has written since it was asked, complete or not."""
        for stack, dump in zip(self.stacks, self._dumps):
            # The rank shares our place in a file: reading must not move it.
            if stack.seekable():
                start = self._num_read.get(stack, 0)
                data = os.pread(stack.fileno(), MAX_STACK_BYTES, start)
                self._num_read[stack] = start + len(data)
            else:
                data = stack.read(MAX_STACK_BYTES) or b""
            dump.extend(data[: MAX_STACK_BYTES - len(dump)])  # a rank may write without end
        return [dump.decode(errors="replace") for dump in self._dumps]

    def stop(self) -> bool:
        """End every process of the run; return True when all are gone, False when a server cannot tell."""
        with contextlib.suppress(OSError, EOFError):
            self.tell("stop")
            while self._running:
                self.receive(self._running[0])
        self.close()
        return self.gone

    def close(self) -> None:
        """Close this side's ends of the ranks' files; safe to call twice."""
        for output in self.outputs:
            os.close(output)
        for connection in self.reports:
            connection.close()
        for stack in self.stacks:
            stack.close()
        self.outputs.clear()

    def receive(self, control: Connection) -> tuple[str, object]:
        """Receive one message of a server, keep what it says about the whole run, and return it."""
        kind, content = control.recv()
        if kind == "gone":
            self._running.remove(control)
        return kind, content
