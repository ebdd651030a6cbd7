"""Ranks as tasks of a Slurm job: the same runs on every node of an allocation.

A job step holds one fork server per rank, which lives from the first run to the end of the notebook's process,
so that the next run starts as quickly as on one machine. Its tasks connect to the notebook's process by TCP and
prove with a key that they belong to it. When a connection closes, whichever side has ended, the other ends too.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import TYPE_CHECKING

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
SRUN_FLAGS_VARIABLE = "COURSEKIT_SRUN_FLAGS"
FILES = ("output", "reports", "stacks")  # what a task connects for each run, in the order in which a rank gets them


def has_tasks_for(num_ranks: int) -> bool:
    """Whether this process is in a Slurm job that has a task for each rank, and `COURSEKIT_RANKS` is not `local`."""
    if os.environ.get("COURSEKIT_RANKS") == "local" or "SLURM_JOB_ID" not in os.environ:
        return False
    return num_ranks <= int(os.environ.get("SLURM_NTASKS", "1")) and shutil.which("srun") is not None


class JobStep:
    """A job step with a fork server in each of its tasks."""

    def __init__(self, num_ranks: int) -> None:
        self.num_ranks = num_ranks
        self._owner = os.getpid()
        self._key = secrets.token_bytes(32)
        self._host = socket.gethostbyname(socket.gethostname())
        self._listener = socket.create_server((self._host, 0), backlog=len(FILES) * num_ranks)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the step
        self._controls: dict[int, Connection] = {}
        self._ranks_on_nodes: tuple[int, ...] = ()
        self._stores: list[subprocess.Popen[str]] = []
        self._srun = subprocess.Popen(
            [
                *("srun", f"--ntasks={num_ranks}", "--distribution=block", "--overlap", "--kill-on-bad-exit=0"),
                *os.environ.get(SRUN_FLAGS_VARIABLE, "").split(),
                *(sys.executable, "-m", "coursekit.ranks.slurm_task"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={
                **scrubbed(),
                ADDRESS_VARIABLE: f"{self._host}:{self._listener.getsockname()[1]}",
                KEY_VARIABLE: self._key.hex(),
            },
            start_new_session=True,
        )

    def usable(self, num_ranks: int) -> bool:
        """Whether the step still runs, has this many tasks, and belongs to this process."""
        return self._owner == os.getpid() and self.num_ranks == num_ranks and self._srun.poll() is None

    def launch(self, task: Task, environ: dict[str, str]) -> Job:
        """Start the ranks of one run and return the job that stands for them.

        Raises:
            RankError: the step could not be started or ended, or TensorFlow or Horovod cannot be imported there.
        """
        try:
            if not self._controls:
                self._meet_tasks()
            rendezvous = self._start_store()
            ranks = range(self.num_ranks)
            controls = [self._controls[rank] for rank in ranks]
            for rank, control in enumerate(controls):
                control.send(Launch(task, environ, self._ranks_on_nodes, (rank,), rendezvous, interface=None))
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


_steps: list[JobStep] = []


def shared_step(num_ranks: int) -> JobStep:
    """Return this process's job step with that many tasks, starting one when there is none that runs."""
    if not (_steps and _steps[-1].usable(num_ranks)):
        close_shared_step()
        _steps.append(JobStep(num_ranks))
    return _steps[-1]


def close_shared_step() -> None:
    """End this process's job step, if there is one."""
    while _steps:
        _steps.pop().close()


atexit.register(close_shared_step)
os.register_at_fork(after_in_child=close_shared_step)
