"""The fork server: it imports TensorFlow and Horovod, or PyTorch, once, and then forks fresh ranks in milliseconds.

It never executes an operation of these frameworks, and starts no threads: if a process is forked after an operation, or
while a thread holds a lock, the child can hang.
It adopts every process that a rank leaves behind, so no process is left when the run ends.
The server ends when the client ends, because the control socket is then closed.
In a job step, each node has a fork server, and the client may be on another node (`node_server`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from multiprocessing.connection import Connection, wait

from coursekit.errors import CourseKitError
from coursekit.processes import adopt_orphans, end_with_parent, kill_descendants, signal_main_thread
from coursekit.ranks import mpi
from coursekit.ranks.context import LOOPBACK, RankContext
from coursekit.ranks.forked_rank import MAX_REASON_LENGTH, become_rank, ending_with_reason, fork, variables_of
from coursekit.ranks.preload import joins_by_mpi, preload
from coursekit.ranks.protocol import (
    MAX_NUM_FILES,
    Ended,
    Gone,
    Interrupt,
    Joined,
    LaunchRequest,
    NotStarted,
    Ready,
    SendSamples,
    Stop,
    WriteStacks,
)
from coursekit.ranks.rank_monitor import NUM_RUNNING, RankMonitor, is_asleep
from coursekit.ranks.rank_process import ALL_STACKS_SIGNAL, STACK_SIGNAL
from coursekit.ranks.rendezvous import new_store


def serve(channel: Connection, receive: Callable[[Connection, LaunchRequest], tuple[LaunchRequest, list[int]]]) -> None:
    """Answer requests until the client closes the channel.

    `receive` completes a request to start ranks: it returns the complete request, and the files for these ranks.
    """
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        failure = preload()
        channel.send(Ready(failure, not failure and joins_by_mpi()))
        while True:
            request = channel.recv()
            if isinstance(request, LaunchRequest):  # otherwise it is a `Stop` that came after its run had ended
                _Run(*receive(channel, request), channel).supervise()


class _Run:
    """Starts and watches the processes of one run, and leaves no process behind."""

    def __init__(self, request: LaunchRequest, files: list[int], channel: Connection) -> None:
        self.request = request
        self.files = files
        self.channel = channel
        self.rank_of: dict[int, int] = {}  # by process number
        # Ranks end without exit handlers, so the temporary files in which TensorFlow generates code would be left over.
        self.temporary_folder = tempfile.mkdtemp(prefix="ranks-")
        # No rank begins before all are forked: a rank that waits in `hvd.init` would take processor time from others.
        self.gate = os.pipe()
        self.reasons = os.pipe()  # for the reason why ranks could not start; a rank closes it before it runs any code
        rendezvous = request.rendezvous or self._start_rendezvous()
        num_files = request.num_files_per_rank
        os.set_blocking(self.reasons[0], False)
        self.stubs: list[int] = []
        self.in_mpi: Mapping[int, RankContext | None] = dict.fromkeys(request.ranks)
        if joins_by_mpi():
            self.in_mpi = self._meet_stubs()
            self.files = [*files, *self.stubs, *(file for one in self.in_mpi.values() if one for file in one.files)]
        for position, rank in enumerate(request.ranks if self.in_mpi else ()):
            own = files[position * num_files : (position + 1) * num_files]
            self.rank_of[self._start_rank(rank, own, rendezvous)] = rank
        for file in {*self.files, *self.gate, self.reasons[1]} - {*self.stubs}:
            os.close(file)
        self.num_running = NUM_RUNNING if joins_by_mpi() else 0
        self.monitor = RankMonitor(self.rank_of, self.num_running)
        self.is_sampled = False

    def supervise(self) -> None:
        """Send samples and the exit codes of ranks to the client, obey its requests, and leave no process behind."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        is_stopped = False
        try:
            while not is_stopped and self._reap():
                for ready in wait([self.channel, wake_read], self.monitor.due_in_s() if self.is_sampled else None):
                    if ready == wake_read:
                        os.read(wake_read, 4096)
                    else:
                        is_stopped = self._obey(self.channel.recv())
                if self.is_sampled and not self.monitor.due_in_s():
                    self.channel.send(self.monitor.take())
        finally:
            signal.set_wakeup_fd(-1)
            for file in (wake_read, wake_write, self.reasons[0]):
                os.close(file)
            while self.stubs:
                os.close(self.stubs.pop())
            kill_descendants()
            shutil.rmtree(self.temporary_folder, ignore_errors=True)
        self.channel.send(Gone())

    def _obey(self, message: SendSamples | WriteStacks | Interrupt | Stop) -> bool:
        """Do what the client requests; return whether it has asked to stop."""
        match message:
            case WriteStacks(all_threads, only_asleep):
                number = ALL_STACKS_SIGNAL if all_threads else STACK_SIGNAL
                self._signal(
                    number, [pid for pid in self.rank_of if not only_asleep or is_asleep(pid, self.num_running)]
                )
            case Interrupt():
                self._signal(signal.SIGINT, self.rank_of)
            case SendSamples(are_wanted):
                self.is_sampled = are_wanted
                if are_wanted:
                    self.channel.send(self.monitor.take())  # time counts from this sample
        return isinstance(message, Stop)

    def _signal(self, number: int, pids: Iterable[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                signal_main_thread(pid, number)

    def _reap(self) -> bool:
        """Reap children that have ended; return whether any rank is still running."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self.rank_of:
                    if reason := self._why_not_started():
                        self.channel.send(NotStarted(reason))
                    self.channel.send(Ended(self.rank_of.pop(pid), os.waitstatus_to_exitcode(status)))
        return bool(self.rank_of)

    def _why_not_started(self) -> str:
        with contextlib.suppress(BlockingIOError):
            if reason := os.read(self.reasons[0], MAX_REASON_LENGTH):
                return reason.decode(errors="replace").splitlines()[0]
        return ""

    def _meet_stubs(self) -> dict[int, RankContext]:
        """Return each rank's context in MPI's world; if not all ranks get one, tell the client why, and return {}."""
        contexts: dict[int, RankContext] = {}
        with mpi.StubListener(self.request.stub_address) as listener, tempfile.TemporaryFile() as output:
            launcher = 0 if self.request.stub_address else self._start_launcher(listener, output.fileno())
            try:
                contexts = listener.accept(self.request.ranks, launcher)
                self.channel.send(Joined())
            except (CourseKitError, OSError) as error:
                output.seek(0)
                said = output.read().decode(errors="replace").strip()[:MAX_REASON_LENGTH]
                reason = self._why_not_started() or f"{error}; it wrote: {said or 'nothing'}"
                self.channel.send(NotStarted(reason))
            self.stubs = listener.stubs
        return contexts

    def _start_launcher(self, listener: mpi.StubListener, output: int) -> int:
        """Start `mpirun` with the same isolation as a rank, because ranks can make it start programs through MPI."""

        def child() -> None:
            os.close(listener.fileno())
            self._close_all_but([self.reasons[1]])
            tempfile.tempdir = self.temporary_folder
            with ending_with_reason(self.reasons[1]):
                if self.request.enter is not None:
                    self.request.enter(None)
                    tempfile.tempdir = os.environ["TMPDIR"]  # which `enter` has set
                os.setsid()
                end_with_parent()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                mpi.become_launcher(listener.name, self.request.ranks_on_nodes)

        return fork(child, output)

    def _start_rank(self, rank: int, own: list[int], rendezvous: tuple[str, int]) -> int:
        def child() -> None:
            in_mpi = self.in_mpi[rank]
            self._close_all_but([*own, self.gate[0], self.reasons[1], *(in_mpi.files if in_mpi else ())])
            os.read(self.gate[0], 1)  # returns when the last copy of the other end is closed
            os.close(self.gate[0])
            tempfile.tempdir = self.temporary_folder
            variables = variables_of(self.request, rank, rendezvous, in_mpi)
            become_rank(self.request, rank, own, variables, self.reasons[1])

        return fork(child)

    def _close_all_but(self, own: list[int]) -> None:
        """In a child, close the server's and other ranks' files, as a pipe ends only if all its copies are closed."""
        for file in {*self.files, self.channel.fileno(), *self.gate, *self.reasons} - {*own}:
            os.close(file)

    def _start_rendezvous(self) -> tuple[str, int]:
        """Start a process that serves, on loopback, the store through which ranks meet; return the store's address."""
        store = new_store(LOOPBACK)

        def child() -> None:
            end_with_parent()
            self._close_all_but([])
            store.serve()

        fork(child)
        store.close()
        return LOOPBACK, store.port


def prepare_process() -> None:
    """Prepare this process for `serve`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # any handler makes the wake-up file work
    # If a rank is asked for its stacks before it can write them, the signal must not kill it.
    for number in (STACK_SIGNAL, ALL_STACKS_SIGNAL):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()


def receive_over_socket(channel: Connection, request: LaunchRequest) -> tuple[LaunchRequest, list[int]]:
    """Return the request, and the files that the client on this machine sends with it over the same socket."""
    num_files = len(request.ranks) * request.num_files_per_rank
    with socket.socket(fileno=os.dup(channel.fileno())) as files_socket:
        _, files, _, _ = socket.recv_fds(files_socket, 1, MAX_NUM_FILES)
    if len(files) != num_files:
        raise EOFError(f"expected {num_files} files, got {len(files)}: the client has ended")
    return request, files


def main() -> None:
    """Serve on the socket whose file number is the first argument."""
    prepare_process()
    serve(Connection(int(sys.argv[1])), receive_over_socket)
