"""Ranks as tasks of a Slurm job: the same runs on every node of an allocation.

A job step holds one fork server per node, which lives from the first run to the end of the notebook's process,
so that the next run, whatever its number of ranks, starts as quickly as on one machine.
Where MPI joins the ranks, each is a task of its own, since that is how MPI counts, and every run has a step of its own.
Tasks connect to the notebook's process by TCP and prove with a key that they belong to it.
When a connection closes, whichever side has ended, the other ends too.
"""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import TYPE_CHECKING

from coursekit.ranks import allocation
from coursekit.ranks.environ import scrubbed
from coursekit.ranks.errors import RankError
from coursekit.ranks.request import LaunchRequest
from coursekit.ranks.running_ranks import RunningRanks

if TYPE_CHECKING:
    from coursekit.ranks.worker import Task

START_TIMEOUT_S = 300.0  # tasks import TensorFlow, on a cold file system shared by all nodes that may be busy
CONNECT_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0
POLL_S = 0.2
BACKLOG = 256  # connections that wait: three of every rank at once

ADDRESS_VARIABLE = "COURSEKIT_STEP_ADDRESS"
KEY_VARIABLE = "COURSEKIT_STEP_KEY"
FILES = ("output", "reports", "stacks")  # what a task connects for each run, in the order in which a rank gets them


class JobStep:
    """A job step with a fork server in each of its tasks: one for every node, or for every rank of one run by MPI."""

    def __init__(self, num_tasks: int, *, by_mpi: bool) -> None:
        self.num_tasks = num_tasks
        self.by_mpi = by_mpi
        self._has_served = False
        self._owner = os.getpid()
        self._key = secrets.token_bytes(32)
        self._host = allocation.own_address()
        self._listener = socket.create_server((self._host, 0), backlog=BACKLOG)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the step
        self._controls: dict[int, Connection] = {}
        self._nodes: dict[int, int] = {}
        self._stores: list[subprocess.Popen[str]] = []
        self._srun = subprocess.Popen(
            [*allocation.srun_command(num_tasks, by_mpi=by_mpi), sys.executable, "-m", "coursekit.ranks.slurm_task"],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={
                **allocation.srun_environ(),
                ADDRESS_VARIABLE: f"{self._host}:{self._listener.getsockname()[1]}",
                KEY_VARIABLE: self._key.hex(),
            },
            start_new_session=True,
        )

    def usable(self) -> bool:
        """Whether the step still runs, can start ranks, and belongs to this process; MPI lets a task join once only."""
        spent = self._has_served and self.by_mpi
        return self._owner == os.getpid() and not spent and self._srun.poll() is None

    def launch(self, task: Task, environ: dict[str, str]) -> RunningRanks:
        """Start the ranks of one run and return what stands for them.

        Raises:
            RankError: the step could not be started or ended, or TensorFlow or Horovod cannot be imported there.
        """
        try:
            if not self._controls:
                self._meet_tasks()
            controls = []
            for number, request in self._requests(task, environ).items():
                controls.append(self._controls[number])
                controls[-1].send(request)
            files = self._accept(len(FILES) * task.num_ranks, CONNECT_TIMEOUT_S)
        except BaseException as error:
            self.close()
            if isinstance(error, (OSError, EOFError)):
                raise RankError(f"the job step ended unexpectedly ({error}): run the cell again") from error
            raise
        running = RunningRanks(controls, server="the Slurm job step")
        for rank in range(task.num_ranks):
            running.outputs.append(os.dup(files[rank, "output"].fileno()))
            running.reports.append(files[rank, "reports"])
            stack = os.dup(files[rank, "stacks"].fileno())
            os.set_blocking(stack, False)
            running.stacks.append(os.fdopen(stack, "rb", buffering=0))
            files[rank, "output"].close()
            files[rank, "stacks"].close()
        return running

    def _requests(self, task: Task, environ: dict[str, str]) -> dict[int, LaunchRequest]:
        """Return what to ask of each task of the step that gets ranks, by its number."""
        self._has_served = True
        num_used = min(self.num_tasks, task.num_ranks)
        shares = allocation.even_shares(task.num_ranks, num_used)
        on_nodes: Counter[int] = Counter()
        for number, ranks in enumerate(shares):
            on_nodes[self._nodes[number]] += len(ranks)
        rendezvous = None if self.by_mpi else self._start_store()
        ranks_on_nodes = tuple(on_nodes[node] for node in sorted(on_nodes))
        launch = LaunchRequest(
            task, environ, ranks_on_nodes, (), rendezvous, allocation.interface(), by_mpi=self.by_mpi
        )
        return {number: replace(launch, ranks=ranks) for number, ranks in enumerate(shares)}

    def _meet_tasks(self) -> None:
        """Wait until every task has connected, said on which node it is, and imported what ranks need."""
        met = self._accept(self.num_tasks, START_TIMEOUT_S)
        for (number, _), control in met.items():
            if not control.poll(START_TIMEOUT_S):
                raise RankError(f"task {number} of the job step did not import TensorFlow in {START_TIMEOUT_S:g} s")
            failure = control.recv()
            if failure:
                raise RankError(
                    f"TensorFlow or Horovod cannot be imported in task {number} of the job step ({failure})"
                )
        self._nodes = {number: int(node) for number, node in met}
        self._controls = {number: control for (number, _), control in met.items()}

    def _accept(self, num_connections: int, timeout_s: float) -> dict[tuple[int, str], Connection]:
        """Return that many connections by number and kind; strangers without the key are turned away.

        Number and kind are those of the task and its node when tasks introduce themselves, then of a rank and its file.
        """
        connections: dict[tuple[int, str], Connection] = {}
        deadline = time.monotonic() + timeout_s
        self._listener.settimeout(POLL_S)
        while len(connections) < num_connections:
            if self._srun.poll() is not None:
                raise RankError(f"srun could not start the ranks: {self._last_words()}")
            if time.monotonic() > deadline:
                raise RankError(f"the tasks of the job step did not connect within {timeout_s:g} s")
            try:
                connection = Connection(self._listener.accept()[0].detach())
            except socket.timeout:  # Python 3.9 has it apart from TimeoutError
                continue
            try:
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
                connections[connection.recv()] = connection
            except (AuthenticationError, EOFError, OSError):
                connection.close()
        return connections

    def _start_store(self) -> tuple[str, int]:
        """Start a new store for the run's rendezvous; that of the run before has done its work."""
        self._end_stores()
        store = subprocess.Popen(
            [sys.executable, "-m", "coursekit.ranks.rendezvous", self._host],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=scrubbed(),
            text=True,
        )
        self._stores.append(store)
        port = store.stdout.readline() if store.stdout else ""
        if not port:
            raise RankError(f"the rendezvous store could not be started: {self._last_words()}")
        return self._host, int(port)

    def _end_stores(self) -> None:
        while self._stores:
            with self._stores.pop() as store:
                store.kill()

    def _last_words(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-2000:] or "it said nothing"

    def close(self) -> None:
        """End the step and with it every rank; safe to call twice."""
        self._listener.close()
        for control in self._controls.values():
            control.close()
        if self._owner != os.getpid():
            return
        self._end_stores()
        self._end_srun()
        self._log.close()

    def _end_srun(self) -> None:
        """Wait for srun, which ends with its tasks; when it does not, have it end them, and at last kill it."""
        if not self._controls:
            self._srun.terminate()  # tasks that were not met yet know of no end
        for insist in (self._srun.terminate, self._srun.kill):
            with suppress(subprocess.TimeoutExpired):
                self._srun.wait(END_TIMEOUT_S)
                return
            insist()
        self._srun.wait()


_steps: list[JobStep] = []


def shared_step(num_ranks: int) -> JobStep:
    """Return this process's job step for a run with that many ranks, starting one if none can serve."""
    if not (_steps and _steps[-1].usable()):
        close_shared_step()
        by_mpi = allocation.joined_by_mpi()
        _steps.append(JobStep(num_ranks if by_mpi else allocation.num_nodes(), by_mpi=by_mpi))
    return _steps[-1]


def take_shared_step(num_ranks: int) -> JobStep:
    """Return such a job step for the caller alone."""
    step = shared_step(num_ranks)
    _steps.clear()
    return step


def give_back(step: JobStep) -> None:
    """Let runs use a step that was taken, or end it where they have another, or where it cannot serve."""
    if _steps or not step.usable():
        step.close()
    else:
        _steps.append(step)


def close_shared_step() -> None:
    """End this process's job step, if there is one."""
    while _steps:
        _steps.pop().close()


atexit.register(close_shared_step)
os.register_at_fork(after_in_child=close_shared_step)
