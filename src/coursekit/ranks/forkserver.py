"""The notebook's side of the fork server: start it once, hand it runs, stop what runs."""

from __future__ import annotations

import atexit
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
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import IO, TYPE_CHECKING, Protocol

from coursekit.ranks.environ import scrubbed
from coursekit.ranks.errors import RankError
from coursekit.ranks.lifetime import end_with_parent
from coursekit.ranks.server import (
    MAX_NUM_FILES,
    NUM_FILES_PER_RANK,
    Launch,
    prepare_process,
    receive_over_socket,
    serve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coursekit.ranks.worker import Task

MAX_NUM_RANKS = MAX_NUM_FILES // NUM_FILES_PER_RANK
SHUTDOWN_TIMEOUT_S = 5.0

# The folder of the notebook is not searched: a student's random.py must not end up inside the server.
_PROGRAM = "import sys; sys.path.pop(0); from coursekit.ranks.server import main; main()"

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


@dataclass
class Job:
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

    def __post_init__(self) -> None:
        self._running = list(self.controls)

    @property
    def gone(self) -> bool:
        """Whether every server has said that its part of the run has ended and nothing of it is left."""
        return not self._running

    def read_stacks(self, wait_s: float) -> list[str]:
        """Ask every rank for its Python stacks, give them a moment, and return what each has written."""
        for control in self._running:
            control.send("dump")
        time.sleep(wait_s)
        return [self._read_stack(stack) for stack in self.stacks]

    @staticmethod
    def _read_stack(stack: IO[bytes]) -> str:
        if stack.seekable():
            stack.seek(0)
        return (stack.read() or b"").decode(errors="replace")

    def stop(self) -> bool:
        """End every process of the run; return True when all are gone, False when a server cannot tell."""
        with contextlib.suppress(OSError, EOFError):
            for control in self._running:
                control.send("stop")
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


class ForkServer:
    """A process that has TensorFlow and Horovod imported and forks ranks on request."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the server
        with theirs:
            self._process = self._start(theirs)
        self._socket = socket.socket(fileno=os.dup(ours.fileno()))
        self._control = Connection(ours.detach())
        self._ready = False
        self._owner = os.getpid()

    def _start(self, channel: socket.socket) -> Process:
        environ = scrubbed()
        for name, value in _SERVER_DEFAULTS.items():
            environ.setdefault(name, value)
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(channel.fileno())],
            pass_fds=[channel.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=environ,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def usable(self) -> bool:
        """Whether the server still runs and belongs to this process, not to the one we were forked from."""
        return self._owner == os.getpid() and self._process.poll() is None

    def launch(
        self,
        task: Task,
        environ: dict[str, str],
        ranks_on_nodes: tuple[int, ...],
        inputs: Sequence[bytes] = (),
        enter: Callable[[], None] | None = None,
    ) -> Job:
        """Start the ranks of one run and return the job that stands for them.

        Args:
            task: what every rank does.
            environ: their environment, without Horovod's part.
            ranks_on_nodes: how many ranks each node has.
            inputs: for each rank, what it alone may read; see `Launch.has_inputs`.
            enter: see `Launch.enter`.

        Raises:
            RankError: TensorFlow or Horovod cannot be imported, or the server died.
        """
        self._wait_until_ready()
        job = Job([self._control])
        files: list[int] = []
        for rank in range(task.num_ranks):
            output, output_end = os.pipe()
            report, report_end = os.pipe()
            stack = tempfile.TemporaryFile()  # noqa: SIM115  # the job closes it
            job.outputs.append(output)
            job.reports.append(Connection(report, writable=False))
            job.stacks.append(stack)
            files += [output_end, report_end, os.dup(stack.fileno()), *map(_file_with, inputs[rank : rank + 1])]
        request = Launch(
            task, environ, ranks_on_nodes, tuple(range(task.num_ranks)), has_inputs=bool(inputs), enter=enter
        )
        try:
            self._control.send(request)
            socket.send_fds(self._socket, [b"f"], files)
        except OSError as error:
            job.close()
            self._explain_death(error)
        except BaseException:  # a kernel interrupt: half a request may be on its way
            job.close()
            self.close()
            raise
        finally:
            for file in files:
                os.close(file)
        return job

    def _wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            failure = self._control.recv()
        except (EOFError, OSError) as error:
            self._explain_death(error)
        if failure:
            reason = failure.rstrip().splitlines()[-1]
            self.close()
            raise RankError(
                f"TensorFlow or Horovod cannot be imported ({reason}): run `coursekit doctor` to see what is missing",
            )
        self._ready = True

    def _explain_death(self, error: Exception) -> None:
        self._end()
        self._log.seek(0)
        log = self._log.read().decode(errors="replace").strip()[-2000:]
        self.close()
        raise RankError(f"the fork server ended unexpectedly; its last words: {log or 'none'}") from error

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


class ForkedServer(ForkServer):
    """A fork server that is a fork of this process, which has TensorFlow imported and has run no operation."""

    def _start(self, channel: socket.socket) -> Process:
        pid = os.fork()
        if pid:
            return _Child(pid)
        try:
            os.setsid()
            end_with_parent()
            for number, end in (
                (0, os.open(os.devnull, os.O_RDONLY)),
                (1, self._log.fileno()),
                (2, self._log.fileno()),
            ):
                os.dup2(end, number)
            _close_channels_but(channel.fileno())
            prepare_process()
            serve(Connection(channel.detach()), receive_over_socket)
        finally:
            os._exit(0)


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


def _file_with(content: bytes) -> int:
    """Return the number of a file without a name that holds `content`, at its beginning."""
    number = os.memfd_create("input")
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


_servers: list[ForkServer] = []


def adopt_shared_server(server: ForkServer) -> None:
    """Let `ranks.run` in this process use a server that runs already."""
    _servers[:] = [server]


def shared_server() -> ForkServer:
    """Return this process's fork server, starting one when there is none that runs."""
    if not _servers:
        atexit.register(close_shared_server)
    while _servers and not _servers[-1].usable():
        _servers.pop().close()
    if not _servers:
        _servers.append(ForkServer())
    return _servers[-1]


def close_shared_server() -> None:
    """End this process's fork server, if there is one."""
    while _servers:
        _servers.pop().close()


# A forked child gives up its copies of the sockets: only then does the server notice the parent's end.
os.register_at_fork(after_in_child=close_shared_server)
