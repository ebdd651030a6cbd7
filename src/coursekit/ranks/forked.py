"""A fork server that is a fork of this process, which has imported everything already."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import stat
import subprocess
import time
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from coursekit.ranks.forkserver import ForkServer
from coursekit.ranks.lifetime import end_with_parent
from coursekit.ranks.request import receive_over_socket
from coursekit.ranks.server import prepare_process, serve

if TYPE_CHECKING:
    import socket

    from coursekit.ranks.forkserver import Process


class ForkedServer(ForkServer):
    """A fork server that is a fork of this process, which has run no operation of TensorFlow's.

    It imports TensorFlow when the first ranks are asked for, unless this process has done so.
    """

    def _start(self, channel: socket.socket) -> Process:
        pid = os.fork()
        if pid:
            return _Child(pid)
        try:
            os.setsid()
            end_with_parent()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(self._log.fileno(), 1)
            os.dup2(self._log.fileno(), 2)
            _close_channels_but(channel.fileno())
            prepare_process()
            serve(Connection(channel.detach()), receive_over_socket, on_demand=True)
        finally:
            os._exit(0)

    def _wait_until_ready(self) -> None:
        if not self._ready:
            with contextlib.suppress(OSError):  # it has died, which the waiting side learns below
                self._control.send("begin")
        super()._wait_until_ready()


def _close_channels_but(kept: int) -> None:
    """Close every socket and pipe above standard error but one: what this fork holds, every rank would hold too."""
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208  # numbers, no paths
        with contextlib.suppress(OSError):  # the listing's own is closed already
            mode = os.fstat(number).st_mode
            if number not in {0, 1, 2, kept} and (stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)):
                os.close(number)


class _Child:
    """A forked process, as `subprocess.Popen` would show it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        if self.returncode is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def kill(self) -> None:
        """End the process at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + (timeout if timeout is not None else math.inf)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a forked server", timeout or 0)
            time.sleep(0.01)
        return code
