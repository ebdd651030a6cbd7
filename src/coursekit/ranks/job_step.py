"""Start ranks in a Slurm job, on all nodes of its allocation; apart from that, runs are the same as on one machine.

A job step has one fork server per node. These servers live from the first run until the client ends.
So every later run, with any number of ranks, starts as quickly as on one machine.
Tasks connect to the client over TCP, and prove with a key that they belong to it.
If either side of a connection ends, the connection is closed, and the other side also ends.

Where to look if a start hangs: `allocation.py` chooses the address and the interface, tasks connect in this module and
in `node_server.py`, and ranks find each other through `rendezvous.py`, or through MPI (`mpi.py`).
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
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO

import numpy as np

from coursekit.environ import FOR_SRUN, FOR_SRUN_PREFIXES, HIDE_GPUS, slurm_environ
from coursekit.framework import NAMES
from coursekit.ranks import mpi
from coursekit.ranks.allocation import interface, nodes, num_nodes, own_address, srun_command, stubs_command
from coursekit.ranks.explain import RankError
from coursekit.ranks.protocol import FILES, STEP_VARIABLE, Hello, Joined, LaunchRequest, RunSpec
from coursekit.ranks.rendezvous import Store, TorchStore, new_store
from coursekit.ranks.server_handle import RunningRanks, ServerHandle, SharedServer

START_TIMEOUT_S = 300.0  # tasks import TensorFlow from a shared file system, which may be cold and busy
CONNECT_TIMEOUT_S = 60.0
END_TIMEOUT_S = 10.0
POLL_S = 0.2
BACKLOG = 256  # waiting connections; every rank opens three at once
# The notebook's folder is removed from the path, so that the server does not import a student's random.py.
PROGRAM = "import sys; sys.path.pop(0); from coursekit.ranks.node_server import main; main()"


class JobStep(ServerHandle):
    """A job step with a fork server on every node."""

    def __init__(self) -> None:
        if shutil.which("srun") is None:  # for example in an image without Slurm's client
            raise RankError(
                f"this job has {num_nodes()} nodes, but there is no srun to start ranks on them: install Slurm's "
                "client in the container, or set COURSEKIT_RANKS=local to run ranks on this machine",
                "srun.missing",
            )
        super().__init__()
        self._key = secrets.token_bytes(32)
        self._host = own_address()
        self._listener = socket.create_server((self._host, 0), backlog=BACKLOG)
        self._listener.settimeout(POLL_S)
        self._proven: SimpleQueue[tuple[Hello, Connection]] = SimpleQueue()
        self._controls: list[Connection] = []
        self._joins_by_mpi = False  # known once the tasks have connected
        self._stubs = _Stubs(self._log)
        self._store: Store | TorchStore | None = None
        self._srun = _start_step(
            [*srun_command(), sys.executable, "-c", PROGRAM],
            self._log,
            {STEP_VARIABLE: f"{self._host}:{self._listener.getsockname()[1]}:{self._key.hex()}"},
        )

    def usable(self) -> bool:
        """Return whether the step is still running and belongs to this process."""
        return self._is_ours and self._srun.poll() is None

    def start(
        self, spec: RunSpec, environ: dict[str, str], ranks_per_node: int, *, use_gpus: bool | None
    ) -> RunningRanks:
        """Start the ranks of one run on the job's nodes, with the cores and GPUs that Slurm has given to the job."""
        del ranks_per_node
        environ = {**environ, **(HIDE_GPUS if use_gpus is False else {})}
        parts = np.array_split(range(spec.num_ranks), min(num_nodes(), spec.num_ranks))
        self._end_store()
        self._store = new_store(self._host)
        Thread(target=self._store.serve, daemon=True).start()
        try:
            if not self._controls:
                self._meet_tasks()
            launch = LaunchRequest(
                replace(spec, bind_cores=False),
                environ,
                ranks_on_nodes=tuple(map(len, parts)),
                ranks=(),
                rendezvous=(self._host, self._store.port),
                stub_address=self._stubs.start([*map(len, parts)]) if self._joins_by_mpi else "",
                interface=interface(),
            )
            for control, ranks in zip(self._controls, parts):
                control.send(replace(launch, ranks=tuple(ranks.tolist())))
            files = self._accept(len(FILES) * spec.num_ranks, CONNECT_TIMEOUT_S)
            if self._joins_by_mpi:
                self._wait_for_stubs(self._controls[: len(parts)])
        except BaseException as error:
            self.close()
            if isinstance(error, (OSError, EOFError)):
                raise RankError(
                    f"the job step ended unexpectedly ({error}): run the cell again", "job-step.ended"
                ) from error
            raise
        running = RunningRanks(self._controls[: len(parts)], server="the Slurm job step")
        for rank in range(spec.num_ranks):
            with files[Hello(rank, "output")] as output, files[Hello(rank, "stacks")] as stack:
                running.add(os.dup(output.fileno()), files[Hello(rank, "reports")], os.dup(stack.fileno()))
        return running

    def _meet_tasks(self) -> None:
        """Wait until every task has connected and has imported the framework."""
        met = self._accept(num_nodes(), START_TIMEOUT_S)
        for hello, control in sorted(met.items(), key=lambda one: one[0].number):
            if not control.poll(START_TIMEOUT_S):
                raise RankError(
                    f"task {hello.number} of the job step did not import {NAMES[self.framework]} within "
                    f"{START_TIMEOUT_S:g} s (last output of srun: {self._last_words()})",
                    "job-step.slow-import",
                )
            ready = control.recv()
            if ready.failure:
                raise RankError(f"on node {hello.number} of the job, {ready.failure}")
            self._joins_by_mpi = ready.joins_by_mpi
            self._controls.append(control)

    def _wait_for_stubs(self, controls: Sequence[Connection]) -> None:
        """Wait until each server has the contexts of its ranks in MPI's world."""
        for control in controls:
            while not control.poll(POLL_S):
                if self._stubs.have_ended():
                    raise RankError(
                        f"srun could not start the ranks for MPI: {self._last_words()}", "srun.mpi-not-started"
                    )
            message = control.recv()
            if not isinstance(message, Joined):
                raise RankError(
                    f"srun could not start the ranks for MPI ({message.reason}): {self._last_words()}",
                    "srun.mpi-not-started",
                )

    def _accept(self, num_connections: int, timeout_s: float) -> dict[Hello, Connection]:
        """Accept this many connections; return them by `Hello`, which says who has connected and for what purpose."""
        connections: dict[Hello, Connection] = {}
        deadline = time.monotonic() + timeout_s
        while len(connections) < num_connections:
            if self._srun.poll() is not None:
                raise RankError(
                    f"srun could not start the ranks: {self._last_words()}. If job {os.environ.get('SLURM_JOB_ID')}"
                    " has ended, start another, or set COURSEKIT_RANKS=local to run ranks on this machine",
                    "srun.not-started",
                )
            if time.monotonic() > deadline:
                raise RankError(
                    f"the tasks of the job step did not connect within {timeout_s:g} s (last output of srun: "
                    f"{self._last_words()})",
                    "job-step.not-connected",
                )
            with suppress(TimeoutError):
                stranger, _ = self._listener.accept()
                stranger.settimeout(None)
                Thread(target=self._prove, args=(Connection(stranger.detach()),), daemon=True).start()
            while not self._proven.empty():
                hello, connection = self._proven.get()
                connections[hello] = connection
        return connections

    def _prove(self, stranger: Connection) -> None:
        """Keep a connection if the other side proves that it belongs to the step; a thread waits for this proof."""
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
        """End the step and all its ranks; this may be called twice."""
        self._listener.close()
        for control in self._controls:
            control.close()
        if not self._is_ours:
            return
        self._end_store()
        if not self._controls:
            self._srun.terminate()  # tasks that are not connected would not notice that this side ends
        # srun ends when its tasks end. If it does not, it is asked to end them, and finally it is killed.
        for insist in (self._srun.terminate, self._srun.kill):
            with suppress(subprocess.TimeoutExpired):
                self._srun.wait(END_TIMEOUT_S)
                break
            insist()
        self._srun.wait()
        self._stubs.end()
        self._log.close()


class _Stubs:
    """The MPI stubs (see `mpi`) of the last run, which run in a separate job step."""

    def __init__(self, log: IO[bytes]) -> None:
        self._log = log
        self._step: subprocess.Popen[bytes] | None = None
        self._hosts = Path(tempfile.gettempdir(), f"hosts-{secrets.token_hex(8)}")

    def start(self, nums_of_ranks: Sequence[int]) -> str:
        """Start a run's stubs, one per rank on each node; return the name under which the servers listen for them."""
        self.end()
        self._hosts.write_text("".join(f"{node}\n" * num for node, num in zip(nodes(), nums_of_ranks)))
        name = mpi.new_name()
        command = stubs_command(sum(nums_of_ranks), name)
        self._step = _start_step(command, self._log, {**mpi.OWN_MEMORY, "SLURM_HOSTFILE": str(self._hosts)})
        return name

    def have_ended(self) -> bool:
        """Return whether the stubs were started and have ended."""
        return self._step is not None and self._step.poll() is not None

    def end(self) -> None:
        """Wait for the stubs, which end when their servers close the connections; kill any that take too long."""
        if self._step:
            with suppress(subprocess.TimeoutExpired):
                self._step.wait(END_TIMEOUT_S)
            self._step.kill()
            self._step.wait()
        self._step = None
        self._hosts.unlink(missing_ok=True)


def _start_step(command: Sequence[str], log: IO[bytes], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={**slurm_environ(FOR_SRUN, FOR_SRUN_PREFIXES), **environ},
        start_new_session=True,
    )


shared = SharedServer(JobStep)
