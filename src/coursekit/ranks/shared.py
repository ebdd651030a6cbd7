"""What starts ranks, here or on the nodes of a job, as its callers see it, and its users: runs, or persistent ranks."""

from __future__ import annotations

import atexit
import os
from abc import ABC, abstractmethod
from collections.abc import Callable

from coursekit.ranks.request import RunningRanks
from coursekit.ranks.worker import Task


class RankServer(ABC):
    """What has TensorFlow and Horovod imported and starts ranks: a fork server, or a job step with one on each node."""

    @abstractmethod
    def usable(self) -> bool:
        """Whether it still runs, can start ranks, and belongs to this process, not to the one we were forked from."""

    @abstractmethod
    def start(self, task: Task, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> RunningRanks:
        """Start the ranks of one run and return what stands for them.

        Args:
            task: what every rank does.
            environ: their environment, without Horovod's part.
            ranks_per_node: how many ranks each node seems to have; a job step has spread its tasks itself.
            use_gpus: as for `ranks.run`.

        Raises:
            RankError: it could not be started or ended, or TensorFlow or Horovod cannot be imported.
        """

    @abstractmethod
    def close(self) -> None:
        """End it and with it every rank; safe to call twice."""


class SharedServer:
    """This process's server of one kind, started when it is needed; it ends with the process.

    Args:
        new: starts one, given a number of ranks that it is for.

    Attributes:
        free: the one that runs share; None where there is none, or it was taken.
    """

    def __init__(self, new: Callable[[int], RankServer]) -> None:
        self._new = new
        self.free: RankServer | None = None
        atexit.register(self.close)
        # A forked child gives up its copies of the sockets: only then does the server notice the parent's end.
        os.register_at_fork(after_in_child=self.close)

    def get(self, num_ranks: int = 1) -> RankServer:
        """Return the server for a run with that many ranks, starting one if none can serve."""
        if self.free is None or not self.free.usable():
            self.close()
            self.free = self._new(num_ranks)
        return self.free

    def take(self, num_ranks: int = 1) -> RankServer:
        """Return it for the caller alone; the next run starts another, unless it is given back."""
        server = self.get(num_ranks)
        self.free = None
        return server

    def give_back(self, server: RankServer) -> None:
        """Let runs use a server that was taken, or end it where they have another, or where it cannot serve."""
        if self.free or not server.usable():
            server.close()
        else:
            self.free = server

    def close(self) -> None:
        """End the one that runs share, if there is one."""
        server, self.free = self.free, None
        if server:
            server.close()
