"""Ranks as tasks of a Slurm job: the same runs on every node of an allocation.

A job step holds one fork server per node, which lives from the first run to the end of the notebook's process,
so that the next run, whatever its number of ranks, starts as quickly as on one machine.
Where MPI joins the ranks, each is a task of its own, since that is how MPI counts, and every run has a step of its own.
Tasks connect to the notebook's process by TCP and prove with a key that they belong to it.
When a connection closes, whichever side has ended, the other ends too.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

from coursekit.ranks import allocation
from coursekit.ranks.environ import HIDE_GPUS, scrubbed, srun_environ
from coursekit.ranks.errors import RankError
from coursekit.ranks.rendezvous import Door
from coursekit.ranks.request import LaunchRequest, RunningRanks
from coursekit.ranks.shared import RankServer, SharedServer
from coursekit.ranks.worker import Task

START_TIMEOUT_S = 300.0  # tasks import TensorFlow, on a cold file system shared by all nodes that may be busy
CONNECT_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0

ADDRESS_VARIABLE = "COURSEKIT_STEP_ADDRESS"
KEY_VARIABLE = "COURSEKIT_STEP_KEY"
# What srun says of a job that is no longer there.
ENDED_JOB = ("Unable to confirm allocation", "Expired or invalid job", "already completing or completed")
FILES = ("output", "reports", "stacks")  # what a task connects for each run, in the order in which a rank gets them


class JobStep(RankServer):
    """A job step with a fork server in each of its tasks: one for every node, or for every rank of one run by MPI."""

    def __init__(self, num_tasks: int, *, by_mpi: bool) -> None:
        self.num_tasks = num_tasks
        self.by_mpi = by_mpi
        self._has_served = False
        self._owner = os.getpid()
        self._key = secrets.token_bytes(32)
        self._host = allocation.own_address()
        self._door = Door(self._host, self._key)
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
                **srun_environ(),
                ADDRESS_VARIABLE: f"{self._host}:{self._door.port}",
                KEY_VARIABLE: self._key.hex(),
            },
            start_new_session=True,
        )

    def usable(self) -> bool:
        """Whether the step still runs, can start ranks, and belongs to this process; MPI lets a task join once only."""
        spent = self._has_served and self.by_mpi
        return self._owner == os.getpid() and not spent and self._srun.poll() is None

    def start(self, task: Task, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> RunningRanks:
        """Start the ranks of one run on the nodes of the job, where Slurm has given them cores and GPUs."""
        del ranks_per_node
        task = replace(task, bind_cores=False)
        environ = {**environ, **(HIDE_GPUS if use_gpus is False else {})}
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
        """Return that many connections by number and kind.

        Number and kind are those of the task and its node when tasks introduce themselves, then of a rank and its file.
        """
        connections: dict[tuple[int, str], Connection] = {}
        deadline = time.monotonic() + timeout_s
        while len(connections) < num_connections:
            if self._srun.poll() is not None:
                raise RankError(self._why_not_started())
            if time.monotonic() > deadline:
                raise RankError(f"the tasks of the job step did not connect within {timeout_s:g} s")
            connections.update(self._door.let_in())
        return connections

    def _why_not_started(self) -> str:
        said = self._last_words()
        if any(words in said for words in ENDED_JOB):
            return (
                f"the Slurm job {os.environ.get('SLURM_JOB_ID')}, which SLURM_JOB_ID names, has ended: start another, "
                f"or set COURSEKIT_RANKS=local for ranks on this machine (srun says: {said})"
            )
        return f"srun could not start the ranks: {said}"

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
        self._door.close()
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


def _step_for(num_ranks: int) -> JobStep:
    by_mpi = allocation.joined_by_mpi()
    return JobStep(num_ranks if by_mpi else allocation.num_nodes(), by_mpi=by_mpi)


shared = SharedServer(_step_for)
