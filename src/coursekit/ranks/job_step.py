"""Ranks as tasks of a Slurm job: the same runs on every node of an allocation.

A job step holds one fork server per node, which lives from the first run to the end of the notebook's process,
so that the next run, whatever its number of ranks, starts as quickly as on one machine.
Tasks connect to the notebook's process by TCP and prove with a key that they belong to it.
When a connection closes, whichever side has ended, the other ends too.

The job script says by variables what only it knows:

- `COURSEKIT_NUM_TASKS`: the tasks of the whole job; `SLURM_NTASKS` has another number inside a job step.
- `COURSEKIT_INTERFACE`: the network between the nodes.
- `COURSEKIT_SRUN_FLAGS`: further options, and then what starts a command in the container of this process.
- `SLURM_MPI_TYPE`, a variable of Slurm's own: how ranks find each other where they join by MPI (`srun --mpi=list`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from queue import SimpleQueue
from threading import Thread

import numpy as np
import psutil

from coursekit.environ import FOR_SRUN, FOR_SRUN_PREFIXES, HIDE_GPUS, host_name_fault, slurm_environ
from coursekit.framework import NAMES
from coursekit.ranks import mpi, stub
from coursekit.ranks.context import LOOPBACK, LOOPBACK_INTERFACE
from coursekit.ranks.explain import RankError
from coursekit.ranks.forkserver import PROGRAM
from coursekit.ranks.rendezvous import Store, TorchStore, new_store
from coursekit.ranks.request import FILES, STEP_VARIABLE, LaunchRequest, RankServer, RunningRanks, SharedServer
from coursekit.ranks.worker import Task

START_TIMEOUT_S = 300.0  # tasks import TensorFlow, on a cold file system shared by all nodes that may be busy
CONNECT_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0
POLL_S = 0.2
BACKLOG = 256  # connections that wait: three of every rank at once


def has_tasks_for(num_ranks: int) -> bool:
    """Whether this process is in a Slurm job that has a task for each rank, and `COURSEKIT_RANKS` is not `local`.

    On the only node of a job, ranks can do without `srun`; a `JobStep` on several nodes says that it is missing.
    """
    if os.environ.get("COURSEKIT_RANKS") == "local" or "SLURM_JOB_ID" not in os.environ:
        return False
    return num_ranks <= _num_tasks() and (num_nodes() > 1 or shutil.which("srun") is not None)


def interface() -> str | None:
    """Return the network interface between the nodes, or None to take that of the host's name."""
    # A process in an `salloc` may be on no node of its job.
    is_only_node = num_nodes() == 1 and os.environ.get("SLURMD_NODENAME") == os.environ.get("SLURM_JOB_NODELIST", "")
    return os.environ.get("COURSEKIT_INTERFACE") or (LOOPBACK_INTERFACE if is_only_node else None)


def own_address() -> str:
    """Return the address at which tasks on other nodes reach this process; a `RankError` says why there is none."""
    name = interface()
    if name == LOOPBACK_INTERFACE:
        return LOOPBACK
    if name is None:
        if fault := host_name_fault():
            raise RankError(f"{fault}, or set COURSEKIT_INTERFACE to the network interface that joins the nodes")
        return socket.gethostbyname(socket.gethostname())
    addresses = psutil.net_if_addrs()
    found = [str(address.address) for address in addresses.get(name, []) if address.family == socket.AF_INET]
    if not found:
        raise RankError(
            f"COURSEKIT_INTERFACE names {name!r}, but this node's network interfaces with an address are "
            f"{', '.join(sorted(addresses))}: set it to the one that joins the nodes."
        )
    return found[0]


def num_nodes() -> int:
    """Return how many nodes the job has."""
    return int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))


def srun_command() -> list[str]:
    """Return the words that start a job step with one task on each node, which gets the job's cores there."""
    num_cpus = max(1, _num_tasks() // num_nodes()) * int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))
    return [
        *("srun", f"--nodes={num_nodes()}", f"--ntasks={num_nodes()}", "--distribution=block"),
        *("--overlap", "--kill-on-bad-exit=0", "--export=ALL", f"--cpus-per-task={num_cpus}", "--mpi=none"),
        *os.environ.get("COURSEKIT_SRUN_FLAGS", "").split(),
    ]


def stubs_command(num_ranks: int, name: str) -> list[str]:
    """Return the words that start a stub of MPI for each rank (see `mpi`), on the nodes that `SLURM_HOSTFILE` lists."""
    return [
        *("srun", f"--ntasks={num_ranks}", "--distribution=arbitrary", "--overlap", "--kill-on-bad-exit=0"),
        *("--export=ALL", "--cpus-per-task=1", "--gres=none", f"--mpi={os.environ.get('SLURM_MPI_TYPE', 'pmix')}"),
        *os.environ.get("COURSEKIT_SRUN_FLAGS", "").split(),
        *(sys.executable, "-IS", stub.__file__, name),
    ]


def _num_tasks() -> int:
    return int(os.environ.get("COURSEKIT_NUM_TASKS") or os.environ.get("SLURM_NTASKS", "1"))


class JobStep(RankServer):
    """A job step with a fork server on every node."""

    def __init__(self) -> None:
        if shutil.which("srun") is None:  # as in an image without Slurm's client
            raise RankError(
                f"this job has {num_nodes()} nodes, but there is no srun to start ranks on them: install Slurm's "
                "client in the container, or set COURSEKIT_RANKS=local for ranks on this machine"
            )
        super().__init__()
        self._key = secrets.token_bytes(32)
        self._host = own_address()
        self._listener = socket.create_server((self._host, 0), backlog=BACKLOG)
        self._listener.settimeout(POLL_S)
        self._hosts = tempfile.NamedTemporaryFile("w", prefix="hosts-")  # noqa: SIM115  # lives as long as the step
        self._proven: SimpleQueue[tuple[tuple[int, str], Connection]] = SimpleQueue()
        self._controls: list[Connection] = []
        self._joins_by_mpi = False  # known when the tasks have been met
        self._stubs: subprocess.Popen[bytes] | None = None  # of the last run, where it joined by MPI
        self._store: Store | TorchStore | None = None
        self._srun = subprocess.Popen(
            [*srun_command(), sys.executable, "-c", PROGRAM],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={
                **slurm_environ(FOR_SRUN, FOR_SRUN_PREFIXES),
                STEP_VARIABLE: f"{self._host}:{self._listener.getsockname()[1]}:{self._key.hex()}",
            },
            start_new_session=True,
        )

    def usable(self) -> bool:
        """Whether the step still runs and belongs to this process."""
        return self._is_ours and self._srun.poll() is None

    def start(self, task: Task, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None) -> RunningRanks:
        """Start the ranks of one run on the nodes of the job, where Slurm has given them cores and GPUs."""
        del ranks_per_node
        environ = {**environ, **(HIDE_GPUS if use_gpus is False else {})}
        parts = np.array_split(range(task.num_ranks), min(num_nodes(), task.num_ranks))
        self._end_store()
        self._store = new_store(self._host)
        Thread(target=self._store.serve, daemon=True).start()
        try:
            if not self._controls:
                self._meet_tasks()
            launch = LaunchRequest(
                replace(task, bind_cores=False),
                environ,
                ranks_on_nodes=tuple(map(len, parts)),
                ranks=(),
                rendezvous=(self._host, self._store.port),
                meeting_point=self._start_stubs([*map(len, parts)]) if self._joins_by_mpi else "",
                interface=interface(),
            )
            for control, ranks in zip(self._controls, parts):
                control.send(replace(launch, ranks=tuple(ranks.tolist())))
            files = self._accept(len(FILES) * task.num_ranks, CONNECT_TIMEOUT_S)
            if self._joins_by_mpi:
                self._wait_for_places(self._controls[: len(parts)])
        except BaseException as error:
            self.close()
            if isinstance(error, (OSError, EOFError)):
                raise RankError(f"the job step ended unexpectedly ({error}): run the cell again") from error
            raise
        running = RunningRanks(self._controls[: len(parts)], server="the Slurm job step")
        for rank in range(task.num_ranks):
            with files[rank, "output"] as output, files[rank, "stacks"] as stack:
                running.add(os.dup(output.fileno()), files[rank, "reports"], os.dup(stack.fileno()))
        return running

    def _meet_tasks(self) -> None:
        """Wait until every task has connected, and imported what ranks need."""
        met = self._accept(num_nodes(), START_TIMEOUT_S)
        for (number, _), control in sorted(met.items()):
            if not control.poll(START_TIMEOUT_S):
                raise RankError(
                    f"task {number} of the job step did not import {NAMES[self.framework]} in {START_TIMEOUT_S:g} s"
                )
            failure, self._joins_by_mpi = control.recv()
            if failure:
                raise RankError(f"on node {number} of the job, {failure}")
            self._controls.append(control)

    def _start_stubs(self, nums_of_ranks: Sequence[int]) -> str:
        """Start the stubs of a run's ranks, so many on each node; return the name under which servers meet them."""
        self._end_stubs()
        shown = ["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]]
        nodes = subprocess.run(shown, capture_output=True, text=True, check=False, env=slurm_environ()).stdout.split()
        self._hosts.seek(0)
        self._hosts.truncate()
        self._hosts.writelines(f"{node}\n" for node, num in zip(nodes, nums_of_ranks) for _ in range(num))
        self._hosts.flush()
        name = mpi.new_name()
        self._stubs = subprocess.Popen(
            stubs_command(sum(nums_of_ranks), name),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={
                **slurm_environ(FOR_SRUN, FOR_SRUN_PREFIXES),
                **mpi.OWN_MEMORY,
                "SLURM_HOSTFILE": self._hosts.name,
            },
            start_new_session=True,
        )
        return name

    def _end_stubs(self) -> None:
        """Wait until those of the last run are gone, which end with its servers' connections."""
        if self._stubs:
            with suppress(subprocess.TimeoutExpired):
                self._stubs.wait(END_TIMEOUT_S)
            self._stubs.kill()
            self._stubs.wait()
        self._stubs = None

    def _wait_for_places(self, controls: Sequence[Connection]) -> None:
        """Wait until each server has the places of its ranks in MPI's world."""
        for control in controls:
            while not control.poll(POLL_S):
                if self._stubs and self._stubs.poll() is not None:
                    raise RankError(f"srun could not start the ranks for MPI: {self._last_words()}")
            kind, content = control.recv()
            if kind != "placed":
                raise RankError(f"srun could not start the ranks for MPI ({content}): {self._last_words()}")

    def _accept(self, num_connections: int, timeout_s: float) -> dict[tuple[int, str], Connection]:
        """Return that many connections, by the number of a task, or of a rank, and by what it is for."""
        connections: dict[tuple[int, str], Connection] = {}
        deadline = time.monotonic() + timeout_s
        while len(connections) < num_connections:
            if self._srun.poll() is not None:
                raise RankError(
                    f"srun could not start the ranks: {self._last_words()}. If the job {os.environ.get('SLURM_JOB_ID')}"
                    " has ended, start another, or set COURSEKIT_RANKS=local for ranks on this machine"
                )
            if time.monotonic() > deadline:
                raise RankError(f"the tasks of the job step did not connect within {timeout_s:g} s")
            with suppress(TimeoutError):
                stranger, _ = self._listener.accept()
                stranger.settimeout(None)
                Thread(target=self._prove, args=(Connection(stranger.detach()),), daemon=True).start()
            while not self._proven.empty():
                name, connection = self._proven.get()
                connections[name] = connection
        return connections

    def _prove(self, stranger: Connection) -> None:
        """Keep a connection that proves to belong to the step; in a thread of its own, since it may take its time."""
        try:
            deliver_challenge(stranger, self._key)
            answer_challenge(stranger, self._key)
            self._proven.put((stranger.recv(), stranger))
        except (AuthenticationError, EOFError, OSError):
            stranger.close()

    def _end_store(self) -> None:
        if self._store:
            self._store.end()
        self._store = None

    def close(self) -> None:
        """End the step and with it every rank; safe to call twice."""
        self._listener.close()
        for control in self._controls:
            control.close()
        if not self._is_ours:
            return
        self._end_store()
        if not self._controls:
            self._srun.terminate()  # tasks that were not met yet know of no end
        # srun ends with its tasks; when it does not, it has to end them, and at last it is killed.
        for insist in (self._srun.terminate, self._srun.kill):
            with suppress(subprocess.TimeoutExpired):
                self._srun.wait(END_TIMEOUT_S)
                break
            insist()
        self._srun.wait()
        self._end_stubs()
        self._hosts.close()
        self._log.close()


shared = SharedServer(JobStep)
