"""Ranks as tasks of a Slurm job: the same runs on every node of an allocation.

A job step holds one fork server per rank, which lives from the first run to the end of the notebook's process,
so that the next run starts as quickly as on one machine. Its tasks connect to the notebook's process by TCP and
prove with a key that they belong to it. When a connection closes, whichever side has ended, the other ends too.
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
from dataclasses import replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import TYPE_CHECKING

from coursekit.ranks import allocation
from coursekit.ranks.environ import scrubbed
from coursekit.ranks.errors import RankError
from coursekit.ranks.forkserver import Job
from coursekit.ranks.server import Launch

if TYPE_CHECKING:
    from coursekit.ranks.worker import Task

START_TIMEOUT_S = 120.0  # tasks import TensorFlow, on a cold file system shared by all nodes
CONNECT_TIMEOUT_S = 10.0
END_TIMEOUT_S = 10.0
POLL_S = 0.2

ADDRESS_VARIABLE = "COURSEKIT_STEP_ADDRESS"
KEY_VARIABLE = "COURSEKIT_STEP_KEY"
FILES = ("output", "reports", "stacks")  # what a task connects for each run, in the order in which a rank gets them


class JobStep:
    """A job step with a fork server in each of its tasks."""

    def __init__(self, num_ranks: int) -> None:
        self.num_ranks = num_ranks
        self._has_served = False
        self._owner = os.getpid()
        self._key = secrets.token_bytes(32)
        self._host = allocation.own_address()
        self._listener = socket.create_server((self._host, 0), backlog=len(FILES) * num_ranks)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the step
        self._controls: dict[int, Connection] = {}
        self._ranks_on_nodes: tuple[int, ...] = ()
        self._stores: list[subprocess.Popen[str]] = []
        self._srun = subprocess.Popen(
            [*allocation.srun_command(num_ranks), sys.executable, "-m", "coursekit.ranks.slurm_task"],
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
        """Whether the step still runs, can start ranks, and belongs to this process.

        MPI lets each task join once only: then every run has a step of its own.
        """
        spent = self._has_served and allocation.joined_by_mpi()
        return self._owner == os.getpid() and not spent and self._srun.poll() is None

    def launch(self, task: Task, environ: dict[str, str]) -> Job:
        """Start the ranks of one run and return the job that stands for them.

        Raises:
            RankError: the step could not be started or ended, or TensorFlow or Horovod cannot be imported there.
        """
        try:
            if not self._controls:
                self._meet_tasks()
            launch = self._plan(task, environ)
            ranks = range(self.num_ranks)
            controls = [self._controls[rank] for rank in ranks]
            for rank, control in enumerate(controls):
                control.send(replace(launch, ranks=(rank,)))
            files = self._accept(len(FILES) * self.num_ranks, CONNECT_TIMEOUT_S)
        except BaseException as error:
            self.close()
            if isinstance(error, (OSError, EOFError)):
                raise RankError(f"the job step ended unexpectedly ({error}): run the cell again") from error
            raise
        job = Job(controls, server="the Slurm job step")
        for rank in ranks:
            job.outputs.append(os.dup(files[rank, "output"].fileno()))
            job.reports.append(files[rank, "reports"])
            stack = os.dup(files[rank, "stacks"].fileno())
            os.set_blocking(stack, False)
            job.stacks.append(os.fdopen(stack, "rb", buffering=0))
            files[rank, "output"].close()
            files[rank, "stacks"].close()
        return job

    def _plan(self, task: Task, environ: dict[str, str]) -> Launch:
        """Return the request for a run, for all ranks alike."""
        self._has_served = True
        by_mpi = allocation.joined_by_mpi()
        rendezvous = None if by_mpi else self._start_store()
        return Launch(task, environ, self._ranks_on_nodes, (), rendezvous, allocation.interface(), by_mpi=by_mpi)

    def _meet_tasks(self) -> None:
        """Wait until every task has connected, said on which node it is, and imported what ranks need."""
        nodes: Counter[int] = Counter()
        controls = {}
        for (rank, kind), control in self._accept(self.num_ranks, START_TIMEOUT_S).items():
            nodes[int(kind)] += 1
            controls[rank] = control
        for rank, control in controls.items():
            if not control.poll(START_TIMEOUT_S):
                raise RankError(f"task {rank} of the job step did not import TensorFlow in {START_TIMEOUT_S:g} s")
            failure = control.recv()
            if failure:
                reason = failure.rstrip().splitlines()[-1]
                raise RankError(f"TensorFlow or Horovod cannot be imported in task {rank} of the job step ({reason})")
        self._ranks_on_nodes = tuple(nodes[node] for node in sorted(nodes))
        self._controls = controls

    def _accept(self, num_connections: int, timeout_s: float) -> dict[tuple[int, str], Connection]:
        """Return that many connections of tasks by rank and kind; strangers without the key are turned away."""
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
            if self._srun_ends():
                return
            insist()
        self._srun.wait()

    def _srun_ends(self) -> bool:
        try:
            self._srun.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return False
        return True


_steps: dict[int, JobStep] = {}


def shared_step(num_ranks: int) -> JobStep:
    """Return this process's job step with that many tasks, starting one when there is none that can serve.

    Steps of other sizes stay: a lab that compares one rank with many goes back and forth.
    """
    step = _steps.get(num_ranks)
    if step is None or not step.usable():
        if step is not None:
            step.close()
        _steps[num_ranks] = step = JobStep(num_ranks)
    return step


def close_shared_steps() -> None:
    """End this process's job steps."""
    while _steps:
        _steps.popitem()[1].close()


atexit.register(close_shared_steps)
os.register_at_fork(after_in_child=close_shared_steps)
