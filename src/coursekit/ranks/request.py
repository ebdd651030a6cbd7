"""A request for ranks, and the files that travel with it to what starts them."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

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
        enter: called with the rank in each new process before it becomes that rank, to put walls around it.
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
