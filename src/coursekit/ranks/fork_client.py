"""The notebook's side of the fork server: start the server once, send it runs, and stop them."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import NoReturn

from coursekit.environ import scrubbed
from coursekit.processes import end_with_parent, has_ended
from coursekit.ranks.context import fill_nodes, gpu_environ
from coursekit.ranks.explain import RankError
from coursekit.ranks.fork_server import prepare_process, receive_over_socket, serve
from coursekit.ranks.forked_rank import fork
from coursekit.ranks.protocol import LaunchRequest, RunSpec
from coursekit.ranks.server_handle import RunningRanks, ServerHandle, SharedServer

SHUTDOWN_TIMEOUT_S = 5.0
PAUSE_S = 0.01  # between two checks whether the server has ended

# The notebook's folder is removed from the path, so that the server does not import a student's random.py.
PROGRAM = "import sys; sys.path.pop(0); from coursekit.ranks.fork_server import main; main()"

_SERVER_DEFAULTS = {
    "TF_CPP_MIN_LOG_LEVEL": "2",  # otherwise every rank repeats TensorFlow's start-up messages
    "OPENBLAS_NUM_THREADS": "1",  # NumPy sets the number when it is imported, long before a run asks for a number
    "OMP_NUM_THREADS": "1",
}


class ForkServerHandle(ServerHandle):
    """A process that has imported TensorFlow and Horovod and forks ranks on request."""

    def __init__(self) -> None:
        super().__init__()
        ours, theirs = socket.socketpair()
        with theirs:
            self.pid = self._start(theirs)  # the server's process
        self._runs = True
        self._socket = socket.socket(fileno=os.dup(ours.fileno()))
        self._control = Connection(ours.detach())
        self._ready = False

    def _start(self, channel: socket.socket) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(channel.fileno())],
            pass_fds=[channel.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={**_SERVER_DEFAULTS, **scrubbed()},
            start_new_session=True,
        )
        process.returncode = 0  # `_has_ended` reaps this server, as it reaps a forked one
        return process.pid

    def usable(self) -> bool:
        """Return whether the server is still running and belongs to this process."""
        return self._is_ours and not self._has_ended(0)

    def _has_ended(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` for the server's process to end; return whether it has ended."""
        end_s = time.monotonic() + timeout_s
        while self._runs:
            self._runs = not has_ended(self.pid)
            if self._runs and time.monotonic() >= end_s:
                return False
            time.sleep(PAUSE_S * self._runs)
        return True

    def start(
        self, spec: RunSpec, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None
    ) -> RunningRanks:
        """Start the ranks of one run on this machine."""
        ranks_on_nodes = fill_nodes(spec.num_ranks, ranks_per_node)
        return self.launch(spec, gpu_environ(environ, ranks_per_node, use_gpus=use_gpus), ranks_on_nodes)

    def launch(
        self,
        spec: RunSpec,
        environ: dict[str, str],
        ranks_on_nodes: tuple[int, ...],
        inputs: Sequence[bytes] = (),
        enter: Callable[[int | None], None] | None = None,
    ) -> RunningRanks:
        """Start the ranks of one run as described in `LaunchRequest`; `inputs` holds the private data of each rank."""
        self._wait_until_ready()
        running = RunningRanks([self._control])
        files: list[int] = []
        for rank in range(spec.num_ranks):
            output, output_end = os.pipe()
            reports, reports_end = Pipe(duplex=spec.persists)
            stack, stack_end = os.pipe()
            running.add(output, reports, stack)
            with reports_end:
                files += [output_end, os.dup(reports_end.fileno()), stack_end]
            if inputs:
                files.append(os.memfd_create("input"))  # a nameless file
                os.pwrite(files[-1], inputs[rank], 0)  # the rank reads it from the beginning
        request = LaunchRequest(
            spec, environ, ranks_on_nodes, tuple(range(spec.num_ranks)), has_inputs=bool(inputs), enter=enter
        )
        try:
            self._control.send(request)
            socket.send_fds(self._socket, [b"f"], files)
        except OSError as error:
            running.close()
            self._explain_death(error)
        except BaseException:  # a kernel interrupt: half of the request may have been sent
            running.close()
            self.close()
            raise
        finally:
            for file in files:
                os.close(file)
        return running

    def _wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            ready = self._control.recv()
        except (EOFError, OSError) as error:
            self._explain_death(error)
        if ready.failure:
            self.close()
            raise RankError(ready.failure)
        self._ready = True

    def _explain_death(self, error: Exception) -> NoReturn:
        self._end()
        said = self._last_words()
        self.close()
        raise RankError(f"the fork server ended unexpectedly; its last output: {said}", "fork-server.ended") from error

    def close(self) -> None:
        """End the server and all its ranks; this may be called twice."""
        self._end()
        self._log.close()

    def _end(self) -> None:
        self._control.close()
        self._socket.close()
        if not self._is_ours:
            return
        # A server that is still importing does not notice that the socket is closed, and has no ranks yet.
        if not self._has_ended(SHUTDOWN_TIMEOUT_S if self._ready else 0):
            os.kill(self.pid, signal.SIGKILL)
            self._has_ended(math.inf)


class ForkedServer(ForkServerHandle):
    """A fork server that is forked from this process, which must have imported the framework but never used it."""

    def _start(self, channel: socket.socket) -> int:
        def child() -> None:
            os.setsid()
            end_with_parent()
            _close_channels_but(channel.fileno())
            prepare_process()
            serve(Connection(channel.detach()), receive_over_socket)

        return fork(child, self._log.fileno())


def _close_channels_but(kept: int) -> None:
    """Close all sockets and pipes except `kept` and the standard streams, because every rank would inherit them."""
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # numbers, no paths
        with contextlib.suppress(OSError):  # the file from which the list was read is already closed
            mode = os.fstat(number).st_mode
            if number not in {0, 1, 2, kept} and (stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)):
                os.close(number)


shared = SharedServer(ForkServerHandle)
