"""The fork server: imports TensorFlow and Horovod, or PyTorch, once, then forks fresh ranks in milliseconds.

It never executes an operation of theirs, and forks only while its other threads sleep: a fork after the one, or while
a thread holds a lock, can hang the child.
It adopts every process that a rank leaves behind, so that at the end of a run nothing is left,
and it ends together with the notebook's process, whose end closes the control socket.
In a job step one serves on each node, and serves a notebook's process on another.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from multiprocessing.connection import Client, Connection, wait

from coursekit.errors import CourseKitError
from coursekit.framework import HOROVOD, MODULES, NAMES, chosen
from coursekit.processes import (
    adopt_orphans,
    end_with_parent,
    kill_descendants,
    signal_main_thread,
    use_huge_pages,
)
from coursekit.ranks import memory_logger, mpi
from coursekit.ranks.context import LOOPBACK
from coursekit.ranks.deadlock import NUM_POLLERS, Pulses, is_at_rest
from coursekit.ranks.forked_rank import MAX_REASON_LENGTH, become_rank, fork, place_environ, telling
from coursekit.ranks.launched import MPI, controller, spare_horovod
from coursekit.ranks.rendezvous import new_store
from coursekit.ranks.request import (
    DUMP,
    DUMP_ALL_AT_REST,
    DUMP_AT_REST,
    FILES,
    MAX_NUM_FILES,
    STEP_VARIABLE,
    LaunchRequest,
)
from coursekit.ranks.stub import NODE
from coursekit.ranks.worker import ALL_STACKS_SIGNAL, STACK_SIGNAL

# What Slurm sets for a task alone, and the notebook's environment must not hide from the rank: its place, its GPUs.
OF_THE_TASK = ("SLURM", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def preload(*more: str) -> str:
    """Import what ranks need, and these modules; return '', or a sentence on why no rank can start."""
    gc.disable()  # a fifth of TensorFlow's import would be looking for garbage that is not there
    try:
        if chosen() == HOROVOD:
            with contextlib.suppress(CourseKitError):  # without its package: lab 04 alone needs it, and says so
                importlib.import_module("coursekit.estimator")
        for module in (*MODULES[chosen()], *more):
            importlib.import_module(module)
        if chosen() == HOROVOD:
            controller()
            spare_horovod()
            memory_logger.start()
    except CourseKitError as error:
        return str(error)
    except Exception:  # noqa: BLE001  # a broken installation can raise anything; the caller explains it
        cause = traceback.format_exc().rstrip().splitlines()[-1]
        return f"{NAMES[chosen()]} cannot be imported ({cause}): run `coursekit doctor` to see what is missing"
    finally:
        gc.enable()
    use_huge_pages()
    gc.freeze()  # else the first collection in a child copies every page that it shares with us
    return ""


def joins_by_mpi() -> bool:
    """Whether ranks of the Horovod that is imported here join by MPI."""
    return chosen() == HOROVOD and controller() == MPI


def serve(
    channel: Connection,
    receive: Callable[[Connection, LaunchRequest], tuple[LaunchRequest, list[int]]],
    *,
    on_demand: bool = False,
) -> None:
    """Answer requests until the notebook's process closes the channel.

    `receive` completes a request: returns it with the files of each rank that it starts.
    With `on_demand`, what ranks need is imported only when something is said, for the first time.
    """
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        if on_demand:
            channel.recv()
        failure = preload()
        channel.send((failure, not failure and joins_by_mpi()))
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
        self.not_started = os.pipe()  # why ranks could not be started; nothing that runs in a rank holds it
        rendezvous = request.rendezvous or self._start_rendezvous()
        num_files = request.num_files_per_rank
        os.set_blocking(self.not_started[0], False)
        self.stubs: list[int] = []
        self.places: Mapping[int, mpi.Place | None] = dict.fromkeys(request.ranks)
        if joins_by_mpi():
            self.places = self._meet_stubs()
            self.files = [
                *files,
                *self.stubs,
                *(file for place in self.places.values() if place for file in place.files),
            ]
        for position, rank in enumerate(request.ranks if self.places else ()):
            own = files[position * num_files : (position + 1) * num_files]
            self.rank_of[self._start_rank(rank, own, rendezvous)] = rank
        for file in {*self.files, *self.gate, self.not_started[1]} - {*self.stubs}:
            os.close(file)
        self.num_pollers = NUM_POLLERS if joins_by_mpi() else 0
        self.pulses = Pulses(self.rank_of, self.num_pollers)
        self.is_watched = False

    def supervise(self) -> None:
        """Report ends of ranks and their pulse, obey what is asked, and leave no process behind."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        try:
            while self._reap():
                for ready in wait([self.channel, wake_read], self.pulses.due_in_s() if self.is_watched else None):
                    if ready == wake_read:
                        os.read(wake_read, 4096)
                    elif not self._obey(self.channel.recv()):
                        return
                if self.is_watched and not self.pulses.due_in_s():
                    self._pulse()
        finally:
            signal.set_wakeup_fd(-1)
            for file in (wake_read, wake_write, self.not_started[0]):
                os.close(file)
            self._leave_nothing()
        self.channel.send(("gone", None))

    def _pulse(self) -> None:
        self.channel.send(("pulse", self.pulses.take()))

    def _leave_nothing(self) -> None:
        while self.stubs:
            os.close(self.stubs.pop())
        kill_descendants()
        shutil.rmtree(self.temporary_folder, ignore_errors=True)

    def _obey(self, command: str) -> bool:
        """Do what the notebook's process asks for; return whether the run goes on."""
        if command == DUMP:
            self._signal(STACK_SIGNAL, self.rank_of)
        elif command in {DUMP_AT_REST, DUMP_ALL_AT_REST}:
            number = STACK_SIGNAL if command == DUMP_AT_REST else ALL_STACKS_SIGNAL
            self._signal(number, [pid for pid in self.rank_of if is_at_rest(pid, self.num_pollers)])
        elif command == "interrupt":
            self._signal(signal.SIGINT, self.rank_of)
        elif command == "watch":
            self.is_watched = True
            self._pulse()  # time counts from this one
        elif command == "rest":
            self.is_watched = False
        elif command == "stop":
            self._leave_nothing()
            self.channel.send(("gone", None))
        return command != "stop"

    def _signal(self, number: int, pids: Iterable[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                signal_main_thread(pid, number)

    def _reap(self) -> bool:
        """Collect ended children; return whether any rank still runs."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self.rank_of:
                    if reason := self._why_not_started():
                        self.channel.send(("not started", reason))
                    self.channel.send(("ended", (self.rank_of.pop(pid), os.waitstatus_to_exitcode(status))))
        return bool(self.rank_of)

    def _why_not_started(self) -> str:
        with contextlib.suppress(BlockingIOError):
            if reason := os.read(self.not_started[0], MAX_REASON_LENGTH):
                return reason.decode(errors="replace").splitlines()[0]
        return ""

    def _meet_stubs(self) -> dict[int, mpi.Place]:
        """Return the place of each rank in MPI's world; none, and tell why, where there is one that gets no place."""
        places: dict[int, mpi.Place] = {}
        with mpi.PlaceListener(self.request.meeting_point) as listener, tempfile.TemporaryFile() as output:
            launcher = 0 if self.request.meeting_point else self._start_launcher(listener, output.fileno())
            try:
                places = listener.accept(self.request.ranks, launcher)
                self.channel.send(("placed", None))
            except (CourseKitError, OSError) as error:
                output.seek(0)
                said = output.read().decode(errors="replace").strip()[:MAX_REASON_LENGTH]
                self.channel.send(("not started", self._why_not_started() or f"{error}; it wrote: {said or 'nothing'}"))
            self.stubs = listener.stubs
        return places

    def _start_launcher(self, listener: mpi.PlaceListener, output: int) -> int:
        """Start an `mpirun`, isolated as ranks are: MPI lets ranks start programs through it."""

        def child() -> None:
            os.close(listener.fileno())
            self._close_all_but([self.not_started[1]])
            tempfile.tempdir = self.temporary_folder
            with telling(self.not_started[1]):
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
            place = self.places[rank]
            self._close_all_but([*own, self.gate[0], self.not_started[1], *(place.files if place else ())])
            os.read(self.gate[0], 1)  # returns when the last copy of the other end is closed
            os.close(self.gate[0])
            tempfile.tempdir = self.temporary_folder
            variables = place_environ(self.request, rank, rendezvous, place)
            become_rank(self.request, rank, own, variables, self.not_started[1])

        return fork(child)

    def _close_all_but(self, own: list[int]) -> None:
        """Give up the server's and the peers' files in a child: a pipe ends only when its last copy is closed."""
        for file in {*self.files, self.channel.fileno(), *self.gate, *self.not_started} - {*own}:
            os.close(file)

    def _start_rendezvous(self) -> tuple[str, int]:
        """Start a process with the store in which Gloo ranks find each other, on loopback only."""
        store = new_store(LOOPBACK)

        def child() -> None:
            end_with_parent()
            self._close_all_but([])
            store.serve()

        fork(child)
        store.close()
        return LOOPBACK, store.port


def prepare_process() -> None:
    """Make this process fit for `serve`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # any handler: it makes the wake-up file work
    # A rank that is asked for its stacks before it can tell them must not die of it.
    for number in (STACK_SIGNAL, ALL_STACKS_SIGNAL):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()


def receive_over_socket(channel: Connection, request: LaunchRequest) -> tuple[LaunchRequest, list[int]]:
    """Receive the files that the notebook's process on this machine sends along with a request."""
    num_files = len(request.ranks) * request.num_files_per_rank
    with socket.socket(fileno=os.dup(channel.fileno())) as files_socket:
        _, files, _, _ = socket.recv_fds(files_socket, 1, MAX_NUM_FILES)
    if len(files) != num_files:
        raise EOFError(f"expected {num_files} files, got {len(files)}: the notebook's process has ended")
    return request, files


def _serve_step() -> None:
    """Connect this task of a job step to the notebook's process, and serve that until it closes the connection."""
    host, port, key = os.environ.pop(STEP_VARIABLE).split(":")
    of_the_task = {name: value for name, value in os.environ.items() if name.startswith(OF_THE_TASK)}

    def connect(number: int, kind: str) -> Connection:
        connection = Client((host, int(port)), authkey=bytes.fromhex(key))
        connection.send((number, kind))
        return connection

    def receive(_: Connection, request: LaunchRequest) -> tuple[LaunchRequest, list[int]]:
        """Connect the files of each rank."""
        files = []
        for rank in request.ranks:
            for kind in FILES:
                with connect(rank, kind) as connection:
                    files.append(os.dup(connection.fileno()))
        environ = {**request.environ, **of_the_task}
        if request.environ.get("CUDA_VISIBLE_DEVICES") == "-1":
            environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the notebook has hidden the GPUs from this run
        meeting_point = request.meeting_point and request.meeting_point + os.environ[NODE]
        return replace(request, environ=environ, meeting_point=meeting_point), files

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    serve(connect(int(os.environ["SLURM_PROCID"]), "requests"), receive)


def main() -> None:
    """Serve on the socket whose number is the first argument, or as a task of a job step."""
    prepare_process()
    if len(sys.argv) > 1:
        serve(Connection(int(sys.argv[1])), receive_over_socket)
    else:
        _serve_step()


if __name__ == "__main__":
    main()
