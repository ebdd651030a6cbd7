"""The fork server: imports TensorFlow and Horovod once, then forks fresh ranks in milliseconds.

It never executes a TensorFlow operation and starts no thread that could hold a lock: a fork after either can hang the
child.
It adopts every process that a rank leaves behind, so that at the end of a run nothing is left,
and it ends together with the notebook's process, whose end closes the control socket.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import selectors
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection

from coursekit.errors import CourseKitError
from coursekit.processes import adopt_orphans, end_with_parent, kill_descendants
from coursekit.ranks.environ import LOOPBACK
from coursekit.ranks.forked_rank import MAX_REASON_LENGTH, become_rank, isolate
from coursekit.ranks.pulse import Pulses, is_at_rest
from coursekit.ranks.rendezvous import Store
from coursekit.ranks.request import LaunchRequest, receive_over_socket
from coursekit.ranks.tracing import spare_horovod
from coursekit.ranks.worker import DUMP_STACKS_SIGNAL

MODULES = ("numpy", "tensorflow", "horovod.tensorflow", "horovod.tensorflow.keras")


def preload(*more: str, tensorflow: bool = True) -> str:
    """Import what ranks need, unless told not to, and these modules; return '' or why that failed."""
    gc.disable()  # a fifth of TensorFlow's import would be looking for garbage that is not there
    try:
        if tensorflow:
            with contextlib.suppress(CourseKitError):  # without its package: lab 04 alone needs it, and says so
                importlib.import_module("coursekit.estimator")
        for module in (*(MODULES if tensorflow else ()), *more):
            importlib.import_module(module)
        if tensorflow:
            spare_horovod()
            _start_memory_logger()
    except Exception:  # noqa: BLE001  # a broken installation can raise anything; the caller explains it
        return traceback.format_exc().rstrip().splitlines()[-1]
    finally:
        gc.enable()
    gc.freeze()  # else the first collection in a child copies every page that it shares with us
    return ""


def _start_memory_logger() -> None:
    """Start tf.data's logger of memory here, so that no rank starts it: a process does so once, at its first data set.

    It is a thread of TensorFlow 2.21 that sleeps for 30 s, logs nothing, and sleeps again. A rank that has it never
    looks as if all its threads wait for one another, so that no deadlock inside `fit` would be certain.
    Threads do not survive a fork, but that this one was started does. It holds no lock while it sleeps.
    The function is not a public interface: without it, such a deadlock ends at the deadline.
    """
    folder = sys.modules["tensorflow"].sysconfig.get_lib()
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(f"{folder}/libtensorflow_cc.so.2", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        library["_ZN10tensorflow4data33EnsureIteratorMemoryLoggerStartedEv"]()


def serve(
    channel: Connection,
    receive: Callable[[Connection, LaunchRequest], tuple[LaunchRequest, list[int]]],
    *,
    on_demand: bool = False,
) -> None:
    """Answer requests until the notebook's process closes the channel.

    Args:
        channel: the control connection.
        receive: completes a request: returns it with three files for each rank that it starts.
        on_demand: whether to import what ranks need only when something is said, for the first time.
    """
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        if on_demand:
            channel.recv()
        channel.send(preload())
        while True:
            request = channel.recv()
            if isinstance(request, LaunchRequest):  # else a `stop` that crossed the end of its run
                _Run(*receive(channel, request), channel).supervise()


class _Run:
    """The processes of one run: started, watched, and all gone at the end."""

    def __init__(self, request: LaunchRequest, files: list[int], channel: Connection) -> None:
        self.request = request
        self.files = files
        self.channel = channel
        self.rank_of: dict[int, int] = {}  # by process
        # Ranks end without exit handlers, and TensorFlow leaves the code that it generates in temporary files.
        self.temporary_folder = tempfile.mkdtemp(prefix="ranks-")
        # No rank begins before all are forked: one that waits in `hvd.init` would take time from the others.
        self.gate = os.pipe()
        self.not_isolated = os.pipe()  # why a rank could not be isolated; nothing that runs in a rank holds it
        rendezvous = request.rendezvous or (None if request.by_mpi else self._start_rendezvous())
        num_files = request.num_files_per_rank
        for position, rank in enumerate(request.ranks):
            own = files[position * num_files : (position + 1) * num_files]
            self.rank_of[self._start_rank(rank, own, rendezvous)] = rank
        for file in (*files, *self.gate, self.not_isolated[1]):
            os.close(file)
        os.set_blocking(self.not_isolated[0], False)
        self.pulses = Pulses(self.rank_of)
        self.is_watched = True

    def supervise(self) -> None:
        """Report ends of ranks and their pulse, obey what is asked, and leave no process behind."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self.channel.fileno(), selectors.EVENT_READ)
            selector.register(wake_read, selectors.EVENT_READ)
            try:
                while self._reap():
                    for key, _ in selector.select(self.pulses.due_in_s() if self.is_watched else None):
                        if key.fd == wake_read:
                            os.read(wake_read, 4096)
                        elif not self._obey(self.channel.recv()):
                            return
                    if self.is_watched and not self.pulses.due_in_s():
                        self.channel.send(("pulse", self.pulses.take()))
            finally:
                signal.set_wakeup_fd(-1)
                for file in (wake_read, wake_write, self.not_isolated[0]):
                    os.close(file)
                self._leave_nothing()
        self.channel.send(("gone", None))

    def _leave_nothing(self) -> None:
        kill_descendants()
        shutil.rmtree(self.temporary_folder, ignore_errors=True)

    def _obey(self, command: str) -> bool:
        if command in {"dump", "dump at rest"}:
            for pid in self.rank_of:
                if command == "dump" or is_at_rest(pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, DUMP_STACKS_SIGNAL)
        elif command == "interrupt":
            for pid in self.rank_of:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGINT)
        elif command in {"watch", "rest"}:
            self.is_watched = command == "watch"
        elif command == "stop":
            self._leave_nothing()
            self.channel.send(("gone", None))
        return command != "stop"

    def _reap(self) -> bool:
        """Collect ended children; return whether any rank still runs."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self.rank_of:
                    self._tell_why_not_isolated()
                    self.channel.send(("ended", (self.rank_of.pop(pid), os.waitstatus_to_exitcode(status))))
        return bool(self.rank_of)

    def _tell_why_not_isolated(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if reason := os.read(self.not_isolated[0], MAX_REASON_LENGTH):
                self.channel.send(("not isolated", reason.decode(errors="replace").splitlines()[0]))

    def _start_rank(self, rank: int, own: list[int], rendezvous: tuple[str, int] | None) -> int:
        pid = os.fork()
        if pid == 0:
            self._close_all_but([*own, self.gate[0], self.not_isolated[1]])
            os.read(self.gate[0], 1)  # returns when the last copy of the other end is closed
            os.close(self.gate[0])
            tempfile.tempdir = self.temporary_folder
            isolate(self.request, rank, self.not_isolated[1])
            become_rank(self.request, rank, own, rendezvous)
        return pid

    def _close_all_but(self, own: list[int]) -> None:
        """Give up the server's and the peers' files in a child: a pipe ends only when its last copy is closed."""
        for file in {*self.files, self.channel.fileno(), *self.gate, *self.not_isolated} - {*own}:
            os.close(file)

    def _start_rendezvous(self) -> tuple[str, int]:
        """Start a process with the store in which Gloo ranks find each other, on loopback only."""
        store = Store(LOOPBACK)
        if os.fork() == 0:
            end_with_parent()
            self._close_all_but([])
            store.serve()
        store.close()
        return LOOPBACK, store.port


def prepare_process() -> None:
    """Make this process fit for `serve`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # any handler: it makes the wake-up file work
    # A rank that is asked for its stacks before it can tell them must not die of it.
    signal.signal(DUMP_STACKS_SIGNAL, signal.SIG_IGN)
    adopt_orphans()


def main() -> None:
    """Serve on the socket whose number is the first argument."""
    prepare_process()
    serve(Connection(int(sys.argv[1])), receive_over_socket)


if __name__ == "__main__":
    main()
