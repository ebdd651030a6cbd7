"""The client's view of the servers that start ranks, and of the ranks of a run."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import IO, Any

from coursekit.framework import chosen
from coursekit.ranks.protocol import Gone, RunSpec, Stop, WriteStacks

MAX_STACK_BYTES = 1 << 20  # from one rank for each request


@dataclass
class RunningRanks:
    """The ranks of one run: the files that the client reads, and a channel to each server."""

    alive: list[Connection]  # channels to the servers that still have ranks of this run
    outputs: list[int] = field(default_factory=list)  # by rank, the number of the file with its output
    reports: list[Connection] = field(default_factory=list)  # by rank
    stacks: list[IO[bytes]] = field(default_factory=list)  # by rank, the file with the requested Python stacks
    server: str = "the fork server"  # what to call the server in messages
    _dumps: list[bytearray] = field(default_factory=list)

    def add(self, output: int, reports: Connection, stack: int) -> None:
        """Add the next rank, with this side's ends of its files."""
        os.set_blocking(stack, False)
        self.outputs.append(output)
        self.reports.append(reports)
        self.stacks.append(os.fdopen(stack, "rb", buffering=0))

    def ask_for_stacks(self, question: WriteStacks) -> None:
        """Ask ranks for their Python stacks, and discard the stacks that they wrote before."""
        self.new_stacks()
        self._dumps = [bytearray() for _ in self.stacks]
        self.send(question)

    def send(self, message: Any) -> None:
        """Send a message of `protocol` to every server that still has ranks."""
        for control in self.alive:
            with contextlib.suppress(OSError):  # the server has died, and the next read from it will raise an error
                control.send(message)

    def new_stacks(self) -> list[str]:
        """Return the stacks that each rank has written since they were requested; they may be incomplete."""
        for stack, dump in zip(self.stacks, self._dumps):
            dump.extend((stack.read(MAX_STACK_BYTES) or b"")[: MAX_STACK_BYTES - len(dump)])  # a rank may never stop
        return [dump.decode(errors="replace") for dump in self._dumps]

    def stop(self) -> bool:
        """End every process of the run; return True if all have ended, or False if a server has died."""
        with contextlib.suppress(OSError, EOFError):
            self.send(Stop())
            while self.alive:
                self.receive(self.alive[0])
        self.close()
        return not self.alive

    def close(self) -> None:
        """Close this side's ends of the ranks' files; this may be called twice."""
        for output in self.outputs:
            os.close(output)
        self.outputs.clear()
        for connection in self.reports:
            connection.close()
        for stack in self.stacks:
            stack.close()

    def receive(self, control: Connection) -> Any:
        """Return the next message from a server; if it is `Gone`, this server no longer has ranks of this run."""
        message = control.recv()
        if isinstance(message, Gone):
            self.alive.remove(control)
        return message


class ServerHandle(ABC):
    """A server that starts ranks: a fork server, or a job step with a fork server on each node."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self.framework = chosen()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the server

    @property
    def _is_ours(self) -> bool:
        """Whether the server belongs to this process, and not to a parent from which this process was forked."""
        return self._owner == os.getpid()

    def _last_words(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-2000:] or "none"

    @abstractmethod
    def usable(self) -> bool:
        """Return whether the server is still running and belongs to this process."""

    @abstractmethod
    def start(
        self, spec: RunSpec, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None
    ) -> RunningRanks:
        """Start a run's ranks with this environment and Horovod's variables; raise a `RankError` if this fails."""

    @abstractmethod
    def close(self) -> None:
        """End the server and all its ranks; this may be called twice."""


class SharedServer:
    """This process's server of one kind; `new` starts it when it is first needed, and it ends with the process."""

    def __init__(self, new: Callable[[], ServerHandle]) -> None:
        self._new = new
        self.free: ServerHandle | None = None  # the server that runs share; None if there is none or it was taken
        atexit.register(self.close)
        # A forked child closes its copies of the sockets; otherwise the server would not notice when the parent ends.
        os.register_at_fork(after_in_child=self.close)

    def get(self) -> ServerHandle:
        """Return the server for a run; start a new server if there is no usable one."""
        if self.free is None or not self.free.usable() or self.free.framework != chosen():
            self.close()
            self.free = self._new()
        return self.free

    def take(self) -> ServerHandle:
        """Return the server for the caller's exclusive use; until it is given back, other runs need another server."""
        server = self.get()
        self.free = None
        return server

    def give_back(self, server: ServerHandle) -> None:
        """Let runs share the server again after `take`; end it if it is unusable or they have another server."""
        if self.free or not server.usable():
            server.close()
        else:
            self.free = server

    def close(self) -> None:
        """End the server that runs share, if there is one."""
        server, self.free = self.free, None
        if server:
            server.close()
