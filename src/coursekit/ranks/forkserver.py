"""The notebook's side of the fork server: start it once, hand it runs, stop what runs."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import NoReturn, Protocol

from coursekit.processes import end_with_parent
from coursekit.ranks.environ import fill_nodes, gpu_environ, scrubbed
from coursekit.ranks.errors import RankError
from coursekit.ranks.request import MAX_NUM_FILES, NUM_FILES_PER_RANK, LaunchRequest, RunningRanks, receive_over_socket
from coursekit.ranks.server import prepare_process, serve
from coursekit.ranks.shared import RankServer, SharedServer
from coursekit.ranks.worker import Task

MAX_NUM_RANKS = MAX_NUM_FILES // NUM_FILES_PER_RANK
SHUTDOWN_TIMEOUT_S = 5.0

# The folder of the notebook is not searched: a student's random.py must not end up inside the server.
_PROGRAM = "import sys; sys.path.pop(0); from {module} import main; main()"

_SERVER_DEFAULTS = {
    "TF_CPP_MIN_LOG_LEVEL": "2",  # else every rank repeats TensorFlow's start-up messages
    "OPENBLAS_NUM_THREADS": "1",  # NumPy's own threads are fixed at its import, long before a run asks for a number
    "OMP_NUM_THREADS": "1",
}


class Process(Protocol):
    """What a server needs of the process that it is, as `subprocess.Popen` has it."""

    pid: int

    def poll(self) -> int | None: ...  # noqa: D102
    def kill(self) -> None: ...  # noqa: D102
    def wait(self, timeout: float | None = None) -> int: ...  # noqa: D102


class ForkServer(RankServer):
    """A process that has TensorFlow and Horovod imported and forks ranks on request."""

    _module = "coursekit.ranks.server"

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the server
        with theirs:
            self._process = self._start(theirs)
        self._socket = socket.socket(fileno=os.dup(ours.fileno()))
        self._control = Connection(ours.detach())
        self._ready = False
        self._owner = os.getpid()

    def _environ(self) -> dict[str, str]:
        """Return the environment in which the server imports."""
        return {**_SERVER_DEFAULTS, **scrubbed()}

    def _start(self, channel: socket.socket) -> Process:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(module=self._module), str(channel.fileno())],
            pass_fds=[channel.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=self._environ(),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def usable(self) -> bool:
        """Whether the server still runs and belongs to this process."""
        return self._owner == os.getpid() and self._process.poll() is None

    def start(self, task: Task, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> RunningRanks:
        """Start the ranks of one run on this machine."""
        ranks_on_nodes = fill_nodes(task.num_ranks, ranks_per_node)
        return self.launch(task, gpu_environ(environ, ranks_per_node, use_gpus=use_gpus), ranks_on_nodes)

    def launch(
        self,
        task: Task,
        environ: dict[str, str],
        ranks_on_nodes: tuple[int, ...],
        inputs: Sequence[bytes] = (),
        enter: Callable[[int], None] | None = None,
    ) -> RunningRanks:
        """Start the ranks of one run and return what stands for them.

        Args:
            task: what every rank does.
            environ: their environment, without Horovod's part.
            ranks_on_nodes: how many ranks each node has.
            inputs: for each rank, what it alone may read; see `LaunchRequest.has_inputs`.
            enter: see `LaunchRequest.enter`.

        Raises:
            RankError: TensorFlow or Horovod cannot be imported, or the server died.
        """
        self._wait_until_ready()
        running = RunningRanks([self._control])
        files: list[int] = []
        for rank in range(task.num_ranks):
            output, output_end = os.pipe()
            report, report_end = _socketpair() if task.persists else os.pipe()
            stack = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the others
            running.outputs.append(output)
            running.reports.append(Connection(report, writable=task.persists))
            running.stacks.append(stack)
            files += [output_end, report_end, os.dup(stack.fileno()), *map(_file_with, inputs[rank : rank + 1])]
        request = LaunchRequest(
            task, environ, ranks_on_nodes, tuple(range(task.num_ranks)), has_inputs=bool(inputs), enter=enter
        )
        try:
            self._control.send(request)
            socket.send_fds(self._socket, [b"f"], files)
        except OSError as error:
            running.close()
            self._explain_death(error)
        except BaseException:  # a kernel interrupt: half a request may be on its way
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
            failure = self._control.recv()
        except (EOFError, OSError) as error:
            self._explain_death(error)
        if failure:
            self.close()
            raise RankError(
                f"TensorFlow or Horovod cannot be imported ({failure}): run `coursekit doctor` to see what is missing"
            )
        self._ready = True

    def _explain_death(self, error: Exception) -> NoReturn:
        self._end()
        self._log.seek(0)
        log = self._log.read().decode(errors="replace").strip()[-2000:]
        self.close()
        raise RankError(f"the fork server ended unexpectedly; its last output: {log or 'none'}") from error

    def close(self) -> None:
        """End the server and with it every rank; safe to call twice."""
        self._end()
        self._log.close()

    def _end(self) -> None:
        self._control.close()
        self._socket.close()
        if self._owner != os.getpid():
            return
        if not self._ready:
            self._process.kill()  # still importing, deaf to the end of the socket, and without ranks
        try:
            self._process.wait(SHUTDOWN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _socketpair() -> tuple[int, int]:
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


def _file_with(content: bytes) -> int:
    """Return the number of a file without a name that holds `content`, at its beginning."""
    number = os.memfd_create("input")
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


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


shared = SharedServer(lambda _: ForkServer())
