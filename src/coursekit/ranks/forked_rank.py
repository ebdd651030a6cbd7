"""What a forked child of the server does to become a rank: walls, files, environment, then the task."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NoReturn

from coursekit.ranks.environ import MPI_ENVIRON, gloo_environ
from coursekit.ranks.lifetime import end_with_parent
from coursekit.ranks.request import INPUT_VARIABLE
from coursekit.ranks.staying_rank import stay
from coursekit.ranks.worker import dump_stacks_to, flush_output, run_rank

if TYPE_CHECKING:
    from coursekit.ranks.request import LaunchRequest

MAX_REASON_LENGTH = 1000  # bytes: so few arrive in one piece from a pipe


def put_walls_around(request: LaunchRequest, rank: int, no_walls: int) -> None:
    """Confine this process, where that is asked for; if it fails, write why to the file `no_walls`, and end."""
    if request.enter is not None:
        try:
            request.enter(rank)
        except BaseException as error:  # noqa: BLE001  # whatever it was, this process must not go on without walls
            os.write(no_walls, f"{str(error) or repr(error)}\n".encode()[:MAX_REASON_LENGTH])
            os._exit(1)
        tempfile.tempdir = os.environ["TMPDIR"]  # which `enter` has set
    os.close(no_walls)


def become_rank(request: LaunchRequest, rank: int, files: list[int], rendezvous: tuple[str, int] | None) -> NoReturn:
    """Turn this forked child into one rank and never return into the server's code."""
    exit_code = 1
    try:
        os.setsid()  # an own session: no Ctrl-C of a terminal reaches a rank, we end ranks ourselves
        end_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        output, reports, stacks, *inputs = files
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # so that output is live
        dump_stacks_to(stacks)
        os.environ.clear()
        os.environ.update(request.environ)
        if rendezvous is None:
            os.environ.update(MPI_ENVIRON)
        else:
            ranks_on_nodes, interface = request.ranks_on_nodes, request.interface
            os.environ.update(
                gloo_environ(rank=rank, ranks_on_nodes=ranks_on_nodes, rendezvous=rendezvous, interface=interface)
            )
        os.environ["TMPDIR"] = tempfile.gettempdir()
        if inputs:
            os.environ[INPUT_VARIABLE] = str(inputs[0])
        if request.task.stays:
            stay(request.task, rank, Connection(reports))
        else:
            run_rank(request.task, rank, Connection(reports, readable=False))
        exit_code = 0
    finally:
        flush_output()
        os._exit(exit_code)  # no exit handlers: they belong to the server
